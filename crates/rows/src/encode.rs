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
use crate::schema::{Generated, Table};
use crate::{Error, ErrorKind, RecordChunk, Result};
use column::{Rule, Slot};

/// SQLite's default limit for the length of a record, in bytes (SQLITE_MAX_LENGTH).
pub const MAX_RECORD_BYTES: u64 = 1_000_000_000;

/// Turns blocks of cells into the records of one table.
#[derive(Debug)]
pub struct Encoder {
    table: String,
    rules: Vec<Rule>,
    rowid_alias: Option<usize>,
    slots: Vec<Slot>,
}

impl Encoder {
    /// An encoder for the rows of `table`. Blocks are given for its ordinary columns, in their order.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a table with stored generated columns, whose values only SQLite can tell.
    pub fn new(table: &Table) -> Result<Self> {
        if let Some(column) = table.columns.iter().find(|column| column.generated == Generated::Stored) {
            let message = "values of a stored generated column cannot be computed";
            return Err(Error::new(ErrorKind::Unsupported, message).in_table(&table.name).in_column(&column.name));
        }
        let ordinary = || table.columns.iter().enumerate().filter(|(_, column)| column.generated == Generated::No);
        let rowid_alias = ordinary().position(|(position, _)| table.rowid_alias == Some(position));
        let rules: Vec<Rule> = ordinary().map(|(_, column)| Rule::new(column, table.strict)).collect();
        let slots = rules.iter().map(|_| Slot::default()).collect();
        Ok(Self { table: table.name.clone(), rules, rowid_alias, slots })
    }

    /// Encodes the first `rows` rows of `blocks`, one block a column, and appends them to `chunk`.
    ///
    /// Rows of a table without INTEGER PRIMARY KEY get the rowids from `first_rowid` on. `first_record` is the
    /// number of the first row in errors, counted from 1.
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
        let columns: Vec<(&Slot, &CellBlock)> = self.slots.iter().zip(blocks).collect();
        let (_, arena, ends) = chunk.parts_mut();
        layout::write(&columns, rows, arena, ends).map_err(|row| self.too_long(first_record + row as u64))
    }

    fn too_long(&self, record: u64) -> Error {
        Error::new(ErrorKind::Limit, format!("the row is longer than SQLite's limit of {MAX_RECORD_BYTES} bytes"))
            .in_table(&self.table)
            .in_record(record)
    }
}
