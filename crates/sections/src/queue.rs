//! The section `queue`.

use claimcheck_process::Reader;
use claimcheck_queue::QueueSettings;

/// Reads `queue.url`.
pub fn queue(reader: &mut Reader, service: &str) -> Option<QueueSettings> {
    reader.secret("queue.url").map(|url| QueueSettings::new(url, service))
}
