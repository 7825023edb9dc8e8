//! Forgetting: not a byte is left of it, in contents, words, indexes and the log.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Serialize;

use crate::database::{Connection, Deleted, FromCell, Value, values};
use crate::error::StoreError;
use crate::session::Session;
use crate::store::{Store, now};
use crate::{blob, index, state};

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
    /// Forgets a session and those of its sub-agents. Content that other sessions have too stays theirs.
    pub fn forget(&self, session: &Session) -> Result<Forgotten, StoreError> {
        self.forget_all(|_| Ok(vec![(session.row, session.name().to_owned())]))
    }

    /// Forgets the sessions that weren't written to for so long, and the states that weren't used.
    pub fn forget_older(&self, than: Duration) -> Result<Forgotten, StoreError> {
        let age = i64::try_from(than.as_millis()).unwrap_or(i64::MAX);
        let since = now().saturating_sub(age);
        let tenant = self.owner()?;
        self.forget_all(|transaction| {
            state::forget_unused(transaction, tenant, since)?;
            let old = "SELECT n, name FROM session WHERE tenant = ?1 AND touched < ?2";
            pairs(transaction, old, values![tenant, since])
        })
    }

    /// Forgets sessions, the least recently written first, until the contents take no more than this many bytes.
    pub fn forget_over(&self, most: u64) -> Result<Forgotten, StoreError> {
        let tenant = self.owner()?;
        self.forget_all(|transaction| {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            over(transaction, tenant, most)
        })
    }

    fn forget_all(
        &self,
        which: impl FnOnce(&Connection) -> Result<Vec<(i64, String)>, StoreError>,
    ) -> Result<Forgotten, StoreError> {
        let tenant = self.owner()?;
        let mut gone = self.erase(|transaction| {
            let mut sessions = which(transaction)?;
            if sessions.is_empty() {
                return Ok(Forgotten::default());
            }
            let mut at = 0;
            while let Some((session, _)) = sessions.get(at) {
                let parts = "SELECT n, name FROM session WHERE part_of = ?1";
                let parts: Vec<(i64, String)> = pairs(transaction, parts, values![*session])?;
                let is_new =
                    |part: &(i64, String)| !sessions.iter().any(|(known, _)| *known == part.0);
                let parts: Vec<_> = parts.into_iter().filter(is_new).collect();
                sessions.extend(parts);
                at += 1;
            }
            for (session, _) in &sessions {
                index::forget(transaction, tenant, *session)?;
                transaction.run(
                    "UPDATE tenant SET
                        entries = entries - (SELECT count(*) FROM entry WHERE session = ?2),
                        words = words - (SELECT CAST(coalesce(sum(words), 0) AS BIGINT)
                            FROM entry WHERE session = ?2)
                     WHERE n = ?1",
                    values![tenant, *session],
                )?;
                // Views name inputs; the rest goes with the session.
                transaction.run("DELETE FROM view WHERE session = ?1", values![*session])?;
                transaction.run("DELETE FROM session WHERE n = ?1", values![*session])?;
            }
            index::merge(transaction, tenant)?;
            let (contents, bytes) = sweep(transaction, tenant)?;
            let sessions = sessions.into_iter().map(|(_, name)| name).collect();
            Ok(Forgotten { sessions, contents, bytes, is_held: false })
        })?;
        let deleted = if gone.sessions.is_empty() { Deleted::Nothing } else { Deleted::Something };
        gone.is_held = !self.is_erased(deleted)?;
        Ok(gone)
    }
}

/// Rows of two columns.
fn pairs<A: FromCell, B: FromCell>(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<(A, B)>, StoreError> {
    let rows = connection.rows(sql, values)?.into_iter();
    rows.map(|mut row| Ok((row.take(0)?, row.take(1)?))).collect()
}

/// The sessions that weren't written to for longest, so many of them that the contents of the others take
/// no more than `most` bytes.
fn over(connection: &Connection, tenant: i64, most: i64) -> Result<Vec<(i64, String)>, StoreError> {
    let sizes = "SELECT n, CAST(length(bytes) AS BIGINT) FROM blob WHERE tenant = ?1";
    let sizes: HashMap<i64, i64> = pairs(connection, sizes, values![tenant])?.into_iter().collect();
    let all = "SELECT n, name FROM session WHERE tenant = ?1 ORDER BY touched, n";
    let all: Vec<(i64, String)> = pairs(connection, all, values![tenant])?;
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
        let lists = connection.rows(
            &format!(
                "SELECT {list} FROM {table} JOIN session ON session.n = {table}.session WHERE {column} = ?1"
            ),
            values![value],
        )?;
        for mut row in lists {
            named.extend(blob::rows(&row.take::<Vec<u8>>(0)?)?);
        }
    }
    let entries = connection.rows(
        &format!(
            "SELECT entry.blob FROM entry JOIN session ON session.n = entry.session WHERE {column} = ?1"
        ),
        values![value],
    )?;
    for mut row in entries {
        named.insert(row.take(0)?);
    }
    Ok(named)
}

/// Deletes the contents that nothing names any more.
fn sweep(connection: &Connection, tenant: i64) -> Result<(u64, u64), StoreError> {
    let named = named(connection, "session.tenant", tenant)?;
    let all = "SELECT n, size FROM blob WHERE tenant = ?1";
    let mut all: Vec<(i64, u64)> = pairs(connection, all, values![tenant])?;
    all.retain(|(row, _)| !named.contains(row));
    let rows: Vec<_> = all.iter().map(|(row, _)| [Value::Int(*row)]).collect();
    connection.each("DELETE FROM blob WHERE n = ?1", &rows)?;
    Ok((all.len() as u64, all.iter().map(|(_, size)| size).sum()))
}
