//! What `load` and `plan` have in common: the arguments that say which files are read, how, and into what tables.

use crate::numbers;
use clap::{Args, ValueEnum};
use litepress::{Error, ErrorKind, Result};
use litepress_load::options::{Dialect, Format, InvalidUtf8, Ragged, ReadOptions};
use std::path::PathBuf;

/// Which files are read, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub struct ReadingArguments {
    /// What the files are [default: what their content says]
    #[arg(long, value_name = "KIND", value_enum)]
    pub format: Option<FormatArgument>,
    /// Between the fields of CSV: one character, or tab [default: the one of , tab ; | that the first record has most of]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Around fields of CSV: one character, or none [default: "]
    #[arg(long, value_name = "CHAR", value_parser = quote)]
    pub quote: Option<Quote>,
    /// In front of a quote within quotes [default: quotes are doubled]
    #[arg(long, value_name = "CHAR", value_parser = ascii)]
    pub escape: Option<u8>,
    /// The first record of CSV is data, too: columns are named c1, c2, or by --columns
    #[arg(long)]
    pub no_header: bool,
    /// Names of the columns of CSV, whatever its header says
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Lines of CSV that begin with this character are passed by
    #[arg(long, value_name = "CHAR", value_parser = ascii)]
    pub comment: Option<u8>,
    /// Encoding of text: latin1, utf-16le, shift_jis [default: what a byte-order mark says, or UTF-8]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Fields without quotes that mean NULL: '' for empty ones, NA; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub null: Vec<String>,
    /// Another form for a typed column of Parquet or Arrow: created=unixepoch; may be repeated
    #[arg(long = "as", value_name = "[TABLE.]C=FORM", value_parser = pair)]
    pub forms: Vec<(String, String)>,
    /// Find out types from the first N records instead of all
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    pub sample: Option<u64>,
}

/// The tables that files become.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub struct TableArguments {
    /// The table of all files [default: one table a file, called as the file]
    #[arg(long, value_name = "T")]
    pub table: Option<String>,
    /// A file of CREATE statements for the tables; columns are matched by name
    #[arg(long, value_name = "FILE.sql")]
    pub schema: Option<PathBuf>,
    /// A column of a file and the table's column that it goes to, or nothing to leave it out; may be repeated
    #[arg(long, value_name = "FILE_C=TABLE_C", value_parser = pair_or_nothing)]
    pub map: Vec<(String, String)>,
    /// Columns of the primary key
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub primary_key: Vec<String>,
    /// The tables have no rowid: their primary key is the tree that rows lie in
    #[arg(long)]
    pub without_rowid: bool,
    /// The tables are STRICT: SQLite checks the type of every value
    #[arg(long)]
    pub strict: bool,
    /// The type of a column, whatever its values say: code=TEXT; may be repeated
    #[arg(long = "type", value_name = "[TABLE.]C=TYPE", value_parser = pair)]
    pub types: Vec<(String, String)>,
    /// Columns that take no NULL
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub not_null: Vec<String>,
    /// An index on these columns; may be repeated
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub index: Vec<String>,
    /// No two rows may agree on these columns; may be repeated
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub unique: Vec<String>,
    /// A column whose values are those of another table's column; may be repeated
    #[arg(long, value_name = "[TABLE.]C=T.C", value_parser = pair)]
    pub foreign_key: Vec<(String, String)>,
}

/// What becomes of records that are wrong.
#[derive(Args, Debug)]
#[command(next_help_heading = "Wrong records")]
pub struct WrongRecordArguments {
    /// What becomes of records that cannot be read or that their table does not take [default: abort]
    #[arg(long, value_name = "HOW", value_enum)]
    pub on_error: Option<OnErrorArgument>,
    /// Write records that are left out to this CSV file, with file, record, line, column and reason
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Leave out this many records at most [default: any number]
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    pub max_rejects: Option<u64>,
    /// What becomes of CSV records with too many or too few fields
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub ragged: RaggedArgument,
    /// What becomes of text that is no UTF-8
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub invalid_utf8: InvalidUtf8Argument,
}

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// Fields between commas, or what --delimiter says.
    Csv,
    /// Fields between tabs.
    Tsv,
    /// A JSON object a line.
    Ndjson,
    /// JSON objects, a line each or in one array.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// The tables of another SQLite database.
    Sqlite,
}

/// `--quote`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote(Option<u8>);

