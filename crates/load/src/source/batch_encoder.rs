//! Encodes batches: their blocks in the order of the table's columns become records.

use super::{ColumnSource, LoadSource, numbers_rows};
use crate::reader::Batch;
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::encode::{BadValue, RowAction, RowNumbers, SkippedRows};
use litepress_rows::{CellBlock, Conflict, Encoder, RecordChunk, Result, Table};
use std::sync::Arc;

/// Bytes of a batch's values that no file holds. Its reader bounds the others.
const ADDED_BYTES: usize = 4 << 20;

/// Encodes the rows of batches as records.
#[derive(Debug)]
pub struct BatchEncoder {
    /// The next batch to read into, or the one that was read last.
    pub batch: Batch,
    column_sources: Vec<ColumnSource>,
    blocks: Vec<CellBlock>,
    encoder: Encoder,
}

impl BatchEncoder {
    /// Creates an encoder for rows of `table`. `column_sources` has one entry for each ordinary column.
    pub fn new(table: &Table, conflict: Conflict, column_sources: Vec<ColumnSource>) -> Self {
        let blocks = column_sources.iter().map(|_| CellBlock::default()).collect();
        let (batch, encoder) = (Batch::default(), Encoder::new(table, conflict));
        let mut encoder = Self { batch, column_sources, blocks, encoder };
        encoder.limit_rows(0, if encoder.has_defaults_by_row() { 1 } else { BLOCK_ROWS });
        encoder
    }

    fn has_defaults_by_row(&self) -> bool {
        self.column_sources.iter().any(|source| matches!(source, ColumnSource::EachRow(_)))
    }

    /// Limits the next batch to `most` rows, and to few enough for the values that no file holds. `default_bytes` are those of a row
    /// whose DEFAULT was evaluated.
    fn limit_rows(&mut self, default_bytes: usize, most: usize) {
        let constants = self.column_sources.iter().map(|source| match source {
            ColumnSource::Constant(OwnedValue::Text(text)) => text.len(),
            ColumnSource::Constant(OwnedValue::Blob(blob)) => blob.len(),
            _ => 0,
        });
        let fitting = ADDED_BYTES / (constants.sum::<usize>() + default_bytes).max(1);
        self.batch.row_limit = Some(fitting.clamp(1, most.min(BLOCK_ROWS)));
    }

    /// Counts the values of the batch that a declared type changes.
    pub(super) fn watch(&self, source: &LoadSource, first_record: u64, left_out: &SkippedRows) {
        source.changes.count(&self.column_sources, &self.batch, first_record, &|row| !left_out.has(row));
    }

    /// Returns how many texts were cut at a NUL since the last call ([`Encoder::take_cut_texts`]).
    pub fn take_cut_texts(&mut self) -> u64 {
        self.encoder.take_cut_texts()
    }

    /// Appends the rows of the batch; the first has number `first_record`. The caller deals with [bad](Batch::bad) rows.
    ///
    /// # Errors
    /// As [`Encoder::encode`], or if SQLite cannot evaluate a DEFAULT.
    pub fn encode(&mut self, first_record: u64, chunk: &mut RecordChunk) -> Result<()> {
        self.compute(first_record)?;
        self.gather(first_record);
        let (numbers, known) = (RowNumbers::from_record(first_record), chunk.len());
        let done = self.encoder.encode(&self.blocks, self.batch.rows, numbers, chunk);
        self.give_back();
        self.mark_automatic(known, chunk);
        done?;
        self.keep_rowids(known, &SkippedRows::default(), chunk);
        Ok(())
    }

    /// Appends the rows of the batch that are not left out. `judge` decides about each row that breaks a rule.
    ///
    /// # Errors
    /// As [`Encoder::encode_with_policy`], or if SQLite cannot evaluate a DEFAULT.
    pub fn encode_with_policy(
        &mut self,
        first_record: u64,
        left_out: &mut SkippedRows,
        chunk: &mut RecordChunk,
        judge: &mut dyn FnMut(BadValue) -> Result<RowAction>,
    ) -> Result<()> {
        self.compute(first_record)?;
        self.gather(first_record);
        let (numbers, known) = (RowNumbers::from_record(first_record), chunk.len());
        let done = self.encoder.encode_with_policy(&mut self.blocks, self.batch.rows, numbers, left_out, chunk, judge);
        self.give_back();
        self.mark_automatic(known, chunk);
        done?;
        self.keep_rowids(known, left_out, chunk);
        Ok(())
    }

    /// Evaluates DEFAULTs that differ by row. This may fail, so it must run before the blocks are swapped.
    fn compute(&mut self, first_record: u64) -> Result<()> {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            if let ColumnSource::EachRow(default) = source {
                default.fill(block, first_record, self.batch.rows)?;
            }
        }
        if self.has_defaults_by_row() && self.batch.rows > 0 {
            let bytes = self.blocks.iter().map(CellBlock::owned_bytes).sum::<usize>() / self.batch.rows;
            // Later values may be longer.
            self.limit_rows(bytes, 4 * self.batch.rows);
        }
        Ok(())
    }

    /// Returns whether the data lack the INTEGER PRIMARY KEY.
    pub fn numbers_rows(&self) -> bool {
        numbers_rows(&self.column_sources)
    }

    /// Gives the rows from `known` on the rowids that they have in their database, if these are kept.
    fn keep_rowids(&self, known: usize, left_out: &SkippedRows, chunk: &mut RecordChunk) {
        if !self.batch.rowids.is_empty() {
            let stays = (0..).zip(&self.batch.rowids).filter(|(row, _)| !left_out.has(*row));
            chunk.set_rowids(known, stays.map(|(_, rowid)| *rowid));
        }
    }

    /// Marks the rowids of the rows from `known` on as automatic, if the data lack the INTEGER PRIMARY KEY.
    fn mark_automatic(&self, known: usize, chunk: &mut RecordChunk) {
        if self.numbers_rows() {
            chunk.mark_automatic(known);
        }
    }

    /// Swaps the blocks into the order of the table's columns.
    fn gather(&mut self, first_record: u64) {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            match source {
                ColumnSource::File(position) => std::mem::swap(block, &mut self.batch.blocks[*position]),
                ColumnSource::Constant(value) => fill_constant(block, value, self.batch.rows),
                // `compute` has filled it.
                ColumnSource::EachRow(_) => {}
                ColumnSource::RowNumber => {
                    block.ints().extend((first_record.cast_signed()..).take(self.batch.rows));
                }
            }
        }
    }

    /// Returns the blocks to the batch, to be filled again. Huge values are freed: they are in the records now, and would
    /// otherwise be in memory twice while their pages are written.
    fn give_back(&mut self) {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            block.forget_huge();
            if let ColumnSource::File(position) = source {
                std::mem::swap(block, &mut self.batch.blocks[*position]);
            }
        }
    }
}

/// Fills a block with one value. Reuses its list of choices, so that the encoder encodes the list once.
fn fill_constant(block: &mut CellBlock, value: &OwnedValue, rows: usize) {
    use litepress_rows::Cells;
    let list = match block.cells() {
        Cells::Choice(choice) => choice.values.clone(),
        _ => Arc::from([value.clone()]),
    };
    block.picks(&list).resize(rows, 0);
}
