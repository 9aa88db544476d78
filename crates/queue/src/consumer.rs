//! Consuming: a bounded window of wake-ups, each acknowledged by hand.
//!
//! The rule: the stream of wake-ups ends only when it is closed. Whatever happens to connection,
//! channel or queue, the task below comes back by itself, and `is_connected` says how it stands.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::delivery::{Delivery, Subscription, give_up, park};
use crate::keeper::{Keeper, Seen};
use crate::link::{Link, LinkError};
use crate::settings::QueueSettings;
use crate::wake::Lane;

/// Wake-ups handed over but not asked for yet; the prefetch window is what bounds the rest.
const HANDED_OVER_MAX: usize = 1;
/// How often channel and connection are asked whether they still stand.
const ALIVE_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How long closing waits for RabbitMQ to stop sending.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Receives one lane's wake-ups over one connection that looks after itself.
pub struct Consumer {
    deliveries: mpsc::Receiver<Delivery>,
    seen: Seen,
    task: Option<JoinHandle<()>>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl Consumer {
    /// Starts connecting in the background. Never fails and never waits; must be called within
    /// a tokio runtime. A `prefetch` of 0 would mean "no limit" to RabbitMQ and is taken as 1.
    #[must_use]
    pub fn start(settings: QueueSettings, lane: Lane, prefetch: u16) -> Self {
        let stop = CancellationToken::new();
        let role = match lane {
            Lane::Credit => "consumer-credit",
            Lane::Resolve => "consumer-resolve",
        };
        let setup_timeout = settings.connect_timeout;
        let (keeper, seen) = Keeper::new(settings, role, stop.clone());
        let (handover, deliveries) = mpsc::channel(HANDED_OVER_MAX);
        let window = Window {
            lane,
            prefetch: prefetch.max(1),
            setup_timeout,
        };
        let task = Some(tokio::spawn(keep(keeper, window, handover)));
        Self {
            deliveries,
            seen,
            task,
            stop: stop.clone(),
            _stop_on_drop: stop.drop_guard(),
        }
    }

    /// The next wake-up. `None` only after `close`. Safe to abandon at any time.
    pub async fn next(&mut self) -> Option<Delivery> {
        loop {
            let delivery = self.deliveries.recv().await?;
            // One whose connection died while it waited here comes again on the next.
            if delivery.is_live() {
                return Some(delivery);
            }
        }
    }

    /// Whether wake-ups arrive now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.seen
            .borrow()
            .as_ref()
            .is_some_and(|link| link.is_alive())
    }

    /// Stops taking wake-ups. Those in hand can still be settled; the others go back.
    pub async fn close(&mut self) {
        self.stop.cancel();
        self.deliveries.close();
        while let Ok(unasked) = self.deliveries.try_recv() {
            drop(unasked);
        }
        if let Some(task) = self.task.take()
            && timeout(CLOSE_TIMEOUT, task).await.is_err()
        {
            tracing::debug!("the consumer did not close in time");
        }
    }
}

struct Window {
    lane: Lane,
    prefetch: u16,
    setup_timeout: Duration,
}

/// Why a subscription came to its end.
enum End {
    Stopped,
    Broken(LinkError),
}

async fn keep(mut keeper: Keeper, window: Window, handover: mpsc::Sender<Delivery>) {
    let stop = keeper.stop.clone();
    while let Some(link) = keeper.next_link().await {
        let setup = timeout(window.setup_timeout, subscribe(Arc::clone(&link), &window)).await;
        let setup = setup.unwrap_or(Err(LinkError::TimedOut(window.setup_timeout)));
        let (subscription, mut stream) = match setup {
            Ok(subscribed) => subscribed,
            Err(error) => {
                keeper.report(&error);
                continue;
            }
        };
        keeper.show(&link);
        drop(link);
        match pump(&subscription, &mut stream, &handover, &stop).await {
            End::Broken(error) => keeper.report(&error),
            End::Stopped => {
                keeper.hide();
                if timeout(CLOSE_TIMEOUT, unsubscribe(&subscription, stream))
                    .await
                    .is_err()
                {
                    tracing::debug!("RabbitMQ did not confirm the end of the subscription");
                }
                // With wake-ups in hand, the last of them says goodbye.
                if let Some(last) = Arc::into_inner(subscription) {
                    last.link.close().await;
                }
                return;
            }
        }
    }
}

async fn subscribe(
    link: Arc<Link>,
    window: &Window,
) -> Result<(Arc<Subscription>, lapin::Consumer), LinkError> {
    let channel = link.channel().await.map_err(LinkError::Consume)?;
    let each = BasicQosOptions { global: false };
    channel
        .basic_qos(window.prefetch, each)
        .await
        .map_err(LinkError::Consume)?;
    let queue = window.lane.queue().into();
    let options = BasicConsumeOptions::default();
    let stream = channel
        .basic_consume(queue, "".into(), options, FieldTable::default())
        .await
        .map_err(LinkError::Consume)?;
    Ok((
        Arc::new(Subscription {
            channel,
            lane: window.lane,
            link,
        }),
        stream,
    ))
}

/// Moves wake-ups from the stream to whoever asks, and watches that the stream is not deaf.
async fn pump(
    subscription: &Arc<Subscription>,
    stream: &mut lapin::Consumer,
    handover: &mpsc::Sender<Delivery>,
    stop: &CancellationToken,
) -> End {
    let mut alive = interval(ALIVE_CHECK_INTERVAL);
    let mut waiting: Option<Delivery> = None;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return End::Stopped,
            _ = alive.tick() => {
                let channel = subscription.channel.status().connected();
                if !channel || !subscription.link.is_alive() {
                    return End::Broken(LinkError::Lost(None));
                }
            }
            room = handover.reserve(), if waiting.is_some() => match room {
                Err(_) => return End::Stopped,
                Ok(room) => {
                    if let Some(delivery) = waiting.take() {
                        room.send(delivery);
                    }
                }
            },
            message = stream.next(), if waiting.is_none() => match message {
                // RabbitMQ cancelled the subscription: the queue was deleted or its node left.
                None => return End::Broken(LinkError::Lost(None)),
                Some(Err(error)) => return End::Broken(LinkError::Lost(Some(error))),
                Some(Ok(message)) => waiting = take(message, subscription).await,
            },
        }
    }
}

/// A wake-up, or nothing where the message was poison and has been parked.
async fn take(
    message: lapin::message::Delivery,
    subscription: &Arc<Subscription>,
) -> Option<Delivery> {
    match Delivery::read(message, subscription) {
        Ok(delivery) => Some(delivery),
        Err((reason, acker)) => {
            let lane = subscription.lane;
            tracing::warn!(queue.lane = lane.name(), %reason, "a malformed message was parked");
            if let Err(error) = park(&acker, lane).await {
                tracing::debug!(%error, "the malformed message will come again");
            }
            None
        }
    }
}

/// Ends the subscription and puts back at once what was sent ahead and never looked at.
async fn unsubscribe(subscription: &Subscription, mut stream: lapin::Consumer) {
    let cancel = subscription
        .channel
        .basic_cancel(stream.tag(), BasicCancelOptions::default());
    if let Err(error) = cancel.await {
        tracing::debug!(%error, "the subscription had ended already");
        return;
    }
    while let Some(Ok(message)) = stream.next().await {
        give_up(&message.acker).await;
    }
}
