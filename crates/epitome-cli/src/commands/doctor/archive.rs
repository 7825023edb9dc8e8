//! The archive: whether it can be opened, how large it is, and whether it has room.

use std::path::Path;

use epitome::text::figure::counted;
use epitome_store::{Access, Store, StoreError};

use super::repair::Repair;
use super::{Check, doubtful, good, wrong};
use crate::archive::is_on_server;
use crate::args::ArchiveArg;
use crate::quoting::{name, operand};
use crate::terminal::size;

const SUBJECT: &str = "archive";

pub(super) fn checks(archive: &ArchiveArg) -> Vec<Check> {
    let folder = &archive.store;
    if !is_on_server(folder) && !folder.exists() {
        let none = "none yet: compact --archive STORE, compact --apply and install make one";
        return vec![good(SUBJECT, format!("{}: {none}", name(folder)))];
    }
    if let (false, Err(error @ StoreError::Exposed { .. })) =
        (is_on_server(folder), Store::open(folder, Access::Read))
    {
        let check = wrong(SUBJECT, &archive.failed()(error));
        return vec![check.mended_by(Repair::Close(folder.clone()))];
    }
    let store = match archive.open(Access::Read) {
        Ok(store) => store,
        Err(error) => return vec![wrong(SUBJECT, &error)],
    };
    let stored = match store.stored() {
        Ok(stored) => stored,
        Err(error) => return vec![wrong(SUBJECT, &archive.failed()(error))],
    };
    let taken = taken(folder);
    let found = format!(
        "{}: {}, {} (version {})",
        name(folder),
        counted(usize::try_from(stored.sessions).unwrap_or(usize::MAX), "session"),
        shown(taken.unwrap_or(stored.packed)),
        store.version(),
    );
    let Some((taken, free)) = taken.zip(free(folder)) else { return vec![good(SUBJECT, found)] };
    let found = format!("{found}, {} free there", shown(free));
    // Forgetting writes the database anew beside the old one.
    vec![if free < taken {
        let remedy = format!(
            "make room: `epitome forget` needs as much as the archive takes; df {}",
            operand(folder)
        );
        doubtful(SUBJECT, found, remedy)
    } else {
        good(SUBJECT, found)
    }]
}

fn shown(bytes: u64) -> String {
    size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Bytes of all files in a folder; `None` if there is none.
fn taken(folder: &Path) -> Option<u64> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    Some(files.filter_map(|file| Some(file.metadata().ok()?.len())).sum())
}

/// Bytes that the user can still write where a folder is.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let told = nix::sys::statvfs::statvfs(folder).ok()?;
    #[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
    Some(u64::from(told.blocks_available()).saturating_mul(u64::from(told.fragment_size())))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}
