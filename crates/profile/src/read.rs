//! Reading of a database: its schema, then all rows of its tables, in ranges, on all threads.
//!
//! The database is opened read-only. A database in WAL mode without a WAL is opened as immutable, because SQLite
//! would otherwise create files beside it. If there is a WAL, SQLite may create its index.

use crate::column_stats::ColumnStats;
use crate::references::{ForeignKey, ReferenceStats, foreign_keys};
use crate::sketch::hash_int;
use litepress_gen::generated_tables;
use litepress_rows::schema::{Schema, Table};
use litepress_rows::sync::{ignore_poison, lock};
use litepress_rows::{Error, ErrorKind, Result, quoted_name};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function that fails once the run is to stop.
pub(crate) type GoOn<'a> = &'a (dyn Fn() -> Result<()> + Sync);
/// Number of rows between two calls of a [`GoOn`].
const ROWS_BETWEEN: u64 = 1 << 12;

/// Span of rowids below which a table is read in one range.
pub(crate) const SMALL: u64 = 1 << 16;
/// Number of ranges of other tables.
pub(crate) const RANGES: u64 = 32;

/// Statistics of a database: its schema, and its tables by position, without virtual ones.
#[derive(Debug)]
pub(crate) struct DatabaseStats {
    pub schema: Schema,
    pub tables: Vec<Option<TableStats>>,
}

/// Reads all rows of a database, with one connection a thread. `go_on` is called now and then; its error stops the run.
pub(crate) fn read(file: &Path, threads: usize, go_on: GoOn<'_>) -> Result<DatabaseStats> {
    let reader = Reader::new(file)?;
    let first = reader.connect()?;
    let text = reader.ask(schema_text(&first))?;
    let schema = Schema::from_sql(&text, &file.display().to_string())?;
    let mut jobs = Vec::new();
    for (position, table) in generated_tables(&schema) {
        jobs.extend(reader.ask(ranges(&first, position, table))?);
    }
    drop(first);
    let stats: Vec<Mutex<Option<TableStats>>> = schema.tables.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let connection = reader.connect()?;
        // A thread keeps its statistics of a table from range to range: a full sample rejects most rows at once.
        let mut held: Option<(usize, TableStats)> = None;
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let table = &schema.tables[job.table];
            if let Some((before, read)) = held.take_if(|(before, _)| *before != job.table) {
                add(&stats[before], read);
            }
            let (_, read) = held.get_or_insert_with(|| (job.table, TableStats::new(&schema, table)));
            job.read(&connection, table, read, go_on).map_err(|stop| match stop {
                Stop::Sqlite(error) => reader.failure(error),
                Stop::Wished(error) => error,
            })?;
        }
        held.into_iter().for_each(|(table, read)| add(&stats[table], read));
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.clamp(1, jobs.len().max(1))).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that reads does not panic"))
    })?;
    let whole = |stats: Mutex<Option<TableStats>>| ignore_poison(stats.into_inner());
    let tables = stats.into_iter().map(whole).collect();
    Ok(DatabaseStats { schema, tables })
}

fn add(whole: &Mutex<Option<TableStats>>, read: TableStats) {
    let mut whole = lock(whole);
    match &mut *whole {
        Some(whole) => whole.merge(read),
        None => *whole = Some(read),
    }
}

struct Reader<'a> {
    file: &'a Path,
    uri: String,
}

impl<'a> Reader<'a> {
    fn new(file: &'a Path) -> Result<Self> {
        let mut head = Vec::new();
        let opened = File::open(file).and_then(|opened| opened.take(100).read_to_end(&mut head));
        opened.map_err(|error| Error::io("read the database", file, error))?;
        let path: String = file.as_os_str().as_encoded_bytes().iter().copied().map(uri_byte).collect();
        let beside = |suffix: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            Path::new(&name).metadata().is_ok_and(|beside| beside.len() > 0)
        };
        let is_wal = head.get(18..20).is_some_and(|versions| versions.contains(&2));
        let immutable = if is_wal && !beside("-wal") { "&immutable=1" } else { "" };
        Ok(Self { file, uri: format!("file:{path}?mode=ro{immutable}") })
    }

    fn connect(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = self.ask(Connection::open_with_flags(&self.uri, flags))?;
        self.ask(connection.execute_batch("PRAGMA query_only = 1; BEGIN"))?;
        Ok(connection)
    }

    fn ask<T>(&self, answer: rusqlite::Result<T>) -> Result<T> {
        answer.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: rusqlite::Error) -> Error {
        Error::new(ErrorKind::Data, format!("SQLite cannot read this database: {error}"))
            .in_file(self.file)
            .caused_by(error)
    }
}

fn uri_byte(byte: u8) -> String {
    let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_');
    if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// Returns the schema as SQL, with the page size if it is not the default.
fn schema_text(connection: &Connection) -> rusqlite::Result<String> {
    let page_size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let mut text = if page_size == 4096 { String::new() } else { format!("PRAGMA page_size = {page_size};\n") };
    let mut statement = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow' AND schema = 'main')
         ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let sql: String = row.get(0)?;
        // A semicolon after a `--` comment would be part of it.
        let ends_in_comment = sql.lines().last().is_some_and(|line| line.contains("--"));
        text += &sql;
        text += if ends_in_comment { "\n;\n" } else { ";\n" };
    }
    Ok(text)
}

