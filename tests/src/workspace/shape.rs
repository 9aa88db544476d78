//! Rules about files: how they open, how long they are, what they are called, what a service and
//! a crate root consist of.

use super::Offence;
use super::source::SourceFile;

/// The longest file that is shipped, in lines.
const FILE_LINES_MAX: usize = 400;
/// The longest `main.rs` of a service, in lines.
const MAIN_LINES_MAX: usize = 30;
/// How a crate root opens: its documentation is the README beside it.
const ROOT_OPENING: &str = "#![doc = include_str!(\"../README.md\")]";
/// Names that say nothing about what is inside.
const BANNED_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "helper", "misc", "manager", "types",
];

/// A file that does not open by saying what it is for.
#[must_use]
pub fn opening(file: &SourceFile, has_lib: bool) -> Vec<Offence> {
    let first = file.text.lines().next().unwrap_or_default();
    let parts: Vec<&str> = file.path.split('/').collect();
    let is_root = match parts.as_slice() {
        ["crates" | "services", _, "src", "lib.rs"] => true,
        ["crates" | "services", _, "src", "main.rs"] => !has_lib,
        _ => false,
    };
    if is_root && first != ROOT_OPENING {
        return vec![Offence::new(&file.path, 1, format!("opens with {first:?}"))];
    }
    if !is_root && !first.starts_with("//! ") {
        return vec![Offence::new(&file.path, 1, format!("opens with {first:?}"))];
    }
    Vec::new()
}

/// A file that is longer than one reads at a sitting.
#[must_use]
pub fn long_file(file: &SourceFile) -> Vec<Offence> {
    let lines = file.text.lines().count();
    if file.is_test() || lines <= FILE_LINES_MAX {
        return Vec::new();
    }
    vec![Offence::new(&file.path, lines, format!("{lines} lines"))]
}

/// A file, folder or crate with a name that says nothing, and `mod.rs`.
#[must_use]
pub fn banned_name(file: &SourceFile) -> Vec<Offence> {
    let is_banned = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part);
        part == "mod.rs" || BANNED_NAMES.contains(&stem)
    };
    file.path
        .split('/')
        .filter(|part| is_banned(part))
        .map(|part| Offence::new(&file.path, 1, format!("is called {part}")))
        .collect()
}

/// Anything in a `lib.rs` beside modules and re-exports.
#[must_use]
pub fn lib_with_logic(file: &SourceFile) -> Vec<Offence> {
    if !file.path.ends_with("src/lib.rs") {
        return Vec::new();
    }
    let mut offences = Vec::new();
    let mut is_inside = false;
    for (line, number) in file.code().lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || (!is_inside && line.starts_with("#[")) || line.starts_with("#![") {
            continue;
        }
        let is_opening = ["mod ", "pub mod ", "pub use ", "pub(crate) mod "]
            .iter()
            .any(|start| line.starts_with(start));
        if !is_inside && !is_opening {
            offences.push(Offence::new(&file.path, number, line));
        }
        is_inside = (is_inside || is_opening) && !line.ends_with(';');
    }
    offences
}

/// What is missing in a service, or too much, given the files below its folder.
#[must_use]
pub fn service_shape(service: &str, files: &[&SourceFile]) -> Vec<Offence> {
    let source = format!("services/{service}/src/");
    let names: Vec<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix(&source))
        .collect();
    let shell = ["main.rs", "lib.rs", "settings.rs", "app.rs"];
    let mut offences: Vec<Offence> = shell
        .iter()
        .filter(|wanted| !names.contains(wanted))
        .map(|wanted| Offence::new(&source, 1, format!("has no {wanted}")))
        .collect();
    let has_verb = names
        .iter()
        .any(|name| !shell.contains(name) && !name.contains('/'));
    if !has_verb {
        offences.push(Offence::new(&source, 1, "has no file named after its verb"));
    }
    let main = files
        .iter()
        .find(|file| file.path == format!("{source}main.rs"));
    let lines = main.map_or(0, |file| file.text.lines().count());
    if lines > MAIN_LINES_MAX {
        let file = format!("{source}main.rs");
        offences.push(Offence::new(&file, lines, format!("{lines} lines")));
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_file_that_opens_without_its_purpose_is_found() {
        for (path, text, has_lib, is_good) in [
            ("crates/a/src/b.rs", "//! What for.\n", true, true),
            ("crates/a/src/b.rs", "use std::fmt;\n", true, false),
            ("crates/a/src/b.rs", "", true, false),
            ("crates/a/src/b.rs", "\n//! What for.\n", true, false),
            ("crates/a/src/lib.rs", "//! What for.\n", true, false),
            ("crates/a/src/lib.rs", ROOT_OPENING, true, true),
            ("crates/a/src/main.rs", ROOT_OPENING, false, true),
            ("crates/a/src/main.rs", "//! What for.\n", false, false),
            ("services/a/src/main.rs", "//! What for.\n", true, true),
            ("tests/src/lib.rs", "//! What for.\n", true, true),
        ] {
            let offences = opening(&file(path, text), has_lib);
            assert_eq!(offences.is_empty(), is_good, "{path} {text:?}");
        }
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_a_test() {
        let long = "\n".repeat(401);
        assert_eq!(long_file(&file("crates/a/src/b.rs", &long)).len(), 1);
        assert!(long_file(&file("crates/a/src/b.rs", &"\n".repeat(400))).is_empty());
        assert!(long_file(&file("crates/a/tests/b.rs", &long)).is_empty());
    }

    #[test]
    fn a_name_that_says_nothing_is_found() {
        for (path, is_good) in [
            ("crates/a/src/utils.rs", false),
            ("crates/common/src/lib.rs", false),
            ("crates/a/src/types/money.rs", false),
            ("crates/a/src/b/mod.rs", false),
            ("crates/a/src/commonplace.rs", true),
        ] {
            assert_eq!(banned_name(&file(path, "")).is_empty(), is_good, "{path}");
        }
    }

    #[test]
    fn logic_in_a_crate_root_is_found() {
        let good =
            "#![doc = \"a\"]\n\n// Why.\n#[cfg(unix)]\nmod b;\npub use b::{\n    C, D,\n};\n";
        assert!(lib_with_logic(&file("crates/a/src/lib.rs", good)).is_empty());
        let bad = format!("{good}const E: u8 = 1;\nfn f() {{}}\npub mod g {{\n}}\nstruct H;\n");
        let lines: Vec<usize> = lib_with_logic(&file("crates/a/src/lib.rs", &bad))
            .into_iter()
            .map(|offence| offence.line)
            .collect();
        assert_eq!(lines.first(), Some(&9));
        assert!(lines.contains(&10));
    }

    #[test]
    fn a_service_of_another_shape_is_found() {
        let part =
            |name: &str, lines: usize| file(&format!("services/s/src/{name}"), &"\n".repeat(lines));
        let whole = [
            part("main.rs", 30),
            part("lib.rs", 1),
            part("settings.rs", 1),
            part("app.rs", 1),
            part("act.rs", 1),
        ];
        let all: Vec<&SourceFile> = whole.iter().collect();
        assert!(service_shape("s", &all).is_empty());
        let without_verb: Vec<&SourceFile> = whole.iter().take(4).collect();
        assert_eq!(service_shape("s", &without_verb).len(), 1);
        let long = part("main.rs", 31);
        assert_eq!(service_shape("s", &[&long]).len(), 5);
    }
}
