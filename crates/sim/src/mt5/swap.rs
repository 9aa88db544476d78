//! The exchange of two answers: the first one ready waits, the second one takes its place.
//!
//! The rule: an answer is given at most once. One that finds no partner, or whose partner has
//! left, goes to its own caller.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::oneshot;

use super::answer::Answer;
use super::world::World;

/// Answers that wait, by fault and server.
#[derive(Default)]
pub(super) struct SwapDesk(HashMap<(u64, String), Waiting>);

struct Waiting {
    answer: Answer,
    partner: oneshot::Sender<Answer>,
}

enum Turn {
    Second(Answer),
    First(oneshot::Receiver<Answer>),
}

/// Exchanges this answer with another one struck by the same fault on the same server.
pub(super) async fn exchanged(
    world: &World,
    fault: u64,
    server: &str,
    own: Answer,
    wait: Duration,
) -> Answer {
    let mut receiver = match turn(world, fault, server, &own) {
        Turn::Second(answer) => return answer,
        Turn::First(receiver) => receiver,
    };
    if let Ok(Ok(answer)) = tokio::time::timeout(wait, &mut receiver).await {
        return answer;
    }
    let mut state = world.locked();
    if let Ok(answer) = receiver.try_recv() {
        return answer;
    }
    state.swaps.0.remove(&(fault, server.to_owned()));
    state.faults.end_swap(fault, server);
    own
}

/// Meets the answer that waits, or waits itself.
fn turn(world: &World, fault: u64, server: &str, own: &Answer) -> Turn {
    let mut state = world.locked();
    let key = (fault, server.to_owned());
    if let Some(Waiting { answer, partner }) = state.swaps.0.remove(&key)
        && partner.send(own.clone()).is_ok()
    {
        return Turn::Second(answer);
    }
    let (partner, receiver) = oneshot::channel();
    state.swaps.0.insert(
        key,
        Waiting {
            answer: own.clone(),
            partner,
        },
    );
    Turn::First(receiver)
}
