//! Rows of the TPC-H benchmark, as the crate `tpchgen` makes them: values equal to the benchmark's own.
//!
//! ```text
//! -- gen: tpch=lineitem --> TpchTable --> TpchSource: parts of the crate's generators, side by side
//!                                             '--> rows.rs: some rows, then column by column into blocks --> Encoder
//! ```
//!
//! The benchmark's rows come from random number streams of their own that can be advanced, so that a part is made
//! without those before it. How many rows a table has follows from the scale; of `lineitem` it takes a look at the number
//! of lines of every order, which is a few nanoseconds each.

mod rows;
#[cfg(test)]
mod tests;

use crate::source::Shard;
use crate::suggest::did_you_mean;
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload;
use litepress_rows::encode::RowNumbers;
use litepress_rows::schema::Table;
use litepress_rows::source::PART_BYTES;
use litepress_rows::{CellBlock, Conflict, Encoder, Part, RecordChunk, Result, RowidOrder, Source};
use rows::Rows;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tpchgen::generators::{
    CustomerGenerator, OrderGenerator, PartGenerator, PartSuppGeneratorIterator, SupplierGenerator,
};

/// The least scale: below it there are fewer than ten suppliers.
const LEAST_SCALE: f64 = 0.001;
/// The largest scale that the benchmark knows.
const LARGEST_SCALE: f64 = 100_000.0;
/// Rows that are made, and then taken apart into columns: few enough to stay in the cache.
const ROWS_AT_ONCE: usize = 256;
/// Rows of partsupp that a part has.
const SUPPLIERS: u64 = 4;
/// How much of a part's pages should be filled.
const FILL: f64 = 0.98;

/// A table of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpchTable {
    /// 5 rows.
    Region,
    /// 25 rows.
    Nation,
    /// 200,000 rows at scale 1.
    Part,
    /// 10,000 rows at scale 1.
    Supplier,
    /// 4 rows a part; at scales of less than 0.023 sometimes fewer.
    PartSupp,
    /// 150,000 rows at scale 1.
    Customer,
    /// 1,500,000 rows at scale 1.
    Orders,
    /// 1 to 7 rows an order.
    LineItem,
}

const TABLES: [(&str, TpchTable); 8] = [
    ("region", TpchTable::Region),
    ("nation", TpchTable::Nation),
    ("part", TpchTable::Part),
    ("supplier", TpchTable::Supplier),
    ("partsupp", TpchTable::PartSupp),
    ("customer", TpchTable::Customer),
    ("orders", TpchTable::Orders),
    ("lineitem", TpchTable::LineItem),
];

