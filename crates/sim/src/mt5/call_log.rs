//! The wire log: every command that reached a server, reads too, in order of arrival.
//!
//! The rule: an entry tells what was seen on the wire, never what was meant. `amount` and
//! `comment` are the texts received.

use std::collections::VecDeque;

use serde::Serialize;
use time::OffsetDateTime;

use crate::wall;

/// So many entries are kept; beyond, the oldest go.
const ENTRIES_MAX: usize = 2_000_000;

/// Which entry.
pub(super) type CallId = u64;

/// One command received.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CallEntry {
    pub(super) at: String,
    pub(super) server: String,
    /// The connection; every TCP connection has a number of its own.
    pub(super) session: u64,
    pub(super) method: String,
    pub(super) command: String,
    /// A number; the text received where it is a list; nothing where the command names none.
    pub(super) login: Option<serde_json::Value>,
    pub(super) amount: Option<String>,
    pub(super) comment: Option<String>,
    /// When the operation was applied.
    pub(super) applied_at: Option<String>,
    /// Whether an answer was handed to the connection.
    pub(super) answered: bool,
    /// What that answer was, in short.
    pub(super) answer: Option<String>,
    #[serde(skip)]
    pub(super) logins: Vec<u64>,
}

/// The log.
#[derive(Debug, Default)]
pub(super) struct CallLog {
    entries: VecDeque<CallEntry>,
    forgotten: u64,
}

impl CallLog {
    pub(super) fn begin(&mut self, entry: CallEntry) -> CallId {
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        self.entries.push_back(entry);
        self.forgotten + self.entries.len() as u64 - 1
    }

    pub(super) fn applied(&mut self, call: CallId, at: OffsetDateTime) {
        if let Some(entry) = self.entry(call) {
            entry.applied_at = Some(wall::text(at));
        }
    }

    pub(super) fn answered(&mut self, call: CallId, answer: &str) {
        if let Some(entry) = self.entry(call) {
            entry.answered = true;
            entry.answer = Some(answer.to_owned());
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &CallEntry> {
        self.entries.iter()
    }

    fn entry(&mut self, call: CallId) -> Option<&mut CallEntry> {
        let place = usize::try_from(call.checked_sub(self.forgotten)?).ok()?;
        self.entries.get_mut(place)
    }
}
