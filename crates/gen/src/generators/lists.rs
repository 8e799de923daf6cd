//! Names, places, addresses and JSON from the built-in lists.

use super::choice::ListPick;
use super::words::{CITIES, COUNTRIES, FIRST_NAMES, LAST_NAMES, WORDS};
use super::{Arguments, Cardinality, Generator, InJson, Kinds, size};
use crate::decimal::push_decimal;
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::str::Split;

/// Reads the lists of a data file, with what stands before them: `Bags: Backpack | Tote Bag`. `#` begins a comment.
pub(super) fn read(data: &'static str) -> impl Iterator<Item = (&'static str, Split<'static, &'static str>)> {
    let lines = data.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").expect("a line has a list")).map(|(head, list)| (head, list.split(" | ")))
}

/// Returns the number that decimal digits stand for, modulo 10^9. Digits with which a text is filled choose from lists, too.
pub(super) fn number_of(digits: &[u8]) -> usize {
    digits.iter().fold(0, |number, digit| (number * 10 + usize::from(digit % 16)) % 1_000_000_000)
}

fn pick(list: &[&str]) -> Box<dyn Generator> {
    Box::new(ListPick::evenly(list.iter().map(|&word| OwnedValue::Text(word.to_owned())).collect()))
}

pub(super) fn word(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(pick(&WORDS))
}

pub(super) fn first_name(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(pick(&FIRST_NAMES))
}

pub(super) fn last_name(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(pick(&LAST_NAMES))
}

pub(super) fn city(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(pick(&CITIES))
}

pub(super) fn country(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(pick(&COUNTRIES))
}

pub(super) fn full_name(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let values = (FIRST_NAMES.len() * LAST_NAMES.len()) as u64;
    Ok(Box::new(ComposedText {
        compose: compose_full_name,
        cardinality: Cardinality::Among { values },
        longest_bytes: 13,
        in_json: InJson::Value,
    }))
}

pub(super) fn email(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(ComposedText {
        compose: compose_email,
        cardinality: Cardinality::Unique { rows: u64::MAX },
        longest_bytes: 45,
        in_json: InJson::Value,
    }))
}

pub(super) fn phone(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(ComposedText {
        compose: compose_phone,
        cardinality: Cardinality::Among { values: 800 * 100 },
        longest_bytes: 15,
        in_json: InJson::Value,
    }))
}

pub(super) fn url(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let values = (DOMAINS.len() * WORDS.len() * WORDS.len()) as u64 * PAGES;
    Ok(Box::new(ComposedText {
        compose: compose_url,
        cardinality: Cardinality::Among { values },
        longest_bytes: 46,
        in_json: InJson::Value,
    }))
}

pub(super) fn json(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let values = NUMBERS * WORDS.len() as u64 * 2;
    Ok(Box::new(ComposedText {
        compose: compose_json,
        cardinality: Cardinality::Among { values },
        longest_bytes: 53,
        in_json: InJson::Json,
    }))
}

/// Domains reserved for examples (RFC 2606).
static DOMAINS: [&str; 3] = ["example.com", "example.net", "example.org"];

/// Page numbers in web addresses.
const PAGES: u64 = 1000;

/// Numbers in JSON.
const NUMBERS: u64 = 1_000_000;

/// A text composed of list entries and numbers.
#[derive(Debug)]
struct ComposedText {
    /// Appends the text of a row.
    compose: fn(row: u64, stream: &mut CellStream, out: &mut Vec<u8>),
    cardinality: Cardinality,
    longest_bytes: u64,
    in_json: InJson,
}

impl Generator for ComposedText {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let texts = out.texts();
        rows.for_each(|row| {
            (self.compose)(row, &mut random.stream(row), texts.arena());
            texts.end_string();
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.longest_bytes
    }

    fn cardinality(&self) -> Cardinality {
        self.cardinality
    }

    fn in_json(&self) -> InJson {
        self.in_json
    }
}

fn one_of(list: &[&'static str], stream: &mut CellStream) -> &'static [u8] {
    list[size(stream.below(list.len() as u64))].as_bytes()
}

fn compose_full_name(_: u64, stream: &mut CellStream, out: &mut Vec<u8>) {
    out.extend_from_slice(one_of(&FIRST_NAMES, stream));
    out.push(b' ');
    out.extend_from_slice(one_of(&LAST_NAMES, stream));
}

fn compose_email(row: u64, stream: &mut CellStream, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(one_of(&FIRST_NAMES, stream));
    out.push(b'.');
    out.extend_from_slice(one_of(&LAST_NAMES, stream));
    out[start..].make_ascii_lowercase();
    push_decimal(row.saturating_add(1), out);
    out.push(b'@');
    out.extend_from_slice(one_of(&DOMAINS, stream));
}

/// Composes `+1 ddd 555 01dd`: numbers 555-0100 to 555-0199 of any area are reserved for fiction.
fn compose_phone(_: u64, stream: &mut CellStream, out: &mut Vec<u8>) {
    let number = stream.below(800 * 100);
    out.extend_from_slice(b"+1 ");
    push_decimal(200 + number / 100, out);
    out.extend_from_slice(b" 555 0");
    push_decimal(100 + number % 100, out);
}

fn compose_url(_: u64, stream: &mut CellStream, out: &mut Vec<u8>) {
    out.extend_from_slice(b"https://www.");
    out.extend_from_slice(one_of(&DOMAINS, stream));
    out.push(b'/');
    out.extend_from_slice(one_of(&WORDS, stream));
    out.push(b'/');
    out.extend_from_slice(one_of(&WORDS, stream));
    out.push(b'/');
    push_decimal(stream.below(PAGES) + 1, out);
}

fn compose_json(_: u64, stream: &mut CellStream, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"number\":");
    push_decimal(stream.below(NUMBERS), out);
    out.extend_from_slice(b",\"word\":\"");
    out.extend_from_slice(one_of(&WORDS, stream));
    out.extend_from_slice(b"\",\"flag\":");
    out.extend_from_slice(if stream.below(2) == 0 { b"false" } else { b"true" });
    out.push(b'}');
}
