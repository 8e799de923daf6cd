//! State of a connection that outlives its draft: settings, temporary tables and attached databases.
//!
//! A draft gets another name when it is published, and SQLite does not write to a file that was renamed. So the next statement needs a
//! new connection, and users must not notice that.

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Result, ffi};

/// Settings of a connection that no file keeps and no rollback takes back.
const SETTINGS: [&str; 14] = [
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "foreign_keys",
    "ignore_check_constraints",
    "legacy_alter_table",
    "query_only",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "secure_delete",
    "temp_store",
    "threads",
    "trusted_schema",
];

/// Number of pages of a step of a copy: all.
const ALL_PAGES: i32 = -1;

/// State of a connection beside its main database.
pub struct ConnectionState {
    settings: Vec<(&'static str, i64)>,
    databases: Vec<(String, Contents)>,
}

/// An attached database, or that of the temporary tables.
enum Contents {
    /// A file.
    File(String),
    /// A copy of a database that has no name.
    Copy(Connection),
}

impl ConnectionState {
    /// Reads the state. REQUIRES: no transaction is open, or [`is_bare`].
    pub fn of(connection: &Connection, without: &[String]) -> Result<Self> {
        let setting = |name: &&'static str| {
            let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
            value.map(|value: i64| (*name, value))
        };
        let settings = SETTINGS.iter().map(setting).collect::<Result<_>>()?;
        let mut databases = Vec::new();
        for (name, file) in others(connection)?.into_iter().filter(|(name, _)| !without.contains(name)) {
            let contents =
                if file.is_empty() { Contents::Copy(copied(connection, &name)?) } else { Contents::File(file) };
            databases.push((name, contents));
        }
        Ok(Self { settings, databases })
    }

    /// Gives the state to a new connection.
    pub fn restore(self, connection: &mut Connection) -> Result<()> {
        // First, because another store for temporary tables would drop them.
        let settings: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("PRAGMA {name} = {value}")).collect();
        for setting in settings {
            // Some of them answer.
            connection.prepare(&setting)?.query([])?.next()?;
        }
        for (name, contents) in self.databases {
            let file = match &contents {
                Contents::File(file) => file,
                Contents::Copy(_) => ":memory:",
            };
            if name != TEMPORARY {
                connection.execute("ATTACH ?1 AS ?2", [file, &name])?;
            }
            if let Contents::Copy(copy) = &contents {
                copy_database(copy, MAIN, connection, &name)?;
            }
        }
        Ok(())
    }
}

/// Name of the database that a connection was opened with.
const MAIN: &str = "main";
/// Name of the database of temporary tables.
const TEMPORARY: &str = "temp";

/// Returns whether a connection has neither temporary tables nor attached databases.
pub fn is_bare(connection: &Connection) -> Result<bool> {
    others(connection).map(|others| others.is_empty())
}

/// Returns names and files of all databases but the main one. An empty database of temporary tables is left out.
fn others(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut select = connection.prepare("SELECT name, coalesce(file, '') FROM temp.pragma_database_list")?;
    let all = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(String, String)>>>()?;
    let has_temporary = "SELECT EXISTS (SELECT 1 FROM sqlite_temp_schema)";
    let has_temporary: bool = connection.query_row(has_temporary, [], |row| row.get(0))?;
    Ok(all.into_iter().filter(|(name, _)| name != MAIN && (name != TEMPORARY || has_temporary)).collect())
}

fn copied(connection: &Connection, name: &str) -> Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    copy_database(connection, name, &mut copy, MAIN)?;
    Ok(copy)
}

fn copy_database(from: &Connection, name: &str, to: &mut Connection, target: &str) -> Result<()> {
    match Backup::new_with_names(from, name, to, target)?.step(ALL_PAGES)? {
        StepResult::Done => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)),
    }
}
