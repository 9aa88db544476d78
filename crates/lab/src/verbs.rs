//! The verbs of the command `lab`, one file each.

pub(crate) mod demo;
pub(crate) mod output;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod up;

use std::path::PathBuf;
use std::process::ExitCode;

use claimcheck_lab::{Misuse, watch};

/// What the guard of a state folder does.
pub(crate) async fn guard(dir: Option<PathBuf>, remove: bool) -> anyhow::Result<ExitCode> {
    let dir = dir.ok_or_else(|| Misuse::new("the guard wants --dir"))?;
    watch(&dir, remove).await?;
    Ok(ExitCode::SUCCESS)
}
