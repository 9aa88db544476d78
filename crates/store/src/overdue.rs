//! Nothing rests silently: what is not final for too long gets a case, and the case ends by itself
//! when the operation has found its end.

use std::time::Duration;

use claimcheck_core::CaseKind;
use serde_json::json;

use crate::case::{self, NewCase};
use crate::connect::{Store, microseconds};
use crate::error::StoreError;

impl Store {
    /// Opens a case for operations that have been unknown for `unknown_for`, or pending or claimed
    /// for `waiting_for`, and have no open case; at most `limit`.
    ///
    /// # Errors
    /// The database is away.
    pub async fn open_overdue_cases(
        &self,
        unknown_for: Duration,
        waiting_for: Duration,
        limit: i64,
        actor: &str,
    ) -> Result<usize, StoreError> {
        let mut tx = self.pool.begin().await?;
        let rows = sqlx::query!(
            "SELECT reference, status, attempts, server, mt5_login, moved_because
             FROM balance_operation
             WHERE (status = 'unknown'
                    AND unknown_since < clock_timestamp() - $1::bigint * interval '1 microsecond'
                 OR status IN ('pending', 'claimed')
                    AND created_at < clock_timestamp() - $2::bigint * interval '1 microsecond')
               AND NOT EXISTS (SELECT FROM review_case
                   WHERE operation_reference = reference AND state <> 'closed')
             ORDER BY id LIMIT $3",
            microseconds(unknown_for),
            microseconds(waiting_for),
            limit,
        )
        .fetch_all(&mut *tx)
        .await?;
        for row in &rows {
            let summary = format!("the operation is {} for too long", row.status);
            let detail = json!({
                "status": row.status,
                "attempts": row.attempts,
                "server": row.server,
                "login": row.mt5_login,
                "last_reason": row.moved_because,
            });
            let kind = CaseKind::Overdue;
            let case = NewCase::about_operation(kind, &row.reference, summary, detail, actor);
            case::open(&mut tx, &case).await?;
        }
        tx.commit().await?;
        Ok(rows.len())
    }

    /// Closes the cases that only said "no end yet" of operations that are done or failed.
    ///
    /// # Errors
    /// The database is away.
    pub async fn close_settled_cases(&self, actor: &str) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            "WITH closed AS (
                 UPDATE review_case
                 SET state = 'closed', closed_at = clock_timestamp(),
                     updated_at = clock_timestamp()
                 FROM balance_operation AS operation
                 WHERE operation.reference = review_case.operation_reference
                   AND operation.status IN ('done', 'failed')
                   AND review_case.kind = ANY($1) AND review_case.state <> 'closed'
                 RETURNING review_case.id, operation.status)
             INSERT INTO review_case_event (case_id, actor, what, detail)
             SELECT id, $2, 'closed', jsonb_build_object('operation', status) FROM closed",
            &[
                CaseKind::Overdue.code().to_owned(),
                CaseKind::LookUnanswered.code().to_owned()
            ],
            actor,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }
}
