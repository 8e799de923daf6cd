//! Encodes sort items of up to 16 bytes as two words, for records that share one header.
//!
//! The shared header gives the position and length of each column. For each record it remains to move the bytes to
//! their place in the item, and to check that none of them needs an escape.
//!
//! ```text
//! record   04 19 09 08 '123456'            rowid 70000
//!                      ^^^^^^^^            one word is read; the text is its last six bytes
//! item     fd 31 32 33 34 35 36 00         one fixed segment: a tag, the bytes, an end
//!          a9 11 70 00 00 00 00 00         one number
//! ```

use super::{BLOB, Collation, IndexEntryLayout, KeyPart, NULL, TEXT, number, text};
use crate::record::{SHORT_BODY_LENS, serial};
use std::ops::Range;

/// The longest item that two words hold.
pub const PREFIX_LEN: usize = 16;

/// Bytes in front of a record that are read and ignored: whole words are read.
pub const PREFIX_MARGIN: usize = 16;

const WORD: usize = 8;

/// Encodes the items of one layout, for records that share one header.
#[derive(Clone, Debug, Default)]
pub struct KeyPrefixEncoder {
    segments: Vec<Segment>,
}

/// Some adjacent encoded columns.
#[derive(Clone, Debug)]
enum Segment {
    /// Columns of constant width.
    Fixed(FixedColumns),
    /// An integer whose body of `len` bytes ends at `end` of the record.
    Int { end: usize, len: usize, descends: bool },
    /// A column that is an alias of the rowid: encoded as an integer column.
    RowidColumn { descends: bool },
    /// The rowid behind the columns.
    Rowid,
}

/// Encoded columns of constant width, in two words.
#[derive(Clone, Debug, Default)]
pub struct FixedColumns {
    len: usize,
    /// The bits that no record changes, and the bits that are inverted last.
    constant: [u64; 2],
    inverted: [u64; 2],
    loads: Vec<StringLoad>,
}

/// The read of up to eight bytes of a text or blob from a record.
#[derive(Clone, Copy, Debug)]
pub struct StringLoad {
    /// Offset in the record of the end of the word that is read.
    end: usize,
    /// Rotation that brings the bytes to their place in either word, and the bits of each word that they fill.
    turn: u32,
    places: [u64; 2],
}

impl KeyPrefixEncoder {
    /// Makes an encoder of items of this layout. Each column has this serial type and this range of the record, or is
    /// `None` if it is the rowid. Returns `None` if a column is a real, a text that is not `Binary`, or too long.
    #[must_use]
    pub fn new(
        layout: &IndexEntryLayout,
        columns: impl IntoIterator<Item = Option<(u64, Range<usize>)>>,
    ) -> Option<Self> {
        let mut maker = Self::default();
        for (column, part) in columns.into_iter().zip(layout.parts()) {
            match column {
                Some((serial, body)) => maker.add(serial, &body, *part)?,
                None => maker.segments.push(Segment::RowidColumn { descends: part.descending }),
            }
        }
        if layout.has_rowid {
            maker.segments.push(Segment::Rowid);
        }
        Some(maker)
    }

    fn add(&mut self, serial: u64, body: &Range<usize>, part: KeyPart) -> Option<()> {
        let (end, len, descends) = (body.end, body.len(), part.descending);
        match serial {
            serial::NULL => self.fixed().add(&[NULL], descends)?,
            serial::ZERO | serial::ONE => {
                let (encoding, len) = number::int_word((serial - serial::ZERO).cast_signed())?;
                self.fixed().add(&encoding.to_be_bytes()[..len], descends)?;
            }
            serial::I8..=serial::I64 => self.segments.push(Segment::Int { end, len, descends }),
            serial::REAL => return None,
            _ if serial.is_multiple_of(2) => self.fixed().add_string(BLOB, end, len, descends)?,
            _ if part.collation == Collation::Binary => self.fixed().add_string(TEXT, end, len, descends)?,
            _ => return None,
        }
        Some(())
    }

    /// Returns the last segment if it is fixed, or else a new one.
    fn fixed(&mut self) -> &mut FixedColumns {
        if !matches!(self.segments.last(), Some(Segment::Fixed(_))) {
            self.segments.push(Segment::Fixed(FixedColumns::default()));
        }
        match self.segments.last_mut() {
            Some(Segment::Fixed(fixed)) => fixed,
            _ => unreachable!("pushed above"),
        }
    }

    /// Encodes the item that [`IndexEntryLayout::push_item`] would append for the record at `start` of `bytes`. At
    /// least [`PREFIX_MARGIN`] bytes must precede the record. Returns two big-endian words, padded with zeros, and
    /// the item's length. Returns `None` if the item is longer than [`PREFIX_LEN`] or has bytes to escape.
    #[inline(always)]
    #[must_use]
    pub fn make(&self, bytes: &[u8], start: usize, rowid: i64) -> Option<([u64; 2], usize)> {
        let (mut prefix, mut len) = ([0; 2], 0);
        for segment in &self.segments {
            let (encoding, encoded_len) = match segment {
                Segment::Fixed(fixed) => (fixed.encoding(bytes, start)?, fixed.len),
                Segment::Rowid => one_word(number::rowid_word(rowid)?, false),
                Segment::RowidColumn { descends } => one_word(number::int_word(rowid)?, *descends),
                Segment::Int { end, len, descends } => {
                    one_word(number::int_word(int_before(bytes, start + end, *len))?, *descends)
                }
            };
            if len + encoded_len > PREFIX_LEN {
                return None;
            }
            append(&mut prefix, len, encoding);
            len += encoded_len;
        }
        (len > 0).then_some((prefix, len))
    }

