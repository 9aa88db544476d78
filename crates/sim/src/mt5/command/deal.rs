//! `deal/get`, `deal/get_total`, `deal/get_page`, `deal/get_batch`: reading the history.
//!
//! The rule: faults shape the answer here, never the ledger; `history-grows` alone books a real
//! deal, after the page that it follows was made.

use serde::Serialize;
use time::{Duration, OffsetDateTime};

use super::Desk;
use crate::mt5::answer::Answer;
use crate::mt5::deal::{Deal, DealRecord, action};
use crate::mt5::fault::Action;
use crate::mt5::ledger::{Booking, Window};
use crate::mt5::money;
use crate::mt5::params::Params;
use crate::mt5::retcode;

/// The most deals of one page.
const PAGE_MAX: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Total {
    total: String,
}

/// Whose deals are read, and the login their rows name.
#[derive(Clone, Copy)]
struct Reading {
    login: u64,
    shown: Option<u64>,
}

/// `deal/get`.
pub(super) fn get(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let Some(ticket) = params.number::<u64>("ticket") else {
        return Answer::code(retcode::PARAMETERS);
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        return Answer::with_rows(blow.code, serde_json::Map::new());
    }
    let hidden_after = hidden_after(desk);
    let is_shown = |deal: &&Deal| hidden_after.is_none_or(|limit| deal.at <= limit);
    let Some(login) = desk
        .ledger
        .deal(ticket)
        .filter(is_shown)
        .map(|deal| deal.login)
    else {
        return Answer::code(retcode::NOT_FOUND);
    };
    let is_wrong = desk.struck(Action::WrongLogin).is_some();
    let shown = if is_wrong {
        login.saturating_add(1)
    } else {
        login
    };
    let deal = desk.ledger.deal(ticket);
    Answer::done(deal.map(|deal| deal.record(shown, desk.shift)))
}

/// `deal/get_total`.
pub(super) fn get_total(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let (Some(login), Some(window)) = (params.number::<u64>("login"), window(desk, params)) else {
        return Answer::code(retcode::PARAMETERS);
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        return Answer::with_rows(
            blow.code,
            Total {
                total: "0".to_owned(),
            },
        );
    }
    if desk.ledger.account(login).is_none() {
        return Answer::code(retcode::NOT_FOUND);
    }
    let window = lagging(desk, window);
    let reading = reading(desk, login, window);
    let total = desk.ledger.shown(reading.login, window).count();
    Answer::done(Total {
        total: total.to_string(),
    })
}

/// `deal/get_page`.
pub(super) fn get_page(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let (Some(login), Some(window)) = (params.number::<u64>("login"), window(desk, params)) else {
        return Answer::code(retcode::PARAMETERS);
    };
    let (Some(offset), Some(limit)) =
        (count(params, "offset", 0), count(params, "total", PAGE_MAX))
    else {
        return Answer::code(retcode::PARAMETERS);
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        return Answer::with_rows(blow.code, [(); 0]);
    }
    if desk.ledger.account(login).is_none() {
        return Answer::code(retcode::NOT_FOUND);
    }
    let window = lagging(desk, window);
    let reading = reading(desk, login, window);
    let page = desk
        .ledger
        .shown(reading.login, window)
        .skip(offset)
        .take(limit.min(PAGE_MAX));
    let mut rows: Vec<DealRecord> = page.map(|deal| row(deal, reading, window)).collect();
    shorten(desk, &mut rows);
    grow(desk, login);
    Answer::done(rows)
}

/// `deal/get_batch`, by logins or by tickets.
pub(super) fn get_batch(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let lists = ["login", "group", "ticket"].map(|name| params.get(name).is_some());
    match lists {
        [true, false, false] => batch_of_logins(desk, params),
        [false, false, true] => batch_of_tickets(desk, params),
        [false, true, false] => Answer::code(retcode::NOT_IMPLEMENTED),
        _ => Answer::code(retcode::PARAMETERS),
    }
}

