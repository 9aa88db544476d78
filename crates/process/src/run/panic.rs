//! A panic in any task or thread ends the process. What it was doing is left to its lease and to
//! the resolver, which is safe; going on with a broken invariant is not.

use std::{
    panic::{PanicHookInfo, set_hook},
    process::exit,
    sync::Arc,
    thread,
    time::Duration,
};

use crate::telemetry::Telemetry;

/// The code that Rust programs end with after a panic.
const EXIT_PANICKED: i32 = 101;
/// The end comes after this long even if the panic left a lock that logging needs.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(3);

/// Makes every panic from here on log itself and end the process.
pub(super) fn end_process_on_panic(telemetry: Arc<Telemetry>) {
    set_hook(Box::new(move |info| {
        // If no thread can be started, the end below is still reached unless logging hangs.
        let _ = thread::Builder::new()
            .name("panic-limit".to_owned())
            .spawn(|| {
                thread::sleep(LAST_WORDS_LIMIT);
                exit(EXIT_PANICKED);
            });
        let thread = thread::current();
        let thread = thread.name().unwrap_or("unnamed");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let message = message(info);
        Telemetry::last_words(&format!("thread {thread} panicked at {place}: {message}"));
        tracing::error!(thread, place, panic = message, "panicked; the process ends");
        telemetry.flush();
        exit(EXIT_PANICKED);
    }));
}

fn message<'a>(info: &'a PanicHookInfo<'_>) -> &'a str {
    info.payload_as_str().unwrap_or("no message")
}