    /// Returns the columns' encoding if they all have constant width and only the rowid follows.
    #[must_use]
    pub fn fixed_columns(&self) -> Option<&FixedColumns> {
        match &self.segments[..] {
            [Segment::Fixed(fixed), Segment::Rowid] => Some(fixed),
            _ => None,
        }
    }
}

/// The first 16 bytes of a sort item: its key, and a rowid or a position behind that.
#[derive(Clone, Copy, Debug)]
pub struct KeyPrefix {
    /// The bytes, big-endian, padded with zeros.
    pub words: [u64; 2],
    /// Bytes of the key.
    pub key_len: usize,
    /// Bytes of the key and the rowid.
    pub len: usize,
}

impl IndexEntryLayout {
    /// Encodes the item that [`push_item`](Self::push_item) would append for this rowid and the record at `record` of
    /// `bytes`. At least [`PREFIX_MARGIN`] bytes must precede the record, and the layout's columns must be its first
    /// ones. Returns `None` if the columns are more than four or not all integers, or if the item has more than
    /// [`PREFIX_LEN`] bytes.
    #[inline(always)]
    #[must_use]
    pub fn prefix_of_integers(&self, bytes: &[u8], record: Range<usize>, rowid: i64) -> Option<KeyPrefix> {
        let parts = &self.parts[..];
        // Unrolled by the number of columns: the exit of a short loop is mispredicted.
        match parts.len() {
            1 => prefix_of::<1>(parts.first_chunk()?, bytes, record, rowid),
            2 => prefix_of::<2>(parts.first_chunk()?, bytes, record, rowid),
            3 => prefix_of::<3>(parts.first_chunk()?, bytes, record, rowid),
            4 => prefix_of::<4>(parts.first_chunk()?, bytes, record, rowid),
            _ => None,
        }
    }
}

/// Always inlined: a result stored as words and read back at once in wider loads would stall store forwarding.
#[inline(always)]
fn prefix_of<const COLUMNS: usize>(
    parts: &[KeyPart; COLUMNS],
    bytes: &[u8],
    record: Range<usize>,
    rowid: i64,
) -> Option<KeyPrefix> {
    let (&header_len, serials) = bytes.get(record.clone())?.split_first()?;
    let serials = serials.first_chunk::<COLUMNS>()?;
    let mut end = record.start + usize::from(header_len);
    if header_len >= 0x80 || usize::from(header_len) <= COLUMNS {
        return None;
    }
    let mut ints = [0; COLUMNS];
    for column in 0..COLUMNS {
        let serial = serials[column];
        let len = usize::from(SHORT_BODY_LENS[usize::from(serial & 0x7f)]);
        end += len;
        ints[column] = match serial.into() {
            serial::I8..=serial::I64 => int_before(bytes, end, len),
            serial::ZERO => 0,
            serial::ONE => 1,
            _ => return None,
        };
    }
    let tail = number::rowid_word(rowid)?;
    if end > record.end { None } else { KeyPrefix::of_integers(parts, ints, tail) }
}

impl KeyPrefix {
    /// Encodes an item of integers, one a column, followed by the first `tail_len` bytes (at least one) of `tail`.
    /// Returns `None` if the item has more than [`PREFIX_LEN`] bytes, or an integer's encoding does not fit a word.
    #[inline(always)]
    #[must_use]
    pub fn of_integers<const COLUMNS: usize>(
        parts: &[KeyPart; COLUMNS],
        ints: [i64; COLUMNS],
        (tail, tail_len): (u64, usize),
    ) -> Option<Self> {
        let (mut words, mut key_len) = ([0; 2], 0);
        for column in 0..COLUMNS {
            let (encoding, encoded_len) = one_word(number::int_word(ints[column])?, parts[column].descending);
            if key_len + encoded_len > PREFIX_LEN {
                return None;
            }
            append(&mut words, key_len, encoding);
            key_len += encoded_len;
        }
        let len = key_len + tail_len;
        if len > PREFIX_LEN {
            return None;
        }
        append(&mut words, key_len, [tail, 0]);
        Some(Self { words, key_len, len })
    }
}

impl FixedColumns {
    /// Returns the reads that each record needs.
    #[must_use]
    pub fn loads(&self) -> &[StringLoad] {
        &self.loads
    }

