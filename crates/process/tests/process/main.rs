//! The example service as a real process: how it starts, refuses, is watched, and ends.

mod child;
mod collector;

use std::time::{Duration, Instant};

use serde_json::Value;

use self::{
    child::{Child, SETTINGS, run_to_end},
    collector::{Collector, Manner},
};

/// The longest that any ending may take on a loaded machine: the two flush limits and some air.
const END_LIMIT: Duration = Duration::from_secs(8);

#[test]
fn bad_settings_list_every_fault_and_end_with_64() {
    let settings = "[resolver]\nmode = \"wrong\"\ntick = 5\n[databse]\nurl = \"x\"\n";
    let end = run_to_end(Some(settings), &[], &[]);
    assert_eq!(end.code, Some(64));
    assert_eq!(end.stdout, "");
    let lines: Vec<_> = end.stderr.lines().collect();
    let begins = [
        "settings: admin.listen: is missing; ",
        "settings: resolver.mode: \"wrong\" is no choice here (in ",
        "settings: database.url: is missing; ",
        "settings: resolver.tick: is a bare number (in ",
        "settings: databse: is an unknown section (in ",
    ];
    assert_eq!(lines.len(), begins.len(), "{lines:?}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
    let end = run_to_end(None, &["--settings", "/nowhere/file.toml"], &[]);
    assert_eq!(end.code, Some(64));
    assert!(
        end.stderr
            .starts_with("settings: /nowhere/file.toml: cannot be read"),
        "{end:?}"
    );
}

#[test]
fn wrong_use_ends_with_2_and_questions_are_answered() {
    let end = run_to_end(None, &["--sttings", "x"], &[]);
    assert_eq!(end.code, Some(2));
    assert_eq!(
        end.stderr,
        "shell: unknown argument \"--sttings\"; see shell --help\n"
    );
    let end = run_to_end(None, &["--help"], &[]);
    assert_eq!(
        (end.code, end.stdout.starts_with("Usage: shell ")),
        (Some(0), true)
    );
    let end = run_to_end(None, &["--version"], &[]);
    assert_eq!(end.stdout, format!("shell {}\n", env!("CARGO_PKG_VERSION")));
    let end = run_to_end(Some(SETTINGS), &["--check"], &[]);
    assert_eq!(
        (end.code, end.stdout.as_str()),
        (Some(0), "the settings are good\n")
    );
}

#[test]
fn settings_may_come_from_the_environment_alone() {
    let environment = [
        ("CLAIMCHECK__ADMIN__LISTEN", "127.0.0.1:0"),
        ("CLAIMCHECK__DATABASE__URL", "hunter2"),
        ("CLAIMCHECK__RESOLVER__MODE", "end"),
    ];
    let end = run_to_end(None, &[], &environment);
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(!end.stdout.contains("hunter2"));
}

#[test]
fn it_answers_on_the_admin_port_and_ends_with_0_on_either_signal() {
    for signal in ["TERM", "INT"] {
        let mut child = Child::start(SETTINGS, &[]);
        child.wait_ready();
        assert_eq!(child.get("/livez").0, 200);
        let (status, ready) = child.get("/readyz");
        assert_eq!(status, 200);
        assert!(ready.contains("\"ready\":true"), "{ready}");
        let (status, metrics) = child.get("/metrics");
        assert_eq!(status, 200);
        assert!(
            metrics.contains("claimcheck_build_info{service=\"shell\""),
            "{metrics}"
        );
        assert!(
            metrics.contains("claimcheck_log_lines_dropped_total 0"),
            "{metrics}"
        );
        assert_eq!(
            child.get("/nothing"),
            (404, "{\"code\":\"not_found\"}".to_owned())
        );
        let (status, answer) = child.ask("POST", "/livez");
        assert_eq!(
            (status, answer.as_str()),
            (405, "{\"code\":\"method_not_allowed\"}")
        );
        child.signal(signal);
        let end = child.end(END_LIMIT);
        assert_eq!(end.code, Some(0), "{end:?}");
        assert_eq!(end.stderr, "");
    }
}

#[test]
fn every_line_is_json_and_one_trace_goes_through_them() {
    let environment = [("CLAIMCHECK__RESOLVER__MODE", "end")];
    let end = run_to_end(Some(SETTINGS), &[], &environment);
    let lines: Vec<Value> = end
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    let find = |message: &str| {
        lines
            .iter()
            .find(|line| line["message"] == message)
            .expect("the line is there")
    };
    let (first, second) = (find("first"), find("second"));
    assert_eq!(first["trace_id"].as_str().map(str::len), Some(32));
    assert_eq!(first["trace_id"], second["trace_id"]);
    assert_ne!(first["span_id"], second["span_id"]);
    assert_eq!(first["service"], "shell");
    assert_eq!(find("stopped")["level"], "INFO");
}

#[test]
fn a_failing_app_says_why_once_and_ends_with_1() {
    let end = run_to_end(
        Some(SETTINGS),
        &[],
        &[("CLAIMCHECK__RESOLVER__MODE", "fail")],
    );
    assert_eq!(end.code, Some(1));
    assert_eq!(
        end.stdout.matches("outer failure: inner cause").count(),
        1,
        "{end:?}"
    );
}

#[test]
fn a_taken_admin_port_is_said_and_ends_with_1() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let end = run_to_end(
        Some(SETTINGS),
        &[],
        &[("CLAIMCHECK__ADMIN__LISTEN", &address)],
    );
    assert_eq!(end.code, Some(1));
    assert!(
        end.stdout
            .contains(&format!("the admin port {address} cannot be opened")),
        "{end:?}"
    );
}

