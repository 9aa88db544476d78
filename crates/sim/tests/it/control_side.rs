//! The control side: what it takes, what it refuses, what it shows.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::client::Stage;

#[tokio::test]
async fn a_bad_account_is_an_error_that_names_what_and_where() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    for (method, path, body, status, word) in [
        ("POST", "/sim/accounts", "", 400, "body"),
        ("POST", "/sim/accounts", "[]", 400, "body"),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-1","login":1,"surplus":1}"#,
            400,
            "surplus",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"login":1,"currency":"USD"}"#,
            400,
            "server",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-9","login":1,"currency":"USD"}"#,
            400,
            "live-9",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-1","login":"x","currency":"USD"}"#,
            400,
            "login",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-1","login":1}"#,
            400,
            "currency",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-1","login":1,"currency":"USD","balance":"1.001"}"#,
            400,
            "balance",
        ),
        (
            "POST",
            "/sim/accounts",
            r#"{"server":"live-1","login":7001,"currency":"USD"}"#,
            409,
            "7001",
        ),
    ] {
        refused(&stage, method, path, body, status, word).await?;
    }
    Ok(())
}

#[tokio::test]
async fn bad_input_elsewhere_is_an_error_too() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    for (method, path, body, status, word) in [
        (
            "PATCH",
            "/sim/accounts",
            r#"{"server":"live-1","login":1}"#,
            404,
            "1",
        ),
        ("GET", "/sim/accounts/live-1/1", "", 404, "1"),
        ("GET", "/sim/accounts/live-9/1", "", 404, "live-9"),
        ("GET", "/sim/deals?ticket=1", "", 400, "ticket"),
        ("GET", "/sim/deals?login=x", "", 400, "login"),
        ("GET", "/sim/calls?server=live-9", "", 400, "live-9"),
        (
            "POST",
            "/sim/deals",
            r#"{"server":"live-1","login":7001,"amount":"0"}"#,
            400,
            "amount",
        ),
        (
            "POST",
            "/sim/deals",
            r#"{"server":"live-1","login":1,"amount":"1"}"#,
            404,
            "login",
        ),
        ("DELETE", "/sim/faults/9", "", 404, "9"),
        ("DELETE", "/sim/faults/x", "", 400, "id"),
        ("PUT", "/sim/faults", "", 405, "method"),
        ("GET", "/elsewhere", "", 404, "path"),
    ] {
        refused(&stage, method, path, body, status, word).await?;
    }
    Ok(())
}

/// Sends bad input and demands an error that names the word and the place.
async fn refused(
    stage: &Stage,
    method: &str,
    path: &str,
    body: &str,
    status: u16,
    word: &str,
) -> anyhow::Result<()> {
    let (given, answer) = stage.control(method, path, body).await?;
    let error = answer
        .get("error")
        .and_then(Value::as_str)
        .unwrap_or_default();
    assert_eq!(given, status, "{method} {path} {body}: {answer}");
    assert!(
        error.contains(word) && error.contains('/'),
        "{method} {path} {body}: {error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_fault_that_cannot_strike_is_refused() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    for (body, word) in [
        (
            json!({"on": "trade/balance", "action": "explode"}),
            "explode",
        ),
        (json!({"on": "trade/balance", "action": 7}), "action"),
        (
            json!({"on": "trade/balances", "action": "hang"}),
            "trade/balances",
        ),
        (json!({"on": "trade", "action": "hang"}), "on"),
        (json!({"action": "hang"}), "on"),
        (
            json!({"on": "*", "action": "hang", "server": "x"}),
            "server",
        ),
        (json!({"on": "*", "action": "hang", "login": -1}), "login"),
        (json!({"on": "*", "action": "hang", "times": 0}), "times"),
        (
            json!({"on": "*", "action": "hang", "probability": 1.5}),
            "probability",
        ),
        (json!({"on": "*", "action": "slow"}), "seconds"),
        (
            json!({"on": "*", "action": "slow", "seconds": -1}),
            "seconds",
        ),
        (json!({"on": "*", "action": "refuse"}), "code"),
        (json!({"on": "*", "action": "refuse", "code": 0}), "code"),
        (
            json!({"on": "*", "action": "http-status", "code": 99}),
            "code",
        ),
        (json!({"on": "*", "action": "clock-offset"}), "offset"),
        (json!({"on": "deal/*", "action": "comment-cut"}), "effect"),
        (
            json!({"on": "trade/*", "action": "history-lag", "seconds": 1}),
            "effect",
        ),
    ] {
        let (status, answer) = stage
            .control("POST", "/sim/faults", &body.to_string())
            .await?;
        let error = answer
            .get("error")
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert_eq!(status, 400, "{body}: {answer}");
        assert!(error.contains(word), "{body}: {error}");
    }
    let (_, list) = stage.control("GET", "/sim/faults", "").await?;
    assert_eq!(list, json!([]));
    Ok(())
}