    /// Returns the encoding of the columns and of this rowid as two big-endian words, and its length. Bits of a
    /// record must be XORed into these words. Returns `None` if the item is too long.
    #[must_use]
    pub fn with_rowid(&self, rowid: i64) -> Option<([u64; 2], usize)> {
        let (encoding, encoded_len) = number::rowid_word(rowid)?;
        let mut prefix = [self.constant[0] ^ self.inverted[0], self.constant[1] ^ self.inverted[1]];
        if self.len + encoded_len > PREFIX_LEN {
            return None;
        }
        append(&mut prefix, self.len, [encoding, 0]);
        Some((prefix, self.len + encoded_len))
    }

    /// Appends constant bytes.
    fn add(&mut self, encoding: &[u8], descends: bool) -> Option<()> {
        let end = self.len + encoding.len();
        if end > PREFIX_LEN {
            return None;
        }
        for (at, byte) in (self.len..end).zip(encoding) {
            self.constant[at / WORD] |= in_word(at, *byte);
            self.inverted[at / WORD] |= in_word(at, if descends { 0xff } else { 0 });
        }
        self.len = end;
        Some(())
    }

    /// Appends a text or blob of `len` bytes that ends at `end` of the record.
    fn add_string(&mut self, tag: u8, end: usize, len: usize, descends: bool) -> Option<()> {
        let start = self.len + 1;
        if start + len + 1 > PREFIX_LEN {
            return None;
        }
        let mut encoding = [0; PREFIX_LEN];
        encoding[0] = tag;
        const { assert!(text::END == 0) };
        self.add(&encoding[..len + 2], descends)?;
        let rests = (0..len).step_by(WORD).map(|behind| len - behind);
        self.loads.extend(rests.map(|rest| StringLoad::new(start, end + rest - len, rest)));
        Some(())
    }

    #[inline(always)]
    fn encoding(&self, bytes: &[u8], start: usize) -> Option<[u64; 2]> {
        let (mut encoding, mut low) = (self.constant, 0);
        for load in &self.loads {
            let turned = load.read(bytes, start);
            low |= text::low_bytes(turned | !load.wanted());
            encoding[0] |= turned & load.places[0];
            encoding[1] |= turned & load.places[1];
        }
        (low == 0).then_some([encoding[0] ^ self.inverted[0], encoding[1] ^ self.inverted[1]])
    }
}

impl StringLoad {
    /// Describes the read of the last bytes, up to eight, among the first `len` bytes of a string. The string's bytes
    /// are placed from `start` of the two words on, and the bytes read end at `end` of the record.
    fn new(start: usize, end: usize, len: usize) -> Self {
        let count = len.min(WORD);
        let mut places = [0; 2];
        for at in start + len - count..start + len {
            places[at / WORD] |= in_word(at, 0xff);
        }
        // The last byte read stands last in its word.
        let turn = u32::try_from(8 * ((start + len) % WORD)).expect("less than a word");
        Self { end, turn, places }
    }

    /// Returns the bits of either word that this read fills.
    #[must_use]
    pub fn places(&self) -> [u64; 2] {
        self.places
    }

    /// Reads the bytes from the record at `start` of `bytes`, rotated to their place in either word. The other bits
    /// are arbitrary.
    #[inline(always)]
    #[must_use]
    pub fn read(&self, bytes: &[u8], start: usize) -> u64 {
        word_before(bytes, start + self.end).rotate_right(self.turn)
    }

    /// Returns whether any of these words has a byte that needs an escape.
    #[must_use]
    pub fn escaped(&self, words: &[u64]) -> bool {
        let wanted = self.wanted();
        words.iter().fold(0, |low, word| low | text::low_bytes(word | !wanted)) != 0
    }

    #[inline(always)]
    fn wanted(&self) -> u64 {
        self.places[0] | self.places[1]
    }
}

/// Returns `byte` at its place in its word. Byte 0 is the topmost.
fn in_word(at: usize, byte: u8) -> u64 {
    u64::from(byte) << (8 * (WORD - 1 - at % WORD))
}

/// Returns the encoding of a number, inverted if its column descends.
#[inline(always)]
fn one_word((encoding, len): (u64, usize), descends: bool) -> ([u64; 2], usize) {
    let inverted = if descends { u64::MAX << (u64::BITS as usize - 8 * len) } else { 0 };
    ([encoding ^ inverted, 0], len)
}

/// Places an encoding, given at the front of two words, behind `len` bytes.
#[inline(always)]
fn append(prefix: &mut [u64; 2], len: usize, [first, second]: [u64; 2]) {
    let bits = 8 * len;
    if len == 0 {
        *prefix = [first, second];
    } else if len < WORD {
        prefix[0] |= first >> bits;
        prefix[1] |= first << (u64::BITS as usize - bits) | second >> bits;
    } else {
        prefix[1] |= first >> (bits - u64::BITS as usize);
    }
}

/// Reads the integer of `len` bytes (at least one) that ends at `end`.
#[inline(always)]
fn int_before(bytes: &[u8], end: usize, len: usize) -> i64 {
    let unused = u64::BITS as usize - 8 * len;
    (word_before(bytes, end) << unused).cast_signed() >> unused
}

/// Reads the eight bytes that end at `end`.
#[inline(always)]
fn word_before(bytes: &[u8], end: usize) -> u64 {
    u64::from_be_bytes(*bytes[..end].last_chunk().expect("room in front of a record"))
}
