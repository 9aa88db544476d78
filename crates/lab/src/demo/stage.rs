//! What every scene needs: the actors, fresh logins, and the check of an ending.

use std::time::Duration;

use claimcheck_store::{CaseState, Store, StoreSettings};

use super::row::{Row, say};
use crate::actors::{Deal, Deposit, Mt5, Payment, Portal, Sender};
use crate::flood::has_its_own_deal;
use crate::http::client;
use crate::stack::Stack;
use crate::wait::until;

/// Longest time in which every payment must have found its end: a lost answer takes the lease, the
/// late-apply margin and two looks.
pub(super) const ENDING_LIMIT: Duration = Duration::from_secs(90);
/// Longest time in which a webhook must be taken while something restarts.
pub(super) const DELIVERY_LIMIT: Duration = Duration::from_secs(30);
/// Most cases read at a time.
const CASES_MAX: i64 = 1_000;
/// The first login of the demo.
const FIRST_LOGIN: i64 = 100_001;

/// The stage.
pub(super) struct Stage<'a> {
    pub(super) stack: &'a Stack,
    pub(super) portal: Portal,
    pub(super) sender: Sender,
    pub(super) mt5: Mt5,
    store: Store,
    next_login: i64,
}

/// How a payment must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Exactly one deal over the deposit's amount, and the portal says credited.
    Credited,
    /// No deal, and the portal says this, with a case of this kind.
    Stopped(&'static str, &'static str),
}

impl<'a> Stage<'a> {
    pub(super) fn build(stack: &'a Stack) -> anyhow::Result<Self> {
        let client = client()?;
        let endpoints = stack.endpoints();
        let store = Store::connect(&StoreSettings {
            url: endpoints.database.as_str().into(),
            connections: 2,
            application: "demo".to_owned(),
        })?;
        Ok(Self {
            portal: Portal::new(client.clone(), endpoints),
            sender: Sender::new(client.clone(), endpoints)?,
            mt5: Mt5::new(client, endpoints),
            store,
            next_login: FIRST_LOGIN,
            stack,
        })
    }

    /// Opens an account that belongs to a client of its own.
    pub(super) async fn account(&mut self, is_enabled: bool) -> anyhow::Result<i64> {
        let login = self.next_login;
        self.next_login = login.saturating_add(1);
        self.mt5.open(login, "USD", is_enabled).await?;
        self.portal.own(login, "USD").await?;
        Ok(login)
    }

    /// Opens an account and registers a deposit for it.
    pub(super) async fn deposit(&mut self, amount_minor: i64) -> anyhow::Result<Deposit> {
        let login = self.account(true).await?;
        self.portal
            .deposit(&format!("deposit-{login}"), login, amount_minor, "USD")
            .await
    }

    /// Waits for the ending of a payment and checks it against the ledger.
    pub(super) async fn check(
        &self,
        scene: &'static str,
        payment: &Payment,
        deposit: &Deposit,
        ending: Ending,
        why: &str,
    ) -> anyhow::Result<Row> {
        let wanted = match ending {
            Ending::Credited => "credited",
            Ending::Stopped(state, _) => state,
        };
        // What does not come in time is shown as it is, in a row that is wrong.
        let waited = until(scene, ENDING_LIMIT, async || {
            let state = self.portal.state(deposit.id).await;
            state.is_ok_and(|state| state.state == wanted)
        })
        .await;
        let state = self.portal.state(deposit.id).await?;
        let deals = self.mt5.deals(deposit.login).await?;
        let is_right = waited.is_ok()
            && match ending {
                Ending::Credited => has_its_own_deal(&state, &deals, deposit),
                Ending::Stopped(_, case) => {
                    deals.is_empty() && self.has_case(case, deposit).await?
                }
            };
        let operation = state.operation.as_ref();
        let row = Row {
            scene,
            payment: payment.id.clone(),
            operation: operation.map_or_else(
                || "none".to_owned(),
                |operation| format!("{} {}", operation.reference, operation.status),
            ),
            deals: describe(&deals),
            why: why.to_owned(),
            is_right,
        };
        say(&format!(
            "  {} {scene}",
            if is_right { "ok   " } else { "WRONG" }
        ));
        Ok(row)
    }

    async fn has_case(&self, kind: &str, deposit: &Deposit) -> anyhow::Result<bool> {
        let cases = self.store.cases(CaseState::Open, CASES_MAX).await?;
        Ok(cases
            .iter()
            .any(|case| case.kind == kind && case.deposit_id == Some(deposit.id)))
    }

    /// Whether a case of this kind is open about a payment.
    pub(super) async fn has_payment_case(&self, kind: &str, payment: &str) -> anyhow::Result<bool> {
        let cases = self.store.cases(CaseState::Open, CASES_MAX).await?;
        let about = |named: &Option<String>| named.as_deref() == Some(payment);
        Ok(cases
            .iter()
            .any(|case| case.kind == kind && about(&case.provider_payment_id)))
    }
}

fn describe(deals: &[Deal]) -> String {
    if deals.is_empty() {
        return "none".to_owned();
    }
    let each = deals
        .iter()
        .map(|deal| format!("{} {}", deal.ticket, deal.amount));
    each.collect::<Vec<_>>().join(", ")
}
