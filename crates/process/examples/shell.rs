//! The smallest service: it says one thing, opens itself and waits for the stop request. The
//! crate's tests run it as a real process; `resolver.mode` makes it misbehave.

use std::{process::ExitCode, time::Duration};

use claimcheck_process::{Context, Reader, continue_trace, run, trace_parent};
use secrecy::{ExposeSecret, SecretString};
use tracing::{info, info_span};

struct Settings {
    mode: &'static str,
    database: SecretString,
    tick: Duration,
}

fn main() -> ExitCode {
    run("shell", read, app)
}

fn read(reader: &mut Reader) -> Option<Settings> {
    let mode = reader.choice_or("resolver.mode", MODES, "wait");
    let database = reader.secret("database.url");
    let tick = reader.duration_or("resolver.tick", Duration::from_secs(1));
    Some(Settings {
        mode: mode?,
        database: database?,
        tick: tick?,
    })
}

const MODES: &[&str] = &[
    "wait", "end", "fail", "panic", "stuck", "blocked", "unready", "chatter",
];

async fn app(settings: Settings, context: Context) -> anyhow::Result<()> {
    let characters = settings.database.expose_secret().len();
    let parent = info_span!("shell.first").in_scope(|| {
        info!(characters, tick_ms = settings.tick.as_millis(), "first");
        trace_parent()
    });
    let second = info_span!("shell.second");
    continue_trace(&second, &parent.unwrap_or_default());
    second.in_scope(|| info!("second"));
    context.readiness.check("example", move || async move {
        if settings.mode == "unready" {
            Err("never".to_owned())
        } else {
            Ok(())
        }
    });
    context.readiness.open();
    info!("open");
    match settings.mode {
        "end" => return Ok(()),
        "fail" => {
            return Err(anyhow::anyhow!("inner cause").context("outer failure"));
        }
        "panic" => {
            let task =
                tokio::spawn(async move { assert!(settings.tick.is_zero(), "the invariant") });
            task.await?;
        }
        "stuck" => std::future::pending().await,
        "blocked" => {
            context.shutdown.requested().await;
            loop {
                std::thread::park();
            }
        }
        "chatter" => {
            while !context.shutdown.is_requested() {
                info!(text = "x".repeat(1_000), "chatter");
                tokio::task::yield_now().await;
            }
        }
        _ => context.shutdown.requested().await,
    }
    Ok(())
}
