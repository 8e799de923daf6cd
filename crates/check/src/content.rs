//! Compares an index with its table by an additive multiset hash, without keeping either.
//!
//! Every row and every entry adds a 128-bit hash to the sum of its tree. The hash depends only on the key columns and
//! the rowid. Equal numbers of hashes with equal sums mean equal contents, in any order.

use super::record::{FieldAt, FieldWord, Record, word_of_bytes, word_of_int};
use litepress_format::record as format_record;
use litepress_format::value::Value;
use litepress_rows::{Affinity, affinity};

/// A part of a row that its index repeats.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// The rowid, if it is not in the record.
    Rowid,
    /// A field of the record.
    Field {
        /// Position in the record.
        index: usize,
        numbers: Numbers,
        /// The value of a record that ends before this field.
        default: Option<StoredValue>,
    },
}

/// The comparison of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// An integer and a double differ.
    AsStored,
    /// As doubles: a REAL column stores some doubles as integers.
    AsDoubles,
    /// By value, as SQLite does: its releases disagree on whether a DEFAULT is an integer or a double.
    ByValue,
}

/// A value as a record stores it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredValue {
    pub(super) serial: u64,
    pub(super) body: Vec<u8>,
}

/// The parts of a row, or of an entry, that are hashed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Digest {
    pub(super) parts: Vec<Part>,
}

impl Digest {
    /// Returns the hash of one row, or `None` if a part of it was not read.
    #[inline]
    pub(super) fn of(&self, rowid: Option<i64>, record: &Record<'_>, fields: &[FieldAt]) -> Option<u128> {
        let mut hash = Hash::new();
        for part in &self.parts {
            match part {
                Part::Rowid => hash.int(rowid?),
                Part::Field { index, numbers, default } => match (fields.get(*index), default) {
                    (Some(field), _) => hash.value(field.serial, field.body(record)?, *numbers)?,
                    (None, Some(default)) => hash.value(default.serial, &default.body, *numbers)?,
                    (None, None) => return None,
                },
            }
        }
        Some(hash.finish())
    }

    /// Returns the same hash for a plain record of this page.
    #[inline]
    pub(super) fn of_words(&self, rowid: Option<i64>, page: &[u8], fields: &[FieldWord]) -> Option<u128> {
        let mut hash = Hash::new();
        for part in &self.parts {
            match part {
                Part::Rowid => hash.int(rowid?),
                Part::Field { index, numbers, .. } => hash.word(fields.get(*index)?, page, *numbers)?,
            }
        }
        Some(hash.finish())
    }
}

const INT_TAG: u64 = 1;
const REAL_TAG: u64 = 2;

/// Returns the hash of a pair of integers.
pub(super) fn hash_of_pair(one: i64, other: i64) -> u128 {
    let mut hash = Hash::new();
    hash.int(one);
    hash.int(other);
    hash.finish()
}

/// A 128-bit multiply-and-mix hash that takes two words at a time. It does not resist deliberate collisions.
struct Hash {
    low: u64,
    high: u64,
}

/// Digits of pi.
const KEYS: [u64; 4] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

impl Hash {
    #[inline]
    fn new() -> Self {
        Self { low: KEYS[0], high: KEYS[1] }
    }

    #[inline]
    fn words(&mut self, one: u64, other: u64) {
        let (left, right) = (self.low ^ one, self.high ^ other);
        let (low, high) = product(left, right);
        // If one factor is 0, the other one is not lost.
        (self.low, self.high) = (low ^ right.rotate_left(32), high.wrapping_add(left.rotate_left(17)));
    }

    #[inline]
    fn int(&mut self, int: i64) {
        self.words(word_of_int(int), INT_TAG);
    }

    /// Adds the value of a plain field, as [`value`](Self::value) does.
    #[inline]
    fn word(&mut self, field: &FieldWord, page: &[u8], numbers: Numbers) -> Option<()> {
        match field.serial {
            serial @ 12.. => self.bytes_of_word(serial.into(), field.word, field.body(page)?),
            serial @ (0..=6 | 8..) if numbers != Numbers::AsDoubles => {
                self.words(field.word, if serial == 0 { 0 } else { INT_TAG });
            }
            serial => self.value(serial.into(), field.body(page)?, numbers)?,
        }
        Some(())
    }

