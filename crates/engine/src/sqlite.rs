//! Runs SQLite on a database that litepress has written and not yet published.
//!
//! SQLite itself makes what litepress does not write: partial and expression indexes, stored generated columns,
//! virtual tables. It also judges what only its own byte code can: CHECK constraints.
//!
//! ```text
//! written file --open--> define, insert, check_constraints, analyze, ... --finish--> the same file, larger
//! ```
//!
//! No other program knows the file, and a failed run deletes it. So it is neither locked (the `unix-none` VFS) nor
//! synced. The journal is kept in memory: a batch that fails is rolled back, so that the row at fault can be found.
//! This costs almost nothing, because pages that a transaction adds are not journalled. No `-journal` and no `-wal`
//! ever lies beside the file.
//!
//! With these settings SQLite would leave WAL mode, or could not open the bytes at all. So a header in WAL mode is set
//! to rollback mode before SQLite begins, and back to WAL mode once SQLite has closed the file.

mod constraints;
mod failure;
mod insert;
mod live;
mod schema_order;
#[cfg(test)]
mod tests;
mod upsert;

pub(crate) use insert::Inserted;
pub(crate) use live::LiveSession;
pub(crate) use upsert::updated_by_key;

use crate::options::Options;
use crate::progress::Progress;
use crate::{Error, ErrorKind, Result};
pub(crate) use failure::{Failures, message};
use insert::Refuse;
use litepress_rows::files::FileExt;
use litepress_rows::schema::SchemaObject;
use litepress_rows::sqlite::stop_if;
use litepress_rows::sqlite_value::from_sqlite;
use litepress_rows::{Source, Table, quote, quoted_name};
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The VFS that takes no locks.
const NO_LOCKS: &str = "unix-none";

/// Offset of the journal mode in the header: write version, then read version.
const VERSIONS_AT: usize = 18;
const ROLLBACK_MODE: [u8; 2] = [1, 1];
const WAL_MODE: [u8; 2] = [2, 2];

/// Memory for pages, and the same again for a sort: SQLite's own default. CREATE INDEX takes 2.5 times as long at 64
/// MiB.
const DEFINING_CACHE_KIB: u32 = 2_000;

/// Memory for pages while rows are inserted. The pages of automatic indexes are accessed at random.
const INSERTING_CACHE_KIB: u32 = 32 << 10;

/// Largest memory of SQLite, in bytes, apart from threads of scans.
pub(crate) const MEMORY_BYTES: u64 = (INSERTING_CACHE_KIB as u64) << 10;

/// Options of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionOptions {
    /// Folder for temporary files of SQLite's sorts. It holds for the whole process.
    pub temp_dir: PathBuf,
    /// Counts rows, and carries requests to stop.
    pub progress: Arc<Progress>,
}

/// SQLite at work on a database that is written and not yet published.
///
/// Memory: 32 MiB of pages at most, and a few MiB for each thread. A database in memory takes three times its size.
/// After an error the database is lost.
pub(crate) struct SqliteSession {
    connection: Connection,
    /// The file of the database; `None` in memory.
    path: Option<PathBuf>,
    /// Whether the header of the finished database must say WAL mode.
    wal: bool,
    options: SessionOptions,
}

impl SqliteSession {
    /// Opens the file of a whole database. Nothing else may use the file until [`finish`](Self::finish).
    pub fn open(path: &Path, options: SessionOptions) -> Result<Self> {
        let opened = |error| Error::io("open", path, error);
        // Absolute, because SQLite takes a name that begins with `file:` for a URI.
        let path = std::path::absolute(path).map_err(opened)?;
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(opened)?;
        let mut versions = ROLLBACK_MODE;
        file.read_exact_at(&mut versions, VERSIONS_AT as u64).map_err(|error| Error::io("read", &path, error))?;
        let wal = versions == WAL_MODE;
        if wal {
            set_versions(&file, &path, ROLLBACK_MODE)?;
        }
        drop(file);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| Failures::of(&options.progress).explain(&error, ErrorKind::Io).in_file(&path);
        let connection = connect(&path, flags, &options.progress).map_err(failed)?;
        Self { connection, path: Some(path), wal, options }.set_up()
    }

