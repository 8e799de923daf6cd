//! A block of cells that grows value by value.
//!
//! A block begins with the kind of its first value that is not NULL. If a value of another kind follows, the block is
//! converted to hold values of any kind.

use litepress_format::value::Value;
use litepress_load::reader::{Batch, Piece};
use litepress_rows::Result;
use litepress_rows::cells::{BLOCK_ROWS, CellBlock, Cells, OwnedValue, Strings};
use std::collections::VecDeque;

/// The largest text or blob that SQLite stores, in bytes.
pub const MAX_VALUE_BYTES: usize = 1_000_000_000;

/// Builds one block of one column after another. The caller ends a block after at most
/// [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) values.
#[derive(Debug, Default)]
pub struct ColumnBuilder {
    block: CellBlock,
    rows: usize,
}

impl ColumnBuilder {
    /// Starts a column with `rows` NULLs.
    pub fn with_nulls(rows: usize) -> Self {
        let mut builder = Self::default();
        (0..rows).for_each(|_| builder.push_null());
        builder
    }

    /// Appends an integer.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        match self.block.cells_mut() {
            Cells::Int(ints) => {
                ints.push(value);
                self.rows += 1;
            }
            _ => self.push_other(OwnedValue::Int(value)),
        }
    }

    /// Appends a double. The encoder stores NaN as NULL, as SQLite does.
    #[inline]
    pub fn push_real(&mut self, value: f64) {
        match self.block.cells_mut() {
            Cells::Real(reals) => {
                reals.push(value);
                self.rows += 1;
            }
            _ => self.push_other(OwnedValue::Real(value)),
        }
    }

    /// Appends a text of at most [`MAX_VALUE_BYTES`].
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        match self.block.cells_mut() {
            Cells::Text(texts) => {
                texts.push(text.as_bytes());
                self.rows += 1;
            }
            _ => self.push_other(OwnedValue::Text(text.to_owned())),
        }
    }

    /// Appends a blob of at most [`MAX_VALUE_BYTES`].
    #[inline]
    pub fn push_blob(&mut self, blob: &[u8]) {
        match self.block.cells_mut() {
            Cells::Blob(blobs) => {
                blobs.push(blob);
                self.rows += 1;
            }
            _ => self.push_other(OwnedValue::Blob(blob.to_vec())),
        }
    }

    /// Appends NULL.
    pub fn push_null(&mut self) {
        match self.block.cells_mut() {
            Cells::Int(ints) => ints.push(0),
            Cells::Real(reals) => reals.push(0.0),
            Cells::Text(texts) => texts.end_string(),
            Cells::Blob(blobs) => blobs.end_string(),
            Cells::Values(values) => values.push(OwnedValue::Null),
            _ => unreachable!("builders begin with integers and go on with these kinds"),
        }
        self.block.set_null(self.rows, self.rows + 1);
        self.rows += 1;
    }

    /// Appends a value of another kind than the block holds.
    #[cold]
    fn push_other(&mut self, value: OwnedValue) {
        if !matches!(self.block.cells(), Cells::Values(_)) {
            let nulls = self.block.nulls();
            let has_values = nulls.len() < self.rows || nulls.contains(&false);
            if has_values { self.generalise() } else { self.begin_as(&value) }
        }
        match (self.block.cells_mut(), value) {
            (Cells::Int(ints), OwnedValue::Int(value)) => ints.push(value),
            (Cells::Real(reals), OwnedValue::Real(value)) => reals.push(value),
            (Cells::Text(texts), OwnedValue::Text(value)) => texts.push(value.as_bytes()),
            (Cells::Blob(blobs), OwnedValue::Blob(value)) => blobs.push(&value),
            (Cells::Values(values), value) => values.push(value),
            _ => unreachable!("the block holds this kind, or any"),
        }
        self.rows += 1;
    }

    /// Converts a block of NULLs to the kind of `value`.
    fn begin_as(&mut self, value: &OwnedValue) {
        let (block, rows) = (&mut self.block, self.rows);
        let end_strings = |strings: &mut Strings| (0..rows).for_each(|_| strings.end_string());
        match value {
            OwnedValue::Null => {}
            OwnedValue::Int(_) => block.ints().resize(rows, 0),
            OwnedValue::Real(_) => block.reals().resize(rows, 0.0),
            OwnedValue::Text(_) => end_strings(block.texts()),
            OwnedValue::Blob(_) => end_strings(block.blobs()),
        }
        block.nulls_mut().resize(rows, true);
    }

    /// Converts the block to values of any kind.
    fn generalise(&mut self) {
        let owned = |row: usize| match self.block.value(row) {
            Value::Null => OwnedValue::Null,
            Value::Int(value) => OwnedValue::Int(value),
            Value::Real(value) => OwnedValue::Real(value),
            Value::Text(value) => OwnedValue::Text(String::from_utf8_lossy(value).into_owned()),
            Value::Blob(value) => OwnedValue::Blob(value.to_vec()),
        };
        let values: Vec<OwnedValue> = (0..self.rows).map(owned).collect();
        *self.block.values() = values;
    }

    /// Removes all rows from `rows` on.
    pub fn truncate(&mut self, rows: usize) {
        match self.block.cells_mut() {
            Cells::Int(ints) => ints.truncate(rows),
            Cells::Real(reals) => reals.truncate(rows),
            Cells::Text(strings) | Cells::Blob(strings) => strings.truncate(rows),
            Cells::Values(values) => values.truncate(rows),
            _ => unreachable!("builders begin with integers and go on with these kinds"),
        }
        self.block.nulls_mut().truncate(rows);
        self.rows = self.rows.min(rows);
    }

    /// Returns the block and starts the next one with the same kind.
    pub fn finish(&mut self) -> CellBlock {
        let mut block = std::mem::take(&mut self.block);
        if !block.nulls().is_empty() {
            block.nulls_mut().resize(self.rows, false);
        }
        match block.cells() {
            Cells::Int(_) => self.block.ints().reserve(BLOCK_ROWS),
            Cells::Real(_) => self.block.reals().reserve(BLOCK_ROWS),
            Cells::Text(texts) => self.block.texts().arena().reserve(texts.data().len()),
            Cells::Blob(_) => self.block.blobs().clear(),
            _ => {}
        }
        self.rows = 0;
        block
    }
}

/// Consecutive rows in memory, all values converted.
#[derive(Debug, Default)]
pub struct RowsInMemory {
    /// The rows, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) a batch. No batch is empty.
    pub batches: VecDeque<Batch>,
    /// Number of the first row, counted from 1.
    pub first_record: u64,
    /// Number of rows.
    pub records: u64,
}

impl Piece for RowsInMemory {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        match self.batches.pop_front() {
            Some(ready) => *batch = ready,
            None => batch.clear(batch.blocks.len()),
        }
        Ok(())
    }
}
