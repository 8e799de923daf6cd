//! Generation of rows: a program fills a block, and the encoder turns it into records.

use crate::plan::TablePlan;
use crate::program::Scratch;
use crate::random::Rows;
use litepress_rows::encode::RowNumbers;
use litepress_rows::schema::Table;
use litepress_rows::{Encoder, RecordChunk, Result};
use std::ops::Range;
use std::sync::Arc;

/// A generator of encoded rows, with buffers that are reused from block to block.
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

    /// Makes a generator of rows whose columns at these positions, among the ordinary ones, the caller fills.
    pub fn with_given(table: &Table, plan: &Arc<TablePlan>, given: &[usize]) -> Self {
        let scratch = Scratch::with_given(&plan.program, given);
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(table, plan.on_conflict) }
    }

    /// Makes a generator of records of these columns alone.
    pub fn narrow(table: &Table, plan: &Arc<TablePlan>, columns: &[usize]) -> Self {
        let scratch = Scratch::for_columns(&plan.program, &places(table, columns));
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(&table.narrow(columns), plan.on_conflict) }
    }

    /// Appends consecutive rows, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS).
    pub fn append_range(&mut self, rows: Range<u64>, chunk: &mut RecordChunk) -> Result<()> {
        let first_record = rows.start + 1;
        self.append_rows(&rows.into(), first_record, chunk)
    }

    /// Appends these rows, at most a block. Records are numbered from `first_record` on, which must be the first row's
    /// number if the rows are consecutive.
    pub fn append_rows(&mut self, rows: &Rows<'_>, first_record: u64, chunk: &mut RecordChunk) -> Result<()> {
        self.plan.program.run(rows, &mut self.scratch);
        self.encoder.encode(self.scratch.columns(), rows.len(), RowNumbers::from_record(first_record), chunk)
    }
}

/// Returns the positions of columns among the ordinary ones.
pub fn places(table: &Table, columns: &[usize]) -> Vec<usize> {
    let place = |column| table.ordinary_columns().position(|ordinary| ordinary == column);
    columns.iter().map(|&column| place(column).expect("an ordinary column")).collect()
}
