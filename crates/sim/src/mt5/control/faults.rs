//! `/sim/faults`: setting, listing and deleting faults.
//!
//! The rule: a fault that could never strike, or lacks what its action needs, is refused when it
//! is set and says why.

use std::time::Duration;

use hyper::StatusCode;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::input::{json as read, login};
use super::{Fault, Outcome, answered, server_mut};
use crate::mt5::command::Command;
use crate::mt5::fault::{Action, FaultSpec, Pattern};
use crate::mt5::money;
use crate::mt5::retcode;
use crate::mt5::world::State;

/// The longest wait a fault may ask for: a day.
const SECONDS_MAX: u32 = 86_400;
/// How long an answer waits for its second in an exchange, unless told.
const SWAP_WAIT: Duration = Duration::from_secs(5);
/// The status of a proxy page unless told, and of a bare status.
const STATUS_PAGE: u32 = 200;
const STATUS_BARE: u32 = 503;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultBody {
    on: String,
    action: Value,
    server: Option<String>,
    login: Option<Value>,
    times: Option<u64>,
    probability: Option<Number>,
    seconds: Option<Number>,
    code: Option<u32>,
    applied: Option<bool>,
    offset: Option<i64>,
}

/// `POST /sim/faults`.
pub(super) fn set(state: &mut State, body: &[u8]) -> Outcome {
    let request: Map<String, Value> = read(body)?;
    let body: FaultBody = read(body)?;
    if let Some(name) = &body.server {
        server_mut(state, name)?;
    }
    let id = state.faults.add(spec(body, request)?);
    Ok(answered(StatusCode::CREATED, &json!({ "id": id })))
}

/// `GET /sim/faults`.
pub(super) fn list(state: &State) -> Vec<Value> {
    let view = |fault: &crate::mt5::fault::Fault| {
        let mut view = fault.spec.request.clone();
        view.insert("id".to_owned(), fault.id.into());
        view.insert("hits".to_owned(), fault.hits.into());
        Value::Object(view)
    };
    state.faults.all().iter().map(view).collect()
}

/// `DELETE /sim/faults/{id}`.
pub(super) fn delete(state: &mut State, id: &str) -> Outcome {
    let number = id.parse::<u64>().ok();
    let number = number.ok_or_else(|| Fault::bad(format!("id: {id:?} is not a number")))?;
    match state.faults.delete(|fault| fault.id == number) {
        0 => Err(Fault::absent(format!("id: there is no fault {number}"))),
        _ => Ok((StatusCode::NO_CONTENT, None)),
    }
}

/// `DELETE /sim/faults`.
pub(super) fn delete_all(state: &mut State) -> (StatusCode, Option<Value>) {
    state.faults.delete(|_| true);
    (StatusCode::NO_CONTENT, None)
}

fn spec(body: FaultBody, request: Map<String, Value>) -> Result<FaultSpec, Fault> {
    let on = Pattern::parse(&body.on).ok_or_else(|| {
        let known = Command::ALL
            .iter()
            .map(|command| command.path())
            .collect::<Vec<_>>();
        Fault::bad(format!(
            "on: {:?} is no command, prefix or *; known are {known:?}",
            body.on
        ))
    })?;
    let action: Action = serde_json::from_value(body.action.clone())
        .map_err(|error| Fault::bad(format!("action: {error}")))?;
    let mut struck = Command::ALL.iter().filter(|command| on.matches(**command));
    if !struck.any(|command| action.suits(*command)) {
        return Err(Fault::bad(format!(
            "action: {} has no effect on {}",
            body.action, body.on
        )));
    }
    if body.times == Some(0) {
        return Err(Fault::bad("times: must be above 0"));
    }
    Ok(FaultSpec {
        on,
        server: body.server,
        login: body.login.map(|value| login(Some(&value))).transpose()?,
        action,
        times: body.times,
        probability: probability(body.probability.as_ref())?,
        wait: wait(action, body.seconds.as_ref())?,
        code: code(action, body.code)?,
        applied: body.applied.unwrap_or(true),
        offset: offset(action, body.offset)?,
        request,
    })
}

fn probability(number: Option<&Number>) -> Result<Option<Decimal>, Fault> {
    let Some(number) = number else {
        return Ok(None);
    };
    let value = money::plain(&number.to_string());
    let value = value.filter(|value| (Decimal::ZERO..=Decimal::ONE).contains(value));
    let fault = || Fault::bad(format!("probability: {number} is not within 0 and 1"));
    value.map(Some).ok_or_else(fault)
}

fn wait(action: Action, seconds: Option<&Number>) -> Result<Duration, Fault> {
    let needs = matches!(
        action,
        Action::ApplyLate | Action::Slow | Action::LateReply | Action::HistoryLag
    );
    let Some(number) = seconds else {
        if needs {
            return Err(Fault::bad("seconds: this action needs them"));
        }
        return Ok(SWAP_WAIT);
    };
    let fault = || {
        Fault::bad(format!(
            "seconds: {number} is not within 0 and {SECONDS_MAX}"
        ))
    };
    let seconds = money::plain(&number.to_string())
        .filter(|value| (Decimal::ZERO..=Decimal::from(SECONDS_MAX)).contains(value));
    let milliseconds = seconds.and_then(|value| (value * Decimal::from(1_000)).to_u64());
    milliseconds.map(Duration::from_millis).ok_or_else(fault)
}

fn code(action: Action, code: Option<u32>) -> Result<u32, Fault> {
    match (action, code) {
        (Action::Refuse, None) => Err(Fault::bad("code: this action needs a return code")),
        (Action::Refuse | Action::HistoryErrorEmpty, Some(0)) => {
            Err(Fault::bad("code: 0 is success"))
        }
        (Action::HttpStatus | Action::HtmlPage, Some(code)) if !(200..=599).contains(&code) => Err(
            Fault::bad(format!("code: {code} is no HTTP status from 200 to 599")),
        ),
        (_, Some(code)) => Ok(code),
        (Action::HtmlPage, None) => Ok(STATUS_PAGE),
        (Action::HttpStatus, None) => Ok(STATUS_BARE),
        (_, None) => Ok(retcode::NO_CONNECTION),
    }
}

fn offset(action: Action, offset: Option<i64>) -> Result<i64, Fault> {
    match (action, offset) {
        (Action::ClockOffset, None) => Err(Fault::bad("offset: this action needs seconds")),
        (_, offset) => {
            let offset = offset.unwrap_or_default();
            let limit = u64::from(SECONDS_MAX) * 366;
            let is_sane = offset.unsigned_abs() <= limit;
            is_sane
                .then_some(offset)
                .ok_or_else(|| Fault::bad("offset: is over a year"))
        }
    }
}
