//! Numbers and rowids in as few bytes as keep their order. The picture is in the module above.

use super::Form;
use crate::FormatError;
use crate::record::INT_BY_BYTES;

/// Bits of a double below its exponent.
const FRACTION_BITS: u32 = 52;
/// The bits of a double below its exponent.
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
/// The exponent as it stands in a double that is 1 or more and less than 2.
const EXPONENT_BIAS: u64 = 1023;

/// From here on `2n` does not fit the seven bytes that [`NUMBERS`] has for it. Doubles have lost
/// their fraction long before.
const NO_FRACTION_FROM: u64 = 1 << 55;
/// Bytes behind the first where they hold `n` itself.
const WHOLE: usize = 8;
/// Bytes of the longest form of a rowid, or of a number without a fraction.
pub(super) const MAX_LEN: usize = 1 + WHOLE;
/// Bytes of the longest form of a rowid.
pub const MAX_ROWID_LEN: usize = MAX_LEN;
/// First byte of a double from 2^64 on.
const HUGE: u8 = 0xfa;
/// The least that follows [`HUGE`].
const HUGE_FROM: f64 = 18_446_744_073_709_551_616.0;

const _: () = assert!(FRACTION_BITS + 1 == f64::MANTISSA_DIGITS);
const _: () = assert!(NO_FRACTION_FROM > 1 << FRACTION_BITS && NUMBER_LENGTHS.end == HUGE as usize);

/// Magnitudes of numbers: `2n`, or `2n + 1` before a fraction.
static NUMBERS: Lengths = NUMBER_LENGTHS;
const NUMBER_LENGTHS: Lengths = Lengths::new([4, 5, 5, 4, 2, 2, 4, 0, 0]);
/// Magnitudes of rowids: three bytes below 2^21, four below 2^30.
static ROWIDS: Lengths = ROWID_LENGTHS;
const ROWID_LENGTHS: Lengths = Lengths::new([2, 2, 5, 6, 4, 2, 1, 0, 0]);

/// An unsigned integer in 1 to 9 bytes, the shorter before the longer, so that the bytes sort as
/// the integers do. The first byte, 0x80 or more, tells the length and holds the topmost bits.
struct Lengths {
    /// Bytes behind the first, by the significant bits of the integer.
    tail_by_bits: [u8; 65],
    /// Least first byte, by the number of bytes behind it.
    first_by_tail: [u8; 9],
    /// Bytes behind the first byte, by that byte less 0x80; [`u8::MAX`] where it is not in use.
    tail_by_first: [u8; 128],
    /// Where the first bytes end that are in use.
    end: usize,
}

impl Lengths {
    /// `head_bits` are those in the first byte, by the number of bytes behind it.
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

    /// Bytes behind the first that `magnitude` takes.
    #[inline]
    fn tail_of(&self, magnitude: u64) -> usize {
        let bits = u64::BITS - magnitude.leading_zeros();
        usize::from(self.tail_by_bits[bits as usize])
    }

    /// Appends `magnitude`, every byte combined with `mask`.
    #[inline]
    fn push(&self, magnitude: u64, mask: u8, out: &mut Vec<u8>) {
        push_written(out, |out| self.write(magnitude, mask, out));
    }

    /// Writes `magnitude`, every byte combined with `mask`, to the start of `out`; how many bytes it takes.
    #[inline]
    fn write(&self, magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
        self.write_with_tail(self.tail_of(magnitude), magnitude, mask, out)
    }

    /// As [`write`](Self::write), with `tail` bytes behind the first, which must be enough.
    #[inline]
    fn write_with_tail(&self, tail: usize, magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
        let head = high_bytes(magnitude, 8 - tail);
        out[0] = (self.first_by_tail[tail] + (head & 0x7f) as u8) ^ mask;
        out[1..].copy_from_slice(&low_first(magnitude, tail, mask));
        1 + tail
    }

