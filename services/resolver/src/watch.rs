//! The gauges that people are paged by: rows and oldest age per status, and open cases.

use claimcheck_process::Progress;
use claimcheck_store::{Store, StoreError};

/// The statuses that are not final.
const OPEN: [&str; 4] = ["held", "pending", "claimed", "unknown"];
/// The severities of cases.
const SEVERITIES: [&str; 2] = ["normal", "critical"];

/// Reads the store and sets every gauge, those without rows to zero.
///
/// # Errors
/// The database is away.
pub async fn step(store: &Store) -> Result<Progress, StoreError> {
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
    Ok(Progress::Idle)
}

fn set(name: &'static str, label: &'static str, value: &'static str, number_of: i64) {
    metrics::gauge!(name, label => value).set(number(number_of));
}

/// Metrics are floating-point by nature; a count of rows fits exactly.
fn number(count: i64) -> f64 {
    f64::from(i32::try_from(count).unwrap_or(i32::MAX))
}
