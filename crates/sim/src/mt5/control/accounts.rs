//! `/sim/accounts`: opening, changing and showing accounts.
//!
//! The rule: a balance set here makes no deal; it is what the account had before anyone looked.

use hyper::StatusCode;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{amount, json as read, login, login_text};
use super::{Fault, Outcome, answered, ok, server_mut};
use crate::mt5::ledger::{Account, Ledger};
use crate::mt5::money;
use crate::mt5::settings::{DIGITS_MAX, GroupSettings};
use crate::mt5::world::State;
use crate::wall;

/// The most characters of a currency.
const CURRENCY_LENGTH_MAX: usize = 15;
/// The places of a currency nobody gave any.
const DIGITS_USUAL: u32 = 2;

/// The body of both writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountBody {
    server: Option<String>,
    login: Option<Value>,
    group: Option<String>,
    currency: Option<String>,
    digits: Option<u32>,
    balance: Option<Value>,
    credit: Option<Value>,
    margin: Option<Value>,
    enabled: Option<bool>,
}

/// `POST /sim/accounts`.
pub(super) fn open(state: &mut State, body: &[u8]) -> Outcome {
    let body: AccountBody = read(body)?;
    let name = body
        .server
        .clone()
        .ok_or_else(|| Fault::bad("server: is needed"))?;
    let login = login(body.login.as_ref())?;
    let ledger = &mut server_mut(state, &name)?.ledger;
    if ledger.account(login).is_some() {
        return Err(Fault {
            status: StatusCode::CONFLICT,
            error: format!("login: {login} exists on {name} already"),
        });
    }
    if body.currency.is_none() && body.group.is_none() {
        return Err(Fault::bad("currency: is needed"));
    }
    let blank = Account {
        login,
        group: group_for(ledger, &body)?,
        balance: Decimal::ZERO,
        credit: Decimal::ZERO,
        margin: Decimal::ZERO,
        enabled: true,
        opened_at: wall::now(),
        had_activity: false,
    };
    let account = with_body(blank, &body)?;
    let shown = view(&name, &account);
    keep(ledger, account);
    Ok(answered(StatusCode::CREATED, &shown))
}

/// `PATCH /sim/accounts`, the account named in the body or in the path.
pub(super) fn change(state: &mut State, path: Option<(&str, &str)>, body: &[u8]) -> Outcome {
    let body: AccountBody = read(body)?;
    let (name, login) = match path {
        Some((name, login)) => (name.to_owned(), login_text(login)?),
        None => {
            let name = body
                .server
                .clone()
                .ok_or_else(|| Fault::bad("server: is needed"))?;
            (name, login(body.login.as_ref())?)
        }
    };
    let ledger = &mut server_mut(state, &name)?.ledger;
    let mut account = existing(ledger, &name, login)?.clone();
    if body.group.is_some() || body.currency.is_some() || body.digits.is_some() {
        account.group = group_for(
            ledger,
            &AccountBody {
                currency: body
                    .currency
                    .clone()
                    .or_else(|| body.group.is_none().then(|| account.group.currency.clone())),
                group: body.group.clone(),
                digits: body.digits,
                ..AccountBody::blank()
            },
        )?;
    }
    let account = with_body(account, &body)?;
    let shown = view(&name, &account);
    keep(ledger, account);
    Ok(ok(&shown))
}

/// `GET /sim/accounts/{server}/{login}`.
pub(super) fn show(state: &mut State, name: &str, login: &str) -> Outcome {
    let login = login_text(login)?;
    let absent = |fault| Fault {
        status: StatusCode::NOT_FOUND,
        ..fault
    };
    let ledger = &server_mut(state, name).map_err(absent)?.ledger;
    let account = existing(ledger, name, login)?;
    Ok(ok(&view(name, account)))
}

impl AccountBody {
    fn blank() -> Self {
        Self {
            server: None,
            login: None,
            group: None,
            currency: None,
            digits: None,
            balance: None,
            credit: None,
            margin: None,
            enabled: None,
        }
    }
}

fn existing<'a>(ledger: &'a Ledger, name: &str, login: u64) -> Result<&'a Account, Fault> {
    let account = ledger.account(login);
    account.ok_or_else(|| Fault::absent(format!("login: {login} does not exist on {name}")))
}

/// Stores the account, and its group where that is a new one.
fn keep(ledger: &mut Ledger, account: Account) {
    if !ledger.groups.contains(&account.group) {
        ledger.groups.push(account.group.clone());
    }
    ledger.put_account(account);
}

fn with_body(account: Account, body: &AccountBody) -> Result<Account, Fault> {
    let digits = account.group.digits;
    let account = Account {
        balance: amount("balance", body.balance.as_ref(), digits)?.unwrap_or(account.balance),
        credit: amount("credit", body.credit.as_ref(), digits)?.unwrap_or(account.credit),
        margin: amount("margin", body.margin.as_ref(), digits)?.unwrap_or(account.margin),
        enabled: body.enabled.unwrap_or(account.enabled),
        ..account
    };
    let held = [account.balance, account.credit, account.margin];
    if held.iter().any(|held| held.normalize().scale() > digits) {
        return Err(Fault::bad(format!(
            "digits: the account holds more than {digits} places"
        )));
    }
    Ok(account)
}

/// The group named, or one of that currency and digits; a new one where there is none.
fn group_for(ledger: &Ledger, body: &AccountBody) -> Result<GroupSettings, Fault> {
    let fits = |group: &GroupSettings| {
        body.currency
            .as_ref()
            .is_none_or(|currency| *currency == group.currency)
            && body.digits.is_none_or(|digits| digits == group.digits)
    };
    if body.digits.is_some_and(|digits| digits > DIGITS_MAX) {
        return Err(Fault::bad(format!("digits: at most {DIGITS_MAX}")));
    }
    let named = |name: &str| ledger.groups.iter().find(|group| group.name == *name);
    let found = match &body.group {
        Some(name) => named(name),
        None => ledger.groups.iter().find(|group| fits(group)),
    };
    if let Some(group) = found {
        let group = Some(group.clone()).filter(fits);
        return group.ok_or_else(|| Fault::bad("group: has another currency or other digits"));
    }
    let currency = body.currency.clone();
    let currency = currency.ok_or_else(|| Fault::bad("currency: a new group needs one"))?;
    let is_currency = (1..=CURRENCY_LENGTH_MAX).contains(&currency.len())
        && currency.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_currency {
        return Err(Fault::bad(format!("currency: {currency:?} is none")));
    }
    let digits = body.digits.unwrap_or(DIGITS_USUAL);
    let plain = format!(r"real\{currency}");
    let free = if named(&plain).is_none() {
        plain
    } else {
        format!(r"real\{currency}-{digits}")
    };
    let name = body.group.clone().unwrap_or(free);
    Ok(GroupSettings {
        name,
        currency,
        digits,
    })
}

fn view(server: &str, account: &Account) -> Value {
    let digits = account.group.digits;
    json!({
        "server": server,
        "login": account.login,
        "group": account.group.name,
        "currency": account.group.currency,
        "digits": digits,
        "balance": money::text(account.balance, digits),
        "credit": money::text(account.credit, digits),
        "margin": money::text(account.margin, digits),
        "enabled": account.enabled,
    })
}
