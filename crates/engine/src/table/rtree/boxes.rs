//! Rows of an R-Tree table as boxes: ids and coordinates are converted as SQLite's module converts them.
//!
//! ```text
//! record of a box    | min, max of each dimension, 4 bytes each, in ordered form | record of the auxiliary columns, if any |
//! ```

use crate::{Conflict, Error, ErrorKind, Result};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::RTree;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source, Table, quote};
use litepress_rtree::{Bounds, CoordinateKind, MAX_DIMENSIONS};
use rusqlite::types::{FromSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

/// The most columns before the auxiliary ones.
const MOST_LEADING: usize = 1 + 2 * MAX_DIMENSIONS;

/// The boxes of a source's rows. Notes what is known of all boxes once the last was read.
pub(super) struct BoxRows<'a> {
    source: &'a dyn Source,
    table: &'a Table,
    tree: RTree,
    /// Whether a row whose minimum is above its maximum is left out.
    skips_wrong: bool,
    noted: Mutex<BoxNotes>,
}

/// Notes of some rows.
#[derive(Clone, Copy, Default)]
struct BoxNotes {
    extent: Option<Bounds>,
    /// The first record with an id, and the first without.
    given: Option<u64>,
    missing: Option<u64>,
}

/// What is known of all boxes.
pub(super) struct BoxFacts {
    /// A box around all.
    pub extent: Bounds,
    /// Whether no row has an id, so that rows are numbered from 1 on.
    pub is_numbered: bool,
}

impl BoxNotes {
    fn join(&mut self, other: &Self) {
        self.extent = match (self.extent, other.extent) {
            (Some(mut mine), Some(other)) => {
                mine.join(&other);
                Some(mine)
            }
            (mine, other) => mine.or(other),
        };
        self.given = self.given.into_iter().chain(other.given).min();
        self.missing = self.missing.into_iter().chain(other.missing).min();
    }

    fn note(&mut self, bounds: &Bounds, record: u64, has_id: bool) {
        self.extent.get_or_insert(*bounds).join(bounds);
        let first = if has_id { &mut self.given } else { &mut self.missing };
        first.get_or_insert(record);
    }
}

impl<'a> BoxRows<'a> {
    pub fn new(source: &'a dyn Source, table: &'a Table, tree: RTree, conflict: Conflict) -> Self {
        Self { source, table, tree, skips_wrong: conflict == Conflict::Ignore, noted: Mutex::default() }
    }

    /// Returns what is known of all boxes. REQUIRES: all rows were read.
    ///
    /// # Errors
    /// If some rows have an id and others have none.
    pub fn finish(self) -> Result<BoxFacts> {
        let BoxNotes { extent, given, missing } = ignore_poison(self.noted.into_inner());
        if let (Some(given), Some(missing)) = (given, missing) {
            let id = &self.table.columns[0].name;
            let message = format!("the row has no {id}, but record {given} has one");
            return Err(Error::new(ErrorKind::Constraint, message)
                .advise("give every row an id, or none of them: then they are numbered from 1 on")
                .in_table(&self.table.name)
                .in_record(missing)
                .in_column(id));
        }
        Ok(BoxFacts { extent: extent.unwrap_or(Bounds::EMPTY), is_numbered: given.is_none() })
    }
}

impl Source for BoxRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(BoxPart::new(self, part)) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The boxes of one part.
struct BoxPart<'s> {
    rows: &'s BoxRows<'s>,
    part: Box<dyn Part + 's>,
    /// Rows of the part, and the next of them.
    input: RecordChunk,
    next: usize,
    noted: BoxNotes,
    /// The record of a box; kept for its memory.
    record: Vec<u8>,
    cast: Cast,
}

impl<'s> BoxPart<'s> {
    fn new(rows: &'s BoxRows<'s>, part: Box<dyn Part + 's>) -> Self {
        let (noted, cast) = (BoxNotes::default(), Cast(None));
        Self { rows, part, input: RecordChunk::new(), next: 0, noted, record: Vec::new(), cast }
    }

    /// Takes the next rows of the part. Returns `false` if there are none.
    fn refill(&mut self) -> Result<bool> {
        self.input.clear();
        self.next = 0;
        self.part.fill(&mut self.input)?;
        if self.input.is_empty() {
            lock(&self.rows.noted).join(&std::mem::take(&mut self.noted));
        }
        Ok(!self.input.is_empty())
    }

