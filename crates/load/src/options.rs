//! Options for reading files.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields between delimiters: CSV, TSV and the like.
    Csv,
    /// One JSON object or array per line, or one array of them.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// A SQLite database.
    Sqlite,
}

/// Options for reading files of any format. `ReadOptions::default()` reads common files.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format of all files. By default, the content of each file decides.
    pub format: Option<Format>,
    /// The CSV dialect.
    pub dialect: Dialect,
    /// Options for reading JSON.
    pub json: JsonOptions,
    /// Encoding of text by its WHATWG label (`latin1`, `utf-16le`). By default, a byte-order mark decides; without one it is
    /// UTF-8.
    pub encoding: Option<String>,
    /// Policy for bytes that are not UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// Texts that mean NULL: unquoted CSV fields and JSON strings.
    pub nulls: Vec<String>,
    /// Size of a piece of text in bytes. [`PIECE_BYTES`](crate::framing::PIECE_BYTES) by default. For tests.
    pub piece_bytes: Option<usize>,
    /// Counts the bytes of input as they are read, before decompression.
    pub bytes_read: Arc<AtomicU64>,
}

/// Options for reading JSON. `JsonOptions::default()` reads records as they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// The layout of records. By default, the beginning of each file decides.
    pub layout: Option<JsonLayout>,
    /// The keys that lead to the records, from the outermost on: `data`, `items` for `{"data": {"items": [...]}}`.
    pub path: Vec<String>,
    /// Nested objects become columns: `{"a": {"b": 1}}` has a column `a_b`.
    pub flatten: bool,
    /// Policy for NaN, Infinity and -Infinity, which JSON does not have.
    pub nan: NanPolicy,
}

/// The layout of JSON records. A top-level array is recognized in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonLayout {
    /// One object per line.
    Lines,
    /// Objects one after another, with any white space between and within them.
    Stream,
}

/// Policy for NaN, Infinity and -Infinity in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NanPolicy {
    /// The record is bad.
    #[default]
    Error,
    /// NULL replaces the value.
    Null,
    /// The word is stored as text.
    Text,
}

/// A CSV dialect. `Dialect::default()` is RFC 4180 with a detected delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between fields. By default the most frequent of comma, tab, semicolon and bar in the first record.
    pub delimiter: Option<u8>,
    /// The byte around fields that hold delimiters, quotes or line ends.
    pub quote: Option<u8>,
    /// The byte before a quote within quotes. By default, such a quote is doubled.
    pub escape: Option<u8>,
    /// The first record names the columns.
    pub header: bool,
    /// Names of the columns, if the file has none or others are wanted.
    pub columns: Option<Vec<String>>,
    /// The first byte of lines to skip.
    pub comment: Option<u8>,
    /// Policy for records with more or fewer fields than there are columns.
    pub ragged: Ragged,
}

impl Default for Dialect {
    fn default() -> Self {
        let (delimiter, quote, escape, comment) = (None, Some(b'"'), None, None);
        Self { delimiter, quote, escape, header: true, columns: None, comment, ragged: Ragged::Error }
    }
}

/// Policy for a record with more or fewer fields than there are columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ragged {
    /// The record is bad.
    #[default]
    Error,
    /// Missing fields are NULL, as with sqlite3's `.import`. Too many fields are bad.
    Pad,
    /// The record is left out, independently of the policy for other bad records.
    Reject,
}

/// Policy for text that is not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// The record is bad.
    #[default]
    Error,
    /// U+FFFD replaces the invalid bytes.
    Replace,
    /// The value is stored as a blob.
    Blob,
}