    /// `magnitude` as [`write`](Self::write) writes it, at the front of a word with zeros behind it, and how many bytes it
    /// takes; `None` where it takes nine.
    #[inline(always)]
    fn front(&self, magnitude: u64, negative: bool) -> Option<(u64, usize)> {
        let tail = self.tail_of(magnitude);
        if tail >= WHOLE {
            return None;
        }
        let unused = u64::BITS as usize - 8 * (1 + tail);
        let first = u64::from(self.first_by_tail[tail]) << 56;
        let form = first + (magnitude << unused);
        let inverted = if negative { u64::MAX << unused } else { 0 };
        Some((form ^ inverted, 1 + tail))
    }

    /// The integer at the start of `bytes`, and the number of bytes behind the first.
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

/// The topmost `count` bytes of `bits`, as an integer.
#[inline]
const fn high_bytes(bits: u64, count: usize) -> u64 {
    // Twice, because no shift is by 64 bits.
    let half = 4 * (8 - count);
    (bits >> half) >> half
}

/// Appends the lowest `count` bytes of `bits`, each combined with `mask`.
#[inline]
fn push_low_bytes(bits: u64, count: usize, mask: u8, out: &mut Vec<u8>) {
    // Eight bytes of which some are taken back cost less than a copy of variable length.
    out.extend_from_slice(&low_first(bits, count, mask));
    out.truncate(out.len() - (8 - count));
}

/// The lowest `count` bytes of `bits`, each combined with `mask`, at the front of eight.
#[inline]
fn low_first(bits: u64, count: usize, mask: u8) -> [u8; 8] {
    // Twice, because no shift is by 64 bits.
    let half = 4 * (8 - count);
    (((bits ^ repeated(mask)) << half) << half).to_be_bytes()
}

/// Appends what `write` writes to the start of its room.
#[inline]
fn push_written(out: &mut Vec<u8>, write: impl FnOnce(&mut [u8; MAX_LEN]) -> usize) {
    let mut room = [0; MAX_LEN];
    let len = write(&mut room);
    // All of it, of which some is taken back: that costs less than a copy of variable length.
    out.extend_from_slice(&room);
    out.truncate(out.len() - (MAX_LEN - len));
}

/// The integer of the first `count` bytes (0 to 8), each combined with `mask`.
#[inline]
fn low_bytes(bytes: &[u8], count: usize, mask: u8) -> Option<u64> {
    let eight = up_to_eight(bytes) ^ repeated(mask);
    (count <= bytes.len()).then(|| high_bytes(eight, count))
}

/// The first eight bytes, zeros for those that are not there.
#[inline]
fn up_to_eight(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Both halves overlap, where the same bytes fall on one another.
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        return u64::from(first) << 32 | u64::from(last) << (8 * (8 - bytes.len()));
    }
    let Some(last) = bytes.len().checked_sub(1) else { return 0 };
    // The first, the middle and the last of one to three.
    let at = |index: usize| u64::from(bytes[index]) << (8 * (7 - index));
    at(0) | at(bytes.len() / 2) | at(last)
}

#[inline]
const fn repeated(byte: u8) -> u64 {
    u64::from_be_bytes([byte; 8])
}

/// The form of a rowid at the front of a word, zeros behind it, and its length; `None` where it is longer.
#[inline(always)]
pub(super) fn rowid_front(rowid: i64) -> Option<(u64, usize)> {
    ROWIDS.front((rowid ^ (rowid >> 63)).cast_unsigned(), rowid < 0)
}

/// The form of an integer, likewise.
#[inline(always)]
pub(super) fn int_front(int: i64) -> Option<(u64, usize)> {
    let magnitude = int.unsigned_abs();
    if magnitude >= NO_FRACTION_FROM {
        return None;
    }
    NUMBERS.front(magnitude << 1, int < 0)
}

/// Rowids whose forms are of one length and whose bodies in a record are of one width: all from a power of two up to
/// another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowidClass {
    /// The least word with such a form at its front, and how many words there are.
    words_from: u64,
    words: u64,
    /// The form of 0, if it were one of them, and the bits behind a form.
    zero: u64,
    unused: u32,
    /// How a record has them.
    pub serial: u8,
    pub width: u8,
}

impl RowidClass {
    /// That of no rowid.
    pub const NONE: Self = Self { words_from: 0, words: 0, zero: 0, unused: 0, serial: 0, width: 0 };

