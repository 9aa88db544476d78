//! The stop request: asked once, seen by every loop. It only asks; whoever waits for it finishes
//! what is in hand and returns.

use tokio_util::sync::CancellationToken;

/// A stop request that every clone shares.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(CancellationToken);

impl Shutdown {
    /// One that nobody has asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everyone who holds a clone to stop. Asking again changes nothing.
    pub fn request(&self) {
        self.0.cancel();
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns once a stop was asked for, at once if it already was.
    pub async fn requested(&self) {
        self.0.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_reaches_every_clone_and_stays() {
        let shutdown = Shutdown::new();
        let waiter = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.requested().await }
        });
        assert!(!shutdown.is_requested());
        shutdown.request();
        shutdown.request();
        waiter.await.expect("the waiter returns");
        assert!(shutdown.is_requested());
        shutdown.requested().await;
    }
}
