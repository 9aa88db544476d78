#![doc = include_str!("../README.md")]

mod admin;
mod clock;
pub mod pace;
pub mod random;
mod readiness;
mod run;
pub mod settings;
mod shutdown;
pub mod telemetry;

pub use clock::Clock;
pub use pace::{Progress, Wake};
pub use readiness::{Readiness, State};
pub use run::{Context, run};
pub use settings::{Fault, Faults, Reader};
pub use shutdown::Shutdown;
pub use telemetry::{continue_trace, error_chain, trace_parent};
