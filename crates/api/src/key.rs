//! The `Idempotency-Key` header of a write.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;

use crate::problem::Problem;

/// The header.
const HEADER: &str = "Idempotency-Key";
/// Longest key.
const KEY_LENGTH_MAX: usize = 255;

/// The key of a write.
///
/// # Errors
/// 400 when it is missing, empty, too long, or not visible ASCII.
pub fn idempotency_key(request: &HttpRequest) -> Result<String, Problem> {
    let refuse = |code, detail: String| Problem::new(StatusCode::BAD_REQUEST, code, detail);
    let mut values = request.headers().get_all(HEADER);
    let Some(value) = values.next() else {
        let detail = format!("send {HEADER} with a value that is new for each new intent");
        return Err(refuse("idempotency_key_missing", detail));
    };
    if values.next().is_some() {
        return Err(refuse(
            "idempotency_key_invalid",
            format!("send {HEADER} only once"),
        ));
    }
    let key = value.to_str().unwrap_or("").trim();
    let fits = !key.is_empty()
        && key.len() <= KEY_LENGTH_MAX
        && key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if fits {
        return Ok(key.to_owned());
    }
    let detail = format!("{HEADER} must hold 1 to {KEY_LENGTH_MAX} visible ASCII characters");
    Err(refuse("idempotency_key_invalid", detail))
}
