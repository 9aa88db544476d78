//! The infrastructure: a private PostgreSQL and a private RabbitMQ in one state folder. What is
//! needed to reach them stands in its `infra.json`, so that another process can use them too.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::child;
use crate::guard::Guard;
use crate::lock::Lock;
use crate::ports;
use crate::postgres::{self, Postgres};
use crate::private;
use crate::process::Signal;
use crate::rabbitmq::{self, RabbitMq};
use crate::teardown::teardown;

/// The file that says how to reach them.
const FILE: &str = "infra.json";
/// Names that file to the tests of `lab run`.
const VARIABLE: &str = "CLAIMCHECK_LAB_INFRA";

/// PostgreSQL and RabbitMQ. The one that started them holds the guard: dropping it ends both.
pub struct Infra {
    dir: PathBuf,
    state: State,
    guard: Option<Guard>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    postgres: Postgres,
    rabbitmq: RabbitMq,
}

impl Infra {
    /// Starts both in an empty state folder, on free ports.
    ///
    /// # Errors
    /// A package is missing, or one of them does not get ready; then nothing is left running.
    pub async fn start(dir: &Path, lock: Option<&Lock>) -> anyhow::Result<Self> {
        let ports = ports::free(1 + rabbitmq::PORTS)?;
        let (first, others) = ports.split_first().context("ports were asked for")?;
        let state = State {
            postgres: Postgres::new(*first),
            rabbitmq: RabbitMq::new(others)?,
        };
        let guard = Guard::start(dir, lock)?;
        private::write(&dir.join(FILE), &serde_json::to_string_pretty(&state)?)?;
        let infra = Self {
            dir: dir.to_owned(),
            state,
            guard: Some(guard),
        };
        match infra.ensure().await {
            Ok(()) => Ok(infra),
            Err(error) => {
                infra.stop().await?;
                Err(error)
            }
        }
    }

