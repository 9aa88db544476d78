//! The real servers: they come back to their data and ports, and nothing outlives the command.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use claimcheck_lab::{Infra, Process, Signal, client, until};

const LIMIT: Duration = Duration::from_secs(120);

/// A state folder of the test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lab-{name}-{}", std::process::id()));
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn both_servers_come_back_to_their_data_and_ports() {
    let folder = Folder::new("back");
    let infra = Infra::start(&folder.0, None).await.expect("both start");
    infra.create_database("kept").await.expect("it is created");
    infra
        .sql("kept", "CREATE TABLE kept (id bigint)")
        .await
        .expect("it is created");
    infra.create_vhost("kept").await.expect("it is created");
    let url = infra.database_url("kept");

    infra.stop_postgres().await.expect("it stops");
    assert!(infra.sql("kept", "SELECT 1").await.is_err(), "it is away");
    infra.start_postgres().await.expect("it comes back");
    infra
        .sql("kept", "SELECT id FROM kept")
        .await
        .expect("its data is there");

    let killed = infra
        .postgres_pid()
        .and_then(Process::find)
        .expect("it lives");
    infra.signal_postgres(Signal::Kill).expect("it is killed");
    assert!(killed.ends_within(LIMIT).await);
    infra.stop_rabbitmq().await.expect("it stops");
    assert_eq!((infra.postgres_pid(), infra.rabbitmq_pid()), (None, None));
    infra.ensure().await.expect("both come back");
    infra
        .sql("kept", "SELECT id FROM kept")
        .await
        .expect("its data is there");
    assert_eq!(infra.database_url("kept"), url);
    let vhost = format!("{}/api/vhosts/kept", infra.management_url());
    let answer = client()
        .expect("a client")
        .get(vhost)
        .send()
        .await
        .expect("it answers");
    assert!(
        answer.status().is_success(),
        "the vhost is there: {}",
        answer.status()
    );

    let pids = [infra.postgres_pid(), infra.rabbitmq_pid()].map(|pid| pid.expect("it lives"));
    infra.stop().await.expect("all ends");
    assert!(pids.iter().all(|pid| Process::find(*pid).is_none()));
    assert!(!folder.0.exists(), "the data is gone");
}

#[tokio::test]
async fn a_killed_command_leaves_nothing_running() {
    let folder = Folder::new("killed");
    let mut lab = lab_run(&folder, &["sleep", "600"]);
    let dir = folder.0.join("test/0");
    let processes = || -> Vec<Process> {
        let names = ["postgres", "rabbitmq", "epmd", "command"];
        let found = names
            .iter()
            .filter_map(|name| Process::recorded(&dir.join("pids").join(name)));
        found.filter(Process::is_alive).collect()
    };
    until("the command runs", LIMIT, async || processes().len() == 4)
        .await
        .expect("it runs");
    let all = processes();

    lab.kill().expect("it is killed");
    lab.wait().expect("it is collected");
    until("all has ended", LIMIT, async || {
        all.iter().all(|one| !one.is_alive())
    })
    .await
    .expect("the guard ends them");
    until("the folder is gone", LIMIT, async || !dir.exists())
        .await
        .expect("and cleans up");
}

#[tokio::test]
async fn a_command_gets_the_servers_and_its_own_exit_code_is_the_answer() {
    let folder = Folder::new("code");
    let script = "test -f \"$CLAIMCHECK_LAB_INFRA\" && test -n \"$CLAIMCHECK_TEST_AMQP\" && exit 7";
    let mut lab = lab_run(&folder, &["sh", "-c", script]);
    let mut code = None;
    until("the run ends", LIMIT, async || {
        code = lab
            .try_wait()
            .ok()
            .flatten()
            .and_then(|status| status.code());
        code.is_some()
    })
    .await
    .expect("it ends");
    assert_eq!(code, Some(7));
    assert!(!folder.0.join("test/0").exists());
}

fn lab_run(folder: &Folder, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lab"))
        .arg("--dir")
        .arg(&folder.0)
        .args(["run", "--"])
        .args(words)
        .stdin(Stdio::null())
        .spawn()
        .expect("the lab starts")
}
