//! `trade/balance`: the one command that moves money.
//!
//! The rule: the platform knows no idempotency. Whatever arrives here and is not refused is
//! booked, as often as it arrives.

use rust_decimal::Decimal;
use serde::Serialize;

use super::Desk;
use crate::mt5::answer::Answer;
use crate::mt5::deal::{action, half_comment, stored_comment};
use crate::mt5::fault::Action;
use crate::mt5::ledger::{Account, Booking};
use crate::mt5::money;
use crate::mt5::params::Params;
use crate::mt5::retcode;
use crate::mt5::session::Staff;

/// A request that passed its syntax.
#[derive(Debug)]
struct Operation<'a> {
    login: u64,
    action: u32,
    amount: &'a str,
    comment: &'a str,
    checks_margin: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Booked {
    ticket: String,
}

/// `trade/balance`.
pub(super) fn balance(desk: &mut Desk<'_>, staff: Option<&Staff>, params: &Params) -> Answer {
    let Some(staff) = staff.filter(|staff| staff.may_operate) else {
        return Answer::code(retcode::PERMISSIONS);
    };
    let Some(operation) = Operation::read(params) else {
        return Answer::code(retcode::PARAMETERS);
    };
    let profit = match admitted(desk.ledger.account(operation.login), &operation) {
        Ok(profit) => profit,
        Err(code) => return Answer::code(code),
    };
    let mut comment = stored_comment(operation.comment);
    if !comment.is_empty() && desk.struck(Action::CommentCut).is_some() {
        comment = half_comment(&comment);
    }
    if desk.struck(Action::CommentRewrite).is_some() {
        let is_deposit = profit.is_sign_positive();
        comment = if is_deposit { "Deposit" } else { "Withdrawal" }.to_owned();
    }
    let booking = Booking {
        login: operation.login,
        dealer: staff.login,
        action: operation.action,
        at: desk.now,
        profit,
        comment,
        sent_comment: Some(operation.comment.to_owned()),
    };
    let Some(ticket) = desk.ledger.book(booking, desk.chance) else {
        return Answer::code(retcode::MONEY_LIMIT);
    };
    desk.calls.applied(desk.call, desk.now);
    if desk.struck(Action::NoTicket).is_some() {
        return Answer::code(retcode::DONE);
    }
    Answer::done(Booked {
        ticket: ticket.to_string(),
    })
}

impl<'a> Operation<'a> {
    fn read(params: &'a Params) -> Option<Self> {
        let action = params.number("type")?;
        let checks_margin = match params.get("check_margin") {
            None | Some("1") => true,
            Some("0") => false,
            Some(_) => return None,
        };
        (action::BALANCE..=action::BONUS)
            .contains(&action)
            .then_some(())?;
        Some(Self {
            login: params.number("login")?,
            action,
            amount: params.get("balance")?,
            comment: params.get("comment").unwrap_or_default(),
            checks_margin,
        })
    }
}

/// The amount to book, or the code of the refusal.
fn admitted(account: Option<&Account>, operation: &Operation<'_>) -> Result<Decimal, u32> {
    let amount = money::plain(operation.amount).ok_or(retcode::PARAMETERS)?;
    if money::over_limit(amount) {
        return Err(retcode::MONEY_LIMIT);
    }
    let account = account.ok_or(retcode::NOT_FOUND)?;
    let digits = account.group.digits;
    let amount = money::parse(operation.amount, digits).map_err(|_| retcode::PARAMETERS)?;
    if amount.is_zero() {
        return Err(retcode::PARAMETERS);
    }
    if !account.enabled {
        return Err(retcode::ACCOUNT_DISABLED);
    }
    let taken = -amount;
    let is_on_credit = matches!(operation.action, action::CREDIT | action::BONUS);
    let pot = if is_on_credit {
        account.credit
    } else {
        account.balance
    };
    let checks_margin = operation.checks_margin && operation.action != action::CORRECTION;
    let is_bound = checks_margin && taken > account.margin_free();
    if amount.is_sign_negative() && (taken > pot || is_bound) {
        return Err(retcode::NO_MONEY);
    }
    Ok(amount)
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::mt5::settings::GroupSettings;

    fn account() -> Account {
        Account {
            login: 7,
            group: GroupSettings {
                name: r"real\USD".to_owned(),
                currency: "USD".to_owned(),
                digits: 2,
            },
            balance: Decimal::from(100),
            credit: Decimal::from(50),
            margin: Decimal::from(90),
            enabled: true,
            opened_at: OffsetDateTime::UNIX_EPOCH,
            had_activity: false,
        }
    }

    fn verdict(query: &str) -> Result<Decimal, u32> {
        let params = Params::read(Some(query), b"").expect("a query is readable");
        let operation = Operation::read(&params).ok_or(retcode::PARAMETERS)?;
        admitted(
            Some(&account()).filter(|account| account.login == operation.login),
            &operation,
        )
    }

    #[test]
    fn every_documented_refusal_is_given() {
        for (query, code) in [
            ("login=7&type=1&balance=1", 3),
            ("login=7&type=7&balance=1", 3),
            ("login=7&type=2&balance=one", 3),
            ("login=7&type=2&balance=1e3", 3),
            ("login=7&type=2&balance=0", 3),
            ("login=7&type=2&balance=0.001", 3),
            ("login=7&type=2", 3),
            ("type=2&balance=1", 3),
            ("login=7&type=2&balance=1&check_margin=2", 3),
            ("login=7&type=2&balance=1000000000.01", 4005),
            ("login=8&type=2&balance=1", 13),
            ("login=7&type=2&balance=-60.01", 10_019),
            ("login=7&type=4&balance=-60.01", 10_019),
            ("login=7&type=2&balance=-100.01&check_margin=0", 10_019),
            ("login=7&type=5&balance=-100.01", 10_019),
            ("login=7&type=3&balance=-50.01", 10_019),
            ("login=7&type=6&balance=-50.01&check_margin=0", 10_019),
        ] {
            assert_eq!(verdict(query), Err(code), "{query}");
        }
    }

    #[test]
    fn what_is_covered_is_admitted() {
        for (query, amount) in [
            ("login=7&type=2&balance=1000000000", "1000000000"),
            ("login=7&type=2&balance=-60", "-60"),
            ("login=7&type=2&balance=-100&check_margin=0", "-100"),
            ("login=7&type=5&balance=-100", "-100"),
            ("login=7&type=3&balance=-50", "-50"),
            ("login=7&type=6&balance=0.01&check_margin=1", "0.01"),
        ] {
            assert_eq!(
                verdict(query),
                Ok(money::plain(amount).expect("is plain")),
                "{query}"
            );
        }
    }

    #[test]
    fn a_disabled_account_is_refused() {
        let params = Params::read(Some("login=7&type=2&balance=1"), b"").expect("is readable");
        let operation = Operation::read(&params).expect("is an operation");
        let disabled = Account {
            enabled: false,
            ..account()
        };
        assert_eq!(
            admitted(Some(&disabled), &operation),
            Err(retcode::ACCOUNT_DISABLED)
        );
    }
}
