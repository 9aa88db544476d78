//! Money: what is taken, what is refused, and that nothing is ever rounded or wraps.

use claimcheck_core::{Currency, DIGITS_MAX, Money, MoneyError};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("is in the table")
}

fn decimal(text: &str) -> Decimal {
    Decimal::from_str_exact(text).expect("is a decimal number")
}

/// Every currency of the table: each quoted word of its source that the table itself knows.
fn every_currency() -> Vec<Currency> {
    include_str!("../src/currency.rs")
        .split('"')
        .filter_map(|word| Currency::parse(word).ok())
        .collect()
}

/// A short name of what went wrong, so that a table of texts stays readable.
fn kind(result: &Result<Money, MoneyError>) -> String {
    match result {
        Ok(money) => money.minor().to_string(),
        Err(MoneyError::NotPositive) => "not positive".to_owned(),
        Err(MoneyError::TooPrecise { .. }) => "too precise".to_owned(),
        Err(MoneyError::TooLarge) => "too large".to_owned(),
        Err(MoneyError::Malformed { .. }) => "malformed".to_owned(),
        Err(MoneyError::CurrencyDiffers { .. }) => "currency differs".to_owned(),
    }
}

#[test]
fn a_text_becomes_minor_units_of_its_own_currency_or_is_refused() {
    for (text, code, expected) in [
        ("5000", "JPY", "5000"),
        ("5000.0", "JPY", "5000"),
        ("5000.5", "JPY", "too precise"),
        ("5.000", "KWD", "5000"),
        ("5.005", "KWD", "5005"),
        ("5.0005", "KWD", "too precise"),
        ("0.01", "USD", "1"),
        ("0.001", "USD", "too precise"),
        ("0.010", "USD", "1"),
        ("007.50", "USD", "750"),
        ("0.00000001", "BTC", "1"),
        ("0.000000001", "BTC", "too precise"),
        ("1.500000", "USDT", "1500000"),
        ("0", "USD", "not positive"),
        ("0.00", "USD", "not positive"),
        ("92233720368547758.07", "USD", "9223372036854775807"),
        ("92233720368547758.08", "USD", "too large"),
        ("9223372036854775807", "JPY", "9223372036854775807"),
        ("9223372036854775808", "JPY", "too large"),
        ("92233720368.54775807", "BTC", "9223372036854775807"),
        ("92233720368.54775808", "BTC", "too large"),
        ("79228162514264337593543950335", "USD", "too large"),
        ("99999999999999999999999999999999", "USD", "too large"),
        ("0.0000000000000000000000000001", "USD", "too precise"),
    ] {
        let read = Money::parse_major(text, currency(code));
        assert_eq!(kind(&read), expected, "{text} {code}");
    }
}

#[test]
fn a_text_that_is_not_plain_digits_is_malformed() {
    let long = "1".repeat(41);
    for text in [
        "",
        " ",
        ".",
        "5.",
        ".5",
        "1.2.3",
        "1e2",
        "1E2",
        "1,000.00",
        "1_000",
        "1 000",
        " 1",
        "1 ",
        "1\n",
        "+1",
        "-1",
        "-0",
        "−1",
        "００１",
        "١٢٣",
        "NaN",
        "inf",
        "0x10",
        "$5",
        "5 USD",
        "5\0",
        "１.0",
        "5.0０",
        long.as_str(),
    ] {
        for code in ["USD", "JPY", "KWD", "BTC"] {
            let read = Money::parse_major(text, currency(code));
            assert_eq!(kind(&read), "malformed", "{text:?} {code}");
        }
    }
}

#[test]
fn a_malformed_text_is_shown_cut() {
    let text = "x".repeat(5000);
    let error = Money::parse_major(&text, currency("USD")).expect_err("is no number");
    assert!(error.to_string().len() < 120, "{error}");
}

#[test]
fn minor_units_are_positive_and_reach_to_the_end_of_64_bits() {
    let usd = currency("USD");
    for (minor, expected) in [
        (i64::MIN, "not positive"),
        (-1, "not positive"),
        (0, "not positive"),
        (1, "1"),
        (i64::MAX, "9223372036854775807"),
    ] {
        assert_eq!(kind(&Money::from_minor(minor, usd)), expected, "{minor}");
    }
    for text in ["-0.01", "-92233720368547758.08", "0", "-0"] {
        let taken = Money::from_major(decimal(text), usd);
        assert_eq!(kind(&taken), "not positive", "{text}");
    }
    assert_eq!(kind(&Money::from_major(Decimal::MAX, usd)), "too large");
    assert_ne!(kind(&Money::from_major(Decimal::MIN, usd)), "1");
}

#[test]
fn major_units_carry_the_places_of_the_currency() {
    for (minor, code, expected) in [
        (5000, "JPY", "5000"),
        (5000, "KWD", "5.000"),
        (1, "USD", "0.01"),
        (50_000, "USD", "500.00"),
        (1, "BTC", "0.00000001"),
        (i64::MAX, "BTC", "92233720368.54775807"),
        (i64::MAX, "JPY", "9223372036854775807"),
    ] {
        let money = Money::from_minor(minor, currency(code)).expect("is positive");
        assert_eq!(money.to_major().to_string(), expected);
        assert_eq!(money.to_string(), format!("{expected} {code}"));
        assert_eq!(format!("{money:?}"), money.to_string());
    }
}

