//! Reading what the control side is sent.
//!
//! The rule: an unknown field or filter is an error, never ignored; a login or an amount may be
//! a JSON text or a JSON number, and is read exactly either way.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Fault;
use crate::mt5::money;

/// Beyond 10^15 no balance is believed.
const MONEY_MAX: Decimal = Decimal::from_parts(0xa4c6_8000, 0x0003_8d7e, 0, false, 0);

/// A JSON body.
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| Fault::bad(format!("body: {error}")))
}

/// A login of the body.
pub(super) fn login(value: Option<&Value>) -> Result<u64, Fault> {
    match value {
        Some(Value::String(text)) => login_text(text),
        Some(Value::Number(number)) => login_text(&number.to_string()),
        _ => Err(Fault::bad("login: a whole number is needed")),
    }
}

/// A login of the path or a filter.
pub(super) fn login_text(text: &str) -> Result<u64, Fault> {
    let login = text.parse::<u64>().ok().filter(|login| *login > 0);
    login.ok_or_else(|| Fault::bad(format!("login: {text:?} is not a whole number above 0")))
}

/// An amount of the body, if it is there.
pub(super) fn amount(
    name: &str,
    value: Option<&Value>,
    digits: u32,
) -> Result<Option<Decimal>, Fault> {
    let text = match value {
        None => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => {
            return Err(Fault::bad(format!(
                "{name}: a signed decimal text is needed"
            )));
        }
    };
    let amount = money::parse(&text, digits)
        .map_err(|fault| Fault::bad(format!("{name}: {text:?} {fault}")))?;
    if amount.abs() > MONEY_MAX {
        return Err(Fault::bad(format!(
            "{name}: {text:?} is beyond {MONEY_MAX}"
        )));
    }
    Ok(Some(amount))
}

/// The filters of a query string, of which only these names may occur; an empty one is none.
pub(super) fn filters(query: &str, names: &[&str]) -> Result<BTreeMap<String, String>, Fault> {
    let mut filters = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if !names.contains(&name.as_ref()) {
            return Err(Fault::bad(format!("filter {name:?} is none of {names:?}")));
        }
        if !value.is_empty() {
            filters.insert(name.into_owned(), value.into_owned());
        }
    }
    Ok(filters)
}
