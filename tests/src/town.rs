//! A running stack with everybody around it: the portal, a provider, MT5, and plain HTTP for what
//! none of them would ever send. Whoever starts a town stops it.

use std::time::Duration;

use claimcheck_lab::actors::{Deposit, Mt5, Portal, Sender};
use claimcheck_lab::{Infra, Stack, StackOptions, client, until};
use claimcheck_process::Clock;
use claimcheck_providers::Provider;
use reqwest::{Client, Method, RequestBuilder, Response};
use secrecy::SecretString;
use serde_json::Value;

/// Longest time in which a payment without any fault must have ended.
pub const LIMIT: Duration = Duration::from_secs(30);

/// The town.
pub struct Town {
    /// The stack.
    pub stack: Stack,
    /// A client for everything else.
    pub client: Client,
    /// The broker's portal.
    pub portal: Portal,
    /// The provider of the Stripe endpoint.
    pub sender: Sender,
    /// The trade servers.
    pub mt5: Mt5,
    database: String,
}

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The media type.
    pub media_type: String,
    /// Whether it says that it repeats an earlier answer.
    pub is_replayed: bool,
    /// The body.
    pub body: String,
}

impl Answer {
    async fn read(response: Response) -> Self {
        let header = |name| {
            let value = response.headers().get(name);
            value.and_then(|value| value.to_str().ok()).unwrap_or("")
        };
        let media_type = header("Content-Type").to_owned();
        let is_replayed = header("Idempotent-Replayed") == "true";
        Self {
            status: response.status().as_u16(),
            media_type,
            is_replayed,
            body: response.text().await.expect("the answer has an end"),
        }
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The stable code of a refusal, which must have the form of one.
    #[must_use]
    pub fn code(&self) -> String {
        let json = self.json();
        let field = |name: &str| json.get(name).cloned().unwrap_or_default();
        assert_eq!(self.media_type, "application/problem+json", "{self:?}");
        assert_eq!(field("status"), self.status, "{self:?}");
        assert!(field("detail").is_string(), "{self:?}");
        field("code").as_str().unwrap_or_default().to_owned()
    }

    /// Status and code of a refusal.
    #[must_use]
    pub fn refusal(&self) -> (u16, String) {
        (self.status, self.code())
    }
}

/// Sends a request and reads the answer.
pub async fn answer(request: RequestBuilder) -> Answer {
    Answer::read(request.send().await.expect("an answer comes")).await
}

/// Seconds since 1970.
#[must_use]
pub fn now() -> i64 {
    Clock::system().now().unix_timestamp()
}

impl Town {
    /// Starts one with the lab's own settings.
    pub async fn start(name: &str) -> Self {
        Self::start_with(StackOptions::named(name)).await
    }

    /// Starts one.
    pub async fn start_with(options: StackOptions) -> Self {
        let infra = Infra::attach_from_environment().expect("run through `make test`");
        let database = options.name.clone();
        let stack = Stack::start(&infra, options)
            .await
            .expect("the stack starts");
        let client = client().expect("a client");
        let endpoints = stack.endpoints();
        Self {
            portal: Portal::new(client.clone(), endpoints),
            sender: Sender::new(client.clone(), endpoints).expect("a Stripe endpoint"),
            mt5: Mt5::new(client.clone(), endpoints),
            client,
            database,
            stack,
        }
    }

    /// Opens an account and tells the cashier who owns it.
    pub async fn account(&self, login: i64, currency: &str) {
        self.mt5.open(login, currency, true).await.expect("opened");
        self.portal.own(login, currency).await.expect("owned");
    }

    /// A request to the cashier, with the portal's token.
    pub fn cashier(&self, method: Method, path: &str) -> RequestBuilder {
        let endpoints = self.stack.endpoints();
        let request = self
            .client
            .request(method, format!("{}{path}", endpoints.cashier));
        request.bearer_auth(&endpoints.portal_token)
    }

    /// A message to an endpoint, signed with one of our choice at a time of our choice.
    pub fn message(&self, endpoint: &str, signed: &Signed<'_>) -> RequestBuilder {
        let url = format!("{}/webhooks/{endpoint}", self.stack.endpoints().ingest);
        let mut request = self.client.post(url).body(signed.body.to_vec());
        for (name, value) in signed.headers() {
            request = request.header(name, value);
        }
        request
    }

    /// A secret of an endpoint.
    #[must_use]
    pub fn secret(&self, endpoint: &str) -> SecretString {
        let webhook = self.stack.endpoints().webhooks.get(endpoint);
        let secret = webhook.and_then(|webhook| webhook.secrets.first());
        secret.expect("the endpoint has a secret").as_str().into()
    }

    /// Waits until the portal is told this about a deposit.
    pub async fn reaches(&self, deposit: &Deposit, wanted: &str) {
        let what = format!("deposit {} is {wanted}", deposit.id);
        until(&what, LIMIT, async || {
            let state = self.portal.state(deposit.id).await;
            state.is_ok_and(|state| state.state == wanted)
        })
        .await
        .expect("it ends as it must");
    }

    /// Demands that a condition holds in the database.
    pub async fn demand(&self, condition: &str) {
        demand(self.stack.infra(), &self.database, condition).await;
    }

    /// Whether a condition holds in the database now.
    pub async fn holds(&self, condition: &str) -> bool {
        check(self.stack.infra(), &self.database, condition)
            .await
            .is_ok()
    }

    /// Stops the stack.
    pub async fn stop(self) {
        self.stack.stop().await.expect("the stack stops");
    }
}

/// A message before it is sent.
#[derive(Debug, Clone)]
pub struct Signed<'a> {
    /// Who signs.
    pub provider: Provider,
    /// With what.
    pub secret: &'a SecretString,
    /// The message's id, for providers that sign one.
    pub id: &'a str,
    /// When, in seconds since 1970.
    pub at: i64,
    /// The body.
    pub body: &'a [u8],
}

impl Signed<'_> {
    /// The headers of the signed request.
    #[must_use]
    pub fn headers(&self) -> Vec<(String, String)> {
        let signed = self.provider.sign(self.secret, self.body, self.at, self.id);
        signed.expect("the secret can sign")
    }
}

/// Demands that a condition holds in a database.
pub async fn demand(infra: &Infra, database: &str, condition: &str) {
    check(infra, database, condition).await.expect("it holds");
}

async fn check(infra: &Infra, database: &str, condition: &str) -> anyhow::Result<()> {
    let block = format!(
        "DO $demand$ BEGIN IF ({condition}) IS NOT TRUE THEN
             RAISE EXCEPTION 'it does not hold that %', $text${condition}$text$;
         END IF; END $demand$"
    );
    infra.sql(database, &block).await
}
