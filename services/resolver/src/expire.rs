//! The lease sweep: a claim whose lease has run out becomes unknown, never pending.

use claimcheck_process::{Progress, Wake};
use claimcheck_store::{Store, StoreError};
use tracing::warn;

/// Rows moved by one step.
const BATCH: i64 = 200;

/// What the sweep needs.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The store.
    pub store: Store,
    /// Who this is, in every history.
    pub name: String,
    /// Wakes the loops that look.
    pub looks: Vec<Wake>,
}

impl Sweep {
    /// Does one step.
    ///
    /// # Errors
    /// The database is away.
    pub async fn step(&self) -> Result<Progress, StoreError> {
        let expired = self.store.expire_leases(BATCH, &self.name).await?;
        if expired == 0 {
            return Ok(Progress::Idle);
        }
        warn!(
            operations = expired,
            "leases ran out; the operations are unknown"
        );
        metrics::counter!("claimcheck_leases_expired_total").increment(expired);
        self.looks.iter().for_each(Wake::wake);
        Ok(Progress::Worked)
    }
}
