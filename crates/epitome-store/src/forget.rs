//! Forgetting: not a byte is left of it, in contents, words, indexes and the log.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::{Connection, Transaction, params};
use serde::Serialize;

use crate::blob;
use crate::error::StoreError;
use crate::schema::words_of;
use crate::session::Session;
use crate::store::{Store, now};

/// What is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The sessions, by name.
    pub sessions: Vec<String>,
    /// Contents that no other session has.
    pub contents: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Forgets a session. What other sessions say too stays theirs.
    pub fn forget(&self, session: &Session) -> Result<Forgotten, StoreError> {
        self.forget_all(|_| Ok(vec![(session.row, session.name().to_owned())]))
    }

    /// Forgets the sessions that weren't written to for so long.
    pub fn forget_older(&self, than: Duration) -> Result<Forgotten, StoreError> {
        let age = i64::try_from(than.as_millis()).unwrap_or(i64::MAX);
        let since = now().saturating_sub(age);
        let tenant = self.owner()?;
        self.forget_all(|transaction| {
            let mut old = transaction
                .prepare("SELECT n, name FROM session WHERE tenant = ?1 AND touched < ?2")?;
            let rows =
                old.query_map(params![tenant, since], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets sessions, those that weren't written to for longest first, until what is kept of contents
    /// takes no more than so many bytes.
    pub fn forget_over(&self, most: u64) -> Result<Forgotten, StoreError> {
        let mut gone = Forgotten::default();
        while self.stored()?.packed > most {
            let Some(oldest) = self.sessions()?.pop() else { break };
            let one = self.forget(&self.session(&oldest.session)?)?;
            gone.sessions.extend(one.sessions);
            gone.contents += one.contents;
            gone.bytes += one.bytes;
        }
        Ok(gone)
    }

    fn forget_all(
        &self,
        which: impl FnOnce(&Transaction<'_>) -> Result<Vec<(i64, String)>, StoreError>,
    ) -> Result<Forgotten, StoreError> {
        let tenant = self.owner()?;
        let gone = self.write(|transaction| {
            let sessions = which(transaction)?;
            if sessions.is_empty() {
                return Ok(Forgotten::default());
            }
            let words = words_of(tenant);
            for (session, _) in &sessions {
                transaction.execute(
                    &format!("DELETE FROM {words} WHERE rowid IN (SELECT n FROM entry WHERE session = ?1)"),
                    [session],
                )?;
                // Views name inputs; the rest goes with the session.
                transaction.execute("DELETE FROM view WHERE session = ?1", [session])?;
                transaction.execute("DELETE FROM session WHERE n = ?1", [session])?;
            }
            // Merging all of the index is what takes deleted words out of it.
            transaction.execute(&format!("INSERT INTO {words} ({words}) VALUES ('optimize')"), [])?;
            let (contents, bytes) = sweep(transaction, tenant)?;
            let sessions = sessions.into_iter().map(|(_, name)| name).collect();
            Ok(Forgotten { sessions, contents, bytes })
        })?;
        if !gone.sessions.is_empty() {
            self.alone(clean)?;
        }
        Ok(gone)
    }
}

/// Deletes the contents that nothing names any more.
fn sweep(connection: &Connection, tenant: i64) -> Result<(u64, u64), StoreError> {
    let mut named: HashSet<i64> = HashSet::new();
    let lists = [
        "SELECT input.raw FROM input JOIN session ON session.n = input.session WHERE tenant = ?1",
        "SELECT input.text FROM input JOIN session ON session.n = input.session WHERE tenant = ?1",
        "SELECT view.text FROM view JOIN session ON session.n = view.session WHERE tenant = ?1",
    ];
    for query in lists {
        let mut lists = connection.prepare(query)?;
        let mut rows = lists.query([tenant])?;
        while let Some(row) = rows.next()? {
            named.extend(blob::rows(&row.get::<_, Vec<u8>>(0)?)?);
        }
    }
    let mut entries = connection.prepare(
        "SELECT entry.blob FROM entry JOIN session ON session.n = entry.session WHERE tenant = ?1",
    )?;
    for row in entries.query_map([tenant], |row| row.get::<_, i64>(0))? {
        named.insert(row?);
    }
    let mut all = connection.prepare("SELECT n, size FROM blob WHERE tenant = ?1")?;
    let mut delete = connection.prepare("DELETE FROM blob WHERE n = ?1")?;
    let blobs =
        all.query_map([tenant], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let blobs = blobs.collect::<Result<Vec<_>, _>>()?;
    let mut gone = (0, 0);
    for (row, size) in blobs.into_iter().filter(|(row, _)| !named.contains(row)) {
        delete.execute([row])?;
        gone = (gone.0 + 1, gone.1 + size as u64);
    }
    Ok(gone)
}

/// Writes the database anew, and empties the log.
fn clean(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch("VACUUM")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
