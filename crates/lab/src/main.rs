//! The command `lab`: the private stack of demo, tests and developers. Exit 0 good, 1 it failed or
//! is not running, 2 wrong use, 130 interrupted; `run` answers with its command's own code.

mod verbs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use claimcheck_lab::{Misuse, Place, ReplicasError};
use clap::{Parser, Subcommand};

use crate::verbs::output::complain;

/// The command line is wrong.
const EXIT_USAGE: u8 = 2;

/// The private stack: PostgreSQL, RabbitMQ, simulators, services.
#[derive(Debug, Parser)]
#[command(name = "lab", version)]
struct Arguments {
    /// The state folder; without it `.lab` below the workspace.
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Starts the stack, or what of it has died, and writes endpoints.json.
    ///
    /// `LAB_CONFIG=FILE.toml` is laid over the settings, `LAB_REPLICAS='credit-worker=3'` starts
    /// several of a service.
    Up,
    /// Stops the stack and removes its data.
    Down,
    /// Shows every process; exit 0 if all are alive and ready.
    Status,
    /// Plays the fixed story on a stack of its own and checks every ending.
    Demo,
    /// Runs a command beside a private PostgreSQL and RabbitMQ, then stops both.
    Run {
        /// Gives the command a migrated database as `DATABASE_URL`.
        #[arg(long)]
        migrated: bool,
        /// The command.
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Waits for the end of its input, then ends what the folder records.
    #[command(hide = true)]
    Guard {
        /// Removes the folder too.
        #[arg(long)]
        remove: bool,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&anyhow::Error::new(error), ExitCode::FAILURE),
    };
    let ended = runtime.block_on(dispatch(arguments));
    // What still blocks a thread, such as a read of a terminal, must not hold up the end.
    runtime.shutdown_background();
    match ended {
        Ok(code) => code,
        Err(error) => {
            let is_misuse = error.is::<Misuse>() || error.is::<ReplicasError>();
            let code = if is_misuse {
                ExitCode::from(EXIT_USAGE)
            } else {
                ExitCode::FAILURE
            };
            complain(&error, code)
        }
    }
}

async fn dispatch(arguments: Arguments) -> anyhow::Result<ExitCode> {
    if let Verb::Guard { remove } = arguments.verb {
        return verbs::guard(arguments.dir, remove).await;
    }
    let place = Place::find(arguments.dir)?;
    match arguments.verb {
        Verb::Up => verbs::up::up(&place).await,
        Verb::Down => verbs::up::down(&place).await,
        Verb::Status => verbs::status::status(&place).await,
        Verb::Demo => verbs::demo::demo(&place).await,
        Verb::Run { migrated, command } => verbs::run::run(&place, migrated, &command).await,
        Verb::Guard { remove } => verbs::guard(Some(place.stack()), remove).await,
    }
}
