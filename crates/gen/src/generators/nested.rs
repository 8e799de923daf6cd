//! JSON objects and arrays of other generators' values.
//!
//! Each field has random numbers of its own, as a column has. Element i of a row's array is the value of row
//! `row * max + i` of its generator, so elements are generated in blocks too, and rows share no element.

use super::{Arguments, Cardinality, Generator, InJson, Kinds, size};
use crate::decimal::push_decimal;
use crate::random::{CellRandom, Fraction, Rows};
use litepress_format::value::Value;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{CellBlock, Result};
use std::io::Write;

/// The purpose of the first field's random numbers in [`CellRandom::fork`]; an array's elements are a first field.
const FIRST_FIELD: u64 = 1 << 32;

/// `object(name: generator, ...)`
#[derive(Debug)]
struct Object {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    /// Bytes before the value: `{"name":` or `,"name":`.
    begin: Vec<u8>,
    inner: Box<dyn Generator>,
}

pub(super) fn object(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (index, (name, inner)) in arguments.named_generators()?.into_iter().enumerate() {
        if names.contains(&name) {
            return Err(arguments.error_at_pair(index, format!("the object has a field '{name}' already")));
        }
        let mut begin = vec![if fields.is_empty() { b'{' } else { b',' }];
        push_text(name.as_bytes(), &mut begin);
        begin.push(b':');
        fields.push(Field { begin, inner });
        names.push(name);
    }
    Ok(Box::new(Object { fields }))
}

impl Generator for Object {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut blocks = Vec::with_capacity(self.fields.len());
        for (purpose, field) in (FIRST_FIELD..).zip(&self.fields) {
            let mut block = CellBlock::default();
            field.inner.fill(&random.fork(purpose), rows, &mut block);
            blocks.push((block, &field.begin, field.inner.in_json()));
        }
        let texts = out.texts();
        for row in 0..rows.len() {
            let arena = texts.arena();
            for (block, begin, in_json) in &blocks {
                arena.extend_from_slice(begin);
                push_json(block.value(row), *in_json, arena);
            }
            arena.extend_from_slice(if blocks.is_empty() { b"{}" } else { b"}" });
            texts.end_string();
        }
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        let of_field = |field: &Field| (field.begin.len() as u64).saturating_add(longest_json(&*field.inner));
        self.fields.iter().map(of_field).fold(2, u64::saturating_add)
    }

    fn cardinality(&self) -> Cardinality {
        let unique = self.fields.iter().filter_map(|field| unique_rows(&*field.inner)).max();
        let values = || self.fields.iter().fold(1, |all: u64, field| all.saturating_mul(values(&*field.inner)));
        unique.map_or_else(|| Cardinality::Among { values: values() }, |rows| Cardinality::Unique { rows })
    }

    fn in_json(&self) -> InJson {
        InJson::Json
    }
}

/// Returns the number of rows without a repeated value, or `None` if values may repeat.
fn unique_rows(inner: &dyn Generator) -> Option<u64> {
    (inner.cardinality().is_unique() && inner.null_share() == 0.0).then_some(inner.cardinality().at_most())
}

/// Returns the number of distinct values, NULL included.
fn values(inner: &dyn Generator) -> u64 {
    inner.cardinality().at_most().saturating_add(u64::from(inner.null_share() > 0.0))
}

/// `array(inner, min, max)`
#[derive(Debug)]
struct Array {
    inner: Box<dyn Generator>,
    min: u64,
    max: u64,
}

/// Elements repeat after this many rows.
const ROWS: u64 = 1 << 53;

pub(super) fn array(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let most = BLOCK_ROWS as u64;
    let (min, max) = (arguments.int_within("min", 0, most)?, arguments.int_within("max", 0, most)?);
    arguments.int_range("min", "max")?;
    Ok(Box::new(Array { inner: arguments.generator("inner")?, min, max }))
}

