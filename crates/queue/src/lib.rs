//! The only crate with RabbitMQ: wake-ups out, wake-ups in, nothing else.
//!
//! The rule: a message is never the only trace of anything. Whoever uses this crate must reach
//! the same end, only later, when every message is lost.
#![doc = include_str!("../README.md")]

mod consumer;
mod delivery;
mod keeper;
mod link;
mod metric;
mod publisher;
mod settings;
mod topology;
mod wake;

pub use consumer::Consumer;
pub use delivery::{AckError, Delivery};
pub use publisher::{PublishError, Publisher};
pub use settings::{PREFETCH_DEFAULT, QueueSettings, SettingsError};
pub use wake::{BadWake, Lane, Wake};
