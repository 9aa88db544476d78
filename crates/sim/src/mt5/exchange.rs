//! One request and what becomes of it: read, logged, struck, done, answered.
//!
//! The rule: once read, a request is done to its end even if the client leaves meanwhile, as a
//! trade server behind an access server does it. Only a fault says otherwise, and every fault
//! cuts at exactly the point it names.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use tokio::time::sleep;

use super::answer::Answer;
use super::call_log::CallId;
use super::command::perform;
use super::fault::{Ending, Garbage, Plan, Target};
use super::link::Link;
use super::params::Params;
use super::sent::Sent;
use super::swap;
use crate::http::{Reply, body};
use crate::wall;

/// The connection ends here, without another byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is cut")]
pub(super) struct Cut;

/// A logged call on its way.
struct Call {
    id: CallId,
    target: Target,
    params: Option<Params>,
    plan: Plan,
}

/// What is known of a request after it was logged.
enum Arrival {
    Refused,
    NotOffered(CallId),
    Taken(Call),
}

/// Answers a request, or cuts its connection.
pub(super) async fn exchange(link: Arc<Link>, request: Request<Incoming>) -> Result<Reply, Cut> {
    let _busy = link.busy();
    let (head, incoming) = request.into_parts();
    let body = body(incoming).await.ok_or(Cut)?;
    let (id, answer) = match arrive(&link, Sent::read(&head, &body)) {
        Arrival::Refused => return Err(Cut),
        Arrival::NotOffered(id) => (id, Answer::forbidden()),
        Arrival::Taken(call) => (call.id, answer(&link, call).await?),
    };
    link.world.locked().calls.answered(id, &answer.summary);
    Ok(answer.into_reply())
}

/// Logs a request and asks the faults what shall become of it.
fn arrive(link: &Link, sent: Sent) -> Arrival {
    let mut state = link.world.locked();
    let state = &mut *state;
    let server = state
        .servers
        .get(&link.server)
        .expect("a link names a server of its world");
    let logins = sent.logins(&server.ledger);
    let entry = sent.entry(wall::now(), &link.server, link.number, logins.clone());
    let id = state.calls.begin(entry);
    if state
        .faults
        .strikes_maintenance(&link.server, &mut state.chance)
    {
        return Arrival::Refused;
    }
    let Some(command) = sent.command else {
        return Arrival::NotOffered(id);
    };
    let target = Target {
        server: link.server.clone(),
        command,
        logins,
    };
    let plan = state.faults.plan(&target, &mut state.chance);
    Arrival::Taken(Call {
        id,
        target,
        params: sent.params,
        plan,
    })
}

/// Lets the plan run its course.
async fn answer(link: &Arc<Link>, mut call: Call) -> Result<Answer, Cut> {
    let after = call.plan.after;
    let before = call.plan.before;
    let garbage = |garbage| match garbage {
        Garbage::Empty => Answer::empty(),
        Garbage::Page(status) => Answer::proxy_page(status),
        Garbage::Status(status) => Answer::bare_status(status),
    };
    match std::mem::take(&mut call.plan.ending) {
        Ending::Answered => {
            let answer = done(link, call).await?;
            sleep(after).await;
            Ok(answer)
        }
        Ending::CutBefore => {
            sleep(before).await;
            Err(Cut)
        }
        Ending::CutAfter => {
            done(link, call).await?;
            sleep(after).await;
            Err(Cut)
        }
        Ending::CutThenApply(wait) => {
            call.plan.before = before.saturating_add(wait);
            begin(link, call);
            Err(Cut)
        }
        Ending::Hanging(deleted) => {
            deleted.cancelled().await;
            Err(Cut)
        }
        Ending::Garbage {
            garbage: given,
            applied: true,
        } => {
            done(link, call).await?;
            sleep(after).await;
            Ok(garbage(given))
        }
        Ending::Garbage {
            garbage: given,
            applied: false,
        } => {
            sleep(before.saturating_add(after)).await;
            Ok(garbage(given))
        }
        Ending::Swapped { fault, wait } => {
            let server = call.target.server.clone();
            let own = done(link, call).await?;
            sleep(after).await;
            Ok(swap::exchanged(&link.world, fault, &server, own, wait).await)
        }
    }
}

/// Does the command and waits for its answer; a client that leaves does not stop it.
async fn done(link: &Arc<Link>, call: Call) -> Result<Answer, Cut> {
    begin(link, call)
        .await
        .unwrap_or_else(|error| {
            tracing::error!(%error, "a command did not end");
            Some(Answer::bare_status(StatusCode::INTERNAL_SERVER_ERROR))
        })
        .ok_or(Cut)
}

/// Starts the command on a task of its own. It yields nothing when the simulator stops first.
fn begin(link: &Arc<Link>, call: Call) -> tokio::task::JoinHandle<Option<Answer>> {
    let link = Arc::clone(link);
    let tasks = link.tasks.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = link.stop.cancelled() => None,
            () = sleep(call.plan.before) => {
                let params = call.params.as_ref();
                Some(perform(&link, &call.target, params, call.id, &call.plan))
            }
        }
    })
}
