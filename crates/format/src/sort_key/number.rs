//! Encodes numbers and rowids in as few bytes as keep their order. The module above shows the bytes.

use super::ParsedValue;
use crate::FormatError;
use crate::record::INT_BY_BYTES;

/// Number of fraction bits of a double.
const FRACTION_BITS: u32 = 52;
/// Mask of the fraction bits of a double.
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
/// The exponent field of the doubles from 1 up to 2.
const EXPONENT_BIAS: u64 = 1023;

/// The least integer part whose `2n` does not fit the seven bytes that [`NUMBERS`] has for it. Doubles have no
/// fraction long before.
const NO_FRACTION_FROM: u64 = 1 << 55;
/// Bytes behind the first if they hold `n` itself.
const WHOLE: usize = 8;
/// Bytes of the longest encoding of a rowid, or of a number without a fraction.
pub(super) const MAX_LEN: usize = 1 + WHOLE;
/// Bytes of the longest encoding of a rowid.
pub const MAX_ROWID_LEN: usize = MAX_LEN;
/// First byte of a double from 2^64 on.
const HUGE: u8 = 0xfa;
/// The least double that starts with [`HUGE`].
const HUGE_FROM: f64 = 18_446_744_073_709_551_616.0;

const _: () = assert!(FRACTION_BITS + 1 == f64::MANTISSA_DIGITS);
const _: () = assert!(NO_FRACTION_FROM > 1 << FRACTION_BITS && NUMBER_CODE.end == HUGE as usize);

/// The code of number magnitudes: `2n`, or `2n + 1` before a fraction.
static NUMBERS: LengthCode = NUMBER_CODE;
const NUMBER_CODE: LengthCode = LengthCode::new([4, 5, 5, 4, 2, 2, 4, 0, 0]);
/// The code of rowid magnitudes: three bytes below 2^21, four below 2^30.
static ROWIDS: LengthCode = ROWID_CODE;
const ROWID_CODE: LengthCode = LengthCode::new([2, 2, 5, 6, 4, 2, 1, 0, 0]);

/// A variable-length code of unsigned integers in 1 to 9 bytes. Shorter codes sort before longer ones, so codes sort
/// as their integers do. The first byte, at least 0x80, tells the length and holds the topmost bits.
struct LengthCode {
    /// Number of bytes behind the first, by the significant bits of the integer.
    tail_by_bits: [u8; 65],
    /// Least first byte, by the number of bytes behind it.
    first_by_tail: [u8; 9],
    /// Number of bytes behind the first, by the first byte less 0x80; [`u8::MAX`] if the first byte is unused.
    tail_by_first: [u8; 128],
    /// End of the range of first bytes that are used.
    end: usize,
}

impl LengthCode {
    /// Builds the tables of a code. `head_bits` is the number of bits in the first byte, by the number of bytes
    /// behind it.
    const fn new(head_bits: [u8; 9]) -> Self {
        let mut lengths =
            Self { tail_by_bits: [0; 65], first_by_tail: [0; 9], tail_by_first: [u8::MAX; 128], end: 0x80 };
        let (mut bits, mut first, mut tail) = (0, 0, 0_u8);
        while tail < 9 {
            let head_bits = head_bits[tail as usize];
            lengths.first_by_tail[tail as usize] = 0x80 + first;
            while bits <= head_bits + 8 * tail {
                lengths.tail_by_bits[bits as usize] = tail;
                bits += 1;
            }
            let end = first + (1 << head_bits);
            while first < end {
                lengths.tail_by_first[first as usize] = tail;
                first += 1;
            }
            tail += 1;
        }
        assert!(bits == 65, "every integer has a length");
        lengths.end += first as usize;
        lengths
    }

    /// Returns the number of bytes behind the first that `magnitude` takes.
    #[inline]
    fn tail_of(&self, magnitude: u64) -> usize {
        let bits = u64::BITS - magnitude.leading_zeros();
        usize::from(self.tail_by_bits[bits as usize])
    }

    /// Appends the code of `magnitude`, every byte XORed with `mask`.
    #[inline]
    fn push(&self, magnitude: u64, mask: u8, out: &mut Vec<u8>) {
        push_written(out, |out| self.write(magnitude, mask, out));
    }

