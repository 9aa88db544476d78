//! One step: take an operation that is due for a look, look, decide, write.
//!
//! The reading of MT5 comes before the reading of our own rows, so that a deal made in between is
//! explained; and the decision is written under the attempt for which it was made.

use std::time::Duration;

use claimcheck_core::{
    Known, Look, NoAnswer, Operation, Reading, Reference, Resolution, Sought, Times, look, resolve,
};
use claimcheck_mt5::{Deals, NoSession, Server, Session};
use claimcheck_process::{Progress, continue_trace, error_chain, trace_parent};
use claimcheck_queue::{Lane, Publisher, Wake};
use claimcheck_store::{LookRecord, Settled, Store, StoreError, UnknownOperation};
use tracing::{Instrument, debug, info, info_span, warn};

/// What the steps of one trade server share.
#[derive(Clone)]
pub struct Resolver {
    /// The store.
    pub store: Store,
    /// The trade server, read only.
    pub server: Server,
    /// Tells the credit-worker that an operation may be claimed again.
    pub publisher: Publisher,
    /// The times of a call.
    pub times: Times,
    /// Attempts before a person decides.
    pub attempts_max: i32,
    /// How long a step waits for a free session.
    pub queue_wait: Duration,
    /// Who this is, in every history.
    pub name: String,
}

/// How long other resolvers leave a taken operation alone.
const HOLD: Duration = Duration::from_secs(30);

impl Resolver {
    /// Does one step.
    ///
    /// # Errors
    /// The database is away.
    pub async fn step(&self) -> Result<Progress, StoreError> {
        // Without a session no look can be made, so none is taken and none goes on record; how
        // long an operation stays unknown is watched elsewhere.
        let mut session = match self.server.session(self.queue_wait).await {
            Ok(session) => session,
            Err(NoSession::Busy) => return Ok(Progress::Idle),
            Err(NoSession::Down { reason, .. }) => {
                debug!(server = %self.server.name(), reason, "no session to look with");
                return Ok(Progress::Idle);
            }
        };
        let due = self
            .store
            .take_due_look(self.server.name(), self.attempts_max, HOLD)
            .await?;
        let Some(unknown) = due else {
            return Ok(Progress::Idle);
        };
        let operation = &unknown.operation;
        let span = info_span!(
            "operation.resolve",
            reference = operation.reference.as_str(),
            attempt = operation.attempts,
            server = %operation.server,
        );
        if let Some(parent) = &unknown.trace_parent {
            continue_trace(&span, parent);
        }
        self.resolve_one(&unknown, &mut session)
            .instrument(span)
            .await?;
        Ok(Progress::Worked)
    }

    async fn resolve_one(
        &self,
        unknown: &UnknownOperation,
        session: &mut Session,
    ) -> Result<(), StoreError> {
        let operation = &unknown.operation;
        let reading = self.read(unknown, session).await;
        let verdict = match &reading {
            Ok(reading) => {
                let known = self.store.known_deals(operation).await?;
                judge(operation, reading, &known)
            }
            Err(why) => Look::NoAnswer(NoAnswer::Unreadable(why.clone())),
        };
        let resolution = resolve(&unknown.unresolved, &verdict, unknown.now, &self.times);
        let record = LookRecord {
            look: &verdict,
            reading: reading.as_ref().ok(),
            looked_at: unknown.now,
            actor: &self.name,
        };
        let settled = self.store.resolve(operation, &record, &resolution).await?;
        metrics::counter!("claimcheck_looks_total", "verdict" => verdict.code()).increment(1);
        report(&verdict, &resolution, settled);
        if settled == Settled::Written && resolution == Resolution::ProvedAbsent {
            self.wake(&operation.reference).await;
        }
        Ok(())
    }

    /// Reads the deals, or says why they could not be read.
    async fn read(
        &self,
        unknown: &UnknownOperation,
        session: &mut Session,
    ) -> Result<Reading, String> {
        let age = (unknown.now - unknown.first_claimed_at)
            .try_into()
            .unwrap_or_default();
        let reading = session
            .deals(unknown.operation.login, age, unknown.now)
            .await;
        reading.map_err(|error| error_chain(&error))
    }

    async fn wake(&self, reference: &Reference) {
        let wake = Wake {
            id: reference.as_str().to_owned(),
            trace_parent: trace_parent(),
        };
        if let Err(error) = self.publisher.publish(Lane::Credit, &wake).await {
            info!(
                error = error_chain(&error),
                "wake-up not published; the sweep will find it"
            );
        }
    }
}

fn judge(operation: &Operation, reading: &Reading, known: &Known) -> Look {
    let sought = Sought {
        reference: &operation.reference,
        login: operation.login,
        amount: operation.signed_amount(),
    };
    look(reading, sought, known)
}

fn report(verdict: &Look, resolution: &Resolution, settled: Settled) {
    match resolution {
        Resolution::Done(ticket) => {
            info!(deal = ticket.get(), ?settled, "operation found: done");
        }
        Resolution::ProvedAbsent => info!(?settled, "operation proved absent: pending again"),
        Resolution::Exhausted => {
            warn!(
                ?settled,
                "operation proved absent too often: held for a person"
            );
        }
        Resolution::Wait {
            case: Some(case), ..
        } => {
            let case = case.code();
            warn!(case, "operation stays unknown: {}", verdict.why());
        }
        Resolution::Wait { again_in, .. } => {
            info!(?again_in, "operation stays unknown: {}", verdict.why());
        }
    }
}
