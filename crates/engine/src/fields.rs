//! Some columns of records that mostly begin like the record before: where they are is found out once for all of these.

use crate::Result;
use crate::sorted_tree::bad_item;
use litepress_format::FormatError;
use litepress_format::record::{self, RecordReader};
use litepress_format::value::Value;
use std::ops::Range;

/// Where the value of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It is the rowid.
    Rowid,
    /// In this field of the record.
    Field(usize),
}

impl Cut {
    fn field(self) -> Option<usize> {
        match self {
            Self::Rowid => None,
            Self::Field(field) => Some(field),
        }
    }
}

/// Serial type and place of a column's body.
pub(crate) type Place = (u64, Range<usize>);

/// Where each of some records begins in an arena, or ends.
pub(crate) trait Places: DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone {}

impl<I: DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone> Places for I {}

/// Where the records with one header have the wanted columns.
#[derive(Default)]
pub(crate) struct Fields {
    /// The record header up to the last wanted column.
    header: Header,
    /// Serial type and place of the body of each column; unused for the rowid.
    places: Vec<Place>,
    /// Where the bodies of the fields up to the last wanted one begin: memory that is used again.
    starts: Vec<usize>,
    /// Bytes that a record has at least where it has all of these.
    record_len: usize,
}

impl Fields {
    /// Whether all records that begin and end here begin like the last one, and have all of the columns.
    #[inline(always)]
    pub fn are_in(&self, bytes: &[u8], starts: impl Places, ends: impl Places) -> bool {
        // Where one is too short, the topmost bit is set: that costs less than finding the shortest one.
        let spare = |(start, end): (usize, usize)| (end - start).wrapping_sub(self.record_len);
        let are_long = starts.clone().zip(ends).map(spare).fold(0, |all, spare| all | spare) <= usize::MAX / 2;
        let has_words = starts.clone().next_back().is_some_and(|last| last + size_of::<u64>() <= bytes.len());
        has_words && are_long && self.header.all_start(bytes, starts)
    }

    /// Serial type and place of each of `columns`, `None` for the rowid, where `record` does not begin like the one before.
    #[inline(always)]
    pub fn places_if_new<'f>(
        &'f mut self,
        columns: &'f [Cut],
        record: &[u8],
    ) -> Result<Option<impl Iterator<Item = Option<Place>> + 'f>> {
        if self.header.starts(record) && record.len() >= self.record_len {
            return Ok(None);
        }
        self.find(columns, record).map_err(|error| bad_item(&error))?;
        Ok(Some(columns.iter().zip(&self.places).map(|(cut, place)| cut.field().map(|_| place.clone()))))
    }

    /// The values of `columns` in `record`, which are always the same columns.
    ///
    /// # Errors
    /// A record that is none.
    #[inline(always)]
    pub fn values<'r>(
        &'r mut self,
        columns: &'r [Cut],
        record: &'r [u8],
        rowid: i64,
    ) -> Result<impl Iterator<Item = Value<'r>> + Clone> {
        if !self.header.starts(record) || record.len() < self.record_len {
            self.find(columns, record).map_err(|error| bad_item(&error))?;
        }
        Ok(columns.iter().zip(&self.places).map(move |(cut, (serial, body))| match cut {
            Cut::Rowid => Value::Int(rowid),
            Cut::Field(_) => record::read_body(*serial, &record[body.clone()]).expect("read from this header"),
        }))
    }

    /// Finds the columns, and how much of the header says where they are.
    fn find(&mut self, columns: &[Cut], record: &[u8]) -> Result<(), FormatError> {
        self.places.clear();
        self.places.resize(columns.len(), (0, 0..0));
        let wanted = columns.iter().filter_map(|cut| cut.field()).max().map_or(0, |last| last + 1);
        let header_end = match self.find_among_short(columns, record, wanted) {
            Some(header_end) => header_end,
            None => self.find_among_any(columns, record, wanted)?,
        };
        self.header.set(&record[..header_end]);
        self.record_len = self.places.iter().map(|(_, body)| body.end).max().unwrap_or(0);
        if record.len() < self.record_len {
            return Err(FormatError::new("a record is shorter than its header says", record.len()));
        }
        Ok(())
    }

    /// The same where every number in the header takes one byte, as most do; `None` where one does not, or is wrong.
    fn find_among_short(&mut self, columns: &[Cut], record: &[u8], wanted: usize) -> Option<usize> {
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
        for (place, field) in self.places.iter_mut().zip(columns).filter_map(|(place, cut)| Some((place, cut.field()?)))
        {
            let (serial, start) = (serials[field], self.starts[field]);
            *place = (serial.into(), start..start + usize::from(record::SHORT_BODY_LENS[usize::from(serial)]));
        }
        Some(1 + wanted)
    }

    fn find_among_any(&mut self, columns: &[Cut], record: &[u8], wanted: usize) -> Result<usize, FormatError> {
        let mut reader = RecordReader::new(record)?;
        let mut header_end = 1;
        for position in 0..wanted {
            let Some(field) = reader.next_field()? else { break };
            header_end = field.header.end;
            self.place(columns, position, field.serial, field.body.clone());
        }
        Ok(header_end)
    }

    /// Notes where a field of the record is, if it is wanted.
    #[inline]
    fn place(&mut self, columns: &[Cut], position: usize, serial: u64, body: Range<usize>) {
        for (place, cut) in self.places.iter_mut().zip(columns) {
            if cut.field() == Some(position) {
                *place = (serial, body.clone());
            }
        }
    }
}

/// The beginning of a record.
#[derive(Default)]
struct Header {
    bytes: Vec<u8>,
    /// The same as a word, and which bits of it: comparing words costs less than comparing slices.
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

    /// Whether something begins like this at each of `starts`, none of which is among the last seven bytes.
    #[inline(always)]
    fn all_start(&self, bytes: &[u8], starts: impl Places) -> bool {
        let word = |start: usize| u64::from_be_bytes(*bytes[start..].first_chunk().expect("eight bytes"));
        let differ = starts.fold(0, |differ, start| differ | word(start) ^ self.word);
        (1..=size_of::<u64>()).contains(&self.bytes.len()) && differ & self.mask == 0
    }

    /// Whether `record` begins like this; none does before there is a header.
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
