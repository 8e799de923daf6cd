//! Has SQLite index rows, part by part, in full-text tables in memory. Their segments are decoded and kept as runs.

use super::runs::{Run, RunStore, push_row};
use crate::options::Options;
use crate::progress::Progress;
use crate::sqlite::Failures;
use crate::threads::take_all;
use crate::{Error, ErrorKind, Result};
use litepress_format::record::RecordReader;
use litepress_format::value::Value;
use litepress_fts5::{AVERAGES_ID, Averages, RunWriter, STRUCTURE_ID, SegmentDecoder, Structure, leaf_id};
use litepress_rows::schema::{FullText, TextContent};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Affinity, RecordChunk, Table, quoted_name, sqlite_value};
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// Number of bytes of records that one segment indexes. More take longer for each: SQLite's hash table leaves the processor's cache.
/// Of 200 MB, 4 MB at a time take nine tenths of the time that 32 MB at a time take; 1 MB at a time are no faster.
const FEW_BYTES: u64 = 4 << 20;

/// Number of bytes of records that one segment indexes behind the first [`SMALL_RUNS`]: each run costs the merge a buffer.
const MOST_BYTES: u64 = 32 << 20;

/// Number of runs of small segments.
const SMALL_RUNS: usize = 256;

/// Number of bytes of memory that SQLite takes for a byte of records, with a tokenizer that makes many tokens.
const MEMORY_PER_BYTE: u64 = 12;

/// Size of leaves in memory. Larger leaves are fewer rows to read.
const LEAF_BYTES: u32 = 32 << 10;

/// The columns of a full-text table, and their places in records.
pub(super) struct TextColumns {
    name: String,
    sql: String,
    insert: String,
    /// For each column its place in a record.
    places: Vec<Place>,
}

/// The place of a column in records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Position among the values of the record.
    value: usize,
    /// It is the rowid.
    is_rowid: bool,
    /// Integers in the record are reals.
    is_real: bool,
}

impl TextColumns {
    pub fn new(table: &Table, full_text: &FullText) -> Self {
        let names: Vec<String> =
            table.ordinary_columns().map(|column| quoted_name(&table.columns[column].name)).collect();
        let places = places(table, full_text);
        let quoted = quoted_name(&table.name);
        let insert =
            format!("INSERT INTO {quoted}(rowid, {}) VALUES (?{})", names.join(", "), ", ?".repeat(names.len()));
        Self { name: table.name.clone(), sql: worker_sql(table, full_text), insert, places }
    }

    /// Makes the table in memory, so that all rows become one segment.
    fn open(&self) -> rusqlite::Result<Connection> {
        let sqlite = Connection::open_in_memory()?;
        let quoted = quoted_name(&self.name);
        sqlite.execute_batch(&format!(
            "PRAGMA page_size = 65536; PRAGMA journal_mode = OFF; {};
             INSERT INTO {quoted}({quoted}, rank) VALUES ('hashsize', 2000000000), ('automerge', 0), ('crisismerge', 1999),
                ('pgsz', {LEAF_BYTES});
             BEGIN",
            self.sql
        ))?;
        Ok(sqlite)
    }
}

/// Returns the statement that makes the table in memory: without texts of its own, if SQLite takes that.
fn worker_sql(table: &Table, full_text: &FullText) -> String {
    let shorter = full_text.sql.trim_end().strip_suffix(')').map(|sql| format!("{sql}, content='')"));
    let is_taken = |sql: &String| {
        let sqlite = Connection::open_in_memory()?;
        sqlite.execute(sql, [])?;
        let columns: usize =
            sqlite.query_row("SELECT count(*) FROM temp.pragma_table_info(?)", [&table.name], |row| row.get(0))?;
        Ok::<bool, rusqlite::Error>(columns == table.ordinary_columns().count())
    };
    let is_own = matches!(full_text.content, TextContent::Own | TextContent::Copied(..));
    shorter.filter(|sql| is_own && is_taken(sql).unwrap_or(false)).unwrap_or_else(|| full_text.sql.clone())
}

/// Returns the places of the columns of a full-text table in the records that it is made from.
pub(super) fn places(table: &Table, full_text: &FullText) -> Vec<Place> {
    match &full_text.content {
        TextContent::Table(content, columns) | TextContent::Copied(content, columns) => {
            columns.iter().map(|&column| place_in(content, column)).collect()
        }
        _ => {
            let plain = |value| Place { value, is_rowid: false, is_real: false };
            (0..table.ordinary_columns().count()).map(plain).collect()
        }
    }
}

/// Returns the place of a column in the records of a rowid table.
fn place_in(table: &Table, column: usize) -> Place {
    let value = table.stored_columns().iter().position(|&stored| stored == column).expect("a stored column");
    let is_real = table.columns[column].affinity == Affinity::Real;
    Place { value, is_rowid: table.rowid_alias == Some(column), is_real }
}

