//! The section `times`: how long a claim lasts, a call may take, and MT5 may be late.
//!
//! Production defaults are generous; a test installation sets shorter ones. Times that contradict
//! each other are faults, every one of them.

use std::time::Duration;

use claimcheck_core::Times;
use claimcheck_process::Reader;

const LEASE: Duration = Duration::from_secs(60);
const QUEUE_WAIT: Duration = Duration::from_secs(5);
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
const MARGIN: Duration = Duration::from_secs(5);
const LATE_APPLY_MARGIN: Duration = Duration::from_secs(60);
const VISIBILITY_LAG: Duration = Duration::from_secs(30);
const CASE_AFTER: Duration = Duration::from_mins(5);

/// The times of a call, and the wait before it.
#[derive(Debug, Clone, Copy)]
pub struct CallTimes {
    /// The times that every decision uses.
    pub times: Times,
    /// How long a step waits for a free session.
    pub queue_wait: Duration,
}

/// Reads `times.*`.
pub fn times(reader: &mut Reader) -> Option<CallTimes> {
    let lease = reader.duration_or("times.lease", LEASE);
    let queue_wait = reader.duration_or("times.queue_wait", QUEUE_WAIT);
    let call_timeout = reader.duration_or("times.call_timeout", CALL_TIMEOUT);
    let margin = reader.duration_or("times.margin", MARGIN);
    let late_apply_margin = reader.duration_or("times.late_apply_margin", LATE_APPLY_MARGIN);
    let visibility_lag = reader.duration_or("times.visibility_lag", VISIBILITY_LAG);
    let case_after = reader.duration_or("times.case_after", CASE_AFTER);
    let queue_wait = queue_wait?;
    let checked = Times::new(
        lease?,
        queue_wait,
        call_timeout?,
        margin?,
        late_apply_margin?,
        visibility_lag?,
        case_after?,
    );
    match checked {
        Ok(times) => Some(CallTimes { times, queue_wait }),
        Err(faults) => {
            for fault in faults {
                reader.fault("times", fault.to_string());
            }
            None
        }
    }
}
