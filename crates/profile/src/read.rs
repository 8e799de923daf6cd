//! Reading of a database: its schema, then all rows of its tables, in parts, on all threads.
//!
//! Pages are read as they are at one moment ([`Moment`]), and records are decoded here: a row through SQL takes twice the time.

use crate::column_stats::ColumnStats;
use crate::references::{ForeignKey, ReferenceStats, foreign_keys};
use crate::row_sample::{Parents, SAMPLED_ROWS, SampledRow, parents};
use crate::row_values::RowValues;
use crate::sketch::{Sample, hash_int};
use litepress_format::FormatError;
use litepress_format::value::Value;
use litepress_gen::generated_tables;
use litepress_rows::schema::{Schema, Table};
use litepress_rows::sqlite::{refuse_shared_roots, schema_statements};
use litepress_rows::sync::{Mutex, ignore_poison, lock, on_threads};
use litepress_rows::{Error, ErrorKind, Part, RecordChunk, Result};
use litepress_scan::{IndexScan, Moment, ScanPart, Snapshot, TableScan};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// A function that fails once the run is to stop.
pub(crate) type GoOn<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// Statistics of a database: its schema, and its tables by position, without virtual ones.
#[derive(Debug)]
pub(crate) struct DatabaseStats {
    pub schema: Schema,
    pub tables: Vec<Option<TableStats>>,
}

/// Reads all rows of a database. `go_on` is called now and then; its error stops the run.
pub(crate) fn read(file: &Path, threads: usize, go_on: GoOn<'_>) -> Result<DatabaseStats> {
    let moment = Moment::begin(file)?;
    let text = schema_text(&moment.connection()).map_err(|error| moment.failure(error))?;
    let schema = Schema::from_sql(&text, &file.display().to_string())?;
    let stats: Vec<Mutex<Option<TableStats>>> = schema.tables.iter().map(|_| Mutex::new(None)).collect();
    for (position, table) in generated_tables(&schema) {
        // A table without rows has statistics, too.
        add(&stats[position], TableStats::new(&schema, table));
    }
    let parts = PartQueue::new(&moment, &schema)?;
    let work = || -> Result<()> {
        // A thread keeps its statistics of a table from part to part: a full sample rejects most rows at once.
        let mut held: Option<(usize, TableStats)> = None;
        while let Some(TablePart { reader, range, part }) = parts.next()? {
            let position = reader.position;
            if let Some((before, read)) = held.take_if(|(before, _)| *before != position) {
                add(&stats[before], read);
            }
            let (_, read) = held.get_or_insert_with(|| (position, TableStats::new(&schema, &schema.tables[position])));
            reader.read(part, range, read, go_on).map_err(|error| error.in_file(file))?;
        }
        held.into_iter().for_each(|(table, read)| add(&stats[table], read));
        Ok(())
    };
    let failed = Mutex::new(None);
    on_threads(threads, || {
        if let Err(error) = work() {
            lock(&failed).get_or_insert(error);
        }
    });
    if let Some(error) = ignore_poison(failed.into_inner()) {
        return Err(error);
    }
    drop(parts);
    let whole = |stats: Mutex<Option<TableStats>>| ignore_poison(stats.into_inner());
    let mut tables: Vec<Option<TableStats>> = stats.into_iter().map(whole).collect();
    for stats in tables.iter_mut().flatten() {
        go_on()?;
        stats.look_up_parents(&moment.connection(), &schema).map_err(|error| moment.failure(error))?;
    }
    moment.close();
    moment.check_unchanged()?;
    Ok(DatabaseStats { schema, tables })
}

fn add(whole: &Mutex<Option<TableStats>>, read: TableStats) {
    let mut whole = lock(whole);
    match &mut *whole {
        Some(whole) => whole.merge(read),
        None => *whole = Some(read),
    }
}

/// Returns the schema as SQL, with the page size if it is not the default.
fn schema_text(connection: &Connection) -> rusqlite::Result<String> {
    let page_size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let mut text = if page_size == 4096 { String::new() } else { format!("PRAGMA page_size = {page_size};\n") };
    for sql in schema_statements(connection)? {
        // A semicolon after a `--` comment would be part of it.
        let ends_in_comment = sql.lines().last().is_some_and(|line| line.contains("--"));
        text += &sql;
        text += if ends_in_comment { "\n;\n" } else { ";\n" };
    }
    Ok(text)
}

/// The parts of all tables, handed out one after another.
struct PartQueue<'a> {
    snapshot: Snapshot,
    schema: &'a Schema,
    state: Mutex<QueueState>,
}

struct QueueState {
    /// The tables that are still to be read, the next one last, with their root pages.
    tables: Vec<(usize, u32)>,
    /// The table that is read, and the number of its parts so far.
    current: Option<(Arc<TableReader>, usize)>,
}

/// A part of a table.
struct TablePart {
    reader: Arc<TableReader>,
    /// Number of the part within the table.
    range: usize,
    part: ScanPart,
}

/// A table while it is read.
struct TableReader {
    position: usize,
    name: String,
    scan: Tree,
    values: RowValues,
}

enum Tree {
    Table(TableScan),
    WithoutRowid(IndexScan),
}

impl<'a> PartQueue<'a> {
    fn new(moment: &Moment, schema: &'a Schema) -> Result<Self> {
        let Some(snapshot) = moment.snapshot().cloned() else {
            let message = "SQLite can read this database, but its pages cannot be read beside it";
            return Err(Error::new(ErrorKind::Data, message).advise("copy it to a folder that can be written"));
        };
        let connection = moment.connection();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        let root = |(position, table): (usize, &Table)| {
            connection.query_row(sql, [&table.name], |row| Ok((position, row.get(0)?)))
        };
        let tables: rusqlite::Result<Vec<(usize, u32)>> = generated_tables(schema).map(root).collect();
        let mut tables = tables.map_err(|error| moment.failure(error))?;
        let names = tables.iter().map(|(position, root)| (schema.tables[*position].name.as_str(), *root));
        refuse_shared_roots(names).map_err(|error| moment.failure(error))?;
        tables.reverse();
        Ok(Self { snapshot, schema, state: Mutex::new(QueueState { tables, current: None }) })
    }

