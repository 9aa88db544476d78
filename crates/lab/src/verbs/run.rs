//! `lab run -- COMMAND`: a command beside its own PostgreSQL and RabbitMQ. Several may run at a
//! time; each has a folder of its own, and nothing is left behind however it ends.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use claimcheck_lab::{Infra, Interrupt, Lock, Place, bin_dir, migrate, run_command, teardown};

use super::output::note;

/// Runs at a time in one workspace.
const RUNS_MAX: u32 = 16;
/// The migrated database of `--migrated`.
const DATABASE: &str = "claimcheck_check";

/// Runs the command and answers with its exit code.
pub(crate) async fn run(
    place: &Place,
    is_migrated: bool,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    let (dir, lock_file, lock) = own_folder(place)?;
    let mut interrupt = Interrupt::listen()?;
    teardown(&dir, true).await?;
    let started = tokio::select! {
        started = start(&dir, &lock, is_migrated) => Some(started?),
        () = interrupt.wished() => None,
    };
    let Some((infra, environment)) = started else {
        note("interrupted");
        // The guard has the lock until it has ended what was begun.
        drop(lock);
        Lock::wait(&lock_file).await?;
        return Ok(ExitCode::from(Interrupt::EXIT));
    };
    let code = run_command(&dir, command, &environment, &mut interrupt).await;
    infra.stop().await?;
    Ok(ExitCode::from(code?))
}

/// The first folder that no other run works in.
fn own_folder(place: &Place) -> anyhow::Result<(PathBuf, PathBuf, Lock)> {
    for number in 0..RUNS_MAX {
        let (dir, lock_file) = place.run(&format!("test/{number}"));
        if let Some(lock) = Lock::take(&lock_file)? {
            return Ok((dir, lock_file, lock));
        }
    }
    bail!("{RUNS_MAX} runs are under way in this workspace already");
}

type Environment = Vec<(&'static str, OsString)>;

async fn start(
    dir: &std::path::Path,
    lock: &Lock,
    is_migrated: bool,
) -> anyhow::Result<(Infra, Environment)> {
    let infra = Infra::start(dir, Some(lock)).await?;
    let mut environment: Environment = vec![
        ("CLAIMCHECK_LAB_INFRA", infra.file().into()),
        (
            "CLAIMCHECK_TEST_DATABASE",
            infra.database_url("postgres").into(),
        ),
        ("CLAIMCHECK_TEST_AMQP", infra.amqp_url("/").into()),
        (
            "CLAIMCHECK_TEST_RABBITMQ_MANAGEMENT",
            infra.management_url().into(),
        ),
        ("CLAIMCHECK_BIN_DIR", bin_dir()?.into()),
    ];
    if is_migrated {
        match migrated(&infra).await {
            Ok(url) => environment.push(("DATABASE_URL", url.into())),
            Err(error) => {
                infra.stop().await?;
                return Err(error);
            }
        }
    }
    Ok((infra, environment))
}

async fn migrated(infra: &Infra) -> anyhow::Result<String> {
    infra.create_database(DATABASE).await?;
    let url = infra.database_url(DATABASE);
    let path = infra.dir().join("check.toml");
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    let mut file = file.context("the settings cannot be written")?;
    writeln!(file, "[database]\nurl = \"{url}\"").context("the settings cannot be written")?;
    migrate(&path).await?;
    Ok(url)
}
