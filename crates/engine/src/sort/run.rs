//! A run in memory: filled in order of arrival, then sorted in place.
//!
//! Short items are stored in slots of one width. So sorting moves them whole, and a merge reads them in sequence:
//!
//! ```text
//! slots of 16, every item 16 bytes    [item][item][item] ...
//! slots of 20, items up to 19         [item, zeros, length] ...       the length stands in the last byte
//! ```
//!
//! Long items are stored in an arena, each behind its length, and entries are sorted in their place (see `arena`).
//!
//! A run begins with the narrowest layout that its first item fits. [`RunBuilder::push`] refuses an item that is too
//! wide. The writer then continues in the layout of [`Layout::widened`].

use super::arena::{self, ENTRY_BYTES};
use super::diff_mask::{ByteSelector, DiffMask};
use super::item::{PADDING_BYTES, PaddedItem};
use super::radix::{self, WholeEntry};
use litepress_format::short_bytes::copy_short;
use litepress_format::sort_key::{SHORT_LEN, SHORT_ROOM};
use std::convert::Infallible;

const _: () = assert!(ByteSelector::READ_BYTES <= PADDING_BYTES && MAX_SLOT_BYTES <= PADDING_BYTES);
// Short items are padded with zeros up to there.
const _: () = assert!(MAX_SLOT_BYTES == SHORT_LEN && PADDING_BYTES == SHORT_ROOM);

/// Slot widths that the sort is compiled for.
const SLOTS: [usize; 6] = [8, 12, 16, 20, 24, MAX_SLOT_BYTES];
pub(super) const MAX_SLOT_BYTES: usize = 32;

/// Items of an arena that are prefetched at once.
const ITEMS_AHEAD: usize = 32;

/// The smallest memory of a run.
pub(super) const MIN_MEMORY_BYTES: usize = 1024;

/// The layout of a run's items in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Slots of this many bytes. If `full`, every item is exactly as long as its slot.
    Slots {
        width: usize,
        full: bool,
    },
    Arena,
}

impl Layout {
    /// Returns the layout of packed keys, or of encoded keys of `bytes` bytes each.
    pub fn packed_keys(bytes: usize) -> Self {
        Self::Slots { width: bytes, full: true }
    }

    /// Returns the narrowest layout for items of `len` bytes.
    pub fn for_items_of(len: usize) -> Self {
        let width = SLOTS.into_iter().find(|&width| width >= len);
        width.map_or(Self::Arena, |width| Self::Slots { width, full: width == len })
    }

    /// Returns the layout for items of this one and for one of `len` bytes.
    pub fn widened(self, len: usize) -> Self {
        let Self::Slots { width: old, full } = self else { return Self::Arena };
        let longest = len.max(if full { old } else { old - 1 });
        let width = SLOTS.into_iter().find(|&width| width > longest);
        width.map_or(Self::Arena, |width| Self::Slots { width, full: false })
    }

    /// Returns the layout for items of this one and for all of up to `len` bytes.
    pub fn for_up_to(self, len: usize) -> Self {
        if self.fits(len) && (self.has_lengths() || self == Self::Arena) { self } else { self.widened(len) }
    }

    /// Returns the layout for items of both layouts.
    pub fn and(self, other: Self) -> Self {
        match (self.longest(), other.longest()) {
            _ if self == other => self,
            (Some(longest), Some(other_longest)) if longest > other_longest => other.widened(longest),
            (Some(_), Some(other_longest)) => self.widened(other_longest),
            _ => Self::Arena,
        }
    }

    /// Returns the length of the longest item that fits a slot.
    fn longest(self) -> Option<usize> {
        match self {
            Self::Slots { width, full } => Some(width - usize::from(!full)),
            Self::Arena => None,
        }
    }

    /// Returns the most bytes that `items` items take in this layout, if they take `bytes` in another one.
    pub fn bytes_for(self, items: usize, bytes: usize) -> usize {
        match self {
            Self::Slots { width, .. } => items * width,
            Self::Arena => (bytes + arena::MAX_LENGTH_BYTES * items).max(2 * ENTRY_BYTES * (items + 1)),
        }
    }

