//! An MT5 account as a server states it, and the check made right before money moves.

use std::fmt;

use crate::currency::{Currency, DIGITS_MAX};
use crate::money::{Money, MoneyError};

/// The login of an account on its server; always above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Login(i64);

impl Login {
    /// Takes a login.
    #[must_use]
    pub fn new(login: i64) -> Option<Self> {
        (login > 0).then_some(Self(login))
    }

    /// Reads plain digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        plain
            .then(|| text.parse().ok())
            .flatten()
            .and_then(Self::new)
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a trade server says about an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountState {
    /// The login the answer is about.
    pub login: Login,
    /// Whether the account may be used.
    pub enabled: bool,
    /// Its group.
    pub group: String,
    /// The currency of its group.
    pub currency: String,
    /// Decimal places its group keeps.
    pub digits: u32,
}

/// Why an account cannot take an operation; nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountFault {
    /// The server knows no such login.
    #[error("the account does not exist on this server")]
    Missing,
    /// The account is switched off.
    #[error("the account is disabled")]
    Disabled,
    /// The account's group trades in another currency than the operation.
    #[error("the account's currency is {found}, the operation's is {wanted}")]
    Currency {
        /// What the server says.
        found: String,
        /// What the operation carries.
        wanted: Currency,
    },
    /// The group states more places than any currency has.
    #[error("the account states {0} decimal places, more than any currency has")]
    Places(u32),
    /// The group keeps fewer places than the amount needs.
    #[error("the account cannot hold the amount exactly")]
    Digits(#[source] MoneyError),
}

impl AccountFault {
    /// A stable code for the row's refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "account_missing",
            Self::Disabled => "account_disabled",
            Self::Currency { .. } => "account_currency",
            Self::Places(_) | Self::Digits(_) => "account_digits",
        }
    }
}

/// Whether `account` may take `amount`; gives the places in which the amount must be written.
///
/// # Errors
/// The account is missing, disabled, in another currency, or cannot hold the amount exactly.
pub fn check_account(account: Option<&AccountState>, amount: Money) -> Result<u32, AccountFault> {
    let account = account.ok_or(AccountFault::Missing)?;
    if !account.enabled {
        return Err(AccountFault::Disabled);
    }
    let wanted = amount.currency();
    if account.currency != wanted.code() {
        return Err(AccountFault::Currency {
            found: account.currency.clone(),
            wanted,
        });
    }
    if account.digits > DIGITS_MAX {
        return Err(AccountFault::Places(account.digits));
    }
    amount
        .to_major_with(account.digits)
        .map_err(AccountFault::Digits)?;
    Ok(account.digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(enabled: bool, currency: &str, digits: u32) -> AccountState {
        let login = Login::new(7).expect("is above zero");
        AccountState {
            login,
            enabled,
            group: "real".into(),
            currency: currency.into(),
            digits,
        }
    }

    #[test]
    fn only_the_right_account_takes_the_money() {
        let usd = Currency::parse("USD").expect("is known");
        let btc = Currency::parse("BTC").expect("is known");
        let amount = Money::from_minor(1_050, usd).expect("is positive");
        let satoshi = Money::from_minor(1, btc).expect("is positive");
        let code = |account: Option<&AccountState>, amount| {
            check_account(account, amount).map_err(|fault| fault.code())
        };
        assert_eq!(code(None, amount), Err("account_missing"));
        assert_eq!(
            code(Some(&account(false, "USD", 2)), amount),
            Err("account_disabled")
        );
        assert_eq!(
            code(Some(&account(true, "EUR", 2)), amount),
            Err("account_currency")
        );
        assert_eq!(
            code(Some(&account(true, "usd", 2)), amount),
            Err("account_currency")
        );
        assert_eq!(
            code(Some(&account(true, "USD", 0)), amount),
            Err("account_digits")
        );
        assert_eq!(
            code(Some(&account(true, "BTC", 5)), satoshi),
            Err("account_digits")
        );
        assert_eq!(code(Some(&account(true, "USD", 2)), amount), Ok(2));
        assert_eq!(code(Some(&account(true, "USD", 1)), amount), Ok(1));
        assert_eq!(code(Some(&account(true, "BTC", 8)), satoshi), Ok(8));
        assert_eq!(
            code(Some(&account(true, "BTC", 9)), satoshi),
            Err("account_digits")
        );
    }

    #[test]
    fn a_login_is_plain_digits_above_zero() {
        for text in ["", "0", "-1", "+1", "1 ", "１", "9223372036854775808"] {
            assert_eq!(Login::parse(text), None, "{text}");
        }
        assert_eq!(Login::parse("100234").map(Login::get), Some(100_234));
    }
}
