//! Faults that strike a call before or instead of its answer.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::client::{PASSWORD, Stage, field, until};

fn on_balance(action: &str) -> Value {
    json!({"on": "trade/balance", "action": action, "times": 1})
}

fn with(mut fault: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = fault.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    fault
}

#[tokio::test]
async fn drop_before_apply_cuts_and_books_nothing() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let id = stage.fault(on_balance("drop-before-apply")).await?;
    let mut session = stage.session().await?;
    assert!(session.credit(7001, "1.00", "a").await?.is_none());
    assert!(stage.deals().await?.is_empty());
    assert_eq!(stage.hits(id).await?, 1);
    let call = stage.operations().await?;
    let call = call.first().context("not logged")?;
    assert_eq!(call.get("answered"), Some(&json!(false)));
    assert_eq!(call.get("applied_at"), Some(&Value::Null));
    let mut next = stage.session().await?;
    assert!(next.credit(7001, "1.00", "a").await?.is_some());
    Ok(())
}

#[tokio::test]
async fn apply_then_drop_books_and_cuts() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let id = stage.fault(on_balance("apply-then-drop")).await?;
    let mut session = stage.session().await?;
    assert!(session.credit(7001, "1.00", "a").await?.is_none());
    assert_eq!(stage.deals().await?.len(), 1);
    assert_eq!(stage.hits(id).await?, 1);
    let call = stage.operations().await?;
    let call = call.first().context("not logged")?;
    assert_eq!(call.get("answered"), Some(&json!(false)));
    assert!(call.get("applied_at").is_some_and(Value::is_string));
    Ok(())
}

#[tokio::test]
async fn apply_late_cuts_at_once_and_books_afterwards() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .fault(with(on_balance("apply-late"), "seconds", json!(0.5)))
        .await?;
    let mut session = stage.session().await?;
    assert!(session.credit(7001, "1.00", "a").await?.is_none());
    drop(session);
    assert!(stage.deals().await?.is_empty(), "not yet");
    stage.until_deals(1).await
}

#[tokio::test]
async fn a_hanging_call_ends_with_its_fault_and_books_nothing() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let id = stage.fault(on_balance("hang")).await?;
    let mut session = stage.session().await?;
    let call = tokio::spawn(async move { session.credit(7001, "1.00", "a").await });
    until(async || Ok(stage.hits(id).await? == 1)).await?;
    assert!(!call.is_finished());
    let (status, _) = stage
        .control("DELETE", &format!("/sim/faults/{id}"), "")
        .await?;
    assert_eq!(status, 204);
    assert!(call.await??.is_none());
    assert!(stage.deals().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_slow_call_is_done_even_when_its_client_leaves() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let slow = with(on_balance("slow"), "seconds", json!(0.3));
    let id = stage.fault(slow).await?;
    let mut session = stage.session().await?;
    session
        .send("POST", "/api/trade/balance", "login=7001&type=2&balance=1")
        .await?;
    until(async || Ok(stage.hits(id).await? == 1)).await?;
    assert!(stage.deals().await?.is_empty(), "not yet");
    drop(session);
    stage.until_deals(1).await?;
    let call = stage.operations().await?;
    assert_eq!(
        call.first().and_then(|call| call.get("answered")),
        Some(&json!(false))
    );
    Ok(())
}

#[tokio::test]
async fn a_late_reply_comes_after_the_deal() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .fault(with(on_balance("late-reply"), "seconds", json!(0.4)))
        .await?;
    let mut session = stage.session().await?;
    let call = tokio::spawn(async move { session.credit(7001, "1.00", "a").await });
    stage.until_deals(1).await?;
    assert!(!call.is_finished());
    let reply = call.await??.context("cut")?;
    assert!(reply.text("Ticket").is_some());
    Ok(())
}

