//! Row sizes, measured by generating and encoding a sample.

use super::block_generator::BlockGenerator;
use crate::plan::TablePlan;
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::schema::Table;
use litepress_rows::{RecordChunk, Result};
use std::ops::Range;
use std::sync::Arc;

/// Sample size in bytes: of records at each sampled place if sizes are measured, of pages over all places if rows are
/// shown.
pub const SAMPLE_BYTES: u64 = 64 * 1024;

/// Mean sizes of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanSizes {
    /// Bytes of a record, averaged over the whole table.
    pub record_bytes: f64,
    /// Bytes of page space of a row at the end of the table.
    pub page_bytes: f64,
}

/// Measures rows at the end of a range, doubling their number until the sample suffices, and then the same number at
/// four other places unless single rows may be very large.
pub fn mean_sizes(
    table: &Table,
    plan: &Arc<TablePlan>,
    row_range: Range<u64>,
    page_size: PageSize,
) -> Result<MeanSizes> {
    let mut sampler = RowSampler::new(table, plan);
    let kind = if table.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
    let mut sizes_of = |rows| {
        let mut sizes = Sizes::default();
        sampler.show(rows, &mut |chunk| sizes.add(chunk, kind, page_size.bytes()))?;
        Ok(sizes)
    };
    let rows = row_range.end - row_range.start;
    let most = rows.min(BLOCK_ROWS as u64);
    let mut count = most.min(1);
    let end = loop {
        let sizes = sizes_of(row_range.end - count..row_range.end)?;
        if count == most || sizes.record_bytes >= SAMPLE_BYTES {
            break sizes;
        }
        count = (2 * count).min(most);
    };
    let page_bytes = mean(end.page_bytes, count);
    if plan.program.most_rows_per_block() == 1 {
        // One row is the smallest block, so that the mean would change nothing, and such rows are slow to generate.
        return Ok(MeanSizes { record_bytes: mean(end.record_bytes as f64, count), page_bytes });
    }
    let mut record_bytes = end.record_bytes;
    for place in 0..4 {
        let start = row_range.start + (rows - count) / 4 * place;
        record_bytes += sizes_of(start..start + count)?.record_bytes;
    }
    Ok(MeanSizes { record_bytes: mean(record_bytes as f64, 5 * count), page_bytes })
}

/// Returns the mean, at least 1, also of no rows.
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

/// Generates rows for inspection, one block in memory at a time.
#[derive(Debug)]
pub(super) struct RowSampler {
    generator: BlockGenerator,
    pub rows_per_block: u64,
    chunk: RecordChunk,
}

impl RowSampler {
    pub fn new(table: &Table, plan: &Arc<TablePlan>) -> Self {
        let generator = BlockGenerator::new(table, plan);
        Self { generator, rows_per_block: plan.program.most_rows_per_block(), chunk: RecordChunk::new() }
    }

    /// Generates these rows and shows them block by block.
    pub fn show(&mut self, rows: Range<u64>, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + self.rows_per_block);
            self.chunk.clear();
            self.generator.append_range(start..end, &mut self.chunk)?;
            look(&self.chunk);
            start = end;
        }
        Ok(())
    }
}

/// Rounds down.
pub fn whole(rows: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    let whole = rows as u64;
    whole
}
