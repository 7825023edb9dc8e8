//! Whether two names, or a name and a stream, are of one file.

use std::fs::Metadata;
use std::path::Path;

/// What tells a regular file from all others on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The file at a path, if there is one.
    pub(crate) fn of_file(path: &Path) -> Option<Self> {
        Identity::of(&std::fs::metadata(path).ok()?)
    }

    /// Another process that has the file open, for a reader.
    #[cfg(target_os = "linux")]
    pub(crate) fn holder(self) -> Option<String> {
        let own = std::process::id().to_string();
        for process in std::fs::read_dir("/proc").ok()?.flatten() {
            let id = process.file_name();
            let Some(id) = id.to_str().filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
            else {
                continue;
            };
            // Those of other users can't be looked into.
            let Ok(open) = std::fs::read_dir(process.path().join("fd")) else { continue };
            if id != own && open.flatten().any(|fd| Identity::of_file(&fd.path()) == Some(self)) {
                let named = std::fs::read_to_string(process.path().join("comm"));
                let named = crate::terminal::line(named.unwrap_or_default().trim(), 40);
                return Some(format!("process {id} ({named})"));
            }
        }
        None
    }

    /// Other systems don't show it; the bytes written meanwhile must do.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn holder(self) -> Option<String> {
        None
    }

    /// The file that a shell connected stdin with, if it is one.
    pub(crate) fn of_stdin() -> Option<Self> {
        Identity::of_stream(&std::io::stdin())
    }

    /// The file that a shell connected stdout with, if it is one.
    pub(crate) fn of_stdout() -> Option<Self> {
        Identity::of_stream(&std::io::stdout())
    }

    /// The file that a shell connected stderr with, if it is one.
    pub(crate) fn of_stderr() -> Option<Self> {
        Identity::of_stream(&std::io::stderr())
    }

    #[cfg(unix)]
    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Self> {
        let stream = stream.as_fd().try_clone_to_owned().ok()?;
        Identity::of(&std::fs::File::from(stream).metadata().ok()?)
    }

    #[cfg(not(unix))]
    fn of_stream<T>(_: &T) -> Option<Self> {
        None
    }

    #[cfg(unix)]
    fn of(meta: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let identity = Identity { device: meta.dev(), inode: meta.ino() };
        meta.is_file().then_some(identity)
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
}
