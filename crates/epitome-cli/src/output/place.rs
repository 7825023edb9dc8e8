//! A place that output may go to, looked at before any work is done.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::failure::Failure;
use crate::identity::Identity;
use crate::quoting::{name, operand, shell};

/// Where a result is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// To stdout, whatever the shell made of it.
    Stdout,
    /// To stderr.
    Stderr,
    /// Into a regular file, which is replaced in one go.
    File(PathBuf),
    /// Into what can't be replaced: a device, a pipe, an open file of some process.
    Stream(PathBuf),
}

impl Place {
    /// The place of `-o`, which is stdout where nothing is said.
    ///
    /// # Errors
    /// See [`Place::wanted`].
    pub(crate) fn output(path: Option<&Path>) -> Result<Self> {
        path.map_or(Ok(Place::Stdout), |path| Place::wanted("-o", path))
    }

    /// The place that an option names.
    ///
    /// # Errors
    /// A folder, a folder that isn't there, or a file that is write-protected.
    pub(crate) fn wanted(flag: &str, path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Place::Stdout);
        }
        let shown = name(path);
        // What such a path leads to may look like a file, but replacing that would cut the stream off.
        if let Some(descriptor) = Descriptor::at(path) {
            return match descriptor {
                Descriptor::Stdout => Ok(Place::Stdout),
                Descriptor::Stderr => Ok(Place::Stderr),
                Descriptor::Other if fs::metadata(path).is_ok() => {
                    Ok(Place::Stream(path.to_owned()))
                }
                Descriptor::Other => Err(Failure::usage(format!("{shown} isn't open"))
                    .hint(format!("name a file, or - for stdout: {flag} -"))
                    .into()),
            };
        }
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => Err(is_folder(flag, path)),
            Ok(meta) if !meta.is_file() => Ok(Place::Stream(path.to_owned())),
            Ok(meta) if meta.permissions().readonly() => {
                Err(Failure::other(format!("{shown} is write-protected"))
                    .hint(format!("chmod u+w {}", operand(path)))
                    .into())
            }
            // The link stays; what it points to is replaced.
            Ok(_) => {
                not_a_stream(flag, path)?;
                Ok(Place::File(followed(path)?))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Place::fresh(path),
            Err(error) => Err(Failure::other(format!("{shown} can't be written: {error}"))
                .hint(format!("ls -ld {}", operand(folder_of(path))))
                .into()),
        }
    }

    /// A file that isn't there yet.
    fn fresh(path: &Path) -> Result<Self> {
        let file = followed(path)?;
        let ends_in_slash = file.as_os_str().as_encoded_bytes().ends_with(b"/");
        let folder = if ends_in_slash { file.as_path() } else { folder_of(&file) };
        if folder.is_dir() {
            return Ok(Place::File(file));
        }
        let what = format!("{}: there is no folder {}", name(path), name(folder));
        Err(Failure::other(what).hint(format!("mkdir -p {}", operand(folder))).into())
    }

    /// Whether stdout is left for a report.
    pub(crate) fn leaves_stdout(&self) -> bool {
        !matches!(self, Place::Stdout)
    }

    /// Whether data would be poured over a person's screen.
    pub(crate) fn is_screen(&self) -> bool {
        match self {
            Place::Stdout => io::stdout().is_terminal(),
            Place::Stderr => io::stderr().is_terminal(),
            Place::File(_) | Place::Stream(_) => false,
        }
    }

    /// The place for a reader.
    pub(super) fn shown(&self) -> String {
        match self {
            Place::Stdout => "stdout".to_owned(),
            Place::Stderr => "stderr".to_owned(),
            Place::File(path) | Place::Stream(path) => name(path),
        }
    }

    /// Refuses to write over something that is read: `what`, in the file `input`.
    ///
    /// # Errors
    /// A failure of usage.
    pub(crate) fn spare(&self, flag: &str, what: &str, input: Option<&Path>) -> Result<()> {
        let (Place::File(file), Some(input)) = (self, input) else { return Ok(()) };
        if input.as_os_str() == "-" || resolved(file) != resolved(&followed(input)?) {
            return Ok(());
        }
        Err(Failure::usage(format!("{flag} {} would overwrite {what}", name(file)))
            .hint(format!("name another file for {flag}"))
            .into())
    }

    /// Refuses to write into an archive: what is in it is its own.
    ///
    /// # Errors
    /// A failure of usage.
    pub(crate) fn spare_archive(&self, flag: &str, archive: &Path) -> Result<()> {
        let Place::File(file) = self else { return Ok(()) };
        let folder = |path: &Path| fs::canonicalize(path).ok();
        let is_inside = match (folder(folder_of(file)), folder(archive)) {
            (Some(folder), Some(archive)) => folder.starts_with(archive),
            _ => false,
        };
        if !is_inside || !archive.join("store.db").exists() {
            return Ok(());
        }
        let what = format!("{flag} {} would be written into the archive", name(file));
        Err(Failure::usage(what).hint(format!("name a file elsewhere for {flag}")).into())
    }

    /// Whether writing to one would spoil what was written to the other, however they are spelled.
    fn spoils(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::File(one), Place::File(other)) => resolved(one) == resolved(other),
            // The file would be replaced while the stream still leads to the old one.
            (Place::File(file), Place::Stream(stream))
            | (Place::Stream(stream), Place::File(file)) => {
                let of_file = Identity::of_file(file);
                of_file.is_some() && of_file == Identity::of_file(stream)
            }
            _ => self == other,
        }
    }
}

