//! The HTTP client of the lab. It talks to loopback only: no proxy of the environment is used.

use std::time::Duration;

use anyhow::Context;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A client for the lab's own servers.
///
/// # Errors
/// It cannot be built.
pub fn client() -> anyhow::Result<reqwest::Client> {
    // Refused only when a provider is installed already, and there is only this one to install.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .timeout(TIMEOUT)
        .build()
        .context("the HTTP client cannot be built")
}

/// Whether a GET is answered with 2xx.
pub(crate) async fn is_good(client: &reqwest::Client, url: &str) -> bool {
    let answer = client.get(url).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}