#[test]
fn major_units_are_written_with_the_places_of_a_group_only_if_nothing_is_lost() {
    for (text, code, digits, expected) in [
        ("500.00", "USD", 2, Some("500.00")),
        ("500.00", "USD", 0, Some("500")),
        ("500.10", "USD", 1, Some("500.1")),
        ("500.01", "USD", 1, None),
        ("500.01", "USD", 0, None),
        ("500.01", "USD", 8, Some("500.01000000")),
        ("5000", "JPY", 2, Some("5000.00")),
        ("5.005", "KWD", 2, None),
        ("5.000", "KWD", 2, Some("5.00")),
        ("0.00000001", "BTC", 8, Some("0.00000001")),
        ("0.00000001", "BTC", 7, None),
        (
            "92233720368547758.07",
            "USD",
            8,
            Some("92233720368547758.07000000"),
        ),
        (
            "9223372036854775807",
            "JPY",
            8,
            Some("9223372036854775807.00000000"),
        ),
    ] {
        let money = Money::parse_major(text, currency(code)).expect("is an amount");
        let written = money.to_major_with(digits).ok().map(|d| d.to_string());
        assert_eq!(written.as_deref(), expected, "{text} {code} at {digits}");
    }
}

#[test]
fn two_currencies_never_meet_in_one_sum() {
    let dollars = Money::from_minor(1, currency("USD")).expect("is positive");
    let euros = Money::from_minor(1, currency("EUR")).expect("is positive");
    assert_eq!(kind(&dollars.checked_add(euros)), "currency differs");
    assert_eq!(kind(&dollars.checked_sub(euros)), "currency differs");
    assert_ne!(dollars, euros);
}

#[test]
fn the_table_is_whole() {
    let all = every_currency();
    assert!(all.len() > 150, "{}", all.len());
    for digits in [0, 2, 3, 8] {
        assert!(all.iter().any(|c| c.digits() == digits), "{digits}");
    }
    assert!(all.iter().all(|c| c.digits() <= DIGITS_MAX));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_amount_survives_the_way_to_major_units_and_back_in_every_currency(
        minor in 1..=i64::MAX,
    ) {
        for currency in every_currency() {
            let money = Money::from_minor(minor, currency).expect("is positive");
            prop_assert_eq!(Money::from_major(money.to_major(), currency), Ok(money));
            let text = money.to_major().to_string();
            prop_assert_eq!(Money::parse_major(&text, currency), Ok(money));
            let wide = money.to_major_with(DIGITS_MAX).expect("no currency has more places");
            prop_assert_eq!(wide.scale(), DIGITS_MAX);
            prop_assert_eq!(Money::from_major(wide, currency), Ok(money));
        }
    }

    #[test]
    fn a_major_amount_is_taken_exactly_or_not_at_all(
        mantissa in any::<i64>(),
        scale in 0_u32..=28,
    ) {
        let amount = Decimal::new(mantissa, scale);
        for code in ["JPY", "USD", "KWD", "BTC"] {
            if let Ok(money) = Money::from_major(amount, currency(code)) {
                prop_assert_eq!(money.to_major(), amount);
                prop_assert!(money.minor() > 0);
            }
        }
    }

    #[test]
    fn sums_and_differences_are_exact_or_refused(left in 1..=i64::MAX, right in 1..=i64::MAX) {
        let usd = currency("USD");
        let money = |minor| Money::from_minor(minor, usd).expect("is positive");
        let exact = i128::from(left) + i128::from(right);
        match money(left).checked_add(money(right)) {
            Ok(sum) => prop_assert_eq!(i128::from(sum.minor()), exact),
            Err(error) => {
                prop_assert_eq!(error, MoneyError::TooLarge);
                prop_assert!(exact > i128::from(i64::MAX));
            }
        }
        let exact = i128::from(left) - i128::from(right);
        match money(left).checked_sub(money(right)) {
            Ok(rest) => prop_assert_eq!(i128::from(rest.minor()), exact),
            Err(error) => {
                prop_assert_eq!(error, MoneyError::NotPositive);
                prop_assert!(exact <= 0);
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic_or_round(text in ".{0,60}") {
        if let Ok(money) = Money::parse_major(&text, currency("KWD")) {
            prop_assert_eq!(money.to_major(), decimal(&text));
        }
    }

    #[test]
    fn every_plain_number_is_judged_by_its_places_and_size(
        whole in "[0-9]{1,22}",
        fraction in "[0-9]{1,10}",
    ) {
        let text = format!("{whole}.{fraction}");
        let whole: u128 = whole.parse().expect("22 digits fit");
        let places: u128 = format!("{fraction:0<10}").parse().expect("10 digits fit");
        let is_exact = places.is_multiple_of(100_000_000);
        let minor = whole * 100 + places / 100_000_000;
        let fits = is_exact && (1..=9_223_372_036_854_775_807).contains(&minor);
        prop_assert_eq!(Money::parse_major(&text, currency("USD")).is_ok(), fits, "{}", text);
    }
}
