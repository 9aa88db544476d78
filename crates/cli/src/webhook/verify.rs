//! `webhook verify`: is this the provider's word?
//!
//! The library's verdict is about cryptography and freshness. Here a rightly signed body that is
//! no body of the provider's kind is told as well, as `malformed_body`; a running system keeps such
//! a message and asks a person.

use std::path::PathBuf;
use std::time::Duration;

use claimcheck_providers::{Delivery, Provider, Reason, Secrets};
use clap::Args;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::request::{self, Fields, Header};
use crate::output::{line, note};

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The provider, such as stripe.
    #[arg(long, value_name = "P", value_parser = Provider::from_name)]
    #[arg(required_unless_present = "request")]
    provider: Option<Provider>,
    /// A secret as the provider shows it; give it again for each further one.
    #[arg(long = "secret", value_name = "S", value_parser = request::secret)]
    #[arg(required_unless_present = "request")]
    secrets: Vec<SecretString>,
    /// The receiver's time in seconds since 1970, instead of now.
    #[arg(long, value_name = "UNIX_SECONDS", allow_negative_numbers = true)]
    now: Option<i64>,
    /// A header of the request, as 'Name: value'.
    #[arg(long = "header", value_name = "HEADER", value_parser = Header::parse)]
    headers: Vec<Header>,
    /// The method, for providers that sign it.
    #[arg(long, value_name = "M")]
    method: Option<String>,
    /// The path, for providers that sign it.
    #[arg(long, value_name = "P")]
    path: Option<String>,
    /// Reads requests from a file instead, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["provider", "secrets", "now", "headers", "method", "path"])]
    #[arg(conflicts_with = "body_file")]
    request: Option<PathBuf>,
    /// Prints the answer alone, without words for a person.
    #[arg(long)]
    json: bool,
    /// The exact body.
    #[arg(value_name = "BODY_FILE", required_unless_present = "request")]
    body_file: Option<PathBuf>,
}

/// True if all is valid.
pub(super) fn run(args: VerifyArgs) -> bool {
    if let Some(path) = &args.request {
        return request::each_line(path, |text| {
            let answer = answer_line(text);
            line(&answer.to_string());
            is_valid(&answer)
        });
    }
    let (Some(provider), Some(body)) = (args.provider, request::body(args.body_file)) else {
        return false;
    };
    let now = request::now(args.now);
    let tolerance = claimcheck_providers::Config::TOLERANCE_DEFAULT;
    let answer = request::deliver(&args.headers, &body, now, |delivery| {
        judge(provider, &args.secrets, delivery, tolerance)
    });
    line(&answer.to_string());
    if !args.json {
        note(&in_words(&answer));
    }
    is_valid(&answer)
}

fn answer_line(text: &[u8]) -> Value {
    let answer = || -> Result<Value, String> {
        let fields = request::object(text)?;
        let fields = Fields(&fields);
        let provider = fields.provider()?;
        let secrets = secrets(fields)?;
        let (headers, body) = (fields.headers()?, fields.body()?);
        let now = request::now(fields.time("now")?);
        let tolerance = fields.config()?.tolerance;
        Ok(request::deliver(&headers, &body, now, |delivery| {
            judge(provider, &secrets, delivery, tolerance)
        }))
    };
    answer().unwrap_or_else(|error| json!({"error": error}))
}

fn secrets(fields: Fields<'_>) -> Result<Vec<SecretString>, String> {
    let further = fields.list("extra_secrets")?.iter().map(|secret| {
        let text = secret.as_str();
        text.ok_or_else(|| "an extra secret is not text".to_owned())
    });
    let all = [fields.text("secret")].into_iter().chain(further);
    all.map(|text| text.map(|text| SecretString::from(text.to_owned())))
        .collect()
}

fn judge(
    provider: Provider,
    secrets: &[SecretString],
    delivery: &Delivery<'_>,
    tolerance: Duration,
) -> Value {
    let secrets = match Secrets::parse(provider, secrets) {
        Ok(secrets) => secrets,
        Err(fault) => return rejected(Reason::UnusableSecret, &fault.to_string()),
    };
    if let Err(rejection) = provider.verify(delivery, &secrets, tolerance) {
        let hint = (rejection.reason == Reason::BadSignature)
            .then(|| provider.hint(delivery, &secrets, tolerance))
            .flatten();
        return match hint {
            Some(hint) => rejected(rejection.reason, &explained(hint)),
            None => rejected(rejection.reason, &rejection.explanation),
        };
    }
    match provider.readable(delivery.body()) {
        Ok(()) => json!({"verdict": "valid"}),
        Err(unreadable) => {
            let why = format!("the signature is right, but {unreadable}");
            rejected(Reason::MalformedBody, &why)
        }
    }
}

fn explained(hint: &str) -> String {
    format!("{hint}; without that change the signature fits: verify the bytes as they arrive")
}

fn rejected(reason: Reason, explanation: &str) -> Value {
    json!({"verdict": "rejected", "reason": reason.code(), "explanation": explanation})
}

fn is_valid(answer: &Value) -> bool {
    answer
        .get("verdict")
        .is_some_and(|verdict| verdict == "valid")
}

fn in_words(answer: &Value) -> String {
    match answer.get("explanation").and_then(Value::as_str) {
        None => "the signature is right and fresh".to_owned(),
        Some(explanation) => explanation.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixtures(name: &str) -> String {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/webhooks/vectors/"
        );
        std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("is a fixture")
    }

    #[test]
    fn every_vector_is_answered_as_expected() {
        for name in ["stripe", "standard_webhooks"] {
            for text in fixtures(name).lines() {
                let fixture: Value = serde_json::from_str(text).expect("is JSON");
                let answer = answer_line(text.as_bytes());
                let got = match answer["reason"].as_str() {
                    Some(reason) => format!("reject:{reason}"),
                    None => answer["verdict"].as_str().unwrap_or("none").to_owned(),
                };
                let is_right = fixture["expect"] == got.as_str() || fixture["lenient_ok"] == true;
                assert!(is_right, "{name} {}: {answer}", fixture["case"]);
            }
        }
    }

    #[test]
    fn a_bad_line_answers_for_itself() {
        for text in [
            &b"{"[..],
            b"\xff",
            b"[]",
            b"{}",
            br#"{"provider": "nobody", "secret": "x"}"#,
            br#"{"provider": "stripe", "secret": 7, "body_base64": ""}"#,
            br#"{"provider": "stripe", "secret": "x", "body_base64": "?"}"#,
            br#"{"provider": "stripe", "secret": "x", "headers": {"a": 1}, "body_base64": ""}"#,
        ] {
            let answer = answer_line(text);
            assert!(answer["error"].is_string(), "{answer}");
            assert!(!is_valid(&answer));
        }
        let unknown = answer_line(br#"{"provider": "nobody"}"#).to_string();
        assert!(unknown.contains("standard_webhooks"), "{unknown}");
    }

    #[test]
    fn an_empty_further_secret_is_unusable() {
        let line = br#"{"provider": "stripe", "secret": "x", "extra_secrets": [""],
            "headers": {}, "body_base64": ""}"#;
        assert_eq!(answer_line(line)["reason"], "unusable_secret");
    }
}
