//! What stands in the settings and nobody knows. A mistyped key must not silently leave a default
//! in force; but the sections of other services are theirs to judge.

use super::{Fault, Place, Reader, SECTIONS, environment::normal, fault::within, nearest::nearest};

impl Reader {
    /// Records a fault for every unknown section, and for every unknown key of a section read.
    pub(super) fn check_unknown(&mut self) {
        let mut faults = Vec::new();
        for (section, value) in &self.table {
            if !SECTIONS.contains(&section.as_str()) {
                let suggestion = nearest(section, SECTIONS.iter().copied());
                faults.push(self.unknown(section, self.file_place(), "section", suggestion));
            } else if let toml::Value::Table(table) = value {
                if self.sections_read.contains(section) {
                    self.check_table(section, table, &mut faults);
                }
            } else {
                faults.push(Fault {
                    key: section.clone(),
                    place: self.file_place(),
                    what: "is a section but has a value".to_owned(),
                    remedy: format!("write [{section}] and its keys below"),
                });
            }
        }
        self.check_variables(&mut faults);
        self.faults.extend(faults);
    }

    fn check_table(&self, path: &str, table: &toml::Table, faults: &mut Vec<Fault>) {
        for (name, value) in table {
            let key = within(path, name);
            match value {
                toml::Value::Table(inner) if self.is_open(&key) => {
                    self.check_table(&key, inner, faults);
                }
                _ if self.known.contains(&key) => {}
                _ => {
                    let suggestion = nearest(name, self.known_below(path));
                    faults.push(self.unknown(&key, self.file_place(), "key", suggestion));
                }
            }
        }
    }

    fn check_variables(&self, faults: &mut Vec<Fault>) {
        let known: Vec<String> = self.known.iter().map(|key| normal(key)).collect();
        for (key, variable) in self.environment.iter() {
            let section = key.split('.').next().unwrap_or(key);
            let is_section = |name: &&&str| normal(name) == section;
            let Some(section) = SECTIONS.iter().find(is_section) else {
                let suggestion = nearest(section, SECTIONS.iter().copied());
                faults.push(self.unknown(variable, Place::Nowhere, "section", suggestion));
                continue;
            };
            if self.sections_read.contains(*section) && !known.iter().any(|known| known == key) {
                let (path, name) = key.rsplit_once('.').unwrap_or(("", key));
                let below = self.known.iter().filter_map(|known| {
                    let (parent, name) = known.rsplit_once('.')?;
                    (normal(parent) == path).then_some(name)
                });
                let suggestion = nearest(name, below);
                faults.push(self.unknown(variable, Place::Nowhere, "key", suggestion));
            }
        }
    }

    /// Whether keys below this one are looked at one by one: it was not itself read as a value,
    /// or it was read as a secret, which may be a table that names a file.
    fn is_open(&self, key: &str) -> bool {
        !self.known.contains(key) || self.known.contains(&within(key, "file"))
    }

    fn known_below(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{path}.");
        self.known
            .iter()
            .filter_map(move |key| key.strip_prefix(&prefix).filter(|name| !name.contains('.')))
    }

    fn unknown(&self, key: &str, place: Place, kind: &str, suggestion: Option<&str>) -> Fault {
        let remedy = match suggestion {
            Some(name) => format!("did you mean {name}?"),
            None => "remove it".to_owned(),
        };
        Fault {
            key: key.to_owned(),
            place,
            what: format!("is an unknown {kind}"),
            remedy,
        }
    }
}
