//! The driver of every loop, on paused time: nothing here waits for a real clock.

use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use claimcheck_process::{
    Progress::{self, Idle, Worked},
    Shutdown, Wake, pace,
};
use tokio::time::Instant;

const TICK: Duration = Duration::from_secs(60);

/// Plays `script`, one answer per step, and asks for the stop with the last one. Returns when each
/// step began, counted from the start.
async fn play(script: Vec<Result<Progress, &'static str>>, wake: Wake) -> Vec<Duration> {
    let begun = Mutex::new(Vec::new());
    let mut script: VecDeque<_> = script.into();
    let shutdown = Shutdown::new();
    let start = Instant::now();
    pace::run("test", TICK, &wake, &shutdown, || {
        begun
            .lock()
            .expect("no step panicked")
            .push(start.elapsed());
        let answer = script.pop_front().expect("no step after the stop request");
        if script.is_empty() {
            shutdown.request();
        }
        async move { answer.map_err(anyhow::Error::msg) }
    })
    .await;
    begun.into_inner().expect("no step panicked")
}

fn milliseconds(begun: Vec<Duration>) -> Vec<u128> {
    begun.into_iter().map(|at| at.as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn it_steps_again_at_once_while_there_is_work() {
    let begun = play(vec![Ok(Worked), Ok(Worked), Ok(Worked)], Wake::new()).await;
    assert_eq!(milliseconds(begun), [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn it_waits_a_tick_when_idle() {
    let begun = play(vec![Ok(Idle), Ok(Idle), Ok(Worked)], Wake::new()).await;
    assert_eq!(milliseconds(begun), [0, 60_000, 120_000]);
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_given_before_it_waits_is_not_lost_and_counts_once() {
    let wake = Wake::new();
    wake.wake();
    wake.wake();
    let begun = play(vec![Ok(Idle), Ok(Idle), Ok(Idle)], wake).await;
    assert_eq!(milliseconds(begun), [0, 0, 60_000]);
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_ends_the_wait_for_the_tick() {
    let wake = Wake::new();
    tokio::spawn({
        let wake = wake.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            wake.wake();
        }
    });
    let begun = play(vec![Ok(Idle), Ok(Idle)], wake).await;
    assert_eq!(milliseconds(begun), [0, 5_000]);
}

#[tokio::test(start_paused = true)]
async fn failures_in_a_row_wait_longer_up_to_a_limit_and_success_starts_over() {
    let mut script = vec![Err("away"); 9];
    script.extend([Ok(Worked), Err("away"), Ok(Worked)]);
    let begun = play(script, Wake::new()).await;
    let pauses: Vec<_> = begun
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_millis())
        .collect();
    assert_eq!(
        pauses,
        [
            100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 0, 100
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_shortens_the_pause_after_a_failure_but_not_below_the_first() {
    let wake = Wake::new();
    let shutdown = Shutdown::new();
    let mut begun = Vec::new();
    let start = Instant::now();
    pace::run("test", TICK, &wake, &shutdown, || {
        begun.push(start.elapsed().as_millis());
        wake.wake();
        if begun.len() == 5 {
            shutdown.request();
        }
        async { Err::<Progress, _>(anyhow::anyhow!("away")) }
    })
    .await;
    assert_eq!(begun, [0, 100, 200, 300, 400]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_but_never_a_step() {
    let wake = Wake::new();
    let shutdown = Shutdown::new();
    tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            shutdown.request();
        }
    });
    let finished = AtomicBool::new(false);
    let start = Instant::now();
    pace::run("test", TICK, &wake, &shutdown, || async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        finished.store(true, Ordering::SeqCst);
        Ok::<_, anyhow::Error>(Idle)
    })
    .await;
    assert!(finished.load(Ordering::SeqCst));
    assert_eq!(start.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_stop_requested_before_the_start_allows_no_step() {
    let shutdown = Shutdown::new();
    shutdown.request();
    let steps = AtomicBool::new(false);
    pace::run("test", TICK, &Wake::new(), &shutdown, || async {
        steps.store(true, Ordering::SeqCst);
        Ok::<_, anyhow::Error>(Idle)
    })
    .await;
    assert!(!steps.load(Ordering::SeqCst));
}
