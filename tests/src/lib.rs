//! Placeholder.

pub mod workspace;
