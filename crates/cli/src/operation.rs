//! `claimcheck operation show`: one operation with everything that ever happened to it.

use std::process::ExitCode;

use claimcheck_core::Reference;
use claimcheck_store::OperationRecord;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::database::DatabaseArgs;
use crate::output::{at, line, note};

/// Operations.
#[derive(Debug, Args)]
pub(crate) struct OperationArgs {
    #[command(subcommand)]
    command: OperationCommand,
}

#[derive(Debug, Subcommand)]
enum OperationCommand {
    /// Shows an operation and its history.
    Show {
        /// Its reference, for example dep:48213-7kq2f.
        reference: String,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// Runs the command.
pub(crate) async fn run(args: OperationArgs) -> anyhow::Result<ExitCode> {
    let OperationCommand::Show {
        reference,
        json,
        database,
    } = args.command;
    let reference = Reference::parse(&reference)?;
    let Some(record) = database.store()?.operation(&reference).await? else {
        note(&format!("no operation has the reference {reference}"));
        return Ok(ExitCode::FAILURE);
    };
    if json {
        line(&as_json(&record).to_string());
    } else {
        as_text(&record);
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(record: &OperationRecord) -> Value {
    let history = record.history.iter().map(|entry| {
        json!({
            "at": at(entry.at),
            "actor": entry.actor,
            "move": entry.move_code,
            "because": entry.because,
            "attempt": entry.attempt,
            "status_before": entry.status_before,
            "status_after": entry.status_after,
        })
    });
    json!({
        "reference": record.reference,
        "kind": record.kind,
        "server": record.server,
        "login": record.mt5_login,
        "amount_minor": record.amount_minor,
        "currency": record.currency,
        "status": record.status,
        "deal_ticket": record.mt5_deal_ticket,
        "attempts": record.attempts,
        "refusal": record.refusal,
        "provider": record.provider,
        "provider_payment_id": record.provider_payment_id,
        "deposit_id": record.deposit_id,
        "history": history.collect::<Vec<_>>(),
    })
}

fn as_text(record: &OperationRecord) {
    line(&format!(
        "{}  {}  {} minor units of {} on {}/{}",
        record.reference,
        record.status,
        record.amount_minor,
        record.currency,
        record.server,
        record.mt5_login,
    ));
    for entry in &record.history {
        let before = entry.status_before.as_deref().unwrap_or("-");
        line(&format!(
            "  {}  {before} → {}  attempt {}  {}: {}",
            at(entry.at),
            entry.status_after,
            entry.attempt,
            entry.actor,
            entry.because,
        ));
    }
}
