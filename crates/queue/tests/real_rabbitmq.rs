//! Publisher and consumer against a real RabbitMQ, and what they do when it misbehaves.
//!
//! The rule: every fault is a real one, made by the management API or by a proxy that cuts or
//! stalls the connection; nothing of RabbitMQ is imitated.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claimcheck_queue::{
    AckError, Consumer, Delivery, Lane, PREFETCH_DEFAULT, PublishError, Publisher, Wake,
};
use lapin::BasicProperties;
use lapin::options::{BasicGetOptions, BasicPublishOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use serde_json::json;
use tokio::time::{Instant, timeout};

use proxy::{Mood, Proxy};
use vhost::{LIMIT, Vhost, until};

#[path = "real_rabbitmq/proxy.rs"]
mod proxy;
#[path = "real_rabbitmq/raw_frames.rs"]
mod raw_frames;
#[path = "real_rabbitmq/vhost.rs"]
mod vhost;

const TRACE_PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const DEAD: &str = "claimcheck.dead";
/// Far less than any timeout in play: "at once" for a test on a busy machine.
const AT_ONCE: Duration = Duration::from_millis(500);

fn wake(id: &str) -> Wake {
    Wake {
        id: id.to_owned(),
        trace_parent: None,
    }
}

async fn connected(publisher: &Publisher) {
    until("the publisher is connected", async || {
        publisher.is_connected()
    })
    .await;
}

async fn consuming(consumer: &Consumer) {
    until("the consumer is connected", async || {
        consumer.is_connected()
    })
    .await;
}

async fn next(consumer: &mut Consumer) -> Delivery {
    let delivery = timeout(LIMIT, consumer.next())
        .await
        .expect("a wake-up arrives in time");
    delivery.expect("the consumer is open")
}

/// Publishes until it works: for after a fault, while things come back.
async fn published(publisher: &Publisher, lane: Lane, wake: &Wake) {
    until("a publish works again", async || {
        publisher.publish(lane, wake).await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wake_up_carries_its_id_and_trace_and_nothing_else() {
    let metrics = metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder();
    let metrics = metrics.unwrap();
    let vhost = Vhost::create().await;
    let publisher = Publisher::start(vhost.settings());
    connected(&publisher).await;
    let sent = Wake {
        trace_parent: Some(TRACE_PARENT.to_owned()),
        ..wake("dep:48213-7kq2f")
    };
    publisher.publish(Lane::Credit, &sent).await.unwrap();

    let (_connection, channel) = vhost.raw().await;
    let queue = Lane::Credit.queue();
    let raw = channel
        .basic_get(queue.into(), BasicGetOptions::default())
        .await
        .unwrap()
        .unwrap();
    let mut headers = FieldTable::default();
    // This one RabbitMQ adds.
    headers.insert("x-delivery-count".into(), AMQPValue::LongLongInt(0));
    headers.insert(
        "traceparent".into(),
        AMQPValue::LongString(TRACE_PARENT.into()),
    );
    let all = BasicProperties::default()
        .with_message_id(sent.id.as_str().into())
        .with_delivery_mode(2)
        .with_headers(headers);
    assert_eq!(raw.delivery.properties, all);
    assert!(raw.delivery.data.is_empty());
    raw.delivery.acker.nack(Default::default()).await.unwrap();
    publisher.publish(Lane::Credit, &sent).await.unwrap();

    let mut consumer = Consumer::start(vhost.settings(), Lane::Credit, PREFETCH_DEFAULT);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.wake, sent);
    delivery.ack().await.unwrap();
    consumer.close().await;
    assert!(consumer.next().await.is_none());
    publisher.close().await;
    until("the acknowledged wake-up is gone", async || {
        vhost.count(queue).await == 0
    })
    .await;
    let text = metrics.render();
    let confirmed = "claimcheck_queue_published_total{lane=\"credit\",outcome=\"confirmed\"} ";
    assert!(text.contains(confirmed), "{text}");
    assert!(
        text.contains("claimcheck_queue_connected{role=\"publisher\"} 0"),
        "{text}"
    );
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unrouted_wake_up_is_returned_itself_and_the_queue_comes_back() {
    let vhost = Vhost::create().await;
    let publisher = Publisher::start(vhost.settings());
    connected(&publisher).await;
    vhost.delete_queue(Lane::Credit.queue()).await;
    let mut publishes = Vec::new();
    for at in 0..64 {
        let publisher = publisher.clone();
        let lane = if at % 2 == 0 {
            Lane::Credit
        } else {
            Lane::Resolve
        };
        publishes.push(tokio::spawn(async move {
            (
                lane,
                publisher.publish(lane, &wake(&format!("dep:{at}-x"))).await,
            )
        }));
    }
    let mut returned = 0;
    for publish in publishes {
        match publish.await.unwrap() {
            (Lane::Credit, Err(PublishError::Returned)) => returned += 1,
            (_, Ok(())) => {}
            other => panic!("a neighbour got another's answer: {other:?}"),
        }
    }
    assert!(returned > 0);
    published(&publisher, Lane::Credit, &wake("dep:65-x")).await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_rabbitmq_publishing_says_so_at_once_and_recovers() {
    let vhost = Vhost::create().await;
    let proxy = Proxy::start(vhost.host.clone(), Mood::Away).await;
    let publisher = Publisher::start(vhost.settings_by(&proxy.address.to_string()));
    for mood in [Mood::Away, Mood::Passing, Mood::Away, Mood::Passing] {
        proxy.set(mood);
        if mood == Mood::Passing {
            published(&publisher, Lane::Credit, &wake("dep:1-a")).await;
        } else {
            until("the loss is noticed", async || !publisher.is_connected()).await;
            let started = Instant::now();
            let answer = publisher.publish(Lane::Credit, &wake("dep:2-b")).await;
            assert!(
                matches!(answer, Err(PublishError::Unavailable)),
                "{answer:?}"
            );
            assert!(started.elapsed() < AT_ONCE);
        }
    }
    publisher.close().await;
    let answer = publisher.publish(Lane::Credit, &wake("dep:3-c")).await;
    assert!(
        matches!(answer, Err(PublishError::Unavailable)),
        "{answer:?}"
    );
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_closed_by_force_is_replaced_and_old_settlements_fail_softly() {
    let vhost = Vhost::create().await;
    let publisher = Publisher::start(vhost.settings());
    let mut consumer = Consumer::start(vhost.settings(), Lane::Resolve, 1);
    consuming(&consumer).await;
    published(&publisher, Lane::Resolve, &wake("dep:1-a")).await;
    let old = next(&mut consumer).await;
    vhost.close_connections().await;
    let again = next(&mut consumer).await;
    assert_eq!(again.wake, wake("dep:1-a"));
    assert!(again.redelivered);
    assert!(matches!(
        old.ack().await,
        Err(AckError::Gone | AckError::Failed(_))
    ));
    again.ack().await.unwrap();
    published(&publisher, Lane::Resolve, &wake("dep:2-b")).await;
    next(&mut consumer).await.ack().await.unwrap();
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_queue_is_declared_and_consumed_again() {
    let vhost = Vhost::create().await;
    let mut consumer = Consumer::start(vhost.settings(), Lane::Credit, PREFETCH_DEFAULT);
    consuming(&consumer).await;
    vhost.delete_queue(Lane::Credit.queue()).await;
    let publisher = Publisher::start(vhost.settings());
    published(&publisher, Lane::Credit, &wake("dep:1-a")).await;
    let delivery = next(&mut consumer).await;
    assert_eq!(
        (delivery.wake.id.as_str(), delivery.delivery_count),
        ("dep:1-a", 0)
    );
    delivery.ack().await.unwrap();
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wake_up_that_is_never_settled_ends_among_the_dead_letters() {
    let vhost = Vhost::create().await;
    let mut settings = vhost.settings();
    settings.delivery_limit = 2;
    let publisher = Publisher::start(settings.clone());
    connected(&publisher).await;
    publisher
        .publish(Lane::Credit, &wake("dep:1-a"))
        .await
        .unwrap();
    let mut consumer = Consumer::start(settings, Lane::Credit, PREFETCH_DEFAULT);
    for count in 0..=2 {
        let delivery = next(&mut consumer).await;
        assert_eq!(
            (delivery.delivery_count, delivery.redelivered),
            (count, count > 0)
        );
        drop(delivery);
    }
    until("it is a dead letter", async || vhost.count(DEAD).await == 1).await;
    publisher
        .publish(Lane::Credit, &wake("dep:2-b"))
        .await
        .unwrap();
    let parked = next(&mut consumer).await;
    assert_eq!(parked.wake.id, "dep:2-b");
    parked.park().await.unwrap();
    until("the parked one joins it", async || {
        vhost.count(DEAD).await == 2
    })
    .await;
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_message_is_parked_while_its_neighbours_are_delivered() {
    let vhost = Vhost::create().await;
    let mut consumer = Consumer::start(vhost.settings(), Lane::Credit, PREFETCH_DEFAULT);
    consuming(&consumer).await;
    let publisher = Publisher::start(vhost.settings());
    let (_connection, channel) = vhost.raw().await;
    published(&publisher, Lane::Credit, &wake("dep:1-a")).await;
    for id in [None, Some(""), Some("two words")] {
        let properties = BasicProperties::default();
        let properties = match id {
            None => properties,
            Some(id) => properties.with_message_id(id.into()),
        };
        let options = BasicPublishOptions::default();
        let publish = channel.basic_publish(
            "claimcheck.wake".into(),
            Lane::Credit.name().into(),
            options,
            b"{\"amount\": 1}",
            properties,
        );
        publish.await.unwrap().await.unwrap();
    }
    published(&publisher, Lane::Credit, &wake("dep:2-b")).await;
    for id in ["dep:1-a", "dep:2-b"] {
        let delivery = next(&mut consumer).await;
        assert_eq!(delivery.wake.id, id);
        delivery.ack().await.unwrap();
    }
    until("the malformed are parked", async || {
        vhost.count(DEAD).await == 3
    })
    .await;
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_id_that_is_no_text_is_parked_by_the_delivery_limit() {
    let vhost = Vhost::create().await;
    let mut settings = vhost.settings();
    settings.delivery_limit = 2;
    let mut consumer = Consumer::start(settings.clone(), Lane::Credit, 1);
    consuming(&consumer).await;
    let (exchange, key) = ("claimcheck.wake", Lane::Credit.name());
    raw_frames::publish(&vhost, exchange, key, b"dep:\xff\xfe").await;
    let publisher = Publisher::start(settings);
    published(&publisher, Lane::Credit, &wake("dep:2-b")).await;
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.wake.id, "dep:2-b");
    delivery.ack().await.unwrap();
    let waiting = async || {
        let (_connection, channel) = vhost.raw().await;
        let passive = QueueDeclareOptions {
            passive: true,
            ..Default::default()
        };
        let queue = channel
            .queue_declare(DEAD.into(), passive, FieldTable::default())
            .await;
        queue.unwrap().message_count() == 1
    };
    until("the poison is a dead letter", waiting).await;
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_and_the_refusal_is_not_taken_for_success() {
    let vhost = Vhost::create().await;
    let publisher = Publisher::start(vhost.settings());
    connected(&publisher).await;
    let policy = json!({
        "pattern": "^claimcheck.credit$",
        "definition": {"max-length": 1},
        "apply-to": "queues",
    });
    vhost
        .put(&format!("policies/{}/tiny", vhost.name), &policy)
        .await;
    until("the full queue refuses", async || {
        match publisher.publish(Lane::Credit, &wake("dep:1-a")).await {
            Ok(()) => false,
            Err(PublishError::Nacked) => true,
            Err(other) => panic!("{other:?}"),
        }
    })
    .await;
    publisher
        .publish(Lane::Resolve, &wake("dep:1-a"))
        .await
        .unwrap();
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_falls_silent_is_noticed_and_replaced() {
    let vhost = Vhost::create().await;
    let proxy = Proxy::start(vhost.host.clone(), Mood::Silent).await;
    let mut settings = vhost.settings_by(&proxy.address.to_string());
    settings.connect_timeout = Duration::from_secs(1);
    let publisher = Publisher::start(settings.clone());
    let mut consumer = Consumer::start(settings, Lane::Credit, PREFETCH_DEFAULT);
    let answer = publisher.publish(Lane::Credit, &wake("dep:1-a")).await;
    assert!(
        matches!(answer, Err(PublishError::Unavailable)),
        "{answer:?}"
    );
    proxy.set(Mood::Passing);
    published(&publisher, Lane::Credit, &wake("dep:2-b")).await;
    next(&mut consumer).await.ack().await.unwrap();
    proxy.set(Mood::Silent);
    let answer = publisher.publish(Lane::Credit, &wake("dep:3-c")).await;
    assert!(
        matches!(
            answer,
            Err(PublishError::TimedOut | PublishError::Failed(_))
        ),
        "{answer:?}"
    );
    until("both notice", async || {
        !publisher.is_connected() && !consumer.is_connected()
    })
    .await;
    proxy.set(Mood::Passing);
    published(&publisher, Lane::Credit, &wake("dep:4-d")).await;
    // An acknowledgement that the silence swallowed brings its wake-up again.
    let mut delivery = next(&mut consumer).await;
    while delivery.redelivered {
        delivery.ack().await.unwrap();
        delivery = next(&mut consumer).await;
    }
    assert_eq!(delivery.wake.id, "dep:4-d");
    delivery.ack().await.unwrap();
    until("no thread of a dead connection is left", async || {
        library_threads() <= 2
    })
    .await;
    consumer.close().await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_with_other_arguments_is_named_once_and_heals_when_deleted() {
    let log = Log::install();
    let vhost = Vhost::create().await;
    let (_connection, channel) = vhost.raw().await;
    let durable = QueueDeclareOptions {
        durable: true,
        ..Default::default()
    };
    let queue = Lane::Credit.queue();
    channel
        .queue_declare(queue.into(), durable, FieldTable::default())
        .await
        .unwrap();
    let publisher = Publisher::start(vhost.settings());
    let repeated = || log.text().matches("still no RabbitMQ").count();
    until("it was tried again twice", async || repeated() >= 2).await;
    assert!(!publisher.is_connected());
    let named = "queue claimcheck.credit exists with other arguments than ours; delete it";
    let warnings = log.text();
    let warnings = warnings
        .lines()
        .filter(|line| line.contains(named) && line.contains("WARN"));
    assert_eq!(warnings.count(), 1);
    vhost.delete_queue(queue).await;
    published(&publisher, Lane::Credit, &wake("dep:1-a")).await;
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_in_no_log_line() {
    let log = Log::install();
    let vhost = Vhost::create().await;
    let mut settings = vhost.settings();
    settings.url = format!("amqp://guest:hunter2@{}/{}", vhost.host, vhost.name).into();
    let publisher = Publisher::start(settings.clone());
    settings.url = "amqp:guest:hunter2".to_owned().into();
    let consumer = Consumer::start(settings, Lane::Credit, PREFETCH_DEFAULT);
    until("both failed and said so", async || {
        let text = log.text();
        text.contains("ACCESS_REFUSED") && text.contains("the RabbitMQ URL is not of the form")
    })
    .await;
    assert!(!publisher.is_connected() && !consumer.is_connected());
    assert!(!log.text().contains("hunter2"));
    publisher.close().await;
    vhost.delete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_lets_what_is_in_hand_be_settled_and_puts_back_the_rest() {
    let vhost = Vhost::create().await;
    let publisher = Publisher::start(vhost.settings());
    connected(&publisher).await;
    for at in 0..5 {
        publisher
            .publish(Lane::Credit, &wake(&format!("dep:{at}-x")))
            .await
            .unwrap();
    }
    let mut consumer = Consumer::start(vhost.settings(), Lane::Credit, PREFETCH_DEFAULT);
    let in_hand = next(&mut consumer).await;
    consumer.close().await;
    assert!(consumer.next().await.is_none());
    assert!(!consumer.is_connected());
    let mut other = Consumer::start(vhost.settings(), Lane::Credit, PREFETCH_DEFAULT);
    for _ in 0..4 {
        let delivery = next(&mut other).await;
        assert_ne!(delivery.wake, in_hand.wake);
        delivery.ack().await.unwrap();
    }
    in_hand.ack().await.unwrap();
    other.close().await;
    publisher.close().await;
    until("nothing is left", async || {
        vhost.count(Lane::Credit.queue()).await == 0
    })
    .await;
    vhost.delete().await;
}

/// Threads of the AMQP library in this process: one per connection it has not given up.
fn library_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a Linux /proc");
    let names = tasks
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")));
    names
        .flatten()
        .filter(|name| name.trim() == "lapin-io-loop")
        .count()
}

/// What this process logged, from every thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn install() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("debug,h2=off,hyper_util=off,reqwest=off")
            .with_ansi(false)
            .with_writer(move || writer.clone());
        // Each test is a process of its own under nextest, which `make test` uses.
        subscriber.try_init().expect("one log per process");
        log
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no writer panicked")).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no writer panicked").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
