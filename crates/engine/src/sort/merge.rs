//! K-way merge of sorted runs with a loser tree (Knuth 5.4.1), over one cursor a run.
//!
//! ```text
//!            winner: cursor 2
//!              node 1: 0               each inner node holds the loser of the match below it;
//!         node 2: 1    node 3: 3       when the winner advances, only its path to the top is replayed
//!        cursor 0  1  cursor 2  3
//! ```
//!
//! A match is nearly always decided by 16 of the bytes that vary among all items (see `diff_mask`).

use super::batch::{ReadyBatch, RunItems};
use super::buckets::sorted_buckets::BucketCursor;
use super::diff_mask::ByteSelector;
use super::item::PaddedItem;
use super::prefix_codec::RunDecoder;
use super::run::SortedRun;
use crate::Result;

/// The current item of one run.
#[derive(Debug)]
pub(super) enum Cursor<'s> {
    Memory { run: &'s SortedRun, index: usize, start: usize, end: usize },
    Buckets(BucketCursor<'s>),
    Spilled(RunDecoder<'s>),
}

impl<'s> Cursor<'s> {
    /// Opens `run` at its first item that is not less than `key`.
    pub fn in_memory(run: &'s SortedRun, key: &[u8]) -> Self {
        let index = run.rank(key);
        let (start, end) = if index < run.len() { run.bounds(index) } else { (0, 0) };
        Self::Memory { run, index, start, end }
    }

    /// Returns the number of items before the current one.
    pub fn ordinal(&self) -> u64 {
        match self {
            Self::Memory { index, .. } => *index as u64,
            Self::Buckets(cursor) => cursor.ordinal(),
            Self::Spilled(decoder) => decoder.ordinal(),
        }
    }

    #[inline]
    fn is_at_end(&self) -> bool {
        match self {
            Self::Memory { run, index, .. } => *index >= run.len(),
            Self::Buckets(cursor) => cursor.is_at_end(),
            Self::Spilled(decoder) => decoder.is_at_end(),
        }
    }

    #[inline]
    fn item(&self) -> &[u8] {
        self.padded_item().item()
    }

    #[inline]
    fn padded_item(&self) -> PaddedItem<'_> {
        match self {
            Self::Memory { run, start, end, .. } => PaddedItem { bytes: &run.bytes()[*start..], len: end - start },
            Self::Buckets(cursor) => cursor.padded_item(),
            Self::Spilled(decoder) => PaddedItem { bytes: decoder.padded_bytes(), len: decoder.item().len() },
        }
    }

    /// Returns the ready items from the current one on, if the run has decoded them already.
    fn ready_batch(&self) -> Option<ReadyBatch<'_>> {
        match self {
            _ if self.is_at_end() => None,
            Self::Memory { run, index, .. } => Some(ReadyBatch::Run(RunItems::new(run, *index))),
            Self::Buckets(cursor) => Some(cursor.ready_batch()),
            Self::Spilled(_) => None,
        }
    }

    /// Advances `count` times; the run must have that many items left.
    fn skip(&mut self, count: u64) -> Result<()> {
        match self {
            Self::Buckets(cursor) => cursor.skip(count),
            Self::Memory { run, index, start, end } => {
                *index += usize::try_from(count).expect("no more than there are");
                if *index < run.len() {
                    (*start, *end) = run.bounds(*index);
                }
                Ok(())
            }
            Self::Spilled(_) => (0..count).try_for_each(|_| self.advance()),
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory { run, index, start, end } => {
                *index += 1;
                if *index < run.len() {
                    run.prefetch(*index);
                    (*start, *end) = run.bounds(*index);
                }
                Ok(())
            }
            Self::Buckets(cursor) => cursor.advance(),
            Self::Spilled(decoder) => decoder.advance(),
        }
    }

    /// Returns the 16 bytes that decide matches; the maximum at the end.
    #[inline]
    fn key(&self, bytes: ByteSelector) -> u128 {
        if self.is_at_end() {
            return u128::MAX;
        }
        match self {
            Self::Memory { run, start, .. } => bytes.of(&run.bytes()[*start..]),
            Self::Buckets(cursor) => bytes.of(cursor.padded_item().bytes),
            Self::Spilled(decoder) if bytes.is_first_16() => decoder.start(),
            Self::Spilled(decoder) => bytes.of(decoder.padded_bytes()),
        }
    }
}

