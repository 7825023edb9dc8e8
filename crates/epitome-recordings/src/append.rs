//! What the rows have in common that are put behind a recording.

use std::fmt::Write as _;

use epitome::text::time::rfc3339;
use epitome::transcript::ContentId;
use epitome::wire::Request;
use epitome::wire::json::quote;

/// The member that marks rows as written here.
pub(crate) const MARK: &str = "epitome";

/// Where the originals of a compaction are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The session of an archive.
    pub session: String,
    /// The view in it.
    pub view: u64,
}

/// What the agent is to be shown.
pub struct Shown {
    pub(crate) view: Request,
    /// Tokens before the compaction, for the agent's own records.
    pub(crate) before: u64,
}

/// What the new rows are named and dated by.
pub struct Stamp {
    seed: ContentId,
    /// When, in milliseconds since 1970.
    pub(crate) millis: u64,
    /// The same, in words.
    pub(crate) time: String,
    /// What the mark of the compaction says.
    pub(crate) mark: String,
}

impl Stamp {
    pub(crate) fn of(source: &str, archived: &Archived, at: u64) -> Self {
        let Archived { session, view } = archived;
        Stamp {
            seed: ContentId::of_bytes(source.as_bytes()),
            millis: at,
            time: rfc3339(at),
            mark: format!("{{\"session\":{},\"view\":{view}}}", quote(session)),
        }
    }

    /// Digits that no other row has: the same for the same recording, because nothing here is random.
    pub(crate) fn hex(&self, row: usize, digits: usize) -> String {
        let seed = self.seed.as_bytes();
        let mut named = seed.to_vec();
        named.extend_from_slice(&(row as u64).to_le_bytes());
        let digest = ContentId::of_bytes(&named);
        let mut hex = String::with_capacity(64);
        for byte in digest.as_bytes() {
            write!(hex, "{byte:02x}").expect("a string takes all");
        }
        hex.truncate(digits);
        hex
    }

    /// The same, as a UUID.
    pub(crate) fn uuid(&self, row: usize) -> String {
        let hex = self.hex(row, 32);
        let (a, b, c) = (&hex[..8], &hex[8..12], &hex[13..16]);
        format!("{a}-{b}-4{c}-a{}-{}", &hex[17..20], &hex[20..32])
    }
}
