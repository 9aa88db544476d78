//! The secrets of an endpoint, checked once at start.
//!
//! A secret that is empty or malformed is refused: under an empty key anybody can sign. What was
//! pasted never appears in an error.

use secrecy::{ExposeSecret, SecretSlice, SecretString};

use crate::provider::Provider;

/// Most secrets accepted at one endpoint at a time; a rotation needs two.
const SECRETS_MAX: usize = 8;

/// Secrets that can protect an endpoint; never empty.
#[derive(Debug, Clone)]
pub struct Secrets(Vec<SecretSlice<u8>>);

/// A secret that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("secret number {} is unusable: {why}", .index.saturating_add(1))]
pub struct SecretFault {
    /// Its position.
    pub index: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Secrets {
    /// Takes what the operator configured, in the order in which a match is reported.
    ///
    /// # Errors
    /// No secret, too many, or one that the provider's scheme cannot use.
    pub fn parse(provider: Provider, secrets: &[SecretString]) -> Result<Self, SecretFault> {
        if secrets.is_empty() {
            let why = "none is given";
            return Err(SecretFault { index: 0, why });
        }
        if secrets.len() > SECRETS_MAX {
            let (index, why) = (SECRETS_MAX, "more secrets than one endpoint may have");
            return Err(SecretFault { index, why });
        }
        let keys = secrets
            .iter()
            .enumerate()
            .map(|(index, secret)| key(provider, secret).map_err(|why| SecretFault { index, why }));
        keys.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn keys(&self) -> &[SecretSlice<u8>] {
        &self.0
    }
}

/// The key bytes of one pasted secret.
pub(crate) fn key(
    provider: Provider,
    secret: &SecretString,
) -> Result<SecretSlice<u8>, &'static str> {
    let text = secret.expose_secret();
    if text.trim().is_empty() {
        return Err("it is empty, so anybody could sign");
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("it contains a blank or a line break; paste it again without");
    }
    (provider.scheme().key)(text).map(SecretSlice::from)
}
