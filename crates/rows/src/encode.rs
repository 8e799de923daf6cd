//! Encodes blocks of cells as SQLite records.
//!
//! ```text
//! CellBlock --column.rs--> Slot          serial type of each row, and its body as a word or a span of bytes:
//!                                        applies affinity, NOT NULL and STRICT types, column by column
//! Slots -----------------> RecordChunk   rows of one shape: strided writes, column by column
//!                                        any other rows: one after another
//! ```
//!
//! A record is a header (its own length, then one serial type per column) and the bodies (fileformat2.html, section 2.1).
//! If every column of a block has one-byte serial types and bodies of one length, all its records have the same layout. Their
//! varying parts are then written with constant strides, which is several times faster.

mod column;
mod layout;
#[cfg(test)]
mod tests;

use crate::cells::{BLOCK_ROWS, CellBlock, Cells};
use crate::schema::Table;
use crate::{Conflict, Error, ErrorKind, NullPolicy, RecordChunk, Result};
pub use column::SkippedRows;
use column::{Fault, Rule, RuleExceptions, Slot, is_null};

/// SQLite's default limit for the length of a record, in bytes (SQLITE_MAX_LENGTH).
pub const MAX_RECORD_BYTES: u64 = 1_000_000_000;

/// The numbers of a block's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNumbers {
    /// First rowid of the rows, in a table without INTEGER PRIMARY KEY.
    pub first_rowid: i64,
    /// Position of the first row in the input, counted from 1. Errors name it, and it decides which of two rows with one key
    /// came first.
    pub first_record: u64,
}

impl RowNumbers {
    /// Returns numbers whose rowids are the positions in the input.
    pub fn from_record(first_record: u64) -> Self {
        Self { first_rowid: first_record.cast_signed(), first_record }
    }
}

/// A value that its column does not accept.
#[derive(Debug)]
pub struct BadValue {
    /// Its row in the block.
    pub row: usize,
    /// NULL can replace the value.
    pub may_be_null: bool,
    /// The error, with table, column, record and value.
    pub error: Error,
}

/// The decision about the row of a [`BadValue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAction {
    /// The row gets no record.
    LeaveOut,
    /// NULL replaces the value. Valid only if it [can](BadValue::may_be_null).
    StoreNull,
}

/// An encoder of blocks of cells as the records of one table.
#[derive(Debug)]
pub struct Encoder {
    table: String,
    rules: Vec<Rule>,
    rowid_alias: Option<usize>,
    /// The columns in record order.
    order: Vec<usize>,
    /// The columns whose NULL leaves the row out.
    left_out_on_null: Vec<usize>,
    /// The columns whose NULL decides about a row before wrong types do, and how.
    null_before_type: Vec<(usize, NullPolicy)>,
    conflict: Conflict,
    /// Rows of the block whose types SQLite checks.
    unchecked: SkippedRows,
    slots: Vec<Slot>,
    /// Number of texts cut at a NUL since the last [call](Self::take_cut_texts).
    cut_texts: u64,
}

/// Returns the columns of a STRICT table, by block, for which NULL decides before a wrong type in the same row, and how.
///
/// SQLite checks types last. In tables with generated columns it checks them first, since it computes these from values of the
/// right types.
fn null_before_type(table: &Table, conflict: Conflict) -> Vec<(usize, NullPolicy)> {
    let is_ordered = table.strict && table.ordinary_columns().count() == table.columns.len();
    let rule = |column| (column, table.null_rule(column, conflict));
    let rules = (0..table.columns.len()).filter(|_| is_ordered).map(rule);
    rules.filter(|(_, rule)| matches!(rule, NullPolicy::LeaveOut | NullPolicy::AskSqlite)).collect()
}

