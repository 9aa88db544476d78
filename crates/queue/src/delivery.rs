//! One wake-up in hand, to be settled once.
//!
//! The rule: settle it after the store has committed. An acknowledgement that gets lost is not an
//! error of the money path: the wake-up comes again and finds nothing to do.

use std::error::Error;
use std::sync::Arc;

use lapin::options::{BasicAckOptions, BasicNackOptions, BasicRejectOptions};
use lapin::{Acker, Channel};
use tokio::runtime::Handle;

use crate::link::Link;
use crate::metric;
use crate::wake::{BadWake, Lane, Wake, delivery_count};

/// What a delivery needs to stay settleable: while one is in hand, its channel stays open.
pub(crate) struct Subscription {
    pub(crate) channel: Channel,
    pub(crate) lane: Lane,
    pub(crate) link: Arc<Link>,
}

/// A wake-up that was received and is not settled yet.
///
/// One that is dropped unsettled goes back to its queue, and after the delivery limit to the dead
/// letters; otherwise forgotten deliveries would fill the prefetch window and deafen the worker.
#[must_use = "a delivery that is dropped is delivered again"]
pub struct Delivery {
    /// What was sent.
    pub wake: Wake,
    /// Whether RabbitMQ delivered it before.
    pub redelivered: bool,
    /// How often RabbitMQ delivered it before.
    pub delivery_count: u32,
    acker: Option<Acker>,
    subscription: Arc<Subscription>,
}

/// The settlement did not reach RabbitMQ; the wake-up will come again. Worth a debug line.
#[derive(Debug, thiserror::Error)]
pub enum AckError {
    /// The connection the wake-up came on is gone.
    #[error("the connection this wake-up came on is gone")]
    Gone,
    /// The connection failed while settling.
    #[error("the settlement failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl Delivery {
    /// Takes a message apart; one that cannot be a wake-up comes back with the reason.
    pub(crate) fn read(
        message: lapin::message::Delivery,
        subscription: &Arc<Subscription>,
    ) -> Result<Self, (BadWake, Acker)> {
        match Wake::from_properties(&message.properties) {
            Err(reason) => Err((reason, message.acker)),
            Ok(wake) => Ok(Self {
                wake,
                redelivered: message.redelivered,
                delivery_count: delivery_count(&message.properties),
                acker: Some(message.acker),
                subscription: Arc::clone(subscription),
            }),
        }
    }

    /// Tells RabbitMQ that this one is done.
    pub async fn ack(mut self) -> Result<(), AckError> {
        let acker = self.acker.take().ok_or(AckError::Gone)?;
        settled(acker.ack(BasicAckOptions::default()).await)
    }

    /// Puts it among the dead letters, for a person to look at.
    pub async fn park(mut self) -> Result<(), AckError> {
        let acker = self.acker.take().ok_or(AckError::Gone)?;
        park(&acker, self.subscription.lane).await
    }

    /// Whether settling it can still work.
    pub(crate) fn is_live(&self) -> bool {
        self.acker.as_ref().is_some_and(Acker::usable) && self.subscription.link.is_alive()
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let Some(acker) = self.acker.take().filter(Acker::usable) else {
            return;
        };
        if let Ok(runtime) = Handle::try_current() {
            let subscription = Arc::clone(&self.subscription);
            runtime.spawn(async move {
                give_up(&acker).await;
                drop(subscription);
            });
        }
    }
}

/// Rejects without requeue: the dead-letter exchange takes it.
pub(crate) async fn park(acker: &Acker, lane: Lane) -> Result<(), AckError> {
    settled(acker.reject(BasicRejectOptions { requeue: false }).await)?;
    metrics::counter!(metric::PARKED, "lane" => lane.name()).increment(1);
    Ok(())
}

/// Puts it back for someone else.
pub(crate) async fn give_up(acker: &Acker) {
    let options = BasicNackOptions {
        multiple: false,
        requeue: true,
    };
    if let Err(error) = settled(acker.nack(options).await) {
        tracing::debug!(%error, "a wake-up was not put back; RabbitMQ does it by itself");
    }
}

fn settled(answer: lapin::Result<bool>) -> Result<(), AckError> {
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(AckError::Gone),
        Err(error) => Err(AckError::Failed(Box::new(error))),
    }
}
