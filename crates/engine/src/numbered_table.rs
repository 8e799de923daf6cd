//! WITHOUT ROWID tables of rows that can be made again by their numbers: keys alone are sorted, and the rows are made in
//! the order of their keys as they are printed.
//!
//! ```text
//! NumberedRows --narrow--> key columns --Cutter--> keys and numbers --Sorter--> sorted_tree --numbers--> RowMaker --> pages
//! ```
//!
//! What is moved, kept in memory and spilled is a fraction of the rows. The columns of the key are made twice.

use crate::feed;
use crate::fields::Fields;
use crate::index::{Cutter, IndexPlan};
use crate::keyed_table::Wanted;
use crate::pages::{PageRun, Pages};
use crate::progress::Counted;
use crate::sort::{ItemWithSlack, SortOptions, Sorted, Sorter};
use crate::sorted_rows::{RecordKey, same_key};
use crate::sorted_tree::{self, Items};
use crate::table::TableTree;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::{Error, ErrorKind, Result};
use litepress_format::order::KeyPart;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::source::PART_BYTES;
use litepress_rows::{NumberedRows, RecordChunk, RowMaker, Source, Table};

/// How much of a part's pages should be filled: estimates err, and a part that is too long takes a block more.
const FILL: f64 = 0.98;

/// The rows of a table with this key, where keys alone are to be sorted: they have numbers, nobody else wants their
/// records, and of those that the source shows one comes behind another with a greater key.
pub(crate) fn rows<'s>(
    source: &'s dyn Source,
    key: &RecordKey,
    has_indexes: bool,
) -> Result<Option<&'s dyn NumberedRows>> {
    match source.numbered().filter(|_| !has_indexes) {
        Some(rows) if !seems_in_order(source, key)? => Ok(Some(rows)),
        _ => Ok(None),
    }
}

fn seems_in_order(source: &dyn Source, key: &RecordKey) -> Result<bool> {
    let (mut fields, mut previous, mut current) = (Fields::default(), Vec::new(), Vec::new());
    let mut ascends = |chunk: &RecordChunk| -> Result<bool> {
        previous.clear();
        for row in 0..chunk.len() {
            key.set_key(&mut fields, chunk, row, &mut current)?;
            if previous > current {
                return Ok(false);
            }
            std::mem::swap(&mut previous, &mut current);
        }
        Ok(true)
    };
    let mut all_ascend = Ok(true);
    source.sample(&mut |chunk| {
        if matches!(all_ascend, Ok(true)) {
            all_ascend = ascends(chunk);
        }
    })?;
    all_ascend
}

/// Builds the b-tree of a table without indexes; `rows` are those of the source.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    rows: &dyn NumberedRows,
    pages: &mut Pages,
    sort_options: &SortOptions,
    wanted: Wanted<'_>,
) -> Result<TableTree> {
    let Wanted { counts_keys, progress, .. } = wanted;
    let unsupported = |why: String| Error::new(ErrorKind::Unsupported, why).in_table(&table.name);
    let index = table.primary_index().expect("a WITHOUT ROWID table has a primary key");
    let mut columns = Vec::new();
    for column in index.columns.iter().filter_map(|column| column.column) {
        // It may be there once more, in another collation.
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let plan = IndexPlan::of_key(table, index, &columns).map_err(unsupported)?;
    let sorter = Sorter::new(sort_options.clone());
    let narrow = rows.narrow(&columns);
    let keys = Counted { source: &*narrow, progress };
    feed::take_chunks(&keys, sort_options.writers, progress, || Cutter::new(&plan, sorter.writer()))?;
    progress.enter(format!("table {}", table.name));
    let numbered = Numbered { table, key: plan, rows, page_bytes: source.page_bytes() };
    let threads = sort_options.writers;
    let tree = sorted_tree::build(&sorter.finish()?, &numbered, pages, threads, counts_keys, progress)?;
    Ok(tree.into())
}

/// Keys with the numbers of their rows.
struct Numbered<'a> {
    table: &'a Table,
    key: IndexPlan,
    rows: &'a dyn NumberedRows,
    /// Mean bytes that a row takes of pages.
    page_bytes: f64,
}

/// Makes rows by their numbers, as many at once as are worth it, and lays them on pages.
struct RowPrinter<'a> {
    builder: IndexBuilder,
    maker: Box<dyn RowMaker + 'a>,
    numbers: Vec<u64>,
    chunk: RecordChunk,
}

impl RowPrinter<'_> {
    /// Prints the rows of all numbers that there are.
    fn print(&mut self) -> Result<()> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        self.chunk.clear();
        self.maker.make(&self.numbers, &mut self.chunk)?;
        self.numbers.clear();
        (0..self.chunk.len()).for_each(|row| self.builder.add(self.chunk.record(row)));
        Ok(())
    }
}

impl<'a> Items for Numbered<'a> {
    type Builder = RowPrinter<'a>;

    fn begin(&self, run: PageRun, usable: usize) -> RowPrinter<'a> {
        let (builder, maker) = (IndexBuilder::new(run, usable), self.rows.maker());
        RowPrinter { builder, maker, numbers: Vec::with_capacity(BLOCK_ROWS), chunk: RecordChunk::new() }
    }

    fn add(&self, printer: &mut RowPrinter<'a>, item: ItemWithSlack<'_>) -> Result<()> {
        printer.numbers.push(self.key.rowid(item.item())?.cast_unsigned());
        if printer.numbers.len() == BLOCK_ROWS { printer.print() } else { Ok(()) }
    }

    fn finish(&self, mut printer: RowPrinter<'a>, is_last: bool) -> Result<IndexPart> {
        printer.print()?;
        Ok(printer.builder.finish(is_last))
    }

    fn items_per_part(&self, _: &Sorted) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
        #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
        let items = (FILL * PART_BYTES as f64 / self.page_bytes.max(1.0)) as u64;
        items.max(2)
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        self.key.unique_len(item)
    }

    fn key_parts(&self) -> &[KeyPart] {
        self.key.key_parts()
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        let (values, second) = self.key.describe(second);
        let number = |number: String| number.parse().unwrap_or_default();
        let first = number(self.key.describe(first).1);
        same_key(&self.table.name, &self.key.full_names(), &values, first, number(second))
    }
}
