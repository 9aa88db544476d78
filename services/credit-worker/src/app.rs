//! Builds the service from its settings and runs it until it is told to stop.
//!
//! Each session of each trade server has a loop of its own. A message only wakes the loops; what
//! is due they ask the store.

use std::time::Duration;

use claimcheck_mt5::Server;
use claimcheck_process::{Context, Shutdown, Wake, pace};
use claimcheck_queue::{Consumer, Inbox, Lane};
use claimcheck_store::Store;
use tokio::task::JoinSet;

use crate::settings::{NAME, Settings};
use crate::step::Worker;

/// Messages taken at a time, per session.
const PREFETCH_PER_SESSION: u16 = 4;

/// Runs the service.
///
/// # Errors
/// A setting cannot be used, or a loop died.
pub async fn run(settings: Settings, context: Context) -> anyhow::Result<()> {
    let store = Store::connect(&settings.store)?;
    let checked = store.clone();
    context.readiness.check("database", move || {
        let store = checked.clone();
        async move { store.check().await.map_err(|error| error.to_string()) }
    });
    let wakes: Vec<Wake> = settings.servers.iter().map(|_| Wake::new()).collect();
    let sessions: usize = settings.servers.iter().map(|server| server.sessions).sum();
    let prefetch = u16::try_from(sessions)
        .unwrap_or(u16::MAX)
        .saturating_mul(PREFETCH_PER_SESSION);
    let consumer = Consumer::start(settings.queue.clone(), Lane::Credit, prefetch);
    let woken = wakes.clone();
    let inbox = Inbox::start(consumer, move || woken.iter().for_each(Wake::wake));
    let mut loops = JoinSet::new();
    for (server_settings, wake) in settings.servers.iter().zip(&wakes) {
        let server = Server::new(server_settings.clone())?;
        loops.spawn(keep_alive(server.clone(), context.shutdown.clone()));
        let worker = Worker {
            store: store.clone(),
            server,
            times: settings.times,
            queue_wait: settings.queue_wait,
            name: format!("{NAME}/{}", std::process::id()),
        };
        for _ in 0..server_settings.sessions {
            let (worker, inbox) = (worker.clone(), inbox.clone());
            let (wake, shutdown) = (wake.clone(), context.shutdown.clone());
            loops.spawn(run_loop(worker, inbox, settings.tick, wake, shutdown));
        }
    }
    context.readiness.open();
    while let Some(ended) = loops.join_next().await {
        ended?;
    }
    inbox.close().await;
    store.close().await;
    Ok(())
}

async fn run_loop(worker: Worker, inbox: Inbox, tick: Duration, wake: Wake, shutdown: Shutdown) {
    let step = || async {
        // What arrived before the step is acknowledged after the step has committed.
        let arrived = inbox.take();
        let progress = worker.step().await?;
        arrived.acknowledge().await;
        Ok::<_, claimcheck_store::StoreError>(progress)
    };
    pace::run("credit", tick, &wake, &shutdown, step).await;
}

async fn keep_alive(server: Server, shutdown: Shutdown) {
    server
        .keep_alive(async move { shutdown.requested().await })
        .await;
}
