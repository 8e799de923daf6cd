//! Asks SQLite for the meaning of a schema, and for its own verdict on a file.
//!
//! The file is opened read-only and immutable: SQLite takes no lock and creates no `-wal` or `-shm` file.

use super::full_text::has_texts;
use litepress_rows::schema::{
    NamedRTree, Table, TableKinds, VirtualTable, has_check, index_predicate, rtrees, table_of,
};
use litepress_rows::sqlite::{is_let_down, lossy_text, open_file, open_immutable, stop_if};
use litepress_rows::{Error, ErrorKind, Result, quoted_name};
use rusqlite::{Connection, ffi};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// SQLite as the reader of a schema.
pub(super) struct SqliteSchema {
    connection: Connection,
    kinds: TableKinds,
    /// The CREATE statement of each table.
    statements: HashMap<String, String>,
    /// The virtual tables by name.
    virtual_tables: BTreeMap<String, VirtualTable>,
    rtrees: Vec<NamedRTree>,
}

impl SqliteSchema {
    /// Has SQLite read the schema of the file.
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let mut connection = open_immutable(path)?;
        let kinds = TableKinds::read(&connection)?;
        let rtrees = rtrees(&mut connection, &kinds)?;
        let statements = create_statements(&connection)?;
        let virtual_table = |name: &str| {
            let table = statements.get(name).and_then(|sql| VirtualTable::of_statement(sql))?;
            Some((name.to_owned(), table))
        };
        let virtual_tables = kinds.virtual_tables().filter_map(virtual_table).collect();
        Ok(Self { connection, kinds, statements, virtual_tables, rtrees })
    }

    /// Returns the table of this name, or `None` if SQLite has none.
    pub(super) fn table(&self, name: &str) -> rusqlite::Result<Option<Table>> {
        table_of(&self.connection, &self.kinds, name)
    }

    /// Returns whether the table has a CHECK constraint.
    pub(super) fn has_check(&self, table: &Table) -> bool {
        self.statements.get(&table.name).is_none_or(|create_sql| has_check(create_sql, table))
    }

    /// Returns the names of the virtual tables.
    pub(super) fn virtual_tables(&self) -> impl Iterator<Item = &str> {
        self.virtual_tables.keys().map(String::as_str)
    }

    /// Returns the names of the full-text tables of FTS5 that have their shadow tables.
    pub(super) fn full_texts(&self) -> impl Iterator<Item = &str> {
        let is_full_text =
            |(name, table): &(&String, &VirtualTable)| table.module == "fts5" && self.missing_tables(name).is_empty();
        self.virtual_tables.iter().filter(is_full_text).map(|(name, _)| name.as_str())
    }

    /// Returns whether a full-text table keeps its texts itself.
    pub(super) fn has_texts(&self, full_text: &str) -> bool {
        has_texts(&self.connection, full_text)
    }

    /// Returns the names of the shadow tables that a virtual table must have and has not.
    pub(super) fn missing_tables(&self, virtual_table: &str) -> Vec<String> {
        let expected = self.virtual_tables.get(virtual_table).map(VirtualTable::shadow_tables).unwrap_or_default();
        let names = expected.iter().map(|suffix| format!("{virtual_table}_{suffix}"));
        names.filter(|name| !self.connection.table_exists(Some("main"), name.as_str()).unwrap_or(true)).collect()
    }

    /// Returns the names of the indexes that SQLite makes out of the keys of the table with this root, and that have no b-tree.
    pub(super) fn missing_indexes(&self, root: u32) -> rusqlite::Result<Vec<String>> {
        // Names need not be UTF-8. The primary key of a WITHOUT ROWID table is the table.
        let sql = "SELECT l.name FROM main.sqlite_schema t JOIN temp.pragma_index_list(t.name) l
                   WHERE t.type = 'table' AND t.rootpage = ?1 AND l.origin <> 'c' AND NOT EXISTS
                       (SELECT 1 FROM main.sqlite_schema i WHERE i.type = 'index' AND i.name = l.name AND i.rootpage > 0)
                   AND NOT (l.origin = 'pk' AND (SELECT wr FROM temp.pragma_table_list WHERE schema = 'main' AND name = t.name))";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map([root], |row| lossy_text(row, 0))?.collect()
    }

    /// Returns the R-Tree tables.
    pub(super) fn rtrees(&self) -> &[NamedRTree] {
        &self.rtrees
    }

    /// Returns SQLite, with the file open.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the largest number in `sqlite_sequence` for each table.
    pub(super) fn sequences(&self) -> rusqlite::Result<HashMap<String, Option<i64>>> {
        let sql = "SELECT name, max(CASE WHEN typeof(seq) = 'integer' THEN seq END) FROM main.sqlite_sequence
                   WHERE typeof(name) = 'text' GROUP BY name";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((lossy_text(row, 0)?, row.get(1)?)))?;
        rows.collect()
    }
}

