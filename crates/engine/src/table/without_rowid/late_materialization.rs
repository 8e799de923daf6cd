//! Late materialization of WITHOUT ROWID tables: only keys are sorted, and rows are made again by their numbers, in
//! key order.
//!
//! ```text
//! RandomAccessRows --KeyReader--> key columns --KeySorter--> keys and numbers --bulk_load--> numbers --RowReader--> pages
//!                                                       integer keys are decoded -> given to
//! ```
//!
//! ```text
//! sort item    | encoded key | number of the row, big-endian, in as many bytes as the last row's |
//! ```
//!
//! Moved, kept in memory and spilled is only a fraction of the rows. The columns of a key are made twice, unless they
//! are all integers.

use crate::index::{ColumnLocator, ColumnRef};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{PADDING_BYTES, PaddedItem, RunWriter, SortOptions, SortedItems, Sorter, bad_item};
use crate::table::context::TableTree;
use crate::table::row_key::{RecordKey, same_key};
use crate::threads::take_all;
use crate::tree::bulk_load::{self, ItemKind};
use crate::tree::index_leaf::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use litepress_format::FormatError;
use litepress_format::record;
use litepress_format::sort_key::{self, KeyPart, KeyPrefix};
use litepress_format::value::Value;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::source::PART_BYTES;
use litepress_rows::{KeyReader, Keys, RandomAccessRows, RecordChunk, RowReader, Source, Table, quote};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The share of a part's pages that should be filled: estimates err, and a part that is too long takes one block
/// more.
const FILL: f64 = 0.98;

/// Rows whose keys a thread makes one after another: few enough that all threads end at about the same time.
const RANGE_ROWS: u64 = 64 * BLOCK_ROWS as u64;

/// Returns the source's random-access rows if sorting keys alone pays: no index needs the records, and the sample is
/// out of key order.
pub(crate) fn rows<'s>(
    source: &'s dyn Source,
    key: &RecordKey,
    has_indexes: bool,
) -> Result<Option<&'s dyn RandomAccessRows>> {
    match source.numbered().filter(|_| !has_indexes) {
        Some(rows) if !seems_in_order(source, key)? => Ok(Some(rows)),
        _ => Ok(None),
    }
}

