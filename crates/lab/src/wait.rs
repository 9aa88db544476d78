//! Waiting for a condition, never for a time alone. Every wait has a limit, and says what it waited
//! for when the limit is over.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::process::Process;

/// Between two looks at a condition.
const INTERVAL: Duration = Duration::from_millis(40);
/// Lines of a log that are shown when its process did not get ready.
const TAIL_LINES: usize = 15;

/// Waits until the condition holds.
///
/// # Errors
/// It did not hold within the limit.
pub async fn until<F>(what: &str, limit: Duration, mut holds: F) -> anyhow::Result<()>
where
    F: AsyncFnMut() -> bool,
{
    let started = Instant::now();
    while !holds().await {
        if started.elapsed() >= limit {
            bail!("{what}: not within {} s", limit.as_secs());
        }
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(())
}

/// Waits until a process has become ready; ends at once when it died instead.
pub(crate) async fn ready<F>(
    name: &str,
    process: Process,
    log: &Path,
    limit: Duration,
    mut is_ready: F,
) -> anyhow::Result<()>
where
    F: AsyncFnMut() -> bool,
{
    let started = Instant::now();
    loop {
        if is_ready().await {
            return Ok(());
        }
        let why = if !process.is_alive() {
            "ended while it started".to_owned()
        } else if started.elapsed() >= limit {
            format!("is not ready after {} s", limit.as_secs())
        } else {
            tokio::time::sleep(INTERVAL).await;
            continue;
        };
        bail!("{name} {why}; its log ends with\n{}", tail(log));
    }
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES);
    let last = lines.get(from..).unwrap_or_default();
    last.iter().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_condition_that_never_holds_is_named_when_the_limit_is_over() {
        let error = until("pigs fly", Duration::ZERO, async || false).await;
        let message = error.expect_err("it never holds").to_string();
        assert!(message.starts_with("pigs fly"), "{message}");
    }
}