/// Returns the CREATE statement of each table by its name.
fn create_statements(sqlite: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL";
    let mut statement = sqlite.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((lossy_text(row, 0)?, lossy_text(row, 1)?)))?;
    rows.collect()
}

/// Returns SQLite's own verdict: at most `max` lines each of `PRAGMA integrity_check` and `PRAGMA foreign_key_check`.
/// It is empty if SQLite finds no fault.
///
/// # Errors
/// If the file cannot be opened at all. Faults that SQLite finds in it are lines, not errors.
pub fn sqlite_integrity_check(path: &Path, max: usize) -> Result<Vec<String>> {
    sqlite_verdict(path, max, Arc::new(|| Ok(())))
}

/// Does the same as [`sqlite_integrity_check`], until `go_on` fails.
///
/// # Errors
/// As [`sqlite_integrity_check`], and the error of `go_on`.
pub fn sqlite_verdict(path: &Path, max: usize, go_on: GoOn) -> Result<Vec<String>> {
    open_file(path)?;
    let sqlite = SqliteChecker::open(path, path, go_on)?;
    let mut lines = Vec::new();
    for verdict in [sqlite.integrity_check(max), sqlite.foreign_key_check(max)] {
        match verdict {
            Ok(found) => lines.extend(found.lines),
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Interrupted) => return Err(error),
            Err(error) => lines.push(error.message().to_owned()),
        }
    }
    Ok(lines)
}

/// SQLite as the checker of a finished file.
pub struct SqliteChecker<'p> {
    connection: Connection,
    /// The name of the file in errors.
    name: &'p Path,
    go_on: GoOn,
}

/// A callback that fails once the run shall stop. Its error ends the statement of SQLite that is running.
pub type GoOn = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// Faults that SQLite found.
#[derive(Debug)]
pub struct SqliteFaults {
    /// One line for each of the first faults.
    pub lines: Vec<String>,
    /// Number of faults.
    pub total: u64,
    /// Whether all faults were counted.
    pub is_all: bool,
}