fn seems_in_order(source: &dyn Source, key: &RecordKey) -> Result<bool> {
    let (mut locator, mut previous, mut current) = (ColumnLocator::default(), Vec::new(), Vec::new());
    let mut ascends = |chunk: &RecordChunk| -> Result<bool> {
        previous.clear();
        for row in 0..chunk.len() {
            key.set_key(&mut locator, chunk, row, &mut current)?;
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

/// Returns the bytes of a row's number in sort items.
pub(crate) fn number_bytes(numbers: &Range<u64>) -> usize {
    let last = numbers.end.saturating_sub(1).max(1);
    size_of::<u64>() - last.leading_zeros() as usize / 8
}

/// Appends the last bytes of a number to the key of its row.
pub(crate) fn push_number(number: u64, bytes: usize, item: &mut Vec<u8>) {
    item.extend_from_slice(&number.to_be_bytes()[size_of::<u64>() - bytes..]);
}

/// A table whose rows are made again in key order.
pub(crate) struct LateMaterializedTable<'a> {
    table: &'a Table,
    key: &'a RecordKey,
    rows: &'a dyn RandomAccessRows,
    /// The columns of the key, without repetition.
    columns: Vec<usize>,
    /// The index in `columns` of each part of the key.
    places: Vec<usize>,
    number_bytes: usize,
    /// Whether the columns are integers that can be decoded from keys.
    are_integers: bool,
    /// Mean bytes of pages that a row takes.
    page_bytes: f64,
}

impl<'a> LateMaterializedTable<'a> {
    /// Describes a table without indexes from its source's `rows`, which take `page_bytes` of pages each.
    pub fn new(table: &'a Table, key: &'a RecordKey, rows: &'a dyn RandomAccessRows, page_bytes: f64) -> Self {
        let index = table.primary_index().expect("a WITHOUT ROWID table has a primary key");
        let (mut columns, mut places) = (Vec::new(), Vec::new());
        for column in index.columns.iter().filter_map(|column| column.column) {
            // A column may occur again, in another collation.
            let known = columns.iter().position(|known| *known == column);
            places.push(known.unwrap_or(columns.len()));
            if known.is_none() {
                columns.push(column);
            }
        }
        let number_bytes = number_bytes(&rows.numbers());
        let are_integers = columns.len() == places.len() && rows.are_integers(&columns);
        Self { table, key, rows, columns, places, number_bytes, are_integers, page_bytes }
    }

    /// Builds the b-tree.
    pub fn build(
        &self,
        pages: &mut Pages,
        sort_options: &SortOptions,
        counts_keys: bool,
        progress: &Progress,
    ) -> Result<TableTree> {
        let sorted = self.sort(sort_options, progress)?;
        progress.enter_step(format!("table {}", self.table.name));
        let tree = bulk_load::build(&sorted, self, pages, sort_options.writers, counts_keys, progress)?;
        Ok(tree.into())
    }

    /// Sorts all keys, with the numbers of their rows.
    fn sort(&self, options: &SortOptions, progress: &Progress) -> Result<SortedItems> {
        let sorter = Sorter::new(options.clone());
        let (numbers, next) = (self.rows.numbers(), AtomicU64::new(0));
        let ranges = (numbers.end - numbers.start).div_ceil(RANGE_ROWS);
        let threads = usize::try_from(ranges).unwrap_or(usize::MAX).clamp(1, options.writers.max(1));
        let begin = || (self.rows.key_maker(&self.columns), KeySorter::new(self, sorter.writer()));
        let take = |(maker, keys): &mut (Box<dyn KeyReader>, KeySorter<'_>)| {
            let range = next.fetch_add(1, Ordering::Relaxed);
            if range >= ranges {
                return Ok(false);
            }
            let start = numbers.start + range * RANGE_ROWS;
            let taken = keys.take(&mut **maker, start..numbers.end.min(start + RANGE_ROWS), progress);
            taken.map(|()| true).map_err(|error| (range, error))
        };
        take_all(threads, begin, take, |(_, keys)| keys.writer.finish())?;
        sorter.finish()
    }

    /// Returns the number at the end of an item.
    #[inline(always)]
    fn number(&self, item: PaddedItem<'_>) -> Result<u64> {
        let behind = item.bytes[self.key_len(item.item())?..].first_chunk().expect("a word of padding");
        Ok(u64::from_be_bytes(*behind) >> (u64::BITS as usize - 8 * self.number_bytes))
    }

    #[inline(always)]
    fn key_len(&self, item: &[u8]) -> Result<usize> {
        let key_len = item.len().checked_sub(self.number_bytes);
        key_len.ok_or_else(|| bad_item(&FormatError::new("a sort item is shorter than a number", item.len())))
    }

    /// Returns the key of a row in SQL syntax.
    fn describe_key(&self, number: u64) -> Result<String> {
        let mut maker = self.rows.key_maker(&self.columns);
        let columns: Vec<String> = match maker.make(number..number + 1)? {
            Keys::Integers(integers) => integers.iter().map(|integers| quote(&Value::Int(integers[0]))).collect(),
            Keys::Records(chunk) => {
                let values = record::decode(chunk.record(0)).map_err(|error| bad_item(&error))?;
                values.iter().map(quote).collect()
            }
        };
        let values: Vec<&str> = self.places.iter().map(|&place| &*columns[place]).collect();
        Ok(values.join(", "))
    }
}

/// Makes the sort items of keys; one for each worker.
struct KeySorter<'a> {
    table: &'a LateMaterializedTable<'a>,
    writer: RunWriter<'a>,
    locator: ColumnLocator,
    item: Vec<u8>,
}

impl<'a> KeySorter<'a> {
    fn new(table: &'a LateMaterializedTable<'a>, writer: RunWriter<'a>) -> Self {
        Self { table, writer, locator: ColumnLocator::default(), item: Vec::new() }
    }

    /// Takes the keys of the rows with these numbers.
    fn take(&mut self, maker: &mut dyn KeyReader, numbers: Range<u64>, progress: &Progress) -> Result<()> {
        let mut start = numbers.start;
        while start < numbers.end {
            progress.go_on()?;
            let end = numbers.end.min(start + BLOCK_ROWS as u64);
            match maker.make(start..end)? {
                Keys::Integers(columns) => self.add_integers(&columns, start)?,
                Keys::Records(chunk) => self.add_records(chunk, start)?,
            }
            progress.add_rows(end - start);
            start = end;
        }
        Ok(())
    }

    fn add_integers(&mut self, columns: &[&[i64]], first: u64) -> Result<()> {
        let values: Vec<&[i64]> = self.table.places.iter().map(|&place| columns[place]).collect();
        // Unrolled by the number of columns: the exit of a short loop is mispredicted.
        match values[..] {
            [a] => self.add_few([a], first),
            [a, b] => self.add_few([a, b], first),
            [a, b, c] => self.add_few([a, b, c], first),
            [a, b, c, d] => self.add_few([a, b, c, d], first),
            _ => (0..values[0].len())
                .zip(first..)
                .try_for_each(|(row, number)| self.push(values.iter().map(|values| Value::Int(values[row])), number)),
        }
    }

    fn add_few<const COLUMNS: usize>(&mut self, columns: [&[i64]; COLUMNS], first: u64) -> Result<()> {
        let LateMaterializedTable { key, number_bytes, .. } = self.table;
        let parts = key.parts().first_chunk::<COLUMNS>().expect("one for each column");
        let columns = columns.map(|column| &column[..columns[0].len()]);
        let unused = u64::BITS as usize - 8 * number_bytes;
        for (row, number) in (0..columns[0].len()).zip(first..) {
            let ints = columns.map(|column| column[row]);
            let prefix = KeyPrefix::of_integers(parts, ints, (number << unused, *number_bytes));
            let is_taken = match prefix {
                Some(prefix) => self.writer.push_prefix(prefix.words, prefix.len)?,
                None => false,
            };
            if !is_taken {
                self.push(ints.into_iter().map(Value::Int), number)?;
            }
        }
        Ok(())
    }

    fn add_records(&mut self, chunk: &RecordChunk, first: u64) -> Result<()> {
        let columns: Vec<ColumnRef> = self.table.places.iter().map(|&place| ColumnRef::Field(place)).collect();
        let mut locator = std::mem::take(&mut self.locator);
        for (row, number) in (0..chunk.len()).zip(first..) {
            self.push(locator.values(&columns, chunk.record(row), 0)?, number)?;
        }
        self.locator = locator;
        Ok(())
    }

    #[inline(always)]
    fn push<'v>(&mut self, values: impl Iterator<Item = Value<'v>>, number: u64) -> Result<()> {
        let LateMaterializedTable { key, number_bytes, .. } = self.table;
        self.item.clear();
        for (value, part) in values.zip(key.parts()) {
            sort_key::push(&value, *part, &mut self.item);
        }
        push_number(number, *number_bytes, &mut self.item);
        self.writer.push(&self.item)
    }
}

