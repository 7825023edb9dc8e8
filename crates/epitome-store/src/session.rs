//! One conversation: its originals and its views.

use std::collections::HashSet;

use epitome::archive::FoundOriginal;
use epitome::archive::{Archive, ArchiveError, EntryContext, KeptView, Original, Shown};
use epitome::transcript::ContentId;
use epitome::{Format, Request, View, wire};

use crate::blob::{self, Blobs, packed_text, pieces, unpacked_text};
use crate::database::{Connection, Row, Value, values};
use crate::error::StoreError;
use crate::index::{self, Scope};
use crate::list::Viewed;
use crate::schema;
use crate::store::{Store, now};
use crate::terms::Terms;

/// One conversation in a store.
#[derive(Clone, Debug)]
pub struct Session {
    store: Store,
    pub(crate) row: i64,
    name: String,
    format: Format,
    /// What was taken in, where it was: views are made from that.
    input: Option<i64>,
}

impl Session {
    pub(crate) fn at(store: &Store, row: i64) -> Result<Self, StoreError> {
        Session::with_input(store, row, None)
    }

    pub(crate) fn with_input(
        store: &Store,
        row: i64,
        input: Option<i64>,
    ) -> Result<Self, StoreError> {
        let reading = store.reading()?;
        let found = reading.row("SELECT name, format FROM session WHERE n = ?1", values![row])?;
        let mut found = found.ok_or_else(forgotten)?;
        let (name, format) = (found.take(0)?, found.take(1)?);
        Ok(Session { store: store.clone(), row, name, format, input })
    }

    /// By what it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of its requests.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The bytes that view `number` was made from.
    pub fn input_of(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.input(
            "SELECT input.raw FROM view JOIN input ON input.n = view.input
             WHERE view.session = ?1 AND view.number = ?2",
            number,
        )
    }

    /// Whether view `number` was made from just what this session was opened with.
    pub fn is_of_input(&self, number: u64) -> Result<bool, StoreError> {
        let reading = self.store.reading()?;
        let found = reading.row(
            "SELECT number FROM view WHERE session = ?1 AND number = ?2 AND input = ?3",
            values![self.row, number as i64, self.input],
        )?;
        Ok(found.is_some())
    }

    /// The bytes that came in last.
    pub fn newest_input(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.input(
            "SELECT raw FROM input WHERE session = ?1 AND CAST(?2 AS BIGINT) = 0 ORDER BY entries DESC, n DESC LIMIT 1",
            0,
        )
    }

    fn input(&self, query: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let reading = self.store.reading()?;
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        let list: Option<Vec<u8>> = reading.one(query, values![self.row, number])?;
        list.map(|list| blob::joined(&reading, &list)).transpose()
    }

    /// Its originals whose id begins like that, oldest first.
    pub fn recall(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        self.store.recall_in(Some(self.row), prefix, limit)
    }

    /// Its originals that share a word with `words`, best first.
    pub fn search_words(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        self.store.search_in(Scope::Session(self.row), words, limit)
    }

    /// Its views, oldest first, each with its receipt.
    pub fn views(&self) -> Result<Vec<Viewed>, StoreError> {
        self.viewed(None)
    }

    /// The view in force, with its receipt; `None` if the original is.
    pub fn in_force(&self) -> Result<Option<Viewed>, StoreError> {
        let head = head(&*self.store.reading()?, self.row)?;
        Ok(self.viewed(Some(head))?.pop())
    }

