//! Settings: the database, RabbitMQ, the trade servers with a manager that may only read, and the
//! times that make absence a proof.

use std::time::Duration;

use claimcheck_core::Times;
use claimcheck_mt5::ServerSettings;
use claimcheck_process::Reader;
use claimcheck_queue::QueueSettings;
use claimcheck_sections as sections;
use claimcheck_store::StoreSettings;

/// The section of this service, and its name everywhere else.
pub const NAME: &str = "resolver";
/// How often expired leases and due looks are searched for.
const TICK_DEFAULT: Duration = Duration::from_secs(2);
/// How long an operation may wait or be worked on before a person hears of it.
const OVERDUE_AFTER_DEFAULT: Duration = Duration::from_mins(30);
/// Attempts before a person decides about another one.
const ATTEMPTS_MAX_DEFAULT: u64 = 10;

/// The service's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often the sweep runs.
    pub tick: Duration,
    /// How long an operation may wait or be worked on before a person hears of it.
    pub overdue_after: Duration,
    /// Attempts before a person decides.
    pub attempts_max: i32,
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
    let tick = reader.duration_or("resolver.tick", TICK_DEFAULT);
    let attempts_max = reader.integer_or("resolver.attempts_max", 1..=1_000, ATTEMPTS_MAX_DEFAULT);
    let overdue_after = reader.duration_or("resolver.overdue_after", OVERDUE_AFTER_DEFAULT);
    let store = sections::database(reader, NAME);
    let queue = sections::queue(reader, NAME);
    let times = sections::times(reader);
    let call_timeout = times.map_or(TICK_DEFAULT, |times| times.times.call_timeout());
    let servers = sections::mt5(reader, call_timeout);
    let sections::CallTimes { times, queue_wait } = times?;
    Some(Settings {
        tick: tick?,
        overdue_after: overdue_after?,
        attempts_max: i32::try_from(attempts_max?).ok()?,
        times,
        queue_wait,
        servers: servers?,
        store: store?,
        queue: queue?,
    })
}
