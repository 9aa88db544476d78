//! `/sim/calls`: the wire log.
//!
//! The rule: in order of arrival, reads too, none left out but by the filters asked for.

use super::input::{filters, login_text};
use super::{Outcome, ok, server_mut};
use crate::mt5::call_log::CallEntry;
use crate::mt5::world::State;

/// `GET /sim/calls`.
pub(super) fn list(state: &mut State, query: &str) -> Outcome {
    let filters = filters(query, &["server", "login", "command"])?;
    if let Some(name) = filters.get("server") {
        server_mut(state, name)?;
    }
    let login = filters
        .get("login")
        .map(|text| login_text(text))
        .transpose()?;
    let is_wanted = |entry: &&CallEntry| {
        login.is_none_or(|login| entry.logins.contains(&login))
            && filters
                .get("server")
                .is_none_or(|name| *name == entry.server)
            && filters
                .get("command")
                .is_none_or(|command| *command == entry.command)
    };
    let found: Vec<&CallEntry> = state.calls.entries().filter(is_wanted).collect();
    Ok(ok(&found))
}
