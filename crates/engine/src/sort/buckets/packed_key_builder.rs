//! Builds packed keys straight from records that share one header, a batch at a time.
//!
//! ```text
//! record      04 19 09 08 '123456'            rowid 70000
//!                         ^^^^^^^^            one word is read and rotated to the text's place in an item
//! item        fd 31 32 33 34 35 36 00         a9 11 70
//! packed key     1  2  3  4  5  6             a9 11 70 .. 3
//! ```
//!
//! The items themselves are never built. The bits of the strings go straight to their places in the packed keys.
//! Rowids with encodings of one length differ in their packed keys as they do themselves.

use super::key_packer::{BitExtract, KeyPacker};
use litepress_format::sort_key::{FixedColumns, KeyPrefixEncoder, StringLoad};

/// The offsets at which some records begin in an arena, or end.
pub(crate) trait Offsets: DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone {}

impl<I: DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone> Offsets for I {}

/// The most packed keys that are built at once.
pub(crate) const BATCH_ROWS: usize = 256;

/// Builds the packed keys of records that share one header.
#[derive(Clone, Debug)]
pub(crate) struct PackedKeyBuilder {
    packer: KeyPacker,
    fixed: FixedColumns,
    strings: Vec<StringBits>,
    /// The bits of either half of a prefix that do not come from strings.
    others: [u64; 2],
}

/// The contribution of a string to one half of a prefix.
#[derive(Clone, Debug)]
struct StringBits {
    load: StringLoad,
    /// The string's bits that all items share, and the values that a record must have there.
    same: u64,
    expected: u64,
    /// Whether a byte may need an escape.
    may_be_escaped: bool,
    extract: BitExtract,
}

impl PackedKeyBuilder {
    /// Makes a builder. Returns `None` unless `encoder` encodes the columns in constant width, followed by the rowid
    /// alone.
    pub(in crate::sort) fn new(packer: &KeyPacker, encoder: &KeyPrefixEncoder) -> Option<Self> {
        let fixed = encoder.fixed_columns()?;
        let (prefix, _) = fixed.with_rowid(0)?;
        let unexpected = packer.unexpected_bits(prefix);
        let (mut strings, mut others) = (Vec::new(), [u64::MAX; 2]);
        for &load in fixed.loads() {
            for half in [0, 1].into_iter().filter(|half| load.places()[*half] != 0) {
                let places = load.places()[half];
                let expected = unexpected[half] & places;
                let may_be_escaped = load.escaped(&[expected | !places]);
                let (same, extract) = (packer.constant_bits(half) & places, packer.extract_for(half, places));
                strings.push(StringBits { load, same, expected, may_be_escaped, extract });
                others[half] &= !places;
            }
        }
        Some(Self { packer: packer.clone(), fixed: fixed.clone(), strings, others })
    }

    /// Appends the packed keys of the records at `starts` of `bytes`, up to [`BATCH_ROWS`] of them. Returns `false`
    /// and appends nothing if one of them cannot be packed, or only with more work.
    #[must_use]
    #[inline(always)]
    pub(in crate::sort) fn build(
        &self,
        bytes: &[u8],
        starts: impl Offsets,
        rowids: &[i64],
        keys: &mut Vec<u64>,
    ) -> bool {
        let before = keys.len();
        let is_built = self.push_without_strings(rowids, keys).is_some()
            && self.strings.iter().all(|part| part.add(bytes, starts.clone(), &mut keys[before..]));
        if !is_built {
            keys.truncate(before);
        }
        is_built
    }

    /// Appends the packed keys without the bits of strings.
    fn push_without_strings(&self, rowids: &[i64], keys: &mut Vec<u64>) -> Option<()> {
        let (least, greatest) = least_and_greatest(rowids)?;
        let (first, len) = self.key_without_strings(least)?;
        let (last, last_len) = self.key_without_strings(greatest)?;
        // Encodings of one length differ as their numbers do, if all differing bits are in the tail.
        if least < 0 || len != last_len || (first ^ last) & self.packer.before_tail() != 0 {
            return None;
        }
        let shift = self.packer.item_shift(len)?;
        keys.extend(rowids.iter().map(|rowid| first + ((rowid - least).cast_unsigned() << shift)));
        Some(())
    }

    fn key_without_strings(&self, rowid: i64) -> Option<(u64, usize)> {
        let (prefix, len) = self.fixed.with_rowid(rowid)?;
        let unexpected = self.packer.unexpected_bits(prefix);
        let is_like_others = unexpected[0] & self.others[0] | unexpected[1] & self.others[1] == 0;
        is_like_others.then(|| Some((self.packer.pack_unchecked(prefix, len)?, len))).flatten()
    }
}

/// Returns the least and the greatest number. Rows mostly come by ascending rowid, and a check of that costs less
/// than a full search.
fn least_and_greatest(rowids: &[i64]) -> Option<(i64, i64)> {
    let (&first, &last) = (rowids.first()?, rowids.last()?);
    // The sign bit is set by a negative number, and by one less than its predecessor.
    let odd = rowids.iter().zip(&rowids[1..]).fold(last, |odd, (rowid, next)| odd | rowid | next.wrapping_sub(*rowid));
    let any = || Some((*rowids.iter().min()?, *rowids.iter().max()?));
    if odd >= 0 { Some((first, last)) } else { any() }
}

