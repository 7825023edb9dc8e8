//! What models cost, kept beyond the process: by day and by session, in the user's own state.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use epitome::model::Money;
use epitome_llm::{Aside, Books, Page};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
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
struct Spent {
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
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(base.join("epitome/spent.json"))
}

/// What the file says of today, in words; nothing is written.
///
/// # Errors
/// There is no place for it, or it can't be read.
pub(crate) fn looked_at() -> Result<String, Failure> {
    let file = file().ok_or_else(|| {
        Failure::usage("there is no place to keep what was spent")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    let shown = name(&file);
    let remedy =
        format!("mend it, or move it away, which forgets what was spent: {}", operand(&file));
    let page = read(&file).map_err(|error| Failure::other(error).hint(remedy))?;
    let Some(page) = page else { return Ok(format!("nothing was spent yet ({shown})")) };
    let spent = Money::micro(page.days.get(&today()).copied().unwrap_or_default());
    Ok(format!("{spent} today ({shown})"))
}

/// What the file says; `None` where there is none yet.
fn read(file: &Path) -> Result<Option<Spent>, String> {
    let shown = name(file);
    let failed = |error: String| format!("what was spent is kept in {shown}: {error}");
    let page: Spent = match fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    if page.version > 1 {
        let version = page.version;
        return Err(format!("{shown} is of version {version}: a newer epitome wrote it"));
    }
    Ok(Some(page))
}

impl Kept {
    fn with<T>(&self, what: impl FnOnce(&mut Spent) -> T) -> Result<T, String> {
        let shown = name(&self.file);
        let failed = |error: std::io::Error| format!("what was spent is kept in {shown}: {error}");
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        // Others wait; the lock goes with the file that is closed.
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(self.file.with_extension("lock"))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut page = read(&self.file)?.unwrap_or_default();
        page.version = 1;
        let before = serde_json::to_string(&page).expect("it is data");
        let out = what(&mut page);
        let after = serde_json::to_string(&page).expect("it is data");
        if before != after {
            let next = self.file.with_extension("next");
            let mut written = File::create(&next).map_err(failed)?;
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

impl Kept {
    /// The amount of its span, on a day.
    fn amount<'a>(&self, page: &'a mut Spent, day: u64) -> &'a mut u64 {
        match self.session() {
            None => page.days.entry(day).or_default(),
            Some(session) => {
                let kept = page.sessions.entry(session).or_default();
                kept.day = kept.day.max(day);
                &mut kept.micro_usd
            }
        }
    }
}

impl Books for Kept {
    fn spent(&self) -> Result<Money, String> {
        let (day, session) = (today(), self.session());
        let spent = self.with(|page| match session {
            None => page.days.get(&day).copied(),
            Some(session) => page.sessions.get(&session).map(|kept| kept.micro_usd),
        })?;
        Ok(Money::micro(spent.unwrap_or_default()))
    }

    fn set_aside(&self, most: Money, cap: Money) -> Result<Aside, String> {
        let day = today();
        self.with(|page| {
            page.days.retain(|kept, _| kept + KEPT >= day);
            page.sessions.retain(|_, kept| kept.day + KEPT >= day);
            let spent = self.amount(page, day);
            let before = Money::micro(*spent);
            if before >= cap || before + most > cap {
                return Aside::Over(before);
            }
            *spent += most.in_micro();
            Aside::On(Page(day))
        })
    }

    fn book(&self, on: Page, aside: Money, cost: Money) -> Result<(), String> {
        self.with(|page| {
            let spent = self.amount(page, on.0);
            *spent = spent.saturating_sub(aside.in_micro()) + cost.in_micro();
        })
    }
}

fn today() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / (24 * 60 * 60)
}
