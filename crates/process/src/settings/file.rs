//! Files that settings are read from. What goes wrong names the path and the position, never the
//! content: the line at fault may hold a secret.

use std::{io, path::Path};

use super::fault::{Fault, Place};

/// No settings file and no secret is anywhere near this long.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The settings file as a table.
pub(super) fn read_table(path: &Path) -> Result<toml::Table, Fault> {
    let wrong = |what: String, remedy: &str| Fault {
        key: path.display().to_string(),
        place: Place::Nowhere,
        what,
        remedy: remedy.to_owned(),
    };
    let text = read_text(path)
        .map_err(|error| wrong(format!("cannot be read: {error}"), "give a readable file"))?;
    text.parse::<toml::Table>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        wrong(
            format!("is not TOML from line {line} on"),
            "correct that line",
        )
    })
}

/// A whole file as text, refused when it is too long to be meant.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let length = std::fs::metadata(path)?.len();
    if length > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has {length} bytes")));
    }
    // The bytes of a file that is not UTF-8 must not travel in the error.
    String::from_utf8(std::fs::read(path)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// The value under a dotted key.
pub(super) fn walk<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((name, rest)) => walk(table.get(name)?.as_table()?, rest),
    }
}
