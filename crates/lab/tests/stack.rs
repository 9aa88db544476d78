//! A stack on infrastructure that another process started.
//!
//! The rule: without that infrastructure these tests fail; they never pass by not running.

use std::time::Duration;

use claimcheck_lab::{Infra, Process, Replicas, Signal, Stack, StackOptions, until};

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_killed_service_comes_back_to_its_address_and_a_stopped_stack_is_gone() {
    let infra = Infra::attach_from_environment().expect("run through `make test`");
    let mut options = StackOptions::named("lab_stack");
    options.replicas = Replicas::parse("credit-worker=2").expect("is good");
    let stack = Stack::start(&infra, options).await.expect("it starts");
    let first = stack.endpoints().clone();
    assert!(stack.alive());
    assert_eq!(first.pids.get("credit-worker").map(Vec::len), Some(2));

    stack
        .kill("cashier", 0, Signal::Kill)
        .await
        .expect("it is killed");
    assert!(!stack.alive());
    assert!(stack.memory_bytes("cashier", 0).is_err());
    assert!(
        stack.kill("cashier", 0, Signal::Term).await.is_err(),
        "nobody is there"
    );
    stack
        .start_service("cashier", 0)
        .await
        .expect("it comes back");
    assert!(
        stack.start_service("cashier", 0).await.is_err(),
        "it runs already"
    );
    assert!(
        stack
            .memory_bytes("cashier", 0)
            .expect("it runs")
            .peak_bytes
            > 0
    );
    let second = stack.look().expect("it can be seen");
    assert_ne!(first.pids, second.pids);
    assert_eq!((first.cashier, first.admin), (second.cashier, second.admin));

    let name = "lab_stack";
    stack.stop().await.expect("it stops");
    let services = second
        .pids
        .iter()
        .filter(|(name, _)| !is_infrastructure(name));
    let mut pids = services.flat_map(|(_, pids)| pids);
    assert!(pids.all(|pid| Process::find(*pid).is_none()));
    assert!(
        infra.sql(name, "SELECT 1").await.is_err(),
        "its database is gone"
    );
    assert!(infra.postgres_pid().is_some(), "and the server is not");
}

#[tokio::test]
async fn a_stack_that_is_forgotten_is_ended_by_its_guard() {
    let infra = Infra::attach_from_environment().expect("run through `make test`");
    let stack = Stack::start(&infra, StackOptions::named("lab_dropped"))
        .await
        .expect("it starts");
    let pids = stack.pids();
    let services = pids
        .into_iter()
        .filter(|(name, _)| !is_infrastructure(name));
    let all: Vec<Process> = services
        .flat_map(|(_, p)| p)
        .filter_map(Process::find)
        .collect();
    assert_eq!(all.len(), 5);
    drop(stack);
    until("the guard ends it", LIMIT, async || {
        all.iter().all(|one| !one.is_alive())
    })
    .await
    .expect("it ends");
    infra
        .drop_database("lab_dropped")
        .await
        .expect("PostgreSQL is there");
    infra
        .delete_vhost("lab_dropped")
        .await
        .expect("RabbitMQ is there");
}

fn is_infrastructure(name: &str) -> bool {
    ["postgres", "rabbitmq"].contains(&name)
}
