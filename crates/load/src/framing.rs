//! Cuts text into pieces of whole records.
//!
//! One worker at a time reads the next bytes and finds the end of the last whole record in them. The rest is carried over to
//! the next piece. So records are numbered in order, quoted newlines are respected, and files, pipes and decompressors are
//! cut alike. Pieces are parsed later, in parallel.

use litepress_rows::{Error, Result};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Target size of a piece, unless a record is longer. The pages of a piece should fill one write.
pub const PIECE_BYTES: usize = 4 << 20;

/// Finds the ends of records.
pub trait Framing: Send {
    /// Returns the extent of the whole records at the start of `text`, which begins with the first record not handed out yet.
    /// No record ends before `from`: a previous call scanned that. If `is_end`, nothing follows `text` and its last record is
    /// whole.
    ///
    /// # Errors
    /// If the end of a record cannot be found. The error's line and character count from the start of `text`.
    fn frame(&mut self, text: &[u8], from: usize, is_end: bool) -> Result<Framed>;
}

/// Whole records at the front of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framed {
    /// Number of bytes up to the end of the last whole record.
    pub bytes: usize,
    /// Number of records within them.
    pub records: u64,
    /// Number of line ends within them.
    pub lines: u64,
    /// The bytes are no record of the table, and are not handed out.
    pub is_left_out: bool,
    /// Nothing behind the bytes belongs to the table.
    pub is_last: bool,
}

/// The position at which a record begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the record, counted from 1.
    pub record: u64,
    /// Number of its line, counted from 1.
    pub line: u64,
}

/// Whole records as bytes of the file.
#[derive(Debug)]
pub struct Text {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Position of the first record.
    pub start: Position,
    /// Number of records.
    pub records: u64,
    /// There are no bytes, because they are no record of the table.
    pub is_left_out: bool,
    /// No text follows.
    pub is_last: bool,
}

/// Cuts a stream into pieces.
pub struct FramedReader<F> {
    stream: Box<dyn Read + Send>,
    /// Name of the stream in errors.
    name: PathBuf,
    framing: F,
    /// The beginning of a record that is not whole yet.
    carried: Vec<u8>,
    next: Position,
    piece_bytes: usize,
    has_ended: bool,
}

impl<F: Framing> FramedReader<F> {
    /// Cuts `stream`, which begins at `start`, into pieces of about `piece_bytes`.
    pub fn new(stream: Box<dyn Read + Send>, name: &Path, framing: F, start: Position, piece_bytes: usize) -> Self {
        let name = name.to_owned();
        Self { stream, name, framing, carried: Vec::new(), next: start, piece_bytes, has_ended: false }
    }

    /// Sets the size of the following pieces.
    pub fn set_piece_bytes(&mut self, bytes: usize) {
        self.piece_bytes = bytes;
    }

    /// Returns the framing.
    pub fn framing(&self) -> &F {
        &self.framing
    }

    /// Returns the next whole records, or `None` at the end.
    ///
    /// # Errors
    /// Any error of the stream or the framing.
    pub fn next_text(&mut self) -> Result<Option<Text>> {
        let mut text = std::mem::take(&mut self.carried);
        let mut looked_at = 0;
        let mut most = self.piece_bytes.max(text.len() + 1);
        loop {
            self.read_up_to(&mut text, most)?;
            if text.is_empty() {
                return Ok(None);
            }
            let framed = self.framing.frame(&text, looked_at, self.has_ended).map_err(|error| self.place(error))?;
            if framed.bytes > 0 {
                return Ok(Some(self.hand_out(text, framed)));
            }
            assert!(!self.has_ended, "the end of a file ends its last record");
            looked_at = text.len();
            // The record is longer than a piece. Small steps keep little text behind a huge record in memory.
            most = text.len() + self.piece_bytes.max(text.len() / 8);
        }
    }

    fn read_up_to(&mut self, text: &mut Vec<u8>, most: usize) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let missing = most.saturating_sub(text.len());
        text.reserve_exact(missing);
        let read = (&mut self.stream).take(missing as u64).read_to_end(text);
        let read = read.map_err(|error| crate::input::read_failed(&self.name, error))?;
        self.has_ended = read < missing;
        Ok(())
    }

    fn hand_out(&mut self, mut text: Vec<u8>, framed: Framed) -> Text {
        self.carried = text.split_off(framed.bytes);
        if framed.is_left_out {
            text.clear();
        }
        if framed.is_last {
            self.carried.clear();
            self.has_ended = true;
        }
        let start = self.next;
        self.next = Position { record: start.record + framed.records, line: start.line + framed.lines };
        let Framed { records, is_left_out, is_last, .. } = framed;
        Text { bytes: text, start, records, is_left_out, is_last }
    }

    /// Converts an error's line within the piece to a line of the file.
    fn place(&self, error: Error) -> Error {
        let (line, character) = (error.place().line.unwrap_or(1), error.place().character.unwrap_or(1));
        error.in_file(&self.name).at(self.next.line + line - 1, character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A framing whose records are lines.
    struct Lines;

    impl Framing for Lines {
        fn frame(&mut self, text: &[u8], _from: usize, is_end: bool) -> Result<Framed> {
            let bytes =
                if is_end { text.len() } else { text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1) };
            let lines = text[..bytes].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let unended = u64::from(bytes > 0 && text[bytes - 1] != b'\n');
            Ok(Framed { bytes, records: lines + unended, lines, ..Framed::default() })
        }
    }

    #[test]
    fn pieces_of_any_size_are_the_file_again() {
        let file = b"one\ntwo\nthree is longer\n\nfive";
        for piece_bytes in 1..=file.len() + 1 {
            let start = Position { record: 1, line: 1 };
            let mut framed = FramedReader::new(Box::new(&file[..]), Path::new("<test>"), Lines, start, piece_bytes);
            let (mut bytes, mut record) = (Vec::new(), 1);
            while let Some(text) = framed.next_text().unwrap() {
                assert_eq!(text.start, Position { record, line: record });
                record += text.records;
                bytes.extend(text.bytes);
            }
            assert_eq!((bytes.as_slice(), record), (&file[..], 6), "pieces of {piece_bytes} bytes");
        }
    }
}
