//! Forgetting: not a byte is left of it, in contents, words, indexes and the log.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rusqlite::{Connection, Transaction, params};
use serde::Serialize;

use crate::blob;
use crate::error::StoreError;
use crate::schema::words_of;
use crate::session::Session;
use crate::store::{PATIENCE, Store, now};

/// How long others may go on reading what was forgotten; whoever isn't stuck reads for milliseconds.
const READING: Duration = Duration::from_secs(3);

/// What is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The sessions, by name.
    pub sessions: Vec<String>,
    /// Contents that no other session has.
    pub contents: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether bytes of it stay until another process, which reads them, ends.
    pub is_held: bool,
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
        let tenant = self.owner()?;
        self.forget_all(|transaction| {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            over(transaction, tenant, most)
        })
    }

    fn forget_all(
        &self,
        which: impl FnOnce(&Transaction<'_>) -> Result<Vec<(i64, String)>, StoreError>,
    ) -> Result<Forgotten, StoreError> {
        let tenant = self.owner()?;
        let mut gone = self.write(|transaction| {
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
            Ok(Forgotten { sessions, contents, bytes, is_held: false })
        })?;
        gone.is_held = self.alone(|connection| {
            // What was deleted is overwritten; in the file that is written anew it has no place either.
            let vacuum = if gone.sessions.is_empty() { "" } else { "VACUUM" };
            let shrunk = connection.execute_batch(vacuum);
            let is_held = !is_emptied(connection)?;
            shrunk?;
            Ok(is_held)
        })?;
        Ok(gone)
    }
}

/// The sessions that weren't written to for longest, so many of them that the contents of the others take
/// no more than `most` bytes.
fn over(connection: &Connection, tenant: i64, most: i64) -> Result<Vec<(i64, String)>, StoreError> {
    let mut sizes = connection.prepare("SELECT n, length(bytes) FROM blob WHERE tenant = ?1")?;
    let sizes = sizes.query_map([tenant], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sizes = sizes.collect::<Result<HashMap<i64, i64>, _>>()?;
    let mut all =
        connection.prepare("SELECT n, name FROM session WHERE tenant = ?1 ORDER BY touched, n")?;
    let all = all.query_map([tenant], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all = all.collect::<Result<Vec<(i64, String)>, _>>()?;
    // The newest session that names a content is the one with which it goes.
    let mut newest: HashMap<i64, usize> = HashMap::new();
    for (at, (session, _)) in all.iter().enumerate() {
        newest.extend(named(connection, "session.n", *session)?.into_iter().map(|row| (row, at)));
    }
    let mut goes_with = vec![0; all.len()];
    for (row, at) in newest {
        goes_with[at] += sizes.get(&row).copied().unwrap_or(0);
    }
    let mut kept: i64 = goes_with.iter().sum();
    let mut gone = 0;
    while gone < all.len() && kept > most {
        kept -= goes_with[gone];
        gone += 1;
    }
    Ok(all.into_iter().take(gone).collect())
}

/// The contents that are named by the sessions of which `column` is `value`.
fn named(connection: &Connection, column: &str, value: i64) -> Result<HashSet<i64>, StoreError> {
    let mut named: HashSet<i64> = HashSet::new();
    for list in ["input.raw", "input.text", "view.text"] {
        let (table, _) = list.split_once('.').expect("a table's column");
        let mut lists = connection.prepare_cached(&format!(
            "SELECT {list} FROM {table} JOIN session ON session.n = {table}.session WHERE {column} = ?1"
        ))?;
        let mut rows = lists.query([value])?;
        while let Some(row) = rows.next()? {
            named.extend(blob::rows(&row.get::<_, Vec<u8>>(0)?)?);
        }
    }
    let mut entries = connection.prepare_cached(&format!(
        "SELECT entry.blob FROM entry JOIN session ON session.n = entry.session WHERE {column} = ?1"
    ))?;
    for row in entries.query_map([value], |row| row.get::<_, i64>(0))? {
        named.insert(row?);
    }
    Ok(named)
}

/// Deletes the contents that nothing names any more.
fn sweep(connection: &Connection, tenant: i64) -> Result<(u64, u64), StoreError> {
    let named = named(connection, "session.tenant", tenant)?;
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

/// Writes the log into the database, and empties it unless somebody reads it.
fn is_emptied(connection: &Connection) -> Result<bool, StoreError> {
    connection.busy_timeout(READING)?;
    let is_held: Result<bool, _> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(PATIENCE)?;
    Ok(!is_held?)
}
