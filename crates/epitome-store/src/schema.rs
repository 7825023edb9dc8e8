//! What is in SQLite's database, and in which version.

use std::path::Path;

use crate::database::{Connection, values};
use crate::error::StoreError;
use crate::index;
use crate::terms::Terms;

/// The version that is known. Those before it were never released.
pub(crate) const VERSION: i64 = 6;

/// By which SQLite's file tells that it is a store: `EPIT`.
const APPLICATION: i64 = 0x4550_4954;

/// All tables but the index of words, as SQLite is told them.
pub(crate) const TABLES: &str = "
CREATE TABLE tenant (
    n INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    entries INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0
);

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

-- One conversation, of whose sub-agent it is, and the folder that it is about; empty where nobody said it. Times are
-- milliseconds since 1970.
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
    part_of INTEGER REFERENCES session ON DELETE SET NULL,
    project TEXT NOT NULL DEFAULT '',
    UNIQUE (tenant, name)
);
CREATE INDEX session_part ON session (part_of) WHERE part_of IS NOT NULL;

-- What the transcript is up to an entry, so that a longer one is known again.
CREATE TABLE link (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    chain BLOB NOT NULL,
    PRIMARY KEY (session, entry)
) WITHOUT ROWID;
CREATE INDEX link_chain ON link (chain);

-- What came in: the bytes, whether secrets were masked in them, and the request that was read in them.
CREATE TABLE input (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    entries INTEGER NOT NULL,
    raw_id BLOB NOT NULL,
    raw BLOB NOT NULL,
    redacted INTEGER NOT NULL DEFAULT 0,
    text BLOB NOT NULL,
    made INTEGER NOT NULL,
    UNIQUE (session, raw_id)
);

-- An original: an entry that a view hides or edits; how many words it has, and how often each: the index only says which entries
-- have a word.
CREATE TABLE entry (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blob,
    entry INTEGER NOT NULL,
    about TEXT NOT NULL,
    words INTEGER NOT NULL DEFAULT 0,
    counts BLOB NOT NULL DEFAULT x'',
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

-- What a proxy knows of conversations, and the secret that its digests are made with. `used` is milliseconds since 1970.
CREATE TABLE state (
    tenant INTEGER NOT NULL REFERENCES tenant,
    place BLOB NOT NULL,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (tenant, place)
) WITHOUT ROWID;
CREATE INDEX state_used ON state (used);
CREATE TABLE secret (
    tenant INTEGER NOT NULL REFERENCES tenant,
    name TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
";

/// Counts entries that a tenant has more.
pub(crate) fn grown(
    connection: &Connection,
    tenant: i64,
    entries: &[(i64, &Terms)],
) -> Result<(), StoreError> {
    let words: usize = entries.iter().map(|(_, terms)| terms.length()).sum();
    connection.run(
        "UPDATE tenant SET entries = entries + ?2, words = words + ?3 WHERE n = ?1",
        values![tenant, entries.len(), words],
    )?;
    Ok(())
}

/// Whether the file is a store that this program knows; its version.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let not_one = |why| StoreError::NotAStore { path: path.to_owned(), why };
    // In one statement: another process may be making the store between two.
    let found = connection.row(
        "SELECT (SELECT application_id FROM pragma_application_id),
            (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
        &[],
    );
    let found = found.map_err(|error| match error.sqlite_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => not_one("it is no SQLite database"),
        _ => error,
    })?;
    let mut found = found.ok_or_else(|| not_one("it doesn't say what it is"))?;
    let (application, version, tables): (i64, i64, i64) =
        (found.take(0)?, found.take(1)?, found.take(2)?);
    match (application, tables) {
        (0, 0) => Ok(0),
        (APPLICATION, _) if version != VERSION => {
            Err(StoreError::OtherVersion { path: path.to_owned(), found: version, known: VERSION })
        }
        (APPLICATION, _) => Ok(VERSION),
        _ => Err(not_one("its database is another program's")),
    }
}

/// Makes the tables, if there are none.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? == VERSION {
        return Ok(());
    }
    connection.transaction(None, |connection| {
        // Another process may have done it meanwhile.
        if version(connection, path)? == VERSION {
            return Ok(());
        }
        connection.batch(TABLES)?;
        connection.batch(&format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        ))
    })
}

/// Makes a tenant with its index of words.
pub(crate) fn tenant(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    let made = connection.one(
        "INSERT INTO tenant (name) VALUES (?1) ON CONFLICT (name) DO NOTHING RETURNING n",
        values![name],
    )?;
    let Some(tenant) = made else {
        // Another process was quicker.
        let found = connection.one("SELECT n FROM tenant WHERE name = ?1", values![name])?;
        return found.ok_or_else(|| StoreError::damaged("a tenant can't be made"));
    };
    index::make(connection, tenant)?;
    Ok(tenant)
}
