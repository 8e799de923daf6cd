//! A source of rows in key order, which resolves key conflicts.
//!
//! ```text
//! Source -> RecordChunk -> sort items --Sorter--> items in key order --SortedRows--> Source
//! ```
//!
//! Rows with one key are adjacent, the earliest first. So one pass decides which of them stays.

use super::context::BuildContext;
use super::part_queue::PartQueue;
use super::row_key::{Row, RowKey};
use crate::index::{ColumnLocator, Extractors, Indexes};
use crate::progress::Progress;
use crate::sort::{Merge, RunWriter, SortOptions, SortedItems, Sorter, SplitItem};
use crate::threads::take_all;
use crate::tree::bulk_load::items_per_part;
use crate::{Conflict, Result};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rows of a source in key order.
pub(crate) struct SortedRows<K> {
    key: K,
    sorted: SortedItems,
    /// The policy for rows with one key.
    conflict: Conflict,
    items_per_part: u64,
    next_rank: AtomicU64,
}

impl<K: RowKey> SortedRows<K> {
    /// Sorts all rows of `source`.
    pub fn sort(
        key: K,
        source: &dyn Source,
        conflict: Conflict,
        options: &SortOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let sorted = sort_rows(source, &key, options, progress)?;
        Ok(Self::new(key, sorted, conflict))
    }

    /// Makes a source of sorted items.
    pub fn new(key: K, sorted: SortedItems, conflict: Conflict) -> Self {
        let (items_per_part, next_rank) = (items_per_part(&sorted), AtomicU64::new(0));
        Self { key, sorted, conflict, items_per_part, next_rank }
    }

    /// Makes all parts but the last a multiple of `items` items long.
    pub fn with_parts_of_multiples(mut self, items: u64) -> Self {
        self.items_per_part = self.items_per_part.next_multiple_of(items);
        self
    }

    /// Returns the number of items of a part.
    pub fn items_per_part(&self) -> u64 {
        self.items_per_part
    }

    /// Returns the number of sorted items.
    pub fn len(&self) -> u64 {
        self.sorted.len()
    }
}

impl<K: RowKey> Source for SortedRows<K> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let start = self.next_rank.fetch_add(self.items_per_part, Ordering::Relaxed);
        if start >= self.sorted.len() {
            return Ok(None);
        }
        let ranks = start..self.sorted.len().min(start + self.items_per_part);
        Ok(Some(Box::new(SortedPart { rows: self, rank: start, ranks, items: None, held: Vec::new(), held_row: None })))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The rows of some ranks that remain after conflicts.
struct SortedPart<'s, K> {
    rows: &'s SortedRows<K>,
    ranks: Range<u64>,
    /// The part's items and the neighbour that decides about the first or the last of them. Opened by the reading
    /// thread.
    items: Option<Merge<'s>>,
    /// Rank of the next item.
    rank: u64,
    /// The last item of its key that may remain.
    held: Vec<u8>,
    /// The decoded `held`, if it belongs to the part and was not returned yet.
    held_row: Option<Row>,
}

impl<K: RowKey> SortedPart<'_, K> {
    fn open(&mut self) -> Result<()> {
        if self.items.is_none() {
            let Range { start, end } = self.ranks;
            let (first, end) = match self.rows.conflict {
                Conflict::Replace | Conflict::Update => (start, self.rows.sorted.len().min(end + 1)),
                Conflict::Abort | Conflict::Ignore => (start.saturating_sub(1), end),
            };
            self.items = Some(self.rows.sorted.range(first..end)?);
            self.rank = first;
        }
        Ok(())
    }
}

impl<K: RowKey> Part for SortedPart<'_, K> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.open()?;
        let Self { rows, ranks, items: Some(items), rank, held, held_row } = self else { unreachable!("opened above") };
        while !chunk.is_full() {
            let item = items.next()?;
            let row = item.map(|item| rows.key.read(item, *rank)).transpose()?;
            if let (Some(item), Some(Row { unique_len: Some(len), .. })) = (item, row)
                && held.get(..len) == Some(&item[..len])
            {
                match rows.conflict {
                    Conflict::Abort => return Err(rows.key.conflict(held, item)),
                    Conflict::Ignore => {
                        *rank += 1;
                        continue;
                    }
                    Conflict::Replace | Conflict::Update => {}
                }
            } else if let Some(Row { rowid, record: (start, end), .. }) = held_row.take() {
                chunk.push(rowid, &held[start..end]);
            }
            let (Some(item), Some(row)) = (item, row) else { break };
            held.clear();
            held.extend_from_slice(item);
            *held_row = ranks.contains(rank).then_some(row);
            *rank += 1;
        }
        Ok(())
    }
}

/// Makes the sort items of rows, for one thread.
pub(crate) struct ItemMaker<'a, K> {
    key: &'a K,
    locator: ColumnLocator,
    item: Vec<u8>,
}

impl<'a, K: RowKey> ItemMaker<'a, K> {
    pub fn new(key: &'a K) -> Self {
        Self { key, locator: ColumnLocator::default(), item: Vec::new() }
    }

