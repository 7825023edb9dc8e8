//! Folders of the user's own, by the XDG base directory specification.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// `epitome` in the folder for configuration.
pub(crate) fn configuration() -> Option<PathBuf> {
    own("XDG_CONFIG_HOME", ".config")
}

/// `epitome` in the folder for data.
pub(crate) fn data() -> Option<PathBuf> {
    own("XDG_DATA_HOME", ".local/share")
}

/// `epitome` in the folder for state.
pub(crate) fn state() -> Option<PathBuf> {
    own("XDG_STATE_HOME", ".local/state")
}

/// The archive that is meant where none is named; there is none without a home folder.
pub(crate) fn usual_archive() -> Option<&'static OsStr> {
    static USUAL: LazyLock<Option<PathBuf>> = LazyLock::new(|| Some(data()?.join("archive")));
    USUAL.as_deref().map(Path::as_os_str)
}

/// What a variable names, if that is an absolute path; else a folder in the home folder.
fn own(variable: &str, in_home: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let base = folder(variable).or_else(|| Some(folder("HOME")?.join(in_home)))?;
    Some(base.join("epitome"))
}
