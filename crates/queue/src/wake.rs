//! What travels: a lane, an id and where the trace came from.
//!
//! The rule: nothing else may be added to a message. A worker that needs a fact reads the row.

use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, ShortString};

/// Longest id a wake-up may carry, in bytes; a reference needs half of it.
pub(crate) const ID_BYTES_MAX: usize = 64;
/// AMQP's delivery mode for a message that survives a restart.
const PERSISTENT: u8 = 2;
const TRACE_PARENT_HEADER: &str = "traceparent";
const DELIVERY_COUNT_HEADER: &str = "x-delivery-count";
/// Where the dashes of a W3C trace parent stand, and how long one of version 00 is.
const TRACE_PARENT_DASHES: [usize; 3] = [2, 35, 52];
const TRACE_PARENT_BYTES: usize = 55;

/// Which worker a wake-up is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The credit worker: an operation became pending.
    Credit,
    /// The resolver: an operation became unknown.
    Resolve,
}

impl Lane {
    /// Every lane there is, for declaring them all.
    pub const ALL: [Self; 2] = [Self::Credit, Self::Resolve];

    /// The lane's queue.
    #[must_use]
    pub const fn queue(self) -> &'static str {
        match self {
            Self::Credit => "claimcheck.credit",
            Self::Resolve => "claimcheck.resolve",
        }
    }

    /// The lane's routing key, and its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Resolve => "resolve",
        }
    }
}

/// One wake-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The operation's reference: a hint and a name for the trace, never an instruction.
    pub id: String,
    /// The W3C trace parent of whoever caused this wake-up.
    pub trace_parent: Option<String>,
}

/// Why a message cannot be a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWake {
    /// There is no message id.
    #[error("the message has no message_id")]
    NoId,
    /// The id is empty, too long or holds something other than visible ASCII.
    #[error("the message_id is not 1 to {ID_BYTES_MAX} visible ASCII characters")]
    BadId,
}

impl Wake {
    /// The message's properties; the body is empty.
    pub(crate) fn to_properties(&self) -> Result<BasicProperties, BadWake> {
        check_id(&self.id)?;
        let id = ShortString::try_new(self.id.as_str()).map_err(|_| BadWake::BadId)?;
        let properties = BasicProperties::default()
            .with_delivery_mode(PERSISTENT)
            .with_message_id(id);
        let trace_parent = self
            .trace_parent
            .as_deref()
            .filter(|text| is_trace_parent(text));
        Ok(match trace_parent {
            None => properties,
            Some(text) => {
                let mut headers = FieldTable::default();
                headers.insert(
                    TRACE_PARENT_HEADER.into(),
                    AMQPValue::LongString(text.as_bytes().into()),
                );
                properties.with_headers(headers)
            }
        })
    }

    /// Reads a received message; a trace parent that is not one is left out, never an error.
    pub(crate) fn from_properties(properties: &BasicProperties) -> Result<Self, BadWake> {
        let id = properties
            .message_id()
            .as_ref()
            .ok_or(BadWake::NoId)?
            .as_str();
        check_id(id)?;
        let trace_parent = match header(properties, TRACE_PARENT_HEADER) {
            Some(AMQPValue::LongString(text)) => std::str::from_utf8(text.as_bytes())
                .ok()
                .filter(|text| is_trace_parent(text))
                .map(str::to_owned),
            _ => None,
        };
        Ok(Self {
            id: id.to_owned(),
            trace_parent,
        })
    }
}

/// How often RabbitMQ delivered this message before; 0 the first time.
pub(crate) fn delivery_count(properties: &BasicProperties) -> u32 {
    let count = match header(properties, DELIVERY_COUNT_HEADER) {
        Some(AMQPValue::LongLongInt(count)) => *count,
        Some(AMQPValue::LongInt(count)) => i64::from(*count),
        Some(AMQPValue::ShortInt(count)) => i64::from(*count),
        Some(AMQPValue::ShortShortInt(count)) => i64::from(*count),
        Some(AMQPValue::ShortShortUInt(count)) => i64::from(*count),
        _ => 0,
    };
    u32::try_from(count).unwrap_or_default()
}

fn header<'a>(properties: &'a BasicProperties, name: &str) -> Option<&'a AMQPValue> {
    properties
        .headers()
        .as_ref()
        .and_then(|headers| headers.inner().get(name))
}

fn check_id(id: &str) -> Result<(), BadWake> {
    let visible = id.bytes().all(|byte| byte.is_ascii_graphic());
    if id.is_empty() || id.len() > ID_BYTES_MAX || !visible {
        Err(BadWake::BadId)
    } else {
        Ok(())
    }
}

fn is_trace_parent(text: &str) -> bool {
    text.len() == TRACE_PARENT_BYTES
        && text.bytes().enumerate().all(|(at, byte)| {
            if TRACE_PARENT_DASHES.contains(&at) {
                byte == b'-'
            } else {
                matches!(byte, b'0'..=b'9' | b'a'..=b'f')
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE_PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn wake(id: &str, trace_parent: Option<&str>) -> Wake {
        Wake {
            id: id.to_owned(),
            trace_parent: trace_parent.map(str::to_owned),
        }
    }

    #[test]
    fn what_goes_in_comes_out() {
        let sent = wake("dep:48213-7kq2f", Some(TRACE_PARENT));
        let properties = sent.to_properties().unwrap();
        assert_eq!(*properties.delivery_mode(), Some(PERSISTENT));
        assert_eq!(Wake::from_properties(&properties), Ok(sent));
    }

    #[test]
    fn ids_that_are_not_visible_ascii_are_refused_on_both_sides() {
        let long = "x".repeat(ID_BYTES_MAX + 1);
        for id in ["", "two words", "line\nbreak", "dep:é", long.as_str()] {
            assert_eq!(
                wake(id, None).to_properties().err(),
                Some(BadWake::BadId),
                "{id:?}"
            );
            let foreign = BasicProperties::default().with_message_id(id.into());
            assert_eq!(
                Wake::from_properties(&foreign),
                Err(BadWake::BadId),
                "{id:?}"
            );
        }
        assert_eq!(
            Wake::from_properties(&BasicProperties::default()),
            Err(BadWake::NoId)
        );
    }

    #[test]
    fn a_broken_trace_parent_is_left_out_and_harms_nothing() {
        for text in [
            "",
            "00-xyz",
            &TRACE_PARENT.to_uppercase(),
            &format!("{TRACE_PARENT}0"),
        ] {
            let properties = wake("dep:1-a", Some(text)).to_properties().unwrap();
            assert_eq!(
                Wake::from_properties(&properties),
                Ok(wake("dep:1-a", None)),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_delivery_count_is_read_and_never_trusted_to_be_sane() {
        for (value, count) in [(3, 3), (0, 0), (-1, 0), (i64::MAX, 0)] {
            let mut headers = FieldTable::default();
            headers.insert(DELIVERY_COUNT_HEADER.into(), AMQPValue::LongLongInt(value));
            assert_eq!(
                delivery_count(&BasicProperties::default().with_headers(headers)),
                count
            );
        }
        assert_eq!(delivery_count(&BasicProperties::default()), 0);
    }
}
