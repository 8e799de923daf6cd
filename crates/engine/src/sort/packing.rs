//! Short items as words of 64 bits: the bits that vary among them, and how long they are.
//!
//! ```text
//! '123456', rowid 70000   fd 31 32 33 34 35 36 00 | a9 11 70
//! '654321', rowid 70001   fd 36 35 34 33 32 31 00 | a9 11 71
//!                             -  -  -  -  -  -      -------------         what may vary: the tail, to the last bit
//! word                        1  2  3  4  5  6      a9 11 70 00 0  3      its last three bits tell the length
//! ```
//!
//! Words compare as their items do: what is left out is the same in all of them, and items of which one would be the start
//! of another are none. Which bits vary is taken from the first items. Where the last group of bytes begins that vary
//! side by side, they may vary more from then on: numbers grow, and those of rows stand last.

use super::run::Layout;

/// Bytes of an item that are looked at: no item is longer.
const HEAD_BYTES: usize = 16;

/// The width of slots that hold any unpacked item and its length.
pub(super) const UNPACKED: Layout = Layout::Slots { width: UNPACKED_BYTES, full: false };
const UNPACKED_BYTES: usize = 20;

/// Bits of a word that tell the length, and how many lengths that makes.
const LENGTH_BITS: u32 = 3;
const LENGTHS: usize = 1 << LENGTH_BITS;

/// A longer item than the first ones' longest is expected: numbers grow on.
const GROWTH_BYTES: usize = 1;

/// More pieces of the head than these cost more than is gained.
const MAX_FIELDS: usize = 12;

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
    /// What a word takes of either half of a head.
    fields: [Vec<Field>; 2],
    shortest: usize,
}

/// Bits side by side in half a head, and how far they are turned to where they stand in a word.
#[derive(Clone, Copy, Debug)]
struct Field {
    bits: u64,
    turn: u32,
}

impl Packing {
    /// How items with these heads and lengths are packed; `None` where they cannot be.
    pub fn new(heads: &[u128], lens: &[usize]) -> Option<Self> {
        let first = *heads.first()?;
        let (shortest, longest) = (*lens.iter().min()?, *lens.iter().max()?);
        let differ = heads.iter().fold(0, |differ, head| differ | head ^ first);
        let longest = longest + GROWTH_BYTES;
        if differ == 0 || longest > HEAD_BYTES || longest - shortest >= LENGTHS {
            return None;
        }
        let tail_start = start_of_last_group(differ);
        let key = differ & !(u128::MAX >> (8 * tail_start));
        let tail_bits = (u64::BITS - LENGTH_BITS).checked_sub(key.count_ones())?;
        if 8 * longest.saturating_sub(tail_start) > tail_bits as usize {
            return None;
        }
        let tail = u128::MAX >> (8 * tail_start);
        // Shifts are by less than 128 bits: the tail has at most 61 of them.
        let behind = u128::MAX.checked_shr(u32::try_from(8 * tail_start).ok()? + tail_bits).unwrap_or(0);
        let packed = key | tail & !behind;
        // Of lengths in use, the longest is the last that is known: some shorter ones may come, too.
        let shortest = shortest.min((longest + 1).saturating_sub(LENGTHS));
        let fields = fields(packed);
        (fields[0].len() + fields[1].len() <= MAX_FIELDS)
            .then(|| Self { first: halves(first), same: halves(!packed), fields, shortest })
    }

    /// The word of the item of `len` bytes with this head, zeros behind its end; `None` where it is not like the others.
    #[inline]
    pub fn pack(&self, head: u128, len: usize) -> Option<u64> {
        let head = halves(head);
        let differ = |half: usize| (head[half] ^ self.first[half]) & self.same[half];
        let length = len.wrapping_sub(self.shortest);
        if differ(0) | differ(1) != 0 || length >= LENGTHS {
            return None;
        }
        let mut word = length as u64;
        for (half, fields) in head.iter().zip(&self.fields) {
            for field in fields {
                word |= (half & field.bits).rotate_left(field.turn);
            }
        }
        Some(word)
    }

    /// Length of the longest item that could be packed.
    pub fn longest(&self) -> usize {
        self.shortest + LENGTHS - 1
    }

    /// Length of the item with this word.
    #[inline]
    pub fn len_of(&self, word: u64) -> usize {
        self.shortest + (word as usize & (LENGTHS - 1))
    }

    /// The head and the length of the item with this word.
    #[inline]
    pub fn unpack(&self, word: u64) -> (u128, usize) {
        let mut head = [self.first[0] & self.same[0], self.first[1] & self.same[1]];
        for (half, fields) in head.iter_mut().zip(&self.fields) {
            for field in fields {
                *half |= word.rotate_right(field.turn) & field.bits;
            }
        }
        let [high, low] = head;
        (u128::from(high) << 64 | u128::from(low), self.len_of(word))
    }

    /// Hands out the item with this word.
    pub fn with_item<T>(&self, word: u64, each: impl FnOnce(&[u8]) -> T) -> T {
        let (head, len) = self.unpack(word);
        each(&head.to_be_bytes()[..len])
    }

    /// Writes the items of `words` to slots as [`UNPACKED`] says.
    pub fn unpack_all(&self, words: &[u64], slots: &mut [u8]) {
        let slots: &mut [[u8; UNPACKED_BYTES]] = slots.as_chunks_mut().0;
        for (word, slot) in words.iter().zip(slots) {
            let (head, len) = self.unpack(*word);
            slot[..HEAD_BYTES].copy_from_slice(&head.to_be_bytes());
            slot[HEAD_BYTES..].copy_from_slice(&[0, 0, 0, (len & 0x1f) as u8]);
        }
    }
}

/// Where the last group of bytes begins that all vary.
fn start_of_last_group(differ: u128) -> usize {
    let bytes = differ.to_be_bytes();
    let last = bytes.iter().rposition(|&bits| bits != 0).unwrap_or(0);
    bytes[..last].iter().rposition(|&bits| bits == 0).map_or(0, |same| same + 1)
}

fn halves(head: u128) -> [u64; 2] {
    let bytes = head.to_be_bytes();
    let (halves, _) = bytes.as_chunks();
    [u64::from_be_bytes(halves[0]), u64::from_be_bytes(halves[1])]
}

/// The pieces of both halves whose bits are set, from the top of a word down.
fn fields(packed: u128) -> [Vec<Field>; 2] {
    let mut used = 0;
    halves(packed).map(|mut half| {
        let mut fields = Vec::new();
        while half != 0 {
            let top = half.leading_zeros();
            let width = (!(half << top)).leading_zeros();
            let bits = u64::MAX << (u64::BITS - width) >> top;
            fields.push(Field { bits, turn: (u64::BITS + top - used) % u64::BITS });
            used += width;
            half &= !bits;
        }
        fields
    })
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
            let word = packing.pack(head(&item), item.len()).expect("rows may grow");
            assert_eq!(packing.unpack(word), (head(&item), item.len()));
            packed.push((word, item));
        }
        packed.sort();
        assert!(packed.is_sorted_by_key(|(_, item)| item));
        let other = [b"t12345a\0".as_slice(), &[0x81, 7]].concat();
        assert_eq!(packing.pack(head(&other), other.len()), None, "a letter among digits");
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
                let word = packing.pack(head(item), item.len());
                prop_assert!(word.is_some() || !samples.contains(item));
                if let Some(word) = word {
                    prop_assert_eq!(packing.unpack(word), (head(item), item.len()));
                }
            }
        }
    }
}
