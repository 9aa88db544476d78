//! What people watch: how many rows stand where, and for how long.

use crate::connect::Store;
use crate::error::StoreError;

/// The rows of one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusGauge {
    /// The status.
    pub status: String,
    /// How many rows.
    pub rows: i64,
    /// Age of the oldest, in whole seconds.
    pub oldest_seconds: i64,
}

impl Store {
    /// Count and oldest age of every status that is not final.
    ///
    /// # Errors
    /// The database is away.
    pub async fn status_gauges(&self) -> Result<Vec<StatusGauge>, StoreError> {
        let rows = sqlx::query_as!(
            StatusGauge,
            r#"SELECT status, count(*) AS "rows!",
                   COALESCE(extract(epoch FROM clock_timestamp() - min(updated_at)), 0)::bigint
                       AS "oldest_seconds!"
               FROM balance_operation WHERE status IN ('held', 'pending', 'claimed', 'unknown')
               GROUP BY status"#
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    /// How many cases are open, per severity.
    ///
    /// # Errors
    /// The database is away.
    pub async fn open_cases(&self) -> Result<Vec<(String, i64)>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT severity, count(*) AS "rows!" FROM review_case
               WHERE state <> 'closed' GROUP BY severity"#
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.severity, row.rows))
            .collect())
    }

    /// How many open cases say that money may have moved twice; this must stay zero.
    ///
    /// # Errors
    /// The database is away.
    pub async fn double_credit_suspected(&self) -> Result<i64, StoreError> {
        let row = sqlx::query!(
            r#"SELECT count(*) AS "rows!" FROM review_case
               WHERE state <> 'closed' AND kind IN ('late_evidence', 'double_credit')"#
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(row.rows)
    }
}
