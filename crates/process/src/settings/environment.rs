//! The environment over the file: `CLAIMCHECK__SECTION__KEY`. Names are compared without case and
//! with `-` and `_` alike, because an environment name can spell neither small letters nor `-`.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use super::fault::{Fault, Place};

/// What every variable of ours begins with; other variables are none of our business.
const PREFIX: &str = "CLAIMCHECK__";
const LEVEL: &str = "__";

/// The variables that name a setting, by their normal key.
#[derive(Default)]
pub(super) struct Environment(BTreeMap<String, Variable>);

struct Variable {
    name: String,
    text: String,
}

impl Environment {
    pub(super) fn read<I, K, V>(variables: I, faults: &mut Vec<Fault>) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let mut ours: Vec<(String, OsString)> = variables
            .into_iter()
            .filter_map(|(name, value)| Some((ours(&name.into())?, value.into())))
            .collect();
        // The order of the environment means nothing: sorted, faults come out the same each time.
        ours.sort();
        let mut found = BTreeMap::<String, Variable>::new();
        for (name, value) in ours {
            let mut wrong = |what: String, remedy: &str| {
                faults.push(Fault {
                    key: name.clone(),
                    place: Place::Nowhere,
                    what,
                    remedy: remedy.to_owned(),
                });
            };
            let Some(key) = key_of(&name) else {
                wrong(
                    "names no setting".to_owned(),
                    "write CLAIMCHECK__SECTION__KEY",
                );
                continue;
            };
            let Ok(text) = value.into_string() else {
                wrong("is not valid UTF-8".to_owned(), "give the value as text");
                continue;
            };
            if let Some(first) = found.get(&key) {
                let what = format!("names the same setting as {}", first.name);
                wrong(what, "keep one of the two");
                continue;
            }
            found.insert(key, Variable { name, text });
        }
        Self(found)
    }

    /// The variable that sets this key, and its text.
    pub(super) fn get(&self, key: &str) -> Option<(&str, &str)> {
        self.0
            .get(&normal(key))
            .map(|found| (found.name.as_str(), found.text.as_str()))
    }

    /// The normal names that stand between a section and at least one further level.
    pub(super) fn names(&self, section: &str) -> Vec<String> {
        let prefix = format!("{}.", normal(section));
        let mut names: Vec<_> = self
            .0
            .keys()
            .filter_map(|key| key.strip_prefix(&prefix)?.split_once('.'))
            .map(|(name, _)| name.to_owned())
            .collect();
        names.dedup();
        names
    }

    /// Every variable with its normal key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, variable)| (key.as_str(), variable.name.as_str()))
    }
}

/// A key as both spellings have it: small, with `_` for `-`.
pub(super) fn normal(key: &str) -> String {
    key.to_ascii_lowercase().replace('-', "_")
}

/// The variable that would set a key.
pub(super) fn variable(key: &str) -> String {
    format!(
        "{PREFIX}{}",
        normal(key).to_ascii_uppercase().replace('.', LEVEL)
    )
}

fn ours(name: &OsStr) -> Option<String> {
    let name = name.to_str()?;
    let prefix = name.get(..PREFIX.len())?;
    prefix.eq_ignore_ascii_case(PREFIX).then(|| name.to_owned())
}

fn key_of(name: &str) -> Option<String> {
    let levels: Vec<_> = name.get(PREFIX.len()..)?.split(LEVEL).collect();
    let usable = levels.len() > 1 && levels.iter().all(|level| is_level(level));
    usable.then(|| normal(&levels.join(".")))
}

fn is_level(level: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    !level.is_empty() && level.bytes().all(is_letter)
}
