//! What both sides of a simulator share of HTTP: bounded bodies and ready answers.
//!
//! The rule: no connection is opened or closed here; that belongs to the side that owns it.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

/// The largest request body either side reads.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// An answer, whole in memory.
pub(crate) type Reply = Response<Full<Bytes>>;

/// Reads a request body; `None` when the client left or the body is over the limit.
pub(crate) async fn body(incoming: Incoming) -> Option<Bytes> {
    let whole = Limited::new(incoming, BODY_BYTES_MAX).collect().await;
    whole.ok().map(|body| body.to_bytes())
}

/// An answer of that status, content type and body.
pub(crate) fn reply(status: StatusCode, content_type: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let value = HeaderValue::from_static(content_type);
    reply.headers_mut().insert(CONTENT_TYPE, value);
    reply
}
