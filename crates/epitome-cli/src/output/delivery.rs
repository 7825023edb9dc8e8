//! Putting texts where they belong: all of each or nothing, and the last one only after the others.

use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use tempfile::NamedTempFile;

use super::place::folder_of;
use super::{Place, settled};
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

/// Writes all of them, in order. Files are prepared first, so that what can fail has failed before
/// anything is told or replaced; whoever finds the last one finds the others too.
pub(crate) fn deliver(parcels: &[Parcel<'_>]) -> Result<()> {
    deliver_when(|| Ok(()), parcels)
}

/// The same, if `ready` has nothing against it once all is prepared.
pub(crate) fn deliver_when(
    ready: impl FnOnce() -> Result<()>,
    parcels: &[Parcel<'_>],
) -> Result<()> {
    let prepared = parcels.iter().map(Parcel::prepare).collect::<Result<Vec<_>>>()?;
    ready()?;
    for (parcel, file) in parcels.iter().zip(prepared) {
        parcel.finish(file)?;
    }
    Ok(())
}

impl Parcel<'_> {
    /// The text on the disk, in a file that has no name yet and is gone when the process is. `None`
    /// where nothing is to be prepared, or where the system has no such files.
    fn prepare(&self) -> Result<Option<File>> {
        let Place::File(path) = self.place else { return Ok(None) };
        let Some(mut file) = nameless::file(folder_of(path)) else { return Ok(None) };
        fill(&mut file, self.text, fs::metadata(path).ok().as_ref())
            .map_err(|error| cant(path, &error))?;
        Ok(Some(file))
    }

    fn finish(&self, prepared: Option<File>) -> Result<()> {
        let shown = self.place.shown();
        match self.place {
            Place::Stdout => settled(pour(&mut io::stdout().lock(), self.text), &shown),
            Place::Stderr => settled(pour(&mut io::stderr().lock(), self.text), &shown),
            Place::File(path) => replace(path, self.text, prepared).map_err(|e| cant(path, &e)),
            Place::Stream(path) => {
                let poured = stream(path).and_then(|mut open| pour(&mut open, self.text));
                settled(poured, &shown)
            }
        }
    }
}

fn cant(path: &Path, error: &io::Error) -> anyhow::Error {
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

/// Opens what can't be replaced. An open file is written on where it ends: its other holders go on
/// there too.
fn stream(path: &Path) -> io::Result<File> {
    let is_file = fs::metadata(path)?.is_file();
    fs::OpenOptions::new().write(true).append(is_file).open(path)
}

/// Writes `text` with the rights of the file that it replaces, down to the disk.
fn fill(file: &mut File, text: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    file.write_all(text)?;
    if let Some(old) = old {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            // Whoever may not give it away keeps it.
            let _denied = fchown(&*file, Some(old.uid()), Some(old.gid()));
        }
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Puts the text in place of what is at `path`, in one go.
fn replace(path: &Path, text: &[u8], prepared: Option<File>) -> io::Result<()> {
    let folder = folder_of(path);
    // Between a name and its rename nothing that can wait interrupts, so that no file is left behind.
    let _held = signals::hold();
    let named = match prepared.map(|file| nameless::link(&file, folder)) {
        Some(Ok(named)) => named,
        _ => beside(path, text)?,
    };
    named.persist(path).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is; not every system can say so.
    if let Ok(folder) = File::open(folder) {
        let _unsupported = folder.sync_all();
    }
    Ok(())
}

const PREFIX: &str = ".epitome-";
const SUFFIX: &str = ".tmp";

/// A file with a name of its own in the folder of `path`, where there are none without.
fn beside(path: &Path, text: &[u8]) -> io::Result<NamedTempFile<()>> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What a new file gets; the builder's own would be private.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder_of(path))?;
    fill(file.as_file_mut(), text, fs::metadata(path).ok().as_ref())?;
    let (_, path) = file.into_parts();
    Ok(NamedTempFile::from_parts((), path))
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
