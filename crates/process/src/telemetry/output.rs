//! The way of a log line to stdout. Whoever logs never waits: lines go to a thread of their own,
//! and when that cannot keep up they are dropped and counted.

use std::{
    io::Write,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

/// The most that may wait to be written; a line also costs what holds it.
const WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;
const LINE_OVERHEAD_BYTES: usize = 64;
/// How much is written at once when many lines wait.
const WRITE_BYTES: usize = 64 * 1024;

/// Takes lines and writes them in order, from a thread of its own. Clones share it.
#[derive(Clone)]
pub(super) struct Output {
    sender: Sender<String>,
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    written: Condvar,
}

impl Output {
    pub(super) fn start(writer: impl Write + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        let waiting = Arc::new(Waiting::default());
        metrics::counter!("claimcheck_log_lines_dropped_total").increment(0);
        thread::Builder::new()
            .name("log-lines".to_owned())
            .spawn({
                let waiting = waiting.clone();
                move || write_lines(writer, &receiver, &waiting)
            })
            .expect("the system can start a thread while the process starts");
        Self { sender, waiting }
    }

    /// Hands over one line, which ends in a line break.
    pub(super) fn push(&self, line: String) {
        let cost = cost(&line);
        {
            let mut bytes = self.waiting.lock();
            if bytes.saturating_add(cost) > WAITING_BYTES_MAX {
                drop(bytes);
                count_dropped(1);
                return;
            }
            *bytes += cost;
        }
        if self.sender.send(line).is_err() {
            self.waiting.release(cost);
            count_dropped(1);
        }
    }

    /// Waits until everything handed over was written, but no longer than this.
    pub(super) fn flush(&self, limit: Duration) {
        let bytes = self.waiting.lock();
        // Whether it was written or the limit was reached: there is nothing left to do about it.
        drop(
            self.waiting
                .written
                .wait_timeout_while(bytes, limit, |bytes| *bytes > 0),
        );
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, cost: usize) {
        let mut bytes = self.lock();
        *bytes = bytes.saturating_sub(cost);
        self.written.notify_all();
    }
}

fn write_lines(mut writer: impl Write, receiver: &Receiver<String>, waiting: &Waiting) {
    let mut block = String::new();
    while let Ok(line) = receiver.recv() {
        let (mut lines, mut paid) = (1, cost(&line));
        block.clear();
        block.push_str(&line);
        while block.len() < WRITE_BYTES
            && let Ok(line) = receiver.try_recv()
        {
            lines += 1;
            paid += cost(&line);
            block.push_str(&line);
        }
        if writer
            .write_all(block.as_bytes())
            .and_then(|()| writer.flush())
            .is_err()
        {
            count_dropped(lines);
        }
        waiting.release(paid);
    }
}

fn cost(line: &str) -> usize {
    line.len() + LINE_OVERHEAD_BYTES
}

fn count_dropped(lines: u64) {
    metrics::counter!("claimcheck_log_lines_dropped_total").increment(lines);
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::mpsc::{SyncSender, sync_channel},
        time::Instant,
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    /// Blocks in its first write until the test lets go, as a full pipe does.
    struct Blocked {
        entered: SyncSender<()>,
        release: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.entered.try_send(());
            let _ = self.release.recv();
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_blocked_reader_costs_lines_but_neither_time_nor_memory() {
        let (entered, has_entered) = sync_channel(1);
        let (let_go, release) = sync_channel(0);
        let written = Arc::new(Mutex::new(Vec::new()));
        let output = Output::start(Blocked {
            entered,
            release,
            written: written.clone(),
        });
        output.push("first\n".to_owned());
        has_entered
            .recv_timeout(LIMIT)
            .expect("the writer has the first line");

        let line = format!("{}\n", "x".repeat(1_000));
        let pushed = 3 * WAITING_BYTES_MAX / line.len();
        for _ in 0..pushed {
            output.push(line.clone());
        }
        assert!(*output.waiting.lock() <= WAITING_BYTES_MAX);
        let before = Instant::now();
        output.flush(Duration::from_millis(50));
        assert!(before.elapsed() < LIMIT);

        drop(let_go);
        output.flush(LIMIT);
        assert_eq!(*output.waiting.lock(), 0);
        let written = written.lock().unwrap();
        let kept = written.iter().filter(|byte| **byte == b'\n').count() - 1;
        assert!(written.starts_with(b"first\n"));
        assert!(kept > 0 && kept < pushed, "{kept} of {pushed}");
    }
}