impl TpchTable {
    /// The table of this name.
    ///
    /// # Errors
    /// Says which there are.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = TABLES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|&(_, table)| table).ok_or_else(|| {
            let names = TABLES.map(|(name, _)| name);
            format!("TPC-H has no table '{name}'{}: there are {}", did_you_mean(name, names), names.join(", "))
        })
    }

    /// Whether the table of a schema has the columns that are made, in their order.
    ///
    /// # Errors
    /// Says which they are.
    pub(crate) fn check(self, table: &Table, scale: f64) -> Result<(), String> {
        if !(LEAST_SCALE..=LARGEST_SCALE).contains(&scale) {
            return Err(format!("TPC-H is made at scales of {LEAST_SCALE} to {LARGEST_SCALE}"));
        }
        let columns = table.ordinary_columns().map(|column| table.columns[column].name.to_ascii_lowercase());
        if columns.eq(self.columns().iter().copied()) {
            return Ok(());
        }
        Err(format!("the columns of this TPC-H table are {}, in this order", self.columns().join(", ")))
    }

    /// How many rows it has.
    pub(crate) fn rows(self, scale: f64) -> u64 {
        self.rows_of(scale, 0..self.units(scale))
    }

    /// How many things parts are cut by: orders for their lines, parts for their suppliers, rows elsewhere.
    fn units(self, scale: f64) -> u64 {
        let units = match self {
            Self::Region => 5,
            Self::Nation => 25,
            Self::Part | Self::PartSupp => PartGenerator::calculate_row_count(scale, 1, 1),
            Self::Supplier => SupplierGenerator::calculate_row_count(scale, 1, 1),
            Self::Customer => CustomerGenerator::calculate_row_count(scale, 1, 1),
            Self::Orders | Self::LineItem => OrderGenerator::calculate_row_count(scale, 1, 1),
        };
        units.unsigned_abs()
    }

    /// The units of a part, counted from 0, of so many: all have as many, and the last has the rest.
    fn units_of(self, scale: f64, part: u32, parts: u32) -> Range<u64> {
        let units = self.units(scale);
        let cut = |part| if part >= parts { units } else { units / u64::from(parts) * u64::from(part) };
        cut(part)..cut(part.saturating_add(1))
    }

    /// How many rows come of these units.
    fn rows_of(self, scale: f64, units: Range<u64>) -> u64 {
        match self {
            Self::LineItem => lines(units),
            Self::PartSupp if repeats_suppliers(scale) => units.map(|part| suppliers(scale, part + 1)).sum(),
            Self::PartSupp => SUPPLIERS * (units.end - units.start),
            _ => units.end - units.start,
        }
    }
}

/// Whether the benchmark gives some parts the same supplier twice: its formula does at small scales, for which it was not
/// made. The second such row is left out, for partsupp has a key.
fn repeats_suppliers(scale: f64) -> bool {
    // Of S suppliers, part p has numbers p + i * (S / 4 + p / S), modulo S, for i below 4; p / S is 19 at most.
    const SAFE: i64 = 12 * 19;
    SupplierGenerator::calculate_row_count(scale, 1, 1) <= SAFE
}

/// How many suppliers a part has.
fn suppliers(scale: f64, part_key: u64) -> u64 {
    let supplier = |number: u64| {
        PartSuppGeneratorIterator::select_part_supplier(part_key.cast_signed(), number.cast_signed(), scale)
    };
    let is_new = |number: &u64| (0..*number).all(|before| supplier(before) != supplier(*number));
    (0..SUPPLIERS).filter(is_new).count() as u64
}

/// How many lines so many orders have together.
fn lines(orders: Range<u64>) -> u64 {
    let mut counts = OrderGenerator::create_line_count_random();
    counts.advance_rows(orders.start.cast_signed());
    let mut lines = 0;
    for _ in orders {
        lines += u64::from(counts.next_value().unsigned_abs());
        counts.row_finished();
    }
    lines
}

/// The rows of one table of the benchmark, in parts.
#[derive(Debug)]
pub struct TpchSource {
    table: Table,
    of: TpchTable,
    scale: f64,
    conflict: Conflict,
    page_bytes: f64,
    /// Into so many parts the crate cuts the table.
    parts: u32,
    /// After this one the shard ends.
    end: u32,
    /// Rows of the shard.
    rows: u64,
    next: Mutex<Next>,
}

/// The part that is next, counted from 0, and how many rows come before it.
#[derive(Clone, Copy, Debug)]
struct Next {
    part: u32,
    rows_before: u64,
}

