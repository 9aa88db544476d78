//! Licences of what we build with, as SPDX expressions, and which of them we may ship under.

/// Licences that allow commercial use and ask for nothing but notices. MPL-2.0 asks for changes
/// to its own files, and none are changed here.
pub const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Exceptions that only ever allow more.
const EXCEPTIONS: &[&str] = &["LLVM-exception"];

/// Whether an expression can be met with allowed licences alone. An expression that cannot be
/// read is not met.
#[must_use]
pub fn is_allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut is_met = all_of(rest)?;
    while let [first, following @ ..] = *rest
        && *first == "OR"
    {
        *rest = following;
        is_met = all_of(rest)? || is_met;
    }
    Some(is_met)
}

fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut is_met = one(rest)?;
    while let [first, following @ ..] = *rest
        && *first == "AND"
    {
        *rest = following;
        is_met = one(rest)? && is_met;
    }
    Some(is_met)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    let (first, following) = rest.split_first()?;
    *rest = following;
    if *first == "(" {
        let is_met = any_of(rest)?;
        let (last, following) = rest.split_first()?;
        *rest = following;
        return (*last == ")").then_some(is_met);
    }
    let mut is_met = ALLOWED.contains(first);
    if let ["WITH", exception, following @ ..] = *rest {
        is_met = is_met && EXCEPTIONS.contains(exception);
        *rest = following;
    }
    Some(is_met)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_or_not() {
        for (expression, expected) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("MIT AND GPL-3.0-only", false),
            ("GPL-3.0-only OR MIT AND ISC", true),
            ("(MIT OR GPL-3.0-only) AND AGPL-3.0-only", false),
            ("(Apache-2.0 OR MIT) AND BSD-3-Clause", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", true),
            ("Apache-2.0 WITH Commons-Clause", false),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT ISC", false),
            ("mit", false),
        ] {
            assert_eq!(is_allowed(expression), expected, "{expression}");
        }
    }
}
