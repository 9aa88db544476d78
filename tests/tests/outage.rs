//! PostgreSQL and RabbitMQ away during payments: nothing is answered that is not committed, and
//! nothing is lost. The infrastructure is this test's own, so that no other test suffers.

use std::time::Duration;

use claimcheck_lab::actors::{Mt5, Payment, Portal, Sender};
use claimcheck_lab::{Infra, Signal, Stack, StackOptions, client, until};

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn without_postgresql_webhooks_get_503_and_without_rabbitmq_payments_still_finish() {
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
    let mt5 = Mt5::new(client.clone(), stack.endpoints());
    let login = 320_001;
    mt5.open(login, "USD", true).await.expect("opened");
    portal.own(login, "USD").await.expect("owned");
    let mut deposits = Vec::new();
    for number in 0..6 {
        let key = format!("outage-{number}");
        deposits.push(
            portal
                .deposit(&key, login, 1_000 + number, "USD")
                .await
                .expect("kept"),
        );
    }
    let mut bodies = Vec::new();
    for (number, deposit) in deposits.iter().enumerate() {
        let payment = Payment::of(&format!("pi_outage_{number}"), deposit);
        bodies.push(payment.succeeded(&format!("evt_outage_{number}")));
    }
    let mut bodies = bodies.into_iter();
    let mut next = || bodies.next().expect("a body is left");

    // PostgreSQL stopped in good order, and then killed.
    for is_killed in [false, true] {
        if is_killed {
            infra.signal_postgres(Signal::Kill).expect("killed");
            until("PostgreSQL is gone", LIMIT, async || {
                infra.postgres_pid().is_none()
            })
            .await
            .expect("gone");
        } else {
            infra.stop_postgres().await.expect("stopped");
        }
        let body = next();
        let (status, _) = sender.post(&body).await.expect("an answer");
        assert_eq!(status, 503, "nothing can be committed");
        let ingest = stack.endpoints().admin["webhook-ingest"][0].clone();
        let ready = client
            .get(format!("{ingest}/readyz"))
            .send()
            .await
            .expect("an answer");
        assert_eq!(
            ready.status().as_u16(),
            503,
            "it is not ready without its database"
        );
        let live = client
            .get(format!("{ingest}/livez"))
            .send()
            .await
            .expect("an answer");
        assert_eq!(live.status().as_u16(), 200, "it lives all the same");
        until("PostgreSQL starts again", LIMIT, async || {
            infra.start_postgres().await.is_ok()
        })
        .await
        .expect("started");
        sender
            .deliver(&body, LIMIT)
            .await
            .expect("the provider repeats and is taken");
        sender.deliver(&next(), LIMIT).await.expect("taken");
    }

    // RabbitMQ stopped: the sweep alone finishes.
    infra.stop_rabbitmq().await.expect("stopped");
    sender.deliver(&next(), LIMIT).await.expect("taken");
    credited(&portal, &deposits[..5]).await;
    infra.start_rabbitmq().await.expect("started");
    sender.deliver(&next(), LIMIT).await.expect("taken");
    credited(&portal, &deposits).await;
    let deals = mt5.deals(login).await.expect("known");
    assert_eq!(
        deals.len(),
        deposits.len(),
        "exactly one deal each: {deals:?}"
    );
    stack.stop().await.expect("the stack stops");
    infra.stop().await.expect("the infrastructure stops");
}

async fn credited(portal: &Portal, deposits: &[claimcheck_lab::actors::Deposit]) {
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
