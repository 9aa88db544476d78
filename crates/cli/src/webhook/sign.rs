//! `webhook sign`: makes a valid message, for trying things out.
//!
//! The headers come as lines that `curl -H @-` takes as they are, or as JSON.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use claimcheck_process::random;
use claimcheck_providers::Provider;
use clap::Args;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::request;
use crate::output::{line, note};

/// Random bytes of a message id that nobody chose.
const ID_BYTES: usize = 18;

#[derive(Debug, Args)]
pub(super) struct SignArgs {
    /// The provider, such as stripe.
    #[arg(long, value_name = "P", value_parser = Provider::from_name)]
    provider: Provider,
    /// The secret that signs.
    #[arg(long, value_name = "S", value_parser = request::secret)]
    secret: SecretString,
    /// The time of the signature in seconds since 1970, instead of now.
    #[arg(long, value_name = "UNIX_SECONDS", value_parser = clap::value_parser!(i64).range(0..))]
    now: Option<i64>,
    /// The id of the message where the provider signs one, instead of a fresh one.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// The exact body.
    #[arg(value_name = "BODY_FILE")]
    body_file: PathBuf,
}

/// True if the message was signed.
pub(super) fn run(args: SignArgs) -> bool {
    let Some(body) = request::body(Some(args.body_file)) else {
        return false;
    };
    let now = request::now(args.now);
    let id = args.id.unwrap_or_else(fresh_id);
    let headers = match args.provider.sign(&args.secret, &body, now, &id) {
        Ok(headers) => headers,
        Err(fault) => {
            note(&fault.to_string());
            return false;
        }
    };
    if args.json {
        let headers: Map<String, Value> = headers
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        line(&json!({"headers": headers}).to_string());
    } else {
        for (name, value) in headers {
            line(&format!("{name}: {value}"));
        }
    }
    true
}

fn fresh_id() -> String {
    let random: [u8; ID_BYTES] = random::bytes();
    format!("msg_{}", URL_SAFE_NO_PAD.encode(random))
}
