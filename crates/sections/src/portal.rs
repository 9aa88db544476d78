//! The section `portal`: who may ask the cashier.

use claimcheck_process::Reader;
use secrecy::SecretString;

/// Reads `portal.tokens.NAME`: the callers and the token that each holds.
pub fn portal(reader: &mut Reader) -> Option<Vec<(String, SecretString)>> {
    let names = reader.names("portal.tokens");
    if names.is_empty() {
        reader.fault("portal.tokens", "no caller is set; add a token under a name");
        return None;
    }
    let tokens: Vec<Option<(String, SecretString)>> = names
        .into_iter()
        .map(|name| {
            let token = reader.secret(&format!("portal.tokens.{name}"));
            token.map(|token| (name, token))
        })
        .collect();
    tokens.into_iter().collect()
}
