//! What a run is told at its start.
//!
//! The rule: every fault of the settings is found before a socket is bound, and all are named
//! together. A password never prints.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;

use serde::Deserialize;

/// The server zone unless told otherwise: three hours east of UTC.
const ZONE_SECONDS: i64 = 10_800;
/// The widest zone that is believed: a day.
const ZONE_SECONDS_MAX: u64 = 86_400;
/// Idle time after which the server closes a connection; the stricter of two documented values.
const IDLE_LIMIT_SECONDS: u64 = 120;
/// The ticket after which a server counts unless told otherwise.
const FIRST_TICKET: u64 = 100_000;
/// The most places a group's currency can have.
pub(super) const DIGITS_MAX: u32 = 8;

/// A whole simulated platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mt5SimSettings {
    /// Where the control side listens; port 0 takes a free one.
    pub control: SocketAddr,
    /// What every random decision follows from.
    #[serde(default)]
    pub seed: u64,
    /// The trade servers.
    pub servers: Vec<Mt5ServerSettings>,
    /// The account groups of every server; a usual set when empty.
    #[serde(default)]
    pub groups: Vec<GroupSettings>,
}

/// One trade server with its access point.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mt5ServerSettings {
    /// Its name on the control side.
    pub name: String,
    /// Where its Web API listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may log in.
    pub managers: Vec<ManagerSettings>,
    /// The trade zone, in seconds east of UTC.
    #[serde(default = "zone_seconds")]
    pub time_offset_seconds: i64,
    /// Tickets are above this number.
    #[serde(default = "first_ticket")]
    pub first_ticket: u64,
    /// A connection without a packet for so long is closed.
    #[serde(default = "idle_limit_seconds")]
    pub idle_limit_seconds: u64,
}

/// A manager's account.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagerSettings {
    /// Its login.
    pub login: u64,
    /// Its API password.
    pub password: String,
    /// Whether it has the accountant's right, without which no balance operation is done.
    pub may_operate: bool,
}

impl fmt::Debug for ManagerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerSettings")
            .field("login", &self.login)
            .field("may_operate", &self.may_operate)
            .finish_non_exhaustive()
    }
}

/// A group of accounts: what decides their currency.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSettings {
    /// Its path, for example `real\USD`.
    pub name: String,
    /// Its deposit currency.
    pub currency: String,
    /// The places of that currency.
    pub digits: u32,
}

/// The groups of a server whose settings name none.
const USUAL_GROUPS: [(&str, &str, u32); 8] = [
    (r"real\USD", "USD", 2),
    (r"real\EUR", "EUR", 2),
    (r"real\GBP", "GBP", 2),
    (r"real\JPY", "JPY", 0),
    (r"real\KWD", "KWD", 3),
    (r"real\USDT", "USDT", 2),
    (r"real\USDT-6", "USDT", 6),
    (r"real\BTC", "BTC", 8),
];

impl Mt5SimSettings {
    /// Every fault, as sentences; none means usable.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut names = BTreeSet::new();
        if self.servers.is_empty() {
            faults.push("servers: at least one is needed".to_owned());
        }
        for server in &self.servers {
            let name = &server.name;
            if name.is_empty() || name.contains('/') {
                faults.push(format!("server {name:?}: the name is empty or has a slash"));
            }
            if !names.insert(name) {
                faults.push(format!("server {name:?}: the name is given twice"));
            }
            if server.managers.is_empty() {
                faults.push(format!("server {name:?}: managers: at least one is needed"));
            }
            if server.time_offset_seconds.unsigned_abs() > ZONE_SECONDS_MAX {
                faults.push(format!("server {name:?}: time_offset_seconds: over a day"));
            }
            if server.idle_limit_seconds == 0 {
                faults.push(format!("server {name:?}: idle_limit_seconds: is 0"));
            }
        }
        for group in &self.groups {
            let name = &group.name;
            if name.is_empty() || group.currency.is_empty() || group.digits > DIGITS_MAX {
                faults.push(format!(
                    "group {name:?}: name and currency must not be empty, digits at most \
                     {DIGITS_MAX}"
                ));
            }
        }
        faults
    }

    /// The groups in force.
    pub(super) fn groups_in_force(&self) -> Vec<GroupSettings> {
        if !self.groups.is_empty() {
            return self.groups.clone();
        }
        USUAL_GROUPS
            .iter()
            .map(|&(name, currency, digits)| GroupSettings {
                name: name.to_owned(),
                currency: currency.to_owned(),
                digits,
            })
            .collect()
    }
}

fn zone_seconds() -> i64 {
    ZONE_SECONDS
}

fn first_ticket() -> u64 {
    FIRST_TICKET
}

fn idle_limit_seconds() -> u64 {
    IDLE_LIMIT_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_named_together() {
        let settings: Mt5SimSettings = serde_json::from_value(serde_json::json!({
            "control": "127.0.0.1:0",
            "servers": [
                {"name": "a", "listen": "127.0.0.1:0", "managers": []},
                {"name": "a", "listen": "127.0.0.1:0", "managers": [], "idle_limit_seconds": 0},
            ],
            "groups": [{"name": "g", "currency": "USD", "digits": 9}],
        }))
        .expect("has the right shape");
        assert_eq!(settings.faults().len(), 5, "{:?}", settings.faults());
    }

    #[test]
    fn a_password_does_not_print() {
        let manager = ManagerSettings {
            login: 1001,
            password: "Password1".to_owned(),
            may_operate: true,
        };
        assert!(!format!("{manager:?}").contains("Password1"));
    }
}
