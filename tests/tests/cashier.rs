//! The portal's API as a careless or hostile portal uses it: what is refused, in which order and
//! in which words, and that a write under a key is done once whatever is sent how often.

use claimcheck_tests::town::{Answer, Town, answer};
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// An account that these tests own.
const LOGIN: i64 = 400_001;
const DEPOSITS: &str = "/v1/deposits";

/// A deposit that is taken.
fn good() -> Value {
    json!({
        "client_id": format!("client-{LOGIN}"), "server": "live-1", "login": LOGIN,
        "amount_minor": 5_000, "currency": "USD", "provider": "stripe",
    })
}

/// The same with one field replaced; null leaves it out.
fn with(field: &str, value: Value) -> Value {
    let mut body = good();
    if let Some(map) = body.as_object_mut() {
        map.insert(field.to_owned(), value);
    }
    body
}

fn post(town: &Town, key: &str) -> RequestBuilder {
    town.cashier(Method::POST, DEPOSITS)
        .header("Idempotency-Key", key)
        .header("Content-Type", "application/json")
}

async fn deposit(town: &Town, key: &str, body: &Value) -> Answer {
    answer(post(town, key).body(body.to_string())).await
}

/// The fields that a refusal names.
fn fields(refused: &Answer) -> Vec<String> {
    assert_eq!(refused.refusal(), (422, "invalid_fields".to_owned()));
    let json = refused.json();
    let named = json.get("errors").and_then(Value::as_array);
    let named = named.expect("a list of fields").iter();
    named
        .map(|one| {
            assert!(one.get("what").is_some_and(Value::is_string), "{one}");
            let field = one.get("field").and_then(Value::as_str);
            field.unwrap_or_default().to_owned()
        })
        .collect()
}

async fn refused_in_order(town: &Town) {
    let url = format!("{}{DEPOSITS}", town.stack.endpoints().cashier);
    // Everything is wrong at once; each step mends the first thing.
    let huge = "x".repeat(64 * 1024 + 1);
    let unknown = town.client.post(&url).body(huge.clone());
    for request in [
        town.client.post(&url).body(huge.clone()),
        unknown.bearer_auth("nobody"),
        town.client.post(&url).basic_auth("portal", Some("x")),
        town.client.get(format!("{url}/1")),
        town.client.put(format!("{url}/../accounts/live-1/1")),
    ] {
        assert_eq!(
            answer(request).await.refusal(),
            (401, "unauthorized".to_owned())
        );
    }
    let no_key = town.cashier(Method::POST, DEPOSITS).body(huge.clone());
    let refused = answer(no_key).await.refusal();
    assert_eq!(refused, (400, "idempotency_key_missing".to_owned()));
    for key in [" ", &"k".repeat(256)] {
        let bad_key = town.cashier(Method::POST, DEPOSITS).body(huge.clone());
        let refused = answer(bad_key.header("Idempotency-Key", key))
            .await
            .refusal();
        assert_eq!(refused, (400, "idempotency_key_invalid".to_owned()));
    }
    let untyped = || {
        let request = town.cashier(Method::POST, DEPOSITS);
        request.header("Idempotency-Key", "order")
    };
    let refused = answer(untyped().body(huge)).await.refusal();
    assert_eq!(refused, (413, "body_too_large".to_owned()));
    let refused = answer(untyped().body("{")).await.refusal();
    assert_eq!(refused, (415, "media_type".to_owned()));
    for (number, body) in ["", "{", "[]", "null", "{\"a\":1}x"].iter().enumerate() {
        let refused = answer(post(town, &format!("malformed-{number}")).body(*body)).await;
        assert_eq!(
            refused.refusal(),
            (400, "malformed_body".to_owned()),
            "{body:?}"
        );
    }
}

async fn refused_by_field(town: &Town) {
    let all = deposit(town, "all", &json!({ "amount_minor": "5", "extra": 1 })).await;
    let named = fields(&all);
    for field in [
        "client_id",
        "server",
        "login",
        "amount_minor",
        "currency",
        "provider",
        "extra",
    ] {
        assert!(named.iter().any(|one| one == field), "{field}: {named:?}");
    }
    // As text: a JSON library would not write these numbers.
    for (number, amount) in [
        "\"5000\"",
        "5000.0",
        "5e3",
        "0",
        "-1",
        "true",
        "9223372036854775808",
    ]
    .iter()
    .enumerate()
    {
        let body = good().to_string().replace(":5000", &format!(":{amount}"));
        assert_ne!(body, good().to_string());
        let refused = answer(post(town, &format!("amount-{number}")).body(body)).await;
        assert_eq!(fields(&refused), ["amount_minor"], "{amount}");
    }
    let other = json!("nowhere");
    for (field, value, word) in [
        ("server", other.clone(), "live-1"),
        ("provider", other.clone(), "stripe"),
        ("currency", json!("usd"), "USD"),
        ("login", json!(0), "above zero"),
        ("login", json!("400001"), "whole number"),
        ("client_id", json!(""), "empty"),
        ("extra", json!(1), "not known"),
    ] {
        let key = format!("field-{field}-{value}");
        let refused = deposit(town, &key.replace('"', ""), &with(field, value)).await;
        assert_eq!(fields(&refused), [field]);
        assert!(refused.body.contains(word), "{word}: {refused:?}");
    }
    let half = deposit(town, "half", &with("pay_amount_minor", json!(5))).await;
    assert_eq!(fields(&half), ["pay_amount_minor"]);
}

