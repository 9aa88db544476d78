//! One trace id follows a payment from its webhook to its deal, over RabbitMQ and through the
//! resolver, in the logs of every service that touched it.

use std::time::Duration;

use claimcheck_lab::actors::Payment;
use claimcheck_lab::{Stack, until};
use claimcheck_tests::town::Town;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_has_one_trace_id_in_every_log() {
    let Town {
        stack,
        portal,
        sender,
        mt5,
        ..
    } = Town::start("trace").await;
    let login = 330_001;
    mt5.open(login, "USD", true).await.expect("opened");
    portal.own(login, "USD").await.expect("owned");
    // The answer is lost, so that the resolver has its part too.
    let lost = serde_json::json!({ "action": "apply-then-drop", "times": 1 });
    mt5.fault("trade/balance", login, lost).await.expect("set");
    let deposit = portal
        .deposit("trace", login, 5_000, "USD")
        .await
        .expect("registered");
    let payment = Payment::of("pi_trace", &deposit);
    sender
        .deliver(&payment.succeeded("evt_trace"), LIMIT)
        .await
        .expect("taken");
    until("the payment is credited", LIMIT, async || {
        portal
            .state(deposit.id)
            .await
            .is_ok_and(|state| state.state == "credited")
    })
    .await
    .expect("credited");
    let state = portal.state(deposit.id).await.expect("known");
    let reference = state.operation.expect("a payment came").reference;
    let mut ids = Vec::new();
    for service in ["webhook-ingest", "credit-worker", "resolver"] {
        until("the service has logged the operation", LIMIT, async || {
            trace_of(&stack, service, &reference).is_some()
        })
        .await
        .expect("logged");
        ids.extend(trace_of(&stack, service, &reference));
    }
    assert_eq!(ids.len(), 3);
    assert!(
        ids.iter().all(|id| id.len() == 32 && *id == ids[0]),
        "{ids:?}"
    );
    stack.stop().await.expect("the stack stops");
}

/// The trace id of the first line about an operation.
fn trace_of(stack: &Stack, service: &str, reference: &str) -> Option<String> {
    let log = std::fs::read_to_string(stack.log(service, 0)).ok()?;
    let mut lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let about = lines.find(|line| line.to_string().contains(reference))?;
    about
        .get("trace_id")
        .and_then(Value::as_str)
        .map(str::to_owned)
}
