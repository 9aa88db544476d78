//! Scripted faults: what they are, whom they strike, how often they did.
//!
//! The rule: a fault counts as a hit only when it really changed what happened to a call, so that
//! a test can prove its fault struck. Faults strike in the order they were set.

mod action;
mod pattern;
mod plan;

use std::collections::BTreeSet;
use std::time::Duration;

use rust_decimal::Decimal;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::command::Command;
use crate::chance::Chance;

pub(super) use action::Action;
pub(super) use pattern::Pattern;
pub(super) use plan::{Ending, Garbage, Plan};

/// The call a fault may strike.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) server: String,
    pub(super) command: Command,
    /// The accounts it names.
    pub(super) logins: Vec<u64>,
}

/// What somebody asked for.
#[derive(Debug, Clone)]
pub(super) struct FaultSpec {
    pub(super) on: Pattern,
    pub(super) server: Option<String>,
    pub(super) login: Option<u64>,
    pub(super) action: Action,
    pub(super) times: Option<u64>,
    pub(super) probability: Option<Decimal>,
    pub(super) wait: Duration,
    pub(super) code: u32,
    pub(super) applied: bool,
    pub(super) offset: i64,
    /// The request as it came, shown again in lists.
    pub(super) request: Map<String, Value>,
}

/// What a struck call needs to know of the fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blow {
    pub(super) wait: Duration,
    pub(super) code: u32,
}

/// A fault that was set and not deleted.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) id: u64,
    pub(super) spec: FaultSpec,
    pub(super) hits: u64,
    /// Ends what hangs on it.
    deleted: CancellationToken,
    /// Servers where one answer of an exchange waits for its second.
    half_swapped: BTreeSet<String>,
}

impl Fault {
    fn is_used_up(&self) -> bool {
        self.spec.times.is_some_and(|times| self.hits >= times)
    }

    fn concerns(&self, target: &Target) -> bool {
        let server = self
            .spec
            .server
            .as_ref()
            .is_none_or(|name| *name == target.server);
        let login = self
            .spec
            .login
            .is_none_or(|login| target.logins.contains(&login));
        server
            && login
            && self.spec.on.matches(target.command)
            && self.spec.action.suits(target.command)
    }

    /// Counts a hit if chance wills it.
    fn hit(&mut self, chance: &mut Chance) -> bool {
        let is_hit = !self.is_used_up()
            && self
                .spec
                .probability
                .is_none_or(|probability| chance.strikes(probability));
        self.hits += u64::from(is_hit);
        is_hit
    }

    /// The second answer of an exchange joins the first even when the fault is used up.
    fn hit_of_swap(&mut self, server: &str, chance: &mut Chance) -> bool {
        if self.half_swapped.remove(server) {
            self.hits += u64::from(!self.is_used_up());
            return true;
        }
        let is_hit = self.hit(chance);
        if is_hit {
            self.half_swapped.insert(server.to_owned());
        }
        is_hit
    }
}

/// All faults not deleted, oldest first.
#[derive(Debug, Default)]
pub(super) struct FaultBook {
    faults: Vec<Fault>,
    last_id: u64,
}

impl FaultBook {
    pub(super) fn add(&mut self, spec: FaultSpec) -> u64 {
        self.last_id += 1;
        self.faults.push(Fault {
            id: self.last_id,
            spec,
            hits: 0,
            deleted: CancellationToken::new(),
            half_swapped: BTreeSet::new(),
        });
        self.last_id
    }

    pub(super) fn all(&self) -> &[Fault] {
        &self.faults
    }

    /// Deletes the faults of which `goes` is true and says how many those were.
    pub(super) fn delete(&mut self, goes: impl Fn(&Fault) -> bool) -> usize {
        let before = self.faults.len();
        self.faults.retain(|fault| {
            let is_gone = goes(fault);
            if is_gone {
                fault.deleted.cancel();
            }
            !is_gone
        });
        before - self.faults.len()
    }

    /// What the faults that strike on arrival make of a call.
    pub(super) fn plan(&mut self, target: &Target, chance: &mut Chance) -> Plan {
        let mut plan = Plan::default();
        for fault in self
            .faults
            .iter_mut()
            .filter(|fault| fault.concerns(target))
        {
            if !plan.takes(fault.spec.action) {
                continue;
            }
            let is_hit = match fault.spec.action {
                Action::SwapReply => fault.hit_of_swap(&target.server, chance),
                _ => fault.hit(chance),
            };
            if is_hit {
                plan.add(fault.id, &fault.spec, &fault.deleted);
            }
        }
        plan
    }

    /// Whether a fault of that action stands against the call.
    pub(super) fn threatens(&self, action: Action, target: &Target) -> bool {
        let mut faults = self
            .faults
            .iter()
            .filter(|fault| fault.spec.action == action);
        faults.any(|fault| !fault.is_used_up() && fault.concerns(target))
    }

    /// The first fault of that action that strikes the call now.
    pub(super) fn strike(
        &mut self,
        action: Action,
        target: &Target,
        chance: &mut Chance,
    ) -> Option<Blow> {
        let faults = self.faults.iter_mut();
        let mut faults = faults.filter(|fault| fault.spec.action == action);
        faults.find_map(|fault| {
            let is_hit = fault.concerns(target) && fault.hit(chance);
            is_hit.then_some(Blow {
                wait: fault.spec.wait,
                code: fault.spec.code,
            })
        })
    }

    /// Whether the server is in maintenance, for a connect or a call, whatever is asked.
    pub(super) fn strikes_maintenance(&mut self, server: &str, chance: &mut Chance) -> bool {
        let is_here = |fault: &&mut Fault| {
            let named = fault.spec.server.as_deref();
            fault.spec.action == Action::Maintenance && named.is_none_or(|name| name == server)
        };
        self.faults
            .iter_mut()
            .filter(is_here)
            .any(|fault| fault.hit(chance))
    }

    /// The first answer of an exchange waits no longer.
    pub(super) fn end_swap(&mut self, id: u64, server: &str) {
        for fault in self.faults.iter_mut().filter(|fault| fault.id == id) {
            fault.half_swapped.remove(server);
        }
    }
}
