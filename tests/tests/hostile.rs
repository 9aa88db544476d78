//! What a hostile provider, a broken trade server and an unlucky order of events once did to us;
//! each ending here is the right one.

use std::time::Duration;

use claimcheck_lab::actors::{Deposit, Payment};
use claimcheck_lab::until;
use claimcheck_tests::town::Town;
use serde_json::json;

/// Longest time for an ending: a lease, the late-apply margin and two looks, several in a row.
const LIMIT: Duration = Duration::from_secs(90);

async fn send(town: &Town, body: &str) {
    let (status, _) = town.sender.post(body).await.expect("an answer");
    assert_eq!(status, 200, "{body}");
}

async fn deposit(town: &Town, key: &str, login: i64) -> Deposit {
    town.portal
        .deposit(key, login, 5_000, "USD")
        .await
        .expect("registered")
}

/// Signed bodies that the database cannot hold as they are read: kept as bytes, with a case.
async fn what_cannot_be_stored_is_kept_and_told(town: &Town) {
    for (number, id) in ["re_\u{0}".to_owned(), "r".repeat(9_000)]
        .into_iter()
        .enumerate()
    {
        let body = json!({
            "id": format!("evt_odd_{number}"), "object": "event", "type": "refund.created",
            "livemode": false, "created": 1,
            "data": { "object": { "id": id, "object": "refund", "amount": 100,
                "currency": "usd", "status": "succeeded", "payment_intent": "pi_odd" } },
        });
        send(town, &body.to_string()).await;
        send(town, &body.to_string()).await;
    }
    town.demand(
        "(SELECT count(*) FROM review_case
          WHERE kind IN ('unreadable_event', 'money_back')) = 2",
    )
    .await;
}

/// The reference of another client's deposit on a payment that is on record.
async fn another_reference_is_a_contradiction(town: &Town, login: i64) {
    let own = deposit(town, "own", login).await;
    let other = deposit(town, "other", login).await;
    send(town, &Payment::of("pi_ref", &own).succeeded("evt_ref_1")).await;
    send(town, &Payment::of("pi_ref", &own).succeeded("evt_ref_2")).await;
    send(town, &Payment::of("pi_ref", &other).succeeded("evt_ref_3")).await;
    town.reaches(&own, "credited").await;
    town.demand(&format!(
        "(SELECT count(*) FROM review_case
          WHERE kind = 'payment_contradiction' AND deposit_id = {}) = 1",
        own.id
    ))
    .await;
}

/// A wrong payment that comes first is held and does not stop the right one.
async fn a_wrong_payment_does_not_block_the_right_one(town: &Town, login: i64) {
    let deposit = deposit(town, "blocked", login).await;
    let right = Payment::of("pi_right", &deposit);
    let wrong = Payment {
        id: "pi_wrong".to_owned(),
        amount_minor: 1,
        ..right.clone()
    };
    send(town, &wrong.succeeded("evt_wrong")).await;
    town.reaches(&deposit, "in_review").await;
    send(town, &right.succeeded("evt_right")).await;
    town.reaches(&deposit, "credited").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_messages_and_orders_end_right_or_with_a_person() {
    let town = Town::start("odd").await;
    let login = 410_001;
    town.account(login, "USD").await;
    what_cannot_be_stored_is_kept_and_told(&town).await;
    another_reference_is_a_contradiction(&town, login).await;
    a_wrong_payment_does_not_block_the_right_one(&town, login).await;
    town.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_cannot_be_read_holds_up_no_other_and_becomes_a_case() {
    let town = Town::start("unread").await;
    let (unread, healthy) = (420_001, 420_002);
    town.account(unread, "USD").await;
    town.account(healthy, "USD").await;
    let lost = json!({ "action": "apply-then-drop", "times": 1 });
    let empty = json!({ "action": "empty-body" });
    for login in [unread, healthy] {
        town.mt5
            .fault("trade/balance", login, lost.clone())
            .await
            .expect("set");
    }
    let fault = town.mt5.fault("deal/*", unread, empty).await.expect("set");
    let (first, second) = (
        deposit(&town, "a", unread).await,
        deposit(&town, "b", healthy).await,
    );
    send(&town, &Payment::of("pi_a", &first).succeeded("evt_a")).await;
    send(&town, &Payment::of("pi_b", &second).succeeded("evt_b")).await;
    town.reaches(&second, "credited").await;
    until("a person hears of the other", LIMIT, async || {
        town.portal
            .state(first.id)
            .await
            .is_ok_and(|state| state.state == "in_review")
    })
    .await
    .expect("a case is opened");
    town.mt5.mend(fault).await.expect("mended");
    until("the deal is found in the end", LIMIT, async || {
        town.portal
            .state(first.id)
            .await
            .is_ok_and(|state| state.state == "credited")
    })
    .await
    .expect("credited");
    assert_eq!(town.mt5.deals(unread).await.expect("known").len(), 1);
    let is_closed = format!(
        "NOT EXISTS (SELECT FROM review_case WHERE deposit_id = {} AND state <> 'closed')",
        first.id
    );
    until("the case closes by itself", LIMIT, async || {
        town.holds(&is_closed).await
    })
    .await
    .expect("closed");
    town.stop().await;
}
