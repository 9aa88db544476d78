#![doc = include_str!("../README.md")]

mod consumer;
mod delivery;
mod inbox;
mod keeper;
mod link;
mod metric;
mod publisher;
mod settings;
mod topology;
mod wake;

pub use consumer::Consumer;
pub use delivery::{AckError, Delivery};
pub use inbox::{Arrived, Inbox};
pub use publisher::{PublishError, Publisher};
pub use settings::{PREFETCH_DEFAULT, QueueSettings, SettingsError};
pub use wake::{BadWake, Lane, Wake};
