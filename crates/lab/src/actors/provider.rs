//! A payment provider: signs what it states and posts it, again and again until it is taken.

use std::time::{Duration, Instant};

use anyhow::Context;
use claimcheck_process::Clock;
use claimcheck_providers::Provider;
use reqwest::Client;
use secrecy::SecretString;
use serde_json::json;

use crate::actors::Deposit;
use crate::endpoints::Endpoints;

/// A provider that speaks like Stripe.
#[derive(Clone)]
pub struct Sender {
    client: Client,
    url: String,
    secret: SecretString,
}

/// A payment as the provider states it.
#[derive(Debug, Clone)]
pub struct Payment {
    /// The provider's id of it.
    pub id: String,
    /// The reference it carries.
    pub reference: String,
    /// The amount in minor units.
    pub amount_minor: i64,
    /// The currency in lower case.
    pub currency: String,
}

impl Payment {
    /// The payment that a deposit expects.
    #[must_use]
    pub fn of(id: &str, deposit: &Deposit) -> Self {
        Self {
            id: id.to_owned(),
            reference: deposit.reference.clone(),
            amount_minor: deposit.amount_minor,
            currency: "usd".to_owned(),
        }
    }

    /// The event that says it is paid.
    #[must_use]
    pub fn succeeded(&self, event: &str) -> String {
        let object = json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount_minor,
            "amount_received": self.amount_minor,
            "currency": self.currency,
            "livemode": false,
            "status": "succeeded",
            "metadata": { "deposit_ref": self.reference },
        });
        message(event, "payment_intent.succeeded", &object)
    }

    /// Another event about the same money.
    #[must_use]
    pub fn charged(&self, event: &str) -> String {
        let object = json!({
            "id": format!("ch_{}", self.id),
            "object": "charge",
            "amount": self.amount_minor,
            "amount_captured": self.amount_minor,
            "amount_refunded": 0,
            "captured": true,
            "paid": true,
            "refunded": false,
            "currency": self.currency,
            "livemode": false,
            "payment_intent": self.id,
            "status": "succeeded",
            "metadata": { "deposit_ref": self.reference },
        });
        message(event, "charge.succeeded", &object)
    }
}

fn message(event: &str, kind: &str, object: &serde_json::Value) -> String {
    let created = Clock::system().now().unix_timestamp();
    json!({
        "id": event,
        "object": "event",
        "api_version": "2026-10-28.clover",
        "created": created,
        "livemode": false,
        "type": kind,
        "data": { "object": object },
    })
    .to_string()
}

impl Sender {
    /// The provider of a stack's Stripe endpoint.
    ///
    /// # Errors
    /// The stack has no such endpoint.
    pub fn new(client: Client, endpoints: &Endpoints) -> anyhow::Result<Self> {
        let webhook = endpoints
            .webhooks
            .get("stripe")
            .context("the stack has a Stripe endpoint")?;
        let secret = webhook
            .secrets
            .first()
            .context("the endpoint has a secret")?;
        Ok(Self {
            client,
            url: webhook.url.clone(),
            secret: secret.as_str().into(),
        })
    }

    /// The same provider, signing with a secret that is not its own.
    #[must_use]
    pub fn forger(&self) -> Self {
        Self {
            secret: "whsec_thisIsNotTheSecretOfTheEndpoint".into(),
            ..self.clone()
        }
    }

    /// Posts a body once; gives the status and how long the answer took.
    ///
    /// # Errors
    /// No answer came.
    pub async fn post(&self, body: &str) -> anyhow::Result<(u16, Duration)> {
        let now = Clock::system().now().unix_timestamp();
        let headers = Provider::Stripe.sign(&self.secret, body.as_bytes(), now, "unused")?;
        let mut request = self
            .client
            .post(&self.url)
            .header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let started = Instant::now();
        let response = request.body(body.to_owned()).send().await?;
        Ok((response.status().as_u16(), started.elapsed()))
    }

    /// Posts a body until it is taken, as a provider does; every try is signed anew.
    ///
    /// # Errors
    /// It was not taken within the limit.
    pub async fn deliver(&self, body: &str, limit: Duration) -> anyhow::Result<()> {
        crate::wait::until("the webhook is taken", limit, async || {
            self.post(body)
                .await
                .is_ok_and(|(status, _)| (200..300).contains(&status))
        })
        .await
    }
}
