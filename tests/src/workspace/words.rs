//! Rules about what a line may hold.
//!
//! The forbidden words are put together from halves, so that this file keeps its own rules.

use super::Offence;
use super::source::{SourceFile, lines_where, lines_with_word};

/// The longest line, in characters.
const LINE_MAX: usize = 100;

/// A file that may hold what is forbidden elsewhere, and why.
pub type Allowed = (&'static str, &'static str);

/// Lines longer than the limit.
#[must_use]
pub fn long_lines(file: &SourceFile) -> Vec<Offence> {
    file.text
        .lines()
        .zip(1..)
        .map(|(line, number)| (line.chars().count(), number))
        .filter(|(length, _)| *length > LINE_MAX)
        .map(|(length, number)| Offence::new(&file.path, number, format!("{length} columns")))
        .collect()
}

/// Notes that something is unfinished.
#[must_use]
pub fn unfinished(file: &SourceFile) -> Vec<Offence> {
    let notes = [concat!("TO", "DO"), concat!("FIX", "ME")];
    notes
        .into_iter()
        .flat_map(|note| at(file, lines_with_word(&file.text, note), note))
        .collect()
}

/// Binary fractions: money never passes through them.
#[must_use]
pub fn floats(file: &SourceFile) -> Vec<Offence> {
    let code = file.code();
    ["f32", "f64"]
        .into_iter()
        .flat_map(|word| at(file, lines_with_word(&code, word), word))
        .collect()
}

/// Public fields of tuple structs: a value then has no constructor that can refuse it.
#[must_use]
pub fn open_tuples(file: &SourceFile) -> Vec<Offence> {
    let is_open = |line: &str| {
        line.trim_start()
            .strip_prefix("pub struct ")
            .and_then(|rest| rest.split_once('('))
            .is_some_and(|(_, fields)| fields.trim_start().starts_with("pub"))
    };
    at(
        file,
        lines_where(&file.code(), is_open),
        "pub struct _(pub …)",
    )
}

/// SQL that is put together at run time and so never checked against the database.
#[must_use]
pub fn unchecked_sql(file: &SourceFile) -> Vec<Offence> {
    let calls = [
        "sqlx::query(",
        "sqlx::query::<",
        "query_as(",
        "query_as::<",
        "query_scalar(",
        "query_scalar::<",
        "query_with(",
        "raw_sql(",
        "QueryBuilder",
    ];
    let code = file.shipped();
    calls
        .into_iter()
        .flat_map(|call| at(file, lines_where(&code, |line| line.contains(call)), call))
        .collect()
}

/// SQL, AMQP or an HTTP client where only a thin shell should be.
#[must_use]
pub fn outside_things(file: &SourceFile) -> Vec<Offence> {
    let code = file.code();
    ["sqlx", "lapin", "reqwest", "hyper", "awc", "ureq"]
        .into_iter()
        .flat_map(|word| at(file, lines_with_word(&code, word), word))
        .collect()
}

/// Calls that move money.
#[must_use]
pub fn operate_calls(file: &SourceFile) -> Vec<Offence> {
    let call = ".operate(";
    at(
        file,
        lines_where(&file.shipped(), |line| line.contains(call)),
        call,
    )
}

/// Paths of one machine.
#[must_use]
pub fn machine_paths(file: &SourceFile) -> Vec<Offence> {
    let paths = [
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let is_start =
        |before: Option<char>| before.is_none_or(|c| c.is_whitespace() || "\"'`=(<[:,".contains(c));
    let holds = |line: &str, path: &str| {
        line.match_indices(path)
            .any(|(at, _)| is_start(line.get(..at).and_then(|b| b.chars().next_back())))
    };
    paths
        .into_iter()
        .flat_map(|path| {
            at(
                file,
                lines_where(&file.text, |line| holds(line, path)),
                path,
            )
        })
        .collect()
}

/// Hosts of package registries.
#[must_use]
pub fn registry_hosts(file: &SourceFile) -> Vec<Offence> {
    let hosts = [
        concat!("crates", ".io"),
        concat!("py", "pi.org"),
        concat!("python", "hosted.org"),
        concat!("npm", "js."),
        concat!("deb.", "debian.org"),
        concat!("security.", "debian.org"),
        concat!("archive.", "ubuntu.com"),
        concat!("proxy.", "golang.org"),
        concat!("ruby", "gems.org"),
    ];
    hosts
        .into_iter()
        .flat_map(|host| {
            at(
                file,
                lines_where(&file.text, |line| line.contains(host)),
                host,
            )
        })
        .collect()
}

fn at(file: &SourceFile, lines: Vec<usize>, found: &str) -> Vec<Offence> {
    lines
        .into_iter()
        .map(|line| Offence::new(&file.path, line, found))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(check: fn(&SourceFile) -> Vec<Offence>, text: &str) -> Vec<usize> {
        let file = SourceFile {
            path: "crates/core/src/sample.rs".to_owned(),
            text: text.to_owned(),
        };
        let mut lines: Vec<usize> = check(&file).into_iter().map(|o| o.line).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn a_line_of_101_characters_is_long_and_one_of_100_is_not() {
        let text = format!("{}\n{}\n", "ö".repeat(100), "ö".repeat(101));
        assert_eq!(lines(long_lines, &text), [2]);
    }

    #[test]
    fn an_unfinished_note_is_found_in_any_text() {
        let text = concat!("a\n# TO", "DO: b\n// FIX", "ME\nmastodon TO", "DOS\n");
        assert_eq!(lines(unfinished, text), [2, 3]);
    }

    #[test]
    fn a_float_is_found_in_code_and_not_in_words_about_it() {
        let text = "let a: f64 = b;\n// no f64\nlet c = \"f32\";\nlet d = e as f32;\n";
        assert_eq!(lines(floats, text), [1, 4]);
    }

    #[test]
    fn an_open_tuple_is_found() {
        let text = "pub struct A(pub i64);\npub struct B(i64);\npub struct C(pub(crate) i64);\n";
        assert_eq!(lines(open_tuples, text), [1, 3]);
    }

    #[test]
    fn unchecked_sql_is_found_and_checked_sql_is_not() {
        let text = "sqlx::query!(\"a\");\nsqlx::query(\"b\");\nsqlx::query_as::<_, C>(\"d\");\n\
                    query_scalar(\"e\");\nsqlx::query_as!(F, \"g\");\n";
        assert_eq!(lines(unchecked_sql, text), [2, 3, 4]);
    }

    #[test]
    fn outside_things_are_found() {
        let text = "use sqlx::PgPool;\nuse claimcheck_queue::Wake;\nlapin::connect();\n";
        assert_eq!(lines(outside_things, text), [1, 3]);
    }

    #[test]
    fn a_call_that_moves_money_is_found_outside_tests_only() {
        let text =
            "server.operate(call);\n// .operate(\n#[cfg(test)]\nmod tests { a.operate(b) }\n";
        assert_eq!(lines(operate_calls, text), [1]);
    }

    #[test]
    fn a_machine_path_is_found_at_the_start_of_a_path_only() {
        let text = concat!("cd /wo", "rk/a\nsrc/wo", "rk/a\n\"/ho", "me/b\"\n");
        assert_eq!(lines(machine_paths, text), [1, 3]);
    }

    #[test]
    fn a_registry_host_is_found() {
        let text = concat!(
            "a\nhttps://index.crates",
            ".io/b\npip -i https://py",
            "pi.org\n"
        );
        assert_eq!(lines(registry_hosts, text), [2, 3]);
    }
}
