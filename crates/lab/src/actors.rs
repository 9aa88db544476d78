//! Those who use Claimcheck from outside: the broker's portal, the payment provider, and whoever
//! looks into MT5 itself. Demo and tests act through them and through nothing else.

mod mt5;
mod portal;
mod provider;

pub use mt5::{Deal, Fault, Mt5};
pub use portal::{Deposit, DepositState, OperationState, Portal};
pub use provider::{Payment, Sender};
