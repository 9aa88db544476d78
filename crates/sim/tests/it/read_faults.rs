//! Faults in answers to reads; the ground truth never changes for them.

use anyhow::Context as _;
use serde_json::json;

use crate::client::{Connection, Stage, field};

const TOTAL: &str = "deal/get_total?login=7001&from=0&to=9999999999";
const PAGE: &str = "deal/get_page?login=7001&from=0&to=9999999999&offset=0&total=100";

async fn stage_with_deals() -> anyhow::Result<(Stage, Connection)> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    for comment in ["a", "b", "c"] {
        session
            .credit(7001, "1.00", comment)
            .await?
            .context("cut")?;
    }
    Ok((stage, session))
}

#[tokio::test]
async fn wrong_login_answers_with_rows_of_another_account() -> anyhow::Result<()> {
    let (stage, mut session) = stage_with_deals().await?;
    let id = stage
        .fault(json!({"on": "deal/*", "action": "wrong-login"}))
        .await?;
    let rows = session.get(PAGE).await?.rows();
    let logins: Vec<String> = rows.iter().map(|row| field(row, "Login")).collect();
    assert_eq!(logins, ["7002"; 3], "nobody else has deals");

    stage
        .account(json!({"server": "live-1", "login": 6999, "currency": "USD"}))
        .await?;
    session.credit(6999, "9.00", "x").await?.context("cut")?;
    assert_eq!(
        session.get(TOTAL).await?.text("Total").as_deref(),
        Some("1")
    );
    let rows = session.get(PAGE).await?.rows();
    let row = rows.first().context("no row")?;
    assert_eq!(field(row, "Login"), "6999");
    assert_eq!(stage.hits(id).await?, 3);

    stage
        .fault(json!({"on": "user/get", "action": "wrong-login"}))
        .await?;
    let user = session.get("user/get?login=7001").await?;
    assert_eq!(user.text("Login").as_deref(), Some("6999"));
    Ok(())
}

#[tokio::test]
async fn history_error_empty_has_no_rows_beside_an_error() -> anyhow::Result<()> {
    let (stage, mut session) = stage_with_deals().await?;
    stage
        .fault(json!({"on": "deal/*", "action": "history-error-empty", "code": 9}))
        .await?;
    let page = session.get(PAGE).await?;
    assert_eq!(page.code(), Some(9));
    assert_eq!(page.answer(), json!([]));
    let total = session.get(TOTAL).await?;
    assert_eq!(
        (total.code(), total.text("Total").as_deref()),
        (Some(9), Some("0"))
    );
    Ok(())
}

#[tokio::test]
async fn history_lag_hides_young_deals_everywhere_but_in_the_truth() -> anyhow::Result<()> {
    let (stage, mut session) = stage_with_deals().await?;
    let lag = json!({"on": "deal/*", "login": 7001, "action": "history-lag", "seconds": 600});
    let id = stage.fault(lag).await?;
    assert_eq!(
        session.get(TOTAL).await?.text("Total").as_deref(),
        Some("0")
    );
    assert!(session.get(PAGE).await?.rows().is_empty());
    let deals = stage.deals().await?;
    let ticket = deals
        .first()
        .and_then(|deal| deal.get("ticket"))
        .context("no deal")?;
    let hidden = session.get(&format!("deal/get?ticket={ticket}")).await?;
    assert_eq!(hidden.code(), Some(13));
    assert_eq!(stage.hits(id).await?, 3);
    assert_eq!(deals.len(), 3);
    Ok(())
}

#[tokio::test]
async fn history_page_drop_makes_a_page_short() -> anyhow::Result<()> {
    let (stage, mut session) = stage_with_deals().await?;
    let id = stage
        .fault(json!({"on": "deal/*", "action": "history-page-drop", "times": 1}))
        .await?;
    assert_eq!(
        session.get(TOTAL).await?.text("Total").as_deref(),
        Some("3")
    );
    assert_eq!(stage.hits(id).await?, 0, "a total is no page");
    assert_eq!(session.get(PAGE).await?.rows().len(), 2);
    assert_eq!(session.get(PAGE).await?.rows().len(), 3);
    Ok(())
}

#[tokio::test]
async fn history_grows_after_a_page() -> anyhow::Result<()> {
    let (stage, mut session) = stage_with_deals().await?;
    let grows = json!({"on": "deal/get_page", "action": "history-grows", "times": 1});
    stage.fault(grows).await?;
    assert_eq!(
        session.get(TOTAL).await?.text("Total").as_deref(),
        Some("3")
    );
    assert_eq!(session.get(PAGE).await?.rows().len(), 3);
    assert_eq!(
        session.get(TOTAL).await?.text("Total").as_deref(),
        Some("4")
    );
    let deals = stage.deals().await?;
    let grown = deals.last().context("no deal")?;
    assert_eq!(grown.get("amount"), Some(&json!("0.01")));
    assert_eq!(grown.get("sent_comment"), Some(&json!(null)));
    Ok(())
}
