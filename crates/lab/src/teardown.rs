//! Ends everything that a state folder records: what uses the infrastructure first, then the
//! infrastructure. Only recorded processes are ended, each known by pid and start time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;

use crate::child::all_living;
use crate::postgres;
use crate::private;
use crate::process::{Process, Signal};
use crate::rabbitmq;

/// How long a service may drain.
const DRAIN_LIMIT: Duration = Duration::from_secs(8);
const EPMD_LIMIT: Duration = Duration::from_secs(3);
/// Rounds without a living process before the end is believed: a child may be about to record
/// itself.
const QUIET_ROUNDS: u32 = 3;
const ROUND_PAUSE: Duration = Duration::from_millis(60);

/// Ends everything recorded in the folder and in the stacks below it, then removes it, if wanted.
///
/// # Errors
/// A process does not end, or the folder cannot be removed.
pub async fn teardown(dir: &Path, remove: bool) -> anyhow::Result<()> {
    let mut quiet = 0;
    while quiet < QUIET_ROUNDS {
        let living: Vec<_> = folders(dir)
            .iter()
            .flat_map(|dir| all_living(dir))
            .collect();
        if living.is_empty() {
            quiet += 1;
            tokio::time::sleep(ROUND_PAUSE).await;
            continue;
        }
        quiet = 0;
        let (below, above): (Vec<_>, Vec<_>) = living
            .into_iter()
            .partition(|(name, _)| is_infrastructure(name));
        end_all(above).await?;
        // The mapper last: a node that dies still talks to it.
        let (mapper, servers) = below
            .into_iter()
            .partition(|(name, _)| name == rabbitmq::EPMD);
        end_all(servers).await?;
        end_all(mapper).await?;
    }
    if remove {
        private::remove(dir)?;
    }
    Ok(())
}

async fn end_all(processes: Vec<(String, Process)>) -> anyhow::Result<()> {
    let ends = processes
        .iter()
        .map(|(name, process)| process.end(steps(name)));
    join_all(ends).await.into_iter().collect()
}

fn steps(name: &str) -> &'static [(Signal, Duration)] {
    match name {
        postgres::NAME => postgres::SHUTDOWN,
        // Its data goes anyway, and its good order takes six seconds.
        rabbitmq::NAME => &[],
        rabbitmq::EPMD => &[(Signal::Term, EPMD_LIMIT)],
        _ => &[(Signal::Term, DRAIN_LIMIT)],
    }
}

fn is_infrastructure(name: &str) -> bool {
    [postgres::NAME, rabbitmq::NAME, rabbitmq::EPMD].contains(&name)
}

/// The folder itself, and those of the stacks below it.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let stacks = fs::read_dir(dir.join("stacks"))
        .into_iter()
        .flatten()
        .flatten();
    let stacks = stacks.map(|entry| entry.path());
    stacks.chain([dir.to_owned()]).collect()
}
