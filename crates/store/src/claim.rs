//! Claiming: one statement in its own transaction makes one worker the only one that may act.

use std::time::Duration;

use claimcheck_core::{Operation, ServerName};
use time::OffsetDateTime;

use crate::connect::{Store, microseconds};
use crate::error::StoreError;
use crate::row::OperationRow;

/// What a worker holds after a claim.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The operation, as the claim itself returned it. Nothing read earlier may be used.
    pub operation: Operation,
    /// Whether the deposit's client still owns the login, in the operation's currency.
    pub is_owner_unchanged: bool,
    /// When the operation was first claimed, by the database's clock.
    pub first_claimed_at: OffsetDateTime,
    /// When this claim was made, by the database's clock.
    pub claimed_at: OffsetDateTime,
    /// The trace under which its payment came in.
    pub trace_parent: Option<String>,
}

impl Store {
    /// Claims the oldest operation of a server that may act now, for `lease` from now.
    ///
    /// The caller counts the lease down from before this call, so that its own end comes first.
    ///
    /// # Errors
    /// The database is away. It is then not known whether a claim was made: nothing may be sent,
    /// the lease runs out by itself.
    pub async fn claim(
        &self,
        server: &ServerName,
        lease: Duration,
        worker: &str,
    ) -> Result<Option<Claim>, StoreError> {
        let row = sqlx::query!(
            r#"UPDATE balance_operation AS operation
               SET status = 'claimed', attempts = attempts + 1, claimed_at = clock_timestamp(),
                   first_claimed_at = COALESCE(first_claimed_at, clock_timestamp()),
                   lease_expires_at = clock_timestamp() + $2::bigint * interval '1 microsecond',
                   not_before = NULL, unknown_since = NULL, next_look_at = NULL,
                   absent_since = NULL, unanswered_looks = 0,
                   move = 'claim', moved_by = $3, moved_because = 'a session was free'
               WHERE status = 'pending' AND id = (
                   SELECT id FROM balance_operation
                   WHERE status = 'pending' AND server = $1
                     AND (not_before IS NULL OR not_before <= clock_timestamp())
                     AND NOT EXISTS (SELECT FROM late_evidence AS evidence
                         WHERE evidence.operation_id = balance_operation.id)
                   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
               RETURNING id, kind, server, mt5_login, amount_minor, currency, reference, status,
                   attempts, trace_parent, claimed_at AS "claimed_at!",
                   first_claimed_at AS "first_claimed_at!",
                   (deposit_id IS NULL OR EXISTS (
                       SELECT FROM deposit JOIN trading_account AS account
                         ON (account.server, account.login) = (deposit.server, deposit.mt5_login)
                       WHERE deposit.id = operation.deposit_id
                         AND (account.server, account.login)
                             = (operation.server, operation.mt5_login)
                         AND account.client_id = deposit.client_id
                         AND account.currency = operation.currency)) AS "is_owner_unchanged!""#,
            server.as_str(),
            microseconds(lease),
            worker,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        Ok(Some(Claim {
            operation: OperationRow {
                id: row.id,
                kind: row.kind,
                server: row.server,
                mt5_login: row.mt5_login,
                amount_minor: row.amount_minor,
                currency: row.currency,
                reference: row.reference,
                status: row.status,
                attempts: row.attempts,
            }
            .try_into()?,
            is_owner_unchanged: row.is_owner_unchanged,
            first_claimed_at: row.first_claimed_at,
            claimed_at: row.claimed_at,
            trace_parent: row.trace_parent,
        }))
    }
}
