//! Archives on disk: what `compact` leaves in one, and finding it again by what it wrote.

mod failures;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use epitome::archive::{Archive, ArchiveError, Shown, redone};
use epitome::checkpoint::look_alikes;
use epitome::text::secrets::masked_document;
use epitome::transcript::ContentId;
use epitome::{Outcome, Request, wire};
use epitome_recordings as recordings;
use epitome_store::{Access, Chain, Session, Store, StoreError, without_password};
use serde::{Deserialize, Serialize};

use crate::args::{ArchiveArg, Channel, InputArgs, KeepArgs, ReadingArgs};
use crate::failure::Failure;
use crate::folders::usual_archive;
use crate::input::{self, Opened};
use crate::lookup;
use crate::output::Report;
use crate::quoting::{name, operand};
use crate::terminal::{self, FAINT, paint};
use crate::whole::{Placed, Secrets, Whole};

pub(crate) use failures::failure;
use failures::refused;

/// What is compacted, kept whole.
#[derive(Debug)]
pub(crate) struct Deposit {
    store: Store,
    folder: PathBuf,
    session: Session,
    placed: Placed,
    secrets: Secrets,
    /// The view that the compaction follows.
    head: u64,
    /// Messages of the whole transcript.
    entries: usize,
    /// Pins of the archive that somebody says.
    pins: Vec<String>,
    channel: Option<Channel>,
}

/// Where a compaction is kept, as its receipt says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Archived {
    /// The archive.
    store: String,
    /// The session in it.
    pub(crate) session: String,
    /// The view that was made; its number, from 1.
    pub(crate) view: u64,
    /// The archive, as it was named.
    #[serde(skip)]
    folder: PathBuf,
}

impl KeepArgs {
    /// The same, with the usual archive where none is named.
    pub(crate) fn or_usual(&self) -> Result<Self> {
        let usual = named_or_usual(self.archive.as_deref())?;
        Ok(KeepArgs { archive: Some(usual), ..self.clone() })
    }

    /// Keeps what is to be compacted, if there is an archive: all of the file, however much of it was read.
    pub(crate) fn deposit(
        &self,
        input: &InputArgs,
        opened: &Opened,
        raw: &[u8],
    ) -> Result<Option<Deposit>> {
        let Some(folder) = &self.archive else { return Ok(None) };
        make(folder)?;
        let store = open(folder, Access::Write)?;
        let failed = |error: StoreError| failure(&error, folder);
        let transcript = &opened.request.transcript;
        // Checkpoints of this archive.
        let mut own = HashSet::new();
        for part in look_alikes(transcript) {
            let id = ContentId::of_text(&part.text());
            if store.shown_as(id).map_err(failed)?.is_some() {
                let entry = transcript.entry(transcript.entry_of(part.slot));
                own.insert(ContentId::of_text(entry.raw()));
            }
        }
        let is_said = |pin: &str| {
            transcript.entries().any(|entry| entry.parts().any(|part| part.text().contains(pin)))
        };
        let pins = store.pins().map_err(failed)?.into_iter().map(|pin| pin.text);
        let pins = pins.filter(|pin| is_said(pin)).collect();
        let whole = Whole::read(raw, input.file.as_deref(), &input.reading)?;
        let secrets = if self.redact_archive { Secrets::Masked } else { Secrets::Kept };
        let archive = ArchiveArg { store: folder.clone() };
        let session = whole.keep(raw, &opened.source.file, (&archive, &store), secrets)?;
        let placed = whole.placed(session.clone(), secrets, own);
        let head = session.head().map_err(|error| refused(&error, folder))?;
        let (folder, entries) = (shown(folder), whole.request.transcript.len());
        let channel = self.recall;
        Ok(Some(Deposit { store, folder, session, placed, secrets, head, entries, pins, channel }))
    }
}

impl Deposit {
    /// Where originals go.
    pub(crate) fn archive(&self) -> &dyn Archive {
        &self.placed
    }

    /// The archive's pins that occur in a message.
    pub(crate) fn pins(&self) -> impl Iterator<Item = String> {
        self.pins.iter().cloned()
    }

