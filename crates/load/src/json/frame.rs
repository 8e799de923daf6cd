//! Where records of JSON text begin and end.
//!
//! NDJSON is cut at line ends, which stand in no string. A top-level array is cut in front of the commas between its elements:
//! `[` element, `,` element, ..., `]`. So each element comes with the byte that opens it, a text that is not looked at yet
//! is never empty within the array, and a file that ends there cannot pass for a whole one.

use crate::block::Block;
use crate::cut::{Framed, Framing};
use litepress_rows::{Error, ErrorKind, Result};
use memchr::{memchr, memchr_iter, memchr2, memrchr};

/// The longest text of one record: a row of SQLite's largest size is shorter, even with an escape here and there.
pub const MAX_RECORD_TEXT_BYTES: usize = 2 << 30;

/// How records stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One a line.
    Lines,
    /// In one array.
    Array,
}

/// Finds where records end.
#[derive(Debug)]
pub(super) struct JsonFraming {
    layout: Layout,
    scan: Scan,
    /// An element has been seen: `]` at once makes an array without any.
    has_element: bool,
    /// The array has been closed.
    is_closed: bool,
}

impl JsonFraming {
    /// For text that begins with the first record, or with the `[` in front of it.
    pub fn new(layout: Layout) -> Self {
        Self { layout, scan: Scan::behind_opener(0), has_element: false, is_closed: false }
    }

    fn elements(&mut self, text: &[u8], is_end: bool) -> Result<Framed> {
        let (mut bytes, mut records) = (0, 0);
        while let Some(end) = self.scan.next_end(text) {
            match text[end] {
                b',' => {
                    (bytes, records) = (end, records + 1);
                    self.has_element = true;
                }
                b']' => {
                    let is_empty = !self.has_element && is_blank(&text[1..end]);
                    (bytes, records) = (end + 1, records + u64::from(!is_empty));
                    self.is_closed = true;
                    break;
                }
                _ => return Err(misplaced(text, end, "expected `,` or `]`: this `}` closes nothing")),
            }
        }
        self.scan.at -= bytes;
        if bytes == 0 && is_end {
            let wrong = misplaced(text, text.len(), "the file ends within its top-level array: expected `,` or `]`");
            return Err(wrong.advise("the file may be cut off"));
        }
        Ok(Framed { bytes, records, lines: count_lines(&text[..bytes]) })
    }
}

impl Framing for JsonFraming {
    fn frame(&mut self, text: &[u8], from: usize, is_end: bool) -> Result<Framed> {
        let framed = match self.layout {
            Layout::Lines => lines(text, from, is_end),
            Layout::Array if self.is_closed => behind(text)?,
            Layout::Array => self.elements(text, is_end)?,
        };
        if framed.bytes == 0 && text.len() > MAX_RECORD_TEXT_BYTES {
            let message = format!("a record is longer than {MAX_RECORD_TEXT_BYTES} bytes");
            return Err(Error::new(ErrorKind::Limit, message).at(1, 1).advise("is this NDJSON, one object a line?"));
        }
        Ok(framed)
    }
}

fn lines(text: &[u8], from: usize, is_end: bool) -> Framed {
    let bytes = match memrchr(b'\n', &text[from..]) {
        _ if is_end => text.len(),
        Some(last) => from + last + 1,
        None => 0,
    };
    let text = &text[..bytes];
    let lines = count_lines(text);
    Framed { bytes, records: count_records(text, lines), lines }
}

/// Lines that are not blank.
fn count_records(text: &[u8], line_ends: u64) -> u64 {
    let Some((&first, behind_first)) = text.split_first() else { return 0 };
    // Lines that may be blank are rare: whether there is any costs much less than a look at every line.
    let may_be_blank = |byte: u8| byte <= b' ';
    let pairs = text.chunks(128).zip(behind_first.chunks(128));
    let doubtful = |(bytes, next): (&[u8], &[u8])| {
        let flags = bytes.iter().zip(next).map(|(&byte, &next)| u8::from(byte == b'\n') & u8::from(may_be_blank(next)));
        flags.sum::<u8>() > 0
    };
    if may_be_blank(first) || pairs.into_iter().any(doubtful) {
        return text.split(|&byte| byte == b'\n').filter(|line| !is_blank(line)).count() as u64;
    }
    line_ends + u64::from(text.last() != Some(&b'\n'))
}

