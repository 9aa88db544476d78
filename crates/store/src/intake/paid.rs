//! A paid event: its deposit is locked and compared, then an operation is made, pending or held.

use claimcheck_core::{
    CaseKind, Consequence, Deposit, Existing, Mismatch, Money, OperationKind, PaidBefore, PaidFact,
    Rate, Reference, Status, decide,
};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{ACTOR, Recorded, VerifiedMessage, open_case};
use crate::case::NewCase;
use crate::deposit::{bind_payment, lock_deposit};
use crate::error::StoreError;

pub(super) async fn record_paid(
    tx: &mut PgConnection,
    message: &VerifiedMessage<'_>,
    event_id: i64,
    paid: &PaidFact,
    recorded: &mut Recorded,
) -> Result<(), StoreError> {
    let deposit = lock_deposit(tx, paid).await?;
    let existing = existing(tx, paid, deposit.as_ref().map(|deposit| deposit.id)).await?;
    let origin = Origin {
        message,
        event_id,
        paid,
    };
    match (decide(paid, deposit.as_ref(), &existing), deposit) {
        (Consequence::Same, _) => Ok(()),
        (Consequence::Contradiction, deposit) => {
            let summary = "an event contradicts the payment's operation".to_owned();
            let about = (deposit.as_ref(), None);
            origin
                .open_case(tx, recorded, CaseKind::PaymentContradiction, about, summary)
                .await
        }
        (Consequence::NoDeposit, _) | (_, None) => {
            let summary = "a payment came for which no deposit is registered".to_owned();
            origin
                .open_case(
                    tx,
                    recorded,
                    CaseKind::UnknownDeposit,
                    (None, None),
                    summary,
                )
                .await
        }
        (Consequence::Credit { amount, rate }, Some(deposit)) => {
            bind_payment(tx, deposit.id, &paid.payment).await?;
            let new = NewOperation {
                deposit: &deposit,
                amount,
                rate,
                status: Status::Pending,
            };
            let reference = origin
                .insert(tx, &new, "the payment agrees with its deposit")
                .await?;
            recorded.pending.push(reference);
            Ok(())
        }
        (
            Consequence::Hold {
                amount,
                case,
                mismatches,
            },
            Some(deposit),
        ) => {
            let why = in_words(&mismatches);
            let new = NewOperation {
                deposit: &deposit,
                amount,
                rate: None,
                status: Status::Held,
            };
            let reference = origin.insert(tx, &new, &why).await?;
            origin
                .open_case(tx, recorded, case, (Some(&deposit), Some(&reference)), why)
                .await
        }
    }
}

fn in_words(mismatches: &[Mismatch]) -> String {
    if mismatches.is_empty() {
        return "the deposit already has another payment".to_owned();
    }
    mismatches
        .iter()
        .map(Mismatch::in_words)
        .collect::<Vec<_>>()
        .join("; ")
}

async fn existing(
    tx: &mut PgConnection,
    paid: &PaidFact,
    deposit_id: Option<i64>,
) -> Result<Existing, StoreError> {
    let same = sqlx::query!(
        r#"SELECT event.amount AS "amount?", event.currency AS "currency?",
               event.merchant_reference AS "merchant_reference?"
           FROM balance_operation AS operation
           LEFT JOIN provider_event AS event ON event.id = operation.provider_event_id
           WHERE operation.provider = $1 AND operation.provider_payment_id = $2
             AND operation.kind = 'dep'"#,
        paid.provider.as_str(),
        paid.payment.as_str(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    let other = sqlx::query!(
        r#"SELECT EXISTS (SELECT FROM balance_operation
               WHERE deposit_id = $1 AND kind = 'dep' AND status NOT IN ('held', 'failed')
                 AND (provider, provider_payment_id) <> ($2, $3)) AS "exists!""#,
        deposit_id,
        paid.provider.as_str(),
        paid.payment.as_str(),
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok(Existing {
        // An event that was pruned by age agrees with its repeat: its key has outlived its text.
        same_payment: same.map(|row| PaidBefore {
            amount: row.amount.unwrap_or(paid.amount),
            currency: row.currency.unwrap_or_else(|| paid.currency.to_string()),
            reference: row.merchant_reference,
        }),
        deposit_has_other_payment: other.exists,
    })
}

/// Where an operation comes from.
struct Origin<'a> {
    message: &'a VerifiedMessage<'a>,
    event_id: i64,
    paid: &'a PaidFact,
}

/// An operation to be made.
struct NewOperation<'a> {
    deposit: &'a Deposit,
    amount: Money,
    rate: Option<Rate>,
    status: Status,
}

