#![doc = include_str!("../README.md")]

pub mod act;
pub mod app;
pub mod settings;
pub mod step;
