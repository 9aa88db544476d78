//! What we build with: no version with a known fault, and no licence that we may not ship under.
//!
//! The table of faults is a file beside the tests, so the audit needs no network.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use claimcheck_tests::workspace::advisory::{
    Accepted, Advisory, Locked, TABLE, concerned, outlived, parse_lock, parse_table,
};
use claimcheck_tests::workspace::{Offence, demand, licence, root};

/// Advisories that we live with; an entry that concerns nothing any more must go.
const ACCEPTED: &[Accepted] = &[];

/// Fewer advisories than this mean a cut table.
const ADVISORIES_MIN: usize = 1_000;

fn advisories() -> Vec<Advisory> {
    let text = fs::read_to_string(root().join(TABLE)).expect("the table lies beside the tests");
    match parse_table(&text) {
        Ok(advisories) => advisories,
        Err(broken) => {
            demand("Every line of the table can be read.", broken);
            Vec::new()
        }
    }
}

fn locked() -> Vec<Locked> {
    let text = fs::read_to_string(root().join("Cargo.lock")).expect("the versions are locked");
    let locked = parse_lock(&text);
    assert!(!locked.is_empty(), "the lock file names packages");
    locked
}

#[test]
fn the_table_of_faults_is_whole() {
    let advisories = advisories();
    assert!(advisories.len() >= ADVISORIES_MIN, "{}", advisories.len());
    let ids: BTreeSet<&str> = advisories.iter().map(|a| a.id.as_str()).collect();
    assert_eq!(
        ids.len(),
        advisories.len(),
        "each advisory stands there once"
    );
}

#[test]
fn an_old_version_of_what_we_use_would_be_found() {
    let old = Locked {
        name: "tokio".to_owned(),
        version: semver::Version::new(1, 0, 0),
    };
    assert!(!concerned(&[old], &advisories(), ACCEPTED).is_empty());
}

#[test]
fn no_locked_version_has_a_known_fault() {
    demand(
        "A package with a known fault is updated, replaced, or accepted with a reason.",
        concerned(&locked(), &advisories(), ACCEPTED),
    );
}

#[test]
fn every_accepted_fault_still_concerns_us_and_has_a_reason() {
    assert!(ACCEPTED.iter().all(|accepted| !accepted.reason.is_empty()));
    demand(
        "An accepted advisory that concerns nothing any more is taken off the list.",
        outlived(&locked(), &advisories(), ACCEPTED),
    );
}

#[test]
fn every_package_has_a_licence_that_we_may_ship_under() {
    let offences = packages()
        .iter()
        .filter_map(|package| {
            let text = |key| package.get(key).and_then(|value| value.as_str());
            let (name, version) = (text("name")?, text("version")?);
            match text("license") {
                Some(expression) if licence::is_allowed(expression) => None,
                given => {
                    let found = format!("{name} {version} is under {given:?}");
                    Some(Offence::new("Cargo.lock", 1, found))
                }
            }
        })
        .collect();
    demand("Every package is under a licence of the list.", offences);
}

/// Every package that is built on this machine's own platform, as cargo sees it.
fn packages() -> Vec<serde_json::Value> {
    let about = cargo(&["-vV"]);
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.expect("cargo names its platform");
    let metadata = cargo(&[
        "metadata",
        "--offline",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let packages = metadata.get("packages").and_then(|p| p.as_array());
    let packages = packages.cloned().unwrap_or_default();
    assert!(!packages.is_empty(), "cargo names the packages");
    packages
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}
