//! Balance calls that reach the server whole, and their verdicts; and calls that must not leave.

use std::time::{Duration, Instant};

use claimcheck_core::{DealTicket, Outcome};
use claimcheck_mt5::{Accounts as _, Operate as _, Server};

use crate::scripted::{Act, Ask, Scripted, call, login, operate};

const WAIT: Duration = Duration::from_secs(5);

fn on_balance(act: impl Fn() -> Act + Send + Sync + 'static) -> impl Fn(&Ask) -> Option<Act> {
    move |ask| (ask.command() == "trade/balance").then(&act)
}

#[tokio::test]
async fn a_deposit_is_one_post_with_everything_in_its_query() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    let ticket = DealTicket::new(136_623).expect("is above zero");
    assert_eq!(operate(&client).await, Outcome::Done(ticket));
    let asked = server.asked("trade/balance");
    let [ask] = asked.as_slice() else {
        panic!("one call, one request")
    };
    assert!(
        ask.head.starts_with("POST /api/trade/balance?"),
        "{}",
        ask.head
    );
    let parameters = ["login", "type", "balance", "comment", "check_margin"]
        .map(|name| ask.parameter(name).expect("is sent"));
    assert_eq!(
        parameters,
        ["100234", "2", "500.00", "dep:48213-92222", "0"]
    );
    assert!(client.is_reachable());
}

#[tokio::test]
async fn a_clean_connection_serves_the_next_call() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    for _ in 0..3 {
        assert_eq!(operate(&client).await.code(), "done");
    }
    assert_eq!((server.connections(), server.posts().len()), (1, 3));
}

#[tokio::test]
async fn a_refusal_keeps_the_connection_and_an_unclear_answer_closes_it() {
    let refused = r#"{"retcode":"10019 No money"}"#;
    for (body, code, connections) in [
        (refused, "refused", 1),
        (r#"{"retcode":"1001 Invalid account"}"#, "refused", 2),
        (r#"{"retcode":"0 Done"}"#, "unknown", 2),
        (
            r#"{"retcode":"0 Done","answer":{"Ticket":"7","Login":"100235"}}"#,
            "unknown",
            2,
        ),
        (r#"{"retcode":"9999"}"#, "unknown", 2),
        ("", "unknown", 2),
        ("<html>Bad Gateway</html>", "unknown", 2),
    ] {
        let server = Scripted::start(on_balance(|| Act::Json(body.to_owned()))).await;
        let client = server.client();
        assert_eq!(operate(&client).await.code(), code, "{body}");
        operate(&client).await;
        assert_eq!(
            (server.connections(), server.posts().len()),
            (connections, 2),
            "{body}"
        );
    }
}

#[tokio::test]
async fn f086_not_authorised_after_taking_the_request_is_not_repeated() {
    for status in [301, 307, 401, 403, 500, 503] {
        let server = Scripted::start(on_balance(move || Act::Status(status, String::new()))).await;
        let client = server.client();
        assert_eq!(operate(&client).await.code(), "unknown", "{status}");
        assert_eq!(
            (server.connections(), server.posts().len()),
            (1, 1),
            "{status}"
        );
        assert_eq!(
            server.asked("auth/start").len(),
            1,
            "no new login for a balance call"
        );
    }
}

#[tokio::test]
async fn f100_a_call_without_an_answer_is_unknown_and_its_connection_is_closed() {
    let server = Scripted::start(on_balance(|| Act::Hang)).await;
    let mut settings = server.settings();
    settings.call_timeout = Duration::from_millis(200);
    let client = Server::new(settings).expect("is sound");
    let mut session = client.session(WAIT).await.expect("is up");
    let outcome = session.operate(&call(), Instant::now() + WAIT).await;
    assert_eq!(outcome.code(), "unknown");
    server.until_closed(1).await;
    assert!(!client.is_reachable());
    // The same session may still read, but on another connection.
    session.account(login()).await.expect("reads log in again");
    assert_eq!(
        server.asked("user/get").first().map(|ask| ask.connection),
        Some(2)
    );
    // And without a connection it sends nothing.
    assert_eq!(server.posts().len(), 1);
}

#[tokio::test]
async fn a_call_that_its_caller_drops_closes_its_connection() {
    let server = Scripted::start(on_balance(|| Act::Hang)).await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    {
        let call = call();
        let dropped = session.operate(&call, Instant::now() + WAIT);
        tokio::select! {
            outcome = dropped => panic!("nobody answers: {outcome:?}"),
            () = server.until_asked("trade/balance", 1) => {}
        }
    }
    server.until_closed(1).await;
    let outcome = session.operate(&call(), Instant::now() + WAIT).await;
    assert_eq!(
        outcome.code(),
        "not_sent",
        "a session without a connection opens none to send"
    );
    drop(session);
    assert_eq!(server.posts().len(), 1);
}

#[tokio::test]
async fn past_its_deadline_a_call_sends_not_one_byte() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    let outcome = session.operate(&call(), Instant::now()).await;
    assert!(
        matches!(&outcome, Outcome::NotSent(why) if why.contains("deadline")),
        "{outcome:?}"
    );
    server.until_closed(1).await;
    assert!(server.posts().is_empty());
    assert_eq!(
        server.asked("").len(),
        0,
        "not even a part of a request arrived"
    );
}

#[tokio::test]
async fn a_process_that_slept_past_the_deadline_sends_not_one_byte() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    let (call, send_before) = (call(), Instant::now() + Duration::from_millis(50));
    let operate = session.operate(&call, send_before);
    // Nothing on this thread runs until the deadline is over, as after a SIGSTOP.
    while Instant::now() < send_before {
        std::hint::spin_loop();
    }
    assert_eq!(operate.await.code(), "not_sent");
    server.until_closed(1).await;
    assert!(server.posts().is_empty());
}

#[tokio::test]
async fn f101_an_answer_that_came_twice_is_not_read_by_the_next_call() {
    let body = r#"{"retcode":"0 Done","answer":{"Ticket":"7"}}"#;
    let server = Scripted::start(on_balance(|| Act::Twice(body.to_owned()))).await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    let soon = Instant::now() + WAIT;
    assert_eq!(session.operate(&call(), soon).await.code(), "done");
    let second = session.operate(&call(), soon).await;
    assert_eq!(second.code(), "not_sent", "{second:?}");
    assert_eq!(server.posts().len(), 1);
}

#[tokio::test]
async fn an_endless_answer_is_unknown() {
    let body = format!(r#"{{"retcode":"0 Done","x":"{}"}}"#, "x".repeat(70_000));
    let server = Scripted::start(on_balance(move || Act::Json(body.clone()))).await;
    assert_eq!(operate(&server.client()).await.code(), "unknown");
}
