//! Compares index entries: which of two records comes first, and in which column they differ.

use super::record::{FieldAt, FieldWord, Record, class, classify};
use litepress_format::header::TextEncoding;
use litepress_format::record as format_record;
use litepress_format::sort_key::{Collation, KeyPart, compare};
use litepress_format::varint;
use std::cmp::Ordering;

/// The order of the entries of one index, or of the rows of a WITHOUT ROWID table.
#[derive(Clone, Debug)]
pub(super) struct KeyOrder {
    /// All columns to compare, including the rowid or primary key behind the key.
    pub(super) columns: Vec<KeyPart>,
    /// The length of a unique key. No two entries may agree in all of its columns, unless one of these is NULL.
    pub(super) unique: Option<usize>,
    pub(super) encoding: TextEncoding,
}

/// The relation of an entry to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// They ascend, as they should.
    Ascends,
    /// They ascend, but agree in a unique key.
    NotUnique,
    /// They are equal in all columns.
    Equal,
    /// The second belongs before the first.
    Descends,
    /// A record is malformed, or the difference lies behind the inspected bytes.
    Undecided,
}

impl KeyOrder {
    /// Compares an entry with the next one. If their fields are known, the headers are not read again.
    #[inline]
    pub(super) fn step(&self, entry: (&Record<'_>, &[FieldAt]), next: (&Record<'_>, &[FieldAt])) -> Step {
        if let (Some(left), Some(right)) = (entry.1.get(..self.columns.len()), next.1.get(..self.columns.len())) {
            let value = |field: &FieldAt, record| Some((field.serial, field.body(record)?));
            return self.compare(|index| value(&left[index], entry.0), |index| value(&right[index], next.0));
        }
        match (Fields::new(entry.0), Fields::new(next.0)) {
            (Some(mut left), Some(mut right)) => self.compare(|_| left.next(), |_| right.next()),
            _ => Step::Undecided,
        }
    }

    /// Returns whether two plain entries of a page plainly ascend. If `false`, [`step`](Self::step) decides.
    #[inline]
    pub(super) fn ascends(&self, page: &[u8], entry: &[FieldWord], next: &[FieldWord]) -> bool {
        let mut has_null = false;
        for (index, column) in self.columns.iter().enumerate() {
            let (Some(a), Some(b)) = (entry.get(index), next.get(index)) else { return false };
            has_null |= a.serial == 0;
            let Some(order) = compare_words(page, a, b, column.collation, self.encoding) else { return false };
            match if column.descending { order.reverse() } else { order } {
                Ordering::Equal => {}
                Ordering::Greater => return false,
                Ordering::Less => return self.uniqueness(index, has_null) == Step::Ascends,
            }
        }
        false
    }

    /// Compares two entries, column by column.
    #[inline]
    fn compare<'l, 'r>(
        &self,
        mut left: impl FnMut(usize) -> Option<(u64, &'l [u8])>,
        mut right: impl FnMut(usize) -> Option<(u64, &'r [u8])>,
    ) -> Step {
        let mut has_null = false;
        for (index, column) in self.columns.iter().enumerate() {
            let (Some(a), Some(b)) = (left(index), right(index)) else { return Step::Undecided };
            has_null |= a.0 == 0;
            let Some(order) = compare_fields(a, b, column.collation, self.encoding) else { return Step::Undecided };
            match if column.descending { order.reverse() } else { order } {
                Ordering::Equal => {}
                Ordering::Greater => return Step::Descends,
                Ordering::Less => return self.uniqueness(index, has_null),
            }
        }
        if self.unique == Some(self.columns.len()) && !has_null { Step::NotUnique } else { Step::Equal }
    }

    /// Returns the step between two entries whose first difference is in column `index`.
    #[inline]
    fn uniqueness(&self, index: usize, has_null: bool) -> Step {
        match self.unique {
            Some(key) if index >= key && !has_null => Step::NotUnique,
            _ => Step::Ascends,
        }
    }
}

/// An iterator over the serial types and bodies of a record, without checks.
struct Fields<'a> {
    /// The remaining serial types.
    header: &'a [u8],
    /// The remaining bodies.
    bodies: &'a [u8],
}

impl<'a> Fields<'a> {
    #[inline]
    fn new(record: &Record<'a>) -> Option<Self> {
        let (header_len, own) = varint::read(record.bytes)?;
        let (header, bodies) = record.bytes.split_at_checked(usize::try_from(header_len).ok()?)?;
        Some(Self { header: header.get(own..)?, bodies })
    }

    #[inline]
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        let (serial, serial_len) = varint::read(self.header)?;
        let (body, bodies) = self.bodies.split_at_checked(classify(serial).1)?;
        (self.header, self.bodies) = (&self.header[serial_len..], bodies);
        Some((serial, body))
    }
}

/// Compares two fields. Returns `None` if a serial type is reserved.
#[inline]
fn compare_fields(
    left: (u64, &[u8]),
    right: (u64, &[u8]),
    collation: Collation,
    encoding: TextEncoding,
) -> Option<Ordering> {
    if classify(left.0).0 & classify(right.0).0 & class::TEXT != 0 {
        return Some(collation.in_encoding(encoding).compare(left.1, right.1));
    }
    let (left, right) = (format_record::read_body(left.0, left.1)?, format_record::read_body(right.0, right.1)?);
    Some(compare(&left, &right, collation))
}

