//! A store: its connections, and whose it is.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::database::postgres::Server;
use crate::database::{Connection, Deleted, May, sqlite, values};
use crate::error::StoreError;
use crate::folder::FileIdentity;
use crate::{folder, schema, server};

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
    place: Place,
    writer: Option<Mutex<Connection>>,
    readers: Mutex<Vec<Connection>>,
}

/// Where a store is.
#[derive(Debug)]
enum Place {
    File(PathBuf, Option<FileIdentity>),
    Server(Box<Server>),
}

impl Store {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// There is none, something else is there, it is a link, another version of this program wrote it, or the system says no.
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
                if schema::version(&reader, folder)? == 0 {
                    return Err(StoreError::Missing { path: folder.to_owned() });
                }
                (None, vec![reader])
            }
        };
        let identity = folder::identity(&database);
        Store::at(Place::File(database, identity), writer, readers)
    }

    /// Connects to the store in a database of a PostgreSQL server, `postgres://user@host:port/database`; without
    /// the feature `postgres` that is an error. All
    /// of it is in a schema of its own, `epitome`, which [`Access::Write`] makes. The password may stand in the
    /// URL or beside it.
    ///
    /// # Errors
    /// The server can't be reached or refuses. There is no store, or another version of this program made it. The server can't be
    /// verified as far as the URL demands (`sslmode`, `sslrootcert`); for another machine verification is the default.
    pub fn connect(url: &str, password: Option<&str>, access: Access) -> Result<Self, StoreError> {
        let server = Server::new(url, password)?;
        let may = if access == Access::Read { May::Read } else { May::Write };
        let connection = server.connect(may)?;
        if access == Access::Write {
            server::make(&connection, server.shown())?;
        } else if server::version(&connection, server.shown())? == 0 {
            return Err(StoreError::Missing { path: server.shown().into() });
        }
        let (writer, readers) = match may {
            May::Write => (Some(Mutex::new(connection)), Vec::new()),
            May::Read => (None, vec![connection]),
        };
        Store::at(Place::Server(Box::new(server)), writer, readers)
    }

    fn at(
        place: Place,
        writer: Option<Mutex<Connection>>,
        readers: Vec<Connection>,
    ) -> Result<Self, StoreError> {
        let shared = Shared { place, writer, readers: Mutex::new(readers) };
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

    /// The version of its tables; SQLite's and PostgreSQL's are counted apart.
    pub fn version(&self) -> i64 {
        match self.shared.place {
            Place::File(..) => schema::VERSION,
            Place::Server(_) => server::VERSION,
        }
    }

    /// Does something in one transaction, alone; on the disk when it returns.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writing()?.transaction(self.tenant, work)
    }

    /// The same, with what is deleted overwritten.
    pub(crate) fn erase<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writing()?.erasing(self.tenant, work)
    }

    /// Whether nothing is left of what was erased; somebody may still read it.
    pub(crate) fn is_erased(&self, deleted: Deleted) -> Result<bool, StoreError> {
        // Readers that stand open would keep what was forgotten in the log.
        self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.writing()?.is_erased(deleted)
    }

    /// Refuses a database that was removed: the system keeps an open file, which nobody else will ever see.
    fn there(&self) -> Result<(), StoreError> {
        match &self.shared.place {
            Place::File(database, opened) if folder::identity(database) != *opened => {
                let path = database.parent().unwrap_or(database).to_owned();
                Err(StoreError::Missing { path })
            }
            _ => Ok(()),
        }
    }

    fn writing(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let writer = self.shared.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        self.there()?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Place::Server(server), true) = (&self.shared.place, writer.is_closed()) {
            *writer = server.connect(May::Write)?;
        }
        Ok(writer)
    }

    /// A connection to read with; all that is read with it is as it was at one time.
    pub(crate) fn reading(&self) -> Result<Reading<'_>, StoreError> {
        self.there()?;
        let idle = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match (idle, &self.shared.place) {
            (Some(connection), _) if !connection.is_closed() => connection,
            (_, Place::File(database, _)) => sqlite::reader(database)?,
            (_, Place::Server(server)) => server.connect(May::Read)?,
        };
        connection.begin_reading()?;
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

/// A connection that writes.
fn writer(database: &Path, folder: &Path) -> Result<Connection, StoreError> {
    let writer = sqlite::writer(database)?;
    // First of all, so that nothing of another program's file is touched.
    schema::version(&writer, folder)?;
    sqlite::prepare(&writer)?;
    schema::make(&writer, folder)?;
    Ok(writer)
}
