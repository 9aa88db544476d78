//! The exchanges and queues: what they are called and what they promise.
//!
//! The rule: publisher and consumer declare the same thing through this one function. Changing an
//! argument here means every installation has to delete the old queue once; its messages are
//! hints, so deleting it costs time and nothing else.

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{Channel, ErrorKind, ExchangeKind};

use crate::wake::Lane;

/// Wake-ups are published here, routed by the lane's name.
pub(crate) const WAKE_EXCHANGE: &str = "claimcheck.wake";
/// Dead letters of every lane go here, and on to the queue of the same name.
const DEAD: &str = "claimcheck.dead";

/// A full lane refuses further wake-ups: the sweep has more to do than the queue can say.
const LANE_LENGTH_MAX: i32 = 100_000;
/// A full dead-letter queue forgets its oldest; they are evidence, not work.
const DEAD_LENGTH_MAX: i32 = 10_000;
/// Dead letters are kept this long, in milliseconds: fourteen days.
const DEAD_TTL_MS: i32 = 14 * 24 * 60 * 60 * 1000;

/// Why the topology could not be declared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopologyError {
    /// It exists, declared otherwise.
    #[error(
        "{kind} {name} exists with other arguments than ours; delete it, it is declared again \
         by itself (its messages are only hints)"
    )]
    Different {
        kind: &'static str,
        name: &'static str,
        #[source]
        source: lapin::Error,
    },
    /// Anything else.
    #[error("{kind} {name} could not be declared")]
    Failed {
        kind: &'static str,
        name: &'static str,
        #[source]
        source: lapin::Error,
    },
}

/// Declares everything; doing it again changes nothing. A refusal closes `channel`.
pub(crate) async fn declare(channel: &Channel, delivery_limit: u8) -> Result<(), TopologyError> {
    exchange(channel, WAKE_EXCHANGE, ExchangeKind::Direct).await?;
    exchange(channel, DEAD, ExchangeKind::Fanout).await?;
    queue(channel, DEAD, dead_arguments()).await?;
    bind(channel, DEAD, DEAD, "").await?;
    for lane in Lane::ALL {
        queue(channel, lane.queue(), lane_arguments(delivery_limit)).await?;
        bind(channel, lane.queue(), WAKE_EXCHANGE, lane.name()).await?;
    }
    Ok(())
}

/// No time to live here: a backlog would then turn into dead letters and raise a false alarm.
fn lane_arguments(delivery_limit: u8) -> FieldTable {
    let mut arguments = FieldTable::default();
    text(&mut arguments, "x-queue-type", "quorum");
    number(
        &mut arguments,
        "x-delivery-limit",
        i32::from(delivery_limit),
    );
    number(&mut arguments, "x-max-length", LANE_LENGTH_MAX);
    // At-least-once dead letters work together with refusing publishes only.
    text(&mut arguments, "x-overflow", "reject-publish");
    text(&mut arguments, "x-dead-letter-exchange", DEAD);
    text(&mut arguments, "x-dead-letter-strategy", "at-least-once");
    arguments
}

fn dead_arguments() -> FieldTable {
    let mut arguments = FieldTable::default();
    text(&mut arguments, "x-queue-type", "quorum");
    number(&mut arguments, "x-max-length", DEAD_LENGTH_MAX);
    number(&mut arguments, "x-message-ttl", DEAD_TTL_MS);
    arguments
}

fn text(arguments: &mut FieldTable, name: &'static str, value: &'static str) {
    arguments.insert(name.into(), AMQPValue::LongString(value.into()));
}

fn number(arguments: &mut FieldTable, name: &'static str, value: i32) {
    arguments.insert(name.into(), AMQPValue::LongInt(value));
}

async fn exchange(
    channel: &Channel,
    name: &'static str,
    kind: ExchangeKind,
) -> Result<(), TopologyError> {
    let options = ExchangeDeclareOptions {
        durable: true,
        ..Default::default()
    };
    channel
        .exchange_declare(name.into(), kind, options, FieldTable::default())
        .await
        .map_err(|source| sort("exchange", name, source))
}

async fn queue(
    channel: &Channel,
    name: &'static str,
    arguments: FieldTable,
) -> Result<(), TopologyError> {
    let options = QueueDeclareOptions {
        durable: true,
        ..Default::default()
    };
    channel
        .queue_declare(name.into(), options, arguments)
        .await
        .map(drop)
        .map_err(|source| sort("queue", name, source))
}

async fn bind(
    channel: &Channel,
    name: &'static str,
    exchange: &'static str,
    key: &'static str,
) -> Result<(), TopologyError> {
    let (queue, exchange): (ShortString, ShortString) = (name.into(), exchange.into());
    let options = QueueBindOptions::default();
    channel
        .queue_bind(queue, exchange, key.into(), options, FieldTable::default())
        .await
        .map_err(|source| sort("binding of", name, source))
}

fn sort(kind: &'static str, name: &'static str, source: lapin::Error) -> TopologyError {
    let different = matches!(
        source.kind(),
        ErrorKind::ProtocolError(error)
            if *error.kind() == AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED)
    );
    if different {
        TopologyError::Different { kind, name, source }
    } else {
        TopologyError::Failed { kind, name, source }
    }
}
