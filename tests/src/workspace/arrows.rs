//! Who may import whom. The tables here are the architecture; a new crate or service is entered
//! here, on purpose, or it does not build a release.

use toml::Value;

use super::Offence;
use super::manifest::{Dependency, Manifest, OURS, Use};

/// Everything of ours that the package may import; `*` is all but services.
const ARROWS: &[(&str, &[&str])] = &[
    ("claimcheck-core", &[]),
    ("claimcheck-process", &[]),
    ("claimcheck-api", &[]),
    ("claimcheck-sim", &[]),
    ("claimcheck-store", &["core"]),
    ("claimcheck-queue", &["core"]),
    ("claimcheck-mt5", &["core"]),
    ("claimcheck-providers", &["core"]),
    ("claimcheck-payouts", &["core"]),
    (
        "claimcheck-sections",
        &["core", "mt5", "process", "queue", "store"],
    ),
    (
        "claimcheck-lab",
        &["core", "process", "providers", "sim", "store"],
    ),
    (
        "claimcheck-cli",
        &["core", "process", "providers", "sections", "sim", "store"],
    ),
    ("claimcheck-tests", &["*"]),
    (
        "webhook-ingest",
        &[
            "api",
            "core",
            "process",
            "providers",
            "queue",
            "sections",
            "store",
        ],
    ),
    (
        "credit-worker",
        &["core", "mt5", "process", "queue", "sections", "store"],
    ),
    (
        "resolver",
        &["core", "mt5", "process", "queue", "sections", "store"],
    ),
    (
        "reconciler",
        &[
            "core",
            "mt5",
            "process",
            "providers",
            "queue",
            "sections",
            "store",
        ],
    ),
    (
        "provider-sync",
        &["core", "process", "providers", "queue", "sections", "store"],
    ),
    (
        "cashier",
        &["api", "core", "process", "queue", "sections", "store"],
    ),
    (
        "payout-worker",
        &["core", "payouts", "process", "queue", "sections", "store"],
    ),
    (
        "backoffice",
        &[
            "api", "core", "mt5", "process", "queue", "sections", "store",
        ],
    ),
];

/// What tests of any package may import beside, the pure ones excepted.
const FOR_TESTS: &[&str] = &["lab", "process", "sim"];
/// The packages that import nothing of ours, not even in tests.
const PURE: &[&str] = &["claimcheck-core", "claimcheck-process"];

/// Packages of others that only these may import; with `true`, not even tests elsewhere may.
const OWNERS: &[(&str, &[&str], bool)] = &[
    ("sqlx", &["claimcheck-store"], true),
    ("lapin", &["claimcheck-queue"], true),
    (
        "opentelemetry-proto",
        &["claimcheck-process", "claimcheck-tests"],
        true,
    ),
    ("opentelemetry*", &["claimcheck-process"], true),
    ("tracing-opentelemetry", &["claimcheck-process"], true),
    (
        "reqwest",
        &["claimcheck-lab", "claimcheck-cli", "claimcheck-tests"],
        false,
    ),
    ("hyper*", &["claimcheck-mt5", "claimcheck-sim"], false),
    (
        "http-body-util",
        &["claimcheck-mt5", "claimcheck-sim"],
        false,
    ),
    ("md-5", &["claimcheck-mt5", "claimcheck-sim"], false),
];

/// All that the domain stands on.
const CORE_STANDS_ON: &[&str] = &["rust_decimal", "thiserror", "time"];
/// The feature that can move money, its package, and the only one that may enable it.
const OPERATE: (&str, &str, &str) = ("operate", "claimcheck-mt5", "credit-worker");

