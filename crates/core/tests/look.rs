//! Looks: every verdict, and that absence is never read out of anything less than a whole answer.

use std::collections::BTreeSet;

use claimcheck_core::{
    Conflict, Deal, DealAction, DealTicket, Known, Login, Look, NoAnswer, Reading, Reference,
    ServerTime, Sought, Window, look,
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use time::OffsetDateTime;

const LOGIN: i64 = 100_001;
const OTHER_LOGIN: i64 = 100_002;
const REFERENCE: &str = "dep:7-7kq2f";
const OTHER_REFERENCE: &str = "dep:8-7kq2f";
const FROM: i64 = 1_000;
const TO: i64 = 9_000;

fn login(number: i64) -> Login {
    Login::new(number).expect("is positive")
}

fn ticket(number: i64) -> DealTicket {
    DealTicket::new(number).expect("is positive")
}

fn deal(number: i64, comment: &str, amount: i64) -> Deal {
    Deal {
        ticket: ticket(number),
        login: login(LOGIN),
        action: DealAction::Balance,
        amount: Decimal::from(amount),
        comment: comment.to_owned(),
        time: ServerTime::from_seconds(FROM + number),
    }
}

/// A complete reading of these deals.
fn reading(deals: Vec<Deal>) -> Reading {
    let total = deals.len() as u64;
    Reading {
        login: login(LOGIN),
        window: Window {
            from: ServerTime::from_seconds(FROM),
            to: ServerTime::from_seconds(TO),
        },
        started_at: OffsetDateTime::UNIX_EPOCH,
        total_before: total,
        total_after: total,
        deals,
    }
}

/// Looks for a credit of 500 under `REFERENCE`.
fn judge(reading: &Reading, known: &Known) -> Look {
    let reference = Reference::parse(REFERENCE).expect("is a reference");
    let sought = Sought {
        reference: &reference,
        login: login(LOGIN),
        amount: Decimal::from(500),
    };
    look(reading, sought, known)
}

fn judge_alone(deals: Vec<Deal>) -> Look {
    judge(&reading(deals), &Known::default())
}

#[test]
fn one_deal_right_in_every_point_is_found() {
    assert_eq!(
        judge_alone(vec![deal(1, REFERENCE, 500)]),
        Look::Found(ticket(1))
    );
    let trade = Deal {
        action: DealAction::Other(0),
        ..deal(2, "", 500)
    };
    let among_others = vec![deal(1, OTHER_REFERENCE, 20), trade, deal(3, REFERENCE, 500)];
    assert_eq!(judge_alone(among_others), Look::Found(ticket(3)));
}

#[test]
fn the_places_of_an_amount_do_not_matter_its_value_does() {
    let written = Deal {
        amount: Decimal::new(50_000, 2),
        ..deal(1, REFERENCE, 500)
    };
    assert_eq!(judge_alone(vec![written]), Look::Found(ticket(1)));
}

#[test]
fn a_whole_answer_without_a_candidate_is_absent() {
    assert_eq!(judge_alone(vec![]), Look::Absent);
    let credit = Deal {
        action: DealAction::Credit,
        ..deal(2, "", 500)
    };
    let others = vec![
        deal(1, "", 499),
        credit,
        deal(3, "", -500),
        deal(4, OTHER_REFERENCE, 20),
    ];
    assert_eq!(judge_alone(others), Look::Absent);
}

#[test]
fn the_reference_on_two_deals_is_a_conflict_whatever_they_say() {
    for (first, second) in [(500, 500), (500, 20), (20, 30)] {
        assert_eq!(
            judge_alone(vec![deal(1, REFERENCE, first), deal(2, REFERENCE, second)]),
            Look::Conflict(Conflict::Twice(vec![ticket(1), ticket(2)]))
        );
    }
}

#[test]
fn another_amount_or_another_sign_is_a_conflict() {
    for amount in [499, 501, -500, 0] {
        assert_eq!(
            judge_alone(vec![deal(1, REFERENCE, amount)]),
            Look::Conflict(Conflict::Amount(ticket(1), Decimal::from(amount)))
        );
    }
}

#[test]
fn another_action_is_a_conflict() {
    for action in [
        DealAction::Credit,
        DealAction::Charge,
        DealAction::Correction,
        DealAction::Bonus,
        DealAction::Other(0),
    ] {
        let found = Deal {
            action,
            ..deal(1, REFERENCE, 500)
        };
        assert_eq!(
            judge_alone(vec![found]),
            Look::Conflict(Conflict::Action(ticket(1), action))
        );
    }
}

#[test]
fn the_amount_without_the_reference_is_a_conflict_until_a_row_explains_it() {
    for comment in [
        "",
        "dep:7-7kq2",
        "DEP:7-7KQ2F",
        " dep:7-7kq2f",
        "bonus",
        OTHER_REFERENCE,
    ] {
        let read = reading(vec![deal(1, comment, 20), deal(2, comment, 500)]);
        assert_eq!(
            judge(&read, &Known::default()),
            Look::Conflict(Conflict::Unexplained(ticket(2))),
            "{comment:?}"
        );
        let by_ticket = Known {
            tickets: BTreeSet::from([ticket(2)]),
            references: BTreeSet::new(),
        };
        assert_eq!(judge(&read, &by_ticket), Look::Absent, "{comment:?}");
    }
    let by_reference = Known {
        tickets: BTreeSet::new(),
        references: BTreeSet::from([OTHER_REFERENCE.to_owned()]),
    };
    let explained = reading(vec![deal(1, OTHER_REFERENCE, 500)]);
    assert_eq!(judge(&explained, &by_reference), Look::Absent);
    let one_of_two = reading(vec![deal(1, OTHER_REFERENCE, 500), deal(2, "", 500)]);
    assert_eq!(
        judge(&one_of_two, &by_reference),
        Look::Conflict(Conflict::Unexplained(ticket(2)))
    );
}

#[test]
fn the_reference_decides_before_a_stranger_with_the_same_amount() {
    let deals = vec![deal(1, "", 500), deal(2, REFERENCE, 500)];
    assert_eq!(judge_alone(deals), Look::Found(ticket(2)));
}

#[test]
fn a_total_that_is_not_what_was_read_is_no_answer() {
    for stated in [0, 2, 3, u64::MAX] {
        let mut read = reading(vec![deal(1, REFERENCE, 500)]);
        read.total_before = stated;
        read.total_after = stated;
        assert_eq!(
            judge(&read, &Known::default()),
            Look::NoAnswer(NoAnswer::Incomplete { stated, read: 1 })
        );
    }
}

#[test]
fn a_total_that_changes_is_no_answer() {
    for (before, after) in [(1, 2), (2, 1), (0, 1)] {
        let mut read = reading(vec![deal(1, REFERENCE, 500)]);
        read.total_before = before;
        read.total_after = after;
        assert_eq!(
            judge(&read, &Known::default()),
            Look::NoAnswer(NoAnswer::Changing { before, after })
        );
    }
}

#[test]
fn a_deal_of_another_login_makes_the_whole_answer_worthless() {
    let foreign = Deal {
        login: login(OTHER_LOGIN),
        ..deal(2, "", 20)
    };
    assert_eq!(
        judge_alone(vec![deal(1, REFERENCE, 500), foreign]),
        Look::NoAnswer(NoAnswer::WrongLogin(login(OTHER_LOGIN)))
    );
}

#[test]
fn a_deal_read_twice_is_no_answer_and_no_double_credit() {
    assert_eq!(
        judge_alone(vec![deal(1, REFERENCE, 500), deal(1, REFERENCE, 500)]),
        Look::NoAnswer(NoAnswer::Repeated(ticket(1)))
    );
}

#[test]
fn a_deal_outside_the_window_is_no_answer_and_the_ends_are_inside() {
    for (second, is_inside) in [(FROM - 1, false), (FROM, true), (TO, true), (TO + 1, false)] {
        let at = Deal {
            time: ServerTime::from_seconds(second),
            ..deal(1, REFERENCE, 500)
        };
        let expected = if is_inside {
            Look::Found(ticket(1))
        } else {
            Look::NoAnswer(NoAnswer::OutsideWindow(ticket(1)))
        };
        assert_eq!(judge_alone(vec![at]), expected, "{second}");
    }
}

#[test]
#[should_panic(expected = "the reading was made for this login")]
fn a_reading_of_another_account_is_a_fault_of_ours() {
    let mut read = reading(vec![]);
    read.login = login(OTHER_LOGIN);
    let _ = judge(&read, &Known::default());
}

#[test]
fn every_verdict_has_its_name_and_says_why() {
    let unreadable = NoAnswer::Unreadable("status 502".to_owned());
    for (verdict, code, why) in [
        (Look::Found(ticket(9)), "found", "deal 9"),
        (Look::Absent, "absent", "complete reading"),
        (
            Look::Conflict(Conflict::Unexplained(ticket(9))),
            "conflict",
            "9",
        ),
        (Look::NoAnswer(unreadable), "no_answer", "status 502"),
    ] {
        assert_eq!(verdict.code(), code);
        assert!(verdict.why().contains(why), "{}", verdict.why());
    }
}

fn any_deal() -> impl Strategy<Value = Deal> {
    let comments = ["", REFERENCE, OTHER_REFERENCE, "dep:7-7kq2", "by hand"];
    (
        (
            1_i64..40,
            prop::sample::select(vec![LOGIN, LOGIN, LOGIN, LOGIN, OTHER_LOGIN]),
        ),
        prop::sample::select(vec![2_i64, 2, 2, 3, 6, 0]),
        prop::sample::select(vec![500_i64, -500, 20]),
        prop::sample::select(comments.to_vec()),
        FROM - 1..=TO + 1,
    )
        .prop_map(|((number, owner), action, amount, comment, second)| Deal {
            login: login(owner),
            action: DealAction::from_number(action),
            time: ServerTime::from_seconds(second),
            ..deal(number, comment, amount)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn absence_and_presence_need_a_whole_answer(
        deals in prop::collection::vec(any_deal(), 0..8),
        (before, after) in (0_u64..9, 0_u64..9),
        is_whole in any::<bool>(),
        explains in any::<bool>(),
    ) {
        let mut read = reading(deals);
        if !is_whole {
            (read.total_before, read.total_after) = (before, after);
        }
        let mut known = Known::default();
        if explains {
            known.references.insert(OTHER_REFERENCE.to_owned());
        }
        let count = read.deals.len() as u64;
        let distinct: BTreeSet<DealTicket> = read.deals.iter().map(|d| d.ticket).collect();
        let proves = read.total_before == count
            && read.total_after == count
            && distinct.len() == read.deals.len()
            && read.deals.iter().all(|d| d.login == read.login)
            && read.deals.iter().all(|d| (FROM..=TO).contains(&d.time.seconds()));
        let carrying = read.deals.iter().filter(|d| d.comment == REFERENCE).count();
        match judge(&read, &known) {
            Look::Absent => {
                prop_assert!(proves);
                prop_assert_eq!(carrying, 0);
                let candidate = read.deals.iter().find(|d| {
                    d.action == DealAction::Balance
                        && d.amount == Decimal::from(500)
                        && !(explains && d.comment == OTHER_REFERENCE)
                });
                prop_assert!(candidate.is_none());
            }
            Look::Found(found) => {
                prop_assert!(proves);
                prop_assert_eq!(carrying, 1);
                let right = read.deals.iter().find(|d| d.ticket == found).expect("was read");
                prop_assert_eq!(right.comment.as_str(), REFERENCE);
                prop_assert_eq!(right.amount, Decimal::from(500));
                prop_assert_eq!(right.action, DealAction::Balance);
            }
            Look::Conflict(_) => prop_assert!(proves),
            Look::NoAnswer(_) => prop_assert!(!proves),
        }
    }

    #[test]
    fn the_order_of_the_pages_changes_no_verdict(
        deals in prop::collection::vec(any_deal(), 0..8).prop_shuffle(),
    ) {
        let mut turned = deals.clone();
        turned.reverse();
        let (one, other) = (judge_alone(deals), judge_alone(turned));
        prop_assert_eq!(one.code(), other.code());
    }
}
