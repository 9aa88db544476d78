//! Rules about errors: a message never repeats its source, and only a transparent error takes
//! another one over by itself.

use super::Offence;
use super::source::{Blank, SourceFile, blank};

const OPENING: &str = "#[error(";

/// One `#[error(…)]` with what follows it.
struct Thrown {
    line: usize,
    /// The attribute's inside, with and without its texts.
    message: String,
    arguments: String,
    /// The fields, their attributes included; a tuple's are named by their positions.
    fields: Vec<(String, String)>,
}

/// Messages that print what is also given as the source: a chain of them says everything twice.
#[must_use]
pub fn repeated_sources(file: &SourceFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    for thrown in all_thrown(file) {
        for (name, field) in &thrown.fields {
            let is_source =
                name == "source" || field.contains("#[source]") || field.contains("#[from]");
            if is_source && !thrown.is_transparent() && thrown.prints(name) {
                let found = format!("the message prints its source {name}");
                offences.push(Offence::new(&file.path, thrown.line, found));
            }
        }
    }
    offences
}

/// Conversions that hide where an error came from.
#[must_use]
pub fn silent_conversions(file: &SourceFile) -> Vec<Offence> {
    all_thrown(file)
        .into_iter()
        .filter(|thrown| !thrown.is_transparent())
        .filter(|thrown| thrown.fields.iter().any(|(_, f)| f.contains("#[from]")))
        .map(|thrown| Offence::new(&file.path, thrown.line, "#[from] without transparent"))
        .collect()
}

impl Thrown {
    fn is_transparent(&self) -> bool {
        self.arguments.trim() == "transparent"
    }

    fn prints(&self, name: &str) -> bool {
        let is_end = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let follows = |text: &str, start: &str| {
            text.match_indices(start)
                .any(|(at, _)| is_end(text.get(at + start.len()..).and_then(|r| r.chars().next())))
        };
        follows(&self.message, &format!("{{{name}"))
            || follows(&self.arguments, &format!(".{name}"))
            || (name.parse::<usize>().is_err() && has_word(&self.arguments, name))
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

fn all_thrown(file: &SourceFile) -> Vec<Thrown> {
    let code: Vec<char> = file.code().chars().collect();
    let kept: Vec<char> = blank(&file.text, Blank::Comments).chars().collect();
    let opening: Vec<char> = OPENING.chars().collect();
    let starts = code
        .windows(opening.len())
        .zip(0..)
        .filter(|(window, _)| *window == opening.as_slice())
        .map(|(_, at)| at);
    starts
        .filter_map(|start| {
            let inside = start + opening.len();
            let end = closing(&code, inside - 1)?;
            Some(Thrown {
                line: 1 + code.iter().take(start).filter(|c| **c == '\n').count(),
                message: slice(&kept, inside, end),
                arguments: slice(&code, inside, end),
                fields: fields(&code, end + 2),
            })
        })
        .collect()
}

/// The fields of the variant or struct that begins at `at`, behind further attributes.
fn fields(code: &[char], mut at: usize) -> Vec<(String, String)> {
    let mut head = String::new();
    loop {
        match code.get(at) {
            Some('#') => match closing(code, at + 1) {
                Some(end) => at = end,
                None => return Vec::new(),
            },
            Some('(') if head.trim() == "pub" => match closing(code, at) {
                Some(end) => {
                    head.clear();
                    at = end;
                }
                None => return Vec::new(),
            },
            Some('(') => return named(code, at, false),
            Some('{') => return named(code, at, true),
            Some(',' | ';' | '}' | '=') | None => return Vec::new(),
            Some(other) => head.push(*other),
        }
        at += 1;
    }
}

fn named(code: &[char], open: usize, by_name: bool) -> Vec<(String, String)> {
    let Some(end) = closing(code, open) else {
        return Vec::new();
    };
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in code.iter().take(end).skip(open + 1) {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        if *c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(*c);
        }
    }
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .zip(0_usize..)
        .map(|(part, position)| {
            let name = if by_name {
                name_of(&part)
            } else {
                position.to_string()
            };
            (name, part)
        })
        .collect()
}

/// The name in `#[source] pub name: Type`.
fn name_of(field: &str) -> String {
    let before = field.rsplit(']').next().unwrap_or(field);
    let head = before.split(':').next().unwrap_or_default();
    head.split_whitespace()
        .last()
        .unwrap_or_default()
        .to_owned()
}

/// Where the bracket that opens at `open` closes.
fn closing(code: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code.iter().enumerate().skip(open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn slice(text: &[char], from: usize, to: usize) -> String {
    text.get(from..to).unwrap_or_default().iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(check: fn(&SourceFile) -> Vec<Offence>, text: &str) -> Vec<usize> {
        let file = SourceFile {
            path: "crates/a/src/b.rs".to_owned(),
            text: text.to_owned(),
        };
        check(&file).into_iter().map(|o| o.line).collect()
    }

    #[test]
    fn a_message_that_prints_its_source_is_found() {
        let text = r#"
            enum E {
                #[error("one: {0}")]
                One(#[source] Io),
                #[error("two {0}")]
                Two(String, #[source] Io),
                #[error("three {at}: {cause:?}")]
                Three { at: u8, #[source] cause: Io },
                #[error("four: {source}")]
                Four { source: Io },
                #[error("five: {}", .0)]
                /// With a doc comment.
                Five(#[source] Io),
                #[error("six {10}")]
                Six(#[source] Io),
                #[error(transparent)]
                Seven(#[from] Io),
                #[error("eight {0}")]
                Eight(String),
            }
            #[derive(Debug)]
            #[error("nine: {0}")]
            pub(crate) struct Nine(#[source] Io);
        "#;
        assert_eq!(lines(repeated_sources, text), [3, 7, 9, 11, 22]);
    }

    #[test]
    fn a_conversion_without_transparent_is_found() {
        let text = r#"
            enum E {
                #[error("one")]
                One(#[from] Io),
                #[error(transparent)]
                Two(#[from] Fmt),
                #[error("three")]
                Three { #[from] inner: Utf8 },
            }
        "#;
        assert_eq!(lines(silent_conversions, text), [3, 7]);
    }
}
