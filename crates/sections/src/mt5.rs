//! The section `mt5`: one table per trade server.

use std::ops::RangeInclusive;
use std::time::Duration;

use claimcheck_core::ServerName;
use claimcheck_mt5::ServerSettings;
use claimcheck_process::Reader;

/// Manager sessions of one process to one server.
const SESSIONS: RangeInclusive<u64> = 1..=64;
/// The same, by default.
const SESSIONS_DEFAULT: u64 = 4;

/// Reads every `mt5.NAME`.
pub fn mt5(reader: &mut Reader, call_timeout: Duration) -> Option<Vec<ServerSettings>> {
    let names = reader.names("mt5");
    if names.is_empty() {
        reader.fault(
            "mt5",
            "no trade server is set; add a table such as [mt5.live-1]",
        );
        return None;
    }
    let servers: Vec<Option<ServerSettings>> = names
        .iter()
        .map(|name| server(reader, name, call_timeout))
        .collect();
    servers.into_iter().collect()
}

fn server(reader: &mut Reader, name: &str, call_timeout: Duration) -> Option<ServerSettings> {
    let key = |last: &str| format!("mt5.{name}.{last}");
    let url = reader.text(&key("url"));
    let manager = reader.text(&key("manager"));
    let password = reader.secret(&key("password"));
    let sessions = reader.integer_or(&key("sessions"), SESSIONS, SESSIONS_DEFAULT);
    let name = match ServerName::parse(name) {
        Ok(name) => Some(name),
        Err(error) => {
            reader.fault(&format!("mt5.{name}"), error.to_string());
            None
        }
    };
    let mut settings = ServerSettings::new(name?, url?, manager?, password?);
    settings.sessions = usize::try_from(sessions?).ok()?;
    settings.call_timeout = call_timeout;
    Some(settings)
}
