//! The providers that are known, and what each can do.
//!
//! A new provider is a file, a variant, a line in `ALL` and one in `scheme`; nothing else changes.

use std::time::Duration;

use claimcheck_core::EventFact;
use secrecy::SecretString;

use crate::acknowledgement::Acknowledgement;
use crate::config::Config;
use crate::delivery::Delivery;
use crate::document::Unreadable;
use crate::hint;
use crate::rejection::{Rejection, Verified};
use crate::scheme::{Scheme, SignFault, Unsigned};
use crate::secret::Secrets;
use crate::{standard_webhooks, stripe};

/// A payment provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Stripe.
    Stripe,
    /// Anyone who signs as standardwebhooks.com describes, Svix among them.
    StandardWebhooks,
}

/// A name that no provider has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no provider {name:?}; known are {known}")]
pub struct UnknownProvider {
    /// The name, cut to a printable length.
    pub name: String,
    /// All names.
    pub known: String,
}

/// The longest unknown name shown back.
const SHOWN_MAX: usize = 64;

impl Provider {
    /// Every provider.
    pub const ALL: &[Self] = &[Self::Stripe, Self::StandardWebhooks];

    pub(crate) fn scheme(self) -> &'static Scheme {
        match self {
            Self::Stripe => &stripe::SCHEME,
            Self::StandardWebhooks => &standard_webhooks::SCHEME,
        }
    }

    /// Finds a provider by its name.
    ///
    /// # Errors
    /// No provider has it; the error names those there are.
    pub fn from_name(name: &str) -> Result<Self, UnknownProvider> {
        let found = Self::ALL.iter().find(|known| known.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            UnknownProvider {
                name: name.chars().take(SHOWN_MAX).collect(),
                known: known.join(", "),
            }
        })
    }

    /// The name in settings, files and rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.scheme().name
    }

    /// Checks the signature over the raw bytes and how fresh it is; nothing of the body is read.
    ///
    /// # Errors
    /// Everything that makes the delivery less than the provider's word.
    pub fn verify(
        self,
        delivery: &Delivery<'_>,
        secrets: &Secrets,
        tolerance: Duration,
    ) -> Result<Verified, Rejection> {
        (self.scheme().verify)(delivery, secrets, tolerance)
    }

    /// Whether a body is of the provider's kind at all, whatever it says.
    ///
    /// # Errors
    /// It is not, for example no JSON object.
    pub fn readable(self, body: &[u8]) -> Result<(), Unreadable> {
        (self.scheme().readable)(body)
    }

    /// What a verified delivery states; every fact has an event key.
    ///
    /// # Errors
    /// The body cannot be understood, or lacks what its kind of event must have.
    pub fn facts(
        self,
        delivery: &Delivery<'_>,
        config: &Config,
    ) -> Result<Vec<EventFact>, Unreadable> {
        (self.scheme().facts)(delivery, config)
    }

    /// The header that carries the event key, where the body does not.
    #[must_use]
    pub fn event_key_header(self) -> Option<&'static str> {
        self.scheme().event_key_header
    }

    /// The headers of a valid message over `body`; `message_id` is used by schemes that sign one.
    ///
    /// # Errors
    /// The secret or the id is unusable.
    pub fn sign(
        self,
        secret: &SecretString,
        body: &[u8],
        now_unix: i64,
        message_id: &str,
    ) -> Result<Vec<(String, String)>, SignFault> {
        let secrets = Secrets::parse(self, std::slice::from_ref(secret))?;
        let printable = message_id.bytes().all(|b| b.is_ascii_graphic());
        if message_id.is_empty() || !printable {
            return Err(SignFault::MessageId);
        }
        let unsigned = Unsigned {
            body,
            now_unix,
            message_id,
        };
        let headers = (self.scheme().sign)(&secrets, &unsigned).into_iter();
        Ok(headers
            .map(|(name, value)| (name.to_owned(), value))
            .collect())
    }

    /// What the provider wants to hear back once its message is committed.
    #[must_use]
    pub fn acknowledgement(self) -> Acknowledgement {
        self.scheme().acknowledgement
    }

    /// What probably happened to a body whose signature does not fit. It tries many variants of
    /// the body, so it is for a person at a terminal, never for the receiving path.
    #[must_use]
    pub fn hint(
        self,
        delivery: &Delivery<'_>,
        secrets: &Secrets,
        tolerance: Duration,
    ) -> Option<&'static str> {
        hint::find(self, delivery, secrets, tolerance)
    }
}