/// `--on-error`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArgument {
    /// The run fails, and leaves what was there as it was.
    Abort,
    /// The record is left out.
    Reject,
    /// NULL takes the place of a value that its column does not take; what cannot be read fails.
    Null,
}

/// `--ragged`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RaggedArgument {
    /// They are wrong.
    #[default]
    Error,
    /// Missing fields are NULL; too many are wrong.
    Pad,
    /// They are left out.
    Reject,
}

/// `--invalid-utf8`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InvalidUtf8Argument {
    /// The record is wrong.
    #[default]
    Error,
    /// U+FFFD takes the place of what is wrong.
    Replace,
    /// The value is stored as a blob.
    Blob,
}

impl ReadingArguments {
    /// How files are read.
    pub fn options(&self, wrong: &WrongRecordArguments) -> Result<ReadOptions> {
        let tsv = self.format == Some(FormatArgument::Tsv);
        if tsv && self.delimiter.is_some_and(|delimiter| delimiter != b'\t') {
            let error = Error::new(ErrorKind::Usage, "--format tsv has tabs between fields, and --delimiter another one");
            return Err(error.advise("leave one of them out"));
        }
        let dialect = Dialect {
            delimiter: self.delimiter.or(tsv.then_some(b'\t')),
            quote: self.quote.map_or(Dialect::default().quote, |Quote(quote)| quote),
            escape: self.escape,
            header: !self.no_header,
            columns: (!self.columns.is_empty()).then(|| self.columns.clone()),
            comment: self.comment,
            ragged: match wrong.ragged {
                RaggedArgument::Error => Ragged::Error,
                RaggedArgument::Pad => Ragged::Pad,
                RaggedArgument::Reject => Ragged::Reject,
            },
        };
        Ok(ReadOptions {
            format: self.format.map(FormatArgument::format),
            dialect,
            encoding: self.encoding.clone(),
            invalid_utf8: match wrong.invalid_utf8 {
                InvalidUtf8Argument::Error => InvalidUtf8::Error,
                InvalidUtf8Argument::Replace => InvalidUtf8::Replace,
                InvalidUtf8Argument::Blob => InvalidUtf8::Blob,
            },
            nulls: self.null.clone(),
            ..ReadOptions::default()
        })
    }
}

impl FormatArgument {
    fn format(self) -> Format {
        match self {
            Self::Csv | Self::Tsv => Format::Csv,
            Self::Ndjson | Self::Json => Format::Json,
            Self::Parquet => Format::Parquet,
            Self::Arrow => Format::Arrow,
            Self::Sqlite => Format::Sqlite,
        }
    }
}

/// One ASCII character.
fn ascii(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err("this is one ASCII character, and no line end".to_owned()),
    }
}

/// One ASCII character, or the name of the tab.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => ascii(text),
    }
}

fn quote(text: &str) -> Result<Quote, String> {
    match text {
        "none" => Ok(Quote(None)),
        _ => ascii(text).map(|quote| Quote(Some(quote))),
    }
}

/// `A=B`, cut at the last `=`: names of columns may hold some.
fn pair(text: &str) -> Result<(String, String), String> {
    match pair_or_nothing(text)? {
        (_, right) if right.is_empty() => Err("there is nothing behind the '='".to_owned()),
        pair => Ok(pair),
    }
}

fn pair_or_nothing(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((left, right)) if !left.is_empty() => Ok((left.to_owned(), right.to_owned())),
        _ => Err("two names are written NAME=NAME".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_one_ascii_character_or_have_a_name() {
        assert_eq!((delimiter("tab"), delimiter("\\t"), delimiter(";")), (Ok(b'\t'), Ok(b'\t'), Ok(b';')));
        assert_eq!((quote("none"), quote("'")), (Ok(Quote(None)), Ok(Quote(Some(b'\'')))));
        assert!(delimiter("").is_err() && delimiter("ab").is_err() && quote("é").is_err() && ascii("\n").is_err());
    }

    #[test]
    fn pairs_are_cut_at_the_last_sign() {
        assert_eq!(pair("a=b=TEXT"), Ok(("a=b".to_owned(), "TEXT".to_owned())));
        assert_eq!(pair_or_nothing("a="), Ok(("a".to_owned(), String::new())));
        assert!(pair("a=").is_err() && pair("=b").is_err() && pair("ab").is_err());
    }
}
