//! SQLite's part in a check: what the schema means, and its own verdict.
//!
//! The file is opened read-only and as immutable: no lock is taken, no `-wal` or `-shm` file is made.

use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A column as SQLite reads it from the schema.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) declared_type: String,
    pub(super) not_null: bool,
    /// The DEFAULT expression as written.
    pub(super) default: Option<String>,
    pub(super) in_primary_key: bool,
    /// `GENERATED ALWAYS AS ... VIRTUAL`: not in the record.
    pub(super) is_virtual: bool,
}

/// An index as SQLite reads it from the schema.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) unique: bool,
    pub(super) is_primary_key: bool,
    pub(super) partial: bool,
    /// What its entries hold, in order.
    pub(super) columns: Vec<IndexColumn>,
}

/// A column of an index entry.
#[derive(Clone, Debug)]
pub(super) struct IndexColumn {
    pub(super) source: IndexSource,
    pub(super) descending: bool,
    pub(super) collation: String,
    /// Declared, and not only there to find the row.
    pub(super) is_key: bool,
}

/// Where an index column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexSource {
    /// This column of the table.
    Column(usize),
    /// The rowid.
    Rowid,
    /// An expression.
    Expression,
}

/// A table as SQLite reads it from the schema.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<Index>,
    pub(super) without_rowid: bool,
    pub(super) strict: bool,
    pub(super) autoincrement: bool,
}

impl Table {
    /// The column that stands for the rowid.
    pub(super) fn rowid_alias(&self) -> Option<usize> {
        let mut keys = self.columns.iter().enumerate().filter(|(_, column)| column.in_primary_key);
        let (first, more) = (keys.next(), keys.next());
        let has_index = self.indexes.iter().any(|index| index.is_primary_key);
        let (position, column) = first.filter(|_| more.is_none() && !has_index && !self.without_rowid)?;
        column.declared_type.eq_ignore_ascii_case("INTEGER").then_some(position)
    }
}

/// Opens the file for reading only, as it lies there.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push((*byte).into()),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?mode=ro&immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri, flags)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// SQLite as the reader of a schema.
pub(super) struct Oracle {
    connection: Connection,
    /// By table name: WITHOUT ROWID, STRICT.
    kinds: HashMap<String, (bool, bool)>,
}

impl Oracle {
    /// Has SQLite read the schema of the file.
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = open(path)?;
        let mut kinds = HashMap::new();
        {
            let mut list = connection.prepare("PRAGMA main.table_list")?;
            let mut rows = list.query([])?;
            while let Some(row) = rows.next()? {
                kinds.insert(row.get(1)?, (row.get(4)?, row.get(5)?));
            }
        }
        Ok(Self { connection, kinds })
    }

    /// The table of this name; `None` where SQLite has none.
    pub(super) fn table(&self, name: &str) -> rusqlite::Result<Option<Table>> {
        let Some((without_rowid, strict)) = self.kinds.get(name).copied() else { return Ok(None) };
        let columns = self.columns(name)?;
        let indexes = self.indexes(name)?;
        let mut table = Table { columns, indexes, without_rowid, strict, autoincrement: false };
        if let Some(alias) = table.rowid_alias() {
            let column = table.columns[alias].name.as_str();
            table.autoincrement = self.connection.column_metadata(Some("main"), name, column)?.4;
        }
        Ok(Some(table))
    }

    fn columns(&self, table: &str) -> rusqlite::Result<Vec<Column>> {
        const VIRTUAL_GENERATED: i64 = 2;
        let mut info = self.connection.prepare(&format!("PRAGMA main.table_xinfo({})", quoted(table)))?;
        let columns = info.query_map([], |row| {
            Ok(Column {
                name: row.get(1)?,
                declared_type: row.get(2)?,
                not_null: row.get(3)?,
                default: row.get(4)?,
                in_primary_key: row.get::<_, i64>(5)? > 0,
                is_virtual: row.get::<_, i64>(6)? == VIRTUAL_GENERATED,
            })
        })?;
        columns.collect()
    }

    fn indexes(&self, table: &str) -> rusqlite::Result<Vec<Index>> {
        let mut list = self.connection.prepare(&format!("PRAGMA main.index_list({})", quoted(table)))?;
        let indexes = list.query_map([], |row| {
            let name: String = row.get(1)?;
            let is_primary_key = row.get::<_, String>(3)? == "pk";
            let columns = self.index_columns(&name)?;
            Ok(Index { name, unique: row.get(2)?, is_primary_key, partial: row.get(4)?, columns })
        })?;
        indexes.collect()
    }

    fn index_columns(&self, index: &str) -> rusqlite::Result<Vec<IndexColumn>> {
        const ROWID: i64 = -1;
        let mut info = self.connection.prepare(&format!("PRAGMA main.index_xinfo({})", quoted(index)))?;
        let columns = info.query_map([], |row| {
            let source = match row.get(1)? {
                ROWID => IndexSource::Rowid,
                column => usize::try_from(column).map_or(IndexSource::Expression, IndexSource::Column),
            };
            let collation = row.get::<_, Option<String>>(4)?.unwrap_or_else(|| "BINARY".into());
            Ok(IndexColumn { source, descending: row.get(3)?, collation, is_key: row.get(5)? })
        })?;
        columns.collect()
    }

    /// The largest number in `sqlite_sequence` for every table.
    pub(super) fn sequences(&self) -> rusqlite::Result<HashMap<String, Option<i64>>> {
        let sql = "SELECT name, max(CASE WHEN typeof(seq) = 'integer' THEN seq END) FROM main.sqlite_sequence
                   WHERE typeof(name) = 'text' GROUP BY name";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }
}

