//! What is in SQLite's database, and in which version.

use std::path::Path;

use epitome::archive::searchable_in;

use crate::database::{Connection, Value, values};
use crate::error::StoreError;
use crate::terms::Terms;
use crate::{blob, index};

/// The newest version that is known; each has a step in [`STEPS`] that leads to it.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// By which SQLite's file tells that it is a store: `EPIT`.
const APPLICATION: i64 = 0x4550_4954;

/// From nothing to version 1, from there to 2, and so on.
const STEPS: [Step; 6] = [
    Step { tables: FIRST, then: |_| Ok(()) },
    Step { tables: COUNTS, then: indexed_anew },
    Step { tables: REDACTED, then: |_| Ok(()) },
    Step { tables: PARTS, then: |_| Ok(()) },
    Step { tables: PROJECTS, then: |_| Ok(()) },
    Step { tables: STATES, then: |_| Ok(()) },
];

/// What leads from one version to the next.
struct Step {
    tables: &'static str,
    then: fn(&Connection) -> Result<(), StoreError>,
}

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

/// Whether secrets were masked in what came in before it was kept.
const REDACTED: &str = "ALTER TABLE input ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0;";

/// The session whose sub-agent a session is of.
const PARTS: &str = "
ALTER TABLE session ADD COLUMN part_of INTEGER REFERENCES session ON DELETE SET NULL;
CREATE INDEX session_part ON session (part_of) WHERE part_of IS NOT NULL;
";

/// The folder that a session is about; empty where nobody said it.
const PROJECTS: &str = "ALTER TABLE session ADD COLUMN project TEXT NOT NULL DEFAULT '';";

/// What a proxy knows of conversations, and the secret that its digests are made with. `used` is milliseconds since 1970.
const STATES: &str = "
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

/// How often each word occurs in an entry stands with it: the index only says which entries have a word.
const COUNTS: &str = "
ALTER TABLE entry ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN counts BLOB NOT NULL DEFAULT x'';
ALTER TABLE tenant ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenant ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
";

/// Entries that are indexed at a time.
const AT_ONCE: usize = 256;

/// Makes every tenant's index from what its entries say.
fn indexed_anew(connection: &Connection) -> Result<(), StoreError> {
    for mut row in connection.rows("SELECT n FROM tenant", &[])? {
        let tenant: i64 = row.take(0)?;
        index::drop(connection, tenant)?;
        index::make(connection, tenant)?;
        let all = connection.rows(
            "SELECT entry.n, entry.blob, session.format FROM entry JOIN session ON session.n = entry.session
             WHERE session.tenant = ?1 ORDER BY entry.n",
            values![tenant],
        )?;
        for some in all.chunks(AT_ONCE) {
            let mut entries = Vec::new();
            for row in some {
                let mut row = row.clone();
                let bytes = blob::read(connection, row.take(1)?)?;
                let format = row.take(2)?;
                let words = searchable_in(format, &String::from_utf8_lossy(&bytes), &[]);
                entries.push((row.take(0)?, Terms::of(&words)));
            }
            let counts: Vec<_> = entries.iter().map(|(_, terms)| terms.packed()).collect();
            let rows = entries.iter().zip(&counts);
            let rows: Vec<_> = rows
                .map(|((n, terms), counts)| {
                    [Value::Int(*n), Value::from(terms.length()), Value::Bytes(counts)]
                })
                .collect();
            connection.each("UPDATE entry SET words = ?2, counts = ?3 WHERE n = ?1", &rows)?;
            let entries: Vec<_> = entries.iter().map(|(n, terms)| (*n, terms)).collect();
            index::insert(connection, tenant, &entries)?;
            grown(connection, tenant, &entries)?;
        }
    }
    Ok(())
}

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
        (APPLICATION, _) if version > VERSION => {
            Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION })
        }
        (APPLICATION, _) => Ok(version),
        _ => Err(not_one("its database is another program's")),
    }
}

/// Brings the database to [`VERSION`], in one go.
pub(crate) fn migrate(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? == VERSION {
        return Ok(());
    }
    connection.transaction(None, |connection| {
        // Another process may have done it meanwhile.
        let from = usize::try_from(version(connection, path)?).unwrap_or(0);
        for step in &STEPS[from..] {
            connection.batch(step.tables)?;
            (step.then)(connection)?;
        }
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
