//! How the lab starts a process: in a session of its own, its output added to a log, and recorded
//! *by itself before it begins*, so that there is no moment at which it runs and nobody knows.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::sync::oneshot;

use crate::private;
use crate::process::Process;
use crate::wait::until;

/// The child writes its line of `/proc` into the record, then becomes the program.
const RECORD_THEN_BECOME: &str = "umask 077; IFS= read -r line </proc/$$/stat && \
    printf '%s\\n' \"$line\" >\"$0\" && exec \"$@\"";
/// How long a child may take to record itself.
const RECORD_LIMIT: Duration = Duration::from_secs(10);
/// What a child keeps of our environment; everything else would be chance.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "RUST_BACKTRACE",
    "LLVM_PROFILE_FILE",
];
/// A usable path where the environment has none.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// What to start.
#[derive(Debug)]
pub(crate) struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    record: PathBuf,
    log: Option<PathBuf>,
}

/// A started process.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    ended: oneshot::Receiver<ExitStatus>,
}

impl Launch {
    /// A program in the background; `dir` holds the folders `pids` and `log`.
    pub(crate) fn new(program: impl Into<OsString>, dir: &Path, name: &str) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            record: record(dir, name),
            log: Some(log(dir, name)),
        }
    }

    /// A command in the foreground: our terminal, our session, our whole environment.
    pub(crate) fn in_foreground(mut self) -> Self {
        self.log = None;
        self
    }

    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Starts it.
    pub(crate) async fn start(self) -> anyhow::Result<Started> {
        if let Some(folder) = self.record.parent() {
            private::dir(folder)?;
        }
        let shown = self.program.to_string_lossy().into_owned();
        let mut child = self
            .command()?
            .spawn()
            .context("setsid cannot be started")?;
        let pid = child.id();
        let (tell, ended) = oneshot::channel();
        // A thread of its own collects the child, whatever becomes of the runtime.
        std::thread::spawn(move || {
            if let Ok(status) = child.wait() {
                let _ = tell.send(status);
            }
        });
        let own_record = || Process::recorded(&self.record).filter(|found| found.pid == pid);
        until("the child's record", RECORD_LIMIT, async || {
            own_record().is_some() || !ended.is_empty()
        })
        .await?;
        match own_record() {
            Some(process) => Ok(Started { process, ended }),
            None => bail!("{shown} could not be started"),
        }
    }

    fn command(&self) -> anyhow::Result<Command> {
        let mut command = match &self.log {
            None => Command::new("sh"),
            Some(log) => {
                if let Some(folder) = log.parent() {
                    private::dir(folder)?;
                }
                let out = private::log(log)?;
                // As the child leads no group yet, setsid becomes the program; the pid stays.
                let mut command = Command::new("setsid");
                command.arg("sh").env_clear().env("PATH", PATH_DEFAULT);
                for name in KEPT {
                    if let Some(value) = std::env::var_os(name) {
                        command.env(name, value);
                    }
                }
                let errors = out.try_clone().context("the log cannot be shared")?;
                command.stdin(Stdio::null()).stdout(out).stderr(errors);
                command
            }
        };
        command.args(["-c", RECORD_THEN_BECOME]).arg(&self.record);
        command.arg(&self.program).args(&self.arguments);
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        Ok(command)
    }
}

impl Started {
    /// Waits for its end.
    pub(crate) async fn status(&mut self) -> ExitStatus {
        let lost = ExitStatus::from_raw(1 << 8);
        (&mut self.ended).await.unwrap_or(lost)
    }
}

/// The record of a process.
pub(crate) fn record(dir: &Path, name: &str) -> PathBuf {
    dir.join("pids").join(name)
}

/// The log of a process.
pub(crate) fn log(dir: &Path, name: &str) -> PathBuf {
    dir.join("log").join(format!("{name}.log"))
}

/// The process of that name, if it was started and lives.
pub(crate) fn living(dir: &Path, name: &str) -> Option<Process> {
    Process::recorded(&record(dir, name)).filter(Process::is_alive)
}

/// Every recorded process that lives, with its name.
pub(crate) fn all_living(dir: &Path) -> Vec<(String, Process)> {
    let entries = fs::read_dir(dir.join("pids"));
    let names = entries.into_iter().flatten().flatten();
    let mut found: Vec<(String, Process)> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter_map(|name| Some((name.clone(), living(dir, &name)?)))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}
