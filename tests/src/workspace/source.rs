//! A Rust file as the rules read it: its code without comments, texts or tests.
//!
//! Blanking keeps every line and column, so a finding always names the right place.

/// One text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// From the root of the repository, with `/` between its parts.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// What a rule does not want to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// Comments.
    Comments,
    /// Comments, and what stands between quotes.
    CommentsAndTexts,
}

impl SourceFile {
    /// Whether it is Rust.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.stem_and_extension().1 == "rs"
    }

    /// Whether it is no part of what is shipped: tests, examples, benchmarks.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let folders = ["tests", "examples", "benches"];
        self.path.split('/').any(|part| folders.contains(&part))
            || self.stem_and_extension().0 == "tests"
    }

    /// The file name without its extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        self.stem_and_extension().0
    }

    /// The code alone.
    #[must_use]
    pub fn code(&self) -> String {
        blank(&self.text, Blank::CommentsAndTexts)
    }

    /// The code that is shipped: without the unit tests at the end of the file.
    #[must_use]
    pub fn shipped(&self) -> String {
        let code = self.code();
        let end = code.find("#[cfg(test)]\nmod ").unwrap_or(code.len());
        code.get(..end).unwrap_or_default().to_owned()
    }

    fn stem_and_extension(&self) -> (&str, &str) {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').unwrap_or((name, ""))
    }
}

/// The lines that hold `word` with nothing of a name on either side, counted from one.
#[must_use]
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|b| b.chars().next_back());
            let after = line.get(at + word.len()..).and_then(|a| a.chars().next());
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        })
    };
    lines_where(text, stands_alone)
}

/// The lines for which `holds` answers yes, counted from one.
pub fn lines_where(text: &str, holds: impl Fn(&str) -> bool) -> Vec<usize> {
    text.lines()
        .zip(1..)
        .filter(|(line, _)| holds(line))
        .map(|(_, number)| number)
        .collect()
}

/// The text with what is unwanted replaced by spaces, character by character.
#[must_use]
pub fn blank(text: &str, unwanted: Blank) -> String {
    let mut rest: &str = text;
    let mut kept = String::with_capacity(text.len());
    let mut after_name = false;
    while let Some(first) = rest.chars().next() {
        let (length, is_unwanted) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with("/*") {
            (block_comment(rest), true)
        } else if let Some(length) = quoted(rest, after_name) {
            (length, unwanted == Blank::CommentsAndTexts)
        } else {
            (first.len_utf8(), false)
        };
        let (piece, following) = rest.split_at(length);
        if is_unwanted {
            kept.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            kept.push_str(piece);
        }
        after_name = piece.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        rest = following;
    }
    kept
}

/// The length of the block comment that `rest` begins with; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of the text or character literal that `rest` begins with, if it begins with one.
fn quoted(rest: &str, after_name: bool) -> Option<usize> {
    if !after_name && let Some(length) = raw_text(rest) {
        return Some(length);
    }
    if rest.starts_with('"') {
        return Some(escaped_until(rest, '"'));
    }
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    let is_character = first == '\\' || inside.get(first.len_utf8()..)?.starts_with('\'');
    is_character.then(|| escaped_until(rest, '\''))
}

/// The length of a raw text such as `r#"…"#`.
fn raw_text(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix))?;
    let after = rest.get(prefix.len()..)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inside = after.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let opening = prefix.len() + hashes + 1;
    Some(
        inside
            .find(&end)
            .map_or(rest.len(), |at| opening + at + end.len()),
    )
}

/// The length up to and with the closing quote, over escaped characters.
fn escaped_until(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_blanked_and_code_is_kept_in_place() {
        let text = "a // b\n/* c /* d */ e */ f(\"g \\\" h\", 'i', '\\'') r#\"j\"k\"# l<'m>\n";
        let code = blank(text, Blank::CommentsAndTexts);
        assert_eq!(code.chars().count(), text.chars().count());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words, ["a", "f(", ",", ",", ")", "l<'m>"]);
        assert!(blank(text, Blank::Comments).contains("g \\\" h"));
    }

    #[test]
    fn a_word_is_found_only_alone() {
        let text = "f64\nf64_of\nmy_f64\n(f64)\n";
        assert_eq!(lines_with_word(text, "f64"), [1, 4]);
    }

    #[test]
    fn tests_at_the_end_are_not_shipped() {
        let file = SourceFile {
            path: "crates/a/src/b.rs".to_owned(),
            text: "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n".to_owned(),
        };
        assert_eq!(file.shipped().trim(), "fn a() {}");
        assert!(!file.is_test());
        assert_eq!(file.stem(), "b");
    }
}
