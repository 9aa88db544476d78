//! Scenarios: the facts of each delivery, and that each delivery's signature is right.
//!
//! Facts are read without memory, so two things of the fixtures are not expected here: `duplicate`,
//! and the reference of a refund or dispute whose body carries none.

use claimcheck_core::EventFact;
use claimcheck_providers::{Config, Delivery, PartKind, Provider, Secrets};
use serde_json::{Map, Value, json};

use crate::fixture::{borrowed, folder_path, headers, lines, secret};

/// The fields of the fixtures that a fact without memory can carry.
const FIELDS: &[&str] = &[
    "kind",
    "event_key",
    "payment",
    "ref",
    "amount",
    "currency",
    "refund",
    "dispute",
    "report",
    "same_money_as",
    "amount_is",
];

fn as_fixture(fact: &EventFact) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<String>| {
        fields.insert(name.into(), json!(value));
    };
    put("kind", Some(fact.kind.code().into()));
    put("event_key", Some(fact.event_key.to_string()));
    put("payment", fact.payment.as_ref().map(ToString::to_string));
    put("ref", fact.reference.as_ref().map(ToString::to_string));
    put("amount", fact.amount.map(|amount| amount.to_string()));
    put("currency", fact.currency.as_ref().map(ToString::to_string));
    put(PartKind::of(fact.kind).field(), fact.part.clone());
    put("same_money_as", fact.same_money_as.clone());
    let total = fact.is_running_total.then(|| "total_so_far".into());
    put("amount_is", total);
    fields.retain(|_, value| !value.is_null());
    fields
}

/// What is expected of a fact that was read from `body` alone.
fn expected(fact: &Value, body: &str) -> Map<String, Value> {
    let mut fields = fact.as_object().expect("is an object").clone();
    fields.retain(|name, value| FIELDS.contains(&name.as_str()) && !value.is_null());
    if !body.contains("deposit_ref") && !body.contains("client_reference_id") {
        fields.remove("ref");
    }
    fields
}

#[test]
fn every_scenario_gives_its_facts() {
    let mut deliveries = 0;
    for provider in Provider::ALL {
        let file = folder_path("events").join(format!("{}.jsonl", provider.name()));
        // Standard Webhooks leaves the body to its sender; its scenarios are in `meaning`.
        if !file.exists() && *provider == Provider::StandardWebhooks {
            continue;
        }
        for scenario in lines("events", *provider) {
            let config = Config {
                live: scenario["config"]["livemode"].as_bool(),
                account: scenario["config"]["account"].as_str().map(Into::into),
                ..Config::default()
            };
            let secret = secret(scenario["config"]["webhook_secret"].as_str().expect("text"));
            let secrets = Secrets::parse(*provider, &[secret]).expect("is usable");
            for delivery in scenario["deliveries"].as_array().expect("is a list") {
                check(
                    *provider,
                    delivery,
                    &secrets,
                    &config,
                    &scenario["scenario"],
                );
                deliveries += 1;
            }
        }
    }
    assert!(deliveries > 40, "only {deliveries} deliveries were played");
}

fn check(
    provider: Provider,
    fixture: &Value,
    secrets: &Secrets,
    config: &Config,
    scenario: &Value,
) {
    let body = fixture["body"].as_str().expect("is text");
    let headers = headers(&fixture["headers"]);
    let borrowed = borrowed(&headers);
    let now = fixture["now"].as_i64().expect("is a time");
    let delivery = Delivery::new(&borrowed, body.as_bytes(), now);
    let verified = provider.verify(&delivery, secrets, config.tolerance);
    assert!(verified.is_ok(), "{scenario}: {verified:?}");
    let facts = provider.facts(&delivery, config).expect("is readable");
    let facts: Vec<_> = facts.iter().map(as_fixture).collect();
    let wanted = fixture["facts"].as_array().expect("is a list").iter();
    let wanted: Vec<_> = wanted.map(|fact| expected(fact, body)).collect();
    assert_eq!(facts, wanted, "{scenario}");
}
