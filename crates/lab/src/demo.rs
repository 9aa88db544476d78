//! The demo: a fixed story on the real services. Each payment goes wrong in its own way, and each
//! ending is checked against the simulator's ledger.
//!
//! What is right is written down here, by hand, for every scene; the product is only asked.

mod flood;
mod row;
mod scenes;
mod stage;

use anyhow::Context;

use crate::stack::Stack;
use stage::Stage;

/// Plays the story; `true` when every row is right.
///
/// # Errors
/// The story cannot be played to its end.
pub async fn play(stack: &Stack) -> anyhow::Result<bool> {
    let mut stage = Stage::build(stack)?;
    let mut rows = Vec::new();
    let idle = flood::idle_latency(&mut stage)
        .await
        .context("while the machine is idle")?;
    scenes::play_all(&mut stage, &mut rows).await?;
    let flooded = flood::play(&mut stage, &mut rows)
        .await
        .context("300 payments at once")?;
    row::print_table(&rows);
    row::print_notes(&[idle, flooded]);
    let wrong = rows.iter().filter(|row| !row.is_right).count();
    row::print_verdict(rows.len(), wrong);
    Ok(wrong == 0)
}