    /// Writes the code of `magnitude`, every byte XORed with `mask`, to the start of `out`. Returns its length.
    #[inline]
    fn write(&self, magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
        self.write_with_tail(self.tail_of(magnitude), magnitude, mask, out)
    }

    /// Does the work of [`write`](Self::write), with `tail` bytes behind the first, which must be enough.
    #[inline]
    fn write_with_tail(&self, tail: usize, magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
        let head = high_bytes(magnitude, 8 - tail);
        out[0] = (self.first_by_tail[tail] + (head & 0x7f) as u8) ^ mask;
        out[1..].copy_from_slice(&low_first(magnitude, tail, mask));
        1 + tail
    }

    /// Returns the code of `magnitude` at the front of a word, padded with zeros, and its length. Returns `None` if
    /// the code takes nine bytes.
    #[inline(always)]
    fn word(&self, magnitude: u64, negative: bool) -> Option<(u64, usize)> {
        let tail = self.tail_of(magnitude);
        if tail >= WHOLE {
            return None;
        }
        let unused = u64::BITS as usize - 8 * (1 + tail);
        let first = u64::from(self.first_by_tail[tail]) << 56;
        let encoding = first + (magnitude << unused);
        let inverted = if negative { u64::MAX << unused } else { 0 };
        Some((encoding ^ inverted, 1 + tail))
    }

    /// Reads the integer at the start of `bytes`. Returns it with the number of bytes behind the first.
    #[inline]
    fn read(&self, bytes: &[u8], mask: u8) -> Option<(u64, usize)> {
        let eight = up_to_eight(bytes) ^ repeated(mask);
        let first = (eight >> 56) as u8;
        let tail = usize::from(*self.tail_by_first.get(usize::from(first).checked_sub(0x80)?)?);
        let head = u64::from(first - self.first_by_tail.get(tail)?);
        if tail == WHOLE {
            return Some((low_bytes(bytes.get(1..)?, 8, mask)?, tail));
        }
        let low = high_bytes(eight << 8, tail);
        (tail < bytes.len()).then_some((head << (8 * tail) | low, tail))
    }
}

/// Returns the topmost `count` bytes of `bits`, as an integer.
#[inline]
const fn high_bytes(bits: u64, count: usize) -> u64 {
    // Two shifts, because a shift by 64 bits is not defined.
    let half = 4 * (8 - count);
    (bits >> half) >> half
}

/// Appends the lowest `count` bytes of `bits`, each XORed with `mask`.
#[inline]
fn push_low_bytes(bits: u64, count: usize, mask: u8, out: &mut Vec<u8>) {
    // Appending eight bytes and truncating costs less than a copy of variable length.
    out.extend_from_slice(&low_first(bits, count, mask));
    out.truncate(out.len() - (8 - count));
}

/// Returns the lowest `count` bytes of `bits`, each XORed with `mask`, at the front of eight.
#[inline]
fn low_first(bits: u64, count: usize, mask: u8) -> [u8; 8] {
    // Two shifts, because a shift by 64 bits is not defined.
    let half = 4 * (8 - count);
    (((bits ^ repeated(mask)) << half) << half).to_be_bytes()
}

/// Appends the bytes that `write` writes to the start of its buffer.
#[inline]
fn push_written(out: &mut Vec<u8>, write: impl FnOnce(&mut [u8; MAX_LEN]) -> usize) {
    let mut room = [0; MAX_LEN];
    let len = write(&mut room);
    // Appending the whole buffer and truncating costs less than a copy of variable length.
    out.extend_from_slice(&room);
    out.truncate(out.len() - (MAX_LEN - len));
}

/// Reads the first `count` bytes (0 to 8), each XORed with `mask`, as an integer.
#[inline]
fn low_bytes(bytes: &[u8], count: usize, mask: u8) -> Option<u64> {
    let eight = up_to_eight(bytes) ^ repeated(mask);
    (count <= bytes.len()).then(|| high_bytes(eight, count))
}

/// Reads the first eight bytes, padded with zeros.
#[inline]
fn up_to_eight(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The halves overlap: the same bytes meet in the overlap.
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        return u64::from(first) << 32 | u64::from(last) << (8 * (8 - bytes.len()));
    }
    let Some(last) = bytes.len().checked_sub(1) else { return 0 };
    // One to three bytes: the first, the middle and the last.
    let at = |index: usize| u64::from(bytes[index]) << (8 * (7 - index));
    at(0) | at(bytes.len() / 2) | at(last)
}

