#![doc = include_str!("../README.md")]

pub mod app;
pub mod expire;
pub mod resolve;
pub mod settings;
pub mod watch;