#[test]
fn a_panicked_task_ends_the_process() {
    let end = run_to_end(
        Some(SETTINGS),
        &[],
        &[("CLAIMCHECK__RESOLVER__MODE", "panic")],
    );
    assert_eq!(end.code, Some(101));
    assert!(end.stderr.contains("the invariant"), "{end:?}");
    assert!(end.stdout.contains("panicked; the process ends"), "{end:?}");
}

#[test]
fn an_app_that_does_not_stop_is_ended_with_1_at_the_drain_limit() {
    for mode in ["stuck", "blocked"] {
        let environment = [
            ("CLAIMCHECK__RESOLVER__MODE", mode),
            ("CLAIMCHECK__ADMIN__DRAIN_LIMIT", "300ms"),
            ("CLAIMCHECK__RUNTIME__THREADS", "1"),
        ];
        let mut child = Child::start(SETTINGS, &environment);
        child.wait_ready();
        child.signal("TERM");
        let end = child.end(END_LIMIT);
        assert_eq!(end.code, Some(1), "{mode}: {end:?}");
        assert!(
            end.stdout.contains("did not end within the drain limit"),
            "{mode}: {end:?}"
        );
    }
}

#[test]
fn readiness_is_false_while_it_drains_and_while_a_check_fails() {
    let mut child = Child::start(SETTINGS, &[("CLAIMCHECK__ADMIN__DRAIN_PAUSE", "2s")]);
    child.wait_ready();
    child.signal("TERM");
    child.wait_for("draining", |child| {
        let (status, answer) = child.get("/readyz");
        status == 503 && answer.contains("\"draining\":true")
    });
    assert_eq!(child.end(END_LIMIT).code, Some(0));

    let mut child = Child::start(SETTINGS, &[("CLAIMCHECK__RESOLVER__MODE", "unready")]);
    child.wait_for("the failing check", |child| {
        let (status, answer) = child.get("/readyz");
        status == 503 && answer.contains("\"not_ready\":{\"example\":\"never\"}")
    });
    assert_eq!(child.get("/livez").0, 200);
    child.signal("TERM");
    assert_eq!(child.end(END_LIMIT).code, Some(0));
}

#[test]
fn a_reader_that_does_not_read_the_log_stops_neither_the_work_nor_the_end() {
    let mut child = Child::start_unread(SETTINGS, &[("CLAIMCHECK__RESOLVER__MODE", "chatter")]);
    child.wait_for("dropped lines", |child| {
        let metrics = child.get("/metrics").1;
        let count = metrics.lines().find_map(|line| {
            line.strip_prefix("claimcheck_log_lines_dropped_total ")?
                .parse::<u64>()
                .ok()
        });
        count.is_some_and(|count| count > 0)
    });
    child.signal("TERM");
    assert_eq!(child.end(END_LIMIT).code, Some(0));
}

#[test]
fn spans_reach_the_collector_with_their_parent_across_the_trace_parent() {
    let collector = Collector::start(Manner::Answer);
    let endpoint = collector.address();
    let environment = [
        ("CLAIMCHECK__RESOLVER__MODE", "end"),
        ("CLAIMCHECK__TELEMETRY__OTLP_ENDPOINT", endpoint.as_str()),
    ];
    let end = run_to_end(Some(SETTINGS), &[], &environment);
    assert_eq!(end.code, Some(0));
    let spans = collector.spans();
    let find = |name: &str| {
        spans
            .iter()
            .find(|(_, span)| span.name == name)
            .expect("the span has arrived")
    };
    let (service, first) = find("shell.first");
    let (_, second) = find("shell.second");
    assert_eq!(service, "shell");
    assert_eq!(first.trace_id, second.trace_id);
    assert_eq!(first.span_id, second.parent_span_id);
    assert!(first.parent_span_id.is_empty());
}

#[test]
fn a_collector_that_is_silent_or_down_does_not_hold_up_the_end() {
    let silent = Collector::start(Manner::Silent);
    let down = {
        let collector = Collector::start(Manner::Silent);
        collector.address()
    };
    for endpoint in [silent.address(), down] {
        let environment = [
            ("CLAIMCHECK__RESOLVER__MODE", "end"),
            ("CLAIMCHECK__TELEMETRY__OTLP_ENDPOINT", endpoint.as_str()),
        ];
        let before = Instant::now();
        let end = run_to_end(Some(SETTINGS), &[], &environment);
        assert_eq!(end.code, Some(0), "{end:?}");
        assert!(before.elapsed() < END_LIMIT, "{:?}", before.elapsed());
    }
}