/// Streams the items of some runs in order.
#[derive(Debug)]
pub(crate) struct Merge<'s> {
    cursors: Vec<Cursor<'s>>,
    keys: Vec<u128>,
    /// The loser of each inner node; index 0 is unused.
    losers: Vec<u32>,
    winner: u32,
    bytes: ByteSelector,
    remaining: u64,
    /// Items of the winner that were returned already: the winner advances before the next match.
    handed_out: u64,
}

impl<'s> Merge<'s> {
    /// Merges `count` items from the cursors' positions on. Matches compare these `bytes` first.
    pub(super) fn new(cursors: Vec<Cursor<'s>>, bytes: ByteSelector, count: u64) -> Self {
        let keys = cursors.iter().map(|cursor| cursor.key(bytes)).collect();
        let losers = vec![0; cursors.len()];
        let mut merge = Self { cursors, keys, losers, winner: 0, bytes, remaining: count, handed_out: 0 };
        if !merge.cursors.is_empty() {
            merge.winner = merge.play_all(1);
        }
        merge
    }

    /// Plays all matches below `node`. Returns the winner.
    fn play_all(&mut self, node: usize) -> u32 {
        if node >= self.cursors.len() {
            return u32::try_from(node - self.cursors.len()).expect("few runs");
        }
        let (left, right) = (self.play_all(2 * node), self.play_all(2 * node + 1));
        let left_wins = self.beats(left, right);
        self.losers[node] = if left_wins { right } else { left };
        if left_wins { left } else { right }
    }

    fn beats(&self, a: u32, b: u32) -> bool {
        let (key_a, key_b) = (self.keys[a as usize], self.keys[b as usize]);
        key_a < key_b || key_a == key_b && self.beats_behind(a, b)
    }

    /// Decides a match whose 16 bytes are equal.
    #[cold]
    #[inline(never)]
    fn beats_behind(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.cursors[a as usize], &self.cursors[b as usize]);
        match (a.is_at_end(), b.is_at_end()) {
            (false, false) => a.item() < b.item(),
            (a_ended, b_ended) => !a_ended && b_ended,
        }
    }

    /// Returns the next item.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_padded()?.map(PaddedItem::item))
    }

    /// Returns the next item with the padding behind it.
    #[inline]
    pub fn next_padded(&mut self) -> Result<Option<PaddedItem<'_>>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        self.remaining -= 1;
        self.move_on()?;
        self.handed_out = 1;
        Ok(Some(self.cursors[self.winner as usize].padded_item()))
    }

    /// Returns the item that [`next_padded`](Self::next_padded) returned last. REQUIRES: it returned one, and nothing was called since.
    #[inline]
    pub fn current(&self) -> PaddedItem<'_> {
        self.cursors[self.winner as usize].padded_item()
    }

    /// Returns the next ready items, up to `most` of them. Returns `None` if several runs must be merged item by
    /// item.
    pub fn next_ready(&mut self, most: u64) -> Result<Option<ReadyBatch<'_>>> {
        if self.remaining == 0 || most == 0 || self.cursors.len() > 1 {
            return Ok(None);
        }
        self.move_on()?;
        let items =
            self.cursors.first().and_then(Cursor::ready_batch).map(|items| items.first(most.min(self.remaining)));
        self.handed_out = items.as_ref().map_or(0, |items| items.len() as u64);
        self.remaining -= self.handed_out;
        Ok(items)
    }

    #[inline]
    fn move_on(&mut self) -> Result<()> {
        match std::mem::take(&mut self.handed_out) {
            0 => Ok(()),
            1 => self.step(),
            many => self.skip(many),
        }
    }

    /// Skips `count` items.
    pub(super) fn skip(&mut self, count: u64) -> Result<()> {
        match &mut self.cursors[..] {
            [alone] => alone.skip(count),
            _ => (0..count).try_for_each(|_| self.step()),
        }
    }

    #[inline]
    fn step(&mut self) -> Result<()> {
        let mut best = self.winner;
        if let [alone] = &mut self.cursors[..] {
            return alone.advance();
        }
        let cursor = &mut self.cursors[best as usize];
        cursor.advance()?;
        let mut best_key = cursor.key(self.bytes);
        self.keys[best as usize] = best_key;
        let mut node = (best as usize + self.cursors.len()) / 2;
        while node > 0 {
            let loser = self.losers[node];
            let key = self.keys[loser as usize];
            let mut loses = key < best_key;
            if key == best_key {
                loses = self.beats_behind(loser, best);
            }
            self.losers[node] = if loses { best } else { loser };
            best = if loses { loser } else { best };
            best_key = if loses { key } else { best_key };
            node /= 2;
        }
        self.winner = best;
        Ok(())
    }
}
