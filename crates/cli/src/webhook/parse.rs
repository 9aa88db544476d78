//! `webhook parse`: what does this message mean?
//!
//! Checks no signature and keeps no memory between deliveries, so a fact holds what its body says
//! and nothing else.

use std::path::PathBuf;

use claimcheck_core::EventFact;
use claimcheck_providers::{Config, Delivery, PartKind, Provider, Unreadable};
use clap::Args;
use serde_json::{Map, Value, json};

use super::request::{self, Fields, Header};
use crate::output::{line, note};

/// Stands for an event key whose header was not given; never printed.
const NO_KEY: &str = "not-given";

#[derive(Debug, Args)]
pub(super) struct ParseArgs {
    /// The provider, such as stripe.
    #[arg(long, value_name = "P", value_parser = Provider::from_name)]
    #[arg(required_unless_present = "request")]
    provider: Option<Provider>,
    /// A header of the request, as 'Name: value'; some providers' event key is one.
    #[arg(long = "header", value_name = "HEADER", value_parser = Header::parse)]
    headers: Vec<Header>,
    /// Reads scenarios from a file instead, one JSON object a line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["provider", "headers", "body_file"])]
    request: Option<PathBuf>,
    /// Prints the answer alone, without words for a person.
    #[arg(long)]
    json: bool,
    /// The exact body.
    #[arg(value_name = "BODY_FILE", required_unless_present = "request")]
    body_file: Option<PathBuf>,
}

/// True if every body could be read.
pub(super) fn run(args: ParseArgs) -> bool {
    if let Some(path) = &args.request {
        return request::each_line(path, |text| {
            let answers = answer_scenario(text);
            for answer in &answers {
                line(&answer.to_string());
            }
            answers.iter().all(is_read)
        });
    }
    let (Some(provider), Some(body)) = (args.provider, request::body(args.body_file)) else {
        return false;
    };
    let answer = read_one(provider, args.headers, &body);
    line(&answer.to_string());
    if let Some(error) = answer.get("error").and_then(Value::as_str)
        && !args.json
    {
        note(error);
    }
    is_read(&answer)
}

/// Reads a body by itself: where the event key travels in a header that was not given, the facts
/// are told without it.
fn read_one(provider: Provider, mut headers: Vec<Header>, body: &[u8]) -> Value {
    let absent = provider.event_key_header().filter(|_| headers.is_empty());
    if let Some(name) = absent {
        headers.push(Header {
            name: name.to_owned(),
            value: NO_KEY.to_owned(),
        });
    }
    let config = Config::default();
    let mut answer = request::deliver(&headers, body, 0, |delivery| {
        read(provider, delivery, &config)
    });
    if absent.is_some()
        && let Some(facts) = answer.get_mut("facts").and_then(Value::as_array_mut)
    {
        for fact in facts.iter_mut().filter_map(Value::as_object_mut) {
            fact.insert("event_key".to_owned(), Value::Null);
        }
    }
    answer
}

/// One answer per delivery; a scenario that cannot be read at all gives one.
fn answer_scenario(text: &[u8]) -> Vec<Value> {
    let fields = match request::object(text) {
        Ok(fields) => fields,
        Err(error) => return vec![unread(&error)],
    };
    let scenario = Fields(&fields);
    let deliveries = match scenario.list("deliveries") {
        Ok(deliveries) => deliveries,
        Err(error) => return vec![unread(&error)],
    };
    let known = || Ok((scenario.provider()?, scenario.config()?));
    match known() {
        Ok((provider, config)) => deliveries
            .iter()
            .map(|delivery| answer_delivery(provider, delivery, &config))
            .collect(),
        Err::<_, String>(error) if deliveries.is_empty() => vec![unread(&error)],
        Err(error) => deliveries.iter().map(|_| unread(&error)).collect(),
    }
}

fn answer_delivery(provider: Provider, delivery: &Value, config: &Config) -> Value {
    let answer = || -> Result<Value, String> {
        let fields = delivery.as_object().ok_or("a delivery is not an object")?;
        let fields = Fields(fields);
        let (headers, body) = (fields.headers()?, fields.body()?);
        let now = fields.time("now")?.unwrap_or_default();
        Ok(request::deliver(&headers, &body, now, |delivery| {
            read(provider, delivery, config)
        }))
    };
    answer().unwrap_or_else(|error| unread(&error))
}

fn read(provider: Provider, delivery: &Delivery<'_>, config: &Config) -> Value {
    match provider.facts(delivery, config) {
        Ok(facts) => {
            let facts: Vec<Value> = facts.iter().map(as_json).collect();
            json!({"facts": facts})
        }
        Err(Unreadable { why }) => unread(&why),
    }
}

fn unread(error: &str) -> Value {
    json!({"facts": [], "error": error})
}

fn is_read(answer: &Value) -> bool {
    answer.get("error").is_none()
}

fn as_json(fact: &EventFact) -> Value {
    let mut fields = Map::new();
    let text = |value: Option<&dyn ToString>| json!(value.map(ToString::to_string));
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("kind", json!(fact.kind.code()));
    put("event_key", json!(fact.event_key.as_str()));
    put("payment", text(fact.payment.as_ref().map(|v| v as _)));
    put("ref", text(fact.reference.as_ref().map(|v| v as _)));
    put("amount", text(fact.amount.as_ref().map(|v| v as _)));
    put("currency", text(fact.currency.as_ref().map(|v| v as _)));
    if let Some(part) = &fact.part {
        put(PartKind::of(fact.kind).field(), json!(part));
    }
    if let Some(key) = &fact.same_money_as {
        put("same_money_as", json!(key));
    }
    if fact.is_running_total {
        put("amount_is", json!("total_so_far"));
    }
    if let Some(why) = &fact.why {
        put("why", json!(why));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_has_one_answer_per_delivery() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/webhooks/events/stripe.jsonl"
        );
        for text in std::fs::read_to_string(path).expect("is a fixture").lines() {
            let scenario: Value = serde_json::from_str(text).expect("is JSON");
            let deliveries = scenario["deliveries"].as_array().expect("is a list");
            let answers = answer_scenario(text.as_bytes());
            assert_eq!(answers.len(), deliveries.len());
            for (answer, delivery) in answers.iter().zip(deliveries) {
                let (got, wanted) = (&answer["facts"][0], &delivery["facts"][0]);
                for name in ["kind", "event_key", "payment", "amount", "currency"] {
                    assert_eq!(got[name], wanted[name], "{name} in {answer}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_answered_in_its_place() {
        let unknown = br#"{"provider": "nobody", "deliveries": [{"body": "{}"}, {}]}"#;
        let answers = answer_scenario(unknown);
        assert_eq!(answers.len(), 2);
        assert!(answers.iter().all(|answer| !is_read(answer)));
        let mixed = br#"{"provider": "stripe", "config": {"livemode": null}, "deliveries": [
            {"body": "no"}, 7, {"body": "{\"id\":\"evt_1\",\"type\":\"x\"}"}]}"#;
        let read: Vec<bool> = answer_scenario(mixed).iter().map(is_read).collect();
        assert_eq!(read, [false, false, true]);
        assert_eq!(answer_scenario(b"{").len(), 1);
    }

    #[test]
    fn a_body_alone_is_read_without_its_key() {
        let body =
            br#"{"type":"deposit.paid","data":{"payment_id":"p","amount":"1","currency":"USD"}}"#;
        let answer = read_one(Provider::StandardWebhooks, Vec::new(), body);
        assert_eq!(answer["facts"][0]["event_key"], Value::Null, "{answer}");
        assert_eq!(answer["facts"][0]["amount"], "1.00");
    }
}