/// Indexers that are not at work.
pub(super) struct IndexerPool<'p> {
    columns: &'p TextColumns,
    has_positions: bool,
    progress: &'p Progress,
    /// Number of bytes of records that fit the memory of an indexer.
    most_bytes: u64,
    store: RunStore,
    idle: Mutex<Vec<Indexer>>,
    indexed: Mutex<Indexed>,
}

/// The index of all rows.
#[derive(Default)]
pub(super) struct Indexed {
    /// Terms and their doclists.
    pub runs: Vec<Run>,
    /// The sizes of rows.
    pub sizes: Vec<Run>,
    pub averages: Averages,
    /// Bytes of a temporary file.
    pub spilled_bytes: u64,
}

impl<'p> IndexerPool<'p> {
    /// Creates a pool for one index that takes up to `memory_bytes`.
    pub fn new(
        full_text: &FullText,
        columns: &'p TextColumns,
        temp_dir: &Path,
        memory_bytes: u64,
        options: &'p Options,
    ) -> Self {
        // A half for SQLite, a quarter for runs; pages in flight take the rest.
        let share = memory_bytes / 2 / options.threads.max(1) as u64;
        Self {
            columns,
            has_positions: full_text.has_positions,
            progress: &options.progress,
            most_bytes: (share / MEMORY_PER_BYTE).clamp(1 << 20, MOST_BYTES),
            store: RunStore::new(temp_dir.to_owned(), memory_bytes / 4),
            idle: Mutex::default(),
            indexed: Mutex::default(),
        }
    }

    pub fn progress(&self) -> &Progress {
        self.progress
    }

    /// Returns the number of bytes of records that the next segment indexes.
    fn flush_bytes(&self) -> u64 {
        let is_small = lock(&self.indexed).runs.len() < SMALL_RUNS;
        if is_small { self.most_bytes.min(FEW_BYTES) } else { self.most_bytes }
    }

    /// Takes an indexer, for one part at a time.
    pub fn take(&self) -> Indexer {
        lock(&self.idle).pop().unwrap_or_default()
    }

    /// Gives an indexer back, behind its part.
    pub fn give_back(&self, indexer: Indexer) {
        lock(&self.idle).push(indexer);
    }

    /// Completes all segments. Returns the index.
    pub fn finish(&self, threads: usize) -> Result<Indexed> {
        take_all(
            threads,
            || (),
            |()| {
                let Some(mut indexer) = lock(&self.idle).pop() else { return Ok(false) };
                indexer.flush(self).map(|()| true).map_err(|error| (0, error))
            },
            |()| Ok(()),
        )?;
        Ok(Indexed { spilled_bytes: self.store.file_len(), ..std::mem::take(&mut *lock(&self.indexed)) })
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        Failures::of(self.progress).explain(error, ErrorKind::Schema).in_table(&self.columns.name)
    }
}

/// A full-text table in memory, which SQLite fills.
#[derive(Default)]
pub(super) struct Indexer {
    sqlite: Option<Connection>,
    /// Bytes of the records so far.
    bytes: u64,
    last_rowid: Option<i64>,
}

impl Indexer {
    /// Indexes rows in ascending order of their rowids.
    pub fn add(&mut self, rows: &RecordChunk, pool: &IndexerPool<'_>) -> Result<()> {
        let (Some(&first), Some(&last)) = (rows.rowids().first(), rows.rowids().last()) else { return Ok(()) };
        // Another part may have come first.
        if self.bytes >= pool.flush_bytes() || self.last_rowid.is_some_and(|before| before >= first) {
            self.flush(pool)?;
        }
        let columns = pool.columns;
        let sqlite = match self.sqlite.take() {
            Some(sqlite) => sqlite,
            None => columns.open().map_err(|error| pool.failed(&error))?,
        };
        let inserted = insert(&sqlite, columns, rows);
        self.sqlite = Some(sqlite);
        self.bytes += rows.arena().len() as u64;
        self.last_rowid = Some(last);
        inserted.map_err(|(row, error)| pool.failed(&error).in_record(rows.first_record() + row as u64))
    }

