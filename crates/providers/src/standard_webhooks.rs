//! Standard Webhooks: anyone who signs as standardwebhooks.com describes, Svix among them.
//!
//! Signed are id, time and raw body, so the id is a safe event key: it stays the same when a
//! message is repeated, while time and signature are those of the attempt. Id, time and signature
//! are always taken from one family of headers; mixing two would let an outsider choose the id.
//!
//! | `type` | fact |
//! |---|---|
//! | `deposit.paid` | paid |
//! | anything else | ignored |

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use claimcheck_core::{
    Currency, CurrencyCode, EventFact, EventKey, FactKind, MerchantReference, PaymentId,
};
use rust_decimal::Decimal;

use crate::acknowledgement::Acknowledgement;
use crate::config::Config;
use crate::delivery::Delivery;
use crate::document::{self, Document, Unreadable, shown};
use crate::freshness;
use crate::mac;
use crate::rejection::{Reason, Rejection, Verified};
use crate::scheme::{Scheme, Unsigned};
use crate::secret::Secrets;

pub(crate) const SCHEME: Scheme = Scheme {
    name: "standard_webhooks",
    key,
    verify,
    readable: document::readable,
    facts,
    event_key_header: Some("webhook-id"),
    sign,
    acknowledgement: Acknowledgement::ANY_SUCCESS,
};

/// Fewest and most bytes of a key, by the specification.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// Longest list of signatures that is read.
const SIGNATURE_HEADER_MAX: usize = 4_096;
/// Most signatures that are read.
const SIGNATURES_MAX: usize = 16;
/// Longest amount that is read.
const AMOUNT_MAX: usize = 40;
/// The prefix of a secret; what follows is base64.
const SECRET_PREFIX: &str = "whsec_";

/// Base64 as secrets are pasted: padding may be lost.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn key(secret: &str) -> Result<Vec<u8>, &'static str> {
    if secret.starts_with("whpk_") || secret.starts_with("whsk_") {
        return Err("it is a key of the asymmetric kind; a whsec_ secret is needed");
    }
    let encoded = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    if encoded.is_empty() {
        return Err("nothing stands behind whsec_, so anybody could sign");
    }
    let key = LENIENT
        .decode(encoded)
        .map_err(|_| "what stands behind whsec_ is not base64")?;
    if KEY_BYTES.contains(&key.len()) {
        return Ok(key);
    }
    Err("it does not decode to 24 to 64 bytes; it was cut or is no secret of this kind")
}

/// The headers of one family.
struct Signed<'a> {
    id: Cow<'a, [u8]>,
    time: Cow<'a, [u8]>,
    signatures: Cow<'a, [u8]>,
}

/// The names of the id, time and signature headers: `webhook-` as soon as one of them is there,
/// else Svix's older `svix-`.
fn family(delivery: &Delivery<'_>) -> [&'static str; 3] {
    const OURS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    const SVIX: [&str; 3] = ["svix-id", "svix-timestamp", "svix-signature"];
    let is_present = |names: [&str; 3]| names.iter().any(|name| delivery.header(name).is_some());
    if !is_present(OURS) && is_present(SVIX) {
        SVIX
    } else {
        OURS
    }
}

fn signed<'a>(delivery: &Delivery<'a>) -> Result<Signed<'a>, Rejection> {
    let [id, time, signatures] = family(delivery);
    let needed = |name| {
        delivery
            .header(name)
            .ok_or_else(|| Rejection::missing(name))
    };
    Ok(Signed {
        id: needed(id)?,
        time: needed(time)?,
        signatures: needed(signatures)?,
    })
}

fn verify(
    delivery: &Delivery<'_>,
    secrets: &Secrets,
    tolerance: Duration,
) -> Result<Verified, Rejection> {
    let malformed = |why: &str| Rejection::new(Reason::MalformedSignature, why);
    let signed = signed(delivery)?;
    if signed.id.len() > EventKey::LENGTH_MAX || !signed.id.iter().all(u8::is_ascii_graphic) {
        return Err(malformed(
            "the id header is too long or not printable ASCII",
        ));
    }
    let signed_at = freshness::parse(&signed.time)
        .ok_or_else(|| malformed("the timestamp header is not a time in whole seconds"))?;
    let signatures = signatures(&signed.signatures)?;
    let parts: [&[u8]; 5] = [&signed.id, b".", &signed.time, b".", delivery.body()];
    let secret_index = mac::find_match(secrets, &parts, &signatures)
        .ok_or_else(|| Rejection::no_match(signatures.len(), secrets.keys().len()))?;
    freshness::check(signed_at, delivery.now_unix(), tolerance)?;
    Ok(Verified { secret_index })
}

