//! Packs short items into 64-bit keys: only the bits that vary among the items, and the length.
//!
//! ```text
//! '123456', rowid 70000   fd 31 32 33 34 35 36 00 | a9 11 70
//! '654321', rowid 70001   fd 36 35 34 33 32 31 00 | a9 11 71
//!                             -  -  -  -  -  -      -------------         bits that may vary: in the tail, all
//! packed key                  1  2  3  4  5  6      a9 11 70 00    3      the last three bits are the length
//! ```
//!
//! A packed key has the bits that the longest item needs, and zeros above them. Packed keys compare as their items
//! do: the omitted bits are equal in all items, and no item is a prefix of another. The first items show which bits
//! vary. From the last group of adjacent varying bytes on, every bit may vary: that is the tail. Numbers grow, and
//! rowids stand last.

use crate::sort::run::Layout;

/// Bytes of a packed key.
pub(in crate::sort) const PACKED_BYTES: usize = size_of::<u64>();

/// Bytes of an item's prefix. Longer items are not packed.
const PREFIX_BYTES: usize = 16;

/// The layout of unpacked items: slots that hold any item and its length.
pub(in crate::sort) const UNPACKED_LAYOUT: Layout = Layout::Slots { width: UNPACKED_BYTES, full: false };
const UNPACKED_BYTES: usize = 20;

/// Packed keys that are unpacked at once.
const UNPACK_BATCH: usize = 64;

/// Bits of a packed key that tell the length, and the number of lengths.
pub(in crate::sort) const LENGTH_BITS: u32 = 3;
pub(in crate::sort) const LENGTHS: usize = 1 << LENGTH_BITS;

/// Spare bytes for items longer than the sampled ones, because numbers grow. The first value that fits is used.
const GROWTH_BYTES: [usize; 2] = [2, 1];

/// Returns the bytes of the slots of `items` unpacked items.
pub(in crate::sort) fn unpacked_bytes(items: usize) -> usize {
    items * UNPACKED_BYTES
}

/// Selects the bits of an item that its packed key has.
#[derive(Clone, Debug)]
pub(in crate::sort) struct KeyPacker {
    /// The first item, and the bits of it that all items share.
    first: [u64; 2],
    same: [u64; 2],
    /// The bits that either half of a prefix gives to the key.
    extracts: [BitExtract; 2],
    shortest: usize,
    /// Bytes of an item in front of the tail.
    tail_start: usize,
    /// Bits of a packed key; those for the tail and the length.
    bits: u32,
    tail_bits: u32,
}

impl KeyPacker {
    /// Makes a packer for items with these prefixes and lengths. Returns `None` if they need more than 64 bits.
    pub fn new(prefixes: &[u128], lens: &[usize]) -> Option<Self> {
        let first = *prefixes.first()?;
        let (shortest, longest) = (*lens.iter().min()?, *lens.iter().max()?);
        let differ = prefixes.iter().fold(0, |differ, prefix| differ | prefix ^ first);
        if differ == 0 {
            return None;
        }
        GROWTH_BYTES.into_iter().find_map(|growth| Self::of(first, differ, shortest, longest + growth))
    }

    /// Makes a packer for items that differ from the first in these bits of their prefixes.
    fn of(first: u128, differ: u128, shortest: usize, longest: usize) -> Option<Self> {
        if longest > PREFIX_BYTES || longest - shortest >= LENGTHS {
            return None;
        }
        let tail_start = start_of_last_group(differ);
        let tail = u128::MAX >> (8 * tail_start);
        let bits_before = (differ & !tail).count_ones();
        let tail_bits = 8 * u32::try_from(longest.saturating_sub(tail_start)).ok()?;
        let bits = bits_before + tail_bits + LENGTH_BITS;
        if bits > u64::BITS {
            return None;
        }
        let packed = differ & !tail | tail & !(tail >> tail_bits);
        let [high, low] = halves(packed);
        // The mask keeps shifts below 64; at 64 there is nothing to shift.
        let extracts = [BitExtract::new(high, (bits - high.count_ones()) & 63), BitExtract::new(low, LENGTH_BITS)];
        // The longest known length gets the last code; the codes left go to shorter lengths.
        let shortest = shortest.min((longest + 1).saturating_sub(LENGTHS));
        let tail_bits = tail_bits + LENGTH_BITS;
        Some(Self { first: halves(first), same: halves(!packed), extracts, shortest, tail_start, bits, tail_bits })
    }

