//! Reading accounts and deals: what comes back goes on unjudged, and half an answer is none.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use claimcheck_core::{Look, NoAnswer, Reading, Sought, Window, look};
use claimcheck_mt5::{Accounts as _, Deals as _, ReadError, Server, Session};
use time::OffsetDateTime;

use crate::scripted::{Act, Ask, Scripted, call, login};

const WAIT: Duration = Duration::from_secs(5);

async fn session(client: &Server) -> Session {
    client.session(WAIT).await.expect("is up")
}

async fn deals(client: &Server) -> Result<Reading, ReadError> {
    let age = Duration::from_mins(1);
    session(client)
        .await
        .deals(login(), age, OffsetDateTime::UNIX_EPOCH)
        .await
}

fn done(answer: &str) -> Act {
    Act::Json(format!(r#"{{"retcode":"0 Done","answer":{answer}}}"#))
}

fn deal(ticket: u64, login: i64) -> String {
    format!(
        r#"{{"Deal":"{ticket}","Login":"{login}","Action":"2","Profit":"-64.25",
            "Comment":"Ж","Time":"1796040000","Symbol":""}}"#
    )
}

/// A server that states `stated` deals and has `held` of them.
async fn with_deals(stated: u64, held: u64) -> Scripted {
    Scripted::start(move |ask: &Ask| match ask.command() {
        "deal/get_total" => Some(done(&format!(r#"{{"total":{stated}}}"#))),
        "deal/get_page" => {
            let number = |name: &str| {
                ask.parameter(name)
                    .and_then(|n| n.parse::<u64>().ok())
                    .expect("n")
            };
            let (first, count) = (number("offset"), number("total"));
            assert!(count <= 100, "servers give no more than 100");
            let page: Vec<String> = (first..held.min(first + count))
                .map(|i| deal(i + 1, 100_234))
                .collect();
            Some(done(&format!("[{}]", page.join(","))))
        }
        _ => None,
    })
    .await
}

fn judged(reading: &Reading) -> Look {
    let call = call();
    let sought = Sought {
        reference: &call.reference,
        login: login(),
        amount: 500.into(),
    };
    look(reading, sought, &claimcheck_core::Known::default())
}

#[tokio::test]
async fn every_page_is_read_between_two_totals() {
    let server = with_deals(250, 250).await;
    let reading = deals(&server.client()).await.expect("is answered");
    assert_eq!((reading.total_before, reading.total_after), (250, 250));
    assert_eq!(reading.deals.len(), 250);
    let first = reading.deals.first().expect("is there");
    assert_eq!(
        (first.ticket.get(), first.amount.to_string()),
        (1, "-64.25".to_owned())
    );
    assert_eq!(first.comment, "Ж");
    let offsets: Vec<_> = server
        .asked("deal/get_page")
        .iter()
        .filter_map(|ask| ask.parameter("offset"))
        .collect();
    assert_eq!(offsets, ["0", "100", "200"]);
    let now = claimcheck_core::ServerTime::from_seconds(1_796_040_000);
    assert_eq!(
        reading.window,
        Window::reaching_back(now, Duration::from_mins(1))
    );
    assert_eq!(judged(&reading), Look::Absent);
}

#[tokio::test]
async fn f131_a_total_that_the_pages_do_not_fill_is_passed_on() {
    for (stated, held) in [(3, 2), (101, 100), (1, 0)] {
        let server = with_deals(stated, held).await;
        let reading = deals(&server.client()).await.expect("is answered");
        assert_eq!(
            judged(&reading),
            Look::NoAnswer(NoAnswer::Incomplete { stated, read: held }),
        );
    }
}

#[tokio::test]
async fn f128_a_total_that_changes_is_passed_on() {
    let totals = AtomicUsize::new(0);
    let server = Scripted::start(move |ask| {
        let is_total = ask.command() == "deal/get_total";
        is_total.then(|| {
            let total = totals.fetch_add(1, Ordering::Relaxed);
            done(&format!(r#"{{"Total":"{total}"}}"#))
        })
    })
    .await;
    let reading = deals(&server.client()).await.expect("is answered");
    assert_eq!(
        judged(&reading),
        Look::NoAnswer(NoAnswer::Changing {
            before: 0,
            after: 1
        })
    );
}

#[tokio::test]
async fn f130_deals_of_another_login_are_passed_on_and_the_connection_is_closed() {
    let server = Scripted::start(|ask| match ask.command() {
        "deal/get_total" => Some(done(r#"{"Total":"1"}"#)),
        "deal/get_page" => Some(done(&format!("[{}]", deal(1, 100_235)))),
        _ => None,
    })
    .await;
    let reading = deals(&server.client()).await.expect("is answered");
    assert!(matches!(
        judged(&reading),
        Look::NoAnswer(NoAnswer::WrongLogin(_))
    ));
    server.until_closed(1).await;
}

#[tokio::test]
async fn b23_an_empty_list_beside_an_error_is_no_reading() {
    for command in ["time/server", "deal/get_total", "deal/get_page"] {
        for body in [
            r#"{"retcode":"2 Common error","answer":[]}"#,
            r#"{"retcode":"13 Not found","answer":{"Total":"0"}}"#,
            r#"{"retcode":"14 Partial","answer":[]}"#,
            r#"{"retcode":"0 Done","answer":null}"#,
            r#"{"retcode":"0 Done"}"#,
            r#"{"retcode":"0 Done","answer":[{}]}"#,
            r#"{"retcode":"0 Done","answer":[{"Deal":"1"}]}"#,
            r#"{"retcode":"0 Done","answer":{"Total":"-1"}}"#,
            "[]",
            "null",
            "",
        ] {
            let server = Scripted::start(move |ask| match ask.command() {
                asked if asked == command => Some(Act::Json(body.to_owned())),
                "deal/get_total" => Some(done(r#"{"Total":"1"}"#)),
                _ => None,
            })
            .await;
            let reading = deals(&server.client()).await;
            assert!(reading.is_err(), "{command} {body}: {reading:?}");
        }
    }
}

#[tokio::test]
async fn f126_a_page_that_is_not_answered_makes_no_reading() {
    let pages = AtomicUsize::new(0);
    let server = Scripted::start(move |ask| match ask.command() {
        "deal/get_total" => Some(done(r#"{"Total":"250"}"#)),
        "deal/get_page" if pages.fetch_add(1, Ordering::Relaxed) == 2 => Some(Act::Hang),
        _ => None,
    })
    .await;
    let mut settings = server.settings();
    settings.call_timeout = Duration::from_millis(200);
    let client = Server::new(settings).expect("is sound");
    let error = deals(&client).await.expect_err("page three hangs");
    assert!(matches!(error, ReadError::TimedOut { .. }), "{error:?}");
    server.until_closed(1).await;
}

#[tokio::test]
async fn more_deals_than_a_reading_takes_are_refused_before_the_first_page() {
    let server = with_deals(1_000_000_000, 0).await;
    let error = deals(&server.client()).await.expect_err("is too much");
    assert!(matches!(error, ReadError::TooMany { .. }), "{error:?}");
    assert!(server.asked("deal/get_page").is_empty());
}

#[tokio::test]
async fn an_odd_comment_does_not_hide_the_deals_beside_it() {
    let mut bytes = br#"{"retcode":"0 Done","answer":[{"Deal":"1","Login":"100234","Action":2,
        "Profit":"1","Time":"1796040000","Comment":""#
        .to_vec();
    bytes.extend([0xff, 0xfe]);
    bytes.extend(br#""}]}"#);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len());
    let page = [head.into_bytes(), bytes].concat();
    let server = Scripted::start(move |ask| match ask.command() {
        "deal/get_total" => Some(done(r#"{"Total":"1"}"#)),
        "deal/get_page" => Some(Act::RawThenClose(page.clone())),
        _ => None,
    })
    .await;
    assert_eq!(
        deals(&server.client()).await.expect("is read").deals.len(),
        1
    );
}

#[tokio::test]
async fn an_account_is_read_with_its_group() {
    let server = Scripted::start(|_| None).await;
    let client = server.client();
    let mut session = session(&client).await;
    for _ in 0..3 {
        let account = session
            .account(login())
            .await
            .expect("is answered")
            .expect("exists");
        assert!(account.enabled && account.login == login());
        assert_eq!((account.currency.as_str(), account.digits), ("USD", 2));
        assert_eq!(account.group, r"real\USD 1");
    }
    let groups = server.asked("group/get");
    assert_eq!((groups.len(), server.asked("user/get").len()), (1, 3));
    let head = &groups.first().expect("was asked").head;
    assert!(head.contains("group=real%5CUSD%201 "), "{head}");
}

#[tokio::test]
async fn rights_say_whether_an_account_is_enabled() {
    for (rights, enabled) in [("483", true), ("482", false), ("1", true), ("2", false)] {
        let server = Scripted::start(move |ask| {
            let user = format!(r#"{{"login":100234,"group":"real\\USD 1","rights":{rights}}}"#);
            (ask.command() == "user/get").then(|| done(&user))
        })
        .await;
        let client = server.client();
        let account = session(&client)
            .await
            .account(login())
            .await
            .expect("is answered");
        assert_eq!(
            account.map(|account| account.enabled),
            Some(enabled),
            "{rights}"
        );
    }
}

#[tokio::test]
async fn only_not_found_means_that_an_account_does_not_exist() {
    for (body, exists_not) in [
        (r#"{"retcode":"13 Not found"}"#, true),
        (r#"{"retcode":"8 Not enough permissions"}"#, false),
        (r#"{"retcode":"10019 No money"}"#, false),
        (r#"{"retcode":"0 Done"}"#, false),
        ("", false),
    ] {
        let server = Scripted::start(move |ask| {
            (ask.command() == "user/get").then(|| Act::Json(body.to_owned()))
        })
        .await;
        let client = server.client();
        let account = session(&client).await.account(login()).await;
        assert_eq!(
            matches!(account, Ok(None)),
            exists_not,
            "{body}: {account:?}"
        );
        assert_eq!(account.is_err(), !exists_not, "{body}");
    }
}

#[tokio::test]
async fn f074_an_answer_about_something_else_is_thrown_away_with_its_connection() {
    for (command, record) in [
        (
            "user/get",
            r#"{"Login":"100235","Group":"real\\USD 1","Rights":"483"}"#,
        ),
        ("user/get", r#"{"Group":"real\\USD 1","Rights":"483"}"#),
        (
            "group/get",
            r#"{"Group":"real\\EUR","Currency":"EUR","CurrencyDigits":"2"}"#,
        ),
    ] {
        let server =
            Scripted::start(move |ask| (ask.command() == command).then(|| done(record))).await;
        let client = server.client();
        session(&client)
            .await
            .account(login())
            .await
            .expect_err("is not what was asked for");
        server.until_closed(1).await;
    }
}

#[tokio::test]
async fn a_group_without_currency_or_places_is_no_answer() {
    for group in [
        r#"{"Group":"real\\USD 1","CurrencyDigits":"2"}"#,
        r#"{"Group":"real\\USD 1","Currency":"","CurrencyDigits":"2"}"#,
        r#"{"Group":"real\\USD 1","Currency":"USD"}"#,
        r#"{"Group":"real\\USD 1","Currency":"USD","CurrencyDigits":"-1"}"#,
        r#"{"Group":"real\\USD 1","Currency":"USD","CurrencyDigits":"two"}"#,
    ] {
        let server =
            Scripted::start(move |ask| (ask.command() == "group/get").then(|| done(group))).await;
        let client = server.client();
        let account = session(&client).await.account(login()).await;
        assert!(account.is_err(), "{group}: {account:?}");
    }
}
