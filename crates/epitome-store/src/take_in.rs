//! What comes in: the bytes, and the conversation that they go on with.

use epitome::Request;
use epitome::transcript::ContentId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::blob::Blobs;
use crate::chain::{self, Link};
use crate::error::StoreError;
use crate::session::Session;
use crate::store::{Store, now};

/// Something that is to be compacted.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The bytes, as they stand in the file.
    pub raw: &'a [u8],
    /// What was read in them.
    pub request: &'a Request,
    /// What to call it: the file, or nothing.
    pub source: &'a str,
}

impl Store {
    /// Keeps a document whole, in the session that it goes on with; else in a new one. It is on the disk
    /// when this returns.
    ///
    /// A session goes on where everything that was said in it is said again, and more may follow. Where
    /// only the beginning is, from the first human message on, it is a fork of that session.
    pub fn take_in(&self, document: &Document<'_>) -> Result<Session, StoreError> {
        let tenant = self.owner()?;
        let request = document.request;
        let links = chain::of(request);
        let (session, input) = self.write(|transaction| {
            let found = find(transaction, tenant, &links)?;
            let session = match found {
                Match::Same(session) => session,
                Match::New { forked_from } => {
                    let first_human = request.transcript.entries().position(|e| e.is_human());
                    let least = first_human.map_or(usize::MAX, |at| at + 1);
                    let parent = forked_from.filter(|(_, shared)| *shared >= least);
                    let name = chain::name(&links, document.raw);
                    let mut insert = transaction.prepare_cached(
                        "INSERT INTO session (tenant, name, format, source, entries, forked_from, made, touched)
                         VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?6)
                         ON CONFLICT DO UPDATE SET touched = excluded.touched RETURNING n",
                    )?;
                    let parent = parent.map(|(session, _)| session);
                    let (format, source) = (request.format.name(), document.source);
                    let values = params![tenant, name, format, source, parent, now()];
                    insert.query_row(values, |row| row.get(0))?
                }
            };
            extend(transaction, session, &links)?;
            let input = keep(transaction, tenant, session, document)?;
            Store::touch(transaction, session)?;
            Ok((session, input))
        })?;
        Session::with_input(self, session, Some(input))
    }
}

enum Match {
    Same(i64),
    New { forked_from: Option<(i64, usize)> },
}

/// The session that says all of this, or of which this says all.
fn find(connection: &Connection, tenant: i64, links: &[Link]) -> Result<Match, StoreError> {
    let mut with = connection.prepare_cached(
        "SELECT session.n, session.entries FROM link JOIN session ON session.n = link.session
         WHERE link.chain = ?1 AND link.entry = ?2 AND session.tenant = ?3
         ORDER BY session.entries = ?2 + 1 DESC, session.touched DESC, session.n DESC LIMIT 1",
    )?;
    let mut at = |entry: usize| {
        let values = params![links[entry], entry as i64, tenant];
        let found = with.query_row(values, |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)));
        found.optional()
    };
    let Some(last) = links.len().checked_sub(1) else {
        return Ok(Match::New { forked_from: None });
    };
    if let Some((session, _)) = at(last)? {
        return Ok(Match::Same(session));
    }
    // Whoever knows an entry's link knows all before it, so the last one that is known is found by halving.
    let (mut known, mut unknown) = (0, last);
    while known < unknown {
        let middle = usize::midpoint(known, unknown);
        if at(middle)?.is_some() {
            known = middle + 1;
        } else {
            unknown = middle;
        }
    }
    let newest = if known == 0 { None } else { at(known - 1)? };
    Ok(match newest {
        Some((session, entries)) if entries == known as i64 => Match::Same(session),
        Some((session, _)) => Match::New { forked_from: Some((session, known)) },
        None => Match::New { forked_from: None },
    })
}

/// Says what was said since.
fn extend(connection: &Connection, session: i64, links: &[Link]) -> Result<(), StoreError> {
    let known: i64 =
        connection
            .query_row("SELECT entries FROM session WHERE n = ?1", [session], |r| r.get(0))?;
    let mut insert = connection
        .prepare_cached("INSERT INTO link (session, entry, chain) VALUES (?1, ?2, ?3)")?;
    for (entry, link) in links.iter().enumerate().skip(usize::try_from(known).unwrap_or(0)) {
        insert.execute(params![session, entry as i64, link])?;
    }
    connection.execute(
        "UPDATE session SET entries = max(entries, ?2) WHERE n = ?1",
        params![session, links.len() as i64],
    )?;
    Ok(())
}

/// Keeps the bytes, and the request that was read in them; their row.
fn keep(
    connection: &Connection,
    tenant: i64,
    session: i64,
    document: &Document<'_>,
) -> Result<i64, StoreError> {
    let raw_id = ContentId::of_bytes(document.raw);
    let mut known =
        connection.prepare_cached("SELECT n FROM input WHERE session = ?1 AND raw_id = ?2")?;
    let known = known.query_row(params![session, raw_id.as_bytes()], |row| row.get(0));
    if let Some(input) = known.optional()? {
        return Ok(input);
    }
    let mut blobs = Blobs::new(connection, tenant)?;
    let text = blobs.list(pieces(document.request))?;
    let raw = if document.raw == document.request.source().as_bytes() {
        text.clone()
    } else {
        blobs.list(document.raw.split_inclusive(|byte| *byte == b'\n'))?
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO input (session, entries, raw_id, raw, text, made) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let entries = document.request.transcript.len() as i64;
    insert.execute(params![session, entries, raw_id.as_bytes(), raw, text, now()])?;
    Ok(connection.last_insert_rowid())
}

/// A request in pieces: entries, which are shared with other versions of it, and what is between.
pub(crate) fn pieces(request: &Request) -> impl Iterator<Item = &[u8]> {
    let source = request.source().as_bytes();
    let mut at = 0;
    let mut entries = request.transcript.entries();
    let mut waiting: Option<&[u8]> = None;
    let mut is_over = false;
    std::iter::from_fn(move || {
        if let Some(piece) = waiting.take() {
            return Some(piece);
        }
        if is_over {
            return None;
        }
        let Some(entry) = entries.next() else {
            is_over = true;
            return Some(&source[at..]);
        };
        let span = entry.span().range();
        let between = &source[at..span.start];
        at = span.end;
        waiting = Some(&source[span]);
        Some(between)
    })
}
