//! Recordings on this machine by the ids of their sessions, where a file is taken.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::builder::{PathBufValueParser, TypedValueParser};
use epitome_store::{Access, Store};

use crate::agents::{File, Place, places};
use crate::folders::usual_archive;
use crate::quoting::name;
use crate::terminal::ago;

/// Beginnings of ids that are shorter than this mean anything.
const LEAST_PREFIX: usize = 4;

/// Candidates that an error names.
const NAMED: usize = 8;

/// Several recordings are of sessions whose ids begin so.
#[derive(Debug)]
pub(crate) struct AmbiguousSession(Vec<File>);

/// A transcript on the command line: a file, or a session's id or the beginning of it.
pub(crate) fn transcript() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|said| {
        let found = found(&said)?;
        Ok::<_, AmbiguousSession>(found.unwrap_or(said))
    })
}

/// The recording of the session whose id begins like that, where no file is called so; `None` if there is none.
///
/// # Errors
/// There are several.
pub(crate) fn found(said: &Path) -> Result<Option<PathBuf>, AmbiguousSession> {
    let Some(prefix) = said.to_str() else { return Ok(None) };
    if said.components().count() != 1 || said.symlink_metadata().is_ok() {
        return Ok(None);
    }
    let mut found = recordings();
    found.retain(|file| {
        let stem = stem(&file.path);
        let is_begun = id(&stem).starts_with(prefix) || stem.starts_with(prefix);
        id(&stem) == prefix || prefix.len() >= LEAST_PREFIX && is_begun
    });
    if let Some(exact) = found.iter().position(|file| id(&stem(&file.path)) == prefix) {
        let is_only = found.iter().filter(|file| id(&stem(&file.path)) == prefix).count() == 1;
        if is_only {
            return Ok(Some(found.swap_remove(exact).path));
        }
    }
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop().map(|file| file.path)),
        _ => Err(AmbiguousSession(found)),
    }
}

/// Whether a session of the usual archive is called like that.
pub(crate) fn is_archived(said: &Path) -> bool {
    let store = usual_archive().map(Path::new).filter(|store| store.exists());
    let store = store.and_then(|store| Store::open(store, Access::Read).ok());
    store.zip(said.to_str()).is_some_and(|(store, name)| store.session(name).is_ok())
}

/// All recordings where agents keep theirs, the newest first, but for those of sub-agents that have files of their own:
/// their work is the session's.
pub(crate) fn recordings() -> Vec<File> {
    let mut files: Vec<File> = places().iter().flat_map(Place::files).collect();
    files.retain(|file| !stem(&file.path).starts_with("agent-"));
    files.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.path.cmp(&b.path)));
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The id of the session that a file is of, by the file's name: a UUID or a hexadecimal number at its end; else all of it.
pub(crate) fn id_of(path: &Path) -> String {
    id(&stem(path)).to_owned()
}

fn id(stem: &str) -> &str {
    let at = stem.len().saturating_sub(UUID.iter().sum::<usize>() + UUID.len() - 1);
    if let Some(end) = stem.get(at..).filter(|end| is_uuid(end)) {
        return end;
    }
    let is_hex = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    stem.rsplit(['-', '_']).next().filter(|last| is_hex(last)).unwrap_or(stem)
}

/// The lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

fn is_uuid(text: &str) -> bool {
    let parts = text.split('-');
    let is_part = |(part, length): (&str, usize)| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_hexdigit())
    };
    parts.clone().count() == UUID.len() && parts.zip(UUID).all(is_part)
}

/// How much of an id a list shows, where that is enough.
const SHOWN: usize = 8;

/// The beginnings of ids by which each is told from all others, in the order of the ids.
pub(crate) fn shortened(ids: &[String]) -> Vec<String> {
    let mut sorted: Vec<&str> = ids.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |one: &str, other: &str| {
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
    };
    let short = |id: &String| {
        let at = sorted.binary_search(&id.as_str()).expect("all of them are in it");
        let before = at.checked_sub(1).map_or(0, |before| shared(sorted[before], id));
        let behind = sorted.get(at + 1).map_or(0, |behind| shared(behind, id));
        let needed = before.max(behind) + 1;
        let is_short = id.chars().count() <= SHOWN + 4 && !is_uuid(id);
        if is_short { id.clone() } else { id.chars().take(needed.max(SHOWN)).collect() }
    };
    ids.iter().map(short).collect()
}

impl fmt::Display for AmbiguousSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AmbiguousSession(files) = self;
        write!(f, "{} sessions begin like that", files.len())?;
        for file in files.iter().take(NAMED) {
            let age = SystemTime::now().duration_since(file.modified()).unwrap_or_default();
            let id = id_of(&file.path);
            write!(f, "\n  {id} {}, {} ago, {}", file.agent, ago(age.as_secs()), name(&file.path))?;
        }
        if files.len() > NAMED {
            write!(f, "\n  and {} more: epitome sessions", files.len() - NAMED)?;
        }
        Ok(())
    }
}

impl std::error::Error for AmbiguousSession {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_at_the_end_of_names() {
        for (stem, want) in [
            ("3fe1b6bc-dbd0-4320-b980-4f147befa187", "3fe1b6bc-dbd0-4320-b980-4f147befa187"),
            (
                "rollout-2026-05-11T10-29-40-019e1695-0522-7c83-8b39-0dd379793f80",
                "019e1695-0522-7c83-8b39-0dd379793f80",
            ),
            ("session-2025-12-01T21-45-5b959dae", "5b959dae"),
            (
                "2026-01-02T10-00-00_d703a1a9-1b7b-4fb1-b512-c9738b1fe617",
                "d703a1a9-1b7b-4fb1-b512-c9738b1fe617",
            ),
            ("my-session", "my-session"),
            ("één", "één"),
            ("", ""),
        ] {
            assert_eq!(id(stem), want);
        }
    }

    #[test]
    fn short_ids_tell_all_apart() {
        let ids = ["019e1695-0522-7c83", "019e1695-0999-7c83", "3fe1b6bc2f10ffff", "one"];
        let ids = ids.map(str::to_owned);
        assert_eq!(shortened(&ids), ["019e1695-05", "019e1695-09", "3fe1b6bc", "one"]);
        assert_eq!(shortened(&[]), [""; 0]);
    }
}
