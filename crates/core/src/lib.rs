#![doc = include_str!("../README.md")]

mod account;
mod backoff;
mod case;
mod currency;
mod deal;
mod deposit;
mod event;
mod intake;
mod lease;
mod lifecycle;
mod look;
mod money;
mod name;
mod operation;
mod outcome;
mod reference;
mod resolve;

pub use account::{AccountFault, AccountState, Login, check_account};
pub use backoff::Backoff;
pub use case::{CaseKind, Severity};
pub use currency::{Currency, CurrencyError, DIGITS_MAX};
pub use deal::{Deal, DealAction, DealTicket, ServerTime, Window};
pub use deposit::{Deposit, DepositState, Mismatch, compare};
pub use event::{CurrencyCode, EventFact, FactKind};
pub use intake::{Consequence, Existing, Meaning, PaidBefore, PaidFact, Unusable, decide, meaning};
pub use lease::{Times, TimesFault};
pub use lifecycle::{IllegalMove, MOVES, Move, Status};
pub use look::{Conflict, Known, Look, NoAnswer, Reading, Sought, look};
pub use money::{Money, MoneyError};
pub use name::{
    ClientId, EndpointName, EventKey, MerchantReference, NameError, PaymentId, ProviderName,
    ServerName,
};
pub use operation::{Operation, OperationKind, Rate, signed_amount};
pub use outcome::{Outcome, Refusal};
pub use reference::{Reference, ReferenceError, Tag};
pub use resolve::{Resolution, Unresolved, resolve};