    /// Makes the record of the box of row `row`. Returns its id, or `None` if the row is left out.
    fn convert(&mut self, row: usize) -> Result<Option<i64>> {
        let Self { rows: BoxRows { table, tree, skips_wrong, .. }, input, noted, record, cast, .. } = self;
        let position = input.first_record() + row as u64;
        let leading_columns = 1 + tree.layout.coordinates();
        let mut leading = [Value::Null; MOST_LEADING];
        let values = &mut leading[..leading_columns];
        let all = if tree.auxiliary == 0 && record::read_leading(input.record(row), values) {
            Vec::new()
        } else {
            let all = record::decode(input.record(row)).map_err(|error| crate::sort::bad_item(&error))?;
            values.copy_from_slice(&all[..leading_columns]);
            all
        };
        let mut bounds = Bounds::EMPTY;
        for at in 0..tree.layout.dimensions() {
            let (min, max) = (&values[1 + 2 * at], &values[2 + 2 * at]);
            let is_box = match tree.layout.kind() {
                CoordinateKind::Real32 => bounds.set_reals(at, cast.real(min)?, cast.real(max)?),
                CoordinateKind::Int32 => bounds.set_integers(at, cast.integer(min)?, cast.integer(max)?),
            };
            if !is_box {
                return if *skips_wrong { Ok(None) } else { Err(wrong_box(table, at, [min, max], position)) };
            }
        }
        let id = if values[0] == Value::Null { None } else { Some(cast.integer(&values[0])?) };
        noted.note(&bounds, position, id.is_some());
        record.clear();
        bounds.push_ordered(tree.layout, record);
        if tree.auxiliary > 0 {
            record::write_record(&all[leading_columns..], record);
        }
        Ok(Some(id.unwrap_or(position.cast_signed())))
    }
}

impl Part for BoxPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        // Positions of a chunk have no gaps, so it ends before a row that is left out.
        while chunk.is_empty() && (self.next < self.input.len() || self.refill()?) {
            chunk.set_first_record(self.input.first_record() + self.next as u64);
            while self.next < self.input.len() {
                let row = self.next;
                self.next += 1;
                match self.convert(row)? {
                    Some(id) => chunk.push(id, &self.record),
                    None => break,
                }
            }
        }
        Ok(())
    }
}

/// Returns the error of a row whose minimum is above its maximum, in SQLite's words.
fn wrong_box(table: &Table, dimension: usize, [min, max]: [&Value<'_>; 2], record: u64) -> Error {
    let name = |at: usize| &table.columns[1 + 2 * dimension + at].name;
    let message = format!(
        "rtree constraint failed: {}.({}<={}): {} is greater than {}",
        table.name,
        name(0),
        name(1),
        quote(min),
        quote(max)
    );
    Error::new(ErrorKind::Constraint, message).in_table(&table.name).in_record(record).in_column(name(0))
}

/// Converts values to numbers as SQLite does: it is asked about text and blobs.
struct Cast(Option<Connection>);

impl Cast {
    /// Returns a value as `sqlite3_value_double` does.
    fn real(&mut self, value: &Value<'_>) -> Result<f64> {
        match *value {
            Value::Real(real) => Ok(real),
            Value::Int(int) => Ok(int as f64),
            Value::Null => Ok(0.0),
            Value::Text(_) | Value::Blob(_) => self.ask("SELECT CAST(?1 AS REAL)", value),
        }
    }

    /// Returns a value as `sqlite3_value_int64` does.
    fn integer(&mut self, value: &Value<'_>) -> Result<i64> {
        match *value {
            Value::Int(int) => Ok(int),
            #[expect(clippy::cast_possible_truncation, reason = "it saturates, as in SQLite")]
            Value::Real(real) => Ok(real as i64),
            Value::Null => Ok(0),
            Value::Text(_) | Value::Blob(_) => self.ask("SELECT CAST(?1 AS INTEGER)", value),
        }
    }

    #[cold]
    fn ask<T: FromSql>(&mut self, sql: &str, value: &Value<'_>) -> Result<T> {
        let mut ask = || {
            if self.0.is_none() {
                self.0 = Some(Connection::open_in_memory()?);
            }
            let sqlite = self.0.as_ref().expect("just opened");
            sqlite.prepare_cached(sql)?.query_row([Given(*value)], |row| row.get(0))
        };
        ask().map_err(|error: rusqlite::Error| Error::new(ErrorKind::Data, format!("SQLite says: {error}")))
    }
}

/// Text or a blob on its way to SQLite.
struct Given<'v>(Value<'v>);

impl ToSql for Given<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Text(text) => ValueRef::Text(text),
            Value::Blob(blob) => ValueRef::Blob(blob),
            Value::Null | Value::Int(_) | Value::Real(_) => ValueRef::Null,
        }))
    }
}
