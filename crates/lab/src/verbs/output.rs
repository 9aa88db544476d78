//! What the command prints: tables and answers on stdout, words about its work on stderr.

use std::io::Write as _;
use std::process::ExitCode;

/// Prints a line of the answer. A reader that went away is no error of ours.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints words for a person.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "lab: {text}");
}

/// Prints what went wrong, with its whole chain.
pub(crate) fn complain(error: &anyhow::Error, code: ExitCode) -> ExitCode {
    note(&format!("{error:#}"));
    code
}
