//! The balance call: the one place from which money moves on MT5.
//!
//! The rule: one `operate` is at most one request on the wire. It is never repeated, never sent on
//! a connection that was opened for it, and "not sent" is said only when the gate counted zero
//! bytes.

use std::time::Instant;

use claimcheck_core::{DIGITS_MAX, Login, Money, OperationKind, Outcome, Reference};
use rust_decimal::Decimal;
use tracing::Instrument as _;

use crate::command::Command;
use crate::gate::Passed;
use crate::link::{Limits, LinkError, Reply};
use crate::query::Query;
use crate::session::Session;
use crate::verdict::{Verdict, judge};

/// The platform's number of a balance operation.
const TYPE_BALANCE: i64 = 2;
/// UTF-16 units of a comment that servers keep; longer ones are cut without a word.
const COMMENT_UNITS_MAX: usize = 31;
/// The most bytes of an answer to a balance call.
const BALANCE_BODY_MAX: usize = 64 * 1024;

/// One balance operation to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceCall {
    /// The account.
    pub login: Login,
    /// What it is; decides the sign and whether the free margin is checked.
    pub kind: OperationKind,
    /// How much.
    pub amount: Money,
    /// Decimal places of the account's group, in which the amount is written.
    pub digits: u32,
    /// The comment that the deal will carry.
    pub reference: Reference,
}

/// The capability to move money.
pub trait Operate {
    /// Makes one balance operation. Its first byte leaves before `send_before` or not at all; its
    /// answer is waited for no longer than the server's call timeout.
    fn operate(
        &mut self,
        call: &BalanceCall,
        send_before: Instant,
    ) -> impl Future<Output = Outcome> + Send;
}

impl Operate for Session {
    async fn operate(&mut self, call: &BalanceCall, send_before: Instant) -> Outcome {
        const COMMAND: Command = Command::TradeBalance;
        let query = match query(call) {
            Ok(query) => query,
            Err(why) => return Outcome::NotSent(why),
        };
        let Some(mut link) = self.link.take() else {
            return Outcome::NotSent("the session has no connection any more".to_owned());
        };
        let time = self.shared.settings.call_timeout;
        let limits = Limits {
            time,
            body_bytes: BALANCE_BODY_MAX,
        };
        let started = Instant::now();
        let span = COMMAND.span(self.shared.settings.name.as_str());
        let called = link
            .call(COMMAND, &query, Some(send_before), limits)
            .instrument(span);
        let (reply, passed) = called.await;
        if !passed.is_late {
            self.shared.reach.contact(reply.is_ok());
        }
        let Verdict { outcome, is_clean } = conclude(call.login, reply, passed);
        self.shared
            .count_call(COMMAND, outcome.code(), started.elapsed());
        if is_clean {
            self.link = Some(link);
        }
        outcome
    }
}

/// The verdict on what came back and what went out.
fn conclude(login: Login, reply: Result<Reply, LinkError>, passed: Passed) -> Verdict {
    if passed.bytes == 0 {
        let why = match reply {
            _ if passed.is_late => "the deadline passed before the first byte left".to_owned(),
            Ok(_) => "an answer was there before the call".to_owned(),
            Err(error) => error.to_string(),
        };
        return Verdict {
            outcome: Outcome::NotSent(why),
            is_clean: false,
        };
    }
    match reply {
        Ok(Reply { status, body }) => judge(login, status, &body),
        Err(error) => Verdict {
            outcome: Outcome::Unknown(error.to_string()),
            is_clean: false,
        },
    }
}

fn query(call: &BalanceCall) -> Result<Query, String> {
    let comment = call.reference.as_str();
    if comment.encode_utf16().count() > COMMENT_UNITS_MAX {
        return Err(format!(
            "the reference is longer than {COMMENT_UNITS_MAX} UTF-16 units"
        ));
    }
    if call.digits > DIGITS_MAX {
        return Err(format!(
            "{} decimal places are more than any currency has",
            call.digits
        ));
    }
    let amount = call
        .amount
        .to_major_with(call.digits)
        .map_err(|error| error.to_string())?;
    let is_credit = call.kind.is_credit();
    let signed: Decimal = if is_credit { amount } else { -amount };
    // A credit is right whatever the account's margin is; a debit must not eat into it.
    let check_margin = u8::from(!is_credit);
    Ok(Query::new()
        .with("login", call.login)
        .with("type", TYPE_BALANCE)
        .with("balance", signed)
        .with("comment", comment)
        .with("check_margin", check_margin))
}

#[cfg(test)]
mod tests {
    use claimcheck_core::{Currency, Tag};

    use super::*;

    fn call(kind: OperationKind, minor: i64, currency: &str, digits: u32) -> BalanceCall {
        let currency = Currency::parse(currency).expect("is known");
        BalanceCall {
            login: Login::new(100_234).expect("is above zero"),
            kind,
            amount: Money::from_minor(minor, currency).expect("is positive"),
            digits,
            reference: Reference::mint(kind, 48_213, Tag::from_random(7)),
        }
    }

    fn text(kind: OperationKind, minor: i64, currency: &str, digits: u32) -> String {
        query(&call(kind, minor, currency, digits))
            .expect("is exact")
            .as_str()
            .to_owned()
    }

    #[test]
    fn an_amount_is_written_signed_with_exactly_the_groups_places() {
        let deposit = text(OperationKind::Deposit, 50_000, "USD", 2);
        assert_eq!(
            deposit,
            "login=100234&type=2&balance=500.00&comment=dep%3A48213-92222&check_margin=0"
        );
        let withdrawal = text(OperationKind::Withdrawal, 1_050, "USD", 2);
        assert!(withdrawal.contains("&balance=-10.50&") && withdrawal.ends_with("check_margin=1"));
        for (minor, currency, digits, written) in [
            (7, "JPY", 0, "7"),
            (7, "JPY", 2, "7.00"),
            (1, "BTC", 8, "0.00000001"),
            (100, "USD", 0, "1"),
        ] {
            let query = text(OperationKind::Deposit, minor, currency, digits);
            assert!(query.contains(&format!("&balance={written}&")), "{query}");
        }
    }

    #[test]
    fn an_amount_that_the_group_cannot_hold_is_not_written() {
        for digits in [0, 1, 9, u32::MAX] {
            assert!(
                query(&call(OperationKind::Deposit, 1, "USD", digits)).is_err(),
                "{digits}"
            );
        }
    }

    #[test]
    fn every_kind_has_its_sign_and_its_margin_check() {
        for kind in OperationKind::ALL {
            let query = text(*kind, 100, "USD", 2);
            assert_eq!(
                query.contains("balance=-1.00"),
                !kind.is_credit(),
                "{query}"
            );
            assert_eq!(
                query.ends_with("check_margin=1"),
                !kind.is_credit(),
                "{query}"
            );
        }
    }

    #[test]
    fn only_zero_bytes_prove_that_nothing_was_sent() {
        let login = Login::new(7).expect("is above zero");
        let outcome = |bytes, is_late| {
            conclude(login, Err(LinkError::Closed), Passed { bytes, is_late })
                .outcome
                .code()
        };
        assert_eq!(outcome(0, true), "not_sent");
        assert_eq!(outcome(0, false), "not_sent");
        assert_eq!(outcome(1, false), "unknown");
    }
}
