//! Known faults of published packages, and which of them concern the versions we build with.
//!
//! A version is safe only if an advisory says so, as patched or as never affected. A pre-release
//! is outside most ranges and therefore counts as affected: a false alarm, never a missed one.

use semver::{Version, VersionReq};
use toml::{Table, Value};

use super::Offence;

/// The table, and where it lies.
pub const TABLE: &str = "tests/fixtures/advisories/rustsec.tsv";
/// What stands between two ranges.
const BETWEEN_RANGES: &str = "||";

/// One advisory.
#[derive(Debug, Clone)]
pub struct Advisory {
    /// The package.
    pub package: String,
    /// Its id.
    pub id: String,
    /// `vulnerable`, `unsound`, `unmaintained` or `notice`.
    pub kind: String,
    /// What is wrong; empty where the title may not be copied.
    pub title: String,
    safe: Vec<VersionReq>,
}

/// An advisory that we live with for now.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    /// The advisory.
    pub id: &'static str,
    /// The package.
    pub package: &'static str,
    /// Why it does not harm us, and what will end it.
    pub reason: &'static str,
}

/// A package of the lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
}

/// Reads the table; every line that cannot be read is an error that names it.
///
/// # Errors
/// A line with another number of columns, or a range that cannot be read.
pub fn parse_table(text: &str) -> Result<Vec<Advisory>, Vec<Offence>> {
    let mut advisories = Vec::new();
    let mut broken = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        match parse_line(line) {
            Ok(advisory) => advisories.push(advisory),
            Err(why) => broken.push(Offence::new(TABLE, number, why)),
        }
    }
    if broken.is_empty() {
        return Ok(advisories);
    }
    Err(broken)
}

/// Reads the packages of a lock file that come from a registry.
///
/// # Panics
/// It is no lock file; nothing would build.
#[must_use]
pub fn parse_lock(text: &str) -> Vec<Locked> {
    let table: Table = text.parse().expect("a lock file is TOML");
    let packages = table.get("package").and_then(Value::as_array);
    packages
        .into_iter()
        .flatten()
        .filter(|package| package.get("source").is_some())
        .map(|package| {
            let text = |key| package.get(key).and_then(Value::as_str).unwrap_or_default();
            Locked {
                name: text("name").to_owned(),
                version: Version::parse(text("version")).expect("a locked version is exact"),
            }
        })
        .collect()
}

/// Locked packages that an advisory concerns and that are not accepted.
#[must_use]
pub fn concerned(
    locked: &[Locked],
    advisories: &[Advisory],
    accepted: &[Accepted],
) -> Vec<Offence> {
    hits(locked, advisories)
        .filter(|(package, advisory)| {
            !accepted
                .iter()
                .any(|a| a.id == advisory.id && a.package == package.name)
        })
        .map(|(package, advisory)| {
            let found = format!(
                "{} {} is {} by {}: {}",
                package.name, package.version, advisory.kind, advisory.id, advisory.title
            );
            Offence::new("Cargo.lock", 1, found)
        })
        .collect()
}

/// Accepted advisories that concern nothing any more.
#[must_use]
pub fn outlived(locked: &[Locked], advisories: &[Advisory], accepted: &[Accepted]) -> Vec<Offence> {
    accepted
        .iter()
        .filter(|a| {
            !hits(locked, advisories)
                .any(|(package, hit)| hit.id == a.id && package.name == a.package)
        })
        .map(|a| {
            Offence::new(
                "Cargo.lock",
                1,
                format!("{} ({}) concerns nothing", a.id, a.package),
            )
        })
        .collect()
}

fn hits<'a>(
    locked: &'a [Locked],
    advisories: &'a [Advisory],
) -> impl Iterator<Item = (&'a Locked, &'a Advisory)> {
    locked.iter().flat_map(move |package| {
        advisories
            .iter()
            .filter(|advisory| advisory.package == package.name)
            .filter(|advisory| !advisory.safe.iter().any(|r| r.matches(&package.version)))
            .map(move |advisory| (package, advisory))
    })
}

fn parse_line(line: &str) -> Result<Advisory, String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [package, id, _date, kind, patched, unaffected, title] = columns.as_slice() else {
        return Err(format!("{} columns, not 7", columns.len()));
    };
    let ranges = [*patched, *unaffected]
        .into_iter()
        .flat_map(|ranges| ranges.split(BETWEEN_RANGES))
        .map(str::trim)
        .filter(|range| !range.is_empty());
    let safe = ranges
        .map(|range| VersionReq::parse(range).map_err(|e| format!("range {range:?}: {e}")))
        .collect::<Result<Vec<VersionReq>, String>>()?;
    Ok(Advisory {
        package: (*package).to_owned(),
        id: (*id).to_owned(),
        kind: (*kind).to_owned(),
        title: (*title).to_owned(),
        safe,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "a\tX-1\t2026-01-01\tvulnerable\t>= 1.2.3, < 2 || >= 2.1\t< 0.5\tBad\n\
        b\tX-2\t2026-01-02\tunmaintained\t\t\t\n";

    fn locked(name: &str, version: &str) -> Locked {
        Locked {
            name: name.to_owned(),
            version: Version::parse(version).expect("is a version"),
        }
    }

    #[test]
    fn a_version_is_safe_only_where_an_advisory_says_so() {
        let advisories = parse_table(SAMPLE).expect("the sample can be read");
        for (name, version, is_safe) in [
            ("a", "0.4.9", true),
            ("a", "0.5.0", false),
            ("a", "1.2.2", false),
            ("a", "1.2.3", true),
            ("a", "2.0.0", false),
            ("a", "2.1.0", true),
            ("a", "3.0.0-rc.1", false),
            ("b", "99.0.0", false),
            ("c", "1.0.0", true),
        ] {
            let found = concerned(&[locked(name, version)], &advisories, &[]);
            assert_eq!(found.is_empty(), is_safe, "{name} {version}");
        }
    }

    #[test]
    fn an_accepted_advisory_is_silent_and_an_outlived_one_is_not() {
        let advisories = parse_table(SAMPLE).expect("the sample can be read");
        let accepted = [Accepted {
            id: "X-2",
            package: "b",
            reason: "a sample",
        }];
        let with_b = [locked("b", "1.0.0")];
        assert!(concerned(&with_b, &advisories, &accepted).is_empty());
        assert!(outlived(&with_b, &advisories, &accepted).is_empty());
        assert_eq!(outlived(&[], &advisories, &accepted).len(), 1);
    }

    #[test]
    fn a_broken_line_is_named() {
        let broken = parse_table("a\tb\nc\tX\td\te\t>= one\t\t\n").expect_err("both are broken");
        let lines: Vec<usize> = broken.into_iter().map(|offence| offence.line).collect();
        assert_eq!(lines, [1, 2]);
    }

    #[test]
    fn our_own_packages_are_not_audited() {
        let text = "[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n[[package]]\n\
            name = \"a\"\nversion = \"1.0.0\"\nsource = \"registry\"\n";
        assert_eq!(parse_lock(text), [locked("a", "1.0.0")]);
    }
}
