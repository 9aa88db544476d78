//! Manifests as the rules read them, and the rules about how they are written.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::source::SourceFile;
use super::{Offence, text_files};

/// The prefix of our own library packages.
pub const OURS: &str = "claimcheck-";
/// What every member takes over from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

/// One manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// From the root of the repository.
    pub path: String,
    text: String,
    table: Table,
}

/// Which table of a manifest a dependency stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// In what is shipped, or in building it.
    Shipped,
    /// In tests, examples and benchmarks.
    Tests,
}

/// One dependency of a member.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The package.
    pub name: String,
    /// What for.
    pub purpose: Use,
    /// What the manifest says about it.
    pub entry: Value,
}

impl Manifest {
    /// Reads one manifest.
    ///
    /// # Panics
    /// It is not TOML; nothing would build.
    #[must_use]
    pub fn parse(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            table: text.parse().expect("a manifest is TOML"),
        }
    }

    /// The package's name.
    #[must_use]
    pub fn name(&self) -> &str {
        let package = self.table.get("package");
        package
            .and_then(|package| package.get("name"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A table of the manifest, empty if it has none.
    #[must_use]
    pub fn section(&self, name: &str) -> Table {
        let section = self.table.get(name).and_then(Value::as_table);
        section.cloned().unwrap_or_default()
    }

    /// Every dependency, for every target.
    #[must_use]
    pub fn dependencies(&self) -> Vec<Dependency> {
        let mut found = Vec::new();
        gather(&self.table, &mut found);
        for target in self.section("target").values().filter_map(Value::as_table) {
            gather(target, &mut found);
        }
        found
    }

    /// An offence at the line that opens with `key`, or at the first line.
    #[must_use]
    pub fn offence(&self, key: &str, found: impl Into<String>) -> Offence {
        let opens = |line: &str| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
        };
        let line = self.text.lines().position(opens).map_or(1, |at| at + 1);
        Offence::new(&self.path, line, found)
    }
}

/// The manifests of all members, from the tree.
#[must_use]
pub fn members() -> Vec<Manifest> {
    let is_member =
        |file: &&SourceFile| file.path != "Cargo.toml" && file.path.ends_with("/Cargo.toml");
    text_files()
        .iter()
        .filter(is_member)
        .map(|file| Manifest::parse(&file.path, &file.text))
        .collect()
}

/// The manifest of the workspace.
///
/// # Panics
/// There is none.
#[must_use]
pub fn workspace() -> Manifest {
    let files = text_files();
    let root = files.iter().find(|file| file.path == "Cargo.toml");
    let root = root.expect("the workspace has a manifest");
    Manifest::parse(&root.path, &root.text)
}

/// A member that does not take lints, package facts or versions from the workspace.
#[must_use]
pub fn not_inherited(member: &Manifest) -> Vec<Offence> {
    let mut offences = Vec::new();
    let is_inherited = |entry: Option<&Value>| {
        entry
            .and_then(|entry| entry.get("workspace"))
            .and_then(Value::as_bool)
            == Some(true)
    };
    if !is_inherited(member.table.get("lints")) {
        offences.push(member.offence("[lints", "lints are not the workspace's"));
    }
    for fact in INHERITED {
        if !is_inherited(member.section("package").get(*fact)) {
            offences.push(member.offence(fact, format!("{fact} is not the workspace's")));
        }
    }
    for dependency in member.dependencies() {
        let allowed = ["workspace", "features", "optional"];
        let is_clean = dependency
            .entry
            .as_table()
            .is_some_and(|table| table.keys().all(|key| allowed.contains(&key.as_str())));
        if !is_inherited(Some(&dependency.entry)) || !is_clean {
            let found = format!("{} does not come from the workspace alone", dependency.name);
            offences.push(member.offence(&dependency.name, found));
        }
    }
    offences
}

/// Third-party packages that bring default features, or stand there without a reason.
#[must_use]
pub fn unexplained(workspace: &Manifest) -> Vec<Offence> {
    let mut offences = Vec::new();
    let explained = explained_names(&workspace.text);
    for (name, entry) in declared(workspace) {
        if entry.get("path").is_some() {
            continue;
        }
        if entry.get("default-features").and_then(Value::as_bool) != Some(false) {
            offences.push(workspace.offence(&name, format!("{name} brings default features")));
        }
        if entry.get("version").is_none() || entry.get("git").is_some() {
            offences.push(workspace.offence(&name, format!("{name} has no published version")));
        }
        if !explained.contains(&name) {
            offences.push(workspace.offence(&name, format!("{name} has no reason above it")));
        }
    }
    offences
}

/// Declared packages that no member uses.
#[must_use]
pub fn unused(workspace: &Manifest, members: &[Manifest]) -> Vec<Offence> {
    let used: BTreeSet<String> = members
        .iter()
        .flat_map(Manifest::dependencies)
        .map(|dependency| dependency.name)
        .collect();
    declared(workspace)
        .into_iter()
        .filter(|(name, _)| !used.contains(name))
        .map(|(name, _)| workspace.offence(&name, format!("no member uses {name}")))
        .collect()
}

fn declared(workspace: &Manifest) -> Table {
    let section = workspace.section("workspace");
    let declared = section.get("dependencies").and_then(Value::as_table);
    declared.cloned().unwrap_or_default()
}

/// The names in a block of lines that opens with a comment; an empty line ends a block.
fn explained_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut has_reason = false;
    for line in text.lines() {
        if line.starts_with('#') {
            has_reason = true;
        } else if line.trim().is_empty() || line.starts_with('[') {
            has_reason = false;
        } else if let Some((name, _)) = line.split_once('=').filter(|_| has_reason) {
            names.insert(name.trim().to_owned());
        }
    }
    names
}

