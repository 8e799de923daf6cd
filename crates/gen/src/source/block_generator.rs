//! A block of rows, or of some of their columns, as records.

use crate::plan::TablePlan;
use crate::program::Scratch;
use crate::random::Rows;
use litepress_rows::encode::RowNumbers;
use litepress_rows::schema::Table;
use litepress_rows::{Encoder, RecordChunk, Result};
use std::ops::Range;
use std::sync::Arc;

/// Makes rows and encodes them, with buffers that are used again and again.
#[derive(Debug)]
pub(super) struct BlockGenerator {
    pub plan: Arc<TablePlan>,
    pub scratch: Scratch,
    pub encoder: Encoder,
}

impl BlockGenerator {
    pub fn new(table: &Table, plan: &Arc<TablePlan>) -> Self {
        Self::with_given(table, plan, &[])
    }

    /// The columns at these places among the ordinary ones are given.
    pub fn with_given(table: &Table, plan: &Arc<TablePlan>, given: &[usize]) -> Self {
        let scratch = Scratch::with_given(&plan.program, given);
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(table, plan.on_conflict) }
    }

    /// For records of these columns alone.
    pub fn narrow(table: &Table, plan: &Arc<TablePlan>, columns: &[usize]) -> Self {
        let scratch = Scratch::for_columns(&plan.program, &places(table, columns));
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(&table.narrow(columns), plan.on_conflict) }
    }

    /// Appends these rows, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS).
    pub fn append_range(&mut self, rows: Range<u64>, chunk: &mut RecordChunk) -> Result<()> {
        let first_record = rows.start + 1;
        self.append_rows(&rows.into(), first_record, chunk)
    }

    /// Appends these rows, as many at most, whose numbers begin with `first_record` where they follow each other.
    pub fn append_rows(&mut self, rows: &Rows<'_>, first_record: u64, chunk: &mut RecordChunk) -> Result<()> {
        self.plan.program.run(rows, &mut self.scratch);
        self.encoder.encode(self.scratch.columns(), rows.len(), RowNumbers::from_record(first_record), chunk)
    }
}

/// Where columns are among the ordinary ones.
pub fn places(table: &Table, columns: &[usize]) -> Vec<usize> {
    let place = |column| table.ordinary_columns().position(|ordinary| ordinary == column);
    columns.iter().map(|&column| place(column).expect("it is not computed")).collect()
}
