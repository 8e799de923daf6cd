//! Finds the records in JSON text.
//!
//! NDJSON is cut at line ends, which no string contains. A top-level array is cut before the commas between its elements:
//! `[` element, `,` element, ..., `]`. So each element comes with the byte before it. The carried text is then never empty
//! within the array, so a truncated file is always noticed. Objects that follow one another are cut behind their last bracket.
//!
//! If the records lie within other objects (`path.rs`), the text behind them is scanned for the ends of these objects.

use super::features::Tail;
use crate::byte_lanes::ByteLanes;
use crate::framing::{Framed, Framing};
use litepress_rows::{Error, ErrorKind, Result};
use memchr::{memchr, memchr_iter, memchr2, memrchr};

/// Maximum length of a record's text in bytes. A row of SQLite's maximum size is shorter, even with some escapes.
pub const MAX_RECORD_TEXT_BYTES: usize = 2 << 30;

/// The layout of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One record per line.
    Lines,
    /// One array of records.
    Array,
    /// Objects one after another, with any white space between and within them (also RFC 7464: a record separator in front of
    /// each).
    Stream,
}

/// The framing of JSON.
#[derive(Debug)]
pub(super) struct JsonFraming {
    layout: Layout,
    scan: Scan,
    /// An element was found. Without one, a `]` closes an empty array.
    has_element: bool,
    /// The array was closed.
    is_closed: bool,
    /// The scanner is between two objects of a stream.
    is_between: bool,
    /// Number of open objects around the records.
    around: u64,
    /// The text behind the records was reached.
    has_tail: bool,
    /// The text behind the records, if it is wanted.
    tail: Option<Tail>,
}

impl JsonFraming {
    /// Creates a framing for text that begins with the first record, or with the `[` before it.
    pub fn new(layout: Layout) -> Self {
        let scan = if layout == Layout::Stream { Scan::of_object(0) } else { Scan::behind_opener(0) };
        Self {
            layout,
            scan,
            has_element: false,
            is_closed: false,
            is_between: true,
            around: 0,
            has_tail: false,
            tail: None,
        }
    }

    /// Creates a framing for records within `around` objects.
    pub fn within(layout: Layout, around: usize) -> Self {
        Self { around: around as u64, ..Self::new(layout) }
    }

    /// Keeps the text behind the records.
    pub fn keep_tail(&mut self) {
        self.tail = Some(Tail::default());
    }

    /// Returns the text behind the records so far, if it is kept.
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Frames objects that follow one another. Other text is a record up to the end of its line.
    fn objects(&mut self, text: &[u8], is_end: bool) -> Framed {
        let (mut bytes, mut records) = (0, 0);
        while !self.is_closed {
            if self.is_between {
                let gap = text[self.scan.at..].iter().take_while(|&&byte| is_gap(byte)).count();
                let start = self.scan.at + gap;
                self.scan = Scan::of_object(start);
                if start == text.len() {
                    bytes = start;
                    break;
                }
                self.is_between = text[start] != b'{';
            }
            let end =
                if self.is_between { line_end(text, self.scan.at) } else { self.scan.next_end(text).map(|at| at + 1) };
            let Some(end) = end.or(is_end.then_some(text.len())) else { break };
            (bytes, records) = (end, records + 1);
            (self.scan.at, self.is_between) = (end, true);
            self.is_closed = self.around > 0;
        }
        self.scan.at -= bytes;
        Framed { bytes, records, lines: count_lines(&text[..bytes]), ..Framed::default() }
    }

    /// Scans text behind the records for the ends of the objects around them.
    fn behind_records(&mut self, text: &[u8], is_end: bool) -> Result<Framed> {
        if self.around == 0 {
            return behind(text);
        }
        if !self.has_tail {
            self.has_tail = true;
            self.scan = Scan { at: 0, depth: self.around, is_in_string: false, ends_at_bracket: true };
        }
        let bytes = match self.scan.next_end(text) {
            Some(end) => {
                self.around = 0;
                end + 1
            }
            None if is_end => text.len(),
            // A backslash at the end is scanned again with the character behind it.
            None => self.scan.at,
        };
        self.scan.at = self.scan.at.saturating_sub(bytes);
        if let Some(tail) = &mut self.tail {
            tail.push(&text[..bytes]);
        }
        Ok(Framed { bytes, records: 0, lines: count_lines(&text[..bytes]), ..Framed::default() })
    }

