//! Computes the columns of a table that SQLite stores, before a row is stored.
//!
//! ```text
//! CREATE TABLE t (a, b AS (upper(a)) STORED)
//!
//! record of the source | a |   in a small database of   CREATE TABLE t (a, b AS (upper(a)) VIRTUAL)
//!                              SELECT b FROM t
//! record of the table  | a | b |
//! ```
//!
//! SQLite gives a stored column the value of a virtual one: the same expression, the same affinity. And a record of the table
//! with virtual columns is what sources give. SQLite also checks the types of a STRICT table as it computes a virtual column.
//! NOT NULL is left to check. CHECK constraints are judged by the same SELECT.

use super::checks::{BROKEN, Checks};
use super::projection::field_len;
use super::select::{Select, SelectedRow};
use super::small_database::{SmallDatabase, Template, connection};
use super::{explain, recorded, scan_clause};
use crate::{Error, ErrorKind, Result};
use litepress_format::header::TextEncoding;
use litepress_format::record::{header_len, serial_of, write_body};
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::schema::Generated;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Affinity, Part, RecordChunk, Source, Table, quoted_name};
use rusqlite::Connection;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// SQLite's limit for the bytes of a record.
const MAX_RECORD_BYTES: usize = 1_000_000_000;

/// Bytes of given records that are computed together: they are in the processor's cache when they are read again.
const BATCH_BYTES: usize = 1 << 20;

/// Bytes of whole records that are computed together, by those before.
const WHOLE_BYTES: usize = 4 << 20;

/// Rows of a part that are computed first: nothing is known about their length.
const FIRST_ROWS: usize = 4;

/// Returns whether columns of the table must be computed before its rows are stored.
pub(crate) fn is_needed(table: &Table) -> bool {
    table.columns.iter().any(|column| match column.generated {
        Generated::Stored => true,
        Generated::Virtual => column.not_null || table.strict,
        Generated::No | Generated::Hidden => false,
    })
}

/// A source of whole records: those of another source, and the values of computed columns. Rows that break a CHECK constraint are
/// errors.
pub(crate) struct ComputedColumns<'s> {
    source: &'s dyn Source,
    table: &'s Table,
    template: Arc<Template>,
    /// Computes the columns, and whether a row breaks a check.
    sql: String,
    /// Computes the columns alone.
    columns_sql: String,
    checks: Option<Checks>,
    columns: Vec<ComputedColumn>,
    /// The values of a record of the table, in order.
    fields: Vec<FieldOrigin>,
    /// Benches that no part uses.
    idle: Mutex<Vec<Bench>>,
}

/// A column that is computed.
struct ComputedColumn {
    name: String,
    not_null: bool,
    is_real: bool,
}

/// The origin of values of a record.
#[derive(Clone, Copy)]
enum FieldOrigin {
    /// The next values of the source's record, so many.
    Given(usize),
    /// A column of the query.
    Computed(usize),
}

impl<'s> ComputedColumns<'s> {
    /// Puts the computed columns of a table into the records of `source`.
    ///
    /// REQUIRES: they are [needed](is_needed), and the table's evaluation has statements for them.
    ///
    /// # Errors
    /// If SQLite refuses the table, which it has accepted before.
    pub fn new(table: &'s Table, source: &'s dyn Source) -> Result<Self> {
        const PLANNED: &str = "the plan has looked for them";
        let is_computed = |&at: &usize| {
            let column = &table.columns[at];
            column.generated == Generated::Stored
                || column.generated == Generated::Virtual && (column.not_null || table.strict)
        };
        let computed: Vec<usize> = (0..table.columns.len()).filter(is_computed).collect();
        let names: Vec<String> = computed.iter().map(|&at| quoted_name(&table.columns[at].name)).collect();
        let column = |&at: &usize| {
            let column = &table.columns[at];
            let is_real = column.affinity == Affinity::Real;
            ComputedColumn { name: column.name.clone(), not_null: column.not_null, is_real }
        };
        let (names, scan, checks) = (names.join(", "), scan_clause(table), Checks::new(table));
        let columns_sql = format!("SELECT {names} FROM {scan}");
        let sql = match &checks {
            Some(checks) => format!("SELECT {names}, {} FROM {scan}", checks.is_broken()),
            None => columns_sql.clone(),
        };
        let evaluation = table.evaluation.as_ref().expect(PLANNED);
        let mut statements = evaluation.virtual_statements.clone().expect(PLANNED);
        // Columns for checks that may read the clock.
        statements.extend_from_slice(&evaluation.statements[1..]);
        let own = [sql.clone(), columns_sql.clone()];
        let reads: Vec<String> = own.into_iter().chain(checks.iter().flat_map(Checks::reads)).collect();
        Ok(Self {
            source,
            table,
            template: Template::new(table, &statements, &reads, TextEncoding::Utf8)?,
            sql,
            columns_sql,
            checks,
            columns: computed.iter().map(column).collect(),
            fields: origins(table, &computed),
            idle: Mutex::default(),
        })
    }

