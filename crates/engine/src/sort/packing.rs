//! Short items as words of 64 bits: the bits that vary among them, and how long they are.
//!
//! ```text
//! '123456', rowid 70000   fd 31 32 33 34 35 36 00 | a9 11 70
//! '654321', rowid 70001   fd 36 35 34 33 32 31 00 | a9 11 71
//!                             -  -  -  -  -  -      -------------         what may vary: the tail, to the last bit
//! word                        1  2  3  4  5  6      a9 11 70 00    3      its last three bits tell the length
//! ```
//!
//! A word has as many bits as the longest item needs, zeros in front of them. Words compare as their items do: what is left
//! out is the same in all of them, and items of which one would be the start of another are none. Which bits vary is taken
//! from the first items. Where the last group of bytes begins that vary side by side, they may vary more from then on:
//! numbers grow, and those of rows stand last.

use super::run::Layout;

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<u64>();

/// Bytes of an item that are looked at: no item is longer.
const HEAD_BYTES: usize = 16;

/// The width of slots that hold any unpacked item and its length.
pub(super) const UNPACKED: Layout = Layout::Slots { width: UNPACKED_BYTES, full: false };
const UNPACKED_BYTES: usize = 20;

/// Words that are unpacked at once.
const AT_ONCE: usize = 64;

/// Bits of a word that tell the length, and how many lengths that makes.
pub(super) const LENGTH_BITS: u32 = 3;
pub(super) const LENGTHS: usize = 1 << LENGTH_BITS;

/// Longer items than the first ones' longest are expected: numbers grow on. The first of these that there are bits for.
const GROWTH_BYTES: [usize; 2] = [2, 1];

/// Bytes of the slots of so many unpacked items.
pub(super) fn unpacked_bytes(items: usize) -> usize {
    items * UNPACKED_BYTES
}

/// Which bits make a word.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// An item, and the bits of it that all have.
    first: [u64; 2],
    same: [u64; 2],
    /// What a word has of the halves of a head.
    gathers: [Gather; 2],
    shortest: usize,
    /// Bytes of an item in front of the tail.
    tail_start: usize,
    /// Bits of a word, and how many of them are for the tail and the length.
    bits: u32,
    tail_bits: u32,
}

impl Packing {
    /// How items with these heads and lengths are packed; `None` where they cannot be.
    pub fn new(heads: &[u128], lens: &[usize]) -> Option<Self> {
        let first = *heads.first()?;
        let (shortest, longest) = (*lens.iter().min()?, *lens.iter().max()?);
        let differ = heads.iter().fold(0, |differ, head| differ | head ^ first);
        if differ == 0 {
            return None;
        }
        GROWTH_BYTES.into_iter().find_map(|growth| Self::of(first, differ, shortest, longest + growth))
    }

