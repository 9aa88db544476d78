//! What every write of this API does around its own part: who asks, under which key, with which
//! body, and how the stored outcome is answered.
//!
//! The order is fixed: caller, key, body. What is decided after the key is stored under it, so a
//! repeat never touches anything and never gets another answer.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse, web};
use claimcheck_api::{MEDIA_TYPE, Problem, idempotency_key, read_body};
use claimcheck_process::error_chain;
use claimcheck_store::{Answer, Caller, StoreError, Stored};
use tracing::{Instrument, Span, warn};

use crate::app::Cashier;

/// Seconds after which a repeat is worth while.
const RETRY_AFTER_SECONDS: u64 = 1;

/// A write as it came in.
pub(crate) struct Write {
    caller: String,
    operation: String,
    key: String,
    pub(crate) body: Vec<u8>,
}

impl Write {
    /// Takes a write apart.
    pub(crate) async fn open(
        request: &HttpRequest,
        payload: web::Payload,
        cashier: &Cashier,
    ) -> Result<Self, Problem> {
        let caller = cashier.tokens.caller(request)?.to_owned();
        let key = idempotency_key(request)?;
        let body = read_body(payload, cashier.body_limit, cashier.patience).await?;
        let operation = format!("{} {}", request.method(), request.path());
        Ok(Self {
            caller,
            operation,
            key,
            body,
        })
    }

    /// The write as the store knows it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller {
            caller: &self.caller,
            operation: &self.operation,
            key: &self.key,
            body: &self.body,
        }
    }

    /// Stores a refusal under the key and answers it.
    pub(crate) async fn refuse(
        self,
        cashier: web::Data<Cashier>,
        problem: Problem,
    ) -> Result<HttpResponse, Problem> {
        let stored = refusal(&problem);
        let runtime = cashier.runtime.clone();
        let store = cashier.store.clone();
        let work = async move { store.keep_refusal(&self.caller(), stored).await };
        answer(detached(&runtime, work).await?)
    }
}

/// Runs database work in a task of its own, which a client that hangs up does not end.
pub(crate) async fn detached<T: Send + 'static>(
    runtime: &tokio::runtime::Handle,
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, Problem> {
    match runtime.spawn(work.instrument(Span::current())).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(unavailable(&error)),
        Err(_) => Err(Problem::unavailable(RETRY_AFTER_SECONDS)),
    }
}

fn unavailable(error: &StoreError) -> Problem {
    let passing = error.is_passing();
    warn!(error = error_chain(error), passing, "request not committed");
    if passing {
        return Problem::unavailable(RETRY_AFTER_SECONDS);
    }
    let detail = "this could not be done; it is on record and nothing was changed";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
}

/// A refusal in the form in which outcomes are stored.
pub(crate) fn refusal(problem: &Problem) -> Stored {
    Stored {
        status: problem.status().as_u16(),
        body: problem.body(),
    }
}

/// Answers an outcome: a repeated success is 200, a repeated refusal keeps its status.
pub(crate) fn answer(answer: Answer) -> Result<HttpResponse, Problem> {
    match answer {
        Answer::First(stored) => Ok(response(&stored, stored.status, false)),
        Answer::Repeat(stored) => {
            let is_success = (200..300).contains(&stored.status);
            let status = if is_success { 200 } else { stored.status };
            Ok(response(&stored, status, true))
        }
        Answer::Reused => {
            let detail = "this Idempotency-Key was used with another body; use a new key";
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Err(Problem::new(status, "idempotency_key_reused", detail))
        }
        Answer::InProgress => {
            let detail = "the first request under this Idempotency-Key still runs; ask again";
            let problem = Problem::new(StatusCode::CONFLICT, "idempotency_in_progress", detail);
            Err(problem.retry_after(RETRY_AFTER_SECONDS))
        }
    }
}

fn response(stored: &Stored, status: u16, is_repeat: bool) -> HttpResponse {
    let is_problem = stored.status >= 400;
    let media_type = if is_problem {
        "application/problem+json"
    } else {
        MEDIA_TYPE
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    response.insert_header((CONTENT_TYPE, media_type));
    if is_repeat {
        response.insert_header(("Idempotent-Replayed", "true"));
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.insert_header((RETRY_AFTER, RETRY_AFTER_SECONDS.to_string()));
    }
    response.body(stored.body.to_string())
}
