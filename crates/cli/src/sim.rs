//! `claimcheck sim mt5`: the MT5 simulator, by itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use claimcheck_sim::{Mt5Sim, Mt5SimSettings};
use clap::{Args, Subcommand};

use crate::output::note;

/// Simulators.
#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    #[command(subcommand)]
    command: SimCommand,
}

#[derive(Debug, Subcommand)]
enum SimCommand {
    /// Runs trade servers that speak the MT5 Web API, with a control side for scripted faults.
    Mt5 {
        /// TOML: control, seed, and [[servers]] with name, listen and managers.
        #[arg(long, value_name = "FILE")]
        settings: PathBuf,
    },
}

/// Runs the command until it is told to stop.
pub(crate) async fn run(args: SimArgs) -> anyhow::Result<ExitCode> {
    let SimCommand::Mt5 { settings } = args.command;
    let text = std::fs::read_to_string(&settings)
        .with_context(|| format!("{} cannot be read", settings.display()))?;
    let parsed: Mt5SimSettings = toml::from_str(&text)
        .with_context(|| format!("{} is not a simulator's settings", settings.display()))?;
    let names: Vec<String> = parsed
        .servers
        .iter()
        .map(|server| server.name.clone())
        .collect();
    let sim = Mt5Sim::start(parsed).await?;
    note(&format!("control side at http://{}", sim.control_address()));
    for name in names {
        if let Some(address) = sim.server_address(&name) {
            note(&format!("trade server {name} at http://{address}"));
        }
    }
    sim.serve_until(stopped()).await;
    Ok(ExitCode::SUCCESS)
}

async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
