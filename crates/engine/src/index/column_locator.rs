//! Locates columns in records. Consecutive records mostly share their header, so the positions found in one are
//! reused for the next.

use crate::Result;
use crate::sort::{Offsets, bad_item};
use litepress_format::FormatError;
use litepress_format::record::{self, RecordReader};
use litepress_format::value::Value;
use std::ops::Range;

/// The source of a column's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnRef {
    /// The rowid.
    Rowid,
    /// This field of the record.
    Field(usize),
}

impl ColumnRef {
    fn field(self) -> Option<usize> {
        match self {
            Self::Rowid => None,
            Self::Field(field) => Some(field),
        }
    }
}

/// Serial type and range of a column's body.
pub(crate) type ColumnBody = (u64, Range<usize>);

/// The positions of the wanted columns in records with one header.
#[derive(Default)]
pub(crate) struct ColumnLocator {
    /// The record header up to the last wanted column.
    header: Header,
    /// The body of each column; unused for the rowid.
    bodies: Vec<ColumnBody>,
    /// Starts of the bodies up to the last wanted one; kept for its memory.
    starts: Vec<usize>,
    /// The shortest length of a record with all of these bodies.
    record_len: usize,
}

impl ColumnLocator {
    /// Returns whether all of these records share the last header and have all of the columns.
    #[inline(always)]
    pub fn are_shared_by(&self, bytes: &[u8], starts: impl Offsets, ends: impl Offsets) -> bool {
        // A record that is too short sets the topmost bit: that costs less than a search for the shortest one.
        let spare = |(start, end): (usize, usize)| (end - start).wrapping_sub(self.record_len);
        let are_long = starts.clone().zip(ends).map(spare).fold(0, |all, spare| all | spare) <= usize::MAX / 2;
        let has_words = starts.clone().next_back().is_some_and(|last| last + size_of::<u64>() <= bytes.len());
        has_words && are_long && self.header.all_start(bytes, starts)
    }

