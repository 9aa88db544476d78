//! The gate in front of a socket: the last thing a request passes before the kernel has it.
//!
//! The rule: bytes leave only while a call is let through, the first one only before that call's
//! deadline, and every byte that left is counted. The count is the proof behind "not sent".

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use hyper::rt::{Read, ReadBufCursor, Write};

/// A socket behind its gate.
#[derive(Debug)]
pub(crate) struct Gate<S> {
    inner: S,
    keeper: Keeper,
}

/// Opens and shuts a gate from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keeper(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_open: bool,
    send_before: Option<Instant>,
    passed: Passed,
}

/// What a call let through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Bytes that were handed to the kernel.
    pub(crate) bytes: usize,
    /// Whether the deadline was over when the first byte wanted to leave.
    pub(crate) is_late: bool,
}

impl Keeper {
    /// Lets one call through; its first byte must leave before `send_before`, if given.
    pub(crate) fn open(&self, send_before: Option<Instant>) {
        self.with(|state| {
            *state = State {
                is_open: true,
                send_before,
                passed: Passed::default(),
            };
        });
    }

    /// Ends the call and says what passed.
    pub(crate) fn shut(&self) -> Passed {
        self.with(|state| {
            state.is_open = false;
            std::mem::take(&mut state.passed)
        })
    }

    fn admit(&self) -> io::Result<()> {
        self.with(|state| {
            if !state.is_open {
                return Err(io::Error::other("no call is let through"));
            }
            let is_first = state.passed.bytes == 0;
            let is_over = state
                .send_before
                .is_some_and(|before| Instant::now() >= before);
            if state.passed.is_late || (is_first && is_over) {
                state.passed.is_late = true;
                return Err(io::Error::new(io::ErrorKind::TimedOut, "past the deadline"));
            }
            Ok(())
        })
    }

    fn count(&self, bytes: usize) {
        self.with(|state| state.passed.bytes = state.passed.bytes.saturating_add(bytes));
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S> Gate<S> {
    /// Puts a shut gate in front of `inner`.
    pub(crate) fn new(inner: S) -> (Self, Keeper) {
        let keeper = Keeper::default();
        (
            Self {
                inner,
                keeper: keeper.clone(),
            },
            keeper,
        )
    }
}

impl<S: Read + Unpin> Read for Gate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: Write + Unpin> Write for Gate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.keeper.admit()?;
        let bytes = ready!(Pin::new(&mut self.inner).poll_write(cx, buf))?;
        self.keeper.count(bytes);
        Poll::Ready(Ok(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.keeper.admit()?;
        let bytes = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, bufs))?;
        self.keeper.count(bytes);
        Poll::Ready(Ok(bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};

    use super::*;

    fn gate(room: usize) -> (Gate<TokioIo<DuplexStream>>, Keeper, DuplexStream) {
        let (near, far) = duplex(room);
        let (gate, keeper) = Gate::new(TokioIo::new(near));
        (gate, keeper, far)
    }

    fn write(gate: &mut Gate<TokioIo<DuplexStream>>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(gate).poll_write(&mut Context::from_waker(Waker::noop()), bytes)
    }

    #[test]
    fn a_shut_gate_lets_nothing_through() {
        let (mut gate, keeper, _far) = gate(64);
        assert!(matches!(write(&mut gate, b"x"), Poll::Ready(Err(_))));
        keeper.open(None);
        assert!(matches!(write(&mut gate, b"xy"), Poll::Ready(Ok(2))));
        assert_eq!(
            keeper.shut(),
            Passed {
                bytes: 2,
                is_late: false
            }
        );
        assert!(matches!(write(&mut gate, b"x"), Poll::Ready(Err(_))));
    }

    #[tokio::test]
    async fn past_the_deadline_not_one_byte_leaves() {
        let (mut gate, keeper, mut far) = gate(64);
        keeper.open(Some(Instant::now()));
        for _ in 0..2 {
            assert!(matches!(write(&mut gate, b"x"), Poll::Ready(Err(_))));
        }
        assert_eq!(
            keeper.shut(),
            Passed {
                bytes: 0,
                is_late: true
            }
        );
        drop(gate);
        let mut seen = Vec::new();
        far.read_to_end(&mut seen).await.expect("is open");
        assert!(seen.is_empty());
    }

    #[test]
    fn a_request_that_began_in_time_may_finish_and_counts_as_sent() {
        let (mut gate, keeper, _far) = gate(1);
        let soon = Instant::now() + Duration::from_millis(100);
        keeper.open(Some(soon));
        assert!(matches!(write(&mut gate, b"xy"), Poll::Ready(Ok(1))));
        while Instant::now() < soon {
            std::thread::yield_now();
        }
        assert!(write(&mut gate, b"y").is_pending());
        assert_eq!(
            keeper.shut(),
            Passed {
                bytes: 1,
                is_late: false
            }
        );
    }
}
