//! Builds the service from its settings and runs it until it is told to stop.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, HttpServer, web};
use anyhow::Context as _;
use claimcheck_api::{Tokens, method_not_allowed, not_found};
use claimcheck_core::{ProviderName, ServerName};
use claimcheck_process::Context;
use claimcheck_store::Store;

use crate::settings::Settings;
use crate::{accounts, deposits};

/// Threads that serve HTTP.
const HTTP_WORKERS: usize = 2;
/// How long running requests may take when the service stops.
const DRAIN_SECONDS: u64 = 10;

/// What every request needs.
pub struct Cashier {
    pub(crate) store: Store,
    pub(crate) tokens: Tokens,
    pub(crate) servers: BTreeSet<ServerName>,
    pub(crate) providers: BTreeSet<ProviderName>,
    pub(crate) body_limit: usize,
    pub(crate) patience: Duration,
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
    let cashier = web::Data::from(Arc::new(Cashier {
        store: store.clone(),
        tokens: settings.tokens,
        servers: settings.servers,
        providers: settings.providers,
        body_limit: settings.body_limit,
        patience: settings.patience,
        runtime: tokio::runtime::Handle::current(),
    }));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(cashier.clone())
            .service(
                web::resource("/v1/accounts/{server}/{login}")
                    .route(web::put().to(accounts::put))
                    .default_service(web::to(method_not_allowed)),
            )
            .service(
                web::resource("/v1/deposits")
                    .route(web::post().to(deposits::register))
                    .default_service(web::to(method_not_allowed)),
            )
            .service(
                web::resource("/v1/deposits/{id}")
                    .route(web::get().to(deposits::show))
                    .default_service(web::to(method_not_allowed)),
            )
            .default_service(web::to(not_found))
    })
    .workers(HTTP_WORKERS)
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
    store.close().await;
    Ok(())
}