    /// Of items that differ from the first in these bits of their heads, and of these lengths.
    fn of(first: u128, differ: u128, shortest: usize, longest: usize) -> Option<Self> {
        if longest > HEAD_BYTES || longest - shortest >= LENGTHS {
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
        // No shift is by 64 bits where there is something to shift.
        let gathers = [Gather::new(high, (bits - high.count_ones()) & 63), Gather::new(low, LENGTH_BITS)];
        // Of lengths in use, the longest is the last that is known: some shorter ones may come, too.
        let shortest = shortest.min((longest + 1).saturating_sub(LENGTHS));
        let tail_bits = tail_bits + LENGTH_BITS;
        Some(Self { first: halves(first), same: halves(!packed), gathers, shortest, tail_start, bits, tail_bits })
    }

    /// The word of the item of `len` bytes with these halves of a head, zeros behind its end; `None` where it is not like
    /// the others.
    #[inline]
    pub fn pack(&self, head: [u64; 2], len: usize) -> Option<u64> {
        (self.strange_bits(head) == [0; 2]).then(|| self.word_of(head, len)).flatten()
    }

    /// The bits of either half of a head in which it is not like the others'.
    pub fn strange_bits(&self, head: [u64; 2]) -> [u64; 2] {
        [0, 1].map(|half| (head[half] ^ self.first[half]) & self.same[half])
    }

    /// The bits of a half of a head that all items have.
    pub fn same_bits(&self, half: usize) -> u64 {
        self.same[half]
    }

    /// The word of an item of `len` bytes, of whose head the [strange](Self::strange_bits) bits do not count.
    #[inline]
    pub fn word_of(&self, head: [u64; 2], len: usize) -> Option<u64> {
        let length = len.wrapping_sub(self.shortest);
        (length < LENGTHS).then(|| self.gathers[0].pack(head[0]) | self.gathers[1].pack(head[1]) | length as u64)
    }

    /// What brings these bits of a half of a head to where they belong in a word.
    pub fn gather_of(&self, half: usize, bits: u64) -> Gather {
        Gather::of_part(!self.same[half], bits, self.gathers[half].end)
    }

    /// How far the last bit of items of `len` bytes is from the end of their words; `None` where it has no place there.
    pub fn bits_behind(&self, len: usize) -> Option<u32> {
        let tail_len = u32::try_from(len.checked_sub(self.tail_start)?).ok()?;
        self.tail_bits.checked_sub(u8::BITS * tail_len).filter(|behind| *behind >= LENGTH_BITS)
    }

    /// How far the last bit of items is from the end of their words, by the bits of these that tell the length.
    pub fn bits_behind_each(&self) -> [u32; LENGTHS] {
        std::array::from_fn(|length| self.bits_behind(self.shortest + length).unwrap_or(LENGTH_BITS))
    }

    /// Bits of a word that are for the tail of an item, and for its length.
    pub fn tail_bits(&self) -> u32 {
        self.tail_bits
    }

    /// How many bytes of an item stand in front of its tail.
    pub fn bytes_before_tail(&self) -> usize {
        self.tail_start
    }

    /// Bits of a word; those in front of them are zeros.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The bits of a word that tell an item up to its tail, and its length.
    pub fn before_tail(&self) -> u64 {
        u64::MAX << self.tail_bits | (LENGTHS - 1) as u64
    }

    /// How many bits of a word stand in front of those of the item's tail.
    pub fn tail_shift(&self) -> u32 {
        u64::BITS - self.tail_bits
    }

    /// Length of the longest item that could be packed.
    pub fn longest(&self) -> usize {
        self.shortest + LENGTHS - 1
    }

    /// Length of the item with this word.
    #[inline]
    pub fn len_of(&self, word: u64) -> usize {
        self.shortest + usize::from(low_byte(word)) % LENGTHS
    }

    /// The halves of the head, and the length, of the item with this word.
    #[inline]
    pub fn unpack(&self, word: u64) -> ([u64; 2], usize) {
        let part = |half: usize| self.first[half] & self.same[half] | self.gathers[half].unpack(word);
        ([part(0), part(1)], self.len_of(word))
    }

    /// Hands out the item with this word.
    pub fn with_item<T>(&self, word: u64, each: impl FnOnce(&[u8]) -> T) -> T {
        let (head, len) = self.unpack(word);
        each(&in_bytes(head)[..len])
    }

    /// Writes the items of `words` to slots as [`UNPACKED`] says.
    pub fn unpack_all(&self, words: &[u64], slots: &mut [u8]) {
        let slots: &mut [[u8; UNPACKED_BYTES]] = slots.as_chunks_mut().0;
        let mut heads = [[0; AT_ONCE]; 2];
        for (words, slots) in words.chunks(AT_ONCE).zip(slots.chunks_mut(AT_ONCE)) {
            for (half, heads) in heads.iter_mut().enumerate() {
                let heads = &mut heads[..words.len()];
                self.gathers[half].unpack_all(words, heads);
                heads.iter_mut().for_each(|head| *head |= self.first[half] & self.same[half]);
            }
            let [high, low] = &heads;
            for (((slot, word), high), low) in slots.iter_mut().zip(words).zip(high).zip(low) {
                slot[..HEAD_BYTES].copy_from_slice(&in_bytes([*high, *low]));
                slot[HEAD_BYTES..].copy_from_slice(&[0, 0, 0, low_byte(self.len_of(*word) as u64)]);
            }
        }
    }
}

/// Some bits of a word, moved side by side.
///
/// Every bit moves by as many places as unwanted ones are behind it: all by as many as are behind the last one, and then
/// by moves of 1, 2, 4, ... places, which make up the rest; which bits take part in each of them is found out beforehand
/// (Warren, Hacker's Delight, section 7-4).
#[derive(Clone, Debug)]
pub(super) struct Gather {
    wanted: u64,
    behind: u32,
    moves: Vec<Move>,
    /// Where they come to lie, in front of so many bits.
    packed: u64,
    end: u32,
}

/// Bits, and how far they are moved.
#[derive(Clone, Copy, Debug, Default)]
struct Move {
    from: u64,
    places: u32,
}

impl Gather {
    /// The most moves.
    const MAX_MOVES: usize = u64::BITS.ilog2() as usize;