    /// Returns the next part, or `None` after the last one of the last table.
    fn next(&self) -> Result<Option<TablePart>> {
        let mut state = lock(&self.state);
        loop {
            if let Some((reader, parts)) = &mut state.current {
                let part = match &reader.scan {
                    Tree::Table(scan) => scan.next_scan_part(),
                    Tree::WithoutRowid(scan) => scan.next_scan_part(),
                };
                if let Some(part) = part? {
                    *parts += 1;
                    return Ok(Some(TablePart { reader: reader.clone(), range: *parts - 1, part }));
                }
            }
            let Some((position, root)) = state.tables.pop() else { return Ok(None) };
            let table = &self.schema.tables[position];
            let scan = match table.without_rowid {
                true => Tree::WithoutRowid(IndexScan::new(&self.snapshot, root, &table.name)?),
                false => Tree::Table(TableScan::new(&self.snapshot, root, &table.name)?),
            };
            let values = RowValues::new(table, self.snapshot.encoding());
            state.current = Some((Arc::new(TableReader { position, name: table.name.clone(), scan, values }), 0));
        }
    }
}

impl TableReader {
    /// Adds the rows of a part to `stats`.
    fn read(&self, mut part: ScanPart, range: usize, stats: &mut TableStats, go_on: GoOn<'_>) -> Result<()> {
        let mut chunk = RecordChunk::new();
        let wrong = |error: FormatError| {
            Error::new(ErrorKind::Corrupt, format!("a record cannot be read: {error}")).in_table(&self.name)
        };
        loop {
            chunk.clear();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            go_on()?;
            self.values.decode_texts(&mut chunk).map_err(wrong)?;
            let mut values = Vec::new();
            for (row, &rowid) in chunk.rowids().iter().enumerate() {
                self.values.read(rowid, chunk.record(row), &mut values).map_err(wrong)?;
                // Rows without rowids are told apart by their position, which follows from the pages alone.
                let key = match self.scan {
                    Tree::Table(_) => rowid.cast_unsigned(),
                    Tree::WithoutRowid(_) => chunk.first_record() + row as u64,
                };
                stats.add(hash_int(key), rowid, &values);
            }
        }
        stats.end_range(range);
        Ok(())
    }
}

/// Statistics of a table.
#[derive(Debug)]
pub(crate) struct TableStats {
    pub rows: u64,
    /// Statistics of the ordinary columns.
    pub columns: Vec<ColumnStats>,
    pub foreign_keys: Vec<(ForeignKey, ReferenceStats)>,
    /// Sampled rows, in the order of rowids once all are read.
    pub sample: Sample<SampledRow>,
    pub sampled_rows: Vec<SampledRow>,
    /// The parents of the sampled rows, for each foreign key.
    pub parents: Vec<Parents>,
    /// Number of ranges that were read.
    pub ranges: u64,
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
            ranges: 0,
            sample: Sample::new(SAMPLED_ROWS),
            sampled_rows: Vec::new(),
            parents: Vec::new(),
            columns: ordinary.iter().map(|_| ColumnStats::new()).collect(),
            places: keys.iter().map(|key| key.columns.iter().filter_map(place).collect()).collect(),
            foreign_keys: keys.into_iter().map(|key| (key, ReferenceStats::new())).collect(),
        }
    }

    fn add(&mut self, row_hash: u64, rowid: i64, values: &[Value<'_>]) {
        self.sample.add(row_hash, || SampledRow::new(rowid, values));
        for (stats, &value) in self.columns.iter_mut().zip(values) {
            stats.add(row_hash, value);
        }
        for ((_, stats), places) in self.foreign_keys.iter_mut().zip(&self.places) {
            stats.add(places.iter().map(|&place| values[place]));
        }
        self.rows += 1;
    }

    fn end_range(&mut self, range: usize) {
        self.columns.iter_mut().for_each(|column| column.end_range(range));
        self.foreign_keys.iter_mut().for_each(|(_, references)| references.end_range());
        self.ranges += 1;
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.ranges += other.ranges;
        self.sample.merge(other.sample);
        for (one, other) in self.columns.iter_mut().zip(other.columns) {
            one.merge(other);
        }
        for ((_, one), (_, other)) in self.foreign_keys.iter_mut().zip(other.foreign_keys) {
            one.merge(other);
        }
    }

    /// Ends the sample of rows, and looks up their parents.
    fn look_up_parents(&mut self, connection: &Connection, schema: &Schema) -> rusqlite::Result<()> {
        let mut rows = std::mem::replace(&mut self.sample, Sample::new(0)).values();
        // The first rows are a random sample, too.
        let of = |(key, places): (&(ForeignKey, ReferenceStats), &Vec<usize>)| match places[..] {
            [place] => parents(connection, schema, &key.0, place, &rows),
            _ => Ok(Vec::new()),
        };
        self.parents = self.foreign_keys.iter().zip(&self.places).map(of).collect::<rusqlite::Result<_>>()?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&row| rows[row].rowid);
        for parents in self.parents.iter_mut().filter(|parents| !parents.is_empty()) {
            *parents = order.iter().map(|&row| parents.get_mut(row).and_then(Option::take)).collect();
        }
        rows.sort_by_key(|row| row.rowid);
        self.sampled_rows = rows;
        Ok(())
    }
}
