//! Deals as MT5 keeps them, and the window of server time in which they are looked for.
//!
//! MT5 writes times as its own wall clock counted as if it were UTC. Such a number is never mixed
//! with an instant of ours.

use std::fmt;
use std::time::Duration;

use rust_decimal::Decimal;

use crate::account::Login;

/// The number of a deal, unique on its server; always above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DealTicket(i64);

impl DealTicket {
    /// Takes a ticket.
    #[must_use]
    pub fn new(ticket: i64) -> Option<Self> {
        (ticket > 0).then_some(Self(ticket))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for DealTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a deal did; the numbers are MT5's own and form an open set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DealAction {
    /// 2: a balance operation.
    Balance,
    /// 3: credit.
    Credit,
    /// 4: an additional charge.
    Charge,
    /// 5: a correction.
    Correction,
    /// 6: a bonus.
    Bonus,
    /// Anything else: trades, commissions, automatic deals.
    Other(i64),
}

impl DealAction {
    /// Reads MT5's number.
    #[must_use]
    pub fn from_number(number: i64) -> Self {
        match number {
            2 => Self::Balance,
            3 => Self::Credit,
            4 => Self::Charge,
            5 => Self::Correction,
            6 => Self::Bonus,
            other => Self::Other(other),
        }
    }

    /// MT5's number.
    #[must_use]
    pub fn number(self) -> i64 {
        match self {
            Self::Balance => 2,
            Self::Credit => 3,
            Self::Charge => 4,
            Self::Correction => 5,
            Self::Bonus => 6,
            Self::Other(other) => other,
        }
    }
}

/// Seconds of a server's wall clock, counted from 1970 as if that clock were UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerTime(i64);

impl ServerTime {
    /// Takes the server's seconds.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// The server's seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }
}

/// One deal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deal {
    /// Its number.
    pub ticket: DealTicket,
    /// The account.
    pub login: Login,
    /// What it did.
    pub action: DealAction,
    /// By how much the account changed, signed, in major units.
    pub amount: Decimal,
    /// Its comment, as the server keeps it now.
    pub comment: String,
    /// When, by the server's clock.
    pub time: ServerTime,
}

/// A stretch of server time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First second.
    pub from: ServerTime,
    /// Last second.
    pub to: ServerTime,
}

impl Window {
    /// What a window reaches beyond both its ends: time zones span 26 hours (UTC−12 to UTC+14),
    /// so neither a zone change nor a daylight-saving jump can move a deal out of it.
    pub const PADDING: Duration = Duration::from_hours(26);

    /// The window from `age` before the server's present to that present, padded on both sides.
    #[must_use]
    pub fn reaching_back(server_now: ServerTime, age: Duration) -> Self {
        let seconds = |d: Duration| i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
        let padding = seconds(Self::PADDING);
        let back = seconds(age).saturating_add(padding);
        Self {
            from: ServerTime(server_now.0.saturating_sub(back).max(0)),
            to: ServerTime(server_now.0.saturating_add(padding)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_reaches_past_every_time_zone() {
        let now = ServerTime::from_seconds(1_796_040_000);
        let window = Window::reaching_back(now, Duration::from_secs(60));
        assert_eq!(window.from.seconds(), 1_796_040_000 - 60 - 26 * 3600);
        assert_eq!(window.to.seconds(), 1_796_040_000 + 26 * 3600);
    }

    #[test]
    fn an_unknown_action_keeps_its_number() {
        for number in [0, 2, 3, 4, 5, 6, 7, 19, 255, -1] {
            assert_eq!(DealAction::from_number(number).number(), number);
        }
    }
}
