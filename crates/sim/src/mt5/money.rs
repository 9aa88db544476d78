//! Money as text: on the wire and on the control side.
//!
//! The rule: exact decimals only. Text with an exponent, a plus sign or more places than the
//! currency has is not an amount.

use rust_decimal::Decimal;

/// The most that one operation may move.
const OPERATION_MAX: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);

/// Why a text is not an amount here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum MoneyFault {
    /// Not a plain signed decimal.
    #[error("is not a plain signed decimal such as -12.50")]
    NotDecimal,
    /// More places than the currency has.
    #[error("has more than {digits} decimal places")]
    TooFine {
        /// The places of the currency.
        digits: u32,
    },
}

/// Reads a signed amount with at most `digits` places.
pub(super) fn parse(text: &str, digits: u32) -> Result<Decimal, MoneyFault> {
    let value = plain(text).ok_or(MoneyFault::NotDecimal)?;
    if value.normalize().scale() > digits {
        return Err(MoneyFault::TooFine { digits });
    }
    Ok(value)
}

/// Reads a signed decimal of any number of places.
pub(super) fn plain(text: &str) -> Option<Decimal> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, places) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(places) {
        return None;
    }
    Decimal::from_str_exact(text).ok()
}

/// Whether an amount is more than one operation may move.
pub(super) fn over_limit(amount: Decimal) -> bool {
    amount.abs() > OPERATION_MAX
}

/// The smallest amount of a currency.
pub(super) fn smallest(digits: u32) -> Decimal {
    Decimal::new(1, digits)
}

/// An amount with exactly `digits` places.
pub(super) fn text(amount: Decimal, digits: u32) -> String {
    let mut amount = amount;
    amount.rescale(digits);
    amount.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_keep_their_value_and_get_their_places() {
        for (given, digits, shown) in [
            ("500", 2, "500.00"),
            ("-12.5", 2, "-12.50"),
            ("0.00000001", 8, "0.00000001"),
            ("1000.000", 0, "1000"),
        ] {
            let amount = parse(given, digits).expect("is an amount");
            assert_eq!(text(amount, digits), shown);
        }
    }

    #[test]
    fn other_texts_are_no_amount() {
        for given in [
            "", "-", "+1", "1e3", "1,5", " 1", "1.", ".5", "0x1", "1_0", "NaN", "--1",
        ] {
            assert_eq!(parse(given, 2), Err(MoneyFault::NotDecimal), "{given:?}");
        }
        assert_eq!(parse("1.005", 2), Err(MoneyFault::TooFine { digits: 2 }));
    }
}
