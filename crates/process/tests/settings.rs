//! Settings as an operator meets them: what is understood, and every sentence about what is not.

use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

use claimcheck_process::{Faults, Reader};
use secrecy::{ExposeSecret, SecretString};

const NO_ENVIRONMENT: [(&str, &str); 0] = [];

/// A directory of its own for one test, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Self {
        let name = format!("claimcheck-settings-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file for the test");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Opens `content` as a settings file, reads it, and shows the faults with the file's path short.
fn judge<S>(
    test: &str,
    content: &str,
    environment: &[(&str, &str)],
    read: impl FnOnce(&mut Reader) -> Option<S>,
) -> Result<S, Vec<String>> {
    let directory = Directory::new(test);
    let path = directory.file("claimcheck.toml", content.as_bytes());
    let shorten = |faults: &Faults| -> Vec<String> {
        let directory = format!("{}/", directory.0.display());
        faults
            .to_string()
            .lines()
            .map(|line| line.replace(&directory, ""))
            .collect()
    };
    let mut reader = Reader::open(Some(&path), environment.iter().copied())
        .map_err(|faults| shorten(&faults))?;
    let settings = read(&mut reader);
    reader.finish(settings).map_err(|faults| shorten(&faults))
}

fn exposed(secret: &SecretString) -> &str {
    secret.expose_secret()
}

#[test]
fn every_kind_of_value_is_read() {
    let content = r#"
        [runtime]
        threads = 4
        [queue]
        hosts = ["one", "two"]
        durable = false
        [admin]
        listen = "[::1]:9000"
        [resolver]
        tick = "250ms"
        mode = "slow"
        name = "r"
        [cashier]
        unknown = "not read by this service"
    "#;
    let read = judge("kinds", content, &[], |reader| {
        assert_eq!(reader.integer("runtime.threads", 1..=8), Some(4));
        assert_eq!(
            reader.texts("queue.hosts"),
            Some(vec!["one".to_owned(), "two".to_owned()])
        );
        assert_eq!(reader.flag_or("queue.durable", true), Some(false));
        assert_eq!(reader.flag_or("queue.other", true), Some(true));
        assert_eq!(
            reader.address("admin.listen").map(|a| a.to_string()),
            Some("[::1]:9000".into())
        );
        assert_eq!(
            reader.duration("resolver.tick"),
            Some(Duration::from_millis(250))
        );
        let hour = Duration::from_secs(3_600);
        assert_eq!(reader.duration_or("resolver.tock", hour), Some(hour));
        assert_eq!(
            reader.choice("resolver.mode", &["fast", "slow"]),
            Some("slow")
        );
        assert_eq!(reader.text_or("resolver.name", "x").as_deref(), Some("r"));
        assert_eq!(reader.text_or("resolver.title", "x").as_deref(), Some("x"));
        assert_eq!(reader.optional_text("resolver.nothing"), None);
        assert_eq!(
            reader.parsed("resolver.name", str::parse::<char>),
            Some('r')
        );
        Some(())
    });
    assert_eq!(read, Ok(()));
}

#[test]
fn every_fault_is_listed_at_once_with_its_place_and_remedy() {
    let content = r#"
        [runtime]
        threads = 0
        [admin]
        listen = "localhost"
        [resolver]
        tick = 5
        tock = "5 parsecs"
        mode = "sideways"
        tikc = "1s"
        [databse]
        url = "postgres://somewhere"
    "#;
    let environment = [
        ("CLAIMCHECK__RESOLVER__TOK", "1s"),
        ("CLAIMCHECK__RESOLVERS__TICK", "1s"),
        ("CLAIMCHECK__TICK", "1s"),
        ("CLAIMCHECK__QUEUE__PREFETCH", "many"),
        ("CLAIMCHECK__CASHIER__ANYTHING", "not read by this service"),
        ("CLAIMCHECK_SETTINGS", "not a setting"),
        ("PATH", "/usr/bin"),
    ];
    let faults = judge("all", content, &environment, |reader| {
        let threads = reader.integer_or("runtime.threads", 1..=64, 2);
        let listen = reader.address("admin.listen");
        let tick = reader.duration("resolver.tick");
        reader.duration("resolver.tock");
        reader.choice("resolver.mode", &["up", "down"]);
        reader.integer("queue.prefetch", 1..=u64::MAX);
        reader.secret("database.url");
        reader.fault(
            "resolver.tick",
            "is longer than times.lease; make it shorter",
        );
        Some((threads?, listen?, tick?))
    });
    let expected = [
        "CLAIMCHECK__TICK: names no setting; write CLAIMCHECK__SECTION__KEY",
        "runtime.threads: is not a whole number in the allowed range (in claimcheck.toml); \
         give a number from 1 to 64",
        "admin.listen: \"localhost\" is not an address with a port (in claimcheck.toml); \
         write it like 127.0.0.1:8080 or [::]:8080",
        "resolver.tick: is a bare number (in claimcheck.toml); \
         write it with a unit: \"250ms\", \"5s\", \"2m\", \"1h\"",
        "resolver.tock: \"5 parsecs\" is not a whole number with a unit (in claimcheck.toml); \
         write it with a unit: \"250ms\", \"5s\", \"2m\", \"1h\"",
        "resolver.mode: \"sideways\" is no choice here (in claimcheck.toml); \
         choose one of up, down",
        "queue.prefetch: is not a whole number in the allowed range \
         (in CLAIMCHECK__QUEUE__PREFETCH); give 1 or more",
        "database.url: is missing; set it in claimcheck.toml or as CLAIMCHECK__DATABASE__URL",
        "resolver.tick: is longer than times.lease (in claimcheck.toml); make it shorter",
        "databse: is an unknown section (in claimcheck.toml); did you mean database?",
        "resolver.tikc: is an unknown key (in claimcheck.toml); did you mean tick?",
        "CLAIMCHECK__RESOLVER__TOK: is an unknown key; did you mean tock?",
        "CLAIMCHECK__RESOLVERS__TICK: is an unknown section; did you mean resolver?",
    ];
    assert_eq!(faults.expect_err("faults"), expected);
}

