//! The door for providers: what is taken, what is refused and what is kept for a person; and that
//! neither a forger nor a client that is slow or vanishes gets anything done by halves.

use std::fs;
use std::time::{Duration, Instant};

use claimcheck_lab::actors::{Deposit, Payment};
use claimcheck_lab::{SERVICES, StackOptions};
use claimcheck_providers::Provider;
use claimcheck_tests::town::{Answer, LIMIT, Signed, Town, answer, now};
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toml::toml;

/// The body limit of webhook-ingest.
const BODY_LIMIT: usize = 1024 * 1024;
/// How long a client may take here.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much later than that a slow client may be cut.
const PATIENCE_SLACK: Duration = Duration::from_secs(5);
/// How often a slow client sends a byte.
const PACE: Duration = Duration::from_millis(200);
/// Stands in every body, and must never stand in a log.
const MARK: &str = "mark-of-the-body";

/// A message of the Stripe endpoint, signed now by its own secret.
async fn deliver(town: &Town, body: &str) -> Answer {
    deliver_to(town, "stripe", &town.secret("stripe"), body).await
}

async fn deliver_to(town: &Town, endpoint: &str, secret: &SecretString, body: &str) -> Answer {
    let signed = Signed {
        provider: Provider::Stripe,
        secret,
        id: "unused",
        at: now(),
        body: body.as_bytes(),
    };
    answer(town.message(endpoint, &signed)).await
}

/// The event that a payment succeeded, with fields of its object replaced; null removes one.
fn succeeded(payment: &Payment, event: &str, changes: &Value) -> String {
    let mut body: Value = serde_json::from_str(&payment.succeeded(event)).expect("is JSON");
    let object = body
        .pointer_mut("/data/object")
        .and_then(Value::as_object_mut);
    let object = object.expect("the event has an object");
    object.insert("description".to_owned(), MARK.into());
    for (name, value) in changes.as_object().into_iter().flatten() {
        object.insert(name.clone(), value.clone());
    }
    object.retain(|_, value| !value.is_null());
    body.to_string()
}

fn plain(payment: &Payment, event: &str) -> String {
    succeeded(payment, event, &json!({}))
}