    /// How the model is told that it can have back what it isn't shown.
    pub(crate) fn channel(&self) -> Result<Option<String>> {
        let folder = match self.channel {
            None => return Ok(None),
            Some(Channel::Mcp) => return Ok(Some("`recall_search`, a tool,".to_owned())),
            Some(Channel::Shell) if is_on_server(&self.folder) => self.folder.clone(),
            Some(Channel::Shell) => std::path::absolute(&self.folder)
                .map_err(|error| failure(&io_error(&self.folder, error), &self.folder))?,
        };
        let folder = operand(&folder);
        Ok(Some(format!("`epitome recall 'WORDS' --archive {folder}`, run in a shell,")))
    }

    /// Keeps what the model will be shown. When it returns that is on the disk.
    pub(crate) fn keep(self, outcome: &Outcome) -> Result<Archived> {
        let shown = Shown::of(outcome, self.entries);
        let shown = if self.secrets == Secrets::Masked { shown.redacted() } else { shown };
        let mut head = self.head;
        let view = loop {
            if self.is_there(head, &shown)? {
                break head;
            }
            if let Some(again) = self.made_before(head, &shown)? {
                match self.session.go(head, again) {
                    Err(ArchiveError::Conflict { head: newer, .. }) => head = newer,
                    gone => {
                        gone.map_err(|error| refused(&error, &self.folder))?;
                        break again;
                    }
                }
                continue;
            }
            match self.session.commit(head, &shown) {
                // Another process was quicker. It made its view from the same session, and this one follows it.
                Err(ArchiveError::Conflict { head: newer, .. }) => head = newer,
                committed => break committed.map_err(|error| refused(&error, &self.folder))?,
            }
        };
        let store = self.folder.to_string_lossy().into_owned();
        drop(self.store);
        let folder = self.folder;
        Ok(Archived { store, session: self.session.name().to_owned(), view, folder })
    }

    /// The view that was undone last, if this is it once more.
    fn made_before(&self, head: u64, shown: &Shown) -> Result<Option<u64>> {
        let history = self.session.history().map_err(|error| refused(&error, &self.folder))?;
        let Some(undone) = redone(&history, head) else { return Ok(None) };
        Ok(self.is_there(undone, shown)?.then_some(undone))
    }

    /// Whether a view says the same and was made from the same bytes: that is no further one.
    fn is_there(&self, view: u64, shown: &Shown) -> Result<bool> {
        let kept = self.session.view(view).map_err(|error| refused(&error, &self.folder))?;
        let is_same = kept.is_some_and(|kept| {
            kept.shown.text == shown.text && kept.shown.entries == shown.entries
        });
        let is_of_input = self.session.is_of_input(view);
        Ok(is_same && is_of_input.map_err(|error| failure(&error, &self.folder))?)
    }
}

impl Archived {
    /// Puts another view of the session in force instead of this one; if neither is in force, nothing changes.
    pub(crate) fn give_way(&self, to: u64) -> Result<()> {
        ArchiveArg { store: self.folder.clone() }.give_way(&self.session, self.view, to)
    }

    /// The same, for a recording.
    pub(crate) fn place(&self) -> recordings::Archived {
        recordings::Archived { session: self.session.clone(), view: self.view }
    }

    /// In words, of a recording that was compacted in place.
    pub(crate) fn words_in_place(&self, file: &Path) -> String {
        let Archived { store, session, view, .. } = self;
        let label = paint(FAINT, "archived");
        let file = operand(file);
        let archive = match usual_archive() {
            Some(usual) if usual.to_string_lossy() == store.as_str() => String::new(),
            _ => format!(" --archive {}", operand(store)),
        };
        let store = terminal::line(store, 80);
        format!(
            "{label} in {store} as {session}.{view}; the agent goes on from the compaction. Back as it was:\n  \
             epitome restore {file} -o {file}{archive}"
        )
    }

    /// In words; `output` is where the request went.
    pub(crate) fn words(&self, output: Option<&Path>) -> String {
        let Archived { store, session, view, .. } = self;
        let label = paint(FAINT, "archived");
        // What went to a pipe or nowhere isn't there to be named. A view's number would be this one's input alone, which may
        // have gone on from an earlier view.
        let what = output.filter(|output| output.is_file()).map(operand);
        let what = what.unwrap_or_else(|| session.clone());
        let store_operand = operand(store);
        let store = terminal::line(store, 80);
        format!(
            "{label} in {store} as {session}.{view}; all of it back:\n  epitome restore {what} --archive {store_operand}"
        )
    }
}