#[test]
fn the_environment_wins_over_the_file() {
    let content = r#"
        [credit-worker]
        tick = "1s"
        batch = 10
        [mt5.live-1]
        url = "http://file"
        [queue]
        durable = true
        hosts = ["file"]
    "#;
    let environment = [
        ("CLAIMCHECK__CREDIT_WORKER__TICK", "2s"),
        ("claimcheck__credit-worker__batch", "20"),
        ("CLAIMCHECK__MT5__LIVE_1__URL", "http://environment"),
        ("CLAIMCHECK__MT5__DEMO_9__URL", "http://new"),
        ("CLAIMCHECK__QUEUE__DURABLE", "false"),
        ("CLAIMCHECK__QUEUE__HOSTS", "one, two"),
    ];
    let read = judge("over", content, &environment, |reader| {
        assert_eq!(
            reader.duration("credit-worker.tick"),
            Some(Duration::from_secs(2))
        );
        assert_eq!(reader.integer("credit-worker.batch", 1..=100), Some(20));
        assert_eq!(reader.names("mt5"), ["demo-9", "live-1"]);
        assert_eq!(
            reader.text("mt5.live-1.url").as_deref(),
            Some("http://environment")
        );
        assert_eq!(reader.text("mt5.demo-9.url").as_deref(), Some("http://new"));
        assert_eq!(reader.flag_or("queue.durable", true), Some(false));
        assert_eq!(
            reader.texts("queue.hosts"),
            Some(vec!["one".to_owned(), "two".to_owned()])
        );
        Some(())
    });
    assert_eq!(read, Ok(()));
}

#[test]
fn two_variables_for_one_setting_are_a_fault() {
    let environment = [
        ("CLAIMCHECK__RESOLVER__TICK", "1s"),
        ("claimcheck__resolver__tick", "2s"),
    ];
    let faults = judge("twice", "", &environment, |reader| {
        reader.duration("resolver.tick")
    });
    let expected = "claimcheck__resolver__tick: names the same setting as \
                    CLAIMCHECK__RESOLVER__TICK; keep one of the two";
    assert_eq!(faults, Err(vec![expected.to_owned()]));
}

#[test]
fn a_name_with_other_signs_is_a_fault() {
    let content = "[endpoints.\"Stripe.eu\"]\n[endpoints.stripe]\n";
    let faults = judge("name", content, &[], |reader| {
        Some(reader.names("endpoints"))
    });
    let expected = "endpoints.\"Stripe.eu\": is no usable name (in claimcheck.toml); \
                    use a-z, 0-9, - and _ only";
    assert_eq!(faults, Err(vec![expected.to_owned()]));
}

#[test]
fn a_key_of_another_service_in_a_shared_section_can_be_made_known() {
    let content = "[mt5]\ncall_timeout = \"5s\"\nlook_window = \"1h\"\n";
    let read = |also: bool| {
        move |reader: &mut Reader| {
            if also {
                reader.also_known("mt5.look_window");
            }
            reader.duration("mt5.call_timeout")
        }
    };
    assert_eq!(
        judge("also", content, &[], read(true)),
        Ok(Duration::from_secs(5))
    );
    assert!(judge("not-also", content, &[], read(false)).is_err());
}

