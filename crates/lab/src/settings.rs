//! The settings of a stack: one file for all services, with short times so that a lost answer is
//! settled within about a minute, and whatever the user lays over it. The environment of a process
//! adds only what differs from process to process.

use std::path::Path;

use anyhow::Context;
use toml::{Table, Value, toml};

use crate::infra::Infra;
use crate::private;
use crate::secrets::{SecretFiles, signing_secret, token};
use crate::stack::State;

/// A mistake in what the user gave us, not in the stack.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Misuse {
    what: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Misuse {
    /// Of which the sentence tells.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            source: None,
        }
    }
}

/// Reads the file that `LAB_CONFIG` names.
///
/// # Errors
/// It cannot be read or is not TOML.
pub fn overlay_from_file(path: &Path) -> Result<Table, Misuse> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| Misuse {
        what: format!("LAB_CONFIG: {shown} cannot be read"),
        source: Some(error.into()),
    })?;
    // The parser would show the line, which may hold a secret: only where it is.
    text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text
            .bytes()
            .take(start)
            .filter(|byte| *byte == b'\n')
            .count();
        Misuse::new(format!(
            "LAB_CONFIG: {shown} is not TOML: line {line}: {}",
            error.message()
        ))
    })
}

/// Lays a table over another one: tables are merged, everything else is replaced.
pub fn lay_over(base: &mut Table, over: &Table) {
    for (key, value) in over {
        // A secret that comes as `key_file` takes the place of the one under `key`.
        if let Some(plain) = key.strip_suffix("_file") {
            base.remove(plain);
        }
        match (base.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) if !is_secret(below) => {
                lay_over(below, above);
            }
            _ => _ = base.insert(key.clone(), value.clone()),
        }
    }
}

fn is_secret(table: &Table) -> bool {
    table.len() == 1 && table.contains_key("file")
}

/// What every service of the stack reads, before anything is laid over it.
pub(crate) fn base(dir: &Path, infra: &Infra, state: &State) -> anyhow::Result<Table> {
    let secrets = SecretFiles::below(dir)?;
    let mut settings = short_times();
    let database = secrets.set("database", &infra.database_url(&state.name))?;
    put(&mut settings, "database", "url", database);
    let queue = secrets.set("queue", &infra.amqp_url(&state.name))?;
    put(&mut settings, "queue", "url", queue);
    for provider in PROVIDERS {
        let secret = secrets.draw(&format!("endpoint-{provider}"), signing_secret)?;
        let mut endpoint = Table::new();
        endpoint.insert("provider".to_owned(), (*provider).into());
        endpoint.insert("secrets".to_owned(), Value::Array(vec![secret]));
        endpoint.insert("live".to_owned(), false.into());
        put(&mut settings, "endpoints", provider, endpoint.into());
    }
    for caller in CALLERS {
        let token = secrets.draw(&format!("portal-{caller}"), token)?;
        let caller_table = Table::from_iter([("token".to_owned(), token)]);
        put(&mut settings, "portal", caller, caller_table.into());
    }
    for server in SERVERS {
        let port = state
            .simulator
            .servers
            .get(server.name)
            .copied()
            .unwrap_or_default();
        let password = secrets.draw(&password_file(server.name, server.operator), token)?;
        let mut table = Table::new();
        table.insert("url".to_owned(), format!("http://127.0.0.1:{port}").into());
        table.insert("manager".to_owned(), server.operator.to_string().into());
        table.insert("password".to_owned(), password);
        table.insert("sessions".to_owned(), SESSIONS.into());
        put(&mut settings, "mt5", server.name, table.into());
    }
    Ok(settings)
}

