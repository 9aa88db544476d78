//! Resolving: every look × every moment, and that absence is never proved too early.

use std::time::Duration;

use claimcheck_core::{
    CaseKind, Conflict, DealAction, DealTicket, Look, NoAnswer, Resolution, Severity, Times,
    Unresolved, resolve,
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use time::OffsetDateTime;

const LATE_APPLY: u64 = 6;
const MARGIN: u64 = 1;
const LAG: u64 = 4;
const CASE_AFTER: u64 = 60;

/// Lease 15, wait 2, call 5, margin 1, late-apply 6, lag 4, case after 60 seconds. The lease ends
/// at second 0, so absence is provable after second 5.
fn times() -> Times {
    let s = Duration::from_secs;
    Times::new(
        s(15),
        s(2),
        s(5),
        s(MARGIN),
        s(LATE_APPLY),
        s(LAG),
        s(CASE_AFTER),
    )
    .expect("the times agree")
}

fn at(milliseconds: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(milliseconds)
}

/// The instant, in milliseconds, up to which nothing is provable.
const PROVABLE: i64 = 5_000;

fn operation() -> Unresolved {
    Unresolved {
        attempts: 1,
        attempts_max: 3,
        lease_expires_at: at(0),
        unknown_since: at(0),
        absent_since: None,
        unanswered: 0,
    }
}

fn ticket(number: i64) -> DealTicket {
    DealTicket::new(number).expect("is positive")
}

fn conflicts() -> Vec<(Conflict, CaseKind)> {
    vec![
        (
            Conflict::Twice(vec![ticket(1), ticket(2)]),
            CaseKind::DoubleCredit,
        ),
        (
            Conflict::Amount(ticket(1), Decimal::ONE),
            CaseKind::LookConflict,
        ),
        (
            Conflict::Action(ticket(1), DealAction::Credit),
            CaseKind::LookConflict,
        ),
        (Conflict::Unexplained(ticket(1)), CaseKind::LookConflict),
    ]
}

/// Every moment and state in which a look can come: first and later looks, before and after
/// the provable instant, spaced and not, with attempts left and without, young and old.
fn every_situation() -> Vec<(Unresolved, OffsetDateTime)> {
    let looked = [
        -9_000, 0, 4_999, PROVABLE, 5_001, 9_000, 9_001, 60_000, 90_000,
    ];
    let absents = [
        None,
        Some(-9_000),
        Some(PROVABLE),
        Some(5_001),
        Some(5_002),
        Some(99_000),
    ];
    let mut all = Vec::new();
    for looked_at in looked {
        for absent_since in absents {
            for attempts in [1, 2, 3, 4] {
                for unanswered in [0, 1, 50, u32::MAX] {
                    let operation = Unresolved {
                        attempts,
                        absent_since: absent_since.map(at),
                        unanswered,
                        ..operation()
                    };
                    all.push((operation, at(looked_at)));
                }
            }
        }
    }
    all
}

#[test]
fn a_found_deal_is_done_in_every_situation() {
    for (operation, looked_at) in every_situation() {
        assert_eq!(
            resolve(&operation, &Look::Found(ticket(77)), looked_at, &times()),
            Resolution::Done(ticket(77))
        );
    }
}

#[test]
fn a_conflict_waits_with_its_case_in_every_situation_and_forgets_absence() {
    for (conflict, kind) in conflicts() {
        assert_eq!(kind.severity(), Severity::Critical);
        for (operation, looked_at) in every_situation() {
            let look = Look::Conflict(conflict.clone());
            let Resolution::Wait {
                absent_since, case, ..
            } = resolve(&operation, &look, looked_at, &times())
            else {
                panic!("a conflict decides nothing: {operation:?} {looked_at}");
            };
            assert_eq!((absent_since, case), (None, Some(kind)));
        }
    }
}

#[test]
fn no_answer_waits_in_every_situation_and_forgets_absence() {
    let no_answers = [
        NoAnswer::Unreadable("status 502".to_owned()),
        NoAnswer::Incomplete { stated: 2, read: 1 },
        NoAnswer::Changing {
            before: 1,
            after: 2,
        },
        NoAnswer::Repeated(ticket(1)),
        NoAnswer::OutsideWindow(ticket(1)),
    ];
    for no_answer in no_answers {
        for (operation, looked_at) in every_situation() {
            let look = Look::NoAnswer(no_answer.clone());
            let Resolution::Wait {
                absent_since, case, ..
            } = resolve(&operation, &look, looked_at, &times())
            else {
                panic!("no answer decides nothing: {operation:?} {looked_at}");
            };
            let is_old = looked_at >= at(60_000);
            assert_eq!(absent_since, None);
            assert_eq!(
                case,
                is_old.then_some(CaseKind::LookUnanswered),
                "{looked_at}"
            );
        }
    }
}

#[test]
fn pauses_between_unanswered_looks_grow_to_a_limit() {
    let pauses: Vec<u64> = [0, 1, 2, 3, 7, 8, 50, u32::MAX]
        .into_iter()
        .map(|unanswered| {
            let operation = Unresolved {
                unanswered,
                ..operation()
            };
            let look = Look::NoAnswer(NoAnswer::Incomplete { stated: 2, read: 1 });
            match resolve(&operation, &look, at(0), &times()) {
                Resolution::Wait { again_in, .. } => again_in.as_secs(),
                other => panic!("no answer decides nothing: {other:?}"),
            }
        })
        .collect();
    assert_eq!(pauses, [1, 2, 4, 8, 20, 20, 20, 20]);
}

/// What an absent look gives: `wait MILLISECONDS [from SINCE]`, `absent`, `exhausted`, `done N`.
fn absent(absent_since: Option<i64>, looked_at: i64, attempts: i32) -> String {
    let operation = Unresolved {
        attempts,
        absent_since: absent_since.map(at),
        ..operation()
    };
    match resolve(&operation, &Look::Absent, at(looked_at), &times()) {
        Resolution::Wait {
            again_in,
            absent_since,
            case,
        } => {
            assert_eq!(case, None, "an absent look is an answer");
            let since = absent_since.map_or_else(String::new, |since| {
                let after = since - OffsetDateTime::UNIX_EPOCH;
                format!(" from {}", after.whole_milliseconds())
            });
            format!("wait {}{since}", again_in.as_millis())
        }
        Resolution::ProvedAbsent => "absent".to_owned(),
        Resolution::Exhausted => "exhausted".to_owned(),
        Resolution::Done(ticket) => format!("done {ticket}"),
    }
}

#[test]
fn an_absent_look_counts_by_its_moment() {
    for (absent_since, looked_at, attempts, expected) in [
        // Before and at the provable instant nothing counts, not even an earlier look.
        (None, -9_000, 1, "wait 14050"),
        (None, 0, 1, "wait 5050"),
        (None, PROVABLE, 1, "wait 50"),
        (Some(-9_000), 4_999, 1, "wait 51"),
        (Some(-9_000), PROVABLE, 9, "wait 50"),
        // The first look past it starts the clock, and so does one after a too early look.
        (None, 5_001, 1, "wait 4050 from 5001"),
        (Some(-9_000), 5_001, 1, "wait 4050 from 5001"),
        (Some(PROVABLE), 60_000, 1, "wait 4050 from 60000"),
        (None, 90_000, 1, "wait 4050 from 90000"),
        // A second look agrees only when it lies the visibility lag later.
        (Some(5_001), 5_001, 1, "wait 4050 from 5001"),
        (Some(5_001), 9_000, 1, "wait 51 from 5001"),
        (Some(5_001), 9_001, 1, "absent"),
        (Some(5_001), 90_000, 2, "absent"),
        // A look from the future is not believed.
        (Some(99_000), 9_001, 1, "wait 4050 from 9001"),
        // The last allowed attempt hands over to a person, but not before the proof.
        (None, 60_000, 3, "wait 4050 from 60000"),
        (Some(5_001), 9_000, 3, "wait 51 from 5001"),
        (Some(5_001), 9_001, 3, "exhausted"),
        (Some(5_001), 9_001, 4, "exhausted"),
        (Some(5_001), 9_001, i32::MAX, "exhausted"),
    ] {
        assert_eq!(
            absent(absent_since, looked_at, attempts),
            expected,
            "since {absent_since:?}, looked {looked_at}, attempts {attempts}"
        );
    }
}

#[test]
fn waiting_as_told_proves_absence_in_two_looks() {
    let mut operation = operation();
    let mut looked_at = at(1_000);
    for expected in ["too early", "first", "second"] {
        match resolve(&operation, &Look::Absent, looked_at, &times()) {
            Resolution::Wait {
                again_in,
                absent_since,
                ..
            } => {
                assert_eq!(absent_since.is_some(), expected == "first");
                operation.absent_since = absent_since;
                looked_at += again_in;
            }
            end => {
                assert_eq!((end, expected), (Resolution::ProvedAbsent, "second"));
            }
        }
    }
}

/// One look of a generated history.
#[derive(Debug, Clone)]
enum Seen {
    Absent,
    NoAnswer,
    Conflict,
}

fn any_seen() -> impl Strategy<Value = Seen> {
    prop_oneof![
        6 => Just(Seen::Absent),
        1 => Just(Seen::NoAnswer),
        1 => Just(Seen::Conflict),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is seen and whenever: absence is proved only by two absent looks, both past the
    /// provable instant, a visibility lag apart, with nothing but absence between them.
    #[test]
    fn absence_needs_two_late_spaced_looks_that_agree(
        looks in prop::collection::vec((any_seen(), 0_i64..6_000), 1..40),
        attempts in 1..5_i32,
    ) {
        let mut operation = Unresolved { attempts, ..operation() };
        let mut now = -10_000_i64;
        let mut counted: Option<i64> = None;
        for (seen, pause) in looks {
            now += pause;
            let look = match seen {
                Seen::Absent => Look::Absent,
                Seen::NoAnswer => Look::NoAnswer(NoAnswer::Unreadable("cut".to_owned())),
                Seen::Conflict => Look::Conflict(Conflict::Unexplained(ticket(1))),
            };
            let is_absent = look == Look::Absent;
            let first = if is_absent && now > PROVABLE { counted.or(Some(now)) } else { None };
            match resolve(&operation, &look, at(now), &times()) {
                Resolution::ProvedAbsent | Resolution::Exhausted => {
                    let first = first.expect("absence is proved by counted looks only");
                    prop_assert!(first > PROVABLE);
                    prop_assert!(now - first >= 4_000);
                    return Ok(());
                }
                Resolution::Wait { absent_since, again_in, .. } => {
                    prop_assert_eq!(absent_since, first.map(at));
                    prop_assert!(!again_in.is_zero());
                    operation.absent_since = absent_since;
                    counted = first;
                }
                Resolution::Done(_) => prop_assert!(false, "no deal was seen"),
            }
        }
    }

    #[test]
    fn absence_is_never_proved_early_with_any_times(
        (call, margin, late, lag) in (1_u64..100, 1_u64..100, 1_u64..100, 1_u64..100),
        spare in 1_u64..100,
        looked_at in -500_000_i64..500_000,
        since in prop::option::of(-500_000_i64..500_000),
    ) {
        let s = Duration::from_secs;
        let lease = s(call + margin + 1 + spare);
        let times = Times::new(lease, s(1), s(call), s(margin), s(late), s(lag), s(60))
            .expect("the lease is long enough");
        let operation = Unresolved { absent_since: since.map(at), ..operation() };
        let resolution = resolve(&operation, &Look::Absent, at(looked_at), &times);
        if resolution == Resolution::ProvedAbsent {
            let last_send = at(0) - s(call) - s(margin);
            let last_apply = last_send + s(call) + s(late);
            let first = operation.absent_since.expect("one look proves nothing");
            prop_assert!(first > last_apply);
            prop_assert!(at(looked_at) - first >= s(lag));
        }
    }
}
