//! What an answer of the Web API says: a return code and, below `answer`, records.
//!
//! The rule: documents and live servers differ in the case of keys and in whether a scalar is a
//! string or a number, so every look-up here takes both; and whatever is missing, doubled or
//! unreadable is missing, never a default.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

/// A parsed answer.
#[derive(Debug)]
pub(crate) struct Answer {
    code: i64,
    top: Map<String, Value>,
}

/// Why a body is not an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerFault {
    /// Nothing came.
    #[error("the answer is empty")]
    Empty,
    /// Not a JSON object: a page of some proxy, perhaps.
    #[error("the answer is not a JSON object")]
    NotJson,
    /// No return code, which is not success.
    #[error("the answer carries no return code")]
    NoCode,
}

impl Answer {
    /// Reads a body. Bytes that are not UTF-8 (an odd comment) are replaced, not refused.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, AnswerFault> {
        if body.trim_ascii().is_empty() {
            return Err(AnswerFault::Empty);
        }
        let text = String::from_utf8_lossy(body);
        let Ok(Value::Object(top)) = serde_json::from_str(&text) else {
            return Err(AnswerFault::NotJson);
        };
        let code = field(&top, "retcode")
            .and_then(leading_integer)
            .ok_or(AnswerFault::NoCode)?;
        Ok(Self { code, top })
    }

    /// The return code.
    pub(crate) fn code(&self) -> i64 {
        self.code
    }

    /// A text of the top level, where the login puts its fields.
    pub(crate) fn top_text(&self, name: &str) -> Option<&str> {
        field(&self.top, name)?.as_str()
    }

    /// The record below `answer`.
    pub(crate) fn record(&self) -> Option<Record<'_>> {
        field(&self.top, "answer")?.as_object().map(Record)
    }

    /// The list below `answer`.
    pub(crate) fn records(&self) -> Option<Vec<Record<'_>>> {
        let list = field(&self.top, "answer")?.as_array()?;
        list.iter()
            .map(|value| value.as_object().map(Record))
            .collect()
    }

    /// The whole answer as a record.
    #[cfg(feature = "operate")]
    pub(crate) fn top(&self) -> Record<'_> {
        Record(&self.top)
    }
}

/// One record of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a>(&'a Map<String, Value>);

impl<'a> Record<'a> {
    /// Whether a field of that name is there at all, readable or not.
    #[cfg(feature = "operate")]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.keys().any(|key| key.eq_ignore_ascii_case(name))
    }

    /// A whole number.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        scalar(field(self.0, name)?)?.parse().ok()
    }

    /// The whole number that a text begins with.
    pub(crate) fn leading_integer(&self, name: &str) -> Option<i64> {
        leading_integer(field(self.0, name)?)
    }

    /// A decimal number, exactly.
    pub(crate) fn decimal(&self, name: &str) -> Option<Decimal> {
        let text = scalar(field(self.0, name)?)?;
        if text.contains(['e', 'E']) {
            return Decimal::from_scientific(text).ok();
        }
        Decimal::from_str_exact(text).ok()
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        field(self.0, name)?.as_str()
    }
}

/// The one field of that name, whatever its case; two of them are none.
fn field<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut found = map
        .iter()
        .filter(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value);
    found.next().filter(|_| found.next().is_none())
}

fn scalar(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// `10019` of `"10019 No money"`; the digits must end with the text or at a blank.
fn leading_integer(value: &Value) -> Option<i64> {
    scalar(value)?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(body: &str) -> Result<i64, AnswerFault> {
        Answer::parse(body.as_bytes()).map(|answer| answer.code())
    }

    #[test]
    fn a_return_code_is_the_leading_integer() {
        assert_eq!(code(r#"{"retcode":"0 Done"}"#), Ok(0));
        assert_eq!(code(r#"{"RetCode":"10019 No money"}"#), Ok(10_019));
        assert_eq!(code(r#"{"retcode":13}"#), Ok(13));
        assert_eq!(code(r#"{"retcode":"0"}"#), Ok(0));
    }

    #[test]
    fn a_missing_or_odd_return_code_is_not_success() {
        for body in [
            "{}",
            r#"{"retcode":""}"#,
            r#"{"retcode":" "}"#,
            r#"{"retcode":null}"#,
            r#"{"retcode":"Done"}"#,
            r#"{"retcode":"0x"}"#,
            r#"{"retcode":0.0}"#,
            r#"{"retcode":"0","Retcode":"1"}"#,
            r#"{"retcode":["0"]}"#,
        ] {
            assert_eq!(code(body), Err(AnswerFault::NoCode), "{body}");
        }
        assert_eq!(code(" \r\n"), Err(AnswerFault::Empty));
        for body in ["<html>", "[]", "0", r#"{"retcode":"0 Do"#] {
            assert_eq!(code(body), Err(AnswerFault::NotJson), "{body}");
        }
    }

    #[test]
    fn fields_are_found_in_any_case_and_form() {
        let body = br#"{"retcode":"0 Done","answer":[{"Deal":"7","profit":"64.25"},
            {"deal":8,"Profit":-1e-2}]}"#;
        let answer = Answer::parse(body).expect("is an answer");
        let records = answer.records().expect("is a list");
        let read: Vec<_> = records
            .iter()
            .map(|r| (r.integer("Deal"), r.decimal("Profit")))
            .collect();
        let decimal = |text| Decimal::from_str_exact(text).ok();
        assert_eq!(
            read,
            [(Some(7), decimal("64.25")), (Some(8), decimal("-0.01"))]
        );
    }

    #[test]
    fn a_list_with_anything_but_records_is_no_list() {
        for body in [
            r#"{"retcode":"0","answer":[null]}"#,
            r#"{"retcode":"0","answer":null}"#,
            r#"{"retcode":"0","answer":{}}"#,
            r#"{"retcode":"0"}"#,
        ] {
            assert!(
                Answer::parse(body.as_bytes())
                    .expect("has a code")
                    .records()
                    .is_none()
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Answer::parse(&body);
        }

        #[test]
        fn no_scalar_panics(text in ".{0,40}", number in any::<i64>()) {
            let text = Value::String(text).to_string();
            for value in [text, number.to_string(), format!("{number}e{}", number % 400)] {
                let body = format!(r#"{{"retcode":{value},"answer":{{"a":{value}}}}}"#);
                if let Ok(answer) = Answer::parse(body.as_bytes()) {
                    let record = answer.record().expect("is a record");
                    let _ = (record.integer("A"), record.decimal("A"), record.text("A"));
                }
            }
        }
    }
}