#[tokio::test]
async fn refuse_answers_the_code_and_books_nothing() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .fault(with(on_balance("refuse"), "code", json!(10_019)))
        .await?;
    let mut session = stage.session().await?;
    let reply = session.credit(7001, "1.00", "a").await?.context("cut")?;
    assert_eq!((reply.status, reply.code()), (200, Some(10_019)));
    assert!(stage.deals().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn garbage_stands_instead_of_an_answer_applied_or_not() -> anyhow::Result<()> {
    for (action, code, status, is_html) in [
        ("empty-body", None, 200, false),
        ("html-page", Some(502), 502, true),
        ("http-status", Some(504), 504, false),
        ("http-status", None, 503, false),
    ] {
        for applied in [true, false] {
            let stage = Stage::open().await?;
            let mut fault = with(on_balance(action), "applied", json!(applied));
            if let Some(code) = code {
                fault = with(fault, "code", json!(code));
            }
            stage.fault(fault).await?;
            let mut session = stage.session().await?;
            let reply = session.credit(7001, "1.00", "a").await?.context("cut")?;
            assert_eq!((reply.status, reply.code()), (status, None), "{action}");
            assert_eq!(reply.body.contains("<html>"), is_html, "{action}");
            assert_eq!(stage.deals().await?.len(), usize::from(applied), "{action}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn faults_combine_and_the_first_ending_wins() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let slow = stage
        .fault(with(on_balance("slow"), "seconds", json!(0.05)))
        .await?;
    let refuse = stage
        .fault(with(on_balance("refuse"), "code", json!(10_006)))
        .await?;
    let dropped = stage.fault(on_balance("apply-then-drop")).await?;
    let hang = stage.fault(on_balance("hang")).await?;
    let mut session = stage.session().await?;
    assert!(session.credit(7001, "1.00", "a").await?.is_none());
    assert!(stage.deals().await?.is_empty());
    for (id, hits) in [(slow, 1), (refuse, 1), (dropped, 1), (hang, 0)] {
        assert_eq!(stage.hits(id).await?, hits, "fault {id}");
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_keeps_to_its_server_login_and_probability() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .account(json!({"server": "live-1", "login": 7002, "currency": "USD"}))
        .await?;
    let refuse =
        |name: &str, value| with(with(on_balance("refuse"), "code", json!(4)), name, value);
    let other_login = stage.fault(refuse("login", json!("7002"))).await?;
    let other_server = stage.fault(refuse("server", json!("live-2"))).await?;
    let never = stage.fault(refuse("probability", json!(0))).await?;
    let mut session = stage.session().await?;
    assert_eq!(
        session.credit(7001, "1", "a").await?.context("cut")?.code(),
        Some(0)
    );
    for id in [other_login, other_server, never] {
        assert_eq!(stage.hits(id).await?, 0);
    }
    assert_eq!(
        session.credit(7002, "1", "a").await?.context("cut")?.code(),
        Some(4)
    );
    assert_eq!(
        session.credit(7002, "1", "a").await?.context("cut")?.code(),
        Some(0)
    );
    assert_eq!(stage.hits(other_login).await?, 1);
    Ok(())
}

#[tokio::test]
async fn maintenance_refuses_connects_and_calls_of_its_server() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let id = stage
        .fault(json!({"on": "*", "server": "live-1", "action": "maintenance"}))
        .await?;
    assert!(session.call("GET", "/api/test/access", "").await?.is_none());
    let mut fresh = stage.connection("live-1").await?;
    assert!(fresh.call("GET", "/api/test/access", "").await?.is_none());
    let mut other = stage.connection("live-2").await?;
    assert_eq!(other.log_in(1001, PASSWORD).await?.code(), Some(0));
    assert!(stage.hits(id).await? >= 2);
    stage.control("DELETE", "/sim/faults", "").await?;
    stage.session().await?;
    Ok(())
}

#[tokio::test]
async fn clock_offset_shifts_clock_deal_times_and_windows_together() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let booked = session.credit(7001, "1.00", "a").await?.context("cut")?;
    let ticket = booked.text("Ticket").context("no ticket")?;
    let deal = session
        .get(&format!("deal/get?ticket={ticket}"))
        .await?
        .answer();
    let before: i64 = field(&deal, "Time").parse()?;
    stage
        .fault(json!({"on": "*", "action": "clock-offset", "offset": -3_600}))
        .await?;
    let shifted = before - 3_600;
    let asked = format!("deal/get_page?login=7001&from={shifted}&to={shifted}");
    let rows = session.get(&asked).await?.rows();
    assert_eq!(
        rows.first().map(|row| field(row, "Time")),
        Some(shifted.to_string())
    );
    let clock = session
        .get("time/server")
        .await?
        .text("Time")
        .context("no time")?;
    let now: i64 = clock.split(' ').next().context("empty")?.parse()?;
    assert!((shifted..before).contains(&now), "{now}");
    Ok(())
}
