//! An error with everything that caused it, on one line. The errors of this workspace never print
//! their source themselves, so nothing is said twice.

use std::error::Error;

/// The error and its causes: `a: b: c`.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_named_once_from_the_outside_in() {
        let error = anyhow::anyhow!("connection refused")
            .context("the database is away")
            .context("the operation cannot be claimed");
        assert_eq!(
            error_chain(error.as_ref()),
            "the operation cannot be claimed: the database is away: connection refused"
        );
    }
}
