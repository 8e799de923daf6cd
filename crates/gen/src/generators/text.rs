//! Running text.

use super::blobs::LONGEST;
use super::words::{PADDED, PADDED_LEN, PaddedWord, WORDS};
use super::{Arguments, Cardinality, Generator, Kinds, LengthRange, size};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::{CellBlock, Result};

/// `text(min, max)`
#[derive(Debug)]
struct Text(LengthRange);

pub(super) fn text(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Text(arguments.lengths("min", "max", LONGEST)?)))
}

/// Overwrites `line` with words, at least `len` bytes and up to a word more.
///
/// A word is copied as a block of fixed width that ends in blanks; the next word overwrites the excess blanks.
#[inline(always)]
fn write_words(stream: &mut CellStream, len: usize, line: &mut [u8]) {
    let mut at = 0;
    while at < len {
        let mut word = stream.u64();
        for _ in 0..8 {
            if at >= len {
                break;
            }
            let PaddedWord { bytes, len: word_len } = &PADDED[(word & 255) as usize];
            line[at..at + bytes.len()].copy_from_slice(bytes);
            at += word_len + 1;
            word >>= 8;
        }
    }
}

impl Generator for Text {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let texts = out.texts();
        let mut line = vec![0; size(self.0.max) + PADDED_LEN];
        rows.for_each(|row| {
            let mut stream = random.stream(row);
            let len = self.0.draw(&mut stream);
            write_words(&mut stream, len, &mut line);
            if len > 0 && line[len - 1] == b' ' {
                line[len - 1] = b's'; // a text does not end in a blank
            }
            texts.push(&line[..len]);
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.0.max
    }

    /// Returns the number of sequences of as many words as the longest text may hold.
    fn cardinality(&self) -> Cardinality {
        let LengthRange { min, max } = self.0;
        let shortest = WORDS.iter().map(|word| word.len()).min().unwrap_or(1) as u64 + 1;
        let words = max.div_ceil(shortest).min(64);
        let of_words = |words| (0..words).fold(1_u64, |values, _| values.saturating_mul(WORDS.len() as u64));
        Cardinality::Among { values: of_words(words).saturating_mul(max - min + 1) }
    }
}
