//! What comes in: the bytes, and the conversation that they go on with.

use epitome::text::secrets::masked;
use epitome::transcript::ContentId;
use epitome::{Request, wire};

use crate::blob::Blobs;
use crate::chain::{self, Chain, Link};
use crate::database::{Connection, values};
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
        self.keep_all(document, Kept::Whole)
    }

    /// The same with its secrets masked, so that what is had back isn't the same bytes: [`Store::is_redacted`].
    ///
    /// # Errors
    /// As [`Store::take_in`]; and nothing is kept where it can't be read any more with its secrets masked.
    pub fn take_in_redacted(&self, document: &Document<'_>) -> Result<Session, StoreError> {
        let Document { raw, request, source } = *document;
        let raw = std::str::from_utf8(raw).map_err(|_| StoreError::Unredactable)?;
        let text = masked(request.source()).into_owned();
        let request_now =
            wire::parse(request.format, text).map_err(|_| StoreError::Unredactable)?;
        if request_now.transcript.len() != request.transcript.len() {
            return Err(StoreError::Unredactable);
        }
        let raw = masked(raw);
        self.keep_all(
            &Document { raw: raw.as_bytes(), request: &request_now, source },
            Kept::Redacted,
        )
    }

    /// Whether secrets were masked in what came in and has this digest.
    pub fn is_redacted(&self, raw: ContentId) -> Result<bool, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(false) };
        let found: Option<i64> = self.reading()?.one(
            "SELECT input.n FROM input JOIN session ON session.n = input.session
             WHERE session.tenant = ?1 AND input.raw_id = ?2 AND input.redacted = 1 LIMIT 1",
            values![tenant, raw.as_bytes().as_slice()],
        )?;
        Ok(found.is_some())
    }

    fn keep_all(&self, document: &Document<'_>, kept: Kept) -> Result<Session, StoreError> {
        let tenant = self.owner()?;
        let request = document.request;
        let Chain(links) = Chain::of(request);
        let (session, input) = self.write(|transaction| {
            let found = find(transaction, tenant, &links)?;
            let session = match found {
                Match::Same(session) => session,
                Match::New { forked_from } => {
                    let first_human = request.transcript.entries().position(|e| e.is_human());
                    let least = first_human.map_or(usize::MAX, |at| at + 1);
                    let parent = forked_from.filter(|(_, shared)| *shared >= least);
                    let name = chain::name(&links, document.raw);
                    let parent = parent.map(|(session, _)| session);
                    let (format, source) = (request.format.name(), document.source);
                    let made = transaction.one(
                        "INSERT INTO session (tenant, name, format, source, entries, forked_from, made, touched)
                         VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?6)
                         ON CONFLICT (tenant, name) DO UPDATE SET touched = excluded.touched RETURNING n",
                        values![tenant, name.as_str(), format, source, parent, now()],
                    )?;
                    made.ok_or_else(|| StoreError::damaged("a session can't be made"))?
                }
            };
            extend(transaction, session, &links)?;
            let input = keep(transaction, tenant, session, document, kept)?;
            Store::touch(transaction, session)?;
            Ok((session, input))
        })?;
        Session::with_input(self, session, Some(input))
    }

    /// The session in which all of a transcript is said, or that it goes on with.
    pub fn going_on(&self, chain: &Chain) -> Result<Option<Session>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        match find(&*self.reading()?, tenant, &chain.0)? {
            Match::Same(session) => Session::at(self, session).map(Some),
            Match::New { .. } => Ok(None),
        }
    }
}

/// How what comes in is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Whole,
    Redacted,
}

enum Match {
    Same(i64),
    New { forked_from: Option<(i64, usize)> },
}

/// The session that says all of this, or of which this says all.
fn find(connection: &Connection, tenant: i64, links: &[Link]) -> Result<Match, StoreError> {
    let at = |entry: usize| -> Result<Option<(i64, i64)>, StoreError> {
        let found = connection.row(
            "SELECT session.n, session.entries FROM link JOIN session ON session.n = link.session
             WHERE link.chain = ?1 AND link.entry = ?2 AND session.tenant = ?3
             ORDER BY session.entries = ?2 + 1 DESC, session.touched DESC, session.n DESC LIMIT 1",
            values![&links[entry][..], entry, tenant],
        )?;
        found.map(|mut row| Ok((row.take(0)?, row.take(1)?))).transpose()
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
    let known: Option<usize> =
        connection.one("SELECT entries FROM session WHERE n = ?1", values![session])?;
    let new = links.iter().enumerate().skip(known.unwrap_or(0));
    let new: Vec<_> =
        new.map(|(entry, link)| [session.into(), entry.into(), link[..].into()]).collect();
    connection.each("INSERT INTO link (session, entry, chain) VALUES (?1, ?2, ?3)", &new)?;
    connection.run(
        "UPDATE session SET entries = ?2 WHERE n = ?1 AND entries < ?2",
        values![session, links.len()],
    )?;
    Ok(())
}

/// Keeps the bytes, and the request that was read in them; their row.
fn keep(
    connection: &Connection,
    tenant: i64,
    session: i64,
    document: &Document<'_>,
    kept: Kept,
) -> Result<i64, StoreError> {
    let raw_id = ContentId::of_bytes(document.raw);
    let raw_id = raw_id.as_bytes().as_slice();
    let known = connection
        .one("SELECT n FROM input WHERE session = ?1 AND raw_id = ?2", values![session, raw_id])?;
    if let Some(input) = known {
        return Ok(input);
    }
    let mut blobs = Blobs::new(connection, tenant)?;
    let text = blobs.list(pieces(document.request))?;
    let raw = if document.raw == document.request.source().as_bytes() {
        text.clone()
    } else {
        blobs.list(document.raw.split_inclusive(|byte| *byte == b'\n'))?
    };
    let made = connection.one(
        "INSERT INTO input (session, entries, raw_id, raw, text, made, redacted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING n",
        values![
            session,
            document.request.transcript.len(),
            raw_id,
            &raw[..],
            &text[..],
            now(),
            i64::from(kept == Kept::Redacted),
        ],
    )?;
    made.ok_or_else(|| StoreError::damaged("an input can't be kept"))
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
