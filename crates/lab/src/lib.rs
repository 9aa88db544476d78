#![doc = include_str!("../README.md")]

pub mod actors;
mod child;
mod command;
pub mod demo;
mod endpoints;
mod guard;
mod http;
mod infra;
mod lock;
mod place;
mod ports;
mod postgres;
mod private;
mod process;
mod rabbitmq;
mod replicas;
mod secrets;
mod services;
mod settings;
mod stack;
mod teardown;
mod wait;

pub use command::{Interrupt, run_command};
pub use endpoints::{Endpoints, Mt5Access, Webhook};
pub use guard::{Guard, watch};
pub use http::client;
pub use infra::Infra;
pub use lock::Lock;
pub use place::{Place, bin_dir, binary};
pub use process::{Process, Signal};
pub use replicas::{Replicas, ReplicasError};
pub use services::{SERVICES, SIMULATOR, Service};
pub use settings::{Misuse, lay_over, overlay_from_file};
pub use stack::{Health, Memory, Stack, StackOptions, migrate};
pub use teardown::teardown;
pub use wait::until;
