//! From the stop request to the end. Readiness goes first, so that no new work arrives while the
//! work in hand is finished; and the end comes within a bound, whatever the app is stuck in.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Context, EXIT_FAILED};
use crate::{Readiness, Shutdown, telemetry::Telemetry};

/// How a process drains.
#[derive(Clone, Debug)]
pub(super) struct DrainSettings {
    /// How long work is still taken after readiness went false, for routers to notice.
    pub(super) pause: Duration,
    /// How long the app may take to end after it was asked to.
    pub(super) limit: Duration,
}

/// Keeps the watch until it is dropped, which says that the app has ended.
pub(super) struct Ended {
    _sender: Sender<()>,
}

/// Turns signals into the stop request, and enforces the bound once it is made, by whomever.
pub(super) fn watch(
    settings: &DrainSettings,
    context: &Context,
    telemetry: Arc<Telemetry>,
) -> io::Result<Ended> {
    let terminate = signal(SignalKind::terminate())?;
    let interrupt = signal(SignalKind::interrupt())?;
    let (readiness, shutdown) = (context.readiness.clone(), context.shutdown.clone());
    tokio::spawn(on_signal(
        terminate,
        interrupt,
        settings.pause,
        readiness,
        shutdown,
    ));

    let (sender, ended) = channel::<()>();
    let (readiness, shutdown) = (context.readiness.clone(), context.shutdown.clone());
    let limit = settings.limit;
    tokio::spawn(async move {
        shutdown.requested().await;
        readiness.drain();
        // A thread, not a task: the app may have blocked every thread of the runtime.
        let started = thread::Builder::new()
            .name("drain-limit".to_owned())
            .spawn(move || {
                if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    give_up(limit, &telemetry);
                }
            });
        if let Err(error) = started {
            tracing::error!(%error, "the drain limit is not enforced");
        }
    });
    Ok(Ended { _sender: sender })
}

async fn on_signal(
    mut terminate: Signal,
    mut interrupt: Signal,
    pause: Duration,
    readiness: Readiness,
    shutdown: Shutdown,
) {
    let name = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    };
    tracing::info!(signal = name, "asked to stop");
    readiness.drain();
    tokio::time::sleep(pause).await;
    shutdown.request();
}

fn give_up(limit: Duration, telemetry: &Telemetry) -> ! {
    tracing::error!(
        limit_ms = limit.as_millis(),
        "the app did not end within the drain limit"
    );
    Telemetry::last_words("the app did not end within the drain limit");
    telemetry.flush();
    std::process::exit(i32::from(EXIT_FAILED))
}
