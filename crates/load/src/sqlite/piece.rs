//! Collects rows of a table into a piece.

use super::{BLOCK_BYTES, Stepping};
use crate::options::InvalidUtf8;
use crate::reader::{BadRecord, Batch, Piece};
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::{CellBlock, Cells, Error, ErrorKind, OptionName, Result, message};
use rusqlite::types::ValueRef;

/// A builder that collects rows into a piece.
pub(super) struct PieceBuilder<'a> {
    stepping: &'a Stepping,
    pub first_record: u64,
    batches: Vec<Batch>,
    pub bytes: usize,
    /// Approximate size of the rows in the database.
    pub stored_bytes: u64,
    block_bytes: usize,
}

impl<'a> PieceBuilder<'a> {
    pub fn new(stepping: &'a Stepping, first_record: u64) -> Self {
        Self { stepping, first_record, batches: Vec::new(), bytes: 0, stored_bytes: 0, block_bytes: 0 }
    }

    pub fn push(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        let is_full = self.batches.last().is_none_or(|batch| batch.rows == BLOCK_ROWS);
        if is_full || self.block_bytes >= BLOCK_BYTES {
            let mut batch = Batch::default();
            batch.clear(self.stepping.names.len());
            self.batches.push(batch);
            self.block_bytes = 0;
        }
        let batch = self.batches.last_mut().expect("one was made above");
        let bytes = push_row(batch, &self.stepping.names, self.stepping.invalid_utf8, |column| row.get_ref(column))?;
        if self.stepping.rowid.is_some() {
            batch.rowids.push(row.get(batch.blocks.len().max(1))?);
        }
        // On average, a number takes three bytes with its serial type. A row also takes a cell pointer, a length and a rowid.
        const ROW_BYTES: usize = 8;
        self.stored_bytes += (ROW_BYTES + bytes - 4 * batch.blocks.len()) as u64;
        self.bytes += bytes;
        self.block_bytes += bytes;
        Ok(())
    }

    pub fn finish(mut self) -> TablePiece {
        for batch in &mut self.batches {
            settle(batch);
        }
        let rows = self.batches.iter().map(|batch| batch.rows as u64).sum();
        TablePiece { first_record: self.first_record, rows, batches: self.batches.into_iter() }
    }
}

/// Appends a row with a value for each block. Returns the approximate size of the values.
pub(super) fn push_row<'v>(
    batch: &mut Batch,
    names: &[String],
    invalid_utf8: InvalidUtf8,
    mut value_of: impl FnMut(usize) -> rusqlite::Result<ValueRef<'v>>,
) -> rusqlite::Result<usize> {
    let mut bytes = 0;
    for (column, block) in batch.blocks.iter_mut().enumerate() {
        let value = value_of(column)?;
        bytes += 8;
        let text = match value {
            ValueRef::Text(text) => {
                bytes += text.len();
                text
            }
            ValueRef::Blob(blob) => {
                bytes += blob.len();
                &[]
            }
            _ => &[],
        };
        if text.is_ascii() || std::str::from_utf8(text).is_ok() {
            push_value(block, batch.rows, value);
        } else {
            batch.bad.extend(push_invalid(block, batch.rows, text, &names[column], invalid_utf8));
        }
    }
    batch.rows += 1;
    Ok(bytes)
}

/// Appends text that is not UTF-8 as `option` says. Returns an error for the row if the text is not allowed.
fn push_invalid(block: &mut CellBlock, row: usize, text: &[u8], name: &str, option: InvalidUtf8) -> Option<BadRecord> {
    match option {
        InvalidUtf8::Error => {
            push_value(block, row, ValueRef::Null);
            let error = Error::new(ErrorKind::Data, "the text is not UTF-8")
                .in_column(name)
                .with_value(format!("'{}'", String::from_utf8_lossy(&text[..text.len().min(60)])))
                .advise(message!["choose what becomes of such text with ", OptionName::InvalidUtf8.alone()]);
            return Some(BadRecord { row, error, is_left_out: false });
        }
        InvalidUtf8::Replace => push_value(block, row, ValueRef::Text(String::from_utf8_lossy(text).as_bytes())),
        InvalidUtf8::Blob => push_value(block, row, ValueRef::Blob(text)),
    }
    None
}

/// Appends a value as row `row` of a block. The block keeps one kind of values as long as only that kind comes.
fn push_value(block: &mut CellBlock, row: usize, value: ValueRef<'_>) {
    if !push_same_kind(block.cells_mut(), value) {
        if block.nulls().len() == row && block.nulls().iter().all(|null| *null) {
            // All values so far are NULL, so the kind is still open.
            begin_kind(block, row, value);
        } else {
            let values = (0..row).map(|row| owned_cell(block, row)).collect();
            *block.values() = values;
        }
        assert!(push_same_kind(block.cells_mut(), value), "the block was made for this value");
    }
    let is_null = matches!(value, ValueRef::Null);
    let nulls = block.nulls_mut();
    if is_null || !nulls.is_empty() {
        nulls.resize(row, false);
        nulls.push(is_null);
    }
}

/// Appends a value, or a placeholder for NULL. Returns `false` if the cells are of another kind.
fn push_same_kind(cells: &mut Cells, value: ValueRef<'_>) -> bool {
    match (cells, value) {
        (Cells::Int(ints), ValueRef::Integer(int)) => ints.push(int),
        (Cells::Int(ints), ValueRef::Null) => ints.push(0),
        (Cells::Real(reals), ValueRef::Real(real)) => reals.push(real),
        (Cells::Real(reals), ValueRef::Null) => reals.push(0.0),
        (Cells::Text(texts), ValueRef::Text(text)) => texts.push(text),
        (Cells::Blob(blobs), ValueRef::Blob(blob)) => blobs.push(blob),
        (Cells::Text(strings) | Cells::Blob(strings), ValueRef::Null) => strings.push(&[]),
        (Cells::Values(values), value) => values.push(owned(value)),
        _ => return false,
    }
    true
}

/// Makes the block hold this kind of values, and fills it with `rows` NULLs.
fn begin_kind(block: &mut CellBlock, rows: usize, value: ValueRef<'_>) {
    match value {
        ValueRef::Null | ValueRef::Integer(_) => block.ints().resize(rows, 0),
        ValueRef::Real(_) => block.reals().resize(rows, 0.0),
        ValueRef::Text(_) => (0..rows).for_each({
            let texts = block.texts();
            |_| texts.push(&[])
        }),
        ValueRef::Blob(_) => (0..rows).for_each({
            let blobs = block.blobs();
            |_| blobs.push(&[])
        }),
    }
    block.nulls_mut().resize(rows, true);
}

fn owned(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(int) => OwnedValue::Int(int),
        ValueRef::Real(real) => OwnedValue::Real(real),
        ValueRef::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// Returns the value of a row that was pushed before.
fn owned_cell(block: &CellBlock, row: usize) -> OwnedValue {
    use litepress_format::value::Value;
    match block.value(row) {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// Leaves one error for each bad row, and sets the row's cells to NULL.
pub(super) fn settle(batch: &mut Batch) {
    batch.bad.dedup_by_key(|bad| bad.row);
    for bad in &batch.bad {
        batch.blocks.iter_mut().for_each(|block| block.set_null(bad.row, batch.rows));
    }
}

/// Rows that are read already.
#[derive(Debug)]
pub(super) struct TablePiece {
    first_record: u64,
    pub rows: u64,
    batches: std::vec::IntoIter<Batch>,
}

impl Piece for TablePiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.rows
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        *batch = self.batches.next().unwrap_or_default();
        Ok(())
    }
}
