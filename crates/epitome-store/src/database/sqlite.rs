//! SQLite: statements, and opening the file.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, params_from_iter};

use super::{Cell, Connection, Deleted, Origin, Row, Value};
use crate::error::StoreError;

/// How long another process may hold the database before a call gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Statements that are kept ready.
const STATEMENTS: usize = 64;

/// What the writer holds of the database in memory, in kibibytes: new digests go all over the index of contents.
const WRITERS_CACHE: i64 = 64 << 10;

/// Pages in the log before it is written into the database; a page that changes often is so written once.
const LOG: i64 = 8 << 10;

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(value),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(super) fn rows(
    connection: &rusqlite::Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let from = Origin::new(sql, statement.column_names());
    answers(&mut statement, &from, values)
}

pub(super) fn each<const N: usize>(
    connection: &rusqlite::Connection,
    sql: &str,
    all: &[[Value<'_>; N]],
) -> Result<Vec<Vec<Row>>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let from = Origin::new(sql, statement.column_names());
    all.iter().map(|values| answers(&mut statement, &from, values)).collect()
}

fn answers(
    statement: &mut rusqlite::Statement<'_>,
    from: &Arc<Origin>,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StoreError> {
    let columns = statement.column_count();
    let mut found = statement.query(params_from_iter(values))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let cell = |column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Text(text) => Cell::Text(
                    String::from_utf8(text.to_vec())
                        .map_err(|_| StoreError::damaged("a text isn't UTF-8"))?,
                ),
                ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
                ValueRef::Real(_) => return Err(StoreError::damaged("a number has a fraction")),
            })
        };
        let cells = (0..columns).map(cell).collect::<Result<_, StoreError>>()?;
        rows.push(Row { cells, from: Arc::clone(from) });
    }
    Ok(rows)
}

pub(super) fn run(
    connection: &rusqlite::Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<u64, StoreError> {
    Ok(connection.prepare_cached(sql)?.execute(params_from_iter(values))? as u64)
}

/// A connection that may write; nothing of the file is changed yet.
pub(crate) fn writer(database: &Path) -> Result<Connection, StoreError> {
    Ok(Connection::Sqlite(connected(database)?))
}

/// Makes ready for writing what is known to be a store.
pub(crate) fn prepare(writer: &Connection) -> Result<(), StoreError> {
    let Connection::Sqlite(writer) = writer else { return Ok(()) };
    write_ahead(writer)?;
    writer.pragma_update(None, "cache_size", -WRITERS_CACHE)?;
    writer.pragma_update(None, "synchronous", "full")?;
    writer.pragma_update(None, "wal_autocheckpoint", LOG)?;
    Ok(())
}

fn connected(database: &Path) -> Result<rusqlite::Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    set_up(rusqlite::Connection::open_with_flags(database, flags)?)
}

/// Lets readers go on beside the writer; the first writer that can records this in the file for good.
fn write_ahead(writer: &rusqlite::Connection) -> Result<(), StoreError> {
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

fn set_up(connection: rusqlite::Connection) -> Result<rusqlite::Connection, StoreError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    connection.pragma_update(None, "trusted_schema", "off")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// A connection that changes nothing.
pub(crate) fn reader(database: &Path) -> Result<Connection, StoreError> {
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
    Ok(Connection::Sqlite(connection))
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
fn unchanging(database: &Path) -> Result<rusqlite::Connection, StoreError> {
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
    set_up(rusqlite::Connection::open_with_flags(uri, flags)?)
}

/// How long others may go on reading forgotten content; a reader that isn't stuck takes milliseconds.
const READING: Duration = Duration::from_secs(3);

/// Leaves nothing of what was deleted: whether that is so, or somebody still reads it.
pub(super) fn is_erased(
    writer: &rusqlite::Connection,
    deleted: Deleted,
) -> Result<bool, StoreError> {
    // What was deleted is overwritten; in the file that is written anew it has no place either.
    let shrunk = match deleted {
        Deleted::Something => writer.execute_batch("VACUUM"),
        Deleted::Nothing => Ok(()),
    };
    writer.busy_timeout(READING)?;
    let is_held: Result<bool, _> =
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    writer.busy_timeout(PATIENCE)?;
    let is_held = is_held?;
    shrunk?;
    Ok(!is_held)
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
