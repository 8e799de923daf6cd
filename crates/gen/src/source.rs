//! The rows of a planned table, in parts, as records.
//!
//! A part is a fixed number of rows, so that part `n` is known without those before it. How many depends on the
//! plan and the page size alone: some rows are made and encoded beforehand, and the part should fill its pages a little less than full.
//! The rows for that are taken from the end, where row numbers, and with them rowids and sequences, are longest.

use crate::generators::Distinct;
use crate::plan::{GenPlan, TablePlan};
use crate::program::Scratch;
use crate::random::Rows;
use crate::tpch::TpchSource;
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::encode::RowNumbers;
use litepress_rows::schema::{Schema, Table};
use litepress_rows::source::PART_BYTES;
use litepress_rows::{
    Conflict, Encoder, KeyMaker, Keys, NumberedRows, Part, RecordChunk, Result, RowMaker, RowidOrder, Source,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of a part's pages should be filled: estimates err, and a part that is too long costs more than one that
/// is a little short.
const FILL: f64 = 0.98;

/// How many bytes a sample should have: of records where sizes are measured, at each place of the table; of what rows take
/// of pages where rows are shown, at all places together.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// What the values of a block of rows may take of memory, in bytes, where a single row does not take more.
const BLOCK_BYTES: u64 = 4 << 20;

/// One of several databases that hold the rows of a plan between them: of every table a stretch of consecutive rows,
/// all stretches as long as one another, give or take a row.
///
/// A shard's rows are those of the whole, rowids, keys and references included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// The only one.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Shard `number` of `of`, counted from 1; `None` where there is no such shard.
    pub fn new(number: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// How many shards there are.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Its rows, counted from 0, of so many.
    pub fn stretch(self, rows: u64) -> Range<u64> {
        let cut = |number: u64| {
            let before = u128::from(rows) * u128::from(number) / u128::from(self.of);
            u64::try_from(before).expect("no more than there are")
        };
        cut(self.number - 1)..cut(self.number)
    }
}

/// The rows of one table of a plan.
#[derive(Debug)]
pub struct GenSource {
    table: Arc<Table>,
    plan: Arc<TablePlan>,
    /// Those of the plan's rows that are made, counted from 0.
    stretch: Range<u64>,
    /// Rows of every part but the last.
    rows_per_part: u64,
    rows_per_block: u64,
    page_bytes: f64,
    rowid_order: RowidOrder,
    next_part: AtomicU64,
}

impl GenSource {
    /// The rows of the table at this position of [`Schema::tables`], in parts for a database of this page size.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] for the rows that the sizes are estimated by.
    ///
    /// # Panics
    /// Where the plan is not one of this schema, or the table is a virtual one.
    pub fn new(plan: &GenPlan, schema: &Schema, table: usize, page_size: PageSize) -> Result<Self> {
        Self::of_shard(plan, schema, table, page_size, Shard::WHOLE)
    }

    /// Those rows of the table that belong to a shard, as they are in the whole table, whatever makes them.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] for the rows that the sizes are estimated by.
    ///
    /// # Panics
    /// Where the plan is not one of this schema, or the table is a virtual one.
    pub fn for_shard(
        plan: &GenPlan,
        schema: &Schema,
        table: usize,
        page_size: PageSize,
        shard: Shard,
    ) -> Result<Box<dyn Source>> {
        let planned = plan.table(table).expect("the table is in the plan");
        Ok(match planned.tpch {
            None => Box::new(Self::of_shard(plan, schema, table, page_size, shard)?),
            Some((of, scale)) => {
                let table = &schema.tables[table];
                Box::new(TpchSource::new(table, of, scale, planned.on_conflict, page_size, shard)?)
            }
        })
    }

    /// Those rows of an invented table that belong to a shard, as they are in the whole table.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] for the rows that the sizes are estimated by.
    ///
    /// # Panics
    /// Where the plan is not one of this schema, or the table is a virtual one.
    pub fn of_shard(plan: &GenPlan, schema: &Schema, table: usize, page_size: PageSize, shard: Shard) -> Result<Self> {
        let plan = plan.table(table).expect("the table is in the plan").clone();
        let table = Arc::new(schema.tables[table].clone());
        let stretch = shard.stretch(plan.rows);
        let sizes = mean_sizes(&table, &plan, stretch.clone(), page_size)?;
        let rows_of_mean_length = whole(RecordChunk::TARGET_BYTES as f64 / sizes.record_bytes).max(1);
        Ok(Self {
            rows_per_part: whole(FILL * PART_BYTES as f64 / sizes.page_bytes).max(1),
            rows_per_block: rows_of_mean_length.min(most_rows_per_block(&plan)),
            page_bytes: sizes.page_bytes,
            rowid_order: rowid_order(&table, &plan),
            stretch,
            table,
            plan,
            next_part: AtomicU64::new(0),
        })
    }

    fn rows_of_part(&self, part: u64) -> Range<u64> {
        let Range { start, end } = self.stretch;
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
        let maker = Maker::new(&self.table, &self.plan);
        Ok(Some(Box::new(GenPart { maker, rows, rows_per_block: self.rows_per_block })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.stretch.end - self.stretch.start)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.rowid_order
    }

    fn page_bytes(&self) -> f64 {
        self.page_bytes
    }

    /// As many rows at each of some places as take about 64 KiB of pages in all, about 3,500 of the preset `user`; no
    /// more places once the records shown have a mebibyte, of giants the first alone.
    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        const PLACES: u64 = 16;
        let mut sampler = RowSampler::new(&self.table, &self.plan);
        let rows_per_place = whole(SAMPLE_BYTES as f64 / PLACES as f64 / self.page_bytes).clamp(1, self.rows_per_block);
        let Range { mut start, end } = self.stretch;
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

    /// Where no row is left out for what another column has, and a block of rows is never too large.
    fn numbered(&self) -> Option<&dyn NumberedRows> {
        let keeps_all = self.plan.on_conflict == Conflict::Abort && !self.table.has_conflict_clause;
        (keeps_all && most_rows_per_block(&self.plan) >= BLOCK_ROWS as u64).then_some(self)
    }
}

impl NumberedRows for GenSource {
    fn numbers(&self) -> Range<u64> {
        self.stretch.start + 1..self.stretch.end + 1
    }

    fn key_maker(&self, columns: &[usize]) -> Box<dyn KeyMaker + '_> {
        Box::new(GenKeys { maker: Maker::narrow(&self.table, &self.plan, columns), chunk: RecordChunk::new() })
    }

    fn are_integers(&self, columns: &[usize]) -> bool {
        let keeps_integers = Encoder::new(&self.table.narrow(columns), Conflict::Abort).keeps_integers();
        keeps_integers && places(&self.table, columns).iter().all(|&place| self.plan.program.gives_integers(place))
    }

    fn row_maker(&self, given: &[usize]) -> Box<dyn RowMaker + '_> {
        let given = places(&self.table, given);
        let maker = Maker::with_given(&self.table, &self.plan, &given);
        Box::new(NumberedMaker { table: &self.table, maker, given, rows: Vec::new() })
    }
}

