#![doc = include_str!("../README.md")]

mod account;
mod case;
mod claim;
mod connect;
mod deposit;
mod error;
mod evidence;
mod gauge;
mod idempotency;
mod intake;
mod look;
mod operation;
mod overdue;
mod row;
mod settle;

pub use account::{Account, AccountRecorded};
pub use case::{CaseRecord, CaseState};
pub use claim::Claim;
pub use connect::{Store, StoreSettings};
pub use deposit::{DepositRefused, DepositView, NewDeposit, OperationView};
pub use error::StoreError;
pub use gauge::StatusGauge;
pub use idempotency::{Answer, Caller, Stored};
pub use intake::{Recorded, VerifiedMessage};
pub use look::{LookRecord, UnknownOperation};
pub use operation::{HistoryEntry, OperationRecord};
pub use settle::Settled;
