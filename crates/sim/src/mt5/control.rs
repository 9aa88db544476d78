//! The control side: JSON over HTTP, for tests, demos and people.
//!
//! The rule: it shows what is true, whatever the faults hide, and every error says what is wrong
//! and where. None of it exists on a real platform.

mod accounts;
mod calls;
mod deals;
mod faults;
mod input;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::exchange::Cut;
use super::world::{Server, State, World};
use crate::http::{Reply, body, reply};

const JSON: &str = "application/json";

/// An answer that is an error.
#[derive(Debug)]
struct Fault {
    status: StatusCode,
    error: String,
}

/// What a handler answers.
type Outcome = Result<(StatusCode, Option<Value>), Fault>;

impl Fault {
    fn bad(error: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error: error.into(),
        }
    }

    fn absent(error: impl Into<String>) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            error: error.into(),
        }
    }
}

/// Serves one connection of the control side.
pub(super) async fn serve(stream: TcpStream, world: Arc<World>, stop: CancellationToken) {
    let service = service_fn(|request| handle(&world, request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a control connection ended");
            }
        }
        () = stop.cancelled() => {}
    }
}

async fn handle(world: &World, request: Request<Incoming>) -> Result<Reply, Cut> {
    let (head, incoming) = request.into_parts();
    let path = head.uri.path().to_owned();
    let Some(body) = body(incoming).await else {
        let fault = Fault {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            error: format!("{path}: the body is over the limit"),
        };
        return Ok(shown(Err(fault)));
    };
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let query = head.uri.query().unwrap_or_default();
    let outcome = route(&mut world.locked(), &head.method, &segments, query, &body);
    let outcome = outcome.map_err(|fault| Fault {
        error: format!("{} {path}: {}", head.method, fault.error),
        ..fault
    });
    Ok(shown(outcome))
}

fn route(
    state: &mut State,
    method: &Method,
    segments: &[&str],
    query: &str,
    body: &[u8],
) -> Outcome {
    match (method, segments) {
        (&Method::POST, ["sim", "accounts"]) => accounts::open(state, body),
        (&Method::PATCH, ["sim", "accounts"]) => accounts::change(state, None, body),
        (&Method::PATCH, ["sim", "accounts", server, login]) => {
            accounts::change(state, Some((server, login)), body)
        }
        (&Method::GET, ["sim", "accounts", server, login]) => accounts::show(state, server, login),
        (&Method::GET, ["sim", "deals"]) => deals::list(state, query),
        (&Method::POST, ["sim", "deals"]) => deals::insert(state, body),
        (&Method::GET, ["sim", "calls"]) => calls::list(state, query),
        (&Method::GET, ["sim", "faults"]) => Ok(ok(&faults::list(state))),
        (&Method::POST, ["sim", "faults"]) => faults::set(state, body),
        (&Method::DELETE, ["sim", "faults"]) => Ok(faults::delete_all(state)),
        (&Method::DELETE, ["sim", "faults", id]) => faults::delete(state, id),
        (_, ["sim", "accounts" | "deals" | "calls" | "faults", ..]) => Err(Fault {
            status: StatusCode::METHOD_NOT_ALLOWED,
            error: "there is no such method on this path".to_owned(),
        }),
        _ => Err(Fault::absent("there is no such path")),
    }
}

fn shown(outcome: Outcome) -> Reply {
    let (status, value) = match outcome {
        Ok(good) => good,
        Err(fault) => (fault.status, Some(json!({ "error": fault.error }))),
    };
    let text = value.map(|value| value.to_string()).unwrap_or_default();
    reply(status, JSON, Bytes::from(text))
}

fn ok(value: &impl Serialize) -> (StatusCode, Option<Value>) {
    answered(StatusCode::OK, value)
}

fn answered(status: StatusCode, value: &impl Serialize) -> (StatusCode, Option<Value>) {
    let value = serde_json::to_value(value).expect("the control side's records have a JSON form");
    (status, Some(value))
}

fn server_mut<'a>(state: &'a mut State, name: &str) -> Result<&'a mut Server, Fault> {
    let known: Vec<String> = state.servers.keys().cloned().collect();
    let found = state.servers.get_mut(name);
    found.ok_or_else(|| Fault::bad(format!("server: {name:?} is none of {known:?}")))
}
