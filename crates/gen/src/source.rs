//! The rows of a planned table, in parts, as records.
//!
//! A part is a fixed number of rows, so that part `n` is known without those before it. How many depends on the
//! plan alone: some rows are made and encoded beforehand, and the part should fill its pages a little less than full.
//! The rows for that are taken from the end, where row numbers, and with them rowids and sequences, are longest.

use crate::plan::{GenPlan, TablePlan};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::schema::{Schema, Table};
use litepress_rows::source::PART_BYTES;
use litepress_rows::{CellBlock, Encoder, Part, RecordChunk, Result, Source};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of a part's pages should be filled: estimates err, and a part that is too long costs more than one that
/// is a little short.
const FILL: f64 = 0.98;

/// The page size that estimates assume, in bytes.
const PAGE_BYTES: f64 = 4096.0;

/// What a leaf page holds beside cells, in bytes.
const PAGE_HEADER_BYTES: f64 = 8.0;

/// What a cell takes beside its payload in the page's list of cells, in bytes.
const CELL_POINTER_BYTES: f64 = 2.0;

/// Samples end once they hold this many bytes of records.
const SAMPLE_BYTES: usize = 64 * 1024;

/// The rows of one table of a plan.
#[derive(Debug)]
pub struct GenSource {
    table: Arc<Table>,
    plan: Arc<TablePlan>,
    rows_per_part: u64,
    rows_per_block: u64,
    page_bytes: f64,
    next_part: AtomicU64,
}

impl GenSource {
    /// The rows of the table at this position of [`Schema::tables`].
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] for the rows that the sizes are estimated by.
    ///
    /// # Panics
    /// Where the plan is not one of this schema, or the table is a virtual one.
    pub fn new(plan: &GenPlan, schema: &Schema, table: usize) -> Result<Self> {
        let plan = plan.table(table).expect("the table is in the plan").clone();
        let table = Arc::new(schema.tables[table].clone());
        let estimate = estimate(&table, &plan)?;
        Ok(Self {
            rows_per_part: whole(FILL * PART_BYTES as f64 / estimate.page_bytes).max(1),
            rows_per_block: whole(RecordChunk::TARGET_BYTES as f64 / estimate.record_bytes).clamp(1, BLOCK_ROWS as u64),
            page_bytes: estimate.page_bytes,
            table,
            plan,
            next_part: AtomicU64::new(0),
        })
    }

    /// Rows of every part but the last.
    pub fn rows_per_part(&self) -> u64 {
        self.rows_per_part
    }

    fn rows_of_part(&self, part: u64) -> Range<u64> {
        let start = part.saturating_mul(self.rows_per_part).min(self.plan.rows);
        start..start.saturating_add(self.rows_per_part).min(self.plan.rows)
    }
}

impl Source for GenSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        let rows = self.rows_of_part(self.next_part.fetch_add(1, Ordering::Relaxed));
        if rows.is_empty() {
            return Ok(None);
        }
        let maker = Maker::new(&self.table, &self.plan)?;
        Ok(Some(Box::new(GenPart { maker, rows, rows_per_block: self.rows_per_block })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.plan.rows)
    }

    fn page_bytes(&self) -> f64 {
        self.page_bytes
    }
}

#[derive(Debug)]
struct GenPart {
    maker: Maker,
    rows: Range<u64>,
    rows_per_block: u64,
}

impl Part for GenPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !chunk.is_full() && !self.rows.is_empty() {
            let end = self.rows.end.min(self.rows.start + self.rows_per_block);
            self.maker.make(self.rows.start..end, chunk)?;
            self.rows.start = end;
        }
        Ok(())
    }
}

/// Makes rows and encodes them, with buffers that are used again and again.
#[derive(Debug)]
struct Maker {
    plan: Arc<TablePlan>,
    blocks: Vec<CellBlock>,
    encoder: Encoder,
}

impl Maker {
    fn new(table: &Table, plan: &Arc<TablePlan>) -> Result<Self> {
        let blocks = plan.columns.iter().map(|_| CellBlock::default()).collect();
        Ok(Self { plan: plan.clone(), blocks, encoder: Encoder::new(table) })
    }

    /// Appends these rows, at most [`BLOCK_ROWS`].
    fn make(&mut self, rows: Range<u64>, chunk: &mut RecordChunk) -> Result<()> {
        for (column, block) in self.plan.columns.iter().zip(&mut self.blocks) {
            column.fill(rows.clone(), block);
        }
        let (first_record, count) = (rows.start + 1, usize::try_from(rows.end - rows.start).expect("a block of rows"));
        self.encoder.encode(&self.blocks, first_record.cast_signed(), count, first_record, chunk)
    }
}

/// Mean sizes of rows.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Of a record, over the whole table.
    record_bytes: f64,
    /// Of what a row takes of pages, at the end of the table.
    page_bytes: f64,
}

/// Makes rows at the table's end, twice as many each time until they are enough, then as many at other places.
fn estimate(table: &Table, plan: &Arc<TablePlan>) -> Result<Estimate> {
    let mut maker = Maker::new(table, plan)?;
    let mut chunk = RecordChunk::new();
    let most = plan.rows.min(BLOCK_ROWS as u64);
    let mut count = most.min(1);
    loop {
        chunk.clear();
        maker.make(plan.rows - count..plan.rows, &mut chunk)?;
        if count == most || chunk.arena().len() >= SAMPLE_BYTES {
            break;
        }
        count = (2 * count).min(most);
    }
    let page_bytes = mean((0..chunk.len()).map(|row| page_bytes(table, &chunk, row)));
    for place in 0..4 {
        let start = (plan.rows - count) / 4 * place;
        maker.make(start..start + count, &mut chunk)?;
    }
    let record_bytes = mean((0..chunk.len()).map(|row| chunk.record(row).len() as f64));
    Ok(Estimate { record_bytes, page_bytes })
}

