//! The admin port: is it alive, is it ready, what do its numbers say. It answers from a thread of
//! its own, but runs the readiness checks where the app runs, because their connections live there.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use actix_web::{
    App, HttpResponse, HttpServer,
    dev::Server,
    web::{self, Data},
};
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::json;
use tokio::runtime::Handle;

use crate::Readiness;

/// Few ever ask: an orchestrator, a scraper, a person.
const CONNECTIONS_MAX: usize = 64;
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why the admin port could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AdminError {
    #[error("the admin port {address} cannot be opened")]
    Bind {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
}

struct Asked {
    readiness: Readiness,
    metrics: PrometheusHandle,
    app_runtime: Handle,
}

/// Binds the port and returns the server, which answers once it is polled, with the address that
/// it really has.
pub(crate) fn bind(
    address: SocketAddr,
    readiness: Readiness,
    metrics: PrometheusHandle,
    app_runtime: Handle,
) -> Result<(Server, SocketAddr), AdminError> {
    let failed = |source| AdminError::Bind { address, source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let asked = Data::new(Asked {
        readiness,
        metrics,
        app_runtime,
    });
    let server = HttpServer::new(move || {
        App::new()
            .app_data(asked.clone())
            .service(only_get("/livez", web::get().to(livez)))
            .service(only_get("/readyz", web::get().to(readyz)))
            .service(only_get("/metrics", web::get().to(metrics_text)))
            .default_service(web::to(not_found))
    })
    .workers(1)
    .max_connections(CONNECTIONS_MAX)
    .disable_signals()
    .listen(listener)
    .map_err(failed)?
    .run();
    Ok((server, bound))
}

fn only_get(path: &str, get: actix_web::Route) -> actix_web::Resource {
    web::resource(path)
        .route(get)
        .default_service(web::to(method_not_allowed))
}

async fn livez() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "alive": true }))
}

async fn readyz(asked: Data<Asked>) -> HttpResponse {
    let readiness = asked.readiness.clone();
    let evaluation = asked
        .app_runtime
        .spawn(async move { readiness.evaluate().await });
    let Ok(state) = evaluation.await else {
        // The app's runtime is gone: the process is ending.
        return HttpResponse::ServiceUnavailable().json(json!({ "ready": false }));
    };
    let mut answer = if state.is_ready() {
        HttpResponse::Ok()
    } else {
        HttpResponse::ServiceUnavailable()
    };
    answer.json(json!({
        "ready": state.is_ready(),
        "draining": state.draining,
        "not_ready": state.not_ready,
    }))
}

async fn metrics_text(asked: Data<Asked>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(METRICS_TYPE)
        .body(asked.metrics.render())
}

async fn not_found() -> HttpResponse {
    HttpResponse::NotFound().json(json!({ "code": "not_found" }))
}

async fn method_not_allowed() -> HttpResponse {
    HttpResponse::MethodNotAllowed()
        .insert_header(("allow", "GET"))
        .json(json!({ "code": "method_not_allowed" }))
}