#[test]
fn a_file_that_is_no_toml_is_named_by_line_and_never_quoted() {
    let content = "[database]\nurl = \"postgres://u:hunter2@h/d\" hunter2\n";
    let faults = judge("toml", content, &[], |_| Some(()));
    let expected = "claimcheck.toml: is not TOML from line 2 on; correct that line";
    assert_eq!(faults, Err(vec![expected.to_owned()]));

    let missing = std::path::Path::new("/nowhere/claimcheck.toml");
    let faults = Reader::open(Some(missing), NO_ENVIRONMENT).expect_err("no such file");
    let text = faults.to_string();
    assert!(
        text.starts_with("/nowhere/claimcheck.toml: cannot be read: No such file"),
        "{text}"
    );
}

#[test]
fn secrets_come_inline_or_from_files_and_lose_their_last_line_break() {
    let directory = Directory::new("secrets");
    let one = directory.file("one", b"from file one\n");
    let two = directory.file("two", b"first\nsecond\r\n\n");
    let content = format!(
        r#"
        [database]
        inline = "here"
        table = {{ file = {one:?} }}
        beside_file = {one:?}
        over = "in the file"
        [endpoints.stripe]
        secrets = ["a", {{ file = {one:?} }}]
        lines_file = {two:?}
        from_variable = ["file"]
        "#
    );
    let one = one.display().to_string();
    let environment = [
        ("CLAIMCHECK__DATABASE__VARIABLE__FILE", one.as_str()),
        ("CLAIMCHECK__DATABASE__OVER_FILE", one.as_str()),
        (
            "CLAIMCHECK__ENDPOINTS__STRIPE__FROM_VARIABLE",
            r#"["x,1", "y"]"#,
        ),
        ("CLAIMCHECK__ENDPOINTS__STRIPE__SINGLE", "x,1"),
    ];
    let read = judge("secrets", &content, &environment, |reader| {
        let table = [
            ("inline", "here"),
            ("table", "from file one"),
            ("beside", "from file one"),
            ("variable", "from file one"),
            ("over", "from file one"),
        ];
        for (key, expected) in table {
            let secret = reader.secret(&format!("database.{key}"));
            assert_eq!(secret.as_ref().map(exposed), Some(expected), "{key}");
        }
        assert!(reader.optional_secret("database.absent").is_none());
        let lists: BTreeMap<&str, &[&str]> = BTreeMap::from([
            ("secrets", ["a", "from file one"].as_slice()),
            ("lines", &["first", "second"]),
            ("from_variable", &["x,1", "y"]),
            ("single", &["x,1"]),
        ]);
        for (key, expected) in lists {
            let secrets = reader
                .secrets(&format!("endpoints.stripe.{key}"))
                .unwrap_or_default();
            assert_eq!(
                secrets.iter().map(exposed).collect::<Vec<_>>(),
                expected,
                "{key}"
            );
        }
        Some(())
    });
    assert_eq!(read, Ok(()));
}

#[test]
fn no_fault_about_a_secret_prints_any_of_it() {
    let directory = Directory::new("hidden");
    let empty = directory.file("empty", b"\n");
    let binary = directory.file("binary", b"hunter2\xff\xfe");
    let content = format!(
        r#"
        [database]
        empty = ""
        number = 4242424242
        list = ["hunter2"]
        other = {{ path = "hunter2" }}
        more = {{ file = {empty:?}, hunter = "hunter2" }}
        binary = {{ file = {binary:?} }}
        missing = {{ file = "/nowhere/secret" }}
        both = "hunter2"
        both_file = {empty:?}
        [endpoints.stripe]
        text = "hunter2"
        none = []
        mixed = ["hunter2", 4242424242, ""]
        "#
    );
    let environment = [("CLAIMCHECK__ENDPOINTS__STRIPE__BROKEN", "[\"hunter2\"")];
    let faults = judge::<()>("hidden", &content, &environment, |reader| {
        let one = [
            "empty", "number", "list", "other", "more", "binary", "missing", "both",
        ];
        for key in one {
            assert!(reader.secret(&format!("database.{key}")).is_none(), "{key}");
        }
        for key in ["text", "none", "mixed", "broken", "absent"] {
            assert!(
                reader.secrets(&format!("endpoints.stripe.{key}")).is_none(),
                "{key}"
            );
        }
        None
    });
    let text = faults.expect_err("faults").join("\n");
    for part in ["hunter2", "4242424242"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
    for part in [
        "database.empty: is empty",
        "database.number: is not a text",
        "database.list: is not a text",
        "database.other: names no file",
        "database.more: the file empty is empty",
        "database.binary: the file binary cannot be read: it is not UTF-8",
        "/nowhere/secret cannot be read: No such file",
        "database.both: is given as a value and as a file",
        "endpoints.stripe.text: is not a list",
        "endpoints.stripe.none: is an empty list",
        "endpoints.stripe.mixed: is not a text",
        "endpoints.stripe.mixed: is empty",
        "endpoints.stripe.broken: is not a list",
        "endpoints.stripe.absent: is missing",
        "database.other.path: is an unknown key",
        "database.more.hunter: is an unknown key",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}
