#![doc = include_str!("../README.md")]

mod chance;
mod http;
mod mt5;
mod wall;

pub use mt5::{
    GroupSettings, ManagerSettings, Mt5ServerSettings, Mt5Sim, Mt5SimError, Mt5SimSettings,
};