#[tokio::test]
async fn every_action_of_the_contract_is_known() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    for action in [
        "drop-before-apply",
        "apply-then-drop",
        "apply-late",
        "hang",
        "slow",
        "late-reply",
        "refuse",
        "no-ticket",
        "swap-reply",
        "empty-body",
        "html-page",
        "http-status",
        "wrong-login",
        "history-error-empty",
        "history-lag",
        "history-page-drop",
        "history-grows",
        "comment-cut",
        "comment-rewrite",
        "clock-offset",
        "maintenance",
    ] {
        let fault = json!({
            "on": "*", "action": action, "seconds": 1, "code": 503, "offset": 1, "times": 1,
        });
        stage.fault(fault).await?;
    }
    let (_, list) = stage.control("GET", "/sim/faults", "").await?;
    assert_eq!(list.as_array().map(Vec::len), Some(21));
    assert_eq!(
        list.get(2).and_then(|fault| fault.get("hits")),
        Some(&json!(0))
    );
    Ok(())
}

#[tokio::test]
async fn an_account_is_opened_changed_and_shown() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let kwd = json!({"server": "live-1", "login": "8001", "currency": "KWD", "balance": "1.005"});
    stage.account(kwd).await?;
    let (_, shown) = stage
        .control("GET", "/sim/accounts/live-1/8001", "")
        .await?;
    assert_eq!(shown.get("balance"), Some(&json!("1.005")));
    assert_eq!(shown.get("digits"), Some(&json!(3)));
    let patch = json!({"server": "live-1", "login": 8001, "enabled": false, "balance": "7"});
    let (status, shown) = stage
        .control("PATCH", "/sim/accounts", &patch.to_string())
        .await?;
    assert_eq!(status, 200);
    assert_eq!(shown.get("balance"), Some(&json!("7.000")));
    let (_, deals) = stage.control("GET", "/sim/deals", "").await?;
    assert_eq!(deals, json!([]), "a balance set by hand makes no deal");

    let mut session = stage.session().await?;
    assert_eq!(
        session
            .get("user/get?login=8001")
            .await?
            .text("Rights")
            .as_deref(),
        Some("482")
    );
    let refused = session.credit(8001, "1", "x").await?.context("cut")?;
    assert_eq!(refused.code(), Some(1002));
    Ok(())
}

#[tokio::test]
async fn a_group_comes_to_be_for_a_currency_that_has_none() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let account = json!({"server": "live-1", "login": 1, "currency": "CHF", "digits": 4});
    stage.account(account).await?;
    let mut session = stage.session().await?;
    let group = session.get("group/get?group=real%5CCHF").await?;
    assert_eq!(group.text("CurrencyDigits").as_deref(), Some("4"));
    assert_eq!(session.get("group/get?group=none").await?.code(), Some(13));
    Ok(())
}

#[tokio::test]
async fn a_deal_of_somebody_else_moves_money_and_was_sent_by_nobody() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let deal = json!({"server": "live-1", "login": 7001, "amount": "-5.00", "comment": "staff"});
    let (status, deal) = stage
        .control("POST", "/sim/deals", &deal.to_string())
        .await?;
    assert_eq!(status, 201);
    assert_eq!(deal.get("amount"), Some(&json!("-5.00")));
    assert_eq!(deal.get("sent_comment"), Some(&Value::Null));
    let (_, account) = stage
        .control("GET", "/sim/accounts/live-1/7001", "")
        .await?;
    assert_eq!(account.get("balance"), Some(&json!("-5.00")));
    let path = "/sim/deals?server=live-1&login=7001&reference=staff";
    let (_, found) = stage.control("GET", path, "").await?;
    assert_eq!(found, json!([deal]));
    Ok(())
}

#[tokio::test]
async fn the_wire_log_names_every_call_in_order() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    session.get("user/get?login=7001").await?;
    session.credit(7001, "5.0", "dep:1").await?.context("cut")?;
    let (_, calls) = stage.control("GET", "/sim/calls", "").await?;
    let calls = calls.as_array().cloned().context("no list")?;
    let commands: Vec<&str> = calls
        .iter()
        .filter_map(|call| call.get("command")?.as_str())
        .collect();
    assert_eq!(
        commands,
        ["auth/start", "auth/answer", "user/get", "trade/balance"]
    );
    let call = calls.last().context("no call")?;
    for (name, value) in [
        ("server", json!("live-1")),
        ("method", json!("POST")),
        ("login", json!(7001)),
        ("amount", json!("5.0")),
        ("comment", json!("dep:1")),
        ("answered", json!(true)),
        ("answer", json!("0 Done")),
    ] {
        assert_eq!(call.get(name), Some(&value), "{name}");
    }
    assert!(call.get("applied_at").is_some_and(Value::is_string));
    assert!(
        calls
            .iter()
            .all(|other| other.get("session") == call.get("session"))
    );
    assert!(
        !calls
            .iter()
            .any(|call| call.to_string().contains("srv_rand"))
    );
    let (_, own) = stage.control("GET", "/sim/calls?login=7001", "").await?;
    assert_eq!(own.as_array().map(Vec::len), Some(2));
    Ok(())
}