async fn refused_by_owner(town: &Town) {
    for (key, field, value, code) in [
        (
            "owner",
            "client_id",
            json!("somebody-else"),
            "not_the_owner",
        ),
        ("currency", "currency", json!("EUR"), "account_currency"),
        ("account", "login", json!(499_999), "account_unknown"),
        ("server", "server", json!("live-2"), "account_unknown"),
    ] {
        let body = with(field, value);
        let first = deposit(town, key, &body).await;
        assert_eq!(first.refusal(), (422, code.to_owned()));
        // A stored refusal repeats as it was.
        let again = deposit(town, key, &body).await;
        assert_eq!(again.refusal(), (422, code.to_owned()));
        assert!(again.is_replayed && !first.is_replayed, "{again:?}");
        assert_eq!(again.json(), first.json());
    }
    let malformed = answer(post(town, "stored").body("{")).await;
    let again = answer(post(town, "stored").body("{")).await;
    assert_eq!(again.refusal(), malformed.refusal());
    assert!(
        again.is_replayed,
        "what is decided after the key is stored: {again:?}"
    );
}

#[tokio::test]
async fn what_is_wrong_is_refused_in_a_fixed_order_with_every_fault_and_changes_nothing() {
    let town = Town::start("cashier_wrong").await;
    town.account(LOGIN, "USD").await;
    refused_in_order(&town).await;
    refused_by_field(&town).await;
    refused_by_owner(&town).await;
    for (method, path, refusal) in [
        (Method::GET, "/", (404, "not_found")),
        (Method::GET, "/v1/nothing", (404, "not_found")),
        (Method::POST, "/v1/deposits/1/2", (404, "not_found")),
        (Method::GET, DEPOSITS, (405, "method_not_allowed")),
        (Method::DELETE, DEPOSITS, (405, "method_not_allowed")),
        (
            Method::DELETE,
            "/v1/deposits/1",
            (405, "method_not_allowed"),
        ),
        (
            Method::GET,
            "/v1/accounts/live-1/1",
            (405, "method_not_allowed"),
        ),
        (
            Method::GET,
            "/v1/deposits/999999",
            (404, "deposit_not_found"),
        ),
        (Method::GET, "/v1/deposits/x", (404, "deposit_not_found")),
        (
            Method::GET,
            "/v1/deposits/99999999999999999999",
            (404, "deposit_not_found"),
        ),
    ] {
        let (status, code) = answer(town.cashier(method, path)).await.refusal();
        assert_eq!((status, code.as_str()), refusal, "{path}");
    }
    for (path, field) in [
        ("nowhere/1", "server"),
        ("live-1/0", "login"),
        ("live-1/x", "login"),
    ] {
        let request = town.cashier(Method::PUT, &format!("/v1/accounts/{path}"));
        let request = request.header("Idempotency-Key", "account");
        let body = json!({ "client_id": "c", "currency": "USD" });
        assert_eq!(fields(&answer(request.json(&body)).await), [field]);
    }
    town.demand("NOT EXISTS (SELECT FROM deposit)").await;
    town.demand("(SELECT count(*) FROM trading_account) = 1")
        .await;
    town.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_under_a_key_is_done_once_and_answered_alike_ever_after() {
    let town = Town::start("cashier_keys").await;
    town.account(LOGIN, "USD").await;
    let first = deposit(&town, "one", &good()).await;
    assert_eq!((first.status, first.is_replayed), (201, false), "{first:?}");
    let again = deposit(&town, "one", &good()).await;
    assert_eq!((again.status, again.is_replayed), (200, true));
    assert_eq!(
        (again.json(), again.media_type.as_str()),
        (first.json(), "application/json")
    );
    town.demand("(SELECT count(*) FROM deposit) = 1").await;
    let other = deposit(&town, "one", &with("amount_minor", json!(5_001))).await;
    assert_eq!(other.refusal(), (422, "idempotency_key_reused".to_owned()));
    let other = answer(post(&town, "one").body("{")).await;
    assert_eq!(other.refusal(), (422, "idempotency_key_reused".to_owned()));

    // A key belongs to its caller: another one's is another key, and another deposit.
    let endpoints = town.stack.endpoints();
    let theirs = town.client.post(format!("{}{DEPOSITS}", endpoints.cashier));
    let theirs = theirs.bearer_auth(&endpoints.portal_token_other);
    let theirs = theirs.header("Idempotency-Key", "one");
    let theirs = answer(theirs.json(&good())).await;
    assert_eq!(
        (theirs.status, theirs.is_replayed),
        (201, false),
        "{theirs:?}"
    );
    assert_ne!(theirs.json()["id"], first.json()["id"]);
    town.demand("(SELECT count(*) FROM deposit) = 2").await;

    // Many at once: one is done, the others hear of it or of its being under way.
    for round in 0..5 {
        let key = format!("at-once-{round}");
        let body = good();
        let all = join_all((0..8).map(|_| deposit(&town, &key, &body))).await;
        let made = all.iter().filter(|one| one.status == 201).count();
        assert_eq!(made, 1, "{all:?}");
        for one in all.iter().filter(|one| one.status != 201) {
            if one.status == 409 {
                assert_eq!(one.code(), "idempotency_in_progress");
            } else {
                assert_eq!((one.status, one.is_replayed), (200, true), "{one:?}");
            }
        }
    }
    town.demand("(SELECT count(*) FROM deposit) = 7").await;

    // One payment of the provider belongs to one deposit.
    let bound = with("provider_payment_id", json!("pi_bound"));
    assert_eq!(deposit(&town, "bound", &bound).await.status, 201);
    let taken = deposit(&town, "taken", &bound).await;
    assert_eq!(taken.refusal(), (409, "payment_taken".to_owned()));
    town.demand("(SELECT count(*) FROM deposit) = 8").await;
    let shown = answer(town.cashier(Method::GET, "/v1/deposits/1")).await;
    assert_eq!((shown.status, shown.json()), (200, first.json()));
    town.stop().await;
}
