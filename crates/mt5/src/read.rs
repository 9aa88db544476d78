//! Why a read brought nothing.
//!
//! The rule: a read that failed proves nothing about what it asked for.

use std::time::Duration;

use crate::answer::AnswerFault;
use crate::link::LinkError;

/// A read that brought nothing that can be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No connection, and none could be opened.
    #[error("no session with the trade server: {reason}")]
    NoSession {
        /// Why.
        reason: String,
    },
    /// The connection broke.
    #[error("the trade server's connection was lost")]
    Lost {
        /// How.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No whole answer in time.
    #[error("the trade server did not answer within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The session is gone, or may not read this.
    #[error("the trade server does not let this manager read {command}")]
    Unauthorised {
        /// The command.
        command: &'static str,
    },
    /// The server answered with a return code that is not success.
    #[error("{command} was answered with code {code}")]
    Refused {
        /// The command.
        command: &'static str,
        /// The return code.
        code: i64,
    },
    /// The answer is not one.
    #[error("{command} was answered with something else (HTTP {status})")]
    NoAnswer {
        /// The command.
        command: &'static str,
        /// The HTTP status.
        status: u16,
        /// What is wrong, if it is the body.
        #[source]
        cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A field is missing or holds something else.
    #[error("the answer to {command} has no usable {field}")]
    Field {
        /// The command.
        command: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The answer is about another account or group.
    #[error("the answer to {command} is about something else than what was asked for")]
    Foreign {
        /// The command.
        command: &'static str,
    },
    /// More deals than one reading takes.
    #[error("{total} deals are more than one reading takes ({limit})")]
    TooMany {
        /// What the server stated.
        total: u64,
        /// The limit.
        limit: u64,
    },
}

impl ReadError {
    pub(crate) fn of_link(error: LinkError) -> Self {
        match error {
            LinkError::TimedOut { limit } => Self::TimedOut { limit },
            other => Self::Lost {
                cause: Box::new(other),
            },
        }
    }

    pub(crate) fn of_body(command: &'static str, status: u16, fault: AnswerFault) -> Self {
        Self::NoAnswer {
            command,
            status,
            cause: Some(Box::new(fault)),
        }
    }

    /// The label of metrics.
    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            Self::NoSession { .. } => "no_session",
            Self::Lost { .. } => "lost",
            Self::TimedOut { .. } => "timed_out",
            Self::Unauthorised { .. } => "unauthorised",
            Self::Refused { .. } => "refused",
            Self::NoAnswer { .. }
            | Self::Field { .. }
            | Self::Foreign { .. }
            | Self::TooMany { .. } => "unreadable",
        }
    }
}
