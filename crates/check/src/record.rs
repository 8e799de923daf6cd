//! Checks records: what the header may say and what each column may hold.
//!
//! Tens of millions of rows a second go through [`check`], and most have nothing to report. So a table gives the class
//! (NULL, integer, ...) and the length of every one-byte serial type. Every column has two sets of classes: one that
//! needs no second look, and one that needs none for ASCII texts or for doubles with a fraction. A record that these
//! rules cover passes [`check_fast`]. [`check_slow`] checks all others and finds the words for a fault.

use super::text;
use litepress_format::header::TextEncoding;
use litepress_format::record::serial;
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::{Affinity, affinity};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Classes of serial types, as bits of a set.
pub(super) mod class {
    pub(in super::super) const NULL: u8 = 1;
    pub(in super::super) const INT: u8 = 2;
    /// The integers 0 and 1 without a body. Schema formats before 4 do not have them, but SQLite reads them there too.
    pub(in super::super) const SMALL_INT: u8 = 4;
    pub(in super::super) const REAL: u8 = 8;
    pub(in super::super) const TEXT: u8 = 16;
    pub(in super::super) const BLOB: u8 = 32;
    pub(in super::super) const INTEGERS: u8 = INT | SMALL_INT;
    pub(in super::super) const ANY: u8 = 63;
    /// Serial types 10 and 11.
    pub(super) const RESERVED: u8 = 64;
}

/// Class and body length by the first byte of a serial type. [`class::RESERVED`] also marks serial types of several
/// bytes.
#[expect(clippy::cast_possible_truncation, reason = "a serial type of one byte has a body of at most 57")]
const SHORT_SERIALS: [(u8, u8); 256] = {
    let mut table = [(class::RESERVED, 0); 256];
    let mut serial = 0;
    while serial < 128 {
        table[serial] = (class_of(serial as u64), serial::body_len(serial as u64) as u8);
        serial += 1;
    }
    table
};

const fn class_of(serial: u64) -> u8 {
    match serial {
        serial::NULL => class::NULL,
        serial::I8..=serial::I64 => class::INT,
        serial::REAL => class::REAL,
        serial::ZERO | serial::ONE => class::SMALL_INT,
        10 | 11 => class::RESERVED,
        _ => {
            if serial.is_multiple_of(2) {
                class::BLOB
            } else {
                class::TEXT
            }
        }
    }
}

/// Returns class and body length of any serial type. The length saturates, at more than any body has.
#[inline]
pub(super) fn classify(serial: u64) -> (u8, usize) {
    if serial < 0x80 {
        let (class, len) = SHORT_SERIALS[(serial & 0x7f) as usize];
        return (class, len.into());
    }
    (class_of(serial), usize::try_from(serial::body_len(serial)).unwrap_or(usize::MAX))
}

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

/// The rule for one field of the records of a b-tree.
#[derive(Debug)]
pub(super) struct FieldRule {
    /// Classes that need no second look.
    pub(super) quick: u8,
    /// Classes that are allowed.
    pub(super) accepts: u8,
    /// The affinity that decides about texts that look like numbers, and about doubles that are integers. `None`
    /// allows all of them.
    pub(super) affinity: Option<Affinity>,
    /// `table.column`, for messages.
    pub(super) name: String,
    /// The message for a value of a class that is refused, except for NULL.
    pub(super) refusal: String,
    /// Whether a record may end before this field.
    pub(super) may_be_missing: bool,
    /// Legal but unusual values that were seen.
    pub(super) warnings: Warnings,
}

/// Flags for values that SQLite stores only on odd occasions. They become notes, not faults.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    whole_double: AtomicBool,
    ill_formed_text: AtomicBool,
    number_before_nul: AtomicBool,
    early_small_int: AtomicBool,
}

impl Warnings {
    /// Sets a flag that all threads share. Only the first call writes.
    fn mark(flag: &AtomicBool) {
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }
}

