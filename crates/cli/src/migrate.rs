//! `claimcheck migrate`: brings the schema up to date, once, before any service starts.

use std::process::ExitCode;

use clap::Args;

use crate::database::DatabaseArgs;
use crate::output::note;

/// Brings the schema up to date.
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
}

/// Runs the command.
pub(crate) async fn run(args: MigrateArgs) -> anyhow::Result<ExitCode> {
    args.database.store()?.migrate().await?;
    note("the schema is up to date");
    Ok(ExitCode::SUCCESS)
}
