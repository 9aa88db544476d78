//! What is not in the fixtures: contradictions, missing fields, wrong kinds, other accounts.

use claimcheck_core::{EventFact, FactKind};
use claimcheck_providers::{Config, Delivery, Provider};
use serde_json::{Value, json};

fn stripe_with(config: &Config, body: &Value) -> Result<EventFact, String> {
    let body = body.to_string();
    let delivery = Delivery::new(&[], body.as_bytes(), 0);
    let mut facts = Provider::Stripe
        .facts(&delivery, config)
        .map_err(|unreadable| unreadable.why)?;
    assert_eq!(facts.len(), 1);
    facts.pop().ok_or_else(|| "no fact".into())
}

fn stripe(kind: &str, object: Value) -> Result<EventFact, String> {
    let body = json!({"id": "evt_1", "type": kind, "data": {"object": object}});
    stripe_with(&Config::default(), &body)
}

fn amount(fact: &EventFact) -> Option<String> {
    fact.amount.map(|amount| amount.to_string())
}

#[test]
fn an_amount_is_a_whole_json_number_and_nothing_else() {
    for wrong in [json!("100"), json!(1.5), json!(true), json!([100])] {
        let why = stripe(
            "payment_intent.succeeded",
            json!({"id": "pi_1", "amount_received": wrong, "currency": "usd"}),
        );
        let why = why.expect_err("is no whole number");
        assert!(why.contains("data.object.amount_received"), "{why}");
    }
}

#[test]
fn a_partial_capture_is_paid_over_what_was_captured_and_refunded_only_beyond_the_rest() {
    let charge = json!({"id": "ch_1", "payment_intent": "pi_1", "currency": "eur", "captured": true,
        "amount": 10_000, "amount_captured": 6_000, "amount_refunded": 4_000});
    let paid = stripe("charge.captured", charge.clone()).expect("is readable");
    assert_eq!(amount(&paid).as_deref(), Some("60.00"));
    let released = stripe("charge.refunded", charge.clone()).expect("is readable");
    assert_eq!(released.kind, FactKind::Ignored);
    let mut refunded = charge;
    refunded["amount_refunded"] = json!(5_500);
    let refunded = stripe("charge.refunded", refunded).expect("is readable");
    assert_eq!(refunded.kind, FactKind::Refunded);
    assert_eq!(amount(&refunded).as_deref(), Some("15.00"));
    assert!(refunded.is_running_total);
}

#[test]
fn a_charge_without_an_intent_stands_for_itself() {
    let charge = json!({"id": "ch_1", "payment_intent": null, "currency": "usd", "captured": true,
        "amount": 500, "amount_captured": 500});
    let paid = stripe("charge.succeeded", charge).expect("is readable");
    assert_eq!(paid.kind, FactKind::Paid);
    assert_eq!(paid.payment.expect("is there").as_str(), "ch_1");
    assert_eq!(paid.same_money_as, None);
}

#[test]
fn a_session_is_money_only_when_it_is_paid() {
    let kind = |status: &str, mode: &str| {
        let session = json!({"id": "cs_1", "payment_intent": "pi_1", "currency": "usd",
            "amount_total": 500, "payment_status": status, "mode": mode});
        stripe("checkout.session.completed", session).map(|fact| fact.kind)
    };
    assert_eq!(kind("paid", "payment"), Ok(FactKind::Paid));
    assert_eq!(kind("unpaid", "payment"), Ok(FactKind::Pending));
    assert_eq!(
        kind("no_payment_required", "payment"),
        Ok(FactKind::Ignored)
    );
    assert_eq!(kind("paid", "setup"), Ok(FactKind::Ignored));
    assert_eq!(kind("paid", "subscription"), Ok(FactKind::Ignored));
    assert!(kind("surprise", "payment").is_err());
}

#[test]
fn an_object_that_contradicts_its_type_is_unreadable() {
    let object = json!({"id": "pi_1", "status": "requires_capture", "amount_received": 1,
        "currency": "usd"});
    assert!(stripe("payment_intent.succeeded", object).is_err());
    let object = json!({"id": "ch_1", "object": "charge", "amount_received": 1, "currency": "usd"});
    assert!(stripe("payment_intent.succeeded", object).is_err());
    let refund = json!({"id": "re_1", "amount": 1, "currency": "usd", "status": "succeeded"});
    let why = stripe("refund.created", refund).expect_err("names no payment");
    assert!(why.contains("payment_intent"), "{why}");
}

#[test]
fn an_inquiry_that_becomes_a_dispute_takes_the_money_once() {
    let dispute = json!({"id": "du_1", "payment_intent": "pi_1", "charge": "ch_1", "amount": 700,
        "currency": "usd", "status": "needs_response"});
    let taken = stripe("charge.dispute.funds_withdrawn", dispute.clone()).expect("is readable");
    assert_eq!(taken.kind, FactKind::ChargedBack);
    assert_eq!(taken.part.as_deref(), Some("du_1"));
    let mut lost_at_once = dispute;
    lost_at_once["status"] = json!("lost");
    let lost = stripe("charge.dispute.created", lost_at_once).expect("is readable");
    assert_eq!(
        (lost.kind, lost.part.as_deref()),
        (FactKind::ChargedBack, Some("du_1"))
    );
}

