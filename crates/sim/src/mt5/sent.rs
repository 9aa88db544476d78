//! A request as it was received, and its line of the wire log.
//!
//! The rule: nothing is judged here. What cannot be read is logged all the same.

use bytes::Bytes;
use hyper::Method;
use hyper::http::request::Parts;
use serde_json::Value;
use time::OffsetDateTime;

use super::call_log::CallEntry;
use super::command::Command;
use super::ledger::Ledger;
use super::params::Params;
use crate::wall;

/// Below which every command lies.
const ROOT: &str = "/api/";

/// A request.
#[derive(Debug)]
pub(super) struct Sent {
    method: Method,
    path: String,
    /// The command, if it is one that is offered.
    pub(super) command: Option<Command>,
    /// The parameters, if they are readable.
    pub(super) params: Option<Params>,
}

impl Sent {
    pub(super) fn read(head: &Parts, body: &Bytes) -> Self {
        let path = head.uri.path();
        let path = path.strip_prefix(ROOT).unwrap_or(path).to_owned();
        let is_offered = matches!(head.method, Method::GET | Method::POST);
        Self {
            method: head.method.clone(),
            command: Command::parse(&path).filter(|_| is_offered),
            path,
            params: Params::read(head.uri.query(), body).ok(),
        }
    }

    /// The accounts it names, by login or by ticket.
    pub(super) fn logins(&self, ledger: &Ledger) -> Vec<u64> {
        let Some(params) = self.account_params() else {
            return Vec::new();
        };
        let tickets = || params.numbers("ticket").unwrap_or_default();
        let owner = |ticket: u64| ledger.deal(ticket).map(|deal| deal.login);
        params
            .numbers("login")
            .unwrap_or_else(|| tickets().into_iter().filter_map(owner).collect())
    }

    /// Its line of the wire log.
    pub(super) fn entry(
        &self,
        at: OffsetDateTime,
        server: &str,
        session: u64,
        logins: Vec<u64>,
    ) -> CallEntry {
        let params = self.account_params();
        let text = |name| {
            params
                .and_then(|params| params.get(name))
                .map(str::to_owned)
        };
        let login = text("login");
        CallEntry {
            at: wall::text(at),
            server: server.to_owned(),
            session,
            method: self.method.to_string(),
            command: self.path.clone(),
            login: login.map(|text| text.parse::<u64>().map_or(Value::from(text), Value::from)),
            amount: text("balance"),
            comment: text("comment"),
            applied_at: None,
            answered: false,
            answer: None,
            logins,
        }
    }

    /// The parameters of a command whose `login` is an account. Those of a login are its
    /// manager's and stay out of the log.
    fn account_params(&self) -> Option<&Params> {
        let names_account = self.command.is_none_or(Command::names_account);
        self.params.as_ref().filter(|_| names_account)
    }
}
