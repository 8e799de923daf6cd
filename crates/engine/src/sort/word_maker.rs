//! Words made straight of records that have one header, many at once.
//!
//! ```text
//! record   04 19 09 08 '123456'            rowid 70000
//!                      ^^^^^^^^            the last bytes of a word that is read; turned to where they stand in an item
//! item     fd 31 32 33 34 35 36 00         a9 11 70
//! word         1  2  3  4  5  6            a9 11 70 .. 3
//! ```
//!
//! What the item of each record would be is not made: the strings' bits go to their places in its word, and rowids whose
//! forms are of one length differ in their words as they do.

use super::packing::{Gather, Packing};
use crate::fields::Places;
use litepress_format::sort_key::{FixedColumns, KeyPrefixEncoder, StringLoad};

/// The most words that are made at once.
pub(crate) const ALIKE: usize = 256;

/// Makes the words of the items of records that have one header.
#[derive(Clone, Debug)]
pub(crate) struct WordMaker {
    packing: Packing,
    fixed: FixedColumns,
    strings: Vec<StringPart>,
    /// The bits of either half of a head that strings do not give.
    others: [u64; 2],
}

/// What a string gives to one half of a head.
#[derive(Clone, Debug)]
struct StringPart {
    load: StringLoad,
    /// The bits that all items have, and what they must be.
    same: u64,
    expected: u64,
    /// A byte may be one that must be escaped.
    may_be_escaped: bool,
    gather: Gather,
}

impl WordMaker {
    /// `None` where `head_maker` does not make all its items of as many bytes of every record, and the rowid behind them.
    pub(super) fn new(packing: &Packing, head_maker: &KeyPrefixEncoder) -> Option<Self> {
        let fixed = head_maker.fixed_columns()?;
        let (head, _) = fixed.with_rowid(0)?;
        let strange = packing.strange_bits(head);
        let (mut strings, mut others) = (Vec::new(), [u64::MAX; 2]);
        for &load in fixed.loads() {
            for half in [0, 1].into_iter().filter(|half| load.places()[*half] != 0) {
                let places = load.places()[half];
                let expected = strange[half] & places;
                let may_be_escaped = load.escaped(&[expected | !places]);
                let (same, gather) = (packing.same_bits(half) & places, packing.gather_of(half, places));
                strings.push(StringPart { load, same, expected, may_be_escaped, gather });
                others[half] &= !places;
            }
        }
        Some(Self { packing: packing.clone(), fixed: fixed.clone(), strings, others })
    }

    /// Appends the words of the items of the records that begin at `starts` of `bytes`, up to [`ALIKE`] of them, to `words`;
    /// `false` where one of them has none, or not simply.
    #[must_use]
    #[inline(always)]
    pub(super) fn make(&self, bytes: &[u8], starts: impl Places, rowids: &[i64], words: &mut Vec<u64>) -> bool {
        let before = words.len();
        let is_made = self.push_without_strings(rowids, words).is_some()
            && self.strings.iter().all(|part| part.add(bytes, starts.clone(), &mut words[before..]));
        if !is_made {
            words.truncate(before);
        }
        is_made
    }

    /// Appends what words have beside strings.
    fn push_without_strings(&self, rowids: &[i64], words: &mut Vec<u64>) -> Option<()> {
        let (least, greatest) = least_and_greatest(rowids)?;
        let (first, len) = self.word_without_strings(least)?;
        let (last, last_len) = self.word_without_strings(greatest)?;
        // Forms of one length differ as their numbers do, where all that differs stands in the tail.
        if least < 0 || len != last_len || (first ^ last) & self.packing.before_tail() != 0 {
            return None;
        }
        let behind = self.packing.bits_behind(len)?;
        words.extend(rowids.iter().map(|rowid| first + ((rowid - least).cast_unsigned() << behind)));
        Some(())
    }

    fn word_without_strings(&self, rowid: i64) -> Option<(u64, usize)> {
        let (head, len) = self.fixed.with_rowid(rowid)?;
        let strange = self.packing.strange_bits(head);
        let is_like_others = strange[0] & self.others[0] | strange[1] & self.others[1] == 0;
        is_like_others.then(|| Some((self.packing.word_of(head, len)?, len))).flatten()
    }
}

/// The least and the greatest one. Rows mostly come by ascending rowid, and seeing that costs less than comparing all.
fn least_and_greatest(rowids: &[i64]) -> Option<(i64, i64)> {
    let (&first, &last) = (rowids.first()?, rowids.last()?);
    // The sign of what is negative, or less than the one before it.
    let odd = rowids.iter().zip(&rowids[1..]).fold(last, |odd, (rowid, next)| odd | rowid | next.wrapping_sub(*rowid));
    let any = || Some((*rowids.iter().min()?, *rowids.iter().max()?));
    if odd >= 0 { Some((first, last)) } else { any() }
}

impl StringPart {
    /// Adds what the string gives to the words of these records; `false` where one of them is not like the others.
    #[inline(always)]
    fn add(&self, bytes: &[u8], starts: impl Places, words: &mut [u64]) -> bool {
        let mut room = [0; ALIKE];
        let parts = &mut room[..starts.len()];
        parts.iter_mut().zip(starts).for_each(|(part, start)| *part = self.load.read(bytes, start));
        let strange = parts.iter().fold(0, |strange, part| strange | part ^ self.expected);
        if strange & self.same != 0 || self.may_be_escaped && self.load.escaped(parts) {
            return false;
        }
        self.gather.pack_all(parts, words);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::sort_key::{Collation, IndexEntryLayout, PREFIX_MARGIN, KeyPart};
    use litepress_format::record::{RecordReader, write_record};
    use litepress_format::value::Value;
    use proptest::prelude::*;

    /// Some records, and what makes their heads.
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

    /// Each word is that of the item that its record has by itself.
    #[test]
    fn words_are_those_of_items() {
        let mut made = 0;
        for descending in [[false, false], [true, false], [false, true]] {
            let part = |descending| KeyPart { collation: Collation::Binary, descending };
            let shape = IndexEntryLayout::with_rowid(descending.map(part).to_vec());
            for start in [&b""[..], b"abcd", b"abcdefg"] {
                // With a sign in one of them that no other text has, or that must be escaped.
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
        let head = |records: &Records, row: usize| {
            records.maker.make(&records.bytes, records.starts[row], records.rowids[row])
        };
        let heads: Vec<_> = (0..texts.len()).filter_map(|row| head(&sample, row)).collect();
        let as_number = |head: [u64; 2]| u128::from(head[0]) << 64 | u128::from(head[1]);
        let (numbers, lens): (Vec<_>, Vec<_>) = heads.into_iter().map(|(head, len)| (as_number(head), len)).unzip();
        // The longest have no room to grow.
        let Some(packing) = Packing::new(&numbers, &lens) else { return 0 };
        if let Some(odd) = odd {
            *texts[7].last_mut().unwrap() = odd;
        }
        let all = records(shape, &texts, first..);
        let mut words = vec![7];
        let maker = WordMaker::new(&packing, &all.maker).unwrap();
        if !maker.make(&all.bytes, all.starts.iter().copied(), &all.rowids, &mut words) {
            assert_eq!(words, [7]);
            return 0;
        }
        let expected = (0..texts.len()).map(|row| head(&all, row).and_then(|(head, len)| packing.pack(head, len)));
        assert_eq!(Some(words), [Some(7)].into_iter().chain(expected).collect(), "{odd:?}, from {first}");
        1
    }
}
