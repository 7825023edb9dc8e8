//! The folder of a store: its owner's alone, and no link anywhere in it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The database, in the folder.
const DATABASE: &str = "store.db";

/// The path of the database in a folder that is there; `None` if there is none yet.
pub(crate) fn found(folder: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Some(meta) = looked_at(folder)? else { return Ok(None) };
    if !meta.is_dir() {
        let why = "it is a file; a store is a folder";
        return Err(StoreError::NotAStore { path: folder.to_owned(), why });
    }
    // Links above the folder are the system's or the owner's; SQLite refuses any in the path.
    let folder = folder.canonicalize().map_err(StoreError::io(folder))?;
    let database = folder.join(DATABASE);
    if is_private(&folder, &meta, &database)? {
        return Ok(Some(database));
    }
    let mut others = fs::read_dir(&folder).map_err(StoreError::io(&folder))?;
    if others.next().is_some() {
        // It may be there only since it was looked for: another process makes it first of all.
        if is_private(&folder, &meta, &database)? {
            return Ok(Some(database));
        }
        let why = "the folder holds other things";
        return Err(StoreError::NotAStore { path: folder, why });
    }
    Ok(None)
}

/// Whether a database is in a folder. Whatever of a store is there has to be the user's own, and nobody else's to read
/// or write.
fn is_private(folder: &Path, meta: &fs::Metadata, database: &Path) -> Result<bool, StoreError> {
    let Some(file) = looked_at(database)? else { return Ok(false) };
    private(folder, meta)?;
    private(database, &file)?;
    for beside in ["store.db-wal", "store.db-shm", "store.db-journal"] {
        let beside = folder.join(beside);
        if let Some(meta) = looked_at(&beside)? {
            private(&beside, &meta)?;
        }
    }
    Ok(true)
}

/// Makes the folder and an empty database, readable by nobody else whatever the umask.
pub(crate) fn made(folder: &Path) -> Result<PathBuf, StoreError> {
    if let Some(meta) = looked_at(folder)? {
        // It is empty.
        owned(folder, &meta)?;
        own(folder, 0o700)?;
    } else {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(folder) {
            Ok(()) => own(folder, 0o700)?,
            // Another process was quicker; or put a link there.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                looked_at(folder)?;
            }
            Err(error) => return Err(StoreError::io(folder)(error)),
        }
        // SQLite sees to what is in the folder; that there is one has to be durable too.
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
        if let Ok(above) = fs::File::open(above.unwrap_or(Path::new("."))) {
            let _unsupported = above.sync_all();
        }
    }
    let database = folder.canonicalize().map_err(StoreError::io(folder))?.join(DATABASE);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&database) {
        Ok(_) => own(&database, 0o600)?,
        // Another process was quicker.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(StoreError::io(&database)(error)),
    }
    Ok(database)
}

/// Which file it is, whatever its name: a volume and a number there.
pub(crate) type FileIdentity = (u64, u64);

/// Which file is at a path, if one is.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;

    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Which file is at a path: elsewhere one that is open can't be taken away.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    path.exists().then_some((0, 0))
}

/// What is at a path, if that is no link.
fn looked_at(path: &Path) -> Result<Option<fs::Metadata>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(StoreError::Link { path: path.to_owned() }),
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}

/// Refuses what isn't the user's own.
#[cfg(unix)]
fn owned(path: &Path, meta: &fs::Metadata) -> Result<(), StoreError> {
    let owner = std::os::unix::fs::MetadataExt::uid(meta);
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(StoreError::Foreign { path: path.to_owned(), owner })
}

/// Refuses what isn't the user's own, and what others may read or write.
#[cfg(unix)]
fn private(path: &Path, meta: &fs::Metadata) -> Result<(), StoreError> {
    owned(path, meta)?;
    let mode = std::os::unix::fs::MetadataExt::mode(meta) & 0o777;
    let others = mode & 0o077;
    if others != 0 {
        return Err(StoreError::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn owned(_: &Path, _: &fs::Metadata) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(not(unix))]
fn private(_: &Path, _: &fs::Metadata) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(unix)]
fn own(path: &Path, mode: u32) -> Result<(), StoreError> {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(path, permissions).map_err(StoreError::io(path))
}

#[cfg(not(unix))]
fn own(_: &Path, _: u32) -> Result<(), StoreError> {
    Ok(())
}
