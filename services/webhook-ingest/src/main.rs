//! Starts webhook-ingest.

fn main() -> std::process::ExitCode {
    claimcheck_process::run(
        "webhook-ingest",
        webhook_ingest::settings::read,
        webhook_ingest::app::run,
    )
}
