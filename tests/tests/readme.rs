//! What the README tells a reader to type is typed here, word for word.

use std::process::Command;
use std::time::Duration;

use claimcheck_lab::{Infra, Stack, StackOptions, bin_dir, until};
use claimcheck_tests::workspace::root;

/// Longest time until the payment typed by hand is credited.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn the_payment_by_hand_ends_as_the_readme_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README is there");
    let section = readme
        .split("## Try it by hand")
        .nth(1)
        .expect("the README has the section");
    let block = section
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let block = block.expect("the section has a block of commands");
    let infra = Infra::attach_from_environment().expect("run through `make test`");
    let stack = Stack::start(&infra, StackOptions::named("readme"))
        .await
        .expect("it starts");
    let folder = infra.dir().join("by-hand");
    std::fs::create_dir_all(&folder).expect("a folder");
    let endpoints = folder.join("endpoints.json");
    let text = serde_json::to_string(stack.endpoints()).expect("JSON");
    std::fs::write(&endpoints, text).expect("written");
    // Only where things lie differs from what a reader types; the stack is up already.
    let typed = block
        .replace("make up\n", "")
        .replace("/tmp/", &format!("{}/", folder.display()))
        .replace(".lab/endpoints.json", &endpoints.display().to_string())
        .replace(
            "target/debug",
            &bin_dir().expect("binaries").display().to_string(),
        );
    let mut answer = String::new();
    until("the README's payment is credited", LIMIT, async || {
        let run = Command::new("bash")
            .arg("-euc")
            .arg(&typed)
            .current_dir(root())
            .output();
        let output = run.expect("bash runs");
        answer = format!("{}{}", shown(&output.stdout), shown(&output.stderr));
        output.status.success() && answer.contains(r#""state":"credited""#)
    })
    .await
    .unwrap_or_else(|error| panic!("{error:#}\n{answer}"));
    assert!(
        answer.contains(r#""amount":"500.00""#),
        "the deal is in the ledger: {answer}"
    );
    stack.stop().await.expect("the stack stops");
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
