//! Texts that are unique by construction.

use super::blobs::hex_digits;
use super::{Arguments, Cardinality, Generator, Kinds, size};
use crate::random::{CellRandom, Rows};
use litepress_rows::{CellBlock, Result};

/// Builds `distinct(inner)`.
pub(super) fn distinct(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    const ROWS: u64 = 1_000_000;
    let inner = arguments.generator("inner")?;
    if inner.cardinality().is_unique() {
        return Ok(inner);
    }
    inner.distinct(arguments.rows().unwrap_or(ROWS)).ok_or_else(|| {
        let message = "this generator cannot give every row a value of its own";
        arguments.error_at("inner", message).advise("use a list, regex, phrase, place, or a number with check digits")
    })
}

/// `unique_hex(n)`: a permutation of the row number, as `n` hex digits.
#[derive(Debug)]
struct UniqueHex {
    digits: u64,
}

pub(super) fn unique_hex(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(UniqueHex { digits: arguments.int_within("n", 1, 16)? }))
}

/// Permutes the numbers of `bits` bits (4 to 64). Every step is invertible: an addition, a multiplication by an odd
/// number, and an exclusive or with the number's own upper half.
#[inline(always)]
fn shuffle(value: u64, bits: u64, keys: [u64; 3]) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    keys.iter().fold(value, |value, key| {
        let value = value.wrapping_add(*key).wrapping_mul(key | 1) & mask;
        value ^ (value >> (bits / 2))
    })
}

impl Generator for UniqueHex {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (bits, len) = (4 * self.digits, size(self.digits));
        let mut stream = random.stream(0);
        let keys = [stream.u64(), stream.u64(), stream.u64()];
        let texts = out.texts().fixed(rows.len(), len);
        rows.zip(texts.chunks_exact_mut(len), |row, text| {
            text.copy_from_slice(&hex_digits(shuffle(row, bits, keys))[16 - len..]);
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.digits
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unique { rows: if self.digits == 16 { u64::MAX } else { 1 << (4 * self.digits) } }
    }
}

/// `uuid`: version 4 of RFC 9562, whose 122 free bits contain the 64 of the row's word, which is unique.
#[derive(Debug)]
struct Uuid;

pub(super) fn uuid(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Uuid))
}

/// Formats `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`, `y` being 8 to b.
#[inline(always)]
fn uuid_text(word: u64, more: u64) -> [u8; 36] {
    let high = word & !0xF000 | 0x4000;
    let low = 2 << 62 | (word >> 12 & 15) << 58 | more >> 6;
    let (high, low) = (hex_digits(high), hex_digits(low));
    let mut text = [b'-'; 36];
    text[..8].copy_from_slice(&high[..8]);
    text[9..13].copy_from_slice(&high[8..12]);
    text[14..18].copy_from_slice(&high[12..]);
    text[19..23].copy_from_slice(&low[..4]);
    text[24..].copy_from_slice(&low[4..]);
    text
}

impl Generator for Uuid {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (texts, _) = out.texts().fixed(rows.len(), 36).as_chunks_mut::<36>();
        rows.zip(texts.iter_mut(), |row, text| {
            let mut stream = random.stream(row);
            *text = uuid_text(stream.u64(), stream.u64());
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        36
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unique { rows: u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn shuffling_is_a_bijection_of_all_numbers() {
        let mut stream = CellRandom::new(1, "t", "c").stream(0);
        for bits in [4, 8, 12, 16, 20] {
            let keys = [stream.u64(), stream.u64(), stream.u64()];
            let values: HashSet<u64> = (0..1 << bits).map(|row| shuffle(row, bits, keys)).collect();
            assert_eq!(values.len(), 1 << bits, "{bits} bits");
            assert!(values.iter().all(|value| value >> bits == 0));
        }
    }

    #[test]
    fn uuids_keep_all_bits_of_the_word() {
        let digits = |bits: u64, more| String::from_utf8(uuid_text(bits, more).to_vec()).expect("ASCII");
        assert_eq!(digits(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(digits(u64::MAX, u64::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        let single: HashSet<String> = (0..64).map(|bit| digits(1 << bit, 0)).collect();
        assert_eq!(single.len(), 64);
    }
}