/// Where columns are among the ordinary ones.
fn places(table: &Table, columns: &[usize]) -> Vec<usize> {
    let place = |column| table.ordinary_columns().position(|ordinary| ordinary == column);
    columns.iter().map(|&column| place(column).expect("it is not computed")).collect()
}

/// Makes some columns.
struct GenKeys {
    maker: Maker,
    chunk: RecordChunk,
}

impl KeyMaker for GenKeys {
    fn make(&mut self, numbers: Range<u64>) -> Result<Keys<'_>> {
        let Self { maker: Maker { plan, scratch, encoder }, chunk } = self;
        let rows = Rows::Range(numbers.start - 1..numbers.end - 1);
        plan.program.run(&rows, scratch);
        if let Some(integers) = encoder.integers(scratch.columns(), rows.len()) {
            return Ok(Keys::Integers(integers));
        }
        chunk.clear();
        encoder.encode(scratch.columns(), rows.len(), RowNumbers::from_record(numbers.start), chunk)?;
        Ok(Keys::Records(chunk))
    }
}

/// Makes rows by their numbers.
struct NumberedMaker<'a> {
    table: &'a Table,
    maker: Maker,
    /// Columns that are not made, by their places among the ordinary ones.
    given: Vec<usize>,
    rows: Vec<u64>,
}

