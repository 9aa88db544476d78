//! The scenes, one function each: what is done to a payment, and how it must end.

use std::time::Duration;

use serde_json::json;

use super::row::{Row, say};
use super::stage::{DELIVERY_LIMIT, Ending, Stage};
use crate::actors::Payment;
use crate::process::Signal;
use crate::wait::until;

/// The service that some scenes kill.
const WORKER: &str = "credit-worker";
/// The command that moves money.
const BALANCE: &str = "trade/balance";
/// Longest time until a set fault strikes.
const STRIKE_LIMIT: Duration = Duration::from_secs(20);

/// Plays every scene but the flood.
pub(super) async fn play_all(stage: &mut Stage<'_>, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    say("playing");
    rows.push(plain(stage).await?);
    rows.push(same_event_three_times(stage).await?);
    rows.push(two_events(stage).await?);
    rows.push(forged(stage).await?);
    rows.push(account_disabled(stage).await?);
    rows.push(amount_differs(stage).await?);
    rows.push(unknown_deposit(stage).await?);
    rows.push(answer_lost(stage).await?);
    rows.push(request_lost(stage).await?);
    rows.push(killed_after_claim(stage).await?);
    rows.push(killed_after_applied(stage).await?);
    rows.push(rabbitmq_stopped(stage).await?);
    Ok(())
}

async fn plain(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(50_000).await?;
    let payment = Payment::of("pi_plain", &deposit);
    stage
        .sender
        .deliver(&payment.succeeded("evt_plain"), DELIVERY_LIMIT)
        .await?;
    let why = "claimed once, MT5 answered with the ticket";
    stage
        .check("plain payment", &payment, &deposit, Ending::Credited, why)
        .await
}

async fn same_event_three_times(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(12_345).await?;
    let payment = Payment::of("pi_thrice", &deposit);
    let body = payment.succeeded("evt_thrice");
    let deliver = || stage.sender.deliver(&body, DELIVERY_LIMIT);
    let (one, two, three) = tokio::join!(deliver(), deliver(), deliver());
    one.and(two).and(three)?;
    let why = "the event's key counts once";
    stage
        .check(
            "same event three times at once",
            &payment,
            &deposit,
            Ending::Credited,
            why,
        )
        .await
}

async fn two_events(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(7_700).await?;
    let payment = Payment::of("pi_two", &deposit);
    let (charged, succeeded) = (payment.charged("evt_two_a"), payment.succeeded("evt_two_b"));
    let (one, two) = tokio::join!(
        stage.sender.deliver(&charged, DELIVERY_LIMIT),
        stage.sender.deliver(&succeeded, DELIVERY_LIMIT),
    );
    one.and(two)?;
    let why = "the payment's key counts once";
    stage
        .check(
            "two events about one payment",
            &payment,
            &deposit,
            Ending::Credited,
            why,
        )
        .await
}

async fn forged(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(99_900).await?;
    let payment = Payment::of("pi_forged", &deposit);
    let (status, _) = stage
        .sender
        .forger()
        .post(&payment.succeeded("evt_forged"))
        .await?;
    let state = stage.portal.state(deposit.id).await?;
    let deals = stage.mt5.deals(deposit.login).await?;
    let is_right = status == 400
        && deals.is_empty()
        && state.state == "awaiting_payment"
        && state.operation.is_none();
    Ok(Row {
        scene: "forged signature",
        payment: payment.id,
        operation: "none".to_owned(),
        deals: "none".to_owned(),
        why: format!("answered {status}, nothing stored"),
        is_right,
    })
}

async fn account_disabled(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let login = stage.account(false).await?;
    let deposit = stage
        .portal
        .deposit("deposit-disabled", login, 4_000, "USD")
        .await?;
    let payment = Payment::of("pi_disabled", &deposit);
    stage
        .sender
        .deliver(&payment.succeeded("evt_disabled"), DELIVERY_LIMIT)
        .await?;
    let ending = Ending::Stopped("failed", "operation_refused");
    let why = "refused before sending, a person is told";
    stage
        .check("account disabled", &payment, &deposit, ending, why)
        .await
}

async fn amount_differs(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(20_000).await?;
    let payment = Payment {
        amount_minor: 2_000,
        ..Payment::of("pi_short", &deposit)
    };
    stage
        .sender
        .deliver(&payment.succeeded("evt_short"), DELIVERY_LIMIT)
        .await?;
    let ending = Ending::Stopped("in_review", "deposit_mismatch");
    let why = "20.00 paid, 200.00 expected: held for a person";
    stage
        .check(
            "amount differs from the deposit",
            &payment,
            &deposit,
            ending,
            why,
        )
        .await
}

