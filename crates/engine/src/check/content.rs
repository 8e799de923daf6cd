//! Whether an index holds what its table holds, without keeping either: every row gives the sum a
//! number that only depends on its key columns and its rowid, and so does every entry. Equal sums of
//! equally many 128-bit numbers mean equal contents, whatever the order.

use super::record::{FieldAt, Record, class, classify};
use litepress_format::record as format_record;
use litepress_format::value::Value;

/// One part of a row that its index repeats.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// The rowid, where it is not in the record.
    Rowid,
    /// A field of the record.
    Field {
        /// Position in the record.
        index: usize,
        /// A REAL column stores some doubles as integers: compare them as doubles.
        real: bool,
        /// What a record holds that ends before this field.
        default: Option<StoredValue>,
    },
}

/// A value as a record stores it.
#[derive(Clone, Debug)]
pub(super) struct StoredValue {
    pub(super) serial: u64,
    pub(super) body: Vec<u8>,
}

/// What of a row, or of an entry, makes its number.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    pub(super) parts: Vec<Part>,
}

impl Digest {
    /// The number of one row; `None` where a part of it is out of sight.
    #[inline]
    pub(super) fn of(&self, rowid: Option<i64>, record: &Record<'_>, fields: &[FieldAt]) -> Option<u128> {
        let mut hash = Hash::new();
        for part in &self.parts {
            match part {
                Part::Rowid => hash.int(rowid?),
                Part::Field { index, real, default } => match (fields.get(*index), default) {
                    (Some(field), _) => hash.value(field.serial, field.body(record)?, *real)?,
                    (None, Some(default)) => hash.value(default.serial, &default.body, *real)?,
                    (None, None) => return None,
                },
            }
        }
        Some(hash.finish())
    }
}

const INT_TAG: u64 = 1;
const REAL_TAG: u64 = 2;

/// Two 64-bit hashes side by side, each folding a 128-bit product per word.
struct Hash {
    lanes: [u64; 2],
}

impl Hash {
    const SEEDS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

    #[inline]
    fn new() -> Self {
        Self { lanes: Self::SEEDS }
    }

    #[inline]
    fn word(&mut self, tag: u64, word: u64) {
        for (lane, factor) in self.lanes.iter_mut().zip(Self::FACTORS) {
            *lane = fold(*lane ^ word ^ factor, lane.rotate_left(23).wrapping_add(tag << 1) | 1).wrapping_add(*lane);
        }
    }

    #[inline]
    fn int(&mut self, int: i64) {
        self.word(INT_TAG, int.cast_unsigned());
    }

    /// `None` where the body has not the length of its serial type.
    #[inline]
    fn value(&mut self, serial: u64, body: &[u8], real: bool) -> Option<()> {
        match classify(serial).0 {
            class::TEXT | class::BLOB => self.bytes(serial, body),
            _ => match format_record::read_body(serial, body)? {
                Value::Int(int) if real => self.word(REAL_TAG, (int as f64).to_bits()),
                Value::Int(int) => self.int(int),
                Value::Real(double) if real && double == 0.0 => self.word(REAL_TAG, 0),
                Value::Real(double) => self.word(REAL_TAG, double.to_bits()),
                _ => self.word(0, 0),
            },
        }
        Some(())
    }

    /// The serial type tells text from blob, and the length.
    #[inline]
    fn bytes(&mut self, serial: u64, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.word(serial, u64::from_be_bytes(*word)));
        let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
        self.word(serial, last);
    }

    #[inline]
    fn finish(mut self) -> u128 {
        self.word(u64::MAX, self.lanes[1]);
        u128::from(self.lanes[0]) << 64 | u128::from(self.lanes[1])
    }
}

/// The two halves of the product, one upon the other.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::{serial_of, write_body};
    use std::collections::HashSet;

    fn number(value: Value<'_>, real: bool) -> u128 {
        let mut body = Vec::new();
        write_body(&value, &mut body);
        let mut hash = Hash::new();
        hash.value(serial_of(&value), &body, real).unwrap();
        hash.finish()
    }

    #[test]
    fn different_values_have_different_numbers() {
        let mut values = vec![Value::Null, Value::Real(5.0), Value::Real(0.0), Value::Real(-0.0)];
        values.extend((-300..300).map(Value::Int));
        let texts: Vec<Vec<u8>> = (0..40).map(|len| vec![b'x'; len]).chain((0..9).map(|len| vec![0; len])).collect();
        values.extend(texts.iter().flat_map(|text| [Value::Text(text), Value::Blob(text)]));
        // The empty text is in both lists.
        let distinct = values.len() - 2;
        assert_eq!(values.iter().map(|value| number(*value, false)).collect::<HashSet<_>>().len(), distinct);
    }

    #[test]
    fn a_real_column_stores_integers_and_means_doubles() {
        assert_eq!(number(Value::Int(5), true), number(Value::Real(5.0), true));
        assert_eq!(number(Value::Int(0), true), number(Value::Real(-0.0), true));
        assert_ne!(number(Value::Int(5), false), number(Value::Real(5.0), false));
    }

    #[test]
    fn the_order_of_parts_counts() {
        let digest = |parts: [usize; 2]| Digest {
            parts: parts.map(|index| Part::Field { index, real: false, default: None }).into(),
        };
        let record = Record::whole(b"\x03\x01\x01\x05\x06");
        let fields = [FieldAt { serial: 1, start: 3, end: 4 }, FieldAt { serial: 1, start: 4, end: 5 }];
        let there = digest([0, 1]).of(None, &record, &fields);
        assert!(there.is_some());
        assert_ne!(there, digest([1, 0]).of(None, &record, &fields));
        assert_eq!(digest([0, 2]).of(None, &record, &fields), None);
    }
}
