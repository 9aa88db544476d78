//! MT5 seen from inside: the simulator's control side, whose ledger is the truth.

use anyhow::{Context, ensure};
use reqwest::Client;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::endpoints::Endpoints;

/// The control side.
#[derive(Debug, Clone)]
pub struct Mt5 {
    client: Client,
    url: String,
}

/// A deal in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Deal {
    /// Its number.
    pub ticket: i64,
    /// The account.
    pub login: i64,
    /// What it did; 2 is a balance operation.
    pub action: i64,
    /// Signed decimal text in major units.
    pub amount: String,
    /// Its comment.
    pub comment: String,
}

/// A fault that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Fault {
    id: i64,
    /// How often it has struck.
    #[serde(default)]
    hits: u64,
}

impl Mt5 {
    /// The simulator of a stack.
    #[must_use]
    pub fn new(client: Client, endpoints: &Endpoints) -> Self {
        Self {
            client,
            url: endpoints.mt5_sim.clone(),
        }
    }

    /// Opens an account on the first trade server.
    ///
    /// # Errors
    /// The simulator refuses or does not answer.
    pub async fn open(&self, login: i64, currency: &str, is_enabled: bool) -> anyhow::Result<()> {
        let body = json!({
            "server": "live-1", "login": login, "currency": currency, "enabled": is_enabled,
        });
        let request = self.client.post(format!("{}/sim/accounts", self.url));
        self.answer::<IgnoredAny>(request.json(&body)).await?;
        Ok(())
    }

    /// Sets a fault for a command and a login.
    ///
    /// # Errors
    /// The simulator refuses or does not answer.
    pub async fn fault(&self, on: &str, login: i64, fault: Value) -> anyhow::Result<Fault> {
        let mut body = json!({ "on": on, "server": "live-1", "login": login });
        if let (Some(body), Value::Object(fault)) = (body.as_object_mut(), fault) {
            body.extend(fault);
        }
        let request = self
            .client
            .post(format!("{}/sim/faults", self.url))
            .json(&body);
        self.answer(request).await
    }

    /// Whether a fault has struck.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn has_struck(&self, fault: Fault) -> anyhow::Result<bool> {
        let request = self.client.get(format!("{}/sim/faults", self.url));
        let faults: Vec<Fault> = self.answer(request).await?;
        Ok(faults.iter().any(|one| one.id == fault.id && one.hits > 0))
    }

    /// Ends a fault.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn mend(&self, fault: Fault) -> anyhow::Result<()> {
        let request = self
            .client
            .delete(format!("{}/sim/faults/{}", self.url, fault.id));
        ensure!(
            request.send().await?.status().is_success(),
            "the fault is not ended"
        );
        Ok(())
    }

    /// Every deal of a login.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn deals(&self, login: i64) -> anyhow::Result<Vec<Deal>> {
        let url = format!("{}/sim/deals?server=live-1&login={login}", self.url);
        self.answer(self.client.get(url)).await
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> anyhow::Result<T> {
        let response = request.send().await?;
        let status = response.status();
        let text = response.text().await?;
        ensure!(
            status.is_success(),
            "the simulator answered {status}: {text}"
        );
        serde_json::from_str(&text).context("the simulator answers in the contract's form")
    }
}
