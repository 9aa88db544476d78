//! One TCP connection of a client: its session, its idle limit, its end.
//!
//! The rule: one request at a time, which the HTTP/1.1 engine sees to. When the connection goes,
//! its session goes; what was already being done is finished.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::exchange::exchange;
use super::session::Session;
use super::world::World;

/// A connection.
pub(super) struct Link {
    pub(super) world: Arc<World>,
    pub(super) server: String,
    /// Its number in the wire log.
    pub(super) number: u64,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    session: Mutex<Session>,
    last_packet: Mutex<Instant>,
    is_busy: AtomicBool,
}

/// Says that a request is under way; its end starts the idle time anew.
pub(super) struct Busy<'a>(&'a Link);

impl Link {
    pub(super) fn new(
        world: Arc<World>,
        server: String,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let number = world.locked().next_session();
        Self {
            world,
            server,
            number,
            tasks,
            stop,
            session: Mutex::default(),
            last_packet: Mutex::new(Instant::now()),
            is_busy: AtomicBool::new(false),
        }
    }

    /// Serves the connection to its end.
    pub(super) async fn serve(self, stream: TcpStream, idle_limit: Duration) {
        let link = Arc::new(self);
        let service = service_fn(|request| exchange(Arc::clone(&link), request));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            ended = connection => {
                if let Err(error) = ended {
                    tracing::debug!(session = link.number, %error, "connection ended");
                }
            }
            () = link.idle(idle_limit) => {}
            () = link.stop.cancelled() => {}
        }
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn busy(&self) -> Busy<'_> {
        self.is_busy.store(true, Ordering::Release);
        Busy(self)
    }

    /// Returns when nothing was received for the limit.
    async fn idle(&self, limit: Duration) {
        loop {
            let last = *self
                .last_packet
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let is_busy = self.is_busy.load(Ordering::Acquire);
            let end = if is_busy {
                Instant::now() + limit
            } else {
                last + limit
            };
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let last = &self.0.last_packet;
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.is_busy.store(false, Ordering::Release);
    }
}