impl TpchSource {
    /// The rows of `table` that belong to this shard.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] for the rows that the sizes are estimated by.
    pub(crate) fn new(
        table: &Table,
        of: TpchTable,
        scale: f64,
        conflict: Conflict,
        page_size: PageSize,
        shard: Shard,
    ) -> Result<Self> {
        let page_bytes = page_bytes(table, of, scale, conflict, page_size)?;
        let rows_per_part = (FILL * PART_BYTES as f64 / page_bytes).max(1.0);
        let units_per_part = (rows_per_part / (of.rows_of(1.0, 0..1000) as f64 / 1000.0)).max(1.0);
        let (units, shards) = (of.units(scale), shard.of());
        // The crate cuts a table into parts of equally many units, and gives the rest to the last part.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion that saturates")]
        let parts = (units as f64 / units_per_part).ceil() as u64;
        let parts = parts.max(1).next_multiple_of(shards).min(i32::MAX.unsigned_abs().into());
        let stretch = shard.stretch(parts);
        let [part, end, parts] = [stretch.start, stretch.end, parts].map(|part| u32::try_from(part).expect("few"));
        let before = |part| of.rows_of(scale, 0..of.units_of(scale, part, parts).start);
        let rows_before = before(part);
        let rows = before(end) - rows_before;
        let next = Mutex::new(Next { part, rows_before });
        Ok(Self { table: table.clone(), of, scale, conflict, page_bytes, parts, end, rows, next })
    }
}

impl Source for TpchSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Next { part, rows_before } = *next;
        if part >= self.end {
            return Ok(None);
        }
        let rows = self.of.rows_of(self.scale, self.of.units_of(self.scale, part, self.parts));
        *next = Next { part: part + 1, rows_before: rows_before + rows };
        drop(next);
        Ok(Some(Box::new(TpchPart {
            rows: self.of.part(self.scale, part, self.parts),
            blocks: self.of.columns().iter().map(|_| CellBlock::default()).collect(),
            encoder: Encoder::new(&self.table, self.conflict),
            next_record: rows_before + 1,
        })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        // A part's suppliers come in no order.
        let is_sorted = !(self.table.without_rowid && self.of == TpchTable::PartSupp);
        if is_sorted { RowidOrder::Unknown } else { RowidOrder::Unordered }
    }

    fn page_bytes(&self) -> f64 {
        self.page_bytes
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        samples(&self.table, self.of, self.scale, self.conflict, look)
    }
}

struct TpchPart {
    rows: Box<dyn Rows>,
    blocks: Vec<CellBlock>,
    encoder: Encoder,
    next_record: u64,
}

impl Part for TpchPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !chunk.is_full() {
            let rows = self.rows.fill(ROWS_AT_ONCE, &mut self.blocks);
            if rows == 0 {
                break;
            }
            self.encoder.encode(&self.blocks, rows, RowNumbers::from_record(self.next_record), chunk)?;
            self.next_record += rows as u64;
        }
        Ok(())
    }
}

/// Shows some rows of four places of the table.
fn samples(
    table: &Table,
    of: TpchTable,
    scale: f64,
    conflict: Conflict,
    look: &mut dyn FnMut(&RecordChunk),
) -> Result<()> {
    const PLACES: u32 = 4;
    let places = if matches!(of, TpchTable::Region | TpchTable::Nation) { 1 } else { PLACES };
    let mut encoder = Encoder::new(table, conflict);
    let mut blocks: Vec<CellBlock> = of.columns().iter().map(|_| CellBlock::default()).collect();
    for place in 0..places {
        let rows = of.part(scale, place, places).fill(ROWS_AT_ONCE, &mut blocks);
        let first = of.units_of(scale, place, places).start + 1;
        let mut chunk = RecordChunk::new();
        encoder.encode(&blocks, rows, RowNumbers::from_record(first), &mut chunk)?;
        look(&chunk);
    }
    Ok(())
}

/// Mean bytes that a row takes of pages.
fn page_bytes(table: &Table, of: TpchTable, scale: f64, conflict: Conflict, page_size: PageSize) -> Result<f64> {
    let kind = if table.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
    let (mut bytes, mut rows) = (0.0, 0.0);
    samples(table, of, scale, conflict, &mut |chunk| {
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            bytes += payload::mean_page_bytes(kind, page_size.bytes(), chunk.record(row).len() as u64, rowid);
            rows += 1.0;
        }
    })?;
    Ok((bytes / f64::max(rows, 1.0)).max(1.0))
}