/// Makes rows by their numbers, in batches, and lays them on pages.
pub(crate) struct RowPageWriter<'a> {
    builder: IndexBuilder,
    maker: Box<dyn RowReader + 'a>,
    numbers: Vec<u64>,
    /// The keys of these rows and the start of each, if their integers are decoded.
    keys: Vec<u8>,
    starts: Vec<usize>,
    given: Vec<Vec<i64>>,
    chunk: RecordChunk,
}

impl RowPageWriter<'_> {
    /// Keeps the key at the front of a row's item.
    #[inline(always)]
    fn keep_key(&mut self, item: PaddedItem<'_>) {
        let start = self.keys.len();
        self.starts.push(start);
        // A copy of constant length costs less.
        match item.bytes.first_chunk::<PADDING_BYTES>() {
            Some(bytes) if item.len <= PADDING_BYTES => {
                self.keys.extend_from_slice(bytes);
                self.keys.truncate(start + item.len);
            }
            _ => self.keys.extend_from_slice(item.item()),
        }
    }

    /// Decodes the integers of all keys column by column: within a key, each decode waits for the one before.
    fn read_keys(&mut self, table: &LateMaterializedTable<'_>) -> Result<()> {
        for (part, &place) in table.key.parts().iter().zip(&table.places) {
            let integers = &mut self.given[place];
            integers.clear();
            for start in &mut self.starts {
                let read = sort_key::read_integer(&self.keys[*start..], *part);
                let (integer, len) =
                    read.ok_or_else(|| bad_item(&FormatError::new("an integer key holds no integer", 0)))?;
                integers.push(integer);
                *start += len;
            }
        }
        self.keys.clear();
        self.starts.clear();
        Ok(())
    }

    /// Makes the rows of all collected numbers and lays them on pages.
    fn flush(&mut self, table: &LateMaterializedTable<'_>) -> Result<()> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        if table.are_integers {
            self.read_keys(table)?;
        }
        self.chunk.clear();
        self.maker.make(&self.numbers, &self.given, &mut self.chunk)?;
        self.numbers.clear();
        (0..self.chunk.len()).for_each(|row| self.builder.add(self.chunk.record(row)));
        Ok(())
    }
}

