//! How files are read.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields between delimiters: CSV, TSV and their kin.
    Csv,
    /// One JSON object or array a line, or one array of them.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// Tables of another database.
    Sqlite,
}

/// How files are read, whatever kind they are: `ReadOptions::default()` reads what is usual.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The kind of all files; by default what each one's content says.
    pub format: Option<Format>,
    /// What CSV files look like.
    pub dialect: Dialect,
    /// Encoding of text by its label (`latin1`, `utf-16le`), as the WHATWG names them; by default what a byte-order mark
    /// says, else UTF-8.
    pub encoding: Option<String>,
    /// Bytes that are no UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// Fields without quotes that mean NULL; in JSON, strings that do.
    pub nulls: Vec<String>,
    /// How many bytes of text a piece has; by default [`PIECE_BYTES`](crate::cut::PIECE_BYTES). For tests.
    pub piece_bytes: Option<usize>,
    /// Counts bytes of input as they are read, before they are decompressed.
    pub bytes_read: Arc<AtomicU64>,
}

/// What a CSV file looks like: `Dialect::default()` is what RFC 4180 describes, with the delimiter found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Between fields; by default the one of comma, tab, semicolon and bar that the first record has most of.
    pub delimiter: Option<u8>,
    /// Around fields that hold delimiters, quotes or line ends.
    pub quote: Option<u8>,
    /// In front of a quote within quotes; by default a quote is doubled.
    pub escape: Option<u8>,
    /// The first record names the columns.
    pub header: bool,
    /// Names of the columns, where the file does not say them or others are wanted.
    pub columns: Option<Vec<String>>,
    /// Lines that begin with it are passed by.
    pub comment: Option<u8>,
    /// Records with more or fewer fields than there are columns.
    pub ragged: Ragged,
}

impl Default for Dialect {
    fn default() -> Self {
        let (delimiter, quote, escape, comment) = (None, Some(b'"'), None, None);
        Self { delimiter, quote, escape, header: true, columns: None, comment, ragged: Ragged::Error }
    }
}

/// What becomes of a record with another number of fields than there are columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ragged {
    /// The record is wrong.
    #[default]
    Error,
    /// Missing fields are NULL, as sqlite3's `.import` has it; too many are wrong.
    Pad,
    /// The record is left out, whatever becomes of others that are wrong.
    Reject,
}

/// What becomes of text that is no UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// The record is wrong.
    #[default]
    Error,
    /// U+FFFD takes the place of what is wrong.
    Replace,
    /// The value is stored as a blob.
    Blob,
}