/// Refuses a file that the shell has opened for stdout or stderr: it would be replaced while those still
/// lead to the old one.
fn not_a_stream(flag: &str, path: &Path) -> Result<()> {
    let Some(file) = Identity::of_file(path) else { return Ok(()) };
    let streams = [("stdout", Identity::of_stdout()), ("stderr", Identity::of_stderr())];
    match streams.into_iter().find(|(_, stream)| *stream == Some(file)) {
        None => Ok(()),
        Some((stream, _)) => {
            Err(Failure::usage(format!("{stream} and {flag} can't go to the same place"))
                .hint(format!("send {stream} elsewhere, or leave out {flag}"))
                .into())
        }
    }
}

/// Refuses places that would spoil each other; each comes with what goes there.
///
/// # Errors
/// A failure of usage.
pub(crate) fn apart(places: &[(&str, &Place)]) -> Result<()> {
    for (at, (what, place)) in places.iter().enumerate() {
        if let Some((other, _)) = places[..at].iter().find(|(_, other)| place.spoils(other)) {
            bail!(
                Failure::usage(format!("{other} and {what} can't go to the same place"))
                    .hint("give each a file of its own")
            );
        }
    }
    Ok(())
}

/// An open file of a process, as `/dev/stdout`, `/dev/fd/3` or `/proc/self/fd/3` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Descriptor {
    Stdout,
    Stderr,
    Other,
}

/// Links that are followed from one to the next; systems give up at the same number.
const MOST_LINKS: usize = 40;

impl Descriptor {
    /// The descriptor that a path leads to. Links are read one by one, because where the last one
    /// leads to is the file that is open, and no longer the descriptor.
    fn at(path: &Path) -> Option<Self> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let folder = fs::canonicalize(folder_of(&path)).ok()?;
            if is_of_descriptors(&folder) {
                let is_own = folder == Path::new("/dev/fd")
                    || folder.starts_with(format!("/proc/{}", std::process::id()));
                return Some(match path.file_name()?.to_str() {
                    Some("1") if is_own => Descriptor::Stdout,
                    Some("2") if is_own => Descriptor::Stderr,
                    _ => Descriptor::Other,
                });
            }
            path = folder.join(fs::read_link(&path).ok()?);
        }
        None
    }
}

fn is_of_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd")
}

fn is_folder(flag: &str, path: &Path) -> anyhow::Error {
    let inside = shell(path.join("compacted.json"));
    Failure::usage(format!("{} is a folder", name(path)))
        .hint(format!("name a file in it: {flag} {inside}"))
        .into()
}

/// The path that symbolic links lead to, whether or not there is a file.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(Failure::other(format!("{}: too many symbolic links", name(&path)))
        .hint(format!("ls -l {}", operand(&path)))
        .into())
}

/// The path with its folder resolved; the file itself may not be there yet.
fn resolved(path: &Path) -> PathBuf {
    let folder = fs::canonicalize(folder_of(path)).unwrap_or_default();
    path.file_name().map_or_else(|| path.to_owned(), |name| folder.join(name))
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