    /// Returns whether slots store a length, so that items of several lengths fit.
    pub fn has_lengths(self) -> bool {
        matches!(self, Self::Slots { full: false, .. })
    }

    pub fn fits(self, len: usize) -> bool {
        match self {
            Self::Slots { width, full: true } => len == width,
            Self::Slots { width, full: false } => len < width,
            Self::Arena => true,
        }
    }
}

/// A run that takes items.
#[derive(Debug)]
pub(super) struct RunBuilder {
    memory: Vec<u8>,
    layout: Layout,
    /// The lengths that `push` accepts into slots; an empty range in an arena.
    shortest: usize,
    longest: usize,
    /// Bytes of a slot; 0 in an arena.
    width: usize,
    /// Bytes of memory that may be used.
    limit: usize,
    used: usize,
    items: usize,
    /// Sum of the items' lengths.
    item_bytes: u64,
}

/// The reason why an item is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushError {
    Full,
    TooWide,
}

impl RunBuilder {
    /// Makes an empty run in `memory`, whose last bytes are padding.
    pub fn new(memory: Vec<u8>, layout: Layout) -> Self {
        assert!(memory.len() >= MIN_MEMORY_BYTES, "memory for some items");
        let (width, shortest, longest) = match layout {
            Layout::Slots { width, full: true } => (width, width, width),
            Layout::Slots { width, full: false } => (width, 0, width - 1),
            Layout::Arena => (0, 1, 0),
        };
        let limit = memory.len() - PADDING_BYTES;
        Self { memory, layout, shortest, longest, width, limit, used: 0, items: 0, item_bytes: 0 }
    }

    /// Limits the memory: items are refused once it uses `bytes` bytes.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes.min(self.memory.len() - PADDING_BYTES);
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the bytes of memory that the items take.
    pub fn used(&self) -> usize {
        self.used
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns the sum of the items' lengths.
    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    /// Returns the memory of the items.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.used]
    }

    /// Returns the item in slot `index`.
    pub fn item_in_slot(&self, index: usize) -> &[u8] {
        item_at(&self.memory, self.layout, index * self.width).0
    }

    /// Returns whether all items of a run of the same layout will be accepted.
    pub fn has_room_for(&self, other: &Self) -> bool {
        self.has_room(other.items, other.used + arena::MAX_LENGTH_BYTES)
    }

    /// Returns whether `items` items of up to `len` bytes, which fit its slots, will be accepted.
    pub fn has_room_for_items(&self, items: usize, len: usize) -> bool {
        self.has_room(items, items * self.width.max(arena::MAX_LENGTH_BYTES + len))
    }

    fn has_room(&self, items: usize, bytes: usize) -> bool {
        let entries = 2 * ENTRY_BYTES * (self.items + items);
        self.used + bytes <= self.limit && (self.layout != Layout::Arena || entries <= self.limit)
    }

