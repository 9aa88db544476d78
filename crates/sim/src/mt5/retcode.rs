//! The return codes this server gives, and the text that follows each.
//!
//! The rule: a client may rely on the number alone. A code without a text here is still sent: a
//! scripted refusal can name any.

/// Success.
pub(super) const DONE: u32 = 0;
/// Wrong or missing parameters.
pub(super) const PARAMETERS: u32 = 3;
/// The manager lacks the right.
pub(super) const PERMISSIONS: u32 = 8;
/// What an error beside empty rows says unless told otherwise.
pub(super) const NO_CONNECTION: u32 = 10;
/// No such account, deal or group on this server.
pub(super) const NOT_FOUND: u32 = 13;
/// The account is disabled.
pub(super) const ACCOUNT_DISABLED: u32 = 1002;
/// More money than one operation may move.
pub(super) const MONEY_LIMIT: u32 = 4005;
/// The account has not so much.
pub(super) const NO_MONEY: u32 = 10_019;
/// This server does not do that.
pub(super) const NOT_IMPLEMENTED: u32 = 12_000;

/// `13 Not found`: a code as it travels.
pub(super) fn text(code: u32) -> String {
    let words = match code {
        DONE => "Done",
        1 => "OK, no data",
        2 => "Common error",
        PARAMETERS => "Invalid parameters",
        4 => "Invalid data",
        5 => "Disk error",
        6 => "Memory error",
        7 => "Network error",
        PERMISSIONS => "Not enough permissions",
        9 => "Timeout",
        NO_CONNECTION => "No connection",
        11 => "No service",
        12 => "Too frequent requests",
        NOT_FOUND => "Not found",
        14 => "Partial answer",
        15 => "Server is shutting down",
        16 => "Canceled",
        17 => "Duplicate",
        1001 => "Invalid account",
        ACCOUNT_DISABLED => "Account disabled",
        1018 => "Server is busy",
        3006 => "Invalid account password",
        4001 => "Order or deal limit",
        4004 => "Deal range exhausted",
        MONEY_LIMIT => "Money limit reached",
        10_006 => "Request rejected",
        10_011 => "Request processing error",
        10_012 => "Request timed out",
        10_013 => "Invalid request",
        10_017 => "Trade disabled",
        NO_MONEY => "No money",
        10_024 => "Too many requests",
        NOT_IMPLEMENTED => "Not implemented",
        _ => "Error",
    };
    format!("{code} {words}")
}
