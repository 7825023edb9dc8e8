//! What can go wrong with a store.

use std::io;
use std::path::{Path, PathBuf};

use epitome::archive::ArchiveError;

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is nothing at the path.
    #[error("there is no store {}", path.display())]
    Missing {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// What is there isn't a store.
    #[error("{} isn't a store: {why}", path.display())]
    NotAStore {
        /// What is there.
        path: PathBuf,
        /// What speaks against it.
        why: &'static str,
    },
    /// A link could lead anywhere.
    #[error("{} is a symbolic link, and a store isn't opened through one", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// It belongs to another user, who may change it at any time.
    #[error("{} belongs to user {owner}, not to you", path.display())]
    Foreign {
        /// The store, or a file of it.
        path: PathBuf,
        /// The number of that user.
        owner: u32,
    },
    /// Other users may read or write it.
    #[error("{} is open to other users (mode {mode:03o})", path.display())]
    Exposed {
        /// The store, or a file of it.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A program wrote it that has other tables.
    #[error("the store {} is of version {found}; this program knows version {known}", path.display())]
    OtherVersion {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that is known.
        known: i64,
    },
    /// The system refused something.
    #[error("{}: {error}", path.display())]
    Io {
        /// What was wanted.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The database refused something.
    #[error("the store's database: {0}")]
    Database(#[source] rusqlite::Error),
    /// That is no server, or none that is spoken with.
    #[error("{url}: {why}")]
    Address {
        /// As it was named, without the password.
        url: String,
        /// What speaks against it.
        why: String,
    },
    /// Nobody who is trusted vouches for whoever answered.
    #[error("{url}: {why}")]
    Untrusted {
        /// As it was named, without the password.
        url: String,
        /// What speaks against whoever answered.
        why: String,
    },
    /// The server refused something, or can't be reached.
    #[error("{url}: {what}")]
    Server {
        /// As it was named, without the password.
        url: String,
        /// What the server, or the system, said.
        what: String,
        /// What the server calls it, as in PostgreSQL's table of error codes.
        code: Option<String>,
        /// Whether the same may work a little later.
        is_passing: bool,
    },
    /// Without its secrets it can't be read any more.
    #[error("it can't be read once its secrets are masked, so it wasn't archived")]
    Unredactable,
    /// What is kept isn't what was put.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// What was found.
        what: String,
    },
    /// The index of words is damaged. It holds nothing that isn't in the store besides.
    #[error("the store's index of words is damaged: {what}")]
    DamagedIndex {
        /// What was found.
        what: String,
    },
    /// A crash left a log that has to be written into the database, where nothing can be written.
    #[error("{} holds changes that can't be written into the database here", path.display())]
    Unfinished {
        /// The log.
        path: PathBuf,
    },
    /// It was opened for reading.
    #[error("the store was opened for reading only")]
    ReadOnly,
    /// Somebody forgot the session since it was opened.
    #[error("the session was forgotten meanwhile")]
    Forgotten,
    /// There is no such session, or it isn't this tenant's.
    #[error("there is no session {name:?}")]
    NoSuchSession {
        /// As it was named.
        name: String,
    },
    /// Several sessions begin like that.
    #[error("{count} sessions begin with {name:?}")]
    Ambiguous {
        /// As it was named.
        name: String,
        /// How many.
        count: usize,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
        |error| StoreError::Io { path: path.to_owned(), error }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        StoreError::Damaged { what: what.into() }
    }

    /// The same of what asked the index of words alone.
    pub(crate) fn of_index(self) -> Self {
        match self {
            StoreError::Damaged { what } => StoreError::DamagedIndex { what },
            error => error,
        }
    }

    /// What SQLite calls it.
    pub(crate) fn sqlite_code(&self) -> Option<rusqlite::ErrorCode> {
        if let StoreError::Database(error) = self { error.sqlite_error_code() } else { None }
    }

    /// Whether the same may work a little later: another process held the database.
    pub fn is_busy(&self) -> bool {
        if let StoreError::Server { is_passing, .. } = self {
            return *is_passing;
        }
        let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
        self.sqlite_code().is_some_and(|code| busy.contains(&code))
    }

    pub(crate) fn reading(self) -> ArchiveError {
        match self {
            StoreError::Damaged { what } | StoreError::DamagedIndex { what } => {
                ArchiveError::Damaged { what }
            }
            _ => ArchiveError::Read { why: self.to_string() },
        }
    }

    pub(crate) fn writing(self) -> ArchiveError {
        match self {
            StoreError::Damaged { what } | StoreError::DamagedIndex { what } => {
                ArchiveError::Damaged { what }
            }
            _ => ArchiveError::Write { why: self.to_string() },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => StoreError::damaged(error.to_string()),
            _ => StoreError::Database(error),
        }
    }
}
