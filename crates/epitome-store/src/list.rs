//! What is in a store: sessions, sizes, pins.

use epitome::Format;
use rusqlite::params;
use serde::Serialize;

use crate::error::StoreError;
use crate::session::parsed_format;
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
    /// Entries that were said.
    pub entries: u64,
    /// Compactions that were kept.
    pub views: u64,
    /// The one in force; 0 if none is.
    pub head: u64,
    /// The session that it was like, up to some entry.
    pub forked_from: Option<String>,
    /// When it was first seen, in milliseconds since 1970.
    pub made: i64,
    /// When it was last written to.
    pub touched: i64,
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
        let mut all = reading.prepare_cached(
            "SELECT s.name, s.format, s.source, s.entries, s.head, s.made, s.touched, f.name,
                (SELECT count(*) FROM view WHERE view.session = s.n)
             FROM session s LEFT JOIN session f ON f.n = s.forked_from
             WHERE s.tenant = ?1 ORDER BY s.touched DESC, s.n DESC",
        )?;
        let mut rows = all.query([self.tenant])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let format = parsed_format(&row.get::<_, String>(1)?)?;
            sessions.push(Listed {
                session: row.get(0)?,
                format,
                source: row.get(2)?,
                entries: row.get(3)?,
                head: row.get(4)?,
                made: row.get(5)?,
                touched: row.get(6)?,
                forked_from: row.get(7)?,
                views: row.get(8)?,
            });
        }
        Ok(sessions)
    }

    /// What the tenant holds.
    pub fn stored(&self) -> Result<Stored, StoreError> {
        let reading = self.reading()?;
        let mut count = reading.prepare_cached(
            "SELECT (SELECT count(*) FROM session WHERE tenant = ?1),
                (SELECT count(*) FROM entry JOIN session ON session.n = entry.session
                 WHERE session.tenant = ?1),
                (SELECT coalesce(sum(size), 0) FROM blob WHERE tenant = ?1),
                (SELECT coalesce(sum(length(bytes)), 0) FROM blob WHERE tenant = ?1)",
        )?;
        Ok(count.query_row([self.tenant], |row| {
            Ok(Stored {
                sessions: row.get(0)?,
                originals: row.get(1)?,
                bytes: row.get(2)?,
                packed: row.get(3)?,
            })
        })?)
    }

    /// What is pinned, oldest first.
    pub fn pins(&self) -> Result<Vec<Pinned>, StoreError> {
        let reading = self.reading()?;
        let mut all =
            reading.prepare_cached("SELECT n, text, made FROM pin WHERE tenant = ?1 ORDER BY n")?;
        let pins = all.query_map([self.tenant], |row| {
            Ok(Pinned { pin: row.get(0)?, text: row.get(1)?, made: row.get(2)? })
        })?;
        Ok(pins.collect::<Result<_, _>>()?)
    }

    /// Pins a text; the pin that it is, new or not.
    pub fn pin(&self, text: &str) -> Result<i64, StoreError> {
        let tenant = self.owner()?;
        self.write(|transaction| {
            Ok(transaction.query_row(
                "INSERT INTO pin (tenant, text, made) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET text = excluded.text RETURNING n",
                params![tenant, text, now()],
                |row| row.get(0),
            )?)
        })
    }

    /// Unpins a text, named by itself or by its number; whether there was such a pin.
    pub fn unpin(&self, pin: &str) -> Result<bool, StoreError> {
        let tenant = self.owner()?;
        self.write(|transaction| {
            let gone = transaction.execute(
                "DELETE FROM pin WHERE tenant = ?1 AND (text = ?2 OR CAST(n AS TEXT) = ?2)",
                params![tenant, pin],
            )?;
            Ok(gone > 0)
        })
    }
}
