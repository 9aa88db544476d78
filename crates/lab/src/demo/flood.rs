//! Many payments at once, and what an idle machine answers in.

use std::time::{Duration, Instant};

use super::row::{Row, say};
use super::stage::{DELIVERY_LIMIT, ENDING_LIMIT, Stage};
use crate::actors::Payment;
use crate::flood::{Flood, SENDERS};
use crate::services::SERVICES;
use crate::wait::until;

/// Payments of the flood.
const PAYMENTS: i64 = 300;
/// The first of their logins.
const FIRST_LOGIN: i64 = 200_001;
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
    let (portal, mt5) = (&stage.portal, &stage.mt5);
    let flood = Flood::register(portal, mt5, FIRST_LOGIN, PAYMENTS).await?;
    say(&format!(
        "  sending {PAYMENTS} payments from {SENDERS} senders"
    ));
    let started = Instant::now();
    flood.send(&stage.sender, DELIVERY_LIMIT).await?;
    let sent = started.elapsed();
    let waited = until(
        "every payment of the flood is credited",
        FLOOD_LIMIT,
        async || flood.is_credited(portal).await.unwrap_or(false),
    )
    .await;
    let took = started.elapsed();
    let audit = flood.audit(portal, mt5).await?;
    audit.wrong.iter().for_each(|wrong| say(wrong));
    rows.push(Row {
        scene: "300 payments at once, 5 % twice",
        payment: format!("{PAYMENTS} payments"),
        operation: format!(
            "{} credited",
            flood.payments().saturating_sub(audit.wrong.len())
        ),
        deals: format!("{} deals", audit.deals),
        why: format!("sent in {sent:.1?}, all credited after {took:.1?}"),
        is_right: waited.is_ok() && audit.wrong.is_empty() && audit.deals == flood.payments(),
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
