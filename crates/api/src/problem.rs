//! Refusals: RFC 9457 problem details with a stable `code`.
//!
//! Everything a client is told about a refusal goes through here; the text is written for the
//! client and never taken from an error of ours.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};
use serde_json::{Value, json};

/// One field that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The field.
    pub field: String,
    /// What is wrong and what to give instead.
    pub what: String,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    fields: Vec<FieldFault>,
    retry_after_seconds: Option<u64>,
}

impl Problem {
    /// A refusal with a stable code and a text for the client.
    #[must_use]
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            fields: Vec::new(),
            retry_after_seconds: None,
        }
    }

    /// 422 with every field that is wrong.
    #[must_use]
    pub fn fields(fields: Vec<FieldFault>) -> Self {
        let names: Vec<&str> = fields.iter().map(|fault| fault.field.as_str()).collect();
        let detail = format!("these fields cannot be used: {}", names.join(", "));
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_fields", detail);
        problem.fields = fields;
        problem
    }

    /// 503: try the same request again.
    #[must_use]
    pub fn unavailable(retry_after_seconds: u64) -> Self {
        let detail = "this cannot be recorded right now; send the same request again";
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        problem.retry_after_seconds = Some(retry_after_seconds);
        problem
    }

    /// Says after how many seconds to come back.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Refused"),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
        });
        if let (false, Some(map)) = (self.fields.is_empty(), body.as_object_mut()) {
            let fields = self.fields.iter();
            let list = fields.map(|fault| json!({ "field": fault.field, "what": fault.what }));
            map.insert("errors".to_owned(), list.collect());
        }
        body
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        response.insert_header((CONTENT_TYPE, "application/problem+json"));
        if let Some(seconds) = self.retry_after_seconds {
            response.insert_header((RETRY_AFTER, seconds.to_string()));
        }
        response.body(self.body().to_string())
    }
}
