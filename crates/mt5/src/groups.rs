//! What was read about groups, kept for a moment.
//!
//! The rule: an account is read afresh before every operation; only its group's currency and
//! places, which a group with accounts does not change, may be a few seconds old.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a group's data is believed.
const AGE_MAX: Duration = Duration::from_secs(15);
/// The most groups kept.
const GROUPS_MAX: usize = 1024;

/// What an operation needs to know about a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its currency, as the server writes it.
    pub(crate) currency: String,
    /// Decimal places it keeps.
    pub(crate) digits: u32,
}

/// The groups of one server.
#[derive(Debug, Default)]
pub(crate) struct Groups(Mutex<HashMap<String, (Instant, Group)>>);

impl Groups {
    /// A group that was read a moment ago.
    pub(crate) fn get(&self, name: &str) -> Option<Group> {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, group) = groups.get(name)?;
        (read_at.elapsed() < AGE_MAX).then(|| group.clone())
    }

    /// Keeps a group. `read_at` is the moment before it was asked for.
    pub(crate) fn put(&self, name: &str, read_at: Instant, group: Group) {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= GROUPS_MAX {
            groups.clear();
        }
        groups.insert(name.to_owned(), (read_at, group));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_believed_for_a_moment_only() {
        let groups = Groups::default();
        let group = Group {
            currency: "USD".to_owned(),
            digits: 2,
        };
        groups.put("real", Instant::now(), group.clone());
        assert_eq!(groups.get("real"), Some(group.clone()));
        assert_eq!(groups.get("demo"), None);
        let long_ago = Instant::now()
            .checked_sub(AGE_MAX)
            .expect("the machine is up that long");
        groups.put("real", long_ago, group);
        assert_eq!(groups.get("real"), None);
    }
}
