//! The example service as a child of the test. Whatever happens, it is gone when the test is.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{self, ChildStderr, ChildStdout, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// What the service needs and nothing more.
pub(crate) const SETTINGS: &str =
    "[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl = \"hunter2\"\n";

/// The longest wait for a condition.
const WAIT_LIMIT: Duration = Duration::from_secs(20);
const WAIT_STEP: Duration = Duration::from_millis(10);

/// How a process ended and all it said.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A running service.
pub(crate) struct Child {
    process: process::Child,
    settings: PathBuf,
    admin: String,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    // Kept open and unread, so that the pipe fills.
    _unread: Mutex<Option<BufReader<ChildStdout>>>,
}

/// Runs the service until it ends by itself.
pub(crate) fn run_to_end(
    settings: Option<&str>,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> End {
    let mut command = command(environment);
    let path = settings.map(write_settings);
    if let Some(path) = &path {
        command.arg("--settings").arg(path);
    }
    command.args(arguments);
    let mut child = spawn(command, path.unwrap_or_default());
    let stdout = child.process.stdout.take().expect("a pipe");
    child.stdout = Some(thread::spawn(move || read(stdout)));
    child.end(WAIT_LIMIT)
}

impl Child {
    /// Starts it and waits until it has named its admin port.
    pub(crate) fn start(settings: &str, environment: &[(&str, &str)]) -> Self {
        let (mut child, mut stdout, line) = Self::start_to_first_line(settings, environment);
        child.stdout = Some(thread::spawn(move || {
            let mut text = line;
            let _ = stdout.read_to_string(&mut text);
            text
        }));
        child
    }

    /// The same, but nothing reads its log after the first line.
    pub(crate) fn start_unread(settings: &str, environment: &[(&str, &str)]) -> Self {
        let (child, stdout, _) = Self::start_to_first_line(settings, environment);
        *child._unread.lock().expect("nobody else holds it") = Some(stdout);
        child
    }

    fn start_to_first_line(
        settings: &str,
        environment: &[(&str, &str)],
    ) -> (Self, BufReader<ChildStdout>, String) {
        let mut command = command(environment);
        let path = write_settings(settings);
        command.arg("--settings").arg(&path);
        let mut child = spawn(command, path);
        let stdout = child.process.stdout.take().expect("a pipe");
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = sender.send((stdout, line));
        });
        let (stdout, line) = first_line(&receiver);
        let first: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
        let admin = first.get("admin").and_then(|admin| admin.as_str());
        child.admin = admin.expect("the first line names the port").to_owned();
        (child, stdout, line)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path)
    }

    /// One request on a connection of its own: the status and the body.
    pub(crate) fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.admin).expect("the admin port answers");
        stream
            .set_read_timeout(Some(WAIT_LIMIT))
            .expect("a timeout");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n"
        )
        .expect("the request is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }

    pub(crate) fn wait_ready(&self) {
        self.wait_for("readiness", |child| child.get("/readyz").0 == 200);
    }

    pub(crate) fn wait_for(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(start.elapsed() < WAIT_LIMIT, "waited too long for {what}");
            thread::sleep(WAIT_STEP);
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name, &self.process.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for its end, at most this long.
    pub(crate) fn end(&mut self, limit: Duration) -> End {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self
                .process
                .try_wait()
                .expect("the child can be waited for")
            {
                break status;
            }
            assert!(start.elapsed() < limit, "it has not ended within {limit:?}");
            thread::sleep(WAIT_STEP);
        };
        let text = |reader: Option<JoinHandle<String>>| {
            reader
                .map(|reader| reader.join().expect("the reader ends"))
                .unwrap_or_default()
        };
        End {
            code: status.code(),
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail only for a process that is gone already, which is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.settings);
    }
}

fn first_line(
    receiver: &Receiver<(BufReader<ChildStdout>, String)>,
) -> (BufReader<ChildStdout>, String) {
    receiver.recv_timeout(WAIT_LIMIT).expect("a first line")
}

fn command(environment: &[(&str, &str)]) -> Command {
    // Test programs lie in `deps`, examples beside it.
    let test = env::current_exe().expect("the test's own path");
    let profile = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("two levels up");
    let mut command = Command::new(profile.join("examples").join("shell"));
    command.env_clear().envs(environment.iter().copied());
    command
}

fn spawn(mut command: Command, settings: PathBuf) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = command
        .spawn()
        .expect("the example is built with the tests");
    let stderr: ChildStderr = process.stderr.take().expect("a pipe");
    Child {
        process,
        settings,
        admin: String::new(),
        stdout: None,
        stderr: Some(thread::spawn(move || read(stderr))),
        _unread: Mutex::new(None),
    }
}

fn read(mut pipe: impl Read) -> String {
    let mut text = String::new();
    let _ = pipe.read_to_string(&mut text);
    text
}

fn write_settings(settings: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    let name = format!("claimcheck-process-{}-{count}.toml", process::id());
    let path = env::temp_dir().join(name);
    fs::write(&path, settings).expect("a settings file");
    path
}
