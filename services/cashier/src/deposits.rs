//! What clients chose to fund.
//!
//! The portal asks on behalf of a signed-in client; that the login is the client's own is checked
//! here, against what the broker stated, and never taken from the request alone.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use claimcheck_api::{Fields, MEDIA_TYPE, Problem};
use claimcheck_core::{ClientId, Currency, Deposit, Login, Money, PaymentId, ProviderName, Tag};
use claimcheck_process::random;
use claimcheck_store::{DepositRefused, DepositView, NewDeposit, Stored};
use serde_json::{Value, json};

use crate::accounts::known_server;
use crate::app::Cashier;
use crate::write::{Write, answer, detached, refusal};

/// `POST /v1/deposits`.
///
/// # Errors
/// Every refusal, as problem details.
pub async fn register(
    request: HttpRequest,
    payload: web::Payload,
    cashier: web::Data<Cashier>,
) -> Result<HttpResponse, Problem> {
    let write = Write::open(&request, payload, &cashier).await?;
    let new = match read(&request, &write.body, &cashier) {
        Ok(new) => new,
        Err(problem) => return write.refuse(cashier, problem).await,
    };
    let store = cashier.store.clone();
    let work = async move {
        let tag = Tag::from_random(u64::from_le_bytes(random::bytes()));
        store
            .register_deposit(&write.caller(), &new, tag, rendered)
            .await
    };
    answer(detached(&cashier.runtime, work).await?)
}

/// `GET /v1/deposits/{id}`.
///
/// # Errors
/// Every refusal, as problem details.
pub async fn show(
    request: HttpRequest,
    path: web::Path<String>,
    cashier: web::Data<Cashier>,
) -> Result<HttpResponse, Problem> {
    cashier.tokens.caller(&request)?;
    let not_found = || {
        let detail = "no deposit of this id is registered";
        Problem::new(StatusCode::NOT_FOUND, "deposit_not_found", detail)
    };
    let id: i64 = path.parse().map_err(|_| not_found())?;
    let store = cashier.store.clone();
    let view = detached(&cashier.runtime, async move { store.deposit(id).await }).await?;
    let view = view.ok_or_else(not_found)?;
    Ok(HttpResponse::Ok()
        .content_type(MEDIA_TYPE)
        .body(shown(&view).to_string()))
}

fn read(request: &HttpRequest, body: &[u8], cashier: &Cashier) -> Result<NewDeposit, Problem> {
    let mut fields = Fields::parse(request, body)?;
    let client = fields.text("client_id", ClientId::parse);
    let server = fields.text("server", |text| known_server(text, cashier));
    let login = fields.integer("login");
    let login = login.and_then(|login| {
        let parsed = Login::new(login);
        if parsed.is_none() {
            fields.fault("login", "the login must be above zero");
        }
        parsed
    });
    let minor = fields.integer("amount_minor");
    let currency = fields.text("currency", Currency::parse);
    let amount = money(&mut fields, "amount_minor", minor, currency);
    let provider = fields.text("provider", |text| known_provider(text, cashier));
    let payment = fields.optional_text("provider_payment_id", PaymentId::parse);
    let pay_minor = fields.optional_integer("pay_amount_minor");
    let pay_currency = fields.optional_text("pay_currency", Currency::parse);
    if pay_minor.is_some() != pay_currency.is_some() {
        fields.fault(
            "pay_amount_minor",
            "give pay_amount_minor and pay_currency together",
        );
    }
    let pay = money(&mut fields, "pay_amount_minor", pay_minor, pay_currency);
    fields.finish()?;
    let new = || {
        Some(NewDeposit {
            client: client?,
            server: server?,
            login: login?,
            amount: amount?,
            provider: provider?,
            payment,
            pay,
        })
    };
    new().ok_or_else(|| Problem::fields(Vec::new()))
}

fn money(
    fields: &mut Fields,
    field: &str,
    minor: Option<i64>,
    currency: Option<Currency>,
) -> Option<Money> {
    match Money::from_minor(minor?, currency?) {
        Ok(money) => Some(money),
        Err(error) => {
            fields.fault(field, error);
            None
        }
    }
}

fn known_provider(text: &str, cashier: &Cashier) -> Result<ProviderName, String> {
    let provider = ProviderName::parse(text).map_err(|error| error.to_string())?;
    if cashier.providers.contains(&provider) {
        return Ok(provider);
    }
    let known: Vec<&str> = cashier.providers.iter().map(ProviderName::as_str).collect();
    Err(format!(
        "no endpoint of this provider is set up; known are {}",
        known.join(", ")
    ))
}

fn rendered(registered: Result<Deposit, DepositRefused>) -> Stored {
    match registered {
        Ok(deposit) => Stored {
            status: 201,
            body: described(&deposit, "awaiting_payment"),
        },
        Err(refused) => {
            let (status, code) = match refused {
                DepositRefused::UnknownAccount => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "account_unknown")
                }
                DepositRefused::NotTheOwner => (StatusCode::UNPROCESSABLE_ENTITY, "not_the_owner"),
                DepositRefused::CurrencyDiffers { .. } => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "account_currency")
                }
                DepositRefused::PaymentTaken => (StatusCode::CONFLICT, "payment_taken"),
            };
            refusal(&Problem::new(status, code, refused.to_string()))
        }
    }
}

fn described(deposit: &Deposit, state: &str) -> Value {
    json!({
        "id": deposit.id,
        "state": state,
        "client_id": deposit.client.as_str(),
        "server": deposit.server.as_str(),
        "login": deposit.login.get(),
        "amount_minor": deposit.amount.minor(),
        "currency": deposit.amount.currency().code(),
        "pay_amount_minor": deposit.pay.map(Money::minor),
        "pay_currency": deposit.pay.map(|pay| pay.currency().code()),
        "provider": deposit.provider.as_str(),
        "provider_payment_id": deposit.payment.as_ref().map(PaymentId::as_str),
        "reference_for_provider": deposit.reference.as_str(),
    })
}

fn shown(view: &DepositView) -> Value {
    let mut body = described(&view.deposit, view.state.code());
    if let (Some(operation), Some(map)) = (&view.operation, body.as_object_mut()) {
        let shown = json!({
            "reference": operation.reference,
            "status": operation.status.code(),
            "deal_ticket": operation.deal_ticket,
            "refusal": operation.refusal,
        });
        map.insert("operation".to_owned(), shown);
    }
    body
}
