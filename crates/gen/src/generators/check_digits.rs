//! Numbers with check digits: credit cards and ISINs (Luhn), IBANs (ISO 7064, modulus 97), EANs and ISBNs (modulus 10).

use super::shuffle::shuffled;
use super::{Arguments, Cardinality, Generator, Kinds};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::{CellBlock, Result};

/// A kind of number.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Card,
    Ean,
    Iban,
    Isbn,
    Isin,
}

/// A generator of one kind, of numbers that differ in all rows or that may repeat.
#[derive(Debug)]
struct CheckedNumber {
    kind: Kind,
    is_distinct: bool,
}

fn of_kind(kind: Kind) -> Box<dyn Generator> {
    Box::new(CheckedNumber { kind, is_distinct: false })
}

pub(super) fn card_number(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(of_kind(Kind::Card))
}

pub(super) fn ean(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(of_kind(Kind::Ean))
}

pub(super) fn iban(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(of_kind(Kind::Iban))
}

pub(super) fn isbn(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(of_kind(Kind::Isbn))
}

pub(super) fn isin(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(of_kind(Kind::Isin))
}

/// Countries, the letters of a bank, and the number of digits after them.
const IBANS: [(&str, &str, u64); 6] =
    [("DE", "", 18), ("AT", "", 16), ("CH", "", 17), ("ES", "", 20), ("GB", "BANK", 14), ("NL", "BANK", 10)];

/// The first digits of Visa (which is twice as frequent), Mastercard and American Express, and the number of digits after them.
const CARDS: [(&str, u64); 5] = [("4", 14), ("4", 14), ("52", 13), ("54", 13), ("37", 12)];

/// What digits are drawn from: a number below `limit` that is different in every row, and when that is used up, at random.
struct Source {
    number: u64,
    limit: u64,
    stream: CellStream,
}

impl Source {
    fn below(&mut self, count: u64) -> u64 {
        if self.limit < count {
            return self.stream.below(count);
        }
        let digit = self.number % count;
        (self.number, self.limit) = (self.number / count, self.limit / count);
        digit
    }

    fn push_digits(&mut self, count: u64, out: &mut Vec<u8>) {
        (0..count).for_each(|_| out.push(b'0' + (self.below(10) & 15) as u8));
    }
}

/// Returns the digit that makes the sum of Luhn a multiple of 10.
fn luhn(digits: &[u8]) -> u8 {
    let doubled = |digit: u8| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let of = |(place, digit): (usize, &u8)| if place % 2 == 0 { doubled(digit - b'0') } else { digit - b'0' };
    let sum: u32 = digits.iter().rev().enumerate().map(|pair| u32::from(of(pair))).sum();
    b'0' + ((10 - sum % 10) % 10) as u8
}

/// Returns the digit of Luhn for a text in which A is 10 and Z is 35.
fn luhn_of_text(text: &[u8]) -> u8 {
    let mut digits = Vec::with_capacity(2 * text.len());
    for &byte in text {
        if byte.is_ascii_digit() {
            digits.push(byte);
        } else {
            let number = byte - b'A' + 10;
            digits.extend([b'0' + number / 10, b'0' + number % 10]);
        }
    }
    luhn(&digits)
}

/// Returns the digit that makes the sum with the weights 1 and 3 a multiple of 10.
fn modulus_10(digits: &[u8]) -> u8 {
    let of = |(place, digit): (usize, &u8)| u32::from(digit - b'0') * if place % 2 == 0 { 3 } else { 1 };
    let sum: u32 = digits.iter().rev().enumerate().map(of).sum();
    b'0' + ((10 - sum % 10) % 10) as u8
}

/// Returns a text modulo 97, in which A is 10 and Z is 35.
fn modulus_97(text: impl Iterator<Item = u8>) -> u32 {
    text.fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    })
}

impl CheckedNumber {
    fn write(&self, source: &mut Source, out: &mut Vec<u8>) {
        match self.kind {
            Kind::Card => {
                // Two ways to begin with a 4 would give a number twice.
                let skipped = u64::from(self.is_distinct);
                let (begin, digits) = CARDS[((skipped + source.below(CARDS.len() as u64 - skipped)) & 7) as usize];
                out.extend_from_slice(begin.as_bytes());
                source.push_digits(digits, out);
                out.push(luhn(out));
            }
            Kind::Ean => {
                out.extend_from_slice([b"40", b"50", b"76", b"87"][(source.below(4) & 3) as usize]);
                source.push_digits(10, out);
                out.push(modulus_10(out));
            }
            Kind::Isbn => {
                out.extend_from_slice([b"9780", b"9781", b"9783"][(source.below(3) & 3) as usize]);
                source.push_digits(8, out);
                out.push(modulus_10(out));
            }
            Kind::Isin => {
                out.extend_from_slice([b"US", b"DE", b"GB", b"FR", b"JP"][(source.below(5) & 7) as usize]);
                source.push_digits(9, out);
                out.push(luhn_of_text(out));
            }
            Kind::Iban => {
                let (country, bank, digits) = IBANS[(source.below(IBANS.len() as u64) & 7) as usize];
                out.extend_from_slice(country.as_bytes());
                out.extend_from_slice(b"00");
                out.extend_from_slice(bank.as_bytes());
                source.push_digits(digits, out);
                let check = 98 - modulus_97(out[4..].iter().chain(&out[..4]).copied());
                out[2..4].copy_from_slice(format!("{check:02}").as_bytes());
            }
        }
    }

