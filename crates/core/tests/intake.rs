//! Intake: what a verified event means, and what follows from it beside its deposit.

use claimcheck_core::{
    CaseKind, ClientId, Consequence, Currency, CurrencyCode, Deposit, DepositState, EventFact,
    EventKey, Existing, FactKind, Login, Meaning, MerchantReference, Mismatch, Money, PaidBefore,
    PaidFact, PaymentId, ProviderName, Rate, ServerName, Status, Unusable, compare, decide,
    meaning,
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use time::macros::datetime;

fn money(text: &str, code: &str) -> Money {
    let currency = Currency::parse(code).expect("is in the table");
    Money::parse_major(text, currency).expect("is an amount")
}

fn decimal(text: &str) -> Decimal {
    Decimal::from_str_exact(text).expect("is a decimal number")
}

fn provider(name: &str) -> ProviderName {
    ProviderName::parse(name).expect("is a slug")
}

fn payment(id: &str) -> PaymentId {
    PaymentId::parse(id).expect("is printable")
}

fn merchant_reference(text: &str) -> MerchantReference {
    MerchantReference::parse(text).expect("is printable")
}

fn code(text: &str) -> CurrencyCode {
    CurrencyCode::parse(text).expect("is a code")
}

/// A deposit of 500 USD by card.
fn deposit() -> Deposit {
    Deposit {
        id: 7,
        client: ClientId::parse("c-1").expect("is printable"),
        server: ServerName::parse("live-1").expect("is a slug"),
        login: Login::new(100_001).expect("is positive"),
        amount: money("500.00", "USD"),
        provider: provider("stripe"),
        payment: None,
        pay: None,
        reference: merchant_reference("d-7-x"),
        registered_at: datetime!(2026-12-01 10:00 UTC),
    }
}

/// A payment that agrees with that deposit.
fn paid() -> PaidFact {
    PaidFact {
        provider: provider("stripe"),
        payment: payment("pi_1"),
        reference: Some(merchant_reference("d-7-x")),
        amount: decimal("500.00"),
        currency: code("USD"),
    }
}

fn fact(kind: FactKind) -> EventFact {
    EventFact {
        payment: Some(payment("pi_1")),
        reference: Some(merchant_reference("d-7-x")),
        amount: Some(decimal("500.00")),
        currency: Some(code("USD")),
        ..EventFact::new(kind, EventKey::parse("evt_1").expect("is printable"))
    }
}

fn credit(amount: Money) -> Consequence {
    Consequence::Credit { amount, rate: None }
}

#[test]
fn only_paid_means_money_and_only_money_gone_back_needs_a_person() {
    use FactKind as K;
    for (kind, expected) in [
        (K::Paid, Meaning::Paid(paid())),
        (K::Authorised, Meaning::Nothing),
        (K::Pending, Meaning::Nothing),
        (K::Failed, Meaning::Nothing),
        (K::Cancelled, Meaning::Nothing),
        (K::Refunded, Meaning::MoneyBack),
        (K::RefundPending, Meaning::Nothing),
        (K::RefundFailed, Meaning::MoneyBack),
        (K::ChargedBack, Meaning::MoneyBack),
        (K::ChargebackWon, Meaning::MoneyBack),
        (K::DisputeNotice, Meaning::Nothing),
        (K::PayoutPaid, Meaning::Nothing),
        (K::PayoutFailed, Meaning::Nothing),
        (K::ReportAvailable, Meaning::Nothing),
        (K::Ignored, Meaning::Nothing),
    ] {
        let read = meaning(&fact(kind), &provider("stripe"));
        assert_eq!(read, Ok(expected), "{}", kind.code());
    }
}

#[test]
fn a_paid_event_that_lacks_a_part_is_unusable_and_names_it() {
    let cases: [(EventFact, Unusable); 5] = [
        (
            EventFact {
                payment: None,
                ..fact(FactKind::Paid)
            },
            Unusable::NoPayment,
        ),
        (
            EventFact {
                amount: None,
                ..fact(FactKind::Paid)
            },
            Unusable::NoAmount,
        ),
        (
            EventFact {
                amount: Some(Decimal::ZERO),
                ..fact(FactKind::Paid)
            },
            Unusable::NoAmount,
        ),
        (
            EventFact {
                amount: Some(decimal("-500")),
                ..fact(FactKind::Paid)
            },
            Unusable::NoAmount,
        ),
        (
            EventFact {
                currency: None,
                ..fact(FactKind::Paid)
            },
            Unusable::NoCurrency,
        ),
    ];
    for (fact, expected) in cases {
        assert_eq!(meaning(&fact, &provider("stripe")), Err(expected));
    }
}

#[test]
fn a_paid_event_without_a_reference_is_usable() {
    let bare = EventFact {
        reference: None,
        ..fact(FactKind::Paid)
    };
    let expected = PaidFact {
        reference: None,
        ..paid()
    };
    assert_eq!(
        meaning(&bare, &provider("stripe")),
        Ok(Meaning::Paid(expected))
    );
}

#[test]
fn a_payment_that_agrees_differs_in_nothing() {
    assert_eq!(compare(&paid(), &deposit()), []);
    let bound = Deposit {
        payment: Some(payment("pi_1")),
        ..deposit()
    };
    assert_eq!(compare(&paid(), &bound), []);
    let bare = PaidFact {
        reference: None,
        ..paid()
    };
    assert_eq!(compare(&bare, &bound), []);
    let longer = PaidFact {
        amount: decimal("500.0000"),
        ..paid()
    };
    assert_eq!(compare(&longer, &deposit()), []);
}

/// One difference per entry: the payment, its deposit, what is found, and how it is said.
fn differences() -> [(PaidFact, Deposit, Mismatch, &'static str); 5] {
    let bound = Deposit {
        payment: Some(payment("pi_2")),
        ..deposit()
    };
    [
        (
            PaidFact {
                provider: provider("adyen"),
                ..paid()
            },
            deposit(),
            Mismatch::Provider {
                expected: provider("stripe"),
                found: provider("adyen"),
            },
            "the deposit is for provider stripe, the payment came by adyen",
        ),
        (
            paid(),
            bound,
            Mismatch::Payment {
                expected: payment("pi_2"),
                found: payment("pi_1"),
            },
            "the deposit is bound to payment pi_2, the event is about pi_1",
        ),
        (
            PaidFact {
                reference: Some(merchant_reference("d-8-y")),
                ..paid()
            },
            deposit(),
            Mismatch::Reference {
                expected: merchant_reference("d-7-x"),
                found: merchant_reference("d-8-y"),
            },
            "the deposit's reference is d-7-x, the payment carries d-8-y",
        ),
        (
            PaidFact {
                currency: code("eur"),
                ..paid()
            },
            deposit(),
            Mismatch::Currency {
                expected: "USD".to_owned(),
                found: "EUR".to_owned(),
            },
            "the deposit expects USD, the payment is in EUR",
        ),
        (
            PaidFact {
                amount: decimal("500.01"),
                ..paid()
            },
            deposit(),
            Mismatch::Amount {
                expected: decimal("500.00"),
                found: decimal("500.01"),
            },
            "the deposit expects 500.00, 500.01 was paid",
        ),
    ]
}

#[test]
fn each_difference_is_named_with_both_sides() {
    for (paid, deposit, expected, in_words) in differences() {
        assert_eq!(compare(&paid, &deposit), std::slice::from_ref(&expected));
        assert_eq!(expected.in_words(), in_words);
        let consequence = decide(&paid, Some(&deposit), &Existing::default());
        let Consequence::Hold {
            case, mismatches, ..
        } = consequence
        else {
            panic!("a mismatch moves no money: {consequence:?}");
        };
        assert_eq!(
            (case, mismatches),
            (CaseKind::DepositMismatch, vec![expected])
        );
    }
}

#[test]
fn several_differences_are_all_named_and_another_currency_hides_the_amount() {
    let wrong = PaidFact {
        provider: provider("adyen"),
        payment: payment("x"),
        reference: Some(merchant_reference("y")),
        amount: decimal("1"),
        currency: code("JPY"),
    };
    let bound = Deposit {
        payment: Some(payment("pi_1")),
        ..deposit()
    };
    let kinds: Vec<&str> = compare(&wrong, &bound)
        .iter()
        .map(|mismatch| match mismatch {
            Mismatch::Provider { .. } => "provider",
            Mismatch::Payment { .. } => "payment",
            Mismatch::Reference { .. } => "reference",
            Mismatch::Currency { .. } => "currency",
            Mismatch::Amount { .. } => "amount",
        })
        .collect();
    assert_eq!(kinds, ["provider", "payment", "reference", "currency"]);
}

#[test]
fn a_payment_that_agrees_is_credited_as_registered() {
    assert_eq!(
        decide(&paid(), Some(&deposit()), &Existing::default()),
        credit(money("500.00", "USD"))
    );
}

#[test]
fn a_payment_without_a_deposit_is_a_case_and_no_operation() {
    assert_eq!(
        decide(&paid(), None, &Existing::default()),
        Consequence::NoDeposit
    );
}

#[test]
fn a_payment_on_record_changes_nothing_and_a_different_story_is_a_contradiction() {
    for (amount, currency, expected) in [
        ("500", "USD", Consequence::Same),
        ("500.00", "USD", Consequence::Same),
        ("500.01", "USD", Consequence::Contradiction),
        ("500", "EUR", Consequence::Contradiction),
    ] {
        for other in [false, true] {
            let existing = Existing {
                same_payment: Some(PaidBefore {
                    amount: decimal(amount),
                    currency: currency.to_owned(),
                    reference: None,
                }),
                deposit_has_other_payment: other,
            };
            assert_eq!(decide(&paid(), Some(&deposit()), &existing), expected);
            assert_eq!(decide(&paid(), None, &existing), expected);
        }
    }
}

#[test]
fn a_second_payment_for_a_deposit_is_held_even_if_it_agrees() {
    let existing = Existing {
        same_payment: None,
        deposit_has_other_payment: true,
    };
    assert_eq!(
        decide(&paid(), Some(&deposit()), &existing),
        Consequence::Hold {
            amount: money("500.00", "USD"),
            case: CaseKind::DepositPaidTwice,
            mismatches: vec![],
        }
    );
}

#[test]
fn a_pay_currency_is_what_must_arrive_and_fixes_the_rate() {
    let converted = Deposit {
        pay: Some(money("400.00", "EUR")),
        ..deposit()
    };
    let in_euros = PaidFact {
        amount: decimal("400"),
        currency: code("EUR"),
        ..paid()
    };
    assert_eq!(
        decide(&in_euros, Some(&converted), &Existing::default()),
        Consequence::Credit {
            amount: money("500.00", "USD"),
            rate: Some(Rate {
                value: decimal("1.25"),
                source: "deposit".to_owned(),
                at: datetime!(2026-12-01 10:00 UTC),
            }),
        }
    );
    // What the account would gain is not what the payer owes.
    assert!(matches!(
        decide(&paid(), Some(&converted), &Existing::default()),
        Consequence::Hold {
            case: CaseKind::DepositMismatch,
            ..
        }
    ));
}

#[test]
fn a_held_operation_is_over_what_was_paid_if_the_account_can_hold_it() {
    let converted = Deposit {
        pay: Some(money("400.00", "EUR")),
        ..deposit()
    };
    for (amount, currency, deposit, expected) in [
        ("499.99", "USD", deposit(), "499.99"),
        ("600", "USD", deposit(), "600.00"),
        ("499.999", "USD", deposit(), "500.00"),
        ("92233720368547758.08", "USD", deposit(), "500.00"),
        ("499.99", "EUR", deposit(), "500.00"),
        ("399.99", "EUR", converted.clone(), "500.00"),
        ("499.99", "USD", converted, "500.00"),
    ] {
        let paid = PaidFact {
            amount: decimal(amount),
            currency: code(currency),
            ..paid()
        };
        let consequence = decide(&paid, Some(&deposit), &Existing::default());
        let Consequence::Hold { amount: held, .. } = consequence else {
            panic!("a mismatch moves no money: {consequence:?}");
        };
        assert_eq!(held, money(expected, "USD"), "{amount} {currency}");
    }
}

#[test]
fn a_paid_amount_is_money_only_in_a_known_currency_and_exactly() {
    for (amount, currency, expected) in [
        ("5000", "JPY", Some(money("5000", "JPY"))),
        ("5.005", "KWD", Some(money("5.005", "KWD"))),
        ("5.005", "USD", None),
        ("5", "XXX", None),
    ] {
        let paid = PaidFact {
            amount: decimal(amount),
            currency: code(currency),
            ..paid()
        };
        assert_eq!(paid.money(), expected, "{amount} {currency}");
    }
}

#[test]
fn the_portal_is_told_the_state_that_follows_from_the_operation() {
    use DepositState as D;
    for (status, quietly, with_case) in [
        (None, D::AwaitingPayment, D::InReview),
        (Some(Status::Held), D::InReview, D::InReview),
        (Some(Status::Pending), D::Crediting, D::Crediting),
        (Some(Status::Claimed), D::Crediting, D::Crediting),
        (Some(Status::Unknown), D::Crediting, D::InReview),
        (Some(Status::Done), D::Credited, D::Credited),
        (Some(Status::Failed), D::Failed, D::Failed),
    ] {
        assert_eq!(D::of(status, false), quietly, "{status:?}");
        assert_eq!(D::of(status, true), with_case, "{status:?}");
    }
}

fn any_paid() -> impl Strategy<Value = PaidFact> {
    (
        prop::sample::select(vec!["stripe", "adyen"]),
        prop::sample::select(vec!["pi_1", "pi_2"]),
        prop::option::of(prop::sample::select(vec!["d-7-x", "d-8-y"])),
        prop::sample::select(vec![
            "500",
            "500.00",
            "499.99",
            "400",
            "0.001",
            "1000000000000000000",
        ]),
        prop::sample::select(vec!["USD", "EUR", "JPY", "XXX"]),
    )
        .prop_map(|(name, id, reference, amount, currency)| PaidFact {
            provider: provider(name),
            payment: payment(id),
            reference: reference.map(merchant_reference),
            amount: decimal(amount),
            currency: code(currency),
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Money moves by itself only when provider, payment, reference, currency and amount agree
    /// with the deposit, and then exactly the registered amount moves.
    #[test]
    fn only_full_agreement_credits(
        paid in any_paid(),
        is_bound in any::<bool>(),
        converts in any::<bool>(),
        has_other in any::<bool>(),
    ) {
        let deposit = Deposit {
            payment: is_bound.then(|| payment("pi_1")),
            pay: converts.then(|| money("400.00", "EUR")),
            ..deposit()
        };
        let existing = Existing { same_payment: None, deposit_has_other_payment: has_other };
        let (due, unit) = if converts { ("400", "EUR") } else { ("500", "USD") };
        let agrees = paid.provider == deposit.provider
            && (!is_bound || paid.payment == payment("pi_1"))
            && paid.reference.as_ref().is_none_or(|r| *r == deposit.reference)
            && paid.currency.as_str() == unit
            && paid.amount == decimal(due);
        match decide(&paid, Some(&deposit), &existing) {
            Consequence::Credit { amount, rate } => {
                prop_assert!(agrees && !has_other);
                prop_assert_eq!(amount, deposit.amount);
                prop_assert_eq!(rate.is_some(), converts);
            }
            Consequence::Hold { amount, case, mismatches } => {
                prop_assert!(!agrees || has_other);
                prop_assert_eq!(mismatches.is_empty(), agrees);
                prop_assert_eq!(case == CaseKind::DepositPaidTwice, has_other);
                prop_assert_eq!(amount.currency(), deposit.amount.currency());
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn another_reference_on_a_known_payment_is_a_contradiction() {
    let carried = paid()
        .reference
        .expect("the event carries one")
        .as_str()
        .to_owned();
    for (before, expected) in [
        (None, Consequence::Same),
        (Some(carried), Consequence::Same),
        (Some("dep-9-other".to_owned()), Consequence::Contradiction),
    ] {
        let same_payment = Some(PaidBefore {
            amount: paid().amount,
            currency: paid().currency.to_string(),
            reference: before,
        });
        let existing = Existing {
            same_payment,
            deposit_has_other_payment: false,
        };
        assert_eq!(decide(&paid(), Some(&deposit()), &existing), expected);
    }
}
