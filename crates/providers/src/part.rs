//! What the `part` of a fact names, so that output can give it its own field.

use claimcheck_core::FactKind;

/// The kinds of parts a payment can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A refund.
    Refund,
    /// A dispute.
    Dispute,
    /// A report that can be fetched.
    Report,
    /// One capture or other step of the payment itself.
    Action,
}

impl PartKind {
    /// What a fact's part is, which follows from what the fact states.
    #[must_use]
    pub fn of(kind: FactKind) -> Self {
        match kind {
            FactKind::Refunded | FactKind::RefundPending | FactKind::RefundFailed => Self::Refund,
            FactKind::ChargedBack | FactKind::ChargebackWon | FactKind::DisputeNotice => {
                Self::Dispute
            }
            FactKind::ReportAvailable => Self::Report,
            FactKind::Paid
            | FactKind::Authorised
            | FactKind::Pending
            | FactKind::Failed
            | FactKind::Cancelled
            | FactKind::PayoutPaid
            | FactKind::PayoutFailed
            | FactKind::Ignored => Self::Action,
        }
    }

    /// The name of its field in output.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Dispute => "dispute",
            Self::Report => "report",
            Self::Action => "action",
        }
    }
}