    /// Computes the columns of all rows of a bench. Its whole records are complete then.
    fn compute(&self, bench: &mut Bench) -> Result<()> {
        let failed = |error: rusqlite::Error| explain(&error, self.table);
        let Bench { sqlite, small, given, whole, spare, writer, .. } = bench;
        small.open_in(sqlite).map_err(failed)?;
        small.clear();
        let mut rows = Select::new(sqlite, &self.sql).map_err(failed)?;
        for chunk in given.drain(..) {
            let mut completed = spare.pop().unwrap_or_default();
            completed.clear();
            completed.set_first_record(chunk.first_record());
            for row in 0..chunk.len() {
                // Short rows may become long ones.
                if completed.is_full() {
                    let mut next = spare.pop().unwrap_or_default();
                    next.clear();
                    next.set_first_record(chunk.first_record() + row as u64);
                    whole.push_back(std::mem::replace(&mut completed, next));
                }
                let of_row = |error: Error| error.in_record(chunk.first_record() + row as u64);
                let computed = rows.next().map_err(|error| self.refused(sqlite, &error, of_row))?;
                let computed = computed.expect("SQLite reads every row");
                let record = self.write(chunk.record(row), computed, writer).map_err(of_row)?;
                if self.checks.is_some() && computed.value(self.columns.len()).map_err(failed)? == BROKEN {
                    self.check(sqlite)?;
                }
                push_row(&mut completed, &chunk, row, record);
            }
            spare.push(chunk);
            if completed.is_empty() { spare.push(completed) } else { whole.push_back(completed) }
        }
        Ok(())
    }

    /// Fails if a row of a small database breaks a check.
    fn check(&self, sqlite: &Connection) -> Result<()> {
        self.checks.as_ref().map_or(Ok(()), |checks| checks.check(sqlite))
    }

    /// Returns the error of rows that SQLite cannot compute, or cannot check.
    fn refused(&self, sqlite: &Connection, error: &rusqlite::Error, of_row: impl Fn(Error) -> Error) -> Error {
        let compute = || {
            let mut statement = sqlite.prepare(&self.columns_sql)?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok::<_, rusqlite::Error>(())
        };
        match compute().map(|()| self.check(sqlite)) {
            Ok(Err(unchecked)) => unchecked,
            _ => of_row(explain(error, self.table)),
        }
    }

    /// Writes the whole record of a row.
    fn write<'w>(&self, given: &'w [u8], computed: SelectedRow<'_>, writer: &'w mut RecordWriter) -> Result<&'w [u8]> {
        let failed = |error: rusqlite::Error| explain(&error, self.table);
        for (at, column) in self.columns.iter().enumerate().filter(|(_, column)| column.not_null) {
            if computed.value(at).map_err(failed)? == Value::Null {
                let message = format!("NOT NULL constraint failed: {}.{}", self.table.name, column.name);
                let error = Error::new(ErrorKind::Constraint, message).in_table(&self.table.name);
                return Err(error.in_column(&column.name).with_value("NULL"));
            }
        }
        let mut record = writer.begin(given);
        for field in &self.fields {
            match *field {
                FieldOrigin::Given(count) => record.copy(count),
                FieldOrigin::Computed(at) => {
                    let value = computed.value(at).map_err(failed)?;
                    record.push(&recorded(value, self.columns[at].is_real));
                }
            }
        }
        let out = record.finish();
        if out.len() > MAX_RECORD_BYTES {
            return Err(Error::new(ErrorKind::Limit, "string or blob too big").in_table(&self.table.name));
        }
        Ok(out)
    }

    /// Takes a bench, for one part at a time.
    fn bench(&self) -> Result<Bench> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| Bench::new(&self.template).map_err(|error| explain(&error, self.table)), Ok)
    }
}

