//! From an event to its consequence: what a verified statement of a provider makes us do.
//!
//! The login never comes from the event. Without a registered deposit that agrees in provider,
//! currency and amount no money moves; a person decides.

use rust_decimal::Decimal;

use crate::case::CaseKind;
use crate::currency::Currency;
use crate::deposit::{Deposit, Mismatch, compare};
use crate::event::{CurrencyCode, EventFact, FactKind};
use crate::money::Money;
use crate::name::{MerchantReference, PaymentId, ProviderName};
use crate::operation::Rate;

/// A statement that money has arrived, complete enough to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidFact {
    /// Who states it.
    pub provider: ProviderName,
    /// The key of the money.
    pub payment: PaymentId,
    /// The merchant reference it carries.
    pub reference: Option<MerchantReference>,
    /// How much, in major units; above zero.
    pub amount: Decimal,
    /// Of what.
    pub currency: CurrencyCode,
}

/// What an event means to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Money arrived.
    Paid(PaidFact),
    /// Money went back or may go back: a person must follow it up.
    MoneyBack,
    /// Kept, and nothing follows.
    Nothing,
}

/// Why a paid event cannot be acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It names no payment.
    #[error("the event names no payment")]
    NoPayment,
    /// It states no amount above zero.
    #[error("the event states no amount above zero")]
    NoAmount,
    /// It states no currency.
    #[error("the event states no currency")]
    NoCurrency,
}

/// Reads the meaning of a statement.
///
/// # Errors
/// A paid event without payment, amount or currency.
pub fn meaning(fact: &EventFact, provider: &ProviderName) -> Result<Meaning, Unusable> {
    match fact.kind {
        FactKind::Paid => Ok(Meaning::Paid(PaidFact {
            provider: provider.clone(),
            payment: fact.payment.clone().ok_or(Unusable::NoPayment)?,
            reference: fact.reference.clone(),
            amount: fact
                .amount
                .filter(|a| *a > Decimal::ZERO)
                .ok_or(Unusable::NoAmount)?,
            currency: fact.currency.clone().ok_or(Unusable::NoCurrency)?,
        })),
        FactKind::Refunded
        | FactKind::RefundFailed
        | FactKind::ChargedBack
        | FactKind::ChargebackWon => Ok(Meaning::MoneyBack),
        FactKind::Authorised
        | FactKind::Pending
        | FactKind::Failed
        | FactKind::Cancelled
        | FactKind::RefundPending
        | FactKind::DisputeNotice
        | FactKind::PayoutPaid
        | FactKind::PayoutFailed
        | FactKind::ReportAvailable
        | FactKind::Ignored => Ok(Meaning::Nothing),
    }
}

/// What is already on record about the payment and its deposit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Existing {
    /// What the event said that made this very payment's operation.
    pub same_payment: Option<PaidBefore>,
    /// The deposit already has an operation for another payment that ran or may run.
    pub deposit_has_other_payment: bool,
}

/// What an earlier event said about the same payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidBefore {
    /// How much, in major units.
    pub amount: Decimal,
    /// Of what.
    pub currency: String,
    /// The reference it carried.
    pub reference: Option<String>,
}

impl PaidBefore {
    /// Whether a later event says the same; one of the two may carry no reference.
    fn agrees_with(&self, paid: &PaidFact) -> bool {
        let references = self.reference.as_deref().zip(paid.reference.as_ref());
        self.amount == paid.amount
            && self.currency == paid.currency.as_str()
            && references.is_none_or(|(before, now)| before == now.as_str())
    }
}

/// What follows from a paid event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
    /// Make a pending operation over this amount.
    Credit {
        /// What the account gains.
        amount: Money,
        /// The rate, when another currency or amount was paid.
        rate: Option<Rate>,
    },
    /// Make a held operation and open a case.
    Hold {
        /// What the account would gain.
        amount: Money,
        /// The case.
        case: CaseKind,
        /// Why.
        mismatches: Vec<Mismatch>,
    },
    /// No deposit: open a case.
    NoDeposit,
    /// The payment is on record with the same amount and reference: nothing to do.
    Same,
    /// The payment is on record with another amount or reference: open a case.
    Contradiction,
}

/// The source named on a rate that a deposit itself fixed.
const RATE_OF_DEPOSIT: &str = "deposit";

/// Decides what follows from a paid event.
#[must_use]
pub fn decide(paid: &PaidFact, deposit: Option<&Deposit>, existing: &Existing) -> Consequence {
    if let Some(before) = &existing.same_payment {
        return if before.agrees_with(paid) {
            Consequence::Same
        } else {
            Consequence::Contradiction
        };
    }
    let Some(deposit) = deposit else {
        return Consequence::NoDeposit;
    };
    let mismatches = compare(paid, deposit);
    if existing.deposit_has_other_payment {
        let case = CaseKind::DepositPaidTwice;
        return Consequence::Hold {
            amount: held_amount(paid, deposit),
            case,
            mismatches,
        };
    }
    if !mismatches.is_empty() {
        let case = CaseKind::DepositMismatch;
        return Consequence::Hold {
            amount: held_amount(paid, deposit),
            case,
            mismatches,
        };
    }
    Consequence::Credit {
        amount: deposit.amount,
        rate: rate(deposit),
    }
}

/// What a held operation is over: what was paid, when the account can hold exactly that; else
/// what the deposit expected.
fn held_amount(paid: &PaidFact, deposit: &Deposit) -> Money {
    let currency = deposit.amount.currency();
    let in_account_currency = deposit.pay.is_none() && paid.currency.as_str() == currency.code();
    in_account_currency
        .then(|| Money::from_major(paid.amount, currency).ok())
        .flatten()
        .unwrap_or(deposit.amount)
}

/// The rate that a deposit with a different pay amount fixed when it was registered.
fn rate(deposit: &Deposit) -> Option<Rate> {
    let pay = deposit.pay?;
    let value = deposit.amount.to_major().checked_div(pay.to_major())?;
    let (source, at) = (RATE_OF_DEPOSIT.to_owned(), deposit.registered_at);
    Some(Rate { value, source, at })
}

/// Whether our table knows what was paid; a held row stores the paid amount only then.
impl PaidFact {
    /// The paid amount in our own units, if our table knows the currency and it fits exactly.
    #[must_use]
    pub fn money(&self) -> Option<Money> {
        let currency = Currency::parse(self.currency.as_str()).ok()?;
        Money::from_major(self.amount, currency).ok()
    }
}