/// What stands behind the array's end: nothing.
fn behind(text: &[u8]) -> Result<Framed> {
    match text.iter().position(|&byte| !is_space(byte)) {
        None => Ok(Framed { bytes: text.len(), records: 0, lines: count_lines(text) }),
        Some(at) => Err(misplaced(text, at, "expected nothing behind the end of the top-level array")
            .advise("a file that begins with `[` is one array of objects; as NDJSON, write one object a line")),
    }
}

fn misplaced(text: &[u8], at: usize, message: &str) -> Error {
    let (line, character) = place_in(&text[..at]);
    Error::new(ErrorKind::Data, message).at(1 + line, 1 + character)
}

/// Line ends in a text, and characters behind the last of them: where the next character stands, counted from 0.
pub(super) fn place_in(text: &[u8]) -> (u64, u64) {
    let last_line = memrchr(b'\n', text).map_or(text, |at| &text[at + 1..]);
    // Every byte that does not continue a character begins one.
    let characters = last_line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    (count_lines(text), characters as u64)
}

fn count_lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// White space as JSON has it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|&byte| is_space(byte))
}

/// Where elements of the top-level array end: strings and depth are all that it needs to know.
#[derive(Debug)]
struct Scan {
    /// How far the text was looked through.
    at: usize,
    /// Open brackets of the element: a number, so that any depth will do.
    depth: u64,
    is_in_string: bool,
}

/// What was found in some bytes.
enum Passed {
    /// Neither a comma nor a bracket of the top-level array.
    Nothing,
    /// One.
    End(usize),
    /// None in all the text that is there.
    All,
}

impl Scan {
    /// From the element on whose opening byte stands at `opener`.
    fn behind_opener(opener: usize) -> Self {
        Self { at: opener + 1, depth: 0, is_in_string: false }
    }

    /// The next comma or closing bracket that belongs to the top-level array; `None` where the text ends before.
    ///
    /// 64 bytes at a time become bit masks. What stands in strings is masked out, so that of an element within which nothing is
    /// nested, only the brackets around it are looked at one by one. Where something is escaped, strings are passed by one by one.
    #[inline]
    fn next_end(&mut self, text: &[u8]) -> Option<usize> {
        while self.at < text.len() {
            let block = Block::load(text, self.at);
            let end = if block.find(b'\\') == 0 { self.pass_block(text, block) } else { self.pass_escapes(text) };
            match end {
                Passed::Nothing => {}
                Passed::End(at) => return Some(at),
                Passed::All => return None,
            }
        }
        None
    }