impl Encoder {
    /// Creates an encoder for `table`. There is one block for each ordinary column, in column order. Records have the columns in
    /// the order in which SQLite stores them ([`Table::stored_columns`]), without those that SQLite computes.
    ///
    /// `conflict` decides about NULL in a NOT NULL column ([`Table::null_rule`]). A row with an invalid INTEGER PRIMARY KEY always
    /// fails. So does a row whose type a STRICT table does not accept, unless it has NULL in a NOT NULL column: SQLite checks
    /// NULL first, and may leave the row out.
    pub fn new(table: &Table, conflict: Conflict) -> Self {
        let ordinary: Vec<usize> = table.ordinary_columns().collect();
        let block_of = |position: usize| ordinary.iter().position(|&ordinary| ordinary == position);
        let refuses_null = |position| table.null_rule(position, conflict) == NullPolicy::Refuse;
        let rule = |&position: &usize| Rule::new(&table.columns[position], table.strict, refuses_null(position));
        let rules: Vec<Rule> = ordinary.iter().map(rule).collect();
        Self {
            table: table.name.clone(),
            rowid_alias: table.rowid_alias.and_then(block_of),
            order: table.stored_columns().into_iter().filter_map(block_of).collect(),
            left_out_on_null: table.columns_where_null(NullPolicy::LeaveOut, conflict).filter_map(block_of).collect(),
            null_before_type: null_before_type(table, conflict),
            conflict,
            unchecked: SkippedRows::default(),
            slots: rules.iter().map(|_| Slot::default()).collect(),
            rules,
            cut_texts: 0,
        }
    }

    /// Returns the number of texts cut at a NUL since the last call: a numeric column stores 5 for `5\06`, as SQLite does.
    pub fn take_cut_texts(&mut self) -> u64 {
        std::mem::take(&mut self.cut_texts)
    }

    /// Encodes the first `rows` rows of `blocks`, one block per column, and appends them to `chunk`. Rows that a NULL leaves out
    /// are skipped.
    ///
    /// # Errors
    /// [`ErrorKind::Constraint`] for the first row that breaks NOT NULL, a STRICT type or the INTEGER PRIMARY KEY;
    /// [`ErrorKind::Limit`] for a record longer than [`MAX_RECORD_BYTES`].
    ///
    /// # Panics
    /// If the number of blocks differs from that of the ordinary columns, or `rows` exceeds [`BLOCK_ROWS`].
    pub fn encode(
        &mut self,
        blocks: &[CellBlock],
        rows: usize,
        numbers: RowNumbers,
        chunk: &mut RecordChunk,
    ) -> Result<()> {
        self.begin(blocks, rows);
        let mut left_out = SkippedRows::default();
        for column in self.filling_order() {
            while let Err(fault) = self.fill(column, &blocks[column], rows, &left_out, chunk) {
                if !self.excuses(&fault, blocks, true, &mut left_out) {
                    return Err(self.explain(&fault, column, &blocks[column], numbers));
                }
            }
        }
        self.write(blocks, rows, numbers, &mut left_out, chunk)
    }

