//! Many payments at once, and books of its own about them: what was registered and sent is compared
//! with MT5's ledger and with what the portal is told.

use std::time::Duration;

use anyhow::Context;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::actors::{Deal, Deposit, DepositState, Mt5, Payment, Portal, Sender};

/// Senders at a time.
pub const SENDERS: usize = 30;
/// Every twentieth payment's event is sent twice: 5 %.
const DUPLICATE_EVERY: usize = 20;
/// Accounts that share the payments.
const ACCOUNTS: i64 = 10;
/// The smallest amount, in minor units; each payment is over one more, so that no two are alike.
const SMALLEST: i64 = 1_000;

/// A flood of payments, each with a deposit of its own.
pub struct Flood {
    deposits: Vec<Deposit>,
}

/// What the ledger says about a flood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Deals on the flood's accounts.
    pub deals: usize,
    /// The payments that do not have exactly their own deal, each with what is wrong.
    pub wrong: Vec<String>,
}

impl Flood {
    /// Opens accounts from `first_login` on and registers a deposit for every payment.
    ///
    /// # Errors
    /// The cashier or the simulator refuses.
    pub async fn register(
        portal: &Portal,
        mt5: &Mt5,
        first_login: i64,
        payments: i64,
    ) -> anyhow::Result<Self> {
        let logins: Vec<i64> = (0..ACCOUNTS)
            .map(|one| first_login.saturating_add(one))
            .collect();
        for login in &logins {
            mt5.open(*login, "USD", true).await?;
            portal.own(*login, "USD").await?;
        }
        let mut deposits = Vec::new();
        for (number, login) in (0..payments).zip(logins.iter().cycle()) {
            let amount_minor = SMALLEST.saturating_add(number);
            let key = format!("flood-{first_login}-{number}");
            deposits.push(portal.deposit(&key, *login, amount_minor, "USD").await?);
        }
        Ok(Self { deposits })
    }

    /// How many payments it holds.
    #[must_use]
    pub fn payments(&self) -> usize {
        self.deposits.len()
    }

    /// Sends every payment's event, many at a time and some twice, each until it is taken.
    ///
    /// # Errors
    /// One was not taken within `limit`.
    pub async fn send(&self, sender: &Sender, limit: Duration) -> anyhow::Result<()> {
        let mut waiting = self.deposits.iter().enumerate();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < SENDERS
                && let Some((number, deposit)) = waiting.next()
            {
                running.push(send_one(sender, number, deposit, limit));
            }
            match running.next().await {
                Some(sent) => sent?,
                None => return Ok(()),
            }
        }
    }

    /// Whether the portal says credited for every payment.
    ///
    /// # Errors
    /// The cashier does not answer.
    pub async fn is_credited(&self, portal: &Portal) -> anyhow::Result<bool> {
        // The last ones end last: asking from the back is cheap.
        for deposit in self.deposits.iter().rev() {
            if portal.state(deposit.id).await?.state != "credited" {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deals in the ledger so far.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn deals(&self, mt5: &Mt5) -> anyhow::Result<Vec<Deal>> {
        let mut logins: Vec<i64> = self.deposits.iter().map(|deposit| deposit.login).collect();
        logins.sort_unstable();
        logins.dedup();
        let mut all = Vec::new();
        for login in logins {
            all.extend(mt5.deals(login).await?);
        }
        Ok(all)
    }

    /// Compares the books with the ledger and with what the portal is told.
    ///
    /// # Errors
    /// The cashier or the simulator does not answer.
    pub async fn audit(&self, portal: &Portal, mt5: &Mt5) -> anyhow::Result<Audit> {
        let all = self.deals(mt5).await?;
        let mut wrong = Vec::new();
        for deposit in &self.deposits {
            let state = portal.state(deposit.id).await.context("while auditing")?;
            let reference = state
                .operation
                .as_ref()
                .map(|operation| operation.reference.as_str());
            let own = all
                .iter()
                .filter(|deal| Some(deal.comment.as_str()) == reference)
                .cloned();
            let own: Vec<Deal> = own.collect();
            if !has_its_own_deal(&state, &own, deposit) {
                wrong.push(format!("{deposit:?} is {state:?} with deals {own:?}"));
            }
        }
        Ok(Audit {
            deals: all.len(),
            wrong,
        })
    }
}

/// One deal, over exactly the deposit's amount, with the ticket and the reference that the portal
/// is told.
#[must_use]
pub fn has_its_own_deal(state: &DepositState, deals: &[Deal], deposit: &Deposit) -> bool {
    let ([deal], Some(operation)) = (deals, &state.operation) else {
        return false;
    };
    let minor = deal.amount.replace('.', "").parse::<i64>().ok();
    let has_cents = deal
        .amount
        .rsplit_once('.')
        .is_some_and(|(_, cents)| cents.len() == 2);
    has_cents
        && minor == Some(deposit.amount_minor)
        && deal.login == deposit.login
        && operation.deal_ticket == Some(deal.ticket)
        && operation.reference == deal.comment
}

async fn send_one(
    sender: &Sender,
    number: usize,
    deposit: &Deposit,
    limit: Duration,
) -> anyhow::Result<()> {
    let payment = Payment::of(&format!("pi_flood_{}_{number}", deposit.id), deposit);
    let body = payment.succeeded(&format!("evt_flood_{}_{number}", deposit.id));
    sender.deliver(&body, limit).await?;
    if number.is_multiple_of(DUPLICATE_EVERY) {
        sender.deliver(&body, limit).await?;
    }
    Ok(())
}
