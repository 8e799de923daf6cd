//! Separates fields and records, byte by byte.

use crate::options::{Dialect, StrayQuotes};
use litepress_rows::{Error, ErrorKind, Result};
use memchr::{memchr, memchr2};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A dialect whose delimiter is known.
#[derive(Clone, Debug)]
pub(super) struct Syntax {
    /// The byte between fields, or the first byte of [`long_delimiter`](Self::long_delimiter).
    pub delimiter: u8,
    /// A delimiter of several bytes.
    pub long_delimiter: Option<Arc<[u8]>>,
    pub quote: Option<u8>,
    /// The byte before a quote or an escape within quotes. Without it, quotes are doubled.
    pub escape: Option<u8>,
    pub comment: Option<u8>,
    /// The last byte of a line: LF (a CR in front of it belongs to it), or CR.
    pub line_end: u8,
    /// Quotes in the wrong place are text.
    pub has_stray_quotes: bool,
    /// Spaces around fields do not belong to them.
    pub is_trimmed: bool,
    /// Number of fields in a record. 0 while unknown.
    pub columns: usize,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// The record ends before this byte, with its line end.
    Behind(usize),
    /// The record does not end within the text.
    NotYet,
    /// The record does not end within the text: the quote at this byte is still open.
    Open(usize),
}

impl Syntax {
    /// Creates the syntax of a dialect with this delimiter, quote and line end.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if one byte has two roles, or cannot have its role.
    pub fn new(dialect: &Dialect, delimiter: &str, quote: Option<u8>, line_end: u8) -> Result<Self> {
        let Dialect { escape, comment, .. } = *dialect;
        let &[first, ref more @ ..] = delimiter.as_bytes() else {
            return Err(Error::new(ErrorKind::Usage, "the delimiter of a CSV file is empty"));
        };
        let roles = [("delimiter", Some(first)), ("quote", quote), ("comment", comment), ("escape", escape)];
        for (position, &(role, byte)) in roles.iter().enumerate() {
            let Some(byte) = byte else { continue };
            if matches!(byte, b'\n' | b'\r' | 0) || (byte >= 0x80 && more.is_empty()) {
                let message = format!("{} cannot be the {role} of a CSV file", shown(byte));
                return Err(Error::new(ErrorKind::Usage, message).advise("choose another ASCII character"));
            }
            // An escape that is the quote means doubled quotes.
            let same = roles[..position].iter().find(|other| other.1 == Some(byte));
            if let Some((other, _)) = same.filter(|(other, _)| (role, *other) != ("escape", "quote")) {
                let message = format!("{} cannot be both the {other} and the {role} of a CSV file", shown(byte));
                return Err(Error::new(ErrorKind::Usage, message));
            }
        }
        if memchr2(b'\n', b'\r', more).is_some() || quote.is_some_and(|quote| more.contains(&quote)) {
            let message = "the delimiter of a CSV file holds a quote or a line end";
            return Err(Error::new(ErrorKind::Usage, message).advise("choose another one"));
        }
        Ok(Self {
            delimiter: first,
            long_delimiter: (!more.is_empty()).then(|| delimiter.as_bytes().into()),
            quote,
            escape: escape.filter(|_| escape != quote),
            comment,
            line_end,
            has_stray_quotes: dialect.stray_quotes == StrayQuotes::Text,
            is_trimmed: dialect.trim,
            columns: 0,
        })
    }

    /// Returns the delimiter.
    pub fn delimiter_bytes(&self) -> &[u8] {
        self.long_delimiter.as_deref().unwrap_or(std::slice::from_ref(&self.delimiter))
    }

    /// Returns whether records must be [rewritten](super::loose::Rewritten) before they are read.
    pub fn is_loose(&self) -> bool {
        self.has_stray_quotes || self.is_loose_by_delimiter()
    }

    /// Returns whether every record may need to be rewritten, and not just those with stray quotes.
    pub fn is_loose_by_delimiter(&self) -> bool {
        self.long_delimiter.is_some() || self.is_trimmed
    }

    /// Returns the syntax of rewritten records: a delimiter of one byte, and doubled quotes.
    pub fn regular(&self, text: &[u8]) -> Self {
        let is_free = |byte: &u8| ![self.quote, self.comment].contains(&Some(*byte)) && memchr(*byte, text).is_none();
        let delimiter = match self.long_delimiter {
            None => self.delimiter,
            Some(_) => (1..0x80_u8).filter(|byte| !matches!(byte, b'\n' | b'\r')).find(is_free).unwrap_or(b','),
        };
        // Without stray quotes, only loose records are rewritten, and they keep their escapes.
        let escape = if self.is_loose_by_delimiter() { None } else { self.escape };
        Self { delimiter, long_delimiter: None, escape, has_stray_quotes: false, is_trimmed: false, ..self.clone() }
    }

    /// Returns the start of the next line if the record at `at` has neither quotes nor a loose delimiter.
    pub fn plain_line(&self, text: &[u8], at: usize) -> Option<usize> {
        if self.is_loose_by_delimiter() {
            return None;
        }
        let end = memchr(self.line_end, &text[at..]).map_or(text.len(), |end| at + end + 1);
        self.quote.is_none_or(|quote| memchr(quote, &text[at..end]).is_none()).then_some(end)
    }

