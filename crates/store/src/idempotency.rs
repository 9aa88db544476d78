//! A write under a caller's key is done once; a repeat is answered with the first outcome.
//!
//! The write and its record are one transaction, so a process that dies leaves neither. While the
//! first request runs, a lock on its key that ends with its connection tells a second one so.

use std::time::Duration;

use claimcheck_core::{Deposit, Tag};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::account::{self, Account, AccountRecorded};
use crate::connect::{Store, microseconds};
use crate::deposit::{self, DepositRefused, NewDeposit};
use crate::error::StoreError;

/// Who asks for which write under which key.
#[derive(Debug, Clone)]
pub struct Caller<'a> {
    /// The caller's name.
    pub caller: &'a str,
    /// Method and route, ids included.
    pub operation: &'a str,
    /// The key.
    pub key: &'a str,
    /// The exact bytes of the body.
    pub body: &'a [u8],
}

/// A stored outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The HTTP status of the first answer.
    pub status: u16,
    /// The body of the first answer.
    pub body: Value,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Done now, with this outcome.
    First(Stored),
    /// Done before, with this outcome.
    Repeat(Stored),
    /// The key was used with another body.
    Reused,
    /// The first request under this key still runs.
    InProgress,
}

/// What a key says before anything is written.
enum Key {
    Fresh,
    Settled(Answer),
}

/// How long an outcome is kept.
const KEPT_FOR: Duration = Duration::from_hours(24);

impl Store {
    /// Records who owns a login, once per key. Deposits already registered keep what they were
    /// registered with; a worker that finds the two apart sends nothing.
    ///
    /// # Errors
    /// Nothing was committed, or it is not known whether it was: repeat under the same key.
    pub async fn put_account(
        &self,
        caller: &Caller<'_>,
        account: &Account,
        render: impl FnOnce(AccountRecorded) -> Stored,
    ) -> Result<Answer, StoreError> {
        let mut tx = self.pool.begin().await?;
        if let Key::Settled(answer) = check(&mut tx, caller).await? {
            return Ok(answer);
        }
        let stored = render(account::put(&mut tx, account).await?);
        finish(tx, caller, stored).await
    }

    /// Registers a deposit, once per key.
    ///
    /// # Errors
    /// Nothing was committed, or it is not known whether it was: repeat under the same key.
    pub async fn register_deposit(
        &self,
        caller: &Caller<'_>,
        new: &NewDeposit,
        tag: Tag,
        render: impl FnOnce(Result<Deposit, DepositRefused>) -> Stored,
    ) -> Result<Answer, StoreError> {
        let mut tx = self.pool.begin().await?;
        if let Key::Settled(answer) = check(&mut tx, caller).await? {
            return Ok(answer);
        }
        let stored = render(deposit::register(&mut tx, new, tag).await?);
        finish(tx, caller, stored).await
    }

    /// Keeps the refusal of a request that never reached a write, so that its repeat is answered
    /// alike.
    ///
    /// # Errors
    /// The database is away.
    pub async fn keep_refusal(
        &self,
        caller: &Caller<'_>,
        refusal: Stored,
    ) -> Result<Answer, StoreError> {
        let mut tx = self.pool.begin().await?;
        match check(&mut tx, caller).await? {
            Key::Settled(answer) => Ok(answer),
            Key::Fresh => finish(tx, caller, refusal).await,
        }
    }
}

async fn check(tx: &mut PgConnection, caller: &Caller<'_>) -> Result<Key, StoreError> {
    let lock = format!(
        "{}\u{1f}{}\u{1f}{}",
        caller.caller, caller.operation, caller.key
    );
    let locked = sqlx::query!(
        r#"SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "locked!""#,
        lock,
    )
    .fetch_one(&mut *tx)
    .await?
    .locked;
    let found = sqlx::query!(
        "SELECT body_sha256, status, body FROM idempotency_record
         WHERE caller = $1 AND operation = $2 AND key = $3 AND expires_at > clock_timestamp()",
        caller.caller,
        caller.operation,
        caller.key,
    )
    .fetch_optional(tx)
    .await?;
    Ok(match found {
        Some(row) if row.body_sha256 != Sha256::digest(caller.body).as_slice() => {
            Key::Settled(Answer::Reused)
        }
        Some(row) => {
            let status = u16::try_from(row.status).unwrap_or(u16::MAX);
            Key::Settled(Answer::Repeat(Stored {
                status,
                body: row.body,
            }))
        }
        None if !locked => Key::Settled(Answer::InProgress),
        None => Key::Fresh,
    })
}

/// Stores the outcome and commits it together with what was written.
async fn finish(
    mut tx: Transaction<'static, Postgres>,
    caller: &Caller<'_>,
    outcome: Stored,
) -> Result<Answer, StoreError> {
    let digest = Sha256::digest(caller.body);
    sqlx::query!(
        "INSERT INTO idempotency_record
             (caller, operation, key, body_sha256, status, body, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6,
             clock_timestamp() + $7::bigint * interval '1 microsecond')
         ON CONFLICT ON CONSTRAINT idempotency_record_pk
         DO UPDATE SET body_sha256 = excluded.body_sha256, status = excluded.status,
             body = excluded.body, created_at = clock_timestamp(),
             expires_at = excluded.expires_at",
        caller.caller,
        caller.operation,
        caller.key,
        digest.as_slice(),
        i32::from(outcome.status),
        outcome.body,
        microseconds(KEPT_FOR),
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Answer::First(outcome))
}
