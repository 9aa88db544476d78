//! The broker's portal: registers accounts and deposits, and asks what became of them.

use anyhow::{Context, ensure};
use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::endpoints::Endpoints;

/// The portal.
#[derive(Debug, Clone)]
pub struct Portal {
    client: Client,
    url: String,
    token: String,
}

/// What the cashier says about a deposit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DepositState {
    /// What a client may be told.
    pub state: String,
    /// The operation, once a payment came.
    pub operation: Option<OperationState>,
}

/// What the cashier says about an operation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OperationState {
    /// Its reference.
    pub reference: String,
    /// Where it stands.
    pub status: String,
    /// The deal, once done.
    pub deal_ticket: Option<i64>,
}

/// The cashier's answer to a registration.
#[derive(Debug, Deserialize)]
struct Registered {
    id: i64,
    reference_for_provider: String,
}

/// A registered deposit.
#[derive(Debug, Clone)]
pub struct Deposit {
    /// Its id.
    pub id: i64,
    /// What the payment must carry.
    pub reference: String,
    /// The amount in minor units.
    pub amount_minor: i64,
    /// The account.
    pub login: i64,
}

impl Portal {
    /// The portal of a stack.
    #[must_use]
    pub fn new(client: Client, endpoints: &Endpoints) -> Self {
        Self {
            client,
            url: endpoints.cashier.clone(),
            token: endpoints.portal_token.clone(),
        }
    }

    /// Says who owns a login.
    ///
    /// # Errors
    /// The cashier refuses or does not answer.
    pub async fn own(&self, login: i64, currency: &str) -> anyhow::Result<()> {
        let url = format!("{}/v1/accounts/live-1/{login}", self.url);
        let body = json!({ "client_id": format!("client-{login}"), "currency": currency });
        let request = self
            .client
            .put(url)
            .header("Idempotency-Key", format!("own-{login}"));
        self.answer::<serde::de::IgnoredAny>(request.json(&body))
            .await?;
        Ok(())
    }

    /// Registers a deposit of a client for the client's own login, under `key`.
    ///
    /// # Errors
    /// The cashier refuses or does not answer.
    pub async fn deposit(
        &self,
        key: &str,
        login: i64,
        amount_minor: i64,
        currency: &str,
    ) -> anyhow::Result<Deposit> {
        let url = format!("{}/v1/deposits", self.url);
        let body = json!({
            "client_id": format!("client-{login}"),
            "server": "live-1",
            "login": login,
            "amount_minor": amount_minor,
            "currency": currency,
            "provider": "stripe",
        });
        let request = self.client.post(url).header("Idempotency-Key", key);
        let registered: Registered = self.answer(request.json(&body)).await?;
        Ok(Deposit {
            id: registered.id,
            reference: registered.reference_for_provider,
            amount_minor,
            login,
        })
    }

    /// What the cashier says about a deposit.
    ///
    /// # Errors
    /// The cashier refuses or does not answer.
    pub async fn state(&self, deposit: i64) -> anyhow::Result<DepositState> {
        self.answer(
            self.client
                .get(format!("{}/v1/deposits/{deposit}", self.url)),
        )
        .await
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> anyhow::Result<T> {
        let response = request.bearer_auth(&self.token).send().await?;
        let status = response.status();
        let text = response.text().await?;
        ensure!(status.is_success(), "the cashier answered {status}: {text}");
        serde_json::from_str(&text).context("the cashier answers in the contract's form")
    }
}
