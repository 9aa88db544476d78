//! Who owns which login. This file alone writes `trading_account`.

use claimcheck_core::{ClientId, Currency, Login, ServerName};
use sqlx::PgConnection;

use crate::error::StoreError;

/// Who owns a login, and in which currency it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The trade server.
    pub server: ServerName,
    /// The account.
    pub login: Login,
    /// Its owner.
    pub client: ClientId,
    /// Its currency.
    pub currency: Currency,
}

/// What became of a statement about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountRecorded {
    /// The account was not known before.
    New,
    /// Known with the same owner and currency.
    Same,
    /// Known with another owner or currency, which was replaced.
    Changed,
}

/// Records who owns a login within the caller's transaction.
pub(crate) async fn put(
    tx: &mut PgConnection,
    account: &Account,
) -> Result<AccountRecorded, StoreError> {
    let before = sqlx::query!(
        "SELECT client_id, currency FROM trading_account
         WHERE server = $1 AND login = $2 FOR UPDATE",
        account.server.as_str(),
        account.login.get(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    sqlx::query!(
        "INSERT INTO trading_account (server, login, client_id, currency)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT ON CONSTRAINT trading_account_pk
         DO UPDATE SET client_id = excluded.client_id, currency = excluded.currency,
             updated_at = clock_timestamp()",
        account.server.as_str(),
        account.login.get(),
        account.client.as_str(),
        account.currency.code(),
    )
    .execute(tx)
    .await?;
    Ok(match before {
        None => AccountRecorded::New,
        Some(row)
            if row.client_id == account.client.as_str()
                && row.currency == account.currency.code() =>
        {
            AccountRecorded::Same
        }
        Some(_) => AccountRecorded::Changed,
    })
}
