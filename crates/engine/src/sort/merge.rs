//! The merge of sorted runs: a tree of losers over one cursor a run.
//!
//! ```text
//!            winner: cursor 2
//!              node 1: 0               each inner node holds the loser of the match below it;
//!         node 2: 1    node 3: 3       when the winner moves on, only its path to the top is played again
//!        cursor 0  1  cursor 2  3
//! ```
//!
//! A match is nearly always decided by 16 of the bytes that vary among all items (see `varying`).

use super::delta::RunDecoder;
use super::packing::Packing;
use super::run::{MemoryRun, SLACK_BYTES};
use super::sorted_buckets::BucketCursor;
use super::varying::MatchBytes;
use crate::Result;

/// An item, and behind it at least [`SLACK_BYTES`] of anything: short items can be read in whole
/// words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemWithSlack<'s> {
    pub bytes: &'s [u8],
    pub len: usize,
}

impl<'s> ItemWithSlack<'s> {
    /// The item alone.
    #[inline]
    pub fn item(self) -> &'s [u8] {
        &self.bytes[..self.len]
    }
}

/// Items in order that are at hand.
#[derive(Clone, Debug)]
pub(crate) enum ItemsAtHand<'s> {
    Words(ItemBatch<'s>),
    Run(RunItems<'s>),
}

impl ItemsAtHand<'_> {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Words(batch) => batch.len(),
            Self::Run(items) => items.len(),
        }
    }

    /// The first `most` of them.
    fn first(self, most: u64) -> Self {
        let count = usize::try_from(most).map_or(self.len(), |most| self.len().min(most));
        match self {
            Self::Words(batch) => Self::Words(ItemBatch { words: &batch.words[..count], ..batch }),
            Self::Run(items) => Self::Run(RunItems { end: items.start + count, ..items }),
        }
    }
}

/// Items that follow one another in a sorted run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunItems<'s> {
    run: &'s MemoryRun,
    start: usize,
    end: usize,
}

impl<'s> RunItems<'s> {
    pub(super) fn new(run: &'s MemoryRun, start: usize) -> Self {
        Self { run, start, end: run.len() }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Each item.
    pub fn iter(self) -> impl Iterator<Item = ItemWithSlack<'s>> {
        (self.start..self.end).map(move |index| {
            self.run.approach(index);
            self.run.item_with_slack(index)
        })
    }
}

/// Items in order, as words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemBatch<'s> {
    words: &'s [u64],
    packing: &'s Packing,
}

