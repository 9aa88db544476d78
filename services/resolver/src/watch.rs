//! What people are told: cases of operations without an end, and the gauges that page them.

use std::time::Duration;

use claimcheck_process::Progress;
use claimcheck_store::{Store, StoreError};
use tracing::warn;

/// Cases opened by one step.
const BATCH: i64 = 200;
/// The statuses that are not final.
const OPEN: [&str; 4] = ["held", "pending", "claimed", "unknown"];
/// The severities of cases.
const SEVERITIES: [&str; 2] = ["normal", "critical"];

/// What the watch needs.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The store.
    pub store: Store,
    /// How long an operation may stay unknown before a person hears of it.
    pub unknown_for: Duration,
    /// How long it may wait or be worked on before a person hears of it.
    pub waiting_for: Duration,
    /// Who this is, in every case.
    pub name: String,
}

impl Watch {
    /// Opens the cases of what has no end for too long, closes those whose operation has found its
    /// end, and sets every gauge.
    ///
    /// # Errors
    /// The database is away.
    pub async fn step(&self) -> Result<Progress, StoreError> {
        let (unknown_for, waiting_for) = (self.unknown_for, self.waiting_for);
        let opened = self
            .store
            .open_overdue_cases(unknown_for, waiting_for, BATCH, &self.name)
            .await?;
        let closed = self.store.close_settled_cases(&self.name).await?;
        if opened > 0 || closed > 0 {
            warn!(opened, closed, "cases of operations without an end");
        }
        set_gauges(&self.store).await?;
        let is_more = usize::try_from(BATCH).is_ok_and(|batch| opened >= batch);
        Ok(if is_more {
            Progress::Worked
        } else {
            Progress::Idle
        })
    }
}

/// Reads the store and sets every gauge, those without rows to zero.
async fn set_gauges(store: &Store) -> Result<(), StoreError> {
    let gauges = store.status_gauges().await?;
    for status in OPEN {
        let gauge = gauges.iter().find(|gauge| gauge.status == status);
        set(
            "claimcheck_operations",
            "status",
            status,
            gauge.map_or(0, |gauge| gauge.rows),
        );
        let age = gauge.map_or(0, |gauge| gauge.oldest_seconds);
        set(
            "claimcheck_operations_oldest_seconds",
            "status",
            status,
            age,
        );
    }
    let cases = store.open_cases().await?;
    for severity in SEVERITIES {
        let rows = cases
            .iter()
            .find(|(named, _)| named == severity)
            .map_or(0, |(_, rows)| *rows);
        set("claimcheck_open_cases", "severity", severity, rows);
    }
    let suspected = store.double_credit_suspected().await?;
    metrics::gauge!("claimcheck_double_credit_suspected").set(number(suspected));
    Ok(())
}

fn set(name: &'static str, label: &'static str, value: &'static str, number_of: i64) {
    metrics::gauge!(name, label => value).set(number(number_of));
}

/// Metrics are floating-point by nature; a count of rows fits exactly.
fn number(count: i64) -> f64 {
    f64::from(i32::try_from(count).unwrap_or(i32::MAX))
}
