//! Durations as people write them: a whole number with its unit. A number without one is refused,
//! because seconds and milliseconds are too easily taken for each other.

use std::time::Duration;

const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// A number and nothing behind it.
    #[error("has no unit")]
    Unitless,
    /// Not a whole number followed by a unit.
    #[error("is not a whole number with a unit")]
    Malformed,
    /// More milliseconds than can be counted.
    #[error("is too long")]
    TooLong,
}

/// Reads `250ms`, `5s`, `2m`, `1h` or `1d`.
///
/// # Errors
/// When the text is anything else.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let digits_end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(digits_end);
    if digits.is_empty() {
        return Err(DurationError::Malformed);
    }
    if unit.is_empty() {
        return Err(DurationError::Unitless);
    }
    let (_, milliseconds) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(DurationError::Malformed)?;
    // Only digits are left, so the one way to fail is a number too large.
    let count: u64 = digits.parse().map_err(|_| DurationError::TooLong)?;
    count
        .checked_mul(*milliseconds)
        .map(Duration::from_millis)
        .ok_or(DurationError::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_with_a_unit_are_durations_and_nothing_else_is() {
        let table = [
            ("0s", Ok(Duration::ZERO)),
            ("250ms", Ok(Duration::from_millis(250))),
            ("5s", Ok(Duration::from_secs(5))),
            ("2m", Ok(Duration::from_secs(120))),
            ("1h", Ok(Duration::from_secs(3_600))),
            ("1d", Ok(Duration::from_secs(86_400))),
            ("5", Err(DurationError::Unitless)),
            ("", Err(DurationError::Malformed)),
            ("s", Err(DurationError::Malformed)),
            ("5 s", Err(DurationError::Malformed)),
            ("1.5s", Err(DurationError::Malformed)),
            ("-5s", Err(DurationError::Malformed)),
            ("5sec", Err(DurationError::Malformed)),
            ("5S", Err(DurationError::Malformed)),
            ("1m30s", Err(DurationError::Malformed)),
            ("99999999999999999999s", Err(DurationError::TooLong)),
            ("18446744073709551615h", Err(DurationError::TooLong)),
        ];
        for (text, expected) in table {
            assert_eq!(parse_duration(text), expected, "{text:?}");
        }
    }
}