    fn viewed(&self, only: Option<u64>) -> Result<Vec<Viewed>, StoreError> {
        let reading = self.store.reading()?;
        let only = only.and_then(|number| i64::try_from(number).ok());
        let views = reading.rows(
            "SELECT number, parent, entries, made, receipt FROM view
             WHERE session = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR number = ?2) ORDER BY number",
            values![self.row, only],
        )?;
        let viewed = |mut row: Row| {
            let receipt: Vec<u8> = row.take(4)?;
            Ok(Viewed {
                view: row.take(0)?,
                parent: row.take(1)?,
                entries: row.take(2)?,
                made: row.take(3)?,
                receipt: unpacked_text(&receipt)?,
            })
        };
        views.into_iter().map(viewed).collect()
    }

    /// The messages to show with view `number` (0: everything) in force: those of the view, and all newer ones.
    pub fn shown_with(&self, number: u64) -> Result<Request, StoreError> {
        let reading = self.store.reading()?;
        let newest: Option<Vec<u8>> = reading.one(
            "SELECT text FROM input WHERE session = ?1 ORDER BY entries DESC, n DESC LIMIT 1",
            values![self.row],
        )?;
        let list = newest.ok_or_else(forgotten)?;
        let whole = parsed(self.format, blob::text(&reading, &list)?)?;
        let view = self.view(number).map_err(|error| StoreError::damaged(error.to_string()))?;
        let Some(KeptView { shown, .. }) = view else { return Ok(whole) };
        let request = parsed(self.format, shown.text)?;
        Ok(wire::repair(&parsed(self.format, continued(&request, &whole, shown.entries))?).request)
    }

    /// Keeps a view's row.
    fn keep(
        &self,
        connection: &Connection,
        number: i64,
        parent: u64,
        shown: &Shown,
    ) -> Result<(), StoreError> {
        let mut blobs = Blobs::new(connection, self.store.owner()?)?;
        let text = match wire::parse(self.format, shown.text.clone()) {
            Ok(request) => blobs.list(pieces(&request))?,
            Err(_) => blobs.list([shown.text.as_bytes()])?,
        };
        let fates = serde_json::to_string(&shown.view)
            .map_err(|error| StoreError::damaged(format!("a view can't be written: {error}")))?;
        let text_id = ContentId::of_text(&shown.text);
        connection.run(
            "INSERT INTO view (session, number, parent, input, entries, text_id, text, fates, receipt, checkpoint, made)
             VALUES (?1, ?2, ?3, coalesce(?11,
                (SELECT n FROM input WHERE session = ?1 AND entries = ?4 ORDER BY n DESC LIMIT 1)),
                ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            values![
                self.row,
                number,
                parent as i64,
                shown.entries,
                text_id.as_bytes().as_slice(),
                &text[..],
                &packed_text(&fates)[..],
                &packed_text(&shown.receipt)[..],
                shown.checkpoint.as_ref().map(|id| id.as_bytes().as_slice()),
                now(),
                self.input,
            ],
        )?;
        Ok(())
    }

    /// Keeps originals and indexes their words.
    fn keep_originals(
        &self,
        connection: &Connection,
        originals: &[Original],
    ) -> Result<(), StoreError> {
        let tenant = self.store.owner()?;
        // Before all else, so that nothing of a session is kept that somebody has forgotten.
        Store::touch(connection, self.row)?;
        let contents: Vec<_> =
            originals.iter().map(|original| (original.id, original.bytes.as_bytes())).collect();
        let blobs = Blobs::new(connection, tenant)?.put(&contents)?;
        let wanted: Vec<_> =
            blobs.iter().map(|blob| [self.row.into(), Value::Int(*blob)]).collect();
        let known = connection
            .each("SELECT n FROM entry WHERE session = ?1 AND blob = ?2", &wanted)?
            .into_iter()
            .map(|rows| !rows.is_empty());
        let mut seen = HashSet::new();
        let new: Vec<New<'_>> = originals
            .iter()
            .zip(&blobs)
            .zip(known)
            .filter(|((_, blob), known)| !known && seen.insert(**blob))
            .map(|((original, blob), _)| New::of(original, *blob))
            .collect();
        let rows: Vec<_> = new.iter().map(|new| new.values(self.row)).collect();
        let made = connection.each(
            "INSERT INTO entry (session, blob, entry, about, words, counts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING n",
            &rows,
        )?;
        let made = made.into_iter().flatten().zip(&new);
        let made = made.map(|(mut row, new)| Ok((row.take(0)?, &new.terms)));
        let made = made.collect::<Result<Vec<_>, StoreError>>()?;
        index::insert(connection, tenant, &made)?;
        schema::grown(connection, tenant, &made)
    }

    /// Puts `to` in force instead of `from`.
    fn moved(&self, connection: &Connection, from: u64, to: i64) -> Result<Moved, StoreError> {
        // Whoever comes second finds another head, which no row is changed by.
        let set = "UPDATE session SET head = ?3 WHERE n = ?1 AND head = ?2";
        if connection.run(set, values![self.row, from as i64, to])? == 1 {
            Store::touch(connection, self.row)?;
            return Ok(Ok(to as u64));
        }
        Ok(Err(ArchiveError::Conflict { parent: from, head: head(connection, self.row)? }))
    }
}

/// An original that a session hasn't kept yet.
struct New<'a> {
    original: &'a Original,
    blob: i64,
    about: String,
    terms: Terms,
    counts: Vec<u8>,
}

impl<'a> New<'a> {
    fn of(original: &'a Original, blob: i64) -> Self {
        let about = serde_json::to_string(&original.about).expect("it has string keys");
        let terms = Terms::of(&original.words);
        let counts = terms.packed();
        New { original, blob, about, terms, counts }
    }

    fn values(&self, session: i64) -> [Value<'_>; 6] {
        [
            session.into(),
            self.blob.into(),
            self.original.entry.into(),
            self.about.as_str().into(),
            self.terms.length().into(),
            self.counts[..].into(),
        ]
    }
}

/// Done, or what stood against it.
type Moved = Result<u64, ArchiveError>;