impl Origin<'_> {
    async fn insert(
        &self,
        tx: &mut PgConnection,
        new: &NewOperation<'_>,
        because: &str,
    ) -> Result<Reference, StoreError> {
        let id = sqlx::query!(
            r#"SELECT nextval(pg_get_serial_sequence('balance_operation', 'id')) AS "id!""#
        )
        .fetch_one(&mut *tx)
        .await?
        .id;
        let reference = Reference::mint(OperationKind::Deposit, id, (self.message.tag)());
        let paid = self.paid.money();
        sqlx::query!(
            "INSERT INTO balance_operation (id, kind, server, mt5_login, amount_minor, currency,
                 paid_amount_minor, paid_currency, rate, rate_source, rate_at, provider,
                 provider_payment_id, reference, status, deposit_id, provider_event_id,
                 trace_parent, move, moved_by, moved_because)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                 $18, 'accept', $19, $20)",
            id,
            OperationKind::Deposit.code(),
            new.deposit.server.as_str(),
            new.deposit.login.get(),
            new.amount.minor(),
            new.amount.currency().code(),
            paid.map(Money::minor),
            self.paid.currency.as_str(),
            new.rate.as_ref().map(|rate| rate.value),
            new.rate.as_ref().map(|rate| rate.source.as_str()),
            new.rate.as_ref().map(|rate| rate.at),
            self.paid.provider.as_str(),
            self.paid.payment.as_str(),
            reference.as_str(),
            new.status.code(),
            new.deposit.id,
            self.event_id,
            self.message.trace_parent,
            ACTOR,
            because,
        )
        .execute(tx)
        .await?;
        Ok(reference)
    }

    async fn open_case(
        &self,
        tx: &mut PgConnection,
        recorded: &mut Recorded,
        kind: CaseKind,
        (deposit, reference): (Option<&Deposit>, Option<&Reference>),
        summary: String,
    ) -> Result<(), StoreError> {
        let subject = match reference {
            Some(reference) => reference.as_str().to_owned(),
            None => format!("{}:{}", self.paid.provider, self.paid.payment),
        };
        open_case(
            tx,
            recorded,
            &NewCase {
                kind,
                subject: &subject,
                summary,
                detail: self.detail(deposit),
                operation_reference: reference.map(Reference::as_str),
                deposit_id: deposit.map(|deposit| deposit.id),
                payment: Some((&self.paid.provider, &self.paid.payment)),
                event_id: Some(self.event_id),
                actor: ACTOR,
            },
        )
        .await
    }

    /// The records side by side: what came and what was expected.
    fn detail(&self, deposit: Option<&Deposit>) -> Value {
        json!({
            "paid": {
                "provider": self.paid.provider.as_str(),
                "payment": self.paid.payment.as_str(),
                "reference": self.paid.reference.as_ref().map(|reference| reference.as_str()),
                "amount": self.paid.amount.to_string(),
                "currency": self.paid.currency.as_str(),
            },
            "deposit": deposit.map(|deposit| json!({
                "id": deposit.id,
                "provider": deposit.provider.as_str(),
                "payment": deposit.payment.as_ref().map(|payment| payment.as_str()),
                "reference": deposit.reference.as_str(),
                "amount": deposit.expected().to_major().to_string(),
                "currency": deposit.expected().currency().code(),
            })),
        })
    }
}