    /// Packs the item of `len` bytes with this prefix, padded with zeros. Returns `None` if it has unexpected bits or
    /// lengths.
    #[inline]
    pub fn pack(&self, prefix: [u64; 2], len: usize) -> Option<u64> {
        (self.unexpected_bits(prefix) == [0; 2]).then(|| self.pack_unchecked(prefix, len)).flatten()
    }

    /// Returns the bits of either half in which a prefix differs from what all items share.
    pub fn unexpected_bits(&self, prefix: [u64; 2]) -> [u64; 2] {
        [0, 1].map(|half| (prefix[half] ^ self.first[half]) & self.same[half])
    }

    /// Returns the bits of a half of the prefix that all items share.
    pub fn constant_bits(&self, half: usize) -> u64 {
        self.same[half]
    }

    /// Packs an item without a check of its [unexpected](Self::unexpected_bits) bits. Returns `None` if its length
    /// has no code.
    #[inline]
    pub fn pack_unchecked(&self, prefix: [u64; 2], len: usize) -> Option<u64> {
        let length = len.wrapping_sub(self.shortest);
        (length < LENGTHS).then(|| self.extracts[0].pack(prefix[0]) | self.extracts[1].pack(prefix[1]) | length as u64)
    }

    /// Returns the extract that moves these bits of a half of the prefix to their places in a packed key.
    pub fn extract_for(&self, half: usize, bits: u64) -> BitExtract {
        BitExtract::of_part(!self.same[half], bits, self.extracts[half].end)
    }

    /// Returns the distance of the last bit of an item of `len` bytes from the end of its packed key, or `None` if
    /// such an item has no place there.
    pub fn item_shift(&self, len: usize) -> Option<u32> {
        let tail_len = u32::try_from(len.checked_sub(self.tail_start)?).ok()?;
        self.tail_bits.checked_sub(u8::BITS * tail_len).filter(|shift| *shift >= LENGTH_BITS)
    }

    /// Returns the distance of an item's last bit from the end of its packed key, for each length code.
    pub fn item_shifts(&self) -> [u32; LENGTHS] {
        std::array::from_fn(|length| self.item_shift(self.shortest + length).unwrap_or(LENGTH_BITS))
    }

    /// Returns the bits of a packed key for the tail and the length.
    pub fn tail_bits(&self) -> u32 {
        self.tail_bits
    }

    /// Returns the bytes of an item in front of its tail.
    pub fn bytes_before_tail(&self) -> usize {
        self.tail_start
    }

    /// Returns the bits of a packed key. Those above are zero.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the mask of the bits that an item has in front of its tail, and of the length bits.
    pub fn before_tail(&self) -> u64 {
        u64::MAX << self.tail_bits | (LENGTHS - 1) as u64
    }

    /// Returns the number of bits above the tail's.
    pub fn tail_shift(&self) -> u32 {
        u64::BITS - self.tail_bits
    }

    /// Returns the length of the longest item that could be packed.
    pub fn longest(&self) -> usize {
        self.shortest + LENGTHS - 1
    }

    /// Returns the length of the item of this packed key.
    #[inline]
    pub fn len_of(&self, key: u64) -> usize {
        self.shortest + usize::from(low_byte(key)) % LENGTHS
    }

    /// Returns the prefix and the length of the item of this packed key.
    #[inline]
    pub fn unpack(&self, key: u64) -> ([u64; 2], usize) {
        let part = |half: usize| self.first[half] & self.same[half] | self.extracts[half].unpack(key);
        ([part(0), part(1)], self.len_of(key))
    }

    /// Hands out the item of this packed key.
    pub fn with_item<T>(&self, key: u64, each: impl FnOnce(&[u8]) -> T) -> T {
        let (prefix, len) = self.unpack(key);
        each(&prefix_bytes(prefix)[..len])
    }

    /// Unpacks the items of `keys` to slots of the [`UNPACKED_LAYOUT`].
    pub fn unpack_all(&self, keys: &[u64], slots: &mut [u8]) {
        let slots: &mut [[u8; UNPACKED_BYTES]] = slots.as_chunks_mut().0;
        let mut prefixes = [[0; UNPACK_BATCH]; 2];
        for (keys, slots) in keys.chunks(UNPACK_BATCH).zip(slots.chunks_mut(UNPACK_BATCH)) {
            for (half, prefixes) in prefixes.iter_mut().enumerate() {
                let prefixes = &mut prefixes[..keys.len()];
                self.extracts[half].unpack_all(keys, prefixes);
                prefixes.iter_mut().for_each(|prefix| *prefix |= self.first[half] & self.same[half]);
            }
            let [high, low] = &prefixes;
            for (((slot, key), high), low) in slots.iter_mut().zip(keys).zip(high).zip(low) {
                slot[..PREFIX_BYTES].copy_from_slice(&prefix_bytes([*high, *low]));
                slot[PREFIX_BYTES..].copy_from_slice(&[0, 0, 0, low_byte(self.len_of(*key) as u64)]);
            }
        }
    }
}

