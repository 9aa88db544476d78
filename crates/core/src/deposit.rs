//! A deposit: what a signed-in client chose to fund, and whether a payment agrees with it.

use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::account::Login;
use crate::intake::PaidFact;
use crate::lifecycle::Status;
use crate::money::Money;
use crate::name::{ClientId, MerchantReference, PaymentId, ProviderName, ServerName};

/// A registered deposit; the only source of the login that a payment funds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deposit {
    /// Row id.
    pub id: i64,
    /// Who chose it.
    pub client: ClientId,
    /// The trade server of the account.
    pub server: ServerName,
    /// The account.
    pub login: Login,
    /// What the account is to gain, in its own currency.
    pub amount: Money,
    /// The provider that collects the money.
    pub provider: ProviderName,
    /// The provider's payment, once known.
    pub payment: Option<PaymentId>,
    /// What the payer is to pay, when that is another amount or currency.
    pub pay: Option<Money>,
    /// The reference that the payment must carry.
    pub reference: MerchantReference,
    /// When it was registered.
    pub registered_at: OffsetDateTime,
}

impl Deposit {
    /// What the provider is expected to report as paid.
    #[must_use]
    pub fn expected(&self) -> Money {
        self.pay.unwrap_or(self.amount)
    }
}

/// One point in which a payment differs from its deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Another provider than the deposit names.
    Provider {
        /// The deposit's.
        expected: ProviderName,
        /// The event's.
        found: ProviderName,
    },
    /// Another payment than the one bound to the deposit.
    Payment {
        /// The deposit's.
        expected: PaymentId,
        /// The event's.
        found: PaymentId,
    },
    /// Another reference than the deposit's, on a payment bound to it.
    Reference {
        /// The deposit's.
        expected: MerchantReference,
        /// The event's.
        found: MerchantReference,
    },
    /// Another currency.
    Currency {
        /// The deposit's.
        expected: String,
        /// The event's.
        found: String,
    },
    /// Another amount.
    Amount {
        /// The deposit's.
        expected: Decimal,
        /// The event's.
        found: Decimal,
    },
}

impl Mismatch {
    /// What differs, in words for a person.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Provider { expected, found } => {
                format!("the deposit is for provider {expected}, the payment came by {found}")
            }
            Self::Payment { expected, found } => {
                format!("the deposit is bound to payment {expected}, the event is about {found}")
            }
            Self::Reference { expected, found } => {
                format!("the deposit's reference is {expected}, the payment carries {found}")
            }
            Self::Currency { expected, found } => {
                format!("the deposit expects {expected}, the payment is in {found}")
            }
            Self::Amount { expected, found } => {
                format!("the deposit expects {expected}, {found} was paid")
            }
        }
    }
}

/// Every point in which `paid` differs from `deposit`; empty means they agree.
#[must_use]
pub fn compare(paid: &PaidFact, deposit: &Deposit) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if paid.provider != deposit.provider {
        found.push(Mismatch::Provider {
            expected: deposit.provider.clone(),
            found: paid.provider.clone(),
        });
    }
    if let Some(bound) = deposit
        .payment
        .as_ref()
        .filter(|bound| **bound != paid.payment)
    {
        found.push(Mismatch::Payment {
            expected: bound.clone(),
            found: paid.payment.clone(),
        });
    }
    if let Some(carried) = paid.reference.as_ref().filter(|c| **c != deposit.reference) {
        found.push(Mismatch::Reference {
            expected: deposit.reference.clone(),
            found: carried.clone(),
        });
    }
    let expected = deposit.expected();
    if paid.currency.as_str() != expected.currency().code() {
        found.push(Mismatch::Currency {
            expected: expected.currency().code().to_owned(),
            found: paid.currency.to_string(),
        });
    } else if paid.amount != expected.to_major() {
        found.push(Mismatch::Amount {
            expected: expected.to_major(),
            found: paid.amount,
        });
    }
    found
}

/// What the portal is told about a deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepositState {
    /// No payment has come.
    AwaitingPayment,
    /// The account is being credited.
    Crediting,
    /// The account was credited.
    Credited,
    /// A person must decide.
    InReview,
    /// MT5 refused.
    Failed,
}

impl DepositState {
    /// The name on our wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::AwaitingPayment => "awaiting_payment",
            Self::Crediting => "crediting",
            Self::Credited => "credited",
            Self::InReview => "in_review",
            Self::Failed => "failed",
        }
    }

    /// The state that follows from the deposit's operation and whether a case about it is open.
    #[must_use]
    pub fn of(operation: Option<Status>, has_open_case: bool) -> Self {
        match operation {
            None if has_open_case => Self::InReview,
            None => Self::AwaitingPayment,
            Some(Status::Held) => Self::InReview,
            Some(Status::Unknown) if has_open_case => Self::InReview,
            Some(Status::Pending | Status::Claimed | Status::Unknown) => Self::Crediting,
            Some(Status::Done) => Self::Credited,
            Some(Status::Failed) => Self::Failed,
        }
    }
}
