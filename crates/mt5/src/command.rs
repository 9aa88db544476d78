//! Every command this crate can send.
//!
//! The rule: the list is closed. What can harm (deleting deals, rewriting a balance from history,
//! restarting a server) has no name here and can therefore not be sent.

use hyper::Method;
use tracing::Span;

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $name:ident = $path:literal,)+) => {
        /// A command of the Web API.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Command {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name,)+
        }

        impl Command {
            /// Its name on the wire, below `/api/`.
            pub(crate) fn path(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$name => $path,)+
                }
            }

            /// The span of one call.
            pub(crate) fn span(self, server: &str) -> Span {
                match self {
                    $($(#[cfg($cfg)])? Self::$name => {
                        tracing::info_span!(concat!("mt5.", $path), server, command = $path)
                    })+
                }
            }
        }
    };
}

commands! {
    /// Begins a login.
    AuthStart = "auth/start",
    /// Ends a login.
    AuthAnswer = "auth/answer",
    /// Keeps an idle session.
    TestAccess = "test/access",
    /// Ends a session.
    Quit = "quit",
    /// Reads the server's clock.
    TimeServer = "time/server",
    /// Reads an account.
    UserGet = "user/get",
    /// Reads a group.
    GroupGet = "group/get",
    /// Counts the deals of an account in a window.
    DealGetTotal = "deal/get_total",
    /// Reads some of those deals.
    DealGetPage = "deal/get_page",
    /// Moves money.
    #[cfg(feature = "operate")]
    TradeBalance = "trade/balance",
}

impl Command {
    /// How it is sent. What moves money is a POST, so that nothing on the way takes it for a read
    /// that may be repeated.
    pub(crate) fn method(self) -> Method {
        match self {
            #[cfg(feature = "operate")]
            Self::TradeBalance => Method::POST,
            _ => Method::GET,
        }
    }
}
