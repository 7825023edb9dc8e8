//! What comes in: the bytes, and the conversation that they go on with.

use epitome::checkpoint::look_alikes;
use epitome::text::secrets::masked_document;
use epitome::transcript::{ContentId, Entry, Part};
use epitome::{Request, wire};

use crate::blob::{self, Blobs, pieces};
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
    /// The folder that it is about, or nothing: searches can be kept to those of one.
    pub project: &'a str,
}

impl Store {
    /// Keeps a document whole, in the session that it goes on with; else in a new one. It is on the disk
    /// when this returns; what of it was there before was read back.
    ///
    /// A transcript continues a session that it repeats completely; the last message of the session may have been
    /// incomplete. If only the beginning is the same, from the first human message on, or what a view of it left, it is
    /// a fork of that session.
    ///
    /// # Errors
    /// What the database says; and nothing is kept where something of it that was there before is damaged.
    pub fn take_in(&self, document: &Document<'_>) -> Result<Session, StoreError> {
        self.keep_all(document, Kept::Whole)
    }

    /// Says that a session is that of a sub-agent of another one's; one that is said to be already stays so.
    pub fn belongs(&self, part: &Session, to: &Session) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.run(
                "UPDATE session SET part_of = ?2 WHERE n = ?1 AND n <> ?2 AND part_of IS NULL",
                values![part.row, to.row],
            )
        })?;
        Ok(())
    }

    /// The same with its secrets masked, so that what is had back isn't the same bytes: [`Store::is_redacted`].
    ///
    /// # Errors
    /// As [`Store::take_in`]; and nothing is kept where it can't be read any more with its secrets masked.
    pub fn take_in_redacted(&self, document: &Document<'_>) -> Result<Session, StoreError> {
        let Document { raw, request, source, project } = *document;
        let raw = std::str::from_utf8(raw).map_err(|_| StoreError::Unredactable)?;
        let text = masked_document(request.source()).into_owned();
        let request_now =
            wire::parse(request.format, text).map_err(|_| StoreError::Unredactable)?;
        if request_now.transcript.len() != request.transcript.len() {
            return Err(StoreError::Unredactable);
        }
        let raw = masked_document(raw);
        self.keep_all(
            &Document { raw: raw.as_bytes(), request: &request_now, source, project },
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
            let found = match known(transaction, tenant, document, &links)? {
                Some(session) => Match::Same(session),
                None => find(transaction, tenant, &links, Some(request))?,
            };
            let session = match found {
                Match::Same(session) => session,
                Match::Grown { session, from } => {
                    let gone = "DELETE FROM link WHERE session = ?1 AND entry >= ?2";
                    transaction.run(gone, values![session, from])?;
                    let shorter = "UPDATE session SET entries = ?2 WHERE n = ?1";
                    transaction.run(shorter, values![session, from])?;
                    session
                }
                Match::New { forked_from } => {
                    let first_human = request.transcript.entries().position(|e| e.is_human());
                    let least = first_human.map_or(usize::MAX, |at| at + 1);
                    let parent = forked_from.filter(|(_, shared)| *shared >= least);
                    let name = chain::name(&links, document.raw);
                    let parent = match parent {
                        Some((session, _)) => Some(session),
                        None => went_on_from(transaction, tenant, request)?,
                    };
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
            transaction.run(
                "UPDATE session SET project = ?2 WHERE n = ?1 AND project = ''",
                values![session, document.project],
            )?;
            Store::touch(transaction, session)?;
            Ok((session, input))
        })?;
        Session::with_input(self, session, Some(input))
    }

    /// The session that has all of a transcript, or that it continues.
    pub fn going_on(&self, chain: &Chain) -> Result<Option<Session>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        match find(&*self.reading()?, tenant, &chain.0, None)? {
            Match::Same(session) => Session::at(self, session).map(Some),
            Match::Grown { .. } | Match::New { .. } => Ok(None),
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
    /// From that entry on it said less when it came in last.
    Grown {
        session: i64,
        from: usize,
    },
    New {
        forked_from: Option<(i64, usize)>,
    },
}

/// The session into which just this came already, though it said more since.
fn known(
    connection: &Connection,
    tenant: i64,
    document: &Document<'_>,
    links: &[Link],
) -> Result<Option<i64>, StoreError> {
    let Some(before) = links.len().checked_sub(2) else { return Ok(None) };
    let raw = ContentId::of_bytes(document.raw);
    connection.one(
        "SELECT session.n FROM input JOIN session ON session.n = input.session
            JOIN link ON link.session = session.n AND link.entry = ?4 AND link.chain = ?5
         WHERE session.tenant = ?1 AND input.raw_id = ?2 AND input.entries = ?3 ORDER BY input.n DESC LIMIT 1",
        values![tenant, raw.as_bytes().as_slice(), links.len(), before, &links[before][..]],
    )
}

/// The session of a view that a request continues: a checkpoint shows it.
fn went_on_from(
    connection: &Connection,
    tenant: i64,
    request: &Request,
) -> Result<Option<i64>, StoreError> {
    let mut newest = None;
    for part in look_alikes(&request.transcript) {
        let id = ContentId::of_text(&part.text());
        let found = connection.one(
            "SELECT view.session FROM view JOIN session ON session.n = view.session
             WHERE session.tenant = ?1 AND view.checkpoint = ?2 ORDER BY view.made DESC LIMIT 1",
            values![tenant, id.as_bytes().as_slice()],
        )?;
        newest = found.or(newest);
    }
    Ok(newest)
}

/// Messages that may still be open: a reply, the results of its calls, and what a person said meanwhile.
const OPEN: usize = 4;

/// Sessions that are looked at for one that has grown: forks begin alike.
const LOOKED_AT: usize = 8;

/// The session of which this says all up to an entry, and more of each from there on.
fn grown(
    connection: &Connection,
    tenant: i64,
    links: &[Link],
    from: usize,
    request: &Request,
) -> Result<Option<i64>, StoreError> {
    let Some(last) = from.checked_sub(1) else { return Ok(None) };
    let most = links.len().min(from + OPEN);
    let rows = connection.rows(
        "SELECT session.n, session.entries FROM link JOIN session ON session.n = link.session
         WHERE link.chain = ?1 AND link.entry = ?2 AND session.tenant = ?3
            AND session.entries > ?2 + 1 AND session.entries <= ?4
         ORDER BY session.touched DESC, session.n DESC LIMIT ?5",
        values![&links[last][..], last, tenant, most, LOOKED_AT],
    )?;
    for mut row in rows {
        let (session, entries): (i64, usize) = (row.take(0)?, row.take(1)?);
        let text: Option<Vec<u8>> = connection.one(
            "SELECT text FROM input WHERE session = ?1 AND entries = ?2 ORDER BY n DESC LIMIT 1",
            values![session, entries],
        )?;
        let Some(text) = text else { continue };
        let before = wire::parse(request.format, blob::text(connection, &text)?);
        let Ok(before) = before else { continue };
        let (before, now) = (&before.transcript, &request.transcript);
        let is_so = before.len() == entries
            && (from..entries).all(|at| has_grown(&before.entry(at), &now.entry(at)));
        if is_so {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// Whether a message repeats another one, and may have grown. Human words come whole.
fn has_grown(before: &Entry<'_>, now: &Entry<'_>) -> bool {
    if before.content_id() == now.content_id() {
        return true;
    }
    let is_same = |one: &Part<'_>, other: &Part<'_>| {
        (one.kind(), one.id(), one.name()) == (other.kind(), other.id(), other.name())
            && one.raw_body() == other.raw_body()
    };
    // Results stand in the order of their calls, whichever came first.
    let mut said = now.parts();
    before.role() == now.role()
        && !before.is_human()
        && before.parts().len() < now.parts().len()
        && before.parts().all(|one| said.any(|other| is_same(&one, &other)))
}

/// The session that has all of this, or that this has all of.
fn find(
    connection: &Connection,
    tenant: i64,
    links: &[Link],
    request: Option<&Request>,
) -> Result<Match, StoreError> {
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
    let goes_on = newest.is_some_and(|(_, entries)| entries == known as i64);
    if let (false, Some(request)) = (goes_on, request)
        && let Some(session) = grown(connection, tenant, links, known, request)?
    {
        return Ok(Match::Grown { session, from: known });
    }
    Ok(match newest {
        Some((session, entries)) if entries == known as i64 => Match::Same(session),
        Some((session, _)) => Match::New { forked_from: Some((session, known)) },
        None => Match::New { forked_from: None },
    })
}

/// Adds the newer messages.
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
    let known = connection.row(
        "SELECT n, raw, text FROM input WHERE session = ?1 AND raw_id = ?2",
        values![session, raw_id],
    )?;
    if let Some(mut known) = known {
        let (raw, text): (Vec<u8>, Vec<u8>) = (known.take(1)?, known.take(2)?);
        // Whoever sends it once more relies on it from now on, and a disk may have lost it since.
        if blob::joined(connection, &raw)? != document.raw {
            return Err(StoreError::damaged("an input isn't what its id says"));
        }
        if text != raw {
            blob::joined(connection, &text)?;
        }
        return known.take(0);
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