/// The mean, 1 at least: also that of no rows.
fn mean(sizes: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = sizes.len().max(1) as f64;
    (sizes.sum::<f64>() / count).max(1.0)
}

/// What a row takes of pages, its share of their headers and of the room at their ends included.
fn page_bytes(table: &Table, chunk: &RecordChunk, row: usize) -> f64 {
    let record = chunk.record(row).len() as u64;
    let rowid = if table.without_rowid { 0 } else { varint_len(chunk.rowids()[row].cast_unsigned()) };
    let cell = (record + varint_len(record) + rowid) as f64 + CELL_POINTER_BYTES;
    let room = PAGE_BYTES - PAGE_HEADER_BYTES;
    if cell > room / 2.0 {
        // One or less to a page, and overflow pages: whole pages.
        return (cell / room).ceil() * PAGE_BYTES;
    }
    PAGE_BYTES * cell / (room - cell / 2.0)
}

/// Length of a varint in bytes (fileformat2.html, section 1.6).
fn varint_len(value: u64) -> u64 {
    match value {
        0..0x80 => 1,
        _ if value >> 56 != 0 => 9,
        _ => u64::from(64 - value.leading_zeros()).div_ceil(7),
    }
}

fn whole(rows: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    let whole = rows as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Request;

    fn source(sql: &str, rows: u64) -> GenSource {
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let request = Request { rows: vec![(None, rows)], seed: Some(42), ..Request::default() };
        let plan = GenPlan::new(&schema, &request).expect(sql);
        GenSource::new(&plan, &schema, 0).expect(sql)
    }

    fn user(rows: u64) -> GenSource {
        source(crate::presets::preset("user").expect("it is built in").sql, rows)
    }

    /// Rowids and records of a part.
    fn rows_of(part: &mut dyn Part) -> Vec<(i64, Vec<u8>)> {
        let mut rows = Vec::new();
        let mut chunk = RecordChunk::new();
        loop {
            chunk.clear();
            part.fill(&mut chunk).expect("rows are good");
            if chunk.is_empty() {
                return rows;
            }
            rows.extend((0..chunk.len()).map(|row| (chunk.rowids()[row], chunk.record(row).to_vec())));
        }
    }

    fn all_rows(source: &GenSource) -> Vec<(i64, Vec<u8>)> {
        let mut rows = Vec::new();
        while let Some(mut part) = source.next_part().expect("there are no errors") {
            rows.extend(rows_of(&mut *part));
        }
        rows
    }

    #[test]
    fn rows_do_not_depend_on_parts_or_on_how_many_there_are() {
        let whole = all_rows(&user(5000));
        assert_eq!(whole.len(), 5000);
        assert!(whole.iter().map(|(rowid, _)| *rowid).eq(1..=5000));
        for rows_per_part in [1, 7, 1023, 1025] {
            let source = GenSource { rows_per_part, rows_per_block: 100, ..user(2500) };
            assert!(all_rows(&source) == whole[..2500]);
        }
        assert!(all_rows(&user(0)).is_empty());
    }

    #[test]
    fn records_are_those_of_sqlite() {
        let (rowid, record) = &all_rows(&user(1))[0];
        assert_eq!(*rowid, 1);
        // Header: its length, NULL for the rowid, 25 for six bytes of text, 1 for a byte, 8 or 9 for 0 or 1.
        assert_eq!(record[..4], [5, 0, 25, 1]);
        assert!(matches!(record[4], 8 | 9) && record.len() == 12);
    }

    #[test]
    fn parts_fill_their_pages_not_quite() {
        for (sql, rows, bytes) in [
            (crate::presets::preset("user").expect("it is built in").sql, 1_000_000_000, 20),
            ("create table t (a text /* gen: text(0, 100) */)", 1_000_000, 60),
            ("create table t (a blob /* gen: blob(100, 1000) */)", 1_000_000, 602),
        ] {
            let source = source(sql, rows);
            assert!(
                (source.page_bytes() - f64::from(bytes)).abs() < f64::from(bytes) / 20.0,
                "{}",
                source.page_bytes()
            );
            let mut part = source.next_part().expect("no error").expect("a part");
            let (mut pages, mut left) = (0, 0);
            for (rowid, record) in rows_of(&mut *part) {
                let rowid = rowid as u64 + rows - source.rows_per_part();
                let len = record.len() as u64;
                let cell = len + varint_len(len) + varint_len(rowid) + 2;
                if cell > left {
                    (pages, left) = (pages + 1, 4088);
                }
                left -= cell;
            }
            let share = f64::from(pages) * PAGE_BYTES / PART_BYTES as f64;
            assert!((0.95..1.0).contains(&share), "{share} of a part is filled: {sql}");
        }
    }

    #[test]
    fn large_rows_come_one_at_a_time() {
        let source = source("create table t (a blob /* gen: blob(5m, 5m) */)", 3);
        assert_eq!((source.rows_per_part(), source.rows_per_block), (1, 1));
        assert_eq!(all_rows(&source).len(), 3);
    }

    #[test]
    fn varints() {
        for (value, len) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), ((1 << 56) - 1, 8), (1 << 56, 9), (u64::MAX, 9)]
        {
            assert_eq!(varint_len(value), len, "{value}");
        }
    }

    #[test]
    fn tables_of_every_kind() {
        for sql in [
            "create table t (a text primary key, b int) without rowid",
            "create table t (a int, b text, c real, d blob, e any) strict",
            "create table t (a, b int as (a) virtual, c text)",
        ] {
            assert_eq!(all_rows(&source(sql, 3000)).len(), 3000, "{sql}");
        }
    }
}
