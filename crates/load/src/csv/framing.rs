//! Finds the ends of CSV records, in one worker at a time: line ends outside of quotes.

use super::syntax::{RecordEnd, Syntax};
use crate::framing::{Framed, Framing};
use crate::options::RepeatedHeader;
use litepress_rows::encode::MAX_RECORD_BYTES;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::sync::Arc;

/// Number of bytes that may stand in front of the first name of a header: a quote, spaces, delimiters of empty names.
const SEARCHED_BYTES: usize = 64;

/// The framing of CSV. It agrees with [`FieldSpans`](super::field_spans::FieldSpans) on the ends of records.
#[derive(Debug)]
pub(super) struct Records {
    pub syntax: Arc<Syntax>,
    /// The names in the header.
    pub header: Vec<String>,
    pub repeated_header: RepeatedHeader,
    /// Records were found. A header that is repeated above them ends no table.
    pub has_records: bool,
}

impl Records {
    /// Returns the start of the record after the one at `at`, if that repeats the header.
    fn repeated_header(&self, text: &[u8], at: usize, is_end: bool) -> Option<usize> {
        if self.repeated_header == RepeatedHeader::Keep {
            return None;
        }
        // Most records do not begin with the first name, and are not divided.
        let first = self.header.iter().map(|name| name.trim()).find(|name| !name.is_empty())?.as_bytes();
        let beginning = &text[at..text.len().min(at + first.len() + SEARCHED_BYTES)];
        let may_have_escapes = self.syntax.quote.is_some_and(|quote| memchr::memchr(quote, first).is_some());
        if !may_have_escapes && memchr::memmem::find(beginning, first).is_none() {
            return None;
        }
        let record = self.syntax.loose_record(text, at, is_end)?;
        let shorter = record.fields.len().min(self.header.len());
        let is_equal = record.fields.iter().zip(&self.header).all(|(field, name)| {
            let raw = &text[field.range.clone()];
            let value = if field.is_quoted { self.syntax.value(text, &field.range) } else { raw.into() };
            value.trim_ascii() == name.trim().as_bytes()
        });
        (is_equal && shorter * 3 >= self.header.len() * 2).then_some(record.next)
    }
}

impl Framing for Records {
    fn frame(&mut self, text: &[u8], _from: usize, is_end: bool) -> Result<Framed> {
        let syntax = &*self.syntax.clone();
        let (mut bytes, mut records) = (0, 0);
        let framed = |bytes, records| {
            let lines = memchr::memchr_iter(syntax.line_end, &text[..bytes]).count() as u64;
            Framed { bytes, records, lines, ..Framed::default() }
        };
        while bytes < text.len() {
            if let Some(next) = syntax.skipped_line(text, bytes) {
                if text[next - 1] != syntax.line_end && !is_end {
                    break;
                }
                bytes = next;
                continue;
            }
            if let Some(next) = self.repeated_header(text, bytes, is_end) {
                if bytes > 0 {
                    break;
                }
                let is_last = self.repeated_header == RepeatedHeader::Stop && self.has_records;
                return Ok(Framed { is_left_out: true, is_last, ..framed(next, 0) });
            }
            bytes = match syntax.record_end(text, bytes, is_end) {
                RecordEnd::Behind(next) => next,
                RecordEnd::NotYet if is_end => text.len(),
                // Only this line is wrong. It is the last one of its piece, so that no later quote seems to close it.
                RecordEnd::Open(at) if is_end => {
                    let end = memchr::memchr(syntax.line_end, &text[at..]).map_or(text.len(), |end| at + end + 1);
                    return Ok(framed(end, records + 1));
                }
                end if bytes == 0 && text.len() as u64 > MAX_RECORD_BYTES => {
                    return Err(too_long(text, end, syntax.line_end));
                }
                _ => break,
            };
            records += 1;
            self.has_records = true;
        }
        Ok(framed(bytes, records))
    }
}

/// Returns the error for a record that exceeds SQLite's limit: reading on would use unbounded memory.
fn too_long(text: &[u8], end: RecordEnd, line_end: u8) -> Error {
    if let RecordEnd::Open(at) = end {
        let (line, character) = place(text, at, line_end);
        return never_closed().at(line, character);
    }
    Error::new(ErrorKind::Limit, format!("the record is longer than SQLite's limit of {MAX_RECORD_BYTES} bytes"))
        .at(1, 1)
}

/// Returns the error for a quote that nothing closes, without its place.
pub(super) fn never_closed() -> Error {
    Error::new(ErrorKind::Data, "the quote that opens here is never closed").advise(message![
        "close it, take such quotes as text with ",
        OptionName::StrayQuotes.word("text"),
        ", or name another quote character, or none, with ",
        OptionName::Quote.alone()
    ])
}

/// Returns line and character of a byte of `text`, both counted from 1.
pub(super) fn place(text: &[u8], at: usize, line_end: u8) -> (u64, u64) {
    let line = 1 + memchr::memchr_iter(line_end, &text[..at]).count();
    (line as u64, character(text, at, line_end))
}

/// Returns the position of a byte of `text` within its line in characters, counted from 1.
pub(super) fn character(text: &[u8], at: usize, line_end: u8) -> u64 {
    let line_start = memchr::memrchr(line_end, &text[..at]).map_or(0, |end| end + 1);
    // Bytes of the form 10xxxxxx continue a character.
    let characters = text[line_start..at].iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    1 + characters as u64
}
