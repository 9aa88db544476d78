//! The names that people and other systems give to things, each its own type.
//!
//! A name is checked once, where it enters; behind its constructor it is never empty, never
//! longer than its column, and never holds a control character.

use std::fmt;

/// Why a text is not a name of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("{what} is empty")]
    Empty {
        /// The kind of name.
        what: &'static str,
    },
    /// The text is longer than the limit.
    #[error("{what} is longer than {limit} characters")]
    TooLong {
        /// The kind of name.
        what: &'static str,
        /// The limit in characters.
        limit: usize,
    },
    /// A character outside the allowed set.
    #[error("{what} may not contain {found:?}; allowed are {allowed}")]
    Character {
        /// The kind of name.
        what: &'static str,
        /// The first character that is not allowed.
        found: char,
        /// The allowed set, in words.
        allowed: &'static str,
    },
}

/// Which characters a kind of name may hold.
struct Alphabet {
    allows: fn(char) -> bool,
    in_words: &'static str,
}

const SLUG: Alphabet = Alphabet {
    allows: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'),
    in_words: "a-z, 0-9, '-', '_' and '.'",
};

const PRINTABLE: Alphabet = Alphabet {
    allows: |c| !c.is_control(),
    in_words: "printable characters",
};

fn check(
    what: &'static str,
    limit: usize,
    alphabet: &Alphabet,
    text: &str,
) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if text.chars().count() > limit {
        return Err(NameError::TooLong { what, limit });
    }
    match text.chars().find(|c| !(alphabet.allows)(*c)) {
        Some(found) => Err(NameError::Character {
            what,
            found,
            allowed: alphabet.in_words,
        }),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:literal, $alphabet:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Longest allowed form, in characters.
            pub const LENGTH_MAX: usize = $limit;

            /// Takes a text as such a name.
            ///
            /// # Errors
            /// Empty, too long, or holding a character that is not allowed.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                check($what, $limit, &$alphabet, text)?;
                Ok(Self(text.to_owned()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// An MT5 trade server, as the settings name it.
    ServerName, "server", 64, SLUG
}
name! {
    /// The broker's own id of a client.
    ClientId, "client_id", 128, PRINTABLE
}
name! {
    /// A payment provider, named like its file in `providers`.
    ProviderName, "provider", 64, SLUG
}
name! {
    /// One webhook endpoint of ours, the last part of its path.
    EndpointName, "endpoint", 64, SLUG
}
name! {
    /// The provider's id of a payment: the key of the money.
    PaymentId, "provider_payment_id", 255, PRINTABLE
}
name! {
    /// The provider's key of one event: the key of the message.
    EventKey, "event key", 512, PRINTABLE
}
name! {
    /// The merchant reference that travels with a payment and leads back to a deposit.
    MerchantReference, "merchant reference", 255, PRINTABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_refused_with_what_is_wrong() {
        assert_eq!(
            ServerName::parse(""),
            Err(NameError::Empty { what: "server" })
        );
        assert!(matches!(
            ServerName::parse("Live 1"),
            Err(NameError::Character { found: 'L', .. })
        ));
        assert!(matches!(
            PaymentId::parse(&"x".repeat(256)),
            Err(NameError::TooLong { limit: 255, .. })
        ));
        assert!(matches!(
            ClientId::parse("a\nb"),
            Err(NameError::Character { found: '\n', .. })
        ));
    }

    #[test]
    fn a_name_keeps_its_text() {
        assert_eq!(
            ServerName::parse("live-1").expect("is a slug").as_str(),
            "live-1"
        );
        assert_eq!(
            PaymentId::parse("pi_3N|ö")
                .expect("is printable")
                .to_string(),
            "pi_3N|ö"
        );
    }
}
