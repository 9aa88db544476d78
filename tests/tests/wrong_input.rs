//! Settings and arguments that are wrong: everything wrong is told at once, in words that help, by
//! an exit code that says whose fault it is. Nothing is bound before that, and nobody panics.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use claimcheck_lab::{SERVICES, binary};
use tokio::process::Command;

/// Longest time in which a process must have given up.
const LIMIT: Duration = Duration::from_secs(20);
/// Settings that every service takes.
const GOOD: &str = r#"
[admin]
listen = "127.0.0.1:0"
[database]
url = "postgres://u:topsecret@127.0.0.1:1/d"
[queue]
url = "amqp://u:topsecret@127.0.0.1:1/v"
[webhook-ingest]
listen = "127.0.0.1:0"
[cashier]
listen = "127.0.0.1:0"
[endpoints.stripe]
provider = "stripe"
secrets = ["whsec_aSecretOfTheEndpoint"]
[portal.main]
token = "aTokenOfThePortal1234"
[mt5.live-1]
url = "http://127.0.0.1:1"
manager = "1001"
password = "topsecret"
"#;

/// How a process ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    words: String,
}

impl Ended {
    /// Demands this exit code and every one of these words.
    fn demand(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.words.contains(word), "{word:?} is missing: {self:?}");
        }
    }
}

async fn run(name: &str, arguments: &[&str]) -> Ended {
    let empty = folder("empty");
    let mut command = Command::new(binary(name).expect("is built"));
    command.args(arguments).current_dir(empty).env_clear();
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output()).await;
    let output = output.expect("it ends by itself").expect("it starts");
    let ended = Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        words: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    for secret in [
        "panicked",
        "topsecret",
        "whsec_aSecret",
        "aTokenOfThePortal",
    ] {
        let is_told = ended.words.contains(secret) || ended.out.contains(secret);
        assert!(!is_told, "{secret} is told: {ended:?}");
    }
    ended
}

/// A folder of this test alone: tests may share a process, and processes a machine.
fn folder(name: &str) -> PathBuf {
    let test = std::thread::current();
    let test = test.name().unwrap_or("unnamed");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{test}-{}", std::process::id()))
        .join(name);
    fs::create_dir_all(&folder).expect("can be made");
    folder
}

fn settings(text: &str) -> String {
    let path = folder("settings").join("settings.toml");
    fs::write(&path, text).expect("can be written");
    path.display().to_string()
}

/// Starts a service with these settings.
async fn service(name: &str, text: &str) -> Ended {
    run(name, &["--settings", &settings(text)]).await
}

fn clean() {
    let own = folder("");
    fs::remove_dir_all(own).expect("can be removed");
}

#[tokio::test]
async fn every_service_takes_good_settings_and_lists_every_fault_of_bad_ones() {
    for member in SERVICES {
        let good = run(member.name, &["--check", "--settings", &settings(GOOD)]).await;
        good.demand(0, &[]);
        let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = taken.local_addr().expect("it has an address").port();
        let bad = GOOD
            .replace("postgres://u:topsecret@127.0.0.1:1/d", "")
            .replace("[admin]\n", "[admin]\ndrain_limit = \"soon\"\n")
            .replace("[portal.main]", "[databse]\nurl = \"x\"\n[portal.main]")
            .replace("127.0.0.1:0", &format!("127.0.0.1:{port}"));
        // A bound address would be the first thing told.
        let ended = service(member.name, &bad).await;
        ended.demand(
            64,
            &["database.url", "admin.drain_limit", "databse", "database?"],
        );
        assert!(!ended.words.contains("bound"), "{ended:?}");
        let lines = ended.words.lines().count();
        assert!(lines >= 3, "one line each: {ended:?}");
        assert_eq!(ended.out, "", "nothing was started: {ended:?}");
    }
    clean();
}

#[tokio::test]
async fn every_service_says_where_it_finds_no_settings() {
    for member in SERVICES {
        run(member.name, &[])
            .await
            .demand(64, &["admin.listen", "database.url"]);
        let missing = run(member.name, &["--settings", "/nowhere/at/all.toml"]).await;
        missing.demand(64, &["/nowhere/at/all.toml"]);
        let torn = service(member.name, "[admin\nlisten = 5").await;
        torn.demand(64, &["settings.toml"]);
        let typo = GOOD.replace("[admin]\n", "[admin]\nlisteen = \"127.0.0.1:0\"\n");
        let typo = service(member.name, &typo).await;
        typo.demand(64, &["admin.listeen", "unknown key", "listen?"]);
        run(member.name, &["--setings", "x"])
            .await
            .demand(2, &["--help"]);
    }
    clean();
}

#[tokio::test]
async fn a_lease_that_does_not_outlast_wait_call_and_margin_is_refused_with_both_figures() {
    let times = "[times]\nlease = \"9s\"\nqueue_wait = \"2s\"\ncall_timeout = \"5s\"\n\
        margin = \"2s\"\n";
    for name in ["credit-worker", "resolver"] {
        let equal = service(name, &format!("{GOOD}{times}")).await;
        equal.demand(64, &["(9s)", "lease", "queue_wait + call_timeout + margin"]);
        let shorter = times.replace("lease = \"9s\"", "lease = \"8s\"");
        let shorter = service(name, &format!("{GOOD}{shorter}")).await;
        shorter.demand(64, &["(8s)", "(9s)"]);
        let longer = times.replace("lease = \"9s\"", "lease = \"10s\"");
        let path = settings(&format!("{GOOD}{longer}"));
        run(name, &["--check", "--settings", &path])
            .await
            .demand(0, &[]);
    }
    clean();
}

