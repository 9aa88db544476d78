//! What Stripe's events mean: the table `ROWS`, which is the whole of it.
//!
//! Money is `payment_intent.succeeded`, `charge.captured`, a captured `charge.succeeded`, and a
//! Checkout session that is *paid*. All four tell of the same money and meet under the
//! PaymentIntent's id. These look like money and are not: an intent created or processing, a
//! charge with `captured=false`, a completed session that is unpaid or needs no payment, a
//! successful setup intent, and every payout, which moves the merchant's own balance.
//!
//! A failed try is not final, for an intent may fail and succeed later. `refund.*` carry one
//! refund each; `charge.refunded` carries the total so far, in which Stripe counts the uncaptured
//! rest as refunded although it was never taken. A dispute takes the money when it opens, unless
//! it is a `warning_…`; closing it as lost takes nothing more.
//!
//! Stripe puts the reference on intents and charges; a refund or dispute carries none unless its
//! maker copied it, so it is found by its payment.

use claimcheck_core::{EventFact, EventKey, FactKind};

use super::object::Object;
use crate::config::Config;
use crate::delivery::Delivery;
use crate::document::{self, Document, Unreadable, shown};

/// One event type.
struct Row {
    event: &'static str,
    means: Means,
}

/// How a type is read.
enum Means {
    /// Always this kind, over the amount in this field of the object, if any.
    Always(FactKind, Option<&'static str>),
    /// It depends on the object.
    Depends(fn(&Object<'_>) -> Result<EventFact, Unreadable>),
    /// Nothing that concerns us, whatever the object says.
    Nothing(&'static str),
}

use Means::{Always, Depends, Nothing};

const fn row(event: &'static str, means: Means) -> Row {
    Row { event, means }
}

const NOT_YET: &str = "the payer has not paid yet";
const OWN_BALANCE: &str = "a payout moves the merchant's own balance, not a client's money";
const NO_MONEY: &str = "no money moves with it";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("payment_intent.created", Nothing(NOT_YET)),
    row("payment_intent.requires_action", Nothing(NOT_YET)),
    row("payment_intent.processing", Always(FactKind::Pending, Some("amount"))),
    row("payment_intent.partially_funded", Always(FactKind::Pending, Some("amount"))),
    row("payment_intent.amount_capturable_updated",
        Always(FactKind::Authorised, Some("amount_capturable"))),
    row("payment_intent.succeeded", Depends(intent_succeeded)),
    row("payment_intent.payment_failed", Always(FactKind::Failed, None)),
    row("payment_intent.canceled", Always(FactKind::Cancelled, None)),
    row("charge.pending", Always(FactKind::Pending, Some("amount"))),
    row("charge.succeeded", Depends(charge_succeeded)),
    row("charge.captured", Depends(charge_captured)),
    row("charge.failed", Always(FactKind::Failed, None)),
    row("charge.expired", Always(FactKind::Cancelled, None)),
    row("charge.updated", Nothing(NO_MONEY)),
    row("charge.refunded", Depends(charge_refunded)),
    row("charge.refund.updated", Depends(refund)),
    row("refund.created", Depends(refund)),
    row("refund.updated", Depends(refund)),
    row("refund.failed", Depends(refund_failed)),
    row("charge.dispute.created", Depends(dispute_created)),
    row("charge.dispute.updated", Nothing(NO_MONEY)),
    row("charge.dispute.funds_withdrawn", Depends(dispute_withdrawn)),
    row("charge.dispute.funds_reinstated", Depends(dispute_reinstated)),
    row("charge.dispute.closed", Depends(dispute_closed)),
    row("checkout.session.completed", Depends(session_completed)),
    row("checkout.session.async_payment_succeeded", Depends(session_paid_later)),
    row("checkout.session.async_payment_failed", Always(FactKind::Failed, None)),
    row("checkout.session.expired", Always(FactKind::Cancelled, None)),
    row("setup_intent.succeeded", Nothing(NO_MONEY)),
    row("payout.created", Nothing(OWN_BALANCE)),
    row("payout.updated", Nothing(OWN_BALANCE)),
    row("payout.paid", Nothing(OWN_BALANCE)),
    row("payout.failed", Nothing(OWN_BALANCE)),
    row("payout.canceled", Nothing(OWN_BALANCE)),
    row("payout.reconciliation_completed", Depends(payout_reconciled)),
];

/// The families of event types: the kind of object each is about, and what names the payment.
/// The longest prefix stands first.
const FAMILIES: &[(&str, &str, &[&str])] = &[
    ("payment_intent.", "payment_intent", &["id"]),
    ("charge.dispute.", "dispute", &["payment_intent", "charge"]),
    ("charge.refund.", "refund", &["payment_intent", "charge"]),
    ("charge.", "charge", &["payment_intent", "id"]),
    ("refund.", "refund", &["payment_intent", "charge"]),
    ("checkout.session.", "checkout.session", &["payment_intent"]),
    ("payout.", "payout", &[]),
];

pub(super) fn facts(
    delivery: &Delivery<'_>,
    config: &Config,
) -> Result<Vec<EventFact>, Unreadable> {
    let fields = document::parse(delivery.body())?;
    let event = Document::root(&fields);
    match event.text("object")? {
        Some("event") | None => {}
        Some("v2.core.event") => {
            return Err(Unreadable::new(
                "a thin event (v2.core.event) carries no object to act on: let the endpoint \
                 receive snapshot events",
            ));
        }
        Some(other) => {
            let other = shown(other);
            return Err(Unreadable::new(format!("object is {other}, not \"event\"")));
        }
    }
    let event_key = event.needed("id", event.parsed("id", EventKey::parse)?)?;
    let kind = event.needed("type", event.text("type")?)?;
    if let Some(why) = not_ours(&event, config)? {
        return Ok(vec![ignored(event_key, why)]);
    }
    read(&event, kind, event_key).map(|fact| vec![fact])
}

/// A right signature says that Stripe speaks, not that it speaks about our money.
fn not_ours(event: &Document<'_>, config: &Config) -> Result<Option<String>, Unreadable> {
    if let Some(live) = config.live
        && event.needed("livemode", event.flag("livemode")?)? != live
    {
        let why = "livemode differs from the configured environment";
        return Ok(Some(why.to_owned()));
    }
    // Events of the endpoint's own account name none.
    let account = event.text("account")?;
    let is_ours = account.is_none() || account == config.account.as_deref();
    Ok((!is_ours).then(|| "event of a connected account".to_owned()))
}

fn read(event: &Document<'_>, kind: &str, event_key: EventKey) -> Result<EventFact, Unreadable> {
    let Some(row) = ROWS.iter().find(|row| row.event == kind) else {
        let why = format!("events of type {} are not used", shown(kind));
        return Ok(ignored(event_key, why));
    };
    if let Nothing(why) = row.means {
        return Ok(ignored(event_key, why.to_owned()));
    }
    let data = event.needed("data", event.object("data", "data.")?)?;
    let fields = data.needed("object", data.object("object", "data.object.")?)?;
    let family = FAMILIES
        .iter()
        .find(|(prefix, ..)| kind.starts_with(prefix));
    let (object_kind, payment_from) = match family {
        Some((_, object_kind, payment_from)) => (*object_kind, *payment_from),
        None => return Err(Unreadable::new("the event type belongs to no family")),
    };
    let object = Object {
        fields,
        event_key,
        payment_from,
    };
    object.expect("object", object_kind)?;
    match row.means {
        Always(kind, Some(field)) => object.fact_over(kind, field),
        Always(kind, None) => object.fact(kind),
        Depends(read) => read(&object),
        Nothing(why) => object.ignored(why),
    }
}

fn ignored(event_key: EventKey, why: String) -> EventFact {
    let mut fact = EventFact::new(FactKind::Ignored, event_key);
    fact.why = Some(why);
    fact
}

/// Marks money that another event type tells of under the same payment.
fn told_twice(mut fact: EventFact) -> EventFact {
    fact.same_money_as = fact.payment.as_ref().map(ToString::to_string);
    fact
}

/// After a manual capture `charge.captured` tells of the same money.
fn intent_succeeded(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    object.expect("status", "succeeded")?;
    let fact = object.fact_over(FactKind::Paid, "amount_received")?;
    match object.fields.text("capture_method")? {
        Some("manual") => Ok(told_twice(fact)),
        Some(_) | None => Ok(fact),
    }
}

fn charge_succeeded(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    object.expect("status", "succeeded")?;
    if !is_captured(object)? {
        return object.fact_over(FactKind::Authorised, "amount");
    }
    let fact = object.fact_over(FactKind::Paid, "amount_captured")?;
    let has_intent = object.fields.text("payment_intent")?.is_some();
    Ok(if has_intent { told_twice(fact) } else { fact })
}

fn charge_captured(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    object.expect("status", "succeeded")?;
    object.fact_over(FactKind::Paid, "amount_captured")
}

fn is_captured(object: &Object<'_>) -> Result<bool, Unreadable> {
    let captured = object.fields.flag("captured")?;
    object.fields.needed("captured", captured)
}

fn charge_refunded(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    if !is_captured(object)? {
        let mut fact = object.fact(FactKind::Cancelled)?;
        fact.why = Some("captured=false: the authorisation was released".to_owned());
        return Ok(fact);
    }
    let number = |name| {
        let found = object.fields.integer(name)?;
        object.fields.needed(name, found)
    };
    let released = number("amount")?.saturating_sub(number("amount_captured")?);
    let refunded = number("amount_refunded")?.saturating_sub(released.max(0));
    if refunded <= 0 {
        return object.ignored("only the rest that was never captured was released");
    }
    let mut fact = object.fact_over_minor(FactKind::Refunded, Some(refunded))?;
    fact.is_running_total = true;
    Ok(fact)
}

fn refund(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    let status = object.fields.text("status")?;
    let kind = match object.fields.needed("status", status)? {
        "succeeded" => FactKind::Refunded,
        "pending" | "requires_action" => FactKind::RefundPending,
        "failed" | "canceled" => FactKind::RefundFailed,
        other => return Err(object.unknown("status", other)),
    };
    part_over_amount(object, kind)
}

fn refund_failed(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    object.expect("status", "failed")?;
    part_over_amount(object, FactKind::RefundFailed)
}

/// A fact about one refund or dispute.
fn part_over_amount(object: &Object<'_>, kind: FactKind) -> Result<EventFact, Unreadable> {
    let mut fact = object.fact_over(kind, "amount")?;
    fact.part = Some(object.id()?);
    if fact.payment.is_none() {
        let why = "data.object names neither a payment_intent nor a charge";
        return Err(Unreadable::new(why));
    }
    Ok(fact)
}

/// The same, where another event type about the dispute tells of the same money.
fn dispute_told_twice(object: &Object<'_>, kind: FactKind) -> Result<EventFact, Unreadable> {
    let mut fact = part_over_amount(object, kind)?;
    fact.same_money_as.clone_from(&fact.part);
    Ok(fact)
}

fn dispute_status<'a>(object: &Object<'a>) -> Result<&'a str, Unreadable> {
    object
        .fields
        .needed("status", object.fields.text("status")?)
}

fn dispute_created(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    match dispute_status(object)? {
        "warning_needs_response" | "warning_under_review" | "warning_closed" => {
            object.fact_over(FactKind::DisputeNotice, "amount")
        }
        "needs_response" | "under_review" | "lost" => {
            part_over_amount(object, FactKind::ChargedBack)
        }
        other => Err(object.unknown("status", other)),
    }
}

fn dispute_withdrawn(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    dispute_told_twice(object, FactKind::ChargedBack)
}

fn dispute_reinstated(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    part_over_amount(object, FactKind::ChargebackWon)
}

fn dispute_closed(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    match dispute_status(object)? {
        "won" => dispute_told_twice(object, FactKind::ChargebackWon),
        "lost" => object.ignored("lost: money was already taken when the dispute opened"),
        "warning_closed" => object.ignored("the inquiry ended; no money had moved"),
        other => Err(object.unknown("status", other)),
    }
}

/// Why a session is no deposit, if it is none.
fn no_deposit(object: &Object<'_>) -> Result<Option<&'static str>, Unreadable> {
    match object.fields.text("mode")? {
        Some("payment") | None => Ok(None),
        Some("setup") => Ok(Some("a session in setup mode takes no money")),
        Some("subscription") => Ok(Some("a subscription is no deposit")),
        Some(other) => Err(object.unknown("mode", other)),
    }
}

/// Completed says that the payer is done, not that money came.
fn session_completed(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    if let Some(why) = no_deposit(object)? {
        return object.ignored(why);
    }
    let status = object.fields.text("payment_status")?;
    match object.fields.needed("payment_status", status)? {
        "paid" => object
            .fact_over(FactKind::Paid, "amount_total")
            .map(told_twice),
        "unpaid" => object.fact_over(FactKind::Pending, "amount_total"),
        "no_payment_required" => object.ignored("the session needed no payment"),
        other => Err(object.unknown("payment_status", other)),
    }
}

fn session_paid_later(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    if let Some(why) = no_deposit(object)? {
        return object.ignored(why);
    }
    object.expect("payment_status", "paid")?;
    object.fact_over(FactKind::Paid, "amount_total")
}

/// The sign that the payout's report is complete; `payout.paid` comes too early.
fn payout_reconciled(object: &Object<'_>) -> Result<EventFact, Unreadable> {
    let mut fact = EventFact::new(FactKind::ReportAvailable, object.event_key.clone());
    fact.part = Some(object.id()?);
    Ok(fact)
}
