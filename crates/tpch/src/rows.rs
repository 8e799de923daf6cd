//! Rows of `tpchgen`'s generators, transposed into blocks of columns.

use super::{TpchTable, repeats_suppliers};
use litepress_rows::CellBlock;
use litepress_rows::cells::OwnedValue;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators;

/// An iterator over the rows of a table, in batches.
pub(super) trait RowBatches: Send {
    /// Fills the blocks, one for each column, with at most `rows` rows. Returns their number, which is 0 at the end.
    fn fill(&mut self, rows: usize, blocks: &mut [CellBlock]) -> usize;
}

/// An iterator of rows with the function that transposes them.
struct TransposedRows<I: Iterator> {
    rows: I,
    /// The rows of a batch.
    batch: Vec<I::Item>,
    /// A dictionary for each column of few distinct words.
    dictionaries: Vec<WordDictionary>,
    fill: fn(&[I::Item], &mut [WordDictionary], &mut [CellBlock]),
}

impl<I: Iterator + Send> RowBatches for TransposedRows<I>
where
    I::Item: Send,
{
    fn fill(&mut self, rows: usize, blocks: &mut [CellBlock]) -> usize {
        self.batch.clear();
        self.batch.extend(self.rows.by_ref().take(rows));
        (self.fill)(&self.batch, &mut self.dictionaries, blocks);
        self.batch.len()
    }
}

fn transposed<I: Iterator + Send + 'static>(
    rows: I,
    dictionaries: usize,
    fill: fn(&[I::Item], &mut [WordDictionary], &mut [CellBlock]),
) -> Box<dyn RowBatches>
where
    I::Item: Send,
{
    Box::new(TransposedRows {
        rows,
        batch: Vec::new(),
        dictionaries: (0..dictionaries).map(|_| WordDictionary::default()).collect(),
        fill,
    })
}

/// The distinct words of a column, in order of appearance.
struct WordDictionary {
    known: Vec<&'static str>,
    values: Arc<[OwnedValue]>,
}

impl Default for WordDictionary {
    fn default() -> Self {
        Self { known: Vec::new(), values: Arc::from([]) }
    }
}

impl WordDictionary {
    /// Returns the index of a word. Words are compared by address: a word with two addresses gets two entries.
    fn index_of(&mut self, word: &'static str) -> u32 {
        let found = self.known.iter().position(|known| std::ptr::eq(*known, word));
        let found = found.unwrap_or_else(|| {
            self.known.push(word);
            self.known.len() - 1
        });
        u32::try_from(found).expect("a small number")
    }

    fn fill<R>(&mut self, rows: &[R], block: &mut CellBlock, word: impl Fn(&R) -> &'static str) {
        // The dictionary must be complete before the block takes it.
        let indices: Vec<u32> = rows.iter().map(|row| self.index_of(word(row))).collect();
        if self.values.len() < self.known.len() {
            self.values = self.known.iter().map(|word| OwnedValue::Text((*word).to_owned())).collect();
        }
        block.picks(&self.values).extend(indices);
    }
}

fn ints<R>(rows: &[R], block: &mut CellBlock, value: impl Fn(&R) -> i64) {
    block.ints().extend(rows.iter().map(value));
}

fn decimals<R>(rows: &[R], block: &mut CellBlock, value: impl Fn(&R) -> TPCHDecimal) {
    block.reals().extend(rows.iter().map(|row| value(row).as_f64()));
}

fn texts<R>(rows: &[R], block: &mut CellBlock, value: impl Fn(&R) -> &str) {
    let texts = block.texts();
    for row in rows {
        texts.push(value(row).as_bytes());
    }
}

fn displayed<R, D: Display>(rows: &[R], block: &mut CellBlock, value: impl Fn(&R) -> &D) {
    let texts = block.texts();
    for row in rows {
        write!(texts.arena(), "{}", value(row)).expect("writing to memory does not fail");
        texts.end_string();
    }
}

/// All dates of the benchmark as texts.
static DAYS: LazyLock<Vec<[u8; 10]>> = LazyLock::new(|| {
    let day = |day| TPCHDate::new(MIN_GENERATE_DATE + day).to_string();
    let days = (0..TOTAL_DATE_RANGE).map(day);
    days.map(|day| day.into_bytes().try_into().expect("YYYY-MM-DD")).collect()
});

