//! Options for reading files.

use crate::infer::NumberWords;
use crate::input::Notes;
use litepress_rows::Result;
use std::path::Path;
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
    /// FlatGeobuf.
    FlatGeobuf,
    /// A SQLite database.
    Sqlite,
    /// A workbook of Excel or OpenDocument.
    Spreadsheet,
}

impl Format {
    /// Returns whether readers seek in files of this format, instead of reading text.
    pub fn is_binary(self) -> bool {
        !matches!(self, Self::Csv | Self::Json)
    }
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
    /// Conversions of CSV fields.
    pub values: ValueOptions,
    /// Words in columns of numbers.
    pub words: Arc<NumberWords>,
    /// Leaves out empty files instead of refusing them.
    pub leaves_out_empty: bool,
    /// Size of a piece of text in bytes. [`PIECE_BYTES`](crate::framing::PIECE_BYTES) by default. For tests.
    pub piece_bytes: Option<usize>,
    /// Counts the bytes of input as they are read, before decompression.
    pub bytes_read: Arc<AtomicU64>,
    /// Collects notes about files for the report.
    pub notes: Notes,
    /// Refuses files before they are opened.
    pub path_guard: Option<fn(&Path) -> Result<()>>,
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
    /// Policy for NaN, Infinity and -Infinity, which JSON does not have, if [`ReadOptions::words`] lacks them.
    pub nan: NanPolicy,
    /// The records are features of GeoJSON; [`flatten`](Self::flatten) is set, too.
    pub features: Option<Features>,
}

/// How features of GeoJSON become records: members of `properties` become columns of their own names, `geometry` one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Names of other members of features. A property of such a name becomes the column `properties_NAME`.
    pub members: Vec<String>,
    /// The caller says the reference system of the coordinates, whatever the file does.
    pub has_crs: bool,
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

/// A CSV dialect. `Dialect::default()` is RFC 4180; delimiter, quote, line ends and header are found from the first records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The text between fields. By default the one of comma, tab, semicolon and bar that divides the first records evenly.
    pub delimiter: Option<String>,
    /// The byte around fields that hold delimiters, quotes or line ends.
    pub quote: Quote,
    /// The byte before a quote within quotes. By default, such a quote is doubled.
    pub escape: Option<u8>,
    /// Whether the first record names the columns. By default it does, unless it looks like the records below it.
    pub header: Option<bool>,
    /// Names of the columns, if the file has none or others are wanted.
    pub columns: Option<Vec<String>>,
    /// The first byte of lines to skip.
    pub comment: Option<u8>,
    /// Number of lines to skip at the beginning of the file.
    pub skip: u64,
    /// Policy for records with more or fewer fields than there are columns.
    pub ragged: Ragged,
    /// Policy for quotes in the wrong place.
    pub stray_quotes: StrayQuotes,
    /// Policy for records that repeat the header.
    pub repeated_header: RepeatedHeader,
    /// Spaces and tabs around fields do not belong to them.
    pub trim: bool,
    /// Records whose fields are all empty are left out.
    pub skips_empty: bool,
}

/// Conversions of CSV fields to numbers and dates that SQLite reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueOptions {
    /// The mark before decimals. `.` by default.
    pub decimal: Option<char>,
    /// The mark between thousands. None by default.
    pub thousands: Option<char>,
    /// Signs that may stand in front of numbers or behind them.
    pub currency: Vec<String>,
    /// Words that mean true.
    pub true_words: Vec<String>,
    /// Words that mean false.
    pub false_words: Vec<String>,
    /// Columns and the formats of their dates, as strftime(3) has them.
    pub dates: Vec<(String, String)>,
}

/// The quote of a CSV dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quote {
    /// `"`, or `'` if only that divides the first records evenly.
    #[default]
    Found,
    /// No field has quotes: all of them are text.
    None,
    /// This byte.
    Byte(u8),
}

/// Policy for a record with more or fewer fields than there are columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ragged {
    /// The record is bad.
    #[default]
    Error,
    /// Missing fields are NULL. Too many fields are bad.
    Pad,
    /// Missing fields are NULL, and surplus fields are cut, as with sqlite3's `.import`.
    Fit,
    /// The record is left out, independently of the policy for other bad records.
    Reject,
}

/// Policy for quotes in the wrong place: with text behind the closing quote of a field, or without a closing quote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrayQuotes {
    /// The record is bad.
    #[default]
    Error,
    /// They are text, in the way that gives the record as many fields as there are columns.
    Text,
}

/// Policy for a record that repeats the names of the columns: those of the first columns, if it has more or fewer fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedHeader {
    /// It is a record like any other.
    #[default]
    Keep,
    /// It is left out: the file is several files one after another.
    Skip,
    /// The table ends there: another one follows.
    Stop,
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
