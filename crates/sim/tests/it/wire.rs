//! Login, balance and reading back, as a client of a real server does it.

use anyhow::Context as _;
use serde_json::json;

use crate::client::{Connection, PASSWORD, Stage, field};

const WINDOW: &str = "from=0&to=9999999999";

#[tokio::test]
async fn a_manager_logs_in_credits_and_reads_back() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let booked = session
        .credit(7001, "500.00", "dep:1-abcde")
        .await?
        .context("cut")?;
    assert_eq!(booked.code(), Some(0));
    let ticket = booked.text("Ticket").context("no ticket")?;

    let total = session
        .get(&format!("deal/get_total?login=7001&{WINDOW}"))
        .await?;
    assert_eq!(total.text("Total").as_deref(), Some("1"));
    let page = format!("deal/get_page?login=7001&{WINDOW}&offset=0&total=100");
    let rows = session.get(&page).await?.rows();
    let row = rows.first().context("no row")?;
    let read = ["Deal", "Login", "Dealer", "Action", "Profit", "Comment"].map(|n| field(row, n));
    assert_eq!(
        read,
        [&ticket, "7001", "1001", "2", "500.00", "dep:1-abcde"]
    );

    let user = session.get("user/get?login=7001").await?;
    assert_eq!(user.text("Balance").as_deref(), Some("500.00"));
    assert_eq!(user.text("Rights").as_deref(), Some("483"));
    let group = user.text("Group").context("no group")?.replace('\\', "%5C");
    let group = session.get(&format!("group/get?group={group}")).await?;
    assert_eq!(group.text("CurrencyDigits").as_deref(), Some("2"));

    let truth = stage.deals().await?;
    let deal = truth.first().context("no deal")?;
    assert_eq!(deal.get("ticket"), Some(&json!(ticket.parse::<u64>()?)));
    assert_eq!(deal.get("amount"), Some(&json!("500.00")));
    Ok(())
}

#[tokio::test]
async fn query_form_json_and_get_all_move_money() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let query = "login=7001&type=2&balance=1.00&comment=q";
    let path = format!("/api/trade/balance?{query}");
    for (method, path, body) in [
        ("GET", path.as_str(), ""),
        ("POST", path.as_str(), ""),
        ("POST", "/api/trade/balance", query),
        (
            "POST",
            "/api/trade/balance",
            r#"{"login":7001,"type":"2","balance":"1.00"}"#,
        ),
    ] {
        let reply = session.call(method, path, body).await?.context("cut")?;
        assert_eq!(reply.code(), Some(0), "{method} {path} {body}: {reply:?}");
    }
    assert_eq!(stage.deals().await?.len(), 4);
    Ok(())
}

