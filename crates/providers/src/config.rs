//! What an endpoint's settings narrow: a valid signature says who speaks, not that it is about us.

use std::time::Duration;

/// What counts at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Whether live events count, or test events; none: both.
    pub live: Option<bool>,
    /// The account whose events count, where a provider names one.
    pub account: Option<String>,
    /// How far a signed time may lie from ours, either way.
    pub tolerance: Duration,
}

impl Config {
    /// The tolerance that the providers' own libraries use.
    pub const TOLERANCE_DEFAULT: Duration = Duration::from_mins(5);
}

impl Default for Config {
    fn default() -> Self {
        Self {
            live: None,
            account: None,
            tolerance: Self::TOLERANCE_DEFAULT,
        }
    }
}
