//! Who owns a login.

use actix_web::{HttpRequest, HttpResponse, web};
use claimcheck_api::{Fields, Problem};
use claimcheck_core::{ClientId, Currency, Login, ServerName};
use claimcheck_store::{Account, AccountRecorded, Stored};
use serde_json::json;

use crate::app::Cashier;
use crate::write::{Write, answer, detached};

/// `PUT /v1/accounts/{server}/{login}`.
///
/// # Errors
/// Every refusal, as problem details.
pub async fn put(
    request: HttpRequest,
    path: web::Path<(String, String)>,
    payload: web::Payload,
    cashier: web::Data<Cashier>,
) -> Result<HttpResponse, Problem> {
    let write = Write::open(&request, payload, &cashier).await?;
    let (server, login) = path.into_inner();
    let account = match read(&request, &server, &login, &write.body, &cashier) {
        Ok(account) => account,
        Err(problem) => return write.refuse(cashier, problem).await,
    };
    let store = cashier.store.clone();
    let work = async move {
        let render = |recorded| rendered(&account, recorded);
        store.put_account(&write.caller(), &account, render).await
    };
    answer(detached(&cashier.runtime, work).await?)
}

fn read(
    request: &HttpRequest,
    server: &str,
    login: &str,
    body: &[u8],
    cashier: &Cashier,
) -> Result<Account, Problem> {
    let mut fields = Fields::parse(request, body)?;
    let client = fields.text("client_id", ClientId::parse);
    let currency = fields.text("currency", Currency::parse);
    let server = known_server(server, cashier)
        .map_err(|what| fields.fault("server", what))
        .ok();
    let login = Login::parse(login);
    if login.is_none() {
        fields.fault(
            "login",
            "the login in the path must be a whole number above zero",
        );
    }
    fields.finish()?;
    let account = || {
        let (server, login, client, currency) = (server?, login?, client?, currency?);
        Some(Account {
            server,
            login,
            client,
            currency,
        })
    };
    account().ok_or_else(|| Problem::fields(Vec::new()))
}

/// A server that the settings name.
pub(crate) fn known_server(text: &str, cashier: &Cashier) -> Result<ServerName, String> {
    let server = ServerName::parse(text).map_err(|error| error.to_string())?;
    if cashier.servers.contains(&server) {
        return Ok(server);
    }
    let known: Vec<&str> = cashier.servers.iter().map(ServerName::as_str).collect();
    Err(format!(
        "no trade server of this name is set up; known are {}",
        known.join(", ")
    ))
}

fn rendered(account: &Account, recorded: AccountRecorded) -> Stored {
    let status = match recorded {
        AccountRecorded::New => 201,
        AccountRecorded::Same | AccountRecorded::Changed => 200,
    };
    let body = json!({
        "server": account.server.as_str(),
        "login": account.login.get(),
        "client_id": account.client.as_str(),
        "currency": account.currency.code(),
    });
    Stored { status, body }
}
