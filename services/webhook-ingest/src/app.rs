//! Builds the service from its settings and runs it until it is told to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, HttpServer, web};
use anyhow::Context as _;
use claimcheck_api::{method_not_allowed, not_found};
use claimcheck_core::ProviderName;
use claimcheck_process::{Clock, Context};
use claimcheck_queue::Publisher;
use claimcheck_store::Store;

use crate::receive::receive;
use crate::settings::{Endpoint, Settings};

/// Threads that serve HTTP.
const HTTP_WORKERS: usize = 2;
/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long running requests may take when the service stops.
const DRAIN_SECONDS: u64 = 10;

/// What every request needs.
pub struct Ingest {
    pub(crate) endpoints: BTreeMap<String, (Endpoint, ProviderName)>,
    pub(crate) body_limit: usize,
    pub(crate) patience: Duration,
    pub(crate) store: Store,
    pub(crate) publisher: Publisher,
    pub(crate) clock: Clock,
    /// Where database work runs, so that no request's end cuts it short.
    pub(crate) runtime: tokio::runtime::Handle,
}

/// Runs the service.
///
/// # Errors
/// The address cannot be bound, or the server fails.
pub async fn run(settings: Settings, context: Context) -> anyhow::Result<()> {
    let store = Store::connect(&settings.store)?;
    let checked = store.clone();
    context.readiness.check("database", move || {
        let store = checked.clone();
        async move { store.check().await.map_err(|error| error.to_string()) }
    });
    let publisher = Publisher::start(settings.queue);
    let ingest = web::Data::from(Arc::new(Ingest {
        endpoints: named(settings.endpoints)?,
        body_limit: settings.body_limit,
        patience: settings.patience,
        store: store.clone(),
        publisher: publisher.clone(),
        clock: context.clock.clone(),
        runtime: tokio::runtime::Handle::current(),
    }));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(ingest.clone())
            .service(
                web::resource("/webhooks/{endpoint}")
                    .route(web::post().to(receive))
                    .default_service(web::to(method_not_allowed)),
            )
            .default_service(web::to(not_found))
    })
    .workers(HTTP_WORKERS)
    .max_connections(settings.clients)
    .keep_alive(KEEP_ALIVE)
    .client_request_timeout(settings.patience)
    .shutdown_timeout(DRAIN_SECONDS)
    .disable_signals()
    .bind(settings.listen)
    .with_context(|| format!("{} cannot be bound", settings.listen))?
    .run();
    let handle = server.handle();
    let shutdown = context.shutdown.clone();
    tokio::spawn(async move {
        shutdown.requested().await;
        handle.stop(true).await;
    });
    context.readiness.open();
    server.await.context("the HTTP server failed")?;
    publisher.close().await;
    store.close().await;
    Ok(())
}

fn named(endpoints: Vec<Endpoint>) -> anyhow::Result<BTreeMap<String, (Endpoint, ProviderName)>> {
    endpoints
        .into_iter()
        .map(|endpoint| {
            let provider = ProviderName::parse(endpoint.provider.name())?;
            Ok((endpoint.name.as_str().to_owned(), (endpoint, provider)))
        })
        .collect()
}
