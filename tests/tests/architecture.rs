//! The architecture, read from the manifests and the tree: who may import whom, what each
//! manifest must say, what lies at the top, and that the map in the README is true.

use std::collections::BTreeSet;
use std::fs;

use claimcheck_tests::workspace::arrows::{
    against_arrows, against_owners, domain_stands_on, power_elsewhere,
};
use claimcheck_tests::workspace::manifest::{
    Manifest, members, not_inherited, unexplained, unused, workspace,
};
use claimcheck_tests::workspace::{Offence, demand, names_in, root};

/// Everything that lies at the top beside the tools' own files.
const TOP: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "Makefile",
    "README.md",
    "crates",
    "deploy",
    "helm",
    "migrations",
    "services",
    "tests",
];
/// Files that tools look for at the top; what is built also lies there and is ignored.
const TOOLS: &[&str] = &[
    "clippy.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "target",
];
/// Crates that the design itself names; any other one says "the only crate that …".
const DESIGNED: &[&str] = &[
    "api",
    "cli",
    "core",
    "lab",
    "mt5",
    "payouts",
    "process",
    "providers",
    "queue",
    "sim",
    "store",
];
/// The shortest purpose worth the name, in characters.
const PURPOSE_MIN: usize = 30;

fn in_every_member(check: fn(&Manifest) -> Vec<Offence>) -> Vec<Offence> {
    let members = members();
    assert!(!members.is_empty(), "the members are read");
    members.iter().flat_map(check).collect()
}

#[test]
fn ours_is_imported_along_the_arrows_only() {
    demand(
        "A package imports only what its arrows allow; services never import each other.",
        in_every_member(against_arrows),
    );
}

#[test]
fn each_outside_thing_is_imported_in_its_one_crate() {
    demand(
        "SQL, AMQP, telemetry and HTTP are each imported by the crate that owns them alone.",
        in_every_member(against_owners),
    );
}

#[test]
fn the_domain_stands_on_three_packages() {
    demand(
        "core depends on rust_decimal, time and thiserror and on nothing else.",
        in_every_member(domain_stands_on),
    );
}

#[test]
fn only_the_credit_worker_has_the_power_to_move_money() {
    let mut offences = in_every_member(power_elsewhere);
    offences.extend(power_elsewhere(&workspace()));
    demand(
        "Only services/credit-worker enables the feature `operate` of claimcheck-mt5.",
        offences,
    );
}

#[test]
fn every_member_takes_lints_facts_and_versions_from_the_workspace() {
    demand(
        "A member inherits its lints, package facts and every dependency from the workspace.",
        in_every_member(not_inherited),
    );
}

#[test]
fn every_package_of_others_is_declared_once_with_its_reason() {
    demand(
        "A third-party package is declared without default features, below its reason.",
        unexplained(&workspace()),
    );
}

#[test]
fn no_declared_package_lies_idle() {
    demand(
        "A package that the workspace declares is used by a member.",
        unused(&workspace(), &members()),
    );
}

#[test]
fn the_lints_that_guard_money_are_on() {
    let section = workspace().section("workspace");
    let lints = section
        .get("lints")
        .cloned()
        .expect("the workspace has lints");
    let mut offences = Vec::new();
    for (tool, lint, level) in [
        ("rust", "unsafe_code", "forbid"),
        ("rust", "unreachable_pub", "deny"),
        ("rust", "unused_must_use", "deny"),
        ("clippy", "unwrap_used", "deny"),
        ("clippy", "panic", "deny"),
        ("clippy", "indexing_slicing", "deny"),
        ("clippy", "float_arithmetic", "deny"),
        ("clippy", "allow_attributes", "deny"),
        ("clippy", "allow_attributes_without_reason", "deny"),
        ("clippy", "disallowed_methods", "deny"),
        ("clippy", "mod_module_files", "deny"),
        ("clippy", "too_many_lines", "deny"),
    ] {
        let set = lints
            .get(tool)
            .and_then(|t| t.get(lint))
            .and_then(|l| l.as_str());
        if set != Some(level) {
            offences.push(workspace().offence(lint, format!("{tool}::{lint} is not {level}")));
        }
    }
    demand(
        "The lints that guard money and readability stay on.",
        offences,
    );
}

#[test]
fn only_known_things_lie_at_the_top() {
    let offences = names_in("")
        .into_iter()
        .filter(|name| !name.starts_with('.'))
        .filter(|name| !TOP.contains(&name.as_str()) && !TOOLS.contains(&name.as_str()))
        .map(|name| Offence::new(&name, 1, "does not belong at the top"))
        .collect();
    demand(
        "The top of the repository holds the house and nothing else.",
        offences,
    );
}

#[test]
fn every_crate_and_service_says_what_it_is_for() {
    let mut offences = Vec::new();
    for (folder, name) in houses() {
        let path = format!("{folder}/{name}/README.md");
        let text = fs::read_to_string(root().join(&path)).unwrap_or_default();
        let manifest = format!("{folder}/{name}/Cargo.toml");
        let manifest = fs::read_to_string(root().join(manifest)).expect("a member has a manifest");
        let package = Manifest::parse("Cargo.toml", &manifest).name().to_owned();
        if text.lines().next() != Some(format!("# {package}").as_str()) {
            offences.push(Offence::new(
                &path,
                1,
                format!("does not open with # {package}"),
            ));
        }
        let mut paragraphs = text.split("\n\n").skip(1);
        if paragraphs.next().unwrap_or_default().trim().len() < PURPOSE_MIN {
            offences.push(Offence::new(&path, 3, "does not say what it is for"));
        }
        let needs_sentence = folder == "crates" && !DESIGNED.contains(&name.as_str());
        if needs_sentence && !text.to_lowercase().contains("the only crate") {
            offences.push(Offence::new(
                &path,
                3,
                "does not say \"the only crate that …\"",
            ));
        }
    }
    demand(
        "A crate or service has a README with its name and purpose; a crate beyond the design \
         says what it is the only one for.",
        offences,
    );
}

#[test]
fn the_map_in_the_readme_is_true() {
    let text = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let mapped: BTreeSet<String> = text
        .split('`')
        .filter(|word| word.starts_with("crates/") || word.starts_with("services/"))
        .filter(|word| word.matches('/').count() == 1)
        .map(ToOwned::to_owned)
        .collect();
    let real: BTreeSet<String> = houses()
        .into_iter()
        .map(|(folder, name)| format!("{folder}/{name}"))
        .collect();
    let missing = real.difference(&mapped);
    let gone = mapped.difference(&real);
    let offences = missing
        .map(|path| Offence::new("README.md", 1, format!("does not list {path}")))
        .chain(
            gone.map(|path| Offence::new("README.md", 1, format!("lists {path}, which is gone"))),
        )
        .collect();
    demand(
        "The README lists each crate and service, and no other.",
        offences,
    );
}

/// Every folder of a crate or service.
fn houses() -> Vec<(&'static str, String)> {
    ["crates", "services"]
        .into_iter()
        .flat_map(|folder| names_in(folder).into_iter().map(move |name| (folder, name)))
        .filter(|(folder, name)| root().join(folder).join(name).is_dir())
        .collect()
}
