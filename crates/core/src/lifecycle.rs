//! The lifecycle of every outside action, as one table of legal moves.
//!
//! The database holds the same table in a trigger and a test compares the two; nothing moves a
//! row along a way that is not written here.

use std::fmt;

/// Where a balance operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Verified, but must not act yet: a person or a later event frees it.
    Held,
    /// May be claimed.
    Pending,
    /// One worker owns it until its lease ends.
    Claimed,
    /// Nobody knows whether MT5 applied it; only the resolver may move it on.
    Unknown,
    /// Applied, with its deal ticket. Final.
    Done,
    /// Definitely refused. Final.
    Failed,
}

/// Why a balance operation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// A worker takes it.
    Claim,
    /// MT5 answered with a ticket.
    Succeed,
    /// MT5, or our check right before sending, definitely refused.
    Refuse,
    /// The sender proves, within its own lease, that not one byte left.
    NotSent,
    /// The call ended without a definite answer.
    LoseTrack,
    /// The lease ran out while claimed.
    Expire,
    /// The deal was found: by the resolver, or by the late answer of the same attempt.
    Find,
    /// It is proved that no deal exists and none can come.
    ProveAbsent,
    /// Proved absent once too often: a person decides about another attempt.
    Exhaust,
    /// Evidence came in that an earlier attempt may have been applied.
    Block,
    /// The reason for holding it is gone.
    Release,
}

/// A move that the table does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an operation that is {from} cannot move by {by:?}")]
pub struct IllegalMove {
    /// Where the operation stands.
    pub from: Status,
    /// The refused move.
    pub by: Move,
}

/// Every legal move: from, by, to.
pub const MOVES: &[(Status, Move, Status)] = &[
    (Status::Held, Move::Release, Status::Pending),
    (Status::Pending, Move::Claim, Status::Claimed),
    (Status::Pending, Move::Block, Status::Held),
    (Status::Claimed, Move::Succeed, Status::Done),
    (Status::Claimed, Move::Refuse, Status::Failed),
    (Status::Claimed, Move::NotSent, Status::Pending),
    (Status::Claimed, Move::LoseTrack, Status::Unknown),
    (Status::Claimed, Move::Expire, Status::Unknown),
    (Status::Unknown, Move::Find, Status::Done),
    (Status::Unknown, Move::ProveAbsent, Status::Pending),
    (Status::Unknown, Move::Exhaust, Status::Held),
];

impl Status {
    /// Every status.
    pub const ALL: &[Self] = &[
        Self::Held,
        Self::Pending,
        Self::Claimed,
        Self::Unknown,
        Self::Done,
        Self::Failed,
    ];

    /// Where a move leads from here.
    ///
    /// # Errors
    /// The table holds no such move.
    pub fn after(self, by: Move) -> Result<Self, IllegalMove> {
        MOVES
            .iter()
            .find(|(from, legal, _)| *from == self && *legal == by)
            .map(|(_, _, to)| *to)
            .ok_or(IllegalMove { from: self, by })
    }

    /// Whether nothing moves a row from here any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }

    /// The name in the database and on our wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Reads the name back.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|status| status.code() == code)
    }
}

impl Move {
    /// Every move.
    pub const ALL: &[Self] = &[
        Self::Claim,
        Self::Succeed,
        Self::Refuse,
        Self::NotSent,
        Self::LoseTrack,
        Self::Expire,
        Self::Find,
        Self::ProveAbsent,
        Self::Exhaust,
        Self::Block,
        Self::Release,
    ];

    /// The name in the history.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Succeed => "succeed",
            Self::Refuse => "refuse",
            Self::NotSent => "not_sent",
            Self::LoseTrack => "lose_track",
            Self::Expire => "expire",
            Self::Find => "find",
            Self::ProveAbsent => "prove_absent",
            Self::Exhaust => "exhaust",
            Self::Block => "block",
            Self::Release => "release",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
