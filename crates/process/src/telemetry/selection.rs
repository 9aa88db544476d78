//! Which events become log lines. Spans of our own from INFO up are kept whatever is logged,
//! because they carry the trace ids; libraries stay at WARN unless they are named.

use std::str::FromStr;

use tracing::{Level, Metadata, Subscriber, level_filters::LevelFilter, subscriber::Interest};
use tracing_subscriber::{
    Layer,
    filter::{ParseError, Targets},
    layer::Context,
};

/// Beginnings of targets that say too much below WARN.
const QUIET: &[&str] = &[
    "actix",
    "amq_protocol",
    "hyper",
    "lapin",
    "mio",
    "opentelemetry",
    "reqwest",
    "rustls",
    "sqlx",
    "tokio",
    "tower",
];

/// A choice of targets and levels, like `info` or `info,claimcheck_store=debug`.
#[derive(Clone, Debug)]
pub struct Selection {
    targets: Targets,
}

/// Why a text is no such choice.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A part without `=` that is no level.
    #[error("a part without = must be one of off, error, warn, info, debug, trace")]
    Level,
    /// A part that cannot be read at all.
    #[error("it is not a list of target=level")]
    Malformed(#[source] ParseError),
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_level = |part: &str| !part.is_empty() && part.trim().parse::<LevelFilter>().is_ok();
        if text
            .split(',')
            .any(|part| !part.contains('=') && !is_level(part))
        {
            return Err(SelectionError::Level);
        }
        let mut targets: Targets = text.parse().map_err(SelectionError::Malformed)?;
        for quiet in QUIET {
            if !targets.iter().any(|(named, _)| named == *quiet) {
                targets = targets.with_target(*quiet, LevelFilter::WARN);
            }
        }
        Ok(Self { targets })
    }
}

impl Selection {
    fn selects(&self, metadata: &Metadata<'_>) -> bool {
        let quiet = QUIET
            .iter()
            .any(|quiet| metadata.target().starts_with(quiet));
        let span_of_ours = metadata.is_span() && *metadata.level() <= Level::INFO && !quiet;
        span_of_ours
            || self
                .targets
                .would_enable(metadata.target(), metadata.level())
    }
}

impl<S: Subscriber> Layer<S> for Selection {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.selects(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.selects(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_stay_quiet_unless_named() {
        let selection: Selection = "debug,sqlx=info".parse().expect("a selection");
        let selected = |target, level: Level| selection.targets.would_enable(target, &level);
        assert!(selected("claimcheck_store::deposit", Level::DEBUG));
        assert!(!selected("claimcheck_store::deposit", Level::TRACE));
        assert!(selected("sqlx::query", Level::INFO));
        assert!(!selected("hyper::client", Level::INFO));
        assert!(!selected("actix_server::worker", Level::INFO));
        assert!(selected("lapin::channels", Level::WARN));
    }

    #[test]
    fn a_mistyped_level_is_refused() {
        for text in ["infoo", "", "info,", "sqlx=loud", "info,warning"] {
            assert!(text.parse::<Selection>().is_err(), "{text:?}");
        }
    }
}