/// The value that a column with this affinity stores for a DEFAULT that is a literal. Rows written before ALTER
/// TABLE ADD COLUMN take it, and that accepts nothing else.
pub(super) fn stored_default(default: &str, type_with_affinity: &str) -> Option<rusqlite::types::Value> {
    if default.starts_with('(') || default.to_ascii_uppercase().starts_with("CURRENT_") {
        return None;
    }
    let connection = Connection::open_in_memory().ok()?;
    connection.execute(&format!("CREATE TABLE t(c {type_with_affinity} DEFAULT {default})"), []).ok()?;
    connection.execute("INSERT INTO t DEFAULT VALUES", []).ok()?;
    connection.query_row("SELECT c FROM t", [], |row| row.get(0)).ok()
}

/// SQLite's own verdict: `PRAGMA integrity_check` and `PRAGMA foreign_key_check`, at most `max` lines of each.
/// Empty where SQLite has nothing to complain about.
///
/// # Errors
/// Where the file cannot be opened at all. What SQLite finds wrong with it is a line and no error.
pub fn sqlite_integrity_check(path: &Path, max: usize) -> Result<Vec<String>> {
    std::fs::File::open(path).map_err(|error| Error::io("open the database", path, error))?;
    let connection = open(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("SQLite cannot open the database: {error}")).in_file(path).caused_by(error)
    })?;
    let mut lines = Vec::new();
    let outcome =
        integrity_lines(&connection, max, &mut lines).and_then(|()| foreign_key_lines(&connection, max, &mut lines));
    lines.extend(outcome.err().map(|error| error.to_string()));
    Ok(lines)
}

fn integrity_lines(connection: &Connection, max: usize, lines: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut check = connection.prepare(&format!("PRAGMA integrity_check({})", max.clamp(1, 1_000_000_000)))?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            lines.push(line);
        }
    }
    Ok(())
}

fn foreign_key_lines(connection: &Connection, max: usize, lines: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut check = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = check.query([])?;
    for _ in 0..max.max(1) {
        let Some(row) = rows.next()? else { break };
        let (table, rowid, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let row = rowid.map_or_else(|| "a row".to_owned(), |rowid| format!("row {rowid}"));
        lines.push(format!("{row} of {table} refers to a row that {parent} does not have"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::types::Value;

    #[test]
    fn awkward_paths_open() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b.db", "100%.db", "what?.db", "a#b.db", "grün.db"] {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
            assert!(Oracle::open(&path).unwrap().table("t").unwrap().is_some(), "{name}");
            assert_eq!(sqlite_integrity_check(&path, 10).unwrap(), Vec::<String>::new());
        }
    }

    #[test]
    fn defaults_are_stored_under_the_affinity_of_their_column() {
        assert_eq!(stored_default("'7'", "INTEGER"), Some(Value::Integer(7)));
        assert_eq!(stored_default("-5", "TEXT"), Some(Value::Text("-5".into())));
        assert_eq!(stored_default("(1 + 2)", "INTEGER"), None);
        assert_eq!(stored_default("1); DROP TABLE t; --", "INTEGER"), None);
    }

    #[test]
    fn foreign_keys_are_part_of_the_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fk.db");
        let sql = "PRAGMA foreign_keys = OFF; CREATE TABLE p(a INTEGER PRIMARY KEY);
                   CREATE TABLE c(a INTEGER REFERENCES p); INSERT INTO c VALUES (7);";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(sqlite_integrity_check(&path, 10).unwrap(), ["row 1 of c refers to a row that p does not have"]);
        assert!(sqlite_integrity_check(&folder.path().join("none.db"), 10).is_err());
    }
}
