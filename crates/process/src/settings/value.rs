//! Values with a type. Each method says in its fault what was expected; a text that was merely
//! read as text is not repeated, because it may be a secret in the wrong place.

use std::{fmt::Display, net::SocketAddr, ops::RangeInclusive, time::Duration};

use super::{DurationError, Found, Place, Reader, parse_duration};

impl Reader {
    /// A text that must be there and not be empty.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let found = self.require(key)?;
        let place = found.place.clone();
        let text = self.as_text(key, found)?;
        if text.trim().is_empty() {
            self.wrong(key, place, "is empty", "give a text");
            return None;
        }
        Some(text)
    }

    /// A text, or the default when there is none.
    pub fn text_or(&mut self, key: &str, default: &str) -> Option<String> {
        if self.has(key) {
            self.text(key)
        } else {
            Some(default.to_owned())
        }
    }

    /// A text that may be absent; an empty one counts as absent. `None` also after a fault.
    pub fn optional_text(&mut self, key: &str) -> Option<String> {
        let found = self.find(key)?;
        self.as_text(key, found)
            .filter(|text| !text.trim().is_empty())
    }

    /// A list of texts, none empty. From the environment: separated by commas.
    pub fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let Found { value, place } = self.require(key)?;
        let texts: Option<Vec<String>> = match (value, &place) {
            (toml::Value::Array(values), _) => values.into_iter().map(text_of).collect(),
            (toml::Value::String(text), Place::Environment(_)) => {
                Some(text.split(',').map(|part| part.trim().to_owned()).collect())
            }
            _ => None,
        };
        match texts {
            Some(texts) if texts.iter().all(|text| !text.is_empty()) => Some(texts),
            _ => {
                self.wrong(
                    key,
                    place,
                    "is not a list of texts",
                    "write [\"one\", \"two\"]",
                );
                None
            }
        }
    }

    /// A duration with its unit.
    pub fn duration(&mut self, key: &str) -> Option<Duration> {
        const REMEDY: &str = "write it with a unit: \"250ms\", \"5s\", \"2m\", \"1h\"";
        let Found { value, place } = self.require(key)?;
        let what = match value {
            toml::Value::String(text) => match parse_duration(text.trim()) {
                Ok(duration) => return Some(duration),
                Err(DurationError::Unitless) => "is a bare number".to_owned(),
                Err(error) => format!("{} {error}", shown(&text)),
            },
            toml::Value::Integer(_) | toml::Value::Float(_) => "is a bare number".to_owned(),
            other => format!("is {}, not a duration", kind(&other)),
        };
        self.wrong(key, place, &what, REMEDY);
        None
    }

    /// A duration, or the default when there is none.
    pub fn duration_or(&mut self, key: &str, default: Duration) -> Option<Duration> {
        if self.has(key) {
            self.duration(key)
        } else {
            Some(default)
        }
    }

    /// A whole number within a range.
    pub fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let Found { value, place } = self.require(key)?;
        let number = match (&value, &place) {
            (toml::Value::Integer(number), _) => u64::try_from(*number).ok(),
            (toml::Value::String(text), Place::Environment(_)) => text.trim().parse().ok(),
            (other, _) => {
                let what = format!("is {}, not a whole number", kind(other));
                self.wrong(key, place, &what, &between(&range));
                return None;
            }
        };
        match number {
            Some(number) if range.contains(&number) => Some(number),
            _ => {
                let what = "is not a whole number in the allowed range";
                self.wrong(key, place, what, &between(&range));
                None
            }
        }
    }

    /// A whole number within a range, or the default when there is none.
    pub fn integer_or(
        &mut self,
        key: &str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Option<u64> {
        if self.has(key) {
            self.integer(key, range)
        } else {
            Some(default)
        }
    }

    /// An address to listen on.
    pub fn address(&mut self, key: &str) -> Option<SocketAddr> {
        let found = self.require(key)?;
        let place = found.place.clone();
        let text = self.as_text(key, found)?;
        let address = text.trim().parse().ok();
        if address.is_none() {
            let what = format!("{} is not an address with a port", shown(&text));
            self.wrong(
                key,
                place,
                &what,
                "write it like 127.0.0.1:8080 or [::]:8080",
            );
        }
        address
    }

    /// An address to listen on, or the default when there is none.
    pub fn address_or(&mut self, key: &str, default: SocketAddr) -> Option<SocketAddr> {
        if self.has(key) {
            self.address(key)
        } else {
            Some(default)
        }
    }

    /// Yes or no, or the default when nothing is said.
    pub fn flag_or(&mut self, key: &str, default: bool) -> Option<bool> {
        let Some(Found { value, place }) = self.find(key) else {
            return Some(default);
        };
        let flag = match (&value, &place) {
            (toml::Value::Boolean(flag), _) => Some(*flag),
            (toml::Value::String(text), Place::Environment(_)) => text.trim().parse().ok(),
            _ => None,
        };
        if flag.is_none() {
            self.wrong(
                key,
                place,
                "is neither true nor false",
                "write true or false",
            );
        }
        flag
    }

    /// One of a few words.
    pub fn choice(&mut self, key: &str, choices: &[&'static str]) -> Option<&'static str> {
        let found = self.require(key)?;
        let place = found.place.clone();
        let text = self.as_text(key, found)?;
        let chosen = choices
            .iter()
            .find(|choice| **choice == text.trim())
            .copied();
        if chosen.is_none() {
            let what = format!("{} is no choice here", shown(&text));
            self.wrong(
                key,
                place,
                &what,
                &format!("choose one of {}", choices.join(", ")),
            );
        }
        chosen
    }

    /// One of a few words, or the default when nothing is said.
    pub fn choice_or(
        &mut self,
        key: &str,
        choices: &[&'static str],
        default: &'static str,
    ) -> Option<&'static str> {
        if self.has(key) {
            self.choice(key, choices)
        } else {
            Some(default)
        }
    }

    /// A text that the caller's own parser understands. The parser's message is printed: it must
    /// not repeat a text that may be secret.
    pub fn parsed<T, E: Display>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let found = self.require(key)?;
        let place = found.place.clone();
        let text = self.as_text(key, found)?;
        match parse(text.trim()) {
            Ok(value) => Some(value),
            Err(error) => {
                let what = format!("is not usable: {error}");
                self.wrong(key, place, &what, "correct the value");
                None
            }
        }
    }

    fn as_text(&mut self, key: &str, found: Found) -> Option<String> {
        match found.value {
            toml::Value::String(text) => Some(text),
            other => {
                let what = format!("is {}, not a text", kind(&other));
                self.wrong(key, found.place, &what, "write it in quotes");
                None
            }
        }
    }
}

fn text_of(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        _ => None,
    }
}

/// The longest piece of a value that a fault repeats.
const SHOWN_MAX: usize = 40;

/// A short text in quotes; a long one is not repeated at all.
fn shown(text: &str) -> String {
    if text.chars().count() <= SHOWN_MAX {
        format!("{text:?}")
    } else {
        "the text".to_owned()
    }
}

fn between(range: &RangeInclusive<u64>) -> String {
    if *range.end() == u64::MAX {
        return format!("give {} or more", range.start());
    }
    format!("give a number from {} to {}", range.start(), range.end())
}

fn kind(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::String(_) => "a text",
        toml::Value::Integer(_) | toml::Value::Float(_) => "a number",
        toml::Value::Boolean(_) => "true or false",
        toml::Value::Datetime(_) => "a date",
        toml::Value::Array(_) => "a list",
        toml::Value::Table(_) => "a table",
    }
}