    /// Returns the number of rows that can have different numbers: all ways to begin, with the fewest digits after them.
    fn distinct_rows(&self) -> u64 {
        match self.kind {
            Kind::Card => 4 * 10_u64.pow(12),
            Kind::Ean => 4 * 10_u64.pow(10),
            Kind::Isbn => 3 * 10_u64.pow(8),
            Kind::Iban => 6 * 10_u64.pow(10),
            Kind::Isin => 5 * 10_u64.pow(9),
        }
    }
}

impl Generator for CheckedNumber {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut numbers = vec![0; rows.len()];
        let limit = if self.is_distinct { self.distinct_rows() } else { 1 };
        if self.is_distinct {
            shuffled(random, limit - 1, rows, &mut numbers, |number| number);
        }
        let texts = out.texts();
        let mut text = Vec::new();
        rows.zip(numbers.into_iter(), |row, number| {
            text.clear();
            self.write(&mut Source { number, limit, stream: random.stream(row) }, &mut text);
            texts.push(&text);
        });
    }

    fn kinds(&self) -> Kinds {
        if matches!(self.kind, Kind::Iban | Kind::Isin) { Kinds::TEXT } else { Kinds::DIGITS }
    }

    fn longest_bytes(&self) -> u64 {
        match self.kind {
            Kind::Card => 16,
            Kind::Ean | Kind::Isbn => 13,
            Kind::Isin => 12,
            Kind::Iban => 24,
        }
    }

    fn cardinality(&self) -> Cardinality {
        match self.kind {
            _ if self.is_distinct => Cardinality::Unique { rows: self.distinct_rows() },
            Kind::Card => Cardinality::Among { values: 10_u64.pow(14) },
            Kind::Iban => Cardinality::Among { values: u64::MAX },
            Kind::Ean | Kind::Isbn | Kind::Isin => Cardinality::Among { values: self.distinct_rows() },
        }
    }

    fn distinct(&self, _: u64) -> Option<Box<dyn Generator>> {
        Some(Box::new(Self { kind: self.kind, is_distinct: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::value::Value;
    use std::collections::HashSet;

    fn texts(generator: &dyn Generator) -> Vec<Vec<u8>> {
        const ROWS: u64 = 500;
        let mut block = CellBlock::default();
        generator.fill(&CellRandom::new(1, "t", "c"), &(0..ROWS).into(), &mut block);
        let text = |row| match block.value(row) {
            Value::Text(text) => text.to_vec(),
            _ => unreachable!("a number with check digits is a text"),
        };
        (0..500).map(text).collect()
    }

    fn numbers(kind: Kind) -> Vec<Vec<u8>> {
        let (usual, distinct) = (of_kind(kind), of_kind(kind).distinct(500).expect("distinct numbers"));
        let distinct = texts(&*distinct);
        assert_eq!(distinct.iter().collect::<HashSet<_>>().len(), distinct.len(), "{kind:?}");
        [texts(&*usual), distinct].concat()
    }

    #[test]
    fn known_numbers_have_their_digits() {
        assert_eq!(luhn(b"411111111111111"), b'1');
        assert_eq!(luhn(b"37828224631000"), b'5');
        assert_eq!(luhn_of_text(b"US037833100"), b'5');
        assert_eq!(modulus_10(b"400638133393"), b'1');
        assert_eq!(modulus_10(b"978030640615"), b'7');
        assert_eq!(modulus_97(b"WEST12345698765432GB82".iter().copied()), 1);
    }

    #[test]
    fn all_check_digits_are_right() {
        assert!(numbers(Kind::Card).iter().all(|text| luhn(&text[..text.len() - 1]) == text[text.len() - 1]));
        for kind in [Kind::Ean, Kind::Isbn] {
            assert!(numbers(kind).iter().all(|text| text.len() == 13 && modulus_10(&text[..12]) == text[12]));
        }
        assert!(numbers(Kind::Isin).iter().all(|text| luhn_of_text(&text[..11]) == text[11]));
        let is_right = |text: &Vec<u8>| modulus_97(text[4..].iter().chain(&text[..4]).copied()) == 1;
        assert!(numbers(Kind::Iban).iter().all(is_right));
        let first = [Kind::Card, Kind::Ean, Kind::Iban, Kind::Isbn]
            .map(|kind| String::from_utf8(numbers(kind).remove(0)).expect("ASCII"));
        assert_eq!(first, ["5275596456622905", "7675596456628", "ES5375596456622901088969", "9781755964564"]);
    }
}
