//! Runs: the terms and doclists of a segment as one stream of bytes, which is read entry by entry.
//!
//! ```text
//! varint shared, varint rest, rest of the term, varint length of the doclist, doclist
//! ```

use crate::decoder::position_list;
use litepress_format::{FormatError, varint};
use std::io::{self, Read};

/// Bytes of one read.
const BUFFER_BYTES: usize = 64 << 10;

/// Encodes terms and doclists as a run.
#[derive(Debug, Default)]
pub struct RunWriter {
    bytes: Vec<u8>,
    previous: Vec<u8>,
}

impl RunWriter {
    /// Appends a term, which is above the one before, and its doclist.
    pub fn push(&mut self, term: &[u8], doclist: &[u8]) {
        let shared = shared_prefix(&self.previous, term);
        varint::push(shared as u64, &mut self.bytes);
        varint::push((term.len() - shared) as u64, &mut self.bytes);
        self.bytes.extend_from_slice(&term[shared..]);
        varint::push(doclist.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(doclist);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&term[shared..]);
    }

    /// Returns the bytes so far. They may be taken away, to be written.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

/// Returns the length of the prefix that two terms share.
pub(crate) fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Reads a run: term by term, and each doclist entry by entry.
///
/// Memory: 64 KiB and the largest position list.
#[derive(Debug)]
pub struct RunReader<R> {
    input: R,
    has_positions: bool,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    at: usize,
    /// The number of bytes of the doclist that were not read.
    left: u64,
    term: Vec<u8>,
    /// Whether the current doclist has given an entry.
    has_entry: bool,
    rowid: i64,
    /// The length of the current position list with its size, which is at the end of the read bytes.
    list: usize,
}

impl<R: Read> RunReader<R> {
    /// Begins to read. `has_positions` is false for tables with detail=none.
    pub fn new(input: R, has_positions: bool) -> Self {
        let (buffer, term) = (Vec::new(), Vec::new());
        Self { input, has_positions, buffer, at: 0, left: 0, term, has_entry: false, rowid: 0, list: 0 }
    }

    /// Returns the current term.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// Returns the length of the doclist that is left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the rowid of the current entry.
    pub fn rowid(&self) -> i64 {
        self.rowid
    }

    /// Returns the position list of the current entry, with its size before it.
    pub fn list(&self) -> &[u8] {
        &self.buffer[self.at - self.list..self.at]
    }

    /// Moves on to the next term. Returns `false` if there is none. REQUIRES: the doclist was read.
    ///
    /// # Errors
    /// If a read fails, or the bytes are no run.
    pub fn next_term(&mut self) -> io::Result<bool> {
        assert!(self.left == 0, "a doclist is read before the next term");
        if self.have(1)? == 0 {
            return Ok(false);
        }
        let (shared, rest) = (self.length()?, self.length()?);
        if self.have(rest)? < rest || shared > self.term.len() {
            return Err(no_run());
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(&self.buffer[self.at..self.at + rest]);
        self.at += rest;
        self.left = self.length()? as u64;
        self.has_entry = false;
        Ok(true)
    }

    /// Moves on to the next entry of the doclist. Returns `false` if there is none.
    ///
    /// # Errors
    /// If a read fails, or the bytes are no doclist.
    #[inline]
    pub fn next_entry(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        // A rowid, and the size of a position list.
        let here = self.have_of_doclist(2 * varint::MAX_LEN)?;
        let head = &self.buffer[self.at..self.at + here];
        let (rowid, len) = varint::read(head).ok_or_else(no_run)?;
        let (end, list) = position_list(head, len, self.has_positions).map_err(broken)?;
        self.rowid = if self.has_entry { self.rowid.wrapping_add(rowid.cast_signed()) } else { rowid.cast_signed() };
        self.has_entry = true;
        let entry = end + list;
        if entry as u64 > self.left || (entry > here && self.have(entry)? < entry) {
            return Err(no_run());
        }
        self.at += entry;
        self.list = entry - len;
        self.left -= entry as u64;
        Ok(true)
    }

    /// Returns the whole doclist. REQUIRES: none of it was read, and it fits the memory.
    ///
    /// # Errors
    /// If a read fails, or the run ends within the doclist.
    pub fn whole_doclist(&mut self) -> io::Result<&[u8]> {
        let len = usize::try_from(self.left).map_err(|_| no_run())?;
        if self.have(len)? < len {
            return Err(no_run());
        }
        self.at += len;
        self.left = 0;
        Ok(&self.buffer[self.at - len..self.at])
    }

    fn length(&mut self) -> io::Result<usize> {
        self.have(varint::MAX_LEN)?;
        let (value, len) = varint::read(&self.buffer[self.at..]).ok_or_else(no_run)?;
        self.at += len;
        usize::try_from(value).map_err(|_| no_run())
    }

    fn have_of_doclist(&mut self, bytes: usize) -> io::Result<usize> {
        let have = self.have(bytes)?;
        Ok(usize::try_from(self.left).map_or(have, |left| have.min(left)))
    }

    /// Reads until the buffer has `bytes` bytes, or the run ends. Returns the number of bytes in the buffer.
    #[inline]
    fn have(&mut self, bytes: usize) -> io::Result<usize> {
        if self.buffer.len() - self.at < bytes {
            self.read(bytes)?;
        }
        Ok(self.buffer.len() - self.at)
    }

    fn read(&mut self, bytes: usize) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let wanted = bytes.max(BUFFER_BYTES) - self.buffer.len();
        (&mut self.input).take(wanted as u64).read_to_end(&mut self.buffer).map(drop)
    }
}

fn no_run() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the bytes are no run of terms")
}

fn broken(error: FormatError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