    /// Returns the values of the first `rows` rows of `blocks`, if all are integers that their columns store unchanged.
    pub fn integers<'b>(&self, blocks: &'b [CellBlock], rows: usize) -> Option<Vec<&'b [i64]>> {
        let integers = |block: &'b CellBlock| match block.cells() {
            Cells::Int(ints) if block.nulls().is_empty() => Some(&ints[..rows]),
            _ => None,
        };
        if self.keeps_integers() { blocks.iter().map(integers).collect() } else { None }
    }

    /// Returns whether all columns store integers unchanged.
    pub fn keeps_integers(&self) -> bool {
        self.rowid_alias.is_none() && self.rules.iter().all(Rule::keeps_ints)
    }

    /// Does the same as [`encode`](Self::encode), but `judge` decides about rows that break a rule, and rows can be left out from
    /// the start; their numbers stay unused. Afterwards `left_out` has all rows without a record.
    ///
    /// # Errors
    /// Any error of `judge`, or a record longer than [`MAX_RECORD_BYTES`].
    ///
    /// # Panics
    /// As [`encode`](Self::encode).
    pub fn encode_with_policy(
        &mut self,
        blocks: &mut [CellBlock],
        rows: usize,
        numbers: RowNumbers,
        left_out: &mut SkippedRows,
        chunk: &mut RecordChunk,
        judge: &mut dyn FnMut(BadValue) -> Result<RowAction>,
    ) -> Result<()> {
        self.begin(blocks, rows);
        let known = chunk.len();
        for column in self.filling_order() {
            while let Err(fault) = self.fill(column, &blocks[column], rows, left_out, chunk) {
                // SQLite certainly ignores such a row. Under an ON CONFLICT clause it may not, so the row is judged.
                if self.excuses(&fault, blocks, self.conflict == Conflict::Ignore, left_out) {
                    continue;
                }
                if self.rowid_alias == Some(column) {
                    // The rowids are read again. A fault in another column keeps them.
                    chunk.parts_mut().0.truncate(known);
                }
                let error = self.explain(&fault, column, &blocks[column], numbers);
                let may_be_null = self.rowid_alias != Some(column) && !self.rules[column].refuses_null();
                match judge(BadValue { row: fault.row, may_be_null, error })? {
                    RowAction::LeaveOut => left_out.add(fault.row),
                    RowAction::StoreNull => blocks[column].set_null(fault.row, rows),
                }
            }
        }
        self.write(blocks, rows, numbers, left_out, chunk)
    }

    fn begin(&mut self, blocks: &[CellBlock], rows: usize) {
        assert_eq!(blocks.len(), self.rules.len(), "one block a column");
        assert!(rows <= BLOCK_ROWS, "a block holds at most {BLOCK_ROWS} rows");
        self.unchecked.clear();
    }

    /// Returns the columns in processing order. As in SQLite, no other rule excuses an invalid INTEGER PRIMARY KEY, so it is first.
    fn filling_order(&self) -> impl Iterator<Item = usize> + use<> {
        let alias = self.rowid_alias;
        alias.into_iter().chain((0..self.rules.len()).filter(move |&column| alias != Some(column)))
    }

    /// Returns whether a wrong type is excused because the row has NULL in a NOT NULL column, which SQLite checks first. The row is
    /// then left out, or passed to SQLite unchanged if `may_ask`.
    fn excuses(&mut self, fault: &Fault, blocks: &[CellBlock], may_ask: bool, left_out: &mut SkippedRows) -> bool {
        let has_null = |&&(column, _): &&(usize, NullPolicy)| is_null(&blocks[column].value(fault.row));
        match self.null_before_type.iter().filter(|_| fault.is_type).find(has_null) {
            Some((_, NullPolicy::LeaveOut)) => left_out.add(fault.row),
            Some((_, NullPolicy::AskSqlite)) if may_ask => self.unchecked.add(fault.row),
            _ => return false,
        }
        true
    }

    /// Processes one column: fills its slot, or the rowids.
    fn fill(
        &mut self,
        column: usize,
        block: &CellBlock,
        rows: usize,
        left_out: &SkippedRows,
        chunk: &mut RecordChunk,
    ) -> Result<(), Fault> {
        let (rule, slot) = (&mut self.rules[column], &mut self.slots[column]);
        if self.rowid_alias == Some(column) {
            slot.be_null();
            rule.rowids(block, rows, left_out, chunk.parts_mut().0, &mut slot.cut)
        } else {
            rule.fill(block, rows, RuleExceptions { left_out, unchecked: &self.unchecked }, slot)
        }
    }

    /// Writes the records of the processed columns.
    fn write(
        &mut self,
        blocks: &[CellBlock],
        rows: usize,
        numbers: RowNumbers,
        left_out: &mut SkippedRows,
        chunk: &mut RecordChunk,
    ) -> Result<()> {
        let RowNumbers { first_rowid, first_record } = numbers;
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
        for &column in &self.left_out_on_null {
            (0..rows).filter(|&row| self.slots[column].is_null(row)).for_each(|row| left_out.add(row));
        }
        let cut = self.slots.iter().flat_map(|slot| &slot.cut);
        self.cut_texts += cut.filter(|&&row| !left_out.has(row)).count() as u64;
        if !left_out.is_empty() {
            chunk.retain(first, |row| !left_out.has(row - first));
        }
        Ok(())
    }

    fn explain(&self, fault: &Fault, column: usize, block: &CellBlock, numbers: RowNumbers) -> Error {
        fault.explain(&self.table, &self.rules[column].name, block, numbers.first_record)
    }

    fn too_long(&self, record: u64) -> Error {
        Error::new(ErrorKind::Limit, format!("the row is longer than SQLite's limit of {MAX_RECORD_BYTES} bytes"))
            .in_table(&self.table)
            .in_record(record)
    }
}
