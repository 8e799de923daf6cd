//! Texts of decimal digits.

use super::{Arguments, Distinct, Generator, Kinds, size};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::{CellBlock, Result};

/// `000` to `999`. The rest of the table is never read, and lets the compiler see that an index of ten bits is within
/// bounds.
static THREE: [[u8; 3]; 1024] = {
    let digits = b"0123456789";
    let mut table = [[b'0'; 3]; 1024];
    let mut n = 0;
    while n < 1000 {
        table[n] = [digits[n / 100], digits[n / 10 % 10], digits[n % 10]];
        n += 1;
    }
    table
};

/// Returns the three digits of a number below 1000.
#[inline(always)]
pub(super) fn three(value: u64) -> [u8; 3] {
    THREE[(value & 1023) as usize]
}

/// Returns the two digits of a number below 100.
#[inline(always)]
pub(super) fn two(value: u64) -> [u8; 2] {
    let [_, tens, ones] = three(value);
    [tens, ones]
}

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

/// Appends `value` in decimal, without leading zeros.
pub(super) fn push_decimal(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 21];
    let (mut rest, mut begin) = (value, digits.len());
    loop {
        begin -= 3;
        digits[begin..begin + 3].copy_from_slice(&three(rest % 1000));
        rest /= 1000;
        if rest == 0 {
            break;
        }
    }
    let zeros = digits[begin..begin + 2].iter().take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&digits[begin + zeros..]);
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

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: self.values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        assert_eq!((three(7), two(7)), (*b"007", *b"07"));
        for (value, text) in [(0, "0"), (9, "9"), (1000, "1000"), (u64::MAX, "18446744073709551615")] {
            let mut out = Vec::new();
            push_decimal(value, &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }
}
