//! Finds out what happened to a body whose signature does not fit, for a person at a terminal.
//!
//! A hint never changes a verdict: the bytes as they arrived decide.

use std::time::Duration;

use crate::delivery::Delivery;
use crate::provider::Provider;
use crate::secret::Secrets;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The first change that makes the signature fit.
pub(crate) fn find(
    provider: Provider,
    delivery: &Delivery<'_>,
    secrets: &Secrets,
    tolerance: Duration,
) -> Option<&'static str> {
    let body = delivery.body();
    let fits = |body: &[u8]| {
        let changed = delivery.with_body(body);
        provider.verify(&changed, secrets, tolerance).is_ok()
    };
    let newline: Vec<u8> = [body, b"\n"].concat();
    let compact = without_blanks(body);
    if body.strip_prefix(BOM).is_some_and(fits) {
        return Some("a byte order mark was put in front of the body");
    }
    if fits(body.trim_ascii()) {
        return Some("a line break or blank was added around the body");
    }
    if fits(&newline) {
        return Some("the line break at the end of the body was lost");
    }
    if fits(&compact) {
        return Some("the body was re-serialised: blanks and line breaks were added to its JSON");
    }
    None
}

/// JSON without the blanks between its tokens; text inside quotes stays.
fn without_blanks(body: &[u8]) -> Vec<u8> {
    let (mut quoted, mut escaped) = (false, false);
    let keep = |byte: &u8| {
        if quoted {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            quoted = !closes;
            return true;
        }
        quoted = *byte == b'"';
        !byte.is_ascii_whitespace()
    };
    body.iter().copied().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_inside_quotes_stay() {
        let spaced = br#"{ "a b" : [1 , "c \" d\\" , 2 ] }"#;
        let compact: &[u8] = br#"{"a b":[1,"c \" d\\",2]}"#;
        assert_eq!(without_blanks(spaced), compact);
    }
}
