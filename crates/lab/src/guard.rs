//! Nothing outlives the command that started it, even one killed with SIGKILL: a second process in
//! a session of its own waits for the end of a pipe that only the command holds, and then ends
//! everything recorded in the state folder. It is told to keep the stack when `up` succeeded.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::Context;

use crate::lock::Lock;
use crate::place::binary;
use crate::private;
use crate::teardown::teardown;

/// What tells the guard to leave everything as it is.
const KEEP: &str = "keep";
/// Longest word that the guard reads.
const WORD_MAX: u64 = 16;

/// The watching process; dropping this lets it act.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts to watch over a state folder. The guard holds the lock until it has ended.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(dir: &Path, lock: Option<&Lock>) -> anyhow::Result<Self> {
        private::dir(&dir.join("log"))?;
        let log = private::log(&dir.join("log").join("guard.log"))?;
        let held = lock.map(Lock::share).transpose()?;
        let mut child = Command::new("setsid")
            .arg(binary("lab")?)
            .args(["guard", "--remove", "--dir"])
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(held.map_or_else(Stdio::null, Stdio::from))
            .stderr(log)
            .spawn()
            .context("the guard cannot be started")?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// Sends the guard away: nothing is ended.
    ///
    /// # Errors
    /// It is gone already, and may have ended everything.
    pub fn keep(mut self) -> anyhow::Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            writeln!(pipe, "{KEEP}").context("the guard is gone")?;
        }
        self.child.wait().context("the guard is not there")?;
        Ok(())
    }

    /// Lets the guard end everything and waits until it has.
    ///
    /// # Errors
    /// It is not there.
    pub async fn finish(mut self) -> anyhow::Result<()> {
        drop(self.pipe.take());
        let mut child = self.child;
        let ended = tokio::task::spawn_blocking(move || child.wait()).await;
        ended
            .context("the guard is not waited for")?
            .context("the guard is not there")?;
        Ok(())
    }
}

/// What the guard does: waits, and ends everything unless it is told to keep it.
///
/// # Errors
/// Something does not end.
pub async fn watch(dir: &Path, remove: bool) -> anyhow::Result<()> {
    let word = tokio::task::spawn_blocking(|| {
        let mut word = String::new();
        let _ = std::io::stdin().take(WORD_MAX).read_to_string(&mut word);
        word
    });
    let word = word.await.context("the pipe is not read")?;
    if word.trim() == KEEP {
        return Ok(());
    }
    teardown(dir, remove).await
}