    /// Adds a value. Returns `None` if the body does not have the length of its serial type.
    #[inline]
    fn value(&mut self, serial: u64, body: &[u8], numbers: Numbers) -> Option<()> {
        match serial {
            12.. => self.bytes(serial, body),
            _ => match (format_record::read_body(serial, body)?, numbers) {
                (Value::Int(int), Numbers::AsDoubles) => self.words((int as f64).to_bits(), REAL_TAG),
                (Value::Int(int), _) => self.int(int),
                (Value::Real(0.0), Numbers::AsDoubles) => self.words(0, REAL_TAG),
                (Value::Real(double), Numbers::ByValue) => {
                    match affinity::apply(Value::Real(double), Affinity::Integer) {
                        Value::Int(int) => self.int(int),
                        _ => self.words(double.to_bits(), REAL_TAG),
                    }
                }
                (Value::Real(double), _) => self.words(double.to_bits(), REAL_TAG),
                _ => self.words(0, 0),
            },
        }
        Some(())
    }

    /// Adds a text or a blob. The serial type tells which, and the length; so words of the same bytes may overlap.
    #[inline]
    fn bytes(&mut self, serial: u64, bytes: &[u8]) {
        self.bytes_of_word(serial, word_of_bytes(bytes), bytes);
    }

    /// Adds a text or a blob whose word is known.
    #[inline]
    fn bytes_of_word(&mut self, serial: u64, word: u64, bytes: &[u8]) {
        self.words(word, serial.wrapping_mul(KEYS[2]));
        if bytes.len() > 8 {
            self.later_bytes(bytes);
        }
    }

    /// Adds the bytes of a text or blob behind its word.
    fn later_bytes(&mut self, bytes: &[u8]) {
        bytes[8..].as_chunks::<16>().0.iter().for_each(|pair| self.pair(pair));
        match (bytes.last_chunk(), bytes.last_chunk()) {
            (Some(last), _) => self.pair(last),
            (None, Some(last)) => self.words(u64::from_be_bytes(*last), KEYS[3]),
            (None, None) => {}
        }
    }

    #[inline]
    fn pair(&mut self, pair: &[u8; 16]) {
        let (words, _) = pair.as_chunks();
        self.words(u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1]));
    }

    #[inline]
    fn finish(mut self) -> u128 {
        self.words(KEYS[2], KEYS[3]);
        self.words(KEYS[3], KEYS[2]);
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// Returns the low and the high half of the product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
fn product(left: u64, right: u64) -> (u64, u64) {
    let product = u128::from(left) * u128::from(right);
    (product as u64, (product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::{serial_of, write_body};
    use std::collections::HashSet;

    fn number(value: Value<'_>, numbers: Numbers) -> u128 {
        let mut body = Vec::new();
        write_body(&value, &mut body);
        let mut hash = Hash::new();
        hash.value(serial_of(&value), &body, numbers).unwrap();
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
        assert_eq!(
            values.iter().map(|value| number(*value, Numbers::AsStored)).collect::<HashSet<_>>().len(),
            distinct
        );
    }

    #[test]
    fn a_real_column_stores_integers_and_means_doubles() {
        assert_eq!(number(Value::Int(5), Numbers::AsDoubles), number(Value::Real(5.0), Numbers::AsDoubles));
        assert_eq!(number(Value::Int(0), Numbers::AsDoubles), number(Value::Real(-0.0), Numbers::AsDoubles));
        assert_ne!(number(Value::Int(5), Numbers::AsStored), number(Value::Real(5.0), Numbers::AsStored));
    }

    #[test]
    fn numbers_are_compared_by_value_where_releases_differ() {
        let by_value = |value| number(value, Numbers::ByValue);
        assert_eq!(by_value(Value::Int(5)), by_value(Value::Real(5.0)));
        assert_eq!(by_value(Value::Int(0)), by_value(Value::Real(-0.0)));
        // As doubles these would be equal.
        assert_ne!(by_value(Value::Int((1 << 53) + 1)), by_value(Value::Real((1_i64 << 53) as f64)));
        assert_ne!(by_value(Value::Int(5)), by_value(Value::Real(5.5)));
        assert_ne!(by_value(Value::Int(5)), by_value(Value::Text(b"5")));
    }

    #[test]
    fn the_order_of_parts_counts() {
        let digest = |parts: [usize; 2]| Digest {
            parts: parts.map(|index| Part::Field { index, numbers: Numbers::AsStored, default: None }).into(),
        };
        let record = Record::whole(b"\x03\x01\x01\x05\x06");
        let fields = [FieldAt { serial: 1, start: 3, end: 4 }, FieldAt { serial: 1, start: 4, end: 5 }];
        let there = digest([0, 1]).of(None, &record, &fields);
        assert!(there.is_some());
        assert_ne!(there, digest([1, 0]).of(None, &record, &fields));
        assert_eq!(digest([0, 2]).of(None, &record, &fields), None);
    }
}
