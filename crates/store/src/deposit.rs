//! Deposits: what clients chose to fund. This file alone writes `deposit`.
//!
//! A deposit is only registered for the client who owns the login, in the login's currency; after
//! that nothing but the provider's payment id is ever added to it.

use claimcheck_core::{
    ClientId, Deposit, DepositState, Login, MerchantReference, Money, OperationKind, PaidFact,
    PaymentId, ProviderName, Reference, ServerName, Status, Tag,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::case;
use crate::connect::Store;
use crate::error::StoreError;
use crate::row::At;

/// A deposit to be registered.
#[derive(Debug, Clone)]
pub struct NewDeposit {
    /// Who chose it.
    pub client: ClientId,
    /// The trade server.
    pub server: ServerName,
    /// The account.
    pub login: Login,
    /// What the account is to gain.
    pub amount: Money,
    /// Who collects the money.
    pub provider: ProviderName,
    /// The provider's payment, if the portal knows it already.
    pub payment: Option<PaymentId>,
    /// What the payer is to pay, if that differs.
    pub pay: Option<Money>,
}

/// Why a deposit is not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DepositRefused {
    /// Nobody owns the login on that server.
    #[error("the account is not known; register it with PUT /v1/accounts/{{server}}/{{login}}")]
    UnknownAccount,
    /// Somebody else owns the login.
    #[error("the account belongs to another client")]
    NotTheOwner,
    /// The account is kept in another currency.
    #[error("the account is kept in {account}, the deposit is in {given}")]
    CurrencyDiffers {
        /// The account's.
        account: String,
        /// The deposit's.
        given: String,
    },
    /// Another deposit is bound to the payment.
    #[error("another deposit is bound to this provider payment")]
    PaymentTaken,
}

/// The operation behind a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationView {
    /// Its reference, the deal's comment.
    pub reference: String,
    /// Where it stands.
    pub status: Status,
    /// The deal, once done.
    pub deal_ticket: Option<i64>,
    /// Why it was refused, once failed.
    pub refusal: Option<String>,
}

/// A deposit as the portal sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositView {
    /// The deposit.
    pub deposit: Deposit,
    /// What the portal is told.
    pub state: DepositState,
    /// Its operation, once a payment came.
    pub operation: Option<OperationView>,
}

struct DepositRow {
    id: i64,
    client_id: String,
    server: String,
    mt5_login: i64,
    amount_minor: i64,
    currency: String,
    provider: String,
    provider_payment_id: Option<String>,
    pay_amount_minor: Option<i64>,
    pay_currency: Option<String>,
    reference_for_provider: String,
    created_at: OffsetDateTime,
}

impl TryFrom<DepositRow> for Deposit {
    type Error = StoreError;

    fn try_from(row: DepositRow) -> Result<Self, StoreError> {
        let at = At {
            table: "deposit",
            id: row.id,
        };
        let pay = row.pay_amount_minor.zip(row.pay_currency.as_deref());
        Ok(Self {
            id: row.id,
            client: at.client(&row.client_id)?,
            server: at.server(&row.server)?,
            login: at.login(row.mt5_login)?,
            amount: at.money(row.amount_minor, &row.currency)?,
            provider: at.provider(&row.provider)?,
            payment: row
                .provider_payment_id
                .as_deref()
                .map(|id| at.payment(id))
                .transpose()?,
            pay: pay
                .map(|(minor, currency)| at.money(minor, currency))
                .transpose()?,
            reference: at.merchant(&row.reference_for_provider)?,
            registered_at: row.created_at,
        })
    }
}

