//! The lines as they come out, and the ids in them.

use std::{
    io,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use time::OffsetDateTime;
use tracing::{info, info_span, instrument::WithSubscriber, warn};

use super::*;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `body` under a subscriber of its own and returns the lines it wrote.
fn lines(selection: &str, body: impl FnOnce()) -> Vec<Value> {
    let sink = Sink::default();
    let output = Output::start(sink.clone());
    let provider = export::provider("test-service", None).unwrap();
    let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH);
    let subscriber = subscriber(
        "test-service",
        clock,
        selection.parse().unwrap(),
        &provider,
        output.clone(),
    );
    tracing::subscriber::with_default(subscriber, body);
    output.flush(LOG_FLUSH_LIMIT);
    let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_line_has_the_event_its_spans_and_their_ids() {
    let lines = lines("info", || {
        let outer = info_span!("credit.settle", credit.id = 7, state = "claimed");
        let _outer = outer.enter();
        let inner = info_span!(
            "store.credit.done",
            state = "done",
            late = tracing::field::Empty
        );
        let _inner = inner.enter();
        inner.record("late", true);
        let error = anyhow::anyhow!("refused").context("database away");
        info!(
            error = error.as_ref() as &dyn std::error::Error,
            attempt = 2,
            "quote \" and\nbreak"
        );
    });
    let [line] = lines.as_slice() else {
        panic!("one line: {lines:?}")
    };
    let expected = [
        ("timestamp", Value::from("1970-01-01T00:00:00Z")),
        ("level", Value::from("INFO")),
        (
            "target",
            Value::from("claimcheck_process::telemetry::tests"),
        ),
        ("message", Value::from("quote \" and\nbreak")),
        ("service", Value::from("test-service")),
        ("span", Value::from("store.credit.done")),
        ("credit.id", Value::from(7)),
        ("state", Value::from("done")),
        ("late", Value::from(true)),
        ("attempt", Value::from(2)),
        ("error", Value::from("database away: refused")),
    ];
    for (name, value) in expected {
        assert_eq!(line[name], value, "{name} in {line}");
    }
    assert_eq!(line["trace_id"].as_str().unwrap().len(), 32);
    assert_eq!(line["span_id"].as_str().unwrap().len(), 16);
}

#[test]
fn a_trace_goes_on_across_a_trace_parent_and_a_malformed_one_starts_a_new_trace() {
    let mut parent = None;
    let lines = lines("info", || {
        info_span!("webhook.accept").in_scope(|| {
            info!("first");
            parent = trace_parent();
        });
        assert_eq!(trace_parent(), None, "outside every span");
        let next = info_span!("credit.claim");
        continue_trace(&next, parent.as_deref().unwrap());
        next.in_scope(|| info!("second"));
        let third = info_span!("credit.claim");
        continue_trace(&third, "not a parent");
        third.in_scope(|| info!("third"));
    });
    let id = |line: usize| lines[line]["trace_id"].as_str().unwrap().to_owned();
    assert_eq!(id(0), id(1));
    assert_ne!(lines[0]["span_id"], lines[1]["span_id"]);
    assert_ne!(id(0), id(2));
    assert_eq!(parent.unwrap().split('-').nth(1), Some(id(0).as_str()));
}

#[test]
fn spans_keep_their_ids_when_only_warnings_are_logged() {
    let lines = lines("warn", || {
        info_span!("credit.claim").in_scope(|| {
            info!("not logged");
            warn!("logged");
        });
    });
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["trace_id"].is_string());
}

#[test]
fn no_field_can_hide_a_name_that_every_line_has() {
    let lines = lines("info", || {
        info!(level = "low", trace_id = "mine", "text");
    });
    assert_eq!(lines[0]["level"], "INFO");
    assert_eq!(lines[0]["field.level"], "low");
    assert_eq!(lines[0]["field.trace_id"], "mine");
    assert!(lines[0].get("trace_id").is_none());
}

#[test]
fn a_long_text_is_cut_and_the_line_stays_json() {
    let lines = lines("info", || info!(text = "ä".repeat(100_000), "long"));
    assert!(lines[0]["text"].as_str().unwrap().ends_with('…'));
}

#[tokio::test]
async fn ids_survive_an_await_and_do_not_leak_into_a_task_beside_it() {
    use tracing::Instrument;

    let provider = export::provider("test-service", None).unwrap();
    let subscriber = subscriber(
        "test-service",
        Clock::system(),
        "info".parse().unwrap(),
        &provider,
        Output::start(io::sink()),
    );
    let parent = || async {
        tokio::task::yield_now().await;
        trace_parent()
    };
    async {
        let (one, other) = tokio::join!(
            parent().instrument(info_span!("one")),
            parent().instrument(info_span!("other"))
        );
        assert!(one.is_some());
        assert_ne!(one, other);
        assert_eq!(parent().await, None);
    }
    .with_subscriber(subscriber)
    .await;
}
