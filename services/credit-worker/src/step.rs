//! One step: claim, act, settle.
//!
//! A claim is made only while a session is held, so nothing waits in a queue with its lease
//! running; and how the call ended is written under the attempt of this very claim.

use std::time::{Duration, Instant};

use claimcheck_core::{Backoff, Operation, Outcome, Times};
use claimcheck_mt5::{NoSession, Server};
use claimcheck_process::{Progress, continue_trace, error_chain};
use claimcheck_store::{Claim, Settled, Store, StoreError};
use tracing::{Instrument, debug, info, info_span, warn};

use crate::act::act;

/// What the steps of one trade server share.
#[derive(Debug, Clone)]
pub struct Worker {
    /// The store.
    pub store: Store,
    /// The trade server.
    pub server: Server,
    /// The times of a call.
    pub times: Times,
    /// How long a step waits for a free session.
    pub queue_wait: Duration,
    /// Who this is, in every history.
    pub name: String,
}

/// How long an operation rests when its call did not even leave, longer with every attempt.
const NOT_SENT_REST: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_mins(2));
/// Pauses between tries to write how a call ended.
const SETTLE_AGAIN: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

impl Worker {
    /// Does one step.
    ///
    /// # Errors
    /// The database is away before anything was claimed.
    pub async fn step(&self) -> Result<Progress, StoreError> {
        let mut session = match self.server.session(self.queue_wait).await {
            Ok(session) => session,
            Err(NoSession::Busy) => return Ok(Progress::Idle),
            Err(NoSession::Down { reason, .. }) => {
                debug!(server = %self.server.name(), reason, "no session, nothing is claimed");
                return Ok(Progress::Idle);
            }
        };
        // The lease is counted from before the claim, so it ends here before it ends there.
        let counted_from = Instant::now();
        let claimed = self
            .store
            .claim(self.server.name(), self.times.lease(), &self.name)
            .await?;
        let Some(claim) = claimed else {
            return Ok(Progress::Idle);
        };
        let span = info_span!(
            "operation.credit",
            reference = claim.operation.reference.as_str(),
            attempt = claim.operation.attempts,
            server = %claim.operation.server,
        );
        if let Some(parent) = &claim.trace_parent {
            continue_trace(&span, parent);
        }
        let work = async {
            let outcome = act(self, &claim, counted_from, &mut session).await;
            drop(session);
            self.settle(&claim, &outcome, counted_from).await;
        };
        work.instrument(span).await;
        Ok(Progress::Worked)
    }

    /// Writes how the call ended, trying as long as the lease lasts. What cannot be written is not
    /// lost: the lease runs out and the resolver finds the truth.
    async fn settle(&self, claim: &Claim, outcome: &Outcome, counted_from: Instant) {
        let operation = &claim.operation;
        let rest = NOT_SENT_REST.pause(u32::try_from(operation.attempts).unwrap_or(u32::MAX));
        let mut failures = 0_u32;
        loop {
            match self
                .store
                .settle(operation, outcome, rest, &self.name)
                .await
            {
                Ok(settled) => return report(operation, outcome, settled),
                Err(error) => {
                    failures = failures.saturating_add(1);
                    let is_over = counted_from.elapsed() >= self.times.lease();
                    if is_over || !error.is_passing() {
                        let error = error_chain(&error);
                        warn!(
                            outcome = outcome.code(),
                            error, "not settled; the lease decides"
                        );
                        return;
                    }
                    tokio::time::sleep(SETTLE_AGAIN.pause(failures)).await;
                }
            }
        }
    }
}

fn report(operation: &Operation, outcome: &Outcome, settled: Settled) {
    let code = outcome.code();
    metrics::counter!("claimcheck_operations_total", "outcome" => code).increment(1);
    let kind = operation.kind.code();
    match (outcome, settled) {
        (Outcome::Done(ticket), Settled::Written | Settled::Same) => {
            info!(kind, deal = ticket.get(), "operation done");
        }
        (_, Settled::Evidence) => {
            metrics::counter!("claimcheck_late_evidence_total").increment(1);
            warn!(
                kind,
                "a late ticket contradicts the operation; it is held for a person"
            );
        }
        (Outcome::Refused(refusal), _) => {
            info!(
                kind,
                code = refusal.code,
                ?settled,
                "operation refused: {}",
                refusal.meaning
            );
        }
        (Outcome::NotSent(why) | Outcome::Unknown(why), _) => {
            warn!(kind, outcome = code, ?settled, "operation not done: {why}");
        }
        (Outcome::Done(ticket), Settled::Stale) => {
            warn!(
                kind,
                deal = ticket.get(),
                "operation done, but its row has moved on"
            );
        }
    }
}
