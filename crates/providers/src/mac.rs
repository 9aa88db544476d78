//! Keyed hashes and their comparison.
//!
//! Signatures are compared in constant time, here and nowhere else.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::secret::Secrets;

/// The bytes of an HMAC-SHA256.
pub(crate) type Tag = [u8; 32];

/// HMAC-SHA256 over the parts, one after the other.
pub(crate) fn hmac_sha256(key: &SecretSlice<u8>, parts: &[&[u8]]) -> Tag {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.expose_secret())
        .expect("HMAC takes a key of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The position of the first secret under which one of `signatures` fits.
pub(crate) fn find_match(
    secrets: &Secrets,
    parts: &[&[u8]],
    signatures: &[Option<Tag>],
) -> Option<usize> {
    secrets.keys().iter().position(|key| {
        let expected = hmac_sha256(key, parts);
        signatures.iter().flatten().fold(false, |found, given| {
            found | bool::from(given.ct_eq(&expected))
        })
    })
}