async fn signatures(town: &Town, body: &str) {
    let (own, other) = (
        town.secret("stripe"),
        SecretString::from("whsec_notTheEndpoints"),
    );
    let signed = |secret, at| {
        let signed = Signed {
            provider: Provider::Stripe,
            secret,
            id: "unused",
            at,
            body: body.as_bytes(),
        };
        town.message("stripe", &signed)
    };
    let url = format!("{}/webhooks/stripe", town.stack.endpoints().ingest);
    let bare = || town.client.post(&url).body(body.to_owned());
    let with = |value: &str| bare().header("Stripe-Signature", value);
    let stale = 10 * 60;
    let cases: Vec<(RequestBuilder, &str)> = vec![
        (signed(&other, now()), "bad_signature"),
        (signed(&own, now() - stale), "timestamp_too_old"),
        (signed(&own, now() + stale), "timestamp_too_new"),
        (
            signed(&own, now()).body(format!("{body} ")),
            "bad_signature",
        ),
        (bare(), "missing_signature"),
        (with("nonsense"), "malformed_signature"),
        (with("t=1,v0=00"), "no_supported_scheme"),
        (with(&format!("t={},v1=00", now())), "bad_signature"),
    ];
    for (request, code) in cases {
        assert_eq!(answer(request).await.refusal(), (400, code.to_owned()));
    }
    town.demand("NOT EXISTS (SELECT FROM provider_event)").await;
    let good = answer(signed(&own, now())).await;
    assert_eq!(
        (good.status, good.body.as_str()),
        (200, r#"{"received":true}"#)
    );
    town.demand("(SELECT count(*) FROM provider_event) = 1")
        .await;
}

async fn paths_and_sizes(town: &Town) {
    let ingest = &town.stack.endpoints().ingest;
    let to = |method, path: &str| town.client.request(method, format!("{ingest}{path}"));
    for (request, refusal) in [
        (
            to(Method::POST, "/webhooks/nobody"),
            (404, "unknown_endpoint"),
        ),
        (to(Method::POST, "/webhooks"), (404, "not_found")),
        (
            to(Method::POST, "/webhooks/stripe/more"),
            (404, "not_found"),
        ),
        (to(Method::GET, "/"), (404, "not_found")),
        (
            to(Method::GET, "/webhooks/stripe"),
            (405, "method_not_allowed"),
        ),
        (
            to(Method::DELETE, "/webhooks/stripe"),
            (405, "method_not_allowed"),
        ),
    ] {
        let (status, code) = answer(request).await.refusal();
        assert_eq!((status, code.as_str()), refusal);
    }
    let too_large = deliver(town, &"x".repeat(BODY_LIMIT + 1)).await;
    assert_eq!(too_large.refusal(), (413, "body_too_large".to_owned()));
    town.demand("(SELECT count(*) FROM provider_event) = 1")
        .await;
    for length in [BODY_LIMIT, BODY_LIMIT - 1, 0] {
        assert_eq!(
            deliver(town, &"x".repeat(length)).await.status,
            200,
            "{length} bytes"
        );
    }
    town.demand(
        "(SELECT array_agg(length(body) ORDER BY id) FROM provider_event WHERE kind = 'unreadable')
             = ARRAY[1048576, 1048575, 0]",
    )
    .await;
    town.demand("(SELECT count(*) FROM review_case WHERE kind = 'unreadable_event') = 3")
        .await;
    let padded = json!({
        "id": "evt_padded", "object": "event", "livemode": false, "type": "customer.updated",
        "data": { "object": { "note": "n".repeat(BODY_LIMIT - 1_000) } },
    });
    assert_eq!(deliver(town, &padded.to_string()).await.status, 200);
    town.demand("EXISTS (SELECT FROM provider_event WHERE kind = 'ignored')")
        .await;
}

/// No service has written any of this to its log: secrets, tokens, passwords, or what stood in a
/// body.
fn nothing_secret_is_logged(town: &Town) {
    let endpoints = town.stack.endpoints();
    let password = |url: &str| {
        let login = url
            .split_once("://")
            .and_then(|(_, rest)| rest.split_once('@'));
        let password = login.and_then(|(login, _)| login.split_once(':'));
        password.expect("the URL has a password").1.to_owned()
    };
    let mut secrets = vec![
        MARK.to_owned(),
        endpoints.portal_token.clone(),
        endpoints.portal_token_other.clone(),
        password(&endpoints.database),
        password(&endpoints.amqp),
    ];
    let webhooks = endpoints.webhooks.values();
    secrets.extend(webhooks.flat_map(|webhook| webhook.secrets.clone()));
    secrets.extend(endpoints.mt5.values().map(|server| server.password.clone()));
    for service in SERVICES {
        let log = fs::read_to_string(town.stack.log(service.name, 0)).expect("it has a log");
        assert!(log.contains("\"level\""), "{} logs", service.name);
        for secret in &secrets {
            assert!(secret.len() >= 8, "this is no secret worth its name");
            let line = log.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{} tells a secret", service.name);
        }
    }
}

#[tokio::test]
async fn only_what_the_provider_signed_just_now_and_in_bounds_is_taken() {
    let town = Town::start("ingest_door").await;
    let nobody = Payment {
        id: "pi_nobody".to_owned(),
        reference: "dep-1-nobody".to_owned(),
        amount_minor: 5_000,
        currency: "usd".to_owned(),
    };
    signatures(&town, &plain(&nobody, "evt_nobody")).await;
    paths_and_sizes(&town).await;
    town.demand("NOT EXISTS (SELECT FROM balance_operation)")
        .await;
    let malformed = town.cashier(Method::POST, "/v1/deposits").body(MARK);
    let malformed = malformed.header("Idempotency-Key", "malformed");
    assert_eq!(answer(malformed).await.status, 415);
    nothing_secret_is_logged(&town);
    town.stop().await;
}

/// A portal's registration with fields of its own, for an account of `client-{login}`.
async fn register(town: &Town, key: &str, login: i64, fields: &Value) -> Deposit {
    let mut body = json!({
        "client_id": format!("client-{login}"), "server": "live-1", "login": login,
        "currency": "USD", "provider": "stripe",
    });
    if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
        body.extend(fields.clone());
    }
    let request = town.cashier(Method::POST, "/v1/deposits");
    let made = answer(request.header("Idempotency-Key", key).json(&body)).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let number = |name: &str| made.get(name).and_then(Value::as_i64).expect("is a number");
    let reference = made.get("reference_for_provider").and_then(Value::as_str);
    Deposit {
        id: number("id"),
        reference: reference.expect("is a text").to_owned(),
        amount_minor: number("amount_minor"),
        login,
    }
}

