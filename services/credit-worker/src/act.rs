//! The act itself: the last checks, then one balance call before its deadline.
//!
//! This is the only file that calls `operate`. Every early return happens before a byte has left,
//! so it is a refusal or a proven "not sent", never a guess.

use std::time::Instant;

use claimcheck_core::{
    AccountFault, Look, Operation, Outcome, Refusal, Sought, check_account, look,
};
use claimcheck_mt5::{Accounts, BalanceCall, Deals, Operate, Session};
use claimcheck_process::error_chain;
use claimcheck_store::Claim;

use crate::step::Worker;

/// Acts on a claim.
pub(crate) async fn act(
    worker: &Worker,
    claim: &Claim,
    counted_from: Instant,
    session: &mut Session,
) -> Outcome {
    let operation = &claim.operation;
    if !claim.is_owner_unchanged {
        return refused(
            "owner_changed",
            "the account no longer belongs to the deposit's client",
        );
    }
    if operation.attempts > 1
        && let Err(outcome) = look_again(worker, claim, session).await
    {
        return outcome;
    }
    let account = match session.account(operation.login).await {
        Ok(account) => account,
        Err(error) => return Outcome::NotSent(unread("the account", &error)),
    };
    let digits = match check_account(account.as_ref(), operation.amount) {
        Ok(digits) => digits,
        Err(fault) => return refused_account(&fault),
    };
    let left = worker.times.lease().saturating_sub(counted_from.elapsed());
    let Some(send_within) = worker.times.send_within(left) else {
        return Outcome::NotSent("the lease was too short for the call by then".to_owned());
    };
    let Some(send_before) = Instant::now().checked_add(send_within) else {
        return Outcome::NotSent("the deadline is out of range".to_owned());
    };
    session.operate(&call(operation, digits), send_before).await
}

fn call(operation: &Operation, digits: u32) -> BalanceCall {
    BalanceCall {
        login: operation.login,
        kind: operation.kind,
        amount: operation.amount,
        digits,
        reference: operation.reference.clone(),
    }
}

/// Before a second send the deals are read once more: an earlier attempt may have been applied
/// after its absence was proved.
async fn look_again(worker: &Worker, claim: &Claim, session: &mut Session) -> Result<(), Outcome> {
    let operation = &claim.operation;
    let age = claim.claimed_at - claim.first_claimed_at;
    let age = age.try_into().unwrap_or_default();
    let reading = session
        .deals(operation.login, age, claim.claimed_at)
        .await
        .map_err(|error| Outcome::NotSent(unread("the deals", &error)))?;
    let known = worker
        .store
        .known_deals(operation)
        .await
        .map_err(|error| Outcome::NotSent(unread("our own rows", &error)))?;
    let sought = Sought {
        reference: &operation.reference,
        login: operation.login,
        amount: operation.signed_amount(),
    };
    match look(&reading, sought, &known) {
        Look::Absent => Ok(()),
        Look::NoAnswer(why) => Err(Outcome::NotSent(format!(
            "a look before another send gave no answer: {why:?}"
        ))),
        seen @ (Look::Found(_) | Look::Conflict(_)) => Err(Outcome::Unknown(format!(
            "a look before another send: {}",
            seen.why()
        ))),
    }
}

fn unread(what: &str, error: &(dyn std::error::Error + 'static)) -> String {
    format!("{what} could not be read: {}", error_chain(error))
}

fn refused(code: &str, meaning: &str) -> Outcome {
    Outcome::Refused(Refusal {
        code: code.to_owned(),
        meaning: meaning.to_owned(),
    })
}

fn refused_account(fault: &AccountFault) -> Outcome {
    refused(fault.code(), &fault.to_string())
}
