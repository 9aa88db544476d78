//! Starts cashier.

fn main() -> std::process::ExitCode {
    claimcheck_process::run("cashier", cashier::settings::read, cashier::app::run)
}
