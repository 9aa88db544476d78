//! The object an event is about, and the fields that its facts are made of.
//!
//! The payment is always the PaymentIntent, so that all event types about the same money meet
//! under one key; only old charges without an intent stand for themselves.

use claimcheck_core::{CurrencyCode, EventFact, EventKey, FactKind, MerchantReference, PaymentId};
use rust_decimal::Decimal;

use super::unit;
use crate::document::{Document, Unreadable, shown};

/// `data.object` of one event.
pub(super) struct Object<'a> {
    pub(super) fields: Document<'a>,
    pub(super) event_key: EventKey,
    /// The fields that name the payment, in order of preference.
    pub(super) payment_from: &'static [&'static str],
}

impl Object<'_> {
    /// A fact with the payment and its reference.
    pub(super) fn bare(&self, kind: FactKind) -> Result<EventFact, Unreadable> {
        let mut fact = EventFact::new(kind, self.event_key.clone());
        fact.payment = self.payment()?;
        fact.reference = self.reference()?;
        Ok(fact)
    }

    /// A fact with payment, reference and currency, over no amount.
    pub(super) fn fact(&self, kind: FactKind) -> Result<EventFact, Unreadable> {
        let mut fact = self.bare(kind)?;
        fact.currency = self.currency()?;
        Ok(fact)
    }

    /// A fact over the amount in `field`. What a body lacks is left out: whether a statement is
    /// complete enough to act on is decided where it is acted on.
    pub(super) fn fact_over(&self, kind: FactKind, field: &str) -> Result<EventFact, Unreadable> {
        let minor = self.fields.integer(field)?;
        self.fact_over_minor(kind, minor)
    }

    /// A fact over an amount in Stripe's own unit.
    pub(super) fn fact_over_minor(
        &self,
        kind: FactKind,
        minor: Option<i64>,
    ) -> Result<EventFact, Unreadable> {
        let mut fact = self.fact(kind)?;
        fact.amount = self.major(minor, fact.currency.as_ref())?;
        Ok(fact)
    }

    /// Nothing that concerns us, and why.
    pub(super) fn ignored(&self, why: &str) -> Result<EventFact, Unreadable> {
        let mut fact = self.bare(FactKind::Ignored)?;
        fact.why = Some(why.to_owned());
        Ok(fact)
    }

    /// The object's own id.
    pub(super) fn id(&self) -> Result<String, Unreadable> {
        let id = self.fields.text("id")?.map(str::to_owned);
        self.fields.needed("id", id)
    }

    /// Refuses an event whose object is in another state than the event's type says.
    pub(super) fn expect(&self, field: &str, expected: &str) -> Result<(), Unreadable> {
        match self.fields.text(field)? {
            Some(found) if found != expected => Err(self.unknown(field, found)),
            Some(_) | None => Ok(()),
        }
    }

    /// A word that this type of event should not carry.
    pub(super) fn unknown(&self, field: &str, found: &str) -> Unreadable {
        let found = shown(found);
        Unreadable::new(format!(
            "data.object.{field} is {found}, which does not fit the type"
        ))
    }

    fn payment(&self) -> Result<Option<PaymentId>, Unreadable> {
        for field in self.payment_from {
            let found = self.fields.parsed(field, PaymentId::parse)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The reference stands in the metadata; a session may carry it in a field of its own.
    fn reference(&self) -> Result<Option<MerchantReference>, Unreadable> {
        let metadata = self.fields.object("metadata", "data.object.metadata.")?;
        let in_metadata = match metadata {
            Some(metadata) => metadata.parsed("deposit_ref", MerchantReference::parse)?,
            None => None,
        };
        match in_metadata {
            Some(reference) => Ok(Some(reference)),
            None => self
                .fields
                .parsed("client_reference_id", MerchantReference::parse),
        }
    }

    fn currency(&self) -> Result<Option<CurrencyCode>, Unreadable> {
        self.fields.parsed("currency", |text| {
            CurrencyCode::parse(text).ok_or("not a currency code")
        })
    }

    fn major(
        &self,
        minor: Option<i64>,
        currency: Option<&CurrencyCode>,
    ) -> Result<Option<Decimal>, Unreadable> {
        match (minor, currency) {
            (Some(minor), Some(currency)) => unit::major(minor, currency).map(Some),
            (Some(_), None) | (None, _) => Ok(None),
        }
    }
}
