//! A private PostgreSQL server: its own data folder, a port of its own on the loopback address, a
//! password, no socket file. The server refuses to run as root, so root runs it as `postgres`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use claimcheck_process::random;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::child::{self, Launch};
use crate::private;
use crate::process::{Process, Signal};
use crate::wait::{ready, tail, until};

/// The name in records, logs and endpoints.
pub(crate) const NAME: &str = "postgres";
/// The superuser, who owns every database.
pub(crate) const USER: &str = "claimcheck";
/// Where the system's packages put their versions.
const PACKAGES: &str = "/usr/lib/postgresql";
/// The system's account that root hands the server to.
const ACCOUNT: &str = "postgres";
/// Lets that account pass folders that only root may enter, such as a checkout below one.
const CAPABILITIES: [&str; 4] = [
    "--inh-caps",
    "+dac_override",
    "--ambient-caps",
    "+dac_override",
];
const READY_LIMIT: Duration = Duration::from_secs(60);
const FAST_LIMIT: Duration = Duration::from_secs(15);
const IMMEDIATE_LIMIT: Duration = Duration::from_secs(5);
/// Sessions, so that several stacks fit.
const CONNECTIONS_MAX: u32 = 200;

/// What must be known to reach the server, and to start it again.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Postgres {
    pub(crate) port: u16,
    pub(crate) password: String,
}

impl Postgres {
    pub(crate) fn new(port: u16) -> Self {
        let password = hex::encode(random::bytes::<16>());
        Self { port, password }
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let Self { port, password } = self;
        format!("postgres://{USER}:{password}@127.0.0.1:{port}/{database}")
    }

    /// Makes the data folder if there is none, and starts the server on it.
    pub(crate) async fn start(&self, dir: &Path) -> anyhow::Result<()> {
        let data = data(dir);
        let hands = Hands::find().await?;
        if !data.join("PG_VERSION").is_file() {
            self.create(dir, &hands).await?;
        }
        // Children of a killed server hold its memory a moment longer.
        until(
            "the old server's children end",
            IMMEDIATE_LIMIT,
            async || !is_worked_in(&data),
        )
        .await?;
        let port = format!("port={}", self.port);
        let connections = format!("max_connections={CONNECTIONS_MAX}");
        let settings = [
            port.as_str(),
            connections.as_str(),
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=on",
            "shared_buffers=128MB",
            "log_timezone=UTC",
            "timezone=UTC",
        ];
        let mut launch = hands.launch(&bin_dir()?.join("postgres"), dir, NAME);
        launch = launch.arg("-D").arg(&data);
        for setting in settings {
            launch = launch.args(&["-c", setting]);
        }
        let process = launch.start().await?.process;
        ready(
            NAME,
            process,
            &child::log(dir, NAME),
            READY_LIMIT,
            async || self.sql("postgres", "SELECT 1").await.is_ok(),
        )
        .await
    }

    /// Shuts down: running sessions are ended, everything committed is kept.
    pub(crate) async fn stop(&self, dir: &Path) -> anyhow::Result<()> {
        let Some(process) = child::living(dir, NAME) else {
            return Ok(());
        };
        process.end(SHUTDOWN).await
    }

    /// Runs one statement as the superuser.
    pub(crate) async fn sql(&self, database: &str, statement: &str) -> anyhow::Result<()> {
        let output = Command::new(bin_dir()?.join("psql"))
            .args(["-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1"])
            .args(["-p", &self.port.to_string(), "-U", USER, "-d", database])
            .args(["-c", statement])
            .env("PGPASSWORD", &self.password)
            .env("PGCONNECT_TIMEOUT", "5")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .context("psql cannot be started")?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            bail!("PostgreSQL refused: {}", words.trim());
        }
        Ok(())
    }

    async fn create(&self, dir: &Path, hands: &Hands) -> anyhow::Result<()> {
        let (folder, data) = (dir.join(NAME), data(dir));
        // A folder without a version is what an interrupted start left.
        private::remove(&folder)?;
        private::dir(&data)?;
        let password = folder.join("password");
        private::write(&password, &self.password)?;
        for path in [&folder, &data, &password] {
            hands.give(path)?;
        }
        let name = "initdb";
        let launch = hands.launch(&bin_dir()?.join("initdb"), dir, name);
        let launch = launch.args(&["-A", "scram-sha-256", "-U", USER, "-E", "UTF8"]);
        let launch = launch.args(&["--locale=C.UTF-8", "--data-checksums", "--no-sync"]);
        let launch = launch.arg("--pwfile").arg(&password);
        let status = launch.arg("-D").arg(&data).start().await?.status().await;
        let _ = fs::remove_file(&password);
        if !status.success() {
            bail!(
                "PostgreSQL's data folder cannot be made; initdb said\n{}",
                tail(&child::log(dir, name))
            );
        }
        Ok(())
    }
}