fn batch_of_logins(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let (Some(logins), Some(window)) = (params.numbers("login"), window(desk, params)) else {
        return Answer::code(retcode::PARAMETERS);
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        return Answer::with_rows(blow.code, [(); 0]);
    }
    let window = lagging(desk, window);
    let mut rows = Vec::new();
    for login in &logins {
        let reading = reading(desk, *login, window);
        let deals = desk.ledger.shown(reading.login, window);
        rows.extend(deals.map(|deal| row(deal, reading, window)));
    }
    shorten(desk, &mut rows);
    if let Some(login) = logins.first() {
        grow(desk, *login);
    }
    Answer::done(rows)
}

fn batch_of_tickets(desk: &mut Desk<'_>, params: &Params) -> Answer {
    let Some(tickets) = params.numbers("ticket") else {
        return Answer::code(retcode::PARAMETERS);
    };
    if let Some(blow) = desk.struck(Action::HistoryErrorEmpty) {
        return Answer::with_rows(blow.code, [(); 0]);
    }
    let hidden_after = hidden_after(desk);
    let is_shown = |deal: &&Deal| hidden_after.is_none_or(|limit| deal.at <= limit);
    let deals = tickets
        .iter()
        .filter_map(|ticket| desk.ledger.deal(*ticket))
        .filter(is_shown);
    let mut rows: Vec<_> = deals
        .map(|deal| deal.record(deal.login, desk.shift))
        .collect();
    shorten(desk, &mut rows);
    Answer::done(rows)
}

/// The asked stretch of server time, both ends included.
fn window(desk: &Desk<'_>, params: &Params) -> Option<Window> {
    Some(Window {
        from: params.number("from")?,
        to: params.number("to")?,
        shift: desk.shift,
        hidden_after: None,
    })
}

/// An optional count; `None` when it is there and no number.
fn count(params: &Params, name: &str, otherwise: usize) -> Option<usize> {
    match params.get(name) {
        None => Some(otherwise),
        Some(text) => text.parse().ok(),
    }
}

fn hidden_after(desk: &mut Desk<'_>) -> Option<OffsetDateTime> {
    let blow = desk.struck(Action::HistoryLag)?;
    let lag = Duration::try_from(blow.wait).unwrap_or(Duration::MAX);
    desk.now.checked_sub(lag)
}

fn lagging(desk: &mut Desk<'_>, window: Window) -> Window {
    Window {
        hidden_after: hidden_after(desk),
        ..window
    }
}

/// Another account's deals under `wrong-login`: those of the next one that has any in the
/// window, else the own ones under a login that is not theirs.
fn reading(desk: &mut Desk<'_>, login: u64, window: Window) -> Reading {
    let own = Reading { login, shown: None };
    if !desk.is_threatened(Action::WrongLogin) {
        return own;
    }
    let has_rows = |login| desk.ledger.shown(login, window).next().is_some();
    let wrong = match desk.ledger.neighbour(login, has_rows) {
        Some(other) => Reading {
            login: other,
            shown: None,
        },
        None if has_rows(login) => Reading {
            login,
            shown: Some(login.saturating_add(1)),
        },
        None => return own,
    };
    if desk.struck(Action::WrongLogin).is_some() {
        wrong
    } else {
        own
    }
}

fn row(deal: &Deal, reading: Reading, window: Window) -> DealRecord {
    deal.record(reading.shown.unwrap_or(deal.login), window.shift)
}

/// Takes the newest row away under `history-page-drop`.
fn shorten(desk: &mut Desk<'_>, rows: &mut Vec<DealRecord>) {
    if !rows.is_empty() && desk.struck(Action::HistoryPageDrop).is_some() {
        rows.pop();
    }
}

/// Books one smallest unit of interest under `history-grows`.
fn grow(desk: &mut Desk<'_>, login: u64) {
    let Some(digits) = desk
        .ledger
        .account(login)
        .map(|account| account.group.digits)
    else {
        return;
    };
    if desk.struck(Action::HistoryGrows).is_some() {
        let interest = Booking {
            login,
            dealer: 0,
            action: action::INTEREST,
            at: desk.now,
            profit: money::smallest(digits),
            comment: String::new(),
            sent_comment: None,
        };
        desk.ledger.book(interest, desk.chance);
    }
}