impl FieldRule {
    /// Creates a rule that accepts `accepts`. Only texts and doubles get a second look.
    pub(super) fn new(name: String, accepts: u8, affinity: Option<Affinity>, refusal: String) -> Self {
        let quick = accepts & !(class::TEXT | class::REAL);
        Self { quick, accepts, affinity, name, refusal, may_be_missing: true, warnings: Warnings::default() }
    }

    /// Creates the rule for a field that repeats a table's value, which is checked in the table.
    pub(super) fn copy(name: String, accepts: u8) -> Self {
        Self { quick: accepts, may_be_missing: false, ..Self::new(name, accepts, None, "unexpected value in".into()) }
    }

    /// Describes a value of a class that is not accepted.
    #[cold]
    fn refuse(&self, class: u8) -> String {
        match class {
            class::NULL => format!("NULL value in {}", self.name),
            class::RESERVED => format!("serial type 10 or 11 in {}", self.name),
            _ => format!("{} {}", self.refusal, self.name),
        }
    }

    /// Takes a second look at a value whose class is not in `quick`.
    fn check_value(&self, class: u8, body: &[u8], encoding: TextEncoding) -> Result<(), String> {
        if self.accepts & class == 0 {
            return Err(self.refuse(class));
        }
        match class {
            class::REAL => self.check_real(body),
            class::TEXT => self.check_text(body, encoding),
            // These get a second look only in a database of an earlier schema format.
            class::SMALL_INT => {
                Warnings::mark(&self.warnings.early_small_int);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_real(&self, body: &[u8]) -> Result<(), String> {
        let Some(bytes) = body.first_chunk() else { return Ok(()) };
        let real = f64::from_be_bytes(*bytes);
        if real.is_nan() {
            return Err(format!("NaN stored in {}, where SQLite stores NULL", self.name));
        }
        match self.affinity {
            Some(Affinity::Integer | Affinity::Numeric)
                if matches!(affinity::apply(Value::Real(real), Affinity::Integer), Value::Int(_)) =>
            {
                Err(format!("{real:?} is stored as a double in {}, where SQLite stores an integer", self.name))
            }
            Some(Affinity::Real) if affinity::real_as_integer(real).is_some() => {
                Warnings::mark(&self.warnings.whole_double);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn check_text(&self, body: &[u8], encoding: TextEncoding) -> Result<(), String> {
        if !text::is_valid(body, encoding) {
            Warnings::mark(&self.warnings.ill_formed_text);
        }
        if !self.is_numeric() || !is_number(body, encoding) {
            return Ok(());
        }
        if to_utf8(body, encoding).contains(&0) {
            Warnings::mark(&self.warnings.number_before_nul);
            return Ok(());
        }
        Err(format!("TEXT value in {}, whose affinity makes a number of it", self.name))
    }

    /// Returns whether the column would turn texts into numbers.
    fn is_numeric(&self) -> bool {
        matches!(self.affinity, Some(Affinity::Integer | Affinity::Numeric | Affinity::Real))
    }
}

/// Returns whether a numeric column would have turned this text into a number.
fn is_number(body: &[u8], encoding: TextEncoding) -> bool {
    let text = to_utf8(body, encoding);
    // Most texts are not numbers, and the first character of most of these shows it.
    let could_be = text.iter().find(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    could_be.is_some_and(|first| matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.'))
        && !matches!(affinity::apply(Value::Text(&text), Affinity::Integer), Value::Text(_))
}

fn to_utf8(body: &[u8], encoding: TextEncoding) -> Cow<'_, [u8]> {
    match encoding {
        TextEncoding::Utf8 => Cow::Borrowed(body),
        _ => Cow::Owned(text::to_utf8(body, encoding).into_bytes()),
    }
}

/// The part of a field's rule that the fast path needs.
#[derive(Clone, Copy, Debug)]
struct QuickRule {
    /// As [`FieldRule::quick`].
    quick: u8,
    /// TEXT if ASCII needs no second look; REAL if a double with a fraction needs none.
    plain: u8,
}

impl QuickRule {
    /// Returns whether a value needs no second look although its class is not in `quick`.
    #[inline]
    fn is_plain(self, class: u8, body: Option<&[u8]>) -> bool {
        match body {
            Some(text) if self.plain & class & class::TEXT != 0 => is_ascii(text),
            Some(real) if self.plain & class & class::REAL != 0 => {
                real.first_chunk().is_some_and(|real| has_fraction(f64::from_be_bytes(*real)))
            }
            _ => false,
        }
    }
}

/// The rules of all records of one b-tree.
#[derive(Debug)]
pub(super) struct RecordRules {
    /// The rules of all fields, in storage order; `None` if the columns are unknown.
    fields: Option<Vec<FieldRule>>,
    /// The rules for the fast path; empty if the columns are unknown.
    quick: Vec<QuickRule>,
    /// The rule for every field of a b-tree whose columns are unknown.
    unknown: FieldRule,
    encoding: TextEncoding,
}

impl RecordRules {
    pub(super) fn new(mut fields: Option<Vec<FieldRule>>, encoding: TextEncoding, schema_format: u32) -> Self {
        let mut unknown = FieldRule::new("a column".into(), class::ANY, None, String::new());
        if schema_format < 4 {
            for rule in fields.iter_mut().flatten().chain([&mut unknown]) {
                rule.quick &= !class::SMALL_INT;
            }
        }
        let quick = |rule: &FieldRule| QuickRule {
            quick: rule.quick,
            plain: rule.accepts
                & match encoding {
                    TextEncoding::Utf8 if !rule.is_numeric() => class::TEXT | class::REAL,
                    _ => class::REAL,
                },
        };
        let quick = fields.iter().flatten().map(quick).collect();
        Self { fields, quick, unknown, encoding }
    }

    /// Returns what is legal but unusual in the records, one sentence each.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let encoding = text::name(self.encoding);
        self.fields.iter().flatten().chain([&self.unknown]).flat_map(move |rule| {
            let FieldRule { name, warnings, .. } = rule;
            let sayings = [
                (&warnings.whole_double, format!("{name} holds whole numbers as doubles of 8 bytes")),
                (&warnings.ill_formed_text, format!("{name} holds text that is not valid {encoding}")),
                (
                    &warnings.number_before_nul,
                    format!(
                        "{name} holds text with a number before a NUL, which older versions of SQLite keep as text"
                    ),
                ),
                (
                    &warnings.early_small_int,
                    format!("{name} holds the serial types 8 or 9, which schema formats before 4 do not have"),
                ),
            ];
            sayings.into_iter().filter(|(seen, _)| seen.load(Ordering::Relaxed)).map(|(_, saying)| saying)
        })
    }

    fn rule(&self, index: usize) -> Option<&FieldRule> {
        match &self.fields {
            Some(fields) => fields.get(index),
            None => Some(&self.unknown),
        }
    }

    /// Checks that a record may end after `fields` fields.
    fn check_missing(&self, fields: usize) -> Result<(), String> {
        let missing = self.fields.iter().flat_map(|rules| rules.iter().skip(fields));
        match missing.into_iter().find(|rule| !rule.may_be_missing) {
            Some(rule) => Err(format!("the record ends before {}", rule.name)),
            None => Ok(()),
        }
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

/// Returns whether no byte has its high bit set. It does not branch per byte, because most texts are short.
#[inline]
fn is_ascii(text: &[u8]) -> bool {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = text.as_chunks();
    let bits = words.iter().fold(0, |bits, word| bits | u64::from_be_bytes(*word));
    // At most seven bytes, read as two halves that overlap.
    let rest = match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => u64::from(u32::from_be_bytes(*first) | u32::from_be_bytes(*last)),
        _ => rest.iter().fold(0, |bits, byte| bits | u64::from(*byte)),
    };
    (bits | rest) & HIGH_BITS == 0
}

/// Returns whether a double lies between two integers: it is not NaN, and no column would store it as an integer.
/// Returns `false` for large doubles, which get a second look.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the whole part of a double that is small enough")]
fn has_fraction(real: f64) -> bool {
    const NO_FRACTION_FROM: f64 = 4_503_599_627_370_496.0; // 2^52
    real.abs() < NO_FRACTION_FROM && (real as i64) as f64 != real
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
