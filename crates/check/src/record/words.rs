//! Reads the fields of a plain record, each with its first bytes as a word: to hash or compare a field then takes a few
//! instructions, whatever its type.
//!
//! ```text
//! NULL             0
//! integer          its value with the sign bit flipped, so that words compare as unsigned numbers
//! double           its bits
//! text, blob       its first eight bytes, big-endian; zeros follow a shorter one
//! ```

use super::RecordRules;
use super::serial_class::{SHORT_SERIALS, class, classify};
use litepress_format::page::LEAF_HEADER_LEN;
use litepress_format::record::serial;
use litepress_format::varint;

/// A field of a record, with its place on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldWord {
    pub(crate) serial: u32,
    pub(crate) class: u8,
    start: u32,
    end: u32,
    /// The first bytes: see the head of this module.
    pub(crate) word: u64,
}

impl FieldWord {
    /// Returns the stored value.
    #[inline]
    pub(crate) fn body<'p>(&self, page: &'p [u8]) -> Option<&'p [u8]> {
        page.get(self.start as usize..self.end as usize)
    }

    /// Returns whether two fields of the same class are equal byte by byte, by their words alone. `None`: bytes decide.
    #[inline]
    pub(crate) fn is_same(&self, other: &Self) -> Option<bool> {
        match self.word == other.word {
            true if self.serial != other.serial || u64::from(self.serial) > LAST_IN_WORD => None,
            is_same => Some(is_same),
        }
    }
}

const SIGN: u64 = 1 << 63;
const WORD_LEN: usize = 8;
/// The serial type of the longest text that a word holds as a whole.
const LAST_IN_WORD: u64 = serial::text(WORD_LEN);

/// The way from a body to its word. A word is read from the eight bytes that end with its last one, because a page has
/// at least that many before each body.
#[derive(Clone, Copy)]
struct WordForm {
    /// Bytes of the body in the word.
    len: u8,
    /// Bits to shift to the left: those of other bytes.
    left: u8,
    /// Bits to shift back, with the sign.
    right: u8,
    /// Bits that the word has: none if the body has none.
    mask: u64,
    /// Bits to flip at last.
    flip: u64,
}

const _: () = assert!(LEAF_HEADER_LEN >= WORD_LEN);

/// The forms by serial type of one byte. A longer serial type is a text or blob of more than eight bytes.
const FORMS: [WordForm; 128] = {
    let mut forms = [WordForm { len: 8, left: 0, right: 0, mask: u64::MAX, flip: 0 }; 128];
    let mut serial = 0;
    while serial < 128 {
        let (class, len) = SHORT_SERIALS[serial];
        let form = &mut forms[serial];
        if len == 0 {
            (form.len, form.mask) = (0, 0);
        } else if len < 8 {
            (form.len, form.left) = (len, 64 - 8 * len);
        }
        match class {
            class::INT => (form.right, form.flip) = (form.left, SIGN),
            class::SMALL_INT => form.flip = SIGN | (serial as u64 & 1),
            _ => {}
        }
        serial += 1;
    }
    forms
};
const LONG: WordForm = FORMS[127];

/// Returns the word of an integer.
#[inline]
pub(crate) fn word_of_int(int: i64) -> u64 {
    int.cast_unsigned() ^ SIGN
}

/// Returns the word of a text or blob.
#[inline]
pub(crate) fn word_of_bytes(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD_LEN];
    let len = bytes.len().min(WORD_LEN);
    word[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(word)
}

/// Reads the record in these bytes of a leaf. Returns `false` if it needs a second look: it does not have exactly its
/// columns, or a value is not plainly what its column accepts. `fields` must have one element per column.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a page has at most 65,536 bytes, a field less than 2^31")]
pub(crate) fn read_plain(
    page: &[u8],
    (start, end): (usize, usize),
    rules: &RecordRules,
    fields: &mut [FieldWord],
) -> bool {
    let Some((&header_len @ 1..0x80, rest)) = page.get(start..end).and_then(<[u8]>::split_first) else { return false };
    let Some(mut header) = rest.get(..usize::from(header_len) - 1) else { return false };
    let mut at = start + usize::from(header_len);
    // Not a zip: a call for each record remained of it.
    let rules = &rules.quick[..];
    let fields = &mut fields[..rules.len()];
    for index in 0..rules.len() {
        let rule = &rules[index];
        let Some((&byte, later)) = header.split_first() else { return false };
        let (serial, class, len, form);
        if byte < 0x80 {
            (serial, header, form) = (u32::from(byte), later, &FORMS[usize::from(byte)]);
            (class, len) = (SHORT_SERIALS[usize::from(byte)].0, usize::from(SHORT_SERIALS[usize::from(byte)].1));
        } else {
            let Some((long, serial_len)) = varint::read(header) else { return false };
            let Some(short) = u32::try_from(long).ok().filter(|serial| *serial >= 0x80) else { return false };
            (serial, header, form) = (short, &header[serial_len..], &LONG);
            (class, len) = classify(long);
        }
        let next = at + len;
        if rule.quick & class == 0 && !rule.is_plain(class, page.get(at..next)) {
            return false;
        }
        let last = at + usize::from(form.len);
        let Some(eight) = page.get(last - WORD_LEN..last).and_then(<[u8]>::first_chunk) else { return false };
        let shifted = (u64::from_be_bytes(*eight) << form.left).cast_signed() >> form.right;
        let word = (shifted.cast_unsigned() & form.mask) ^ form.flip;
        fields[index] = FieldWord { serial, class, start: at as u32, end: next as u32, word };
        at = next;
    }
    header.is_empty() && at == end
}