#[inline]
const fn repeated(byte: u8) -> u64 {
    u64::from_be_bytes([byte; 8])
}

/// Returns the encoding of a rowid at the front of a word, padded with zeros, and its length. Returns `None` if it is
/// too long for a word.
#[inline(always)]
pub(super) fn rowid_word(rowid: i64) -> Option<(u64, usize)> {
    ROWIDS.word((rowid ^ (rowid >> 63)).cast_unsigned(), rowid < 0)
}

/// Returns the encoding of an integer at the front of a word, as [`rowid_word`] does for a rowid.
#[inline(always)]
pub(super) fn int_word(int: i64) -> Option<(u64, usize)> {
    let magnitude = int.unsigned_abs();
    if magnitude >= NO_FRACTION_FROM {
        return None;
    }
    NUMBERS.word(magnitude << 1, int < 0)
}

/// A range of rowids with encodings of one length and record bodies of one width. Each range begins and ends at a
/// power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowidClass {
    /// The least word that starts with such an encoding, and the number of such words.
    words_from: u64,
    words: u64,
    /// The encoding of 0 in this length, and the number of bits behind an encoding.
    zero: u64,
    unused: u32,
    /// Serial type and width of the body in a record.
    pub serial: u8,
    pub width: u8,
}

impl RowidClass {
    /// The empty class.
    pub const NONE: Self = Self { words_from: 0, words: 0, zero: 0, unused: 0, serial: 0, width: 0 };

    /// The classes by number of significant bits. Only rowids whose encoding fits a word have one, and 0 and 1 have
    /// none because they have no body.
    const ALL: [Self; 65] = {
        let mut all = [Self::NONE; 65];
        let mut bits = 2;
        while bits < 64 && (ROWID_CODE.tail_by_bits[bits] as usize) < WHOLE {
            let (mut from, mut to) = (bits, bits);
            while from > 2 && Self::is_one_class(from - 1, bits) {
                from -= 1;
            }
            while to < 63 && Self::is_one_class(to + 1, bits) {
                to += 1;
            }
            let tail = ROWID_CODE.tail_by_bits[bits];
            let unused = 56 - 8 * tail as u32;
            let zero = (ROWID_CODE.first_by_tail[tail as usize] as u64) << 56;
            let (least, greatest) = (1 << (from - 1), u64::MAX >> (64 - to));
            let words_from = zero + (least << unused);
            let words = (greatest - least + 1) << unused;
            let (serial, width) = INT_BY_BYTES[bits / 8];
            all[bits] = Self { words_from, words, zero, unused, serial, width };
            bits += 1;
        }
        all
    };

    const fn is_one_class(bits: usize, other: usize) -> bool {
        let (tails, widths) = (&ROWID_CODE.tail_by_bits, &INT_BY_BYTES);
        tails[bits] == tails[other] && widths[bits / 8].1 == widths[other / 8].1
    }

    /// Returns the class of this rowid, or [`NONE`](Self::NONE).
    pub fn of(rowid: i64) -> &'static Self {
        static ALL: [RowidClass; 65] = RowidClass::ALL;
        &ALL[(u64::BITS - rowid.cast_unsigned().leading_zeros()) as usize]
    }

    /// Returns whether the rowid encoded at the front of `word` is in the class.
    #[inline(always)]
    pub fn has(&self, word: u64) -> bool {
        word.wrapping_sub(self.words_from) < self.words
    }

    /// Returns the rowid at the front of `word`, which must be in the class.
    #[inline(always)]
    pub fn rowid_of(&self, word: u64) -> u64 {
        word.wrapping_sub(self.zero) >> self.unused
    }

    /// Returns the length of the encodings.
    #[inline(always)]
    pub fn encoded_len(&self) -> usize {
        (u64::BITS - self.unused) as usize / 8
    }
}

/// Appends the encoding of a rowid: its magnitude in 1 to 9 bytes, inverted if the rowid is negative.
#[inline]
pub fn push_rowid(rowid: i64, out: &mut Vec<u8>) {
    push_written(out, |out| write_rowid(rowid, out));
}

/// Writes the encoding of a rowid to the start of `out`. Returns its length.
#[inline]
pub(super) fn write_rowid(rowid: i64, out: &mut [u8; MAX_LEN]) -> usize {
    let sign = rowid >> 63;
    ROWIDS.write((rowid ^ sign).cast_unsigned(), (sign & 0xff) as u8, out)
}

