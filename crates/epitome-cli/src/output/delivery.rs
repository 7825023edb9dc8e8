//! Putting texts where they belong: all of each or nothing, files only after the rest, and the last one only after the others.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use tempfile::NamedTempFile;

use super::exchange::Still;
use super::place::folder_of;
use super::{Place, belongings, exchange, settled, warn};
use crate::failure::Failure;
use crate::quoting::{name, operand};
use crate::signals;
use crate::terminal;

/// A text and where it is to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel<'a> {
    pub(crate) place: &'a Place,
    pub(crate) text: &'a [u8],
}

/// Writes all of them. Files are prepared first, then unreplaceable outputs are written, and only then are files put in
/// place, in order: whatever can fail has failed before anything is replaced, and whoever finds the last file finds the
/// others too.
pub(crate) fn deliver(parcels: &[Parcel<'_>]) -> Result<()> {
    let prepared = parcels.iter().map(Parcel::prepare).collect::<Result<Vec<_>>>()?;
    finish(parcels, prepared)
}

fn finish(parcels: &[Parcel<'_>], prepared: Vec<Option<File>>) -> Result<()> {
    // Whoever reads a pipe to its end finds the files: it stays open until they are there.
    let mut open = Vec::new();
    for parcel in parcels {
        open.extend(parcel.poured()?);
    }
    parcels.iter().zip(prepared).try_for_each(|(parcel, file)| parcel.placed(file))
}

/// Puts `over` in place of a file that others write to, if that is still what it was: `still` looks at it before
/// anything is done, right before it, and again where nobody finds it by its name any more. Then writes the others, as [`deliver`].
///
/// # Errors
/// `still` objects, and the file is unchanged or as somebody else left it; or it has an attribute that the new one can't
/// get.
pub(crate) fn replace(over: &Parcel<'_>, still: Still<'_>, others: &[Parcel<'_>]) -> Result<()> {
    let Place::File(path) = over.place else { unreachable!("only files are looked at again") };
    let failed = |error: io::Error| cant(path, &error);
    let prepared = others.iter().map(Parcel::prepare).collect::<Result<Vec<_>>>()?;
    let old = fs::metadata(path).ok();
    let folder = folder_of(path);
    let mut nameless = nameless::file(folder);
    let unkept = match &mut nameless {
        Some(file) => fill(file, over.text, path).map_err(failed)?,
        None => Vec::new(),
    };
    refuse(path, &unkept)?;
    still(path)?;
    {
        // Between a name and its rename nothing that can wait interrupts, so that no file is left behind.
        let _held = signals::hold();
        let linked = nameless.map(|file| nameless::link(&file, folder));
        let named = if let Some(Ok(named)) = linked {
            named
        } else {
            let (named, unkept) = beside(path, over.text).map_err(failed)?;
            refuse(path, &unkept)?;
            named
        };
        match old {
            Some(_) => exchange::put(named, path, over.text, still)?,
            None => exchange::put_fresh(named, path, still)?,
        }
    }
    finish(others, prepared)
}

/// Removes a file that others write to, if it is still what it was; see [`replace`].
///
/// # Errors
/// What `still` has against it, and the file is there.
pub(crate) fn remove(path: &Path, still: Still<'_>) -> Result<()> {
    still(path)?;
    let _held = signals::hold();
    let named = beside(path, b"").map_err(|error| cant(path, &error))?.0;
    exchange::take(named, path, still)
}

/// Puts a text into a file for its owner alone, in one go.
///
/// # Errors
/// It can't be written.
pub(crate) fn deliver_private(path: &Path, text: &[u8]) -> Result<()> {
    let _held = signals::hold();
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // The builder's own rights are private.
    let written = builder.tempfile_in(folder_of(path)).and_then(|mut file| {
        file.write_all(text)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map_err(|error| cant(path, &error))?;
    settle(folder_of(path));
    Ok(())
}

/// What would be lost isn't known to whoever owns the file.
fn refuse(path: &Path, unkept: &[String]) -> Result<()> {
    let Some(first) = unkept.first() else { return Ok(()) };
    let what = format!("{} is left as it is: this user can't keep {first}", name(path));
    Err(Failure::other(what).hint("run it as the file's owner: sudo -u OWNER epitome …").into())
}

impl Parcel<'_> {
    /// The text on the disk, in a file that has no name yet and is gone when the process is. `None` if nothing is to be
    /// prepared, or if the system has no such files.
    fn prepare(&self) -> Result<Option<File>> {
        let Place::File(path) = self.place else { return Ok(None) };
        let Some(mut file) = nameless::file(folder_of(path)) else { return Ok(None) };
        let unkept = fill(&mut file, self.text, path).map_err(|error| cant(path, &error))?;
        warn_of(path, &unkept);
        Ok(Some(file))
    }

    /// Writes it, where it goes to something that can't be replaced; what was opened for that.
    fn poured(&self) -> Result<Option<File>> {
        let mut opened = None;
        let poured = match self.place {
            Place::File(_) => return Ok(None),
            Place::Stdout => pour(&mut io::stdout().lock(), self.text),
            Place::Stderr => pour(&mut io::stderr().lock(), self.text),
            Place::Stream(path) => {
                stream(path).and_then(|open| pour(opened.insert(open), self.text))
            }
        };
        settled(poured, &self.place.shown())?;
        Ok(opened)
    }

    /// Puts it in place, where that is a file.
    fn placed(&self, prepared: Option<File>) -> Result<()> {
        match self.place {
            Place::File(path) => put(path, self.text, prepared).map_err(|e| cant(path, &e)),
            Place::Stdout | Place::Stderr | Place::Stream(_) => Ok(()),
        }
    }
}

pub(super) fn cant(path: &Path, error: &io::Error) -> anyhow::Error {
    Failure::other(format!("{} can't be written: {error}", name(path)))
        .hint(format!("ls -ld {0}; df {0}", operand(folder_of(path))))
        .into()
}

/// Writes to a stream, with nothing in it that a terminal would obey.
fn pour<W: Write + IsTerminal>(out: &mut W, text: &[u8]) -> io::Result<()> {
    if out.is_terminal() {
        let text = String::from_utf8_lossy(text);
        out.write_all(terminal::on_screen(&text).as_bytes())?;
    } else {
        out.write_all(text)?;
    }
    out.flush()
}

/// Opens an unreplaceable output. An open file is appended to: its other holders go on there too.
fn stream(path: &Path) -> io::Result<File> {
    let is_file = fs::metadata(path)?.is_file();
    fs::OpenOptions::new().write(true).append(is_file).open(path)
}

/// Writes `text`, down to the disk, with the attributes of the file at `path`; returns those that it couldn't get.
fn fill(file: &mut File, text: &[u8], path: &Path) -> io::Result<Vec<String>> {
    file.write_all(text)?;
    let unkept = match fs::metadata(path) {
        Ok(old) => belongings::carry(file, path, &old)?,
        Err(_) => Vec::new(),
    };
    file.sync_all()?;
    Ok(unkept)
}

fn warn_of(path: &Path, unkept: &[String]) {
    if !unkept.is_empty() {
        warn(&format!("{} loses {}", name(path), unkept.join(", ")));
    }
}

/// Puts the text in place of what is at `path`, in one go.
fn put(path: &Path, text: &[u8], prepared: Option<File>) -> io::Result<()> {
    let folder = folder_of(path);
    // Between a name and its rename nothing that can wait interrupts, so that no file is left behind.
    let _held = signals::hold();
    let named = if let Some(Ok(named)) = prepared.map(|file| nameless::link(&file, folder)) {
        named
    } else {
        let (named, unkept) = beside(path, text)?;
        warn_of(path, &unkept);
        named
    };
    named.persist(path).map_err(|error| error.error)?;
    settle(folder);
    Ok(())
}

/// A rename is durable once the folder is; not every system can say so.
pub(super) fn settle(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _unsupported = folder.sync_all();
    }
}

pub(super) const PREFIX: &str = ".epitome-";
pub(super) const SUFFIX: &str = ".tmp";

/// A file with a name of its own in the folder of `path`, where there are none without.
fn beside(path: &Path, text: &[u8]) -> io::Result<(NamedTempFile<()>, Vec<String>)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What a new file gets; the builder's own would be private.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder_of(path))?;
    let unkept = fill(file.as_file_mut(), text, path)?;
    let (_, path) = file.into_parts();
    Ok((NamedTempFile::from_parts((), path), unkept))
}

/// Files without a name, which Linux has: nothing is left of them, however the process ends.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;

    use nix::fcntl::{AT_FDCWD, AtFlags};
    use nix::libc::O_TMPFILE;
    use nix::unistd::linkat;
    use tempfile::NamedTempFile;

    /// A new one on the folder's file system, if that has them.
    pub(super) fn file(folder: &Path) -> Option<File> {
        let mut options = OpenOptions::new();
        options.write(true).mode(0o666).custom_flags(O_TMPFILE).open(folder).ok()
    }

    /// Gives it a name in the folder, to be renamed from; a link replaces nothing.
    pub(super) fn link(file: &File, folder: &Path) -> io::Result<NamedTempFile<()>> {
        let here = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut builder = tempfile::Builder::new();
        builder.prefix(super::PREFIX).suffix(super::SUFFIX).make_in(folder, |name| {
            let follow = AtFlags::AT_SYMLINK_FOLLOW;
            Ok(linkat(AT_FDCWD, here.as_str(), AT_FDCWD, name, follow)?)
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use tempfile::NamedTempFile;

    pub(super) fn file(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn link(_: &File, _: &Path) -> io::Result<NamedTempFile<()>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
