//! Services killed in the middle of many payments, and a stop in the middle of a call. The books
//! are the test's own; MT5's ledger is the truth.

use std::time::Duration;

use claimcheck_lab::actors::Payment;
use claimcheck_lab::flood::Flood;
use claimcheck_lab::{Signal, until};
use claimcheck_tests::town::Town;

/// Payments of the storm.
const PAYMENTS: i64 = 300;
/// Longest time for everything to end: leases, two looks, and restarts.
const LIMIT: Duration = Duration::from_secs(120);
/// Each service is killed when the ledger holds this many deals.
const KILLS: [(&str, usize); 6] = [
    ("credit-worker", 20),
    ("webhook-ingest", 60),
    ("resolver", 100),
    ("cashier", 140),
    ("credit-worker", 180),
    ("webhook-ingest", 220),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_service_is_killed_during_300_payments_and_each_has_exactly_one_deal() {
    let Town {
        stack,
        portal,
        sender,
        mt5,
        ..
    } = Town::start("storm").await;
    let flood = Flood::register(&portal, &mt5, 300_001, PAYMENTS)
        .await
        .expect("registered");
    let kill = async {
        for (service, deals) in KILLS {
            until("the flood has come this far", LIMIT, async || {
                flood.deals(&mt5).await.is_ok_and(|all| all.len() >= deals)
            })
            .await?;
            stack.kill(service, 0, Signal::Kill).await?;
            stack.start_service(service, 0).await?;
        }
        anyhow::Ok(())
    };
    let (sent, killed) = tokio::join!(flood.send(&sender, LIMIT), kill);
    sent.expect("every webhook is taken in the end");
    killed.expect("every service is killed and starts again");
    let credited = until("every payment is credited", LIMIT, async || {
        flood.is_credited(&portal).await.unwrap_or(false)
    })
    .await;
    let audit = flood.audit(&portal, &mt5).await.expect("audited");
    assert_eq!(audit.wrong, Vec::<String>::new(), "{credited:?}");
    assert_eq!(audit.deals, flood.payments());
    stack.stop().await.expect("the stack stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_told_to_stop_finishes_the_call_under_way_and_takes_no_other() {
    let town = Town::start("drain").await;
    let login = 310_001;
    town.account(login, "USD").await;
    let Town {
        stack,
        portal,
        sender,
        mt5,
        ..
    } = town;
    let deposit = portal
        .deposit("drain", login, 12_300, "USD")
        .await
        .expect("registered");
    let late = serde_json::json!({ "action": "late-reply", "seconds": 2, "times": 1 });
    mt5.fault("trade/balance", login, late).await.expect("set");
    let payment = Payment::of("pi_drain", &deposit);
    sender
        .deliver(&payment.succeeded("evt_drain"), LIMIT)
        .await
        .expect("taken");
    until("MT5 has applied it", LIMIT, async || {
        mt5.deals(login).await.is_ok_and(|deals| deals.len() == 1)
    })
    .await
    .expect("applied");
    let worker = stack.process("credit-worker", 0).expect("the worker runs");
    let told = stack.kill("credit-worker", 0, Signal::Term).await;
    told.expect("told to stop");
    let behind = portal
        .deposit("behind", login, 45_600, "USD")
        .await
        .expect("registered");
    let next = Payment::of("pi_behind", &behind);
    sender
        .deliver(&next.succeeded("evt_behind"), LIMIT)
        .await
        .expect("taken");
    assert!(worker.ends_within(LIMIT).await, "it ends by itself");
    let state = portal.state(deposit.id).await.expect("known");
    let operation = state.operation.as_ref().expect("it came");
    assert_eq!(
        (state.state.as_str(), operation.status.as_str()),
        ("credited", "done")
    );
    let waiting = portal
        .state(behind.id)
        .await
        .expect("known")
        .operation
        .expect("it came");
    assert_eq!(
        waiting.status, "pending",
        "nothing was claimed after the stop request"
    );
    stack
        .start_service("credit-worker", 0)
        .await
        .expect("starts again");
    until("the next payment is credited", LIMIT, async || {
        portal
            .state(behind.id)
            .await
            .is_ok_and(|state| state.state == "credited")
    })
    .await
    .expect("credited");
    assert_eq!(mt5.deals(login).await.expect("known").len(), 2);
    stack.stop().await.expect("the stack stops");
}
