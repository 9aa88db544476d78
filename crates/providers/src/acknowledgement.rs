//! What a provider wants to hear back once its message is committed.
//!
//! Nothing here is sent before the commit, and never is it 410: some senders switch an endpoint
//! off on that.

/// An answer in the provider's own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The HTTP status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: &'static str,
}

impl Acknowledgement {
    /// For providers that look at the status alone.
    pub(crate) const ANY_SUCCESS: Self = Self {
        status: 200,
        content_type: "application/json",
        body: r#"{"received":true}"#,
    };
}