/// Parallel bit extract (PEXT; Warren, Hacker's Delight 7-4): moves selected bits of a word side by side.
///
/// Each selected bit shifts right past the dropped bits below it. All bits first shift by the count below the lowest
/// one. Then shifts by 1, 2, 4, ... places, for precomputed subsets of the bits, make up the rest.
#[derive(Clone, Debug)]
pub(in crate::sort) struct BitExtract {
    selected: u64,
    base_shift: u32,
    shifts: Vec<BitShift>,
    /// Mask of the result, which is placed above the lowest `end` bits.
    packed: u64,
    end: u32,
}

/// The bits of one shift, and its distance.
#[derive(Clone, Copy, Debug, Default)]
struct BitShift {
    from: u64,
    places: u32,
}

impl BitExtract {
    /// The most shifts.
    const MAX_SHIFTS: usize = u64::BITS.ilog2() as usize;

    /// Makes the extract of these bits, placed above the lowest `end` bits.
    fn new(selected: u64, end: u32) -> Self {
        Self::of_part(selected, selected, end)
    }

    /// Makes the extract of `part` of the selected bits, to their places among all of them.
    fn of_part(selected: u64, part: u64, end: u32) -> Self {
        let dropped_below = |place: u32| place - (selected & ((1 << place) - 1)).count_ones();
        let places = (0..u64::BITS).filter(|place| selected & part & 1 << place != 0);
        let mut at: Vec<(u32, u32)> = places.map(|place| (place, dropped_below(place))).collect();
        let base_shift = at.first().map_or(0, |(_, distance)| *distance);
        for (place, distance) in &mut at {
            (*place, *distance) = (*place - base_shift, *distance - base_shift);
        }
        let mut shifts = Vec::new();
        for step in 0..u64::BITS.ilog2() {
            let places = 1 << step;
            let moved = at.iter_mut().filter(|(_, distance)| distance & places != 0);
            let from = moved.fold(0, |from, (place, _)| {
                let bit = 1 << *place;
                *place -= places;
                from | bit
            });
            if from != 0 {
                shifts.push(BitShift { from, places });
            }
        }
        let packed = at.iter().fold(0, |packed, (place, _)| packed | 1 << place);
        Self { selected: selected & part, base_shift, shifts, packed, end }
    }

    #[inline]
    fn pack(&self, half: u64) -> u64 {
        pack_by(&self.shifts, (half & self.selected) >> self.base_shift) << self.end
    }

    /// Extracts from each of `from`, and XORs the result into the key of the same index.
    pub fn pack_all(&self, from: &[u64], keys: &mut [u64]) {
        match self.shifts.len() {
            0..=3 => self.pack_all_by::<3>(from, keys),
            _ => self.pack_all_by::<{ Self::MAX_SHIFTS }>(from, keys),
        }
    }

    /// Does the work of [`pack_all`](Self::pack_all) by `SHIFTS` shifts, some of which may move nothing: no branches,
    /// and each word is loaded once.
    fn pack_all_by<const SHIFTS: usize>(&self, from: &[u64], keys: &mut [u64]) {
        let mut shifts = [BitShift::default(); SHIFTS];
        shifts[..self.shifts.len()].copy_from_slice(&self.shifts);
        for (key, from) in keys.iter_mut().zip(from) {
            *key ^= pack_by(&shifts, (from & self.selected) >> self.base_shift) << self.end;
        }
    }

    #[inline]
    fn unpack(&self, key: u64) -> u64 {
        let unpacked =
            self.shifts.iter().rev().fold(key >> self.end & self.packed, |bits, BitShift { from, places }| {
                let to = from >> places;
                bits & !to | (bits & to) << places
            });
        unpacked << self.base_shift
    }

    /// Expands the bits of each of these keys.
    fn unpack_all(&self, keys: &[u64], into: &mut [u64]) {
        into.iter_mut().zip(keys).for_each(|(into, key)| *into = key >> self.end & self.packed);
        for BitShift { from, places } in self.shifts.iter().rev() {
            let to = from >> places;
            for key in &mut *into {
                *key = *key & !to | (*key & to) << places;
            }
        }
        into.iter_mut().for_each(|key| *key <<= self.base_shift);
    }
}

