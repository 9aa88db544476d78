//! `user/get` and `user/account/get`: an account's record and its trade state.
//!
//! The rule: the trade state exists only while something moves on the account, so a quiet
//! account answers 13 there and is still a good account.

use serde::Serialize;

use super::Desk;
use crate::mt5::answer::Answer;
use crate::mt5::fault::Action;
use crate::mt5::ledger::Account;
use crate::mt5::money;
use crate::mt5::params::Params;
use crate::mt5::retcode;

/// The rights of a usual trading account without the bit that lets it connect.
const RIGHTS_DISABLED: u32 = 0x1e2;
/// The bit that lets it connect.
const RIGHT_ENABLED: u32 = 0x1;
const LEVERAGE: &str = "100";

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct UserRecord<'a> {
    login: String,
    group: &'a str,
    rights: String,
    registration: String,
    last_access: String,
    name: &'static str,
    leverage: &'static str,
    currency_digits: String,
    balance: String,
    credit: String,
    balance_prev_day: String,
    equity_prev_day: String,
    comment: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct AccountRecord {
    login: String,
    currency_digits: String,
    balance: String,
    credit: String,
    margin: String,
    margin_free: String,
    margin_leverage: &'static str,
    profit: String,
    storage: String,
    floating: String,
    equity: String,
}

/// `user/get`.
pub(super) fn get(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let (login, shown) = match asked(desk, params) {
        Ok(logins) => logins,
        Err(answer) => return answer,
    };
    let Some(account) = desk.ledger.account(login) else {
        return Answer::code(retcode::NOT_FOUND);
    };
    let enabled = if account.enabled { RIGHT_ENABLED } else { 0 };
    let opened = account
        .opened_at
        .unix_timestamp()
        .saturating_add(desk.shift);
    let text = |amount| money::text(amount, account.group.digits);
    Answer::done(UserRecord {
        login: shown.to_string(),
        group: &account.group.name,
        rights: (RIGHTS_DISABLED | enabled).to_string(),
        registration: opened.to_string(),
        last_access: opened.to_string(),
        name: "",
        leverage: LEVERAGE,
        currency_digits: account.group.digits.to_string(),
        balance: text(account.balance),
        credit: text(account.credit),
        balance_prev_day: text(account.balance),
        equity_prev_day: text(account.equity()),
        comment: "",
    })
}

/// `user/account/get`.
pub(super) fn account_get(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let (login, shown) = match asked(desk, params) {
        Ok(logins) => logins,
        Err(answer) => return answer,
    };
    let is_alive = |account: &&Account| account.had_activity || !account.margin.is_zero();
    let Some(account) = desk.ledger.account(login).filter(is_alive) else {
        return Answer::code(retcode::NOT_FOUND);
    };
    let text = |amount| money::text(amount, account.group.digits);
    let zero = || text(rust_decimal::Decimal::ZERO);
    Answer::done(AccountRecord {
        login: shown.to_string(),
        currency_digits: account.group.digits.to_string(),
        balance: text(account.balance),
        credit: text(account.credit),
        margin: text(account.margin),
        margin_free: text(account.margin_free()),
        margin_leverage: LEVERAGE,
        profit: zero(),
        storage: zero(),
        floating: zero(),
        equity: text(account.equity()),
    })
}

/// The account to show and the login to show it under, after what faults make of them.
fn asked(desk: &mut Desk<'_>, params: &Params) -> Result<(u64, u64), Answer> {
    let Some(login) = params.number::<u64>("login") else {
        return Err(Answer::code(retcode::PARAMETERS));
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        let nothing = serde_json::Map::new();
        return Err(Answer::with_rows(blow.code, nothing));
    }
    if desk.ledger.account(login).is_none() || desk.struck(Action::WrongLogin).is_none() {
        return Ok((login, login));
    }
    let other = desk.ledger.neighbour(login, |_| true);
    Ok(other.map_or((login, login.saturating_add(1)), |other| (other, other)))
}
