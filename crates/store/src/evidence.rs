//! Late evidence: a ticket for an attempt that is no longer the row's. This file alone writes
//! `late_evidence`.
//!
//! The ticket is never lost: it blocks the row before its next send, and a person is told.

use claimcheck_core::{CaseKind, DealTicket, Operation};
use serde_json::json;

use crate::case::{self, NewCase};
use crate::connect::Store;
use crate::error::StoreError;
use crate::settle::Settled;

impl Store {
    /// Keeps a ticket that cannot be written to its row. A row that carries it already is the
    /// same truth; a pending row is held before anyone can send again.
    pub(crate) async fn keep_evidence(
        &self,
        operation: &Operation,
        ticket: DealTicket,
        worker: &str,
    ) -> Result<Settled, StoreError> {
        let mut tx = self.pool.begin().await?;
        let row = sqlx::query!(
            "SELECT status, attempts, mt5_deal_ticket FROM balance_operation
             WHERE id = $1 FOR UPDATE",
            operation.id,
        )
        .fetch_one(&mut *tx)
        .await?;
        if row.mt5_deal_ticket == Some(ticket.get()) {
            return Ok(Settled::Same);
        }
        sqlx::query!(
            "INSERT INTO late_evidence (operation_id, attempt, mt5_deal_ticket, actor)
             VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT late_evidence_once DO NOTHING",
            operation.id,
            operation.attempts,
            ticket.get(),
            worker,
        )
        .execute(&mut *tx)
        .await?;
        let summary = format!(
            "attempt {} was answered with deal {ticket} after the operation had moved on",
            operation.attempts
        );
        sqlx::query!(
            "UPDATE balance_operation
             SET status = 'held', move = 'block', moved_by = $2, moved_because = $3
             WHERE id = $1 AND status = 'pending'",
            operation.id,
            worker,
            summary,
        )
        .execute(&mut *tx)
        .await?;
        let detail = json!({
            "attempt": operation.attempts,
            "ticket": ticket.get(),
            "row": { "status": row.status, "attempts": row.attempts,
                     "mt5_deal_ticket": row.mt5_deal_ticket },
        });
        let reference = operation.reference.as_str();
        let case =
            NewCase::about_operation(CaseKind::LateEvidence, reference, summary, detail, worker);
        case::open(&mut tx, &case).await?;
        tx.commit().await?;
        Ok(Settled::Evidence)
    }
}