impl<'p> SqliteChecker<'p> {
    /// Opens the file at `path`. Errors call it `name`.
    ///
    /// # Errors
    /// If SQLite cannot open the file.
    pub fn open(path: &Path, name: &'p Path, go_on: GoOn) -> Result<Self> {
        let asked = go_on.clone();
        let opened = open_immutable(path).and_then(|mut connection| {
            stop_if(&mut connection, move || asked().is_err())?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| {
            let message = format!("SQLite cannot open the database: {error}");
            Error::new(ErrorKind::Io, message).in_file(name).caused_by(error)
        })?;
        Ok(Self { connection, name, go_on })
    }

    /// Runs `PRAGMA integrity_check`. Returns one line for each of the first `max` faults.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if SQLite cannot read the file.
    pub fn integrity_check(&self, max: usize) -> Result<SqliteFaults> {
        let found = self.unsound(max.max(1));
        found.map_err(|error| self.failed(error, ErrorKind::Corrupt, "the file is damaged: make it again"))
    }

    fn unsound(&self, max: usize) -> rusqlite::Result<SqliteFaults> {
        // A limit, because SQLite keeps the texts of all faults of a tree in memory.
        const MOST_COUNTED: usize = 10_000;
        let most = max.clamp(MOST_COUNTED, 1_000_000_000);
        let mut check = self.connection.prepare(&format!("PRAGMA integrity_check({most})"))?;
        let mut rows = check.query([])?;
        let mut found = SqliteFaults { lines: Vec::new(), total: 0, is_all: true };
        while let Some(row) = rows.next()? {
            let line: String = row.get(0)?;
            if let Some(code) = code_of_let_down(&line) {
                return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(line)));
            }
            if line != "ok" {
                found.add(max, || Ok(line))?;
            }
        }
        found.is_all = found.total < most as u64;
        if found.total == 0 {
            self.partial_indexes(max, &mut found)?;
        }
        Ok(found)
    }

    /// Counts the entries of partial indexes, which integrity_check no longer does: it only finds that no entry is missing.
    fn partial_indexes(&self, max: usize, found: &mut SqliteFaults) -> rusqlite::Result<()> {
        let sql = "SELECT i.name, i.tbl_name, i.sql FROM main.sqlite_schema t JOIN temp.pragma_index_list(t.name) l
                   JOIN main.sqlite_schema i ON i.type = 'index' AND i.name = l.name WHERE t.type = 'table' AND l.partial";
        // Names and texts that are not UTF-8 cannot be asked for.
        let texts = |row: &rusqlite::Row<'_>| {
            let text = |column| Some(row.get_ref(column).ok()?.as_str().ok()?.to_owned());
            Ok(text(0).zip(text(1)).zip(text(2)))
        };
        let indexes: Vec<_> = self.connection.prepare(sql)?.query_map([], texts)?.collect::<rusqlite::Result<_>>()?;
        for ((index, table), create_sql) in indexes.into_iter().flatten() {
            let Some(predicate) = index_predicate(&create_sql) else { continue };
            let rows = format!("SELECT count(*) FROM main.{} NOT INDEXED WHERE {predicate}", quoted_name(&table));
            let rows: u64 = self.connection.query_row(&rows, [], |row| row.get(0))?;
            let entries = "SELECT coalesce(sum(ncell), 0) FROM temp.dbstat WHERE name = ? AND pagetype <> 'overflow'";
            let entries: u64 = self.connection.query_row(entries, [&index], |row| row.get(0))?;
            if rows != entries {
                let what = format!("index {index}: {entries} entries for the {rows} rows that its WHERE is true for");
                found.add(max, || Ok(what))?;
            }
        }
        Ok(())
    }

    /// Finds rows whose foreign keys have no parent row. Returns one line for each of the first `max`.
    ///
    /// # Errors
    /// [`ErrorKind::Schema`] if a key cannot be followed because its parent's columns are missing or not unique.
    pub fn foreign_key_check(&self, max: usize) -> Result<SqliteFaults> {
        let advice = "let each foreign key name columns of its parent that are PRIMARY KEY or UNIQUE";
        self.broken_keys(max.max(1)).map_err(|error| self.failed(error, ErrorKind::Schema, advice))
    }

    fn broken_keys(&self, max: usize) -> rusqlite::Result<SqliteFaults> {
        let mut check = self.connection.prepare("PRAGMA foreign_key_check")?;
        let mut rows = check.query([])?;
        let mut found = SqliteFaults { lines: Vec::new(), total: 0, is_all: true };
        while let Some(row) = rows.next()? {
            found.add(max, || {
                let (child, rowid): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
                let which = rowid.map_or("a row".to_owned(), |rowid| format!("rowid {rowid}"));
                Ok(format!("{child}, {which}: no such row for {}", self.key_text(&child, row.get(3)?)?))
            })?;
        }
        Ok(found)
    }

    /// Returns a foreign key as the schema writes it: `(area, kind) REFERENCES area (id, kind)`.
    fn key_text(&self, child: &str, key: i64) -> rusqlite::Result<String> {
        let sql = "SELECT \"from\", \"table\", \"to\" FROM temp.pragma_foreign_key_list(?1) WHERE id = ?2 ORDER BY seq";
        let mut list = self.connection.prepare_cached(sql)?;
        let parts = list.query_map((child, key), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let parts: Vec<(String, String, Option<String>)> = parts.collect::<rusqlite::Result<_>>()?;
        let columns: Vec<&str> = parts.iter().map(|part| part.0.as_str()).collect();
        let parents: Vec<&str> = parts.iter().filter_map(|part| part.2.as_deref()).collect();
        let parent = parts.first().map_or("", |part| part.1.as_str());
        let parents = if parents.is_empty() { String::new() } else { format!(" ({})", parents.join(", ")) };
        Ok(format!("({}) REFERENCES {parent}{parents}", columns.join(", ")))
    }

    fn failed(&self, error: rusqlite::Error, kind: ErrorKind, advice: &str) -> Error {
        let interrupted = (self.go_on)().err();
        interrupted.unwrap_or_else(|| {
            if is_let_down(&error) {
                return Error::new(ErrorKind::Io, format!("SQLite says: {error}")).in_file(self.name).caused_by(error);
            }
            Error::new(kind, format!("SQLite says: {error}")).in_file(self.name).advise(advice).caused_by(error)
        })
    }
}

