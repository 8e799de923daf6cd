//! Takes a leaf page apart.

use crate::{length_at, varint_at};
use litepress_format::FormatError;
use std::ops::Range;

/// Number of bytes before the content of a leaf.
pub const HEADER_LEN: usize = 4;

/// A leaf page of a segment.
#[derive(Clone, Debug)]
pub struct Leaf<'p> {
    bytes: &'p [u8],
    /// Offset of the first rowid before the first term.
    first_rowid: Option<usize>,
    /// Offset of the footer.
    footer: usize,
    /// Offsets of the terms.
    terms: Vec<usize>,
}

impl<'p> Leaf<'p> {
    /// Reads the header and the footer of a leaf.
    ///
    /// # Errors
    /// If offsets do not ascend or are outside of the page.
    pub fn new(bytes: &'p [u8]) -> Result<Self, FormatError> {
        let header =
            bytes.first_chunk::<HEADER_LEN>().ok_or_else(|| FormatError::new("a leaf has 4 bytes or more", 0))?;
        let [first_rowid, footer] =
            [[header[0], header[1]], [header[2], header[3]]].map(u16::from_be_bytes).map(usize::from);
        if !(HEADER_LEN..=bytes.len()).contains(&footer) {
            return Err(FormatError::new(format!("the footer begins at byte {footer}, outside of the leaf"), 2));
        }
        let (mut terms, mut at, mut term) = (Vec::new(), footer, 0);
        while at < bytes.len() {
            let (step, next) = length_at(bytes, at)?;
            if step == 0 || term + step >= footer || term + step < HEADER_LEN {
                return Err(FormatError::new(format!("a term at byte {} is outside of the content", term + step), at));
            }
            term += step;
            terms.push(term);
            at = next;
        }
        let end = terms.first().copied().unwrap_or(footer);
        if first_rowid != 0 && !(HEADER_LEN..end).contains(&first_rowid) {
            let message = format!("the first rowid at byte {first_rowid} is not before the first term");
            return Err(FormatError::new(message, 0));
        }
        Ok(Self { bytes, first_rowid: (first_rowid != 0).then_some(first_rowid), footer, terms })
    }

    /// Returns the offset of the first rowid before the first term.
    #[must_use]
    pub fn first_rowid_at(&self) -> Option<usize> {
        self.first_rowid
    }

    /// Returns the offset of the footer.
    #[must_use]
    pub fn footer_at(&self) -> usize {
        self.footer
    }

    /// Returns the first rowid before the first term.
    ///
    /// # Errors
    /// If it is cut off.
    pub fn first_rowid(&self) -> Result<Option<i64>, FormatError> {
        let read = |at| varint_at(&self.bytes[..self.footer], at).map(|(rowid, _)| rowid.cast_signed());
        self.first_rowid.map(read).transpose()
    }

    /// Returns the bytes that continue the doclist of the page before.
    #[must_use]
    pub fn continuation(&self) -> &'p [u8] {
        &self.bytes[HEADER_LEN..self.terms.first().copied().unwrap_or(self.footer)]
    }

    /// Returns the number of terms.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Replaces the term before, `term`, with term `number`. Returns the range of its doclist's bytes on this page.
    ///
    /// # Errors
    /// If lengths lead out of the term's bytes.
    pub fn read_term(&self, number: usize, term: &mut Vec<u8>) -> Result<Range<usize>, FormatError> {
        let end = self.terms.get(number + 1).copied().unwrap_or(self.footer);
        let (at, bytes) = (self.terms[number], &self.bytes[..end]);
        let (shared, at) = if number == 0 { (0, at) } else { length_at(bytes, at)? };
        let (rest, at) = length_at(bytes, at)?;
        let new = bytes.get(at..at + rest).filter(|_| shared <= term.len());
        let new = new.ok_or_else(|| FormatError::new("a term is longer than its bytes", self.terms[number]))?;
        term.truncate(shared);
        term.extend_from_slice(new);
        Ok(at + rest..end)
    }

    /// Returns bytes of the page.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &'p [u8] {
        &self.bytes[range]
    }
}
