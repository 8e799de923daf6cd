//! A [`Source`] over the rows of a planned table.
//!
//! A part is a fixed number of rows, so that part `n` is known without the parts before it. The number follows from
//! the plan and the page size alone: some rows are generated and encoded in advance, and a part should fill its pages
//! a little less than full. The sample comes from the end of the table, because row numbers, and with them rowids and
//! sequences, are longest there.

mod block_generator;
mod random_access;
mod sizes;
#[cfg(test)]
mod tests;

use crate::generators::Cardinality;
use crate::plan::{GenPlan, TablePlan};
use block_generator::BlockGenerator;
use litepress_format::page::PageSize;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::schema::{Schema, Table};
use litepress_rows::source::PART_BYTES;
use litepress_rows::{Conflict, Part, RandomAccessRows, RecordChunk, Result, RowidOrder, Shard, Source};
use litepress_tpch::TpchSource;
use sizes::{RowSampler, SAMPLE_BYTES, mean_sizes, whole};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Target fill of a part's pages. Estimates err, and a part that is too long costs more than one that is a little
/// short.
const FILL: f64 = 0.98;

/// The rows of one table of a plan.
#[derive(Debug)]
pub struct GenSource {
    table: Arc<Table>,
    plan: Arc<TablePlan>,
    /// Generated rows of the plan, counted from 0.
    row_range: Range<u64>,
    /// Rows of every part but the last.
    rows_per_part: u64,
    rows_per_block: u64,
    page_bytes: f64,
    rowid_order: RowidOrder,
    next_part: AtomicU64,
}

impl GenSource {
    /// Opens the table at this position of [`Schema::tables`]; parts are cut for a database of this page size.
    ///
    /// # Errors
    /// The errors of [`Encoder::encode`](litepress_rows::Encoder::encode) for the sampled rows.
    ///
    /// # Panics
    /// If the plan is not a plan of this schema, or the table is virtual.
    pub fn new(plan: &GenPlan, schema: &Schema, table: usize, page_size: PageSize) -> Result<Self> {
        Self::of_shard(plan, schema, table, page_size, Shard::WHOLE)
    }

    /// Opens the rows of a shard, from whichever source the plan names for the table: its generators or TPC-H. With `whole_parts`,
    /// generated rows are divided where parts of the whole table begin.
    ///
    /// # Errors
    /// The errors of [`Encoder::encode`](litepress_rows::Encoder::encode) for the sampled rows.
    ///
    /// # Panics
    /// If the plan is not a plan of this schema, or the table is virtual.
    pub fn for_shard(
        plan: &GenPlan,
        schema: &Schema,
        table: usize,
        page_size: PageSize,
        shard: Shard,
        whole_parts: bool,
    ) -> Result<Box<dyn Source>> {
        let planned = plan.table(table).expect("the table is in the plan");
        Ok(match planned.tpch {
            None if whole_parts => Box::new(Self::of_whole_parts(plan, schema, table, page_size, shard)?),
            None => Box::new(Self::of_shard(plan, schema, table, page_size, shard)?),
            Some((of, scale)) => {
                let table = &schema.tables[table];
                Box::new(TpchSource::new(table, of, scale, planned.on_conflict, page_size, shard)?)
            }
        })
    }

    /// Opens the rows of a shard of a table with generators.
    ///
    /// # Errors
    /// The errors of [`Encoder::encode`](litepress_rows::Encoder::encode) for the sampled rows.
    ///
    /// # Panics
    /// If the plan is not a plan of this schema, or the table is virtual.
    pub fn of_shard(plan: &GenPlan, schema: &Schema, table: usize, page_size: PageSize, shard: Shard) -> Result<Self> {
        let plan = plan.table(table).expect("the table is in the plan").clone();
        let table = Arc::new(schema.tables[table].clone());
        let row_range = shard.row_range(plan.rows);
        let sizes = mean_sizes(&table, &plan, row_range.clone(), page_size)?;
        let rows_of_mean_length = whole(RecordChunk::TARGET_BYTES as f64 / sizes.record_bytes).max(1);
        Ok(Self {
            rows_per_part: whole(FILL * PART_BYTES as f64 / sizes.page_bytes).max(1),
            rows_per_block: rows_of_mean_length.min(plan.program.most_rows_per_block()),
            page_bytes: sizes.page_bytes,
            rowid_order: rowid_order(&table, &plan),
            row_range,
            table,
            plan,
            next_part: AtomicU64::new(0),
        })
    }

