//! How long rows are: some are made and encoded beforehand.

use super::maker::Maker;
use crate::plan::TablePlan;
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::schema::Table;
use litepress_rows::{RecordChunk, Result};
use std::ops::Range;
use std::sync::Arc;

/// How many bytes a sample should have: of records where sizes are measured, at each place of the table; of what rows
/// take of pages where rows are shown, at all places together.
pub const SAMPLE_BYTES: u64 = 64 * 1024;

/// What the values of a block of rows may take of memory, in bytes, where a single row does not take more.
const BLOCK_BYTES: u64 = 4 << 20;

/// How many rows a block may have for its longest values to fit [`BLOCK_BYTES`]: 1 to [`BLOCK_ROWS`].
pub fn most_rows_per_block(plan: &TablePlan) -> u64 {
    (BLOCK_BYTES / plan.program.longest_bytes.saturating_add(1)).clamp(1, BLOCK_ROWS as u64)
}

/// Mean sizes of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanSizes {
    /// Of a record, over the whole table.
    pub record_bytes: f64,
    /// Of what a row takes of pages, at the end of the table.
    pub page_bytes: f64,
}

/// Makes rows at the end of a stretch of the table, twice as many each time until they are enough, then as many at
/// other places unless rows may be giants.
pub fn mean_sizes(table: &Table, plan: &Arc<TablePlan>, stretch: Range<u64>, page_size: PageSize) -> Result<MeanSizes> {
    let mut sampler = RowSampler::new(table, plan);
    let kind = if table.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
    let mut sizes_of = |rows| {
        let mut sizes = Sizes::default();
        sampler.show(rows, &mut |chunk| sizes.add(chunk, kind, page_size.bytes()))?;
        Ok(sizes)
    };
    let rows = stretch.end - stretch.start;
    let most = rows.min(BLOCK_ROWS as u64);
    let mut count = most.min(1);
    let end = loop {
        let sizes = sizes_of(stretch.end - count..stretch.end)?;
        if count == most || sizes.record_bytes >= SAMPLE_BYTES {
            break sizes;
        }
        count = (2 * count).min(most);
    };
    let page_bytes = mean(end.page_bytes, count);
    if most_rows_per_block(plan) == 1 {
        // The mean cannot make blocks any smaller, and such rows take long to make.
        return Ok(MeanSizes { record_bytes: mean(end.record_bytes as f64, count), page_bytes });
    }
    let mut record_bytes = end.record_bytes;
    for place in 0..4 {
        let start = stretch.start + (rows - count) / 4 * place;
        record_bytes += sizes_of(start..start + count)?.record_bytes;
    }
    Ok(MeanSizes { record_bytes: mean(record_bytes as f64, 5 * count), page_bytes })
}

/// The mean, 1 at least: also that of no rows.
fn mean(sum: f64, rows: u64) -> f64 {
    (sum / rows.max(1) as f64).max(1.0)
}

/// Sums over rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub record_bytes: u64,
    page_bytes: f64,
}

impl Sizes {
    pub fn add(&mut self, chunk: &RecordChunk, kind: PageKind, usable: usize) {
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            let record_len = chunk.record(row).len() as u64;
            self.record_bytes += record_len;
            self.page_bytes += payload::mean_page_bytes(kind, usable, record_len, rowid);
        }
    }
}

/// Makes rows to be looked at. It holds one block of them at a time.
#[derive(Debug)]
pub(super) struct RowSampler {
    maker: Maker,
    pub rows_per_block: u64,
    chunk: RecordChunk,
}

impl RowSampler {
    pub fn new(table: &Table, plan: &Arc<TablePlan>) -> Self {
        let maker = Maker::new(table, plan);
        Self { maker, rows_per_block: most_rows_per_block(plan), chunk: RecordChunk::new() }
    }

    /// Shows these rows, block after block.
    pub fn show(&mut self, rows: Range<u64>, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + self.rows_per_block);
            self.chunk.clear();
            self.maker.make_range(start..end, &mut self.chunk)?;
            look(&self.chunk);
            start = end;
        }
        Ok(())
    }
}

/// Rounded down.
pub fn whole(rows: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    let whole = rows as u64;
    whole
}
