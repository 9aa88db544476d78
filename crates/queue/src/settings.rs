//! Where RabbitMQ is and how long to wait for it.
//!
//! The rule: the URL holds a password. It leaves its `SecretString` in this file alone, and
//! nothing that failed to parse is ever repeated in an error.

use std::time::Duration;

use lapin::uri::AMQPUri;
use secrecy::{ExposeSecret, SecretString};

/// How many unacknowledged wake-ups one consumer holds unless its service says otherwise.
pub const PREFETCH_DEFAULT: u16 = 16;

const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
const CONFIRM_TIMEOUT_DEFAULT: Duration = Duration::from_secs(2);
const BACKOFF_MIN_DEFAULT: Duration = Duration::from_millis(200);
const BACKOFF_MAX_DEFAULT: Duration = Duration::from_secs(15);
const HEARTBEAT_DEFAULT: Duration = Duration::from_secs(10);
const DELIVERY_LIMIT_DEFAULT: u8 = 5;

/// How to reach RabbitMQ. The same settings serve a publisher and a consumer.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// `amqp://user:password@host:port/vhost`, or `amqps://`.
    pub url: SecretString,
    /// The name RabbitMQ shows for our connections.
    pub connection_name: String,
    /// Longest time to get connected, from the name look-up to the declared queues.
    pub connect_timeout: Duration,
    /// Longest time one publish may take, confirm included.
    pub confirm_timeout: Duration,
    /// First pause before connecting again.
    pub backoff_min: Duration,
    /// Longest pause before connecting again.
    pub backoff_max: Duration,
    /// Heartbeat interval; a peer silent for twice as long is taken for dead.
    pub heartbeat: Duration,
    /// How often a wake-up is delivered again before it becomes a dead letter.
    pub delivery_limit: u8,
}

/// What is wrong with the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The URL is not one this crate can use; the text is a secret and is not shown.
    #[error("the RabbitMQ URL is not of the form amqp://user:password@host:port/vhost")]
    Url,
    /// The AMQP library would take an IPv6 literal for localhost.
    #[error("the RabbitMQ URL names its host by an IPv6 address; give it a name")]
    Ipv6,
    /// A time is zero or the pauses are the wrong way round.
    #[error("the RabbitMQ times must be above zero, heartbeat at least 1 s, backoff min <= max")]
    Times,
    /// The delivery limit is zero.
    #[error("the RabbitMQ delivery limit must be at least 1")]
    DeliveryLimit,
}

impl QueueSettings {
    /// Settings with every default.
    #[must_use]
    pub fn new(url: SecretString, connection_name: String) -> Self {
        Self {
            url,
            connection_name,
            connect_timeout: CONNECT_TIMEOUT_DEFAULT,
            confirm_timeout: CONFIRM_TIMEOUT_DEFAULT,
            backoff_min: BACKOFF_MIN_DEFAULT,
            backoff_max: BACKOFF_MAX_DEFAULT,
            heartbeat: HEARTBEAT_DEFAULT,
            delivery_limit: DELIVERY_LIMIT_DEFAULT,
        }
    }

    /// Every fault at once, for a service to report before it binds anything.
    #[must_use]
    pub fn faults(&self) -> Vec<SettingsError> {
        let mut faults = Vec::new();
        if let Err(fault) = self.uri() {
            faults.push(fault);
        }
        let times = [self.connect_timeout, self.confirm_timeout, self.backoff_min];
        let impossible = times.iter().any(Duration::is_zero)
            || self.heartbeat < Duration::from_secs(1)
            || self.backoff_min > self.backoff_max;
        if impossible {
            faults.push(SettingsError::Times);
        }
        if self.delivery_limit == 0 {
            faults.push(SettingsError::DeliveryLimit);
        }
        faults
    }

    /// The parsed URL with our heartbeat in it. Neither this value nor the library's own parse
    /// error may be shown: both can hold the password.
    pub(crate) fn uri(&self) -> Result<AMQPUri, SettingsError> {
        let text = self.url.expose_secret();
        let mut uri: AMQPUri = text.parse().map_err(|_| SettingsError::Url)?;
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() {
            return Err(SettingsError::Url);
        }
        if host.starts_with('[') {
            return Err(SettingsError::Ipv6);
        }
        uri.query.heartbeat = u16::try_from(self.heartbeat.as_secs())
            .ok()
            .or(Some(u16::MAX));
        Ok(uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> QueueSettings {
        QueueSettings::new(SecretString::from(url), "test".to_owned())
    }

    #[test]
    fn a_usual_url_is_taken_apart_and_gets_our_heartbeat() {
        let uri = settings("amqp://us%40er:p%2Fw@mq.internal:5673/%2fcc")
            .uri()
            .unwrap();
        assert_eq!(uri.authority.host, "mq.internal");
        assert_eq!(uri.authority.port, 5673);
        assert_eq!(uri.vhost, "/cc");
        assert_eq!(uri.query.heartbeat, Some(10));
        assert!(settings("amqp://h").faults().is_empty());
    }

    #[test]
    fn no_bad_url_is_repeated() {
        for url in [
            "amqp:hunter2",
            "http://u:hunter2@h/",
            "hunter2",
            "amqp://",
            "amqp:///v",
        ] {
            let fault = settings(url).uri().unwrap_err();
            assert_eq!(fault, SettingsError::Url, "{url}");
            assert!(!format!("{fault} {fault:?}").contains("hunter2"));
        }
        let shown = format!("{:?}", settings("amqp://u:hunter2@h/"));
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn an_ipv6_literal_is_refused_instead_of_meaning_localhost() {
        assert_eq!(
            settings("amqp://u:p@[::1]:5672/v").uri(),
            Err(SettingsError::Ipv6)
        );
    }

    #[test]
    fn every_fault_is_reported_together() {
        let mut bad = settings("nonsense");
        bad.heartbeat = Duration::ZERO;
        bad.delivery_limit = 0;
        let all = [
            SettingsError::Url,
            SettingsError::Times,
            SettingsError::DeliveryLimit,
        ];
        assert_eq!(bad.faults(), all);
    }
}
