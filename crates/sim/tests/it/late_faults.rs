//! Faults of the answer and of what is stored.

use anyhow::Context as _;
use serde_json::json;

use crate::client::{Stage, field};

#[tokio::test]
async fn no_ticket_is_success_without_one() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .fault(json!({"on": "trade/balance", "action": "no-ticket"}))
        .await?;
    let mut session = stage.session().await?;
    let reply = session.credit(7001, "1.00", "a").await?.context("cut")?;
    assert_eq!(reply.code(), Some(0));
    assert_eq!(reply.text("Ticket"), None);
    assert_eq!(stage.deals().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn comments_are_stored_cut_or_changed_and_found_as_sent() -> anyhow::Result<()> {
    for (action, stored) in [("comment-cut", "dep:1"), ("comment-rewrite", "Deposit")] {
        let stage = Stage::open().await?;
        stage
            .fault(json!({"on": "trade/*", "action": action, "times": 1}))
            .await?;
        let mut session = stage.session().await?;
        let reply = session
            .credit(7001, "1.00", "dep:1-abcde")
            .await?
            .context("cut")?;
        assert!(reply.text("Ticket").is_some());
        let (_, found) = stage
            .control("GET", "/sim/deals?reference=dep:1-abcde", "")
            .await?;
        assert_eq!(
            found.get(0).map(|deal| field(deal, "comment")).as_deref(),
            Some(stored)
        );
        let page = session
            .get("deal/get_page?login=7001&from=0&to=9999999999")
            .await?;
        assert_eq!(
            page.rows()
                .first()
                .map(|row| field(row, "Comment"))
                .as_deref(),
            Some(stored)
        );
    }
    Ok(())
}

#[tokio::test]
async fn two_replies_are_swapped() -> anyhow::Result<()> {
    for times in [1, 2] {
        let stage = Stage::open().await?;
        let swap = json!({
            "on": "trade/balance", "action": "swap-reply", "times": times, "seconds": 20,
        });
        let id = stage.fault(swap).await?;
        let mut sessions = [stage.session().await?, stage.session().await?];
        let [first, second] = &mut sessions;
        let (first, second) = tokio::join!(
            first.credit(7001, "1.00", "first"),
            second.credit(7001, "2.00", "second"),
        );
        for (reply, own) in [(first?, "first"), (second?, "second")] {
            let ticket = reply.context("cut")?.text("Ticket").context("no ticket")?;
            let deals = stage.deals().await?;
            let named = deals
                .iter()
                .find(|deal| deal.get("ticket").map(ToString::to_string) == Some(ticket.clone()));
            assert_ne!(
                named.map(|deal| field(deal, "comment")).as_deref(),
                Some(own)
            );
        }
        assert_eq!(stage.hits(id).await?, times);
        let mut session = stage.session().await?;
        let normal = session
            .credit(7001, "3.00", "third")
            .await?
            .context("cut")?;
        assert!(normal.text("Ticket").is_some());
    }
    Ok(())
}

#[tokio::test]
async fn a_reply_without_a_partner_goes_to_its_own_caller() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let swap = json!({"on": "trade/balance", "action": "swap-reply", "times": 1, "seconds": 0.1});
    stage.fault(swap).await?;
    let mut session = stage.session().await?;
    let reply = session
        .credit(7001, "1.00", "alone")
        .await?
        .context("cut")?;
    let ticket = reply.text("Ticket").context("no ticket")?;
    let deals = stage.deals().await?;
    let own = deals
        .first()
        .and_then(|deal| deal.get("ticket"))
        .map(ToString::to_string);
    assert_eq!(own, Some(ticket));
    Ok(())
}
