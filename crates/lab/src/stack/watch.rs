//! What can be seen of a running stack from outside: who lives, who is ready, how much memory each
//! takes, and where each is reached.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context;
use toml::Table;

use super::state::Addresses;
use super::{Stack, record_name};
use crate::endpoints::Endpoints;
use crate::http::{client, is_good};
use crate::process::Process;
use crate::services::{SERVICES, SIMULATOR};

/// The memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The most that it ever held.
    pub peak_bytes: u64,
    /// What it holds now.
    pub resident_bytes: u64,
}

/// One line of the status table.
#[derive(Debug, Clone)]
pub struct Health {
    /// The replica.
    pub name: String,
    /// Its process, if it lives.
    pub pid: Option<u32>,
    /// Whether it says that it may be given work.
    pub is_ready: bool,
    /// Its memory.
    pub memory: Option<Memory>,
    /// Where it is reached.
    pub address: String,
}

impl Stack {
    /// Where everything can be reached now, with the processes that live now.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn look(&self) -> anyhow::Result<Endpoints> {
        let mut endpoints = Endpoints {
            mt5_sim: format!("http://127.0.0.1:{}", self.state.simulator.control),
            pids: self.pids(),
            ..Endpoints::default()
        };
        for service in SERVICES {
            let replicas = self.state.replicas(service.name);
            let listen: Vec<String> = replicas
                .iter()
                .filter_map(|one| one.listen)
                .map(Addresses::url)
                .collect();
            let admin = replicas
                .iter()
                .map(|one| Addresses::url(one.admin))
                .collect();
            endpoints.admin.insert(service.name.to_owned(), admin);
            if service.listens {
                endpoints.listen.insert(service.name.to_owned(), listen);
            }
        }
        let first = |service: &str| {
            let urls = endpoints.listen.get(service);
            urls.and_then(|urls| urls.first())
                .cloned()
                .unwrap_or_default()
        };
        let (ingest, cashier) = (first("webhook-ingest"), first("cashier"));
        endpoints.ingest = ingest;
        endpoints.cashier = cashier;
        endpoints.read_settings(&self.settings()?)?;
        Ok(endpoints)
    }

    /// The living processes, by service.
    #[must_use]
    pub fn pids(&self) -> BTreeMap<String, Vec<u32>> {
        let mut pids: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (service, number) in self.members() {
            let living = pids.entry(service.to_owned()).or_default();
            living.extend(self.process(service, number).map(|process| process.pid));
        }
        let infra = &self.infra;
        pids.insert(
            "postgres".to_owned(),
            infra.postgres_pid().into_iter().collect(),
        );
        pids.insert(
            "rabbitmq".to_owned(),
            infra.rabbitmq_pid().into_iter().collect(),
        );
        pids
    }

    /// Whether every process lives.
    #[must_use]
    pub fn alive(&self) -> bool {
        let infra = &self.infra;
        infra.postgres_pid().is_some()
            && infra.rabbitmq_pid().is_some()
            && self
                .members()
                .iter()
                .all(|(name, number)| self.process(name, *number).is_some())
    }

    /// The memory of one replica.
    ///
    /// # Errors
    /// It does not run.
    pub fn memory_bytes(&self, service: &str, number: usize) -> anyhow::Result<Memory> {
        let process = self.process(service, number);
        let memory = process.and_then(|process| memory_of(process.pid));
        memory.with_context(|| format!("{} does not run", record_name(service, number)))
    }

    /// The status of everything, infrastructure first.
    ///
    /// # Errors
    /// There is no HTTP client.
    pub async fn health(&self) -> anyhow::Result<Vec<Health>> {
        let client = client()?;
        let infra = &self.infra;
        let mut lines = vec![
            Health {
                name: "postgres".to_owned(),
                pid: infra.postgres_pid(),
                is_ready: infra.sql("postgres", "SELECT 1").await.is_ok(),
                memory: infra.postgres_pid().and_then(memory_of),
                address: infra.postgres_address(),
            },
            Health {
                name: "rabbitmq".to_owned(),
                pid: infra.rabbitmq_pid(),
                is_ready: is_good(&client, &format!("{}/api/overview", infra.management_url()))
                    .await,
                memory: infra.rabbitmq_pid().and_then(memory_of),
                address: infra.rabbitmq_address(),
            },
        ];
        for (service, number) in self.members() {
            let control = format!("http://127.0.0.1:{}", self.state.simulator.control);
            let (address, probe) = match self.state.replicas(service).get(number) {
                Some(one) => (
                    Addresses::url(one.listen.unwrap_or(one.admin)),
                    format!("{}/readyz", Addresses::url(one.admin)),
                ),
                None => (control.clone(), format!("{control}/sim/faults")),
            };
            let process: Option<Process> = self.process(service, number);
            lines.push(Health {
                name: if service == SIMULATOR {
                    service.to_owned()
                } else {
                    record_name(service, number)
                },
                pid: process.map(|process| process.pid),
                is_ready: process.is_some() && is_good(&client, &probe).await,
                memory: process.and_then(|process| memory_of(process.pid)),
                address,
            });
        }
        Ok(lines)
    }

    fn settings(&self) -> anyhow::Result<Table> {
        let text = fs::read_to_string(self.settings_file());
        let text = text.context("the stack's settings cannot be read")?;
        text.parse().context("the stack's settings are not TOML")
    }
}

const KIBIBYTE: u64 = 1024;

fn memory_of(pid: u32) -> Option<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(Memory {
        peak_bytes: bytes(&status, "VmHWM:")?,
        resident_bytes: bytes(&status, "VmRSS:")?,
    })
}

/// The number behind a key of `/proc/PID/status`, which counts in kibibytes.
fn bytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(KIBIBYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n";
        assert_eq!(bytes(status, "VmHWM:"), Some(2_097_152));
        assert_eq!(bytes(status, "VmSwap:"), None);
        let own = memory_of(std::process::id()).expect("this process has memory");
        assert!(own.peak_bytes >= own.resident_bytes && own.resident_bytes > 0);
    }
}
