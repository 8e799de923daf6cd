//! Builds the tree of an index from the entries that it has and from sorted new ones, by a two-way merge (Knuth 5.2.4).
//!
//! ```text
//! old tree    | leaves, divider d0 | leaves, divider d1 | ... | last leaves
//! new items   | below d0           | below d1           | ... | below the last entry | all others, cut by rank
//! turn          0                    1                          n                      n + 1, n + 2, ...
//! ```
//!
//! A worker merges a turn. Turns begin where the old tree and the new items say, and so do their parts: the file depends on neither
//! threads nor memory. Old records are copied as they are.
//!
//! The order of the old tree is checked, because a merge of anything else is no tree: an entry that does not follow the one before is an
//! error of kind [`Corrupt`](ErrorKind::Corrupt).

use super::entry_key::{EntryKey, EntryKeys, start_of};
use super::entry_writer::IndexPageWriter;
use super::plan::IndexPlan;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::sort::{Merge, PaddedItem, SortedItems};
use crate::threads::{InPart, Turns, on_threads};
use crate::tree::bulk_load::{DuplicateCheck, IndexTree, ItemKind, items_per_part};
use crate::tree::entry_tree::{EntryCounts, EntryTree};
use crate::tree::index_leaf::IndexBuilder;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageSize;
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk};
use litepress_scan::{IndexScan, ScanPart};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Builds the tree of all entries of `old` and of all new items.
pub(super) fn build(
    old: &IndexScan,
    new: &SortedItems,
    plan: &IndexPlan,
    pages: &mut Pages,
    threads: usize,
    progress: &Progress,
) -> Result<IndexTree> {
    let entries_plan = plan.of_entries();
    let merged = Merged { new, plan, entries_plan: &entries_plan, page_size: pages.page_size(), progress };
    let (pool, queue) = (pages.pool().clone(), Mutex::new(TurnQueue::new(old, &merged)?));
    let mut tree = EntryTree::new(pages);
    let turns = Turns::new(|part| tree.place(part));
    on_threads(threads, || {
        let mut worker = Worker::new(&merged, &pool);
        while !turns.has_failed() {
            pool.wait_for_room();
            let taken = lock(&queue).next();
            let done = match taken {
                Ok(None) => return,
                Ok(Some(turn)) => {
                    let number = turn.number;
                    let place = |part| {
                        turns.add(number, part);
                    };
                    worker.merge(turn, place).map(|part| turns.end(number, part))
                }
                Err(failed) => Err(failed),
            };
            if let Err((number, error)) = done {
                return turns.fail(number, error);
            }
        }
    });
    turns.finish()?;
    let (EntryCounts { entries, payload_bytes }, root) = tree.finish()?;
    Ok(IndexTree { root, entries, payload_bytes, distinct: Vec::new() })
}

/// New items on their way into a tree.
struct Merged<'m> {
    new: &'m SortedItems,
    plan: &'m IndexPlan,
    /// The plan of the same entries, from records of the old tree.
    entries_plan: &'m IndexPlan,
    page_size: PageSize,
    progress: &'m Progress,
}

impl Merged<'_> {
    fn out_of_order(&self) -> Error {
        let message = format!("the entries of the index {} are not in order", self.plan.name);
        Error::new(ErrorKind::Corrupt, message)
    }
}

/// Some leaves of the old tree, and the new items between them.
struct Turn {
    number: u64,
    /// The leaves; `None` behind all of them.
    old: Option<ScanPart>,
    /// The old entry before, if it is known.
    before: Option<EntryKey>,
    ranks: Range<u64>,
}

/// The turns that were not taken.
struct TurnQueue<'m> {
    old: &'m IndexScan,
    merged: &'m Merged<'m>,
    keys: EntryKeys<'m>,
    number: u64,
    /// The rank of the first new item of the next turn, and of the first one behind all old entries.
    rank: u64,
    rank_behind: u64,
    /// The divider before the next turn, and the last entry of the old tree.
    divider: Option<EntryKey>,
    last: Option<EntryKey>,
}

impl<'m> TurnQueue<'m> {
    fn new(old: &'m IndexScan, merged: &'m Merged<'m>) -> Result<Self> {
        let mut keys = EntryKeys::new(merged.entries_plan);
        let last = old.last_entry()?.map(|record| keys.of_record(&record)).transpose()?;
        let rank_behind = last.as_ref().map_or(Ok(0), |last| merged.new.rank(last.item()))?;
        Ok(Self { old, merged, keys, number: 0, rank: 0, rank_behind, divider: None, last })
    }

    fn next(&mut self) -> InPart<Option<Turn>> {
        let number = self.number;
        self.number += 1;
        self.turn(number).map_err(|error| (number, error))
    }

    fn turn(&mut self, number: u64) -> Result<Option<Turn>> {
        let new = self.merged.new;
        let Some(old) = self.old.next_scan_part()? else {
            let end = new.len().min(self.rank + items_per_part(new));
            let ranks = std::mem::replace(&mut self.rank, end)..end;
            return Ok((!ranks.is_empty()).then(|| Turn { number, old: None, before: self.last.take(), ranks }));
        };
        let before = self.divider.take();
        self.divider = old.last_divider()?.map(|record| self.keys.of_record(&record)).transpose()?;
        let end = self.divider.as_ref().map_or(Ok(self.rank_behind), |divider| new.rank(divider.item()))?;
        if end < self.rank || end > self.rank_behind {
            return Err(self.merged.out_of_order());
        }
        let ranks = std::mem::replace(&mut self.rank, end)..end;
        Ok(Some(Turn { number, old: Some(old), before, ranks }))
    }
}

