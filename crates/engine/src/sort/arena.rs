//! Sorts long items by entries of eight key bytes and a place in the arena: key-prefix sort (AlphaSort, Nyberg 1994),
//! most significant bytes first.
//!
//! ```text
//! arena    [length varint][item] [length varint][item] ...     in order of arrival
//! entry    [8 bytes of the item that vary in the group][place of the item, 8 bytes]
//! ```
//!
//! The eight bytes of an entry are the first ones that differ anywhere in its group. In a key of three integers,
//! mostly zeros, they decide nearly everything. The radix sort compares only them. A group in which they are equal
//! gets the next eight bytes and is sorted again, so the arena is visited once a step instead of once a comparison.
//! Bytes behind an item's end do no harm: no item is a prefix of another, so two items differ before either ends.

use super::diff_mask::{DiffMask, WINDOW_BYTES};
use super::item::PADDING_BYTES;
use super::radix::{self, Digit, Order};
use super::radix_u64;
use std::cmp::Ordering;

/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = 16;

pub(super) type Entry = [u8; ENTRY_BYTES];

const PREFIX_BYTES: usize = 8;

const _: () = assert!(WINDOW_BYTES <= PADDING_BYTES);

/// Groups that still tie after this many steps are sorted by comparison. Items with ever longer common prefixes would
/// otherwise recurse too deep.
const MAX_STEPS: u32 = 32;

/// Bytes of the longest length varint.
pub(super) const MAX_LENGTH_BYTES: usize = 10;

/// Writes an item's length to the start of `out`: seven bits a byte, lowest first. Returns its width.
#[inline]
pub(super) fn write_length(mut length: usize, out: &mut [u8]) -> usize {
    let mut at = 0;
    while length >= 0x80 {
        out[at] = seven_bits(length) | 0x80;
        length >>= 7;
        at += 1;
    }
    out[at] = seven_bits(length);
    at + 1
}

#[inline]
pub(super) fn seven_bits(length: usize) -> u8 {
    u8::try_from(length & 0x7f).expect("seven bits")
}

/// Reads a length. Returns it with its width in bytes.
#[inline]
pub(super) fn read_length(bytes: &[u8]) -> (usize, usize) {
    let first = usize::from(bytes[0]);
    if first < 0x80 {
        return (first, 1);
    }
    let (mut length, mut at) = (first & 0x7f, 1);
    loop {
        let byte = usize::from(bytes[at]);
        length |= (byte & 0x7f) << (7 * at);
        at += 1;
        if byte < 0x80 {
            return (length, at);
        }
    }
}

/// Returns the place of the entry's item in the arena.
#[inline]
pub(super) fn place(entry: &Entry) -> usize {
    let place = u64::from_be_bytes(entry[PREFIX_BYTES..].try_into().expect("eight bytes"));
    usize::try_from(place).expect("a place in memory")
}

/// Returns the item at `place` of the arena.
#[inline]
pub(super) fn item(arena: &[u8], place: usize) -> &[u8] {
    let (length, width) = read_length(&arena[place..]);
    &arena[place + width..place + width + length]
}

/// Sorts the items of `arena` by filling `entries`, one for each of them. `scratch` has the same length. The items
/// must be followed by [`PADDING_BYTES`] of any content. Returns the mask of varying bits of the items' first bytes.
pub(super) fn sort(arena: &[u8], entries: &mut [Entry], scratch: &mut [Entry]) -> DiffMask {
    let mut place = 0;
    for entry in entries.iter_mut() {
        entry[PREFIX_BYTES..].copy_from_slice(&(place as u64).to_be_bytes());
        let (length, width) = read_length(&arena[place..]);
        place += width + length;
    }
    let varying = DiffMask::of_windows(entries.iter().map(|entry| window(arena, entry, 0)));
    match WordOrder::new(arena, &varying.bits, entries.len()) {
        Some(order) => order.sort(entries, scratch),
        None => sort_by_bytes(arena, 0, 0, &varying.bits, entries, scratch),
    }
    varying
}

/// A sort of few items by words that fit the processor's caches, if a few bits nearly always decide.
///
/// ```text
/// word     [varying bits of eight bytes][place]
/// ```
struct WordOrder<'a> {
    arena: &'a [u8],
    /// Offset of the eight bytes in an item, and the bits of them that are used.
    at: usize,
    digit: Digit,
    place_bits: u32,
}

impl<'a> WordOrder<'a> {
    const MOST_ITEMS: usize = 1 << 17;
    /// Spare bits beyond log2(items) that keep ties rare.
    const BITS_TO_SPARE: u32 = 4;

    fn new(arena: &'a [u8], varying: &[u8; WINDOW_BYTES], items: usize) -> Option<Self> {
        let place_bits = usize::BITS - arena.len().leading_zeros();
        let at = varying.iter().position(|&bits| bits != 0)?.min(WINDOW_BYTES - PREFIX_BYTES);
        let digit = Digit::topmost(word(varying, at), u64::BITS.saturating_sub(place_bits));
        let tells = items <= Self::MOST_ITEMS && digit.bits >= items.max(1).ilog2() + Self::BITS_TO_SPARE;
        tells.then_some(Self { arena, at, digit, place_bits })
    }

