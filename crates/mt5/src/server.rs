//! One trade server: a bounded number of manager sessions, handed out in order of asking.
//!
//! The rule: a session that comes out of here is logged in and silent for no longer than servers
//! allow; there are never more connections than sessions; and nothing here ever sends a balance
//! call.

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use claimcheck_core::ServerName;
use tokio::sync::{Mutex as TurnMutex, Semaphore};
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use crate::command::Command;
use crate::groups::Groups;
use crate::link::{Limits, Link};
use crate::login::{LoginError, log_in};
use crate::metric;
use crate::query::Query;
use crate::reach::{Down, Reach};
use crate::session::Session;
use crate::settings::{Endpoint, ServerSettings, SettingsFault};

/// Servers cut a connection after two or three minutes of silence; one that was silent for this
/// long (a paused process, say) is not trusted any more.
const SILENCE_MAX: Duration = Duration::from_secs(100);
/// How long all farewells together may take.
const QUIT_TIME_MAX: Duration = Duration::from_secs(1);
/// The most bytes of an answer to a ping.
const PING_BODY_MAX: usize = 64 * 1024;
/// Idle sessions are looked at this many times per ping interval.
const LOOKS_PER_PING: u32 = 4;

/// One trade server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

/// Why there is no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSession {
    /// All sessions are in use, and none came free in time.
    #[error("all sessions are in use")]
    Busy,
    /// The server cannot be reached or refuses the manager.
    #[error("the trade server is down: {reason}")]
    Down {
        /// Why.
        reason: String,
        /// After how long another try may be worth it.
        retry_after: Duration,
    },
}

impl From<Down> for NoSession {
    fn from(
        Down {
            reason,
            retry_after,
        }: Down,
    ) -> Self {
        Self::Down {
            reason,
            retry_after,
        }
    }
}

/// What a server and its sessions share.
pub(crate) struct Shared {
    pub(crate) settings: ServerSettings,
    pub(crate) reach: Reach,
    pub(crate) groups: Groups,
    endpoint: Endpoint,
    permits: Arc<Semaphore>,
    idle: Mutex<VecDeque<Link>>,
    login_turn: TurnMutex<()>,
}

impl Server {
    /// Prepares a server; nothing connects before somebody asks for a session.
    ///
    /// # Errors
    /// A setting cannot be used; [`ServerSettings::faults`] lists all that cannot.
    pub fn new(settings: ServerSettings) -> Result<Self, SettingsFault> {
        if let Some(fault) = settings.faults().into_iter().next() {
            return Err(fault);
        }
        Ok(Self(Arc::new(Shared {
            endpoint: settings.endpoint()?,
            permits: Arc::new(Semaphore::new(settings.sessions)),
            settings,
            reach: Reach::default(),
            groups: Groups::default(),
            idle: Mutex::default(),
            login_turn: TurnMutex::default(),
        })))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ServerName {
        &self.0.settings.name
    }

    /// Whether the last contact succeeded; `false` before the first.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.0.reach.is_reachable()
    }