/// The archive that is meant.
///
/// # Errors
/// None is named, and there is no home folder.
pub(crate) fn named_or_usual(named: Option<&Path>) -> Result<PathBuf> {
    let usual = || usual_archive().map(PathBuf::from);
    named.map(Path::to_owned).or_else(usual).ok_or_else(|| {
        let failure = Failure::usage("neither --archive nor HOME says where originals are kept");
        failure.hint("add --archive STORE").into()
    })
}

/// Makes the folders above the usual archive, which nobody else makes.
pub(crate) fn make(folder: &Path) -> Result<()> {
    let is_usual = Some(folder.as_os_str()) == usual_archive();
    let Some(above) = folder.parent().filter(|_| is_usual) else { return Ok(()) };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(above).map_err(|error| failure(&io_error(above, error), above))
}

/// Opens an archive: in a folder, or on a server.
pub(crate) fn open(folder: &Path, access: Access) -> Result<Store> {
    let opened = match folder.to_str().filter(|_| is_on_server(folder)) {
        Some(url) => Store::connect(url, std::env::var("PGPASSWORD").ok().as_deref(), access),
        None => Store::open(folder, access),
    };
    opened.map_err(|error| failure(&error, folder))
}

/// Whether an archive is named by the URL of a PostgreSQL database.
pub(crate) fn is_on_server(folder: &Path) -> bool {
    let schemes = ["postgres://", "postgresql://"];
    folder.to_str().is_some_and(|name| schemes.iter().any(|scheme| name.starts_with(scheme)))
}

/// An archive as it may be shown: without a password.
fn shown(folder: &Path) -> PathBuf {
    match folder.to_str().filter(|_| is_on_server(folder)) {
        Some(url) => without_password(url).into(),
        None => folder.to_owned(),
    }
}

impl ArchiveArg {
    /// Opens it.
    pub(crate) fn open(&self, access: Access) -> Result<Store> {
        open(&self.store, access)
    }

    /// Puts another view of a session in force instead of `from`; where that isn't, what is stays.
    pub(crate) fn give_way(&self, session: &str, from: u64, to: u64) -> Result<()> {
        let session = self.open(Access::Existing)?.session(session);
        match session.map_err(self.failed())?.go(from, to) {
            Ok(()) | Err(ArchiveError::Conflict { .. }) => Ok(()),
            Err(error) => Err(self.refused()(error)),
        }
    }

    /// What went wrong with it, and what to try.
    pub(crate) fn failed(&self) -> impl Fn(StoreError) -> anyhow::Error {
        |error| failure(&error, &self.store)
    }

    /// What it refused, and what to try.
    pub(crate) fn refused(&self) -> impl Fn(ArchiveError) -> anyhow::Error {
        |error| refused(&error, &self.store)
    }
}

fn io_error(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), error }
}

/// What a receipt says of an archive.
#[derive(Debug, Deserialize)]
struct ArchivedReceipt {
    archived: Option<Archived>,
    checkpoint: Option<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: ContentId,
}

/// What of a session is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// A view that is named by its number; 0 is the transcript as it came in last.
    View(u64),
    /// What a view shows, in a file.
    Shown(u64),
    /// The session, with this view in force.
    InForce(u64),
    /// Bytes that came in, by their digest.
    Input(ContentId),
}

/// What is meant: by what `compact` wrote, whether or not it went on since, by its receipt, or by
/// its name; and by the bytes that came in, or their digest.
pub(crate) fn located(
    what: &Path,
    archive: &ArchiveArg,
    store: &Store,
) -> Result<(Session, Meant)> {
    Ok(located_all(what, archive, store)?.swap_remove(0))
}