impl RowMaker for NumberedMaker<'_> {
    fn make(&mut self, numbers: &[u64], given: &[Vec<i64>], chunk: &mut RecordChunk) -> Result<()> {
        self.rows.clear();
        self.rows.extend(numbers.iter().map(|number| number - 1));
        for (&place, integers) in self.given.iter().zip(given) {
            self.maker.scratch.column_mut(place).ints().extend_from_slice(integers);
        }
        let Err(error) = self.maker.make(&Rows::List(&self.rows), 1, chunk) else { return Ok(()) };
        // By itself the row that is wrong has its number.
        let (table, plan) = (&self.table, &self.maker.plan);
        let (mut whole, mut alone) = (Maker::new(table, plan), RecordChunk::new());
        for &row in &self.rows {
            whole.make_range(row..row + 1, &mut alone)?;
            alone.clear();
        }
        Err(error)
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
            self.maker.make_range(self.rows.start..end, chunk)?;
            self.rows.start = end;
        }
        Ok(())
    }
}

/// Makes rows and encodes them, with buffers that are used again and again.
#[derive(Debug)]
struct Maker {
    plan: Arc<TablePlan>,
    scratch: Scratch,
    encoder: Encoder,
}

impl Maker {
    fn new(table: &Table, plan: &Arc<TablePlan>) -> Self {
        Self::with_given(table, plan, &[])
    }

    /// The columns at these places among the ordinary ones are given.
    fn with_given(table: &Table, plan: &Arc<TablePlan>, given: &[usize]) -> Self {
        let scratch = Scratch::with_given(&plan.program, given);
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(table, plan.on_conflict) }
    }

    /// For records of these columns alone.
    fn narrow(table: &Table, plan: &Arc<TablePlan>, columns: &[usize]) -> Self {
        let scratch = Scratch::for_columns(&plan.program, &places(table, columns));
        Self { plan: plan.clone(), scratch, encoder: Encoder::new(&table.narrow(columns), plan.on_conflict) }
    }

    /// Appends these rows, at most [`BLOCK_ROWS`].
    fn make_range(&mut self, rows: Range<u64>, chunk: &mut RecordChunk) -> Result<()> {
        let first_record = rows.start + 1;
        self.make(&rows.into(), first_record, chunk)
    }

    /// Appends these rows, at most [`BLOCK_ROWS`], whose numbers begin with `first_record` where they follow each other.
    fn make(&mut self, rows: &Rows<'_>, first_record: u64, chunk: &mut RecordChunk) -> Result<()> {
        self.plan.program.run(rows, &mut self.scratch);
        self.encoder.encode(self.scratch.columns(), rows.len(), RowNumbers::from_record(first_record), chunk)
    }
}

/// The order of rowids: those of an INTEGER PRIMARY KEY need not ascend, others are the rows' numbers.
fn rowid_order(table: &Table, plan: &TablePlan) -> RowidOrder {
    let key = plan.columns.iter().find(|column| table.rowid_alias == Some(column.column));
    if key.is_none_or(|key| matches!(key.facts.distinct, Distinct::Ascending { .. })) {
        RowidOrder::Ascending
    } else {
        RowidOrder::Unordered
    }
}

/// How many rows a block may have for its longest values to fit [`BLOCK_BYTES`]: 1 to [`BLOCK_ROWS`].
fn most_rows_per_block(plan: &TablePlan) -> u64 {
    (BLOCK_BYTES / plan.program.longest_bytes.saturating_add(1)).clamp(1, BLOCK_ROWS as u64)
}

/// Mean sizes of rows.
#[derive(Clone, Copy, Debug)]
struct MeanSizes {
    /// Of a record, over the whole table.
    record_bytes: f64,
    /// Of what a row takes of pages, at the end of the table.
    page_bytes: f64,
}

/// Makes rows at the end of a stretch of the table, twice as many each time until they are enough, then as many at other
/// places unless rows may be giants.
fn mean_sizes(table: &Table, plan: &Arc<TablePlan>, stretch: Range<u64>, page_size: PageSize) -> Result<MeanSizes> {
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
struct Sizes {
    record_bytes: u64,
    page_bytes: f64,
}

impl Sizes {
    fn add(&mut self, chunk: &RecordChunk, kind: PageKind, usable: usize) {
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            let record_len = chunk.record(row).len() as u64;
            self.record_bytes += record_len;
            self.page_bytes += payload::mean_page_bytes(kind, usable, record_len, rowid);
        }
    }
}

/// Makes rows to be looked at. It holds one block of them at a time.
#[derive(Debug)]
struct RowSampler {
    maker: Maker,
    rows_per_block: u64,
    chunk: RecordChunk,
}

