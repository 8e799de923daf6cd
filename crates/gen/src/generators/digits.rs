//! Texts of decimal digits.

use super::template::{self, Node};
use super::{Arguments, Cardinality, Generator, Kinds, size};
use crate::decimal::{THREE, three, two};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::{CellBlock, Result};

/// [`THREE`] in the low 24 bits of a word, the first digit lowest.
static THREE_IN_WORD: [u32; 1024] = {
    let mut table = [0; 1024];
    let mut n = 0;
    while n < 1000 {
        let [hundreds, tens, ones] = THREE[n];
        table[n] = hundreds as u32 | (tens as u32) << 8 | (ones as u32) << 16;
        n += 1;
    }
    table
};

/// Takes six random digits. They are assembled in a register, because one store of six bytes is much faster than six.
#[inline(always)]
fn take_six(fraction: &mut Fraction) -> [u8; 6] {
    let mut three = || u64::from(THREE_IN_WORD[(fraction.take(1000) & 1023) as usize]);
    let word = three() | three() << 24;
    #[expect(clippy::little_endian_bytes, reason = "text, first digit lowest; no number of the file format")]
    let bytes = word.to_le_bytes();
    let mut six = [0; 6];
    six.copy_from_slice(&bytes[..6]);
    six
}

/// Takes `N` random digits.
#[inline(always)]
fn take_digits<const N: usize>(fraction: &mut Fraction) -> [u8; N] {
    let mut text = [0; N];
    let (sixes, rest) = text.as_chunks_mut::<6>();
    sixes.iter_mut().for_each(|text| *text = take_six(fraction));
    let (threes, last) = rest.as_chunks_mut::<3>();
    threes.iter_mut().for_each(|text| *text = three(fraction.take(1000)));
    match last {
        [one] => *one = three(fraction.take(10))[2],
        [tens, ones] => [*tens, *ones] = two(fraction.take(100)),
        _ => {}
    }
    text
}

/// `digits(n)`
#[derive(Debug)]
struct Digits {
    values: u64,
    len: usize,
}

pub(super) fn digits(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let len = size(arguments.int_within("n", 1, 18)?);
    Ok(Box::new(Digits { values: (0..len).fold(1, |power, _| power * 10), len }))
}

/// Fills texts of `N` digits. Up to six digits, two rows share a word, as numbers below 10^6 do.
fn fill<const N: usize>(random: &CellRandom, rows: &Rows<'_>, bytes: &mut [u8]) {
    let (texts, _) = bytes.as_chunks_mut::<N>();
    if N <= 6 {
        random.fill_shared(rows, texts, take_digits::<N>);
    } else {
        random.fill_u64(rows, texts, |word| take_digits::<N>(&mut Fraction(word)));
    }
}

impl Generator for Digits {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let bytes = out.texts().fixed(rows.len(), self.len);
        macro_rules! by_len {
            ($($len:literal)*) => {
                match self.len {
                    $($len => fill::<$len>(random, rows, bytes),)*
                    _ => unreachable!("1 to 18 digits"),
                }
            };
        }
        by_len!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);
    }

    fn kinds(&self) -> Kinds {
        Kinds::DIGITS
    }

    fn longest_bytes(&self) -> u64 {
        self.len as u64
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.values }
    }

    fn distinct(&self, rows: u64) -> Option<Box<dyn Generator>> {
        Some(template::distinct(&Node::digits(self.len as u64), rows))
    }
}
