//! One conversation: its originals and its views.

use epitome::archive::{About, Archive, ArchiveError, Kept, Original, Shown};
use epitome::recall::Found;
use epitome::transcript::ContentId;
use epitome::{Format, Request, View, wire};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::blob::{self, Blobs, packed_text, unpacked_text};
use crate::error::StoreError;
use crate::schema::words_of;
use crate::search;
use crate::store::{Store, now};
use crate::take_in::pieces;

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
        let mut find = reading.prepare_cached("SELECT name, format FROM session WHERE n = ?1")?;
        let (name, format): (String, String) =
            find.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let format = parsed_format(&format)?;
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
        let mut find = reading.prepare_cached(
            "SELECT 1 FROM view WHERE session = ?1 AND number = ?2 AND input = ?3",
        )?;
        Ok(find.exists(params![self.row, number as i64, self.input])?)
    }

    /// The bytes that came in last.
    pub fn newest_input(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.input(
            "SELECT raw FROM input WHERE session = ?1 AND ?2 = ?2 ORDER BY entries DESC, n DESC LIMIT 1",
            0,
        )
    }

    fn input(&self, query: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let reading = self.store.reading()?;
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        let mut find = reading.prepare_cached(query)?;
        let list = find.query_row(params![self.row, number], |row| row.get::<_, Vec<u8>>(0));
        list.optional()?.map(|list| blob::joined(&reading, &list)).transpose()
    }

    /// Its originals whose id begins like that, oldest first.
    pub fn recall(&self, prefix: &str, limit: usize) -> Result<Vec<(String, Found)>, StoreError> {
        self.store.recall_in(Some(self.row), prefix, limit)
    }

    /// What the model is to be shown with view `number` (0: everything) in force: what that view says, and
    /// behind it all that was said since.
    pub fn shown_with(&self, number: u64) -> Result<Request, StoreError> {
        let reading = self.store.reading()?;
        let mut newest = reading.prepare_cached(
            "SELECT text FROM input WHERE session = ?1 ORDER BY entries DESC, n DESC LIMIT 1",
        )?;
        let list: Vec<u8> = newest.query_row([self.row], |row| row.get(0))?;
        let whole = parsed(self.format, blob::text(&reading, &list)?)?;
        let view = self.view(number).map_err(|error| StoreError::damaged(error.to_string()))?;
        let Some(Kept { shown, .. }) = view else { return Ok(whole) };
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
        let mut insert = connection.prepare_cached(
            "INSERT INTO view (session, number, parent, input, entries, text_id, text, fates, receipt, checkpoint, made)
             SELECT ?1, ?2, ?3, coalesce(?11,
                (SELECT n FROM input WHERE session = ?1 AND entries = ?4 ORDER BY n DESC LIMIT 1)),
                ?4, ?5, ?6, ?7, ?8, ?9, ?10",
        )?;
        let text_id = ContentId::of_text(&shown.text);
        let checkpoint = shown.checkpoint.as_ref().map(|id| id.as_bytes().as_slice());
        insert.execute(params![
            self.row,
            number,
            parent as i64,
            shown.entries as i64,
            text_id.as_bytes(),
            text,
            packed_text(&fates),
            packed_text(&shown.receipt),
            checkpoint,
            now(),
            self.input,
        ])?;
        Ok(())
    }

    /// Puts `to` in force instead of `from`.
    fn moved(&self, connection: &Connection, from: u64, to: i64) -> Result<Moved, StoreError> {
        let mut set =
            connection.prepare_cached("UPDATE session SET head = ?3 WHERE n = ?1 AND head = ?2")?;
        if set.execute(params![self.row, from as i64, to])? == 1 {
            Store::touch(connection, self.row)?;
            return Ok(Ok(to as u64));
        }
        Ok(Err(ArchiveError::Conflict { parent: from, head: head(connection, self.row)? }))
    }
}

/// Done, or what stood against it.
type Moved = Result<u64, ArchiveError>;

fn head(connection: &Connection, session: i64) -> Result<u64, StoreError> {
    let mut find = connection.prepare_cached("SELECT head FROM session WHERE n = ?1")?;
    let head: Option<i64> = find.query_row([session], |row| row.get(0)).optional()?;
    head.map(|head| head as u64).ok_or_else(|| StoreError::damaged("the session was forgotten"))
}

