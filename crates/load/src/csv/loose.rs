//! Reads records of loose dialects: delimiters of several bytes, spaces around fields, quotes in the wrong place.
//!
//! The fast reader ([`FieldSpans`](super::field_spans::FieldSpans)) knows delimiters of one byte and quotes as in RFC 4180. So
//! a worker rewrites a piece of a loose dialect first ([`Rewritten`]): each irregular record is written again with a delimiter of
//! one byte and proper quotes. Its original place is kept, for line numbers and for rejected records.
//!
//! A quote is in the wrong place if text stands behind the quote that closes its field, or if nothing closes it. If such quotes
//! are text, a record has several readings. The first one that gives it as many fields as there are columns is taken:
//!
//! ```text
//! strict      "a,""b",c      quotes as they should be
//! inner line  "a "b" c",d    a quote within a field ends it only if a delimiter or a line end follows, in its line
//! one line    "a,b⏎"c,d      a field whose quote has no proper end in its line is text up to the next delimiter
//! literal     "a,b,"c⏎d"     the same, and quoted fields may hold line ends
//! inner       "a "b"⏎c",d    as inner line, and quoted fields may hold line ends
//! ```

use super::syntax::Syntax;
use memchr::{memchr, memchr2};
use std::ops::Range;
use std::sync::Arc;

/// Length of a record behind which its open quotes are in the wrong place. Without a bound, each one could be searched for in the
/// rest of the file.
const MOST_QUOTED_BYTES: usize = 16 << 20;

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LooseField {
    /// The value, in quotes if `is_quoted`.
    pub range: Range<usize>,
    pub is_quoted: bool,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LooseRecord {
    pub fields: Vec<LooseField>,
    /// End without the line end.
    pub end: usize,
    /// Start of the next line.
    pub next: usize,
    /// Some quotes are in the wrong place.
    pub has_strays: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Strict,
    InnerLine,
    OneLine,
    Literal,
    Inner,
}

/// The reason why a reading gives no record.
enum Fail {
    /// The record has no such reading.
    Never,
    /// The text ends before this is known.
    NotYet,
}

/// The beginning of a text that may hold a quoted field.
#[derive(Clone, Copy)]
struct Window<'t> {
    text: &'t [u8],
    /// Nothing behind the window matters.
    is_final: bool,
}

impl Syntax {
    /// Reads the record at `start`. Returns `None` if the text must go on to know its end; never if `is_end`.
    pub fn loose_record(&self, text: &[u8], start: usize, is_end: bool) -> Option<LooseRecord> {
        let end = text.len().min(start.saturating_add(MOST_QUOTED_BYTES));
        let window = Window { text: &text[..end], is_final: is_end || end < text.len() };
        let whole = Window { text, is_final: is_end };
        let readings: &[Reading] = if self.columns == 0 {
            &[Reading::Strict, Reading::InnerLine, Reading::OneLine]
        } else if self.has_stray_quotes {
            &[Reading::Strict, Reading::InnerLine, Reading::OneLine, Reading::Literal, Reading::Inner]
        } else {
            &[Reading::Strict, Reading::Literal]
        };
        let (mut strict, mut literal) = (None, None);
        for &reading in readings {
            let record = match self.read_loosely(window, whole, start, reading) {
                Ok(record) => record,
                Err(Fail::Never) => continue,
                Err(Fail::NotYet) => return None,
            };
            let is_strict_enough = !self.has_stray_quotes && reading == Reading::Strict;
            if self.columns == 0 || record.fields.len() == self.columns || is_strict_enough {
                return Some(record);
            }
            match reading {
                Reading::Strict => strict = Some(record),
                Reading::Literal => literal = Some(record),
                Reading::InnerLine | Reading::Inner | Reading::OneLine => {}
            }
        }
        Some(strict.or(literal).expect("every text has a literal reading"))
    }