#[inline(always)]
fn pack_by(shifts: &[BitShift], bits: u64) -> u64 {
    shifts.iter().fold(bits, |bits, BitShift { from, places }| {
        let moved = bits & from;
        bits ^ moved | moved >> places
    })
}

/// Returns the start of the last group of adjacent varying bytes.
fn start_of_last_group(differ: u128) -> usize {
    let bytes = differ.to_be_bytes();
    let last = bytes.iter().rposition(|&bits| bits != 0).unwrap_or(0);
    bytes[..last].iter().rposition(|&bits| bits == 0).map_or(0, |same| same + 1)
}

/// Returns the lowest byte.
#[inline]
fn low_byte(key: u64) -> u8 {
    key.to_be_bytes()[7]
}

/// Returns the halves of a prefix.
#[inline]
pub(in crate::sort) fn halves(prefix: u128) -> [u64; 2] {
    let bytes = prefix.to_be_bytes();
    let (halves, _) = bytes.as_chunks();
    [u64::from_be_bytes(halves[0]), u64::from_be_bytes(halves[1])]
}

/// Returns the bytes of a prefix.
#[inline]
pub(in crate::sort) fn prefix_bytes([high, low]: [u64; 2]) -> [u8; PREFIX_BYTES] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prefix(item: &[u8]) -> u128 {
        let mut prefix = [0; PREFIX_BYTES];
        prefix[..item.len()].copy_from_slice(item);
        u128::from_be_bytes(prefix)
    }

    fn pack(packer: &KeyPacker, item: &[u8]) -> Option<u64> {
        packer.pack(halves(prefix(item)), item.len())
    }

    fn packer(items: &[Vec<u8>]) -> Option<KeyPacker> {
        let prefixes: Vec<u128> = items.iter().map(|item| prefix(item)).collect();
        let lens: Vec<usize> = items.iter().map(Vec::len).collect();
        KeyPacker::new(&prefixes, &lens)
    }

    /// Makes something like an index entry: a text of digits, and a number that takes more bytes the greater it is.
    fn entry(digits: u32, row: u32) -> Vec<u8> {
        let bytes = row.to_be_bytes();
        let tail = (u32::BITS - row.leading_zeros()).div_ceil(8) as usize;
        let first = u8::try_from(0x80 + tail).unwrap();
        [format!("t{digits:06}\0").as_bytes(), &[first], &bytes[4 - tail..]].concat()
    }

    #[test]
    fn packed_keys_sort_as_their_items() {
        let first: Vec<Vec<u8>> = (0..1000).map(|row| entry(row * 7919 % 1_000_000, row)).collect();
        let packer = packer(&first).expect("digits vary in half of their bits");
        let mut packed: Vec<(u64, Vec<u8>)> = Vec::new();
        for row in (0..1000).chain(1 << 23..(1 << 23) + 1000) {
            let item = entry(row * 31 % 1_000_000, row);
            let key = pack(&packer, &item).expect("rows may grow");
            assert_eq!(packer.unpack(key), (halves(prefix(&item)), item.len()));
            packed.push((key, item));
        }
        packed.sort();
        assert!(packed.is_sorted_by_key(|(_, item)| item));
        let other = [b"t12345a\0".as_slice(), &[0x81, 7]].concat();
        assert_eq!(pack(&packer, &other), None, "a letter among digits");
    }

    #[test]
    fn what_does_not_fit_a_word_is_not_packed() {
        let random = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let items = |len: usize| (1..100).map(|number| random(number).repeat(2)[..len].to_vec()).collect::<Vec<_>>();
        assert!(packer(&items(6)).is_some());
        assert!(packer(&items(7)).is_none(), "with room for one byte more");
        assert!(packer(&items(16)).is_none());
        assert!(packer(&[vec![1, 2], vec![1, 2]]).is_none());
        assert!(packer(&[]).is_none());
    }

    proptest! {
        #[test]
        fn any_item_is_itself_again(
            samples in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, 2, 0x80]), 1..7), 2..9),
            others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..17), 1..50),
        ) {
            let Some(packer) = packer(&samples) else { return Ok(()) };
            for item in samples.iter().chain(&others) {
                let key = pack(&packer, item);
                prop_assert!(key.is_some() || !samples.contains(item));
                if let Some(key) = key {
                    prop_assert_eq!(packer.unpack(key), (halves(prefix(item)), item.len()));
                }
            }
        }
    }
}
