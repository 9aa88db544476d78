//! What a person must decide, and how urgent it is.

/// The kinds of cases; one is open at a time per kind and subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CaseKind {
    /// A payment for a deposit that nobody registered.
    UnknownDeposit,
    /// A payment that differs from its deposit.
    DepositMismatch,
    /// A second payment for a deposit that already has one.
    DepositPaidTwice,
    /// Two events tell different things about one payment.
    PaymentContradiction,
    /// A verified body that cannot be understood.
    UnreadableEvent,
    /// A paid event that lacks the payment, the amount or the currency.
    UnusableEvent,
    /// Money went back to the payer; a person must follow it up.
    MoneyBack,
    /// MT5 or our check right before sending refused.
    OperationRefused,
    /// A look found something that contradicts the operation.
    LookConflict,
    /// A look found the reference on more than one deal.
    DoubleCredit,
    /// Looks have brought no answer for long.
    LookUnanswered,
    /// Not final for too long, for whatever reason.
    Overdue,
    /// Proved absent too often.
    AttemptsExhausted,
    /// A ticket arrived for an attempt that was already judged.
    LateEvidence,
}

/// How urgent a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Money waits.
    Normal,
    /// Money may have moved twice, or to the wrong place.
    Critical,
}

impl CaseKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::UnknownDeposit,
        Self::DepositMismatch,
        Self::DepositPaidTwice,
        Self::PaymentContradiction,
        Self::UnreadableEvent,
        Self::UnusableEvent,
        Self::MoneyBack,
        Self::OperationRefused,
        Self::LookConflict,
        Self::DoubleCredit,
        Self::LookUnanswered,
        Self::Overdue,
        Self::AttemptsExhausted,
        Self::LateEvidence,
    ];

    /// The name in the database and on our wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownDeposit => "unknown_deposit",
            Self::DepositMismatch => "deposit_mismatch",
            Self::DepositPaidTwice => "deposit_paid_twice",
            Self::PaymentContradiction => "payment_contradiction",
            Self::UnreadableEvent => "unreadable_event",
            Self::UnusableEvent => "unusable_event",
            Self::MoneyBack => "money_back",
            Self::OperationRefused => "operation_refused",
            Self::LookConflict => "look_conflict",
            Self::DoubleCredit => "double_credit",
            Self::LookUnanswered => "look_unanswered",
            Self::Overdue => "overdue",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::LateEvidence => "late_evidence",
        }
    }

    /// How urgent it is.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::LookConflict | Self::DoubleCredit | Self::LateEvidence => Severity::Critical,
            Self::UnknownDeposit
            | Self::DepositMismatch
            | Self::DepositPaidTwice
            | Self::PaymentContradiction
            | Self::UnreadableEvent
            | Self::UnusableEvent
            | Self::MoneyBack
            | Self::OperationRefused
            | Self::LookUnanswered
            | Self::Overdue
            | Self::AttemptsExhausted => Severity::Normal,
        }
    }
}

impl Severity {
    /// The name in the database and on our wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Critical => "critical",
        }
    }
}