    /// What moves these bits in front of `end` bits.
    fn new(wanted: u64, end: u32) -> Self {
        Self::of_part(wanted, wanted, end)
    }

    /// What moves some of the wanted bits to where all of them would come to lie.
    fn of_part(wanted: u64, part: u64, end: u32) -> Self {
        let unwanted_behind = |place: u32| place - (wanted & ((1 << place) - 1)).count_ones();
        let places = (0..u64::BITS).filter(|place| wanted & part & 1 << place != 0);
        let mut at: Vec<(u32, u32)> = places.map(|place| (place, unwanted_behind(place))).collect();
        let behind = at.first().map_or(0, |(_, distance)| *distance);
        for (place, distance) in &mut at {
            (*place, *distance) = (*place - behind, *distance - behind);
        }
        let mut moves = Vec::new();
        for step in 0..u64::BITS.ilog2() {
            let places = 1 << step;
            let moved = at.iter_mut().filter(|(_, distance)| distance & places != 0);
            let from = moved.fold(0, |from, (place, _)| {
                let bit = 1 << *place;
                *place -= places;
                from | bit
            });
            if from != 0 {
                moves.push(Move { from, places });
            }
        }
        let packed = at.iter().fold(0, |packed, (place, _)| packed | 1 << place);
        Self { wanted: wanted & part, behind, moves, packed, end }
    }

    #[inline]
    fn pack(&self, word: u64) -> u64 {
        pack_by(&self.moves, (word & self.wanted) >> self.behind) << self.end
    }

    /// Packs each of `from`, and inverts these bits of the word that it is a part of.
    pub fn pack_all(&self, from: &[u64], words: &mut [u64]) {
        match self.moves.len() {
            0..=3 => self.pack_all_by::<3>(from, words),
            _ => self.pack_all_by::<{ Self::MAX_MOVES }>(from, words),
        }
    }

    /// The same by `MOVES` moves, of which some may move nothing: nothing is decided, and a word is loaded once.
    fn pack_all_by<const MOVES: usize>(&self, from: &[u64], words: &mut [u64]) {
        let mut moves = [Move::default(); MOVES];
        moves[..self.moves.len()].copy_from_slice(&self.moves);
        for (word, from) in words.iter_mut().zip(from) {
            *word ^= pack_by(&moves, (from & self.wanted) >> self.behind) << self.end;
        }
    }

    #[inline]
    fn unpack(&self, word: u64) -> u64 {
        let unpacked = self.moves.iter().rev().fold(word >> self.end & self.packed, |word, Move { from, places }| {
            let to = from >> places;
            word & !to | (word & to) << places
        });
        unpacked << self.behind
    }