#[tokio::test]
async fn a_secret_that_anybody_could_guess_is_refused() {
    let given = "[\"whsec_aSecretOfTheEndpoint\"]";
    for secrets in [
        "[]",
        "[\"\"]",
        "[\"whsec_\"]",
        "[\"whsec_aSecretOfTheEndpoint\", \"\"]",
    ] {
        let bad = GOOD.replace(given, secrets);
        assert_ne!(bad, GOOD);
        let ended = service("webhook-ingest", &bad).await;
        ended.demand(64, &["endpoints.stripe.secrets"]);
    }
    let unknown = GOOD.replace("provider = \"stripe\"", "provider = \"strype\"");
    let ended = service("webhook-ingest", &unknown).await;
    ended.demand(64, &["endpoints.stripe.provider", "strype", "stripe"]);
    let short = GOOD.replace("aTokenOfThePortal1234", "short");
    let ended = service("cashier", &short).await;
    ended.demand(64, &["portal", "16 characters"]);
    let none = GOOD.replace("token = \"aTokenOfThePortal1234\"", "token = \"\"");
    service("cashier", &none)
        .await
        .demand(64, &["portal.main.token"]);
    let nowhere = GOOD.replace(
        "password = \"topsecret\"",
        "password_file = \"/nowhere/password\"",
    );
    let ended = service("credit-worker", &nowhere).await;
    ended.demand(64, &["mt5.live-1.password", "/nowhere/password"]);
    clean();
}

/// Stands for a file of good settings.
const SETTINGS: &str = "SETTINGS";

/// Arguments, the exit code that they end with, and a word that a person is told.
const CASES: &[(&[&str], i32, &str)] = &[
    (&[], 2, "Usage"),
    (&["frobnicate"], 2, "frobnicate"),
    (&["operation", "show"], 2, "REFERENCE"),
    (&["case", "show", "seven"], 2, "seven"),
    (&["webhook", "verify"], 2, "--provider"),
    (
        &[
            "webhook",
            "verify",
            "--provider",
            "strype",
            "--secret",
            "x",
            "f",
        ],
        2,
        "stripe",
    ),
    (&["operation", "show", "dep:1-bbbbb"], 64, "--settings"),
    (&["case", "list"], 64, "--settings"),
    (&["migrate"], 64, "--settings"),
    (
        &["migrate", "--settings", "/nowhere/at/all.toml"],
        64,
        "/nowhere/at/all.toml",
    ),
    (
        &["operation", "show", "dep-1", "--settings", SETTINGS],
        1,
        "dep:48213-7kq2f",
    ),
    (
        &["operation", "show", "dep:1-bbbbb", "--settings", SETTINGS],
        1,
        "did not answer",
    ),
    (
        &["case", "list", "--settings", SETTINGS],
        1,
        "did not answer",
    ),
    (&["migrate", "--settings", SETTINGS], 1, "did not answer"),
    (
        &[
            "webhook",
            "verify",
            "--provider",
            "stripe",
            "--secret",
            "x",
            "/nowhere/body",
        ],
        1,
        "/nowhere/body",
    ),
    (
        &["webhook", "parse", "--provider", "stripe", "/nowhere/body"],
        1,
        "/nowhere/body",
    ),
    (
        &[
            "webhook",
            "sign",
            "--provider",
            "stripe",
            "--secret",
            "",
            "/nowhere/body",
        ],
        1,
        "",
    ),
    (
        &["webhook", "verify", "--request", "/nowhere/requests"],
        1,
        "/nowhere/requests",
    ),
];

#[tokio::test]
async fn the_command_line_tells_wrong_use_a_no_and_bad_settings_apart() {
    let database = settings(GOOD);
    for (arguments, code, word) in CASES {
        let given = arguments.iter().map(|one| match *one {
            SETTINGS => database.as_str(),
            other => other,
        });
        let ended = run("claimcheck", &given.collect::<Vec<_>>()).await;
        assert_eq!(ended.code, Some(*code), "{arguments:?}: {ended:?}");
        assert!(ended.words.contains(word), "{arguments:?}: {ended:?}");
        assert!(
            !ended.words.is_empty(),
            "{arguments:?}: a person is told why"
        );
    }
    clean();
}

#[tokio::test]
async fn the_command_line_reads_any_bytes_without_a_panic() {
    let path = folder("bytes").join("body");
    let shown = path.display().to_string();
    let bodies: [&[u8]; 6] = [b"", b"\xff\xfe\x00", b"{", b"[]", b"null", &[b'['; 100_000]];
    for body in bodies {
        fs::write(&path, body).expect("can be written");
        for provider in ["stripe", "standard_webhooks"] {
            let secret = "whsec_2B8FQUvxmJ27aX6HoikpVzqdMSNTnoXh";
            let parse = ["webhook", "parse", "--provider", provider, &shown];
            run("claimcheck", &parse).await.demand(1, &[]);
            let verify = [
                "webhook",
                "verify",
                "--provider",
                provider,
                "--secret",
                secret,
                &shown,
            ];
            let ended = run("claimcheck", &verify).await;
            ended.demand(1, &[]);
            assert!(ended.out.contains("missing_signature"), "{ended:?}");
        }
        for command in ["verify", "parse"] {
            let request = ["webhook", command, "--request", &shown];
            let code = run("claimcheck", &request).await.code;
            assert!(matches!(code, Some(0 | 1)), "{code:?}");
        }
    }
    clean();
}
