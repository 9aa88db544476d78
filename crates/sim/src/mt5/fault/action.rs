//! What a fault can do, and to which commands.
//!
//! The rule: the names are the contract's. An action that cannot change a command never strikes
//! it, so its hits stay honest.

use serde::Deserialize;

use crate::mt5::command::Command;

/// What a fault does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::mt5) enum Action {
    /// Connection cut, never applied.
    DropBeforeApply,
    /// Applied, then connection cut.
    ApplyThenDrop,
    /// Connection cut at once, applied later.
    ApplyLate,
    /// Read, never applied, no answer.
    Hang,
    /// Done later.
    Slow,
    /// Done at once, answered later.
    LateReply,
    /// Not applied, answered with a code.
    Refuse,
    /// Applied, success without a ticket.
    NoTicket,
    /// Two answers exchanged.
    SwapReply,
    /// Nothing in the answer.
    EmptyBody,
    /// The page of some proxy.
    HtmlPage,
    /// Another HTTP status.
    HttpStatus,
    /// Records of another login.
    WrongLogin,
    /// No rows beside an error.
    HistoryErrorEmpty,
    /// Young deals are not shown.
    HistoryLag,
    /// A row is missing.
    HistoryPageDrop,
    /// A deal is added after a page.
    HistoryGrows,
    /// Half the comment is stored.
    CommentCut,
    /// Another comment is stored.
    CommentRewrite,
    /// The server's clock is off.
    ClockOffset,
    /// Connects and calls are refused.
    Maintenance,
}

impl Action {
    /// Whether it can change what this command does or answers.
    pub(in crate::mt5) fn suits(self, command: Command) -> bool {
        let is_deals = command.path().starts_with("deal/");
        let is_user = command.path().starts_with("user/");
        let has_rows = matches!(command, Command::DealGetPage | Command::DealGetBatch);
        match self {
            Self::NoTicket | Self::CommentCut | Self::CommentRewrite => {
                command == Command::TradeBalance
            }
            Self::WrongLogin | Self::HistoryErrorEmpty => is_deals || is_user,
            Self::HistoryLag => is_deals,
            Self::HistoryPageDrop | Self::HistoryGrows => has_rows,
            Self::ClockOffset => is_deals || is_user || command == Command::TimeServer,
            Self::DropBeforeApply
            | Self::ApplyThenDrop
            | Self::ApplyLate
            | Self::Hang
            | Self::Slow
            | Self::LateReply
            | Self::Refuse
            | Self::SwapReply
            | Self::EmptyBody
            | Self::HtmlPage
            | Self::HttpStatus
            | Self::Maintenance => true,
        }
    }
}
