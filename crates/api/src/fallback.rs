//! What is answered where nothing is.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;

use crate::problem::Problem;

/// 404 for every path that no route serves.
///
/// # Errors
/// Always: the refusal is the answer.
pub async fn not_found(request: HttpRequest) -> Result<String, Problem> {
    let detail = format!("nothing is served at {}", shown(request.path()));
    Err(Problem::new(StatusCode::NOT_FOUND, "not_found", detail))
}

/// 405 for a path that serves other methods.
///
/// # Errors
/// Always: the refusal is the answer.
pub async fn method_not_allowed(request: HttpRequest) -> Result<String, Problem> {
    let detail = format!(
        "{} is not served at {}",
        request.method(),
        shown(request.path())
    );
    Err(Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        detail,
    ))
}

/// Longest path shown back.
const SHOWN_MAX: usize = 120;

fn shown(path: &str) -> String {
    path.chars().take(SHOWN_MAX).collect()
}
