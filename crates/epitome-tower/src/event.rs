//! What happened to a request, for logs and meters.

use epitome::engine::receipt::Stats;
use epitome::session::{CacheBreak, CacheUse, Committed, SessionId, StallReason};
use epitome::trigger::Cause;
use epitome::wire::Keeper;
use epitome::{CompactError, Receipt};

/// Why nobody looks at a call of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassReason {
    /// It is no JSON, or has no shape of its format.
    Unread,
    /// A part of its history is only at the provider: it can't be compacted, and its size isn't known.
    Elsewhere(Keeper),
}

/// What became of keeping a conversation, or looking for one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepingEvent {
    /// It is kept.
    Kept,
    /// What is known here was told by another machine, or before a restart: that view is in force.
    Found,
    /// Another machine compacted it at the same time and was first: its view is in force.
    Overtaken,
    /// Where conversations are kept something is wrong: requests go on without.
    Failed(String),
}

/// What happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A request goes out.
    Sent {
        /// Its conversation.
        session: SessionId,
        /// The request as it came and as it is sent, and why.
        stats: Stats,
        /// Whether it is sent byte for byte as it came.
        is_untouched: bool,
        /// Why it doesn't continue what was sent before, if so.
        broke: Option<CacheBreak>,
        /// Why a compaction is due that wasn't begun: nobody asked for it, or it wouldn't help.
        due: Option<Cause>,
    },
    /// The request that is `Sent` next goes out without a compaction that is due, because that failed.
    Uncompacted {
        /// Its conversation.
        session: SessionId,
        /// Why it failed.
        why: String,
    },
    /// The provider told what it read from its cache, and what it had to is known.
    CacheRead {
        /// The conversation.
        session: SessionId,
        /// Tokens.
        used: CacheUse,
    },
    /// A call of a model goes out byte for byte as it came, and nothing is remembered of it.
    Passed {
        /// Why.
        why: PassReason,
    },
    /// A request asks for a summary with which its client begins anew.
    Summary,
    /// A compaction begins; it ends with `Compacted`.
    Begun {
        /// Its conversation.
        session: SessionId,
        /// Why.
        cause: Cause,
    },
    /// A compaction ended.
    Compacted {
        /// Its conversation.
        session: SessionId,
        /// Why it was begun.
        cause: Cause,
        /// What was done, or why nothing was.
        receipt: Result<Box<Receipt>, CompactError>,
        /// Whether its view is in force now.
        committed: Committed,
    },
    /// Code that the caller gave panicked outside a compaction; the call goes on without it.
    Panicked {
        /// What it said.
        what: String,
    },
    /// A trigger fires, but compacting doesn't help; told once.
    StallReason {
        /// Its conversation.
        session: SessionId,
        /// Why.
        why: StallReason,
    },
    /// A conversation was kept beyond the process, or found there.
    Keeping {
        /// What became of it.
        what: KeepingEvent,
    },
    /// The provider refused a prompt as too long. One that is made smaller is `Sent` once more.
    TooLong {
        /// Its conversation.
        session: SessionId,
    },
}
