//! `/sim/deals`: the ground truth, and deals made by somebody else.
//!
//! The rule: nothing is left out for any fault. `comment` is what is stored; the filter
//! `reference` looks for the comment as it was sent.

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{amount, filters, json as read, login, login_text};
use super::{Fault, Outcome, answered, ok, server_mut};
use crate::mt5::deal::{Deal, action, stored_comment};
use crate::mt5::ledger::Booking;
use crate::mt5::money;
use crate::mt5::world::State;
use crate::wall;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DealBody {
    server: String,
    login: Value,
    amount: Value,
    #[serde(default)]
    comment: String,
}

/// `GET /sim/deals`.
pub(super) fn list(state: &mut State, query: &str) -> Outcome {
    let filters = filters(query, &["server", "login", "reference"])?;
    if let Some(name) = filters.get("server") {
        server_mut(state, name)?;
    }
    let login = filters
        .get("login")
        .map(|text| login_text(text))
        .transpose()?;
    let reference = filters.get("reference");
    let is_wanted = |deal: &Deal| {
        let sent = deal.sent_comment.as_ref().unwrap_or(&deal.comment);
        login.is_none_or(|login| login == deal.login)
            && reference.is_none_or(|reference| reference == sent)
    };
    let mut found = Vec::new();
    for (name, server) in &state.servers {
        if filters.get("server").is_some_and(|wanted| wanted != name) {
            continue;
        }
        let deals: Box<dyn Iterator<Item = &Deal>> = match login {
            Some(login) => Box::new(server.ledger.deals_of(login)),
            None => Box::new(server.ledger.deals().iter()),
        };
        found.extend(
            deals
                .filter(|deal| is_wanted(deal))
                .map(|deal| view(name, deal)),
        );
    }
    Ok(ok(&found))
}

/// `POST /sim/deals`.
pub(super) fn insert(state: &mut State, body: &[u8]) -> Outcome {
    let body: DealBody = read(body)?;
    let login = login(Some(&body.login))?;
    let digits = {
        let ledger = &server_mut(state, &body.server)?.ledger;
        let account = ledger.account(login).ok_or_else(|| {
            Fault::absent(format!("login: {login} does not exist on {}", body.server))
        })?;
        account.group.digits
    };
    let profit = amount("amount", Some(&body.amount), digits)?
        .filter(|profit| !profit.is_zero())
        .ok_or_else(|| Fault::bad("amount: must not be 0"))?;
    let booking = Booking {
        login,
        dealer: 0,
        action: action::BALANCE,
        at: wall::now(),
        profit,
        comment: stored_comment(&body.comment),
        sent_comment: None,
    };
    let server = state.servers.get_mut(&body.server);
    let ledger = &mut server.expect("the server was found above").ledger;
    let ticket = ledger.book(booking, &mut state.chance);
    let deal = ticket.and_then(|ticket| ledger.deal(ticket));
    let deal = deal.ok_or_else(|| Fault::bad("amount: the account cannot hold so much"))?;
    Ok(answered(StatusCode::CREATED, &view(&body.server, deal)))
}

fn view(server: &str, deal: &Deal) -> Value {
    json!({
        "ticket": deal.ticket,
        "server": server,
        "login": deal.login,
        "dealer": deal.dealer,
        "action": deal.action,
        "amount": money::text(deal.profit, deal.digits),
        "comment": deal.comment,
        "sent_comment": deal.sent_comment,
        "time": wall::text(deal.at),
    })
}
