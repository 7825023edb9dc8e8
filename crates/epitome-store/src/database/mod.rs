//! Databases, as what keeps sessions sees them: statements in, rows out.
//!
//! Statements are written once, in the common part of SQLite and PostgreSQL, with parameters as `?1`. Their differences
//! (addresses, tables, the index of words, erasing) are in the file of each.

#[cfg_attr(not(feature = "postgres"), path = "absent.rs")]
pub(crate) mod postgres;
pub(crate) mod sqlite;
#[cfg(feature = "postgres")]
pub(crate) mod tls;
pub(crate) mod url;

use std::sync::Arc;

use epitome::Format;

use crate::error::StoreError;

/// A value of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Value::Bytes(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// Values of the parameters of a statement, in their order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::database::Value::from($value)),*] };
}
pub(crate) use values;

/// What stands in a column of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row of an answer; each column is taken once.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    cells: Vec<Cell>,
    from: Arc<Origin>,
}

/// Where the rows of an answer are from.
#[derive(Debug)]
struct Origin {
    tables: String,
    columns: Vec<String>,
}

impl Origin {
    fn new<'a>(sql: &str, columns: impl IntoIterator<Item = &'a str>) -> Arc<Self> {
        let words = || sql.split_whitespace();
        let tables = words().zip(words().skip(1));
        let tables =
            tables.filter(|(before, _)| ["FROM", "JOIN", "INTO", "UPDATE"].contains(before));
        let tables = tables.map(|(_, table)| table).filter(|table| !table.starts_with('('));
        let tables = tables.collect::<Vec<_>>().join(", ");
        Arc::new(Origin { tables, columns: columns.into_iter().map(str::to_owned).collect() })
    }
}

impl Row {
    /// What stands in a column, from 0.
    pub(crate) fn take<T: FromCell>(&mut self, column: usize) -> Result<T, StoreError> {
        let cell = self.cells.get_mut(column).map(|cell| std::mem::replace(cell, Cell::Null));
        let found = cell.and_then(T::from_cell);
        found.ok_or_else(|| {
            let Origin { tables, columns } = &*self.from;
            let name = columns.get(column).map_or("?", String::as_str);
            StoreError::damaged(format!("`{name}` has an impossible value in a row of {tables}"))
        })
    }
}

/// What a column can be read as.
pub(crate) trait FromCell: Sized {
    fn from_cell(cell: Cell) -> Option<Self>;
}

impl FromCell for i64 {
    fn from_cell(cell: Cell) -> Option<Self> {
        if let Cell::Int(value) = cell { Some(value) } else { None }
    }
}

impl FromCell for u64 {
    fn from_cell(cell: Cell) -> Option<Self> {
        i64::from_cell(cell)?.try_into().ok()
    }
}

impl FromCell for usize {
    fn from_cell(cell: Cell) -> Option<Self> {
        i64::from_cell(cell)?.try_into().ok()
    }
}

impl FromCell for String {
    fn from_cell(cell: Cell) -> Option<Self> {
        if let Cell::Text(value) = cell { Some(value) } else { None }
    }
}

impl FromCell for Format {
    fn from_cell(cell: Cell) -> Option<Self> {
        String::from_cell(cell)?.parse().ok()
    }
}

impl FromCell for Vec<u8> {
    fn from_cell(cell: Cell) -> Option<Self> {
        if let Cell::Bytes(value) = cell { Some(value) } else { None }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell) -> Option<Self> {
        if cell == Cell::Null { Some(None) } else { T::from_cell(cell).map(Some) }
    }
}

/// Whether there is anything to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deleted {
    Something,
    /// Only what an earlier call had to leave.
    Nothing,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum May {
    Read,
    Write,
}

/// A connection to a database.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "there is no server then"))]
    Postgres(Box<postgres::Link>),
}

impl Connection {
    /// The rows that a statement gives.
    pub(crate) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        match self {
            Connection::Sqlite(connection) => sqlite::rows(connection, sql, values),
            Connection::Postgres(link) => link.rows(sql, values),
        }
    }

    /// The first row that a statement gives.
    pub(crate) fn row(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// The first column of the first row.
    pub(crate) fn one<T: FromCell>(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Option<T>, StoreError> {
        self.row(sql, values)?.map(|mut row| row.take(0)).transpose()
    }

    /// How many rows a statement changed.
    pub(crate) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        match self {
            Connection::Sqlite(connection) => sqlite::run(connection, sql, values),
            Connection::Postgres(link) => link.run(sql, values),
        }
    }

    /// The rows that a statement gives for each of several sets of values, one after the other.
    pub(crate) fn each<const N: usize>(
        &self,
        sql: &str,
        all: &[[Value<'_>; N]],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        match self {
            Connection::Sqlite(connection) => sqlite::each(connection, sql, all),
            Connection::Postgres(link) => link.each(sql, all),
        }
    }

    /// Runs statements that take nothing and give nothing.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        match self {
            Connection::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Connection::Postgres(link) => link.batch(sql),
        }
    }

    /// Does something in one transaction; on the disk when it returns, or not done at all. Of those that
    /// write for the same tenant one does at a time.
    pub(crate) fn transaction<T>(
        &self,
        tenant: Option<i64>,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.batch(match self {
            Connection::Sqlite(_) => "BEGIN IMMEDIATE",
            Connection::Postgres(_) => "BEGIN ISOLATION LEVEL READ COMMITTED",
        })?;
        let undo = Undo { connection: self };
        if let (Connection::Postgres(_), Some(tenant)) = (self, tenant) {
            self.rows("SELECT n FROM tenant WHERE n = ?1 FOR UPDATE", values![tenant])?;
        }
        let done = work(self)?;
        self.batch("COMMIT")?;
        std::mem::forget(undo);
        Ok(done)
    }

    /// Begins to read: until `COMMIT` all is as it is now.
    pub(crate) fn begin_reading(&self) -> Result<(), StoreError> {
        self.batch(match self {
            Connection::Sqlite(_) => "BEGIN",
            Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })
    }

    /// A transaction in which what is deleted is overwritten, where that can be asked for.
    pub(crate) fn erasing<T>(
        &self,
        tenant: Option<i64>,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Connection::Sqlite(_) = self else { return self.transaction(tenant, work) };
        self.batch("PRAGMA secure_delete = on")?;
        let done = self.transaction(tenant, work);
        // At other times it would overwrite every page that the index of words gives up when it grows.
        self.batch("PRAGMA secure_delete = off")?;
        done
    }

    /// Whether nothing is left of what was deleted; somebody may still read it.
    pub(crate) fn is_erased(&self, deleted: Deleted) -> Result<bool, StoreError> {
        match self {
            Connection::Sqlite(writer) => sqlite::is_erased(writer, deleted),
            Connection::Postgres(link) => link.vacuum(deleted).map(|()| true),
        }
    }

    /// Whether it leads nowhere any more.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Connection::Sqlite(_) => false,
            Connection::Postgres(link) => link.is_closed(),
        }
    }
}

/// Leaves a transaction that wasn't finished: an error, or a panic.
struct Undo<'a> {
    connection: &'a Connection,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        // A failure that ended the transaction itself leaves nothing to undo.
        let _ended_already = self.connection.batch("ROLLBACK");
    }
}
