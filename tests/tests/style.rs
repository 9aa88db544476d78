//! What of the house's style a machine can check. Each rule is one sentence here; how it is
//! checked, and the proof that it can fail, lies in `workspace`.

use std::collections::BTreeSet;

use claimcheck_tests::workspace::source::SourceFile;
use claimcheck_tests::workspace::thrown::{repeated_sources, silent_conversions};
use claimcheck_tests::workspace::words::{
    Allowed, floats, long_lines, machine_paths, open_tuples, operate_calls, outside_things,
    registry_hosts, unchecked_sql, unfinished,
};
use claimcheck_tests::workspace::{Offence, demand, names_in, rust_files, shape, text_files};

/// Where binary fractions are allowed: the metrics library takes nothing else.
const FLOATS: &[Allowed] = &[
    (
        "crates/process/src/telemetry.rs",
        "the bounds of latency buckets",
    ),
    ("services/resolver/src/watch.rs", "gauges of counts"),
];
/// Where SQL may be text: nowhere.
const SQL_TEXT: &[Allowed] = &[];

fn each(files: &[SourceFile], check: impl Fn(&SourceFile) -> Vec<Offence>) -> Vec<Offence> {
    assert!(!files.is_empty(), "the files are read");
    files.iter().flat_map(check).collect()
}

fn files_below(folder: &str) -> Vec<SourceFile> {
    let mut files = rust_files();
    files.retain(|file| file.path.starts_with(folder));
    files
}

/// The offences outside the allowed files, and the allowances that nothing needs.
fn but(allowed: &[Allowed], offences: Vec<Offence>) -> Vec<Offence> {
    let is_allowed = |file: &str| allowed.iter().any(|(path, _)| *path == file);
    let idle = allowed
        .iter()
        .filter(|(path, _)| !offences.iter().any(|offence| offence.file == *path))
        .map(|(path, reason)| Offence::new(path, 1, format!("needs no allowance for {reason}")));
    let others = offences.iter().filter(|offence| !is_allowed(&offence.file));
    others.cloned().chain(idle).collect()
}

#[test]
fn services_have_one_shape() {
    let files = files_below("services/");
    let offences = names_in("services")
        .iter()
        .flat_map(|service| {
            let folder = format!("services/{service}/");
            let own = files.iter().filter(|file| file.path.starts_with(&folder));
            shape::service_shape(service, &own.collect::<Vec<_>>())
        })
        .collect();
    demand(
        "A service is main.rs (at most 30 lines), lib.rs, settings.rs, app.rs and its verb.",
        offences,
    );
}

#[test]
fn services_hold_no_sql_no_amqp_and_no_http_client() {
    demand(
        "A service speaks to the outside through our crates only.",
        each(&files_below("services/"), outside_things),
    );
}

#[test]
fn a_crate_root_holds_modules_only() {
    demand(
        "lib.rs holds docs, modules and re-exports, no logic.",
        each(&rust_files(), shape::lib_with_logic),
    );
}

#[test]
fn every_file_opens_with_its_purpose() {
    let files = rust_files();
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let has_lib = |file: &SourceFile| {
        let lib = file.path.replace("src/main.rs", "src/lib.rs");
        paths.contains(lib.as_str())
    };
    demand(
        "A file opens with `//!` and what it is for; a crate root includes its README.",
        each(&files, |file| shape::opening(file, has_lib(file))),
    );
}

#[test]
fn files_and_lines_are_short() {
    let files = rust_files();
    let mut offences = each(&files, shape::long_file);
    offences.extend(each(&files, long_lines));
    demand(
        "A file that is no test has at most 400 lines, and any line at most 100 columns.",
        offences,
    );
}

#[test]
fn names_say_what_is_inside() {
    demand(
        "No mod.rs; nothing is called utils, common, helpers, misc, manager or types.",
        each(&rust_files(), shape::banned_name),
    );
}

#[test]
fn nothing_is_left_unfinished() {
    demand(
        "What is unfinished has an issue, not a note in the tree.",
        each(&text_files(), unfinished),
    );
}

#[test]
fn values_of_the_domain_have_constructors_that_can_refuse() {
    demand(
        "core has no tuple struct with a public field.",
        each(&files_below("crates/core/src/"), open_tuples),
    );
}

#[test]
fn sql_is_checked_when_it_is_built() {
    let mut files = files_below("crates/store/");
    files.retain(|file| !file.is_test());
    demand(
        "store writes its SQL in the checked macros, never as text.",
        but(SQL_TEXT, each(&files, unchecked_sql)),
    );
}

#[test]
fn money_is_moved_from_one_file() {
    let mut files = rust_files();
    files.retain(|file| !file.is_test());
    let calls = each(&files, operate_calls);
    let callers: BTreeSet<&str> = calls.iter().map(|call| call.file.as_str()).collect();
    assert!(
        callers.len() == 1
            && callers
                .iter()
                .all(|f| f.starts_with("services/credit-worker/")),
        "`operate` is called from exactly one file, in the credit-worker, and not from {callers:?}"
    );
}

#[test]
fn no_binary_fraction_comes_near_money() {
    demand(
        "f32 and f64 stand in metrics only, in the files allowed above with their reasons.",
        but(FLOATS, each(&rust_files(), floats)),
    );
}

#[test]
fn errors_are_taken_over_transparently_or_by_hand() {
    demand(
        "#[from] stands only on a transparent error.",
        each(&rust_files(), silent_conversions),
    );
}

#[test]
fn an_error_never_prints_its_source() {
    demand(
        "The message of an error says what failed; its source says why, in the chain.",
        each(&rust_files(), repeated_sources),
    );
}

#[test]
fn the_tree_names_no_machine_and_no_registry() {
    let files = text_files();
    let mut offences = each(&files, machine_paths);
    offences.extend(each(&files, registry_hosts));
    offences.retain(|offence| offence.file != "Cargo.lock");
    demand(
        "Paths of one machine and hosts of package registries stand nowhere but in Cargo.lock.",
        offences,
    );
}
