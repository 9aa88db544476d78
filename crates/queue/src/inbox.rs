//! Wake-ups in hand: each is acknowledged only after a step that began after it arrived has
//! committed, so that a process that dies in between leaves it to another.
//!
//! The rule: a step never looks into a message. Which one it acknowledges does not matter, because
//! what is due is asked of the store.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::consumer::Consumer;
use crate::delivery::Delivery;

/// The wake-ups that have arrived and await a step. Cloning shares them.
#[derive(Clone)]
pub struct Inbox(Arc<Inner>);

struct Inner {
    arrived: Mutex<Vec<Delivery>>,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// Wake-ups taken by one step.
#[must_use = "a wake-up that is not acknowledged comes again"]
pub struct Arrived(Vec<Delivery>);

impl Inbox {
    /// Takes the wake-ups of a consumer and calls `on_arrival` for each.
    pub fn start(mut consumer: Consumer, on_arrival: impl Fn() + Send + 'static) -> Self {
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            arrived: Mutex::default(),
            stop: stop.clone(),
            task: Mutex::default(),
        });
        let shared = Arc::clone(&inner);
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => break,
                    delivery = consumer.next() => {
                        let Some(delivery) = delivery else { break };
                        let arrived = shared.arrived.lock();
                        arrived.unwrap_or_else(PoisonError::into_inner).push(delivery);
                        on_arrival();
                    }
                }
            }
            consumer.close().await;
        });
        *inner.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        Self(inner)
    }

    /// Takes what has arrived so far, to be acknowledged after the step that begins now.
    pub fn take(&self) -> Arrived {
        let mut arrived = self
            .0
            .arrived
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arrived(std::mem::take(&mut *arrived))
    }

    /// Stops taking wake-ups; those that no step took go back to the queue.
    pub async fn close(&self) {
        self.0.stop.cancel();
        let task = self
            .0
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

impl Arrived {
    /// Acknowledges them. One whose connection died comes again and finds nothing left to do.
    pub async fn acknowledge(self) {
        for delivery in self.0 {
            if let Err(error) = delivery.ack().await {
                debug!(%error, "wake-up not acknowledged; it comes again");
            }
        }
    }
}
