//! The unknown: expired leases, due looks, what our own rows explain, and the guarded decision.
//! This file alone writes `deal_look`.

use std::time::Duration;

use claimcheck_core::{
    CaseKind, DealTicket, Known, Look, Move, Operation, Reading, Resolution, ServerName, Status,
    Unresolved,
};
use serde_json::json;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::case::{self, NewCase};
use crate::connect::{Store, microseconds};
use crate::error::StoreError;
use crate::row::OperationRow;
use crate::settle::Settled;

/// An operation whose end is unknown and at which it is time to look.
#[derive(Debug, Clone)]
pub struct UnknownOperation {
    /// The operation.
    pub operation: Operation,
    /// What the decision needs.
    pub unresolved: Unresolved,
    /// When it was first claimed.
    pub first_claimed_at: OffsetDateTime,
    /// The database's clock just before the look.
    pub now: OffsetDateTime,
    /// The trace under which its payment came in.
    pub trace_parent: Option<String>,
}

/// A look, as it goes on record.
pub struct LookRecord<'a> {
    /// The verdict.
    pub look: &'a Look,
    /// What was read, unless nothing could be.
    pub reading: Option<&'a Reading>,
    /// When it began, by the database's clock.
    pub looked_at: OffsetDateTime,
    /// Who looked.
    pub actor: &'a str,
}

