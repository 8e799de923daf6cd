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

use crate::cells::{BLOCK_ROWS, CellBlock, Cells};
use crate::schema::Table;
use crate::{Conflict, Error, ErrorKind, NullRule, RecordChunk, Result};
pub use column::LeftOut;
use column::{Exempt, Fault, Rule, Slot, is_null};

/// SQLite's default limit for the length of a record, in bytes (SQLITE_MAX_LENGTH).
pub const MAX_RECORD_BYTES: u64 = 1_000_000_000;

/// The numbers of a block's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNumbers {
    /// Rows of a table without INTEGER PRIMARY KEY get the rowids from this one on.
    pub first_rowid: i64,
    /// Position of the first row in the input, counted from 1: errors name it, and it tells which of two rows with one key
    /// came first.
    pub first_record: u64,
}

impl RowNumbers {
    /// Rowids that are the positions in the input.
    pub fn from_record(first_record: u64) -> Self {
        Self { first_rowid: first_record.cast_signed(), first_record }
    }
}

/// A value that its column does not take.
#[derive(Debug)]
pub struct BadValue {
    /// Its row in the block.
    pub row: usize,
    /// Whether NULL can take its place.
    pub may_be_null: bool,
    /// Table, column, record, value and what is wrong.
    pub error: Error,
}

/// What becomes of the row of a [`BadValue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The row gets no record.
    LeaveOut,
    /// NULL takes the value's place: only where it [can](BadValue::may_be_null).
    StoreNull,
}

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
    /// What NULL leads to if the row has a value of a wrong type, too.
    null_before_type: Vec<(usize, NullRule)>,
    conflict: Conflict,
    /// Rows of the block whose types SQLite checks.
    unchecked: LeftOut,
    slots: Vec<Slot>,
    /// Texts that were cut at a NUL since they were last [taken](Self::take_cut_texts).
    cut_texts: u64,
}

/// The columns of a STRICT table, as blocks are given, of which NULL has another consequence than a wrong type in the same row.
///
/// SQLite checks types last, but first in a table with generated columns, which it computes from values of the right types.
fn null_before_type(table: &Table, conflict: Conflict) -> Vec<(usize, NullRule)> {
    let is_ordered = table.strict && table.ordinary_columns().count() == table.columns.len();
    let rule = |column| (column, table.null_rule(column, conflict));
    let rules = (0..table.columns.len()).filter(|_| is_ordered).map(rule);
    rules.filter(|(_, rule)| matches!(rule, NullRule::LeaveOut | NullRule::AskSqlite)).collect()
}

