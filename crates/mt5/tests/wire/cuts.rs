//! F085, F089, B22: a server that closes the socket at every byte of the exchange.
//!
//! Each `operate` puts at most one balance request on the wire, and no verdict claims more than
//! the bytes prove.

use claimcheck_core::Outcome;

use crate::scripted::{Act, Scripted, operate, response};

#[tokio::test]
async fn a_request_that_is_cut_at_any_byte_is_unknown_and_sent_once() {
    let probe = Scripted::start(|_| None).await;
    operate(&probe.client()).await;
    let whole = probe.posts().first().expect("was sent").len();
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    for cut in 1..=whole {
        server.cut_posts_after(cut);
        let before = server.posts().len();
        let outcome = operate(&client).await;
        assert!(matches!(outcome, Outcome::Unknown(_)), "{cut}: {outcome:?}");
        let posts = server.posts();
        assert_eq!(posts.len() - before, 1, "{cut}");
        assert_eq!(posts.last().map(String::len), Some(cut));
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_at_any_byte_is_unknown_and_asked_for_once() {
    let whole = response(200, r#"{"retcode":"0 Done","answer":{"Ticket":"136623"}}"#);
    for cut in 0..=whole.len() {
        let part = whole.get(..cut).expect("is within").to_vec();
        let server = Scripted::start(move |ask| {
            let is_balance = ask.command() == "trade/balance";
            is_balance.then(|| Act::RawThenClose(part.clone()))
        })
        .await;
        let outcome = operate(&server.client()).await;
        let wanted = if cut == whole.len() {
            "done"
        } else {
            "unknown"
        };
        assert_eq!(outcome.code(), wanted, "{cut}: {outcome:?}");
        assert_eq!(server.posts().len(), 1, "{cut}");
    }
}

#[tokio::test]
async fn a_connection_closed_just_before_the_call_gives_no_definite_answer() {
    for _ in 0..50 {
        let server = Scripted::start(|ask| {
            let is_login = ask.command() == "auth/answer";
            is_login
                .then(|| ask.parameter("cli_rand").unwrap_or_default())
                .map(|cli_rand| {
                    let proof = crate::scripted::proof(&cli_rand);
                    let body = format!(r#"{{"retcode":"0 Done","cli_rand_answer":"{proof}"}}"#);
                    Act::JsonThenClose(body)
                })
        })
        .await;
        let outcome = operate(&server.client()).await;
        assert!(
            matches!(outcome, Outcome::NotSent(_) | Outcome::Unknown(_)),
            "{outcome:?}"
        );
        assert!(server.posts().is_empty());
    }
}
