//! The client on a real socket, against a server that answers by script.
//!
//! The server reads its requests byte by byte and by itself, so that it is no mirror of the
//! client's own HTTP engine.

mod balance;
mod cuts;
mod reads;
mod scripted;
mod sessions;