impl Store {
    /// Moves operations whose lease has run out to unknown, oldest first, at most `limit`.
    ///
    /// # Errors
    /// The database is away.
    pub async fn expire_leases(&self, limit: i64, actor: &str) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            "WITH over AS MATERIALIZED (
                 SELECT id FROM balance_operation
                 WHERE status = 'claimed' AND lease_expires_at < clock_timestamp()
                 ORDER BY lease_expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
             UPDATE balance_operation
             SET status = 'unknown', move = 'expire', moved_by = $2,
                 moved_because = 'the lease ran out', unknown_since = clock_timestamp(),
                 next_look_at = clock_timestamp()
             FROM over WHERE balance_operation.id = over.id AND status = 'claimed'",
            limit,
            actor,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }

    /// Takes the operation of a server that is longest due for a look; for `hold` no other resolver
    /// takes it, which only saves work: every decision is guarded.
    ///
    /// # Errors
    /// The database is away, or a row is inconsistent.
    pub async fn take_due_look(
        &self,
        server: &ServerName,
        attempts_max: i32,
        hold: Duration,
    ) -> Result<Option<UnknownOperation>, StoreError> {
        let row = sqlx::query!(
            r#"UPDATE balance_operation
               SET next_look_at = clock_timestamp() + $2::bigint * interval '1 microsecond'
               WHERE status = 'unknown' AND id = (
                   SELECT id FROM balance_operation
                   WHERE status = 'unknown' AND server = $1 AND next_look_at <= clock_timestamp()
                   ORDER BY next_look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
               RETURNING id, kind, server, mt5_login, amount_minor, currency, reference, status,
                   attempts, trace_parent, absent_since, unanswered_looks,
                   lease_expires_at AS "lease_expires_at!", unknown_since AS "unknown_since!",
                   first_claimed_at AS "first_claimed_at!", clock_timestamp() AS "now!""#,
            server.as_str(),
            microseconds(hold),
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let unresolved = Unresolved {
            attempts: row.attempts,
            attempts_max,
            lease_expires_at: row.lease_expires_at,
            unknown_since: row.unknown_since,
            absent_since: row.absent_since,
            unanswered: u32::try_from(row.unanswered_looks).unwrap_or(u32::MAX),
        };
        let operation = Operation::try_from(OperationRow {
            id: row.id,
            kind: row.kind,
            server: row.server,
            mt5_login: row.mt5_login,
            amount_minor: row.amount_minor,
            currency: row.currency,
            reference: row.reference,
            status: row.status,
            attempts: row.attempts,
        })?;
        Ok(Some(UnknownOperation {
            operation,
            unresolved,
            first_claimed_at: row.first_claimed_at,
            now: row.now,
            trace_parent: row.trace_parent,
        }))
    }

    /// What our rows explain about a login's deals, this operation left out. To be read after
    /// MT5 was, so that a row made in between is not missed.
    ///
    /// # Errors
    /// The database is away.
    pub async fn known_deals(&self, operation: &Operation) -> Result<Known, StoreError> {
        let rows = sqlx::query!(
            "SELECT reference, mt5_deal_ticket FROM balance_operation
             WHERE server = $1 AND mt5_login = $2 AND id <> $3",
            operation.server.as_str(),
            operation.login.get(),
            operation.id,
        )
        .fetch_all(&self.pool)
        .await?;
        let tickets = rows.iter().filter_map(|row| row.mt5_deal_ticket);
        Ok(Known {
            tickets: tickets.filter_map(DealTicket::new).collect(),
            references: rows.iter().map(|row| row.reference.clone()).collect(),
        })
    }

    /// Puts a look on record and carries its resolution out, under the attempt it was made for.
    ///
    /// # Errors
    /// The database is away; the look is then made again.
    pub async fn resolve(
        &self,
        operation: &Operation,
        record: &LookRecord<'_>,
        resolution: &Resolution,
    ) -> Result<Settled, StoreError> {
        let outcome = self.try_resolve(operation, record, resolution).await;
        match (outcome, resolution) {
            (Err(error), Resolution::Done(ticket))
                if error.is_refusal_of("balance_operation_ticket_key") =>
            {
                let why = format!("deal {ticket} carries the reference and stands on another row");
                self.wait_with_case(operation, record, &why).await
            }
            (outcome, _) => outcome,
        }
    }

    async fn try_resolve(
        &self,
        operation: &Operation,
        record: &LookRecord<'_>,
        resolution: &Resolution,
    ) -> Result<Settled, StoreError> {
        let mut tx = self.pool.begin().await?;
        insert_look(&mut tx, operation, record).await?;
        let rows = carry_out(&mut tx, operation, record, resolution).await?;
        if rows != 1 {
            // The look itself stays on record; the row has moved on.
            tx.commit().await?;
            return Ok(Settled::Stale);
        }
        let case = match resolution {
            Resolution::Done(_) | Resolution::ProvedAbsent => None,
            Resolution::Exhausted => Some(CaseKind::AttemptsExhausted),
            Resolution::Wait { case, .. } => *case,
        };
        if let Some(kind) = case {
            open_case(&mut tx, operation, record, kind, record.look.why()).await?;
        }
        tx.commit().await?;
        Ok(Settled::Written)
    }

    async fn wait_with_case(
        &self,
        operation: &Operation,
        record: &LookRecord<'_>,
        why: &str,
    ) -> Result<Settled, StoreError> {
        let mut tx = self.pool.begin().await?;
        insert_look(&mut tx, operation, record).await?;
        open_case(
            &mut tx,
            operation,
            record,
            CaseKind::LookConflict,
            why.to_owned(),
        )
        .await?;
        tx.commit().await?;
        Ok(Settled::Stale)
    }
}

async fn insert_look(
    tx: &mut PgConnection,
    operation: &Operation,
    record: &LookRecord<'_>,
) -> Result<(), StoreError> {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    sqlx::query!(
        "INSERT INTO deal_look (operation_id, attempt, looked_at, actor, window_from, window_to,
             total_stated, deals_read, verdict, why)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        operation.id,
        operation.attempts,
        record.looked_at,
        record.actor,
        record.reading.map(|reading| reading.window.from.seconds()),
        record.reading.map(|reading| reading.window.to.seconds()),
        record.reading.map(|reading| count(reading.total_before)),
        record
            .reading
            .map(|reading| count(reading.deals.len() as u64)),
        record.look.code(),
        record.look.why(),
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// The one guarded write of a resolution; gives the rows it changed.
async fn carry_out(
    tx: &mut PgConnection,
    operation: &Operation,
    record: &LookRecord<'_>,
    resolution: &Resolution,
) -> Result<u64, StoreError> {
    let (to, by, ticket) = match resolution {
        Resolution::Done(ticket) => (Status::Done, Move::Find, Some(ticket.get())),
        Resolution::ProvedAbsent => (Status::Pending, Move::ProveAbsent, None),
        Resolution::Exhausted => (Status::Held, Move::Exhaust, None),
        Resolution::Wait {
            again_in,
            absent_since,
            ..
        } => {
            return wait(tx, operation, record, *again_in, *absent_since).await;
        }
    };
    let done = sqlx::query!(
        "UPDATE balance_operation
         SET status = $3, move = $4, mt5_deal_ticket = $5, moved_by = $6, moved_because = $7,
             unknown_since = NULL, next_look_at = NULL, absent_since = NULL
         WHERE id = $1 AND attempts = $2 AND status = 'unknown'
           AND ($3 = 'done' OR NOT EXISTS (
               SELECT FROM late_evidence WHERE operation_id = $1))",
        operation.id,
        operation.attempts,
        to.code(),
        by.code(),
        ticket,
        record.actor,
        record.look.why(),
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected())
}

async fn wait(
    tx: &mut PgConnection,
    operation: &Operation,
    record: &LookRecord<'_>,
    again_in: Duration,
    absent_since: Option<OffsetDateTime>,
) -> Result<u64, StoreError> {
    let is_answer = matches!(record.look, Look::Absent | Look::Found(_));
    let done = sqlx::query!(
        "UPDATE balance_operation
         SET next_look_at = clock_timestamp() + $3::bigint * interval '1 microsecond',
             absent_since = $4,
             unanswered_looks = CASE WHEN $5 THEN 0 ELSE unanswered_looks + 1 END
         WHERE id = $1 AND attempts = $2 AND status = 'unknown'",
        operation.id,
        operation.attempts,
        microseconds(again_in),
        absent_since,
        is_answer,
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected())
}

async fn open_case(
    tx: &mut PgConnection,
    operation: &Operation,
    record: &LookRecord<'_>,
    kind: CaseKind,
    summary: String,
) -> Result<(), StoreError> {
    let detail = json!({
        "attempt": operation.attempts,
        "verdict": record.look.code(),
        "why": record.look.why(),
        "server": operation.server.as_str(),
        "login": operation.login.get(),
        "amount": operation.signed_amount().to_string(),
        "currency": operation.amount.currency().code(),
    });
    let reference = operation.reference.as_str();
    let case = NewCase::about_operation(kind, reference, summary, detail, record.actor);
    case::open(tx, &case).await?;
    Ok(())
}
