//! Currencies and how many decimal places each has in our books.
//!
//! A provider may count in another unit and an MT5 group may keep fewer places: both are
//! converted at their edge. Everything inside counts in the places of this table.

use std::fmt;

/// The most decimal places any currency of the table has.
pub const DIGITS_MAX: u32 = 8;

/// A currency that this table knows.
///
/// ISO 4217 currencies carry the standard's minor unit; crypto-currencies carry the places that
/// MT5 can hold (at most eight), never more than the coin itself has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency(&'static str, u32);

/// Why a text is not a currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("currency {code:?} is not known; give an upper-case code such as USD")]
pub struct CurrencyError {
    /// What was given, cut to a printable length.
    pub code: String,
}

const TWO_DIGITS: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT",
    "BGN", "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF",
    "CNH", "CNY", "COP", "CRC", "CUP", "CVE", "CZK", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB",
    "EUR", "FJD", "FKP", "GBP", "GEL", "GHS", "GIP", "GMD", "GTQ", "GYD", "HKD", "HNL", "HTG",
    "HUF", "IDR", "ILS", "INR", "IRR", "JMD", "KES", "KGS", "KHR", "KPW", "KYD", "KZT", "LAK",
    "LBP", "LKR", "LRD", "LSL", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR",
    "MVR", "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "PAB", "PEN",
    "PGK", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SBD", "SCR", "SDG", "SEK",
    "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB", "TJS", "TMT",
    "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "USD", "UYU", "UZS", "VES", "WST", "XCD", "YER",
    "ZAR", "ZMW",
];
const NO_DIGITS: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
    "XAF", "XOF", "XPF",
];
const THREE_DIGITS: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
const SIX_DIGITS: &[&str] = &["TRX", "USDC", "USDT", "XRP"];
const EIGHT_DIGITS: &[&str] = &["BCH", "BNB", "BTC", "DOGE", "ETH", "LTC", "SOL"];

const TABLE: &[(&[&str], u32)] = &[
    (TWO_DIGITS, 2),
    (NO_DIGITS, 0),
    (THREE_DIGITS, 3),
    (SIX_DIGITS, 6),
    (EIGHT_DIGITS, 8),
];

/// The longest code shown back in an error.
const SHOWN_MAX: usize = 16;

impl Currency {
    /// Looks a code up; the code must be upper case, as it is everywhere inside.
    ///
    /// # Errors
    /// The table does not know the code.
    pub fn parse(code: &str) -> Result<Self, CurrencyError> {
        TABLE
            .iter()
            .find_map(|(codes, digits)| {
                codes
                    .iter()
                    .find(|known| **known == code)
                    .map(|known| Self(known, *digits))
            })
            .ok_or_else(|| CurrencyError {
                code: code.chars().take(SHOWN_MAX).collect(),
            })
    }

    /// The upper-case code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0
    }

    /// Decimal places of one minor unit: 2 for USD, 0 for JPY, 3 for KWD, 8 for BTC.
    #[must_use]
    pub fn digits(self) -> u32 {
        self.1
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_currency_has_its_own_places() {
        for (code, digits) in [("USD", 2), ("JPY", 0), ("KWD", 3), ("BTC", 8), ("USDT", 6)] {
            assert_eq!(
                Currency::parse(code).expect("is in the table").digits(),
                digits,
                "{code}"
            );
        }
    }

    #[test]
    fn a_code_stands_in_the_table_once_and_within_the_limit() {
        let mut codes: Vec<&str> = TABLE
            .iter()
            .flat_map(|(codes, _)| codes.iter().copied())
            .collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
        assert!(TABLE.iter().all(|(_, digits)| *digits <= DIGITS_MAX));
    }

    #[test]
    fn an_unknown_code_is_refused_and_named() {
        for code in ["usd", "", "XXX", "US", "EURO", " USD"] {
            let error = Currency::parse(code).expect_err("is not in the table");
            assert!(error.to_string().contains(code));
        }
    }
}
