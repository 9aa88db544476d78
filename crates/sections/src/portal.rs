//! The section `portal`: who may ask the cashier.

use claimcheck_process::Reader;
use secrecy::SecretString;

/// Reads `portal.NAME.token`: the callers and the token that each holds.
pub fn portal(reader: &mut Reader) -> Option<Vec<(String, SecretString)>> {
    let names = reader.names("portal");
    if names.is_empty() {
        reader.fault(
            "portal",
            "no caller is set; add a table such as [portal.main] with a token",
        );
        return None;
    }
    let tokens: Vec<Option<(String, SecretString)>> = names
        .into_iter()
        .map(|name| {
            let token = reader.secret(&format!("portal.{name}.token"));
            token.map(|token| (name, token))
        })
        .collect();
    tokens.into_iter().collect()
}
