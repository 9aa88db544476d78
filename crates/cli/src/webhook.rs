//! `claimcheck webhook`: a provider's signature and meaning, tried out at a terminal.
//!
//! Needs no settings, no stack and no network. Answers are JSON on stdout; a secret appears in no
//! answer and no message.

mod parse;
mod request;
mod sign;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Checks, reads and makes webhook messages.
#[derive(Debug, Args)]
pub(crate) struct WebhookArgs {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Tells whether a message is the provider's word, and if not, why.
    Verify(verify::VerifyArgs),
    /// Tells what a message means; checks no signature.
    Parse(parse::ParseArgs),
    /// Makes the headers of a valid message.
    Sign(sign::SignArgs),
}

/// Runs the command.
pub(crate) fn run(args: WebhookArgs) -> ExitCode {
    let is_good = match args.command {
        WebhookCommand::Verify(args) => verify::run(args),
        WebhookCommand::Parse(args) => parse::run(args),
        WebhookCommand::Sign(args) => sign::run(args),
    };
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
