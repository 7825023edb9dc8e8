//! What models cost, kept beyond the process: by day and by session, in the user's own state.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use epitome::model::Money;
use epitome_llm::{Books, Entry, Unbooked};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::folders;
use crate::quoting::{name, operand};

/// Days that are kept: what a session took longer ago than that is forgotten.
const KEPT: u64 = 90;

/// Whose spending it is.
#[derive(Clone, Debug)]
pub(crate) enum Span {
    /// Today's, by the clock of UTC.
    Day,
    /// A session's; it is known once its transcript was read.
    Session(Arc<OnceLock<String>>),
}

/// One span in the file.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) file: PathBuf,
    pub(crate) span: Span,
}

/// The file: amounts in millionths of a dollar.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Page {
    version: u32,
    /// By days since 1970.
    days: BTreeMap<u64, u64>,
    sessions: BTreeMap<String, Session>,
}

/// What a session took, and when it last did.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Session {
    micro_usd: u64,
    day: u64,
}

/// `epitome/spent.json` in the XDG state folder.
pub(crate) fn file() -> Option<PathBuf> {
    Some(folders::state()?.join("spent.json"))
}

/// What the file says of today, in words; nothing is written.
///
/// # Errors
/// There is no place for it, or it can't be read.
pub(crate) fn looked_at() -> Result<String, Failure> {
    let file = file().ok_or_else(|| {
        Failure::usage("there is no folder for the spending file")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    let shown = name(&file);
    let remedy =
        format!("fix it, or move it away (the spending is then forgotten): {}", operand(&file));
    let page = read(&file).map_err(|error| Failure::other(error).hint(remedy))?;
    let Some(page) = page else { return Ok(format!("nothing was spent yet ({shown})")) };
    let spent = Money::micro(page.days.get(&today()).copied().unwrap_or_default());
    Ok(format!("{spent} today ({shown})"))
}

/// The content of the file; `None` if there is none yet.
fn read(file: &Path) -> Result<Option<Page>, String> {
    let shown = name(file);
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("the spending file {shown}: {error}")),
    };
    let page: Page = serde_json::from_slice(&bytes).map_err(|error| {
        format!("{shown} can't be read ({error}): move it away to count from zero")
    })?;
    if page.version > 1 {
        let version = page.version;
        return Err(format!("{shown} is of version {version}: a newer epitome wrote it"));
    }
    Ok(Some(page))
}

impl Kept {
    /// Does it while nobody else does, and doesn't wait for that.
    fn with<T>(&self, what: impl FnOnce(&mut Page) -> T) -> Result<T, Unbooked> {
        let shown = name(&self.file);
        let failed = |error: std::io::Error| {
            Unbooked::Unknown(format!("the spending file {shown}: {error}"))
        };
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        // The lock goes with the file that is closed.
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(self.file.with_extension("lock"))
            .map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Unbooked::Busy,
            TryLockError::Error(error) => failed(error),
        })?;
        let mut page = read(&self.file).map_err(Unbooked::Unknown)?.unwrap_or_default();
        page.version = 1;
        let before = serde_json::to_string(&page).expect("it is data");
        let out = what(&mut page);
        let after = serde_json::to_string(&page).expect("it is data");
        if before != after {
            let next = self.file.with_extension("next");
            // What a run that was killed left, or somebody else's link: it isn't written through.
            match fs::remove_file(&next) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => {}
            }
            let mut written = File::create_new(&next).map_err(failed)?;
            written.write_all(after.as_bytes()).map_err(failed)?;
            written.sync_all().map_err(failed)?;
            fs::rename(&next, &self.file).map_err(failed)?;
        }
        Ok(out)
    }

    fn session(&self) -> Option<String> {
        match &self.span {
            Span::Day => None,
            // Who isn't known yet shares a page.
            Span::Session(id) => Some(id.get().cloned().unwrap_or_default()),
        }
    }
}

impl Page {
    /// What is booked in the span, of which `day` is the newest day.
    fn amount(&mut self, session: Option<String>, day: u64) -> &mut u64 {
        // Days to come are those of a clock that was wrong.
        let is_near = |kept: u64| kept.abs_diff(day) <= KEPT;
        self.days.retain(|kept, _| is_near(*kept));
        self.sessions.retain(|_, kept| is_near(kept.day));
        match session {
            None => self.days.entry(day).or_default(),
            Some(session) => {
                let kept = self.sessions.entry(session).or_default();
                kept.day = day;
                &mut kept.micro_usd
            }
        }
    }
}

impl Books for Kept {
    fn take(&self, cost: Money, besides: Money, most: Money) -> Result<Entry, Unbooked> {
        let (day, session) = (today(), self.session());
        self.with(|page| {
            let booked = match &session {
                None => page.days.get(&day).copied(),
                Some(session) => page.sessions.get(session).map(|kept| kept.micro_usd),
            };
            let spent = Money::micro(booked.unwrap_or_default());
            if spent + cost + besides > most || spent >= most {
                return Err(Unbooked::Above(spent));
            }
            let amount = page.amount(session, day);
            *amount = amount.saturating_add(cost.in_micro());
            Ok(Entry { cost, page: day })
        })?
    }

    fn settle(&self, entry: Entry, cost: Money) -> Result<(), Unbooked> {
        self.with(|page| {
            // The day on which it was taken, though another one may have begun.
            let amount = page.amount(self.session(), entry.page);
            let rest = amount.saturating_sub(entry.cost.in_micro());
            *amount = rest.saturating_add(cost.in_micro());
        })
    }
}

fn today() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / (24 * 60 * 60)
}
