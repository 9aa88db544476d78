//! The broker's portal: registers accounts and deposits, and asks what became of them.

use anyhow::{Context, ensure};
use reqwest::Client;
use serde_json::{Value, json};

use crate::endpoints::Endpoints;

/// The portal.
#[derive(Debug, Clone)]
pub struct Portal {
    client: Client,
    url: String,
    token: String,
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
        self.answer(request.json(&body)).await?;
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
        let answer = self.answer(request.json(&body)).await?;
        let id = answer["id"].as_i64().context("a deposit has an id")?;
        let reference = answer["reference_for_provider"].as_str();
        let reference = reference.context("a deposit has a reference")?.to_owned();
        Ok(Deposit {
            id,
            reference,
            amount_minor,
            login,
        })
    }

    /// What the cashier says about a deposit.
    ///
    /// # Errors
    /// The cashier refuses or does not answer.
    pub async fn state(&self, deposit: i64) -> anyhow::Result<Value> {
        self.answer(
            self.client
                .get(format!("{}/v1/deposits/{deposit}", self.url)),
        )
        .await
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Value> {
        let response = request.bearer_auth(&self.token).send().await?;
        let status = response.status();
        let body: Value = response
            .json()
            .await
            .context("the cashier answers in JSON")?;
        ensure!(status.is_success(), "the cashier answered {status}: {body}");
        Ok(body)
    }
}
