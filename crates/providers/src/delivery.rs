//! One request of a provider, as it arrived.
//!
//! Header values are bytes: what is not ASCII must end as a rejection, never as a panic. A header
//! sent twice is one value joined with ", ", as HTTP defines it, so nobody can hide a second one.

use std::borrow::Cow;

/// Headers, raw body, and the receiver's time.
#[derive(Clone, Copy)]
pub struct Delivery<'a> {
    headers: &'a [(&'a str, &'a [u8])],
    body: &'a [u8],
    now_unix: i64,
}

impl<'a> Delivery<'a> {
    /// Takes a request; `now_unix` is our time in seconds since 1970.
    #[must_use]
    pub fn new(headers: &'a [(&'a str, &'a [u8])], body: &'a [u8], now_unix: i64) -> Self {
        Self {
            headers,
            body,
            now_unix,
        }
    }

    /// The value of a header, whatever the case of its name; none when absent or empty.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        let mut values = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii());
        let first = values.next()?;
        let joined = match values.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let all: Vec<&[u8]> = [first, second].into_iter().chain(values).collect();
                Cow::Owned(all.join(&b", "[..]))
            }
        };
        (!joined.is_empty()).then_some(joined)
    }

    /// The exact body.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Our time.
    #[must_use]
    pub fn now_unix(&self) -> i64 {
        self.now_unix
    }

    /// The same request with another body.
    pub(crate) fn with_body<'b>(&self, body: &'b [u8]) -> Delivery<'b>
    where
        'a: 'b,
    {
        Delivery {
            headers: self.headers,
            body,
            now_unix: self.now_unix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_in_any_case_and_joined_when_sent_twice() {
        let headers: [(&str, &[u8]); 4] = [
            ("stripe-signature", b"t=1"),
            ("Empty", b" "),
            ("Stripe-Signature", b"v1=\xff"),
            ("STRIPE-SIGNATURE", b"x"),
        ];
        let delivery = Delivery::new(&headers, b"", 0);
        assert_eq!(
            delivery.header("Stripe-SIGNATURE").as_deref(),
            Some(&b"t=1, v1=\xff, x"[..])
        );
        assert_eq!(delivery.header("empty"), None);
        assert_eq!(delivery.header("absent"), None);
    }
}
