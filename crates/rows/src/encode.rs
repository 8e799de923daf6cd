//! From a block of cells to SQLite records.
//!
//! ```text
//! CellBlock --column.rs--> Slot          serial type of each row, and its body as a word or as a span of bytes:
//!                                        affinity, NOT NULL and STRICT types are settled here, column by column
//! Slots ----------------> RecordChunk    rows of one shape: strided writes, column by column
//!                                        any other rows: one after another
//! ```
//!
//! A record is a header (its own length, then one serial type a column) and the bodies (fileformat2.html,
//! section 2.1). Where every column of a block has one-byte serial types and bodies of one length, all records
//! of the block have the same layout, and what varies is written with constant strides: several times faster.

mod column;
mod layout;
#[cfg(test)]
mod tests;

use crate::cells::{BLOCK_ROWS, CellBlock};
use crate::schema::Table;
use crate::{Conflict, Error, ErrorKind, NullRule, RecordChunk, Result};
use column::{Rule, Slot};

/// SQLite's default limit for the length of a record, in bytes (SQLITE_MAX_LENGTH).
pub const MAX_RECORD_BYTES: u64 = 1_000_000_000;

/// Turns blocks of cells into the records of one table.
#[derive(Debug)]
pub struct Encoder {
    table: String,
    rules: Vec<Rule>,
    rowid_alias: Option<usize>,
    /// The columns in the order of the record.
    order: Vec<usize>,
    /// The columns of which NULL has a row left out.
    left_out_on_null: Vec<usize>,
    slots: Vec<Slot>,
}

impl Encoder {
    /// An encoder for the rows of `table`. Blocks are given for its ordinary columns, in their order; records hold
    /// them in the order in which SQLite stores them ([`Table::stored_columns`]). What SQLite computes is not in them.
    ///
    /// `conflict` says what becomes of NULL in a NOT NULL column ([`Table::null_rule`]); what a STRICT table or an INTEGER
    /// PRIMARY KEY does not take fails in any case.
    pub fn new(table: &Table, conflict: Conflict) -> Self {
        let ordinary: Vec<usize> = table.ordinary_columns().collect();
        let block_of = |position: usize| ordinary.iter().position(|&ordinary| ordinary == position);
        let refuses_null = |position| table.null_rule(position, conflict) == NullRule::Refuse;
        let rule = |&position: &usize| Rule::new(&table.columns[position], table.strict, refuses_null(position));
        let rules: Vec<Rule> = ordinary.iter().map(rule).collect();
        Self {
            table: table.name.clone(),
            rowid_alias: table.rowid_alias.and_then(block_of),
            order: table.stored_columns().into_iter().filter_map(block_of).collect(),
            left_out_on_null: table.columns_where_null(NullRule::LeaveOut, conflict).filter_map(block_of).collect(),
            slots: rules.iter().map(|_| Slot::default()).collect(),
            rules,
        }
    }

    /// Encodes the first `rows` rows of `blocks`, one block a column, and appends them to `chunk`, those apart that are
    /// left out for a NULL.
    ///
    /// Rows of a table without INTEGER PRIMARY KEY get the rowids from `first_rowid` on. `first_record` is the position of
    /// the first row in the input, counted from 1: errors name it, and it tells which of two rows with one key came first.
    ///
    /// # Errors
    /// [`ErrorKind::Constraint`] for the first row that breaks NOT NULL, a STRICT type or the INTEGER PRIMARY KEY;
    /// [`ErrorKind::Limit`] for a record above [`MAX_RECORD_BYTES`].
    ///
    /// # Panics
    /// Where the number of blocks is not that of the ordinary columns, or `rows` is above [`BLOCK_ROWS`].
    pub fn encode(
        &mut self,
        blocks: &[CellBlock],
        first_rowid: i64,
        rows: usize,
        first_record: u64,
        chunk: &mut RecordChunk,
    ) -> Result<()> {
        assert_eq!(blocks.len(), self.rules.len(), "one block a column");
        assert!(rows <= BLOCK_ROWS, "a block holds at most {BLOCK_ROWS} rows");
        for (position, (block, slot)) in blocks.iter().zip(&mut self.slots).enumerate() {
            let rule = &mut self.rules[position];
            let filled = if self.rowid_alias == Some(position) {
                slot.be_null();
                rule.rowids(block, rows, chunk.parts_mut().0)
            } else {
                rule.fill(block, rows, slot)
            };
            filled.map_err(|fault| fault.explain(&self.table, &rule.name, block, first_record))?;
        }
        if self.rowid_alias.is_none() {
            chunk.parts_mut().0.extend((first_rowid..).take(rows));
        }
        if chunk.is_empty() {
            chunk.set_first_record(first_record);
        }
        let columns: Vec<(&Slot, &CellBlock)> =
            self.order.iter().map(|&column| (&self.slots[column], &blocks[column])).collect();
        let (_, arena, ends) = chunk.parts_mut();
        let first = ends.len();
        layout::write(&columns, rows, arena, ends).map_err(|row| self.too_long(first_record + row as u64))?;
        let is_left_out = |row| self.left_out_on_null.iter().any(|&column| self.slots[column].is_null(row));
        if (0..rows).any(is_left_out) {
            chunk.retain(first, |row| !is_left_out(row - first));
        }
        Ok(())
    }

    fn too_long(&self, record: u64) -> Error {
        Error::new(ErrorKind::Limit, format!("the row is longer than SQLite's limit of {MAX_RECORD_BYTES} bytes"))
            .in_table(&self.table)
            .in_record(record)
    }
}
