//! The order of index entries: which of two records comes first, and where they differ.

use super::record::{Record, class, classify, read_varint};
use super::text;
use litepress_format::header::TextEncoding;
use litepress_format::record as format_record;
use litepress_format::value::Value;
use std::cmp::Ordering;

/// How texts of one column compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collation {
    /// Byte by byte, as stored.
    Binary,
    /// ASCII letters without their case.
    NoCase,
    /// Byte by byte, as stored, without trailing spaces.
    RTrim,
}

impl Collation {
    /// `None` for a collation that an application defines.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let known = [("BINARY", Self::Binary), ("NOCASE", Self::NoCase), ("RTRIM", Self::RTrim)];
        known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, collation)| collation)
    }

    fn compare(self, left: &[u8], right: &[u8], encoding: TextEncoding) -> Ordering {
        // SQLite has the other two for UTF-8 only, and converts.
        if self != Self::Binary && encoding != TextEncoding::Utf8 {
            let (left, right) = (text::to_utf8(left, encoding), text::to_utf8(right, encoding));
            return self.compare(left.as_bytes(), right.as_bytes(), TextEncoding::Utf8);
        }
        match self {
            Self::Binary => left.cmp(right),
            Self::NoCase => compare_no_case(left, right),
            Self::RTrim => without_spaces(left).cmp(without_spaces(right)),
        }
    }
}

/// As `sqlite3StrNICmp` and then by length: a NUL in both at the same place ends the comparison.
fn compare_no_case(left: &[u8], right: &[u8]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        match left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase()) {
            Ordering::Equal if *left == 0 => break,
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    left.len().cmp(&right.len())
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// One column of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyColumn {
    pub(super) collation: Collation,
    pub(super) descending: bool,
}

/// The order of the entries of one index, or of the rows of a WITHOUT ROWID table.
#[derive(Clone, Debug)]
pub(super) struct KeyOrder {
    /// All columns that are compared; the rowid or primary key behind the key, too.
    pub(super) columns: Vec<KeyColumn>,
    /// No two entries may agree in the first so many columns, unless one of these is NULL.
    pub(super) unique: Option<usize>,
    pub(super) encoding: TextEncoding,
}

/// What is between an entry and the one behind it.
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
    /// A record is malformed, or what differs lies behind its looked-at start.
    Undecided,
}

impl KeyOrder {
    /// Compares an entry with the one behind it.
    pub(super) fn step(&self, entry: &Record<'_>, next: &Record<'_>) -> Step {
        let (Some(mut left), Some(mut right)) = (Fields::new(entry), Fields::new(next)) else {
            return Step::Undecided;
        };
        let mut has_null = false;
        for (index, column) in self.columns.iter().enumerate() {
            let (Some(a), Some(b)) = (left.next(), right.next()) else { return Step::Undecided };
            has_null |= a.0 == 0;
            let order = compare_fields(a, b, column.collation, self.encoding);
            match if column.descending { order.reverse() } else { order } {
                Ordering::Equal => {}
                Ordering::Greater => return Step::Descends,
                Ordering::Less => return self.uniqueness(index, has_null),
            }
        }
        if self.unique == Some(self.columns.len()) && !has_null { Step::NotUnique } else { Step::Equal }
    }

    /// The step between two entries whose first difference is in column `index`.
    #[inline]
    fn uniqueness(&self, index: usize, has_null: bool) -> Step {
        match self.unique {
            Some(key) if index >= key && !has_null => Step::NotUnique,
            _ => Step::Ascends,
        }
    }
}

/// Steps through serial types and bodies of a record without judging it.
struct Fields<'a> {
    /// The serial types that are left.
    header: &'a [u8],
    /// The bodies that are left.
    bodies: &'a [u8],
}

impl<'a> Fields<'a> {
    #[inline]
    fn new(record: &Record<'a>) -> Option<Self> {
        let (header_len, own) = read_varint(record.bytes)?;
        let (header, bodies) = record.bytes.split_at_checked(usize::try_from(header_len).ok()?)?;
        Some(Self { header: header.get(own..)?, bodies })
    }

    #[inline]
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        let (serial, serial_len) = read_varint(self.header)?;
        let (body, bodies) = self.bodies.split_at_checked(classify(serial).1)?;
        (self.header, self.bodies) = (&self.header[serial_len..], bodies);
        Some((serial, body))
    }
}

/// NULLs, then numbers, then texts, then blobs.
#[inline]
fn rank(serial: u64) -> u8 {
    match classify(serial).0 {
        class::NULL => 0,
        class::INT | class::SMALL_INT | class::REAL => 1,
        class::TEXT => 2,
        _ => 3,
    }
}

#[inline]
fn compare_fields(left: (u64, &[u8]), right: (u64, &[u8]), collation: Collation, encoding: TextEncoding) -> Ordering {
    let rank_of_both = rank(left.0);
    rank_of_both.cmp(&rank(right.0)).then_with(|| match rank_of_both {
        0 => Ordering::Equal,
        1 => compare_numbers(left, right),
        2 => collation.compare(left.1, right.1, encoding),
        _ => left.1.cmp(right.1),
    })
}

fn compare_numbers(left: (u64, &[u8]), right: (u64, &[u8])) -> Ordering {
    let number = |(serial, body)| format_record::read_body(serial, body);
    match (number(left), number(right)) {
        (Some(Value::Int(left)), Some(Value::Int(right))) => left.cmp(&right),
        (Some(Value::Int(left)), Some(Value::Real(right))) => compare_int_real(left, right),
        (Some(Value::Real(left)), Some(Value::Int(right))) => compare_int_real(right, left).reverse(),
        (Some(Value::Real(left)), Some(Value::Real(right))) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    }
}

/// Exact, also where not every integer is a double.
fn compare_int_real(int: i64, real: f64) -> Ordering {
    const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0; // 2^63
    if real >= BEYOND_INTEGERS {
        return Ordering::Less;
    }
    if real < -BEYOND_INTEGERS || real.is_nan() {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the whole part of a double within the integers")]
    let whole = real as i64;
    // Where the whole parts agree, the fraction of `real` decides; a double with one is small enough for exact
    // subtraction.
    int.cmp(&whole).then_with(|| 0.0.partial_cmp(&(real - whole as f64)).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::write_record;

    fn step(left: &[Value<'_>], right: &[Value<'_>], order: &KeyOrder) -> Step {
        let (mut left_bytes, mut right_bytes) = (Vec::new(), Vec::new());
        write_record(left, &mut left_bytes);
        write_record(right, &mut right_bytes);
        order.step(&Record::whole(&left_bytes), &Record::whole(&right_bytes))
    }

    fn order(columns: &[(Collation, bool)], unique: Option<usize>) -> KeyOrder {
        let columns =
            columns.iter().map(|(collation, descending)| KeyColumn { collation: *collation, descending: *descending });
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
                    let ours = collation.compare(&left, &right, encoding) as i8;
                    let skewed = collation == Collation::Binary && encoding != TextEncoding::Utf8;
                    assert!(skewed || ours == expected, "{left:?} {right:?} {name} {encoding:?}");
                }
            }
        }
        assert_eq!(Collation::of_name("nocase"), Some(Collation::NoCase));
        assert_eq!(Collation::of_name("german"), None);
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
        assert_eq!(by_text.step(&cut, &cut), Step::Undecided);
        assert_eq!(by_text.step(&Record::whole(b"\xff"), &Record::whole(b"\x02\x01\x01")), Step::Undecided);
    }
}
