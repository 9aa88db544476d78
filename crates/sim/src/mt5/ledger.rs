//! The books of one trade server: groups, accounts, deals. This is the ground truth.
//!
//! The rule: a deal is booked here or nowhere, together with the money it moves, and stays for
//! good. Deals lie in ticket order, so a ticket is found by bisection.

use std::collections::{BTreeMap, HashMap};

use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::deal::{Deal, action};
use super::settings::GroupSettings;
use crate::chance::Chance;

/// Tickets are apart by 1 up to this number: gaps are normal.
const TICKET_STEP_MAX: u64 = 3;

/// An account.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) login: u64,
    pub(super) group: GroupSettings,
    pub(super) balance: Decimal,
    pub(super) credit: Decimal,
    /// Money bound by open positions.
    pub(super) margin: Decimal,
    pub(super) enabled: bool,
    pub(super) opened_at: OffsetDateTime,
    /// Whether anything was booked since the server started.
    pub(super) had_activity: bool,
}

impl Account {
    /// Balance and credit together; floating profit does not exist here.
    pub(super) fn equity(&self) -> Decimal {
        self.balance.saturating_add(self.credit)
    }

    /// What is not bound by open positions.
    pub(super) fn margin_free(&self) -> Decimal {
        self.equity().saturating_sub(self.margin)
    }
}

/// What is to be booked.
#[derive(Debug)]
pub(super) struct Booking {
    pub(super) login: u64,
    pub(super) dealer: u64,
    pub(super) action: u32,
    pub(super) at: OffsetDateTime,
    pub(super) profit: Decimal,
    pub(super) comment: String,
    pub(super) sent_comment: Option<String>,
}

/// A stretch of server time, both ends included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: i64,
    pub(super) to: i64,
    /// How far the server clock runs ahead of UTC, in seconds.
    pub(super) shift: i64,
    /// Deals younger than this are not shown yet.
    pub(super) hidden_after: Option<OffsetDateTime>,
}

impl Window {
    pub(super) fn shows(&self, deal: &Deal) -> bool {
        let seconds = deal.server_seconds(self.shift);
        let hidden = self.hidden_after.is_some_and(|limit| deal.at > limit);
        !hidden && (self.from..=self.to).contains(&seconds)
    }
}

/// The books.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) groups: Vec<GroupSettings>,
    accounts: BTreeMap<u64, Account>,
    deals: Vec<Deal>,
    places_of_login: HashMap<u64, Vec<usize>>,
    last_ticket: u64,
}

impl Ledger {
    pub(super) fn new(groups: Vec<GroupSettings>, first_ticket: u64) -> Self {
        Self {
            groups,
            accounts: BTreeMap::new(),
            deals: Vec::new(),
            places_of_login: HashMap::new(),
            last_ticket: first_ticket,
        }
    }

    pub(super) fn account(&self, login: u64) -> Option<&Account> {
        self.accounts.get(&login)
    }

    /// Opens an account or puts a changed one in its place.
    pub(super) fn put_account(&mut self, account: Account) {
        self.accounts.insert(account.login, account);
    }

    /// The next account after that login, in a circle; never that login itself.
    pub(super) fn neighbour(&self, login: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
        let after = self.accounts.range(login.saturating_add(1)..);
        let before = self.accounts.range(..login);
        let mut logins = after.chain(before).map(|(other, _)| *other);
        logins.find(|other| *other != login && fits(*other))
    }

    /// Books a deal and moves its money; `None` when the account does not exist or could not
    /// hold so much.
    pub(super) fn book(&mut self, booking: Booking, chance: &mut Chance) -> Option<u64> {
        let account = self.accounts.get_mut(&booking.login)?;
        let pot = match booking.action {
            action::CREDIT | action::BONUS => &mut account.credit,
            _ => &mut account.balance,
        };
        *pot = pot.checked_add(booking.profit)?;
        account.had_activity = true;
        let step = 1 + chance.below(TICKET_STEP_MAX);
        self.last_ticket = self.last_ticket.saturating_add(step);
        let deal = Deal {
            ticket: self.last_ticket,
            login: booking.login,
            dealer: booking.dealer,
            action: booking.action,
            at: booking.at,
            profit: booking.profit,
            digits: account.group.digits,
            comment: booking.comment,
            sent_comment: booking.sent_comment,
        };
        let places = self.places_of_login.entry(booking.login).or_default();
        places.push(self.deals.len());
        self.deals.push(deal);
        Some(self.last_ticket)
    }

    /// Every deal, in ticket order.
    pub(super) fn deals(&self) -> &[Deal] {
        &self.deals
    }

    pub(super) fn deal(&self, ticket: u64) -> Option<&Deal> {
        let place = self.deals.binary_search_by_key(&ticket, |deal| deal.ticket);
        self.deals.get(place.ok()?)
    }

    /// The deals of an account, in ticket order.
    pub(super) fn deals_of(&self, login: u64) -> impl Iterator<Item = &Deal> {
        let places = self.places_of_login.get(&login).map(Vec::as_slice);
        let places = places.unwrap_or_default().iter();
        places.filter_map(|place| self.deals.get(*place))
    }

    /// The deals of an account that a window shows.
    pub(super) fn shown(&self, login: u64, window: Window) -> impl Iterator<Item = &Deal> {
        self.deals_of(login).filter(move |deal| window.shows(deal))
    }
}
