//! A verified message becomes events and their consequence, in one transaction. This file alone
//! writes `provider_event` and makes deposit operations.
//!
//! Either everything that follows from the message is committed or nothing is; only then may the
//! provider be told that we have it.

mod event;
mod paid;

use claimcheck_core::{
    CaseKind, CurrencyCode, EndpointName, EventFact, Meaning, PaymentId, ProviderName, Reference,
    Tag, meaning,
};
use serde_json::json;
use sqlx::PgConnection;

use crate::case::{self, NewCase};
use crate::connect::Store;
use crate::error::StoreError;
use event::{EventRow, digest_key, insert_event};
use paid::record_paid;

/// A message whose signature was verified.
#[derive(Clone, Copy)]
pub struct VerifiedMessage<'a> {
    /// Where it came in.
    pub endpoint: &'a EndpointName,
    /// Whose message it is.
    pub provider: &'a ProviderName,
    /// The bytes that were verified.
    pub body: &'a [u8],
    /// Which of the endpoint's secrets matched.
    pub secret_index: usize,
    /// What it states, or why it cannot be understood.
    pub facts: Result<&'a [EventFact], &'a str>,
    /// The trace under which it came in, carried on to the deal.
    pub trace_parent: Option<&'a str>,
    /// Makes the random part of a reference.
    pub tag: &'a (dyn Fn() -> Tag + Send + Sync),
}

/// What became of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Statements that were not known before; zero means a duplicate.
    pub events: usize,
    /// Operations that may be claimed now.
    pub pending: Vec<Reference>,
    /// Cases opened or added to.
    pub cases: usize,
}

/// The one who writes, in histories and cases.
const ACTOR: &str = "webhook-ingest";
/// Tries of one message when writers meet.
const TRIES_MAX: usize = 4;
/// The rules whose refusal means that another writer was faster; the next try sees its rows.
const RACES: [&str; 3] = [
    "balance_operation_payment_key",
    "balance_operation_one_credit_per_deposit",
    "deposit_payment_key",
];

impl Store {
    /// Records a verified message and everything that follows from it.
    ///
    /// # Errors
    /// Nothing is committed, or it is not known whether it was; the provider must repeat.
    pub async fn record_message(
        &self,
        message: &VerifiedMessage<'_>,
    ) -> Result<Recorded, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_record(message).await {
                Err(error) if tries < TRIES_MAX && is_race(&error) => tries = tries.wrapping_add(1),
                // What the database will never take must not be sent again and again for days: the
                // bytes are kept as they are, and a person is told.
                Err(error) if message.facts.is_ok() && !error.is_passing() => {
                    let why = "what it states cannot be stored";
                    return self
                        .try_record(&VerifiedMessage {
                            facts: Err(why),
                            ..*message
                        })
                        .await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn try_record(&self, message: &VerifiedMessage<'_>) -> Result<Recorded, StoreError> {
        let mut tx = self.pool.begin().await?;
        let mut recorded = Recorded::default();
        match message.facts {
            Ok(facts) => {
                for fact in facts {
                    record_fact(&mut tx, message, fact, &mut recorded).await?;
                }
            }
            Err(why) => record_unreadable(&mut tx, message, why, &mut recorded).await?,
        }
        tx.commit().await?;
        Ok(recorded)
    }
}

fn is_race(error: &StoreError) -> bool {
    matches!(error, StoreError::Contended(_)) || RACES.iter().any(|name| error.is_refusal_of(name))
}

async fn record_unreadable(
    tx: &mut PgConnection,
    message: &VerifiedMessage<'_>,
    why: &str,
    recorded: &mut Recorded,
) -> Result<(), StoreError> {
    let key = digest_key(message.body);
    let event = EventRow {
        key: &key,
        kind: "unreadable",
        note: Some(why),
        fact: None,
    };
    let Some(event_id) = insert_event(tx, message, &event).await? else {
        return Ok(());
    };
    recorded.events = recorded.events.saturating_add(1);
    let subject = format!("{}:{key}", message.endpoint);
    open_case(
        tx,
        recorded,
        &NewCase {
            kind: CaseKind::UnreadableEvent,
            subject: &subject,
            summary: format!(
                "a verified message of {} cannot be understood: {why}",
                message.provider
            ),
            detail: json!({ "endpoint": message.endpoint.as_str(), "why": why }),
            operation_reference: None,
            deposit_id: None,
            payment: None,
            event_id: Some(event_id),
            actor: ACTOR,
        },
    )
    .await
}

async fn record_fact(
    tx: &mut PgConnection,
    message: &VerifiedMessage<'_>,
    fact: &EventFact,
    recorded: &mut Recorded,
) -> Result<(), StoreError> {
    let event = EventRow {
        key: fact.event_key.as_str(),
        kind: fact.kind.code(),
        note: fact.why.as_deref(),
        fact: Some(fact),
    };
    let Some(event_id) = insert_event(tx, message, &event).await? else {
        return Ok(());
    };
    recorded.events = recorded.events.saturating_add(1);
    match meaning(fact, message.provider) {
        Ok(Meaning::Nothing) => Ok(()),
        Ok(Meaning::Paid(paid)) => record_paid(tx, message, event_id, &paid, recorded).await,
        Ok(Meaning::MoneyBack) => {
            let case = fact_case(message, fact, CaseKind::MoneyBack, event_id);
            let subject = format!(
                "{}:{}:{}",
                message.provider,
                fact.payment.as_ref().map_or("", |payment| payment.as_str()),
                fact.part.as_deref().unwrap_or(fact.event_key.as_str()),
            );
            let summary = format!("{} reports {}", message.provider, fact.kind.code());
            open_case(
                tx,
                recorded,
                &NewCase {
                    subject: &subject,
                    summary,
                    ..case
                },
            )
            .await
        }
        Err(unusable) => {
            let case = fact_case(message, fact, CaseKind::UnusableEvent, event_id);
            let subject = format!("{}:{}", message.endpoint, fact.event_key);
            let summary = format!("a paid event cannot be acted on: {unusable}");
            open_case(
                tx,
                recorded,
                &NewCase {
                    subject: &subject,
                    summary,
                    ..case
                },
            )
            .await
        }
    }
}

fn fact_case<'a>(
    message: &VerifiedMessage<'a>,
    fact: &'a EventFact,
    kind: CaseKind,
    event_id: i64,
) -> NewCase<'a> {
    NewCase {
        kind,
        subject: "",
        summary: String::new(),
        detail: json!({
            "kind": fact.kind.code(),
            "event_key": fact.event_key.as_str(),
            "payment": fact.payment.as_ref().map(PaymentId::as_str),
            "amount": fact.amount.map(|amount| amount.to_string()),
            "currency": fact.currency.as_ref().map(CurrencyCode::as_str),
            "part": fact.part,
        }),
        operation_reference: None,
        deposit_id: None,
        payment: fact
            .payment
            .as_ref()
            .map(|payment| (message.provider, payment)),
        event_id: Some(event_id),
        actor: ACTOR,
    }
}

async fn open_case(
    tx: &mut PgConnection,
    recorded: &mut Recorded,
    case: &NewCase<'_>,
) -> Result<(), StoreError> {
    case::open(tx, case).await?;
    recorded.cases = recorded.cases.saturating_add(1);
    Ok(())
}
