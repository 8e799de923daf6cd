//! The content of a database, as SQLite reads it.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

/// A hash of the schema and of all rows of all tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Content(u64);

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the content of the database at `path`, after SQLite has recovered and checked it.
///
/// # Errors
/// If SQLite cannot read it, or finds that it is not sound.
pub fn content(path: &Path) -> Result<Content, String> {
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let connection = opened.map_err(|error| error.to_string())?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|error| error.to_string())?;
    check(&connection)?;
    content_of(&connection)
}

/// Has SQLite check the database.
///
/// # Errors
/// The first things that `PRAGMA integrity_check` finds.
pub fn check(connection: &Connection) -> Result<(), String> {
    let check = || {
        let mut check = connection.prepare("PRAGMA integrity_check(3)")?;
        check.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<String>>>()
    };
    let found = check().map_err(|error| format!("integrity_check: {error}"))?;
    if found == ["ok"] { Ok(()) } else { Err(found.join("; ")) }
}

/// Returns the content as the connection sees it: within a transaction, that of its moment.
///
/// # Errors
/// If SQLite cannot read a row.
pub fn content_of(connection: &Connection) -> Result<Content, String> {
    read(connection).map_err(|error| format!("reading all rows: {error}"))
}

fn read(connection: &Connection) -> rusqlite::Result<Content> {
    let mut hasher = DefaultHasher::new();
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    hash(connection, schema, &mut hasher)?;
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name";
    let mut select = connection.prepare(sql)?;
    let names: Vec<String> = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for name in names {
        name.hash(&mut hasher);
        hash(connection, &format!("SELECT * FROM \"{}\" NOT INDEXED", name.replace('"', "\"\"")), &mut hasher)?;
    }
    Ok(Content(hasher.finish()))
}

/// Hashes all values of a query.
fn hash(connection: &Connection, sql: &str, hasher: &mut DefaultHasher) -> rusqlite::Result<()> {
    let mut select = connection.prepare(sql)?;
    let columns = select.column_count();
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => 0_u8.hash(hasher),
                ValueRef::Integer(value) => (1_u8, value).hash(hasher),
                ValueRef::Real(value) => (2_u8, value.to_bits()).hash(hasher),
                ValueRef::Text(text) => (3_u8, text).hash(hasher),
                ValueRef::Blob(blob) => (4_u8, blob).hash(hasher),
            }
        }
    }
    Ok(())
}
