#![doc = include_str!("../README.md")]

mod acknowledgement;
mod config;
mod delivery;
mod document;
mod freshness;
mod hint;
mod mac;
mod part;
mod provider;
mod rejection;
mod scheme;
mod secret;
mod standard_webhooks;
mod stripe;

pub use acknowledgement::Acknowledgement;
pub use config::Config;
pub use delivery::Delivery;
pub use document::Unreadable;
pub use part::PartKind;
pub use provider::{Provider, UnknownProvider};
pub use rejection::{Reason, Rejection, Verified};
pub use scheme::SignFault;
pub use secret::{SecretFault, Secrets};
