//! How the lines of a dump look.

use std::fmt::Display;
use std::ops::Range;

use crate::FormatError;
use crate::value::Value;

/// Bytes of a field that its line shows; the rest is counted.
const FIELD_BYTES: usize = 8;
/// Bytes that a line of raw bytes shows.
const ROW_BYTES: usize = 16;
/// Characters of a text that are shown, and bytes of a blob.
const VALUE_LEN: usize = 40;

/// The text as it grows, and the page it is about.
pub(super) struct Lines<'a> {
    page: &'a [u8],
    text: String,
}

impl<'a> Lines<'a> {
    pub(super) fn new(page: &'a [u8]) -> Self {
        Self { page, text: String::new() }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn page(&self) -> &'a [u8] {
        self.page
    }

    /// A line above the fields of one thing.
    pub(super) fn heading(&mut self, heading: impl Display) {
        self.text += &format!("{heading}\n");
    }

    /// A line of one field. Ranges may leave the page: what is not there is not shown.
    pub(super) fn field(&mut self, range: Range<usize>, value: impl Display, meaning: impl Display) {
        let bytes = self.bytes(&range);
        let more = if bytes.len() > FIELD_BYTES { ".." } else { "" };
        let hex = hex(&bytes[..bytes.len().min(FIELD_BYTES)]) + more;
        let (value, meaning) = (value.to_string(), meaning.to_string());
        self.text += format!("{:04x}  {hex:<26}  {value:<16}  {meaning}", range.start).trim_end();
        self.text.push('\n');
    }

    /// A line about something that is not as it should be.
    pub(super) fn wrong(&mut self, reason: impl Display) {
        self.text += &format!("! {reason}\n");
    }

    /// [`wrong`](Self::wrong) for what a decoder said about the page.
    pub(super) fn wrong_error(&mut self, error: &FormatError) {
        self.wrong(format_args!("{:04x}: {}", error.offset(), error.what()));
    }

    /// Bytes that could not be decoded, and why.
    pub(super) fn undecoded(&mut self, range: Range<usize>, reason: impl Display) {
        self.wrong(reason);
        self.raw(range, "not decoded");
    }

    /// [`undecoded`](Self::undecoded) for what a decoder said about the page.
    pub(super) fn undecoded_error(&mut self, range: Range<usize>, error: &FormatError) {
        self.wrong_error(error);
        self.raw(range, "not decoded");
    }

    /// Bytes in rows of hex and ASCII. Equal rows are shown once.
    pub(super) fn raw(&mut self, range: Range<usize>, meaning: &str) {
        let bytes = self.bytes(&range);
        self.heading(format_args!("{:04x}  {} bytes, {meaning}", range.start, bytes.len()));
        let mut repeated = 0;
        let mut previous: &[u8] = &[];
        for (index, row) in bytes.chunks(ROW_BYTES).enumerate() {
            if row == previous {
                repeated += 1;
                continue;
            }
            self.repeated(repeated);
            (repeated, previous) = (0, row);
            let offset = range.start + index * ROW_BYTES;
            self.text += &format!("{offset:04x}  {:<47}  {}\n", hex(row), ascii(row));
        }
        self.repeated(repeated);
    }

    fn repeated(&mut self, rows: usize) {
        if rows > 0 {
            self.text += &format!("      ... {} bytes more of the same\n", rows * ROW_BYTES);
        }
    }

    fn bytes(&self, range: &Range<usize>) -> &'a [u8] {
        let end = range.end.min(self.page.len());
        self.page.get(range.start..end).unwrap_or_default()
    }
}

fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

fn ascii(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' }).collect()
}

/// A value for people: text quoted and escaped, long ones cut with their length.
pub(super) fn display(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => display_text(text),
        Value::Blob(blob) => {
            let pairs: String = blob.iter().take(VALUE_LEN).map(|byte| format!("{byte:02x}")).collect();
            format!("x'{pairs}'{}", cut_note(blob.len() > VALUE_LEN, blob.len()))
        }
    }
}

fn display_text(text: &[u8]) -> String {
    // Four bytes a character at most; the rest of a long text need not be looked at.
    let head = String::from_utf8_lossy(&text[..text.len().min(VALUE_LEN * 4)]);
    let shown: String = head.chars().take(VALUE_LEN).collect();
    let is_cut = shown.len() < head.len() || text.len() > VALUE_LEN * 4;
    format!("{shown:?}{}", cut_note(is_cut, text.len()))
}

fn cut_note(is_cut: bool, len: usize) -> String {
    if is_cut { format!("... {len} bytes") } else { String::new() }
}
