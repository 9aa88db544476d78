//! The arithmetic of the challenge handshake, from the server's side.
//!
//! The rule: every digest is taken over raw bytes, hexadecimal is for the wire alone; two hex
//! texts joined give another digest and a refused login.

use md5::{Digest as _, Md5};

/// A challenge or an answer to one.
pub(super) type Sixteen = [u8; 16];

/// What the server keeps of a manager's API password.
#[derive(Clone)]
pub(super) struct PasswordHash(Sixteen);

impl PasswordHash {
    pub(super) fn of(password: &str) -> Self {
        let wide: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let inner = Md5::digest(&wide);
        let salted = Md5::new().chain_update(inner).chain_update(b"WebAPI");
        Self(salted.finalize().into())
    }

    /// The one right answer to a challenge, whichever side gave it.
    pub(super) fn answer(&self, challenge: &Sixteen) -> Sixteen {
        let joined = Md5::new().chain_update(self.0).chain_update(challenge);
        joined.finalize().into()
    }
}

/// Sixteen bytes of hexadecimal text.
pub(super) fn sixteen(text: &str) -> Option<Sixteen> {
    let mut bytes = Sixteen::default();
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_vectors_hold() {
        let wide: Vec<u8> = "Password1"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(
            hex::encode(Md5::digest(&wide)),
            "ec2e92ff70bf4691ae0c68e02fdc6c22"
        );
        let hash = PasswordHash::of("Password1");
        assert_eq!(hex::encode(hash.0), "904ba8ecb16273d2f0ae9c3b8a023752");
        for (challenge, answer) in [
            (
                "73007dc7184747ce0f7c98516ef1c851",
                "77fe51827f7fa69dd80fbec9aa33f1bb",
            ),
            (
                "4db98fec17aab4dc5a240bdc659e8395",
                "1732021b1b332f51660b2b315eed3a35",
            ),
        ] {
            let challenge = sixteen(challenge).expect("is 32 digits");
            assert_eq!(hex::encode(hash.answer(&challenge)), answer);
        }
    }

    #[test]
    fn anything_but_thirty_two_digits_is_no_challenge() {
        for text in [
            "",
            "00",
            "zz007dc7184747ce0f7c98516ef1c851",
            "73007dc7184747ce0f7c98516ef1c85100",
        ] {
            assert!(sixteen(text).is_none(), "{text}");
        }
    }
}
