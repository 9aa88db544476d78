//! Where a trade server is and how it is used.
//!
//! The rule: faults are found here, before anything connects, and a password never prints.

use std::time::Duration;

use claimcheck_core::{Login, ServerName};
use hyper::Uri;
use hyper::http::uri::Scheme;
use secrecy::{ExposeSecret, SecretString};

/// Manager sessions to one server, unless set.
pub const SESSIONS_DEFAULT: usize = 4;
/// How long one call may take, unless set.
pub const CALL_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// How long a connection may take to open, unless set.
pub const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
/// After how much silence an idle session is pinged, unless set.
pub const PING_EVERY_DEFAULT: Duration = Duration::from_secs(20);

/// A port that a URL does not name.
const PORT_DEFAULT: u16 = 80;

/// One trade server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Its name in our rows.
    pub name: ServerName,
    /// The base of its Web API, such as `http://127.0.0.1:8443`; commands lie under `/api/` of it.
    pub url: String,
    /// The login of the manager account.
    pub manager: String,
    /// That account's API password.
    pub password: SecretString,
    /// The most connections held at once.
    pub sessions: usize,
    /// How long one call may take, from asking to the last byte of its answer.
    pub call_timeout: Duration,
    /// How long a connection may take to open.
    pub connect_timeout: Duration,
    /// After how much silence an idle session is pinged.
    pub ping_every: Duration,
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsFault {
    /// The URL has another form.
    #[error("mt5.{server}.url: {why}; give the base only, such as http://host:port")]
    Url {
        /// The server's name.
        server: String,
        /// What is wrong.
        why: &'static str,
    },
    /// TLS is asked for.
    #[error("mt5.{server}.url: https is not supported yet; give an http:// base")]
    Https {
        /// The server's name.
        server: String,
    },
    /// The manager is not a login.
    #[error("mt5.{server}.manager: must be the manager's login, a number above zero")]
    Manager {
        /// The server's name.
        server: String,
    },
    /// No password.
    #[error("mt5.{server}.password: must not be empty")]
    Password {
        /// The server's name.
        server: String,
    },
    /// A number or length of zero.
    #[error("mt5.{server}.{setting}: must be above zero")]
    Zero {
        /// The server's name.
        server: String,
        /// The setting.
        setting: &'static str,
    },
}

/// A server's address, read from its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// What is connected to.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
    /// The `Host` header.
    pub(crate) authority: String,
    /// What stands before `/api/`; empty for most.
    pub(crate) prefix: String,
}

impl ServerSettings {
    /// A server with the default limits.
    #[must_use]
    pub fn new(name: ServerName, url: String, manager: String, password: SecretString) -> Self {
        Self {
            name,
            url,
            manager,
            password,
            sessions: SESSIONS_DEFAULT,
            call_timeout: CALL_TIMEOUT_DEFAULT,
            connect_timeout: CONNECT_TIMEOUT_DEFAULT,
            ping_every: PING_EVERY_DEFAULT,
        }
    }

    /// Everything that is wrong with the settings; empty when they can be used.
    #[must_use]
    pub fn faults(&self) -> Vec<SettingsFault> {
        let server = || self.name.to_string();
        let mut faults: Vec<SettingsFault> = self.endpoint().err().into_iter().collect();
        if Login::parse(&self.manager).is_none() {
            faults.push(SettingsFault::Manager { server: server() });
        }
        if self.password.expose_secret().is_empty() {
            faults.push(SettingsFault::Password { server: server() });
        }
        let zeros = [
            ("sessions", self.sessions == 0),
            ("call_timeout", self.call_timeout.is_zero()),
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("ping_every", self.ping_every.is_zero()),
        ];
        for (setting, _) in zeros.into_iter().filter(|(_, is_zero)| *is_zero) {
            faults.push(SettingsFault::Zero {
                server: server(),
                setting,
            });
        }
        faults
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint, SettingsFault> {
        let server = self.name.to_string();
        let fault = |why| SettingsFault::Url {
            server: server.clone(),
            why,
        };
        let uri: Uri = self.url.parse().map_err(|_| fault("is not a URL"))?;
        if uri.scheme() == Some(&Scheme::HTTPS) {
            return Err(SettingsFault::Https { server });
        }
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(fault("must begin with http://"));
        }
        let authority = uri.authority().ok_or_else(|| fault("names no host"))?;
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        if host.is_empty() || authority.as_str().contains('@') {
            return Err(fault("must name a host and nothing else before the port"));
        }
        let names_port = authority.as_str().len() > authority.host().len();
        if uri.query().is_some() || (names_port && authority.port_u16().is_none()) {
            return Err(fault(
                "may not carry a query, and its port must be a number",
            ));
        }
        Ok(Endpoint {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(PORT_DEFAULT),
            authority: authority.as_str().to_owned(),
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> ServerSettings {
        let name = ServerName::parse("live-1").expect("is a slug");
        ServerSettings::new(name, url.to_owned(), "1001".to_owned(), "hunter-2".into())
    }

    #[test]
    fn a_base_url_becomes_an_address() {
        let endpoint = |url| settings(url).endpoint().expect("is a base");
        let plain = endpoint("http://127.0.0.1:8443");
        assert_eq!((plain.host.as_str(), plain.port), ("127.0.0.1", 8443));
        assert_eq!(
            (plain.authority.as_str(), plain.prefix.as_str()),
            ("127.0.0.1:8443", "")
        );
        let deep = endpoint("http://[::1]/live-2/");
        assert_eq!((deep.host.as_str(), deep.port), ("::1", 80));
        assert_eq!(deep.prefix, "/live-2");
    }

    #[test]
    fn another_form_of_url_is_refused() {
        for url in [
            "",
            "x",
            "ftp://h",
            "http://",
            "http://u@h",
            "http://h:x",
            "http://h?a=1",
        ] {
            assert!(
                matches!(settings(url).endpoint(), Err(SettingsFault::Url { .. })),
                "{url}"
            );
        }
        let https = settings("https://h:443").endpoint().expect_err("is TLS");
        assert!(https.to_string().contains("https is not supported yet"));
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let mut wrong = settings("https://h");
        wrong.manager = "boss".to_owned();
        wrong.password = "".into();
        wrong.sessions = 0;
        wrong.call_timeout = Duration::ZERO;
        assert_eq!(wrong.faults().len(), 5);
        assert!(settings("http://h").faults().is_empty());
    }

    #[test]
    fn a_password_never_prints() {
        assert!(!format!("{:?}", settings("http://h")).contains("hunter-2"));
    }
}
