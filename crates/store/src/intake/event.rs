//! Events as rows, each with the bytes that were verified.

use claimcheck_core::{CurrencyCode, EventFact, MerchantReference, PaymentId};
use sha2::{Digest, Sha256};
use sqlx::PgConnection;

use super::VerifiedMessage;
use crate::error::StoreError;

/// The columns of an event that differ between readable and unreadable messages.
pub(super) struct EventRow<'a> {
    pub(super) key: &'a str,
    pub(super) kind: &'a str,
    pub(super) note: Option<&'a str>,
    pub(super) fact: Option<&'a EventFact>,
}

/// Inserts an event; `None` when its key is on record already.
pub(super) async fn insert_event(
    tx: &mut PgConnection,
    message: &VerifiedMessage<'_>,
    event: &EventRow<'_>,
) -> Result<Option<i64>, StoreError> {
    let fact = event.fact;
    let digest = Sha256::digest(message.body);
    let row = sqlx::query!(
        "INSERT INTO provider_event (endpoint, event_key, provider, kind, provider_payment_id,
             merchant_reference, amount, currency, part, body, body_sha256, secret_index, note,
             trace_parent)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT ON CONSTRAINT provider_event_key DO NOTHING
         RETURNING id",
        message.endpoint.as_str(),
        event.key,
        message.provider.as_str(),
        event.kind,
        fact.and_then(|fact| fact.payment.as_ref())
            .map(PaymentId::as_str),
        fact.and_then(|fact| fact.reference.as_ref())
            .map(MerchantReference::as_str),
        fact.and_then(|fact| fact.amount),
        fact.and_then(|fact| fact.currency.as_ref())
            .map(CurrencyCode::as_str),
        fact.and_then(|fact| fact.part.as_deref()),
        message.body,
        digest.as_slice(),
        i32::try_from(message.secret_index).unwrap_or(i32::MAX),
        event.note,
        message.trace_parent,
    )
    .fetch_optional(tx)
    .await?;
    Ok(row.map(|row| row.id))
}

/// The key of a message that states none: the digest of its bytes.
pub(super) fn digest_key(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
