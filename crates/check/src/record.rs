//! Checks records: the header against the format, and each value against the rule of its column (`rules`).
//!
//! Tens of millions of rows a second go through [`check`], and most have nothing to report. So a table gives the class
//! (NULL, integer, ...) and the length of every one-byte serial type. Every column has two sets of classes: one that
//! needs no second look, and one that needs none for ASCII texts or for doubles with a fraction. A record that these
//! rules cover passes [`check_fast`]. [`check_slow`] checks all others and finds the words for a fault.

mod rules;
mod serial_class;
mod words;

pub(super) use rules::{FieldRule, RecordRules};
pub(super) use serial_class::{class, classify};
pub(super) use words::{FieldWord, read_plain, word_of_bytes, word_of_int};

use litepress_format::header::TextEncoding;
use litepress_format::varint;
use serial_class::SHORT_SERIALS;

/// A record, or its inspected start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// The record, or its start if it is longer than the limit.
    pub(super) bytes: &'a [u8],
    /// Length of the whole record.
    pub(super) len: u64,
}

impl<'a> Record<'a> {
    pub(super) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, len: bytes.len() as u64 }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.len
    }
}

/// A value of a record: its serial type and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldAt {
    pub(super) serial: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl FieldAt {
    /// Returns the body, or `None` if some of it lies behind the inspected bytes.
    #[inline]
    pub(super) fn body<'a>(&self, record: &Record<'a>) -> Option<&'a [u8]> {
        record.bytes.get(self.start..self.end)
    }
}

/// Checks a record. With `KEEP_FIELDS`, stores the places of its values in `fields`. Values behind the inspected bytes
/// are not checked. The error describes the first fault.
#[inline]
pub(super) fn check<const KEEP_FIELDS: bool>(
    record: Record<'_>,
    rules: &RecordRules,
    fields: &mut Vec<FieldAt>,
) -> Result<(), String> {
    if KEEP_FIELDS {
        fields.resize(rules.quick.len(), FieldAt { serial: 0, start: 0, end: 0 });
    }
    if check_fast::<KEEP_FIELDS>(record.bytes, rules, fields) && record.is_whole() {
        return Ok(());
    }
    fields.clear();
    check_slow(record, rules, fields)
}

/// Returns whether a record has exactly its columns, all with one-byte serial types, and no value that needs a second
/// look. With `KEEP_FIELDS`, `fields` must have one element per column.
#[inline]
pub(super) fn check_fast<const KEEP_FIELDS: bool>(record: &[u8], rules: &RecordRules, fields: &mut [FieldAt]) -> bool {
    let Some(&header_len @ 1..0x80) = record.first() else { return false };
    let Some(serials) = record.get(1..usize::from(header_len)) else { return false };
    if serials.len() != rules.quick.len() {
        return false;
    }
    let mut start = usize::from(header_len);
    for (index, (serial, rule)) in serials.iter().zip(&rules.quick).enumerate() {
        let (class, len) = SHORT_SERIALS[usize::from(*serial)];
        let end = start + usize::from(len);
        if rule.quick & class == 0 && !rule.is_plain(class, record.get(start..end)) {
            return false;
        }
        if KEEP_FIELDS {
            fields[index] = FieldAt { serial: u64::from(*serial), start, end };
        }
        start = end;
    }
    start == record.len()
}

/// Does the work of [`check`] for any record.
#[cold]
fn check_slow(record: Record<'_>, rules: &RecordRules, fields: &mut Vec<FieldAt>) -> Result<(), String> {
    let header = header(record)?;
    let (mut at, mut body_at, mut column) = (header.own, header.end, 0);
    let mut verdict = Ok(());
    let header_bytes = &record.bytes[..header.end];
    while at < header.end {
        let Some((serial, serial_len)) = varint::read(&header_bytes[at..]) else {
            return Err("the record's header ends inside a serial type".into());
        };
        let Some(rule) = rules.rule(column) else {
            return Err(format!("the record has more than the {column} values that it should have"));
        };
        let (class, len) = classify(serial);
        let field = FieldAt { serial, start: body_at, end: body_at.saturating_add(len) };
        if rule.quick & class == 0 {
            verdict = verdict.and_then(|()| check_field(rule, class, &field, &record, rules.encoding));
        }
        fields.push(field);
        body_at = field.end;
        at += serial_len;
        column += 1;
    }
    if body_at as u64 != record.len {
        let what = format!("the record's values end at {body_at}, the record at {}", record.len);
        return verdict.and(Err(what));
    }
    verdict.and_then(|()| rules.check_missing(column))
}

/// The header of a record: the bytes of its length field, and its end.
struct Header {
    own: usize,
    end: usize,
}

fn header(record: Record<'_>) -> Result<Header, String> {
    let Some((len, own)) = varint::read(record.bytes) else {
        return Err("the record ends inside its header length".into());
    };
    match usize::try_from(len) {
        Ok(end) if (own..=record.bytes.len()).contains(&end) => Ok(Header { own, end }),
        _ => Err(format!("a record of {} bytes cannot have a header of {len}", record.len)),
    }
}

