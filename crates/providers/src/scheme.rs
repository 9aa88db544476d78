//! What every provider file supplies: one constant of this type.
//!
//! `verify` never parses the body and `facts` never trusts what was not verified before.

use std::time::Duration;

use claimcheck_core::EventFact;

use crate::acknowledgement::Acknowledgement;
use crate::config::Config;
use crate::delivery::Delivery;
use crate::document::Unreadable;
use crate::rejection::{Rejection, Verified};
use crate::secret::{SecretFault, Secrets};

/// One provider's way of speaking.
pub(crate) struct Scheme {
    /// Its name in settings, files and rows.
    pub(crate) name: &'static str,
    /// The key behind a pasted secret, which is neither empty nor blank; or what is wrong with it.
    pub(crate) key: fn(&str) -> Result<Vec<u8>, &'static str>,
    /// Cryptography and freshness.
    pub(crate) verify: fn(&Delivery<'_>, &Secrets, Duration) -> Result<Verified, Rejection>,
    /// Whether the body is of the provider's kind at all.
    pub(crate) readable: fn(&[u8]) -> Result<(), Unreadable>,
    /// The meaning.
    pub(crate) facts: fn(&Delivery<'_>, &Config) -> Result<Vec<EventFact>, Unreadable>,
    /// The header that carries the event key, where it is not in the body.
    pub(crate) event_key_header: Option<&'static str>,
    /// The headers of a valid message; the secrets hold the one that signs.
    pub(crate) sign: fn(&Secrets, &Unsigned<'_>) -> Vec<(&'static str, String)>,
    /// What the provider wants to hear back.
    pub(crate) acknowledgement: Acknowledgement,
}

/// A message to be signed.
pub(crate) struct Unsigned<'a> {
    pub(crate) body: &'a [u8],
    pub(crate) now_unix: i64,
    pub(crate) message_id: &'a str,
}

/// Why a message cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignFault {
    /// The secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretFault),
    /// The id cannot stand in a header.
    #[error("a message id must be printable ASCII without blanks")]
    MessageId,
}