async fn unknown_deposit(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let payment = Payment {
        id: "pi_nobody".to_owned(),
        reference: "dep-1-nobody".to_owned(),
        amount_minor: 5_000,
        currency: "usd".to_owned(),
    };
    stage
        .sender
        .deliver(&payment.succeeded("evt_nobody"), DELIVERY_LIMIT)
        .await?;
    let is_right = stage
        .has_payment_case("unknown_deposit", &payment.id)
        .await?;
    Ok(Row {
        scene: "event for an unknown deposit",
        payment: payment.id,
        operation: "none".to_owned(),
        deals: "none".to_owned(),
        why: "event kept, a person is told".to_owned(),
        is_right,
    })
}

async fn answer_lost(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(31_000).await?;
    let payment = Payment::of("pi_answer_lost", &deposit);
    let fault = json!({ "action": "apply-then-drop", "times": 1 });
    stage.mt5.fault(BALANCE, deposit.login, fault).await?;
    stage
        .sender
        .deliver(&payment.succeeded("evt_answer_lost"), DELIVERY_LIMIT)
        .await?;
    let why = "unknown, then the deal was found; nothing sent again";
    stage
        .check(
            "answer lost after MT5 applied",
            &payment,
            &deposit,
            Ending::Credited,
            why,
        )
        .await
}

async fn request_lost(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(32_000).await?;
    let payment = Payment::of("pi_request_lost", &deposit);
    let fault = json!({ "action": "drop-before-apply", "times": 1 });
    stage.mt5.fault(BALANCE, deposit.login, fault).await?;
    stage
        .sender
        .deliver(&payment.succeeded("evt_request_lost"), DELIVERY_LIMIT)
        .await?;
    let why = "unknown, then proved absent, then sent again";
    stage
        .check(
            "request lost before MT5 applied",
            &payment,
            &deposit,
            Ending::Credited,
            why,
        )
        .await
}

async fn killed_after_claim(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(33_000).await?;
    let payment = Payment::of("pi_killed_early", &deposit);
    // The worker reads the account right after its claim: there it is made to hang, and killed.
    let fault = stage
        .mt5
        .fault("user/get", deposit.login, json!({ "action": "hang" }))
        .await?;
    stage
        .sender
        .deliver(&payment.succeeded("evt_killed_early"), DELIVERY_LIMIT)
        .await?;
    until("the worker has claimed", STRIKE_LIMIT, async || {
        stage.mt5.has_struck(fault).await.unwrap_or(false)
    })
    .await?;
    stage.stack.kill(WORKER, 0, Signal::Kill).await?;
    stage.mt5.mend(fault).await?;
    stage.stack.start_service(WORKER, 0).await?;
    let why = "lease over, proved absent, another worker sent it";
    stage
        .check(
            "worker killed after its claim",
            &payment,
            &deposit,
            Ending::Credited,
            why,
        )
        .await
}

async fn killed_after_applied(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(34_000).await?;
    let payment = Payment::of("pi_killed_late", &deposit);
    let fault = json!({ "action": "late-reply", "seconds": 2, "times": 1 });
    stage.mt5.fault(BALANCE, deposit.login, fault).await?;
    stage
        .sender
        .deliver(&payment.succeeded("evt_killed_late"), DELIVERY_LIMIT)
        .await?;
    until("MT5 has applied", STRIKE_LIMIT, async || {
        stage
            .mt5
            .deals(deposit.login)
            .await
            .is_ok_and(|deals| !deals.is_empty())
    })
    .await?;
    stage.stack.kill(WORKER, 0, Signal::Kill).await?;
    stage.stack.start_service(WORKER, 0).await?;
    let why = "lease over, then the deal was found; nothing sent again";
    let scene = "worker killed after MT5 applied";
    stage
        .check(scene, &payment, &deposit, Ending::Credited, why)
        .await
}

async fn rabbitmq_stopped(stage: &mut Stage<'_>) -> anyhow::Result<Row> {
    let deposit = stage.deposit(35_000).await?;
    let payment = Payment::of("pi_no_rabbit", &deposit);
    stage.stack.infra().stop_rabbitmq().await?;
    stage
        .sender
        .deliver(&payment.succeeded("evt_no_rabbit"), DELIVERY_LIMIT)
        .await?;
    let why = "no message at all; the sweep found it";
    let scene = "RabbitMQ stopped during a payment";
    let row = stage
        .check(scene, &payment, &deposit, Ending::Credited, why)
        .await;
    stage.stack.infra().start_rabbitmq().await?;
    row
}
