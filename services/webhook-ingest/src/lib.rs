#![doc = include_str!("../README.md")]

pub mod app;
pub mod receive;
pub mod settings;
