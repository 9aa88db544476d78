//! The login state of one connection.
//!
//! The rule: it belongs to the TCP connection and dies with it. A wrong, late or unasked answer
//! leaves the connection without a session.

use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::answer::Answer;
use super::handshake::{PasswordHash, Sixteen, sixteen};
use super::params::Params;
use super::retcode;

/// Between `auth/start` and `auth/answer`.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// The oldest client version that is let in.
const VERSION_MIN: u32 = 484;
/// The platform build this server gives itself out for.
const BUILD: &str = "3802";

/// Who may log in, as the server keeps it.
#[derive(Clone)]
pub(super) struct Staff {
    pub(super) login: u64,
    pub(super) hash: PasswordHash,
    pub(super) may_operate: bool,
}

/// How far a connection has come.
#[derive(Default)]
pub(super) enum Session {
    /// Not logged in.
    #[default]
    Closed,
    /// A challenge is out. An unknown login gets one too, and fails with its answer.
    Challenged {
        staff: Option<Staff>,
        challenge: Sixteen,
        since: Instant,
    },
    /// Logged in.
    Open(Staff),
}

#[derive(Serialize)]
struct Challenge {
    retcode: String,
    version_access: &'static str,
    srv_rand: String,
}

#[derive(Serialize)]
struct Welcome {
    retcode: String,
    version_access: &'static str,
    version_trade: &'static str,
    cli_rand_answer: String,
}

impl Session {
    /// `auth/start`.
    pub(super) fn start(
        &mut self,
        params: &Params,
        find: impl Fn(u64) -> Option<Staff>,
        challenge: Sixteen,
        now: Instant,
    ) -> Answer {
        *self = Self::Closed;
        let version = params.number::<u32>("version");
        let agent = params.get("agent").unwrap_or_default();
        let is_agent = !agent.is_empty() && !agent.contains(' ');
        let (Some(login), true, true, Some("manager")) = (
            params.number("login"),
            version.is_some_and(|version| version >= VERSION_MIN),
            is_agent,
            params.get("type"),
        ) else {
            return Answer::code(retcode::PARAMETERS);
        };
        *self = Self::Challenged {
            staff: find(login),
            challenge,
            since: now,
        };
        Answer::top(&Challenge {
            retcode: retcode::text(retcode::DONE),
            version_access: BUILD,
            srv_rand: hex::encode(challenge),
        })
    }

    /// `auth/answer`.
    pub(super) fn answer(&mut self, params: &Params, now: Instant) -> Answer {
        let Self::Challenged {
            staff,
            challenge,
            since,
        } = std::mem::take(self)
        else {
            return Answer::forbidden();
        };
        let given = params.get("srv_rand_answer").and_then(sixteen);
        let (Some(staff), Some(given)) = (staff, given) else {
            return Answer::forbidden();
        };
        let is_late = now.duration_since(since) > ANSWER_LIMIT;
        if is_late || given != staff.hash.answer(&challenge) {
            return Answer::forbidden();
        }
        let Some(own) = params.get("cli_rand").and_then(sixteen) else {
            return Answer::code(retcode::PARAMETERS);
        };
        let welcome = Welcome {
            retcode: retcode::text(retcode::DONE),
            version_access: BUILD,
            version_trade: BUILD,
            cli_rand_answer: hex::encode(staff.hash.answer(&own)),
        };
        *self = Self::Open(staff);
        Answer::top(&welcome)
    }

    /// Who is logged in.
    pub(super) fn staff(&self) -> Option<&Staff> {
        match self {
            Self::Open(staff) => Some(staff),
            Self::Closed | Self::Challenged { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(query: &str) -> Params {
        Params::read(Some(query), b"").expect("a query is readable")
    }

    fn answered_after(wait: Duration, password: &str) -> Session {
        let staff = Staff {
            login: 1001,
            hash: PasswordHash::of("Password1"),
            may_operate: true,
        };
        let challenge = [7; 16];
        let start = Instant::now();
        let mut session = Session::default();
        let query = params("version=3000&agent=WebAPI&login=1001&type=manager");
        session.start(
            &query,
            |login| (login == 1001).then(|| staff.clone()),
            challenge,
            start,
        );
        let hash = hex::encode(PasswordHash::of(password).answer(&challenge));
        let query = format!("srv_rand_answer={hash}&cli_rand={}", hex::encode([9; 16]));
        session.answer(&params(&query), start + wait);
        session
    }

    #[test]
    fn a_right_answer_within_ten_seconds_opens_the_session() {
        assert!(
            answered_after(Duration::from_secs(10), "Password1")
                .staff()
                .is_some()
        );
        assert!(
            answered_after(Duration::from_millis(10_001), "Password1")
                .staff()
                .is_none()
        );
        assert!(
            answered_after(Duration::ZERO, "Password2")
                .staff()
                .is_none()
        );
    }

    #[test]
    fn an_answer_without_a_challenge_opens_nothing() {
        let mut session = Session::default();
        let answer = session.answer(&params(""), Instant::now());
        assert_eq!(answer.summary, "HTTP 403");
    }

    #[test]
    fn a_start_without_its_parameters_is_refused() {
        for query in [
            "agent=a&login=1&type=manager",
            "version=483&agent=a&login=1&type=manager",
            "version=3000&agent=&login=1&type=manager",
            "version=3000&agent=a+b&login=1&type=manager",
            "version=3000&agent=a&login=1&type=client",
            "version=3000&agent=a&login=x&type=manager",
        ] {
            let mut session = Session::default();
            let answer = session.start(&params(query), |_| None, [0; 16], Instant::now());
            assert_eq!(answer.summary, "3 Invalid parameters", "{query}");
        }
    }
}
