//! Secrets: given inline, as a table that names a file, or by the key with `_file` behind it. No
//! fault found here prints any part of the value, nor what kind of text it was.

use std::path::PathBuf;

use secrecy::SecretString;

use super::{Found, Place, Reader, fault::within, file};

const GIVE: &str = "give a text, or the file that holds it as { file = \"/path\" }";

impl Reader {
    /// A secret that must be there.
    pub fn secret(&mut self, key: &str) -> Option<SecretString> {
        let found = self.find_secret(key)?;
        if found.is_none() {
            self.missing(key);
        }
        found
    }

    /// A secret that may be absent. `None` also after a recorded fault.
    pub fn optional_secret(&mut self, key: &str) -> Option<SecretString> {
        self.find_secret(key)?
    }

    /// A list of secrets, at least one: an array of texts or of tables that name a file each. From
    /// the environment: an array as in TOML, or one secret. `key_file`: one secret a line.
    pub fn secrets(&mut self, key: &str) -> Option<Vec<SecretString>> {
        let file_key = format!("{key}_file");
        let (inline, by_file) = (self.find(key), self.find(&file_key));
        match self.only_one(key, inline, by_file)? {
            None => {
                self.missing(key);
                None
            }
            Some(Given::File(found)) => {
                let text = self.read_secret_file(&file_key, found)?;
                let lines = text
                    .lines()
                    .map(str::trim_end)
                    .filter(|line| !line.is_empty());
                Some(lines.map(seal).collect())
            }
            Some(Given::Inline(found)) => self.secret_array(key, found),
        }
    }

    fn secret_array(&mut self, key: &str, found: Found) -> Option<Vec<SecretString>> {
        let Found { value, place } = found;
        let values = match (value, &place) {
            (toml::Value::Array(values), _) => values,
            (toml::Value::String(text), Place::Environment(_)) if text.starts_with('[') => {
                let parsed = format!("list = {text}").parse::<toml::Table>().ok();
                match parsed.and_then(|mut table| table.remove("list")) {
                    Some(toml::Value::Array(values)) => values,
                    _ => {
                        self.wrong(key, place, "is not a list", "write it as in TOML: [\"…\"]");
                        return None;
                    }
                }
            }
            (single @ toml::Value::String(_), Place::Environment(_)) => vec![single],
            _ => {
                self.wrong(
                    key,
                    place,
                    "is not a list",
                    "write [\"…\"] or [{ file = \"/path\" }]",
                );
                return None;
            }
        };
        if values.is_empty() {
            self.wrong(key, place, "is an empty list", "give at least one secret");
            return None;
        }
        // Every member is read before any is missed, so that all faults are found.
        let read: Vec<_> = values
            .into_iter()
            .map(|value| {
                self.one_secret(
                    key,
                    Found {
                        value,
                        place: place.clone(),
                    },
                )
            })
            .collect();
        read.into_iter().collect()
    }

    /// The outer `None` means a fault was recorded, the inner one that nothing was given.
    fn find_secret(&mut self, key: &str) -> Option<Option<SecretString>> {
        let inline = self.find(key);
        let (beside_key, inside_key) = (format!("{key}_file"), within(key, "file"));
        let (beside, inside) = (self.find(&beside_key), self.find(&inside_key));
        // A table in the file is the inline value; only a variable stands for `key.file` alone.
        let inside = inside.filter(|found| matches!(found.place, Place::Environment(_)));
        let (file_key, by_file) = match (beside, inside) {
            (None, inside) => (inside_key, inside),
            (beside, None) => (beside_key, beside),
            (Some(_), Some(inside)) => {
                self.wrong(
                    key,
                    inside.place,
                    "names its file twice",
                    "keep one of the two",
                );
                return None;
            }
        };
        match self.only_one(key, inline, by_file)? {
            None => Some(None),
            Some(Given::Inline(found)) => self.one_secret(key, found).map(Some),
            Some(Given::File(found)) => {
                let text = self.read_secret_file(&file_key, found)?;
                Some(Some(seal(&text)))
            }
        }
    }

    /// Of a value and a file name, the one that counts: the environment wins over the file; both
    /// in one place are a fault.
    fn only_one(
        &mut self,
        key: &str,
        inline: Option<Found>,
        by_file: Option<Found>,
    ) -> Option<Option<Given>> {
        let is_variable = |found: &Found| matches!(found.place, Place::Environment(_));
        match (inline, by_file) {
            (None, None) => Some(None),
            (Some(inline), None) => Some(Some(Given::Inline(inline))),
            (None, Some(file)) => Some(Some(Given::File(file))),
            (Some(inline), Some(file)) => match (is_variable(&inline), is_variable(&file)) {
                (true, false) => Some(Some(Given::Inline(inline))),
                (false, true) => Some(Some(Given::File(file))),
                _ => {
                    let what = "is given as a value and as a file";
                    self.wrong(key, inline.place, what, "keep one of the two");
                    None
                }
            },
        }
    }

    fn one_secret(&mut self, key: &str, found: Found) -> Option<SecretString> {
        let Found { value, place } = found;
        match value {
            toml::Value::String(text) if text.trim().is_empty() => {
                self.wrong(key, place, "is empty", GIVE);
                None
            }
            toml::Value::String(text) => Some(seal(&text)),
            toml::Value::Table(mut table) => match table.remove("file") {
                Some(value) => {
                    let text = self.read_secret_file(key, Found { value, place })?;
                    Some(seal(&text))
                }
                None => {
                    self.wrong(key, place, "names no file", GIVE);
                    None
                }
            },
            _ => {
                self.wrong(key, place, "is not a text", GIVE);
                None
            }
        }
    }

    fn read_secret_file(&mut self, key: &str, found: Found) -> Option<String> {
        let Found { value, place } = found;
        let path = match value {
            toml::Value::String(path) if !path.is_empty() => PathBuf::from(path),
            _ => {
                self.wrong(key, place, "is not the path of a file", GIVE);
                return None;
            }
        };
        let (what, remedy) = match file::read_text(&path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                let text = text.strip_suffix('\r').unwrap_or(text);
                if !text.trim().is_empty() {
                    return Some(text.to_owned());
                }
                (
                    format!("the file {} is empty", path.display()),
                    "write the secret into it",
                )
            }
            Err(error) => (
                format!("the file {} cannot be read: {error}", path.display()),
                "give a file that this process may read",
            ),
        };
        self.wrong(key, place, &what, remedy);
        None
    }
}

enum Given {
    Inline(Found),
    File(Found),
}

fn seal(text: &str) -> SecretString {
    SecretString::from(text)
}
