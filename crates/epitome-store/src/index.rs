//! Which entries have a word: a tenant's own index, from words to entries.

use std::fmt::Write as _;

use crate::database::{Connection, Value, values};
use crate::error::StoreError;
use crate::terms::{Terms, Word};

/// Segments of a size that are merged into one of the next: the more, the less often a posting is written anew, and the
/// more segments a question looks into.
const MERGED: i64 = 8;

/// Bytes of new entries' words that SQLite gathers before it writes a segment: all of a batch.
const GATHERED: i64 = 16 << 20;

/// The table of a tenant's words: how often a word occurs is nobody else's business.
fn table(tenant: i64) -> String {
    format!("words_{tenant}")
}

/// Makes the index of a new tenant.
pub(crate) fn make(connection: &Connection, tenant: i64) -> Result<(), StoreError> {
    if let Connection::Postgres(_) = connection {
        return Ok(());
    }
    let table = table(tenant);
    // Neither texts nor places of words are kept: how often a word occurs stands with the entry.
    connection.batch(&format!(
        "CREATE VIRTUAL TABLE {table} USING fts5(words, content='', contentless_delete=1, detail=none,
            tokenize='ascii');
         INSERT INTO {table} ({table}, rank) VALUES ('hashsize', {GATHERED});
         INSERT INTO {table} ({table}, rank) VALUES ('automerge', {MERGED});"
    ))
}

/// Makes a tenant's index anew; it has no entries then.
pub(crate) fn make_anew(connection: &Connection, tenant: i64) -> Result<(), StoreError> {
    if let Connection::Sqlite(_) = connection {
        connection.batch(&format!("DROP TABLE {}", table(tenant)))?;
    }
    make(connection, tenant)
}

/// Indexes entries.
pub(crate) fn insert(
    connection: &Connection,
    tenant: i64,
    entries: &[(i64, &Terms)],
) -> Result<(), StoreError> {
    let (text, sql): (fn(&Terms) -> String, _) = match connection {
        Connection::Sqlite(_) => {
            (tokens, format!("INSERT INTO {} (rowid, words) VALUES (?1, ?2)", table(tenant)))
        }
        Connection::Postgres(_) => (
            |terms| numbers(terms.words()),
            format!(
                "INSERT INTO word (entry, tenant, words)
                 VALUES (?1, {tenant}, CAST(CAST(?2 AS TEXT) AS BIGINT[]))"
            ),
        ),
    };
    let texts: Vec<String> = entries.iter().map(|(_, terms)| text(terms)).collect();
    let all = entries.iter().zip(&texts);
    let all: Vec<_> = all.map(|((n, _), text)| [Value::Int(*n), Value::Text(text)]).collect();
    connection.each(&sql, &all).map_err(StoreError::of_index)?;
    Ok(())
}

/// Words as SQLite's index takes them.
fn tokens(terms: &Terms) -> String {
    let mut text = String::new();
    for word in terms.words() {
        word.write(&mut text);
        text.push(' ');
    }
    text
}

/// Words as PostgreSQL writes a list.
fn numbers(words: impl IntoIterator<Item = Word>) -> String {
    let mut text = String::from("{");
    for word in words {
        let comma = if text.len() == 1 { "" } else { "," };
        write!(text, "{comma}{}", word.number()).expect("a string takes all");
    }
    text.push('}');
    text
}

/// What of a tenant's is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    /// All of it.
    All,
    /// One session, by its row.
    Session(i64),
    /// Sessions that are about this folder.
    Project(&'a str),
}

/// Where entries are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'a> {
    /// Only those of this session.
    pub(crate) session: Option<i64>,
    /// Only those of sessions about this folder.
    pub(crate) project: Option<&'a str>,
    /// The first and the last of them.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// The first and the last entry that is indexed.
pub(crate) fn bounds(connection: &Connection, tenant: i64) -> Result<(i64, i64), StoreError> {
    let (table, n) = match connection {
        Connection::Sqlite(_) => (table(tenant), "rowid"),
        Connection::Postgres(_) => (format!("word WHERE tenant = {tenant}"), "entry"),
    };
    let end = |order: &str| -> Result<i64, StoreError> {
        let sql = format!("SELECT {n} FROM {table} ORDER BY {n} {order} LIMIT 1");
        Ok(connection.one(&sql, &[]).map_err(StoreError::of_index)?.unwrap_or(0))
    };
    Ok((end("ASC")?, end("DESC")?))
}

/// The newest entries that have all of some words, newest first, at most so many.
pub(crate) fn newest(
    connection: &Connection,
    tenant: i64,
    words: &[Word],
    within: Within<'_>,
    most: usize,
) -> Result<Vec<i64>, StoreError> {
    if let Connection::Postgres(_) = connection {
        let words = numbers(words.iter().copied());
        let rows = connection.rows(
            "SELECT entry FROM word
             WHERE tenant = ?1 AND words @> CAST(CAST(?2 AS TEXT) AS BIGINT[]) AND entry BETWEEN ?3 AND ?4
                AND (CAST(?5 AS BIGINT) IS NULL OR EXISTS
                    (SELECT 1 FROM entry WHERE entry.n = word.entry AND entry.session = ?5))
                AND (CAST(?7 AS TEXT) IS NULL OR EXISTS
                    (SELECT 1 FROM entry JOIN session ON session.n = entry.session
                     WHERE entry.n = word.entry AND session.project = ?7))
             ORDER BY entry DESC LIMIT ?6",
            values![
                tenant,
                words.as_str(),
                within.first,
                within.last,
                within.session,
                most,
                within.project,
            ],
        )?;
        return rows.into_iter().map(|mut row| row.take(0)).collect();
    }
    let table = table(tenant);
    let mut question = String::new();
    for word in words {
        let and = if question.is_empty() { "" } else { " AND " };
        write!(question, "{and}\"").expect("a string takes all");
        word.write(&mut question);
        question.push('"');
    }
    let rows = connection
        .rows(
            &format!(
                "SELECT rowid FROM {table} WHERE {table} MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                AND (?4 IS NULL OR EXISTS
                    (SELECT 1 FROM entry WHERE entry.n = {table}.rowid AND entry.session = ?4))
                AND (?6 IS NULL OR EXISTS
                    (SELECT 1 FROM entry JOIN session ON session.n = entry.session
                     WHERE entry.n = {table}.rowid AND session.project = ?6))
             ORDER BY rowid DESC LIMIT ?5"
            ),
            values![
                question.as_str(),
                within.first,
                within.last,
                within.session,
                most,
                within.project,
            ],
        )
        .map_err(StoreError::of_index)?;
    rows.into_iter().map(|mut row| row.take(0)).collect()
}

/// Takes the words of a session out of the index.
pub(crate) fn forget(connection: &Connection, tenant: i64, session: i64) -> Result<(), StoreError> {
    if let Connection::Postgres(_) = connection {
        // They go with their entries.
        return Ok(());
    }
    let table = table(tenant);
    let sql =
        format!("DELETE FROM {table} WHERE rowid IN (SELECT n FROM entry WHERE session = ?1)");
    connection.run(&sql, values![session]).map_err(StoreError::of_index)?;
    Ok(())
}

/// Takes what was deleted out of the index for good: until its segments are merged it stays there.
pub(crate) fn merge(connection: &Connection, tenant: i64) -> Result<(), StoreError> {
    let Connection::Sqlite(_) = connection else { return Ok(()) };
    let table = table(tenant);
    let merged = connection.batch(&format!("INSERT INTO {table} ({table}) VALUES ('optimize')"));
    merged.map_err(StoreError::of_index)
}
