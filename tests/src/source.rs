//! Sources: rows as values, and records made by a function of their number.

use litepress::Result;
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::encode::RowNumbers;
use litepress_rows::source::PART_BYTES;
use litepress_rows::{
    CellBlock, Conflict, Encoder, KeyReader, Keys, Part, RandomAccessRows, RecordChunk, RowReader, RowidOrder, Source,
    Table,
};
use std::mem::discriminant;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bytes of a text that is alone in its block.
const LONG_TEXT: usize = 100_000;

/// One row: a value for each ordinary column.
pub type Row = Vec<OwnedValue>;

/// Rows as values, in parts of a chosen number of rows, encoded from blocks of cells.
pub struct ValueRows {
    table: Table,
    rows: Arc<[Row]>,
    rows_per_part: usize,
    first_rowid: i64,
    next: AtomicUsize,
    /// The order of rowids that the source declares.
    pub rowid_order: RowidOrder,
    /// The policy for NULL in a NOT NULL column.
    pub conflict: Conflict,
    /// Whether rows can be made again by their numbers.
    pub is_numbered: bool,
}

impl ValueRows {
    /// Makes the rows of `table`. Without INTEGER PRIMARY KEY they are numbered from `first_rowid` on.
    #[must_use]
    pub fn new(table: &Table, rows: Arc<[Row]>, rows_per_part: usize, first_rowid: i64) -> Self {
        assert!(rows_per_part > 0, "a part without rows would be followed by another, for ever");
        Self {
            table: table.clone(),
            rows,
            rows_per_part,
            first_rowid,
            next: AtomicUsize::new(0),
            rowid_order: RowidOrder::Ascending,
            conflict: Conflict::Abort,
            is_numbered: false,
        }
    }

    /// Returns the positions of columns among the ordinary ones.
    fn places(&self, columns: &[usize]) -> Vec<usize> {
        let ordinary: Vec<usize> = self.table.ordinary_columns().collect();
        let place = |column| ordinary.iter().position(|ordinary| ordinary == column).expect("it is not computed");
        columns.iter().map(place).collect()
    }

    fn part(&self, range: Range<usize>) -> ValuePart {
        let encoder = Encoder::new(&self.table, self.conflict);
        ValuePart { rows: self.rows.clone(), range, first_rowid: self.first_rowid, encoder }
    }
}

impl Source for ValueRows {
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        let start = self.next.fetch_add(self.rows_per_part, Ordering::Relaxed);
        if start >= self.rows.len() {
            return Ok(None);
        }
        let range = start..self.rows.len().min(start + self.rows_per_part);
        Ok(Some(Box::new(self.part(range))))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.rowid_order
    }

    /// Makes the engine divide numbered rows into parts of `rows_per_part` rows.
    fn page_bytes(&self) -> f64 {
        if self.is_numbered { PART_BYTES as f64 / self.rows_per_part as f64 } else { 0.0 }
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let mut chunk = RecordChunk::new();
        self.part(0..self.rows.len().min(100)).fill(&mut chunk)?;
        if self.is_numbered {
            look(&chunk);
        }
        Ok(())
    }

    fn numbered(&self) -> Option<&dyn RandomAccessRows> {
        self.is_numbered.then_some(self)
    }
}

impl RandomAccessRows for ValueRows {
    fn numbers(&self) -> Range<u64> {
        1..self.rows.len() as u64 + 1
    }

    fn key_maker(&self, columns: &[usize]) -> Box<dyn KeyReader + '_> {
        let encoder = Encoder::new(&self.table.narrow(columns), self.conflict);
        Box::new(ValueKeys {
            rows: self,
            places: self.places(columns),
            encoder,
            blocks: Vec::new(),
            chunk: RecordChunk::new(),
        })
    }

    fn are_integers(&self, columns: &[usize]) -> bool {
        let places = self.places(columns);
        let is_integer = |row: &Row, place: &usize| matches!(row[*place], OwnedValue::Int(_));
        Encoder::new(&self.table.narrow(columns), self.conflict).keeps_integers()
            && self.rows.iter().all(|row| places.iter().all(|place| is_integer(row, place)))
    }

    fn row_maker(&self, given: &[usize]) -> Box<dyn RowReader + '_> {
        Box::new(ValueMaker { rows: self, given: self.places(given) })
    }
}

/// A maker of some columns of given rows.
struct ValueKeys<'a> {
    rows: &'a ValueRows,
    places: Vec<usize>,
    encoder: Encoder,
    blocks: Vec<CellBlock>,
    chunk: RecordChunk,
}

impl KeyReader for ValueKeys<'_> {
    fn make(&mut self, numbers: Range<u64>) -> Result<Keys<'_>> {
        let at = |number: u64| usize::try_from(number).unwrap() - 1;
        let rows = &self.rows.rows[at(numbers.start)..at(numbers.end)];
        self.blocks = self.places.iter().map(|&place| block(rows, place)).collect();
        if let Some(integers) = self.encoder.integers(&self.blocks, rows.len()) {
            return Ok(Keys::Integers(integers));
        }
        self.chunk.clear();
        let numbers = RowNumbers::from_record(numbers.start);
        self.encoder.encode(&self.blocks, rows.len(), numbers, &mut self.chunk)?;
        Ok(Keys::Records(&self.chunk))
    }
}

