//! What is wrong with a setting, said so that a person can correct it. The text of a fault is
//! printed on a terminal and in container logs: no value of a secret may be part of it.

use std::{fmt, path::PathBuf};

/// One thing wrong: which setting, where it stands, what is wrong, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The dotted key, or the path of the file when the file as a whole is at fault.
    pub key: String,
    /// Where the faulty value was found.
    pub place: Place,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It stands nowhere, or the key already names the place.
    Nowhere,
    /// In this file.
    File(PathBuf),
    /// In this environment variable.
    Environment(String),
}

/// Everything wrong with the settings, in the order in which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn new(faults: Vec<Fault>) -> Self {
        Self(faults)
    }

    pub(super) fn one(fault: Fault) -> Self {
        Self(vec![fault])
    }

    /// The faults in order.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.what)?;
        match &self.place {
            Place::Nowhere => {}
            Place::File(path) => write!(f, " (in {})", path.display())?,
            Place::Environment(variable) => write!(f, " (in {variable})")?,
        }
        if self.remedy.is_empty() {
            Ok(())
        } else {
            write!(f, "; {}", self.remedy)
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, fault) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// A message of the form "what is wrong; what to do" in its two parts, on one line.
pub(super) fn split_message(message: &str) -> (String, String) {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once("; ") {
        Some((what, remedy)) => (what.to_owned(), remedy.to_owned()),
        None => (line, String::new()),
    }
}

/// The key of something inside a section.
pub(super) fn within(section: &str, name: &str) -> String {
    if section.is_empty() {
        name.to_owned()
    } else {
        format!("{section}.{name}")
    }
}
