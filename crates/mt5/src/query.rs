//! The parameters of a command, escaped twice: by the platform's own rule, then for a URL.
//!
//! The rule: a value is never spliced in by hand.

use std::fmt::Display;

use form_urlencoded::byte_serialize;

/// The query string of one command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(String);

impl Query {
    /// No parameters yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One parameter more.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&percent(&platform(&value.to_string())));
        self
    }

    /// The text that follows the question mark.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The platform gives `=`, `|`, `\` and a line feed a backslash; a backslash before anything else
/// stands for itself, so `real\USD` travels as it is.
fn platform(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        let would_mislead = c == '\\' && rest.peek().is_some_and(|next| is_special(*next));
        if would_mislead || (c != '\\' && is_special(c)) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn is_special(c: char) -> bool {
    matches!(c, '=' | '|' | '\\' | '\n')
}

/// Form encoding, with the blank in the form that every server reads in a URL.
fn percent(value: &str) -> String {
    byte_serialize(value.as_bytes())
        .map(|part| if part == "+" { "%20" } else { part })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_for_the_platform_and_for_the_url() {
        let query = |value: &str| Query::new().with("v", value).as_str().to_owned();
        assert_eq!(query("dep:48213-7kq2f"), "v=dep%3A48213-7kq2f");
        assert_eq!(query(r"real\USD 2"), "v=real%5CUSD%202");
        assert_eq!(query("a=b|c\n"), "v=a%5C%3Db%5C%7Cc%5C%0A");
        assert_eq!(query(r"a\=b"), "v=a%5C%5C%5C%3Db");
        assert_eq!(query("a+b&c"), "v=a%2Bb%26c");
        assert_eq!(query("-10.50"), "v=-10.50");
        assert_eq!(query("ж"), "v=%D0%B6");
    }

    #[test]
    fn parameters_keep_their_order() {
        let query = Query::new().with("login", 7).with("type", 2);
        assert_eq!(query.as_str(), "login=7&type=2");
    }
}
