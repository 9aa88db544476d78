//! A balance operation: this payment becomes this amount on this login.
//!
//! Login, amount, currency and reference never change after the row is made; every attempt sends
//! exactly the same.

use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::account::Login;
use crate::lifecycle::Status;
use crate::money::Money;
use crate::name::ServerName;
use crate::reference::Reference;

/// What kind of money movement an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// A client's payment, credited.
    Deposit,
    /// A refund, debited.
    Refund,
    /// A chargeback, debited.
    Chargeback,
    /// A chargeback that was won back, credited.
    ChargebackReversal,
    /// A withdrawal, debited.
    Withdrawal,
    /// A withdrawal that came back, credited.
    WithdrawalReturn,
}

impl OperationKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Deposit,
        Self::Refund,
        Self::Chargeback,
        Self::ChargebackReversal,
        Self::Withdrawal,
        Self::WithdrawalReturn,
    ];

    /// The three letters that open a reference and stand in the database.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Deposit => "dep",
            Self::Refund => "ref",
            Self::Chargeback => "cbk",
            Self::ChargebackReversal => "cbr",
            Self::Withdrawal => "wdr",
            Self::WithdrawalReturn => "wrt",
        }
    }

    /// Reads the three letters back.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// Whether the account gains by it.
    #[must_use]
    pub fn is_credit(self) -> bool {
        match self {
            Self::Deposit | Self::ChargebackReversal | Self::WithdrawalReturn => true,
            Self::Refund | Self::Chargeback | Self::Withdrawal => false,
        }
    }
}

/// The amount as MT5 signs it: credits above zero, debits below.
#[must_use]
pub fn signed_amount(kind: OperationKind, amount: Money) -> Decimal {
    if kind.is_credit() {
        amount.to_major()
    } else {
        -amount.to_major()
    }
}

/// The rate at which a paid amount became the account's amount, fixed on the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// Account currency per unit of paid currency.
    pub value: Decimal,
    /// Who stands for it.
    pub source: String,
    /// When it was fixed.
    pub at: OffsetDateTime,
}

/// A balance operation as a worker or the resolver needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Row id.
    pub id: i64,
    /// What it is.
    pub kind: OperationKind,
    /// The trade server.
    pub server: ServerName,
    /// The account.
    pub login: Login,
    /// How much, in the account's currency.
    pub amount: Money,
    /// The comment its deal carries.
    pub reference: Reference,
    /// Where it stands.
    pub status: Status,
    /// How often it was claimed; the fence of every later write.
    pub attempts: i32,
}

impl Operation {
    /// The amount as MT5 signs it.
    #[must_use]
    pub fn signed_amount(&self) -> Decimal {
        signed_amount(self.kind, self.amount)
    }
}
