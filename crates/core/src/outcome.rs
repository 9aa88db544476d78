//! How one balance call ended: a verdict, not a `Result`, so that no `?` can lose the unknown.

use crate::deal::DealTicket;

/// The end of one balance call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Applied; the server named the deal.
    Done(DealTicket),
    /// Definitely refused: nothing was applied and nothing will be.
    Refused(Refusal),
    /// Proved by the sender: not one byte of the call left.
    NotSent(String),
    /// Anything else. It may have been applied.
    Unknown(String),
}

/// A definite refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code: `mt5_10019`, `account_disabled`.
    pub code: String,
    /// What it means, for a person.
    pub meaning: String,
}

impl Outcome {
    /// A stable name for metrics and the history.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(_) => "refused",
            Self::NotSent(_) => "not_sent",
            Self::Unknown(_) => "unknown",
        }
    }
}
