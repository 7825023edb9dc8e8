//! What is in the database, and in which version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

/// The newest version that is known; each has a step in [`STEPS`] that leads to it.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// By which SQLite's file tells that it is a store: `EPIT`.
const APPLICATION: i64 = 0x4550_4954;

/// From nothing to version 1, from there to 2, and so on.
const STEPS: [&str; 1] = [FIRST];

const FIRST: &str = "
CREATE TABLE tenant (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- A content, once for each tenant. `packed`: 0 as it is, 1 zstd.
CREATE TABLE blob (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant,
    id BLOB NOT NULL,
    size INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, id)
);

-- One conversation. Times are milliseconds since 1970.
CREATE TABLE session (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant,
    name TEXT NOT NULL,
    format TEXT NOT NULL,
    source TEXT NOT NULL,
    entries INTEGER NOT NULL,
    head INTEGER NOT NULL DEFAULT 0,
    forked_from INTEGER REFERENCES session ON DELETE SET NULL,
    made INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    UNIQUE (tenant, name)
);

-- What the transcript is up to an entry, so that a longer one is known again.
CREATE TABLE link (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    chain BLOB NOT NULL,
    PRIMARY KEY (session, entry)
) WITHOUT ROWID;
CREATE INDEX link_chain ON link (chain);

-- What came in: the bytes, and the request that was read in them.
CREATE TABLE input (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    entries INTEGER NOT NULL,
    raw_id BLOB NOT NULL,
    raw BLOB NOT NULL,
    text BLOB NOT NULL,
    made INTEGER NOT NULL,
    UNIQUE (session, raw_id)
);

-- An original: an entry that a view hides or edits.
CREATE TABLE entry (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blob,
    entry INTEGER NOT NULL,
    about TEXT NOT NULL,
    UNIQUE (session, blob)
);

CREATE TABLE view (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    number INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    input INTEGER REFERENCES input,
    entries INTEGER NOT NULL,
    text_id BLOB NOT NULL,
    text BLOB NOT NULL,
    fates BLOB NOT NULL,
    receipt BLOB NOT NULL,
    checkpoint BLOB,
    made INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE INDEX view_text ON view (text_id);
CREATE INDEX view_checkpoint ON view (checkpoint) WHERE checkpoint IS NOT NULL;

CREATE TABLE pin (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant,
    text TEXT NOT NULL,
    made INTEGER NOT NULL,
    UNIQUE (tenant, text)
);
";

/// Whether the file is a store that this program knows; its version.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let not_one = |why| StoreError::NotAStore { path: path.to_owned(), why };
    // In one statement: another process may be making the store between two.
    let found = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id),
            (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)),
    );
    let (application, version, tables) =
        found.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => not_one("it is no SQLite database"),
            _ => error.into(),
        })?;
    match (application, tables) {
        (0, 0) => Ok(0),
        (APPLICATION, _) if version > VERSION => {
            Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION })
        }
        (APPLICATION, _) => Ok(version),
        _ => Err(not_one("its database is another program's")),
    }
}

/// Brings the database to [`VERSION`], in one go.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let from = usize::try_from(version(&transaction, path)?).unwrap_or(0);
    for step in &STEPS[from..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// The table of a tenant's words: how often a word occurs is nobody else's business.
pub(crate) fn words_of(tenant: i64) -> String {
    format!("words_{tenant}")
}

/// Makes a tenant with its table of words.
pub(crate) fn tenant(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    connection.execute("INSERT INTO tenant (name) VALUES (?1)", [name])?;
    let tenant = connection.last_insert_rowid();
    // Words come from `epitome::text::words`: these characters join an identifier.
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {} USING fts5(words, content='', contentless_delete=1,
            tokenize=\"unicode61 remove_diacritics 0 tokenchars '_-./:@'\")",
        words_of(tenant)
    ))?;
    Ok(tenant)
}