    /// Opens the bytes of a whole database.
    pub fn open_bytes(mut bytes: Vec<u8>, options: SessionOptions) -> Result<Self> {
        let versions = bytes.get_mut(VERSIONS_AT..VERSIONS_AT + 2);
        let wal = versions.as_deref() == Some(&WAL_MODE);
        if let Some(versions) = versions.filter(|_| wal) {
            versions.copy_from_slice(&ROLLBACK_MODE);
        }
        let failures = Failures::of(&options.progress);
        let opened = Connection::open_in_memory().and_then(|mut connection| {
            connection.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), false)?;
            watch(&mut connection, options.progress.clone())?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| failures.explain(&error, ErrorKind::Corrupt))?;
        Self { connection, path: None, wal, options }.set_up()
    }

    /// Opens an empty database that SQLite keeps in a temporary file, without a name, as far as it exceeds the cache.
    pub fn scratch(options: SessionOptions) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags("", flags).and_then(|mut connection| {
            watch(&mut connection, options.progress.clone())?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| Failures::of(&options.progress).explain(&error, ErrorKind::Io))?;
        Self { connection, path: None, wal: false, options }.set_up()
    }

    fn set_up(self) -> Result<Self> {
        // Sorts get no threads: CREATE INDEX is slower with them.
        let settings = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
                        PRAGMA foreign_keys = OFF; PRAGMA threads = 0; PRAGMA temp_store = FILE";
        self.run(settings, ErrorKind::Corrupt)?;
        self.set_cache(DEFINING_CACHE_KIB)?;
        if let Some(folder) = self.options.temp_dir.to_str() {
            let folder = folder.replace('\'', "''");
            self.run(&format!("PRAGMA temp_store_directory = '{folder}'"), ErrorKind::Io)
                .map_err(|error| error.in_file(&self.options.temp_dir))?;
        }
        Ok(self)
    }

    fn set_cache(&self, kib: u32) -> Result<()> {
        self.run(&format!("PRAGMA cache_size = -{kib}"), ErrorKind::Io)
    }

    /// Runs one CREATE statement in the form that `sqlite_schema` keeps. `what` names the object in errors, such as
    /// `index by_area`.
    ///
    /// SQLite itself makes objects whose names begin with `sqlite_`, and virtual tables make their shadow tables.
    pub fn define(&self, sql: &str, what: &str) -> Result<()> {
        self.connection.execute(sql, []).map(drop).map_err(|error| {
            let cause = self.failures().explain(&error, ErrorKind::Schema);
            if cause.kind() == ErrorKind::Interrupted {
                return cause;
            }
            let named = Error::new(cause.kind(), format!("{what}: {}", cause.message())).caused_by(error);
            match cause.advice() {
                Some(advice) => named.advise(advice),
                None => named,
            }
        })
    }

    /// Has `fill` work with the connection, with the cache of a session that inserts.
    pub fn work(&self, fill: &mut dyn FnMut(&Connection) -> Result<()>) -> Result<()> {
        self.set_cache(INSERTING_CACHE_KIB)?;
        fill(&self.connection)?;
        self.options.progress.go_on()?;
        self.set_cache(DEFINING_CACHE_KIB)
    }

    /// Inserts all rows of `source` into the empty table. Returns the number of rows that the table then has.
    ///
    /// ORDER: before triggers are defined, or they fire. Records hold the values of the table's ordinary columns, in
    /// order. The value of the INTEGER PRIMARY KEY is the chunk's rowid. SQLite chooses the rowids that are
    /// [automatic](litepress_rows::RecordChunk::is_automatic).
    pub fn insert(&self, table: &Table, source: &dyn Source, options: &Options) -> Result<u64> {
        self.set_cache(INSERTING_CACHE_KIB)?;
        let rows = insert::insert(self, table, source, options)?;
        self.set_cache(DEFINING_CACHE_KIB)?;
        Ok(rows)
    }

    /// Passes the rows of `source` that SQLite refuses to `refuse`, with their place in the input and SQLite's reason. The
    /// table keeps the others, as in a run without those rows.
    pub fn find_refused(
        &self,
        table: &Table,
        source: &dyn Source,
        options: &Options,
        refuse: Refuse<'_>,
    ) -> Result<()> {
        self.set_cache(INSERTING_CACHE_KIB)?;
        insert::find_refused(self, table, source, options, refuse)
    }

    /// Keeps an AUTOINCREMENT table from ever giving rowids up to `sequence` again.
    pub fn raise_sequence(&self, table: &Table, sequence: i64) -> Result<()> {
        let raise = || {
            let sql = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE rowid = (SELECT min(rowid) FROM sqlite_sequence WHERE name = ?1)";
            let updated = self.connection.execute(sql, (&table.name, sequence))?;
            if updated == 0 {
                let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
                self.connection.execute(sql, (&table.name, sequence))?;
            }
            Ok(())
        };
        raise().map_err(|error| self.failures().explain(&error, ErrorKind::Corrupt))
    }

    /// Fails if a row of the table breaks one of its CHECK constraints.
    pub fn check_constraints(&self, table: &Table) -> Result<()> {
        constraints::check(self, table)
    }

    /// Adds the rows of ANALYZE for these tables and indexes to the table of statistics.
    pub fn analyze(&self, names: &[&str]) -> Result<()> {
        self.analyze_all(names).map_err(|error| self.failures().explain(&error, ErrorKind::Corrupt))
    }

    /// Rolls ANALYZE back once its rows are known: this SQLite would also leave samples in `sqlite_stat4`, of these
    /// objects and no others.
    fn analyze_all(&self, names: &[&str]) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        self.connection.execute("DELETE FROM sqlite_stat1", [])?;
        for name in names {
            self.connection.execute_batch(&format!("ANALYZE main.{}", quoted_name(name)))?;
        }
        let mut select = self.connection.prepare("SELECT tbl, idx, stat FROM sqlite_stat1")?;
        let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let found: Vec<(String, Option<String>, String)> = found.collect::<rusqlite::Result<_>>()?;
        drop(select);
        transaction.rollback()?;
        let mut insert = self.connection.prepare("INSERT INTO sqlite_stat1 VALUES (?1, ?2, ?3)")?;
        found.into_iter().try_for_each(|row| insert.execute(row).map(drop))
    }

    /// Gives the rows of `sqlite_schema` the order of `objects`, in which SQLite would have made them.
    ///
    /// ORDER: after all definitions.
    pub fn order_schema(&self, objects: &[SchemaObject]) -> Result<()> {
        schema_order::restore(&self.connection, objects)
            .map_err(|error| self.failures().explain(&error, ErrorKind::Corrupt))
    }

    /// Closes the database. Returns its bytes if it was in memory.
    pub fn finish(mut self) -> Result<Option<Vec<u8>>> {
        let failures = Failures::of(&self.options.progress);
        let versions = if self.wal { WAL_MODE } else { ROLLBACK_MODE };
        let Some(path) = self.path.take() else {
            let bytes = self.connection.serialize(MAIN_DB).map(|data| data.to_vec());
            let mut bytes = bytes.map_err(|error| failures.explain(&error, ErrorKind::Io))?;
            bytes[VERSIONS_AT..VERSIONS_AT + 2].copy_from_slice(&versions);
            return Ok(Some(bytes));
        };
        self.connection.close().map_err(|(_, error)| failures.explain(&error, ErrorKind::Io).in_file(&path))?;
        if self.wal {
            let file = OpenOptions::new().write(true).open(&path).map_err(|error| Error::io("open", &path, error))?;
            set_versions(&file, &path, versions)?;
        }
        Ok(None)
    }

    fn run(&self, sql: &str, kind: ErrorKind) -> Result<()> {
        self.connection.execute_batch(sql).map_err(|error| self.failures().explain(&error, kind))
    }

    fn failures(&self) -> Failures<'_> {
        Failures::of(&self.options.progress).in_memory(self.path.is_none())
    }
}

fn connect(path: &Path, flags: OpenFlags, progress: &Arc<Progress>) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags_and_vfs(path, flags, NO_LOCKS)?;
    watch(&mut connection, progress.clone())?;
    Ok(connection)
}

/// Makes long statements end soon after a request to stop.
fn watch(connection: &mut Connection, progress: Arc<Progress>) -> rusqlite::Result<()> {
    stop_if(connection, move || progress.go_on().is_err())
}

fn set_versions(file: &File, path: &Path, versions: [u8; 2]) -> Result<()> {
    file.write_all_at(&versions, VERSIONS_AT as u64).map_err(|error| Error::io("write", path, error))
}

/// Returns a value from SQLite as SQL writes it.
pub(crate) fn quote_sqlite(value: rusqlite::types::ValueRef<'_>) -> String {
    quote(&from_sqlite(value))
}