impl<'a> ItemKind for LateMaterializedTable<'a> {
    type Builder = RowPageWriter<'a>;

    fn begin(&self, run: PageRun, usable: usize) -> RowPageWriter<'a> {
        let given: &[usize] = if self.are_integers { &self.columns } else { &[] };
        RowPageWriter {
            builder: IndexBuilder::new(run, usable),
            maker: self.rows.row_maker(given),
            numbers: Vec::with_capacity(BLOCK_ROWS),
            keys: Vec::new(),
            starts: Vec::new(),
            given: vec![Vec::new(); given.len()],
            chunk: RecordChunk::new(),
        }
    }

    fn add(&self, writer: &mut RowPageWriter<'a>, item: PaddedItem<'_>) -> Result<()> {
        writer.numbers.push(self.number(item)?);
        if self.are_integers {
            writer.keep_key(item);
        }
        if writer.numbers.len() == BLOCK_ROWS { writer.flush(self) } else { Ok(()) }
    }

    fn finish(&self, mut writer: RowPageWriter<'a>, is_last: bool) -> Result<IndexPart> {
        writer.flush(self)?;
        Ok(writer.builder.finish(is_last))
    }

    fn items_per_part(&self, _: &SortedItems) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
        #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
        let items = (FILL * PART_BYTES as f64 / self.page_bytes.max(1.0)) as u64;
        items.max(2)
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        self.key_len(item).map(Some)
    }

    fn key_parts(&self) -> &[KeyPart] {
        self.key.parts()
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        let [first, second] = [first, second].map(|item| {
            let mut bytes = item.to_vec();
            bytes.extend([0; PADDING_BYTES]);
            self.number(PaddedItem { bytes: &bytes, len: item.len() })
        });
        let described = second.and_then(|second| Ok((self.describe_key(second)?, first?, second)));
        let (values, first, second) = match described {
            Ok(described) => described,
            Err(error) => return error,
        };
        same_key(&self.table.name, &self.key.full_names(), &values, first.cast_signed(), second.cast_signed())
    }
}
