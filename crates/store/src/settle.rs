//! Settling: writing how a claimed operation's call ended, under the attempt that made it.
//!
//! Every write names the status and the attempt it expects. A worker that lost its claim changes
//! nothing; a ticket that it brings all the same is kept as evidence.

use std::time::Duration;

use claimcheck_core::{CaseKind, DealTicket, Operation, Outcome, Refusal};
use serde_json::json;
use sqlx::PgConnection;

use crate::case::{self, NewCase};
use crate::connect::{Store, microseconds};
use crate::error::StoreError;

/// What became of a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Written.
    Written,
    /// The row already says the same.
    Same,
    /// The row has moved on; nothing was written.
    Stale,
    /// The row has moved on, and the ticket contradicts it: kept as evidence, with a case.
    Evidence,
}

impl Store {
    /// Writes how the call of this attempt ended. An operation that was not sent waits `pause`
    /// before it may be claimed again.
    ///
    /// # Errors
    /// The database is away. The lease then runs out and the resolver finds the truth.
    pub async fn settle(
        &self,
        operation: &Operation,
        outcome: &Outcome,
        pause: Duration,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        match outcome {
            Outcome::Done(ticket) => self.settle_done(operation, *ticket, worker).await,
            Outcome::Refused(refusal) => self.settle_refused(operation, refusal, worker).await,
            Outcome::NotSent(why) => self.settle_not_sent(operation, why, pause, worker).await,
            Outcome::Unknown(why) => self.settle_unknown(operation, why, worker).await,
        }
    }

    async fn settle_done(
        &self,
        operation: &Operation,
        ticket: DealTicket,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let written = sqlx::query!(
            "UPDATE balance_operation
             SET status = 'done', mt5_deal_ticket = $3, next_look_at = NULL,
                 move = CASE status WHEN 'claimed' THEN 'succeed' ELSE 'find' END,
                 moved_by = $4, moved_because = 'MT5 answered with the ticket'
             WHERE id = $1 AND attempts = $2 AND status IN ('claimed', 'unknown')",
            operation.id,
            operation.attempts,
            ticket.get(),
            worker,
        )
        .execute(&self.pool)
        .await
        .map_err(StoreError::from);
        match written {
            Ok(done) if done.rows_affected() == 1 => Ok(Settled::Written),
            Ok(_) => self.keep_evidence(operation, ticket, worker).await,
            Err(error) if error.is_refusal_of("balance_operation_ticket_key") => {
                self.settle_taken_ticket(operation, ticket, worker).await
            }
            Err(error) => Err(error),
        }
    }

    /// The ticket stands on another row: never written twice, never guessed about.
    async fn settle_taken_ticket(
        &self,
        operation: &Operation,
        ticket: DealTicket,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let why = format!("MT5 answered with deal {ticket}, which another row carries");
        let mut tx = self.pool.begin().await?;
        let settled = lose_track(&mut tx, operation, &why, worker).await?;
        let detail = json!({ "attempt": operation.attempts, "ticket": ticket.get() });
        let reference = operation.reference.as_str();
        let case = NewCase::about_operation(CaseKind::LookConflict, reference, why, detail, worker);
        case::open(&mut tx, &case).await?;
        tx.commit().await?;
        Ok(settled)
    }

    async fn settle_refused(
        &self,
        operation: &Operation,
        refusal: &Refusal,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let mut tx = self.pool.begin().await?;
        let text = format!("{}: {}", refusal.code, refusal.meaning);
        let done = sqlx::query!(
            "UPDATE balance_operation
             SET status = 'failed', refusal = $3, move = 'refuse', moved_by = $4,
                 moved_because = $3
             WHERE id = $1 AND attempts = $2 AND status = 'claimed'",
            operation.id,
            operation.attempts,
            text,
            worker,
        )
        .execute(&mut *tx)
        .await?;
        if done.rows_affected() != 1 {
            return Ok(Settled::Stale);
        }
        let detail = json!({
            "attempt": operation.attempts,
            "code": refusal.code,
            "meaning": refusal.meaning,
            "server": operation.server.as_str(),
            "login": operation.login.get(),
            "amount": operation.signed_amount().to_string(),
            "currency": operation.amount.currency().code(),
        });
        let reference = operation.reference.as_str();
        let summary = format!("the operation was refused: {text}");
        let case = NewCase::about_operation(
            CaseKind::OperationRefused,
            reference,
            summary,
            detail,
            worker,
        );
        case::open(&mut tx, &case).await?;
        tx.commit().await?;
        Ok(Settled::Written)
    }

    async fn settle_not_sent(
        &self,
        operation: &Operation,
        why: &str,
        pause: Duration,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let done = sqlx::query!(
            "UPDATE balance_operation
             SET status = 'pending', move = 'not_sent', moved_by = $3, moved_because = $4,
                 not_before = clock_timestamp() + $5::bigint * interval '1 microsecond'
             WHERE id = $1 AND attempts = $2 AND status = 'claimed'
               AND lease_expires_at > clock_timestamp()",
            operation.id,
            operation.attempts,
            worker,
            why,
            microseconds(pause),
        )
        .execute(&self.pool)
        .await?;
        Ok(written_or_stale(done.rows_affected()))
    }

    async fn settle_unknown(
        &self,
        operation: &Operation,
        why: &str,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let mut tx = self.pool.begin().await?;
        let settled = lose_track(&mut tx, operation, why, worker).await?;
        tx.commit().await?;
        Ok(settled)
    }
}

async fn lose_track(
    tx: &mut PgConnection,
    operation: &Operation,
    why: &str,
    worker: &str,
) -> Result<Settled, StoreError> {
    let done = sqlx::query!(
        "UPDATE balance_operation
         SET status = 'unknown', move = 'lose_track', moved_by = $3, moved_because = $4,
             unknown_since = clock_timestamp(), next_look_at = clock_timestamp()
         WHERE id = $1 AND attempts = $2 AND status = 'claimed'",
        operation.id,
        operation.attempts,
        worker,
        why,
    )
    .execute(tx)
    .await?;
    Ok(written_or_stale(done.rows_affected()))
}

fn written_or_stale(rows: u64) -> Settled {
    if rows == 1 {
        Settled::Written
    } else {
        Settled::Stale
    }
}