    /// Returns the body of each of `columns`, `None` for the rowid, if `record` has another header than the last one.
    #[inline(always)]
    pub fn bodies_if_new<'f>(
        &'f mut self,
        columns: &'f [ColumnRef],
        record: &[u8],
    ) -> Result<Option<impl Iterator<Item = Option<ColumnBody>> + 'f>> {
        if self.header.starts(record) && record.len() >= self.record_len {
            return Ok(None);
        }
        self.find(columns, record).map_err(|error| bad_item(&error))?;
        Ok(Some(columns.iter().zip(&self.bodies).map(|(column, body)| column.field().map(|_| body.clone()))))
    }

    /// Returns the values of `columns` in `record`. REQUIRES: always the same columns.
    ///
    /// # Errors
    /// If `record` is not a record.
    #[inline(always)]
    pub fn values<'r>(
        &'r mut self,
        columns: &'r [ColumnRef],
        record: &'r [u8],
        rowid: i64,
    ) -> Result<impl Iterator<Item = Value<'r>> + Clone> {
        if !self.header.starts(record) || record.len() < self.record_len {
            self.find(columns, record).map_err(|error| bad_item(&error))?;
        }
        Ok(columns.iter().zip(&self.bodies).map(move |(column, (serial, body))| match column {
            ColumnRef::Rowid => Value::Int(rowid),
            ColumnRef::Field(_) => record::read_body(*serial, &record[body.clone()]).expect("read from this header"),
        }))
    }

    /// Finds the columns, and the part of the header that determines their positions.
    fn find(&mut self, columns: &[ColumnRef], record: &[u8]) -> Result<(), FormatError> {
        self.bodies.clear();
        self.bodies.resize(columns.len(), (0, 0..0));
        let wanted = columns.iter().filter_map(|column| column.field()).max().map_or(0, |last| last + 1);
        let header_end = match self.find_among_short(columns, record, wanted) {
            Some(header_end) => header_end,
            None => self.find_among_any(columns, record, wanted)?,
        };
        self.header.set(&record[..header_end]);
        self.record_len = self.bodies.iter().map(|(_, body)| body.end).max().unwrap_or(0);
        if record.len() < self.record_len {
            return Err(FormatError::new("a record is shorter than its header says", record.len()));
        }
        Ok(())
    }

    /// Does the work of [`find`](Self::find) if every number in the header takes one byte, as most do. Returns `None`
    /// if one does not, or is invalid.
    fn find_among_short(&mut self, columns: &[ColumnRef], record: &[u8], wanted: usize) -> Option<usize> {
        let (&header_len, rest) = record.split_first()?;
        let serials = rest.get(..usize::from(header_len).checked_sub(1)?)?.get(..wanted)?;
        let (mut at, mut is_wrong) = (usize::from(header_len), header_len >= 0x80);
        self.starts.clear();
        for &serial in serials {
            self.starts.push(at);
            is_wrong |= matches!(serial, 10 | 11 | 0x80..);
            at += usize::from(record::SHORT_BODY_LENS[usize::from(serial & 0x7f)]);
        }
        if is_wrong || at > record.len() {
            return None;
        }
        for (body, field) in
            self.bodies.iter_mut().zip(columns).filter_map(|(body, column)| Some((body, column.field()?)))
        {
            let (serial, start) = (serials[field], self.starts[field]);
            *body = (serial.into(), start..start + usize::from(record::SHORT_BODY_LENS[usize::from(serial)]));
        }
        Some(1 + wanted)
    }

    fn find_among_any(&mut self, columns: &[ColumnRef], record: &[u8], wanted: usize) -> Result<usize, FormatError> {
        let mut reader = RecordReader::new(record)?;
        let mut header_end = 1;
        for position in 0..wanted {
            let Some(field) = reader.next_field()? else { break };
            header_end = field.header.end;
            self.set_body(columns, position, field.serial, field.body.clone());
        }
        Ok(header_end)
    }

    /// Stores the position of a field if it is wanted.
    #[inline]
    fn set_body(&mut self, columns: &[ColumnRef], position: usize, serial: u64, body: Range<usize>) {
        for (stored, column) in self.bodies.iter_mut().zip(columns) {
            if column.field() == Some(position) {
                *stored = (serial, body.clone());
            }
        }
    }
}

/// The first bytes of a record.
#[derive(Default)]
struct Header {
    bytes: Vec<u8>,
    /// The first eight of them as a word, and the mask of those in use: comparing words costs less than comparing
    /// slices.
    word: u64,
    mask: u64,
}

impl Header {
    fn set(&mut self, bytes: &[u8]) {
        let mut word = [0; 8];
        let len = bytes.len().min(8);
        word[..len].copy_from_slice(&bytes[..len]);
        self.word = u64::from_be_bytes(word);
        self.mask = if len == 8 { u64::MAX } else { !(u64::MAX >> (8 * len)) };
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns whether the records at all of `starts` have this header. At least eight bytes must follow each start.
    #[inline(always)]
    fn all_start(&self, bytes: &[u8], starts: impl Offsets) -> bool {
        let word = |start: usize| u64::from_be_bytes(*bytes[start..].first_chunk().expect("eight bytes"));
        let differ = starts.fold(0, |differ, start| differ | word(start) ^ self.word);
        (1..=size_of::<u64>()).contains(&self.bytes.len()) && differ & self.mask == 0
    }

    /// Returns whether `record` has this header; `false` before there is one.
    #[inline]
    fn starts(&self, record: &[u8]) -> bool {
        match record.first_chunk() {
            Some(word) if self.bytes.len() <= 8 => {
                self.mask != 0 && (u64::from_be_bytes(*word) ^ self.word) & self.mask == 0
            }
            _ => !self.bytes.is_empty() && record.starts_with(&self.bytes),
        }
    }
}