    /// Appends the memory of items of the same layout. [`count`](Self::count) must follow.
    pub fn append(&mut self, bytes: &[u8]) {
        self.memory[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Counts items that were [appended](Self::append).
    pub fn count(&mut self, items: usize) {
        self.items += items;
    }

    pub fn longest_item(&self) -> usize {
        let mut longest = 0;
        let each = |item: &[u8]| -> Result<(), Infallible> {
            longest = item.len().max(longest);
            Ok(())
        };
        let Ok(()) = self.for_each(each);
        longest
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        (self.used, self.items, self.item_bytes) = (0, 0, 0);
    }

    #[inline]
    pub fn push(&mut self, item: &[u8]) -> Result<(), PushError> {
        if !(self.shortest..=self.longest).contains(&item.len()) {
            return self.push_to_arena(item);
        }
        let Some(room) = self.slot() else { return Err(PushError::Full) };
        room[..MAX_SLOT_BYTES].fill(0);
        copy_short(item, &mut room[..item.len()]);
        assert!(self.commit(item.len()), "a slot takes what fits it");
        Ok(())
    }

    /// Returns the memory of the next slot and the bytes behind it, for an item and zeros. [`commit`](Self::commit)
    /// must follow. Returns `None` if no slot is left, or the layout is an arena.
    #[inline]
    pub fn slot(&mut self) -> Option<&mut [u8; PADDING_BYTES]> {
        let has_room = self.width > 0 && self.used + self.width <= self.limit;
        if has_room { self.memory[self.used..].first_chunk_mut() } else { None }
    }

    /// Takes the item of `len` bytes that was written to [`slot`](Self::slot). Returns `false` if it does not fit a
    /// slot.
    #[inline]
    #[must_use]
    pub fn commit(&mut self, len: usize) -> bool {
        if !(self.shortest..=self.longest).contains(&len) {
            return false;
        }
        if len < self.width {
            self.memory[self.used + self.width - 1] = u8::try_from(len).expect("a slot is short");
        }
        self.used += self.width;
        self.items += 1;
        self.item_bytes += len as u64;
        true
    }

    fn push_to_arena(&mut self, item: &[u8]) -> Result<(), PushError> {
        if self.layout != Layout::Arena {
            assert!(!self.layout.fits(item.len()), "a slot takes what fits it");
            return Err(PushError::TooWide);
        }
        // Entries and their scratch space take a second memory of the same size.
        let entries = 2 * ENTRY_BYTES * (self.items + 1);
        let end = self.used + arena::MAX_LENGTH_BYTES + item.len();
        if end > self.limit || entries > self.limit {
            return Err(PushError::Full);
        }
        self.used += arena::write_length(item.len(), &mut self.memory[self.used..]);
        self.memory[self.used..self.used + item.len()].copy_from_slice(item);
        self.used += item.len();
        self.items += 1;
        self.item_bytes += item.len() as u64;
        Ok(())
    }

    /// Returns the bytes of scratch memory that sorting takes.
    pub fn scratch_bytes(&self) -> usize {
        match self.layout {
            Layout::Slots { .. } => self.used,
            Layout::Arena => 2 * ENTRY_BYTES * self.items,
        }
    }

    /// Sorts the items. Also returns the scratch memory, unless the run keeps its order there.
    pub fn sort(mut self, mut scratch: Vec<u8>) -> (SortedRun, Option<Vec<u8>>) {
        let (used, items) = (self.used, self.items);
        let mut order = Vec::new();
        let varying = match self.layout {
            Layout::Slots { width, .. } => sort_slots(width, &mut self.memory[..used], &mut scratch[..used]),
            Layout::Arena => {
                order = std::mem::take(&mut scratch);
                let (entries, room) = order[..2 * ENTRY_BYTES * items].split_at_mut(ENTRY_BYTES * items);
                let arena = &self.memory[..used + PADDING_BYTES];
                arena::sort(arena, entries.as_chunks_mut().0, room.as_chunks_mut().0)
            }
        };
        let Self { memory, layout, item_bytes, .. } = self;
        let spare = (layout != Layout::Arena).then_some(scratch);
        (SortedRun { memory, order, layout, items, used, item_bytes, varying }, spare)
    }

    pub fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// Hands out the items in order of arrival.
    pub fn for_each<E>(&self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut at = 0;
        for _ in 0..self.items {
            let (item, next) = item_at(&self.memory, self.layout, at);
            each(item)?;
            at = next;
        }
        Ok(())
    }
}

/// Returns the item at `at`, and the offset of the next one.
fn item_at(memory: &[u8], layout: Layout, at: usize) -> (&[u8], usize) {
    match layout {
        Layout::Slots { width, full } => (&memory[at..at + slot_len(memory, at, width, full)], at + width),
        Layout::Arena => {
            let item = arena::item(memory, at);
            let (_, width) = arena::read_length(&memory[at..]);
            (item, at + width + item.len())
        }
    }
}

#[inline]
fn slot_len(memory: &[u8], at: usize, width: usize, full: bool) -> usize {
    if full { width } else { usize::from(memory[at + width - 1]) }
}

fn sort_slots(width: usize, slots: &mut [u8], scratch: &mut [u8]) -> DiffMask {
    fn sort<const N: usize>(slots: &mut [u8], scratch: &mut [u8]) -> DiffMask {
        let slots: &mut [[u8; N]] = slots.as_chunks_mut().0;
        radix::sort(&WholeEntry, slots, scratch.as_chunks_mut().0);
        // Sixteen bytes are compared as a whole.
        if N <= 16 { DiffMask::unknown() } else { DiffMask::of_windows(&*slots) }
    }
    match width {
        8 => sort::<8>(slots, scratch),
        12 => sort::<12>(slots, scratch),
        16 => sort::<16>(slots, scratch),
        20 => sort::<20>(slots, scratch),
        24 => sort::<24>(slots, scratch),
        MAX_SLOT_BYTES => sort::<MAX_SLOT_BYTES>(slots, scratch),
        width => unreachable!("no slots of {width} bytes"),
    }
}

/// A sorted run in memory.
#[derive(Debug)]
pub(super) struct SortedRun {
    memory: Vec<u8>,
    /// The arena's entries in order; empty for slots.
    order: Vec<u8>,
    layout: Layout,
    items: usize,
    used: usize,
    item_bytes: u64,
    varying: DiffMask,
}

impl SortedRun {
    /// Returns a run without items.
    pub fn empty() -> Self {
        let (memory, order, layout) = (Vec::new(), Vec::new(), Layout::Arena);
        Self { memory, order, layout, items: 0, used: 0, item_bytes: 0, varying: DiffMask::unknown() }
    }

    /// Makes a run of items in slots that are in order and followed by [`PADDING_BYTES`] of any content.
    pub fn of_slots(memory: Vec<u8>, layout: Layout, items: usize) -> Self {
        let (order, used) = (Vec::new(), layout.bytes_for(items, 0));
        Self { memory, order, layout, items, used, item_bytes: 0, varying: DiffMask::unknown() }
    }

    pub fn len(&self) -> usize {
        self.items
    }

    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    /// Returns the bytes of memory that are held.
    pub fn held_bytes(&self) -> u64 {
        (self.memory.capacity() + self.order.capacity()) as u64
    }

    /// Frees the unused memory.
    pub fn shrink(&mut self) {
        self.memory.truncate(self.used + PADDING_BYTES);
        self.memory.shrink_to_fit();
        if self.layout == Layout::Arena {
            self.order.truncate(ENTRY_BYTES * self.items);
            self.order.shrink_to_fit();
        }
    }

    /// Returns the memories, for the next run.
    pub fn into_memory(self) -> [Vec<u8>; 2] {
        [self.memory, self.order]
    }

    /// Returns the start and end of item `index` in [`bytes`](Self::bytes).
    #[inline]
    pub fn bounds(&self, index: usize) -> (usize, usize) {
        match self.layout {
            Layout::Slots { width, full } => {
                let start = index * width;
                (start, start + slot_len(&self.memory, start, width, full))
            }
            Layout::Arena => {
                let entry = &self.order[index * ENTRY_BYTES..(index + 1) * ENTRY_BYTES];
                let place = arena::place(entry.first_chunk().expect("an entry"));
                let (len, width) = arena::read_length(&self.memory[place..]);
                (place + width, place + width + len)
            }
        }
    }

    /// Prefetches the next items, some at once, so that their cache misses overlap. REQUIRES: called for every index
    /// in turn.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        if self.layout == Layout::Arena && index.is_multiple_of(ITEMS_AHEAD) {
            self.touch_items(index);
        }
    }

    fn touch_items(&self, index: usize) {
        let end = (index + ITEMS_AHEAD).min(self.items) * ENTRY_BYTES;
        let (entries, _) = self.order[index * ENTRY_BYTES..end].as_chunks();
        let lines = entries.iter().map(|entry| &self.memory[arena::place(entry)..]);
        std::hint::black_box(lines.fold(0, |touched, line| touched ^ line[0] ^ line[PADDING_BYTES - 1]));
    }

    /// Returns the memory of all items, and [`PADDING_BYTES`] behind them.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.memory
    }

    pub fn item(&self, index: usize) -> &[u8] {
        self.padded_item(index).item()
    }

    #[inline]
    pub fn padded_item(&self, index: usize) -> PaddedItem<'_> {
        let (start, end) = self.bounds(index);
        PaddedItem { bytes: &self.memory[start..], len: end - start }
    }

    pub fn varying(&self) -> &DiffMask {
        &self.varying
    }

    /// Returns the number of items less than `key`.
    pub fn rank(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.items);
        while low < high {
            let middle = low.midpoint(high);
            if self.item(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