    /// Passes the item of each row of `chunk` to `take`.
    #[inline]
    pub fn each(&mut self, chunk: &RecordChunk, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..chunk.len()).try_for_each(|row| take(self.item(chunk, row)?))
    }

    fn item(&mut self, chunk: &RecordChunk, row: usize) -> Result<&[u8]> {
        self.item.clear();
        self.key.push_item(&mut self.locator, chunk, row, &mut self.item)?;
        Ok(&self.item)
    }

    /// Passes the items of row `first` of `chunk` and of all later rows to `writer`.
    #[inline]
    pub fn push_from(&mut self, first: usize, chunk: &RecordChunk, writer: &mut RunWriter<'_>) -> Result<()> {
        let mut split_items = Vec::with_capacity(SplitItem::AT_ONCE);
        for start in (first..chunk.len()).step_by(SplitItem::AT_ONCE) {
            for row in start..chunk.len().min(start + SplitItem::AT_ONCE) {
                let split = if writer.accepts_split() { self.key.split_item(chunk, row) } else { None };
                match split {
                    Some(split) => split_items.push((row, split)),
                    None => writer.push(self.item(chunk, row)?)?,
                }
            }
            writer.push_split(&mut split_items);
            split_items.drain(..).try_for_each(|(row, _)| writer.push(self.item(chunk, row)?))?;
        }
        Ok(())
    }
}

/// Sorts all rows of `source`.
pub(crate) fn sort_rows(
    source: &dyn Source,
    key: &impl RowKey,
    options: &SortOptions,
    progress: &Progress,
) -> Result<SortedItems> {
    let sorter = Sorter::new(options.clone());
    let (indexes, threads) = (&Indexes::default(), options.writers);
    gather(source, key, &sorter, BuildContext { indexes, threads, counts_keys: false, progress })?;
    sorter.finish()
}

/// Takes all rows of `source`: the sort item of each, and the entries of its indexes.
pub(crate) fn gather(source: &dyn Source, key: &impl RowKey, sorter: &Sorter, context: BuildContext<'_>) -> Result<()> {
    let BuildContext { indexes, threads, progress, .. } = context;
    let mut queue = PartQueue::new(source);
    let threads = queue.workers(threads)?;
    let queue = Mutex::new(queue);
    let begin = || Collector {
        chunk: RecordChunk::new(),
        rows: sorter.writer(),
        extractors: indexes.extractors(),
        items: ItemMaker::new(key),
        progress,
    };
    let take = |collector: &mut Collector<'_, _>| match progress.go_on().and_then(|()| lock(&queue).take()) {
        Ok(Some((number, part))) => collector.take(part).map(|()| true).map_err(|error| (number, error)),
        Ok(None) => Ok(false),
        Err(error) => Err((u64::MAX, error)),
    };
    take_all(threads, begin, take, Collector::finish)
}

/// Takes the rows of some parts, for one thread.
struct Collector<'a, K> {
    chunk: RecordChunk,
    rows: RunWriter<'a>,
    extractors: Extractors<'a>,
    items: ItemMaker<'a, K>,
    progress: &'a Progress,
}

impl<K: RowKey> Collector<'_, K> {
    fn take(&mut self, mut part: Box<dyn Part + '_>) -> Result<()> {
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            if self.chunk.is_empty() {
                return self.extractors.end_part();
            }
            self.items.push_from(0, &self.chunk, &mut self.rows)?;
            self.extractors.add(&self.chunk)?;
        }
    }

    fn finish(self) -> Result<()> {
        self.rows.finish()?;
        self.extractors.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::one_chunk::OneChunk;
    use super::super::row_key::RowidKey;
    use super::*;
    use litepress_rows::Schema;

    /// Rows of one rowid in one part, in several parts, and at both sides of every boundary.
    #[test]
    fn boundaries_of_parts_do_not_show() {
        let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY)", "<test>").expect("a schema");
        let rowids = [7, 7, 1, 9, 2, 2, 2, 9, 9, 9, 9, 9, 3];
        let options = SortOptions { memory_bytes: 1 << 20, temp_dir: std::env::temp_dir(), writers: 2 };
        for (conflict, expected) in [
            (Conflict::Ignore, [(1, 2), (2, 4), (3, 12), (7, 0), (9, 3)]),
            (Conflict::Replace, [(1, 2), (2, 6), (3, 12), (7, 1), (9, 11)]),
        ] {
            for items_per_part in 1..=rowids.len() as u64 + 1 {
                let mut chunk = RecordChunk::new();
                rowids.iter().zip(0..).for_each(|(&rowid, at)| chunk.push(rowid, &[at]));
                let source = OneChunk::new(chunk);
                let key = RowidKey::new(&schema.tables[0], false);
                let rows = SortedRows::sort(key, &source, conflict, &options, &Progress::default()).expect("sorted");
                let rows = SortedRows { items_per_part, ..rows };
                let mut stayed = Vec::new();
                while let Some(mut part) = rows.next_part().expect("a part") {
                    let mut chunk = RecordChunk::new();
                    part.fill(&mut chunk).expect("rows");
                    stayed.extend((0..chunk.len()).map(|row| (chunk.rowids()[row], chunk.record(row)[0])));
                }
                assert_eq!(stayed, expected, "{conflict:?}, parts of {items_per_part}");
            }
        }
    }
}