fn check_field(
    rule: &FieldRule,
    class: u8,
    field: &FieldAt,
    record: &Record<'_>,
    encoding: TextEncoding,
) -> Result<(), String> {
    match field.body(record) {
        Some(body) => rule.check_value(class, body, encoding),
        None if !record.is_whole() => Ok(()),
        None => Err(format!("the record ends inside {}", rule.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::{body_len, write_record};
    use litepress_format::value::Value;
    use litepress_rows::Affinity;

    fn rules(fields: &[(u8, Option<Affinity>)]) -> RecordRules {
        let fields = fields.iter().enumerate().map(|(index, (accepts, affinity))| {
            FieldRule::new(format!("t.c{index}"), *accepts, *affinity, "refused value in".into())
        });
        RecordRules::new(Some(fields.collect()), TextEncoding::Utf8, 4)
    }

    fn verdict(values: &[Value<'_>], rules: &RecordRules) -> Result<(), String> {
        let mut bytes = Vec::new();
        write_record(values, &mut bytes);
        check_bytes(&bytes, rules)
    }

    fn check_bytes(bytes: &[u8], rules: &RecordRules) -> Result<(), String> {
        let mut fields = Vec::new();
        let kept = check::<true>(Record::whole(bytes), rules, &mut fields);
        assert_eq!(kept, check::<false>(Record::whole(bytes), rules, &mut Vec::new()));
        kept
    }

    #[test]
    fn serial_types_have_the_lengths_of_the_format() {
        for serial in (0..300).chain([1 << 40, u64::MAX]) {
            let (class, len) = classify(serial);
            match body_len(serial) {
                Some(expected) => assert_eq!(len as u64, expected, "{serial}"),
                None => assert_eq!(class, class::RESERVED),
            }
        }
    }

    #[test]
    fn a_column_accepts_its_classes_and_no_others() {
        let not_null = rules(&[(class::ANY & !class::NULL, None)]);
        assert_eq!(verdict(&[Value::Null], &not_null).unwrap_err(), "NULL value in t.c0");
        let values = [Value::Int(1), Value::Int(300), Value::Real(0.5), Value::Text(b"x"), Value::Blob(b"\xff")];
        for value in values {
            assert_eq!(verdict(&[value], &not_null), Ok(()));
            assert!(verdict(&[value], &rules(&[(class::NULL, None)])).is_err(), "{value:?}");
        }
    }

    #[test]
    fn values_that_their_affinity_would_have_changed() {
        let verdict_of = |value, affinity| verdict(&[value], &rules(&[(class::ANY, Some(affinity))]));
        for (value, affinity, ok) in [
            (Value::Text(b" 12 "), Affinity::Integer, false),
            (Value::Text(b"5.5"), Affinity::Real, false),
            (Value::Text(b"1e3"), Affinity::Numeric, false),
            (Value::Text(b"12abc"), Affinity::Integer, true),
            (Value::Text(b"5\x006"), Affinity::Numeric, true),
            (Value::Text(b"-"), Affinity::Integer, true),
            (Value::Text(b"2020-01-01"), Affinity::Numeric, true),
            (Value::Text(b"12"), Affinity::Text, true),
            (Value::Text(b"12"), Affinity::Blob, true),
            (Value::Real(5.0), Affinity::Integer, false),
            (Value::Real(5.0), Affinity::Real, true),
            (Value::Real(5.0), Affinity::Blob, true),
            (Value::Real(1e300), Affinity::Integer, true),
            (Value::Real(9_223_372_036_854_775_808.0), Affinity::Numeric, true),
            (Value::Real(1e18), Affinity::Real, true),
            (Value::Real(0.5), Affinity::Integer, true),
        ] {
            assert_eq!(verdict_of(value, affinity).is_ok(), ok, "{value:?} {affinity:?}");
        }
    }

    #[test]
    fn a_malformed_record_is_refused() {
        let any = rules(&[(class::ANY, None); 2]);
        for (bytes, ok) in [
            (&b"\x03\x01\x01\x05\x06"[..], true),
            (b"\x02\x01\x05", true),
            (b"\x01", true),
            (b"", false),
            (b"\x00", false),
            (b"\x09\x01", false),
            (b"\x02\x0a", false),
            (b"\x02\x01", false),
            (b"\x02\x01\x05\x05", false),
            (b"\x02\x81\x05", false),
            (b"\x04\x01\x01\x01\x01\x01\x01", false),
            (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff", false),
            (b"\x02\x07\x7f\xf8\x00\x00\x00\x00\x00\x00", false),
            (b"\x02\x0f\xff", true),
        ] {
            assert_eq!(check_bytes(bytes, &any).is_ok(), ok, "{bytes:?}");
        }
    }

    #[test]
    fn only_the_looked_at_start_of_a_long_record_is_judged() {
        let any = rules(&[(class::ANY, None); 2]);
        let long = Record { bytes: b"\x03\x0f\x0fa", len: 5 };
        assert_eq!(check::<false>(long, &any, &mut Vec::new()), Ok(()));
        let too_long = Record { len: 6, ..long };
        assert!(check::<false>(too_long, &any, &mut Vec::new()).is_err());
    }

    #[test]
    fn serial_types_8_and_9_are_odd_in_old_schema_formats() {
        let old = RecordRules::new(None, TextEncoding::Utf8, 1);
        assert!(check_bytes(b"\x02\x01\x05", &old).is_ok());
        assert_eq!(old.warnings().count(), 0);
        assert!(check_bytes(b"\x02\x08", &old).is_ok());
        let warnings: Vec<String> = old.warnings().collect();
        assert_eq!(warnings, ["a column holds the serial types 8 or 9, which schema formats before 4 do not have"]);
    }
}
