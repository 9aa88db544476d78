//! Events: what a provider states in a verified message, in one vocabulary for all providers.

use std::fmt;

use rust_decimal::Decimal;

use crate::name::{EventKey, MerchantReference, PaymentId};

/// What an event states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// The money of a payment has arrived.
    Paid,
    /// The payer's bank agreed; nothing has moved.
    Authorised,
    /// The payment is on its way.
    Pending,
    /// A try failed; a later one may succeed.
    Failed,
    /// The payment will not happen.
    Cancelled,
    /// Money went back to the payer.
    Refunded,
    /// Money is about to go back.
    RefundPending,
    /// A refund did not reach the payer.
    RefundFailed,
    /// The payer's bank took the money back.
    ChargedBack,
    /// Money taken back was returned.
    ChargebackWon,
    /// Somebody asks questions; nothing has moved.
    DisputeNotice,
    /// A payout reached the client.
    PayoutPaid,
    /// A payout did not reach the client.
    PayoutFailed,
    /// A report can be fetched.
    ReportAvailable,
    /// Nothing that concerns us.
    Ignored,
}

impl FactKind {
    /// The name in the vocabulary.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Authorised => "authorised",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
            Self::RefundPending => "refund_pending",
            Self::RefundFailed => "refund_failed",
            Self::ChargedBack => "charged_back",
            Self::ChargebackWon => "chargeback_won",
            Self::DisputeNotice => "dispute_notice",
            Self::PayoutPaid => "payout_paid",
            Self::PayoutFailed => "payout_failed",
            Self::ReportAvailable => "report_available",
            Self::Ignored => "ignored",
        }
    }
}

/// A currency code as a provider wrote it, upper-cased; our table may not know it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CurrencyCode(String);

impl CurrencyCode {
    /// Longest code kept; real ones have three to five letters.
    pub const LENGTH_MAX: usize = 12;

    /// Takes letters and digits, in either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= Self::LENGTH_MAX
            && text.bytes().all(|b| b.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_ascii_uppercase()))
    }

    /// The code in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CurrencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One statement of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFact {
    /// What it states.
    pub kind: FactKind,
    /// The key under which the message is handled once.
    pub event_key: EventKey,
    /// The payment it is about.
    pub payment: Option<PaymentId>,
    /// The merchant reference the payment carries.
    pub reference: Option<MerchantReference>,
    /// How much, in major units; its scale is the provider's own.
    pub amount: Option<Decimal>,
    /// Of what.
    pub currency: Option<CurrencyCode>,
    /// The provider's id of a refund, dispute or action within the payment.
    pub part: Option<String>,
    /// Another event type reports the same money under this key.
    pub same_money_as: Option<String>,
    /// The amount is the total so far, not one step.
    pub is_running_total: bool,
    /// Why it is ignored or needs a look, for a person.
    pub why: Option<String>,
}

impl EventFact {
    /// A statement with nothing but its kind and key.
    #[must_use]
    pub fn new(kind: FactKind, event_key: EventKey) -> Self {
        Self {
            kind,
            event_key,
            payment: None,
            reference: None,
            amount: None,
            currency: None,
            part: None,
            same_money_as: None,
            is_running_total: false,
            why: None,
        }
    }
}
