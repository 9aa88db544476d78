#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod app;
pub mod deposits;
pub mod settings;
pub mod write;
