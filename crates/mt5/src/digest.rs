//! The arithmetic of the challenge handshake.
//!
//! The rule: every step works on raw bytes; hexadecimal is for the wire alone. Digests stay in
//! this crate and never print.

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq as _;

/// Bytes of a challenge and of an answer.
pub(crate) const CHALLENGE_BYTES: usize = 16;

/// A challenge of either side.
pub(crate) type Challenge = [u8; CHALLENGE_BYTES];

/// What a password becomes before it meets a challenge.
pub(crate) struct PasswordDigest([u8; CHALLENGE_BYTES]);

impl PasswordDigest {
    /// Digests a manager's API password.
    pub(crate) fn of(password: &str) -> Self {
        let wide: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let inner = Md5::digest(&wide);
        Self(
            Md5::new()
                .chain_update(inner)
                .chain_update(b"WebAPI")
                .finalize()
                .into(),
        )
    }

    /// The answer to a challenge.
    pub(crate) fn answer(&self, challenge: &Challenge) -> Challenge {
        Md5::new()
            .chain_update(self.0)
            .chain_update(challenge)
            .finalize()
            .into()
    }
}

/// Reads a challenge or an answer from the wire.
pub(crate) fn read(text: &str) -> Option<Challenge> {
    let mut challenge = [0; CHALLENGE_BYTES];
    hex::decode_to_slice(text, &mut challenge).ok()?;
    Some(challenge)
}

/// Compares without telling by its time where the two differ.
pub(crate) fn is_same(left: &Challenge, right: &Challenge) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_vectors_match() {
        let digest = PasswordDigest::of("Password1");
        assert_eq!(hex::encode(digest.0), "904ba8ecb16273d2f0ae9c3b8a023752");
        let answer = |challenge: &str| {
            hex::encode(digest.answer(&read(challenge).expect("is 32 hex digits")))
        };
        assert_eq!(
            answer("73007dc7184747ce0f7c98516ef1c851"),
            "77fe51827f7fa69dd80fbec9aa33f1bb"
        );
        assert_eq!(
            answer("4db98fec17aab4dc5a240bdc659e8395"),
            "1732021b1b332f51660b2b315eed3a35"
        );
    }

    #[test]
    fn only_thirty_two_hex_digits_are_a_challenge() {
        for text in [
            "",
            "00",
            "73007dc7184747ce0f7c98516ef1c85",
            "zz007dc7184747ce0f7c98516ef1c851",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let upper = read("73007DC7184747CE0F7C98516EF1C851").expect("either case is hexadecimal");
        assert!(is_same(&upper, &upper));
        assert!(!is_same(&upper, &[0; CHALLENGE_BYTES]));
    }
}