impl StringBits {
    /// Adds the string's bits to the packed keys of these records. Returns `false` if one of them has unexpected
    /// bits.
    #[inline(always)]
    fn add(&self, bytes: &[u8], starts: impl Offsets, keys: &mut [u64]) -> bool {
        let mut buffer = [0; BATCH_ROWS];
        let parts = &mut buffer[..starts.len()];
        parts.iter_mut().zip(starts).for_each(|(part, start)| *part = self.load.read(bytes, start));
        let unexpected = parts.iter().fold(0, |unexpected, part| unexpected | part ^ self.expected);
        if unexpected & self.same != 0 || self.may_be_escaped && self.load.escaped(parts) {
            return false;
        }
        self.extract.pack_all(parts, keys);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::{RecordReader, write_record};
    use litepress_format::sort_key::{Collation, IndexEntryLayout, KeyPart, PREFIX_MARGIN};
    use litepress_format::value::Value;
    use proptest::prelude::*;

    /// Some records, and the encoder of their prefixes.
    struct Records {
        bytes: Vec<u8>,
        starts: Vec<usize>,
        rowids: Vec<i64>,
        maker: KeyPrefixEncoder,
    }

    fn records(shape: &IndexEntryLayout, texts: &[Vec<u8>], rowids: impl Iterator<Item = i64>) -> Records {
        let (mut bytes, mut starts, mut places) = (vec![0xaa; PREFIX_MARGIN], Vec::new(), Vec::new());
        for text in texts {
            starts.push(bytes.len());
            write_record(&[Value::Null, Value::Text(text)], &mut bytes);
            let mut fields = RecordReader::new(&bytes[starts[starts.len() - 1]..]).unwrap();
            places = std::iter::from_fn(|| fields.next_field().unwrap()).map(|at| Some((at.serial, at.body))).collect();
        }
        Records {
            bytes,
            starts,
            rowids: rowids.take(texts.len()).collect(),
            maker: KeyPrefixEncoder::new(shape, places).unwrap(),
        }
    }

    /// Each packed key is that of the item that its record has by itself.
    #[test]
    fn packed_keys_are_those_of_items() {
        let mut made = 0;
        for descending in [[false, false], [true, false], [false, true]] {
            let part = |descending| KeyPart { collation: Collation::Binary, descending };
            let shape = IndexEntryLayout::with_rowid(descending.map(part).to_vec());
            for start in [&b""[..], b"abcd", b"abcdefg"] {
                // One text has a character that no other has, or that needs an escape.
                for odd in [None, Some(b'~'), Some(1), Some(0)] {
                    for first in [-5, 0, 100, 5000, (1 << 21) - 30, 70_000_000] {
                        made += check(&shape, start, odd, first);
                    }
                }
            }
        }
        assert!(made > 20, "{made}");
    }

    proptest! {
        #[test]
        fn least_and_greatest_of_any(
            rowids in prop::collection::vec(prop_oneof![any::<i64>(), 0..100_i64, Just(i64::MAX)], 0..20),
            sorts in any::<bool>(),
        ) {
            let mut rowids = rowids;
            if sorts {
                rowids.sort();
            }
            let expected = rowids.iter().min().zip(rowids.iter().max()).map(|(least, greatest)| (*least, *greatest));
            prop_assert_eq!(least_and_greatest(&rowids), expected);
        }
    }

    fn check(shape: &IndexEntryLayout, start: &[u8], odd: Option<u8>, first: i64) -> usize {
        let mut texts: Vec<Vec<u8>> = (0..50).map(|number| [start, &[b'0' + number % 10, b'A']].concat()).collect();
        let sample = records(shape, &texts, (first.max(1)..).step_by(1000));
        let prefix = |records: &Records, row: usize| {
            records.maker.make(&records.bytes, records.starts[row], records.rowids[row])
        };
        let prefixes: Vec<_> = (0..texts.len()).filter_map(|row| prefix(&sample, row)).collect();
        let as_number = |prefix: [u64; 2]| u128::from(prefix[0]) << 64 | u128::from(prefix[1]);
        let (numbers, lens): (Vec<_>, Vec<_>) =
            prefixes.into_iter().map(|(prefix, len)| (as_number(prefix), len)).unzip();
        // The longest items have no space to grow.
        let Some(packer) = KeyPacker::new(&numbers, &lens) else { return 0 };
        if let Some(odd) = odd {
            *texts[7].last_mut().unwrap() = odd;
        }
        let all = records(shape, &texts, first..);
        let mut keys = vec![7];
        let maker = PackedKeyBuilder::new(&packer, &all.maker).unwrap();
        if !maker.build(&all.bytes, all.starts.iter().copied(), &all.rowids, &mut keys) {
            assert_eq!(keys, [7]);
            return 0;
        }
        let expected = (0..texts.len()).map(|row| prefix(&all, row).and_then(|(prefix, len)| packer.pack(prefix, len)));
        assert_eq!(Some(keys), [Some(7)].into_iter().chain(expected).collect(), "{odd:?}, from {first}");
        1
    }
}
