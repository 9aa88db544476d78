//! The names in the sections `mt5` and `endpoints`, for services that need no more of them.

use std::collections::BTreeSet;

use claimcheck_core::{ProviderName, ServerName};
use claimcheck_process::Reader;

/// What other services read of a trade server.
const MT5_KEYS: [&str; 4] = ["url", "manager", "password", "sessions"];
/// What other services read of an endpoint.
const ENDPOINT_KEYS: [&str; 4] = ["secrets", "live", "account", "tolerance"];

/// The trade servers that are set up.
pub fn server_names(reader: &mut Reader) -> Option<BTreeSet<ServerName>> {
    let names = reader.names("mt5");
    if names.is_empty() {
        reader.fault(
            "mt5",
            "no trade server is set; add a table such as [mt5.live-1]",
        );
        return None;
    }
    let mut servers = BTreeSet::new();
    for name in names {
        also_known(reader, "mt5", &name, &MT5_KEYS);
        match ServerName::parse(&name) {
            Ok(server) => _ = servers.insert(server),
            Err(error) => reader.fault(&format!("mt5.{name}"), error.to_string()),
        }
    }
    Some(servers)
}

/// The providers that have an endpoint.
pub fn provider_names(reader: &mut Reader) -> Option<BTreeSet<ProviderName>> {
    let names = reader.names("endpoints");
    if names.is_empty() {
        reader.fault(
            "endpoints",
            "no endpoint is set; add a table such as [endpoints.stripe]",
        );
        return None;
    }
    let providers: Vec<Option<ProviderName>> = names
        .iter()
        .map(|name| {
            also_known(reader, "endpoints", name, &ENDPOINT_KEYS);
            reader.parsed(&format!("endpoints.{name}.provider"), ProviderName::parse)
        })
        .collect();
    providers.into_iter().collect()
}

fn also_known(reader: &mut Reader, section: &str, name: &str, keys: &[&str]) {
    for key in keys {
        reader.also_known(&format!("{section}.{name}.{key}"));
    }
}
