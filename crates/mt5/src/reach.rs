//! Whether a trade server can be reached, and when it may be tried again.
//!
//! The rule: a server that is down is tried by one caller at a time and after growing pauses;
//! everybody else hears "down" at once. Servers block addresses that keep knocking.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use claimcheck_core::Backoff;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::login::LoginError;

/// Pauses after a server could not be reached.
const UNREACHABLE: Backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(15));
/// Pauses after a server refused the manager.
const REFUSED: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_mins(1));

/// What is known about reaching one server.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    is_reachable: AtomicBool,
    failing: Mutex<Option<Failing>>,
}

#[derive(Debug, Clone)]
struct Failing {
    failures: u32,
    retry_at: Instant,
    reason: String,
}

/// A server that must not be tried yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Down {
    /// Why.
    pub(crate) reason: String,
    /// When a try may be worth it.
    pub(crate) retry_after: Duration,
}

impl Reach {
    /// Whether the last contact succeeded.
    pub(crate) fn is_reachable(&self) -> bool {
        self.is_reachable.load(Ordering::Relaxed)
    }

    /// Notes a contact on an open connection.
    pub(crate) fn contact(&self, is_good: bool) {
        self.is_reachable.store(is_good, Ordering::Relaxed);
    }

    /// Whether a login may be tried now.
    pub(crate) fn may_try(&self) -> Result<(), Down> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        match failing.as_ref() {
            Some(Failing {
                retry_at, reason, ..
            }) if Instant::now() < *retry_at => Err(Down {
                reason: reason.clone(),
                retry_after: retry_at.saturating_duration_since(Instant::now()),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Notes a login.
    pub(crate) fn logged_in(&self) {
        self.contact(true);
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Notes a login that failed, and says for how long the server is left alone.
    pub(crate) fn failed(&self, error: &LoginError) -> Down {
        self.contact(false);
        let backoff = if error.is_refusal() {
            REFUSED
        } else {
            UNREACHABLE
        };
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = failing.as_ref().map_or(0, |f| f.failures).saturating_add(1);
        let retry_after = backoff.spread(failures, random());
        let now = Instant::now();
        let retry_at = now.checked_add(retry_after).unwrap_or(now);
        let reason = error.chain();
        *failing = Some(Failing {
            failures,
            retry_at,
            reason: reason.clone(),
        });
        Down {
            reason,
            retry_after,
        }
    }
}

/// Randomness that only spreads pauses: without it they are merely less spread.
fn random() -> u32 {
    let mut bytes = [0; 4];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_or(0, |()| u32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_is_left_alone_for_longer_and_longer() {
        let reach = Reach::default();
        assert_eq!(reach.may_try(), Ok(()));
        let first = reach.failed(&LoginError::TimedOut);
        let down = reach.may_try().expect_err("has just failed");
        assert!(down.reason.contains("not answered") && down.retry_after <= first.retry_after);
        for _ in 0..10 {
            let later = reach.failed(&LoginError::TimedOut);
            assert!(later.retry_after <= Duration::from_secs(15));
        }
        assert!(reach.failed(&LoginError::TimedOut).retry_after > first.retry_after);
        reach.logged_in();
        assert_eq!(reach.may_try(), Ok(()));
        assert!(reach.is_reachable());
    }

    #[test]
    fn a_refused_manager_waits_longer_than_a_lost_connection() {
        let refused = Reach::default().failed(&LoginError::Refused { code: 1001 });
        assert!(refused.retry_after >= Duration::from_secs(1));
    }
}