impl RowSampler {
    fn new(table: &Table, plan: &Arc<TablePlan>) -> Self {
        let maker = Maker::new(table, plan);
        Self { maker, rows_per_block: most_rows_per_block(plan), chunk: RecordChunk::new() }
    }

    /// Shows these rows, block after block.
    fn show(&mut self, rows: Range<u64>, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
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
    use litepress_format::page::CELL_POINTER_LEN;
    use litepress_format::value::Value;
    use litepress_format::varint;

    fn source(sql: &str, rows: u64) -> GenSource {
        paged_source(sql, rows, PageSize::DEFAULT)
    }

    fn paged_source(sql: &str, rows: u64, page_size: PageSize) -> GenSource {
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let request = Request { rows: vec![(None, rows)], seed: Some(42), ..Request::default() };
        let plan = GenPlan::new(&schema, &request).expect(sql);
        GenSource::new(&plan, &schema, 0, page_size).expect(sql)
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
    fn shards_refer_to_the_rows_of_the_whole() {
        let sql = "/* gen: rows=500 */ CREATE TABLE p (id INTEGER PRIMARY KEY /* gen: shuffle */, price REAL /* gen: real(1, 9, 2) */);
            CREATE TABLE c (p REFERENCES p /* gen: ref(p.id, per_parent(0, 7)) */, n INT /* gen: number_in(p) */,
                hot INT /* gen: null(0.1, ref(p.id, zipf(1.1))) */, sum REAL /* gen: round(n * hot.price, 2) */,
                code TEXT UNIQUE, before REFERENCES c(code), note JSON /* gen: object(a: word, n: int(1, 9)) */);";
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let plan = GenPlan::new(&schema, &Request { scale: Some(1.5), ..Request::default() }).expect(sql);
        for table in 0..2 {
            let whole = all_rows(&GenSource::new(&plan, &schema, table, PageSize::DEFAULT).expect(sql));
            assert_eq!(whole.len() as u64, plan.tables()[table].rows);
            let mut together = Vec::new();
            for number in 1..=4 {
                let shard = Shard::new(number, 4).expect("a shard");
                let source = GenSource::of_shard(&plan, &schema, table, PageSize::DEFAULT, shard).expect(sql);
                together.extend(all_rows(&source));
            }
            assert!(together == whole, "table {table}");
        }
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
        let user = crate::presets::preset("user").expect("it is built in").sql;
        for (sql, rows, page_size, bytes) in [
            (user, 1_000_000_000, 4096, 20),
            (user, 1_000_000_000, 512, 20),
            ("create table t (a text /* gen: text(0, 100) */)", 1_000_000, 4096, 60),
            ("create table t (a text /* gen: text(0, 100) */)", 1_000_000, 65_536, 57),
            ("create table t (a blob /* gen: blob(100, 1000) */)", 1_000_000, 4096, 602),
        ] {
            let source = paged_source(sql, rows, PageSize::new(page_size).expect("a page size"));
            let near = (source.page_bytes() - f64::from(bytes)).abs() < f64::from(bytes) / 20.0;
            assert!(near, "{} bytes of a page a row: {sql}", source.page_bytes());
            let mut part = source.next_part().expect("no error").expect("a part");
            let (mut pages, mut left) = (0, 0);
            for (rowid, record) in rows_of(&mut *part) {
                let rowid = rowid as u64 + rows - source.rows_per_part;
                let cell = record.len() + varint::len(record.len() as u64) + varint::len(rowid) + CELL_POINTER_LEN;
                if cell > left {
                    (pages, left) = (pages + 1, page_size as usize - PageKind::LeafTable.header_len());
                }
                left -= cell;
            }
            let share = f64::from(pages) * f64::from(page_size) / PART_BYTES as f64;
            assert!((0.95..1.0).contains(&share), "{share} of a part is filled: {sql}");
        }
    }

    #[test]
    fn large_rows_come_one_at_a_time() {
        let source = source("create table t (a blob /* gen: blob(5m, 5m) */)", 3);
        assert_eq!((source.rows_per_part, source.rows_per_block), (1, 1));
        assert_eq!(all_rows(&source).len(), 3);
    }

    /// Samples of `blob(900m, 900m)` were added to one chunk, five times 900 MB, and passed its 4 GiB.
    #[test]
    fn samples_hold_one_block_at_a_time() {
        let sql = "create table t (a blob /* gen: blob(2m, 2m) */)";
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let request = Request { rows: vec![(None, 100)], ..Request::default() };
        let plan = GenPlan::new(&schema, &request).expect(sql);
        let (table, plan) = (&schema.tables[0], plan.table(0).expect("the only one"));
        let mut sampler = RowSampler::new(table, plan);
        assert_eq!(sampler.rows_per_block, 2);
        for rows in [0..7, 0..1, 90..100] {
            let count = rows.end - rows.start;
            let mut sizes = Sizes::default();
            let mut look = |chunk: &RecordChunk| {
                assert!(chunk.arena().len() < 4_001_000);
                sizes.add(chunk, PageKind::LeafTable, 4096);
            };
            sampler.show(rows, &mut look).expect(sql);
            assert!((2_000_000 * count..2_000_100 * count).contains(&sizes.record_bytes));
        }
    }

    /// A sample was said to be some hundreds of rows, and is ten times that of short ones.
    #[test]
    fn samples_are_as_large_as_their_documentation_says() {
        let shown = |source: &GenSource| {
            let mut rowids = Vec::new();
            source.sample(&mut |chunk| rowids.extend(chunk.rowids().iter().copied())).expect("rows are good");
            assert!(rowids.is_sorted_by(|a, b| a < b), "no row is shown twice");
            rowids
        };
        let rowids = shown(&user(1_000_000));
        assert!((3000..4000).contains(&rowids.len()), "{} rows of user", rowids.len());
        assert!(rowids[0] == 1 && *rowids.last().expect("rows") > 900_000, "they are from all over the table");
        assert_eq!(shown(&user(100)).len(), 100);
        assert!(shown(&user(0)).is_empty());
        assert_eq!(shown(&source("create table t (a blob /* gen: blob(2m, 2m) */)", 100)), [1]);
    }

    /// `null(0.99, hex(900m))` has short rows in the mean, so that blocks of it had many rows, and each row's 900 MB
    /// were made, NULL or not.
    #[test]
    fn blocks_are_small_whatever_the_mean() {
        let sql = "create table t (a text /* gen: null(0.9999, hex(8m)) */, b int)";
        let source = source(sql, 300_000);
        assert_eq!(source.rows_per_block, 1);
        for (sql, rows) in [
            ("create table t (a text /* gen: null(0.9999, hex(500k)) */)", 8),
            ("create table t (a text /* gen: null(0.9999, text(0, 300k)) */, b blob /* gen: blob(0, 300k) */)", 6),
            ("create table t (a int)", 1024),
        ] {
            assert!(self::source(sql, 10_000).rows_per_block <= rows, "{sql}");
        }
    }

    /// Estimates were those of pages of 4096 bytes, and a file of pages of 512 became almost twice as large.
    #[test]
    fn estimates_know_the_page_size() {
        let sql = "create table t (a blob /* gen: blob(280, 280) */)";
        for (bytes, expected) in [(512, 512.0), (1024, 341.0), (4096, 304.0), (65_536, 288.0)] {
            let page_size = PageSize::new(bytes).expect("a page size");
            let source = paged_source(sql, 100_000, page_size);
            assert!((source.page_bytes() - expected).abs() < 0.02 * expected, "{bytes}: {}", source.page_bytes());
        }
        let long = "create table t (a blob /* gen: blob(600, 600) */)";
        let source = paged_source(long, 100_000, PageSize::MIN);
        assert!((600.0..660.0).contains(&source.page_bytes()), "a fifth of a page, and one: {}", source.page_bytes());
        let keyed = "create table t (a blob primary key /* gen: blob(110, 110) */) without rowid";
        let source = paged_source(keyed, 100_000, PageSize::MIN);
        assert!(source.page_bytes() > 512.0, "a key beyond a quarter of a page overflows: {}", source.page_bytes());
    }

    /// An INTEGER PRIMARY KEY had to be an ascending sequence.
    #[test]
    fn rowids_may_come_in_any_order() {
        for (generator, ascend) in
            [("sequence", true), ("sequence(5, 7)", true), ("sequence(9000, -3)", false), ("shuffle", false)]
        {
            let sql = format!("create table t (a text, id integer primary key /* gen: {generator} */)");
            let source = source(&sql, 3000);
            assert_eq!(source.rowid_order() == RowidOrder::Ascending, ascend, "{generator}");
            let rowids: Vec<i64> = all_rows(&source).into_iter().map(|(rowid, _)| rowid).collect();
            assert_eq!(rowids.is_sorted(), ascend, "{generator}");
            let distinct: std::collections::HashSet<i64> = rowids.into_iter().collect();
            assert_eq!(distinct.len(), 3000);
        }
        for sql in ["create table t (a int /* gen: shuffle */)", "create table t (a int primary key) without rowid"] {
            assert_eq!(source(sql, 10).rowid_order(), RowidOrder::Ascending, "{sql}");
        }
    }

    /// Keys, and rows in any order, with and without the integers of their keys, are those of the source.
    #[test]
    fn rows_by_their_numbers() {
        for (key, are_integers) in [
            ("b int not null /* gen: shuffle */, a int not null /* gen: int(0, 9) */", true),
            ("b int not null /* gen: shuffle */, a int not null /* gen: choice(1, 2, 300) */", true),
            ("b int not null /* gen: shuffle */, a text not null /* gen: int(0, 9) */", false),
            ("b int not null /* gen: shuffle */, a real not null /* gen: int(0, 9) */", false),
            ("b int not null /* gen: shuffle */, a int not null /* gen: hex(9) */", false),
            ("b /* gen: shuffle */, a /* gen: null(0.5, int(1, 9)) */", false),
            ("b int not null /* gen: shuffle */, a int not null /* gen: b * 2 + c */", false),
        ] {
            let last = if are_integers { "primary key (a, b)) without rowid" } else { "unique (a, b))" };
            let sql =
                format!("create table t (c int /* gen: int(1, 5) */, {key}, d text /* gen: a || '-' || b */, {last}");
            let schema = Schema::from_sql(&sql, "test.sql").expect(&sql);
            let request = Request { rows: vec![(None, 3000)], seed: Some(42), ..Request::default() };
            let plan = GenPlan::new(&schema, &request).expect(&sql);
            let shard = Shard::new(2, 2).expect("a shard");
            let source = GenSource::of_shard(&plan, &schema, 0, PageSize::DEFAULT, shard).expect(&sql);
            let records: Vec<Vec<u8>> = all_rows(&source).into_iter().map(|(_, record)| record).collect();
            let rows = source.numbered().expect("rows can be made again");
            assert_eq!((rows.numbers(), rows.are_integers(&[2, 1])), (1501..3001, are_integers), "{sql}");
            let stored = schema.tables[0].stored_columns();
            let place = |column| stored.iter().position(|stored| *stored == column).expect("a column");
            let (mut keys, mut key_of_records) = (rows.key_maker(&[2, 1]), Vec::new());
            for (record, number) in records.iter().zip(1501..) {
                let values = litepress_format::record::decode(record).expect("a record");
                let key = [values[place(2)], values[place(1)]];
                match keys.make(number..number + 1).expect(&sql) {
                    Keys::Integers(ints) => assert_eq!([Value::Int(ints[0][0]), Value::Int(ints[1][0])], key, "{sql}"),
                    Keys::Records(chunk) => {
                        assert_eq!(litepress_format::record::decode(chunk.record(0)), Ok(key.to_vec()), "{sql}");
                    }
                }
                key_of_records.push(key);
            }
            let numbers: Vec<u64> = (0..1000).map(|at| 1501 + at * 77 % 1500).collect();
            let row = |number: u64| usize::try_from(number - 1501).expect("a row");
            let integers = |at: usize| {
                let integer = |number: &u64| match key_of_records[row(*number)][at] {
                    Value::Int(int) => int,
                    _ => 0,
                };
                numbers.iter().map(integer).collect::<Vec<i64>>()
            };
            let givens = [(vec![], vec![]), (vec![2, 1], vec![integers(0), integers(1)])];
            for (columns, given) in &givens[..if are_integers { 2 } else { 1 }] {
                let mut chunk = RecordChunk::new();
                rows.row_maker(columns).make(&numbers, given, &mut chunk).expect(&sql);
                let made = (0..chunk.len()).map(|at| chunk.record(at));
                assert!(made.eq(numbers.iter().map(|&number| &*records[row(number)])), "{sql}");
            }
        }
    }

    #[test]
    fn tables_of_every_kind() {
        for sql in [
            "create table t (a text primary key, b int) without rowid",
            "create table t (a int, b text, c real, d blob, e any) strict",
            "create table t (a, b int as (a) virtual, c text)",
            "create table t (a int, b int as (a + 1) stored unique, c text check (length(c) > 0), check (a < b))",
        ] {
            assert_eq!(all_rows(&source(sql, 3000)).len(), 3000, "{sql}");
        }
    }
}
