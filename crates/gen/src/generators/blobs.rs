//! Random bytes, raw and in hex.

use super::alias::threshold;
use super::{Arguments, Cardinality, Generator, Kinds, LengthRange, size};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_format::short_bytes::copy_short;
use litepress_rows::{CellBlock, Result};

/// Length limit of a value: SQLite's limit for a record, less a little for its header.
pub(super) const LONGEST: u64 = 999_999_000;

/// The length of a word in bytes, and of its hex digits.
const WORD: usize = 8;
const WORD_HEX: usize = 2 * WORD;

static HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Returns the 16 hex digits of a word, highest first.
#[inline(always)]
pub(super) fn hex_digits(word: u64) -> [u8; WORD_HEX] {
    let mut text = [0; WORD_HEX];
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes(word)) {
        *pair = HEX[usize::from(byte)];
    }
    text
}

#[inline(always)]
#[expect(clippy::big_endian_bytes, reason = "one order on all machines; no part of the file format")]
fn bytes(word: u64) -> [u8; WORD] {
    word.to_be_bytes()
}

/// `blob(min, max, compressible)`
#[derive(Debug)]
struct Blob {
    lengths: LengthRange,
    /// The number of random bytes in each [`CHUNK`]; the others are zero.
    random: usize,
}

/// Short enough for a compressor to find the zeros in any of its windows.
const CHUNK: usize = 64;

pub(super) fn blob(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let lengths = arguments.lengths("min", "max", LONGEST)?;
    let share = if arguments.is_given("compressible") { arguments.share("compressible")? } else { 0.0 };
    // The first word is always random, because it makes rows distinct.
    let random = (threshold(1.0 - share) * CHUNK as u64) >> 32;
    Ok(Box::new(Blob { lengths, random: size(random).max(WORD) }))
}

impl Generator for Blob {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let blobs = out.blobs();
        rows.for_each(|row| {
            let mut stream = random.stream(row);
            let first = stream.u64();
            let len = self.lengths.draw(&mut stream);
            if self.random == CHUNK {
                push_bytes(first, &mut stream, len, blobs.arena());
            } else {
                self.push_with_zeros(first, &mut stream, len, blobs.arena());
            }
            blobs.end_string();
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::BLOB
    }

    fn longest_bytes(&self) -> u64 {
        self.lengths.max
    }

    fn cardinality(&self) -> Cardinality {
        let LengthRange { min, max } = self.lengths;
        if min >= WORD as u64 {
            // The first eight bytes are the row's word, which is unique.
            return Cardinality::Unique { rows: u64::MAX };
        }
        let of_len = |len: u64| if len < WORD as u64 { 1 << (8 * len) } else { u64::MAX };
        let values = (min..=max.min(WORD as u64)).map(of_len);
        Cardinality::Among { values: values.fold(0, u64::saturating_add) }
    }
}

impl Blob {
    /// Appends `len` bytes, the first eight those of `word`, with zeros at the end of every chunk.
    fn push_with_zeros(&self, mut word: u64, stream: &mut CellStream, len: usize, arena: &mut Vec<u8>) {
        let start = arena.len();
        for begin in (0..len).step_by(CHUNK) {
            push_bytes(word, stream, self.random.min(len - begin), arena);
            arena.resize(start + len.min(begin + CHUNK), 0);
            word = stream.u64();
        }
    }
}

/// Appends `len` bytes, the first eight those of `word`.
fn push_bytes(mut word: u64, stream: &mut CellStream, len: usize, arena: &mut Vec<u8>) {
    arena.reserve(len + WORD);
    let end = arena.len() + len;
    for _ in 0..len.div_ceil(WORD) {
        arena.extend_from_slice(&bytes(word));
        word = stream.u64();
    }
    arena.truncate(end);
}

/// `hex(n)`
#[derive(Debug)]
struct Hex {
    len: usize,
}

pub(super) fn hex(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Hex { len: size(arguments.int_within("n", 1, LONGEST)?) }))
}

impl Generator for Hex {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let texts = out.texts().fixed(rows.len(), self.len);
        rows.zip(texts.chunks_exact_mut(self.len), |row, text| {
            let mut stream = random.stream(row);
            let (words, last) = text.as_chunks_mut::<WORD_HEX>();
            words.iter_mut().for_each(|word| *word = hex_digits(stream.u64()));
            if !last.is_empty() {
                copy_short(&hex_digits(stream.u64())[..last.len()], last);
            }
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.len as u64
    }

    fn cardinality(&self) -> Cardinality {
        if self.len >= WORD_HEX {
            Cardinality::Unique { rows: u64::MAX }
        } else {
            Cardinality::Among { values: 1 << (4 * self.len) }
        }
    }
}
