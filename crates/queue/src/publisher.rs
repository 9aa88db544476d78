//! Publishing: mandatory, persistent, and done only when RabbitMQ has said so.
//!
//! The rule: `Ok` means a queue has the message. Every other answer is an error with a name, and
//! no error may ever hold up the caller: the row is committed, the sweep finds it.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapin::Confirmation;
use lapin::options::BasicPublishOptions;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::keeper::{Keeper, Seen};
use crate::link::{CHANNELS_MAX, Link};
use crate::metric;
use crate::settings::QueueSettings;
use crate::topology::WAKE_EXCHANGE;
use crate::wake::{BadWake, Lane, Wake};

const ROLE: &str = "publisher";
/// A topology that went missing is declared again at most this often.
const REDECLARE_INTERVAL: Duration = Duration::from_secs(1);
/// How long closing waits for publishes in flight and the goodbye.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Publishes wake-ups over one connection that looks after itself. Clones share it.
#[derive(Clone)]
pub struct Publisher {
    inner: Arc<Inner>,
}

/// Why a wake-up is not known to be in its queue. None of these is a reason to fail the caller.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Not connected, or RabbitMQ takes no publishes now. Said at once, without waiting.
    #[error("RabbitMQ is not available")]
    Unavailable,
    /// No answer in time; the message may or may not be in the queue.
    #[error("RabbitMQ did not confirm in time")]
    TimedOut,
    /// RabbitMQ refused to take responsibility, for instance because the queue is full.
    #[error("RabbitMQ refused the message")]
    Nacked,
    /// No queue took the message.
    #[error("no queue took the message")]
    Returned,
    /// The wake-up itself cannot be sent.
    #[error(transparent)]
    Invalid(#[from] BadWake),
    /// The channel or connection failed underneath.
    #[error("the publish failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

struct Inner {
    seen: Seen,
    missing: Arc<Notify>,
    confirm_timeout: Duration,
    task: Mutex<Option<JoinHandle<()>>>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl Publisher {
    /// Starts connecting in the background. Never fails and never waits; must be called within
    /// a tokio runtime.
    #[must_use]
    pub fn start(settings: QueueSettings) -> Self {
        let stop = CancellationToken::new();
        let missing = Arc::new(Notify::new());
        let confirm_timeout = settings.confirm_timeout;
        let (keeper, seen) = Keeper::new(settings, ROLE, stop.clone());
        let task = tokio::spawn(keep(keeper, Arc::clone(&missing)));
        let inner = Inner {
            seen,
            missing,
            confirm_timeout,
            task: Mutex::new(Some(task)),
            stop: stop.clone(),
            _stop_on_drop: stop.drop_guard(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Publishes one wake-up and waits for the confirm, within the confirm timeout.
    #[tracing::instrument(
        name = "publish.wake",
        skip_all,
        fields(queue.lane = lane.name(), operation.reference = %wake.id)
    )]
    pub async fn publish(&self, lane: Lane, wake: &Wake) -> Result<(), PublishError> {
        let published = timeout(self.inner.confirm_timeout, self.attempt(lane, wake)).await;
        let published = published.unwrap_or(Err(PublishError::TimedOut));
        if matches!(
            published,
            Err(PublishError::Returned | PublishError::Failed(_))
        ) {
            self.inner.missing.notify_one();
        }
        let outcome = outcome_name(&published);
        metrics::counter!(metric::PUBLISHED, "lane" => lane.name(), "outcome" => outcome)
            .increment(1);
        published
    }

    /// Whether a publish has a chance now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link().is_some()
    }

    /// Lets publishes in flight finish, says goodbye; later publishes are `Unavailable`.
    pub async fn close(&self) {
        self.inner.stop.cancel();
        let task = self
            .inner
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task
            && timeout(CLOSE_TIMEOUT, task).await.is_err()
        {
            tracing::debug!("the publisher did not close in time");
        }
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.inner
            .seen
            .borrow()
            .clone()
            .filter(|link| link.is_alive())
    }

    async fn attempt(&self, lane: Lane, wake: &Wake) -> Result<(), PublishError> {
        let properties = wake.to_properties()?;
        let link = self.link().filter(|link| !link.is_blocked());
        let link = link.ok_or(PublishError::Unavailable)?;
        let _permit = link
            .permits
            .acquire()
            .await
            .map_err(|_| PublishError::Unavailable)?;
        let channel = link.confirm_channel().await.map_err(failed)?;
        let options = BasicPublishOptions {
            mandatory: true,
            immediate: false,
        };
        let confirm = channel
            .basic_publish(
                WAKE_EXCHANGE.into(),
                lane.name().into(),
                options,
                &[],
                properties,
            )
            .await
            .map_err(failed)?
            .await
            .map_err(failed)?;
        link.give_back(channel);
        match confirm {
            Confirmation::Ack(None) => Ok(()),
            // An unroutable message is "confirmed" too: the return that came with it is the truth.
            Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => Err(PublishError::Returned),
            Confirmation::Nack(None) => Err(PublishError::Nacked),
            Confirmation::NotRequested => Err(PublishError::Failed(
                "the channel is not in confirm mode".into(),
            )),
        }
    }
}

/// Keeps a link up, and puts back a topology that a publish found missing.
async fn keep(mut keeper: Keeper, missing: Arc<Notify>) {
    let stop = keeper.stop.clone();
    while let Some(link) = keeper.next_link().await {
        keeper.show(&link);
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    keeper.hide();
                    // All permits back means nothing is in flight; `close` bounds the wait.
                    let finished = link.permits.acquire_many(CHANNELS_MAX).await;
                    drop(finished);
                    link.close().await;
                    return;
                }
                () = link.broken() => break,
                () = missing.notified() => {}
            }
            if let Some(Err(error)) = stop.run_until_cancelled(link.declare()).await {
                keeper.report(&error);
                break;
            }
            // Cut short by a stop, which the next turn of the loop sees.
            let _ = stop.run_until_cancelled(sleep(REDECLARE_INTERVAL)).await;
        }
    }
}

fn failed(error: lapin::Error) -> PublishError {
    PublishError::Failed(Box::new(error))
}

fn outcome_name(published: &Result<(), PublishError>) -> &'static str {
    match published {
        Ok(()) => "confirmed",
        Err(PublishError::Unavailable) => "unavailable",
        Err(PublishError::TimedOut) => "timed_out",
        Err(PublishError::Nacked) => "nacked",
        Err(PublishError::Returned) => "returned",
        Err(PublishError::Invalid(_)) => "invalid",
        Err(PublishError::Failed(_)) => "failed",
    }
}
