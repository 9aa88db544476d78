//! One message: verify → record → wake → answer.
//!
//! Nothing is parsed before its signature was verified over the raw bytes, and nothing is answered
//! 2xx before it is committed.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, HttpResponse, web};
use claimcheck_api::{Problem, read_body};
use claimcheck_core::{EventFact, Reference, Tag};
use claimcheck_process::{error_chain, random, trace_parent};
use claimcheck_providers::Delivery;
use claimcheck_queue::{Lane, Wake};
use claimcheck_store::{Recorded, StoreError, VerifiedMessage};
use tracing::{Instrument, Span, info, info_span, warn};

use crate::app::Ingest;
use crate::settings::Endpoint;

/// Seconds after which a provider should repeat when nothing could be committed.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Takes one message.
///
/// # Errors
/// Every refusal, as problem details.
pub async fn receive(
    request: HttpRequest,
    path: web::Path<String>,
    payload: web::Payload,
    ingest: web::Data<Ingest>,
) -> Result<HttpResponse, Problem> {
    let span = info_span!("webhook.receive", endpoint = tracing::field::Empty);
    let started = std::time::Instant::now();
    let name = path.into_inner();
    let outcome = handle(&request, &name, payload, &ingest)
        .instrument(span.clone())
        .await;
    // Only names from the settings become labels; anyone can invent a path.
    let label = if ingest.endpoints.contains_key(&name) {
        name
    } else {
        "unknown".to_owned()
    };
    let code = outcome.as_ref().map_or_else(Problem::code, |_| "accepted");
    metrics::counter!("claimcheck_webhooks_total", "endpoint" => label.clone(), "outcome" => code)
        .increment(1);
    metrics::histogram!("claimcheck_webhook_seconds", "endpoint" => label.clone())
        .record(started.elapsed());
    if let Err(problem) = &outcome {
        let _entered = span.enter();
        warn!(
            endpoint = label,
            reason = code,
            "webhook refused: {problem}"
        );
    }
    outcome
}

async fn handle(
    request: &HttpRequest,
    name: &str,
    payload: web::Payload,
    ingest: &web::Data<Ingest>,
) -> Result<HttpResponse, Problem> {
    let Some((endpoint, _)) = ingest.endpoints.get(name) else {
        let detail = "no endpoint of this name is set up here";
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "unknown_endpoint",
            detail,
        ));
    };
    Span::current().record("endpoint", name);
    let body = read_body(payload, ingest.body_limit, ingest.patience).await?;
    let headers = header_pairs(request.headers());
    let delivery = Delivery::new(&headers, &body, ingest.clock.now().unix_timestamp());
    let verified = endpoint
        .provider
        .verify(&delivery, &endpoint.secrets, endpoint.config.tolerance)
        .map_err(|rejection| {
            let code = rejection.reason.code();
            Problem::new(StatusCode::BAD_REQUEST, code, rejection.explanation)
        })?;
    let facts = endpoint.provider.facts(&delivery, &endpoint.config);
    let facts = facts.map_err(|unreadable| unreadable.to_string());
    let recorded = record(ingest, endpoint, body, verified.secret_index, facts).await?;
    info!(
        events = recorded.events,
        pending = recorded.pending.len(),
        cases = recorded.cases,
        reference = recorded.pending.first().map(Reference::as_str),
        "webhook recorded"
    );
    wake(ingest, recorded.pending);
    let acknowledgement = endpoint.provider.acknowledgement();
    let status = StatusCode::from_u16(acknowledgement.status).unwrap_or(StatusCode::OK);
    Ok(HttpResponse::build(status)
        .content_type(acknowledgement.content_type)
        .body(acknowledgement.body))
}

/// Commits the message in a task of its own, which a client that hangs up does not end.
async fn record(
    ingest: &web::Data<Ingest>,
    endpoint: &Endpoint,
    body: Vec<u8>,
    secret_index: usize,
    facts: Result<Vec<EventFact>, String>,
) -> Result<Recorded, Problem> {
    let trace = trace_parent();
    let name = endpoint.name.as_str().to_owned();
    let shared = ingest.clone().into_inner();
    let work = async move {
        let (endpoint, provider) = shared.endpoints.get(&name)?;
        let message = VerifiedMessage {
            endpoint: &endpoint.name,
            provider,
            body: &body,
            secret_index,
            facts: facts.as_deref().map_err(String::as_str),
            trace_parent: trace.as_deref(),
            tag: &|| Tag::from_random(u64::from_le_bytes(random::bytes())),
        };
        Some(shared.store.record_message(&message).await)
    };
    let task = ingest.runtime.spawn(work.instrument(Span::current()));
    match task.await {
        Ok(Some(Ok(recorded))) => Ok(recorded),
        Ok(Some(Err(error))) => Err(cannot_commit(&error)),
        Ok(None) | Err(_) => Err(Problem::unavailable(RETRY_AFTER_SECONDS)),
    }
}

/// Whatever the reason, what is not committed must come again: the provider keeps it for days.
fn cannot_commit(error: &StoreError) -> Problem {
    warn!(
        error = error_chain(error),
        passing = error.is_passing(),
        "webhook not committed"
    );
    Problem::unavailable(RETRY_AFTER_SECONDS)
}

/// Tells the credit-worker; whatever a lost message misses, its sweep finds.
fn wake(ingest: &web::Data<Ingest>, pending: Vec<Reference>) {
    if pending.is_empty() {
        return;
    }
    let publisher = ingest.publisher.clone();
    let trace_parent = trace_parent();
    let work = async move {
        for reference in pending {
            let id = reference.as_str().to_owned();
            let wake = Wake {
                id,
                trace_parent: trace_parent.clone(),
            };
            if let Err(error) = publisher.publish(Lane::Credit, &wake).await {
                info!(
                    error = error_chain(&error),
                    "wake-up not published; the sweep will find it"
                );
            }
        }
    };
    ingest.runtime.spawn(work.instrument(Span::current()));
}

fn header_pairs(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect()
}