    /// Returns whether the text ended within the objects around the records.
    pub fn is_cut_off(&self) -> bool {
        self.around > 0
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
        Ok(Framed { bytes, records, lines: count_lines(&text[..bytes]), ..Framed::default() })
    }
}

impl Framing for JsonFraming {
    fn frame(&mut self, text: &[u8], from: usize, is_end: bool) -> Result<Framed> {
        let framed = match self.layout {
            Layout::Lines => lines(text, from, is_end),
            Layout::Array | Layout::Stream if self.is_closed => self.behind_records(text, is_end)?,
            Layout::Stream => self.objects(text, is_end),
            Layout::Array => self.elements(text, is_end)?,
        };
        if framed.bytes == 0 && text.len() > MAX_RECORD_TEXT_BYTES {
            let message = format!("a record is longer than {MAX_RECORD_TEXT_BYTES} bytes");
            return Err(Error::new(ErrorKind::Limit, message).at(1, 1).advise("is this NDJSON, one object a line?"));
        }
        Ok(framed)
    }
}

/// Returns whether a byte may stand between two objects of a stream: white space, or a record separator.
pub(super) fn is_gap(byte: u8) -> bool {
    const RECORD_SEPARATOR: u8 = 0x1e;
    is_space(byte) || byte == RECORD_SEPARATOR
}

/// Returns the position behind the line end that follows `from`.
fn line_end(text: &[u8], from: usize) -> Option<usize> {
    memchr(b'\n', &text[from..]).map(|found| from + found + 1)
}

fn lines(text: &[u8], from: usize, is_end: bool) -> Framed {
    let bytes = match memrchr(b'\n', &text[from..]) {
        _ if is_end => text.len(),
        Some(last) => from + last + 1,
        None => 0,
    };
    let text = &text[..bytes];
    let lines = count_lines(text);
    Framed { bytes, records: count_records(text, lines), lines, ..Framed::default() }
}

/// Counts the lines that are not blank.
fn count_records(text: &[u8], line_ends: u64) -> u64 {
    let Some((&first, behind_first)) = text.split_first() else { return 0 };
    // Blank lines are rare. Detecting that there is none is much cheaper than checking every line.
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

/// Fails if more than white space follows the array's end.
fn behind(text: &[u8]) -> Result<Framed> {
    match text.iter().position(|&byte| !is_space(byte)) {
        None => Ok(Framed { bytes: text.len(), records: 0, lines: count_lines(text), ..Framed::default() }),
        Some(at) => Err(misplaced(text, at, "expected nothing behind the end of the top-level array")
            .advise("a file that begins with `[` is one array of objects; as NDJSON, write one object a line")),
    }
}

fn misplaced(text: &[u8], at: usize, message: &str) -> Error {
    let (line, character) = place_in(&text[..at]);
    Error::new(ErrorKind::Data, message).at(1 + line, 1 + character)
}

/// Returns the number of line ends in a text, and the number of characters after the last one: the next character's place,
/// counted from 0.
pub(super) fn place_in(text: &[u8]) -> (u64, u64) {
    let last_line = memrchr(b'\n', text).map_or(text, |at| &text[at + 1..]);
    // Every byte begins a character, except UTF-8 continuation bytes.
    let characters = last_line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    (count_lines(text), characters as u64)
}

/// Counts places in a text as [`place_in`] does, each one on from the last: many errors would count the same text again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceCounter {
    position: usize,
    lines: u64,
    characters: u64,
}

impl PlaceCounter {
    /// Returns the number of line ends in `text[..position]`, and the number of characters behind the last one.
    pub fn place_in(&mut self, text: &[u8], position: usize) -> (u64, u64) {
        if position < self.position {
            *self = Self::default();
        }
        let (lines, characters) = place_in(&text[self.position..position]);
        let before = if lines == 0 { self.characters } else { 0 };
        *self = Self { position, lines: self.lines + lines, characters: before + characters };
        (self.lines, self.characters)
    }
}

fn count_lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// Returns whether a byte is white space in JSON.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|&byte| is_space(byte))
}

/// A scanner for the ends of the top-level array's elements. It tracks only strings and depth.
#[derive(Debug)]
struct Scan {
    /// Number of bytes scanned.
    at: usize,
    /// Number of the element's open brackets. A counter allows any depth.
    depth: u64,
    is_in_string: bool,
    /// The bracket that closes the last open one ends the scan. Otherwise a comma or bracket outside of all does.
    ends_at_bracket: bool,
}