    /// Returns the start of the next line if the line at `at` is not a record: a comment, or a blank line. (With a single column,
    /// a blank line is a record: an empty field.)
    #[inline]
    pub fn skipped_line(&self, text: &[u8], at: usize) -> Option<usize> {
        match text[at..] {
            [first, ..] if first == self.line_end && self.columns != 1 => Some(at + 1),
            [b'\r', b'\n', ..] if self.line_end == b'\n' && self.columns != 1 => Some(at + 2),
            [first, ..] if Some(first) == self.comment => {
                Some(memchr(self.line_end, &text[at..]).map_or(text.len(), |end| at + end + 1))
            }
            _ => None,
        }
    }

    /// Returns the end of the record that begins at `start`. If `is_end`, nothing follows the text.
    #[inline]
    pub fn record_end(&self, text: &[u8], start: usize, is_end: bool) -> RecordEnd {
        if self.is_loose() {
            return self.loose_end(text, start, is_end);
        }
        let mut from = start;
        let quote = self.quote.unwrap_or(self.line_end);
        while let Some(at) = memchr2(quote, self.line_end, &text[from..]).map(|offset| from + offset) {
            if text[at] == self.line_end {
                return RecordEnd::Behind(at + 1);
            }
            from = at + 1;
            if at == start || text[at - 1] == self.delimiter {
                match self.quoted_end(text, from) {
                    Some(end) => from = end,
                    None => return RecordEnd::Open(at),
                }
            }
        }
        RecordEnd::NotYet
    }

    #[cold]
    fn loose_end(&self, text: &[u8], start: usize, is_end: bool) -> RecordEnd {
        let line = memchr(self.line_end, &text[start..]).map(|end| start + end + 1);
        if let Some(next) = line
            && self.quote.is_none_or(|quote| memchr(quote, &text[start..next]).is_none())
        {
            return RecordEnd::Behind(next);
        }
        self.loose_record(text, start, is_end).map_or(RecordEnd::NotYet, |record| RecordEnd::Behind(record.next))
    }

    /// Returns the byte after the quote that closes the field whose content begins at `from`.
    #[inline]
    pub fn quoted_end(&self, text: &[u8], mut from: usize) -> Option<usize> {
        let quote = self.quote?;
        let Some(escape) = self.escape else {
            loop {
                from += memchr(quote, &text[from..])? + 1;
                if text.get(from) != Some(&quote) {
                    return Some(from);
                }
                from += 1;
            }
        };
        loop {
            from += memchr2(quote, escape, &text[from..])? + 1;
            match text.get(from) {
                _ if text[from - 1] == quote => return Some(from),
                Some(&next) if next == quote || next == escape => from += 1,
                _ => {}
            }
        }
    }

    /// Returns whether the content of a quoted field may contain escapes.
    #[inline]
    pub fn has_escapes(&self, quoted: &[u8]) -> bool {
        self.escape.or(self.quote).is_some_and(|escape| memchr(escape, quoted).is_some())
    }

    /// Appends the content of a quoted field without its escapes.
    pub fn unescape(&self, mut quoted: &[u8], out: &mut Vec<u8>) {
        let Some(escape) = self.escape.or(self.quote) else { return out.extend_from_slice(quoted) };
        while let Some(at) = memchr(escape, quoted) {
            let is_escape = quoted.get(at + 1).is_some_and(|&next| next == escape || Some(next) == self.quote);
            out.extend_from_slice(&quoted[..at + usize::from(!is_escape)]);
            quoted = &quoted[at + 1..];
            if is_escape {
                out.push(quoted[0]);
                quoted = &quoted[1..];
            }
        }
        out.extend_from_slice(quoted);
    }

    /// Returns whether a field is quoted.
    #[inline]
    pub fn is_quoted(&self, text: &[u8], field: &Range<usize>) -> bool {
        !field.is_empty() && Some(text[field.start]) == self.quote
    }

    /// Returns the value of a well-formed field.
    pub fn value<'a>(&self, text: &'a [u8], field: &Range<usize>) -> Cow<'a, [u8]> {
        if !self.is_quoted(text, field) {
            return Cow::Borrowed(&text[field.clone()]);
        }
        let quoted = &text[field.start + 1..field.end - 1];
        if !self.has_escapes(quoted) {
            return Cow::Borrowed(quoted);
        }
        let mut value = Vec::with_capacity(quoted.len());
        self.unescape(quoted, &mut value);
        Cow::Owned(value)
    }

    /// Returns the start of a field of one record, given without its line end. Slow: for errors.
    pub fn field_start(&self, record: &[u8], field: usize) -> Option<usize> {
        let mut start = 0;
        for _ in 0..field {
            let quoted = self.quote.is_some() && record.get(start).copied() == self.quote;
            let from = if quoted { self.quoted_end(record, start + 1).unwrap_or(record.len()) } else { start };
            start = from + memchr(self.delimiter, &record[from..])? + 1;
        }
        Some(start)
    }
}

/// Returns a byte as errors show it.
pub(super) fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("'{}'", byte.escape_ascii()) }
}
