//! What an answer to a balance call proves.
//!
//! The rule: `Done` needs success with a ticket, `Refused` needs a code that stands in the table
//! as a definite refusal; everything else, listed or not, is `Unknown`.

use claimcheck_core::{DealTicket, Login, Outcome, Refusal};

use crate::answer::{Answer, Record};

/// The verdict on one answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// How the call ended.
    pub(crate) outcome: Outcome,
    /// Whether the connection may serve another call.
    pub(crate) is_clean: bool,
}

/// What a return code says about a balance operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Applied, if a ticket comes with it.
    Success,
    /// A documented check made before anything is applied.
    Refusal,
    /// The session may not call at all; nothing was applied, and the session is of no more use.
    Session,
    /// Probably not applied, but nothing says so for certain.
    Doubtful,
    /// May have been applied.
    Ambiguous,
}

use Class::{Ambiguous, Doubtful, Refusal as Definite, Session, Success};

/// First code, last code, class, meaning.
const TABLE: &[(i64, i64, Class, &str)] = &[
    (0, 0, Success, "done"),
    (1, 1, Ambiguous, "done, without data"),
    (2, 2, Ambiguous, "common error"),
    (3, 3, Definite, "invalid parameters"),
    (4, 4, Doubtful, "invalid data"),
    (5, 7, Ambiguous, "disk, memory or network error"),
    (
        8,
        8,
        Definite,
        "the manager has no permission for balance operations",
    ),
    (9, 11, Ambiguous, "timeout, no connection or no service"),
    (12, 12, Doubtful, "too frequent requests"),
    (13, 13, Definite, "the server knows no such account"),
    (
        14,
        17,
        Ambiguous,
        "partial, shutdown, canceled or duplicate",
    ),
    (1000, 1017, Session, "the manager's session is refused"),
    (1018, 1018, Doubtful, "the server is busy"),
    (1019, 1034, Session, "the manager's session is refused"),
    (4001, 4001, Doubtful, "limit of orders or deals"),
    (
        4004,
        4004,
        Doubtful,
        "the range of deal numbers is exhausted",
    ),
    (
        4005,
        4005,
        Definite,
        "above the largest amount of one operation",
    ),
    (10_001, 10_003, Ambiguous, "on the way"),
    (10_006, 10_006, Doubtful, "rejected"),
    (
        10_008,
        10_010,
        Ambiguous,
        "success in the form of another interface",
    ),
    (10_011, 10_012, Ambiguous, "processing error or timeout"),
    (10_013, 10_013, Doubtful, "invalid request"),
    (10_017, 10_017, Doubtful, "trading is disabled"),
    (10_019, 10_019, Definite, "not enough money on the account"),
    (10_024, 10_024, Doubtful, "too many requests"),
    (10_031, 10_031, Ambiguous, "no connection"),
    (11_000, 11_000, Ambiguous, "returned to the queue"),
    (
        12_000,
        12_002,
        Definite,
        "the server does not offer balance operations here",
    ),
    (12_003, 12_003, Ambiguous, "a deadlock was avoided"),
    (12_004, 12_004, Doubtful, "locked"),
];

fn lookup(code: i64) -> Option<(Class, &'static str)> {
    TABLE
        .iter()
        .find(|(first, last, ..)| (*first..=*last).contains(&code))
        .map(|(_, _, class, meaning)| (*class, *meaning))
}

/// Judges the answer to a balance call on `login`.
pub(crate) fn judge(login: Login, status: u16, body: &[u8]) -> Verdict {
    let answer = match Answer::parse(body) {
        Ok(answer) => answer,
        Err(fault) => return unknown(format!("HTTP {status}: {fault}")),
    };
    if status >= 500 {
        return unknown(format!("HTTP {status} with code {}", answer.code()));
    }
    let (top, record) = (answer.top(), answer.record());
    if is_foreign(&top, login)
        || record
            .as_ref()
            .is_some_and(|record| is_foreign(record, login))
    {
        return unknown("the answer names another login".to_owned());
    }
    let code = answer.code();
    let ticket = record
        .and_then(|record| record.integer("Ticket"))
        .and_then(DealTicket::new);
    match (lookup(code), ticket) {
        (Some((Success, _)), Some(ticket)) if (200..300).contains(&status) => Verdict {
            outcome: Outcome::Done(ticket),
            is_clean: true,
        },
        (Some((Success, _)), Some(_)) => unknown(format!("HTTP {status} with a success")),
        (Some((Success, _)), None) => unknown("success without a ticket".to_owned()),
        (Some((class @ (Definite | Session), meaning)), None) => Verdict {
            outcome: Outcome::Refused(Refusal {
                code: format!("mt5_{code}"),
                meaning: meaning.to_owned(),
            }),
            is_clean: class == Definite,
        },
        (Some((Definite | Session, _)), Some(_)) => {
            unknown(format!("a refusal ({code}) that names a ticket"))
        }
        (Some((Doubtful | Ambiguous, meaning)), _) => unknown(format!("code {code}: {meaning}")),
        (None, _) => unknown(format!("code {code}, which is not in the table")),
    }
}