    fn read_loosely(
        &self,
        window: Window<'_>,
        whole: Window<'_>,
        start: usize,
        reading: Reading,
    ) -> Result<LooseRecord, Fail> {
        let (mut fields, mut at, mut has_strays) = (Vec::new(), start, false);
        loop {
            let begin = if self.is_trimmed { self.behind_spaces(whole.text, at) } else { at };
            let quoted = self.quote.is_some() && whole.text.get(begin).copied() == self.quote;
            let closed = if quoted { self.closing(window, begin, reading)? } else { None };
            let end = match closed {
                Some(closed) => {
                    has_strays |= closed.has_strays;
                    fields.push(LooseField { range: begin..closed.end, is_quoted: true });
                    if self.is_trimmed { self.behind_spaces(whole.text, closed.end) } else { closed.end }
                }
                None if quoted && matches!(reading, Reading::Strict | Reading::InnerLine | Reading::Inner) => {
                    return Err(Fail::Never);
                }
                None => {
                    has_strays |= quoted;
                    let end = self.unquoted_end(whole, begin.max(at))?;
                    let kept = if self.is_trimmed { before_spaces(whole.text, begin, end) } else { end };
                    fields.push(LooseField { range: begin..kept.max(begin), is_quoted: false });
                    end
                }
            };
            if matches!(reading, Reading::InnerLine | Reading::Inner) && self.columns > 0 && fields.len() > self.columns
            {
                return Err(Fail::Never);
            }
            match self.separator(whole, end)? {
                Separator::Delimiter(next) => at = next,
                Separator::LineEnd(next) => return Ok(LooseRecord { fields, end, next, has_strays }),
                Separator::None => unreachable!("a field ends at a separator"),
            }
        }
    }

    /// Returns the end of the quoted field at `begin`, with its quotes. `None` if nothing closes it properly.
    fn closing(&self, window: Window<'_>, begin: usize, reading: Reading) -> Result<Option<Closed>, Fail> {
        let (mut from, mut has_strays) = (begin + 1, false);
        let is_in_line = matches!(reading, Reading::InnerLine | Reading::OneLine);
        while let Some(end) = window.text.get(from..).and_then(|_| self.quoted_end(window.text, from)) {
            // Only text behind the last candidate is new: a field of many quotes would be searched again for each of them.
            if is_in_line && memchr(self.line_end, &window.text[from..end]).is_some() {
                return Ok(None);
            }
            let behind = if self.is_trimmed { self.behind_spaces(window.text, end) } else { end };
            match self.separator(window, behind)? {
                Separator::None if matches!(reading, Reading::InnerLine | Reading::Inner) => has_strays = true,
                Separator::None => return Ok(None),
                _ => return Ok(Some(Closed { end, has_strays })),
            }
            from = end;
        }
        if window.is_final || is_in_line && memchr(self.line_end, &window.text[begin..]).is_some() {
            Ok(None)
        } else {
            Err(Fail::NotYet)
        }
    }

    /// Returns the delimiter or line end at `at`.
    fn separator(&self, window: Window<'_>, at: usize) -> Result<Separator, Fail> {
        let rest = &window.text[at..];
        if rest.starts_with(self.delimiter_bytes()) {
            return Ok(Separator::Delimiter(at + self.delimiter_bytes().len()));
        }
        match rest {
            [first, ..] if *first == self.line_end => Ok(Separator::LineEnd(at + 1)),
            [b'\r', b'\n', ..] if self.line_end == b'\n' => Ok(Separator::LineEnd(at + 2)),
            [] if window.is_final => Ok(Separator::LineEnd(at)),
            _ if !window.is_final && rest.len() < 2.max(self.delimiter_bytes().len()) => Err(Fail::NotYet),
            _ => Ok(Separator::None),
        }
    }

    /// Returns the end of the unquoted field that begins at `from`: the next separator.
    fn unquoted_end(&self, whole: Window<'_>, from: usize) -> Result<usize, Fail> {
        let first = self.delimiter_bytes()[0];
        let mut at = from;
        while let Some(found) = memchr2(first, self.line_end, &whole.text[at..]) {
            at += found;
            if whole.text[at] == self.line_end {
                let is_pair = self.line_end == b'\n' && at > from && whole.text[at - 1] == b'\r';
                return Ok(at - usize::from(is_pair));
            }
            if !matches!(self.separator(whole, at)?, Separator::None) {
                return Ok(at);
            }
            at += 1;
        }
        if whole.is_final { Ok(whole.text.len()) } else { Err(Fail::NotYet) }
    }

    fn behind_spaces(&self, text: &[u8], at: usize) -> usize {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t') && *byte != self.delimiter_bytes()[0];
        at + text[at..].iter().take_while(|byte| is_space(byte)).count()
    }
}

fn before_spaces(text: &[u8], begin: usize, end: usize) -> usize {
    end - text[begin.min(end)..end].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

struct Closed {
    end: usize,
    has_strays: bool,
}

enum Separator {
    Delimiter(usize),
    LineEnd(usize),
    None,
}

/// A piece of text with regular records in place of loose ones.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub bytes: Vec<u8>,
    pub syntax: Arc<Syntax>,
    /// Number of records with quotes in the wrong place.
    pub strays: u64,
    /// Parts of the text, in order. A record that was written again is a part of its own.
    parts: Vec<RewrittenPart>,
}

