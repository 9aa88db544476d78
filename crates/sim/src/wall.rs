//! The simulators' wall clock.
//!
//! The rule: the only place of this crate that reads it. A simulator stands for a machine of
//! somebody else, so it has a clock of its own.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The present instant, in UTC.
#[expect(
    clippy::disallowed_methods,
    reason = "a simulated server's clock is its own, not the process's under test"
)]
pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// An instant as the control side writes it.
pub(crate) fn text(at: OffsetDateTime) -> String {
    at.format(&Rfc3339)
        .expect("an instant of this era has an RFC 3339 form")
}