fn unknown(why: String) -> Verdict {
    Verdict {
        outcome: Outcome::Unknown(why),
        is_clean: false,
    }
}

/// Whether the record names a login that is not ours, or not readable as ours.
fn is_foreign(record: &Record<'_>, login: Login) -> bool {
    record.has("Login") && record.integer("Login") != Some(login.get())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn login() -> Login {
        Login::new(100_234).expect("is above zero")
    }

    fn outcome(status: u16, body: &str) -> Outcome {
        judge(login(), status, body.as_bytes()).outcome
    }

    fn of_code(code: i64) -> &'static str {
        outcome(200, &format!(r#"{{"retcode":"{code} text"}}"#)).code()
    }

    /// The definite refusals and nothing else; written apart from the table it checks.
    fn is_refusal(code: i64) -> bool {
        let session = (1000..=1034).contains(&code) && code != 1018;
        session || [3, 8, 13, 4005, 10_019, 12_000, 12_001, 12_002].contains(&code)
    }

    #[test]
    fn every_code_has_its_verdict() {
        for code in -5..20_000 {
            let wanted = if is_refusal(code) {
                "refused"
            } else {
                "unknown"
            };
            assert_eq!(of_code(code), wanted, "{code}");
        }
        for code in [255, 9999, i64::MAX, i64::MIN] {
            assert_eq!(of_code(code), "unknown", "{code}");
        }
    }

    #[test]
    fn the_table_is_ordered_and_names_no_code_twice() {
        let mut before = -1;
        for (first, last, _, meaning) in TABLE {
            assert!(
                before < *first && first <= last && !meaning.is_empty(),
                "{first}"
            );
            before = *last;
        }
    }

    #[test]
    fn success_needs_a_ticket() {
        let ticket = DealTicket::new(136_623).expect("is above zero");
        for body in [
            r#"{"retcode":"0 Done","answer":{"Ticket":"136623"}}"#,
            r#"{"retcode":0,"ANSWER":{"ticket":136623}}"#,
            r#"{"retcode":"0 Done","answer":{"ticket":"136623","login":"100234"}}"#,
        ] {
            assert_eq!(outcome(200, body), Outcome::Done(ticket), "{body}");
        }
        for body in [
            r#"{"retcode":"0 Done"}"#,
            r#"{"retcode":"0 Done","answer":{}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":"0"}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":"-7"}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":""}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":null}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":"7","ticket":"8"}}"#,
            r#"{"retcode":"0 Done","answer":[]}"#,
            r#"{"retcode":"10009 Done","answer":{"Ticket":"136623"}}"#,
            r#"{"retcode":"1","answer":{"Ticket":"136623"}}"#,
        ] {
            let verdict = judge(login(), 200, body.as_bytes());
            assert_eq!(verdict.outcome.code(), "unknown", "{body}");
            assert!(!verdict.is_clean, "{body}");
        }
    }

    #[test]
    fn f102_an_answer_about_another_login_is_unknown() {
        for body in [
            r#"{"retcode":"0 Done","answer":{"Ticket":"7","Login":"100235"}}"#,
            r#"{"retcode":"0 Done","login":100235,"answer":{"Ticket":"7"}}"#,
            r#"{"retcode":"0 Done","answer":{"Ticket":"7","Login":""}}"#,
            r#"{"retcode":"10019 No money","login":"100235"}"#,
        ] {
            assert_eq!(outcome(200, body).code(), "unknown", "{body}");
        }
    }

    #[test]
    fn a_status_proves_nothing_by_itself() {
        let done = r#"{"retcode":"0 Done","answer":{"Ticket":"7"}}"#;
        let refused = r#"{"retcode":"10019 No money"}"#;
        for status in [301, 400, 401, 403, 500, 503] {
            for body in ["", "<html></html>", "{}", done] {
                assert_eq!(outcome(status, body).code(), "unknown", "{status} {body}");
            }
        }
        assert_eq!(outcome(400, refused).code(), "refused");
        assert_eq!(outcome(502, refused).code(), "unknown");
    }

    #[test]
    fn a_refusal_that_names_a_ticket_is_unknown() {
        let body = r#"{"retcode":"10019","answer":{"Ticket":"7"}}"#;
        assert_eq!(outcome(200, body).code(), "unknown");
    }

    #[test]
    fn a_refused_session_is_not_used_again() {
        let is_clean = |code: i64| {
            judge(
                login(),
                200,
                format!(r#"{{"retcode":"{code}"}}"#).as_bytes(),
            )
            .is_clean
        };
        assert!(is_clean(10_019));
        assert!(!is_clean(1001));
    }

    proptest! {
        #[test]
        fn no_bytes_panic_or_pass_for_done(
            status in 100_u16..600,
            body in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            prop_assert_eq!(judge(login(), status, &body).outcome.code(), "unknown");
        }
    }
}
