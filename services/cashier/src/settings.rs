//! Settings: where to listen, who may ask, and the database.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use claimcheck_api::Tokens;
use claimcheck_core::{ProviderName, ServerName};
use claimcheck_process::Reader;
use claimcheck_sections as sections;
use claimcheck_store::StoreSettings;

/// The section of this service, and its name everywhere else.
pub const NAME: &str = "cashier";
/// Largest body; its requests are a handful of short fields.
const BODY_LIMIT_DEFAULT: u64 = 64 * 1024;
/// How long a client may take to send its request.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(10);

/// The service's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Largest body in bytes.
    pub body_limit: usize,
    /// How long a client may take.
    pub patience: Duration,
    /// The callers.
    pub tokens: Tokens,
    /// The trade servers that exist; a login on another one would never be credited.
    pub servers: BTreeSet<ServerName>,
    /// The providers that have an endpoint; a payment of another one would never be heard of.
    pub providers: BTreeSet<ProviderName>,
    /// The database.
    pub store: StoreSettings,
}

/// Reads everything and reports every fault.
pub fn read(reader: &mut Reader) -> Option<Settings> {
    let listen = reader.address("cashier.listen");
    let body_limit = reader.integer_or("cashier.body_limit", 1..=1_048_576, BODY_LIMIT_DEFAULT);
    let patience = reader.duration_or("cashier.patience", PATIENCE_DEFAULT);
    let store = sections::database(reader, NAME);
    let tokens = sections::portal(reader);
    let servers = sections::server_names(reader);
    let providers = sections::provider_names(reader);
    let tokens = match Tokens::new(tokens?) {
        Ok(tokens) => Some(tokens),
        Err(why) => {
            reader.fault("portal", why);
            None
        }
    };
    Some(Settings {
        listen: listen?,
        body_limit: usize::try_from(body_limit?).ok()?,
        patience: patience?,
        tokens: tokens?,
        servers: servers?,
        providers: providers?,
        store: store?,
    })
}
