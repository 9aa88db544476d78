//! Everything the simulated platform knows, behind one lock.
//!
//! The rule: the lock is never held across an await. One lock makes one order of events, which
//! is what makes a run repeatable under its seed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::call_log::CallLog;
use super::fault::FaultBook;
use super::handshake::PasswordHash;
use super::ledger::Ledger;
use super::session::Staff;
use super::settings::{Mt5ServerSettings, Mt5SimSettings};
use super::swap::SwapDesk;
use crate::chance::Chance;

/// The platform.
pub(super) struct World(Mutex<State>);

/// What is behind the lock.
pub(super) struct State {
    pub(super) servers: BTreeMap<String, Server>,
    pub(super) faults: FaultBook,
    pub(super) calls: CallLog,
    pub(super) swaps: SwapDesk,
    pub(super) chance: Chance,
    last_session: u64,
}

/// One trade server.
pub(super) struct Server {
    pub(super) ledger: Ledger,
    pub(super) staff: BTreeMap<u64, Staff>,
    pub(super) zone_seconds: i64,
    pub(super) idle_limit: Duration,
}

impl World {
    pub(super) fn new(settings: &Mt5SimSettings) -> Self {
        let server = |server: &Mt5ServerSettings| {
            let ledger = Ledger::new(settings.groups_in_force(), server.first_ticket);
            (server.name.clone(), Server::new(server, ledger))
        };
        Self(Mutex::new(State {
            servers: settings.servers.iter().map(server).collect(),
            faults: FaultBook::default(),
            calls: CallLog::default(),
            swaps: SwapDesk::default(),
            chance: Chance::new(settings.seed),
            last_session: 0,
        }))
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The number of a new connection.
    pub(super) fn next_session(&mut self) -> u64 {
        self.last_session += 1;
        self.last_session
    }
}

impl Server {
    fn new(settings: &Mt5ServerSettings, ledger: Ledger) -> Self {
        let staff = settings.managers.iter().map(|manager| {
            let staff = Staff {
                login: manager.login,
                hash: PasswordHash::of(&manager.password),
                may_operate: manager.may_operate,
            };
            (manager.login, staff)
        });
        Self {
            ledger,
            staff: staff.collect(),
            zone_seconds: settings.time_offset_seconds,
            idle_limit: Duration::from_secs(settings.idle_limit_seconds),
        }
    }
}
