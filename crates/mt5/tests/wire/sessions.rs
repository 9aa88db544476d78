//! Logins, the pool of sessions, pings, and servers that are down.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use claimcheck_mt5::{Accounts as _, NoSession, ReadError, Server};

use crate::scripted::{Act, Scripted, login};

const WAIT: Duration = Duration::from_secs(5);
const NO_WAIT: Duration = Duration::from_millis(20);

async fn down(client: &Server) -> (String, Duration) {
    match client.session(WAIT).await.expect_err("the server is down") {
        NoSession::Down {
            reason,
            retry_after,
        } => (reason, retry_after),
        NoSession::Busy => ("busy".to_owned(), Duration::ZERO),
    }
}

#[tokio::test]
async fn a_login_shows_no_password_and_happens_once() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    for _ in 0..5 {
        let mut session = client.session(WAIT).await.expect("is up");
        session.account(login()).await.expect("is answered");
    }
    let starts = server.asked("auth/start");
    assert_eq!((starts.len(), server.connections()), (1, 1));
    assert_eq!(
        starts
            .first()
            .and_then(|ask| ask.parameter("type"))
            .as_deref(),
        Some("manager")
    );
    assert_eq!(
        starts
            .first()
            .and_then(|ask| ask.parameter("login"))
            .as_deref(),
        Some("1001")
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_the_password_is_not_spoken_to() {
    let server = Scripted::start(|ask| {
        let wrong = format!(
            r#"{{"retcode":"0 Done","cli_rand_answer":"{}"}}"#,
            "0".repeat(32)
        );
        (ask.command() == "auth/answer").then_some(Act::Json(wrong))
    })
    .await;
    let (reason, _) = down(&server.client()).await;
    assert!(reason.contains("did not prove"), "{reason}");
    server.until_closed(1).await;
}

#[tokio::test]
async fn a_refused_manager_is_named_and_not_tried_again_at_once() {
    let server = Scripted::start(|_| None).await;
    let mut settings = server.settings();
    settings.password = "Password2".into();
    let client = Server::new(settings).expect("is sound");
    let (reason, retry_after) = down(&client).await;
    assert!(
        reason.contains("1001") && !reason.contains("Password2"),
        "{reason}"
    );
    assert!(retry_after >= Duration::from_secs(1));
    for _ in 0..20 {
        assert_eq!(down(&client).await.0, reason);
    }
    assert_eq!(server.connections(), 1);
    assert!(!client.is_reachable());
}

#[tokio::test]
async fn a_login_that_is_answered_with_anything_else_fails() {
    for body in [
        "",
        "<html>",
        "{}",
        r#"{"retcode":"0 Done"}"#,
        r#"{"retcode":"0","srv_rand":"0"}"#,
    ] {
        let server = Scripted::start(move |ask| {
            (ask.command() == "auth/start").then(|| Act::Json(body.to_owned()))
        })
        .await;
        down(&server.client()).await;
    }
}

#[tokio::test]
async fn sessions_are_as_many_as_set_and_waited_for_no_longer_than_asked() {
    let server = Scripted::start(|_| None).await;
    let mut settings = server.settings();
    settings.sessions = 2;
    let client = Server::new(settings).expect("is sound");
    let first = client.session(WAIT).await.expect("is free");
    let second = client.session(WAIT).await.expect("is free");
    assert_eq!(client.session(NO_WAIT).await.err(), Some(NoSession::Busy));
    drop(first);
    client.session(NO_WAIT).await.expect("came free");
    drop(second);
    let calls = (0..50).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut session = client.session(WAIT).await.expect("comes free");
            session.account(login()).await.expect("is answered");
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("did not panic");
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_idle_session_is_pinged_and_told_goodbye() {
    let server = Scripted::start(|_| None).await;
    let mut settings = server.settings();
    settings.ping_every = Duration::from_millis(20);
    let client = Server::new(settings).expect("is sound");
    drop(client.session(WAIT).await.expect("is up"));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let kept = client.clone();
    let keeping = tokio::spawn(async move {
        kept.keep_alive(async move { drop(stopped.await) }).await;
    });
    server.until_asked("test/access", 2).await;
    stop.send(()).expect("is listening");
    keeping.await.expect("did not panic");
    assert_eq!((server.asked("quit").len(), server.connections()), (1, 1));
}

#[tokio::test]
async fn a_read_on_a_lost_connection_logs_in_again_and_repeats_once() {
    let reads = AtomicUsize::new(0);
    let server = Scripted::start(move |ask| {
        let is_first = ask.command() == "user/get" && reads.fetch_add(1, Ordering::Relaxed) == 0;
        is_first.then(|| Act::RawThenClose(Vec::new()))
    })
    .await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    session
        .account(login())
        .await
        .expect("the second read is answered");
    assert_eq!(
        (
            server.asked("user/get").len(),
            server.asked("auth/start").len()
        ),
        (2, 2)
    );
}

#[tokio::test]
async fn a_server_that_always_closes_is_asked_twice_and_no_more() {
    let server =
        Scripted::start(|ask| (ask.command() == "user/get").then(|| Act::RawThenClose(Vec::new())))
            .await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    let error = session
        .account(login())
        .await
        .expect_err("is never answered");
    assert!(matches!(error, ReadError::Lost { .. }), "{error:?}");
    assert_eq!(server.asked("user/get").len(), 2);
}

#[tokio::test]
async fn a_missing_permission_does_not_make_a_young_session_log_in_again() {
    let server = Scripted::start(|ask| {
        (ask.command() == "user/get").then(|| Act::Status(403, String::new()))
    })
    .await;
    let client = server.client();
    for _ in 0..10 {
        let mut session = client.session(WAIT).await.expect("is up");
        let error = session.account(login()).await.expect_err("is forbidden");
        assert!(matches!(error, ReadError::Unauthorised { .. }), "{error:?}");
    }
    assert_eq!(server.asked("auth/start").len(), 1);
}

#[tokio::test]
async fn a_cookie_of_the_login_is_sent_back() {
    let server = Scripted::start(|ask| {
        let body = r#"{"retcode":"0 Done","srv_rand":"73007dc7184747ce0f7c98516ef1c851"}"#;
        let length = body.len();
        (ask.command() == "auth/start").then(|| {
            Act::Raw(format!(
                "HTTP/1.1 200 OK\r\nSet-Cookie: MTSID=abc; Path=/\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            ))
        })
    })
    .await;
    let client = server.client();
    let mut session = client.session(WAIT).await.expect("is up");
    session.account(login()).await.expect("is answered");
    let asked = server.asked("user/get");
    let head = asked.first().expect("was asked").head.to_ascii_lowercase();
    assert!(head.contains("cookie: mtsid=abc\r\n"), "{head}");
}
