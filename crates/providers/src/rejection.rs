//! Why a delivery is not taken as the provider's word.
//!
//! A reason's code is a contract: it stands in answers, logs and metrics. The explanation is for a
//! person and never holds a secret, a computed signature or anything of the body.

/// The kinds of rejections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A header that the scheme needs is missing or empty.
    MissingSignature,
    /// The signature headers do not have the scheme's form.
    MalformedSignature,
    /// There are signatures, but none of the kind that is checked here.
    NoSupportedScheme,
    /// No signature fits the body under any of the secrets.
    BadSignature,
    /// Signed too long ago.
    TimestampTooOld,
    /// Signed in the future.
    TimestampTooNew,
    /// Rightly signed, but not a body of the provider's kind.
    MalformedBody,
    /// Rightly signed, for another account.
    WrongAccount,
    /// The request names a key from a place that is not trusted.
    UntrustedKeySource,
    /// Seen before.
    Replayed,
    /// The configured secret cannot protect anything.
    UnusableSecret,
}

impl Reason {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingSignature => "missing_signature",
            Self::MalformedSignature => "malformed_signature",
            Self::NoSupportedScheme => "no_supported_scheme",
            Self::BadSignature => "bad_signature",
            Self::TimestampTooOld => "timestamp_too_old",
            Self::TimestampTooNew => "timestamp_too_new",
            Self::MalformedBody => "malformed_body",
            Self::WrongAccount => "wrong_account",
            Self::UntrustedKeySource => "untrusted_key_source",
            Self::Replayed => "replayed",
            Self::UnusableSecret => "unusable_secret",
        }
    }
}

/// A delivery that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {explanation}", .reason.code())]
pub struct Rejection {
    /// The kind.
    pub reason: Reason,
    /// What a person can do about it.
    pub explanation: String,
}

impl Rejection {
    pub(crate) fn new(reason: Reason, explanation: impl Into<String>) -> Self {
        Self {
            reason,
            explanation: explanation.into(),
        }
    }

    /// A header that must be there is not.
    pub(crate) fn missing(header: &str) -> Self {
        Self::new(
            Reason::MissingSignature,
            format!("the request has no {header} header, or an empty one"),
        )
    }

    /// No signature fits.
    pub(crate) fn no_match(signatures: usize, secrets: usize) -> Self {
        Self::new(
            Reason::BadSignature,
            format!(
                "{signatures} signature(s) tried against {secrets} secret(s), none fits: either \
                 the secret is another endpoint's or mode's, or the body was changed on its way"
            ),
        )
    }
}

/// A delivery whose signature is right and fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The position of the secret that fits.
    pub secret_index: usize,
}