fn dates<R>(rows: &[R], block: &mut CellBlock, value: impl Fn(&R) -> TPCHDate) {
    let bytes = block.texts().fixed(rows.len(), 10);
    for (text, row) in bytes.as_chunks_mut::<10>().0.iter_mut().zip(rows) {
        *text = DAYS[usize::try_from(value(row).into_inner()).expect("days count from 0")];
    }
}

impl TpchTable {
    /// Returns the names of the columns in order.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Region => &["r_regionkey", "r_name", "r_comment"],
            Self::Nation => &["n_nationkey", "n_name", "n_regionkey", "n_comment"],
            Self::Part => &[
                "p_partkey",
                "p_name",
                "p_mfgr",
                "p_brand",
                "p_type",
                "p_size",
                "p_container",
                "p_retailprice",
                "p_comment",
            ],
            Self::Supplier => &["s_suppkey", "s_name", "s_address", "s_nationkey", "s_phone", "s_acctbal", "s_comment"],
            Self::PartSupp => &["ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost", "ps_comment"],
            Self::Customer => &[
                "c_custkey",
                "c_name",
                "c_address",
                "c_nationkey",
                "c_phone",
                "c_acctbal",
                "c_mktsegment",
                "c_comment",
            ],
            Self::Orders => &[
                "o_orderkey",
                "o_custkey",
                "o_orderstatus",
                "o_totalprice",
                "o_orderdate",
                "o_orderpriority",
                "o_clerk",
                "o_shippriority",
                "o_comment",
            ],
            Self::LineItem => &[
                "l_orderkey",
                "l_partkey",
                "l_suppkey",
                "l_linenumber",
                "l_quantity",
                "l_extendedprice",
                "l_discount",
                "l_tax",
                "l_returnflag",
                "l_linestatus",
                "l_shipdate",
                "l_commitdate",
                "l_receiptdate",
                "l_shipinstruct",
                "l_shipmode",
                "l_comment",
            ],
        }
    }

    /// Opens part `part`, counted from 0, of `parts`.
    pub(super) fn part(self, scale: f64, part: u32, parts: u32) -> Box<dyn RowBatches> {
        // `tpchgen` does not cut the tables region and nation.
        let Range { start, end } = self.units_of(scale, part, parts);
        let [start, count] = [start, end - start].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
        let [part, parts] = [part + 1, parts].map(|number| i32::try_from(number).expect("a small number"));
        match self {
            Self::Region => {
                transposed(generators::RegionGenerator::default().iter().skip(start).take(count), 0, region)
            }
            Self::Nation => {
                transposed(generators::NationGenerator::default().iter().skip(start).take(count), 0, nation)
            }
            Self::Part => transposed(generators::PartGenerator::new(scale, part, parts).iter(), 0, part_table),
            Self::Supplier => transposed(generators::SupplierGenerator::new(scale, part, parts).iter(), 0, supplier),
            Self::PartSupp if repeats_suppliers(scale) => {
                let mut of_part = Vec::new();
                let is_first = move |row: &generators::PartSupp<'_>| {
                    of_part.retain(|&(part, _)| part == row.ps_partkey);
                    let is_first = !of_part.contains(&(row.ps_partkey, row.ps_suppkey));
                    of_part.push((row.ps_partkey, row.ps_suppkey));
                    is_first
                };
                transposed(generators::PartSuppGenerator::new(scale, part, parts).iter().filter(is_first), 0, partsupp)
            }
            Self::PartSupp => transposed(generators::PartSuppGenerator::new(scale, part, parts).iter(), 0, partsupp),
            Self::Customer => transposed(generators::CustomerGenerator::new(scale, part, parts).iter(), 1, customer),
            Self::Orders => transposed(generators::OrderGenerator::new(scale, part, parts).iter(), 2, orders),
            Self::LineItem => transposed(generators::LineItemGenerator::new(scale, part, parts).iter(), 4, lineitem),
        }
    }
}