/// Imports of ours against the arrows.
#[must_use]
pub fn against_arrows(member: &Manifest) -> Vec<Offence> {
    let name = member.name();
    let Some((_, allowed)) = ARROWS.iter().find(|(package, _)| *package == name) else {
        let found = format!("{name} has no arrows yet; enter what it may import");
        return vec![member.offence("name", found)];
    };
    let is_ours =
        |dependency: &Dependency| dependency.name.starts_with(OURS) || is_service(&dependency.name);
    let may = |dependency: &Dependency| {
        let Some(short) = dependency.name.strip_prefix(OURS) else {
            return false;
        };
        let in_tests = dependency.purpose == Use::Tests && !PURE.contains(&name);
        allowed.contains(&short)
            || allowed.contains(&"*")
            || (in_tests && FOR_TESTS.contains(&short))
    };
    member
        .dependencies()
        .into_iter()
        .filter(|dependency| is_ours(dependency) && !may(dependency))
        .map(|d| member.offence(&d.name, format!("{name} may not import {}", d.name)))
        .collect()
}

/// Imports of others' packages outside the crate that owns them.
#[must_use]
pub fn against_owners(member: &Manifest) -> Vec<Offence> {
    let owner_of = |dependency: &Dependency| {
        OWNERS.iter().find(|(package, _, _)| {
            package
                .strip_suffix('*')
                .map_or(dependency.name == *package, |p| {
                    dependency.name.starts_with(p)
                })
        })
    };
    let is_wrong = |dependency: &Dependency| {
        owner_of(dependency).is_some_and(|(_, owners, also_tests)| {
            !owners.contains(&member.name()) && (*also_tests || dependency.purpose == Use::Shipped)
        })
    };
    member
        .dependencies()
        .into_iter()
        .filter(is_wrong)
        .map(|d| {
            member.offence(
                &d.name,
                format!("{} may not import {}", member.name(), d.name),
            )
        })
        .collect()
}

/// What the domain stands on beside exactly what it may.
#[must_use]
pub fn domain_stands_on(member: &Manifest) -> Vec<Offence> {
    if member.name() != "claimcheck-core" {
        return Vec::new();
    }
    let mut shipped: Vec<String> = member
        .dependencies()
        .into_iter()
        .filter(|dependency| dependency.purpose == Use::Shipped)
        .map(|dependency| dependency.name)
        .collect();
    shipped.sort();
    if shipped == CORE_STANDS_ON {
        return Vec::new();
    }
    vec![member.offence("[dependencies", format!("the domain stands on {shipped:?}"))]
}

/// Places that give anyone but the credit-worker the power to move money.
#[must_use]
pub fn power_elsewhere(manifest: &Manifest) -> Vec<Offence> {
    let (feature, package, holder) = OPERATE;
    let enables = |entry: &Value| {
        let features = entry.get("features").and_then(Value::as_array);
        features.is_some_and(|list| list.iter().any(|f| f.as_str() == Some(feature)))
    };
    let mut offences = Vec::new();
    if manifest.name() != holder {
        offences.extend(
            manifest
                .dependencies()
                .iter()
                .filter(|dependency| dependency.name == package && enables(&dependency.entry))
                .map(|d| manifest.offence(&d.name, format!("enables {feature} of {package}"))),
        );
    }
    let shared = manifest.section("workspace");
    let declared = shared.get("dependencies").and_then(|d| d.get(package));
    if declared.is_some_and(enables) {
        offences.push(manifest.offence(package, format!("enables {feature} for everyone")));
    }
    for (name, list) in manifest.section("features") {
        let through = format!("{package}/{feature}");
        let gives = list.as_array().is_some_and(|list| {
            let own = manifest.name() == package;
            list.iter()
                .filter_map(Value::as_str)
                .any(|entry| entry.replace('?', "") == through || (own && entry == feature))
        });
        if gives {
            offences.push(manifest.offence(&name, format!("{name} switches {feature} on")));
        }
    }
    offences
}

