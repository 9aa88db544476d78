//! Cases: what a person must decide. This file alone writes `review_case` and its events.
//!
//! A case is opened inside the transaction that makes it necessary. When one of its kind and
//! subject is open already, what happened is added to it.

use std::borrow::Cow;

use claimcheck_core::{CaseKind, PaymentId, ProviderName};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::connect::Store;
use crate::error::StoreError;

/// A case to open, with everything a person needs to find the records behind it.
pub(crate) struct NewCase<'a> {
    pub(crate) kind: CaseKind,
    pub(crate) subject: &'a str,
    pub(crate) summary: String,
    pub(crate) detail: Value,
    pub(crate) operation_reference: Option<&'a str>,
    pub(crate) deposit_id: Option<i64>,
    pub(crate) payment: Option<(&'a ProviderName, &'a PaymentId)>,
    pub(crate) event_id: Option<i64>,
    pub(crate) actor: &'a str,
}

impl<'a> NewCase<'a> {
    /// A case about an operation.
    pub(crate) fn about_operation(
        kind: CaseKind,
        reference: &'a str,
        summary: String,
        detail: Value,
        actor: &'a str,
    ) -> Self {
        Self {
            kind,
            subject: reference,
            summary,
            detail,
            operation_reference: Some(reference),
            deposit_id: None,
            payment: None,
            event_id: None,
            actor,
        }
    }
}

/// Longest subject that stands as it is; a longer one is told apart by its digest.
const SUBJECT_LENGTH_MAX: usize = 300;

/// A subject that fits an index, whatever a provider sent.
fn bounded(subject: &str) -> Cow<'_, str> {
    if subject.len() <= SUBJECT_LENGTH_MAX {
        return Cow::Borrowed(subject);
    }
    let digest = Sha256::digest(subject.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Cow::Owned(format!("sha256:{hex}"))
}

/// Opens a case, or adds to the open one of the same kind and subject.
pub(crate) async fn open(
    connection: &mut PgConnection,
    case: &NewCase<'_>,
) -> Result<i64, StoreError> {
    let subject = bounded(case.subject);
    let row = sqlx::query!(
        r#"INSERT INTO review_case (kind, subject, severity, summary, detail, operation_reference,
               deposit_id, provider, provider_payment_id, provider_event_id)
           VALUES ($1, $2, $3, $4, $5, $6,
               COALESCE($7, (SELECT deposit_id FROM balance_operation WHERE reference = $6)),
               $8, $9, $10)
           ON CONFLICT (kind, subject) WHERE state <> 'closed'
           DO UPDATE SET seen = review_case.seen + 1, updated_at = clock_timestamp()
           RETURNING id, seen"#,
        case.kind.code(),
        subject.as_ref(),
        case.kind.severity().code(),
        case.summary,
        case.detail,
        case.operation_reference,
        case.deposit_id,
        case.payment.map(|(provider, _)| provider.as_str()),
        case.payment.map(|(_, payment)| payment.as_str()),
        case.event_id,
    )
    .fetch_one(&mut *connection)
    .await?;
    let what = if row.seen == 1 {
        "opened"
    } else {
        "seen_again"
    };
    sqlx::query!(
        "INSERT INTO review_case_event (case_id, actor, what, detail) VALUES ($1, $2, $3, $4)",
        row.id,
        case.actor,
        what,
        case.detail,
    )
    .execute(connection)
    .await?;
    Ok(row.id)
}

/// Tells the open cases about a payment that nobody had registered which deposit it is for.
pub(crate) async fn link_deposit(
    connection: &mut PgConnection,
    payment: (&ProviderName, &PaymentId),
    deposit_id: i64,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE review_case SET deposit_id = $3, updated_at = clock_timestamp()
         WHERE provider = $1 AND provider_payment_id = $2 AND deposit_id IS NULL
           AND state <> 'closed'",
        payment.0.as_str(),
        payment.1.as_str(),
        deposit_id,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Which cases to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseState {
    /// Every case that is not closed.
    Open,
    /// Every case.
    Any,
}

/// A case as people see it.
#[derive(Debug, Clone)]
pub struct CaseRecord {
    /// Row id.
    pub id: i64,
    /// What kind of case.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// How urgent it is.
    pub severity: String,
    /// Where it stands.
    pub state: String,
    /// One sentence.
    pub summary: String,
    /// The records behind it.
    pub detail: Value,
    /// The operation, if it is about one.
    pub operation_reference: Option<String>,
    /// The deposit, if it is about one.
    pub deposit_id: Option<i64>,
    /// The provider's payment, if it is about one.
    pub provider_payment_id: Option<String>,
    /// How often its cause was seen.
    pub seen: i32,
    /// When it was opened.
    pub opened_at: OffsetDateTime,
}

impl Store {
    /// Cases, newest first, at most `limit`.
    ///
    /// # Errors
    /// The database is away.
    pub async fn cases(&self, state: CaseState, limit: i64) -> Result<Vec<CaseRecord>, StoreError> {
        let rows = sqlx::query_as!(
            CaseRecord,
            "SELECT id, kind, subject, severity, state, summary, detail, operation_reference,
                 deposit_id, provider_payment_id, seen, opened_at
             FROM review_case WHERE state <> 'closed' OR $1 ORDER BY id DESC LIMIT $2",
            state == CaseState::Any,
            limit,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    /// One case.
    ///
    /// # Errors
    /// The database is away.
    pub async fn case(&self, id: i64) -> Result<Option<CaseRecord>, StoreError> {
        let row = sqlx::query_as!(
            CaseRecord,
            "SELECT id, kind, subject, severity, state, summary, detail, operation_reference,
                 deposit_id, provider_payment_id, seen, opened_at
             FROM review_case WHERE id = $1",
            id,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row)
    }
}
