//! Bearer tokens: who asks.
//!
//! Every token is compared in constant time and all of them always are, so that the time taken
//! says nothing about any of them.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::problem::Problem;

/// The callers of an API, by the token that each holds.
#[derive(Debug, Clone)]
pub struct Tokens(Vec<(String, SecretString)>);

/// Shortest token that is accepted at start: 128 bits in hex are 32 characters.
const TOKEN_LENGTH_MIN: usize = 16;

impl Tokens {
    /// Takes the callers' names and tokens.
    ///
    /// # Errors
    /// No caller, or a token too short to be a secret; the text names the caller.
    pub fn new(callers: Vec<(String, SecretString)>) -> Result<Self, String> {
        if callers.is_empty() {
            return Err("name at least one caller with its token".to_owned());
        }
        match callers
            .iter()
            .find(|(_, token)| token.expose_secret().len() < TOKEN_LENGTH_MIN)
        {
            Some((name, _)) => Err(format!(
                "the token of {name} is shorter than {TOKEN_LENGTH_MIN} characters"
            )),
            None => Ok(Self(callers)),
        }
    }

    /// The name of the caller who holds the request's token.
    ///
    /// # Errors
    /// 401 when there is no token or nobody holds it.
    pub fn caller(&self, request: &HttpRequest) -> Result<&str, Problem> {
        let mut sent = request.headers().get_all(AUTHORIZATION);
        // Of two headers a proxy may have judged the other one: neither counts.
        let only = sent.next().filter(|_| sent.next().is_none());
        let given = only
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map_or("", |(_, token)| token.trim());
        let mut found = None;
        for (name, token) in &self.0 {
            let is_same = token.expose_secret().as_bytes().ct_eq(given.as_bytes());
            if bool::from(is_same) {
                found = Some(name.as_str());
            }
        }
        found.ok_or_else(|| {
            let detail = "send Authorization: Bearer with a token of this API";
            Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
        })
    }
}
