#![doc = include_str!("../README.md")]

mod accounts;
mod answer;
mod command;
mod deals;
mod digest;
mod gate;
mod groups;
mod link;
mod login;
mod metric;
#[cfg(feature = "operate")]
mod operate;
mod query;
mod reach;
mod read;
mod server;
mod session;
mod settings;
#[cfg(feature = "operate")]
mod verdict;

pub use accounts::Accounts;
pub use deals::{DEALS_PER_PAGE, Deals, PAGES_MAX};
#[cfg(feature = "operate")]
pub use operate::{BalanceCall, Operate};
pub use read::ReadError;
pub use server::{NoSession, Server};
pub use session::Session;
pub use settings::{
    CALL_TIMEOUT_DEFAULT, CONNECT_TIMEOUT_DEFAULT, PING_EVERY_DEFAULT, SESSIONS_DEFAULT,
    ServerSettings, SettingsFault,
};
