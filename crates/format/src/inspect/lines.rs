//! Formats the lines of a dump.

use std::fmt::Display;
use std::ops::Range;

use crate::FormatError;
use crate::value::Value;

/// Bytes of a field that its line shows; the line counts the rest.
const FIELD_BYTES: usize = 8;
/// Bytes of a line of raw bytes.
const ROW_BYTES: usize = 16;
/// The most characters of a text, or bytes of a blob, that are shown.
const VALUE_LEN: usize = 40;

/// A dump in progress, and its page.
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

    /// Adds a heading.
    pub(super) fn heading(&mut self, heading: impl Display) {
        self.text += &format!("{heading}\n");
    }

    /// Adds the line of one field. A range may leave the page: only the bytes on the page are shown.
    pub(super) fn field(&mut self, range: Range<usize>, value: impl Display, meaning: impl Display) {
        let bytes = self.bytes(&range);
        let more = if bytes.len() > FIELD_BYTES { ".." } else { "" };
        let hex = hex(&bytes[..bytes.len().min(FIELD_BYTES)]) + more;
        let (value, meaning) = (value.to_string(), meaning.to_string());
        self.text += format!("{:04x}  {hex:<26}  {value:<16}  {meaning}", range.start).trim_end();
        self.text.push('\n');
    }

    /// Adds a line about an error.
    pub(super) fn wrong(&mut self, reason: impl Display) {
        self.text += &format!("! {reason}\n");
    }

    /// Adds a line about a decoder's error.
    pub(super) fn wrong_error(&mut self, error: &FormatError) {
        self.wrong(format_args!("{:04x}: {}", error.offset(), error.message()));
    }

    /// Adds the bytes that do not decode, and the reason.
    pub(super) fn undecoded(&mut self, range: Range<usize>, reason: impl Display) {
        self.wrong(reason);
        self.raw(range, "not decoded");
    }

    /// Adds the bytes that do not decode, and the decoder's error.
    pub(super) fn undecoded_error(&mut self, range: Range<usize>, error: &FormatError) {
        self.wrong_error(error);
        self.raw(range, "not decoded");
    }

    /// Adds bytes as rows of hex and ASCII. Equal rows are shown once.
    pub(super) fn raw(&mut self, range: Range<usize>, meaning: &str) {
        let bytes = self.bytes(&range);
        self.heading(format_args!("{:04x}  {}, {meaning}", range.start, byte_count(bytes.len() as u64)));
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

/// Formats a value for people: text quoted and escaped, a long value cut and its length stated.
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
    // A character has at most four bytes, so the rest of a long text is not needed.
    let head = String::from_utf8_lossy(&text[..text.len().min(VALUE_LEN * 4)]);
    let shown: String = head.chars().take(VALUE_LEN).collect();
    let is_cut = shown.len() < head.len() || text.len() > VALUE_LEN * 4;
    format!("{shown:?}{}", cut_note(is_cut, text.len()))
}

/// Returns `1 byte`, `2 bytes`.
pub(super) fn byte_count(bytes: u64) -> String {
    format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

fn cut_note(is_cut: bool, len: usize) -> String {
    if is_cut { format!("... {len} bytes") } else { String::new() }
}
