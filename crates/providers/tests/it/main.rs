//! Every provider against its vectors and scenarios, and properties that hold for all of them.
//!
//! The answers are the fixtures'; a test here never computes what it expects with our own code.

mod events;
mod fixture;
mod meaning;
mod properties;
mod secrets;
mod vectors;