/// The amounts in MT5's ledger.
async fn amounts(town: &Town, login: i64) -> Vec<String> {
    let deals = town.mt5.deals(login).await.expect("known");
    deals.into_iter().map(|deal| deal.amount).collect()
}

async fn exact_amounts(town: &Town) {
    for (login, currency, minor, ledger) in [
        (500_001, "USD", 5_001, "50.01"),
        (500_002, "JPY", 5_000, "5000"),
        (500_003, "KWD", 10_500, "10.500"),
    ] {
        town.account(login, currency).await;
        let deposit = town.portal.deposit(currency, login, minor, currency).await;
        let deposit = deposit.expect("registered");
        let payment = Payment {
            currency: currency.to_lowercase(),
            ..Payment::of(&format!("pi_{currency}"), &deposit)
        };
        let event = plain(&payment, &format!("evt_{currency}"));
        assert_eq!(deliver(town, &event).await.status, 200);
        town.reaches(&deposit, "credited").await;
        assert_eq!(
            deliver(town, &event).await.status,
            200,
            "a duplicate is taken too"
        );
        assert_eq!(amounts(town, login).await, [ledger]);
    }
}

async fn other_ways_to_name_a_deposit(town: &Town) {
    let login = 500_010;
    town.account(login, "USD").await;
    // What the payer pays is not what the account gains.
    let fields = json!({
        "amount_minor": 10_000, "pay_amount_minor": 9_200, "pay_currency": "EUR",
    });
    let deposit = register(town, "pay", login, &fields).await;
    let payment = Payment {
        currency: "eur".to_owned(),
        amount_minor: 9_200,
        ..Payment::of("pi_pay", &deposit)
    };
    assert_eq!(deliver(town, &plain(&payment, "evt_pay")).await.status, 200);
    town.reaches(&deposit, "credited").await;
    assert_eq!(amounts(town, login).await, ["100.00"]);
    town.demand(
        "(SELECT (amount_minor, currency, paid_amount_minor, paid_currency, rate_source)::text
          FROM balance_operation WHERE provider_payment_id = 'pi_pay')
             = '(10000,USD,9200,EUR,deposit)'",
    )
    .await;
    // A second payment for the same deposit is held; the first one stays what it is.
    let second = Payment {
        id: "pi_pay_again".to_owned(),
        ..payment
    };
    assert_eq!(
        deliver(town, &plain(&second, "evt_pay_again")).await.status,
        200
    );
    town.demand(
        "EXISTS (SELECT FROM balance_operation AS o JOIN review_case AS c
             ON c.operation_reference = o.reference AND c.kind = 'deposit_paid_twice'
         WHERE o.provider_payment_id = 'pi_pay_again' AND o.status = 'held')",
    )
    .await;
    town.reaches(&deposit, "credited").await;
    // Named by the payment alone, which the portal knew when it registered the deposit.
    let login = 500_011;
    town.account(login, "USD").await;
    let fields = json!({ "amount_minor": 7_700, "provider_payment_id": "pi_known" });
    let deposit = register(town, "known", login, &fields).await;
    let payment = Payment::of("pi_known", &deposit);
    let event = succeeded(&payment, "evt_known", &json!({ "metadata": null }));
    assert!(!event.contains(&deposit.reference));
    assert_eq!(deliver(town, &event).await.status, 200);
    town.reaches(&deposit, "credited").await;
    assert_eq!(amounts(town, login).await, ["77.00"]);
}

