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
//! NOT NULL is left to check.

use super::small_database::{SmallDatabase, Template, connection};
use super::{explain, recorded, scan_clause};
use crate::{Error, ErrorKind, Result};
use litepress_format::record::{self, RecordReader};
use litepress_format::value::Value;
use litepress_rows::schema::Generated;
use litepress_rows::sync::lock;
use litepress_rows::{Affinity, Part, RecordChunk, RowidOrder, Source, Table, quoted_name};
use rusqlite::{Connection, Row};
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use std::sync::Mutex;

/// SQLite's limit for the bytes of a record.
const MAX_RECORD_BYTES: usize = 1_000_000_000;

/// Returns whether columns of the table must be computed before its rows are stored.
pub(crate) fn is_needed(table: &Table) -> bool {
    table.columns.iter().any(|column| match column.generated {
        Generated::Stored => true,
        Generated::Virtual => column.not_null || table.strict,
        Generated::No | Generated::Hidden => false,
    })
}

/// A source of whole records: those of another source, and the values of computed columns.
pub(crate) struct ComputedColumns<'s> {
    source: &'s dyn Source,
    table: &'s Table,
    template: Template,
    sql: String,
    columns: Vec<ComputedColumn>,
    /// The values of a record of the table, in order.
    fields: Vec<FieldOrigin>,
    /// Connections that no part uses.
    idle: Mutex<Vec<Connection>>,
}

/// A column that is computed.
struct ComputedColumn {
    name: String,
    not_null: bool,
    is_real: bool,
}

/// The origin of a value of a record.
#[derive(Clone, Copy)]
enum FieldOrigin {
    /// The next value of the source's record.
    Given,
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
        let evaluation = table.evaluation.as_ref().and_then(|evaluation| evaluation.virtual_statements.as_ref());
        let template = Template::new(table, evaluation.expect("the plan has looked for them"))?;
        let is_computed = |&at: &usize| {
            let column = &table.columns[at];
            column.generated == Generated::Stored
                || column.generated == Generated::Virtual && (column.not_null || table.strict)
        };
        let computed: Vec<usize> = (0..table.columns.len()).filter(is_computed).collect();
        let origin = |column: usize| match computed.iter().position(|&at| at == column) {
            Some(at) => FieldOrigin::Computed(at),
            None => FieldOrigin::Given,
        };
        let names: Vec<String> = computed.iter().map(|&at| quoted_name(&table.columns[at].name)).collect();
        let column = |&at: &usize| {
            let column = &table.columns[at];
            let is_real = column.affinity == Affinity::Real;
            ComputedColumn { name: column.name.clone(), not_null: column.not_null, is_real }
        };
        Ok(Self {
            source,
            table,
            template,
            sql: format!("SELECT {} FROM {}", names.join(", "), scan_clause(table)),
            columns: computed.iter().map(column).collect(),
            fields: table.stored_columns().into_iter().map(origin).collect(),
            idle: Mutex::default(),
        })
    }

    /// Computes the columns of all rows of `given`, which are the rows of `small`. Returns the whole records.
    fn compute(
        &self,
        small: &mut SmallDatabase<'_>,
        sqlite: &mut Connection,
        given: &[RecordChunk],
        whole: &mut VecDeque<RecordChunk>,
    ) -> Result<()> {
        let failed = |error: rusqlite::Error| explain(&error, self.table);
        small.open_in(sqlite).map_err(failed)?;
        small.clear();
        let mut statement = sqlite.prepare(&self.sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut record = Vec::new();
        for chunk in given {
            let mut completed = RecordChunk::new();
            completed.set_first_record(chunk.first_record());
            for row in 0..chunk.len() {
                let of_row = |error: Error| error.in_record(chunk.first_record() + row as u64);
                let computed = rows.next().map_err(|error| of_row(failed(error)))?.expect("SQLite reads every row");
                record.clear();
                self.write(chunk.record(row), computed, &mut record).map_err(of_row)?;
                push_row(&mut completed, chunk, row, &record);
            }
            if !completed.is_empty() {
                whole.push_back(completed);
            }
        }
        Ok(())
    }

    /// Appends the whole record of a row.
    fn write(&self, given: &[u8], computed: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        const WELL_FORMED: &str = "records of a chunk are well-formed";
        let mut given = RecordReader::new(given).expect(WELL_FORMED);
        let mut values = Vec::with_capacity(self.fields.len() + self.columns.len());
        for (at, column) in self.columns.iter().enumerate() {
            let value = computed.get_ref(at).map_err(|error| explain(&error, self.table))?;
            let value = recorded(value, column.is_real);
            if value == Value::Null && column.not_null {
                let message = format!("NOT NULL constraint failed: {}.{}", self.table.name, column.name);
                let error = Error::new(ErrorKind::Constraint, message).in_table(&self.table.name);
                return Err(error.in_column(&column.name).with_value("NULL"));
            }
            values.push(value);
        }
        for field in &self.fields {
            values.push(match *field {
                FieldOrigin::Given => given.next().expect(WELL_FORMED).expect(WELL_FORMED),
                FieldOrigin::Computed(at) => values[at],
            });
        }
        assert!(given.next().is_none(), "a record has values of the ordinary columns only");
        record::write_record(&values[self.columns.len()..], out);
        if out.len() > MAX_RECORD_BYTES {
            return Err(Error::new(ErrorKind::Limit, "string or blob too big").in_table(&self.table.name));
        }
        Ok(())
    }

    fn connection(&self) -> Result<Connection> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(connection, Ok).map_err(|error| explain(&error, self.table))
    }
}