    /// Goes through 64 bytes in which nothing is escaped.
    #[inline]
    fn pass_block(&mut self, text: &[u8], block: Block) -> Passed {
        // Bits within strings, the quotes that begin them too.
        let mut within = block.find(b'"');
        for shift in [1, 2, 4, 8, 16, 32] {
            within ^= within << shift;
        }
        within ^= if self.is_in_string { u64::MAX } else { 0 };
        // Square brackets differ from the others in this bit.
        let folded = block.with_bits(b'{' ^ b'[');
        let brackets = (folded.find(b'{') | folded.find(b'}')) & !within;
        let commas = || block.find(b',') & !within;
        let mut events = if self.depth == 0 { brackets | commas() } else { brackets };
        while events != 0 {
            let bit = events.trailing_zeros();
            let behind = (u64::MAX << bit) << 1;
            events &= behind;
            let at = self.at + bit as usize;
            match text[at] {
                b'[' | b'{' => {
                    self.depth += 1;
                    events &= brackets;
                }
                b']' | b'}' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        events = (brackets | commas()) & behind;
                    }
                }
                _ => {
                    (self.at, self.is_in_string) = (at + 1, false);
                    return Passed::End(at);
                }
            }
        }
        self.is_in_string = within >> 63 != 0;
        self.at = (self.at + 64).min(text.len());
        Passed::Nothing
    }

    /// Goes through 64 bytes or more.
    fn pass_escapes(&mut self, text: &[u8]) -> Passed {
        let enough = self.at + 64;
        while self.at < enough {
            if self.is_in_string && !self.leave_string(text) {
                return Passed::All;
            }
            let Some(found) = text[self.at..].iter().position(|&byte| is_structure(byte)) else {
                self.at = text.len();
                return Passed::All;
            };
            let at = self.at + found;
            self.at = at + 1;
            match text[at] {
                b'"' => self.is_in_string = true,
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' if self.depth > 0 => self.depth -= 1,
                b',' if self.depth > 0 => {}
                _ => return Passed::End(at),
            }
        }
        Passed::Nothing
    }

    /// Goes behind the quote that ends the string; `false` where the text ends before.
    fn leave_string(&mut self, text: &[u8]) -> bool {
        while let Some(found) = memchr2(b'"', b'\\', &text[self.at..]) {
            let at = self.at + found;
            if text[at] == b'"' {
                self.at = at + 1;
                self.is_in_string = false;
                return true;
            }
            if at + 1 == text.len() {
                // What is escaped is not there yet.
                self.at = at;
                return false;
            }
            self.at = at + 2;
        }
        self.at = text.len();
        false
    }
}

#[inline]
fn is_structure(byte: u8) -> bool {
    const STRUCTURE: [bool; 256] = {
        let mut table = [false; 256];
        let bytes = b"\"[]{},";
        let mut at = 0;
        while at < bytes.len() {
            table[bytes[at] as usize] = true;
            at += 1;
        }
        table
    };
    STRUCTURE[byte as usize]
}

/// Where a record stands in the text of a piece, without white space around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    /// Number of the line in which it begins.
    pub line: u64,
}

/// Goes through the records of a piece, one after another.
#[derive(Debug)]
pub(super) struct Records {
    layout: Layout,
    at: usize,
    /// Number of the line at `at`.
    line: u64,
}

impl Records {
    /// Of a piece that begins in this line.
    pub fn new(layout: Layout, line: u64) -> Self {
        Self { layout, at: 0, line }
    }

    /// The next record of `text`, which has one.
    #[inline]
    pub fn next(&mut self, text: &[u8]) -> Span {
        match self.layout {
            Layout::Lines => self.next_line(text),
            Layout::Array => self.next_element(text),
        }
    }

    #[inline]
    fn next_line(&mut self, text: &[u8]) -> Span {
        loop {
            let (start, line) = (self.at, self.line);
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |found| start + found);
            self.at = (end + 1).min(text.len());
            self.line += 1;
            let span = trimmed(text, start, end, line);
            if span.start < span.end {
                return span;
            }
            assert!(end < text.len(), "a piece holds as many records as its framing has counted");
        }
    }

    fn next_element(&mut self, text: &[u8]) -> Span {
        let start = self.at + 1;
        let end = Scan::behind_opener(self.at).next_end(text).unwrap_or(text.len());
        let span = trimmed(text, start, end, self.line);
        let line = self.line + count_lines(&text[start..span.start]);
        self.line += count_lines(&text[start..end]);
        self.at = end;
        Span { line, ..span }
    }
}

#[inline]
fn trimmed(text: &[u8], mut start: usize, mut end: usize, line: u64) -> Span {
    while start < end && is_space(text[end - 1]) {
        end -= 1;
    }
    while start < end && is_space(text[start]) {
        start += 1;
    }
    Span { start, end, line }
}