#[tokio::test]
async fn a_command_without_a_session_is_forbidden() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let _other = stage.session().await?;
    let mut connection = stage.connection("live-1").await?;
    for command in [
        "test/access",
        "user/get?login=7001",
        "time/server",
        "server/restart",
    ] {
        assert_eq!(connection.get(command).await?.status, 403, "{command}");
    }
    let cut = connection.credit(7001, "1.00", "x").await?.context("cut")?;
    assert_eq!(cut.status, 403);
    assert_eq!(connection.log_in(1001, "password1").await?.status, 403);
    assert_eq!(connection.log_in(1, PASSWORD).await?.status, 403);
    assert!(stage.deals().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn quit_ends_session_and_connection() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    assert_eq!(session.get("test/access").await?.code(), Some(0));
    assert_eq!(session.get("quit").await?.code(), Some(0));
    assert!(session.call("GET", "/api/test/access", "").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn an_account_lives_on_one_server_only() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut connection = stage.connection("live-2").await?;
    connection.log_in(1001, PASSWORD).await?;
    for command in [
        "user/get?login=7001",
        "trade/balance?login=7001&type=2&balance=1",
    ] {
        assert_eq!(connection.get(command).await?.code(), Some(13), "{command}");
    }
    assert!(stage.deals().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_manager_without_the_right_only_reads() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut connection = stage.connection("live-1").await?;
    connection.log_in(1002, PASSWORD).await?;
    let refused = connection.credit(7001, "1.00", "x").await?.context("cut")?;
    assert_eq!(refused.code(), Some(8));
    assert_eq!(connection.get("user/get?login=7001").await?.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn a_quiet_account_has_no_trade_state_until_something_is_booked() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let state = "user/account/get?login=7001";
    assert_eq!(session.get(state).await?.code(), Some(13));
    session.credit(7001, "2.50", "x").await?;
    assert_eq!(
        session.get(state).await?.text("Equity").as_deref(),
        Some("2.50")
    );
    Ok(())
}

#[tokio::test]
async fn credit_moves_credit_and_a_long_comment_is_cut() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let long = "c".repeat(40);
    let credit = format!("trade/balance?login=7001&type=3&balance=10&comment={long}");
    assert_eq!(session.get(&credit).await?.code(), Some(0));
    let user = session.get("user/get?login=7001").await?;
    assert_eq!(user.text("Credit").as_deref(), Some("10.00"));
    assert_eq!(user.text("Balance").as_deref(), Some("0.00"));
    let (_, found) = stage
        .control("GET", &format!("/sim/deals?reference={long}"), "")
        .await?;
    let stored = found.get(0).map(|deal| field(deal, "comment"));
    assert_eq!(stored, Some("c".repeat(31)));
    Ok(())
}

#[tokio::test]
async fn the_clock_and_deal_times_are_those_of_the_zone() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    session.credit(7001, "1.00", "x").await?;
    let clock = session
        .get("time/server")
        .await?
        .text("Time")
        .context("no time")?;
    let now: i64 = clock.split(' ').next().context("empty")?.parse()?;
    let from = now - 60;
    let shown = session
        .get(&format!("deal/get_total?login=7001&from={from}&to={now}"))
        .await?;
    assert_eq!(shown.text("Total").as_deref(), Some("1"));
    let utc = now - 10_800;
    let hidden = format!("deal/get_total?login=7001&from=0&to={utc}");
    assert_eq!(
        session.get(&hidden).await?.text("Total").as_deref(),
        Some("0")
    );
    let zone = session.get("time/get").await?;
    assert_eq!(zone.text("TimeZone").as_deref(), Some("180"));
    assert_eq!(
        session
            .get("common/get")
            .await?
            .text("TotalDeals")
            .as_deref(),
        Some("1")
    );
    Ok(())
}

#[tokio::test]
async fn window_bounds_are_inclusive() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    let booked = session.credit(7001, "1.00", "x").await?.context("cut")?;
    let ticket = booked.text("Ticket").context("no ticket")?;
    let deal = session.get(&format!("deal/get?ticket={ticket}")).await?;
    let at: i64 = deal.text("Time").context("no time")?.parse()?;
    for (from, to, total) in [(at, at, "1"), (at + 1, at + 9, "0"), (at - 9, at - 1, "0")] {
        let asked = format!("deal/get_total?login=7001&from={from}&to={to}");
        assert_eq!(
            session.get(&asked).await?.text("Total").as_deref(),
            Some(total)
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_idle_connection_is_closed() -> anyhow::Result<()> {
    let settings = serde_json::from_value(json!({
        "control": "127.0.0.1:0",
        "servers": [{
            "name": "a", "listen": "127.0.0.1:0", "idle_limit_seconds": 1,
            "managers": [{"login": 1001, "password": PASSWORD, "may_operate": true}],
        }],
    }))?;
    let sim = claimcheck_sim::Mt5Sim::start(settings).await?;
    let address = sim.server_address("a").context("no server")?;
    let mut connection = Connection::open(address).await?;
    connection.log_in(1001, PASSWORD).await?;
    assert!(connection.is_closed_by_the_other_side().await?);
    sim.stop().await;
    Ok(())
}

#[tokio::test]
async fn one_seed_gives_one_run_and_a_stopped_simulator_leaves_its_address() -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let stage = Stage::open().await?;
        let mut session = stage.session().await?;
        let mut tickets = Vec::new();
        for _ in 0..10 {
            let booked = session.credit(7001, "1.00", "x").await?.context("cut")?;
            tickets.push(booked.text("Ticket").context("no ticket")?);
        }
        runs.push(tickets);
        let address = stage.sim.server_address("live-1").context("no server")?;
        stage.sim.stop().await;
        assert!(Connection::open(address).await.is_err());
        assert!(session.call("GET", "/api/test/access", "").await?.is_none());
    }
    assert_eq!(runs.first(), runs.last());
    Ok(())
}