/// Compares two fields of a page as [`compare_fields`] does.
#[inline]
fn compare_words(
    page: &[u8],
    left: &FieldWord,
    right: &FieldWord,
    collation: Collation,
    encoding: TextEncoding,
) -> Option<Ordering> {
    let (both, either) = (left.class & right.class, left.class | right.class);
    let is_bytewise = both == class::TEXT && collation == Collation::Binary || both == class::BLOB;
    let is_decided = either & !class::INTEGERS == 0 || is_bytewise && left.is_same(right).is_some();
    if is_decided {
        return Some(left.word.cmp(&right.word));
    }
    let value = |field: &FieldWord| Some((u64::from(field.serial), field.body(page)?));
    compare_fields(value(left)?, value(right)?, collation, encoding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordRules, check};
    use litepress_format::record::write_record;
    use litepress_format::text;
    use litepress_format::value::Value;

    fn step(left: &[Value<'_>], right: &[Value<'_>], order: &KeyOrder) -> Step {
        let (mut left_bytes, mut right_bytes) = (Vec::new(), Vec::new());
        write_record(left, &mut left_bytes);
        write_record(right, &mut right_bytes);
        let (left, right) = (Record::whole(&left_bytes), Record::whole(&right_bytes));
        let step = order.step((&left, &[]), (&right, &[]));
        let rules = RecordRules::new(None, TextEncoding::Utf8, 4);
        let fields = |record| {
            let mut fields = Vec::new();
            check::<true>(record, &rules, &mut fields).unwrap();
            fields
        };
        assert_eq!(order.step((&left, &fields(left)), (&right, &fields(right))), step);
        step
    }

    fn order(columns: &[(Collation, bool)], unique: Option<usize>) -> KeyOrder {
        let columns =
            columns.iter().map(|(collation, descending)| KeyPart { collation: *collation, descending: *descending });
        KeyOrder { columns: columns.collect(), unique, encoding: TextEncoding::Utf8 }
    }

    #[test]
    fn values_ascend_by_kind_and_then_by_value() {
        use Value::{Blob, Int, Null, Real, Text};
        let ascending = [
            Null,
            Real(f64::NEG_INFINITY),
            Int(i64::MIN),
            Real(-1.5),
            Int(-1),
            Int(0),
            Real(0.5),
            Int(1),
            Int(9_007_199_254_740_992),
            Int(9_007_199_254_740_993),
            Real(9_007_199_254_740_994.0),
            Int(i64::MAX),
            Real(9_223_372_036_854_775_808.0),
            Text(b""),
            Text(b"A"),
            Text(b"a"),
            Text(b"a "),
            Blob(b""),
            Blob(b"A"),
        ];
        let up = order(&[(Collation::Binary, false)], None);
        let down = order(&[(Collation::Binary, true)], None);
        for (left_index, left) in ascending.iter().enumerate() {
            for (right_index, right) in ascending.iter().enumerate() {
                let expected = match left_index.cmp(&right_index) {
                    Ordering::Less => (Step::Ascends, Step::Descends),
                    Ordering::Equal => (Step::Equal, Step::Equal),
                    Ordering::Greater => (Step::Descends, Step::Ascends),
                };
                assert_eq!(step(&[*left], &[*right], &up), expected.0, "{left:?} {right:?}");
                assert_eq!(step(&[*left], &[*right], &down), expected.1, "{left:?} {right:?}");
            }
        }
        assert_eq!(step(&[Int(1)], &[Real(1.0)], &up), Step::Equal);
        assert_eq!(step(&[Int(0)], &[Real(-0.0)], &up), Step::Equal);
    }

    #[test]
    fn collations_are_those_of_sqlite() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let texts = ["", " ", "a", "A", "a ", "A  ", "ab", "aB ", "b", "[", "_", "Ä", "ä", "a\0b", "a\0c", "a\0", "é "];
        for (name, collation) in
            [("BINARY", Collation::Binary), ("NOCASE", Collation::NoCase), ("RTRIM", Collation::RTrim)]
        {
            let sql = format!("SELECT CASE WHEN ?1 < ?2 COLLATE {name} THEN -1 ELSE ?1 > ?2 COLLATE {name} END");
            for (left, right) in texts.iter().flat_map(|left| texts.iter().map(move |right| (left, right))) {
                let expected: i8 = connection.query_row(&sql, [left, right], |row| row.get(0)).unwrap();
                for encoding in [TextEncoding::Utf8, TextEncoding::Utf16Le] {
                    let (left, right) = (text::from_utf8(left, encoding), text::from_utf8(right, encoding));
                    let ours = collation.in_encoding(encoding).compare(&left, &right) as i8;
                    let skewed = collation == Collation::Binary && encoding != TextEncoding::Utf8;
                    assert!(skewed || ours == expected, "{left:?} {right:?} {name} {encoding:?}");
                }
            }
        }
    }

    #[test]
    fn a_unique_key_may_repeat_with_a_null_in_it() {
        use Value::{Int, Null};
        let unique = order(&[(Collation::Binary, false); 3], Some(2));
        assert_eq!(step(&[Int(1), Int(2), Int(3)], &[Int(1), Int(2), Int(4)], &unique), Step::NotUnique);
        assert_eq!(step(&[Int(1), Int(2), Int(3)], &[Int(1), Int(3), Int(1)], &unique), Step::Ascends);
        assert_eq!(step(&[Int(1), Null, Int(3)], &[Int(1), Null, Int(4)], &unique), Step::Ascends);
        assert_eq!(step(&[Int(1), Null, Int(3)], &[Int(1), Null, Int(3)], &unique), Step::Equal);
    }

    #[test]
    fn a_difference_out_of_sight_is_undecided() {
        let by_text = order(&[(Collation::Binary, false)], None);
        let cut = Record { bytes: b"\x02\x13ab", len: 5 };
        assert_eq!(by_text.step((&cut, &[]), (&cut, &[])), Step::Undecided);
        assert_eq!(
            by_text.step((&Record::whole(b"\xff"), &[]), (&Record::whole(b"\x02\x01\x01"), &[])),
            Step::Undecided
        );
    }
}
