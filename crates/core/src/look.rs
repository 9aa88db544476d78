//! What one look at an account's deals says about one operation.
//!
//! Absent is a proof, never an empty list: whatever is incomplete, foreign or changing under the
//! reader's hands is no answer at all.

use std::collections::BTreeSet;

use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::account::Login;
use crate::deal::{Deal, DealAction, DealTicket, Window};
use crate::reference::Reference;

/// What was read from MT5 in one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The login that was asked for.
    pub login: Login,
    /// The window that was asked for.
    pub window: Window,
    /// When the look began; what happened later it cannot have seen.
    pub started_at: OffsetDateTime,
    /// The total that the server stated before the pages were read.
    pub total_before: u64,
    /// The total that it stated after them.
    pub total_after: u64,
    /// Every deal of every page, in the order read.
    pub deals: Vec<Deal>,
}

/// The deal that is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// Its comment.
    pub reference: &'a Reference,
    /// Its account.
    pub login: Login,
    /// Its amount, signed, in major units.
    pub amount: Decimal,
}

/// What our own rows explain about the deals of a login.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Tickets that rows carry.
    pub tickets: BTreeSet<DealTicket>,
    /// References of all other rows.
    pub references: BTreeSet<String>,
}

/// The verdict of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Exactly one deal, in every point the right one.
    Found(DealTicket),
    /// A complete reading without the deal and without anything that could be it.
    Absent,
    /// Something that only a person can judge.
    Conflict(Conflict),
    /// The reading proves nothing.
    NoAnswer(NoAnswer),
}

/// Why a person must judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// The reference stands on more than one deal.
    Twice(Vec<DealTicket>),
    /// The deal with the reference has another amount.
    Amount(DealTicket, Decimal),
    /// The deal with the reference did something else than change the balance.
    Action(DealTicket, DealAction),
    /// The deal with the reference stands on another row already.
    Taken(DealTicket),
    /// Without the reference, but with this amount, and no row of ours explains it.
    Unexplained(DealTicket),
}

/// Why a reading proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// The server did not answer, or not in a form that can be read.
    Unreadable(String),
    /// The pages hold another number of deals than the server stated.
    Incomplete {
        /// The total stated.
        stated: u64,
        /// The deals read.
        read: u64,
    },
    /// The total changed while the pages were read.
    Changing {
        /// Stated first.
        before: u64,
        /// Stated last.
        after: u64,
    },
    /// A deal of another login came back.
    WrongLogin(Login),
    /// A deal came back twice, so another one may have been skipped.
    Repeated(DealTicket),
    /// A deal outside the window came back.
    OutsideWindow(DealTicket),
}

impl Look {
    /// A stable name for the record and for metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Found(_) => "found",
            Self::Absent => "absent",
            Self::Conflict(_) => "conflict",
            Self::NoAnswer(_) => "no_answer",
        }
    }

    /// The reason behind the verdict, for a person.
    #[must_use]
    pub fn why(&self) -> String {
        match self {
            Self::Found(ticket) => format!("deal {ticket} carries the reference"),
            Self::Absent => "a complete reading holds no such deal".to_owned(),
            Self::Conflict(conflict) => format!("{conflict:?}"),
            Self::NoAnswer(no_answer) => format!("{no_answer:?}"),
        }
    }
}

/// Judges one reading.
#[must_use]
pub fn look(reading: &Reading, sought: Sought<'_>, known: &Known) -> Look {
    assert_eq!(
        reading.login, sought.login,
        "the reading was made for this login"
    );
    if let Some(no_answer) = incompleteness(reading) {
        return Look::NoAnswer(no_answer);
    }
    let same_reference: Vec<&Deal> = reading
        .deals
        .iter()
        .filter(|deal| deal.comment == sought.reference.as_str())
        .collect();
    match same_reference.as_slice() {
        [] => unreferenced(reading, sought, known),
        [deal] => referenced(deal, sought, known),
        several => Look::Conflict(Conflict::Twice(
            several.iter().map(|deal| deal.ticket).collect(),
        )),
    }
}

fn referenced(deal: &Deal, sought: Sought<'_>, known: &Known) -> Look {
    if deal.action != DealAction::Balance {
        return Look::Conflict(Conflict::Action(deal.ticket, deal.action));
    }
    if deal.amount != sought.amount {
        return Look::Conflict(Conflict::Amount(deal.ticket, deal.amount));
    }
    if known.tickets.contains(&deal.ticket) {
        return Look::Conflict(Conflict::Taken(deal.ticket));
    }
    Look::Found(deal.ticket)
}

fn unreferenced(reading: &Reading, sought: Sought<'_>, known: &Known) -> Look {
    let is_explained = |deal: &Deal| {
        known.tickets.contains(&deal.ticket) || known.references.contains(&deal.comment)
    };
    reading
        .deals
        .iter()
        .filter(|deal| deal.action == DealAction::Balance && deal.amount == sought.amount)
        .find(|deal| !is_explained(deal))
        .map_or(Look::Absent, |deal| {
            Look::Conflict(Conflict::Unexplained(deal.ticket))
        })
}

fn incompleteness(reading: &Reading) -> Option<NoAnswer> {
    let read = u64::try_from(reading.deals.len()).unwrap_or(u64::MAX);
    if reading.total_before != reading.total_after {
        return Some(NoAnswer::Changing {
            before: reading.total_before,
            after: reading.total_after,
        });
    }
    if read != reading.total_before {
        return Some(NoAnswer::Incomplete {
            stated: reading.total_before,
            read,
        });
    }
    if let Some(foreign) = reading
        .deals
        .iter()
        .find(|deal| deal.login != reading.login)
    {
        return Some(NoAnswer::WrongLogin(foreign.login));
    }
    let mut seen = BTreeSet::new();
    if let Some(repeated) = reading.deals.iter().find(|deal| !seen.insert(deal.ticket)) {
        return Some(NoAnswer::Repeated(repeated.ticket));
    }
    let Window { from, to } = reading.window;
    reading
        .deals
        .iter()
        .find(|deal| deal.time < from || deal.time > to)
        .map(|deal| NoAnswer::OutsideWindow(deal.ticket))
}