/// Merges turns on one thread.
struct Worker<'m> {
    merged: &'m Merged<'m>,
    pool: &'m Arc<BlockPool>,
    keys: EntryKeys<'m>,
    writer: IndexPageWriter,
    chunk: RecordChunk,
    /// The current old entry, and the one before.
    entry: EntryKey,
    previous: EntryKey,
}

impl<'m> Worker<'m> {
    fn new(merged: &'m Merged<'m>, pool: &'m Arc<BlockPool>) -> Self {
        let run = PageRun::new(merged.page_size, pool);
        Self {
            merged,
            pool,
            keys: EntryKeys::new(merged.entries_plan),
            writer: IndexPageWriter::new(run, merged.page_size.bytes()),
            chunk: RecordChunk::new(),
            entry: EntryKey::default(),
            previous: EntryKey::default(),
        }
    }

    /// Merges a turn. Passes all of its parts but the last one to `place`.
    fn merge(&mut self, turn: Turn, place: impl Fn(IndexBuilder)) -> InPart<IndexBuilder> {
        let number = turn.number;
        self.merge_turn(turn, place).map_err(|error| (number, error))
    }

    fn merge_turn(&mut self, turn: Turn, place: impl Fn(IndexBuilder)) -> Result<IndexBuilder> {
        let Turn { old, before, ranks, .. } = turn;
        let mut duplicates = DuplicateCheck::new(self.merged.plan, &[]);
        let mut new = NewItems::open(self.merged.new, ranks, before.is_none(), &mut duplicates)?;
        self.previous = before.unwrap_or_default();
        if duplicates.is_needed() && !self.previous.item().is_empty() {
            duplicates.keep(self.previous.item());
        }
        if new.item().is_some_and(|item| self.previous.compare(new.start, item) != Ordering::Less) {
            return Err(self.merged.out_of_order());
        }
        if let Some(mut old) = old {
            while self.fill(&mut old)? {
                self.merge_chunk(&mut new, &mut duplicates, &place)?;
                self.place_if_full(&place);
            }
        }
        while let Some(item) = new.item() {
            add_new(&mut self.writer, self.merged.plan, item, &mut duplicates)?;
            new.advance()?;
            self.place_if_full(&place);
        }
        Ok(self.end_part())
    }

    /// Reads the next old entries. Returns `false` if there are none.
    fn fill(&mut self, old: &mut ScanPart) -> Result<bool> {
        self.merged.progress.go_on()?;
        self.keys.begin_chunk();
        self.chunk.clear();
        old.fill(&mut self.chunk)?;
        Ok(!self.chunk.is_empty())
    }

    /// Adds the old entries of the chunk, and the new ones before each of them.
    fn merge_chunk(
        &mut self,
        new: &mut NewItems<'_>,
        duplicates: &mut DuplicateCheck<'_, IndexPlan>,
        place: &impl Fn(IndexBuilder),
    ) -> Result<()> {
        let checks = duplicates.is_needed();
        for row in 0..self.chunk.len() {
            self.keys.make(&self.chunk, row, &mut self.entry)?;
            if !self.entry.follows(&self.previous) {
                return Err(self.merged.out_of_order());
            }
            while let Some(item) = new.item() {
                match self.entry.compare(new.start, item) {
                    Ordering::Less => break,
                    Ordering::Equal => return Err(self.merged.out_of_order()),
                    Ordering::Greater => add_new(&mut self.writer, self.merged.plan, item, duplicates)?,
                }
                new.advance()?;
                self.place_if_full(place);
            }
            if checks {
                duplicates.check(self.entry.item())?;
            }
            self.writer.add_record(self.chunk.record(row));
            std::mem::swap(&mut self.entry, &mut self.previous);
        }
        Ok(())
    }

    /// Ends the part if it is much larger than others.
    fn place_if_full(&mut self, place: &impl Fn(IndexBuilder)) {
        if self.writer.run().bytes() >= 2 * PART_BYTES {
            place(self.end_part());
        }
    }

    /// Takes the leaves of a part.
    fn end_part(&mut self) -> IndexBuilder {
        let page_size = self.merged.page_size;
        self.writer.begin_part(PageRun::new(page_size, self.pool), page_size.bytes())
    }
}

/// Adds a new entry.
fn add_new(
    writer: &mut IndexPageWriter,
    plan: &IndexPlan,
    item: PaddedItem<'_>,
    duplicates: &mut DuplicateCheck<'_, IndexPlan>,
) -> Result<()> {
    if duplicates.is_needed() {
        duplicates.check(item.item())?;
    }
    plan.add(writer, item)
}

/// The new items of a turn, one after another.
struct NewItems<'s> {
    items: Merge<'s>,
    /// The [start](start_of) of the current item.
    start: u128,
    is_at_end: bool,
}

impl<'s> NewItems<'s> {
    /// Opens the items of these ranks. `is_first` says that no old entry comes before them: the new one before them is kept to find
    /// duplicates.
    fn open(
        sorted: &'s SortedItems,
        ranks: Range<u64>,
        is_first: bool,
        duplicates: &mut DuplicateCheck<'_, IndexPlan>,
    ) -> Result<Self> {
        let keeps = is_first && ranks.start > 0 && duplicates.is_needed();
        let mut items = sorted.range(ranks.start - u64::from(keeps)..ranks.end)?;
        if keeps {
            duplicates.keep(items.next()?.expect("as many items as ranks"));
        }
        let mut new = Self { items, start: 0, is_at_end: false };
        new.advance()?;
        Ok(new)
    }

    /// Returns the current item; `None` behind the last one.
    #[inline]
    fn item(&self) -> Option<PaddedItem<'_>> {
        (!self.is_at_end).then(|| self.items.current())
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        match self.items.next_padded()? {
            Some(item) => self.start = start_of(item),
            None => self.is_at_end = true,
        }
        Ok(())
    }
}