    /// Unpacks what each of these words has of it.
    fn unpack_all(&self, words: &[u64], into: &mut [u64]) {
        into.iter_mut().zip(words).for_each(|(into, word)| *into = word >> self.end & self.packed);
        for Move { from, places } in self.moves.iter().rev() {
            let to = from >> places;
            for word in &mut *into {
                *word = *word & !to | (*word & to) << places;
            }
        }
        into.iter_mut().for_each(|word| *word <<= self.behind);
    }
}

#[inline(always)]
fn pack_by(moves: &[Move], word: u64) -> u64 {
    moves.iter().fold(word, |word, Move { from, places }| {
        let moved = word & from;
        word ^ moved | moved >> places
    })
}

/// Where the last group of bytes begins that all vary.
fn start_of_last_group(differ: u128) -> usize {
    let bytes = differ.to_be_bytes();
    let last = bytes.iter().rposition(|&bits| bits != 0).unwrap_or(0);
    bytes[..last].iter().rposition(|&bits| bits == 0).map_or(0, |same| same + 1)
}

/// The last byte.
#[inline]
fn low_byte(word: u64) -> u8 {
    word.to_be_bytes()[7]
}

/// A head as two words.
#[inline]
pub(super) fn halves(head: u128) -> [u64; 2] {
    let bytes = head.to_be_bytes();
    let (halves, _) = bytes.as_chunks();
    [u64::from_be_bytes(halves[0]), u64::from_be_bytes(halves[1])]
}

/// The bytes of a head.
#[inline]
pub(super) fn in_bytes([high, low]: [u64; 2]) -> [u8; HEAD_BYTES] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(item: &[u8]) -> u128 {
        let mut head = [0; HEAD_BYTES];
        head[..item.len()].copy_from_slice(item);
        u128::from_be_bytes(head)
    }

    fn pack(packing: &Packing, item: &[u8]) -> Option<u64> {
        packing.pack(halves(head(item)), item.len())
    }

    fn packing(items: &[Vec<u8>]) -> Option<Packing> {
        let heads: Vec<u128> = items.iter().map(|item| head(item)).collect();
        let lens: Vec<usize> = items.iter().map(Vec::len).collect();
        Packing::new(&heads, &lens)
    }

    /// As an index entry: a text of digits, and a number that takes more bytes the greater it is.
    fn entry(digits: u32, row: u32) -> Vec<u8> {
        let bytes = row.to_be_bytes();
        let tail = (u32::BITS - row.leading_zeros()).div_ceil(8) as usize;
        let first = u8::try_from(0x80 + tail).unwrap();
        [format!("t{digits:06}\0").as_bytes(), &[first], &bytes[4 - tail..]].concat()
    }

    #[test]
    fn words_are_items_in_the_same_order() {
        let first: Vec<Vec<u8>> = (0..1000).map(|row| entry(row * 7919 % 1_000_000, row)).collect();
        let packing = packing(&first).expect("digits vary in half of their bits");
        let mut packed: Vec<(u64, Vec<u8>)> = Vec::new();
        for row in (0..1000).chain(1 << 23..(1 << 23) + 1000) {
            let item = entry(row * 31 % 1_000_000, row);
            let word = pack(&packing, &item).expect("rows may grow");
            assert_eq!(packing.unpack(word), (halves(head(&item)), item.len()));
            packed.push((word, item));
        }
        packed.sort();
        assert!(packed.is_sorted_by_key(|(_, item)| item));
        let other = [b"t12345a\0".as_slice(), &[0x81, 7]].concat();
        assert_eq!(pack(&packing, &other), None, "a letter among digits");
    }

    #[test]
    fn what_does_not_fit_a_word_is_not_packed() {
        let random = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let items = |len: usize| (1..100).map(|number| random(number).repeat(2)[..len].to_vec()).collect::<Vec<_>>();
        assert!(packing(&items(6)).is_some());
        assert!(packing(&items(7)).is_none(), "with room for one byte more");
        assert!(packing(&items(16)).is_none());
        assert!(packing(&[vec![1, 2], vec![1, 2]]).is_none());
        assert!(packing(&[]).is_none());
    }

    proptest! {
        #[test]
        fn any_item_is_itself_again(
            samples in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, 2, 0x80]), 1..7), 2..9),
            others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..17), 1..50),
        ) {
            let Some(packing) = packing(&samples) else { return Ok(()) };
            for item in samples.iter().chain(&others) {
                let word = pack(&packing, item);
                prop_assert!(word.is_some() || !samples.contains(item));
                if let Some(word) = word {
                    prop_assert_eq!(packing.unpack(word), (halves(head(item)), item.len()));
                }
            }
        }
    }
}
