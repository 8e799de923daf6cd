//! Batches of sorted items that a merge hands out at once.

use super::buckets::key_packer::KeyPacker;
use super::item::{PADDING_BYTES, PaddedItem};
use super::run::SortedRun;
use crate::Result;

/// Items in order that one run has ready: no other run has items between them.
#[derive(Clone, Debug)]
pub(crate) enum ReadyBatch<'s> {
    Packed(PackedBatch<'s>),
    Run(RunItems<'s>),
}

impl ReadyBatch<'_> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Packed(batch) => batch.len(),
            Self::Run(items) => items.len(),
        }
    }

    /// Returns the first `most` items.
    pub(super) fn first(self, most: u64) -> Self {
        let count = usize::try_from(most).map_or(self.len(), |most| self.len().min(most));
        match self {
            Self::Packed(batch) => Self::Packed(PackedBatch { keys: &batch.keys[..count], ..batch }),
            Self::Run(items) => Self::Run(RunItems { end: items.start + count, ..items }),
        }
    }
}

/// Consecutive items of a sorted run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunItems<'s> {
    run: &'s SortedRun,
    start: usize,
    end: usize,
}

impl<'s> RunItems<'s> {
    pub(super) fn new(run: &'s SortedRun, start: usize) -> Self {
        Self { run, start, end: run.len() }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns each item.
    pub fn iter(self) -> impl Iterator<Item = PaddedItem<'s>> {
        (self.start..self.end).map(move |index| {
            self.run.prefetch(index);
            self.run.padded_item(index)
        })
    }
}

/// Items in order, as packed keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedBatch<'s> {
    keys: &'s [u64],
    packer: &'s KeyPacker,
}

impl<'s> PackedBatch<'s> {
    pub(super) fn new(keys: &'s [u64], packer: &'s KeyPacker) -> Self {
        Self { keys, packer }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Writes item `index` to the start of `room`. Returns its length.
    #[inline]
    pub fn write(&self, index: usize, room: &mut [u8; PADDING_BYTES]) -> usize {
        self.packer.with_item(self.keys[index], |item| {
            room[..item.len()].copy_from_slice(item);
            item.len()
        })
    }

    /// Hands out each item.
    pub fn try_for_each(&self, mut each: impl FnMut(PaddedItem<'_>) -> Result<()>) -> Result<()> {
        let mut room = [0; PADDING_BYTES];
        (0..self.len()).try_for_each(|index| {
            let len = self.write(index, &mut room);
            each(PaddedItem { bytes: &room, len })
        })
    }

    /// Returns the number of an item's bytes in front of its tail.
    pub fn bytes_before_tail(&self) -> usize {
        self.packer.bytes_before_tail()
    }

    /// Returns whether item `index` has the length of the one before it, and the same bytes up to its tail.
    #[inline]
    pub fn shares_key(&self, index: usize) -> bool {
        self.keys.get(index).is_some_and(|key| (key ^ self.keys[index - 1]) & self.packer.before_tail() == 0)
    }

    /// Returns the tails of up to `most` items from `index` on that share the length and the key of the item before
    /// `index` and whose tails are `wanted`.
    ///
    /// REQUIRES: the tail of the item before `index` is wanted, and so are all tails between two that are.
    #[inline]
    pub fn tails_sharing_key(
        &self,
        index: usize,
        most: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> impl ExactSizeIterator<Item = u64> {
        let (before, same, tail_shift) = (self.keys[index - 1], self.packer.before_tail(), self.packer.tail_shift());
        let keys = &self.keys[index..self.keys.len().min(index.saturating_add(most))];
        let shares_key = |key: &u64| (key ^ before) & same == 0 && wanted(key << tail_shift);
        // Keys are in order, and mostly all of them qualify: look at the last one first.
        let are_all = keys.last().is_some_and(shares_key) && keys.first().is_some_and(shares_key);
        let count = if are_all { keys.len() } else { keys.partition_point(shares_key) };
        keys[..count].iter().map(move |key| key << tail_shift)
    }
}
