//! What a stack must remember to start something again where it was: names and addresses. It lies
//! in `stack.json`; the secrets lie in files of their own.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::ports;
use crate::private;
use crate::replicas::Replicas;
use crate::services::{SERVICES, Service};
use crate::settings::{Misuse, SERVERS};

/// The memory of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Of the database, the vhost and the folder.
    pub(crate) name: String,
    pub(crate) seed: u32,
    pub(crate) simulator: SimulatorPorts,
    services: BTreeMap<String, Vec<Addresses>>,
}

/// Where the simulator listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SimulatorPorts {
    pub(crate) control: u16,
    pub(crate) servers: BTreeMap<String, u16>,
}

/// Where one replica listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) admin: SocketAddr,
}

impl Addresses {
    /// The base URL of an address, as somebody on this machine reaches it.
    pub(crate) fn url(address: SocketAddr) -> String {
        let mut address = address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }
}

impl State {
    /// A fresh one, on free ports.
    pub(super) fn new(name: &str, seed: u32) -> anyhow::Result<Self> {
        let ports = ports::free(1 + SERVERS.len())?;
        let (control, others) = ports.split_first().context("ports were asked for")?;
        let names = SERVERS.iter().map(|server| server.name.to_owned());
        let servers = names.zip(others.iter().copied()).collect();
        Ok(Self {
            name: name.to_owned(),
            seed,
            simulator: SimulatorPorts {
                control: *control,
                servers,
            },
            services: BTreeMap::new(),
        })
    }

    /// Adds replicas up to the wanted numbers; what is there stays where it is.
    pub(super) fn extend(&mut self, replicas: &Replicas, overlay: &Table) -> anyhow::Result<()> {
        for service in SERVICES {
            let there = self.services.entry(service.name.to_owned()).or_default();
            while there.len() < replicas.of(service.name) {
                let wanted = if there.is_empty() {
                    set_address(service, overlay)?
                } else {
                    None
                };
                let ports = ports::free(2)?;
                let mut addresses = ports.into_iter().map(local);
                let (Some(admin), Some(free)) = (addresses.next(), addresses.next()) else {
                    anyhow::bail!("ports were asked for");
                };
                let listen = service.listens.then_some(wanted.unwrap_or(free));
                there.push(Addresses { listen, admin });
            }
        }
        Ok(())
    }

    /// The replicas of a service.
    pub(crate) fn replicas(&self, service: &str) -> &[Addresses] {
        self.services.get(service).map_or(&[], Vec::as_slice)
    }

    pub(super) fn read(dir: &Path) -> anyhow::Result<Self> {
        let path = file(dir);
        let shown = path.display();
        let text = fs::read_to_string(&path).with_context(|| format!("{shown} cannot be read"))?;
        serde_json::from_str(&text).with_context(|| format!("{shown} is not understood"))
    }

    pub(super) fn write(&self, dir: &Path) -> anyhow::Result<()> {
        private::write(&file(dir), &serde_json::to_string_pretty(self)?)
    }
}

/// The file it lies in.
pub(super) fn file(dir: &Path) -> PathBuf {
    dir.join("stack.json")
}

/// The address that the user set for a service's first replica.
fn set_address(service: &Service, overlay: &Table) -> Result<Option<SocketAddr>, Misuse> {
    let key = format!("{}.listen", service.name);
    let listen = overlay
        .get(service.name)
        .and_then(|section| section.get("listen"));
    let Some(listen) = listen.filter(|_| service.listens) else {
        return Ok(None);
    };
    let address = listen.as_str().and_then(|text| text.parse().ok());
    let address: Option<SocketAddr> = address.filter(|address: &SocketAddr| address.port() != 0);
    match (address, Value::as_str(listen)) {
        (Some(address), _) => Ok(Some(address)),
        (None, Some(text)) if text.ends_with(":0") => Ok(None),
        _ => Err(Misuse::new(format!(
            "LAB_CONFIG: {key} is not ADDRESS:PORT"
        ))),
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_keeps_its_address_when_more_is_added() {
        let mut state = State::new("a", 1).expect("ports are free");
        let none = Table::new();
        state
            .extend(&Replicas::default(), &none)
            .expect("ports are free");
        let before = state.replicas("credit-worker").to_vec();
        assert_eq!(before.len(), 1);
        assert!(before[0].listen.is_none(), "it listens for nobody");
        let three = Replicas::parse("credit-worker=3").expect("is good");
        state.extend(&three, &none).expect("ports are free");
        let after = state.replicas("credit-worker");
        assert_eq!((after.len(), after[0]), (3, before[0]));
        let text = serde_json::to_string(&state).expect("it is written");
        assert_eq!(
            serde_json::from_str::<State>(&text).expect("it is read"),
            state
        );
    }

    #[test]
    fn a_set_address_is_taken_for_the_first_replica_only() {
        let overlay: Table = "[cashier]\nlisten = \"127.0.0.1:18081\""
            .parse()
            .expect("is TOML");
        let mut state = State::new("a", 1).expect("ports are free");
        let two = Replicas::parse("cashier=2").expect("is good");
        state.extend(&two, &overlay).expect("ports are free");
        let ports: Vec<u16> = state
            .replicas("cashier")
            .iter()
            .filter_map(|a| a.listen)
            .map(|a| a.port())
            .collect();
        assert_eq!(ports[0], 18_081);
        assert_ne!(ports[1], 18_081);
        let bad: Table = "[cashier]\nlisten = \"here\"".parse().expect("is TOML");
        let error = State::new("b", 1)
            .expect("ports are free")
            .extend(&two, &bad);
        let error = error.expect_err("it is no address").to_string();
        assert_eq!(error, "LAB_CONFIG: cashier.listen is not ADDRESS:PORT");
    }
}
