//! What the command prints: answers on stdout, words for people on stderr.

use std::io::Write as _;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Prints an answer. A reader that went away is no error of ours.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints words for a person.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "claimcheck: {text}");
}

/// An instant in RFC 3339.
pub(crate) fn at(instant: OffsetDateTime) -> String {
    instant.format(&Rfc3339).unwrap_or_default()
}
