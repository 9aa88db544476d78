//! Which commands a fault is set on: one, all below a prefix, or all.
//!
//! The rule: a pattern that can match no command is refused when it is set.

use crate::mt5::command::Command;

/// A command, a prefix `deal/*`, or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mt5) enum Pattern {
    /// Every command.
    All,
    /// Every command whose name begins so, the slash included.
    Below(String),
    /// One command.
    One(Command),
}

impl Pattern {
    pub(in crate::mt5) fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let Some(prefix) = text.strip_suffix('*') else {
            return Command::parse(text).map(Self::One);
        };
        let pattern = prefix
            .ends_with('/')
            .then(|| Self::Below(prefix.to_owned()))?;
        let known = Command::ALL.iter().any(|command| pattern.matches(*command));
        known.then_some(pattern)
    }

    pub(in crate::mt5) fn matches(&self, command: Command) -> bool {
        match self {
            Self::All => true,
            Self::Below(prefix) => command.path().starts_with(prefix.as_str()),
            Self::One(one) => *one == command,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_prefixes_and_the_star_are_patterns() {
        let matched = |text: &str| {
            let pattern = Pattern::parse(text).expect("is a pattern");
            Command::ALL
                .iter()
                .filter(|command| pattern.matches(**command))
                .count()
        };
        assert_eq!(matched("trade/balance"), 1);
        assert_eq!(matched("deal/*"), 4);
        assert_eq!(matched("user/account/*"), 1);
        assert_eq!(matched("*"), Command::ALL.len());
    }

    #[test]
    fn what_matches_nothing_is_no_pattern() {
        for text in [
            "",
            "deal",
            "deal*",
            "deals/*",
            "/*",
            "**",
            "trade/balance/*",
            "server/restart",
        ] {
            assert_eq!(Pattern::parse(text), None, "{text}");
        }
    }
}