    /// Uses what another process has started, or `up` has left running.
    ///
    /// # Errors
    /// The file is not there or is not ours.
    pub fn attach(file: &Path) -> anyhow::Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read"))?;
        let state =
            serde_json::from_str(&text).with_context(|| format!("{shown} is not understood"))?;
        let dir = file.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self {
            dir,
            state,
            guard: None,
        })
    }

    /// The same, for a test below `lab run`.
    ///
    /// # Errors
    /// The test runs outside of it.
    pub fn attach_from_environment() -> anyhow::Result<Self> {
        let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        let file = file.context("run through `make test`, which starts the infrastructure")?;
        Self::attach(Path::new(&file))
    }

    /// Another hold on the same infrastructure, without the guard.
    #[must_use]
    pub fn attached(&self) -> Self {
        Self {
            dir: self.dir.clone(),
            state: self.state.clone(),
            guard: None,
        }
    }

    /// Starts again what has died, on its own data and ports.
    ///
    /// # Errors
    /// One of them does not get ready.
    pub async fn ensure(&self) -> anyhow::Result<()> {
        let postgres = async {
            match self.postgres_pid() {
                Some(_) => Ok(()),
                None => self.start_postgres().await,
            }
        };
        let rabbitmq = async {
            match self.rabbitmq_pid() {
                Some(_) => Ok(()),
                None => self.start_rabbitmq().await,
            }
        };
        tokio::try_join!(postgres, rabbitmq).map(|_| ())
    }

    /// Starts PostgreSQL on its own data and port.
    ///
    /// # Errors
    /// It does not get ready.
    pub async fn start_postgres(&self) -> anyhow::Result<()> {
        self.state.postgres.start(&self.dir).await
    }

    /// Shuts PostgreSQL down in good order.
    ///
    /// # Errors
    /// It does not end.
    pub async fn stop_postgres(&self) -> anyhow::Result<()> {
        self.state.postgres.stop(&self.dir).await
    }

    /// Starts RabbitMQ on its own data and ports.
    ///
    /// # Errors
    /// It does not get ready.
    pub async fn start_rabbitmq(&self) -> anyhow::Result<()> {
        self.state.rabbitmq.start(&self.dir).await
    }

    /// Shuts RabbitMQ down in good order.
    ///
    /// # Errors
    /// It does not end.
    pub async fn stop_rabbitmq(&self) -> anyhow::Result<()> {
        self.state.rabbitmq.stop(&self.dir).await
    }

    /// Sends PostgreSQL's first process a signal.
    ///
    /// # Errors
    /// It could not be sent.
    pub fn signal_postgres(&self, signal: Signal) -> anyhow::Result<()> {
        self.signal(postgres::NAME, signal)
    }

    /// Sends RabbitMQ a signal.
    ///
    /// # Errors
    /// It could not be sent.
    pub fn signal_rabbitmq(&self, signal: Signal) -> anyhow::Result<()> {
        self.signal(rabbitmq::NAME, signal)
    }

    /// PostgreSQL's first process, if it lives.
    #[must_use]
    pub fn postgres_pid(&self) -> Option<u32> {
        child::living(&self.dir, postgres::NAME).map(|process| process.pid)
    }

    /// RabbitMQ's process, if it lives.
    #[must_use]
    pub fn rabbitmq_pid(&self) -> Option<u32> {
        child::living(&self.dir, rabbitmq::NAME).map(|process| process.pid)
    }

    /// The superuser's URL of a database.
    #[must_use]
    pub fn database_url(&self, database: &str) -> String {
        self.state.postgres.url(database)
    }

    /// The URL of a vhost.
    #[must_use]
    pub fn amqp_url(&self, vhost: &str) -> String {
        self.state.rabbitmq.url(vhost)
    }

    /// RabbitMQ's management API, with user and password.
    #[must_use]
    pub fn management_url(&self) -> String {
        self.state.rabbitmq.management_url()
    }

    /// Where PostgreSQL listens, for people.
    #[must_use]
    pub fn postgres_address(&self) -> String {
        format!("127.0.0.1:{}", self.state.postgres.port)
    }

    /// Where RabbitMQ listens, for people.
    #[must_use]
    pub fn rabbitmq_address(&self) -> String {
        format!("127.0.0.1:{}", self.state.rabbitmq.amqp_port)
    }

    /// Whether this is the one that started them.
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// The state folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that another process attaches by.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// Runs one SQL statement as the superuser.
    ///
    /// # Errors
    /// PostgreSQL refuses it or is away.
    pub async fn sql(&self, database: &str, statement: &str) -> anyhow::Result<()> {
        self.state.postgres.sql(database, statement).await
    }

    /// Creates an empty database.
    ///
    /// # Errors
    /// The name is unusable or taken, or PostgreSQL is away.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<()> {
        check_name(name)?;
        self.sql("postgres", &format!("CREATE DATABASE \"{name}\""))
            .await
    }

    /// Drops a database, whoever is connected to it.
    ///
    /// # Errors
    /// PostgreSQL is away.
    pub async fn drop_database(&self, name: &str) -> anyhow::Result<()> {
        check_name(name)?;
        let statement = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
        self.sql("postgres", &statement).await
    }

    /// Creates a vhost that our user may do everything in. One that is there stays as it is.
    ///
    /// # Errors
    /// The name is unusable, or RabbitMQ is away.
    pub async fn create_vhost(&self, name: &str) -> anyhow::Result<()> {
        check_name(name)?;
        let rabbitmq = &self.state.rabbitmq;
        let path = format!("vhosts/{name}");
        rabbitmq
            .manage(reqwest::Method::PUT, &path, json!({}))
            .await?;
        let path = format!("permissions/{name}/{}", rabbitmq.user);
        let all = json!({"configure": ".*", "write": ".*", "read": ".*"});
        rabbitmq.manage(reqwest::Method::PUT, &path, all).await
    }

    /// Deletes a vhost with its queues.
    ///
    /// # Errors
    /// RabbitMQ is away.
    pub async fn delete_vhost(&self, name: &str) -> anyhow::Result<()> {
        check_name(name)?;
        let path = format!("vhosts/{name}");
        self.state
            .rabbitmq
            .manage(reqwest::Method::DELETE, &path, json!({}))
            .await
    }

    /// Leaves everything running.
    ///
    /// # Errors
    /// The guard is gone, and may have ended everything.
    pub fn keep(mut self) -> anyhow::Result<()> {
        self.guard.take().map_or(Ok(()), Guard::keep)
    }

    /// Ends everything that the state folder records and removes it. An attached one ends nothing.
    ///
    /// # Errors
    /// Something does not end.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let Some(guard) = self.guard.take() else {
            return Ok(());
        };
        let ended = teardown(&self.dir, true).await;
        guard.finish().await?;
        ended
    }

    fn signal(&self, name: &str, signal: Signal) -> anyhow::Result<()> {
        child::living(&self.dir, name).map_or(Ok(()), |process| process.signal(signal))
    }
}

/// Names stand in SQL and in paths: only what means nothing there.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let is_good = !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(is_plain);
    ensure!(
        is_good,
        "{name:?} is no usable name: a-z, 0-9 and _, at most {NAME_MAX} of them"
    );
    Ok(())
}

/// PostgreSQL cuts longer names.
const NAME_MAX: usize = 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_elsewhere_is_refused() {
        assert!(check_name("claimcheck_7").is_ok());
        for name in ["", "a b", "a\"b", "a/b", "A", &"a".repeat(64)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
