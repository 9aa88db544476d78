//! Whether a signed time is near ours, in both directions.
//!
//! Checked after the signature, so that only the provider's own times are ever judged. A time in
//! the future is refused too: it would keep a copied request valid for as long as its maker likes.

use std::time::Duration;

use crate::rejection::{Reason, Rejection};

/// Most digits of a time in seconds; more cannot be a time.
const DIGITS_MAX: usize = 18;

/// Reads seconds since 1970: plain digits and nothing else.
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= DIGITS_MAX && text.iter().all(u8::is_ascii_digit);
    let text = plain.then(|| std::str::from_utf8(text).ok()).flatten()?;
    text.parse().ok()
}

/// Refuses a time further from `now` than `tolerance`.
pub(crate) fn check(signed_at: i64, now: i64, tolerance: Duration) -> Result<(), Rejection> {
    let allowed = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    let age = now.saturating_sub(signed_at);
    if age > allowed {
        return Err(Rejection::new(
            Reason::TimestampTooOld,
            format!(
                "the signature is {age} s old and {allowed} s are allowed: an old request was \
                 repeated, it waited too long on its way, or our clock is fast"
            ),
        ));
    }
    let ahead = age.saturating_neg();
    if ahead > allowed {
        return Err(Rejection::new(
            Reason::TimestampTooNew,
            format!(
                "the signature is from {ahead} s in the future and {allowed} s are allowed: the \
                 time is not in seconds, or our clock is slow"
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_edges_of_the_tolerance_are_inside() {
        let reason = |at| {
            check(at, 1_000, Duration::from_secs(300))
                .err()
                .map(|r| r.reason)
        };
        assert_eq!(reason(700), None);
        assert_eq!(reason(1_300), None);
        assert_eq!(reason(699), Some(Reason::TimestampTooOld));
        assert_eq!(reason(1_301), Some(Reason::TimestampTooNew));
        assert_eq!(reason(i64::MAX), Some(Reason::TimestampTooNew));
        assert!(check(i64::MIN, i64::MAX, Duration::ZERO).is_err());
        assert!(check(i64::MAX, i64::MIN, Duration::ZERO).is_err());
    }

    #[test]
    fn a_time_is_plain_digits() {
        assert_eq!(parse(b"1796040000"), Some(1_796_040_000));
        for text in [
            "",
            "-1",
            "+1",
            "1.5",
            "NaN",
            " 1",
            "0x10",
            "1e9",
            "9999999999999999999",
            "１",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