impl Source for ComputedColumns<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(part) = self.source.next_part()? else { return Ok(None) };
        Ok(Some(Box::new(ComputedPart { source: self, part, whole: VecDeque::new(), is_over: false })))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn has_automatic_rowids(&self) -> bool {
        self.source.has_automatic_rowids()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }

    fn last_sequence(&self) -> Option<i64> {
        self.source.last_sequence()
    }

    fn rowid_range(&self) -> Option<RangeInclusive<i64>> {
        self.source.rowid_range()
    }

    fn missing_columns(&self) -> Vec<usize> {
        self.source.missing_columns()
    }

    /// Passes whole records of the sample. A sample whose columns cannot be computed is left out: the build will say why.
    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.source.sample(&mut |chunk| {
            let (small, mut whole) = (SmallDatabase::new(&self.template), VecDeque::new());
            let mut batch = Batch { source: self, small, given: Vec::new() };
            let added = batch.add(rows_of(chunk, 0..chunk.len()), &mut whole);
            if added.and_then(|()| batch.compute(&mut whole)).is_ok() {
                whole.iter().for_each(&mut *look);
            }
        })
    }
}

/// A part with whole records.
struct ComputedPart<'s> {
    source: &'s ComputedColumns<'s>,
    part: Box<dyn Part + 's>,
    /// Chunks that are computed and not taken yet.
    whole: VecDeque<RecordChunk>,
    is_over: bool,
}

impl ComputedPart<'_> {
    /// Computes the next rows of the part, as many as fill a small database.
    fn compute(&mut self) -> Result<()> {
        let mut batch =
            Batch { source: self.source, small: SmallDatabase::new(&self.source.template), given: Vec::new() };
        while !self.is_over && !batch.small.is_full() {
            let mut chunk = RecordChunk::new();
            self.part.fill(&mut chunk)?;
            self.is_over = chunk.is_empty();
            batch.add(chunk, &mut self.whole)?;
        }
        batch.compute(&mut self.whole)
    }
}

/// Rows whose columns are computed together.
struct Batch<'s> {
    source: &'s ComputedColumns<'s>,
    small: SmallDatabase<'s>,
    given: Vec<RecordChunk>,
}

impl Batch<'_> {
    /// Adds the rows of a chunk. Computes the rows so far whenever the small database is full.
    fn add(&mut self, chunk: RecordChunk, whole: &mut VecDeque<RecordChunk>) -> Result<()> {
        let mut start = 0;
        for row in 0..chunk.len() {
            if self.small.is_full() {
                self.given.push(rows_of(&chunk, start..row));
                self.compute(whole)?;
                start = row;
            }
            self.small.add(&chunk, row);
        }
        self.given.push(if start == 0 { chunk } else { rows_of(&chunk, start..chunk.len()) });
        Ok(())
    }

    /// Computes the columns of all rows that were added.
    fn compute(&mut self, whole: &mut VecDeque<RecordChunk>) -> Result<()> {
        if self.small.rows() > 0 {
            let mut sqlite = self.source.connection()?;
            self.source.compute(&mut self.small, &mut sqlite, &self.given, whole)?;
            lock(&self.source.idle).push(sqlite);
        }
        self.given.clear();
        Ok(())
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
        if self.whole.is_empty() {
            self.compute()?;
        }
        if let Some(mut whole) = self.whole.pop_front() {
            std::mem::swap(chunk, &mut whole);
        }
        Ok(())
    }
}