fn is_service(package: &str) -> bool {
    let mut names = ARROWS.iter().map(|(name, _)| *name);
    names.any(|name| name == package && !name.starts_with(OURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, rest: &str) -> Manifest {
        let text = format!("[package]\nname = \"{name}\"\n{rest}");
        Manifest::parse("crates/a/Cargo.toml", &text)
    }

    fn count(check: fn(&Manifest) -> Vec<Offence>, name: &str, rest: &str) -> usize {
        check(&member(name, rest)).len()
    }

    #[test]
    fn an_import_against_the_arrows_is_found() {
        for (name, section, import, is_good) in [
            ("claimcheck-store", "dependencies", "claimcheck-core", true),
            (
                "claimcheck-store",
                "dependencies",
                "claimcheck-queue",
                false,
            ),
            (
                "claimcheck-store",
                "build-dependencies",
                "claimcheck-queue",
                false,
            ),
            ("claimcheck-mt5", "dependencies", "claimcheck-sim", false),
            ("claimcheck-mt5", "dev-dependencies", "claimcheck-sim", true),
            (
                "claimcheck-core",
                "dev-dependencies",
                "claimcheck-sim",
                false,
            ),
            (
                "claimcheck-process",
                "dependencies",
                "claimcheck-core",
                false,
            ),
            ("cashier", "dependencies", "claimcheck-mt5", false),
            ("cashier", "dependencies", "claimcheck-lab", false),
            ("cashier", "dependencies", "resolver", false),
            ("cashier", "dev-dependencies", "resolver", false),
            ("claimcheck-tests", "dependencies", "claimcheck-lab", true),
            ("claimcheck-tests", "dependencies", "resolver", false),
            ("newcomer", "dependencies", "serde", false),
        ] {
            let rest = format!("[{section}]\n{import}.workspace = true\n");
            let offences = count(against_arrows, name, &rest);
            assert_eq!(offences == 0, is_good, "{name} {section} {import}");
        }
    }

    #[test]
    fn an_outside_thing_in_the_wrong_crate_is_found() {
        for (name, section, import, is_good) in [
            ("claimcheck-store", "dependencies", "sqlx", true),
            ("cashier", "dependencies", "sqlx", false),
            ("cashier", "dev-dependencies", "sqlx", false),
            ("claimcheck-tests", "dependencies", "lapin", false),
            ("claimcheck-queue", "dependencies", "opentelemetry", false),
            (
                "claimcheck-tests",
                "dependencies",
                "opentelemetry-proto",
                true,
            ),
            (
                "claimcheck-tests",
                "dependencies",
                "opentelemetry_sdk",
                false,
            ),
            ("claimcheck-mt5", "dependencies", "reqwest", false),
            ("claimcheck-queue", "dev-dependencies", "reqwest", true),
            ("resolver", "dependencies", "hyper-util", false),
        ] {
            let rest = format!("[{section}]\n{import}.workspace = true\n");
            let offences = count(against_owners, name, &rest);
            assert_eq!(offences == 0, is_good, "{name} {section} {import}");
        }
    }

    #[test]
    fn a_domain_that_stands_on_more_is_found() {
        let three = "[dependencies]\nrust_decimal = \"1\"\ntime = \"1\"\nthiserror = \"2\"\n";
        assert_eq!(count(domain_stands_on, "claimcheck-core", three), 0);
        let four = format!("{three}serde = \"1\"\n");
        assert_eq!(count(domain_stands_on, "claimcheck-core", &four), 1);
        assert_eq!(count(domain_stands_on, "claimcheck-core", ""), 1);
    }

    #[test]
    fn the_power_to_move_money_is_found_wherever_it_is_given() {
        let enables = "[dev-dependencies]\nclaimcheck-mt5 = { features = [\"operate\"] }\n";
        assert_eq!(count(power_elsewhere, "credit-worker", enables), 0);
        assert_eq!(count(power_elsewhere, "resolver", enables), 1);
        let through = "[features]\nfull = [\"claimcheck-mt5/operate\"]\n";
        assert_eq!(count(power_elsewhere, "claimcheck-sections", through), 1);
        let always = "[features]\ndefault = [\"operate\"]\noperate = []\n";
        assert_eq!(count(power_elsewhere, "claimcheck-mt5", always), 1);
        let shared = "[workspace.dependencies]\nclaimcheck-mt5 = { features = [\"operate\"] }\n";
        assert_eq!(count(power_elsewhere, "", shared), 1);
    }
}
