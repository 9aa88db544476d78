//! A command in the foreground on the lab's infrastructure, and the wish to stop. An interrupted
//! command is given time to end by itself before it is made to.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use crate::child::Launch;
use crate::process::Signal;

/// The command's name in the records.
const NAME: &str = "command";
/// A Ctrl-C has reached the command too: it may end by itself.
const OWN_END_LIMIT: Duration = Duration::from_secs(5);
const TERM_LIMIT: Duration = Duration::from_secs(15);
/// What a shell adds to the number of the signal that ended a command.
const SIGNAL_BASE: i32 = 128;
/// A command that ended in no known way.
const FAILED: u8 = 1;

/// The wish to stop: Ctrl-C, SIGTERM, or the end of the terminal.
#[derive(Debug)]
pub struct Interrupt([Stream; 3]);

impl Interrupt {
    /// What a shell answers for Ctrl-C.
    pub const EXIT: u8 = 130;

    /// Listens from now on; the signals no longer end this process by themselves.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> anyhow::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let [first, second, third] = kinds.map(signal);
        let all = (|| Ok([first?, second?, third?]))();
        all.map(Self)
            .map_err(|error: std::io::Error| error)
            .context("signals cannot be listened for")
    }

    /// Waits for it.
    pub async fn wished(&mut self) {
        let [first, second, third] = &mut self.0;
        tokio::select! {
            _ = first.recv() => {}
            _ = second.recv() => {}
            _ = third.recv() => {}
        }
    }
}

/// Runs a command to its end, recorded in the state folder, and gives its exit code.
///
/// # Errors
/// It cannot be started or ended.
pub async fn run_command(
    dir: &Path,
    words: &[OsString],
    environment: &[(&str, OsString)],
    interrupt: &mut Interrupt,
) -> anyhow::Result<u8> {
    let (program, arguments) = words.split_first().context("there is no command to run")?;
    let mut launch = Launch::new(program, dir, NAME).in_foreground();
    for argument in arguments {
        launch = launch.arg(argument);
    }
    for (name, value) in environment {
        launch = launch.env(name, value);
    }
    let mut started = launch.start().await?;
    let process = started.process;
    tokio::select! {
        status = started.status() => return Ok(code(status)),
        () = interrupt.wished() => {}
    }
    if !process.ends_within(OWN_END_LIMIT).await {
        process.end(&[(Signal::Term, TERM_LIMIT)]).await?;
    }
    Ok(Interrupt::EXIT)
}

fn code(status: ExitStatus) -> u8 {
    let by_signal = || {
        status
            .signal()
            .map(|number| SIGNAL_BASE.saturating_add(number))
    };
    let code = status.code().or_else(by_signal);
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(FAILED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_by_signal_is_told_as_a_shell_tells_it() {
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code(ExitStatus::from_raw(9)), 137);
    }
}