    fn sort(&self, entries: &mut [Entry], scratch: &mut [Entry]) {
        let word_of = |entry: &Entry| {
            let bits = self.digit.of_word::<{ Digit::MAX_FIELDS }>(word(window(self.arena, entry, 0), self.at));
            (bits as u64) << self.place_bits | place(entry) as u64
        };
        let mut words: Vec<u64> = entries.iter().map(word_of).collect();
        radix_u64::sort(&mut words, &mut Vec::new());
        let place_mask = (1 << self.place_bits) - 1;
        for (entry, word) in entries.iter_mut().zip(&words) {
            entry[PREFIX_BYTES..].copy_from_slice(&(word & place_mask).to_be_bytes());
        }
        let mut start = 0;
        for ties in words.chunk_by(|a, b| (a ^ b) & !place_mask == 0) {
            let range = start..start + ties.len();
            start = range.end;
            if ties.len() > 1 {
                sort_behind(self.arena, 0, 1, &mut entries[range.clone()], &mut scratch[range]);
            }
        }
    }
}

/// Sorts entries whose items share their first `depth` bytes.
fn sort_behind(arena: &[u8], depth: usize, step: u32, entries: &mut [Entry], scratch: &mut [Entry]) {
    if step == MAX_STEPS {
        return entries.sort_unstable_by(|a, b| rest(arena, a, depth).cmp(rest(arena, b, depth)));
    }
    let varying = DiffMask::of_windows(entries.iter().map(|entry| window(arena, entry, depth)));
    sort_by_bytes(arena, depth, step, &varying.bits, entries, scratch);
}

/// Sorts entries whose items share their first `depth` bytes and vary in these bits behind them.
fn sort_by_bytes(
    arena: &[u8],
    depth: usize,
    step: u32,
    varying: &[u8; WINDOW_BYTES],
    entries: &mut [Entry],
    scratch: &mut [Entry],
) {
    if let Some(last) = varying.iter().rposition(|&bits| bits != 0) {
        let behind = depth + load_varying(arena, depth, varying, last, entries);
        radix::sort(&ArenaOrder { arena, depth, behind, step }, entries, scratch);
    } else if entries.len() > 1 && !rest(arena, &entries[0], depth).is_empty() {
        let depth = depth + item(arena, place(&entries[0])).len().saturating_sub(depth).min(WINDOW_BYTES);
        // This counts as a step: a long common prefix must not cause as many recursions as it has bytes.
        sort_behind(arena, depth, step + 1, entries, scratch);
    }
}

/// Returns the item from `depth` on.
fn rest<'a>(arena: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8] {
    &item(arena, place(entry))[depth..]
}

/// Returns the item's bytes from `depth` on. The window may extend behind the item's end.
#[inline]
fn window<'a>(arena: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8; WINDOW_BYTES] {
    let place = place(entry);
    let (_, width) = read_length(&arena[place..]);
    arena[place + width + depth..].first_chunk().expect("padding behind the items")
}

/// Fills each entry with the first varying bytes of its window. Returns how many bytes of the window these cover.
fn load_varying(arena: &[u8], depth: usize, varying: &[u8; WINDOW_BYTES], last: usize, entries: &mut [Entry]) -> usize {
    let mut positions = [last; PREFIX_BYTES];
    let vary = (0..WINDOW_BYTES).filter(|&position| varying[position] != 0);
    for (position, varies) in positions.iter_mut().zip(vary) {
        *position = varies;
    }
    for entry in entries {
        let window = window(arena, entry, depth);
        let prefix = positions.map(|position| window[position]);
        entry[..PREFIX_BYTES].copy_from_slice(&prefix);
    }
    let told = positions[PREFIX_BYTES - 1];
    if told == last { WINDOW_BYTES } else { told + 1 }
}

/// The order of entries whose items share their first `depth` bytes, and `behind` bytes if their eight bytes are
/// equal.
struct ArenaOrder<'a> {
    arena: &'a [u8],
    depth: usize,
    behind: usize,
    step: u32,
}

impl ArenaOrder<'_> {
    #[cold]
    fn compare_items(&self, a: &Entry, b: &Entry) -> Ordering {
        rest(self.arena, a, self.depth).cmp(rest(self.arena, b, self.depth))
    }
}

impl Order<ENTRY_BYTES> for ArenaOrder<'_> {
    const KEY: usize = PREFIX_BYTES;

    #[inline]
    fn compare(&self, a: &Entry, b: &Entry) -> Ordering {
        match word(a, 0).cmp(&word(b, 0)) {
            Ordering::Equal => self.compare_items(a, b),
            decided => decided,
        }
    }

    fn sort_ties(&self, entries: &mut [Entry], scratch: &mut [Entry]) {
        sort_behind(self.arena, self.behind, self.step + 1, entries, scratch);
    }
}

/// Returns the length of the common prefix of two byte strings.
#[inline]
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let shorter = a.len().min(b.len());
    let mut at = 0;
    while at + 8 <= shorter {
        let differ = word(a, at) ^ word(b, at);
        if differ != 0 {
            return at + (differ.leading_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < shorter && a[at] == b[at] {
        at += 1;
    }
    at
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
