//! Where things lie: the state below `.lab/` in the workspace, and the binaries beside the running
//! one. State lies there and nowhere else.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The folder of all state, below the workspace.
const STATE: &str = ".lab";
/// Names the folder of the binaries, if it is another one.
const BIN_DIR: &str = "CLAIMCHECK_BIN_DIR";

/// The state folder and what lies in it.
#[derive(Debug, Clone)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    /// The given folder, or `.lab/` below the workspace that the current folder lies in.
    ///
    /// # Errors
    /// No folder is given and this is no workspace.
    pub fn find(given: Option<PathBuf>) -> anyhow::Result<Self> {
        let current = env::current_dir().context("the current folder is not known")?;
        let root = match given {
            Some(given) => current.join(given),
            None => workspace(&current)?.join(STATE),
        };
        Ok(Self { root })
    }

    /// The stack of `up`.
    #[must_use]
    pub fn stack(&self) -> PathBuf {
        self.root.join("stack")
    }

    /// What serialises `up` and `down`.
    #[must_use]
    pub fn stack_lock(&self) -> PathBuf {
        self.root.join("stack.lock")
    }

    /// Where everything of the stack can be reached.
    #[must_use]
    pub fn endpoints(&self) -> PathBuf {
        self.root.join("endpoints.json")
    }

    /// The folder of one named run (`test`, `demo`), and its lock.
    #[must_use]
    pub fn run(&self, name: &str) -> (PathBuf, PathBuf) {
        (self.root.join(name), self.root.join(format!("{name}.lock")))
    }
}

fn workspace(from: &Path) -> anyhow::Result<PathBuf> {
    let is_root = |folder: &&Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line.trim() == "[workspace]")
    };
    match from.ancestors().find(is_root) {
        Some(root) => Ok(root.to_owned()),
        None => bail!("{} lies in no workspace; give --dir", from.display()),
    }
}

/// The folder of our binaries: the one of the running binary, unless `CLAIMCHECK_BIN_DIR` names
/// another.
///
/// # Errors
/// The running binary's own path is not known.
pub fn bin_dir() -> anyhow::Result<PathBuf> {
    if let Some(given) = env::var_os(BIN_DIR).filter(|given| !given.is_empty()) {
        return Ok(PathBuf::from(given));
    }
    let own = env::current_exe().context("the path of this binary is not known")?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    // Test binaries lie one level below.
    let is_deps = folder.file_name().is_some_and(|name| name == "deps");
    let folder = folder.parent().filter(|_| is_deps).unwrap_or(folder);
    Ok(folder.to_owned())
}

/// One of our binaries.
///
/// # Errors
/// It is not built.
pub fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let path = bin_dir()?.join(name);
    if !path.is_file() {
        bail!("{} is not there; run `make build`", path.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_found_from_below() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = workspace(&here.join("src")).expect("this crate lies in one");
        assert!(root.join("crates/lab").is_dir());
        assert!(workspace(Path::new("/")).is_err());
    }
}