/// A range of rows of a table.
struct Job {
    table: usize,
    /// Number of the range.
    range: usize,
    /// Name of the rowid, least and largest rowid; `None` means all rows.
    rowids: Option<(&'static str, i64, i64)>,
}

/// Divides a table into ranges, which follow from its rowids alone.
fn ranges(connection: &Connection, table: usize, of: &Table) -> rusqlite::Result<Vec<Job>> {
    let whole = || vec![Job { table, range: 0, rowids: None }];
    let name = ["rowid", "_rowid_", "oid"].into_iter().find(|name| of.column(name).is_none());
    let Some(name) = name.filter(|_| !of.without_rowid) else { return Ok(whole()) };
    let sql = format!("SELECT min({name}), max({name}) FROM {}", quoted_name(&of.name));
    let ends = connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(first), Some(last)): (Option<i64>, Option<i64>) = ends else { return Ok(whole()) };
    let span = last.abs_diff(first);
    let count = if span < SMALL { 1 } else { RANGES };
    // The span of all rowids does not fit into an i64.
    let cut = |range: u64| {
        let offset = i128::from(span) * i128::from(range) / i128::from(count) + i128::from(range > 0);
        i64::try_from(i128::from(first) + offset).unwrap_or(i64::MAX)
    };
    let job = |range: u64| {
        let end = if range + 1 == count { last } else { cut(range + 1) - 1 };
        Job { table, range: usize::try_from(range).expect("a small number"), rowids: Some((name, cut(range), end)) }
    };
    Ok((0..count).map(job).collect())
}

impl Job {
    /// Adds the rows of this range to `stats`.
    fn read(
        &self,
        connection: &Connection,
        table: &Table,
        stats: &mut TableStats,
        go_on: GoOn<'_>,
    ) -> Result<(), Stop> {
        let positions: Vec<usize> = table.ordinary_columns().collect();
        let names: Vec<String> = positions.iter().map(|&column| quoted_name(&table.columns[column].name)).collect();
        let (names, table) = (names.join(", "), quoted_name(&table.name));
        let sql = match self.rowids {
            None => format!("SELECT 0, {names} FROM {table}"),
            Some((rowid, ..)) => {
                format!("SELECT {rowid}, {names} FROM {table} WHERE {rowid} BETWEEN ?1 AND ?2 ORDER BY {rowid}")
            }
        };
        let mut statement = connection.prepare(&sql)?;
        let mut rows = match self.rowids {
            None => statement.query([])?,
            Some((_, first, last)) => statement.query([first, last])?,
        };
        while let Some(row) = rows.next()? {
            let rowid: i64 = row.get(0)?;
            // Without rowids all rows are one range.
            let row_hash = hash_int(if self.rowids.is_some() { rowid.cast_unsigned() } else { stats.rows });
            for (column, stats) in stats.columns.iter_mut().enumerate() {
                stats.add(row_hash, row.get_ref(column + 1)?);
            }
            for ((_, stats), places) in stats.foreign_keys.iter_mut().zip(&stats.places) {
                let values: rusqlite::Result<Vec<_>> = places.iter().map(|&place| row.get_ref(place + 1)).collect();
                stats.add(values?.into_iter());
            }
            stats.rows += 1;
            if stats.rows.is_multiple_of(ROWS_BETWEEN) {
                go_on().map_err(Stop::Wished)?;
            }
        }
        for column in &mut stats.columns {
            column.end_range(self.range);
        }
        for (_, references) in &mut stats.foreign_keys {
            references.end_range();
        }
        Ok(())
    }
}

/// The reason why a range was not read to its end.
enum Stop {
    Sqlite(rusqlite::Error),
    /// A wish to stop.
    Wished(Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Statistics of a table.
#[derive(Debug)]
pub(crate) struct TableStats {
    pub rows: u64,
    /// Statistics of the ordinary columns.
    pub columns: Vec<ColumnStats>,
    pub foreign_keys: Vec<(ForeignKey, ReferenceStats)>,
    /// For each foreign key, the positions of its columns in `columns`.
    places: Vec<Vec<usize>>,
}

impl TableStats {
    fn new(schema: &Schema, table: &Table) -> Self {
        let ordinary: Vec<usize> = table.ordinary_columns().collect();
        let place = |column: &usize| ordinary.iter().position(|of| of == column);
        let keys = foreign_keys(schema, table);
        Self {
            rows: 0,
            columns: ordinary.iter().map(|_| ColumnStats::new()).collect(),
            places: keys.iter().map(|key| key.columns.iter().filter_map(place).collect()).collect(),
            foreign_keys: keys.into_iter().map(|key| (key, ReferenceStats::new())).collect(),
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        for (one, other) in self.columns.iter_mut().zip(other.columns) {
            one.merge(other);
        }
        for ((_, one), (_, other)) in self.foreign_keys.iter_mut().zip(other.foreign_keys) {
            one.merge(other);
        }
    }
}
