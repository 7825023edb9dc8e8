//! Finding originals: by their id, by words.

use std::collections::HashSet;

use epitome::recall::{Found, asked, searchable_in};
use epitome::text::words::words;
use epitome::transcript::ContentId;
use rusqlite::{OptionalExtension as _, params};

use crate::blob;
use crate::error::StoreError;
use crate::schema::words_of;
use crate::session::{Session, about_of, id_of, parsed_format};
use crate::store::Store;

/// Words of a question beyond these ask for nothing new.
const MOST_WORDS: usize = 64;

/// The words of a text as the index takes them.
pub(crate) fn indexed(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    for word in words(text) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    out
}

/// A question as SQLite's index reads it: any of the words.
fn question(text: &str) -> Option<String> {
    let quoted = asked(text).into_iter().take(MOST_WORDS).map(|word| format!("\"{word}\""));
    let all: Vec<String> = quoted.collect();
    (!all.is_empty()).then(|| all.join(" OR "))
}

impl Store {
    /// The bytes under an id, whatever session they are of.
    pub fn get(&self, id: ContentId) -> Result<Option<String>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let Some(row) = blob::row_of(&reading, tenant, id)? else { return Ok(None) };
        let bytes = blob::read(&reading, row)?;
        let text = String::from_utf8(bytes).map_err(|_| StoreError::damaged("it isn't UTF-8"))?;
        Ok(Some(text))
    }

    /// Originals of all sessions that share a word with `words`, best first, each with its session.
    pub fn search(&self, words: &str, limit: usize) -> Result<Vec<(String, Found)>, StoreError> {
        self.search_in(None, words, limit)
    }

    /// Originals whose id begins like that, oldest first and each once, with the first session that says it.
    pub fn recall(&self, prefix: &str, limit: usize) -> Result<Vec<(String, Found)>, StoreError> {
        self.recall_in(None, prefix, limit)
    }

    pub(crate) fn recall_in(
        &self,
        session: Option<i64>,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(String, Found)>, StoreError> {
        let is_hex = prefix.len() <= 64 && prefix.bytes().all(|b| b.is_ascii_hexdigit());
        let Some(tenant) = self.tenant.filter(|_| is_hex && prefix.len() >= LEAST_PREFIX) else {
            return Ok(Vec::new());
        };
        let reading = self.reading()?;
        let mut find = reading.prepare_cached(
            "SELECT session.name, session.format, entry.entry, entry.about, entry.blob, blob.id, 0.0
             FROM (SELECT min(entry.n) AS n FROM blob JOIN entry ON entry.blob = blob.n
                   WHERE blob.tenant = ?1 AND blob.id >= ?2 AND blob.id <= ?3
                     AND (?5 IS NULL OR entry.session = ?5)
                   GROUP BY blob.n ORDER BY 1 LIMIT ?4) AS first
             JOIN entry ON entry.n = first.n JOIN session ON session.n = entry.session
             JOIN blob ON blob.n = entry.blob ORDER BY entry.n",
        )?;
        let end = |fill: &str| bytes_of(&format!("{prefix}{}", fill.repeat(64 - prefix.len())));
        let values = params![tenant, end("0"), end("f"), limit as i64, session];
        Ok(found(&reading, find.query(values)?, limit)?.0)
    }

    pub(crate) fn search_in(
        &self,
        session: Option<i64>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, Found)>, StoreError> {
        let (Some(tenant), Some(question)) = (self.tenant, question(words)) else {
            return Ok(Vec::new());
        };
        let reading = self.reading()?;
        let table = words_of(tenant);
        let mut find = reading.prepare_cached(&format!(
            "SELECT session.name, session.format, entry.entry, entry.about, entry.blob, blob.id, best.rank
             FROM (SELECT {table}.rowid AS n, {table}.rank AS rank FROM {table}
                   WHERE {table} MATCH ?1
                     AND (?2 IS NULL OR {table}.rowid IN (SELECT n FROM entry WHERE session = ?2))
                   ORDER BY {table}.rank LIMIT ?3) AS best
             JOIN entry ON entry.n = best.n
             JOIN session ON session.n = entry.session
             JOIN blob ON blob.n = entry.blob
             ORDER BY best.rank, entry.n"
        ))?;
        // Forks say much of the same, which is told once.
        let mut most = limit.saturating_mul(2);
        loop {
            let rows =
                find.query(params![question, session, i64::try_from(most).unwrap_or(i64::MAX)])?;
            let (all, rows) = found(&reading, rows, limit)?;
            if all.len() >= limit || rows < most {
                return Ok(all);
            }
            most = most.saturating_mul(4);
        }
    }

    /// The session in which an entry, or a text, was shown by a view: by the whole text, or by its checkpoint.
    pub fn shown_as(&self, id: ContentId) -> Result<Option<(Session, u64)>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let mut find = reading.prepare_cached(
            "SELECT view.session, view.number FROM view JOIN session ON session.n = view.session
             WHERE session.tenant = ?1 AND (view.text_id = ?2 OR view.checkpoint = ?2)
             ORDER BY view.made DESC, view.number DESC LIMIT 1",
        )?;
        let found = find.query_row(params![tenant, id.as_bytes()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        });
        let Some((session, number)) = found.optional()? else { return Ok(None) };
        Ok(Some((Session::at(self, session)?, number as u64)))
    }

    /// The session into which these bytes came.
    pub fn taken_in(&self, raw: ContentId) -> Result<Option<Session>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let mut find = reading.prepare_cached(
            "SELECT session.n FROM input JOIN session ON session.n = input.session
             WHERE session.tenant = ?1 AND input.raw_id = ?2 ORDER BY input.made DESC LIMIT 1",
        )?;
        let found = find.query_row(params![tenant, raw.as_bytes()], |row| row.get::<_, i64>(0));
        found.optional()?.map(|session| Session::at(self, session)).transpose()
    }

    /// A session by its name or the beginning of it.
    pub fn session(&self, name: &str) -> Result<Session, StoreError> {
        let none = || StoreError::NoSuchSession { name: name.to_owned() };
        let tenant = self.tenant.ok_or_else(none)?;
        let reading = self.reading()?;
        let mut find = reading.prepare_cached(
            "SELECT n FROM session WHERE tenant = ?1 AND substr(name, 1, ?3) = ?2 LIMIT 100",
        )?;
        let length = name.chars().count() as i64;
        let rows = find.query_map(params![tenant, name, length], |row| row.get::<_, i64>(0))?;
        match rows.collect::<Result<Vec<_>, _>>()?[..] {
            [] => Err(none()),
            _ if name.len() < LEAST_PREFIX => Err(none()),
            [row] => Session::at(self, row),
            ref several => {
                Err(StoreError::Ambiguous { name: name.to_owned(), count: several.len() })
            }
        }
    }
}

