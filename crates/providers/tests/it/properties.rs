//! What must hold for any input: no panic, and no altered byte accepted.

use claimcheck_providers::{Config, Delivery, Provider, Reason};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixture::{borrowed, good_secret, good_secrets};

const NOW: i64 = 1_796_040_000;

fn signed(provider: Provider, body: &[u8]) -> Vec<(String, Vec<u8>)> {
    let signed = provider.sign(&good_secret(provider), body, NOW, "msg_1");
    let headers = signed.expect("can sign").into_iter();
    headers
        .map(|(name, value)| (name, value.into_bytes()))
        .collect()
}

fn providers() -> impl Strategy<Value = Provider> {
    proptest::sample::select(Provider::ALL)
}

/// Header names that matter, and bytes that often do.
fn wild_headers() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let names = proptest::sample::select(vec![
        "Stripe-Signature",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "svix-id",
        "SVIX-Signature",
        "other",
    ]);
    let values = prop_oneof![
        vec(any::<u8>(), 0..200),
        "(t=[0-9]{0,12},?|v1=[0-9a-f]{0,70},?|v0=x,?| ){0,6}".prop_map(String::into_bytes),
        "(v1,[A-Za-z0-9+/]{0,50}={0,2} ?){0,4}".prop_map(String::into_bytes),
        "[0-9]{1,20}".prop_map(String::into_bytes),
    ];
    vec((names.prop_map(str::to_owned), values), 0..6)
}

/// JSON that looks like an event, with anything in its fields.
fn wild_event() -> impl Strategy<Value = Vec<u8>> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[0-9]{1,30}(\\.[0-9]{1,5})?(e[0-9]{1,4})?",
        "\"[ -!#-\\[\\]-~]{0,30}\"",
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    let kinds = proptest::sample::select(vec![
        "payment_intent.succeeded",
        "charge.refunded",
        "charge.succeeded",
        "refund.updated",
        "charge.dispute.closed",
        "checkout.session.completed",
        "payout.reconciliation_completed",
        "deposit.paid",
    ]);
    let names = proptest::sample::select(vec![
        "id",
        "object",
        "amount",
        "amount_received",
        "amount_captured",
        "amount_refunded",
        "amount_total",
        "currency",
        "captured",
        "status",
        "payment_status",
        "payment_intent",
        "metadata",
        "payment_id",
        "reference",
        "mode",
    ]);
    (kinds, vec((names, scalar), 0..10)).prop_map(|(kind, fields)| {
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        let fields = fields.join(",");
        let data = format!("{{\"object\":{{{fields}}},{fields}}}").replace(",}", "}");
        format!("{{\"id\":\"evt_1\",\"type\":\"{kind}\",\"data\":{data}}}").into_bytes()
    })
}

proptest! {
    #[test]
    fn nothing_that_arrives_makes_a_panic(
        provider in providers(),
        headers in wild_headers(),
        body in prop_oneof![vec(any::<u8>(), 0..300), wild_event()],
        now in any::<i64>(),
    ) {
        let borrowed = borrowed(&headers);
        let delivery = Delivery::new(&borrowed, &body, now);
        let secrets = good_secrets(provider);
        let verified = provider.verify(&delivery, &secrets, Config::TOLERANCE_DEFAULT);
        prop_assert!(verified.is_err(), "nobody signed this");
        let config = Config { live: None, ..Config::default() };
        let _ = provider.facts(&delivery, &config);
        let _ = provider.readable(&body);
        let _ = provider.hint(&delivery, &secrets, Config::TOLERANCE_DEFAULT);
    }

    #[test]
    fn an_event_with_anything_in_its_fields_makes_no_panic(
        provider in providers(),
        body in wild_event(),
    ) {
        let headers = signed(provider, &body);
        let borrowed = borrowed(&headers);
        let delivery = Delivery::new(&borrowed, &body, NOW);
        if let Ok(facts) = provider.facts(&delivery, &Config::default()) {
            prop_assert!(!facts.is_empty());
        }
    }

    #[test]
    fn what_is_signed_is_valid_and_any_altered_byte_is_not(
        provider in providers(),
        body in vec(any::<u8>(), 1..200),
        position in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let headers = signed(provider, &body);
        let borrowed = borrowed(&headers);
        let secrets = good_secrets(provider);
        let verify = |body: &[u8]| {
            let delivery = Delivery::new(&borrowed, body, NOW);
            let verified = provider.verify(&delivery, &secrets, Config::TOLERANCE_DEFAULT);
            verified.map_err(|rejection| rejection.reason)
        };
        prop_assert!(verify(&body).is_ok());
        let mut altered = body.clone();
        altered[position.index(body.len())] ^= change;
        prop_assert_eq!(verify(&altered), Err(Reason::BadSignature));
        prop_assert_eq!(verify(&body[1..]), Err(Reason::BadSignature));
        prop_assert_eq!(verify(&[&body[..], b" "].concat()), Err(Reason::BadSignature));
    }
}
