//! Pages of at most a hundred, and batches.

use anyhow::Context as _;
use serde_json::json;

use crate::client::{Stage, field};

const WINDOW: &str = "from=0&to=9999999999";

#[tokio::test]
async fn a_page_has_at_most_a_hundred_deals() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    let mut session = stage.session().await?;
    for _ in 0..250 {
        session.credit(7001, "1.00", "x").await?.context("cut")?;
    }
    let total = session
        .get(&format!("deal/get_total?login=7001&{WINDOW}"))
        .await?;
    assert_eq!(total.text("Total").as_deref(), Some("250"));
    let mut tickets: Vec<u64> = Vec::new();
    for (offset, asked, given) in [(0, 1000, 100), (100, 100, 100), (200, 100, 50), (250, 9, 0)] {
        let page = format!("deal/get_page?login=7001&{WINDOW}&offset={offset}&total={asked}");
        let rows = session.get(&page).await?.rows();
        assert_eq!(rows.len(), given, "offset {offset}");
        tickets.extend(
            rows.iter()
                .filter_map(|row| field(row, "Deal").parse::<u64>().ok()),
        );
    }
    assert_eq!(tickets.len(), 250);
    assert!(tickets.is_sorted_by(|left, right| left < right));
    let gaps = tickets
        .iter()
        .zip(tickets.iter().skip(1))
        .filter(|(a, b)| *b - *a > 1)
        .count();
    assert!(gaps > 0, "tickets have gaps");
    Ok(())
}

#[tokio::test]
async fn a_batch_reads_several_logins_or_tickets() -> anyhow::Result<()> {
    let stage = Stage::open().await?;
    stage
        .account(json!({"server": "live-1", "login": 7002, "currency": "JPY"}))
        .await?;
    let mut session = stage.session().await?;
    let first = session.credit(7001, "1.00", "a").await?.context("cut")?;
    session.credit(7002, "100", "b").await?.context("cut")?;
    let batch = session
        .get(&format!("deal/get_batch?login=7001,7002,7003&{WINDOW}"))
        .await?;
    let profits: Vec<String> = batch
        .rows()
        .iter()
        .map(|row| field(row, "Profit"))
        .collect();
    assert_eq!(profits, ["1.00", "100"]);
    let ticket = first.text("Ticket").context("no ticket")?;
    let batch = session
        .get(&format!("deal/get_batch?ticket={ticket},1"))
        .await?;
    assert_eq!(batch.rows().len(), 1);
    for query in [
        "",
        "login=7001",
        "login=7001&ticket=1",
        "login=x&from=0&to=1",
    ] {
        let batch = session.get(&format!("deal/get_batch?{query}")).await?;
        assert_eq!(batch.code(), Some(3), "{query}");
    }
    Ok(())
}