/// What the resolver's environment says of every trade server that the user did not set up anew:
/// its manager may only read.
pub(crate) fn reading_managers(
    dir: &Path,
    overlay: &Table,
) -> anyhow::Result<Vec<(String, String)>> {
    let secrets = SecretFiles::below(dir)?;
    let mut variables = Vec::new();
    for server in SERVERS {
        let theirs = overlay.get("mt5").and_then(|mt5| mt5.get(server.name));
        if theirs.is_some_and(|theirs| theirs.get("manager").is_some()) {
            continue;
        }
        let name = server.name.to_uppercase().replace('-', "_");
        let file = secrets.path(&password_file(server.name, server.reader));
        let variable = |last: &str| format!("CLAIMCHECK__MT5__{name}__{last}");
        variables.push((variable("MANAGER"), server.reader.to_string()));
        variables.push((variable("PASSWORD_FILE"), file.display().to_string()));
    }
    Ok(variables)
}

/// The simulator's settings: the trade servers, each with a manager that may operate and one that
/// may only read.
pub(crate) fn simulator(dir: &Path, state: &State) -> anyhow::Result<Table> {
    let secrets = SecretFiles::below(dir)?;
    let mut servers = Vec::new();
    for server in SERVERS {
        let port = state
            .simulator
            .servers
            .get(server.name)
            .copied()
            .unwrap_or_default();
        let mut managers = Vec::new();
        for (login, may_operate) in [(server.operator, true), (server.reader, false)] {
            let password = secrets.draw(&password_file(server.name, login), token)?;
            let mut manager = Table::new();
            manager.insert("login".to_owned(), login.into());
            manager.insert(
                "password".to_owned(),
                crate::secrets::reveal(&password)?.into(),
            );
            manager.insert("may_operate".to_owned(), may_operate.into());
            managers.push(Value::Table(manager));
        }
        let mut table = Table::new();
        table.insert("name".to_owned(), server.name.into());
        table.insert("listen".to_owned(), format!("127.0.0.1:{port}").into());
        table.insert("managers".to_owned(), managers.into());
        servers.push(Value::Table(table));
    }
    let mut settings = Table::new();
    let control = format!("127.0.0.1:{}", state.simulator.control);
    settings.insert("control".to_owned(), control.into());
    settings.insert("seed".to_owned(), i64::from(state.seed).into());
    settings.insert("servers".to_owned(), servers.into());
    Ok(settings)
}

/// Writes settings where only their owner reads them.
pub(crate) fn write(path: &Path, settings: &Table) -> anyhow::Result<()> {
    let text =
        toml::to_string_pretty(settings).context("the settings cannot be written as TOML")?;
    private::write(path, &text)
}

/// A trade server of the lab and its managers.
pub(crate) struct TradeServer {
    pub(crate) name: &'static str,
    operator: i64,
    reader: i64,
}

/// The trade servers.
pub(crate) const SERVERS: &[TradeServer] = &[
    TradeServer {
        name: "live-1",
        operator: 1001,
        reader: 1002,
    },
    TradeServer {
        name: "live-2",
        operator: 2001,
        reader: 2002,
    },
];
/// One endpoint for each provider that is implemented, in test mode.
const PROVIDERS: &[&str] = &["stripe", "standard_webhooks"];
/// The callers of the cashier. The second one must not see what the first one does.
pub(crate) const CALLERS: [&str; 2] = ["main", "other"];
/// Manager sessions of one process to one server.
const SESSIONS: i64 = 4;

fn short_times() -> Table {
    toml! {
        [admin]
        drain_limit = "20s"
        [telemetry]
        log = "info"
        [times]
        lease = "12s"
        queue_wait = "1s"
        call_timeout = "3s"
        margin = "1s"
        late_apply_margin = "5s"
        visibility_lag = "4s"
        case_after = "20s"
        [credit-worker]
        tick = "1s"
        [resolver]
        tick = "1s"
        overdue_after = "60s"
    }
}

fn put(settings: &mut Table, section: &str, key: &str, value: Value) {
    let empty = || Value::Table(Table::new());
    let section = settings.entry(section.to_owned()).or_insert_with(empty);
    if let Value::Table(section) = section {
        section.insert(key.to_owned(), value);
    }
}

fn password_file(server: &str, manager: i64) -> String {
    format!("mt5-{server}-{manager}")
}
