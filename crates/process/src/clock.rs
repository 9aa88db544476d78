//! Where the wall clock enters. Nothing else in the workspace may ask the system for the time, so
//! that every decision about time can be driven by a test.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use time::OffsetDateTime;

/// Tells the time: the system's, or one that a test moves by hand.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<Mutex<OffsetDateTime>>),
}

impl Clock {
    /// The machine's wall clock, in UTC.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands at `start` until it is advanced. Clones move together.
    #[must_use]
    pub fn manual(start: OffsetDateTime) -> Self {
        Self(Source::Manual(Arc::new(Mutex::new(start))))
    }

    /// The time now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the wall clock enters"
    )]
    pub fn now(&self) -> OffsetDateTime {
        match &self.0 {
            Source::System => OffsetDateTime::now_utc(),
            Source::Manual(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Moves a manual clock forward. The system's clock cannot be moved: asking is a mistake in
    /// the test that asks.
    pub fn advance(&self, by: Duration) {
        assert!(
            matches!(self.0, Source::Manual(_)),
            "only a manual clock can be advanced"
        );
        if let Source::Manual(now) = &self.0 {
            let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
            *now += by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_advanced_and_its_clones_with_it() {
        let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH);
        let other = clock.clone();
        assert_eq!(clock.now(), OffsetDateTime::UNIX_EPOCH);
        clock.advance(Duration::from_secs(90));
        assert_eq!(
            other.now(),
            OffsetDateTime::UNIX_EPOCH + Duration::from_secs(90)
        );
    }

    #[test]
    fn the_system_clock_runs_forward() {
        let first = Clock::system().now();
        assert!(Clock::system().now() >= first);
        assert!(first > OffsetDateTime::UNIX_EPOCH);
    }
}
