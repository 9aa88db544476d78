//! A process known by its pid *and* its start time, so that a pid which the system gave to somebody
//! else is never taken for ours. The rule: every signal of the lab goes through `Process::signal`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::wait::until;

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in clock ticks since the machine was.
    started: u64,
}

/// What a process can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End in good order.
    Term,
    /// End now.
    Kill,
    /// Interrupt; PostgreSQL's fast shutdown.
    Int,
    /// Quit; PostgreSQL's immediate shutdown.
    Quit,
    /// Freeze.
    Stop,
    /// Go on after a freeze.
    Cont,
}

impl Signal {
    const fn name(self) -> &'static str {
        match self {
            Self::Term => "TERM",
            Self::Kill => "KILL",
            Self::Int => "INT",
            Self::Quit => "QUIT",
            Self::Stop => "STOP",
            Self::Cont => "CONT",
        }
    }
}

impl Process {
    /// The living process with this number.
    #[must_use]
    pub fn find(pid: u32) -> Option<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (process, is_dead) = parse(&line)?;
        (!is_dead).then_some(process)
    }

    /// What a record says: the line that the process wrote about itself before it began.
    #[must_use]
    pub fn recorded(record: &Path) -> Option<Self> {
        let line = fs::read_to_string(record).ok()?;
        parse(&line).map(|(process, _)| process)
    }

    /// Whether it still runs. One that has ended and was not collected yet does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::find(self.pid) == Some(*self)
    }

    /// Sends a signal; to a process that has ended, nothing.
    ///
    /// # Errors
    /// It lives, and the signal could not be sent.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        // The shell's own `kill` is there on every machine; the program of that name is not.
        let sent = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", signal.name()])
            .arg(self.pid.to_string())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("sh cannot be started")?;
        if !sent.success() && self.is_alive() {
            bail!("process {} cannot be sent SIG{}", self.pid, signal.name());
        }
        Ok(())
    }

    /// Waits until it has ended; tells whether it has.
    pub async fn ends_within(&self, limit: Duration) -> bool {
        until("the end of a process", limit, async || !self.is_alive())
            .await
            .is_ok()
    }

    /// Sends the signals one after the other until it has ended, and always `KILL` last.
    pub(crate) async fn end(&self, steps: &[(Signal, Duration)]) -> anyhow::Result<()> {
        for (signal, limit) in steps {
            self.signal(*signal)?;
            if self.ends_within(*limit).await {
                return Ok(());
            }
        }
        self.signal(Signal::Kill)?;
        if !self.ends_within(KILL_LIMIT).await {
            bail!("process {} does not end", self.pid);
        }
        Ok(())
    }
}

/// How long the system may take to bury a killed process.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// Where the state, the number of threads and the start time stand, counted behind the name in
/// parentheses.
const STATE_AT: usize = 0;
const THREADS_AT: usize = 17;
const STARTED_AT: usize = 19;

/// Reads a line of `/proc/PID/stat`: the process, and whether it is dead.
fn parse(line: &str) -> Option<(Process, bool)> {
    let (pid, _) = line.split_once(" (")?;
    // The name may hold anything, parentheses included: the last one closes it.
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let process = Process {
        pid: pid.trim().parse().ok()?,
        started: fields.get(STARTED_AT)?.parse().ok()?,
    };
    // While other threads of it still end, its files and ports are still open.
    let threads: u32 = fields.get(THREADS_AT)?.parse().ok()?;
    let is_dead = matches!(*fields.get(STATE_AT)?, "Z" | "X" | "x") && threads <= 1;
    Some((process, is_dead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_name_holds() {
        let line = "77 (a) (b) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 1";
        let (process, is_dead) = parse(line).expect("the line is whole");
        assert_eq!((process.pid, process.started, is_dead), (77, 4711, false));
        assert!(parse("77 (a) S 1").is_none());
        assert!(parse("").is_none());
    }

    #[test]
    fn a_zombie_counts_as_dead() {
        let line = "77 (a) Z 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 1";
        assert!(parse(line).is_some_and(|(_, is_dead)| is_dead));
        let ending = line.replace("20 0 1 0", "20 0 3 0");
        let (_, is_dead) = parse(&ending).expect("the line is whole");
        assert!(!is_dead, "two of its threads still hold its ports");
    }

    #[test]
    fn a_process_with_our_pid_and_another_start_is_not_ours() {
        let own = Process::find(std::process::id()).expect("this process runs");
        assert!(own.is_alive());
        let other = Process {
            started: own.started + 1,
            ..own
        };
        assert!(!other.is_alive());
        assert!(other.signal(Signal::Kill).is_ok(), "and nothing was sent");
    }
}
