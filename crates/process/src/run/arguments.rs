//! The command line of a service: few words, because everything else is a setting.

use std::{ffi::OsString, path::PathBuf};

use super::shown;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Run(Arguments),
    Help,
    Version,
}

/// How to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) settings: Option<PathBuf>,
    pub(super) check: bool,
}

/// What is wrong with a command line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("unknown argument {0:?}")]
    Unknown(String),
    #[error("--settings wants a file behind it")]
    NoFile,
    #[error("--settings is given twice")]
    Twice,
}

pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, ArgumentError> {
    let mut parsed = Arguments::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let file = match argument.to_str() {
            Some("--help" | "-h") => return Ok(Asked::Help),
            Some("--version" | "-V") => return Ok(Asked::Version),
            Some("--check") => {
                parsed.check = true;
                continue;
            }
            Some("--settings") => arguments.next().ok_or(ArgumentError::NoFile)?,
            Some(other) => match other.strip_prefix("--settings=") {
                Some(file) => OsString::from(file),
                None => return Err(ArgumentError::Unknown(other.to_owned())),
            },
            None => return Err(ArgumentError::Unknown(shown(&argument))),
        };
        if file.is_empty() {
            return Err(ArgumentError::NoFile);
        }
        if parsed.settings.replace(PathBuf::from(file)).is_some() {
            return Err(ArgumentError::Twice);
        }
    }
    Ok(Asked::Run(parsed))
}

pub(super) fn help(name: &str) -> String {
    format!(
        "\
Usage: {name} [--settings FILE] [--check]

  --settings FILE  the settings; without it CLAIMCHECK_SETTINGS names the file
  --check          judge the settings and exit
  --help           this text
  --version        the version

CLAIMCHECK__SECTION__KEY=value in the environment wins over the file.

Exit codes: 0 ended as asked, 1 failed, 2 wrong use, 64 bad settings, 101 panicked."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_understood_or_refused_with_a_reason() {
        let run = |settings: Option<&str>, check| {
            Ok(Asked::Run(Arguments {
                settings: settings.map(PathBuf::from),
                check,
            }))
        };
        let table: Vec<(&[&str], _)> = vec![
            (&[], run(None, false)),
            (&["--settings", "a.toml"], run(Some("a.toml"), false)),
            (&["--settings=a.toml", "--check"], run(Some("a.toml"), true)),
            (&["--check", "--help"], Ok(Asked::Help)),
            (&["-V"], Ok(Asked::Version)),
            (&["--settings"], Err(ArgumentError::NoFile)),
            (&["--settings="], Err(ArgumentError::NoFile)),
            (
                &["--settings", "a", "--settings", "b"],
                Err(ArgumentError::Twice),
            ),
            (
                &["a.toml"],
                Err(ArgumentError::Unknown("a.toml".to_owned())),
            ),
            (
                &["--chek"],
                Err(ArgumentError::Unknown("--chek".to_owned())),
            ),
        ];
        for (arguments, expected) in table {
            let parsed = parse(arguments.iter().map(OsString::from));
            assert_eq!(parsed, expected, "{arguments:?}");
        }
    }
}