    /// Opens the rows of a shard that has parts of the whole table. So the leaf pages of all shards are those of the whole table.
    fn of_whole_parts(
        plan: &GenPlan,
        schema: &Schema,
        table: usize,
        page_size: PageSize,
        shard: Shard,
    ) -> Result<Self> {
        let whole = Self::new(plan, schema, table, page_size)?;
        let Range { end, .. } = whole.row_range;
        let parts = shard.row_range(end.div_ceil(whole.rows_per_part));
        let start_of = |part: u64| part.saturating_mul(whole.rows_per_part).min(end);
        Ok(Self { row_range: start_of(parts.start)..start_of(parts.end), ..whole })
    }

    fn rows_of_part(&self, part: u64) -> Range<u64> {
        let Range { start, end } = self.row_range;
        let start = start.saturating_add(part.saturating_mul(self.rows_per_part)).min(end);
        start..start.saturating_add(self.rows_per_part).min(end)
    }
}

impl Source for GenSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        let rows = self.rows_of_part(self.next_part.fetch_add(1, Ordering::Relaxed));
        if rows.is_empty() {
            return Ok(None);
        }
        let generator = BlockGenerator::new(&self.table, &self.plan);
        Ok(Some(Box::new(GenPart { generator, rows, rows_per_block: self.rows_per_block })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.row_range.end - self.row_range.start)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.rowid_order
    }

    fn page_bytes(&self) -> f64 {
        self.page_bytes
    }

    /// Shows rows at 16 evenly spaced places, about 64 KiB of pages in all (about 3,500 rows of the preset `user`).
    /// Stops after a mebibyte of records, so that of very large rows only the first is generated.
    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        const PLACES: u64 = 16;
        let mut sampler = RowSampler::new(&self.table, &self.plan);
        let rows_per_place = whole(SAMPLE_BYTES as f64 / PLACES as f64 / self.page_bytes).clamp(1, self.rows_per_block);
        let Range { mut start, end } = self.row_range;
        let (step, mut bytes) = (((end - start) / PLACES).max(rows_per_place), 0);
        while start < end && bytes < 16 * SAMPLE_BYTES {
            sampler.show(start..end.min(start + rows_per_place), &mut |chunk| {
                bytes += chunk.arena().len() as u64;
                look(chunk);
            })?;
            start += step;
        }
        Ok(())
    }

    /// Returns `None` if a conflict may drop rows, or if a block of rows could exceed the memory limit of a block.
    fn numbered(&self) -> Option<&dyn RandomAccessRows> {
        let keeps_all = self.plan.on_conflict == Conflict::Abort && !self.table.has_conflict_clause;
        (keeps_all && self.plan.program.most_rows_per_block() >= BLOCK_ROWS as u64).then_some(self)
    }
}

#[derive(Debug)]
struct GenPart {
    generator: BlockGenerator,
    rows: Range<u64>,
    rows_per_block: u64,
}

impl Part for GenPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !chunk.is_full() && !self.rows.is_empty() {
            let end = self.rows.end.min(self.rows.start + self.rows_per_block);
            self.generator.append_range(self.rows.start..end, chunk)?;
            self.rows.start = end;
        }
        Ok(())
    }
}

/// Returns the order of rowids. Without an INTEGER PRIMARY KEY a rowid is the row's number; with one it is the key.
fn rowid_order(table: &Table, plan: &TablePlan) -> RowidOrder {
    let key = plan.columns.iter().find(|column| table.rowid_alias == Some(column.column));
    if key.is_none_or(|key| matches!(key.properties.cardinality, Cardinality::Ascending { .. })) {
        RowidOrder::Ascending
    } else {
        RowidOrder::Unordered
    }
}