fn region(rows: &[generators::Region<'static>], _: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.r_regionkey);
    texts(rows, &mut blocks[1], |row| row.r_name);
    texts(rows, &mut blocks[2], |row| row.r_comment);
}

fn nation(rows: &[generators::Nation<'static>], _: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.n_nationkey);
    texts(rows, &mut blocks[1], |row| row.n_name);
    ints(rows, &mut blocks[2], |row| row.n_regionkey);
    texts(rows, &mut blocks[3], |row| row.n_comment);
}

fn part_table(rows: &[generators::Part<'static>], _: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.p_partkey);
    displayed(rows, &mut blocks[1], |row| &row.p_name);
    displayed(rows, &mut blocks[2], |row| &row.p_mfgr);
    displayed(rows, &mut blocks[3], |row| &row.p_brand);
    texts(rows, &mut blocks[4], |row| row.p_type);
    ints(rows, &mut blocks[5], |row| row.p_size.into());
    texts(rows, &mut blocks[6], |row| row.p_container);
    decimals(rows, &mut blocks[7], |row| row.p_retailprice);
    texts(rows, &mut blocks[8], |row| row.p_comment);
}

fn supplier(rows: &[generators::Supplier], _: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.s_suppkey);
    displayed(rows, &mut blocks[1], |row| &row.s_name);
    displayed(rows, &mut blocks[2], |row| &row.s_address);
    ints(rows, &mut blocks[3], |row| row.s_nationkey);
    displayed(rows, &mut blocks[4], |row| &row.s_phone);
    decimals(rows, &mut blocks[5], |row| row.s_acctbal);
    texts(rows, &mut blocks[6], |row| &row.s_comment);
}

fn partsupp(rows: &[generators::PartSupp<'static>], _: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.ps_partkey);
    ints(rows, &mut blocks[1], |row| row.ps_suppkey);
    ints(rows, &mut blocks[2], |row| row.ps_availqty.into());
    decimals(rows, &mut blocks[3], |row| row.ps_supplycost);
    texts(rows, &mut blocks[4], |row| row.ps_comment);
}

fn customer(rows: &[generators::Customer<'static>], dictionaries: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.c_custkey);
    displayed(rows, &mut blocks[1], |row| &row.c_name);
    displayed(rows, &mut blocks[2], |row| &row.c_address);
    ints(rows, &mut blocks[3], |row| row.c_nationkey);
    displayed(rows, &mut blocks[4], |row| &row.c_phone);
    decimals(rows, &mut blocks[5], |row| row.c_acctbal);
    dictionaries[0].fill(rows, &mut blocks[6], |row| row.c_mktsegment);
    texts(rows, &mut blocks[7], |row| row.c_comment);
}

fn orders(rows: &[generators::Order<'static>], dictionaries: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.o_orderkey);
    ints(rows, &mut blocks[1], |row| row.o_custkey);
    dictionaries[0].fill(rows, &mut blocks[2], |row| row.o_orderstatus.as_str());
    decimals(rows, &mut blocks[3], |row| row.o_totalprice);
    dates(rows, &mut blocks[4], |row| row.o_orderdate);
    dictionaries[1].fill(rows, &mut blocks[5], |row| row.o_orderpriority);
    displayed(rows, &mut blocks[6], |row| &row.o_clerk);
    ints(rows, &mut blocks[7], |row| row.o_shippriority.into());
    texts(rows, &mut blocks[8], |row| row.o_comment);
}

fn lineitem(rows: &[generators::LineItem<'static>], dictionaries: &mut [WordDictionary], blocks: &mut [CellBlock]) {
    ints(rows, &mut blocks[0], |row| row.l_orderkey);
    ints(rows, &mut blocks[1], |row| row.l_partkey);
    ints(rows, &mut blocks[2], |row| row.l_suppkey);
    ints(rows, &mut blocks[3], |row| row.l_linenumber.into());
    ints(rows, &mut blocks[4], |row| row.l_quantity);
    decimals(rows, &mut blocks[5], |row| row.l_extendedprice);
    decimals(rows, &mut blocks[6], |row| row.l_discount);
    decimals(rows, &mut blocks[7], |row| row.l_tax);
    dictionaries[0].fill(rows, &mut blocks[8], |row| row.l_returnflag);
    dictionaries[1].fill(rows, &mut blocks[9], |row| row.l_linestatus);
    dates(rows, &mut blocks[10], |row| row.l_shipdate);
    dates(rows, &mut blocks[11], |row| row.l_commitdate);
    dates(rows, &mut blocks[12], |row| row.l_receiptdate);
    dictionaries[2].fill(rows, &mut blocks[13], |row| row.l_shipinstruct);
    dictionaries[3].fill(rows, &mut blocks[14], |row| row.l_shipmode);
    texts(rows, &mut blocks[15], |row| row.l_comment);
}
