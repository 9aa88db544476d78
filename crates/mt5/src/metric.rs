//! The names of this crate's metrics, in one place.
//!
//! The rule: labels take their values from closed sets and settings; a login is never a label.

/// Counter of calls by `server`, `command` and `verdict`.
pub(crate) const CALLS: &str = "claimcheck_mt5_calls_total";
/// Histogram of the seconds a call took, by `server` and `command`.
pub(crate) const CALL_SECONDS: &str = "claimcheck_mt5_call_seconds";
/// Gauge by `server`: sessions in somebody's hands.
pub(crate) const SESSIONS_BUSY: &str = "claimcheck_mt5_sessions_busy";
/// Histogram of the seconds that callers waited for a session, by `server`.
pub(crate) const SESSION_WAIT_SECONDS: &str = "claimcheck_mt5_session_wait_seconds";
/// Counter of logins by `server` and `result` (done, refused, failed).
pub(crate) const LOGINS: &str = "claimcheck_mt5_logins_total";
