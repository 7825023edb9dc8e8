//! Where data, reports and notes go.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::terminal;

/// The form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// For people.
    Words,
    /// For programs.
    Json,
}

/// Writes data to stdout. A reader that has seen enough is no failure.
pub(crate) fn data(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    settled(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes words to stdout, with colours if it is a terminal.
pub(crate) fn words(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    settled(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a report to stdout as JSON.
pub(crate) fn json(report: &impl serde::Serialize) -> Result<()> {
    data(&format!("{}\n", terminal::json(report)))
}

/// Writes a line to stderr, with colours if it is a terminal.
pub(crate) fn note(text: &str) {
    // Nobody is left to be told that stderr is gone.
    let _gone = writeln!(anstream::stderr().lock(), "{text}");
}

/// Writes a warning to stderr.
pub(crate) fn warn(text: &str) {
    note(&format!("{} {}", terminal::paint(terminal::WARN, "warning:"), terminal::lines(text)));
}

fn settled(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("stdout can't be written"),
    }
}

/// Where a result is to go, looked at before any work is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// To stdout.
    Stdout,
    /// Into a regular file, in one go.
    File(PathBuf),
    /// Into a device or a pipe, which can't be replaced.
    Stream(PathBuf),
}

impl Place {
    /// Whether both are the same place, however their paths are spelled.
    pub(crate) fn is_same(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::File(one), Place::File(other)) => resolved(one) == resolved(other),
            _ => self == other,
        }
    }

    /// The place that `-o` names.
    ///
    /// # Errors
    /// A folder, a folder that isn't there, or a file that is write-protected.
    pub(crate) fn at(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Place::Stdout);
        };
        let shown = path.display();
        // The link stays; what it points to is replaced.
        let path = followed(path)?;
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                let inside = path.join("compacted.json");
                let inside = terminal::shell(&inside.to_string_lossy());
                Err(Failure::usage(format!("{shown} is a folder"))
                    .hint(format!("name a file in it: -o {inside}"))
                    .into())
            }
            Ok(meta) if !meta.is_file() => Ok(Place::Stream(path)),
            Ok(meta) if meta.permissions().readonly() => {
                let file = terminal::shell(&path.to_string_lossy());
                Err(Failure::other(format!("{shown} is write-protected"))
                    .hint(format!("chmod u+w {file}"))
                    .into())
            }
            Ok(_) => Ok(Place::File(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folder = folder_of(&path);
                if folder.is_dir() {
                    return Ok(Place::File(path));
                }
                let wanted = terminal::shell(&folder.to_string_lossy());
                Err(Failure::other(format!("{shown}: there is no folder {}", folder.display()))
                    .hint(format!("mkdir -p {wanted}"))
                    .into())
            }
            Err(error) => Err(Failure::other(format!("{shown} can't be written: {error}")).into()),
        }
    }

    /// Whether stdout is left for a report.
    pub(crate) fn leaves_stdout(&self) -> bool {
        !matches!(self, Place::Stdout)
    }

    /// Whether data would be poured over a person's screen.
    pub(crate) fn is_screen(&self) -> bool {
        matches!(self, Place::Stdout) && io::stdout().is_terminal()
    }

    /// Writes `text` there, all of it or nothing.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        self.stage(text)?.finish()
    }

    /// Writes `text` beside its place, so that only a rename is left to do.
    pub(crate) fn stage<'a>(&'a self, text: &'a str) -> Result<Staged<'a>> {
        let Place::File(path) = self else { return Ok(Staged { place: self, text, file: None }) };
        let cant = || format!("{} can't be written", path.display());
        let mut file = beside(path).with_context(cant)?;
        file.write_all(text.as_bytes()).with_context(cant)?;
        if let Ok(old) = fs::metadata(path) {
            file.as_file().set_permissions(old.permissions()).with_context(cant)?;
        }
        file.as_file().sync_all().with_context(cant)?;
        Ok(Staged { place: self, text, file: Some(file) })
    }
}

/// Text that is nearly where it should be.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    place: &'a Place,
    text: &'a str,
    file: Option<NamedTempFile>,
}

impl Staged<'_> {
    /// Puts it there.
    pub(crate) fn finish(self) -> Result<()> {
        match (self.place, self.file) {
            (Place::Stdout, _) => data(self.text),
            (Place::File(path), Some(file)) => {
                let cant = || format!("{} can't be written", path.display());
                file.persist(path).map_err(|error| error.error).with_context(cant)?;
                // The rename itself is durable once the folder is; not every system can say so.
                if let Ok(folder) = File::open(folder_of(path)) {
                    let _unsupported = folder.sync_all();
                }
                Ok(())
            }
            (Place::File(path) | Place::Stream(path), _) => {
                let cant = || format!("{} can't be written", path.display());
                let mut stream =
                    fs::OpenOptions::new().write(true).open(path).with_context(cant)?;
                settled(stream.write_all(self.text.as_bytes()))
            }
        }
    }
}

/// A fresh file in the same folder, with the rights that a new file gets.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".epitome-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The path that symbolic links lead to, whether or not there is a file.
fn followed(path: &Path) -> Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(Failure::other(format!("{}: too many symbolic links", path.display())).into())
}
/// The path with its folder resolved; the file itself may not be there yet.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).unwrap_or_default();
    path.file_name().map_or_else(|| path.to_owned(), |name| folder.join(name))
}