impl<'s> ItemBatch<'s> {
    pub(super) fn new(words: &'s [u64], packing: &'s Packing) -> Self {
        Self { words, packing }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Writes item `index` to the start of `room`; its length.
    #[inline]
    pub fn write(&self, index: usize, room: &mut [u8; SLACK_BYTES]) -> usize {
        self.packing.with_item(self.words[index], |item| {
            room[..item.len()].copy_from_slice(item);
            item.len()
        })
    }

    /// Hands out each item.
    pub fn try_for_each(&self, mut each: impl FnMut(ItemWithSlack<'_>) -> Result<()>) -> Result<()> {
        let mut room = [0; SLACK_BYTES];
        (0..self.len()).try_for_each(|index| {
            let len = self.write(index, &mut room);
            each(ItemWithSlack { bytes: &room, len })
        })
    }

    /// How many of the first bytes of items stand in words in front of their tails.
    pub fn bytes_before_tail(&self) -> usize {
        self.packing.bytes_before_tail()
    }

    /// Whether item `index` is as long as the one before it, and the same up to its tail.
    #[inline]
    pub fn is_alike(&self, index: usize) -> bool {
        self.words.get(index).is_some_and(|word| (word ^ self.words[index - 1]) & self.packing.before_tail() == 0)
    }

    /// Tails of the items from `index` on that are as long as the one before it, the same up to their tails, and have tails
    /// that are `wanted`, as that one is, and all between two that are; `most` of them.
    #[inline]
    pub fn alike(&self, index: usize, most: usize, wanted: impl Fn(u64) -> bool) -> impl ExactSizeIterator<Item = u64> {
        let (before, same, tail_shift) = (self.words[index - 1], self.packing.before_tail(), self.packing.tail_shift());
        let words = &self.words[index..self.words.len().min(index.saturating_add(most))];
        let is_alike = |word: &u64| (word ^ before) & same == 0 && wanted(word << tail_shift);
        // They are in order, and mostly all are.
        let are_all = words.last().is_some_and(is_alike) && words.first().is_some_and(is_alike);
        let count = if are_all { words.len() } else { words.partition_point(is_alike) };
        words[..count].iter().map(move |word| word << tail_shift)
    }
}

/// One run's current item.
#[derive(Debug)]
pub(super) enum Cursor<'s> {
    Memory { run: &'s MemoryRun, index: usize, start: usize, end: usize },
    Buckets(BucketCursor<'s>),
    Spilled(RunDecoder<'s>),
}

impl<'s> Cursor<'s> {
    /// At the first item of `run` that is not less than `key`.
    pub fn in_memory(run: &'s MemoryRun, key: &[u8]) -> Self {
        let index = run.rank(key);
        let (start, end) = if index < run.len() { run.bounds(index) } else { (0, 0) };
        Self::Memory { run, index, start, end }
    }

    /// Items before the current one.
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
        self.item_with_slack().item()
    }

    #[inline]
    fn item_with_slack(&self) -> ItemWithSlack<'_> {
        match self {
            Self::Memory { run, start, end, .. } => ItemWithSlack { bytes: &run.bytes()[*start..], len: end - start },
            Self::Buckets(cursor) => cursor.item_with_slack(),
            Self::Spilled(decoder) => ItemWithSlack { bytes: decoder.item_and_slack(), len: decoder.item().len() },
        }
    }

    /// The items from the current one on that are at hand.
    fn at_hand(&self) -> Option<ItemsAtHand<'_>> {
        match self {
            _ if self.is_at_end() => None,
            Self::Memory { run, index, .. } => Some(ItemsAtHand::Run(RunItems::new(run, *index))),
            Self::Buckets(cursor) => Some(cursor.at_hand()),
            Self::Spilled(_) => None,
        }
    }

    /// As [`advance`](Self::advance), `count` times; there are as many items.
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
                    run.approach(*index);
                    (*start, *end) = run.bounds(*index);
                }
                Ok(())
            }
            Self::Buckets(cursor) => cursor.advance(),
            Self::Spilled(decoder) => decoder.advance(),
        }
    }

    /// The 16 bytes that decide matches; the greatest at the end.
    #[inline]
    fn key(&self, bytes: MatchBytes) -> u128 {
        if self.is_at_end() {
            return u128::MAX;
        }
        match self {
            Self::Memory { run, start, .. } => bytes.of(&run.bytes()[*start..]),
            Self::Buckets(cursor) => bytes.of(cursor.item_with_slack().bytes),
            Self::Spilled(decoder) if bytes.are_the_first() => decoder.start(),
            Self::Spilled(decoder) => bytes.of(decoder.item_and_slack()),
        }
    }
}

/// Streams the items of some runs in order.
#[derive(Debug)]
pub(crate) struct Merge<'s> {
    cursors: Vec<Cursor<'s>>,
    keys: Vec<u128>,
    /// Losers from index 1 on.
    losers: Vec<u32>,
    winner: u32,
    bytes: MatchBytes,
    remaining: u64,
    /// Items of the winner that are handed out: it moves on before the next match.
    handed_out: u64,
}

impl<'s> Merge<'s> {
    /// `count` items from where the cursors are; matches look at these `bytes`.
    pub(super) fn new(cursors: Vec<Cursor<'s>>, bytes: MatchBytes, count: u64) -> Self {
        let keys = cursors.iter().map(|cursor| cursor.key(bytes)).collect();
        let losers = vec![0; cursors.len()];
        let mut merge = Self { cursors, keys, losers, winner: 0, bytes, remaining: count, handed_out: 0 };
        if !merge.cursors.is_empty() {
            merge.winner = merge.play_all(1);
        }
        merge
    }

    /// The winner among the cursors below `node`.
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

    /// Decides where those 16 bytes do not.
    #[cold]
    #[inline(never)]
    fn beats_behind(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.cursors[a as usize], &self.cursors[b as usize]);
        match (a.is_at_end(), b.is_at_end()) {
            (false, false) => a.item() < b.item(),
            (a_ended, b_ended) => !a_ended && b_ended,
        }
    }

    /// The next item.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_with_slack()?.map(ItemWithSlack::item))
    }

    /// The next item, and what stands behind it.
    #[inline]
    pub fn next_with_slack(&mut self) -> Result<Option<ItemWithSlack<'_>>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        self.remaining -= 1;
        self.move_on()?;
        self.handed_out = 1;
        Ok(Some(self.cursors[self.winner as usize].item_with_slack()))
    }

    /// The next items, up to `most` of them, where no others come between those that one run has at hand.
    pub fn next_at_hand(&mut self, most: u64) -> Result<Option<ItemsAtHand<'_>>> {
        if self.remaining == 0 || most == 0 || self.cursors.len() > 1 {
            return Ok(None);
        }
        self.move_on()?;
        let items = self.cursors.first().and_then(Cursor::at_hand).map(|items| items.first(most.min(self.remaining)));
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

    /// Leaves out `count` items.
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