/// Returns the error code in a row of `PRAGMA integrity_check`, which may have many lines, if the system failed to read a page, or had no
/// memory for it.
fn code_of_let_down(row: &str) -> Option<i32> {
    // A page of the freelist, whose number is one of the file. SQLite does not say why.
    if row.contains("Freelist: failed to get page") {
        return Some(ffi::SQLITE_IOERR);
    }
    let mut codes = row.lines().filter_map(|line| line.rsplit_once("error code=")?.1.trim().parse::<i32>().ok());
    codes.find(|code| matches!(code & 0xff, ffi::SQLITE_IOERR | ffi::SQLITE_NOMEM))
}

impl SqliteFaults {
    /// Counts a fault. Makes a line only for the first `max` faults.
    fn add(&mut self, max: usize, line: impl FnOnce() -> rusqlite::Result<String>) -> rusqlite::Result<()> {
        self.total += 1;
        if self.lines.len() < max {
            self.lines.push(line()?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_paths_open() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b.db", "100%.db", "what?.db", "a#b.db", "grün.db"] {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
            assert!(SqliteSchema::open(&path).unwrap().table("t").unwrap().is_some(), "{name}");
            assert_eq!(sqlite_integrity_check(&path, 10).unwrap(), Vec::<String>::new());
        }
    }

    /// A page that the disk could not read was told as a fault of the file.
    #[test]
    fn pages_that_cannot_be_read_are_no_fault() {
        let row =
            "*** in database main ***\nTree 2 page 2: unable to get the page. error code=8458\nPage 3: never used";
        assert_eq!(code_of_let_down(row), Some(8458));
        assert_eq!(code_of_let_down("Tree 2 page 2: unable to get the page. error code=11"), None);
        assert_eq!(code_of_let_down("Page 3: never used"), None);
        assert_eq!(code_of_let_down("Freelist: failed to get page 16\nPage 17: never used"), Some(10));
    }

    #[test]
    fn foreign_keys_are_part_of_the_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fk.db");
        let sqlite = Connection::open(&path).unwrap();
        let sql = "PRAGMA foreign_keys = OFF; CREATE TABLE p(a, b, PRIMARY KEY(a, b)); CREATE TABLE q(id INTEGER PRIMARY KEY);
                   CREATE TABLE c(x, y, z REFERENCES q, FOREIGN KEY(x, y) REFERENCES p(a, b)); INSERT INTO p VALUES (1, 2);
                   INSERT INTO c VALUES (1, 2, NULL), (1, 3, 9), (NULL, 3, NULL), (5, 5, NULL)";
        sqlite.execute_batch(sql).unwrap();
        let lines = sqlite_integrity_check(&path, 10).unwrap();
        assert_eq!(lines.len(), 3);
        assert!(lines.contains(&"c, rowid 2: no such row for (x, y) REFERENCES p (a, b)".to_owned()), "{lines:?}");
        assert!(lines.contains(&"c, rowid 2: no such row for (z) REFERENCES q".to_owned()), "{lines:?}");
        assert_eq!(sqlite_integrity_check(&path, 1).unwrap().len(), 1);
        sqlite.execute_batch("CREATE TABLE d(x REFERENCES c(x))").unwrap();
        assert!(sqlite_integrity_check(&path, 1).unwrap()[0].contains("foreign key mismatch"));
        assert!(sqlite_integrity_check(&folder.path().join("none.db"), 10).is_err());
    }
}
