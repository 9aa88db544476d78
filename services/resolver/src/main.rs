//! Starts resolver.

fn main() -> std::process::ExitCode {
    claimcheck_process::run("resolver", resolver::settings::read, resolver::app::run)
}
