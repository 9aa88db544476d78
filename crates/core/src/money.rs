//! An amount of money: a positive whole number of a currency's minor units.
//!
//! Nothing here rounds. A text that does not fit the currency's places exactly is an error, and
//! every sum is checked.

use std::fmt;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::currency::Currency;

/// A positive amount in one currency.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

/// Why something is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Zero or below.
    #[error("the amount must be greater than zero")]
    NotPositive,
    /// More decimal places than the currency has.
    #[error("{amount} has more decimal places than {currency} has ({digits})")]
    TooPrecise {
        /// The amount as given.
        amount: Decimal,
        /// The currency.
        currency: Currency,
        /// The places the currency has.
        digits: u32,
    },
    /// Outside what 64-bit minor units can hold.
    #[error("the amount is too large")]
    TooLarge,
    /// Not plain decimal digits.
    #[error("{text:?} is not a plain decimal number such as 12.34")]
    Malformed {
        /// The text as given, cut to a printable length.
        text: String,
    },
    /// Two currencies in one sum.
    #[error("{left} and {right} cannot be added or compared")]
    CurrencyDiffers {
        /// The currency on the left.
        left: Currency,
        /// The currency on the right.
        right: Currency,
    },
}

/// Longest text that is read as an amount; longer ones cannot fit 64-bit minor units.
const TEXT_MAX: usize = 40;

impl Money {
    /// Takes whole minor units.
    ///
    /// # Errors
    /// Zero or negative.
    pub fn from_minor(minor: i64, currency: Currency) -> Result<Self, MoneyError> {
        if minor <= 0 {
            return Err(MoneyError::NotPositive);
        }
        Ok(Self { minor, currency })
    }

    /// Takes an amount in major units; it must fit the currency's places exactly.
    ///
    /// # Errors
    /// Not positive, more places than the currency has (trailing zeros do not count), too large.
    pub fn from_major(amount: Decimal, currency: Currency) -> Result<Self, MoneyError> {
        let digits = currency.digits();
        let exact = amount.normalize();
        if exact.scale() > digits {
            return Err(MoneyError::TooPrecise {
                amount,
                currency,
                digits,
            });
        }
        let factor = 10_i64.checked_pow(digits).ok_or(MoneyError::TooLarge)?;
        let minor = exact
            .checked_mul(Decimal::from(factor))
            .ok_or(MoneyError::TooLarge)?;
        Self::from_minor(minor.to_i64().ok_or(MoneyError::TooLarge)?, currency)
    }

    /// Reads plain decimal digits with at most one dot: no sign, exponent, blank or separator.
    ///
    /// # Errors
    /// Not such a text, or not an amount of this currency.
    pub fn parse_major(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        let malformed = || MoneyError::Malformed {
            text: text.chars().take(TEXT_MAX).collect(),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if text.len() > TEXT_MAX || !is_digits(whole) || !is_digits(fraction) {
            return Err(malformed());
        }
        let amount = Decimal::from_str_exact(text).map_err(|_| MoneyError::TooLarge)?;
        Self::from_major(amount, currency)
    }

    /// Whole minor units, always above zero.
    #[must_use]
    pub fn minor(self) -> i64 {
        self.minor
    }

    /// The currency.
    #[must_use]
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// The amount in major units, with the currency's own number of places.
    #[must_use]
    pub fn to_major(self) -> Decimal {
        Decimal::new(self.minor, self.currency.digits())
    }

    /// The amount in major units with exactly `digits` places, if that loses nothing.
    ///
    /// # Errors
    /// The amount has more places than `digits`.
    pub fn to_major_with(self, digits: u32) -> Result<Decimal, MoneyError> {
        let mut amount = self.to_major().normalize();
        if amount.scale() > digits {
            return Err(MoneyError::TooPrecise {
                amount,
                currency: self.currency,
                digits,
            });
        }
        amount.rescale(digits);
        debug_assert_eq!(
            amount,
            self.to_major(),
            "rescaling upwards changes no value"
        );
        Ok(amount)
    }

    /// The sum, in the one currency of both.
    ///
    /// # Errors
    /// Two currencies, or a sum that does not fit.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.same_currency(other)?;
        let minor = self
            .minor
            .checked_add(other.minor)
            .ok_or(MoneyError::TooLarge)?;
        Self::from_minor(minor, self.currency)
    }

    /// What is left after taking `other` away.
    ///
    /// # Errors
    /// Two currencies, or nothing left.
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.same_currency(other)?;
        let minor = self
            .minor
            .checked_sub(other.minor)
            .ok_or(MoneyError::TooLarge)?;
        Self::from_minor(minor, self.currency)
    }

    fn same_currency(self, other: Self) -> Result<(), MoneyError> {
        if self.currency == other.currency {
            return Ok(());
        }
        Err(MoneyError::CurrencyDiffers {
            left: self.currency,
            right: other.currency,
        })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.to_major(), self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
