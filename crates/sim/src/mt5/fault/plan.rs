//! What all faults together make of one call.
//!
//! The rule: delays add up, the first refusal counts, and the first transport ending wins; a
//! fault that comes too late for its part does not strike.

use std::time::Duration;

use hyper::StatusCode;
use tokio_util::sync::CancellationToken;

use super::{Action, FaultSpec};

/// What happens to a call.
#[derive(Debug, Default)]
pub(in crate::mt5) struct Plan {
    /// Waits before it is done.
    pub(in crate::mt5) before: Duration,
    /// Waits between done and answered.
    pub(in crate::mt5) after: Duration,
    /// Answered with this code instead of being done.
    pub(in crate::mt5) refusal: Option<u32>,
    /// How far the clock it sees is off, in seconds.
    pub(in crate::mt5) clock_offset: i64,
    pub(in crate::mt5) ending: Ending,
}

/// How the exchange ends on the connection.
#[derive(Debug, Default)]
pub(in crate::mt5) enum Ending {
    /// With the answer.
    #[default]
    Answered,
    /// Cut before anything was done.
    CutBefore,
    /// Cut after everything was done.
    CutAfter,
    /// Cut at once; done after the wait.
    CutThenApply(Duration),
    /// Never, until the fault is deleted.
    Hanging(CancellationToken),
    /// With garbage; whether the command was done is said too.
    Garbage { garbage: Garbage, applied: bool },
    /// With the answer of another call that meets the same fault within the wait.
    Swapped { fault: u64, wait: Duration },
}

/// What stands instead of an answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::mt5) enum Garbage {
    /// Nothing.
    Empty,
    /// An HTML page of that status.
    Page(StatusCode),
    /// A bare status.
    Status(StatusCode),
}

impl Plan {
    /// Whether there is still a part for this action. Those that act on a booking or on rows
    /// have theirs later.
    pub(super) fn takes(&self, action: Action) -> bool {
        let is_open = matches!(self.ending, Ending::Answered);
        match action {
            Action::Slow | Action::LateReply | Action::ClockOffset => true,
            Action::Refuse => self.refusal.is_none(),
            Action::DropBeforeApply
            | Action::ApplyThenDrop
            | Action::ApplyLate
            | Action::Hang
            | Action::SwapReply
            | Action::EmptyBody
            | Action::HtmlPage
            | Action::HttpStatus => is_open,
            Action::NoTicket
            | Action::WrongLogin
            | Action::HistoryErrorEmpty
            | Action::HistoryLag
            | Action::HistoryPageDrop
            | Action::HistoryGrows
            | Action::CommentCut
            | Action::CommentRewrite
            | Action::Maintenance => false,
        }
    }

    pub(super) fn add(&mut self, fault: u64, spec: &FaultSpec, deleted: &CancellationToken) {
        let applied = spec.applied;
        let status = StatusCode::from_u16(u16::try_from(spec.code).unwrap_or_default());
        let status = status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        let garbage = |garbage| Ending::Garbage { garbage, applied };
        let ending = match spec.action {
            Action::Slow => {
                self.before = self.before.saturating_add(spec.wait);
                return;
            }
            Action::LateReply => {
                self.after = self.after.saturating_add(spec.wait);
                return;
            }
            Action::ClockOffset => {
                self.clock_offset = self.clock_offset.saturating_add(spec.offset);
                return;
            }
            Action::Refuse => {
                self.refusal = Some(spec.code);
                return;
            }
            Action::DropBeforeApply => Ending::CutBefore,
            Action::ApplyThenDrop => Ending::CutAfter,
            Action::ApplyLate => Ending::CutThenApply(spec.wait),
            Action::Hang => Ending::Hanging(deleted.clone()),
            Action::SwapReply => Ending::Swapped {
                fault,
                wait: spec.wait,
            },
            Action::EmptyBody => garbage(Garbage::Empty),
            Action::HtmlPage => garbage(Garbage::Page(status)),
            Action::HttpStatus => garbage(Garbage::Status(status)),
            _ => return,
        };
        self.ending = ending;
    }
}
