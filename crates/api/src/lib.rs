#![doc = include_str!("../README.md")]

mod bearer;
mod body;
mod fallback;
mod fields;
mod key;
mod problem;

pub use bearer::Tokens;
pub use body::{MEDIA_TYPE, read_body};
pub use fallback::{method_not_allowed, not_found};
pub use fields::Fields;
pub use key::idempotency_key;
pub use problem::{FieldFault, Problem};
