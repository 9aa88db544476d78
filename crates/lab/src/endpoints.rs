//! What people and programs outside use to reach a stack: the content of `.lab/endpoints.json`. Its
//! shape is a promise; it says what the services were really told, laid-over settings included.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::private;
use crate::secrets::reveal;
use crate::settings::CALLERS;

/// Everything that can be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// Where providers post, of the first replica.
    pub ingest: String,
    /// The portal's API, of the first replica.
    pub cashier: String,
    /// The public address of every replica of the services that listen.
    pub listen: BTreeMap<String, Vec<String>>,
    /// The admin port of every replica.
    pub admin: BTreeMap<String, Vec<String>>,
    /// The processes that live.
    pub pids: BTreeMap<String, Vec<u32>>,
    /// The trade servers.
    pub mt5: BTreeMap<String, Mt5Access>,
    /// The control side of the MT5 simulator.
    pub mt5_sim: String,
    /// The owner's URL of the database.
    pub database: String,
    /// The vhost.
    pub amqp: String,
    /// The token of the portal.
    pub portal_token: String,
    /// The token of another caller.
    pub portal_token_other: String,
    /// The endpoints of the providers.
    pub webhooks: BTreeMap<String, Webhook>,
}

/// A trade server, with a manager that may operate and read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mt5Access {
    /// The base of the Web API.
    pub url: String,
    /// The manager's login.
    pub manager: String,
    /// Its password.
    pub password: String,
}

/// Where and how a provider posts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Where to.
    pub url: String,
    /// Who speaks there.
    pub provider: String,
    /// The secrets that are accepted; the first one signs.
    pub secrets: Vec<String>,
}

impl Endpoints {
    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).context("the endpoints are not JSON")?;
        private::write(path, &format!("{text}\n"))
    }

    /// Takes over what the settings decide.
    pub(crate) fn read_settings(&mut self, settings: &Table) -> anyhow::Result<()> {
        for (name, endpoint) in tables(settings, "endpoints") {
            let secrets = endpoint.get("secrets").and_then(Value::as_array);
            let secrets = secrets.into_iter().flatten().map(reveal);
            let webhook = Webhook {
                url: format!("{}/webhooks/{name}", self.ingest),
                provider: text(endpoint, "provider"),
                secrets: secrets.collect::<anyhow::Result<_>>()?,
            };
            self.webhooks.insert(name.clone(), webhook);
        }
        for (name, server) in tables(settings, "mt5") {
            let access = Mt5Access {
                url: text(server, "url"),
                manager: text(server, "manager"),
                password: secret(server, "password")?,
            };
            self.mt5.insert(name.clone(), access);
        }
        let [first, second] = CALLERS;
        for (caller, token) in [
            (first, &mut self.portal_token),
            (second, &mut self.portal_token_other),
        ] {
            if let Some((_, table)) = tables(settings, "portal").find(|(name, _)| *name == caller) {
                *token = secret(table, "token")?;
            }
        }
        self.database = url(settings, "database")?;
        self.amqp = url(settings, "queue")?;
        Ok(())
    }
}

fn tables<'a>(settings: &'a Table, section: &str) -> impl Iterator<Item = (&'a String, &'a Table)> {
    let section = settings.get(section).and_then(Value::as_table);
    let entries = section.into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name, value.as_table()?)))
}

fn text(table: &Table, key: &str) -> String {
    let value = table.get(key).and_then(Value::as_str);
    value.unwrap_or_default().to_owned()
}

/// A secret under its key, or in the file that `key_file` names.
fn secret(table: &Table, key: &str) -> anyhow::Result<String> {
    if let Some(file) = table.get(&format!("{key}_file")) {
        let by_file = Table::from_iter([("file".to_owned(), file.clone())]);
        return reveal(&Value::Table(by_file));
    }
    let value = table.get(key);
    reveal(value.with_context(|| format!("the settings have no {key}"))?)
}

fn url(settings: &Table, section: &str) -> anyhow::Result<String> {
    let table = settings.get(section).and_then(Value::as_table);
    secret(
        table.with_context(|| format!("the settings have no {section}"))?,
        "url",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"
        [database]
        url = "postgres://a"
        [queue]
        url = "amqp://a"
        [mt5.live-1]
        url = "http://127.0.0.1:1"
        manager = "1001"
        password = "p"
        [endpoints.stripe]
        provider = "stripe"
        secrets = ["new", "old"]
        [portal.main]
        token = "m"
        [portal.other]
        token = "o"
    "#;

    fn read(settings: &str) -> anyhow::Result<Endpoints> {
        let mut endpoints = Endpoints {
            ingest: "http://127.0.0.1:2".to_owned(),
            ..Endpoints::default()
        };
        endpoints.read_settings(&settings.parse().expect("is TOML"))?;
        Ok(endpoints)
    }

    #[test]
    fn the_shape_is_the_promised_one() {
        let mut endpoints = read(SETTINGS).expect("the settings are whole");
        endpoints.pids.insert("postgres".to_owned(), vec![3]);
        let shape = serde_json::to_value(&endpoints).expect("it is JSON");
        let expected = serde_json::json!({
            "ingest": "http://127.0.0.1:2", "cashier": "", "listen": {}, "admin": {},
            "pids": {"postgres": [3]},
            "mt5": {"live-1": {"url": "http://127.0.0.1:1", "manager": "1001", "password": "p"}},
            "mt5_sim": "", "database": "postgres://a", "amqp": "amqp://a",
            "portal_token": "m", "portal_token_other": "o",
            "webhooks": {"stripe": {
                "url": "http://127.0.0.1:2/webhooks/stripe",
                "provider": "stripe",
                "secrets": ["new", "old"],
            }},
        });
        assert_eq!(shape, expected);
    }

    #[test]
    fn a_secret_that_is_missing_is_named() {
        let without = SETTINGS.replace("token = \"m\"", "");
        let error = read(&without).expect_err("a token is missing");
        assert_eq!(error.to_string(), "the settings have no token");
    }
}
