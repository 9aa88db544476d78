//! Settings: where to listen, and which provider speaks at which endpoint under which secrets.
//!
//! An endpoint whose secret could be guessed or computed by anyone is refused at start.

use std::net::SocketAddr;
use std::time::Duration;

use claimcheck_core::EndpointName;
use claimcheck_process::Reader;
use claimcheck_providers::{Config, Provider, Secrets};
use claimcheck_queue::QueueSettings;
use claimcheck_sections as sections;
use claimcheck_store::StoreSettings;

/// The section of this service, and its name everywhere else.
pub const NAME: &str = "webhook-ingest";
/// Largest body taken by default; real events reach some hundred kilobytes.
const BODY_LIMIT_DEFAULT: u64 = 1024 * 1024;
/// Largest body limit that may be set.
const BODY_LIMIT_MAX: u64 = 16 * 1024 * 1024;
/// How long a client may take to send its request by default.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(10);
/// Clients connected at a time by default.
const CLIENTS_DEFAULT: u64 = 2_000;

/// One endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The last part of its path.
    pub name: EndpointName,
    /// Who speaks here.
    pub provider: Provider,
    /// The secrets that are accepted.
    pub secrets: Secrets,
    /// What narrows the events that count.
    pub config: Config,
}

/// The service's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Largest body in bytes.
    pub body_limit: usize,
    /// How long a client may take.
    pub patience: Duration,
    /// Clients connected at a time.
    pub clients: usize,
    /// The endpoints.
    pub endpoints: Vec<Endpoint>,
    /// The database.
    pub store: StoreSettings,
    /// RabbitMQ.
    pub queue: QueueSettings,
}

/// Reads everything and reports every fault.
pub fn read(reader: &mut Reader) -> Option<Settings> {
    let listen = reader.address("webhook-ingest.listen");
    let body_limit = reader.integer_or(
        "webhook-ingest.body_limit",
        1..=BODY_LIMIT_MAX,
        BODY_LIMIT_DEFAULT,
    );
    let patience = reader.duration_or("webhook-ingest.patience", PATIENCE_DEFAULT);
    let clients = reader.integer_or("webhook-ingest.clients", 1..=100_000, CLIENTS_DEFAULT);
    let store = sections::database(reader, NAME);
    let queue = sections::queue(reader, NAME);
    let endpoints = read_endpoints(reader);
    Some(Settings {
        listen: listen?,
        body_limit: usize::try_from(body_limit?).ok()?,
        patience: patience?,
        clients: usize::try_from(clients?).ok()?,
        endpoints: endpoints?,
        store: store?,
        queue: queue?,
    })
}

fn read_endpoints(reader: &mut Reader) -> Option<Vec<Endpoint>> {
    let names = reader.names("endpoints");
    if names.is_empty() {
        reader.fault(
            "endpoints",
            "no endpoint is set; add a table such as [endpoints.stripe]",
        );
        return None;
    }
    let endpoints: Vec<Option<Endpoint>> = names
        .iter()
        .map(|name| read_endpoint(reader, name))
        .collect();
    endpoints.into_iter().collect()
}

fn read_endpoint(reader: &mut Reader, name: &str) -> Option<Endpoint> {
    let key = |last: &str| format!("endpoints.{name}.{last}");
    let endpoint = match EndpointName::parse(name) {
        Ok(endpoint) => Some(endpoint),
        Err(error) => {
            reader.fault(&format!("endpoints.{name}"), error.to_string());
            None
        }
    };
    let provider = reader.parsed(&key("provider"), Provider::from_name);
    let secrets = reader.secrets(&key("secrets"));
    let live = reader.flag_or(&key("live"), true);
    let account = reader.optional_text(&key("account"));
    let tolerance = reader.duration_or(&key("tolerance"), Config::TOLERANCE_DEFAULT);
    let provider = provider?;
    let secrets = match Secrets::parse(provider, &secrets?) {
        Ok(secrets) => secrets,
        Err(fault) => {
            reader.fault(&key("secrets"), fault.to_string());
            return None;
        }
    };
    let config = Config {
        live: Some(live?),
        account,
        tolerance: tolerance?,
    };
    Some(Endpoint {
        name: endpoint?,
        provider,
        secrets,
        config,
    })
}
