//! The section `database`, and a service's own share of connections.

use claimcheck_process::Reader;
use claimcheck_store::StoreSettings;

/// Connections of one process by default.
const CONNECTIONS_DEFAULT: u64 = 8;
/// Most connections of one process.
const CONNECTIONS_MAX: u64 = 500;

/// Reads `database.url` and `{service}.database_connections`.
pub fn database(reader: &mut Reader, service: &str) -> Option<StoreSettings> {
    let url = reader.secret("database.url");
    let key = format!("{service}.database_connections");
    let connections = reader.integer_or(&key, 1..=CONNECTIONS_MAX, CONNECTIONS_DEFAULT);
    Some(StoreSettings {
        url: url?,
        connections: u32::try_from(connections?).ok()?,
        application: service.to_owned(),
    })
}