/// The same, with whatever else the same bytes are: what one session shows may have been compacted once more, as the input of
/// another one. At least one.
pub(crate) fn located_all(
    what: &Path,
    archive: &ArchiveArg,
    store: &Store,
) -> Result<Vec<(Session, Meant)>> {
    let failed = archive.failed();
    if what.as_os_str() == "-" || what.exists() {
        let bytes = input::bytes(Some(what))?;
        let found = in_bytes(&bytes, store).map_err(&failed)?;
        if !found.is_empty() {
            return Ok(found);
        }
        // A recording that went on since.
        let how = ReadingArgs { whole: true, ..ReadingArgs::default() };
        if let Ok(opened) = input::understood(bytes, Some(what), &how, Report::Json)
            && let Some(found) = going_on(&opened.request, store).map_err(&failed)?
        {
            return Ok(vec![found]);
        }
        let folder = operand(&archive.store);
        let what = format!("nothing in {folder} belongs to {}", name(what));
        let hint = format!("epitome sessions --archive {folder}");
        bail!(Failure::other(what).hint(hint));
    }
    let text = what.to_string_lossy();
    if let Ok(raw) = serde_json::from_value::<ContentId>((*text).into())
        && let Some(session) = store.taken_in(raw).map_err(&failed)?
    {
        return Ok(vec![(session, Meant::Input(raw))]);
    }
    let numbered = text.rsplit_once('.').map(|(session, view)| (session, view.parse().ok()));
    let (session, view) = match numbered {
        Some((session, Some(view))) => (session, Some(view)),
        // Names have no dots.
        _ => (&*text, None),
    };
    let session = match store.session(session) {
        // No session of the archive; one of an agent, maybe.
        Err(error @ StoreError::NoSuchSession { .. }) => {
            return match lookup::found(what).map_err(|error| Failure::usage(error.to_string()))? {
                Some(file) => located_all(&file, archive, store),
                None => Err(failed(error)),
            };
        }
        session => session.map_err(&failed)?,
    };
    let meant = match view {
        Some(view) => Meant::View(view),
        None => Meant::InForce(session.head().map_err(archive.refused())?),
    };
    Ok(vec![(session, meant)])
}

fn in_bytes(bytes: &[u8], store: &Store) -> Result<Vec<(Session, Meant)>, StoreError> {
    let view = |(session, view)| (session, Meant::Shown(view));
    // An agent's own recording says where it was kept when it was compacted in place.
    let applied = std::str::from_utf8(bytes).ok().and_then(recordings::applied);
    if let Some((archived, _)) = applied {
        return Ok(vec![view((store.session(&archived.session)?, archived.view))]);
    }
    // A pipe or an editor may have put a line's end behind it.
    let redacted = masked_document(&String::from_utf8_lossy(bytes)).into_owned();
    let redacted = redacted.as_bytes();
    let all = [bytes, bytes.trim_ascii_end(), redacted, redacted.trim_ascii_end()];
    let shown = all.iter().find_map(|bytes| store.shown_as(ContentId::of_bytes(bytes)).transpose());
    let taken_in = [bytes, redacted].iter().find_map(|bytes| {
        let raw = ContentId::of_bytes(bytes);
        let session = store.taken_in(raw).transpose()?;
        Some(session.map(|session| (session, Meant::Input(raw))))
    });
    let found: Vec<_> =
        shown.transpose()?.map(view).into_iter().chain(taken_in.transpose()?).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Vec::new()) };
    if let Ok(ArchivedReceipt { archived, checkpoint }) = serde_json::from_str(text) {
        if let Some(archived) = archived {
            return Ok(vec![view((store.session(&archived.session)?, archived.view))]);
        }
        if let Some(Named { id }) = checkpoint {
            return Ok(store.shown_as(id)?.map(view).into_iter().collect());
        }
    }
    // It went on: the newest checkpoint in it tells which view it went on from.
    let Ok(request) = wire::detect(text.to_owned()) else { return Ok(Vec::new()) };
    let found = match went_on_from(&request, store)? {
        Some(found) => Some(view(found)),
        None => going_on(&request, store)?,
    };
    Ok(found.into_iter().collect())
}

/// The view that a request went on from, as its newest checkpoint says.
pub(crate) fn went_on_from(
    request: &Request,
    store: &Store,
) -> Result<Option<(Session, u64)>, StoreError> {
    let ids = look_alikes(&request.transcript).map(|part| ContentId::of_text(&part.text()));
    for id in ids.collect::<Vec<_>>().into_iter().rev() {
        if let Some(found) = store.shown_as(id)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The session that has all of a request, or that the request continues; its original is shown.
fn going_on(request: &Request, store: &Store) -> Result<Option<(Session, Meant)>, StoreError> {
    let Some(session) = store.going_on(&Chain::of(request))? else { return Ok(None) };
    Ok(Some((session, Meant::Shown(0))))
}