    /// By the number of significant bits: of those whose forms fit a word, without 0 and 1, which have no body.
    const ALL: [Self; 65] = {
        let mut all = [Self::NONE; 65];
        let mut bits = 2;
        while bits < 64 && (ROWID_LENGTHS.tail_by_bits[bits] as usize) < WHOLE {
            let (mut from, mut to) = (bits, bits);
            while from > 2 && Self::is_alike(from - 1, bits) {
                from -= 1;
            }
            while to < 63 && Self::is_alike(to + 1, bits) {
                to += 1;
            }
            let tail = ROWID_LENGTHS.tail_by_bits[bits];
            let unused = 56 - 8 * tail as u32;
            let zero = (ROWID_LENGTHS.first_by_tail[tail as usize] as u64) << 56;
            let (least, greatest) = (1 << (from - 1), u64::MAX >> (64 - to));
            let words_from = zero + (least << unused);
            let words = (greatest - least + 1) << unused;
            let (serial, width) = INT_BY_BYTES[bits / 8];
            all[bits] = Self { words_from, words, zero, unused, serial, width };
            bits += 1;
        }
        all
    };

    const fn is_alike(bits: usize, other: usize) -> bool {
        let (tails, widths) = (&ROWID_LENGTHS.tail_by_bits, &INT_BY_BYTES);
        tails[bits] == tails[other] && widths[bits / 8].1 == widths[other / 8].1
    }

    /// The class of this rowid; [`NONE`](Self::NONE) of those that have none.
    pub fn of(rowid: i64) -> &'static Self {
        static ALL: [RowidClass; 65] = RowidClass::ALL;
        &ALL[(u64::BITS - rowid.cast_unsigned().leading_zeros()) as usize]
    }

    /// Whether the rowid whose form stands at the front of a word is one of these.
    #[inline(always)]
    pub fn has(&self, word: u64) -> bool {
        word.wrapping_sub(self.words_from) < self.words
    }

    /// That rowid, of one of these.
    #[inline(always)]
    pub fn rowid_of(&self, word: u64) -> u64 {
        word.wrapping_sub(self.zero) >> self.unused
    }

    /// Length of the forms.
    #[inline(always)]
    pub fn form_len(&self) -> usize {
        (u64::BITS - self.unused) as usize / 8
    }
}

/// Appends the form of a rowid: by its magnitude in 1 to 9 bytes, those of negative ones inverted.
#[inline]
pub fn push_rowid(rowid: i64, out: &mut Vec<u8>) {
    push_written(out, |out| write_rowid(rowid, out));
}

/// Writes the form of a rowid to the start of `out`; its length.
#[inline]
pub(super) fn write_rowid(rowid: i64, out: &mut [u8; MAX_LEN]) -> usize {
    let sign = rowid >> 63;
    ROWIDS.write((rowid ^ sign).cast_unsigned(), (sign & 0xff) as u8, out)
}

/// Length of the form of a rowid.
#[inline]
#[must_use]
pub fn rowid_len(rowid: i64) -> usize {
    1 + ROWIDS.tail_of((rowid ^ (rowid >> 63)).cast_unsigned())
}

/// The rowid whose form stands at the start of `bytes`, and the length of the form.
///
/// # Errors
/// Where `bytes` does not start with such a form.
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

/// Length of the form of a rowid at the start of `bytes`.
///
/// # Errors
/// Where `bytes` does not start with such a form.
#[inline]
pub fn skip_rowid(bytes: &[u8]) -> Result<usize, FormatError> {
    let len = bytes.first().map(|&first| {
        let first_of_positive = if first < 0x80 { !first } else { first };
        1 + usize::from(ROWIDS.tail_by_first[usize::from(first_of_positive - 0x80)])
    });
    len.filter(|&len| len <= bytes.len().min(MAX_LEN)).ok_or_else(no_rowid)
}

/// Appends the form of an integer.
#[inline]
pub(super) fn push_int(int: i64, out: &mut Vec<u8>) {
    push_written(out, |out| write_int(int, out));
}

