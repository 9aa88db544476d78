//! Stripe's signature: `Stripe-Signature: t=SECONDS,v1=HEX[,v1=HEX…]` over time and raw body.
//!
//! The key is the whole secret text with its `whsec_`; it is not decoded. While a secret is rolled
//! one header carries several `v1`, and one match is enough. `v0` proves nothing and is passed
//! over. A header with two times is refused: two readers would disagree about which one counts.
//! What the events mean stands in `stripe/meaning.rs`.

mod meaning;
mod object;
mod unit;

use std::time::Duration;

use crate::acknowledgement::Acknowledgement;
use crate::delivery::Delivery;
use crate::document;
use crate::freshness;
use crate::mac;
use crate::rejection::{Reason, Rejection, Verified};
use crate::scheme::{Scheme, Unsigned};
use crate::secret::Secrets;

pub(crate) const SCHEME: Scheme = Scheme {
    name: "stripe",
    key,
    verify,
    readable: document::readable,
    facts: meaning::facts,
    event_key_header: None,
    sign,
    acknowledgement: Acknowledgement::ANY_SUCCESS,
};

const HEADER: &str = "Stripe-Signature";
/// Longest signature header that is read.
const HEADER_MAX: usize = 4_096;
/// Most signatures that are read.
const SIGNATURES_MAX: usize = 16;

fn key(secret: &str) -> Result<Vec<u8>, &'static str> {
    if secret == "whsec_" {
        return Err("nothing stands behind whsec_");
    }
    if ["sk_", "rk_", "pk_"].iter().any(|p| secret.starts_with(p)) {
        return Err("it is an API key; the endpoint's signing secret starts with whsec_");
    }
    Ok(secret.as_bytes().to_vec())
}

fn verify(
    delivery: &Delivery<'_>,
    secrets: &Secrets,
    tolerance: Duration,
) -> Result<Verified, Rejection> {
    let header = delivery
        .header(HEADER)
        .ok_or_else(|| Rejection::missing(HEADER))?;
    let signed = Signed::parse(&header)?;
    let parts: [&[u8]; 3] = [signed.time, b".", delivery.body()];
    let secret_index = mac::find_match(secrets, &parts, &signed.signatures)
        .ok_or_else(|| Rejection::no_match(signed.signatures.len(), secrets.keys().len()))?;
    freshness::check(signed.at, delivery.now_unix(), tolerance)?;
    Ok(Verified { secret_index })
}

struct Signed<'a> {
    /// The time as it was written, which is what was signed.
    time: &'a [u8],
    at: i64,
    /// The `v1` values; one that cannot be decoded fits nothing.
    signatures: Vec<Option<mac::Tag>>,
}

impl<'a> Signed<'a> {
    fn parse(header: &'a [u8]) -> Result<Self, Rejection> {
        let malformed = |why: &str| Rejection::new(Reason::MalformedSignature, why);
        if header.len() > HEADER_MAX {
            return Err(malformed("the Stripe-Signature header is too long"));
        }
        let mut time = None;
        let mut signatures = Vec::new();
        for part in header.split(|b| *b == b',') {
            let part = part.trim_ascii();
            if let Some(value) = part.strip_prefix(b"t=")
                && time.replace(value).is_some()
            {
                return Err(malformed("the Stripe-Signature header has two times"));
            }
            if let Some(value) = part.strip_prefix(b"v1=") {
                signatures.push(tag(value));
            }
        }
        if signatures.len() > SIGNATURES_MAX {
            return Err(malformed(
                "the Stripe-Signature header lists too many signatures",
            ));
        }
        let time = time.ok_or_else(|| malformed("the Stripe-Signature header has no t="))?;
        let at = freshness::parse(time)
            .ok_or_else(|| malformed("t= in Stripe-Signature is not a time in whole seconds"))?;
        if signatures.is_empty() {
            return Err(Rejection::new(
                Reason::NoSupportedScheme,
                "the Stripe-Signature header has no v1= signature; v0 proves nothing",
            ));
        }
        Ok(Self {
            time,
            at,
            signatures,
        })
    }
}

/// Lower-case hex, as Stripe writes it: one signature has one spelling.
fn tag(value: &[u8]) -> Option<mac::Tag> {
    let lower = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let mut bytes = mac::Tag::default();
    let is_hex = value.iter().all(lower) && hex::decode_to_slice(value, &mut bytes).is_ok();
    is_hex.then_some(bytes)
}

fn sign(secrets: &Secrets, unsigned: &Unsigned<'_>) -> Vec<(&'static str, String)> {
    let time = unsigned.now_unix.to_string();
    let parts: [&[u8]; 3] = [time.as_bytes(), b".", unsigned.body];
    let mut value = format!("t={time}");
    for key in secrets.keys() {
        value.push_str(",v1=");
        value.push_str(&hex::encode(mac::hmac_sha256(key, &parts)));
    }
    vec![
        ("Content-Type", "application/json; charset=utf-8".to_owned()),
        (HEADER, value),
    ]
}