impl Generator for Array {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let of_elements = random.fork(FIRST_FIELD);
        let in_json = self.inner.in_json();
        let at_once = (BLOCK_ROWS / size(self.max.max(1))).max(1);
        let (mut elements, mut numbers) = (CellBlock::default(), Vec::new());
        let texts = out.texts();
        for start in (0..rows.len()).step_by(at_once) {
            let some = rows.part(start..rows.len().min(start + at_once));
            let of = |row: u64, rows: usize| row % ROWS * self.max..(row % ROWS + rows as u64) * self.max;
            let of_rows = match &some {
                Rows::Range(range) => Rows::Range(of(range.start, some.len())),
                Rows::List(list) => {
                    numbers.clear();
                    numbers.extend(list.iter().flat_map(|&row| of(row, 1)));
                    Rows::List(&numbers)
                }
            };
            self.inner.fill(&of_elements, &of_rows, &mut elements);
            some.zip(0.., |row, nth| {
                let len = self.min + Fraction(random.u64(row)).take(self.max - self.min + 1);
                let arena = texts.arena();
                arena.push(b'[');
                for element in 0..len {
                    if element > 0 {
                        arena.push(b',');
                    }
                    push_json(elements.value(size(nth * self.max + element)), in_json, arena);
                }
                arena.push(b']');
                texts.end_string();
            });
        }
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.max.saturating_mul(longest_json(&*self.inner).saturating_add(1)).saturating_add(2)
    }

    fn cardinality(&self) -> Cardinality {
        if let Some(rows) = unique_rows(&*self.inner).filter(|_| self.min > 0) {
            return Cardinality::Unique { rows: rows / self.max };
        }
        let each = values(&*self.inner);
        let of_len = |len: u64| (0..len.min(64)).fold(1_u64, |all, _| all.saturating_mul(each));
        Cardinality::Among { values: (self.min..=self.max).map(of_len).fold(0, u64::saturating_add) }
    }

    fn in_json(&self) -> InJson {
        InJson::Json
    }
}

/// Returns the bytes of a generator's longest value as JSON.
fn longest_json(inner: &dyn Generator) -> u64 {
    const NUMBER: u64 = 24;
    // A control character becomes \u001f.
    let factor = match inner.kinds() {
        _ if inner.in_json() == InJson::Json => 1,
        kinds if kinds.within(Kinds::INT.union(Kinds::REAL).union(Kinds::DIGITS)) => 1,
        _ => 6,
    };
    inner.longest_bytes().saturating_mul(factor).saturating_add(2).max(NUMBER)
}

/// Appends a value as JSON: JSON texts unchanged, truth values in words, blobs as hex digits in quotes.
fn push_json(value: Value<'_>, in_json: InJson, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Int(int) if in_json == InJson::Truth => out.extend_from_slice(if int == 0 { b"false" } else { b"true" }),
        Value::Int(int) => {
            if int < 0 {
                out.push(b'-');
            }
            push_decimal(int.unsigned_abs(), out);
        }
        Value::Real(real) if real.is_finite() => write!(out, "{real:?}").expect("writing to memory does not fail"),
        Value::Real(_) => out.extend_from_slice(b"null"),
        Value::Text(text) if in_json == InJson::Json => out.extend_from_slice(text),
        Value::Text(text) => push_text(text, out),
        Value::Blob(blob) => {
            out.push(b'"');
            blob.iter().for_each(|byte| write!(out, "{byte:02x}").expect("writing to memory does not fail"));
            out.push(b'"');
        }
    }
}

/// Appends a text in double quotes.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    if text.iter().all(is_plain) {
        out.extend_from_slice(text);
    } else {
        for byte in text {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                0..0x20 => write!(out, "\\u{byte:04x}").expect("writing to memory does not fail"),
                _ => out.push(*byte),
            }
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Truth values were numbers: `{"organic":0}`.
    #[test]
    fn truth_values_are_words() {
        for (in_json, expected) in [(InJson::Truth, ["false", "true"]), (InJson::Value, ["0", "1"])] {
            let texts = [0, 1].map(|value| {
                let mut out = Vec::new();
                push_json(Value::Int(value), in_json, &mut out);
                String::from_utf8(out).unwrap()
            });
            assert_eq!(texts, expected);
        }
    }

    #[test]
    fn values_as_json() {
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Int(i64::MIN), "-9223372036854775808"),
            (Value::Real(1.0), "1.0"),
            (Value::Real(-1.5e300), "-1.5e300"),
            (Value::Real(f64::INFINITY), "null"),
            (Value::Text("a\"b\\c\u{1}ä".as_bytes()), r#""a\"b\\c\u0001ä""#),
            (Value::Blob(&[0, 255]), "\"00ff\""),
        ] {
            let mut out = Vec::new();
            push_json(value, InJson::Value, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
