//! A vhost of a test's own on the real RabbitMQ, and the management API's hands on it.
//!
//! The rule: without a RabbitMQ these tests fail; they never pass by not running.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use claimcheck_queue::QueueSettings;
use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use serde_json::{Value, json};

const MISSING: &str = "run through `make test`, which starts a private RabbitMQ";
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The management API's figures lag by five seconds.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Vhost {
    pub(crate) name: String,
    user: String,
    /// `amqp://user:password@`
    prefix: String,
    pub(crate) host: String,
    management: String,
    http: reqwest::Client,
}

impl Vhost {
    /// The user and the password of the AMQP URL.
    pub(crate) fn login(&self) -> (&str, &str) {
        let login = self
            .prefix
            .trim_start_matches("amqp://")
            .trim_end_matches('@');
        login
            .split_once(':')
            .expect("the AMQP URL names user and password")
    }

    pub(crate) async fn create() -> Self {
        let amqp = std::env::var("CLAIMCHECK_TEST_AMQP").expect(MISSING);
        let management = std::env::var("CLAIMCHECK_TEST_RABBITMQ_MANAGEMENT").expect(MISSING);
        // Refused the second time within one process, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let at = amqp.rfind('@').expect("the AMQP URL names a user") + 1;
        let (prefix, rest) = amqp.split_at(at);
        let host = rest.split('/').next().unwrap_or_default().to_owned();
        let user = prefix
            .trim_start_matches("amqp://")
            .split(':')
            .next()
            .unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let vhost = Self {
            name: format!("queue-{}-{count}", std::process::id()),
            user: user.to_owned(),
            prefix: prefix.to_owned(),
            host,
            management: management.trim_end_matches('/').to_owned(),
            http: reqwest::Client::new(),
        };
        vhost
            .put(&format!("vhosts/{}", vhost.name), &json!({}))
            .await;
        let all = json!({"configure": ".*", "write": ".*", "read": ".*"});
        vhost
            .put(&format!("permissions/{}/{}", vhost.name, vhost.user), &all)
            .await;
        vhost
    }

    pub(crate) fn url_by(&self, host: &str) -> String {
        format!("{}{host}/{}", self.prefix, self.name)
    }

    pub(crate) fn settings(&self) -> QueueSettings {
        self.settings_by(&self.host)
    }

    /// Settings that reach RabbitMQ by another address, with pauses short enough for a test.
    pub(crate) fn settings_by(&self, host: &str) -> QueueSettings {
        let mut settings = QueueSettings::new(self.url_by(host).into(), self.name.clone());
        settings.backoff_min = Duration::from_millis(50);
        settings.backoff_max = Duration::from_millis(500);
        settings.connect_timeout = Duration::from_secs(3);
        settings.heartbeat = Duration::from_secs(1);
        settings
    }

    /// A channel beside the crate under test, on a connection named otherwise.
    pub(crate) async fn raw(&self) -> (Connection, Channel) {
        let properties = ConnectionProperties::default();
        let connection = Connection::connect(&self.url_by(&self.host), properties).await;
        let connection = connection.expect("RabbitMQ answers");
        let channel = connection.create_channel().await.expect("a channel opens");
        (connection, channel)
    }

    /// Exact, unlike the management API; a missing queue counts as empty.
    pub(crate) async fn count(&self, queue: &str) -> u32 {
        let (_connection, channel) = self.raw().await;
        let passive = QueueDeclareOptions {
            passive: true,
            ..Default::default()
        };
        let declared = channel
            .queue_declare(queue.into(), passive, FieldTable::default())
            .await;
        declared.map_or(0, |queue| queue.message_count())
    }

    pub(crate) async fn delete_queue(&self, queue: &str) {
        let (_connection, channel) = self.raw().await;
        let deleted = channel
            .queue_delete(queue.into(), QueueDeleteOptions::default())
            .await;
        deleted.expect("the queue is deleted");
    }

    /// Ends our connections by force; the API lists them only after a while.
    pub(crate) async fn close_connections(&self) {
        let listed = format!("{}/api/vhosts/{}/connections", self.management, self.name);
        until("our connections are listed and closed", async || {
            let listed = self
                .http
                .get(&listed)
                .send()
                .await
                .expect("management answers");
            let listed: Value = listed.json().await.expect("a list");
            let names = listed.as_array().into_iter().flatten();
            let names: Vec<_> = names
                .filter(|one| one["user_provided_name"].as_str().is_some())
                .filter_map(|one| one["name"].as_str())
                .collect();
            for name in &names {
                let name = name.replace(' ', "%20").replace('>', "%3E");
                let url = format!("{}/api/connections/{name}", self.management);
                self.http
                    .delete(url)
                    .send()
                    .await
                    .expect("management answers");
            }
            !names.is_empty()
        })
        .await;
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) {
        let url = format!("{}/api/{path}", self.management);
        let answer = self
            .http
            .put(url)
            .json(body)
            .send()
            .await
            .expect("management answers");
        assert!(
            answer.status().is_success(),
            "PUT {path}: {}",
            answer.status()
        );
    }

    pub(crate) async fn delete(self) {
        let url = format!("{}/api/vhosts/{}", self.management, self.name);
        self.http
            .delete(url)
            .send()
            .await
            .expect("management answers");
    }
}

/// Waits until something is so, and says what was not when it takes too long.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
