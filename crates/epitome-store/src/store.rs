//! A store: its connections, and whose it is.

use std::fmt::Write as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction};
use rusqlite::{TransactionBehavior, params};

use crate::error::StoreError;
use crate::{folder, schema};

/// How long another process may hold the database before a call gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Readers that are kept open.
const READERS: usize = 8;

/// The tenant that is meant where none is named.
const DEFAULT_TENANT: &str = "";

/// What is to be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is made if there is none.
    Write,
    /// It has to be there, and may be changed.
    Existing,
    /// It has to be there, and nothing in it is changed: a read-only disk will do.
    Read,
}

/// A store, as one tenant sees it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    /// `None` where the tenant has nothing yet and nothing may be written.
    pub(crate) tenant: Option<i64>,
}

#[derive(Debug)]
struct Shared {
    database: PathBuf,
    writer: Option<Mutex<Connection>>,
    readers: Mutex<Vec<Connection>>,
}

impl Store {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// There is none, something else is there, it is a link, a newer program wrote it, or the system says no.
    pub fn open(folder: &Path, access: Access) -> Result<Self, StoreError> {
        let database = match (folder::found(folder)?, access) {
            (Some(database), _) => database,
            (None, Access::Write) => folder::made(folder)?,
            (None, _) => return Err(StoreError::Missing { path: folder.to_owned() }),
        };
        let (writer, readers) = match access {
            Access::Write | Access::Existing => {
                let mut writer = connected(&database)?;
                // First of all, so that nothing of another program's file is touched.
                schema::version(&writer, folder)?;
                write_ahead(&writer)?;
                writer.pragma_update(None, "synchronous", "full")?;
                writer.pragma_update(None, "secure_delete", "on")?;
                schema::migrate(&mut writer, folder)?;
                (Some(Mutex::new(writer)), Vec::new())
            }
            Access::Read => {
                let reader = reader(&database)?;
                if schema::version(&reader, folder)? == 0 {
                    return Err(StoreError::Missing { path: folder.to_owned() });
                }
                (None, vec![reader])
            }
        };
        let shared = Shared { database, writer, readers: Mutex::new(readers) };
        Store { shared: Arc::new(shared), tenant: None }.tenant(DEFAULT_TENANT)
    }

    /// The same store, as another tenant sees it.
    pub fn tenant(&self, name: &str) -> Result<Self, StoreError> {
        let find = |connection: &Connection| {
            let mut find = connection.prepare_cached("SELECT n FROM tenant WHERE name = ?1")?;
            find.query_row([name], |row| row.get::<_, i64>(0)).optional()
        };
        let tenant = match find(&*self.reading()?)? {
            None if self.shared.writer.is_some() => {
                Some(self.write(|transaction| match find(transaction)? {
                    Some(tenant) => Ok(tenant),
                    None => schema::tenant(transaction, name),
                })?)
            }
            found => found,
        };
        Ok(Store { shared: Arc::clone(&self.shared), tenant })
    }

    /// Does something in one transaction, alone; on the disk when it returns.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.shared.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Does something with the writing connection outside of a transaction.
    pub(crate) fn alone<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.shared.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        // Readers that stand open would keep what was forgotten in the log.
        self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        work(&writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection to read with.
    pub(crate) fn reading(&self) -> Result<Reading<'_>, StoreError> {
        let idle = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => reader(&self.shared.database)?,
        };
        Ok(Reading { connection: Some(connection), pool: &self.shared.readers })
    }

    /// The tenant's row, for a call that writes.
    pub(crate) fn owner(&self) -> Result<i64, StoreError> {
        self.tenant.ok_or(StoreError::ReadOnly)
    }

    /// Sets the time at which a session was last used.
    pub(crate) fn touch(transaction: &Connection, session: i64) -> Result<(), StoreError> {
        let mut touch = transaction
            .prepare_cached("UPDATE session SET touched = max(touched, ?2) WHERE n = ?1")?;
        touch.execute(params![session, now()])?;
        Ok(())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A connection that goes back to where it was taken from.
pub(crate) struct Reading<'a> {
    connection: Option<Connection>,
    pool: &'a Mutex<Vec<Connection>>,
}

impl Deref for Reading<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is taken when it is dropped")
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < READERS {
            pool.extend(self.connection.take());
        }
    }
}

fn connected(database: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    set_up(Connection::open_with_flags(database, flags)?)
}

/// Lets readers go on beside the writer; the file says so for good, once somebody could.
fn write_ahead(writer: &Connection) -> Result<(), StoreError> {
    let since = Instant::now();
    loop {
        // Where two try at once, SQLite refuses one of them at once, however patient it is.
        match writer.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && since.elapsed() < PATIENCE =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            done => return Ok(done?),
        }
    }
}

fn set_up(connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    connection.pragma_update(None, "trusted_schema", "off")?;
    Ok(connection)
}

/// A connection that changes nothing.
fn reader(database: &Path) -> Result<Connection, StoreError> {
    // Opened for writing where that is possible: whoever closes last then tidies up after all.
    let connection = connected(database)?;
    let looked = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    let connection = match looked.map_err(|error| error.sqlite_error_code()) {
        Err(Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)) => {
            whole(database)?;
            unchanging(database)?
        }
        _ => connection,
    };
    connection.pragma_update(None, "query_only", "on")?;
    Ok(connection)
}

/// A log that a crash left behind holds what the database doesn't, and can only be read where it can be written.
fn whole(database: &Path) -> Result<(), StoreError> {
    let log = database.with_extension("db-wal");
    match std::fs::metadata(&log) {
        Ok(meta) if meta.len() > 0 => Err(StoreError::Unfinished { path: log }),
        _ => Ok(()),
    }
}

/// On a disk that can't be written nobody else writes either, so that nothing needs to be locked.
fn unchanging(database: &Path) -> Result<Connection, StoreError> {
    let mut uri = String::from("file:");
    for c in database.to_string_lossy().chars() {
        match c {
            '%' | '?' | '#' => write!(uri, "%{:02x}", c as u32).expect("a string takes all"),
            c => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    set_up(Connection::open_with_flags(uri, flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_cant_be_merged_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("store.db");
        assert!(whole(&database).is_ok());
        std::fs::write(folder.path().join("store.db-wal"), "").expect("written");
        assert!(whole(&database).is_ok(), "nothing is in it");
        std::fs::write(folder.path().join("store.db-wal"), "something").expect("written");
        assert!(matches!(whole(&database), Err(StoreError::Unfinished { .. })));
    }
}