async fn kept_but_not_acted_on(town: &Town) {
    let login = 500_020;
    town.account(login, "USD").await;
    let deposit = town.portal.deposit("kept", login, 100, "USD").await;
    let deposit = deposit.expect("registered");
    let payment = Payment::of("pi_kept", &deposit);
    let live = plain(&payment, "evt_live").replace("\"livemode\":false", "\"livemode\":true");
    assert!(live.contains("\"livemode\":true"), "{live}");
    let failed = plain(&payment, "evt_failed").replace(".succeeded", ".payment_failed");
    let foreign = plain(&payment, "evt_foreign").replace("payment_intent.succeeded", "new.kind");
    let torn = format!("{{\"id\":\"evt_torn\",\"note\":\"{MARK}\"");
    let nameless = json!({ "id": "evt_nameless", "type": "payment_intent.succeeded" }).to_string();
    for body in [&live, &failed, &foreign, &torn, &nameless] {
        for _ in 0..2 {
            let taken = deliver(town, body).await;
            assert_eq!(
                (taken.status, taken.body.as_str()),
                (200, r#"{"received":true}"#)
            );
        }
    }
    let state = town.portal.state(deposit.id).await.expect("known");
    assert_eq!(
        (state.state.as_str(), state.operation),
        ("awaiting_payment", None)
    );
    town.demand("(SELECT count(*) FROM review_case WHERE kind = 'unreadable_event') = 2")
        .await;
    town.demand(
        "NOT EXISTS (SELECT FROM review_case WHERE kind = 'unreadable_event'
        AND (state <> 'open' OR seen <> 1))",
    )
    .await;
    town.demand(
        "(SELECT array_agg(kind ORDER BY event_key) FROM provider_event
        WHERE event_key IN ('evt_live', 'evt_failed', 'evt_foreign'))
        = ARRAY['failed', 'ignored', 'ignored']",
    )
    .await;
    assert_eq!(amounts(town, login).await, Vec::<String>::new());
}

async fn standard_webhooks(town: &Town) {
    let login = 500_030;
    town.account(login, "USD").await;
    let fields = json!({ "amount_minor": 4_250, "provider": "standard_webhooks" });
    let deposit = register(town, "standard", login, &fields).await;
    let body = json!({
        "type": "deposit.paid", "timestamp": "2026-11-30T12:00:00Z", "note": MARK,
        "data": {
            "payment_id": "p_standard", "amount": "42.50", "currency": "USD",
            "reference": deposit.reference,
        },
    })
    .to_string();
    let secret = town.secret("standard_webhooks");
    let signed = |at| Signed {
        provider: Provider::StandardWebhooks,
        secret: &secret,
        id: "msg_standard",
        at,
        body: body.as_bytes(),
    };
    let old = answer(town.message("standard_webhooks", &signed(now() - 600))).await;
    assert_eq!(old.refusal(), (400, "timestamp_too_old".to_owned()));
    for _ in 0..2 {
        let taken = answer(town.message("standard_webhooks", &signed(now()))).await;
        assert_eq!(taken.status, 200, "{taken:?}");
    }
    town.reaches(&deposit, "credited").await;
    assert_eq!(amounts(town, login).await, ["42.50"]);
    town.demand("EXISTS (SELECT FROM provider_event WHERE event_key = 'msg_standard')")
        .await;
}

#[tokio::test]
async fn a_taken_message_moves_exactly_its_money_or_none_and_is_told_to_no_log() {
    let mut options = StackOptions::named("ingest_meaning");
    options.overlay = toml! {
        [endpoints.rolled]
        provider = "stripe"
        secrets = ["whsec_theNewSecretOfTheEndpoint", "whsec_theOldSecretOfTheEndpoint"]
        live = false
    };
    let town = Town::start_with(options).await;
    exact_amounts(&town).await;
    other_ways_to_name_a_deposit(&town).await;
    kept_but_not_acted_on(&town).await;
    standard_webhooks(&town).await;
    // While a secret is rolled both are good, and the record says which one signed.
    for (index, secret) in ["theNew", "theOld"].iter().enumerate() {
        let secret = format!("whsec_{secret}SecretOfTheEndpoint").into();
        let body = json!({
            "id": format!("evt_rolled_{index}"), "object": "event", "livemode": false,
            "type": "customer.updated", "data": { "object": { "note": MARK } },
        });
        let taken = deliver_to(&town, "rolled", &secret, &body.to_string()).await;
        assert_eq!(taken.status, 200);
        town.demand(&format!(
            "EXISTS (SELECT FROM provider_event WHERE endpoint = 'rolled'
                 AND event_key = 'evt_rolled_{index}' AND secret_index = {index})"
        ))
        .await;
    }
    nothing_secret_is_logged(&town);
    town.stop().await;
}