#[test]
fn thin_events_and_foreign_objects_say_what_to_change() {
    let thin = json!({"id": "evt_1", "object": "v2.core.event", "type": "v1.billing.meter"});
    let why = stripe_with(&Config::default(), &thin).expect_err("carries no object");
    assert!(why.contains("snapshot"), "{why}");
    let other = json!({"id": "evt_1", "object": "customer", "type": "x"});
    assert!(stripe_with(&Config::default(), &other).is_err());
    for (missing, body) in [
        ("id", json!({"type": "charge.succeeded"})),
        ("type", json!({"id": "evt_1"})),
        ("data", json!({"id": "evt_1", "type": "charge.succeeded"})),
        (
            "data.object",
            json!({"id": "evt_1", "type": "charge.succeeded", "data": {}}),
        ),
    ] {
        let why = stripe_with(&Config::default(), &body).expect_err("lacks a field");
        assert_eq!(why, format!("{missing} is missing"));
    }
}

#[test]
fn only_events_of_the_configured_account_and_mode_count() {
    let config = Config {
        live: Some(true),
        account: Some("acct_1".into()),
        ..Config::default()
    };
    let kind = |live: Value, account: Value| {
        let object = json!({"id": "pi_1", "amount_received": 1, "currency": "usd"});
        let body = json!({"id": "evt_1", "type": "payment_intent.succeeded", "livemode": live,
            "account": account, "data": {"object": object}});
        stripe_with(&config, &body).map(|fact| fact.kind)
    };
    assert_eq!(kind(json!(true), json!("acct_1")), Ok(FactKind::Paid));
    assert_eq!(kind(json!(true), Value::Null), Ok(FactKind::Paid));
    assert_eq!(kind(json!(true), json!("acct_2")), Ok(FactKind::Ignored));
    assert_eq!(kind(json!(false), json!("acct_1")), Ok(FactKind::Ignored));
    assert!(kind(Value::Null, Value::Null).is_err());
}

fn standard(headers: &[(&str, &[u8])], body: &Value) -> Result<EventFact, String> {
    let body = body.to_string();
    let delivery = Delivery::new(headers, body.as_bytes(), 0);
    let facts = Provider::StandardWebhooks.facts(&delivery, &Config::default());
    let mut facts = facts.map_err(|unreadable| unreadable.why)?;
    facts.pop().ok_or_else(|| "no fact".into())
}

const HEADERS: &[(&str, &[u8])] = &[
    ("Webhook-Id", b"msg_1"),
    ("webhook-timestamp", b"1"),
    ("webhook-signature", b"v1,x"),
];

#[test]
fn a_paid_deposit_is_read_with_the_currencys_own_places() {
    for (text, currency, expected) in [
        ("101.00", "EUR", "101.00"),
        ("101", "eur", "101.00"),
        ("0.1", "USD", "0.10"),
        ("5000", "JPY", "5000"),
        ("1.2345", "USD", "1.2345"),
        ("0.00000001", "BTC", "0.00000001"),
        ("7.5", "XYZ", "7.5"),
    ] {
        let body = json!({"type": "deposit.paid", "timestamp": "2026-11-30T12:00:00Z", "data":
            {"payment_id": "p_1", "amount": text, "currency": currency, "reference": "dep-1"}});
        let fact = standard(HEADERS, &body).expect("is readable");
        assert_eq!(fact.kind, FactKind::Paid);
        assert_eq!(amount(&fact).as_deref(), Some(expected));
        assert_eq!(fact.event_key.as_str(), "msg_1");
        assert_eq!(fact.payment.expect("is there").as_str(), "p_1");
        assert_eq!(fact.reference.expect("is there").as_str(), "dep-1");
        let upper = currency.to_ascii_uppercase();
        assert_eq!(fact.currency.expect("is there").as_str(), upper);
    }
}

#[test]
fn all_that_a_paid_deposit_lacks_is_named_at_once() {
    let body = json!({"type": "deposit.paid", "data": {"amount": "", "reference": "dep-1"}});
    let why = standard(HEADERS, &body).expect_err("lacks fields");
    assert_eq!(why, "missing: data.payment_id, data.amount, data.currency");
    for wrong in [
        json!(101),
        json!("1e3"),
        json!("-1"),
        json!("1,5"),
        json!("1."),
        json!(" 1"),
    ] {
        let data = json!({"payment_id": "p_1", "amount": wrong, "currency": "EUR"});
        let why = standard(HEADERS, &json!({"type": "deposit.paid", "data": data}));
        let why = why.expect_err("is no decimal text");
        assert!(why.contains("data.amount"), "{why}");
    }
}

#[test]
fn other_types_are_ignored_and_a_missing_id_header_is_named() {
    let body = json!({"type": "deposit.created", "data": {}});
    let fact = standard(HEADERS, &body).expect("is readable");
    assert_eq!(fact.kind, FactKind::Ignored);
    let why = standard(&[], &body).expect_err("has no event key");
    assert!(why.contains("webhook-id"), "{why}");
}
