//! One lab command at a time works on a state folder. The lock is a file beside the folder; the
//! guard inherits it, so that it stays held until a dying command's leftovers are gone.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::private;
use crate::wait::until;

/// How long another command is waited for; a first start on a slow machine takes a minute.
const LIMIT: Duration = Duration::from_secs(180);

/// A held lock, until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Waits until no other command holds it.
    ///
    /// # Errors
    /// The file cannot be opened, or another command does not end.
    pub async fn wait(path: &Path) -> anyhow::Result<Self> {
        let file = open(path)?;
        let what = format!("the lab command that holds {} ends", path.display());
        let mut failed = None;
        until(&what, LIMIT, async || match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => {
                failed = Some(error);
                true
            }
        })
        .await?;
        if let Some(error) = failed {
            bail!("{} cannot be locked: {error}", path.display());
        }
        Ok(Self(file))
    }

    /// Takes it if nobody holds it.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub fn take(path: &Path) -> anyhow::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// The same lock for a child: it is free only when both have let go.
    pub(crate) fn share(&self) -> anyhow::Result<File> {
        self.0.try_clone().context("the lock cannot be shared")
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    if let Some(folder) = path.parent() {
        private::dir(folder)?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("the lock {} cannot be opened", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_only_when_all_who_share_it_let_go() {
        let path = std::env::temp_dir().join(format!("lab-lock-{}", std::process::id()));
        let first = Lock::take(&path).expect("it opens").expect("it is free");
        let shared = first.share().expect("it is shared");
        assert!(Lock::take(&path).expect("it opens").is_none());
        drop(first);
        assert!(Lock::take(&path).expect("it opens").is_none());
        drop(shared);
        assert!(Lock::take(&path).expect("it opens").is_some());
        std::fs::remove_file(&path).expect("it is removed");
    }
}
