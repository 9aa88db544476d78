//! The one shape of every loop: wake or tick, then one step, again while there is work. A step
//! takes no message: it asks the store what is due, so a lost or doubled wake-up changes only how
//! soon something happens. A step is never cancelled; a stop is obeyed between steps.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{sync::Notify, time::sleep};

use crate::{Shutdown, error_chain};

/// The pause after a first failure. No wake-up shortens it, so a burst of them cannot turn a
/// failing loop into a busy one.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// The longest pause after repeated failures.
const BACKOFF_LAST: Duration = Duration::from_secs(10);

/// What a step found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something was done; there may be more, so the next step follows at once.
    Worked,
    /// Nothing was due.
    Idle,
}

/// Tells a loop that something may be due. A wake-up given while the loop works is kept, one.
#[derive(Clone, Debug, Default)]
pub struct Wake(Arc<Notify>);

impl Wake {
    /// One without a wake-up waiting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes one loop that waits on this, or the next one that will.
    pub fn wake(&self) {
        self.0.notify_one();
    }

    /// Returns at the next wake-up.
    pub async fn woken(&self) {
        self.0.notified().await;
    }
}

/// Runs `step` until a stop is requested: at once again after work, on a wake-up or after `tick`
/// when idle, and after a growing pause when it failed.
pub async fn run<F, Fut, E>(
    name: &'static str,
    tick: Duration,
    wake: &Wake,
    shutdown: &Shutdown,
    mut step: F,
) where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<Progress, E>>,
    E: Into<anyhow::Error>,
{
    let failures = metrics::counter!("claimcheck_step_failures_total", "loop" => name);
    failures.increment(0);
    let mut failed_in_a_row = 0_u32;
    while !shutdown.is_requested() {
        match step().await {
            Ok(Progress::Worked) => failed_in_a_row = 0,
            Ok(Progress::Idle) => {
                failed_in_a_row = 0;
                rest(tick, wake, shutdown).await;
            }
            Err(error) => {
                failures.increment(1);
                let error = error.into();
                let pause = backoff(failed_in_a_row);
                failed_in_a_row = failed_in_a_row.saturating_add(1);
                tracing::warn!(
                    r#loop = name,
                    error = %error_chain(error.as_ref()),
                    failed_in_a_row,
                    pause_ms = pause.as_millis(),
                    "a step failed"
                );
                pause_unless_stopped(BACKOFF_FIRST, shutdown).await;
                rest(pause.saturating_sub(BACKOFF_FIRST), wake, shutdown).await;
            }
        }
    }
}

/// The pause after so many failures before this one.
fn backoff(failed_before: u32) -> Duration {
    BACKOFF_FIRST
        .saturating_mul(2_u32.saturating_pow(failed_before))
        .min(BACKOFF_LAST)
}

async fn rest(at_most: Duration, wake: &Wake, shutdown: &Shutdown) {
    tokio::select! {
        () = shutdown.requested() => {}
        () = wake.woken() => {}
        () = sleep(at_most) => {}
    }
}

async fn pause_unless_stopped(pause: Duration, shutdown: &Shutdown) {
    tokio::select! {
        () = shutdown.requested() => {}
        () = sleep(pause) => {}
    }
}