/// In good order first, then at once.
pub(crate) const SHUTDOWN: &[(Signal, Duration)] =
    &[(Signal::Int, FAST_LIMIT), (Signal::Quit, IMMEDIATE_LIMIT)];

/// Who runs the server: we, or the account that root hands it to.
struct Hands {
    prefix: Vec<OsString>,
    owner: Option<(u32, u32)>,
}

impl Hands {
    async fn find() -> anyhow::Result<Self> {
        let own = fs::metadata("/proc/self").context("/proc cannot be read")?;
        if own.uid() != 0 {
            return Ok(Self {
                prefix: Vec::new(),
                owner: None,
            });
        }
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let Some(owner) = accounts.lines().find_map(|line| ids(line, ACCOUNT)) else {
            bail!("there is no account {ACCOUNT} to run PostgreSQL as; run `make setup`");
        };
        let (user, group) = (
            format!("--reuid={}", owner.0),
            format!("--regid={}", owner.1),
        );
        let plain = ["setpriv", user.as_str(), group.as_str(), "--clear-groups"];
        let with: Vec<&str> = plain.into_iter().chain(CAPABILITIES).collect();
        let chosen = if works(&with).await {
            with
        } else {
            plain.to_vec()
        };
        let prefix = chosen.into_iter().map(OsString::from).collect();
        Ok(Self {
            prefix,
            owner: Some(owner),
        })
    }

    fn launch(&self, program: &Path, dir: &Path, name: &str) -> Launch {
        let mut words = self.prefix.iter().cloned().chain([program.into()]);
        let first = words.next().unwrap_or_default();
        words.fold(Launch::new(first, dir, name), Launch::arg)
    }

    fn give(&self, path: &Path) -> anyhow::Result<()> {
        let Some((user, group)) = self.owner else {
            return Ok(());
        };
        chown(path, Some(user), Some(group))
            .and_then(|()| {
                let mode = if path.is_dir() { 0o700 } else { 0o600 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))
            })
            .with_context(|| format!("{} cannot be handed to {ACCOUNT}", path.display()))
    }
}

async fn works(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let mut trial = Command::new(program);
    trial.args(arguments).arg("true").stdin(Stdio::null());
    let status = trial
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    status.is_ok_and(|status| status.success())
}

/// The user and group of an account, from its line in `/etc/passwd`.
fn ids(line: &str, account: &str) -> Option<(u32, u32)> {
    let fields: Vec<&str> = line.split(':').collect();
    let is_account = fields.first() == Some(&account);
    let id = |at: usize| fields.get(at)?.parse().ok();
    if is_account {
        Some((id(2)?, id(3)?))
    } else {
        None
    }
}

/// The newest server that the system's packages brought.
fn bin_dir() -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(PACKAGES).into_iter().flatten().flatten();
    let versions = entries.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let bin = entry.path().join("bin");
        let is_whole = ["postgres", "initdb", "psql"]
            .iter()
            .all(|name| bin.join(name).is_file());
        is_whole.then_some((version, bin))
    });
    let Some((_, bin)) = versions.max() else {
        bail!("no PostgreSQL server lies below {PACKAGES}; run `make setup`");
    };
    Ok(bin)
}

fn data(dir: &Path) -> PathBuf {
    dir.join(NAME).join("data")
}

/// Whether a living process has the folder as its current one, as every process of a server has.
fn is_worked_in(data: &Path) -> bool {
    let Ok(data) = data.canonicalize() else {
        return false;
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let is_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == data);
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        is_here && pid.and_then(Process::find).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let line = "postgres:x:104:113:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash";
        assert_eq!(ids(line, "postgres"), Some((104, 113)));
        assert_eq!(ids(line, "post"), None);
        assert_eq!(ids("postgres:x", "postgres"), None);
    }
}
