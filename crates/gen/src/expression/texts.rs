//! Texts, and the conversion of values by column affinity.

use super::Function;
use super::compare::is_as_stored;
use super::numbers::integer;
use super::operand::{Operand, owned, put_texts, put_values};
use crate::generators::{append_place, cut_words, is_coordinate, place_field};
use litepress_format::value::Value;
use litepress_rows::affinity::{self, text_of_number};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, CellBlock, Cells};
use std::io::Write;
use std::string::FromUtf8Error;

/// Converts a block's values as a column of this affinity stores them. Returns `None`, without filling `out`, if they
/// are stored unchanged.
pub(crate) fn stored(block: &CellBlock, affinity: Affinity, rows: usize, out: &mut CellBlock) -> Option<()> {
    if is_as_stored(block, affinity) {
        return None;
    }
    if let (Affinity::Integer | Affinity::Numeric, Cells::Real(reals)) = (affinity, block.cells()) {
        put_values(out, rows, |row| owned(affinity::apply(Value::Real(reals[row]), affinity)));
        out.nulls_mut().extend_from_slice(block.nulls());
        return Some(());
    }
    put_values(out, rows, |row| match (affinity, block.value(row)) {
        (Affinity::Text, number @ (Value::Int(_) | Value::Real(_))) => {
            text_of_number(number).map_or(OwnedValue::Null, |text| OwnedValue::Text(text.into_owned()))
        }
        (_, value) => owned(affinity::apply(value, affinity)),
    });
    Some(())
}

/// Appends a value as text; returns `false` if it is NULL.
fn append(value: Value<'_>, text: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => return false,
        Value::Int(int) => write!(text, "{int}").expect("writing to memory does not fail"),
        Value::Real(_) => text.extend_from_slice(text_of_number(value).unwrap_or_default().as_bytes()),
        Value::Text(bytes) | Value::Blob(bytes) => text.extend_from_slice(bytes),
    }
    true
}

/// Returns a value as text, or `None` if it is NULL; numbers are formatted into `memory`.
pub(super) fn text_of<'a>(value: Value<'a>, memory: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    memory.clear();
    match value {
        Value::Text(bytes) | Value::Blob(bytes) => Some(bytes),
        _ => append(value, memory).then_some(&memory[..]),
    }
}

pub(super) fn concat(left: &Operand<'_>, right: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    put_texts(out, rows, |row, text| append(left.value(row), text) && append(right.value(row), text));
}

pub(super) fn change_case(function: Function, operand: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    put_texts(out, rows, |row, text| {
        let start = text.len();
        let is_text = append(operand.value(row), text);
        match function {
            Function::Lower => text[start..].make_ascii_lowercase(),
            _ => text[start..].make_ascii_uppercase(),
        }
        is_text
    });
}

/// Evaluates `reverse(x)`.
pub(super) fn reverse(operand: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    let mut memory = Vec::new();
    put_texts(out, rows, |row, text| {
        let Some(source) = text_of(operand.value(row), &mut memory) else { return false };
        let reversed: String = String::from_utf8_lossy(source).chars().rev().collect();
        text.extend_from_slice(reversed.as_bytes());
        true
    });
}

pub(super) fn length(operand: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    let mut memory = Vec::new();
    put_values(out, rows, |row| {
        let count = match operand.value(row) {
            Value::Null => return OwnedValue::Null,
            Value::Blob(blob) => blob.len(),
            value => characters(text_of(value, &mut memory).unwrap_or_default()),
        };
        OwnedValue::Int(count as i64)
    });
}

/// Evaluates `instr(x, y)`: the position of the first y in characters, or in bytes if both are blobs.
pub(super) fn instr(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = [Vec::new(), Vec::new()];
    put_values(out, rows, |row| {
        let [one, other] = &mut memory;
        let (whole, part) = (text_of(operands[0].value(row), one), text_of(operands[1].value(row), other));
        let Some((whole, part)) = whole.zip(part) else { return OwnedValue::Null };
        let found = (0..=whole.len()).find(|&at| whole[at..].starts_with(part));
        let are_blobs = operands.iter().all(|operand| matches!(operand.value(row), Value::Blob(_)));
        let count = |before: &[u8]| if are_blobs { before.len() } else { characters(before) };
        OwnedValue::Int(found.map_or(0, |at| count(&whole[..at]) as i64 + 1))
    });
}

