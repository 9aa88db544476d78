//! A JSON body, read field by field; every fault is collected before any is reported.

use std::fmt::Display;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use serde_json::{Map, Value};

use crate::body::check_media_type;
use crate::problem::{FieldFault, Problem};

/// The fields of one body.
pub struct Fields {
    map: Map<String, Value>,
    faults: Vec<FieldFault>,
}

impl Fields {
    /// Reads a body that must be a JSON object.
    ///
    /// # Errors
    /// 415 when it is not announced as JSON, 400 when it is not a JSON object.
    pub fn parse(request: &HttpRequest, body: &[u8]) -> Result<Self, Problem> {
        check_media_type(request)?;
        let malformed =
            |detail: String| Problem::new(StatusCode::BAD_REQUEST, "malformed_body", detail);
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self {
                map,
                faults: Vec::new(),
            }),
            Ok(_) => Err(malformed("the body must be a JSON object".to_owned())),
            Err(error) => Err(malformed(format!(
                "the body is not JSON: line {}, column {}",
                error.line(),
                error.column()
            ))),
        }
    }

    /// Adds a fault that this reader cannot see by itself.
    pub fn fault(&mut self, field: &str, what: impl Display) {
        self.faults.push(FieldFault {
            field: field.to_owned(),
            what: what.to_string(),
        });
    }

    /// A text that `parse` accepts.
    pub fn text<T, E: Display>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.required(field)?;
        self.parsed(field, &value, parse)
    }

    /// A text that may be left out.
    pub fn optional_text<T, E: Display>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match self.map.remove(field) {
            None | Some(Value::Null) => None,
            Some(value) => self.parsed(field, &value, parse),
        }
    }

    /// A whole number: a JSON integer and nothing else.
    pub fn integer(&mut self, field: &str) -> Option<i64> {
        let value = self.required(field)?;
        self.whole(field, &value)
    }

    /// A whole number that may be left out.
    pub fn optional_integer(&mut self, field: &str) -> Option<i64> {
        match self.map.remove(field) {
            None | Some(Value::Null) => None,
            Some(value) => self.whole(field, &value),
        }
    }

    /// Ends the reading: every field that nobody asked for is a fault too.
    ///
    /// # Errors
    /// 422 with every fault, in the order in which they were found.
    pub fn finish(mut self) -> Result<(), Problem> {
        let unknown: Vec<String> = self
            .map
            .keys()
            .take(UNKNOWN_SHOWN_MAX)
            .map(|name| shown(name))
            .collect();
        for field in unknown {
            self.fault(&field, "this field is not known here");
        }
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(Problem::fields(self.faults))
        }
    }

    fn required(&mut self, field: &str) -> Option<Value> {
        let value = self.map.remove(field).filter(|value| !value.is_null());
        if value.is_none() {
            self.fault(field, "this field is required");
        }
        value
    }

    fn parsed<T, E: Display>(
        &mut self,
        field: &str,
        value: &Value,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = value.as_str() else {
            self.fault(field, "this must be a text");
            return None;
        };
        match parse(text) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                self.fault(field, error);
                None
            }
        }
    }

    fn whole(&mut self, field: &str, value: &Value) -> Option<i64> {
        let number: Option<i64> = value.to_string().parse().ok();
        if number.is_none() {
            self.fault(
                field,
                "this must be a whole number without quotes, dot or exponent",
            );
        }
        number
    }
}

/// Unknown fields named in one refusal.
const UNKNOWN_SHOWN_MAX: usize = 20;
/// Longest name of an unknown field shown back.
const NAME_SHOWN_MAX: usize = 64;

/// A name that anyone may have invented, in a form that can be stored and shown.
fn shown(name: &str) -> String {
    name.chars()
        .take(NAME_SHOWN_MAX)
        .flat_map(char::escape_debug)
        .collect()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn fields(body: &str) -> Result<Fields, Problem> {
        let request = TestRequest::default()
            .insert_header(("Content-Type", "application/json; charset=utf-8"));
        Fields::parse(&request.to_http_request(), body.as_bytes())
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let mut fields = fields(r#"{"a": 5, "b": "5", "c": 1.0, "z": true}"#).expect("is JSON");
        assert_eq!(
            fields.text("a", |text| Ok::<_, String>(text.to_owned())),
            None
        );
        assert_eq!(fields.integer("b"), None);
        assert_eq!(fields.integer("c"), None);
        assert_eq!(fields.integer("d"), None);
        let problem = fields.finish().expect_err("is full of faults");
        let named: Vec<String> = problem.body()["errors"]
            .as_array()
            .expect("is a list")
            .iter()
            .map(|fault| fault["field"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(named, ["a", "b", "c", "d", "z"]);
    }

    #[test]
    fn only_a_plain_json_integer_is_a_whole_number() {
        for text in ["1.0", "1e2", "\"1\"", "true", "9223372036854775808", "[1]"] {
            let mut fields = fields(&format!(r#"{{"n": {text}}}"#)).expect("is JSON");
            assert_eq!(fields.integer("n"), None, "{text}");
        }
        for (text, number) in [("1", 1), ("-5", -5), ("9223372036854775807", i64::MAX)] {
            let mut fields = fields(&format!(r#"{{"n": {text}}}"#)).expect("is JSON");
            assert_eq!(fields.integer("n"), Some(number));
        }
    }

    #[test]
    fn a_body_that_is_not_a_json_object_is_malformed() {
        for body in ["", "{", "[]", "5", "{\"a\":1}x"] {
            let problem = fields(body).err().expect("is refused");
            assert_eq!(
                (problem.status().as_u16(), problem.code()),
                (400, "malformed_body")
            );
        }
        let request = TestRequest::default().to_http_request();
        let problem = Fields::parse(&request, b"{}").err().expect("is refused");
        assert_eq!(
            (problem.status().as_u16(), problem.code()),
            (415, "media_type")
        );
    }

    #[test]
    fn an_invented_field_is_named_in_a_form_that_can_be_stored() {
        let fields = fields(r#"{"\u0000\n": 1}"#).expect("is JSON");
        let problem = fields.finish().expect_err("is not known");
        let text = problem.body().to_string();
        assert!(!text.contains("\\u0000"), "{text}");
        assert_eq!(problem.body()["errors"][0]["field"], "\\0\\n");
    }
}
