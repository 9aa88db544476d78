//! Logging in: both sides prove that they know the manager's password.
//!
//! The rule: a server that cannot prove it is not spoken to any further, and the whole login
//! takes place within the time that servers allow for it.

use std::error::Error;
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use secrecy::ExposeSecret as _;
use tokio::time::timeout;

use crate::answer::{Answer, AnswerFault};
use crate::command::Command;
use crate::digest::{CHALLENGE_BYTES, Challenge, PasswordDigest, is_same, read};
use crate::link::{Limits, Link, LinkError};
use crate::query::Query;
use crate::settings::{Endpoint, ServerSettings};

/// Servers wait this long for the second half of a login.
const LOGIN_TIME_MAX: Duration = Duration::from_secs(10);
/// The most bytes of a login's answers.
const LOGIN_BODY_MAX: usize = 64 * 1024;
/// The protocol version we name; servers only log it.
const VERSION: u32 = 5000;
/// The name we give ourselves.
const AGENT: &str = "Claimcheck";

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    /// The connection failed.
    #[error("the login got no answer")]
    Link(#[source] LinkError),
    /// Not within the time of a login.
    #[error("the login was not answered within {LOGIN_TIME_MAX:?}")]
    TimedOut,
    /// The server says no.
    #[error("the server refuses the manager with code {code}")]
    Refused {
        /// Its return code.
        code: i64,
    },
    /// The server says no without a code.
    #[error("the server refuses the manager with HTTP {status}")]
    Forbidden {
        /// Its status.
        status: u16,
    },
    /// The answer cannot be read.
    #[error("the login was answered with something else (HTTP {status})")]
    Unreadable {
        /// Its status.
        status: u16,
        /// What is wrong with it.
        #[source]
        fault: AnswerFault,
    },
    /// A field of the handshake is missing.
    #[error("the login was answered without a usable {field}")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// The server does not know the password itself.
    #[error("the server did not prove that it knows the password; it may be another server")]
    NotGenuine,
    /// The system gives no random bytes.
    #[error("the system's source of randomness failed")]
    Random,
}

impl LoginError {
    /// Whether the same login will fail again until somebody changes something.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Forbidden { .. } | Self::NotGenuine => true,
            Self::Link(_)
            | Self::TimedOut
            | Self::Unreadable { .. }
            | Self::Missing { .. }
            | Self::Random => false,
        }
    }

    /// The error with its causes, in one line.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

/// Opens a connection and logs in on it.
pub(crate) async fn log_in(
    settings: &ServerSettings,
    endpoint: &Endpoint,
) -> Result<Link, LoginError> {
    let mut link = Link::open(endpoint, settings.connect_timeout)
        .await
        .map_err(LoginError::Link)?;
    timeout(LOGIN_TIME_MAX, shake_hands(&mut link, settings))
        .await
        .map_err(|_| LoginError::TimedOut)??;
    Ok(link)
}

async fn shake_hands(link: &mut Link, settings: &ServerSettings) -> Result<(), LoginError> {
    let digest = PasswordDigest::of(settings.password.expose_secret());
    let start = Query::new()
        .with("version", VERSION)
        .with("agent", AGENT)
        .with("login", &settings.manager)
        .with("type", "manager");
    let started = ask(link, Command::AuthStart, &start).await?;
    let theirs = challenge(&started, "srv_rand")?;
    let mut ours: Challenge = [0; CHALLENGE_BYTES];
    SystemRandom::new()
        .fill(&mut ours)
        .map_err(|_| LoginError::Random)?;
    let answer = Query::new()
        .with("srv_rand_answer", hex::encode(digest.answer(&theirs)))
        .with("cli_rand", hex::encode(ours));
    let answered = ask(link, Command::AuthAnswer, &answer).await?;
    let proof = challenge(&answered, "cli_rand_answer")?;
    if is_same(&proof, &digest.answer(&ours)) {
        Ok(())
    } else {
        Err(LoginError::NotGenuine)
    }
}

fn challenge(answer: &Answer, field: &'static str) -> Result<Challenge, LoginError> {
    answer
        .top_text(field)
        .and_then(read)
        .ok_or(LoginError::Missing { field })
}

async fn ask(link: &mut Link, command: Command, query: &Query) -> Result<Answer, LoginError> {
    let limits = Limits {
        time: LOGIN_TIME_MAX,
        body_bytes: LOGIN_BODY_MAX,
    };
    let (reply, _) = link.call(command, query, None, limits).await;
    let reply = reply.map_err(LoginError::Link)?;
    let status = reply.status;
    match Answer::parse(&reply.body) {
        Ok(answer) if answer.code() != 0 => Err(LoginError::Refused {
            code: answer.code(),
        }),
        _ if matches!(status, 401 | 403) => Err(LoginError::Forbidden { status }),
        Ok(answer) => Ok(answer),
        Err(fault) => Err(LoginError::Unreadable { status, fault }),
    }
}