/// The bytes of a signed request, as they go over the wire.
fn raw(town: &Town, body: &str) -> (String, usize) {
    let secret = town.secret("stripe");
    let signed = Signed {
        provider: Provider::Stripe,
        secret: &secret,
        id: "unused",
        at: now(),
        body: body.as_bytes(),
    };
    let mut head = "POST /webhooks/stripe HTTP/1.1\r\nHost: ingest\r\n".to_owned();
    for (name, value) in signed.headers() {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let start_of_body = head.len();
    (head + body, start_of_body)
}

async fn connect(town: &Town) -> TcpStream {
    let ingest = &town.stack.endpoints().ingest;
    let address = ingest.trim_start_matches("http://");
    TcpStream::connect(address).await.expect("it listens")
}

/// Sends what stands up to `fast` at once and the rest byte by byte; gives what was answered and
/// after how long the connection was cut.
async fn slow(town: &Town, bytes: &[u8], fast: usize) -> (String, Duration) {
    let started = Instant::now();
    let mut stream = connect(town).await;
    let (at_once, rest) = bytes.split_at(fast);
    stream.write_all(at_once).await.expect("is sent");
    let mut answered = Vec::new();
    let mut buffer = [0; 4_096];
    for byte in rest {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        // Whatever comes back within the pace; a connection that is cut ends it.
        match tokio::time::timeout(PACE, stream.read(&mut buffer)).await {
            Err(_) => {}
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(read)) => answered.extend(buffer.iter().take(read)),
        }
        assert!(started.elapsed() < LIMIT, "it is never cut");
    }
    let answered = String::from_utf8_lossy(&answered).into_owned();
    (answered, started.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_and_vanishing_clients_disturb_nobody_and_leave_nothing_half_done() {
    let mut options = StackOptions::named("ingest_clients");
    options.overlay = toml! {
        [webhook-ingest]
        patience = "2s"
    };
    let town = Town::start_with(options).await;
    let login = 510_001;
    town.account(login, "USD").await;
    let deposit = town.portal.deposit("slow", login, 100, "USD").await;
    let deposit = deposit.expect("registered");
    let event = plain(&Payment::of("pi_slow", &deposit), "evt_slow");
    let (bytes, start_of_body) = raw(&town, &event);
    let bytes = bytes.as_bytes();
    // Twenty are slow with their bodies and twenty with their heads, while one is served.
    let bodies = join_all((0..20).map(|_| slow(&town, bytes, start_of_body)));
    let heads = join_all((0..20).map(|_| slow(&town, bytes, 10)));
    let other = async {
        let mut slowest = Duration::ZERO;
        for _ in 0..10 {
            let (status, took) = town.sender.post("{}").await.expect("an answer");
            assert_eq!(status, 200);
            slowest = slowest.max(took);
        }
        slowest
    };
    let (bodies, heads, slowest) = tokio::join!(bodies, heads, other);
    assert!(
        slowest < PATIENCE,
        "the others wait for the slow: {slowest:?}"
    );
    for (answered, took) in &bodies {
        assert!(answered.starts_with("HTTP/1.1 408"), "{answered:?}");
        assert!(answered.contains("body_too_slow"), "{answered:?}");
        assert!(*took < PATIENCE + PATIENCE_SLACK, "{took:?}");
    }
    for (answered, took) in &heads {
        assert!(!answered.contains("HTTP/1.1 2"), "{answered:?}");
        assert!(*took < PATIENCE + PATIENCE_SLACK, "{took:?}");
    }
    town.demand("NOT EXISTS (SELECT FROM provider_event WHERE event_key = 'evt_slow')")
        .await;

    // Some hang up in the middle of the body, some right behind it.
    let half = start_of_body.midpoint(bytes.len());
    for length in [half, bytes.len()].repeat(10) {
        let mut stream = connect(&town).await;
        let (sent, _) = bytes.split_at(length);
        stream.write_all(sent).await.expect("is sent");
        drop(stream);
    }
    assert_eq!(deliver(&town, &event).await.status, 200);
    town.reaches(&deposit, "credited").await;
    assert_eq!(amounts(&town, login).await, ["1.00"]);
    town.demand("(SELECT count(*) FROM provider_event WHERE event_key = 'evt_slow') = 1")
        .await;
    town.demand("(SELECT count(*) FROM balance_operation) = 1")
        .await;
    town.stop().await;
}