pub(crate) fn parsed_format(name: &str) -> Result<Format, StoreError> {
    name.parse().map_err(|_| StoreError::damaged(format!("{name:?} is no format")))
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
        let tenant = self.store.owner().map_err(StoreError::writing)?;
        let done = self.store.write(|transaction| {
            let mut blobs = Blobs::new(transaction, tenant)?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO entry (session, blob, entry, about) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?;
            let mut index = transaction.prepare_cached(&format!(
                "INSERT INTO {} (rowid, words) VALUES (?1, ?2)",
                words_of(tenant)
            ))?;
            for original in originals {
                let row = blobs.put_as(original.id, original.bytes.as_bytes())?;
                let about = serde_json::to_string(&original.about).expect("it has string keys");
                let entry = original.entry as i64;
                if insert.execute(params![self.row, row, entry, about])? == 1 {
                    let words = search::indexed(&original.words);
                    index.execute(params![transaction.last_insert_rowid(), words])?;
                }
            }
            Store::touch(transaction, self.row)
        });
        done.map_err(StoreError::writing)
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        self.store.get(id).map_err(StoreError::reading)
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<Found>, ArchiveError> {
        let found = self.store.search_in(Some(self.row), words, limit);
        let found = found.map_err(StoreError::reading)?;
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        let head = || head(&*self.store.reading()?, self.row);
        head().map_err(StoreError::reading)
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        let done = self.store.write(|transaction| {
            let number: i64 = transaction.query_row(
                "SELECT coalesce(max(number), 0) + 1 FROM view WHERE session = ?1",
                [self.row],
                |row| row.get(0),
            )?;
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
            let mut find = transaction
                .prepare_cached("SELECT 1 FROM view WHERE session = ?1 AND number = ?2")?;
            let number = i64::try_from(to).unwrap_or(i64::MAX);
            let current = head(transaction, self.row)?;
            if current == from && to != 0 && !find.exists(params![self.row, number])? {
                return Ok(Err(ArchiveError::NoSuchView { view: to }));
            }
            self.moved(transaction, from, number)
        });
        done.map_err(StoreError::writing)?.map(|_| ())
    }

    fn view(&self, number: u64) -> Result<Option<Kept>, ArchiveError> {
        let Ok(row) = i64::try_from(number) else { return Ok(None) };
        let view = || -> Result<Option<Kept>, StoreError> {
            let reading = self.store.reading()?;
            let mut find = reading.prepare_cached(
                "SELECT parent, entries, text, fates, receipt, checkpoint FROM view
                 WHERE session = ?1 AND number = ?2",
            )?;
            let found = find.query_row(params![self.row, row], |row| {
                let parent: i64 = row.get(0)?;
                let entries: i64 = row.get(1)?;
                let lists: [Vec<u8>; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
                Ok((parent, entries, lists, row.get::<_, Option<Vec<u8>>>(5)?))
            });
            let Some((parent, entries, [text, fates, receipt], checkpoint)) = found.optional()?
            else {
                return Ok(None);
            };
            let view: View = serde_json::from_str(&unpacked_text(&fates)?)
                .map_err(|error| StoreError::damaged(format!("a view: {error}")))?;
            let shown = Shown {
                entries: usize::try_from(entries).unwrap_or(0),
                view,
                text: blob::text(&reading, &text)?,
                checkpoint: checkpoint.map(|id| id_of(&id)).transpose()?,
                receipt: unpacked_text(&receipt)?,
            };
            Ok(Some(Kept { number, parent: parent as u64, shown }))
        };
        view().map_err(StoreError::reading)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        let history = || -> Result<Vec<(u64, u64)>, StoreError> {
            let reading = self.store.reading()?;
            let mut all = reading.prepare_cached(
                "SELECT number, parent FROM view WHERE session = ?1 ORDER BY number",
            )?;
            let views = all.query_map([self.row], |row| {
                Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
            })?;
            Ok(views.collect::<Result<_, _>>()?)
        };
        history().map_err(StoreError::reading)
    }
}

/// An id as it stands in the database.
pub(crate) fn id_of(bytes: &[u8]) -> Result<ContentId, StoreError> {
    let digest = bytes.try_into().map_err(|_| StoreError::damaged("an id isn't 32 bytes"))?;
    Ok(ContentId::from_bytes(digest))
}

/// Who stands in an entry, as it stands in the database.
pub(crate) fn about_of(text: &str) -> Result<About, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::damaged(format!("an entry: {error}")))
}
