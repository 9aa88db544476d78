//! `group/get` and `common/get`: what decides an account's currency, and what the server is.
//!
//! The rule: `CurrencyDigits` of the group is the authority on decimal places.

use serde::Serialize;

use super::Desk;
use crate::mt5::answer::Answer;
use crate::mt5::params::Params;
use crate::mt5::retcode;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct GroupRecord<'a> {
    group: &'a str,
    server: &'static str,
    permissions_flags: &'static str,
    auth_mode: &'static str,
    company: &'static str,
    currency: &'a str,
    currency_digits: String,
    trade_flags: &'static str,
    margin_mode: &'static str,
    demo_leverage: &'static str,
    limit_history: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct CommonRecord<'a> {
    name: &'a str,
    owner: &'static str,
    total_deals: String,
}

/// `group/get` by name.
pub(super) fn get(desk: &Desk<'_>, params: &Params) -> Answer {
    let Some(name) = params.get("group") else {
        return Answer::code(retcode::PARAMETERS);
    };
    let Some(group) = desk.ledger.groups.iter().find(|group| group.name == name) else {
        return Answer::code(retcode::NOT_FOUND);
    };
    Answer::done(GroupRecord {
        group: &group.name,
        server: "1",
        permissions_flags: "2",
        auth_mode: "0",
        company: "",
        currency: &group.currency,
        currency_digits: group.digits.to_string(),
        trade_flags: "0",
        margin_mode: "0",
        demo_leverage: "100",
        limit_history: "0",
    })
}

/// `common/get`.
pub(super) fn common(desk: &Desk<'_>) -> Answer {
    Answer::done(CommonRecord {
        name: &desk.target.server,
        owner: "",
        total_deals: desk.ledger.deals().len().to_string(),
    })
}
