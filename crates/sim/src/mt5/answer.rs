//! Answers as they leave the server.
//!
//! The rule: `retcode` comes first and every scalar is a text, as live servers write them. A
//! refusal of business is HTTP 200; 403 means the session, whatever was asked.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue};
use serde::Serialize;

use super::retcode;
use crate::http::{Reply, reply};

const JSON: &str = "application/json; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const PROXY_PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Service unavailable</title></head>\
    <body><h1>Service unavailable</h1><p>The upstream server is being restarted.</p>\
    </body></html>\n";

/// An answer, before it becomes bytes on a connection.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    /// How the wire log calls it.
    pub(super) summary: String,
    /// Whether the connection ends with it.
    closes: bool,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    retcode: &'a str,
    answer: T,
}

#[derive(Serialize)]
struct Bare<'a> {
    retcode: &'a str,
}

impl Answer {
    /// Success with a record or a list below `answer`.
    pub(super) fn done(answer: impl Serialize) -> Self {
        Self::with_rows(retcode::DONE, answer)
    }

    /// Any code with a record or a list below `answer`.
    pub(super) fn with_rows(code: u32, answer: impl Serialize) -> Self {
        let retcode = &retcode::text(code);
        Self::json(retcode, &Envelope { retcode, answer })
    }

    /// A code and nothing else.
    pub(super) fn code(code: u32) -> Self {
        let retcode = &retcode::text(code);
        Self::json(retcode, &Bare { retcode })
    }

    /// Success with fields of its own at the top level; the first must be `retcode`.
    pub(super) fn top(body: &impl Serialize) -> Self {
        Self::json(&retcode::text(retcode::DONE), body)
    }

    /// HTTP 403: no session, a wrong hash, or a command that is not offered.
    pub(super) fn forbidden() -> Self {
        Self::bare_status(StatusCode::FORBIDDEN)
    }

    /// A status without a body.
    pub(super) fn bare_status(status: StatusCode) -> Self {
        Self {
            status,
            content_type: JSON,
            body: String::new(),
            summary: format!("HTTP {}", status.as_u16()),
            closes: false,
        }
    }

    /// HTTP 200 with nothing in it.
    pub(super) fn empty() -> Self {
        let summary = "empty body".to_owned();
        Self {
            summary,
            ..Self::bare_status(StatusCode::OK)
        }
    }

    /// The page of some proxy.
    pub(super) fn proxy_page(status: StatusCode) -> Self {
        Self {
            content_type: HTML,
            body: PROXY_PAGE.to_owned(),
            summary: "HTML page".to_owned(),
            ..Self::bare_status(status)
        }
    }

    /// The same, as the last of its connection.
    pub(super) fn closing(self) -> Self {
        Self {
            closes: true,
            ..self
        }
    }

    pub(super) fn into_reply(self) -> Reply {
        let mut reply = reply(self.status, self.content_type, Bytes::from(self.body));
        if self.closes {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(CONNECTION, close);
        }
        reply
    }

    fn json(summary: &str, body: &impl Serialize) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: JSON,
            body: serde_json::to_string(body).expect("records of texts have a JSON form"),
            summary: summary.to_owned(),
            closes: false,
        }
    }
}
