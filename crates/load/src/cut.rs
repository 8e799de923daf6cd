//! Text cut into pieces of whole records.
//!
//! One worker at a time reads the next bytes and looks for where the last whole record in them ends; what is behind it is
//! carried over. So records are numbered in their order, quoted newlines are respected, and a file, a pipe and what comes
//! out of a decompressor are cut alike. Parsing is left to the piece, in parallel.

use litepress_rows::{Error, Result};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many bytes of text a piece has, where no record is longer: what it becomes should fill one write.
pub const PIECE_BYTES: usize = 4 << 20;

/// Finds where records end.
pub trait Framing: Send {
    /// Looks through `text`, which begins with the first record that is not handed out yet: how far records are whole, and
    /// what is in them. Below `from`, no record ends: that was looked through before. Where `is_end`, nothing follows, and
    /// the last record is whole.
    ///
    /// # Errors
    /// What makes it impossible to tell where records end. The place is relative: lines and characters count from `text`.
    fn frame(&mut self, text: &[u8], from: usize, is_end: bool) -> Result<Framed>;
}

/// Whole records at the front of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framed {
    /// Bytes up to the end of the last whole record.
    pub bytes: usize,
    /// Records that end within them.
    pub records: u64,
    /// Line ends within them.
    pub lines: u64,
}

/// Where a record begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the record, counted from 1.
    pub record: u64,
    /// Number of its line, counted from 1.
    pub line: u64,
}

/// Whole records as they stand in the file.
#[derive(Debug)]
pub struct Text {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where the first record begins.
    pub start: Position,
    /// How many there are.
    pub records: u64,
}

/// Cuts what a stream gives into pieces.
pub struct Cutter<F> {
    stream: Box<dyn Read + Send>,
    /// What the stream is called in errors.
    name: PathBuf,
    framing: F,
    /// The beginning of records that are not whole yet.
    carried: Vec<u8>,
    next: Position,
    piece_bytes: usize,
    has_ended: bool,
}

impl<F: Framing> Cutter<F> {
    /// Cuts `stream`, which begins at `start`, into pieces of about `piece_bytes`.
    pub fn new(stream: Box<dyn Read + Send>, name: &Path, framing: F, start: Position, piece_bytes: usize) -> Self {
        let name = name.to_owned();
        Self { stream, name, framing, carried: Vec::new(), next: start, piece_bytes, has_ended: false }
    }

    /// The next whole records; `None` at the end.
    ///
    /// # Errors
    /// What the stream or the framing reports.
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
            // A record that is longer than a piece: the next look is at twice as much.
            most = 2 * text.len();
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
        let start = self.next;
        self.next = Position { record: start.record + framed.records, line: start.line + framed.lines };
        Text { bytes: text, start, records: framed.records }
    }

    /// Lines of a relative place become those of the file.
    fn place(&self, error: Error) -> Error {
        let (line, character) = (error.place().line.unwrap_or(1), error.place().character.unwrap_or(1));
        error.in_file(&self.name).at(self.next.line + line - 1, character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records are lines.
    struct Lines;

    impl Framing for Lines {
        fn frame(&mut self, text: &[u8], _from: usize, is_end: bool) -> Result<Framed> {
            let bytes =
                if is_end { text.len() } else { text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1) };
            let lines = text[..bytes].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let unended = u64::from(bytes > 0 && text[bytes - 1] != b'\n');
            Ok(Framed { bytes, records: lines + unended, lines })
        }
    }

    #[test]
    fn pieces_of_any_size_are_the_file_again() {
        let file = b"one\ntwo\nthree is longer\n\nfive";
        for piece_bytes in 1..=file.len() + 1 {
            let start = Position { record: 1, line: 1 };
            let mut cutter = Cutter::new(Box::new(&file[..]), Path::new("<test>"), Lines, start, piece_bytes);
            let (mut bytes, mut record) = (Vec::new(), 1);
            while let Some(text) = cutter.next_text().unwrap() {
                assert_eq!(text.start, Position { record, line: record });
                record += text.records;
                bytes.extend(text.bytes);
            }
            assert_eq!((bytes.as_slice(), record), (&file[..], 6), "pieces of {piece_bytes} bytes");
        }
    }
}
