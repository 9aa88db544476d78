//! Starts credit-worker.

fn main() -> std::process::ExitCode {
    claimcheck_process::run(
        "credit-worker",
        credit_worker::settings::read,
        credit_worker::app::run,
    )
}
