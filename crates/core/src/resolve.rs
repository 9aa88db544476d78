//! What follows from a look at an operation whose end is unknown.

use std::time::Duration;

use time::OffsetDateTime;

use crate::backoff::Backoff;
use crate::case::CaseKind;
use crate::deal::DealTicket;
use crate::lease::{Times, time_duration};
use crate::look::{Conflict, Look};

/// An operation whose end is unknown, as far as the decision needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unresolved {
    /// Attempts made so far.
    pub attempts: i32,
    /// Attempts allowed before a person decides.
    pub attempts_max: i32,
    /// When the lease of the last attempt ends or ended.
    pub lease_expires_at: OffsetDateTime,
    /// When the operation became unknown.
    pub unknown_since: OffsetDateTime,
    /// The start of the earliest valid look since which every look said absent.
    pub absent_since: Option<OffsetDateTime>,
    /// Looks in a row that gave no answer, this one not counted.
    pub unanswered: u32,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The deal exists: done.
    Done(DealTicket),
    /// No deal exists and none can come: may be claimed again.
    ProvedAbsent,
    /// Proved absent, but too many attempts were made: held, with a case.
    Exhausted,
    /// Nothing is proved yet: stays unknown.
    Wait {
        /// When to look again.
        again_in: Duration,
        /// The absent look that counts from now on, if one does.
        absent_since: Option<OffsetDateTime>,
        /// A person must hear of it.
        case: Option<CaseKind>,
    },
}

/// Pauses after looks without an answer: short, so that a server that is back is asked soon.
const UNANSWERED: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(20));
/// Pauses after looks that found a conflict: a person decides, and time rarely does.
const CONFLICTING: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_mins(5));

/// Decides from the operation and one look, begun at `looked_at` by the database's clock.
#[must_use]
pub fn resolve(
    operation: &Unresolved,
    look: &Look,
    looked_at: OffsetDateTime,
    times: &Times,
) -> Resolution {
    match look {
        Look::Found(ticket) => Resolution::Done(*ticket),
        Look::Absent => absent(operation, looked_at, times),
        Look::Conflict(conflict) => Resolution::Wait {
            again_in: CONFLICTING.pause(operation.unanswered.saturating_add(1)),
            absent_since: None,
            case: Some(case_of(conflict)),
        },
        Look::NoAnswer(_) => Resolution::Wait {
            again_in: UNANSWERED.pause(operation.unanswered.saturating_add(1)),
            absent_since: None,
            case: is_old(operation, looked_at, times).then_some(CaseKind::LookUnanswered),
        },
    }
}

fn case_of(conflict: &Conflict) -> CaseKind {
    match conflict {
        Conflict::Twice(_) => CaseKind::DoubleCredit,
        Conflict::Amount(..)
        | Conflict::Action(..)
        | Conflict::Taken(_)
        | Conflict::Unexplained(_) => CaseKind::LookConflict,
    }
}

fn absent(operation: &Unresolved, looked_at: OffsetDateTime, times: &Times) -> Resolution {
    let provable_from = times.provable_from(operation.lease_expires_at);
    if looked_at <= provable_from {
        return Resolution::Wait {
            again_in: until(looked_at, provable_from),
            absent_since: None,
            case: None,
        };
    }
    let since = operation
        .absent_since
        .filter(|since| *since > provable_from && *since <= looked_at)
        .unwrap_or(looked_at);
    let agreed_from = since
        .checked_add(time_duration(times.visibility_lag()))
        .unwrap_or(since);
    if looked_at < agreed_from {
        return Resolution::Wait {
            again_in: until(looked_at, agreed_from),
            absent_since: Some(since),
            case: None,
        };
    }
    if operation.attempts >= operation.attempts_max {
        return Resolution::Exhausted;
    }
    Resolution::ProvedAbsent
}

/// The time from `now` to `then`, and a little so that the next look lies past `then`.
fn until(now: OffsetDateTime, then: OffsetDateTime) -> Duration {
    const BEYOND: Duration = Duration::from_millis(50);
    Duration::try_from(then - now)
        .unwrap_or(Duration::ZERO)
        .saturating_add(BEYOND)
}

fn is_old(operation: &Unresolved, now: OffsetDateTime, times: &Times) -> bool {
    now - operation.unknown_since >= time_duration(times.case_after())
}
