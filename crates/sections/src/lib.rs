#![doc = include_str!("../README.md")]

mod database;
mod mt5;
mod names;
mod portal;
mod queue;
mod times;

pub use database::database;
pub use mt5::mt5;
pub use names::{provider_names, server_names};
pub use portal::portal;
pub use queue::queue;
pub use times::{CallTimes, times};