fn gather(table: &Table, found: &mut Vec<Dependency>) {
    for (section, purpose) in [
        ("dependencies", Use::Shipped),
        ("build-dependencies", Use::Shipped),
        ("dev-dependencies", Use::Tests),
    ] {
        let entries = table.get(section).and_then(Value::as_table);
        found.extend(
            entries
                .into_iter()
                .flatten()
                .map(|(name, entry)| Dependency {
                    name: name.clone(),
                    purpose,
                    entry: entry.clone(),
                }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
        publish.workspace = true\n[lints]\nworkspace = true\n[dependencies]\n\
        serde = { workspace = true, features = [\"rc\"] }\n";

    fn found(offences: Vec<Offence>) -> Vec<(usize, String)> {
        offences.into_iter().map(|o| (o.line, o.found)).collect()
    }

    #[test]
    fn a_member_that_goes_its_own_way_is_found() {
        let good = Manifest::parse("crates/a/Cargo.toml", GOOD);
        assert_eq!(found(not_inherited(&good)), []);
        let text = GOOD
            .replace("[lints]\nworkspace = true\n", "")
            .replace("edition.workspace = true", "edition = \"2021\"");
        let bad = format!("{text}time = \"0.3\"\n[target.x.dev-dependencies]\nhex = \"1\"\n");
        let bad = Manifest::parse("crates/a/Cargo.toml", &bad);
        assert_eq!(
            found(not_inherited(&bad)),
            [
                (1, "lints are not the workspace's".to_owned()),
                (4, "edition is not the workspace's".to_owned()),
                (10, "time does not come from the workspace alone".to_owned()),
                (12, "hex does not come from the workspace alone".to_owned()),
            ]
        );
    }

    #[test]
    fn a_dependency_without_reason_version_or_restraint_is_found() {
        let text = "[workspace.dependencies]\na = { path = \"a\" }\n# Why b and c.\n\
            b = { version = \"1\", default-features = false }\n\
            c = { version = \"1\", default-features = false }\n\n\
            d = { version = \"1\", default-features = false }\n# Why e.\ne = \"1\"\n\
            # Why f.\nf = { git = \"g\", default-features = false }\n";
        let workspace = Manifest::parse("Cargo.toml", text);
        assert_eq!(
            found(unexplained(&workspace)),
            [
                (7, "d has no reason above it".to_owned()),
                (9, "e brings default features".to_owned()),
                (9, "e has no published version".to_owned()),
                (11, "f has no published version".to_owned()),
            ]
        );
    }

    #[test]
    fn a_declared_package_that_nobody_uses_is_found() {
        let text = "[workspace.dependencies]\nserde = \"1\"\nhex = \"1\"\n";
        let workspace = Manifest::parse("Cargo.toml", text);
        let member = Manifest::parse("crates/a/Cargo.toml", GOOD);
        assert_eq!(
            found(unused(&workspace, &[member])),
            [(3, "no member uses hex".to_owned())]
        );
    }
}