/// The symmetric signatures of a list; one that cannot be decoded fits nothing.
fn signatures(list: &[u8]) -> Result<Vec<Option<mac::Tag>>, Rejection> {
    let malformed = |why: &str| Rejection::new(Reason::MalformedSignature, why);
    if list.len() > SIGNATURE_HEADER_MAX {
        return Err(malformed("the signature header is too long"));
    }
    let tokens = || list.split(|b| *b == b' ').filter(|token| !token.is_empty());
    if !tokens().any(|token| token.contains(&b',')) {
        return Err(malformed("no signature has the form version,base64"));
    }
    let found: Vec<Option<mac::Tag>> = tokens()
        .filter_map(|token| token.strip_prefix(b"v1,"))
        .take(SIGNATURES_MAX.saturating_add(1))
        .map(|encoded| STANDARD.decode(encoded).ok()?.try_into().ok())
        .collect();
    if found.len() > SIGNATURES_MAX {
        return Err(malformed("the signature header lists too many signatures"));
    }
    if found.is_empty() {
        return Err(Rejection::new(
            Reason::NoSupportedScheme,
            "no signature is of version v1; asymmetric v1a signatures are not checked here",
        ));
    }
    Ok(found)
}

fn facts(delivery: &Delivery<'_>, _config: &Config) -> Result<Vec<EventFact>, Unreadable> {
    let fields = document::parse(delivery.body())?;
    let event = Document::root(&fields);
    let event_key = event_key(delivery)?;
    let kind = event.needed("type", event.text("type")?)?;
    if kind != "deposit.paid" {
        let mut fact = EventFact::new(FactKind::Ignored, event_key);
        fact.why = Some(format!("events of type {} are not used", shown(kind)));
        return Ok(vec![fact]);
    }
    let data = event.object("data", "data.")?;
    paid(event.needed("data", data)?, event_key).map(|fact| vec![fact])
}

/// The id of the same family of headers that `verify` reads.
fn event_key(delivery: &Delivery<'_>) -> Result<EventKey, Unreadable> {
    let [name, _, _] = family(delivery);
    let id = delivery
        .header(name)
        .ok_or_else(|| Unreadable::new(format!("the request has no {name} header")))?;
    let id = std::str::from_utf8(&id).ok();
    id.and_then(|id| EventKey::parse(id).ok())
        .ok_or_else(|| Unreadable::new(format!("the {name} header cannot serve as an event key")))
}

/// All that is missing is named at once: a sender fixes its messages in one go.
fn paid(data: Document<'_>, event_key: EventKey) -> Result<EventFact, Unreadable> {
    let payment = data.parsed("payment_id", PaymentId::parse)?;
    let amount = data.text("amount")?;
    let currency = data.parsed("currency", |text| {
        CurrencyCode::parse(text).ok_or("not a currency code")
    })?;
    let (Some(payment), Some(amount), Some(currency)) = (&payment, amount, &currency) else {
        let present = [
            ("data.payment_id", payment.is_some()),
            ("data.amount", amount.is_some()),
            ("data.currency", currency.is_some()),
        ];
        let missing = present.into_iter().filter(|(_, is_present)| !is_present);
        let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
        return Err(Unreadable::new(format!("missing: {}", missing.join(", "))));
    };
    let mut fact = EventFact::new(FactKind::Paid, event_key);
    fact.amount = Some(major(amount, currency)?);
    fact.reference = data.parsed("reference", MerchantReference::parse)?;
    fact.payment = Some(payment.clone());
    fact.currency = Some(currency.clone());
    Ok(fact)
}

/// Decimal text in major units: digits and at most one dot. Given the currency's own places when
/// that loses nothing.
fn major(text: &str, currency: &CurrencyCode) -> Result<Decimal, Unreadable> {
    let malformed = || Unreadable::new("data.amount is not decimal text such as \"12.34\"");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if text.len() > AMOUNT_MAX || !is_digits(whole) || !is_digits(fraction) {
        return Err(malformed());
    }
    let mut amount = Decimal::from_str_exact(text).map_err(|_| malformed())?;
    let digits = Currency::parse(currency.as_str()).map(Currency::digits);
    if let Ok(digits) = digits
        && amount.normalize().scale() <= digits
    {
        amount.rescale(digits);
    }
    Ok(amount)
}

fn sign(secrets: &Secrets, unsigned: &Unsigned<'_>) -> Vec<(&'static str, String)> {
    let time = unsigned.now_unix.to_string();
    let id = unsigned.message_id;
    let parts: [&[u8]; 5] = [id.as_bytes(), b".", time.as_bytes(), b".", unsigned.body];
    let tags = secrets
        .keys()
        .iter()
        .map(|key| mac::hmac_sha256(key, &parts));
    let signatures: Vec<String> = tags
        .map(|tag| format!("v1,{}", STANDARD.encode(tag)))
        .collect();
    vec![
        ("Content-Type", "application/json".to_owned()),
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", time),
        ("webhook-signature", signatures.join(" ")),
    ]
}