#[derive(Debug)]
struct RewrittenPart {
    start: usize,
    original: usize,
    /// End of the record in the original, if it was written again.
    written_end: Option<usize>,
}

impl Rewritten {
    /// Rewrites whole records of `text`. Returns `None` if all of them are regular.
    pub fn new(text: &[u8], syntax: &Arc<Syntax>) -> Option<Self> {
        let regular = syntax.regular(text);
        let mut written = Self { bytes: Vec::new(), syntax: Arc::new(regular), strays: 0, parts: Vec::new() };
        let (mut at, mut copied) = (0, 0);
        while at < text.len() {
            if let Some(next) = syntax.skipped_line(text, at) {
                at = next;
                continue;
            }
            if let Some(next) = syntax.plain_line(text, at) {
                at = next;
                continue;
            }
            let record = syntax.loose_record(text, at, true).expect("the text has whole records");
            if !syntax.is_loose_by_delimiter() && !record.has_strays {
                at = record.next;
                continue;
            }
            written.copy(text, copied..at);
            written.write(text, at, &record, syntax);
            (at, copied) = (record.next, record.next);
        }
        if written.parts.is_empty() {
            return None;
        }
        written.copy(text, copied..at);
        Some(written)
    }

    fn copy(&mut self, text: &[u8], range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.parts.push(RewrittenPart { start: self.bytes.len(), original: range.start, written_end: None });
        self.bytes.extend_from_slice(&text[range]);
    }

    fn write(&mut self, text: &[u8], at: usize, record: &LooseRecord, syntax: &Syntax) {
        self.strays += u64::from(record.has_strays && syntax.has_stray_quotes);
        self.parts.push(RewrittenPart { start: self.bytes.len(), original: at, written_end: Some(record.end) });
        let (delimiter, quote, escape) = (self.syntax.delimiter, self.syntax.quote, self.syntax.escape);
        let mut value = Vec::new();
        for (position, field) in record.fields.iter().enumerate() {
            if position > 0 {
                self.bytes.push(delimiter);
            }
            let raw = &text[field.range.clone()];
            let begins_with_quote = raw.first().is_some_and(|first| Some(*first) == quote);
            match quote {
                // Such quotes are a fault: text behind an empty quoted field is the same one.
                Some(quote) if begins_with_quote && !field.is_quoted && !syntax.has_stray_quotes => {
                    self.bytes.extend([quote, quote]);
                    let is_text = |byte: &u8| ![delimiter, quote].contains(byte) && Some(*byte) != escape;
                    self.bytes.extend(raw.iter().copied().filter(is_text).chain([b' ']));
                }
                Some(quote) if field.is_quoted || begins_with_quote || raw.contains(&delimiter) => {
                    value.clear();
                    if field.is_quoted {
                        syntax.unescape(&raw[1..raw.len() - 1], &mut value);
                    } else {
                        value.extend_from_slice(raw);
                    }
                    self.bytes.push(quote);
                    for &byte in &value {
                        if byte == quote || Some(byte) == escape {
                            self.bytes.push(escape.unwrap_or(quote));
                        }
                        self.bytes.push(byte);
                    }
                    self.bytes.push(quote);
                }
                _ => self.bytes.extend_from_slice(raw),
            }
        }
        self.bytes.extend_from_slice(&text[record.end..record.next]);
    }

    /// Returns the byte of the original at which the record of byte `at` begins, or the byte itself if it was copied.
    pub fn original(&self, at: usize) -> usize {
        let part = &self.parts[self.parts.partition_point(|part| part.start <= at) - 1];
        if part.written_end.is_some() { part.original } else { part.original + (at - part.start) }
    }

    /// Returns the range of a record in the original.
    pub fn original_record(&self, record: &Range<usize>) -> Range<usize> {
        let part = &self.parts[self.parts.partition_point(|part| part.start <= record.start) - 1];
        let start = self.original(record.start);
        start..part.written_end.unwrap_or(start + record.len())
    }

    /// Returns the start of the record of byte `at` if it was written again, otherwise `at`.
    pub fn record_start(&self, at: usize) -> usize {
        let part = &self.parts[self.parts.partition_point(|part| part.start <= at) - 1];
        if part.written_end.is_some() { part.start } else { at }
    }
}
