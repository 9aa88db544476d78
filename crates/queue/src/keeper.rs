//! Keeps one link up: when to try again, what to say about it, and what others see of it.
//!
//! The rule: pauses grow until a link has lasted as long as the longest pause. A link that comes
//! up only to die at once must not become a tight loop against RabbitMQ.

use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::link::{Link, LinkError};
use crate::metric;
use crate::settings::QueueSettings;

/// The link of the moment, as others see it.
pub(crate) type Seen = watch::Receiver<Option<Arc<Link>>>;

pub(crate) struct Keeper {
    settings: QueueSettings,
    role: &'static str,
    pub(crate) stop: CancellationToken,
    shown: watch::Sender<Option<Arc<Link>>>,
    pace: Pace,
    trouble: Option<String>,
    opened_at: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(
        settings: QueueSettings,
        role: &'static str,
        stop: CancellationToken,
    ) -> (Self, Seen) {
        let (shown, seen) = watch::channel(None);
        let pace = Pace::new(settings.backoff_min, settings.backoff_max);
        metrics::gauge!(metric::CONNECTED, "role" => role).set(0);
        let keeper = Self {
            settings,
            role,
            stop,
            shown,
            pace,
            trouble: None,
            opened_at: None,
        };
        (keeper, seen)
    }

    /// The next link, after a pause where the last one ended; nothing once stopped.
    pub(crate) async fn next_link(&mut self) -> Option<Arc<Link>> {
        self.hide();
        let again = self.opened_at.is_some();
        if let Some(opened_at) = self.opened_at.take() {
            self.pace.lasted(opened_at.elapsed());
            self.pause().await?;
        }
        loop {
            let opening = Link::open(&self.settings, self.role);
            let opened = self.stop.run_until_cancelled(opening).await?;
            match opened {
                Ok(link) => {
                    self.opened_at = Some(Instant::now());
                    if again {
                        metrics::counter!(metric::RECONNECTS, "role" => self.role).increment(1);
                    }
                    return Some(Arc::new(link));
                }
                Err(error) => {
                    self.report(&error);
                    self.pause().await?;
                }
            }
        }
    }

    /// The link is ready for use: others may see it.
    pub(crate) fn show(&mut self, link: &Arc<Link>) {
        self.trouble = None;
        tracing::info!(queue.role = self.role, "connected to RabbitMQ");
        metrics::gauge!(metric::CONNECTED, "role" => self.role).set(1);
        self.shown.send_replace(Some(Arc::clone(link)));
    }

    pub(crate) fn hide(&self) {
        metrics::gauge!(metric::CONNECTED, "role" => self.role).set(0);
        self.shown.send_replace(None);
    }

    /// Says what is wrong, once per change: an hour without RabbitMQ is one line, not hundreds.
    pub(crate) fn report(&mut self, error: &LinkError) {
        let chain = chain(error);
        if self.trouble.as_ref() == Some(&chain) {
            tracing::debug!(queue.role = self.role, error = %chain, "still no RabbitMQ");
        } else {
            tracing::warn!(queue.role = self.role, error = %chain, "RabbitMQ is not usable");
            self.trouble = Some(chain);
        }
    }

    async fn pause(&mut self) -> Option<()> {
        let pause = self.pace.pause();
        self.stop.run_until_cancelled(sleep(pause)).await
    }
}

/// An error with its causes. Nothing below ever holds the URL: see `settings`.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // The AMQP library repeats its causes in its own text.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// Growing pauses, each drawn from the upper half of its step so that replicas do not march in
/// step.
struct Pace {
    min: Duration,
    max: Duration,
    step: Duration,
}

impl Pace {
    fn new(min: Duration, max: Duration) -> Self {
        Self {
            min,
            max,
            step: min,
        }
    }

    fn lasted(&mut self, lived: Duration) {
        if lived >= self.max {
            self.step = self.min;
        }
    }

    fn pause(&mut self) -> Duration {
        let half = self.step / 2;
        self.step = self.step.saturating_mul(2).min(self.max);
        let span = u64::try_from(half.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        half + Duration::from_millis(RandomState::new().build_hasher().finish() % span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: Duration = Duration::from_millis(100);
    const MAX: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_grow_to_the_limit_and_stay_in_the_upper_half_of_their_step() {
        let mut pace = Pace::new(MIN, MAX);
        for step_ms in [100, 200, 400, 800, 1000, 1000] {
            let (pause, step) = (pace.pause(), Duration::from_millis(step_ms));
            assert!(pause >= step / 2 && pause <= step, "{pause:?} of {step:?}");
        }
    }

    #[test]
    fn only_a_link_that_lasted_starts_the_pauses_over() {
        let mut pace = Pace::new(MIN, MAX);
        for _ in 0..5 {
            pace.pause();
        }
        pace.lasted(MAX - MIN);
        assert!(pace.pause() >= MAX / 2);
        pace.lasted(MAX);
        assert!(pace.pause() <= MIN);
    }

    #[test]
    fn a_chain_names_every_cause_once() {
        let cause = std::io::Error::other("refused");
        let error = LinkError::Refused(lapin::Error::from(cause));
        assert_eq!(
            chain(&error),
            "no connection to RabbitMQ: IO error: refused"
        );
    }
}