/// Returns the length of the encoding of a rowid.
#[inline]
#[must_use]
pub fn rowid_len(rowid: i64) -> usize {
    1 + ROWIDS.tail_of((rowid ^ (rowid >> 63)).cast_unsigned())
}

/// Reads the rowid at the start of `bytes`. Returns it with the length of its encoding.
///
/// # Errors
/// If `bytes` does not start with an encoded rowid.
#[inline]
pub fn read_rowid(bytes: &[u8]) -> Result<(i64, usize), FormatError> {
    let negative = bytes.first().is_some_and(|first| *first < 0x80);
    ROWIDS
        .read(bytes, if negative { 0xff } else { 0 })
        .and_then(|(magnitude, tail)| {
            let magnitude = i64::try_from(magnitude).ok()?;
            Some((if negative { !magnitude } else { magnitude }, 1 + tail))
        })
        .ok_or_else(no_rowid)
}

#[cold]
fn no_rowid() -> FormatError {
    FormatError::new("a sort key holds no rowid here", 0)
}

/// Returns the length of the encoded rowid at the start of `bytes`.
///
/// # Errors
/// If `bytes` does not start with an encoded rowid.
#[inline]
pub fn skip_rowid(bytes: &[u8]) -> Result<usize, FormatError> {
    let len = bytes.first().map(|&first| {
        let first_of_positive = if first < 0x80 { !first } else { first };
        1 + usize::from(ROWIDS.tail_by_first[usize::from(first_of_positive - 0x80)])
    });
    len.filter(|&len| len <= bytes.len().min(MAX_LEN)).ok_or_else(no_rowid)
}

/// Appends the encoding of an integer.
#[inline]
pub(super) fn push_int(int: i64, out: &mut Vec<u8>) {
    push_written(out, |out| write_int(int, out));
}

/// Writes the encoding of an integer to the start of `out`. Returns its length.
#[inline]
pub(super) fn write_int(int: i64, out: &mut [u8; MAX_LEN]) -> usize {
    write_whole(int.unsigned_abs(), if int < 0 { 0xff } else { 0 }, out)
}

/// Writes the encoding of a number of this magnitude without a fraction. Returns its length.
#[inline]
fn write_whole(magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
    if magnitude < NO_FRACTION_FROM {
        NUMBERS.write(magnitude << 1, mask, out)
    } else {
        NUMBERS.write_with_tail(WHOLE, magnitude, mask, out)
    }
}

/// Returns whether a real equals a 64-bit integer.
#[expect(clippy::cast_possible_truncation, reason = "whether it truncates is the question")]
#[inline]
pub(super) fn is_int(real: f64) -> bool {
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    // The conversion saturates: 2^63 would look like an integer.
    real < TOO_LARGE && (real as i64) as f64 == real
}

/// Appends the encoding of a real other than NaN.
pub(super) fn push_real(real: f64, out: &mut Vec<u8>) {
    // -0.0 is not below 0.
    let mask = if real < 0.0 { 0xff } else { 0 };
    let bits = real.abs().to_bits();
    let significand = bits & FRACTION | 1 << FRACTION_BITS;
    match (bits >> FRACTION_BITS).checked_sub(EXPONENT_BIAS) {
        None => push_below_one(bits, mask, out),
        Some(exponent @ 0..52) => push_with_fraction(significand, FRACTION_BITS - (exponent & 0x3f) as u32, mask, out),
        Some(exponent @ 52..64) => {
            push_written(out, |out| write_whole(significand << (exponent - 52), mask, out));
        }
        Some(_) => {
            out.push(HUGE ^ mask);
            push_low_bytes(bits, 8, mask, out);
        }
    }
}

/// Encodes a number below 1: n = 0, then the bits of the double.
fn push_below_one(bits: u64, mask: u8, out: &mut Vec<u8>) {
    NUMBERS.push(u64::from(bits > 0), mask, out);
    if bits > 0 {
        push_low_bytes(bits, 8, mask, out);
    }
}

