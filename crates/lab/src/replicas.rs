//! How many of each service: `credit-worker=3,webhook-ingest=2`. One of each unless told otherwise.

use std::collections::BTreeMap;

use crate::services::SERVICES;

/// Most processes of one service; a laptop has two cores.
const REPLICAS_MAX: usize = 20;

/// How many of each service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replicas(BTreeMap<String, usize>);

/// What is wrong with the text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicasError {
    /// Not `name=number`.
    #[error("{0:?} is not SERVICE=NUMBER")]
    Malformed(String),
    /// No such service.
    #[error("there is no service {0:?}; there are {list}", list = names())]
    Unknown(String),
    /// Not a usable number.
    #[error("{service}: {number:?} is not a number from 1 to {REPLICAS_MAX}")]
    Number {
        /// Of which service.
        service: String,
        /// What was given.
        number: String,
    },
    /// Named twice.
    #[error("{0} is named twice")]
    Twice(String),
}

impl Replicas {
    /// Reads the text of `LAB_REPLICAS`; an empty one is one of each.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, ReplicasError> {
        let mut replicas = Self::default();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|_| !text.trim().is_empty()) {
            let Some((service, number)) = part.split_once('=') else {
                return Err(ReplicasError::Malformed(part.to_owned()));
            };
            let (service, number) = (service.trim().to_owned(), number.trim());
            if !SERVICES.iter().any(|known| known.name == service) {
                return Err(ReplicasError::Unknown(service));
            }
            let parsed = number.parse().ok();
            let Some(count) = parsed.filter(|n| (1..=REPLICAS_MAX).contains(n)) else {
                let number = number.to_owned();
                return Err(ReplicasError::Number { service, number });
            };
            if replicas.0.insert(service.clone(), count).is_some() {
                return Err(ReplicasError::Twice(service));
            }
        }
        Ok(replicas)
    }

    /// How many of this one.
    #[must_use]
    pub fn of(&self, service: &str) -> usize {
        self.0.get(service).copied().unwrap_or(1)
    }
}

fn names() -> String {
    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_read_and_the_rest_is_one() {
        let replicas = Replicas::parse(" credit-worker=3, webhook-ingest = 2").expect("is good");
        assert_eq!(replicas.of("credit-worker"), 3);
        assert_eq!(replicas.of("webhook-ingest"), 2);
        assert_eq!(replicas.of("resolver"), 1);
        assert_eq!(Replicas::parse(""), Ok(Replicas::default()));
        assert_eq!(Replicas::parse(" "), Ok(Replicas::default()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("credit-worker", "\"credit-worker\" is not SERVICE=NUMBER"),
            ("credit-worker=2,", "\"\" is not SERVICE=NUMBER"),
            (
                "credit-worker=0",
                "credit-worker: \"0\" is not a number from 1 to 20",
            ),
            (
                "credit-worker=21",
                "credit-worker: \"21\" is not a number from 1 to 20",
            ),
            (
                "credit-worker=-1",
                "credit-worker: \"-1\" is not a number from 1 to 20",
            ),
            ("resolver=1,resolver=2", "resolver is named twice"),
            (
                "postgres=2",
                "there is no service \"postgres\"; there are webhook-ingest, credit-worker, \
                 resolver, cashier",
            ),
        ] {
            let error = Replicas::parse(text).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