/// Returns the origins of the values of a record. `computed` are the columns of the query.
fn origins(table: &Table, computed: &[usize]) -> Vec<FieldOrigin> {
    let mut fields = Vec::new();
    for column in table.stored_columns() {
        match (computed.iter().position(|&at| at == column), fields.last_mut()) {
            (Some(at), _) => fields.push(FieldOrigin::Computed(at)),
            (None, Some(FieldOrigin::Given(count))) => *count += 1,
            (None, _) => fields.push(FieldOrigin::Given(1)),
        }
    }
    fields
}

/// Memory to write records.
#[derive(Default)]
struct RecordWriter {
    types: Vec<u8>,
    bodies: Vec<u8>,
    record: Vec<u8>,
}

/// A record of the values of another one, and others.
struct OpenRecord<'w> {
    given: &'w [u8],
    writer: &'w mut RecordWriter,
    header_end: usize,
    /// The offsets of the next serial type and the next body.
    next: (usize, usize),
}

const WELL_FORMED: &str = "records of a chunk are well-formed";

impl RecordWriter {
    fn begin<'w>(&'w mut self, given: &'w [u8]) -> OpenRecord<'w> {
        self.types.clear();
        self.bodies.clear();
        let (header_end, own) = varint::read(given).expect(WELL_FORMED);
        let header_end = usize::try_from(header_end).expect(WELL_FORMED);
        OpenRecord { given, writer: self, header_end, next: (own, header_end) }
    }
}

impl<'w> OpenRecord<'w> {
    /// Appends the next `count` values of the given record.
    fn copy(&mut self, count: usize) {
        let (first_type, first_body) = self.next;
        let (mut at, mut body) = self.next;
        for _ in 0..count {
            let (len, next) = field_len(&self.given[..self.header_end], at).expect(WELL_FORMED);
            (at, body) = (next, body + len);
        }
        self.writer.types.extend_from_slice(&self.given[first_type..at]);
        self.writer.bodies.extend_from_slice(&self.given[first_body..body]);
        self.next = (at, body);
    }

    /// Appends a value.
    fn push(&mut self, value: &Value<'_>) {
        varint::push(serial_of(value), &mut self.writer.types);
        write_body(value, &mut self.writer.bodies);
    }

    /// Completes the record.
    fn finish(self) -> &'w [u8] {
        assert!(self.next.0 == self.header_end, "a record has values of the ordinary columns only");
        let RecordWriter { types, bodies, record } = self.writer;
        record.clear();
        varint::push(header_len(types.len()) as u64, record);
        record.extend_from_slice(types);
        record.extend_from_slice(bodies);
        record
    }
}

impl Source for ComputedColumns<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(part) = self.source.next_part()? else { return Ok(None) };
        Ok(Some(Box::new(ComputedPart { source: self, part, bench: None, is_over: false })))
    }

    fn origin(&self) -> Option<&dyn Source> {
        Some(self.source)
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }

    /// Passes whole records of the sample. A sample whose columns cannot be computed is left out: the build will say why.
    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let mut bench = self.bench()?;
        self.source.sample(&mut |chunk| {
            let mut rest = Some((rows_of(chunk, 0..chunk.len()), 0));
            while let Some((chunk, start)) = rest {
                bench.add(chunk, start);
                rest = if bench.compute(self).is_ok() { bench.rest.take() } else { None };
                bench.whole.drain(..).for_each(|whole| look(&whole));
            }
            bench.clear();
        })
    }
}

/// A part with whole records.
struct ComputedPart<'s> {
    source: &'s ComputedColumns<'s>,
    part: Box<dyn Part + 's>,
    /// The bench, from the first rows until the part is dropped.
    bench: Option<Bench>,
    is_over: bool,
}

