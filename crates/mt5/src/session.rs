//! A session in one caller's hands: exclusive use of one connection.
//!
//! The rule: a connection goes back to its server only when its last call ended cleanly. While a
//! call is under way the connection is out of the session's hands, so whoever drops the call
//! drops the connection.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument as _;

use crate::answer::Answer;
use crate::command::Command;
use crate::link::{Limits, Link, LinkError, Reply};
use crate::metric;
use crate::query::Query;
use crate::read::ReadError;
use crate::server::Shared;

/// The most bytes of an answer to a read.
const READ_BODY_MAX: usize = 32 * 1024 * 1024;
/// Codes that speak of the session and not of what was asked.
const SESSION_CODES: std::ops::RangeInclusive<i64> = 1000..=1034;
/// Codes with which a read may be refused on a sound connection.
const READ_REFUSALS: [i64; 4] = [3, 8, 12, 13];
/// A session younger than this that is told "not authorised" lacks a permission; logging in again
/// would only make the server block us.
const RELOGIN_AGE_MIN: Duration = Duration::from_secs(30);

/// Exclusive use of one connection to a trade server.
pub struct Session {
    pub(crate) shared: Arc<Shared>,
    pub(crate) link: Option<Link>,
    _permit: OwnedSemaphorePermit,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>, link: Link, permit: OwnedSemaphorePermit) -> Self {
        metrics::gauge!(metric::SESSIONS_BUSY, "server" => shared.label()).increment(1);
        Self {
            shared,
            link: Some(link),
            _permit: permit,
        }
    }

    /// Keeps the session from falling silent.
    pub(crate) async fn ping(&mut self) -> Result<(), ReadError> {
        let answer = self.read_once(Command::TestAccess, &Query::new()).await?;
        self.expect_success(Command::TestAccess, &answer)
    }

    /// Reads, and once more after a new login if the session was found lost. Only reads come
    /// this way.
    pub(crate) async fn read(
        &mut self,
        command: Command,
        query: &Query,
    ) -> Result<Answer, ReadError> {
        let error = match self.read_once(command, query).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let is_worth_it = match &error {
            ReadError::NoSession { .. } | ReadError::Lost { .. } => true,
            ReadError::Unauthorised { .. } => self
                .link
                .as_ref()
                .is_none_or(|link| link.age() >= RELOGIN_AGE_MIN),
            ReadError::TimedOut { .. }
            | ReadError::Refused { .. }
            | ReadError::NoAnswer { .. }
            | ReadError::Field { .. }
            | ReadError::Foreign { .. }
            | ReadError::TooMany { .. } => false,
        };
        if !is_worth_it {
            return Err(error);
        }
        self.link = None;
        let wait = self.shared.settings.call_timeout;
        let link = self.shared.log_in(wait).await;
        let link = link.map_err(|why| ReadError::NoSession {
            reason: why.to_string(),
        })?;
        self.link = Some(link);
        self.read_once(command, query).await
    }

    /// Success, or an error that leaves the connection in use only when the code is one with
    /// which such a read may honestly be refused.
    pub(crate) fn expect_success(
        &mut self,
        command: Command,
        answer: &Answer,
    ) -> Result<(), ReadError> {
        let code = answer.code();
        if code == 0 {
            return Ok(());
        }
        if !READ_REFUSALS.contains(&code) {
            self.link = None;
        }
        Err(ReadError::Refused {
            command: command.path(),
            code,
        })
    }

    /// Gives the connection up because its answer cannot be trusted.
    pub(crate) fn distrust(&mut self, error: ReadError) -> ReadError {
        self.link = None;
        error
    }

    /// One read on the connection in hand, which stays in hand only after a sound answer.
    async fn read_once(&mut self, command: Command, query: &Query) -> Result<Answer, ReadError> {
        let Some(mut link) = self.link.take() else {
            return Err(ReadError::NoSession {
                reason: "the connection was lost".to_owned(),
            });
        };
        let time = self.shared.settings.call_timeout;
        let limits = Limits {
            time,
            body_bytes: READ_BODY_MAX,
        };
        let started = Instant::now();
        let span = command.span(self.shared.settings.name.as_str());
        let (reply, _) = link
            .call(command, query, None, limits)
            .instrument(span)
            .await;
        let result = judge(command, reply);
        let verdict = match &result {
            Ok(answer) if answer.code() == 0 => "done",
            Ok(_) => "refused",
            Err(error) => error.verdict(),
        };
        self.shared.count_call(command, verdict, started.elapsed());
        let is_sound = matches!(result, Ok(_) | Err(ReadError::Unauthorised { .. }));
        self.shared.reach.contact(is_sound);
        if is_sound {
            self.link = Some(link);
        }
        result
    }
}

/// Reads an answer whatever its status; a status alone says nothing but "not this one".
fn judge(command: Command, reply: Result<Reply, LinkError>) -> Result<Answer, ReadError> {
    let Reply { status, body } = reply.map_err(ReadError::of_link)?;
    let command = command.path();
    if status >= 500 {
        return Err(ReadError::NoAnswer {
            command,
            status,
            cause: None,
        });
    }
    match Answer::parse(&body) {
        Ok(answer) if SESSION_CODES.contains(&answer.code()) => {
            Err(ReadError::Unauthorised { command })
        }
        Ok(answer) if answer.code() != 0 || (200..300).contains(&status) => Ok(answer),
        Ok(_) | Err(_) if matches!(status, 401 | 403) => Err(ReadError::Unauthorised { command }),
        Ok(_) => Err(ReadError::NoAnswer {
            command,
            status,
            cause: None,
        }),
        Err(fault) => Err(ReadError::of_body(command, status, fault)),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            self.shared.put_idle(link);
        }
        metrics::gauge!(metric::SESSIONS_BUSY, "server" => self.shared.label()).decrement(1);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("server", &self.shared.settings.name.as_str())
            .field("is_connected", &self.link.is_some())
            .finish_non_exhaustive()
    }
}
