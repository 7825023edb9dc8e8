//! What is in a store: sessions, sizes, pins.

use epitome::Format;
use serde::Serialize;

use crate::database::{Row, values};
use crate::error::StoreError;
use crate::store::{Store, now};

/// A session, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// By what it is called.
    pub session: String,
    /// The format of its requests.
    pub format: Format,
    /// What it was read from last.
    pub source: String,
    /// The folder that it is about; empty where nobody said it.
    pub project: String,
    /// Entries that were said.
    pub entries: u64,
    /// Compactions that were kept.
    pub views: u64,
    /// The one in force; 0 if none is.
    pub head: u64,
    /// The session that it was like, up to some entry, or a view of which it went on from.
    pub forked_from: Option<String>,
    /// The session whose sub-agent it is of.
    pub part_of: Option<String>,
    /// When it was first seen, in milliseconds since 1970.
    pub made: i64,
    /// When it was last written to.
    pub touched: i64,
}

/// A view of a session, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Viewed {
    /// Its number, from 1, in the order of commits.
    pub view: u64,
    /// The view that it followed; 0 for the whole transcript.
    pub parent: u64,
    /// How many entries of the transcript it speaks of.
    pub entries: u64,
    /// When it was made, in milliseconds since 1970.
    pub made: i64,
    /// The receipt of its compaction, as JSON.
    pub receipt: String,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// Sessions.
    pub sessions: u64,
    /// Entries that views hide or edit, over all sessions.
    pub originals: u64,
    /// Bytes of all contents, each once.
    pub bytes: u64,
    /// The same, as they are kept.
    pub packed: u64,
}

/// A text that stays wherever it is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pinned {
    /// By what it is removed.
    pub pin: i64,
    /// What stays.
    pub text: String,
    /// Since when, in milliseconds since 1970.
    pub made: i64,
}

impl Store {
    /// All sessions, the newest first.
    pub fn sessions(&self) -> Result<Vec<Listed>, StoreError> {
        let reading = self.reading()?;
        let all = reading.rows(
            "SELECT s.name, s.format, s.source, s.entries, s.head, s.made, s.touched, f.name,
                (SELECT count(*) FROM view WHERE view.session = s.n), p.name, s.project
             FROM session s LEFT JOIN session f ON f.n = s.forked_from LEFT JOIN session p ON p.n = s.part_of
             WHERE s.tenant = ?1 ORDER BY s.touched DESC, s.n DESC",
            values![self.tenant],
        )?;
        let listed = |mut row: Row| {
            Ok(Listed {
                session: row.take(0)?,
                format: row.take(1)?,
                source: row.take(2)?,
                entries: row.take(3)?,
                head: row.take(4)?,
                made: row.take(5)?,
                touched: row.take(6)?,
                forked_from: row.take(7)?,
                views: row.take(8)?,
                part_of: row.take(9)?,
                project: row.take(10)?,
            })
        };
        all.into_iter().map(listed).collect()
    }

    /// What the tenant holds.
    pub fn stored(&self) -> Result<Stored, StoreError> {
        let reading = self.reading()?;
        let counted = reading.row(
            "SELECT (SELECT count(*) FROM session WHERE tenant = ?1),
                coalesce((SELECT entries FROM tenant WHERE n = ?1), 0),
                (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM blob WHERE tenant = ?1),
                (SELECT CAST(coalesce(sum(length(bytes)), 0) AS BIGINT) FROM blob WHERE tenant = ?1)",
            values![self.tenant],
        )?;
        let mut row = counted.ok_or_else(|| StoreError::damaged("a count is missing"))?;
        Ok(Stored {
            sessions: row.take(0)?,
            originals: row.take(1)?,
            bytes: row.take(2)?,
            packed: row.take(3)?,
        })
    }

    /// What is pinned, oldest first.
    pub fn pins(&self) -> Result<Vec<Pinned>, StoreError> {
        let reading = self.reading()?;
        let all = reading.rows(
            "SELECT n, text, made FROM pin WHERE tenant = ?1 ORDER BY n",
            values![self.tenant],
        )?;
        let pinned =
            |mut row: Row| Ok(Pinned { pin: row.take(0)?, text: row.take(1)?, made: row.take(2)? });
        all.into_iter().map(pinned).collect()
    }

    /// Pins a text; the pin that it is, new or not.
    pub fn pin(&self, text: &str) -> Result<i64, StoreError> {
        let tenant = self.owner()?;
        self.write(|transaction| {
            let pin = transaction.one(
                "INSERT INTO pin (tenant, text, made) VALUES (?1, ?2, ?3)
                 ON CONFLICT (tenant, text) DO UPDATE SET text = excluded.text RETURNING n",
                values![tenant, text, now()],
            )?;
            pin.ok_or_else(|| StoreError::damaged("a pin can't be kept"))
        })
    }

    /// Unpins a text, named by its number, or by itself where no pin has that number; whether there was such a pin.
    pub fn unpin(&self, pin: &str) -> Result<bool, StoreError> {
        let tenant = self.owner()?;
        self.write(|transaction| {
            let of = values![tenant, pin];
            let numbered = "DELETE FROM pin WHERE tenant = ?1 AND CAST(n AS TEXT) = ?2";
            let gone = match transaction.run(numbered, of)? {
                0 => transaction.run("DELETE FROM pin WHERE tenant = ?1 AND text = ?2", of)?,
                gone => gone,
            };
            Ok(gone > 0)
        })
    }
}