    /// Has SQLite write its segment, and keeps it as a run.
    fn flush(&mut self, pool: &IndexerPool<'_>) -> Result<()> {
        let Some(sqlite) = self.sqlite.take() else { return Ok(()) };
        (self.bytes, self.last_rowid) = (0, None);
        sqlite.execute_batch("COMMIT").map_err(|error| pool.failed(&error))?;
        let averages = block(&sqlite, &pool.columns.name, AVERAGES_ID).map_err(|error| pool.failed(&error))?;
        let structure = block(&sqlite, &pool.columns.name, STRUCTURE_ID).map_err(|error| pool.failed(&error))?;
        let read = "SQLite's own full-text index";
        let broken = |error| Error::new(ErrorKind::Corrupt, format!("{read}: {error}")).in_table(&pool.columns.name);
        let averages = Averages::decode(&averages).map_err(broken)?;
        let structure = Structure::decode(&structure).map_err(broken)?;
        let mut runs = Vec::new();
        for segment in structure.levels.iter().flat_map(|level| &level.segments) {
            runs.push(pool.store.keep(decode(&sqlite, segment.id, pool)?)?);
        }
        let sizes = sizes(&sqlite, &pool.columns.name).map_err(|error| pool.failed(&error))?;
        let sizes = pool.store.keep(sizes)?;
        let mut indexed = lock(&pool.indexed);
        indexed.runs.append(&mut runs);
        indexed.sizes.push(sizes);
        indexed.averages.add(&averages);
        Ok(())
    }
}

/// Decodes a segment.
fn decode(sqlite: &Connection, segment: u32, pool: &IndexerPool<'_>) -> Result<Vec<u8>> {
    let failed = |error: rusqlite::Error| pool.failed(&error);
    let (mut decoder, mut run) = (SegmentDecoder::new(pool.has_positions), RunWriter::default());
    let data = quoted_name(&format!("{}_data", pool.columns.name));
    let sql = format!("SELECT block FROM {data} WHERE id BETWEEN ? AND ? ORDER BY id");
    let mut leaves = sqlite.prepare(&sql).map_err(failed)?;
    let mut leaves = leaves.query([leaf_id(segment, 1), leaf_id(segment, i32::MAX.cast_unsigned())]).map_err(failed)?;
    while let Some(row) = leaves.next().map_err(failed)? {
        let leaf = row.get_ref(0).map_err(failed)?;
        let leaf = leaf.as_blob().map_err(|error| failed(error.into()))?;
        decoder.add(leaf, |term, doclist| run.push(term, doclist)).map_err(|error| {
            Error::new(ErrorKind::Corrupt, format!("a leaf of SQLite's own full-text index: {error}"))
        })?;
    }
    decoder.finish(|term, doclist| run.push(term, doclist));
    Ok(std::mem::take(run.bytes()))
}

/// Reads a row of `%_data`.
fn block(sqlite: &Connection, name: &str, id: i64) -> rusqlite::Result<Vec<u8>> {
    let sql = format!("SELECT block FROM {} WHERE id = ?", quoted_name(&format!("{name}_data")));
    Ok(sqlite.query_row(&sql, [id], |row| row.get(0)).optional()?.unwrap_or_default())
}

/// Reads `%_docsize`, if there is one.
fn sizes(sqlite: &Connection, name: &str) -> rusqlite::Result<Vec<u8>> {
    let (docsize, mut out) = (format!("{name}_docsize"), Vec::new());
    if sqlite.table_exists(Some("main"), docsize.as_str())? {
        let mut rows = sqlite.prepare(&format!("SELECT id, sz FROM {} ORDER BY id", quoted_name(&docsize)))?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            push_row(row.get(0)?, row.get_ref(1)?.as_blob()?, &mut out);
        }
    }
    Ok(out)
}

/// Inserts rows. Returns the row that SQLite refuses.
fn insert(sqlite: &Connection, columns: &TextColumns, rows: &RecordChunk) -> Result<(), (usize, rusqlite::Error)> {
    let mut insert = sqlite.prepare_cached(&columns.insert).map_err(|error| (0, error))?;
    let mut values = Vec::new();
    for (row, &rowid) in rows.rowids().iter().enumerate() {
        values.clear();
        // Records of a chunk are well-formed.
        let read = RecordReader::new(rows.record(row)).expect("a record");
        values.extend(read.map(|value| value.expect("a value")));
        let mut add = || {
            insert.raw_bind_parameter(1, rowid)?;
            for (parameter, place) in (2..).zip(&columns.places) {
                insert.raw_bind_parameter(parameter, sqlite_value::parameter(place.value(&values, rowid)))?;
            }
            insert.raw_execute().map(drop)
        };
        add().map_err(|error| (row, error))?;
    }
    Ok(())
}

impl Place {
    /// Returns the value of the column in a row.
    pub fn value<'v>(self, values: &[Value<'v>], rowid: i64) -> Value<'v> {
        match values.get(self.value) {
            _ if self.is_rowid => Value::Int(rowid),
            Some(&Value::Int(int)) if self.is_real => Value::Real(int as f64),
            Some(&value) => value,
            None => Value::Null,
        }
    }
}