impl Encoder {
    /// An encoder for the rows of `table`. Blocks are given for its ordinary columns, in their order; records hold
    /// them in the order in which SQLite stores them ([`Table::stored_columns`]). What SQLite computes is not in them.
    ///
    /// `conflict` says what becomes of NULL in a NOT NULL column ([`Table::null_rule`]). A row with a value that an INTEGER
    /// PRIMARY KEY does not take fails in any case. So does one that a STRICT table does not take, unless it has NULL in a
    /// NOT NULL column: SQLite looks for NULL first, and may leave the row out.
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
            null_before_type: null_before_type(table, conflict),
            conflict,
            unchecked: LeftOut::default(),
            slots: rules.iter().map(|_| Slot::default()).collect(),
            rules,
            cut_texts: 0,
        }
    }

    /// Returns how many texts were cut at a NUL since the last call: of `5\06` a numeric column stores 5, as SQLite does.
    pub fn take_cut_texts(&mut self) -> u64 {
        std::mem::take(&mut self.cut_texts)
    }

    /// Encodes the first `rows` rows of `blocks`, one block a column, and appends them to `chunk`, those apart that are
    /// left out for a NULL.
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
        rows: usize,
        numbers: RowNumbers,
        chunk: &mut RecordChunk,
    ) -> Result<()> {
        self.begin(blocks, rows);
        let mut left_out = LeftOut::default();
        for column in self.filling_order() {
            while let Err(fault) = self.fill(column, &blocks[column], rows, &left_out, chunk) {
                if !self.excuses(&fault, blocks, true, &mut left_out) {
                    return Err(self.explain(&fault, column, &blocks[column], numbers));
                }
            }
        }
        self.write(blocks, rows, numbers, &mut left_out, chunk)
    }

    /// The values of the first `rows` rows of `blocks`, where all are integers and their columns store them as they are.
    pub fn integers<'b>(&self, blocks: &'b [CellBlock], rows: usize) -> Option<Vec<&'b [i64]>> {
        let integers = |block: &'b CellBlock| match block.cells() {
            Cells::Int(ints) if block.nulls().is_empty() => Some(&ints[..rows]),
            _ => None,
        };
        if self.keeps_integers() { blocks.iter().map(integers).collect() } else { None }
    }

    /// Whether all columns store integers as they are.
    pub fn keeps_integers(&self) -> bool {
        self.rowid_alias.is_none() && self.rules.iter().all(Rule::keeps_ints)
    }

    /// As [`encode`](Self::encode), but rows that break a rule are the caller's to judge, and rows can be left out from the
    /// start: their numbers stay unused. Those that get no record are in `left_out` afterwards.
    ///
    /// # Errors
    /// What `judge` returns as such; a record above [`MAX_RECORD_BYTES`].
    ///
    /// # Panics
    /// As [`encode`](Self::encode).
    pub fn encode_judged(
        &mut self,
        blocks: &mut [CellBlock],
        rows: usize,
        numbers: RowNumbers,
        left_out: &mut LeftOut,
        chunk: &mut RecordChunk,
        judge: &mut dyn FnMut(BadValue) -> Result<Verdict>,
    ) -> Result<()> {
        self.begin(blocks, rows);
        let known = chunk.len();
        for column in self.filling_order() {
            while let Err(fault) = self.fill(column, &blocks[column], rows, left_out, chunk) {
                // SQLite ignores such a row for sure. Of an ON CONFLICT clause that is not known, and the row is judged.
                if self.excuses(&fault, blocks, self.conflict == Conflict::Ignore, left_out) {
                    continue;
                }
                if self.rowid_alias == Some(column) {
                    // They are read once more; those that stand in front of a column with a fault stay.
                    chunk.parts_mut().0.truncate(known);
                }
                let error = self.explain(&fault, column, &blocks[column], numbers);
                let may_be_null = self.rowid_alias != Some(column) && !self.rules[column].refuses_null();
                match judge(BadValue { row: fault.row, may_be_null, error })? {
                    Verdict::LeaveOut => left_out.add(fault.row),
                    Verdict::StoreNull => blocks[column].set_null(fault.row, rows),
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

    /// The columns in the order in which they are settled: as in SQLite, no other rule excuses a wrong INTEGER PRIMARY KEY.
    fn filling_order(&self) -> impl Iterator<Item = usize> + use<> {
        let alias = self.rowid_alias;
        alias.into_iter().chain((0..self.rules.len()).filter(move |&column| alias != Some(column)))
    }

    /// Whether a wrong type does not count because the row has NULL in a NOT NULL column, which SQLite looks at before. Then
    /// the row is left out, or goes to SQLite as it is, if it `may_ask`.
    fn excuses(&mut self, fault: &Fault, blocks: &[CellBlock], may_ask: bool, left_out: &mut LeftOut) -> bool {
        let has_null = |&&(column, _): &&(usize, NullRule)| is_null(&blocks[column].value(fault.row));
        match self.null_before_type.iter().filter(|_| fault.is_type).find(has_null) {
            Some((_, NullRule::LeaveOut)) => left_out.add(fault.row),
            Some((_, NullRule::AskSqlite)) if may_ask => self.unchecked.add(fault.row),
            _ => return false,
        }
        true
    }

    /// Settles one column: its slot, or the rowids.
    fn fill(
        &mut self,
        column: usize,
        block: &CellBlock,
        rows: usize,
        left_out: &LeftOut,
        chunk: &mut RecordChunk,
    ) -> Result<(), Fault> {
        let (rule, slot) = (&mut self.rules[column], &mut self.slots[column]);
        if self.rowid_alias == Some(column) {
            slot.be_null();
            rule.rowids(block, rows, left_out, chunk.parts_mut().0, &mut slot.cut)
        } else {
            rule.fill(block, rows, Exempt { left_out, unchecked: &self.unchecked }, slot)
        }
    }

    /// Writes the records of the rows whose columns are settled.
    fn write(
        &mut self,
        blocks: &[CellBlock],
        rows: usize,
        numbers: RowNumbers,
        left_out: &mut LeftOut,
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
