//! Whether this process should be given work. It is ready only after the app has opened it, while
//! every check passes, and never again once it drains. A check's reason is shown to whoever asks
//! the admin port: it names what is wrong and carries no secret.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{BoxFuture, join_all};

/// A check that has not answered after this long counts as failed.
const CHECK_LIMIT: Duration = Duration::from_secs(2);

/// The checks of one process; clones share them.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Inner>);

/// What an evaluation found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether the process is on its way out.
    pub draining: bool,
    /// What is not ready, and why. Empty and not draining means ready.
    pub not_ready: BTreeMap<String, String>,
}

type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Default)]
struct Inner {
    opened: AtomicBool,
    draining: AtomicBool,
    checks: Mutex<Vec<(Cow<'static, str>, Check)>>,
}

impl State {
    /// Whether work may be sent here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.draining && self.not_ready.is_empty()
    }
}

impl Readiness {
    /// One without checks, not open yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a check under the name that a failure is shown with.
    pub fn check<F, Fut>(&self, name: impl Into<Cow<'static, str>>, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        let check: Check = Arc::new(move || Box::pin(check()));
        self.checks().push((name.into(), check));
    }

    /// The app has started: from here on the checks alone decide.
    pub fn open(&self) {
        self.0.opened.store(true, Ordering::SeqCst);
    }

    /// The process is stopping: never ready again.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::SeqCst);
    }

    /// Runs every check, all at once, each within its limit.
    pub async fn evaluate(&self) -> State {
        let checks = self.checks().clone();
        let verdicts = join_all(checks.into_iter().map(|(name, check)| async move {
            let verdict = match tokio::time::timeout(CHECK_LIMIT, check()).await {
                Ok(verdict) => verdict,
                Err(_) => Err(format!("no answer within {} s", CHECK_LIMIT.as_secs())),
            };
            verdict.err().map(|why| (name.into_owned(), why))
        }))
        .await;
        let mut not_ready: BTreeMap<_, _> = verdicts.into_iter().flatten().collect();
        if !self.0.opened.load(Ordering::SeqCst) {
            not_ready.insert("start".to_owned(), "still starting".to_owned());
        }
        // Read last, so that a drain during the checks is already seen.
        let draining = self.0.draining.load(Ordering::SeqCst);
        State {
            draining,
            not_ready,
        }
    }

    fn checks(&self) -> std::sync::MutexGuard<'_, Vec<(Cow<'static, str>, Check)>> {
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.checks().iter().map(|(name, _)| name.clone()).collect();
        f.debug_struct("Readiness")
            .field("opened", &self.0.opened)
            .field("draining", &self.0.draining)
            .field("checks", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_ready_before_it_was_opened() {
        let readiness = Readiness::new();
        assert!(!readiness.evaluate().await.is_ready());
        readiness.open();
        assert!(readiness.evaluate().await.is_ready());
    }

    #[tokio::test]
    async fn a_failing_check_is_named_and_a_passing_one_is_not() {
        let readiness = Readiness::new();
        readiness.open();
        let up = Arc::new(AtomicBool::new(false));
        readiness.check("settings", || async { Ok(()) });
        readiness.check("database", {
            let up = up.clone();
            move || {
                let up = up.load(Ordering::SeqCst);
                async move {
                    if up {
                        Ok(())
                    } else {
                        Err("refused".to_owned())
                    }
                }
            }
        });
        let state = readiness.evaluate().await;
        assert!(!state.is_ready());
        assert_eq!(
            state.not_ready,
            BTreeMap::from([("database".to_owned(), "refused".to_owned())])
        );
        up.store(true, Ordering::SeqCst);
        assert!(readiness.evaluate().await.is_ready());
    }

    #[tokio::test]
    async fn draining_is_never_ready_again() {
        let readiness = Readiness::new();
        readiness.open();
        readiness.drain();
        readiness.open();
        let state = readiness.evaluate().await;
        assert!(state.draining);
        assert!(!state.is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_hangs_fails_after_its_limit() {
        let readiness = Readiness::new();
        readiness.open();
        readiness.check("queue", std::future::pending);
        let before = tokio::time::Instant::now();
        let state = readiness.evaluate().await;
        assert_eq!(before.elapsed(), CHECK_LIMIT);
        assert_eq!(
            state.not_ready.get("queue").map(String::as_str),
            Some("no answer within 2 s")
        );
    }
}
