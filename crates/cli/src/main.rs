#![doc = include_str!("../README.md")]

mod case;
mod database;
mod migrate;
mod operation;
mod output;
mod sim;
mod webhook;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::database::BadSettings;
use crate::output::note;

/// Pays a client's MetaTrader 5 account exactly once for every payment, and can prove it.
#[derive(Debug, Parser)]
#[command(name = "claimcheck", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A provider's signatures and events, without settings, stack or network.
    Webhook(webhook::WebhookArgs),
    /// Brings the schema up to date.
    Migrate(migrate::MigrateArgs),
    /// Operations: what became of a payment.
    Operation(operation::OperationArgs),
    /// Cases: what a person must decide.
    Case(case::CaseArgs),
    /// Simulators, by themselves.
    Sim(sim::SimArgs),
}

/// Settings that cannot be used, as in `sysexits.h`.
const EXIT_BAD_SETTINGS: u8 = 64;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse().command).await {
        Ok(code) => code,
        Err(error) => {
            note(&format!("{error:#}"));
            match error.downcast_ref::<BadSettings>() {
                Some(_) => ExitCode::from(EXIT_BAD_SETTINGS),
                None => ExitCode::FAILURE,
            }
        }
    }
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Webhook(args) => Ok(webhook::run(args)),
        Command::Migrate(args) => migrate::run(args).await,
        Command::Operation(args) => operation::run(args).await,
        Command::Case(args) => case::run(args).await,
        Command::Sim(args) => sim::run(args).await,
    }
}
