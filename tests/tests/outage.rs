//! PostgreSQL and RabbitMQ away during payments: nothing is answered that is not committed, and
//! nothing is lost. The infrastructure is this test's own, so that no other test suffers.

#![expect(
    clippy::indexing_slicing,
    reason = "a test may stop where its own books are wrong"
)]

use std::time::Duration;

use claimcheck_lab::actors::{Deposit, Mt5, Payment, Portal, Sender};
use claimcheck_lab::{Infra, Signal, Stack, StackOptions, client, until};

const LIMIT: Duration = Duration::from_secs(60);

struct Town {
    infra: Infra,
    stack: Stack,
    portal: Portal,
    sender: Sender,
    mt5: Mt5,
}

#[tokio::test(flavor = "multi_thread")]
async fn without_postgresql_webhooks_get_503_and_without_rabbitmq_payments_still_finish() {
    let town = town().await;
    let login = 320_001;
    let (deposits, bodies) = payments(&town, login).await;
    let [first, second, third, fourth, fifth, sixth] = &bodies;

    town.infra.stop_postgres().await.expect("stopped");
    refused_then_taken(&town, first).await;
    town.sender.deliver(second, LIMIT).await.expect("taken");
    town.infra.signal_postgres(Signal::Kill).expect("killed");
    until("PostgreSQL is gone", LIMIT, async || {
        town.infra.postgres_pid().is_none()
    })
    .await
    .expect("gone");
    refused_then_taken(&town, third).await;
    town.sender.deliver(fourth, LIMIT).await.expect("taken");

    // RabbitMQ stopped: the sweep alone finishes.
    town.infra.stop_rabbitmq().await.expect("stopped");
    town.sender.deliver(fifth, LIMIT).await.expect("taken");
    credited(&town.portal, &deposits[..5]).await;
    town.infra.start_rabbitmq().await.expect("started");
    town.sender.deliver(sixth, LIMIT).await.expect("taken");
    credited(&town.portal, &deposits).await;

    let deals = town.mt5.deals(login).await.expect("known");
    assert_eq!(
        deals.len(),
        deposits.len(),
        "exactly one deal each: {deals:?}"
    );
    town.stack.stop().await.expect("the stack stops");
    town.infra.stop().await.expect("the infrastructure stops");
}

async fn town() -> Town {
    let shared = Infra::attach_from_environment().expect("run through `make test`");
    let own = shared.dir().join("own-outage");
    let infra = Infra::start(&own, None)
        .await
        .expect("an infrastructure of its own");
    let stack = Stack::start(&infra, StackOptions::named("outage"))
        .await
        .expect("it starts");
    let client = client().expect("a client");
    let portal = Portal::new(client.clone(), stack.endpoints());
    let sender = Sender::new(client.clone(), stack.endpoints()).expect("a Stripe endpoint");
    let mt5 = Mt5::new(client, stack.endpoints());
    Town {
        infra,
        stack,
        portal,
        sender,
        mt5,
    }
}

/// Six deposits on one login, and the event that pays each.
async fn payments(town: &Town, login: i64) -> (Vec<Deposit>, [String; 6]) {
    town.mt5.open(login, "USD", true).await.expect("opened");
    town.portal.own(login, "USD").await.expect("owned");
    let mut deposits = Vec::new();
    for number in 0..6 {
        let key = format!("outage-{number}");
        let deposit = town
            .portal
            .deposit(&key, login, 1_000 + number, "USD")
            .await;
        deposits.push(deposit.expect("registered"));
    }
    let body = |number: usize| {
        let payment = Payment::of(&format!("pi_outage_{number}"), &deposits[number]);
        payment.succeeded(&format!("evt_outage_{number}"))
    };
    let bodies = [body(0), body(1), body(2), body(3), body(4), body(5)];
    (deposits, bodies)
}

/// With PostgreSQL away the webhook is refused for now; when it is back, the repeat is taken.
async fn refused_then_taken(town: &Town, body: &str) {
    let (status, _) = town.sender.post(body).await.expect("an answer");
    assert_eq!(status, 503, "nothing can be committed");
    let admin = &town.stack.endpoints().admin["webhook-ingest"][0];
    let client = client().expect("a client");
    let ready = client
        .get(format!("{admin}/readyz"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        ready.status().as_u16(),
        503,
        "it is not ready without its database"
    );
    let live = client
        .get(format!("{admin}/livez"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(live.status().as_u16(), 200, "it lives all the same");
    until("PostgreSQL starts again", LIMIT, async || {
        town.infra.start_postgres().await.is_ok()
    })
    .await
    .expect("started");
    town.sender
        .deliver(body, LIMIT)
        .await
        .expect("the provider repeats and is taken");
}

async fn credited(portal: &Portal, deposits: &[Deposit]) {
    for deposit in deposits {
        until("the payment is credited", LIMIT, async || {
            portal
                .state(deposit.id)
                .await
                .is_ok_and(|state| state.state == "credited")
        })
        .await
        .expect("credited");
    }
}