/// A connection, and memory for the rows whose columns are computed together.
struct Bench {
    sqlite: Connection,
    small: SmallDatabase,
    /// The rows of the small database.
    given: Vec<RecordChunk>,
    /// A chunk whose rows from a position on did not fit.
    rest: Option<(RecordChunk, usize)>,
    /// The rows to compute at once.
    most_rows: usize,
    /// Chunks that are computed and not taken yet.
    whole: VecDeque<RecordChunk>,
    /// Chunks whose memory serves again.
    spare: Vec<RecordChunk>,
    writer: RecordWriter,
}

impl Bench {
    fn new(template: &Arc<Template>) -> rusqlite::Result<Self> {
        let (sqlite, small) = (connection(TextEncoding::Utf8)?, SmallDatabase::new(template));
        let (given, rest, whole, spare, writer) = Default::default();
        Ok(Self { sqlite, small, given, rest, most_rows: FIRST_ROWS, whole, spare, writer })
    }

    /// Returns whether the rows should be computed before others come.
    fn is_full(&self) -> bool {
        self.small.is_full()
            || self.small.rows() >= self.most_rows
            || self.given.iter().map(|chunk| chunk.arena().len()).sum::<usize>() >= BATCH_BYTES
    }

    /// Adds the rows of a chunk from a position on, until the bench is full. Keeps the rest.
    fn add(&mut self, chunk: RecordChunk, start: usize) {
        let mut end = start;
        while end < chunk.len() && !self.is_full() {
            self.small.add(&chunk, end);
            end += 1;
        }
        if start == 0 && end == chunk.len() {
            return self.given.push(chunk);
        }
        self.given.push(rows_of(&chunk, start..end));
        if end < chunk.len() {
            self.rest = Some((chunk, end));
        } else {
            self.spare.push(chunk);
        }
    }

    /// Computes the columns of all rows that were added.
    fn compute(&mut self, computed: &ComputedColumns<'_>) -> Result<()> {
        let rows = self.small.rows();
        if rows > 0 {
            computed.compute(self)?;
            let bytes: usize = self.whole.iter().map(|chunk| chunk.arena().len()).sum();
            // Later rows may be longer.
            self.most_rows = (WHOLE_BYTES * rows / bytes.max(1)).clamp(1, 4 * rows);
        }
        self.spare.append(&mut self.given);
        Ok(())
    }

    /// Removes all rows.
    fn clear(&mut self) {
        self.small.clear();
        self.spare.append(&mut self.given);
        self.spare.extend(self.rest.take().map(|(chunk, _)| chunk));
        self.spare.extend(self.whole.drain(..));
        // What the rows of a part are computed with does not depend on the parts before.
        self.most_rows = FIRST_ROWS;
    }
}

/// Returns some rows of a chunk.
fn rows_of(chunk: &RecordChunk, rows: Range<usize>) -> RecordChunk {
    let mut some = RecordChunk::new();
    some.set_first_record(chunk.first_record() + rows.start as u64);
    for row in rows {
        push_row(&mut some, chunk, row, chunk.record(row));
    }
    some
}

/// Appends a row with the rowid of row `row` of another chunk.
fn push_row(chunk: &mut RecordChunk, other: &RecordChunk, row: usize, record: &[u8]) {
    chunk.push(other.rowids()[row], record);
    if other.is_automatic(row) {
        chunk.mark_automatic(chunk.len() - 1);
    }
}

impl Part for ComputedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let bench = match &mut self.bench {
            Some(bench) => bench,
            None => self.bench.insert(self.source.bench()?),
        };
        if bench.whole.is_empty() {
            while !bench.is_full() && (bench.rest.is_some() || !self.is_over) {
                let (given, start) = match bench.rest.take() {
                    Some(rest) => rest,
                    None => {
                        let mut given = bench.spare.pop().unwrap_or_default();
                        given.clear();
                        self.part.fill(&mut given)?;
                        self.is_over = given.is_empty();
                        (given, 0)
                    }
                };
                bench.add(given, start);
            }
            bench.compute(self.source)?;
        }
        if let Some(mut whole) = bench.whole.pop_front() {
            std::mem::swap(chunk, &mut whole);
            bench.spare.push(whole);
        }
        Ok(())
    }
}

impl Drop for ComputedPart<'_> {
    /// Gives the bench back: other parts go on with it.
    fn drop(&mut self) {
        if let Some(mut bench) = self.bench.take() {
            bench.clear();
            lock(&self.source.idle).push(bench);
        }
    }
}

#[cfg(test)]
mod tests;
