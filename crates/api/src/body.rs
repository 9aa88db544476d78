//! Reading a whole body: bounded in size and in time.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpRequest, web};
use futures_util::StreamExt;

use crate::problem::Problem;

/// The media type of our APIs' bodies.
pub const MEDIA_TYPE: &str = "application/json";

/// Reads the body, at most `limit` bytes within `patience`.
///
/// # Errors
/// 413 over the limit, 408 when the client is too slow, 400 when it stops halfway.
pub async fn read_body(
    mut payload: web::Payload,
    limit: usize,
    patience: Duration,
) -> Result<Vec<u8>, Problem> {
    let reading = async {
        let mut body = Vec::new();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| {
                let detail = "the body ended before its announced length";
                Problem::new(StatusCode::BAD_REQUEST, "body_incomplete", detail)
            })?;
            if body.len().saturating_add(chunk.len()) > limit {
                let detail = format!("the body may hold at most {limit} bytes");
                return Err(Problem::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "body_too_large",
                    detail,
                ));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    };
    tokio::time::timeout(patience, reading)
        .await
        .unwrap_or_else(|_| {
            let detail = format!("the body must arrive within {} s", patience.as_secs());
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "body_too_slow",
                detail,
            ))
        })
}

/// Whether the request announces JSON.
pub(crate) fn check_media_type(request: &HttpRequest) -> Result<(), Problem> {
    let announced = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = announced
        .and_then(|text| text.split(';').next())
        .map_or("", str::trim);
    if essence.eq_ignore_ascii_case(MEDIA_TYPE) {
        return Ok(());
    }
    let detail = format!("send the body as Content-Type: {MEDIA_TYPE}");
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "media_type",
        detail,
    ))
}
