//! The order of long items: entries of eight key bytes and a place in the arena.
//!
//! ```text
//! arena    [length varint][item] [length varint][item] ...     in the order of arrival
//! entry    [8 bytes of the item that vary in the group][place of the item, 8 bytes]
//! ```
//!
//! The eight bytes of an entry are the first ones that are not the same in all items of its group: of three integers
//! of nine bytes each, mostly zeros, they tell almost all. The radix sort decides by them. A group that has them in
//! common too is given the next eight and sorted again, so that the arena is visited once for each such step and not
//! once for each comparison. Where an item ends, whatever lies behind it counts: no item is a prefix of another, so
//! that two of them differ before that.

use super::radix::{self, Digit, Order};
use super::run::SLACK_BYTES;
use super::varying::{Varying, WINDOW_BYTES};
use super::words;
use std::cmp::Ordering;

/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = 16;

pub(super) type Entry = [u8; ENTRY_BYTES];

const PREFIX_BYTES: usize = 8;

const _: () = assert!(WINDOW_BYTES <= SLACK_BYTES);

/// Groups that still tie after this many steps are sorted by comparison: items built to have ever longer common
/// prefixes would take the steps deep into the stack.
const MAX_STEPS: u32 = 32;

/// Bytes of the longest length varint.
pub(super) const MAX_LENGTH_BYTES: usize = 10;

/// Appends the length of an item to `out`, seven bits a byte, lowest first.
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

/// Reads a length, and returns it with the number of its bytes.
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

/// The place that an entry points to.
#[inline]
pub(super) fn place(entry: &Entry) -> usize {
    let place = u64::from_be_bytes(entry[PREFIX_BYTES..].try_into().expect("eight bytes"));
    usize::try_from(place).expect("a place in memory")
}

/// The item at `place` of the arena.
#[inline]
pub(super) fn item(arena: &[u8], place: usize) -> &[u8] {
    let (length, width) = read_length(&arena[place..]);
    &arena[place + width..place + width + length]
}

/// Sorts the items of `arena`: fills `entries`, one for each of them. `scratch` has the same length. Behind the items
/// there are [`SLACK_BYTES`] of anything. Returns what varies in the items' first bytes.
pub(super) fn sort(arena: &[u8], entries: &mut [Entry], scratch: &mut [Entry]) -> Varying {
    let mut place = 0;
    for entry in entries.iter_mut() {
        entry[PREFIX_BYTES..].copy_from_slice(&(place as u64).to_be_bytes());
        let (length, width) = read_length(&arena[place..]);
        place += width + length;
    }
    let varying = Varying::of_windows(entries.iter().map(|entry| window(arena, entry, 0)));
    match WordOrder::new(arena, &varying.bits, entries.len()) {
        Some(order) => order.sort(entries, scratch),
        None => sort_by_bytes(arena, 0, 0, &varying.bits, entries, scratch),
    }
    varying
}

/// Few items that some bits tell apart, as words that the nearest caches hold.
///
/// ```text
/// word     [bits that vary in eight bytes][place]
/// ```
struct WordOrder<'a> {
    arena: &'a [u8],
    /// Where the eight bytes stand in items, and which of their bits are looked at.
    at: usize,
    digit: Digit,
    place_bits: u32,
}

impl<'a> WordOrder<'a> {
    const MOST_ITEMS: usize = 1 << 17;
    /// With so many bits more than the items' number has, few of these have the same ones.
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
        words::sort(&mut words, &mut Vec::new());
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

/// Sorts entries whose items have `depth` bytes in common.
fn sort_behind(arena: &[u8], depth: usize, step: u32, entries: &mut [Entry], scratch: &mut [Entry]) {
    if step == MAX_STEPS {
        return entries.sort_unstable_by(|a, b| rest(arena, a, depth).cmp(rest(arena, b, depth)));
    }
    let varying = Varying::of_windows(entries.iter().map(|entry| window(arena, entry, depth)));
    sort_by_bytes(arena, depth, step, &varying.bits, entries, scratch);
}

/// Sorts entries whose items have `depth` bytes in common, and behind those vary in these bits.
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
        // A step as well: a long common beginning must not go as deep as it is long.
        sort_behind(arena, depth, step + 1, entries, scratch);
    }
}

/// The item from `depth` on.
fn rest<'a>(arena: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8] {
    &item(arena, place(entry))[depth..]
}

/// The window of an item from `depth` on, and what lies behind where the item ends.
#[inline]
fn window<'a>(arena: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8; WINDOW_BYTES] {
    let place = place(entry);
    let (_, width) = read_length(&arena[place..]);
    arena[place + width + depth..].first_chunk().expect("slack behind the items")
}

/// Gives each entry the first varying bytes of its window, and returns how many bytes of the window they tell.
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

/// Entries whose items have `depth` bytes in common, and `behind` where their eight bytes are equal.
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

/// How many bytes two strings have in common, from the front.
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
