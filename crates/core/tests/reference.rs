//! References: minted ones are read back, fit an MT5 comment, and nothing else is taken for one.

use claimcheck_core::{OperationKind, Reference, Tag};
use proptest::prelude::*;

/// What MT5 keeps of a comment, in UTF-16 units.
const COMMENT_MAX: usize = 31;

fn kind() -> impl Strategy<Value = OperationKind> {
    prop::sample::select(OperationKind::ALL)
}

#[test]
fn a_reference_reads_as_the_design_writes_it() {
    let reference = Reference::parse("dep:48213-7kq2f").expect("is the documented form");
    assert_eq!(reference.to_string(), "dep:48213-7kq2f");
    let codes: Vec<&str> = OperationKind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes, ["dep", "ref", "cbk", "cbr", "wdr", "wrt"]);
}

#[test]
fn credits_and_debits_are_as_the_design_names_them() {
    for (code, is_credit) in [
        ("dep", true),
        ("ref", false),
        ("cbk", false),
        ("cbr", true),
        ("wdr", false),
        ("wrt", true),
    ] {
        let kind = OperationKind::from_code(code).expect("is a kind");
        assert_eq!(kind.is_credit(), is_credit, "{code}");
    }
    assert_eq!(OperationKind::from_code("DEP"), None);
}

#[test]
#[should_panic(expected = "a row's id is positive")]
fn no_reference_is_minted_without_a_row() {
    let _ = Reference::mint(OperationKind::Deposit, 0, Tag::from_random(1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_minted_reference_is_read_back_and_fits_a_comment(
        kind in kind(),
        id in 1..=i64::MAX,
        random in any::<u64>(),
    ) {
        let minted = Reference::mint(kind, id, Tag::from_random(random));
        prop_assert_eq!(Reference::parse(minted.as_str()), Ok(minted.clone()));
        prop_assert!(minted.as_str().is_ascii());
        prop_assert!(minted.as_str().encode_utf16().count() <= COMMENT_MAX);
        let opening = format!("{}:{id}-", kind.code());
        prop_assert!(minted.as_str().starts_with(&opening));
    }

    #[test]
    fn rows_and_kinds_never_share_a_reference_whatever_their_tags(
        (left, right) in (kind(), kind()),
        (first, second) in (1..=i64::MAX, 1..=i64::MAX),
        (one, other) in (any::<u64>(), any::<u64>()),
    ) {
        prop_assume!(left != right || first != second);
        let left = Reference::mint(left, first, Tag::from_random(one));
        let right = Reference::mint(right, second, Tag::from_random(other));
        prop_assert_ne!(left, right);
    }

    #[test]
    fn a_changed_reference_is_another_one_or_none(
        id in 1..=i64::MAX,
        random in any::<u64>(),
        position in 0_usize..31,
        put in any::<char>(),
    ) {
        let minted = Reference::mint(OperationKind::Deposit, id, Tag::from_random(random));
        let changed: String = minted
            .as_str()
            .chars()
            .enumerate()
            .map(|(at, kept)| if at == position { put } else { kept })
            .collect();
        if let Ok(read) = Reference::parse(&changed) {
            prop_assert_eq!(read.as_str() == minted.as_str(), changed == minted.as_str());
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,60}") {
        if let Ok(read) = Reference::parse(&text) {
            prop_assert_eq!(read.as_str(), text);
        }
    }
}
