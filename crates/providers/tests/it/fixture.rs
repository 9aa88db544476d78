//! Reads the fixtures; a missing or broken one fails the test that needs it.

use std::path::PathBuf;

use claimcheck_providers::{Provider, Secrets};
use secrecy::SecretString;
use serde_json::Value;

/// The JSON lines of one provider's file.
pub(crate) fn lines(folder: &str, provider: Provider) -> Vec<Value> {
    let path = folder_path(folder).join(format!("{}.jsonl", provider.name()));
    let text = std::fs::read_to_string(path).expect("is a fixture");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("is JSON"))
        .collect()
}

pub(crate) fn folder_path(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/webhooks")
        .join(folder)
}

/// Headers that own their text.
pub(crate) fn headers(value: &Value) -> Vec<(String, Vec<u8>)> {
    let fields = value.as_object().expect("is an object");
    let pairs = fields.iter().map(|(name, value)| {
        let value = value.as_str().expect("is text").as_bytes().to_vec();
        (name.clone(), value)
    });
    pairs.collect()
}

/// Headers as a delivery takes them.
pub(crate) fn borrowed(headers: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_slice()))
        .collect()
}

pub(crate) fn secret(text: &str) -> SecretString {
    SecretString::from(text.to_owned())
}

/// A secret that the provider takes.
pub(crate) fn good_secret(provider: Provider) -> SecretString {
    match provider {
        Provider::Stripe => secret("whsec_made_up_for_tests"),
        Provider::StandardWebhooks => secret("whsec_2B8FQUvxmJ27aX6HoikpVzqdMSNTnoXh"),
    }
}

pub(crate) fn good_secrets(provider: Provider) -> Secrets {
    Secrets::parse(provider, &[good_secret(provider)]).expect("is usable")
}
