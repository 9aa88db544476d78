//! What the webhook commands read: headers from the command line, requests from JSON lines.
//!
//! A fault names the field and the kind it should have, never its content: a request holds
//! secrets. One bad line answers for itself and leaves the others alone.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use claimcheck_process::Clock;
use claimcheck_providers::{Config, Delivery, Provider};
use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::output::note;

/// Longest line of a file of requests.
const LINE_MAX: u64 = 64 * 1024 * 1024;
/// Largest body file.
const BODY_MAX: u64 = 64 * 1024 * 1024;

/// One header.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
}

impl Header {
    /// Reads `Name: value`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((name, value)) = text.split_once(':') else {
            return Err("a header is written 'Name: value'".to_owned());
        };
        Ok(Self {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        })
    }
}

/// Headers as a delivery takes them.
pub(super) fn borrowed(headers: &[Header]) -> Vec<(&str, &[u8])> {
    let pairs = headers
        .iter()
        .map(|header| (header.name.as_str(), header.value.as_bytes()));
    pairs.collect()
}

/// Gives `answer` a delivery.
pub(super) fn deliver<T>(
    headers: &[Header],
    body: &[u8],
    now_unix: i64,
    answer: impl FnOnce(&Delivery<'_>) -> T,
) -> T {
    answer(&Delivery::new(&borrowed(headers), body, now_unix))
}

/// Takes a secret off the command line, empty ones too: that they are empty is an answer.
pub(super) fn secret(text: &str) -> Result<SecretString, String> {
    Ok(SecretString::from(text.to_owned()))
}

/// Our time in seconds since 1970, unless another was given.
pub(super) fn now(given: Option<i64>) -> i64 {
    given.unwrap_or_else(|| Clock::system().now().unix_timestamp())
}

/// Reads a body file, or says why not.
pub(super) fn body(path: Option<PathBuf>) -> Option<Vec<u8>> {
    let path = path?;
    let read = File::open(&path).and_then(|file| {
        let mut body = Vec::new();
        file.take(BODY_MAX.saturating_add(1))
            .read_to_end(&mut body)?;
        if body.len() as u64 > BODY_MAX {
            return Err(io::Error::other("it is larger than any webhook body"));
        }
        Ok(body)
    });
    read.map_err(|error| note(&format!("cannot read {}: {error}", path.display())))
        .ok()
}

/// Gives every line that is not blank to `answer`, in order; true if all were answered well.
pub(super) fn each_line(path: &Path, mut answer: impl FnMut(&[u8]) -> bool) -> bool {
    match try_each_line(path, &mut answer) {
        Ok(is_good) => is_good,
        Err(error) => {
            note(&format!("cannot read {}: {error}", path.display()));
            false
        }
    }
}

fn try_each_line(path: &Path, answer: &mut impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut line, mut is_good) = (Vec::new(), true);
    loop {
        line.clear();
        let mut limited = reader.by_ref().take(LINE_MAX);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(is_good);
        }
        if line.len() as u64 == LINE_MAX {
            return Err(io::Error::other("a line is longer than any request"));
        }
        if !line.trim_ascii().is_empty() {
            is_good &= answer(&line);
        }
    }
}

/// A JSON object of a line.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

/// Parses a line.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    let parsed = serde_json::from_slice(line);
    parsed.map_err(|error| {
        let column = error.column();
        format!("the line is not a JSON object (column {column})")
    })
}

impl<'a> Fields<'a> {
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn optional_text(self, name: &str) -> Result<Option<&'a str>, String> {
        let read = |value: &'a Value| value.as_str().ok_or_else(|| format!("{name} is not text"));
        self.get(name).map(read).transpose()
    }

    pub(super) fn text(self, name: &str) -> Result<&'a str, String> {
        self.optional_text(name)?
            .ok_or_else(|| format!("{name} is missing"))
    }

    pub(super) fn time(self, name: &str) -> Result<Option<i64>, String> {
        let read = |value: &Value| {
            let time = value.as_i64();
            time.ok_or_else(|| format!("{name} is not a whole number of seconds"))
        };
        self.get(name).map(read).transpose()
    }

    pub(super) fn list(self, name: &str) -> Result<&'a [Value], String> {
        match self.get(name) {
            None => Ok(&[]),
            Some(value) => value
                .as_array()
                .map(Vec::as_slice)
                .ok_or_else(|| format!("{name} is not a list")),
        }
    }

    pub(super) fn provider(self) -> Result<Provider, String> {
        Provider::from_name(self.text("provider")?).map_err(|error| error.to_string())
    }

    pub(super) fn headers(self) -> Result<Vec<Header>, String> {
        let Some(value) = self.get("headers") else {
            return Ok(Vec::new());
        };
        let fields = value.as_object().ok_or("headers is not an object")?;
        let headers = fields.iter().map(|(name, value)| {
            let value = value
                .as_str()
                .ok_or_else(|| "a header's value is not text".to_owned())?;
            Ok(Header {
                name: name.clone(),
                value: value.to_owned(),
            })
        });
        headers.collect()
    }

    /// The exact body: as text, or as bytes in base64.
    pub(super) fn body(self) -> Result<Vec<u8>, String> {
        if let Some(encoded) = self.optional_text("body_base64")? {
            let decoded = STANDARD.decode(encoded);
            return decoded.map_err(|_| "body_base64 is not base64".to_owned());
        }
        let text = self.optional_text("body")?;
        let text = text.ok_or("there is neither body nor body_base64")?;
        Ok(text.as_bytes().to_vec())
    }

    /// What an operator would have set.
    pub(super) fn config(self) -> Result<Config, String> {
        let mut config = Config::default();
        let Some(value) = self.get("config") else {
            return Ok(config);
        };
        let fields = Fields(value.as_object().ok_or("config is not an object")?);
        if let Some(live) = fields.get("livemode") {
            let live = live.as_bool();
            config.live = Some(live.ok_or("config.livemode is not true or false")?);
        }
        config.account = fields.optional_text("account")?.map(str::to_owned);
        if let Some(seconds) = fields.get("tolerance_s") {
            let seconds = seconds.as_u64();
            let seconds = seconds.ok_or("config.tolerance_s is not a number of seconds")?;
            config.tolerance = Duration::from_secs(seconds);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_name_and_a_value() {
        let header = Header::parse("Stripe-Signature: t=1,v1=a:b ").expect("is a header");
        assert_eq!(header.name, "Stripe-Signature");
        assert_eq!(header.value, "t=1,v1=a:b");
        assert!(Header::parse("nothing").is_err());
    }

    #[test]
    fn a_fault_names_the_field_and_not_what_it_holds() {
        let line = object(br#"{"headers": "hidden", "now": "hidden", "body_base64": "hidden!"}"#);
        let line = line.expect("is an object");
        let fields = Fields(&line);
        let faults = [
            fields.headers().map(drop),
            fields.time("now").map(drop),
            fields.body().map(drop),
            fields.text("secret").map(drop),
        ];
        for fault in faults {
            let fault = fault.expect_err("is wrong");
            assert!(!fault.contains("hidden"), "{fault}");
        }
        let fault = object(b"[\"hidden\"]").expect_err("is no object");
        assert!(!fault.contains("hidden"), "{fault}");
    }
}