/// The result of scanning some bytes.
enum Passed {
    /// The bytes contain no comma or bracket of the top-level array.
    Nothing,
    /// The position of such a comma or bracket.
    End(usize),
    /// The rest of the text contains none.
    All,
}

impl Scan {
    /// Creates a scanner for elements from the one whose opening byte is at `opener`.
    fn behind_opener(opener: usize) -> Self {
        Self { at: opener + 1, depth: 0, is_in_string: false, ends_at_bracket: false }
    }

    /// Creates a scanner for the last bracket of the object that begins at `at`.
    fn of_object(at: usize) -> Self {
        Self { at, depth: 0, is_in_string: false, ends_at_bracket: true }
    }

    /// Returns the next comma or closing bracket of the top-level array, or `None` if the text ends before it.
    ///
    /// Converts 64 bytes at a time to bit masks, as simdjson does, and masks out strings. So a flat element costs only a look at
    /// its outer brackets. Text with escapes is scanned string by string.
    #[inline]
    fn next_end(&mut self, text: &[u8]) -> Option<usize> {
        while self.at < text.len() {
            let block = ByteLanes::load(text, self.at);
            let end = if block.find(b'\\') == 0 { self.pass_block(text, block) } else { self.pass_escapes(text) };
            match end {
                Passed::Nothing => {}
                Passed::End(at) => return Some(at),
                Passed::All => return None,
            }
        }
        None
    }

    /// Scans 64 bytes without escapes.
    #[inline]
    fn pass_block(&mut self, text: &[u8], block: ByteLanes) -> Passed {
        // Prefix XOR: bits within strings, including their opening quotes.
        let mut within = block.find(b'"');
        for shift in [1, 2, 4, 8, 16, 32] {
            within ^= within << shift;
        }
        within ^= if self.is_in_string { u64::MAX } else { 0 };
        // `[` and `{` differ in this bit only, and so do `]` and `}`.
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
                    if self.depth == 0 && self.ends_at_bracket {
                        (self.at, self.is_in_string) = (at + 1, false);
                        return Passed::End(at);
                    }
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

    /// Scans at least 64 bytes, string by string.
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
                b']' | b'}' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 && self.ends_at_bracket {
                        return Passed::End(at);
                    }
                }
                b',' if self.depth > 0 => {}
                _ => return Passed::End(at),
            }
        }
        Passed::Nothing
    }

    /// Moves past the quote that ends the string. Returns `false` if the text ends before it.
    fn leave_string(&mut self, text: &[u8]) -> bool {
        while let Some(found) = memchr2(b'"', b'\\', &text[self.at..]) {
            let at = self.at + found;
            if text[at] == b'"' {
                self.at = at + 1;
                self.is_in_string = false;
                return true;
            }
            if at + 1 == text.len() {
                // The escaped character is not read yet.
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

/// The position of a record in the text of a piece, without surrounding white space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    /// Number of the line in which the record begins.
    pub line: u64,
}

/// An iterator over the records of a piece.
#[derive(Debug)]
pub(super) struct Records {
    layout: Layout,
    at: usize,
    /// Number of the line at `at`.
    line: u64,
}

impl Records {
    /// Creates an iterator for a piece that begins in line `line`.
    pub fn new(layout: Layout, line: u64) -> Self {
        Self { layout, at: 0, line }
    }

    /// Returns the number of bytes up to the end of the last record.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes on at the beginning of a text that begins where the last record ended.
    pub fn restart(&mut self) {
        self.at = 0;
    }

    /// Returns the next record of `text`, which must have one.
    #[inline]
    pub fn next(&mut self, text: &[u8]) -> Span {
        match self.layout {
            Layout::Lines => self.next_line(text),
            Layout::Array => self.next_element(text),
            Layout::Stream => self.next_object(text),
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

    fn next_object(&mut self, text: &[u8]) -> Span {
        let gap = text[self.at..].iter().take_while(|&&byte| is_gap(byte)).count();
        let start = self.at + gap;
        let end = match text[start] {
            b'{' => Scan::of_object(start).next_end(text).map(|at| at + 1),
            _ => line_end(text, start),
        };
        let end = end.unwrap_or(text.len());
        let line = self.line + count_lines(&text[self.at..start]);
        self.line = line + count_lines(&text[start..end]);
        self.at = end;
        trimmed(text, start, end, line)
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
