//! `lab demo`: the story, on a stack of its own that leaves nothing behind.

use std::process::ExitCode;

use claimcheck_lab::demo::play;
use claimcheck_lab::{Infra, Interrupt, Lock, Place, Stack, StackOptions, teardown};

use super::output::note;

/// The demo's stack: of its folder, database and vhost.
const DEMO: &str = "demo";

/// Plays the demo; exit 0 only if every ending is right.
pub(crate) async fn demo(place: &Place) -> anyhow::Result<ExitCode> {
    let (dir, lock_file) = place.run(DEMO);
    let mut interrupt = Interrupt::listen()?;
    let lock = Lock::wait(&lock_file).await?;
    teardown(&dir, true).await?;
    let played = tokio::select! {
        played = start_and_play(&dir, &lock) => played,
        () = interrupt.wished() => {
            note("interrupted");
            // The guard has the lock until it has ended what was begun.
            drop(lock);
            Lock::wait(&lock_file).await?;
            return Ok(ExitCode::from(Interrupt::EXIT));
        }
    };
    let is_right = played?;
    Ok(if is_right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn start_and_play(dir: &std::path::Path, lock: &Lock) -> anyhow::Result<bool> {
    note("starting a private PostgreSQL, RabbitMQ, MT5 simulator and every service");
    let infra = Infra::start(dir, Some(lock)).await?;
    let played = async {
        let stack = Stack::start(&infra, StackOptions::named(DEMO)).await?;
        let played = play(&stack).await;
        stack.stop().await?;
        played
    };
    let played = played.await;
    infra.stop().await?;
    played
}
