//! From columns to domain values. A value that no code of ours writes is an error that names its
//! table, column and row.

use claimcheck_core::{
    ClientId, Currency, Login, MerchantReference, Money, Operation, OperationKind, PaymentId,
    ProviderName, Reference, ServerName, Status,
};

use crate::error::StoreError;

/// Where a value was read, for the error.
pub(crate) struct At {
    pub(crate) table: &'static str,
    pub(crate) id: i64,
}

impl At {
    fn broken(&self, column: &'static str) -> StoreError {
        StoreError::Inconsistent {
            table: self.table,
            column,
            id: self.id.to_string(),
        }
    }

    pub(crate) fn money(&self, minor: i64, currency: &str) -> Result<Money, StoreError> {
        let currency = Currency::parse(currency).map_err(|_| self.broken("currency"))?;
        Money::from_minor(minor, currency).map_err(|_| self.broken("amount_minor"))
    }

    pub(crate) fn login(&self, login: i64) -> Result<Login, StoreError> {
        Login::new(login).ok_or_else(|| self.broken("mt5_login"))
    }

    pub(crate) fn server(&self, server: &str) -> Result<ServerName, StoreError> {
        ServerName::parse(server).map_err(|_| self.broken("server"))
    }

    pub(crate) fn status(&self, status: &str) -> Result<Status, StoreError> {
        Status::from_code(status).ok_or_else(|| self.broken("status"))
    }

    pub(crate) fn reference(&self, reference: &str) -> Result<Reference, StoreError> {
        Reference::parse(reference).map_err(|_| self.broken("reference"))
    }

    pub(crate) fn client(&self, client: &str) -> Result<ClientId, StoreError> {
        ClientId::parse(client).map_err(|_| self.broken("client_id"))
    }

    pub(crate) fn provider(&self, provider: &str) -> Result<ProviderName, StoreError> {
        ProviderName::parse(provider).map_err(|_| self.broken("provider"))
    }

    pub(crate) fn payment(&self, payment: &str) -> Result<PaymentId, StoreError> {
        PaymentId::parse(payment).map_err(|_| self.broken("provider_payment_id"))
    }

    pub(crate) fn merchant(&self, reference: &str) -> Result<MerchantReference, StoreError> {
        MerchantReference::parse(reference).map_err(|_| self.broken("reference_for_provider"))
    }
}

/// The columns from which an operation is made.
pub(crate) struct OperationRow {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) server: String,
    pub(crate) mt5_login: i64,
    pub(crate) amount_minor: i64,
    pub(crate) currency: String,
    pub(crate) reference: String,
    pub(crate) status: String,
    pub(crate) attempts: i32,
}

impl TryFrom<OperationRow> for Operation {
    type Error = StoreError;

    fn try_from(row: OperationRow) -> Result<Self, StoreError> {
        let at = At {
            table: "balance_operation",
            id: row.id,
        };
        Ok(Self {
            id: row.id,
            kind: OperationKind::from_code(&row.kind).ok_or_else(|| at.broken("kind"))?,
            server: at.server(&row.server)?,
            login: at.login(row.mt5_login)?,
            amount: at.money(row.amount_minor, &row.currency)?,
            reference: at.reference(&row.reference)?,
            status: at.status(&row.status)?,
            attempts: row.attempts,
        })
    }
}