/// Returns the number of characters of a UTF-8 text.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// Evaluates `substr(x, start, length)`: bytes of a blob, characters of other values. For an empty blob the result is
/// NULL, as in SQLite.
pub(super) fn substr(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = Vec::new();
    let mut cut = |row: usize| -> Option<(Vec<u8>, bool)> {
        let start = integer(operands[1].value(row))?;
        let length = operands.get(2).map_or(Some(i64::MAX), |length| integer(length.value(row)))?;
        let value = operands[0].value(row);
        let is_blob = matches!(value, Value::Blob(_));
        if value == Value::Blob(&[]) {
            return None;
        }
        let bytes = text_of(value, &mut memory)?;
        let single = is_blob || bytes.is_ascii();
        let (skip, take) = part(if single { bytes.len() } else { characters(bytes) }, start, length);
        let (from, to) = match single {
            true => (skip, skip + take),
            false => (start_of(bytes, skip), start_of(bytes, skip + take)),
        };
        Some((bytes[from..to].to_vec(), is_blob))
    };
    put_values(out, rows, |row| match cut(row) {
        None => OwnedValue::Null,
        Some((bytes, true)) => OwnedValue::Blob(bytes),
        Some((bytes, false)) => OwnedValue::Text(String::from_utf8(bytes).unwrap_or_else(lossy)),
    });
}

/// Evaluates `cut(x, n)`.
pub(super) fn cut(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = Vec::new();
    put_texts(out, rows, |row, text| {
        let (Some(most), start) = (integer(operands[1].value(row)), text.len()) else { return false };
        let Some(source) = text_of(operands[0].value(row), &mut memory) else { return false };
        text.extend_from_slice(source);
        cut_words(text, start, usize::try_from(most).unwrap_or(0));
        true
    });
}

/// Returns the position of a character, counted from 0, in a UTF-8 text, or its end if there are fewer.
fn start_of(text: &[u8], character: usize) -> usize {
    let starts = text.iter().enumerate().filter(|(_, byte)| **byte & 0xC0 != 0x80);
    starts.map(|(position, _)| position).nth(character).unwrap_or(text.len())
}

#[expect(clippy::needless_pass_by_value, reason = "the error holds the bytes that were no UTF-8")]
fn lossy(error: FromUtf8Error) -> String {
    String::from_utf8_lossy(error.as_bytes()).into_owned()
}

/// Returns how many of `count` characters are skipped and how many are taken. A negative length takes characters
/// before the start. Position 0 is before the first character, and there is nothing there.
fn part(count: usize, start: i64, length: i64) -> (usize, usize) {
    let count = count as i128;
    let start = match i128::from(start) {
        start if start > 0 => start - 1,
        0 => -1,
        start => count + start,
    };
    let length = i128::from(length);
    let (from, to) = if length < 0 { (start + length, start) } else { (start, start.saturating_add(length)) };
    let (from, to) = (from.clamp(0, count), to.clamp(0, count));
    (usize::try_from(from).unwrap_or(0), usize::try_from((to - from).max(0)).unwrap_or(0))
}

/// Evaluates `replace(x, old, new)`. If `old` is empty the result is the text of x, even if `new` is NULL.
pub(super) fn replace(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = [Vec::new(), Vec::new(), Vec::new()];
    put_texts(out, rows, |row, text| {
        let [one, other, third] = &mut memory;
        let (found, old) = (text_of(operands[0].value(row), one), text_of(operands[1].value(row), other));
        match (found, old, text_of(operands[2].value(row), third)) {
            (Some(found), Some([]), _) => text.extend_from_slice(found),
            (Some(found), Some(old), Some(new)) => append_replaced(found, old, new, text),
            _ => return false,
        }
        true
    });
}

/// Evaluates `place_of(x, field, digits)`: NULL if there is no such place or field.
pub(super) fn place_of(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let (mut memory, mut name) = ([Vec::new(), Vec::new()], Vec::new());
    let mut field_in = |row| place_field(std::str::from_utf8(text_of(operands[1].value(row), &mut name)?).ok()?);
    if let (Operand::Constant(_), Some(field)) = (&operands[1], field_in(0))
        && !is_coordinate(field)
    {
        put_texts(out, rows, |row, text| {
            place_in(operands, row, &mut memory).is_some_and(|(key, digits)| append_place(key, field, digits, text))
        });
        return;
    }
    put_values(out, rows, |row| {
        let found = place_in(operands, row, &mut memory).zip(field_in(row));
        found
            .and_then(|((key, digits), field)| crate::generators::place_of(key, field, digits))
            .unwrap_or(OwnedValue::Null)
    });
}

