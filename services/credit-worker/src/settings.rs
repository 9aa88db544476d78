//! Settings: the database, RabbitMQ, the trade servers, and the times that keep a call from being
//! late. Times that contradict each other are refused at start.

use std::time::Duration;

use claimcheck_core::Times;
use claimcheck_mt5::ServerSettings;
use claimcheck_process::Reader;
use claimcheck_queue::QueueSettings;
use claimcheck_sections as sections;
use claimcheck_store::StoreSettings;

/// The section of this service, and its name everywhere else.
pub const NAME: &str = "credit-worker";
/// How often the sweep looks for what no message told of.
const TICK_DEFAULT: Duration = Duration::from_secs(5);

/// The service's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often the sweep runs.
    pub tick: Duration,
    /// The times of a call.
    pub times: Times,
    /// How long a step waits for a free session.
    pub queue_wait: Duration,
    /// The trade servers.
    pub servers: Vec<ServerSettings>,
    /// The database.
    pub store: StoreSettings,
    /// RabbitMQ.
    pub queue: QueueSettings,
}

/// Reads everything and reports every fault.
pub fn read(reader: &mut Reader) -> Option<Settings> {
    let tick = reader.duration_or("credit-worker.tick", TICK_DEFAULT);
    let store = sections::database(reader, NAME);
    let queue = sections::queue(reader, NAME);
    let times = sections::times(reader);
    let call_timeout = times.map_or(TICK_DEFAULT, |times| times.times.call_timeout());
    let servers = sections::mt5(reader, call_timeout);
    let sections::CallTimes { times, queue_wait } = times?;
    Some(Settings {
        tick: tick?,
        times,
        queue_wait,
        servers: servers?,
        store: store?,
        queue: queue?,
    })
}