    /// A free session, logged in. Callers are served in order of asking.
    ///
    /// `wait` bounds the waiting for others; a login that becomes necessary has limits of its own.
    ///
    /// # Errors
    /// None came free in time, or the server is down.
    pub async fn session(&self, wait: Duration) -> Result<Session, NoSession> {
        let shared = &self.0;
        let asked_at = Instant::now();
        if shared.has_no_link() {
            shared.reach.may_try()?;
        }
        let permit = timeout(wait, Arc::clone(&shared.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(NoSession::Busy);
        };
        metrics::histogram!(metric::SESSION_WAIT_SECONDS, "server" => shared.label())
            .record(asked_at.elapsed());
        let link = match shared.take_idle().await {
            Some(link) => link,
            None => {
                shared
                    .log_in(wait.saturating_sub(asked_at.elapsed()))
                    .await?
            }
        };
        Ok(Session::new(Arc::clone(shared), link, permit))
    }

    /// Pings idle sessions until `shutdown` ends, then says goodbye on those that are idle.
    pub async fn keep_alive(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let pause = self.0.settings.ping_every / LOOKS_PER_PING;
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                () = async { sleep(pause).await; self.ping_idle().await } => {}
            }
        }
        let farewell = async {
            while let Some(mut link) = self.0.pop_idle(|_| true) {
                let limits = Limits {
                    time: QUIT_TIME_MAX,
                    body_bytes: PING_BODY_MAX,
                };
                let (answer, _) = link.call(Command::Quit, &Query::new(), None, limits).await;
                debug!(server = %self.name(), is_answered = answer.is_ok(), "session ended");
            }
        };
        if timeout(QUIT_TIME_MAX, farewell).await.is_err() {
            debug!(server = %self.name(), "sessions closed without a farewell");
        }
    }

    /// Pings every session that was silent for an interval. A session is taken out of the idle
    /// ones under a permit, so that a ping never makes one connection too many.
    async fn ping_idle(&self) {
        let shared = &self.0;
        for _ in 0..shared.settings.sessions {
            let Ok(permit) = Arc::clone(&shared.permits).try_acquire_owned() else {
                return;
            };
            let Some(link) = shared.pop_idle(|link| link.silence() >= shared.settings.ping_every)
            else {
                return;
            };
            if let Err(error) = Session::new(Arc::clone(shared), link, permit).ping().await {
                debug!(server = %self.name(), %error, "an idle session was lost");
            }
        }
    }
}

impl Shared {
    pub(crate) fn label(&self) -> String {
        self.settings.name.to_string()
    }

    /// Logs in, one caller at a time, waiting for one's turn no longer than `wait`.
    pub(crate) async fn log_in(&self, wait: Duration) -> Result<Link, NoSession> {
        self.reach.may_try()?;
        let _turn = timeout(wait, self.login_turn.lock())
            .await
            .map_err(|_| NoSession::Busy)?;
        self.reach.may_try()?;
        let was_reachable = self.reach.is_reachable();
        let result = log_in(&self.settings, &self.endpoint).await;
        self.count_login(&result);
        match result {
            Ok(link) => {
                if !was_reachable {
                    info!(server = %self.settings.name, "trade server reached");
                }
                self.reach.logged_in();
                Ok(link)
            }
            Err(error) => {
                let down = self.reach.failed(&error);
                let Down {
                    reason,
                    retry_after,
                } = &down;
                warn!(server = %self.settings.name, reason, ?retry_after, "login failed");
                Err(down.into())
            }
        }
    }

    fn count_login(&self, result: &Result<Link, LoginError>) {
        let result = match result {
            Ok(_) => "done",
            Err(error) if error.is_refusal() => "refused",
            Err(_) => "failed",
        };
        metrics::counter!(metric::LOGINS, "server" => self.label(), "result" => result)
            .increment(1);
    }

    /// Counts a call and how long it took.
    pub(crate) fn count_call(&self, command: Command, verdict: &'static str, took: Duration) {
        let (server, command) = (self.label(), command.path());
        metrics::histogram!(metric::CALL_SECONDS, "server" => server.clone(), "command" => command)
            .record(took);
        metrics::counter!(
            metric::CALLS, "server" => server, "command" => command, "verdict" => verdict
        )
        .increment(1);
    }

    /// Takes a clean connection back.
    pub(crate) fn put_idle(&self, link: Link) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(link);
    }

    /// The connection that was silent longest, if it fits.
    fn pop_idle(&self, fits: impl FnOnce(&Link) -> bool) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if fits(idle.front()?) {
            idle.pop_front()
        } else {
            None
        }
    }

    /// A connection that still stands.
    async fn take_idle(&self) -> Option<Link> {
        while let Some(mut link) = self.pop_idle(|_| true) {
            if link.silence() < SILENCE_MAX && link.is_standing().await {
                return Some(link);
            }
        }
        None
    }

    /// Whether no connection exists at all, neither idle nor in use.
    fn has_no_link(&self) -> bool {
        let all_free = self.permits.available_permits() == self.settings.sessions;
        all_free
            && self
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_empty()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server")
            .field(&self.name().as_str())
            .finish()
    }
}
