//! The simulated MetaTrader 5 platform: several trade servers and their control side in one
//! process.
//!
//! The rule: a client cannot tell it from an access server by what crosses the wire; whatever the
//! platform lacks (faults, ground truth) is reached through the control side alone.

mod answer;
mod call_log;
mod command;
mod control;
mod deal;
mod exchange;
mod fault;
mod handshake;
mod ledger;
mod link;
mod money;
mod params;
mod retcode;
mod sent;
mod server;
mod session;
mod settings;
mod swap;
mod world;

pub use server::{Mt5Sim, Mt5SimError};
pub use settings::{GroupSettings, ManagerSettings, Mt5ServerSettings, Mt5SimSettings};