/// Ids and names shorter than this mean anything.
const LEAST_PREFIX: usize = 4;

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16);
    (0..hex.len()).step_by(2).map(|at| digit(at).expect("only such digits come here")).collect()
}

/// What the first rows say, each content once and at most `limit` of them; and how many rows there were.
fn found(
    connection: &rusqlite::Connection,
    mut rows: rusqlite::Rows<'_>,
    limit: usize,
) -> Result<(Vec<(String, Found)>, usize), StoreError> {
    let (mut all, mut count, mut told) = (Vec::new(), 0, HashSet::new());
    while let Some(row) = rows.next()? {
        count += 1;
        if all.len() == limit || !told.insert(row.get::<_, i64>(4)?) {
            continue;
        }
        let format = parsed_format(&row.get::<_, String>(1)?)?;
        let bytes = blob::read(connection, row.get(4)?)?;
        let raw = String::from_utf8_lossy(&bytes);
        let entry: i64 = row.get(2)?;
        let score: f64 = row.get(6)?;
        let found = Found {
            id: id_of(&row.get::<_, Vec<u8>>(5)?)?,
            entry: usize::try_from(entry).unwrap_or(0),
            about: about_of(&row.get::<_, String>(3)?)?,
            // SQLite's is the better the lower it is.
            score: -score,
            words: searchable_in(format, &raw),
        };
        all.push((row.get(0)?, found));
    }
    Ok((all, count))
}
