//! The lifecycle, checked against a picture drawn here from the design and not from the code.
//!
//! The picture names every status and every move, so a new one fails until it is drawn.

use claimcheck_core::{IllegalMove, MOVES, Move, Status};
use proptest::prelude::*;

/// One row per status, one column per move in the order of `COLUMNS`; `-` is refused.
const PICTURE: &[(Status, [&str; 11])] = &[
    (
        Status::Held,
        ["-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "pending"],
    ),
    (
        Status::Pending,
        [
            "claimed", "-", "-", "-", "-", "-", "-", "-", "-", "held", "-",
        ],
    ),
    (
        Status::Claimed,
        [
            "-", "done", "failed", "pending", "unknown", "unknown", "-", "-", "-", "-", "-",
        ],
    ),
    (
        Status::Unknown,
        [
            "-", "-", "-", "-", "-", "-", "done", "pending", "held", "-", "-",
        ],
    ),
    (Status::Done, ["-"; 11]),
    (Status::Failed, ["-"; 11]),
];

const COLUMNS: [Move; 11] = [
    Move::Claim,
    Move::Succeed,
    Move::Refuse,
    Move::NotSent,
    Move::LoseTrack,
    Move::Expire,
    Move::Find,
    Move::ProveAbsent,
    Move::Exhaust,
    Move::Block,
    Move::Release,
];

/// Every legal move that leads to `status`, in the order of `Move::ALL`.
fn ways_into(status: Status) -> Vec<(Status, Move)> {
    let mut found = Vec::new();
    for by in Move::ALL {
        for from in Status::ALL {
            if from.after(*by) == Ok(status) {
                found.push((*from, *by));
            }
        }
    }
    found
}

#[test]
fn the_picture_names_every_status_and_every_move() {
    let drawn: Vec<Status> = PICTURE.iter().map(|(status, _)| *status).collect();
    assert_eq!(drawn, Status::ALL);
    assert_eq!(COLUMNS.as_slice(), Move::ALL);
}

#[test]
fn every_status_answers_every_move_as_drawn() {
    for (from, row) in PICTURE {
        for (by, drawn) in COLUMNS.iter().zip(row) {
            let expected = match *drawn {
                "-" => Err(IllegalMove {
                    from: *from,
                    by: *by,
                }),
                code => Ok(Status::from_code(code).expect("the picture uses real names")),
            };
            assert_eq!(from.after(*by), expected, "{from} by {by:?}");
        }
    }
}

#[test]
fn the_table_holds_each_way_once() {
    for (position, (from, by, _)) in MOVES.iter().enumerate() {
        let same = MOVES.iter().filter(|(f, b, _)| f == from && b == by);
        assert_eq!(same.count(), 1, "entry {position}");
    }
}

#[test]
fn nothing_leaves_a_final_status_and_everything_leaves_the_others() {
    for status in Status::ALL {
        let has_exit = Move::ALL.iter().any(|by| status.after(*by).is_ok());
        assert_eq!(has_exit, !status.is_final(), "{status}");
    }
    assert!(Status::Done.is_final() && Status::Failed.is_final());
}

#[test]
fn only_a_claim_of_a_pending_operation_makes_it_claimed() {
    assert_eq!(ways_into(Status::Claimed), [(Status::Pending, Move::Claim)]);
}

#[test]
fn only_the_sender_the_resolver_and_a_release_make_it_pending() {
    assert_eq!(
        ways_into(Status::Pending),
        [
            (Status::Claimed, Move::NotSent),
            (Status::Unknown, Move::ProveAbsent),
            (Status::Held, Move::Release),
        ]
    );
}

#[test]
fn only_a_ticket_makes_it_done_and_only_a_refusal_makes_it_failed() {
    assert_eq!(
        ways_into(Status::Done),
        [
            (Status::Claimed, Move::Succeed),
            (Status::Unknown, Move::Find)
        ]
    );
    assert_eq!(ways_into(Status::Failed), [(Status::Claimed, Move::Refuse)]);
}

#[test]
fn an_expired_lease_leads_to_unknown_and_nowhere_else() {
    for from in Status::ALL {
        let after = from.after(Move::Expire);
        assert_eq!(after.is_ok(), *from == Status::Claimed);
        assert!(after.is_err() || after == Ok(Status::Unknown));
    }
    assert!(
        ways_into(Status::Unknown)
            .iter()
            .all(|(from, _)| *from == Status::Claimed)
    );
}

#[test]
fn names_are_distinct_and_are_read_back() {
    for status in Status::ALL {
        assert_eq!(Status::from_code(status.code()), Some(*status));
        assert_eq!(status.to_string(), status.code());
    }
    for unknown in ["", "Done", " done", "cancelled"] {
        assert_eq!(Status::from_code(unknown), None, "{unknown}");
    }
    let mut codes: Vec<&str> = Move::ALL.iter().map(|by| by.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Move::ALL.len());
}

#[test]
fn an_illegal_move_says_where_it_stood_and_what_was_tried() {
    let refused = Status::Done.after(Move::Claim).expect_err("done is final");
    assert_eq!(
        refused.to_string(),
        "an operation that is done cannot move by Claim"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is tried in whatever order, an operation is only ever where the picture allows,
    /// is sent only after a claim, and is done or failed at most once.
    #[test]
    fn a_random_walk_obeys_the_picture(tries in prop::collection::vec(0..Move::ALL.len(), 0..200)) {
        let mut status = Status::Pending;
        let mut claims = 0_u32;
        let mut answers = 0_u32;
        for by in tries.into_iter().filter_map(|index| Move::ALL.get(index)) {
            let row = PICTURE.iter().find(|(from, _)| *from == status).expect("is drawn").1;
            let column = COLUMNS.iter().position(|c| c == by).expect("is drawn");
            match status.after(*by) {
                Ok(next) => {
                    prop_assert!(!status.is_final());
                    prop_assert_eq!(row[column], next.code());
                    claims += u32::from(next == Status::Claimed);
                    answers += u32::from(status == Status::Claimed);
                    prop_assert!(answers <= claims);
                    status = next;
                }
                Err(refused) => {
                    prop_assert_eq!(row[column], "-");
                    prop_assert_eq!(refused, IllegalMove { from: status, by: *by });
                }
            }
        }
    }
}
