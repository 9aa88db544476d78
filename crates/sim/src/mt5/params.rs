//! The parameters of a command: query string, form body or JSON body.
//!
//! The rule: names are case-sensitive, the first value of a name counts, and the query string
//! comes before the body. A body that begins with `{` is JSON whatever its content type says, as
//! the documentation's own examples send it.

use serde_json::{Map, Value};

/// Decoded parameters in the order received.
#[derive(Debug, Default)]
pub(super) struct Params(Vec<(String, String)>);

/// A JSON body that is not an object of scalars and lists of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body is not an object of scalars and lists of scalars")]
pub(super) struct UnreadableBody;

impl Params {
    pub(super) fn read(query: Option<&str>, body: &[u8]) -> Result<Self, UnreadableBody> {
        let mut params = Self::default();
        params.add_form(query.unwrap_or_default().as_bytes());
        if body.trim_ascii_start().first() == Some(&b'{') {
            let object: Map<String, Value> =
                serde_json::from_slice(body).map_err(|_| UnreadableBody)?;
            for (name, value) in object {
                params
                    .0
                    .push((name, scalars(&value).ok_or(UnreadableBody)?));
            }
        } else {
            params.add_form(body);
        }
        Ok(params)
    }

    fn add_form(&mut self, form: &[u8]) {
        for (name, value) in form_urlencoded::parse(form) {
            self.0.push((name.into_owned(), unescape(&value)));
        }
    }

    /// The text of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter();
        values
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A parameter that is a whole number.
    pub(super) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.get(name)?.parse().ok()
    }

    /// A comma list of logins or tickets; `None` when one of them is no number.
    pub(super) fn numbers(&self, name: &str) -> Option<Vec<u64>> {
        let list = self.get(name)?.split(',');
        list.map(|item| item.trim().parse().ok()).collect()
    }
}

/// A JSON scalar as text, a list of them joined by commas.
fn scalars(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(scalars).collect();
            texts.map(|texts| texts.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// The platform's own escaping inside a value: a backslash before `=`, `|`, `\` or a line feed
/// vanishes, any other stands for itself.
fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.next_if(|next| character == '\\' && "=|\\\n".contains(*next));
        plain.push(escaped.unwrap_or(character));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_form_and_json_say_the_same() {
        let read = |query, body: &str| {
            let params = Params::read(query, body.as_bytes()).expect("is readable");
            (
                params.number::<u64>("login"),
                params.get("comment").map(str::to_owned),
            )
        };
        let same = (Some(7), Some("dep:1 x".to_owned()));
        assert_eq!(read(Some("login=7&comment=dep:1%20x"), ""), same);
        assert_eq!(read(None, "login=7&comment=dep%3A1+x"), same);
        assert_eq!(read(None, r#" {"login":7,"comment":"dep:1 x"}"#), same);
        assert_eq!(
            read(Some("login=7"), r#"{"comment":"dep:1 x","login":"8"}"#),
            same
        );
    }

    #[test]
    fn names_are_case_sensitive() {
        let params = Params::read(Some("Login=7"), b"").expect("is readable");
        assert_eq!(params.get("login"), None);
    }

    #[test]
    fn escapes_vanish_and_a_lone_backslash_stays() {
        assert_eq!(unescape(r"a\=b\|c"), "a=b|c");
        assert_eq!(unescape(r"real\USD"), r"real\USD");
        assert_eq!(unescape(r"real\\USD"), r"real\USD");
        assert_eq!(unescape("end\\"), "end\\");
    }

    #[test]
    fn lists_come_as_text_or_as_arrays() {
        for (query, body) in [(Some("login=1,2"), ""), (None, r#"{"login":[1,"2"]}"#)] {
            let params = Params::read(query, body.as_bytes()).expect("is readable");
            assert_eq!(params.numbers("login"), Some(vec![1, 2]));
        }
        assert!(Params::read(None, br#"{"login":{}}"#).is_err());
        assert!(Params::read(None, b"{").is_err());
    }
}