/// A maker of rows from integers that the caller has kept.
struct ValueMaker<'a> {
    rows: &'a ValueRows,
    given: Vec<usize>,
}

impl RowReader for ValueMaker<'_> {
    fn make(&mut self, numbers: &[u64], given: &[Vec<i64>], chunk: &mut RecordChunk) -> Result<()> {
        assert_eq!(given.len(), self.given.len());
        let mut encoder = Encoder::new(&self.rows.table, self.rows.conflict);
        for (at, &number) in numbers.iter().enumerate() {
            let mut row = self.rows.rows[usize::try_from(number).unwrap() - 1].clone();
            self.given.iter().zip(given).for_each(|(&place, integers)| row[place] = OwnedValue::Int(integers[at]));
            let blocks: Vec<CellBlock> =
                (0..row.len()).map(|column| block(std::slice::from_ref(&row), column)).collect();
            encoder.encode(&blocks, 1, RowNumbers::from_record(number), chunk)?;
        }
        Ok(())
    }
}

struct ValuePart {
    rows: Arc<[Row]>,
    range: Range<usize>,
    first_rowid: i64,
    encoder: Encoder,
}

impl Part for ValuePart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !self.range.is_empty() && !chunk.is_full() {
            let at = self.range.start;
            // As readers do, which bound the bytes of a block.
            let is_long =
                self.rows[at].iter().any(|value| matches!(value, OwnedValue::Text(text) if text.len() > LONG_TEXT));
            let count = if is_long { 1 } else { self.range.len().min(BLOCK_ROWS) };
            let rows = &self.rows[at..at + count];
            let blocks: Vec<CellBlock> = (0..rows[0].len()).map(|column| block(rows, column)).collect();
            let first_rowid = self.first_rowid + i64::try_from(at).unwrap();
            let numbers = RowNumbers { first_rowid, first_record: at as u64 + 1 };
            self.encoder.encode(&blocks, count, numbers, chunk)?;
            self.range.start += count;
        }
        Ok(())
    }
}

/// Returns one column of `rows`: a block of one kind with NULL flags if possible, else of separate values.
fn block(rows: &[Row], column: usize) -> CellBlock {
    let values = || rows.iter().map(|row| &row[column]);
    let mut block = CellBlock::default();
    let mut filled = values().filter(|value| **value != OwnedValue::Null);
    let first = filled.next();
    let uniform = first.is_some_and(|first| filled.all(|value| discriminant(value) == discriminant(first)));
    if !uniform {
        block.values().extend(values().cloned());
        return block;
    }
    match first {
        Some(OwnedValue::Int(_)) => block.ints().extend(values().map(|value| match value {
            OwnedValue::Int(int) => *int,
            _ => 0,
        })),
        Some(OwnedValue::Real(_)) => block.reals().extend(values().map(|value| match value {
            OwnedValue::Real(real) => *real,
            _ => 0.0,
        })),
        Some(OwnedValue::Text(_)) => values().for_each({
            let texts = block.texts();
            |value| texts.push(bytes(value))
        }),
        _ => values().for_each({
            let blobs = block.blobs();
            |value| blobs.push(bytes(value))
        }),
    }
    if values().any(|value| *value == OwnedValue::Null) {
        block.nulls_mut().extend(values().map(|value| *value == OwnedValue::Null));
    }
    block
}

fn bytes(value: &OwnedValue) -> &[u8] {
    match value {
        OwnedValue::Text(text) => text.as_bytes(),
        OwnedValue::Blob(blob) => blob,
        _ => &[],
    }
}

/// Records made by a function of the row's number, in parts of equal numbers of rows.
pub struct MadeRows<F> {
    rows: u64,
    rows_per_part: u64,
    next: AtomicU64,
    make: F,
    /// The order of rowids that the source declares.
    pub rowid_order: RowidOrder,
}

impl<F> MadeRows<F>
where
    F: Fn(u64, &mut Vec<u8>) -> i64 + Clone + Send + Sync + 'static,
{
    /// Creates a source. `make` appends the record of a row to the vector and returns its rowid.
    #[must_use]
    pub fn new(rows: u64, rows_per_part: u64, make: F) -> Self {
        Self { rows, rows_per_part, next: AtomicU64::new(0), make, rowid_order: RowidOrder::Ascending }
    }
}

impl<F> Source for MadeRows<F>
where
    F: Fn(u64, &mut Vec<u8>) -> i64 + Clone + Send + Sync + 'static,
{
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        let start = self.next.fetch_add(self.rows_per_part, Ordering::Relaxed);
        if start >= self.rows {
            return Ok(None);
        }
        let range = start..self.rows.min(start + self.rows_per_part);
        Ok(Some(Box::new(MadePart { range, make: self.make.clone() })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.rowid_order
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

struct MadePart<F> {
    range: Range<u64>,
    make: F,
}

impl<F: Fn(u64, &mut Vec<u8>) -> i64 + Send> Part for MadePart<F> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let mut record = Vec::new();
        while !chunk.is_full()
            && let Some(row) = self.range.next()
        {
            record.clear();
            let rowid = (self.make)(row, &mut record);
            chunk.push(rowid, &record);
        }
        Ok(())
    }
}