impl Store {
    /// A deposit with its state.
    ///
    /// # Errors
    /// The database is away.
    pub async fn deposit(&self, id: i64) -> Result<Option<DepositView>, StoreError> {
        let row = sqlx::query_as!(
            DepositRow,
            "SELECT id, client_id, server, mt5_login, amount_minor, currency, provider,
                 provider_payment_id, pay_amount_minor, pay_currency, reference_for_provider,
                 created_at
             FROM deposit WHERE id = $1",
            id,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let deposit = Deposit::try_from(row)?;
        let operation = operation_of(&self.pool, id).await?;
        let status = operation.as_ref().map(|operation| operation.status);
        let has_open_case = has_open_case(&self.pool, id).await?;
        Ok(Some(DepositView {
            deposit,
            state: DepositState::of(status, has_open_case),
            operation,
        }))
    }
}

/// Registers a deposit within the caller's transaction; the outer error is the database's, the
/// inner one the caller's.
pub(crate) async fn register(
    tx: &mut PgConnection,
    new: &NewDeposit,
    tag: Tag,
) -> Result<Result<Deposit, DepositRefused>, StoreError> {
    if let Err(refused) = check_owner(tx, new).await? {
        return Ok(Err(refused));
    }
    let id = sqlx::query!(r#"SELECT nextval(pg_get_serial_sequence('deposit', 'id')) AS "id!""#)
        .fetch_one(&mut *tx)
        .await?
        .id;
    // The payer's side of the reference: the same form, with a dash that every provider accepts.
    let reference = Reference::mint(OperationKind::Deposit, id, tag)
        .as_str()
        .replace(':', "-");
    let row = sqlx::query_as!(
        DepositRow,
        "INSERT INTO deposit (id, client_id, server, mt5_login, amount_minor, currency, provider,
             provider_payment_id, pay_amount_minor, pay_currency, reference_for_provider)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT ON CONSTRAINT deposit_payment_key DO NOTHING
         RETURNING id, client_id, server, mt5_login, amount_minor, currency, provider,
             provider_payment_id, pay_amount_minor, pay_currency, reference_for_provider,
             created_at",
        id,
        new.client.as_str(),
        new.server.as_str(),
        new.login.get(),
        new.amount.minor(),
        new.amount.currency().code(),
        new.provider.as_str(),
        new.payment.as_ref().map(PaymentId::as_str),
        new.pay.map(Money::minor),
        new.pay.map(|pay| pay.currency().code()),
        reference,
    )
    .fetch_optional(&mut *tx)
    .await?;
    if let (Some(_), Some(payment)) = (&row, &new.payment) {
        case::link_deposit(tx, (&new.provider, payment), id).await?;
    }
    match row {
        Some(row) => Ok(Ok(row.try_into()?)),
        None => Ok(Err(DepositRefused::PaymentTaken)),
    }
}

async fn check_owner(
    tx: &mut PgConnection,
    new: &NewDeposit,
) -> Result<Result<(), DepositRefused>, StoreError> {
    let account = sqlx::query!(
        "SELECT client_id, currency FROM trading_account
         WHERE server = $1 AND login = $2 FOR SHARE",
        new.server.as_str(),
        new.login.get(),
    )
    .fetch_optional(tx)
    .await?;
    let given = new.amount.currency().code();
    Ok(match account {
        None => Err(DepositRefused::UnknownAccount),
        Some(row) if row.client_id != new.client.as_str() => Err(DepositRefused::NotTheOwner),
        Some(row) if row.currency != given => Err(DepositRefused::CurrencyDiffers {
            account: row.currency,
            given: given.to_owned(),
        }),
        Some(_) => Ok(()),
    })
}

/// Finds and locks the deposit of a payment: by the payment bound to it, else by the reference
/// that the payment carries.
pub(crate) async fn lock_deposit(
    tx: &mut PgConnection,
    paid: &PaidFact,
) -> Result<Option<Deposit>, StoreError> {
    let row = sqlx::query_as!(
        DepositRow,
        "SELECT id, client_id, server, mt5_login, amount_minor, currency, provider,
             provider_payment_id, pay_amount_minor, pay_currency, reference_for_provider,
             created_at
         FROM deposit
         WHERE (provider = $1 AND provider_payment_id = $2) OR reference_for_provider = $3
         ORDER BY (provider = $1 AND provider_payment_id IS NOT DISTINCT FROM $2) DESC
         LIMIT 1 FOR UPDATE",
        paid.provider.as_str(),
        paid.payment.as_str(),
        paid.reference.as_ref().map(MerchantReference::as_str),
    )
    .fetch_optional(tx)
    .await?;
    row.map(Deposit::try_from).transpose()
}

/// Adds the provider's payment to a deposit that has none yet.
pub(crate) async fn bind_payment(
    tx: &mut PgConnection,
    deposit_id: i64,
    payment: &PaymentId,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE deposit SET provider_payment_id = $2, updated_at = clock_timestamp()
         WHERE id = $1 AND provider_payment_id IS NULL",
        deposit_id,
        payment.as_str(),
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// The operation that decides a deposit's state: one that runs or ran, before one that is held.
async fn operation_of(
    pool: &sqlx::PgPool,
    deposit_id: i64,
) -> Result<Option<OperationView>, StoreError> {
    let row = sqlx::query!(
        "SELECT id, reference, status, mt5_deal_ticket, refusal
         FROM balance_operation WHERE deposit_id = $1 AND kind = 'dep'
         ORDER BY (status = 'held'), id LIMIT 1",
        deposit_id,
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let at = At {
        table: "balance_operation",
        id: row.id,
    };
    Ok(Some(OperationView {
        status: at.status(&row.status)?,
        reference: row.reference,
        deal_ticket: row.mt5_deal_ticket,
        refusal: row.refusal,
    }))
}

async fn has_open_case(pool: &sqlx::PgPool, deposit_id: i64) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        r#"SELECT EXISTS (SELECT FROM review_case
               WHERE deposit_id = $1 AND state <> 'closed') AS "exists!""#,
        deposit_id,
    )
    .fetch_one(pool)
    .await?;
    Ok(row.exists)
}
