//! `claimcheck case list` and `case show`: what a person must decide.

use std::process::ExitCode;

use claimcheck_store::{CaseRecord, CaseState};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::database::DatabaseArgs;
use crate::output::{at, line, note};

/// Most cases listed at a time.
const LIST_MAX: i64 = 1_000;

/// Cases.
#[derive(Debug, Args)]
pub(crate) struct CaseArgs {
    #[command(subcommand)]
    command: CaseCommand,
}

#[derive(Debug, Subcommand)]
enum CaseCommand {
    /// Lists the open cases, newest first.
    List {
        /// Lists closed cases too.
        #[arg(long)]
        all: bool,
        /// Prints JSON, one case a line.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Shows one case.
    Show {
        /// Its id.
        id: i64,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// Runs the command.
pub(crate) async fn run(args: CaseArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        CaseCommand::List {
            all,
            json,
            database,
        } => {
            let state = if all { CaseState::Any } else { CaseState::Open };
            for case in database.store()?.cases(state, LIST_MAX).await? {
                print(&case, json);
            }
        }
        CaseCommand::Show { id, json, database } => {
            let Some(case) = database.store()?.case(id).await? else {
                note(&format!("there is no case {id}"));
                return Ok(ExitCode::FAILURE);
            };
            print(&case, json);
            if !json {
                line(&format!("{:#}", case.detail));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(case: &CaseRecord, json: bool) {
    if json {
        return line(&as_json(case).to_string());
    }
    line(&format!(
        "{}  {}  {}  {}  {}  {}",
        case.id, case.state, case.severity, case.kind, case.subject, case.summary
    ));
}

fn as_json(case: &CaseRecord) -> Value {
    json!({
        "id": case.id,
        "kind": case.kind,
        "subject": case.subject,
        "severity": case.severity,
        "state": case.state,
        "summary": case.summary,
        "detail": case.detail,
        "operation": case.operation_reference,
        "deposit_id": case.deposit_id,
        "provider_payment_id": case.provider_payment_id,
        "seen": case.seen,
        "opened_at": at(case.opened_at),
    })
}
