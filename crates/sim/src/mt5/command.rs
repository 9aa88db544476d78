//! The commands this server knows, and which part of it does each.
//!
//! The rule: every command but the login pair needs an open session, checked here and nowhere
//! else. A command that is not in the list is not offered.

mod clock;
mod deal;
mod group;
mod trade;
mod user;

use time::OffsetDateTime;
use tokio::time::Instant;

use super::answer::Answer;
use super::call_log::{CallId, CallLog};
use super::fault::{Action, Blow, FaultBook, Plan, Target};
use super::ledger::Ledger;
use super::link::Link;
use super::params::Params;
use super::retcode;
use super::session::Session;
use crate::chance::Chance;
use crate::wall;

macro_rules! commands {
    ($($(#[$meta:meta])* $name:ident = $path:literal,)+) => {
        /// A command of the Web API.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Command {
            $($(#[$meta])* $name,)+
        }

        impl Command {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its name on the wire, below `/api/`.
            pub(super) fn path(self) -> &'static str {
                match self {
                    $(Self::$name => $path,)+
                }
            }
        }
    };
}

commands! {
    /// Begins a login.
    AuthStart = "auth/start",
    /// Ends a login.
    AuthAnswer = "auth/answer",
    /// Keeps an idle session.
    TestAccess = "test/access",
    /// Ends the session.
    Quit = "quit",
    /// The server's clock.
    TimeServer = "time/server",
    /// The server's zone.
    TimeGet = "time/get",
    /// What the server is.
    CommonGet = "common/get",
    /// Moves money.
    TradeBalance = "trade/balance",
    /// One deal.
    DealGet = "deal/get",
    /// Counts the deals of an account in a window.
    DealGetTotal = "deal/get_total",
    /// Some of those deals.
    DealGetPage = "deal/get_page",
    /// Deals of several accounts.
    DealGetBatch = "deal/get_batch",
    /// An account's record.
    UserGet = "user/get",
    /// An account's trade state.
    UserAccountGet = "user/account/get",
    /// A group's record.
    GroupGet = "group/get",
}

impl Command {
    pub(super) fn parse(path: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|command| command.path() == path)
    }

    /// Whether its `login` names an account and not the manager who logs in.
    pub(super) fn names_account(self) -> bool {
        !matches!(self, Self::AuthStart | Self::AuthAnswer)
    }
}

/// Everything a command may touch, while the world is locked for it.
pub(super) struct Desk<'a> {
    pub(super) ledger: &'a mut Ledger,
    faults: &'a mut FaultBook,
    chance: &'a mut Chance,
    calls: &'a mut CallLog,
    target: &'a Target,
    call: CallId,
    zone_seconds: i64,
    /// How far the clock that this call sees runs ahead of UTC.
    shift: i64,
    now: OffsetDateTime,
}

impl Desk<'_> {
    /// Whether a fault of that action stands against this call.
    fn is_threatened(&self, action: Action) -> bool {
        self.faults.threatens(action, self.target)
    }

    /// The first fault of that action that strikes this call now, counted as a hit.
    fn struck(&mut self, action: Action) -> Option<Blow> {
        self.faults.strike(action, self.target, self.chance)
    }
}

/// Does a command, once. What it changes is changed when this returns.
pub(super) fn perform(
    link: &Link,
    target: &Target,
    params: Option<&Params>,
    call: CallId,
    plan: &Plan,
) -> Answer {
    let mut state = link.world.locked();
    let state = &mut *state;
    let server = state
        .servers
        .get_mut(&link.server)
        .expect("a link names a server of its world");
    let mut session = link.session();
    let Some(params) = params else {
        return Answer::code(retcode::PARAMETERS);
    };
    let is_login = !target.command.names_account();
    if !is_login && session.staff().is_none() {
        return Answer::forbidden();
    }
    if let Some(code) = plan.refusal {
        return Answer::code(code);
    }
    let mut desk = Desk {
        ledger: &mut server.ledger,
        faults: &mut state.faults,
        chance: &mut state.chance,
        calls: &mut state.calls,
        target,
        call,
        zone_seconds: server.zone_seconds,
        shift: server.zone_seconds.saturating_add(plan.clock_offset),
        now: wall::now(),
    };
    let staff = session.staff().cloned();
    match target.command {
        Command::AuthStart => {
            let find = |login| server.staff.get(&login).cloned();
            session.start(params, find, desk.chance.sixteen(), Instant::now())
        }
        Command::AuthAnswer => session.answer(params, Instant::now()),
        Command::TestAccess => Answer::code(retcode::DONE),
        Command::Quit => {
            *session = Session::Closed;
            Answer::code(retcode::DONE).closing()
        }
        Command::TimeServer => clock::server(&desk),
        Command::TimeGet => clock::zone(&desk),
        Command::CommonGet => group::common(&desk),
        Command::TradeBalance => trade::balance(&mut desk, staff.as_ref(), params),
        Command::DealGet => deal::get(&mut desk, params),
        Command::DealGetTotal => deal::get_total(&mut desk, params),
        Command::DealGetPage => deal::get_page(&mut desk, params),
        Command::DealGetBatch => deal::get_batch(&mut desk, params),
        Command::UserGet => user::get(&mut desk, params),
        Command::UserAccountGet => user::account_get(&mut desk, params),
        Command::GroupGet => group::get(&desk, params),
    }
}
