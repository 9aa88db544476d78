//! Settings: one TOML file for a whole installation, and the environment over it. A service reads
//! everything it needs and every fault is collected, so that a person corrects all of them at
//! once. A value that may be secret is never printed, whatever is wrong with it.

mod duration;
mod environment;
mod fault;
mod file;
mod nearest;
mod secret;
mod unknown;
mod value;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

pub use self::{
    duration::{DurationError, parse_duration},
    fault::{Fault, Faults, Place},
};
use self::{environment::Environment, fault::within};

/// Every section that a file may have, whichever service reads it.
pub const SECTIONS: &[&str] = &[
    "runtime",
    "admin",
    "telemetry",
    "database",
    "queue",
    "times",
    "endpoints",
    "mt5",
    "portal",
    "webhook-ingest",
    "credit-worker",
    "resolver",
    "cashier",
];

/// Reads settings and collects what is wrong with them. Keys are dotted: `database.url`. A method
/// that returns `None` for a value that must be there has recorded a fault.
pub struct Reader {
    path: Option<PathBuf>,
    table: toml::Table,
    environment: Environment,
    sections_read: BTreeSet<String>,
    known: BTreeSet<String>,
    faults: Vec<Fault>,
}

/// A value as it was given, and where.
struct Found {
    value: toml::Value,
    place: Place,
}

impl Reader {
    /// Reads the file, if one is given, and the environment. Fails at once only when the file
    /// cannot be read as TOML; everything else waits for [`Reader::finish`].
    ///
    /// # Errors
    /// The faults of the file as a whole.
    pub fn open<I, K, V>(path: Option<&Path>, environment: I) -> Result<Self, Faults>
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let table = match path {
            Some(path) => file::read_table(path).map_err(Faults::one)?,
            None => toml::Table::new(),
        };
        let mut faults = Vec::new();
        let environment = Environment::read(environment, &mut faults);
        Ok(Self {
            path: path.map(Path::to_owned),
            table,
            environment,
            sections_read: BTreeSet::new(),
            known: BTreeSet::new(),
            faults,
        })
    }

    /// The names of the tables below a section, in order: the endpoints below `endpoints`. A name
    /// that stands only in the environment is written small, its `_` read as `-`.
    pub fn names(&mut self, section: &str) -> Vec<String> {
        self.touch(section);
        let mut names = BTreeSet::new();
        let mut unusable = Vec::new();
        if let Some(toml::Value::Table(table)) = file::walk(&self.table, section) {
            for (name, _) in table.iter().filter(|(_, value)| value.is_table()) {
                if is_name(name) {
                    names.insert(name.clone());
                } else {
                    unusable.push(name.clone());
                }
            }
        }
        for name in self.environment.names(section) {
            if !names.iter().any(|known| environment::normal(known) == name) {
                names.insert(name.replace('_', "-"));
            }
        }
        for name in unusable {
            let key = within(section, &format!("{name:?}"));
            let place = self.file_place();
            self.wrong(
                &key,
                place,
                "is no usable name",
                "use a-z, 0-9, - and _ only",
            );
        }
        names.into_iter().collect()
    }

    /// Whether a value stands under this key, in the file or in the environment.
    pub fn has(&mut self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Accepts a key that this service does not read but another one does, in a section that
    /// both read.
    pub fn also_known(&mut self, key: &str) {
        self.touch(key);
        self.known.insert(key.to_owned());
    }

    /// Records a fault that only the reader of the values can see: a relation between them. The
    /// message says what is wrong and what to do, and prints no secret.
    pub fn fault(&mut self, key: &str, message: impl Into<String>) {
        let place = match self.look_up(key) {
            Some(found) => found.place,
            None => Place::Nowhere,
        };
        let (what, remedy) = fault::split_message(&message.into());
        self.faults.push(Fault {
            key: key.to_owned(),
            place,
            what,
            remedy,
        });
    }

    /// Ends the reading: the settings if nothing at all was wrong.
    ///
    /// # Errors
    /// Every fault found, unknown keys and sections included.
    pub fn finish<S>(mut self, settings: Option<S>) -> Result<S, Faults> {
        self.check_unknown();
        if settings.is_none() && self.faults.is_empty() {
            self.wrong(
                "settings",
                Place::Nowhere,
                "are incomplete",
                "report this as a defect",
            );
        }
        match settings {
            Some(settings) if self.faults.is_empty() => Ok(settings),
            _ => Err(Faults::new(self.faults)),
        }
    }

    /// The value under a key, which from now on is known.
    fn find(&mut self, key: &str) -> Option<Found> {
        self.touch(key);
        self.known.insert(key.to_owned());
        self.look_up(key)
    }

    /// The value that must stand under a key.
    fn require(&mut self, key: &str) -> Option<Found> {
        let found = self.find(key);
        if found.is_none() {
            self.missing(key);
        }
        found
    }

    /// The environment wins over the file.
    fn look_up(&self, key: &str) -> Option<Found> {
        if let Some((variable, text)) = self.environment.get(key) {
            let place = Place::Environment(variable.to_owned());
            return Some(Found {
                value: toml::Value::String(text.to_owned()),
                place,
            });
        }
        let value = file::walk(&self.table, key)?.clone();
        Some(Found {
            value,
            place: self.file_place(),
        })
    }

    fn missing(&mut self, key: &str) {
        let variable = environment::variable(key);
        let remedy = match &self.path {
            Some(path) => format!("set it in {} or as {variable}", path.display()),
            None => format!("set it in a file given with --settings, or as {variable}"),
        };
        self.wrong(key, Place::Nowhere, "is missing", &remedy);
    }

    fn wrong(&mut self, key: &str, place: Place, what: &str, remedy: &str) {
        self.faults.push(Fault {
            key: key.to_owned(),
            place,
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    fn touch(&mut self, key: &str) {
        let section = key.split('.').next().unwrap_or(key);
        assert!(
            SECTIONS.contains(&section),
            "{section} is one of the known sections"
        );
        self.sections_read.insert(section.to_owned());
    }

    fn file_place(&self) -> Place {
        match &self.path {
            Some(path) => Place::File(path.clone()),
            None => Place::Nowhere,
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
}
