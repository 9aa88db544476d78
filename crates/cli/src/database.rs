//! Where the database is: in the settings, or in the private stack's `.lab/endpoints.json`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use claimcheck_process::Reader;
use claimcheck_store::{Store, StoreSettings};
use clap::Args;
use secrecy::SecretString;

/// How to find the database.
#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// The settings file; without it the private stack's database is used.
    #[arg(long, value_name = "FILE", env = "CLAIMCHECK_SETTINGS")]
    settings: Option<PathBuf>,
}

/// Bad settings, which end the process with their own exit code.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadSettings(String);

/// What the private stack writes.
const LAB_ENDPOINTS: &str = ".lab/endpoints.json";
/// One command needs few connections.
const CONNECTIONS: u32 = 2;

impl DatabaseArgs {
    /// Prepares the store.
    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        let url = match &self.settings {
            Some(path) => from_settings(path)?,
            None => from_lab(Path::new(LAB_ENDPOINTS))?,
        };
        let application = "claimcheck".to_owned();
        Ok(Store::connect(&StoreSettings {
            url,
            connections: CONNECTIONS,
            application,
        })?)
    }
}

fn from_settings(path: &Path) -> anyhow::Result<SecretString> {
    let bad = |faults: claimcheck_process::Faults| BadSettings(faults.to_string());
    let mut reader = Reader::open(Some(path), std::env::vars_os()).map_err(bad)?;
    let url = reader.secret("database.url");
    Ok(reader.finish(url).map_err(bad)?)
}

fn from_lab(path: &Path) -> anyhow::Result<SecretString> {
    let Ok(text) = std::fs::read_to_string(path) else {
        bail!(BadSettings(format!(
            "no settings: give --settings FILE, or start the private stack (`make up`), which \
             writes {}",
            path.display()
        )));
    };
    let endpoints: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let url = endpoints
        .get("database")
        .and_then(serde_json::Value::as_str);
    Ok(url
        .with_context(|| format!("{} names no database", path.display()))?
        .into())
}