/// Encodes a number of which the lowest `fraction_bits` (1 to 52) of the significand are behind the point.
fn push_with_fraction(significand: u64, fraction_bits: u32, mask: u8, out: &mut Vec<u8>) {
    let whole = significand >> fraction_bits;
    let fraction = significand & ((1 << fraction_bits) - 1);
    NUMBERS.push(whole << 1 | u64::from(fraction > 0), mask, out);
    if fraction > 0 {
        push_low_bytes(fraction, fraction_bits.div_ceil(8) as usize, mask, out);
    }
}

/// Returns the length of the number at the start of `key`. Returns `None` if it has a fraction or eight bytes behind
/// the first, or if there is not a number.
#[inline(always)]
pub(super) fn skip_whole(key: &[u8], mask: u8) -> Option<usize> {
    let first = key.first()? ^ mask;
    let inverted = if first < 0x80 { 0xff } else { 0 };
    let tail = usize::from(NUMBERS.tail_by_first[usize::from((first ^ inverted) & 0x7f)]);
    let has_fraction = key.get(tail)? & 1 != (mask ^ inverted) & 1;
    (tail < WHOLE && !has_fraction).then_some(1 + tail)
}

/// Reads the integer at the start of `key`. Returns it with the length of its encoding.
#[inline(always)]
pub(super) fn read_int(key: &[u8], mask: u8) -> Option<(i64, usize)> {
    let negative = key.first()? ^ mask < 0x80;
    let (magnitude, tail) = NUMBERS.read(key, if negative { !mask } else { mask })?;
    let whole = if tail == WHOLE { magnitude } else { magnitude >> 1 };
    let has_fraction = tail < WHOLE && magnitude & 1 == 1;
    whole_int(whole, negative).filter(|_| !has_fraction).map(|int| (int, 1 + tail))
}

/// Parses the number at the start of `key`. Returns it with the length of its encoding.
#[inline]
pub(super) fn parse(key: &[u8], mask: u8) -> Option<(ParsedValue<'static>, usize)> {
    let negative = key.first()? ^ mask < 0x80;
    let mask = if negative { !mask } else { mask };
    let Some((magnitude, tail)) = NUMBERS.read(key, mask) else {
        return read_huge(key, mask).map(|real| (signed(real, negative), 9));
    };
    let magnitude_and_flag = (magnitude >> 1, magnitude & 1 == 1);
    let (whole, has_fraction) = if tail == WHOLE { (magnitude, false) } else { magnitude_and_flag };
    if has_fraction {
        let (real, fraction_len) = read_fraction(whole, &key[1 + tail..], mask)?;
        return Some((signed(real, negative), 1 + tail + fraction_len));
    }
    // A number out of the integers' range was a double, so the conversion does not round.
    let encoding = whole_int(whole, negative).map_or_else(|| signed(whole as f64, negative), ParsedValue::Int);
    Some((encoding, 1 + tail))
}

fn signed(magnitude: f64, negative: bool) -> ParsedValue<'static> {
    ParsedValue::Real(if negative { -magnitude } else { magnitude })
}

/// Returns the integer of this magnitude and sign, or `None` if it has more than 64 bits.
#[inline]
fn whole_int(magnitude: u64, negative: bool) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Reads a double whose encoding starts with [`HUGE`].
fn read_huge(key: &[u8], mask: u8) -> Option<f64> {
    let (first, rest) = key.split_first()?;
    let real = f64::from_bits(low_bytes(rest, 8, mask)?);
    (first ^ mask == HUGE && real >= HUGE_FROM).then_some(real)
}

/// Reads the fraction behind the integer part `whole` from the start of `bytes`. Returns the double and the length of
/// the fraction.
fn read_fraction(whole: u64, bytes: &[u8], mask: u8) -> Option<(f64, usize)> {
    let Some(exponent) = whole.checked_ilog2() else {
        let real = f64::from_bits(low_bytes(bytes, 8, mask)?);
        return (real > 0.0 && real < 1.0).then_some((real, 8));
    };
    let fraction_bits = FRACTION_BITS.checked_sub(exponent)?;
    let len = fraction_bits.div_ceil(8) as usize;
    let fraction = low_bytes(bytes, len, mask)?;
    if fraction >> fraction_bits != 0 {
        return None;
    }
    let significand = whole << fraction_bits | fraction;
    let bits = (EXPONENT_BIAS + u64::from(exponent)) << FRACTION_BITS | significand & FRACTION;
    Some((f64::from_bits(bits), len))
}
