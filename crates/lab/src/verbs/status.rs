//! `lab status`: one line for each process. It looks and changes nothing.

use std::process::ExitCode;

use claimcheck_lab::{Health, Place};

use super::output::{line, note};
use super::up::running;

const MEBIBYTE: u64 = 1024 * 1024;

/// Shows every process.
pub(crate) async fn status(place: &Place) -> anyhow::Result<ExitCode> {
    let Some(stack) = running(place)? else {
        note("not running; `make up` starts the stack");
        return Ok(ExitCode::FAILURE);
    };
    let all = stack.health().await?;
    line(&row(
        "process", "pid", "alive", "ready", "memory", "address",
    ));
    for one in &all {
        line(&shown(one));
    }
    let is_whole = all.iter().all(|one| one.pid.is_some() && one.is_ready);
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn shown(one: &Health) -> String {
    let pid = one
        .pid
        .map_or_else(|| "-".to_owned(), |pid| pid.to_string());
    let memory = one.memory.map_or_else(
        || "-".to_owned(),
        |memory| format!("{} MiB", memory.resident_bytes / MEBIBYTE),
    );
    let word = |is: bool| if is { "yes" } else { "NO" };
    row(
        &one.name,
        &pid,
        word(one.pid.is_some()),
        word(one.is_ready),
        &memory,
        &one.address,
    )
}

fn row(name: &str, pid: &str, alive: &str, ready: &str, memory: &str, address: &str) -> String {
    format!("{name:<18} {pid:>8}  {alive:<5}  {ready:<5}  {memory:>8}  {address}")
}
