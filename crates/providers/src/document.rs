//! Strict reading of JSON bodies: a field is absent, of the right kind, or an error that names it.
//!
//! `null` counts as absent. Numbers keep the digits they were written with; nothing passes through
//! a float. An error names fields and kinds, never their contents.

use serde_json::{Map, Value};

/// A body that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unreadable {
    /// What is wrong, for a person.
    pub why: String,
}

impl Unreadable {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// A JSON object somewhere in a body.
#[derive(Clone, Copy)]
pub(crate) struct Document<'a> {
    fields: &'a Map<String, Value>,
    /// Where it stands, with a dot behind; empty for the body itself.
    path: &'static str,
}

/// Parses a body that must be one JSON object.
pub(crate) fn parse(body: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    let text = std::str::from_utf8(body)
        .map_err(|_| Unreadable::new("the body is not UTF-8, so it cannot be JSON"))?;
    // The parser's own message could quote the body; only the place is passed on.
    let value: Value = serde_json::from_str(text).map_err(|error| {
        Unreadable::new(format!(
            "the body is not JSON: line {}, column {}",
            error.line(),
            error.column()
        ))
    })?;
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Unreadable::new("the body is JSON, but not an object"))
        }
    }
}

/// Whether a body is one JSON object.
pub(crate) fn readable(body: &[u8]) -> Result<(), Unreadable> {
    parse(body).map(drop)
}

impl<'a> Document<'a> {
    /// The body itself.
    pub(crate) fn root(fields: &'a Map<String, Value>) -> Self {
        Self { fields, path: "" }
    }

    fn field(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, kind: &str) -> Unreadable {
        Unreadable::new(format!("{}{name} is not {kind}", self.path))
    }

    /// An object; `path` is its place in the body with a dot behind.
    pub(crate) fn object(
        &self,
        name: &str,
        path: &'static str,
    ) -> Result<Option<Self>, Unreadable> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(Self { fields, path })),
            Some(_) => Err(self.wrong(name, "an object")),
        }
    }

    /// A text; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Unreadable> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    /// A text turned into something by `parse`.
    pub(crate) fn parsed<T, E: std::fmt::Display>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Unreadable> {
        self.text(name)?
            .map(parse)
            .transpose()
            .map_err(|error| Unreadable::new(format!("{}{name}: {error}", self.path)))
    }

    /// True or false.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Unreadable> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    /// A whole number written in plain digits: no fraction, no exponent, no quotes.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Unreadable> {
        const KIND: &str = "a whole number in plain digits";
        match self.field(name) {
            None => Ok(None),
            Some(Value::Number(number)) => {
                let digits = number.as_str();
                let parsed = digits.parse().map_err(|_| self.wrong(name, KIND))?;
                Ok(Some(parsed))
            }
            Some(_) => Err(self.wrong(name, KIND)),
        }
    }

    /// What stands at `name`, or an error that it is missing.
    pub(crate) fn needed<T>(&self, name: &str, found: Option<T>) -> Result<T, Unreadable> {
        found.ok_or_else(|| Unreadable::new(format!("{}{name} is missing", self.path)))
    }
}

/// A word of the provider's own vocabulary, fit to be shown.
pub(crate) fn shown(word: &str) -> String {
    const SHOWN_MAX: usize = 64;
    let cut: String = word.chars().take(SHOWN_MAX).collect();
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_whole_numbers_are_integers() {
        let read = |number: &str| {
            let body = format!(r#"{{"n":{number}}}"#);
            let fields = parse(body.as_bytes()).expect("is JSON");
            Document::root(&fields).integer("n").map_err(|e| e.why)
        };
        assert_eq!(read("12"), Ok(Some(12)));
        assert_eq!(read("null"), Ok(None));
        assert_eq!(read("9223372036854775807"), Ok(Some(i64::MAX)));
        let bad = [
            "1.0",
            "1e2",
            "\"12\"",
            "9223372036854775808",
            "true",
            "[1]",
            "{}",
        ];
        for number in bad {
            let why = read(number).expect_err(number);
            assert_eq!(why, "n is not a whole number in plain digits", "{number}");
        }
    }

    #[test]
    fn an_error_does_not_quote_the_body() {
        for body in [
            &b"\"secret"[..],
            b"{\"secret\":x}",
            b"[1]",
            b"\xff",
            b"",
            b"{} {}",
        ] {
            let why = parse(body).expect_err("is no object").why;
            assert!(!why.contains("secret"), "{why}");
        }
    }
}
