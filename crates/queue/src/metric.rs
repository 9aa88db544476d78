//! The names of this crate's metrics, in one place.
//!
//! The rule: labels take their values from closed sets only; an id or a host is never a label.

/// Counter of publishes by `lane` and `outcome`.
pub(crate) const PUBLISHED: &str = "claimcheck_queue_published_total";
/// Gauge by `role`: 1 while connected, else 0.
pub(crate) const CONNECTED: &str = "claimcheck_queue_connected";
/// Counter by `lane` of messages sent to the dead letters on purpose.
pub(crate) const PARKED: &str = "claimcheck_queue_parked_total";
/// Counter by `role` of connections made after the first.
pub(crate) const RECONNECTS: &str = "claimcheck_queue_reconnects_total";
