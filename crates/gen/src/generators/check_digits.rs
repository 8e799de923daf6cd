//! Numbers with check digits: credit cards (Luhn), IBANs (ISO 7064, modulus 97), EANs and ISBNs (modulus 10).

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
}

/// A generator of one kind.
#[derive(Debug)]
struct CheckedNumber(Kind);

pub(super) fn card_number(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(CheckedNumber(Kind::Card)))
}

pub(super) fn ean(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(CheckedNumber(Kind::Ean)))
}

pub(super) fn iban(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(CheckedNumber(Kind::Iban)))
}

pub(super) fn isbn(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(CheckedNumber(Kind::Isbn)))
}

/// Countries, the letters of a bank, and the number of digits after them.
const IBANS: [(&str, &str, u64); 6] =
    [("DE", "", 18), ("AT", "", 16), ("CH", "", 17), ("ES", "", 20), ("GB", "BANK", 14), ("NL", "BANK", 10)];

fn push_digits(stream: &mut CellStream, count: u64, out: &mut Vec<u8>) {
    (0..count).for_each(|_| out.push(b'0' + (stream.below(10) & 15) as u8));
}

/// Returns the digit that makes the sum of Luhn a multiple of 10.
fn luhn(digits: &[u8]) -> u8 {
    let doubled = |digit: u8| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let of = |(place, digit): (usize, &u8)| if place % 2 == 0 { doubled(digit - b'0') } else { digit - b'0' };
    let sum: u32 = digits.iter().rev().enumerate().map(|pair| u32::from(of(pair))).sum();
    b'0' + ((10 - sum % 10) % 10) as u8
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
    fn write(&self, stream: &mut CellStream, out: &mut Vec<u8>) {
        match self.0 {
            Kind::Card => {
                // Numbers of Visa, Mastercard and American Express begin so.
                let (begin, digits) =
                    [("4", 14), ("4", 14), ("52", 13), ("54", 13), ("37", 12)][(stream.below(5) & 7) as usize];
                out.extend_from_slice(begin.as_bytes());
                push_digits(stream, digits, out);
                out.push(luhn(out));
            }
            Kind::Ean => {
                out.extend_from_slice([b"40", b"50", b"76", b"87"][(stream.below(4) & 3) as usize]);
                push_digits(stream, 10, out);
                out.push(modulus_10(out));
            }
            Kind::Isbn => {
                out.extend_from_slice([b"9780", b"9781", b"9783"][(stream.below(3) & 3) as usize]);
                push_digits(stream, 8, out);
                out.push(modulus_10(out));
            }
            Kind::Iban => {
                let (country, bank, digits) = IBANS[(stream.below(IBANS.len() as u64) & 7) as usize];
                out.extend_from_slice(country.as_bytes());
                out.extend_from_slice(b"00");
                out.extend_from_slice(bank.as_bytes());
                push_digits(stream, digits, out);
                let check = 98 - modulus_97(out[4..].iter().chain(&out[..4]).copied());
                out[2..4].copy_from_slice(format!("{check:02}").as_bytes());
            }
        }
    }
}

impl Generator for CheckedNumber {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let texts = out.texts();
        let mut text = Vec::new();
        rows.for_each(|row| {
            text.clear();
            self.write(&mut random.stream(row), &mut text);
            texts.push(&text);
        });
    }

    fn kinds(&self) -> Kinds {
        if matches!(self.0, Kind::Iban) { Kinds::TEXT } else { Kinds::DIGITS }
    }

    fn longest_bytes(&self) -> u64 {
        match self.0 {
            Kind::Card => 16,
            Kind::Ean | Kind::Isbn => 13,
            Kind::Iban => 24,
        }
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among {
            values: match self.0 {
                Kind::Card => 10_u64.pow(14),
                Kind::Ean => 4 * 10_u64.pow(10),
                Kind::Isbn => 3 * 10_u64.pow(8),
                Kind::Iban => u64::MAX,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(kind: Kind) -> Vec<Vec<u8>> {
        let random = CellRandom::new(1, "t", "c");
        let number = |row| {
            let mut text = Vec::new();
            CheckedNumber(kind).write(&mut random.stream(row), &mut text);
            text
        };
        (0..500).map(number).collect()
    }

    #[test]
    fn known_numbers_have_their_digits() {
        assert_eq!(luhn(b"411111111111111"), b'1');
        assert_eq!(luhn(b"37828224631000"), b'5');
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
        let is_right = |text: &Vec<u8>| modulus_97(text[4..].iter().chain(&text[..4]).copied()) == 1;
        assert!(numbers(Kind::Iban).iter().all(is_right));
        let first = [Kind::Card, Kind::Ean, Kind::Iban, Kind::Isbn]
            .map(|kind| String::from_utf8(numbers(kind).remove(0)).expect("ASCII"));
        assert_eq!(first, ["5275596456622905", "7675596456628", "ES5375596456622901088969", "9781755964564"]);
    }
}
