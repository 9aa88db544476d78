//! The simulator seen from outside, over real sockets.
//!
//! The rule: nothing of the simulator's inside is used here; a client writes bytes and reads
//! bytes, and the control side is asked for the truth.

mod client;
mod control_side;
mod early_faults;
mod late_faults;
mod paging;
mod read_faults;
mod wire;
