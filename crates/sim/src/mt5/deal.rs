//! A deal: how the platform stores it and how its record reads on the wire.
//!
//! The rule: a stored deal never changes and is never lost. What a fault hides or twists is
//! hidden or twisted in an answer only; the comment as it was sent is kept beside the stored one.

use rust_decimal::Decimal;
use serde::Serialize;
use time::OffsetDateTime;

use super::money;

/// The most UTF-16 units of a stored comment; the platform cuts longer ones without a word.
const COMMENT_UNITS_MAX: usize = 31;
/// Who made the deal, as the platform codes it: a dealer.
const REASON_DEALER: u32 = 2;

/// Deal actions this server books.
pub(super) mod action {
    /// A deposit or withdrawal.
    pub(in crate::mt5) const BALANCE: u32 = 2;
    /// A credit.
    pub(in crate::mt5) const CREDIT: u32 = 3;
    /// A correction.
    pub(in crate::mt5) const CORRECTION: u32 = 5;
    /// A bonus, the last that the balance command takes.
    pub(in crate::mt5) const BONUS: u32 = 6;
    /// Interest, booked by the server itself.
    pub(in crate::mt5) const INTEREST: u32 = 12;
}

/// A stored deal.
#[derive(Debug, Clone)]
pub(super) struct Deal {
    pub(super) ticket: u64,
    pub(super) login: u64,
    /// The manager who did it, 0 for the server itself or somebody outside this simulation.
    pub(super) dealer: u64,
    pub(super) action: u32,
    /// The true instant.
    pub(super) at: OffsetDateTime,
    pub(super) profit: Decimal,
    pub(super) digits: u32,
    /// The stored comment.
    pub(super) comment: String,
    /// The comment as the client sent it; none for a deal that no client sent.
    pub(super) sent_comment: Option<String>,
}

impl Deal {
    /// Its time in seconds of a server clock that runs `shift` seconds ahead of UTC.
    pub(super) fn server_seconds(&self, shift: i64) -> i64 {
        self.at.unix_timestamp().saturating_add(shift)
    }

    /// Its record, under the login that the answer shall name.
    pub(super) fn record(&self, login: u64, shift: i64) -> DealRecord {
        let zero = || "0".to_owned();
        let money_zero = || money::text(Decimal::ZERO, self.digits);
        let seconds = self.server_seconds(shift);
        let milliseconds = i128::from(seconds) * 1_000 + i128::from(self.at.millisecond());
        DealRecord {
            deal: self.ticket.to_string(),
            external_id: String::new(),
            login: login.to_string(),
            dealer: self.dealer.to_string(),
            order: zero(),
            action: self.action.to_string(),
            entry: zero(),
            reason: REASON_DEALER.to_string(),
            digits: zero(),
            digits_currency: self.digits.to_string(),
            contract_size: "0.00".to_owned(),
            time: seconds.to_string(),
            time_msc: milliseconds.to_string(),
            symbol: String::new(),
            price: zero(),
            volume: zero(),
            volume_ext: zero(),
            profit: money::text(self.profit, self.digits),
            storage: money_zero(),
            commission: money_zero(),
            fee: money_zero(),
            rate_profit: "0.00000000".to_owned(),
            rate_margin: "0.00000000".to_owned(),
            expert_id: zero(),
            position_id: zero(),
            comment: self.comment.clone(),
            profit_raw: money_zero(),
            flags: zero(),
            gateway: String::new(),
            modify_flags: zero(),
        }
    }
}

/// A deal as it travels; every scalar is a text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DealRecord {
    deal: String,
    #[serde(rename = "ExternalID")]
    external_id: String,
    login: String,
    dealer: String,
    order: String,
    action: String,
    entry: String,
    reason: String,
    digits: String,
    digits_currency: String,
    contract_size: String,
    time: String,
    time_msc: String,
    symbol: String,
    price: String,
    volume: String,
    volume_ext: String,
    profit: String,
    storage: String,
    commission: String,
    fee: String,
    rate_profit: String,
    rate_margin: String,
    #[serde(rename = "ExpertID")]
    expert_id: String,
    #[serde(rename = "PositionID")]
    position_id: String,
    comment: String,
    profit_raw: String,
    flags: String,
    gateway: String,
    modify_flags: String,
}

/// A comment as the platform stores it.
pub(super) fn stored_comment(sent: &str) -> String {
    first_units(sent, COMMENT_UNITS_MAX)
}

/// The first half of a comment.
pub(super) fn half_comment(comment: &str) -> String {
    first_units(comment, comment.encode_utf16().count() / 2)
}

/// As many whole characters as fit that many UTF-16 units.
fn first_units(text: &str, units_max: usize) -> String {
    let mut units = 0;
    let fits = |character: &char| {
        units += character.len_utf16();
        units <= units_max
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_cut_at_thirty_one_units() {
        let exact = "x".repeat(31);
        assert_eq!(stored_comment(&exact), exact);
        assert_eq!(stored_comment(&"x".repeat(32)), exact);
        let wide = "𝄞".repeat(16);
        assert_eq!(stored_comment(&wide), "𝄞".repeat(15));
        assert_eq!(half_comment("dep:1"), "de");
    }
}
