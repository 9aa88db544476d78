//! The reference of a balance operation: the comment that its deal carries on MT5.
//!
//! It is minted once with the row and is the same on every attempt. Its random tag keeps it
//! unique even when a restored database hands out an id again.

use std::fmt;

use crate::operation::OperationKind;

/// Characters of a tag: no vowels and no look-alikes, so a tag spells nothing and reads well.
const TAG_ALPHABET: &[u8; 28] = b"23456789bcdfghjkmnpqrstvwxyz";
/// Characters in a tag.
const TAG_LENGTH: usize = 5;
/// Longest reference: MT5 keeps 31 UTF-16 units of a comment; ours are ASCII, so also 31 bytes.
const REFERENCE_MAX: usize = 31;

/// The random part of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag([u8; TAG_LENGTH]);

impl Tag {
    /// Makes a tag from random bits; 28⁵ (17 million) tags are possible.
    #[must_use]
    pub fn from_random(random: u64) -> Self {
        let base = TAG_ALPHABET.len() as u64;
        let mut rest = random;
        Self([(); TAG_LENGTH].map(|()| {
            let index = usize::try_from(rest.checked_rem(base).unwrap_or(0)).unwrap_or(0);
            rest = rest.checked_div(base).unwrap_or(0);
            TAG_ALPHABET.get(index).copied().unwrap_or(b'2')
        }))
    }

    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// `kind:id-tag`, for example `dep:48213-7kq2f`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reference(String);

/// Why a text is not a reference of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a reference of ours; one looks like dep:48213-7kq2f")]
pub struct ReferenceError {
    /// The text as given, cut to a printable length.
    pub text: String,
}

impl Reference {
    /// Mints the reference of a new row.
    ///
    /// # Panics
    /// An id below one, which no identity column hands out.
    #[must_use]
    pub fn mint(kind: OperationKind, id: i64, tag: Tag) -> Self {
        assert!(id > 0, "a row's id is positive");
        let text = format!("{}:{id}-{}", kind.code(), tag.as_str());
        assert!(
            text.len() <= REFERENCE_MAX,
            "kind, id and tag fit a comment"
        );
        Self(text)
    }

    /// Reads a reference back.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let well_formed = || {
            let (kind, rest) = text.split_once(':')?;
            OperationKind::from_code(kind)?;
            let (id, tag) = rest.split_once('-')?;
            let id: i64 = id
                .parse()
                .ok()
                .filter(|parsed: &i64| parsed.to_string() == id)?;
            let is_tag = tag.len() == TAG_LENGTH && tag.bytes().all(|b| TAG_ALPHABET.contains(&b));
            (id > 0 && is_tag && text.len() <= REFERENCE_MAX).then_some(())
        };
        match well_formed() {
            Some(()) => Ok(Self(text.to_owned())),
            None => Err(ReferenceError {
                text: text.chars().take(REFERENCE_MAX).collect(),
            }),
        }
    }

    /// The reference as text: ASCII, at most 31 bytes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_reference_fits_a_comment() {
        for id in [1, 1 << 31, 1 << 53, i64::MAX] {
            for kind in OperationKind::ALL {
                let minted = Reference::mint(*kind, id, Tag::from_random(u64::MAX));
                assert!(minted.as_str().encode_utf16().count() <= 31, "{minted}");
                assert_eq!(Reference::parse(minted.as_str()), Ok(minted));
            }
        }
    }

    #[test]
    fn another_form_is_refused() {
        for text in [
            "",
            "dep:",
            "dep:1",
            "dep:1-",
            "dep:1-2345",
            "dep:1-234567",
            "xxx:1-23456",
            "dep:0-23456",
            "dep:-1-23456",
            "dep:01-23456",
            "dep:1-2345a",
            "dep:+1-23456",
            " dep:1-23456",
            "DEP:1-23456",
            "dep:9223372036854775808-23456",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn different_randomness_gives_different_tags() {
        assert_ne!(Tag::from_random(0), Tag::from_random(1));
        assert_ne!(Tag::from_random(0), Tag::from_random(28));
    }
}
