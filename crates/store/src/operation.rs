//! Reading an operation with its history, for people.

use claimcheck_core::Reference;
use time::OffsetDateTime;

use crate::connect::Store;
use crate::error::StoreError;

/// An operation as people see it.
#[derive(Debug, Clone)]
pub struct OperationRecord {
    /// Its reference.
    pub reference: String,
    /// What kind it is.
    pub kind: String,
    /// The trade server.
    pub server: String,
    /// The account.
    pub mt5_login: i64,
    /// Minor units of the account's currency.
    pub amount_minor: i64,
    /// The account's currency.
    pub currency: String,
    /// Where it stands.
    pub status: String,
    /// The deal, once done.
    pub mt5_deal_ticket: Option<i64>,
    /// Claims so far.
    pub attempts: i32,
    /// Why it was refused.
    pub refusal: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The provider's payment.
    pub provider_payment_id: Option<String>,
    /// Its deposit.
    pub deposit_id: Option<i64>,
    /// Every move, oldest first.
    pub history: Vec<HistoryEntry>,
}

/// One move of an operation.
#[derive(Debug, Clone)]
pub struct HistoryEntry {
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub actor: String,
    /// What.
    pub move_code: String,
    /// Why.
    pub because: String,
    /// Under which attempt.
    pub attempt: i32,
    /// From where.
    pub status_before: Option<String>,
    /// To where.
    pub status_after: String,
}

impl Store {
    /// An operation with its history.
    ///
    /// # Errors
    /// The database is away.
    pub async fn operation(
        &self,
        reference: &Reference,
    ) -> Result<Option<OperationRecord>, StoreError> {
        let row = sqlx::query!(
            "SELECT id, reference, kind, server, mt5_login, amount_minor, currency, status,
                 mt5_deal_ticket, attempts, refusal, provider, provider_payment_id, deposit_id
             FROM balance_operation WHERE reference = $1",
            reference.as_str(),
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let history = sqlx::query_as!(
            HistoryEntry,
            "SELECT at, actor, move AS move_code, because, attempt, status_before, status_after
             FROM balance_operation_history WHERE operation_id = $1 ORDER BY id",
            row.id,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(Some(OperationRecord {
            reference: row.reference,
            kind: row.kind,
            server: row.server,
            mt5_login: row.mt5_login,
            amount_minor: row.amount_minor,
            currency: row.currency,
            status: row.status,
            mt5_deal_ticket: row.mt5_deal_ticket,
            attempts: row.attempts,
            refusal: row.refusal,
            provider: row.provider,
            provider_payment_id: row.provider_payment_id,
            deposit_id: row.deposit_id,
            history,
        }))
    }
}