fn head(connection: &Connection, session: i64) -> Result<u64, StoreError> {
    let head = connection.one("SELECT head FROM session WHERE n = ?1", values![session])?;
    head.ok_or_else(forgotten)
}

fn forgotten() -> StoreError {
    StoreError::Forgotten
}

fn parsed(format: Format, text: String) -> Result<Request, StoreError> {
    wire::parse(format, text).map_err(|error| StoreError::damaged(error.to_string()))
}

/// `shown`, and behind it the entries of `whole` from `from` on.
fn continued(shown: &Request, whole: &Request, from: usize) -> String {
    let (text, all) = (shown.source(), whole.source());
    let end = |request: &Request, at: usize| match at.checked_sub(1) {
        Some(last) => request.transcript.entry(last).span().range().end,
        None => request.frame.list.range().start,
    };
    let from = from.min(whole.transcript.len());
    if from == whole.transcript.len() || from == 0 || shown.transcript.is_empty() {
        return text.as_ref().clone();
    }
    let (cut, start) = (end(shown, shown.transcript.len()), end(whole, from));
    let stop = end(whole, whole.transcript.len());
    format!("{}{}{}", &text[..cut], &all[start..stop], &text[cut..])
}

impl Archive for Session {
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        let put = || self.store.write(|transaction| self.keep_originals(transaction, originals));
        self.store.with_index(put).map_err(StoreError::writing)
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        self.store.get(id).map_err(StoreError::reading)
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundOriginal>, ArchiveError> {
        let found = self.search_words(words, limit).map_err(StoreError::reading)?;
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        let head = || head(&*self.store.reading()?, self.row);
        head().map_err(StoreError::reading)
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        let done = self.store.write(|transaction| {
            let newest: Option<i64> = transaction.one(
                "SELECT coalesce(max(number), 0) FROM view WHERE session = ?1",
                values![self.row],
            )?;
            let number = newest.unwrap_or(0) + 1;
            let moved = self.moved(transaction, parent, number)?;
            if moved.is_ok() {
                self.keep(transaction, number, parent, shown)?;
            }
            Ok(moved)
        });
        done.map_err(StoreError::writing)?
    }

    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError> {
        let done = self.store.write(|transaction| {
            let find = "SELECT number FROM view WHERE session = ?1 AND number = ?2";
            let number = i64::try_from(to).unwrap_or(i64::MAX);
            let current = head(transaction, self.row)?;
            let is_there = to == 0 || transaction.row(find, values![self.row, number])?.is_some();
            if current == from && !is_there {
                return Ok(Err(ArchiveError::NoSuchView { view: to }));
            }
            self.moved(transaction, from, number)
        });
        done.map_err(StoreError::writing)?.map(|_| ())
    }

    fn view(&self, number: u64) -> Result<Option<KeptView>, ArchiveError> {
        let Ok(row) = i64::try_from(number) else { return Ok(None) };
        let view = || -> Result<Option<KeptView>, StoreError> {
            let reading = self.store.reading()?;
            let found = reading.row(
                "SELECT parent, entries, text, fates, receipt, checkpoint FROM view
                 WHERE session = ?1 AND number = ?2",
                values![self.row, row],
            )?;
            let Some(mut found) = found else { return Ok(None) };
            let parent = found.take(0)?;
            let [text, fates, receipt]: [Vec<u8>; 3] =
                [found.take(2)?, found.take(3)?, found.take(4)?];
            let checkpoint: Option<Vec<u8>> = found.take(5)?;
            let view: View = serde_json::from_str(&unpacked_text(&fates)?)
                .map_err(|error| StoreError::damaged(format!("a view: {error}")))?;
            let shown = Shown {
                entries: found.take(1)?,
                view,
                text: blob::text(&reading, &text)?,
                checkpoint: checkpoint.map(|id| id_of(&id)).transpose()?,
                receipt: unpacked_text(&receipt)?,
            };
            Ok(Some(KeptView { number, parent, shown }))
        };
        view().map_err(StoreError::reading)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        let history = || -> Result<Vec<(u64, u64)>, StoreError> {
            let reading = self.store.reading()?;
            let views = reading.rows(
                "SELECT number, parent FROM view WHERE session = ?1 ORDER BY number",
                values![self.row],
            )?;
            views.into_iter().map(|mut row| Ok((row.take(0)?, row.take(1)?))).collect()
        };
        history().map_err(StoreError::reading)
    }
}

/// An id as it stands in the database.
pub(crate) fn id_of(bytes: &[u8]) -> Result<ContentId, StoreError> {
    let digest = bytes.try_into().map_err(|_| StoreError::damaged("an id isn't 32 bytes"))?;
    Ok(ContentId::from_bytes(digest))
}

/// The speaker of an entry, as the database has it.
pub(crate) fn about_of(text: &str) -> Result<EntryContext, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::damaged(format!("an entry: {error}")))
}