/// Returns the name or code of the place in a row, and the digits.
fn place_in<'a>(operands: &'a [Operand<'_>], row: usize, memory: &'a mut [Vec<u8>; 2]) -> Option<(&'a str, &'a [u8])> {
    let [one, other] = memory;
    let key = std::str::from_utf8(text_of(operands[0].value(row), one)?).ok()?;
    let digits = operands.get(2).and_then(|digits| text_of(digits.value(row), other));
    Some((key, digits.unwrap_or_default()))
}

/// Evaluates `product_of(category, digits)`: NULL if there is no such category.
pub(super) fn product_of(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = [Vec::new(), Vec::new()];
    put_values(out, rows, |row| {
        let [one, other] = &mut memory;
        let category = text_of(operands[0].value(row), one).and_then(|key| std::str::from_utf8(key).ok());
        let digits = text_of(operands[1].value(row), other).unwrap_or_default();
        let product = category.and_then(|category| crate::generators::product_of(category, digits));
        product.map_or(OwnedValue::Null, OwnedValue::Text)
    });
}

/// Evaluates `worth_of(product)`: NULL if there is no such good.
pub(super) fn worth_of(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = Vec::new();
    put_values(out, rows, |row| {
        let product = text_of(operands[0].value(row), &mut memory).and_then(|text| std::str::from_utf8(text).ok());
        product.and_then(crate::generators::worth_of).map_or(OwnedValue::Null, OwnedValue::Int)
    });
}

/// Letters of Latin scripts with marks, and the letters without.
const PLAIN: [(&str, &str); 17] = [
    ("àáâãåāăą", "a"),
    ("äæ", "ae"),
    ("çćč", "c"),
    ("ďđð", "d"),
    ("èéêëēęě", "e"),
    ("ğ", "g"),
    ("ìíîïīı", "i"),
    ("łľ", "l"),
    ("ñńň", "n"),
    ("òóôõøōő", "o"),
    ("öœ", "oe"),
    ("ř", "r"),
    ("śšş", "s"),
    ("ťț", "t"),
    ("ùúûūůű", "u"),
    ("ü", "ue"),
    ("źżž", "z"),
];

/// Appends the letters and digits of a character, in lower case; returns `false` if it has none.
fn append_plain(character: char, text: &mut Vec<u8>) -> bool {
    if character.is_ascii_alphanumeric() {
        text.push(character.to_ascii_lowercase() as u8);
        return true;
    }
    let lower = character.to_lowercase().next().unwrap_or(character);
    let plain = match lower {
        'ß' => Some("ss"),
        'ý' | 'ÿ' => Some("y"),
        'þ' => Some("th"),
        _ => PLAIN.iter().find(|(marked, _)| marked.contains(lower)).map(|(_, plain)| *plain),
    };
    plain.is_some_and(|plain| {
        text.extend_from_slice(plain.as_bytes());
        true
    })
}

/// Evaluates `slug(x, separator)`. An apostrophe separates no words.
pub(super) fn slug(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let mut memory = [Vec::new(), Vec::new()];
    put_texts(out, rows, |row, text| {
        let [one, other] = &mut memory;
        let Some(source) = text_of(operands[0].value(row), one) else { return false };
        let separator = match operands.get(1) {
            None => b"-",
            Some(separator) => match text_of(separator.value(row), other) {
                Some(separator) => separator,
                None => return false,
            },
        };
        let (start, mut is_apart) = (text.len(), false);
        for character in String::from_utf8_lossy(source).chars().filter(|c| !matches!(c, '\'' | '\u{2019}')) {
            let before = text.len();
            if is_apart && before > start {
                text.extend_from_slice(separator);
            }
            if append_plain(character, text) {
                is_apart = false;
            } else {
                text.truncate(before);
                is_apart = true;
            }
        }
        true
    });
}

fn append_replaced(mut rest: &[u8], old: &[u8], new: &[u8], text: &mut Vec<u8>) {
    while let Some(&first) = rest.first() {
        match rest.strip_prefix(old) {
            Some(behind) => {
                text.extend_from_slice(new);
                rest = behind;
            }
            None => {
                text.push(first);
                rest = &rest[1..];
            }
        }
    }
}
