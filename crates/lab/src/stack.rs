//! A whole stack on the infrastructure: its own database and vhost, the simulator, the services.
//! Each process keeps its address over a restart, and nothing but the caller restarts it.

mod start;
mod state;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Table;

pub use self::start::migrate;
pub(crate) use self::state::State;
pub use self::watch::{Health, Memory};
use crate::child;
use crate::endpoints::Endpoints;
use crate::guard::Guard;
use crate::infra::Infra;
use crate::process::{Process, Signal};
use crate::replicas::Replicas;
use crate::services::{SERVICES, SIMULATOR, replica};
use crate::settings::Misuse;
use crate::teardown::teardown;

/// How a stack is to be.
#[derive(Debug, Clone)]
pub struct StackOptions {
    /// The name of its folder, database and vhost: a-z, 0-9 and _.
    pub name: String,
    /// How many of each service.
    pub replicas: Replicas,
    /// Settings laid over the lab's own.
    pub overlay: Table,
    /// What the simulator's random decisions follow from.
    pub seed: u32,
}

impl StackOptions {
    /// One of each service, and the lab's own settings.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            replicas: Replicas::default(),
            overlay: Table::new(),
            seed: 1,
        }
    }
}

/// A running stack. On infrastructure that another process started it has a guard of its own:
/// dropping it ends the stack.
pub struct Stack {
    dir: PathBuf,
    infra: Infra,
    state: State,
    overlay: Table,
    endpoints: Endpoints,
    guard: Option<Guard>,
}

impl Stack {
    /// Where everything can be reached, with the processes of the start.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// The infrastructure below it.
    #[must_use]
    pub fn infra(&self) -> &Infra {
        &self.infra
    }

    /// The file that every service reads.
    #[must_use]
    pub fn settings_file(&self) -> PathBuf {
        self.dir.join("settings.toml")
    }

    /// The log of one replica, counted from zero.
    #[must_use]
    pub fn log(&self, service: &str, number: usize) -> PathBuf {
        child::log(&self.dir, &record_name(service, number))
    }

    /// The living process of one replica.
    #[must_use]
    pub fn process(&self, service: &str, number: usize) -> Option<Process> {
        child::living(&self.dir, &record_name(service, number))
    }

    /// Sends one replica a signal, and after `Kill` waits for its end.
    ///
    /// # Errors
    /// It does not run, or the signal could not be sent.
    pub async fn kill(&self, service: &str, number: usize, signal: Signal) -> anyhow::Result<()> {
        let Some(process) = self.process(service, number) else {
            anyhow::bail!("{} does not run", record_name(service, number));
        };
        process.signal(signal)?;
        if signal == Signal::Kill && !process.ends_within(KILL_LIMIT).await {
            anyhow::bail!("{} does not end", record_name(service, number));
        }
        Ok(())
    }

    /// Ends the stack, its database and its vhost. The infrastructure stays.
    ///
    /// # Errors
    /// Something does not end.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let ended = teardown(&self.dir, true).await;
        if let Some(guard) = self.guard.take() {
            guard.finish().await?;
        }
        ended?;
        if self.infra.rabbitmq_pid().is_some() {
            self.infra.delete_vhost(&self.state.name).await?;
        }
        if self.infra.postgres_pid().is_some() {
            self.infra.drop_database(&self.state.name).await?;
        }
        Ok(())
    }

    /// What listens or works here, in the order of starting: service and replica.
    pub(crate) fn members(&self) -> Vec<(&'static str, usize)> {
        let replicas = SERVICES.iter().flat_map(|service| {
            let count = self.state.replicas(service.name).len();
            (0..count).map(|number| (service.name, number))
        });
        std::iter::once((SIMULATOR, 0)).chain(replicas).collect()
    }
}

const KILL_LIMIT: Duration = Duration::from_secs(10);

/// The folder of a stack.
fn folder(infra: &Infra, name: &str) -> PathBuf {
    infra.dir().join("stacks").join(name)
}

fn record_name(service: &str, number: usize) -> String {
    if service == SIMULATOR {
        SIMULATOR.to_owned()
    } else {
        replica(service, number)
    }
}

fn unknown(service: &str) -> Misuse {
    Misuse::new(format!("there is no service {service:?}"))
}

fn overlay_file(dir: &Path) -> PathBuf {
    dir.join("overlay.toml")
}
