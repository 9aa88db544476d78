//! This repository as data: its files and manifests, and the rules that they must keep.
//!
//! A rule is a pure function from text to offences, and its own unit test shows that it can fail.
//! Every offence is listed, never only the first.

pub mod advisory;
pub mod arrows;
pub mod licence;
pub mod manifest;
pub mod shape;
pub mod source;
pub mod thrown;
pub mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use self::source::SourceFile;

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offence {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, counted from one.
    pub line: usize,
    /// What stands there.
    pub found: String,
}

impl Offence {
    /// An offence at a line of a file.
    #[must_use]
    pub fn new(file: &str, line: usize, found: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            found: found.into(),
        }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.found)
    }
}

/// Demands that nothing breaks the rule.
///
/// # Panics
/// Something does; the message is the rule and every offence.
pub fn demand(rule: &str, mut offences: Vec<Offence>) {
    offences.sort();
    offences.dedup();
    let list: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(
        list.is_empty(),
        "{rule}\n{} offences:\n{}\n",
        list.len(),
        list.join("\n")
    );
}

/// The root of the repository.
///
/// # Panics
/// This package does not lie below it.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the repository")
        .to_owned()
}

/// Every text file of the repository, without what its ignore list names at the top.
///
/// # Panics
/// The tree cannot be read.
#[must_use]
pub fn text_files() -> Vec<SourceFile> {
    let root = root();
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let mut skipped: Vec<PathBuf> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('/'))
        .map(|name| root.join(name.trim_end_matches('/')))
        .collect();
    skipped.push(root.join(".git"));
    let mut found = Vec::new();
    collect(&root, &root, &skipped, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Every Rust file of the repository.
#[must_use]
pub fn rust_files() -> Vec<SourceFile> {
    let mut files = text_files();
    files.retain(SourceFile::is_rust);
    files
}

/// The names of what lies directly in a folder of the repository, sorted.
///
/// # Panics
/// The folder cannot be read.
#[must_use]
pub fn names_in(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join(folder))
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn collect(root: &Path, folder: &Path, skipped: &[PathBuf], found: &mut Vec<SourceFile>) {
    // A file may go while the tree is read; only the root itself must be there.
    let Ok(entries) = fs::read_dir(folder) else {
        assert!(folder != root, "the repository can be read");
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if skipped.contains(&path) || kind.is_symlink() {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, skipped, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let below = path.strip_prefix(root).unwrap_or(&path);
            found.push(SourceFile {
                path: below.to_string_lossy().replace('\\', "/"),
                text,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_holds_this_file_and_nothing_built() {
        let files = text_files();
        assert!(files.iter().any(|f| f.path == "tests/src/workspace.rs"));
        assert!(files.iter().all(|f| !f.path.starts_with("target/")));
        assert!(files.iter().all(|f| !f.path.starts_with(".git/")));
    }

    #[test]
    #[should_panic(expected = "b is wrong\n2 offences:\na:1: x\na:2: y")]
    fn a_demand_lists_every_offence() {
        demand(
            "b is wrong",
            vec![Offence::new("a", 2, "y"), Offence::new("a", 1, "x")],
        );
    }
}