/// Writes the form of an integer to the start of `out`; its length.
#[inline]
pub(super) fn write_int(int: i64, out: &mut [u8; MAX_LEN]) -> usize {
    write_whole(int.unsigned_abs(), if int < 0 { 0xff } else { 0 }, out)
}

/// Writes the form of a number of this magnitude that has no fraction; its length.
#[inline]
fn write_whole(magnitude: u64, mask: u8, out: &mut [u8; MAX_LEN]) -> usize {
    if magnitude < NO_FRACTION_FROM {
        NUMBERS.write(magnitude << 1, mask, out)
    } else {
        NUMBERS.write_with_tail(WHOLE, magnitude, mask, out)
    }
}

/// Whether a real has the value of an integer of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "whether it truncates is the question")]
#[inline]
pub(super) fn is_int(real: f64) -> bool {
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    // The conversion saturates: 2^63 would look like an integer.
    real < TOO_LARGE && (real as i64) as f64 == real
}

/// Appends the form of a real that is not NaN.
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

/// The form of a number below 1: n = 0, and behind it the bits of the double.
fn push_below_one(bits: u64, mask: u8, out: &mut Vec<u8>) {
    NUMBERS.push(u64::from(bits > 0), mask, out);
    if bits > 0 {
        push_low_bytes(bits, 8, mask, out);
    }
}

/// The form of a number whose lowest `fraction_bits` (1 to 52) stand behind the point.
fn push_with_fraction(significand: u64, fraction_bits: u32, mask: u8, out: &mut Vec<u8>) {
    let whole = significand >> fraction_bits;
    let fraction = significand & ((1 << fraction_bits) - 1);
    NUMBERS.push(whole << 1 | u64::from(fraction > 0), mask, out);
    if fraction > 0 {
        push_low_bytes(fraction, fraction_bits.div_ceil(8) as usize, mask, out);
    }
}

/// Length of the form of a number without a fraction at the start of `key`; `None` where there is none, or none that is
/// simple.
#[inline(always)]
pub(super) fn skip_whole(key: &[u8], mask: u8) -> Option<usize> {
    let first = key.first()? ^ mask;
    let inverted = if first < 0x80 { 0xff } else { 0 };
    let tail = usize::from(NUMBERS.tail_by_first[usize::from((first ^ inverted) & 0x7f)]);
    let has_fraction = key.get(tail)? & 1 != (mask ^ inverted) & 1;
    (tail < WHOLE && !has_fraction).then_some(1 + tail)
}

/// The integer whose form stands at the start of `key`, and the length of the form.
#[inline(always)]
pub(super) fn read_int(key: &[u8], mask: u8) -> Option<(i64, usize)> {
    let negative = key.first()? ^ mask < 0x80;
    let (magnitude, tail) = NUMBERS.read(key, if negative { !mask } else { mask })?;
    let whole = if tail == WHOLE { magnitude } else { magnitude >> 1 };
    let has_fraction = tail < WHOLE && magnitude & 1 == 1;
    whole_int(whole, negative).filter(|_| !has_fraction).map(|int| (int, 1 + tail))
}

/// The number whose form stands at the start of `key`, and the length of the form.
#[inline]
pub(super) fn parse(key: &[u8], mask: u8) -> Option<(Form<'static>, usize)> {
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
    // What is no integer was a double, so that the conversion does not round.
    let form = whole_int(whole, negative).map_or_else(|| signed(whole as f64, negative), Form::Int);
    Some((form, 1 + tail))
}

fn signed(magnitude: f64, negative: bool) -> Form<'static> {
    Form::Real(if negative { -magnitude } else { magnitude })
}

/// The integer of this magnitude and sign, `None` where there is none of 64 bits.
#[inline]
fn whole_int(magnitude: u64, negative: bool) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// The double whose form [`HUGE`] starts.
fn read_huge(key: &[u8], mask: u8) -> Option<f64> {
    let (first, rest) = key.split_first()?;
    let real = f64::from_bits(low_bytes(rest, 8, mask)?);
    (first ^ mask == HUGE && real >= HUGE_FROM).then_some(real)
}

/// The double whose integer part is `whole`, the rest of its form at the start of `bytes`, and the
/// length of that.
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
