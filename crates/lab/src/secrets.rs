//! The secrets of a stack: drawn once, each in a file of its own that only its owner reads. The
//! settings name the files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use claimcheck_process::random;
use toml::{Table, Value};

use crate::private;

/// The folder of the secret files, below the stack's.
pub(crate) struct SecretFiles(PathBuf);

impl SecretFiles {
    pub(crate) fn below(dir: &Path) -> anyhow::Result<Self> {
        let folder = dir.join("secrets");
        private::dir(&folder)?;
        Ok(Self(folder))
    }

    /// Writes one and gives the value that stands for it in the settings.
    pub(crate) fn set(&self, name: &str, secret: &str) -> anyhow::Result<Value> {
        private::write(&self.path(name), secret)?;
        Ok(in_file(&self.path(name)))
    }

    /// The same with one that is drawn when it is first asked for.
    pub(crate) fn draw(&self, name: &str, draw: fn() -> String) -> anyhow::Result<Value> {
        if !self.path(name).is_file() {
            return self.set(name, &draw());
        }
        Ok(in_file(&self.path(name)))
    }

    /// The file of one.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// A password or token.
pub(crate) fn token() -> String {
    hex::encode(random::bytes::<24>())
}

/// A webhook secret in the form that Stripe and Standard Webhooks share.
pub(crate) fn signing_secret() -> String {
    format!("whsec_{}", STANDARD.encode(random::bytes::<24>()))
}

/// What a secret in the settings really is: the text, or what stands in the file.
pub(crate) fn reveal(value: &Value) -> anyhow::Result<String> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    let file = value.get("file").and_then(Value::as_str);
    let file = file.context("a secret is neither a text nor a file")?;
    let text = fs::read_to_string(file).with_context(|| format!("{file} cannot be read"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn in_file(path: &Path) -> Value {
    let path = Value::String(path.display().to_string());
    Value::Table(Table::from_iter([("file".to_owned(), path)]))
}
