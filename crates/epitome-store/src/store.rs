//! A store: its connections, and whose it is.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::database::{Connection, Deleted, sqlite, values};
use crate::error::StoreError;
use crate::{folder, schema};

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
    /// It has to be there, and nothing in it is changed: a read-only disk will do. Only what an older version
    /// wrote is brought up to date first.
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
                (Some(Mutex::new(writer(&database, folder)?)), Vec::new())
            }
            Access::Read => {
                let reader = sqlite::reader(&database)?;
                match schema::version(&reader, folder)? {
                    0 => return Err(StoreError::Missing { path: folder.to_owned() }),
                    schema::VERSION => {}
                    _ => drop(writer(&database, folder)?),
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
            connection.one("SELECT n FROM tenant WHERE name = ?1", values![name])
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
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writing()?.transaction(work)
    }

    /// The same, with what is deleted overwritten.
    pub(crate) fn erase<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.writing()?;
        writer.batch("PRAGMA secure_delete = on")?;
        let done = writer.transaction(work);
        // At other times it would overwrite every page that the index of words gives up when it grows.
        writer.batch("PRAGMA secure_delete = off")?;
        done
    }

    /// Whether nothing is left of what was erased; somebody may still read it.
    pub(crate) fn is_erased(&self, deleted: Deleted) -> Result<bool, StoreError> {
        // Readers that stand open would keep what was forgotten in the log.
        self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        sqlite::is_erased(&*self.writing()?, deleted)
    }

    fn writing(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let writer = self.shared.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        Ok(writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection to read with; all that is read with it is as it was at one time.
    pub(crate) fn reading(&self) -> Result<Reading<'_>, StoreError> {
        let idle = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => sqlite::reader(&self.shared.database)?,
        };
        connection.batch("BEGIN")?;
        Ok(Reading { connection: Some(connection), pool: &self.shared.readers })
    }

    /// The tenant's row, for a call that writes.
    pub(crate) fn owner(&self) -> Result<i64, StoreError> {
        self.tenant.ok_or(StoreError::ReadOnly)
    }

    /// Sets the time at which a session was last used, if it is still there.
    pub(crate) fn touch(transaction: &Connection, session: i64) -> Result<(), StoreError> {
        let touched = transaction.run(
            "UPDATE session SET touched = CASE WHEN touched < ?2 THEN ?2 ELSE touched END WHERE n = ?1",
            values![session, now()],
        )?;
        if touched == 0 { Err(StoreError::Forgotten) } else { Ok(()) }
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
        let Some(connection) = self.connection.take() else { return };
        // One that can't even end what it read is of no more use.
        if connection.batch("COMMIT").is_ok() {
            let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
            if pool.len() < READERS {
                pool.push(connection);
            }
        }
    }
}

/// A connection that writes to a store of the newest version.
fn writer(database: &Path, folder: &Path) -> Result<Connection, StoreError> {
    let writer = sqlite::writer(database)?;
    // First of all, so that nothing of another program's file is touched.
    schema::version(&writer, folder)?;
    sqlite::prepare(&writer)?;
    schema::migrate(&writer, folder)?;
    Ok(writer)
}
