//! Many payments at once, and what an idle machine answers in.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::row::{Row, say};
use super::stage::{DELIVERY_LIMIT, ENDING_LIMIT, Stage, is_credited};
use crate::actors::{Deposit, Payment};
use crate::services::SERVICES;
use crate::wait::until;

/// Payments of the flood.
const PAYMENTS: i64 = 300;
/// Senders at a time.
const SENDERS: usize = 30;
/// Every twentieth payment's event is sent twice: 5 %.
const DUPLICATE_EVERY: usize = 20;
/// Accounts that share the payments.
const ACCOUNTS: i64 = 10;
/// Webhooks measured while nothing else runs.
const IDLE_SAMPLES: usize = 20;
/// Longest time for the whole flood.
const FLOOD_LIMIT: Duration = Duration::from_secs(150);

/// Measures how long a webhook takes on an idle machine.
pub(super) async fn idle_latency(stage: &mut Stage<'_>) -> anyhow::Result<String> {
    let login = stage.account(true).await?;
    let mut taken = Vec::new();
    for sample in 0..IDLE_SAMPLES {
        let key = format!("idle-{sample}");
        let deposit = stage.portal.deposit(&key, login, 100, "USD").await?;
        let payment = Payment::of(&format!("pi_idle_{sample}"), &deposit);
        let body = payment.succeeded(&format!("evt_idle_{sample}"));
        let (status, took) = stage.sender.post(&body).await?;
        anyhow::ensure!(status == 200, "an idle machine answered {status}");
        taken.push(took);
        until("an idle payment is credited", ENDING_LIMIT, async || {
            let state = stage.portal.state(deposit.id).await;
            state.is_ok_and(|state| state.state == "credited")
        })
        .await?;
    }
    taken.sort_unstable();
    let at = |index: usize| taken.get(index).copied().unwrap_or_default();
    let (median, slowest) = (at(IDLE_SAMPLES / 2), at(IDLE_SAMPLES - 1));
    Ok(format!(
        "webhook on an idle machine, {IDLE_SAMPLES} of them: median {median:.1?}, slowest \
         {slowest:.1?}"
    ))
}

/// Plays the flood.
pub(super) async fn play(stage: &mut Stage<'_>, rows: &mut Vec<Row>) -> anyhow::Result<String> {
    let deposits = register(stage).await?;
    say("  sending 300 payments from 30 senders");
    let started = Instant::now();
    send(stage, &deposits).await?;
    let sent = started.elapsed();
    let waited = until(
        "every payment of the flood is credited",
        FLOOD_LIMIT,
        async || all_credited(stage, &deposits).await.unwrap_or(false),
    )
    .await;
    let took = started.elapsed();
    let (deals, wrong) = audit(stage, &deposits).await?;
    rows.push(Row {
        scene: "300 payments at once, 5 % twice",
        payment: format!("{PAYMENTS} payments"),
        operation: format!("{} credited", deposits.len().saturating_sub(wrong)),
        deals: format!("{deals} deals"),
        why: format!("sent in {sent:.1?}, all credited after {took:.1?}"),
        is_right: waited.is_ok() && wrong == 0 && deals == deposits.len(),
    });
    let mut memory = Vec::new();
    for service in SERVICES {
        let bytes = stage.stack.memory_bytes(service.name, 0)?;
        memory.push(format!(
            "{} {} MiB",
            service.name,
            bytes.peak_bytes / (1024 * 1024)
        ));
    }
    Ok(format!("peak memory after it: {}", memory.join(", ")))
}

async fn register(stage: &mut Stage<'_>) -> anyhow::Result<Vec<Deposit>> {
    let mut logins = Vec::new();
    for _ in 0..ACCOUNTS {
        logins.push(stage.account(true).await?);
    }
    let mut deposits = Vec::new();
    for (number, login) in (0..PAYMENTS).zip(logins.iter().cycle()) {
        let amount_minor = 1_000_i64.saturating_add(number);
        let key = format!("flood-{number}");
        deposits.push(
            stage
                .portal
                .deposit(&key, *login, amount_minor, "USD")
                .await?,
        );
    }
    Ok(deposits)
}

async fn send(stage: &Stage<'_>, deposits: &[Deposit]) -> anyhow::Result<()> {
    let mut waiting = deposits.iter().enumerate();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < SENDERS
            && let Some((number, deposit)) = waiting.next()
        {
            running.push(send_one(stage, number, deposit));
        }
        match running.next().await {
            Some(sent) => sent?,
            None => return Ok(()),
        }
    }
}

async fn send_one(stage: &Stage<'_>, number: usize, deposit: &Deposit) -> anyhow::Result<()> {
    let payment = Payment::of(&format!("pi_flood_{number}"), deposit);
    let body = payment.succeeded(&format!("evt_flood_{number}"));
    stage.sender.deliver(&body, DELIVERY_LIMIT).await?;
    if number.is_multiple_of(DUPLICATE_EVERY) {
        stage.sender.deliver(&body, DELIVERY_LIMIT).await?;
    }
    Ok(())
}

async fn all_credited(stage: &Stage<'_>, deposits: &[Deposit]) -> anyhow::Result<bool> {
    // The last ones end last: asking from the back is cheap.
    for deposit in deposits.iter().rev() {
        if stage.portal.state(deposit.id).await?.state != "credited" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Counts the deals in the ledger, and the deposits that have not exactly their own one.
async fn audit(stage: &Stage<'_>, deposits: &[Deposit]) -> anyhow::Result<(usize, usize)> {
    let mut logins: Vec<i64> = deposits.iter().map(|deposit| deposit.login).collect();
    logins.sort_unstable();
    logins.dedup();
    let mut all = Vec::new();
    for login in logins {
        all.extend(stage.mt5.deals(login).await?);
    }
    let mut wrong = 0_usize;
    for deposit in deposits {
        let state = stage.portal.state(deposit.id).await?;
        let reference = state
            .operation
            .as_ref()
            .map(|operation| operation.reference.as_str());
        let own = all
            .iter()
            .filter(|deal| Some(deal.comment.as_str()) == reference)
            .cloned();
        if !is_credited(&state, &own.collect::<Vec<_>>(), deposit) {
            wrong = wrong.saturating_add(1);
        }
    }
    Ok((all.len(), wrong))
}
