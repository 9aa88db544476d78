//! The unit in which Stripe counts each currency: its own table, not the ISO one.
//!
//! UGX and ISK have no decimals and are still sent in hundredths. A currency without a known unit
//! is an error: reading it in the wrong one moves a hundred times the money.

use claimcheck_core::CurrencyCode;
use rust_decimal::Decimal;

use crate::document::Unreadable;

const NO_DIGITS: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF",
    "XOF", "XPF",
];
const THREE_DIGITS: &[&str] = &["BHD", "JOD", "KWD", "OMR", "TND"];
/// Three decimals by ISO, and Stripe does not say how it would count them.
const UNKNOWN: &[&str] = &["IQD", "LYD"];
/// Everything else, UGX and ISK too.
const DIGITS_USUAL: u32 = 2;
/// Letters of a currency code that Stripe uses.
const CODE_LENGTH: usize = 3;

fn digits(currency: &CurrencyCode) -> Option<u32> {
    let code = currency.as_str();
    let is_known = code.len() == CODE_LENGTH
        && code.bytes().all(|b| b.is_ascii_uppercase())
        && !UNKNOWN.contains(&code);
    let digits = match code {
        code if NO_DIGITS.contains(&code) => 0,
        code if THREE_DIGITS.contains(&code) => 3,
        _ => DIGITS_USUAL,
    };
    is_known.then_some(digits)
}

/// An amount in major units.
pub(super) fn major(minor: i64, currency: &CurrencyCode) -> Result<Decimal, Unreadable> {
    let digits = digits(currency).ok_or_else(|| {
        Unreadable::new(format!(
            "Stripe's unit of the currency {currency} is not known"
        ))
    })?;
    Ok(Decimal::new(minor, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_currency_is_read_in_stripes_own_unit() {
        let major = |minor, code: &str| {
            let code = CurrencyCode::parse(code).expect("is a code");
            major(minor, &code).map(|amount| amount.to_string()).ok()
        };
        let table = [
            (5_000, "jpy", Some("5000")),
            (500, "krw", Some("500")),
            (10_500, "kwd", Some("10.500")),
            (500_000, "ugx", Some("5000.00")),
            (500_000, "isk", Some("5000.00")),
            (1_234, "mga", Some("1234")),
            (1_234, "idr", Some("12.34")),
            (1, "eur", Some("0.01")),
            (1, "iqd", None),
            (1, "usdc", None),
            (1, "1st", None),
        ];
        for (minor, code, expected) in table {
            assert_eq!(major(minor, code).as_deref(), expected, "{code}");
        }
    }
}
