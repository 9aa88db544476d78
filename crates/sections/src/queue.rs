//! The section `queue`.

use claimcheck_process::Reader;
use claimcheck_queue::QueueSettings;

/// Reads `queue.url`, and checks that it can be used.
pub fn queue(reader: &mut Reader, service: &str) -> Option<QueueSettings> {
    let settings = QueueSettings::new(reader.secret("queue.url")?, service.to_owned());
    let faults = settings.faults();
    for fault in &faults {
        reader.fault("queue.url", fault.to_string());
    }
    faults.is_empty().then_some(settings)
}
