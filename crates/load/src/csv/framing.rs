//! Finds the ends of CSV records, in one worker at a time: line ends outside of quotes.

use super::syntax::{RecordEnd, Syntax};
use crate::framing::{Framed, Framing};
use litepress_rows::encode::MAX_RECORD_BYTES;
use litepress_rows::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The framing of CSV. It agrees with [`Rows`](super::rows::Rows) on the ends of records.
#[derive(Debug)]
pub(super) struct Records(pub Arc<Syntax>);

impl Framing for Records {
    fn frame(&mut self, text: &[u8], _from: usize, is_end: bool) -> Result<Framed> {
        let syntax = &*self.0;
        let (mut bytes, mut records) = (0, 0);
        while bytes < text.len() {
            if let Some(next) = syntax.ignored(text, bytes) {
                if text[next - 1] != b'\n' && !is_end {
                    break;
                }
                bytes = next;
                continue;
            }
            bytes = match syntax.record_end(text, bytes) {
                RecordEnd::Behind(next) => next,
                RecordEnd::NotYet if is_end => text.len(),
                RecordEnd::Open(at) if is_end => return Err(never_closed(text, at)),
                end if bytes == 0 && text.len() as u64 > MAX_RECORD_BYTES => return Err(too_long(text, end)),
                _ => break,
            };
            records += 1;
        }
        let lines = memchr::memchr_iter(b'\n', &text[..bytes]).count() as u64;
        Ok(Framed { bytes, records, lines })
    }
}

/// Returns the error for a record that exceeds SQLite's limit: reading on would use unbounded memory.
fn too_long(text: &[u8], end: RecordEnd) -> Error {
    if let RecordEnd::Open(at) = end {
        return never_closed(text, at);
    }
    Error::new(ErrorKind::Limit, format!("the record is longer than SQLite's limit of {MAX_RECORD_BYTES} bytes"))
        .at(1, 1)
}

pub(super) fn never_closed(text: &[u8], at: usize) -> Error {
    let (line, character) = place(text, at);
    Error::new(ErrorKind::Data, "the quote that opens here is never closed")
        .at(line, character)
        .advise("close it, or say that the file has another quote character, or none")
}

/// Returns line and character of a byte of `text`, both counted from 1.
pub(super) fn place(text: &[u8], at: usize) -> (u64, u64) {
    let line = 1 + memchr::memchr_iter(b'\n', &text[..at]).count();
    (line as u64, character(text, at))
}

/// Returns the position of a byte of `text` within its line in characters, counted from 1.
pub(super) fn character(text: &[u8], at: usize) -> u64 {
    let line_start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    // Bytes of the form 10xxxxxx continue a character.
    let characters = text[line_start..at].iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    1 + characters as u64
}
