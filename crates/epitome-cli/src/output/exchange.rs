//! Putting a file in the place of one that others write to, so that nothing is lost which they write meanwhile.
//!
//! There is always a moment between a last check and a rename. So the two files are exchanged atomically, and the check
//! follows: of the displaced file, which no name leads to any more. If somebody wrote to it, it goes back, followed by
//! text written to the new one in that moment. A reader in that moment sees the new one; so the moment is short, and
//! there is a check before it too.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use tempfile::NamedTempFile;

use super::delivery::{cant, settle};
use super::place::folder_of;
use super::warn;
use crate::identity::Identity;
use crate::quoting::name;

/// What somebody has against replacing a file, which lies at this path.
pub(crate) type Still<'a> = &'a dyn Fn(&Path) -> Result<()>;

/// Puts `named`, in which `text` is, in place of the file at `path`.
pub(super) fn put(
    named: NamedTempFile<()>,
    path: &Path,
    text: &[u8],
    still: Still<'_>,
) -> Result<()> {
    let failed = |error: io::Error| cant(path, &error);
    // From here on what lies under that name may be the only one of its kind.
    let beside = named.into_temp_path().keep().map_err(|error| failed(error.error))?;
    let gone = |error| {
        let _gone = fs::remove_file(&beside);
        error
    };
    still(path).map_err(gone)?;
    match swapped(&beside, path) {
        Ok(()) => {}
        // Where a file system can't exchange, that look has to do.
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            fs::rename(&beside, path).map_err(failed).map_err(gone)?;
            settle(folder_of(path));
            return Ok(());
        }
        // It was removed meanwhile.
        Err(error) => return Err(gone(still(path).err().unwrap_or_else(|| failed(error)))),
    }
    if let Err(why) = still(&beside) {
        put_back(&beside, path, text).map_err(failed)?;
        return Err(why);
    }
    // What was isn't taken away before what is is there for good.
    settle(folder_of(path));
    if let Err(error) = fs::remove_file(&beside) {
        warn(&format!("{} can't be removed: {error}", name(&beside)));
    }
    Ok(())
}

/// Puts `named` where there was no file.
pub(super) fn put_fresh(named: NamedTempFile<()>, path: &Path, still: Still<'_>) -> Result<()> {
    match named.persist_noclobber(path) {
        Ok(()) => {}
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            return Err(still(path).err().unwrap_or_else(|| cant(path, &error.error)));
        }
        Err(error) => return Err(cant(path, &error.error)),
    }
    settle(folder_of(path));
    Ok(())
}

/// Takes the file at `path` away, by way of `named`.
pub(super) fn take(named: NamedTempFile<()>, path: &Path, still: Still<'_>) -> Result<()> {
    let failed = |error: io::Error| cant(path, &error);
    let beside = named.into_temp_path().keep().map_err(|error| failed(error.error))?;
    fs::rename(path, &beside).map_err(failed)?;
    if let Err(why) = still(&beside) {
        // A link puts nothing over what came meanwhile.
        match fs::hard_link(&beside, path) {
            Ok(()) => fs::remove_file(&beside).map_err(failed)?,
            Err(_) => warn(&format!("what {} was is in {}", name(path), name(&beside))),
        }
        return Err(why);
    }
    fs::remove_file(&beside).map_err(failed)?;
    settle(folder_of(path));
    Ok(())
}

/// How long somebody is waited for who has the new one open.
const PATIENCE: Duration = Duration::from_secs(2);

/// Exchanges them again, with what was written to the new one meanwhile.
fn put_back(beside: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    swapped(beside, path)?;
    let begun = Instant::now();
    while Identity::of_file(beside).and_then(Identity::holder).is_some() {
        if begun.elapsed() > PATIENCE {
            let (path, beside) = (name(path), name(beside));
            warn(&format!("what was written to {path} in this moment is at the end of {beside}"));
            return Ok(());
        }
        sleep(Duration::from_millis(5));
    }
    let now = fs::read(beside)?;
    match now.strip_prefix(text) {
        Some([]) => {}
        Some(more) => OpenOptions::new().append(true).open(path)?.write_all(more)?,
        // Somebody put a file of their own in its place, which is the newest.
        None => return fs::rename(beside, path),
    }
    fs::remove_file(beside)?;
    settle(folder_of(path));
    Ok(())
}

/// Exchanges two files in one go.
#[cfg(target_os = "linux")]
fn swapped(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(ErrorKind::Unsupported.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn swapped(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    /// A file that says `old`, replaced by one that says `new` while `meanwhile` happens to the name; the final
    /// content, and the outcome.
    fn replaced(meanwhile: impl Fn(&Path), refuses: bool) -> (String, Result<()>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        fs::write(&path, "old\n").expect("a file");
        let named = tempfile::Builder::new().tempfile_in(folder.path()).expect("a file");
        fs::write(named.path(), "new\n").expect("a file");
        let named = NamedTempFile::from_parts((), named.into_temp_path());
        let still = |at: &Path| {
            if at == path {
                return Ok(());
            }
            meanwhile(&path);
            let is_old = fs::read_to_string(at).is_ok_and(|text| text == "old\n");
            if is_old && !refuses { Ok(()) } else { Err(Failure::again("changed").into()) }
        };
        let ended = put(named, &path, b"new\n", &still);
        let all = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(all, 1, "nothing is left beside it");
        (fs::read_to_string(&path).expect("there"), ended)
    }

    fn append(path: &Path) {
        let mut file = OpenOptions::new().append(true).open(path).expect("there");
        file.write_all(b"more\n").expect("written");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_written_meanwhile_stays() {
        let (text, ended) = replaced(|_| {}, false);
        assert_eq!((text.as_str(), ended.is_ok()), ("new\n", true));
        let (text, ended) = replaced(|_| {}, true);
        assert_eq!((text.as_str(), ended.is_ok()), ("old\n", false));
        // To the new one.
        let (text, ended) = replaced(append, false);
        assert_eq!((text.as_str(), ended.is_ok()), ("new\nmore\n", true));
        let (text, ended) = replaced(append, true);
        assert_eq!((text.as_str(), ended.is_ok()), ("old\nmore\n", false));
        let whole = |path: &Path| {
            fs::write(path.with_extension("whole"), "theirs\n").expect("a file");
            fs::rename(path.with_extension("whole"), path).expect("renamed");
        };
        let (text, ended) = replaced(whole, true);
        assert_eq!((text.as_str(), ended.is_ok()), ("theirs\n", false));
    }
}
