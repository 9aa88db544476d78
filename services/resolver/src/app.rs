//! Builds the service from its settings and runs it until it is told to stop.

use std::time::Duration;

use claimcheck_mt5::Server;
use claimcheck_process::{Context, Shutdown, Wake, pace};
use claimcheck_queue::{Consumer, Inbox, Lane, Publisher};
use claimcheck_store::{Store, StoreError};
use tokio::task::JoinSet;

use crate::expire::Sweep;
use crate::resolve::Resolver;
use crate::settings::{NAME, Settings};
use crate::watch::Watch;

/// Messages taken at a time.
const PREFETCH: u16 = 32;
/// How often the gauges are read.
const WATCH_TICK: Duration = Duration::from_secs(5);

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
    let publisher = Publisher::start(settings.queue.clone());
    let wakes: Vec<Wake> = settings.servers.iter().map(|_| Wake::new()).collect();
    let woken = wakes.clone();
    let consumer = Consumer::start(settings.queue.clone(), Lane::Resolve, PREFETCH);
    let inbox = Inbox::start(consumer, move || woken.iter().for_each(Wake::wake));
    let name = format!("{NAME}/{}", std::process::id());
    let mut loops = JoinSet::new();
    let sweep = Sweep {
        store: store.clone(),
        name: name.clone(),
        looks: wakes.clone(),
    };
    let (tick, shutdown) = (settings.tick, context.shutdown.clone());
    loops.spawn(async move {
        pace::run("expire", tick, &Wake::new(), &shutdown, || sweep.step()).await;
    });
    let watch = Watch {
        store: store.clone(),
        unknown_for: settings.times.case_after(),
        waiting_for: settings.overdue_after,
        name: name.clone(),
    };
    let shutdown = context.shutdown.clone();
    loops.spawn(async move {
        pace::run("watch", WATCH_TICK, &Wake::new(), &shutdown, || {
            watch.step()
        })
        .await;
    });
    for (server_settings, wake) in settings.servers.iter().zip(&wakes) {
        let server = Server::new(server_settings.clone())?;
        loops.spawn(keep_alive(server.clone(), context.shutdown.clone()));
        let resolver = Resolver {
            store: store.clone(),
            server,
            publisher: publisher.clone(),
            times: settings.times,
            attempts_max: settings.attempts_max,
            queue_wait: settings.queue_wait,
            name: name.clone(),
        };
        for _ in 0..server_settings.sessions {
            let (resolver, inbox) = (resolver.clone(), inbox.clone());
            let (wake, shutdown) = (wake.clone(), context.shutdown.clone());
            loops.spawn(run_loop(resolver, inbox, tick, wake, shutdown));
        }
    }
    context.readiness.open();
    while let Some(ended) = loops.join_next().await {
        ended?;
    }
    inbox.close().await;
    publisher.close().await;
    store.close().await;
    Ok(())
}

async fn run_loop(
    resolver: Resolver,
    inbox: Inbox,
    tick: Duration,
    wake: Wake,
    shutdown: Shutdown,
) {
    let step = || async {
        let arrived = inbox.take();
        let progress = resolver.step().await?;
        arrived.acknowledge().await;
        Ok::<_, StoreError>(progress)
    };
    pace::run("resolve", tick, &wake, &shutdown, step).await;
}

async fn keep_alive(server: Server, shutdown: Shutdown) {
    server
        .keep_alive(async move { shutdown.requested().await })
        .await;
}
