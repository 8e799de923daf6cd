//! Arguments of `load` and `plan` about files and the tables that they become.

use crate::append_args::AppendArgs;
use crate::content_args::ContentArgs;
use crate::reporter::Reporter;
use clap::{Args, ValueEnum};
use litepress::{
    Choice, FileFormat, FtsContent, InvalidUtf8, LoadOptions, NumberWords, Numbers, OnError, Options, Quote, Ragged,
    RepeatedHeader, Result, SchemaText, StrayQuotes, TableOptions, ValueOptions, parse, units,
};
use std::path::PathBuf;
use std::sync::Arc;

/// All arguments about files and the tables that they become.
#[derive(Args, Debug)]
pub struct LoadArgs {
    #[command(flatten)]
    pub reading: ReadArgs,
    #[command(flatten)]
    pub content: ContentArgs,
    #[command(flatten)]
    pub tables: TableArgs,
    #[command(flatten)]
    pub append: AppendArgs,
    #[command(flatten)]
    pub wrong: BadRecordArgs,
}

/// The format of the files.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// Format of the files [default: found from the content]
    #[arg(long, value_name = "KIND", value_enum)]
    pub format: Option<FormatArg>,
    /// Between the fields of CSV: one or more characters, or tab [default: the one of , tab ; | that divides the first records
    /// evenly]
    #[arg(long, value_name = "TEXT", value_parser = parse::delimiter)]
    pub delimiter: Option<String>,
    /// Around fields of CSV: one character, or none [default: ", or ' if only that divides evenly]
    #[arg(long, value_name = "CHAR", value_parser = parse::quote)]
    pub quote: Option<Quote>,
    /// In front of a quote within quotes [default: quotes are doubled]
    #[arg(long, value_name = "CHAR", value_parser = parse::ascii)]
    pub escape: Option<u8>,
    /// The first record of CSV names the columns, even if it looks like the records below it
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,
    /// The first record of CSV is data, too: columns are named c1, c2, or by --columns
    #[arg(long)]
    pub no_header: bool,
    /// Skip the first N lines of CSV
    #[arg(long, value_name = "N", value_parser = units::count, default_value = "0", hide_default_value = true)]
    pub skip: u64,
    /// Drop spaces and tabs around fields of CSV
    #[arg(long)]
    pub trim: bool,
    /// Leave out records of CSV whose fields are all empty
    #[arg(long)]
    pub skip_empty: bool,
    /// Names of the columns of CSV, whatever its header says
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Skip lines of CSV that begin with this character
    #[arg(long, value_name = "CHAR", value_parser = parse::ascii)]
    pub comment: Option<u8>,
    /// The mark before decimals in numbers of CSV [default: .]
    #[arg(long, value_name = "CHAR", value_parser = parse::mark)]
    pub decimal: Option<char>,
    /// The mark between thousands in numbers of CSV: . or , or ' ' [default: none]
    #[arg(long, value_name = "CHAR", value_parser = parse::mark)]
    pub thousands: Option<char>,
    /// A sign that may stand beside numbers of CSV: € or $ or EUR; may be repeated
    #[arg(long, value_name = "SIGN")]
    pub currency: Vec<String>,
    /// A word of CSV that means true; may be repeated
    #[arg(long = "true", value_name = "WORD")]
    pub true_words: Vec<String>,
    /// A word of CSV that means false; may be repeated
    #[arg(long = "false", value_name = "WORD")]
    pub false_words: Vec<String>,
    /// The format of the dates in a column of CSV, which are stored as 2024-01-31: born=%d.%m.%Y; may be repeated
    #[arg(long, value_name = "C=FORMAT", value_parser = pair)]
    pub date_format: Vec<(String, String)>,
    /// Encoding of text: latin1, utf-16le, shift_jis [default: what a byte-order mark says, or UTF-8]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Fields without quotes that mean NULL: '' for empty ones, NA; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub null_value: Vec<String>,
    /// Words that mean NULL in columns of numbers alone: NaN, NA, -999; may be repeated
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub missing: Vec<String>,
    /// Words for infinity in columns of numbers, also with a sign in front: inf; may be repeated
    #[arg(long, value_name = "WORD")]
    pub infinity: Vec<String>,
    /// Another form for a typed column of Parquet or Arrow: created=unixepoch; may be repeated
    #[arg(long, value_name = "[TABLE.]C=FORM", value_parser = pair)]
    pub store_as: Vec<(String, String)>,
    /// Find out types from the first N records instead of all
    #[arg(long, value_name = "N", value_parser = units::count)]
    pub sample: Option<u64>,
}

/// The tables that files become.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub struct TableArgs {
    /// The table of all files [default: one table a file, called as the file]
    #[arg(long, value_name = "T")]
    pub table: Option<String>,
    /// A file of CREATE statements for the tables; columns are matched by name
    #[arg(long, value_name = "FILE.sql")]
    pub schema: Option<PathBuf>,
    /// A column of a file and its column in the table; 'name=' leaves the column out; may be repeated
    #[arg(long, value_name = "FILE_C=TABLE_C", value_parser = pair_or_nothing)]
    pub map: Vec<(String, String)>,
    /// Make a GeoPackage: the column of geometries (WKB, WKT, GeoJSON), or X,Y, two columns of coordinates
    #[arg(long, value_name = "C | X,Y")]
    pub geometry: Option<String>,
    /// Reference system of the coordinates: EPSG:25832 [default: what the files say]
    #[arg(long, value_name = "NAME")]
    pub crs: Option<String>,
    /// Make a database of each value of this column, in the folder OUT
    #[arg(long, value_name = "C")]
    pub split_by: Option<String>,
    /// Replace these tables of a database that exists, and keep everything else in it
    #[arg(long)]
    pub replace_tables: bool,
    /// Columns of the primary key
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub primary_key: Vec<String>,
    /// Make the tables WITHOUT ROWID: rows are stored in the order of the primary key
    #[arg(long)]
    pub without_rowid: bool,
    /// Make the tables STRICT: SQLite checks the type of every value
    #[arg(long)]
    pub strict: bool,
    /// The type of a column, whatever its values say: code=TEXT, '*_at=TEXT' for several; may be repeated
    #[arg(long = "type", value_name = "[TABLE.]C=TYPE", value_parser = pair)]
    pub types: Vec<(String, String)>,
    /// Rule for columns of numbers: exact (each text comes back), digits (each digit), lenient (the nearest double); for some
    /// columns price=lenient; may be repeated [default: digits]
    #[arg(long, value_name = "[[TABLE.]C=]RULE", value_parser = parse::numbers)]
    pub numbers: Vec<(String, Numbers)>,
    /// Columns that take no NULL
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub not_null: Vec<String>,
    /// An index on these columns; may be repeated
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub index: Vec<String>,
    /// A full-text index on these columns, in a table T_fts of FTS5; may be repeated
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub fts: Vec<String>,
    /// Place of the texts of full-text indexes: the table, or copies in the index (own) [default: table]
    #[arg(long, value_name = "PLACE", value_parser = FtsContent::from_name)]
    pub fts_content: Option<FtsContent>,
    /// Tokenizer of full-text indexes: porter, trigram, 'unicode61 remove_diacritics 2' [default: unicode61]
    #[arg(long, value_name = "NAME")]
    pub fts_tokenizer: Option<String>,
    /// A UNIQUE constraint on these columns; may be repeated
    #[arg(long, value_name = "[TABLE.]C,..")]
    pub unique: Vec<String>,
    /// A foreign key: a column and the column that it refers to; may be repeated
    #[arg(long, value_name = "[TABLE.]C=T.C", value_parser = pair)]
    pub foreign_key: Vec<(String, String)>,
}

/// The treatment of wrong records.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Error handling")]
pub struct BadRecordArgs {
    /// Action for records that cannot be read or that their table does not take [default: abort]
    #[arg(long, value_name = "HOW", value_enum)]
    pub on_error: Option<OnErrorArg>,
    /// Write records that are left out to this CSV file, with file, record, line, column and reason
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Leave out this many records at most [default: any number]
    #[arg(long, value_name = "N", value_parser = units::count)]
    pub max_rejects: Option<u64>,
    /// Action for CSV records with too many or too few fields
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub ragged: RaggedArg,
    /// Action for CSV records with quotes in the wrong place: text behind a closing quote, or no closing quote
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub stray_quotes: StrayQuotesArg,
    /// Action for CSV records that repeat the header, as in files that were written one after another into one
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub repeated_header: RepeatedHeaderArg,
    /// Copy a database even if something of it cannot be copied; the summary lists it
    #[arg(long)]
    pub allow_incomplete: bool,
    /// Action for text that is not valid UTF-8
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub invalid_utf8: InvalidUtf8Arg,
}

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Fields between commas, or what --delimiter says.
    Csv,
    /// Fields between tabs.
    Tsv,
    /// A JSON object a line.
    Ndjson,
    /// JSON objects one after another, on any number of lines, or in one array.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// FlatGeobuf.
    #[value(name = "flatgeobuf")]
    FlatGeobuf,
    /// The tables of another SQLite database.
    Sqlite,
}

/// `--on-error`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArg {
    /// The run fails, and leaves what was there as it was.
    Abort,
    /// The record is left out.
    Reject,
    /// NULL takes the place of a value that its column does not take; what cannot be read fails.
    Null,
}

/// `--ragged`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RaggedArg {
    /// They are wrong.
    #[default]
    Error,
    /// Missing fields are NULL; too many are wrong.
    Pad,
    /// Missing fields are NULL; surplus fields are cut, and the records counted.
    Fit,
    /// They are left out.
    Reject,
}

/// `--stray-quotes`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StrayQuotesArg {
    /// The record is wrong.
    #[default]
    Error,
    /// They are text, in the way that gives the record as many fields as there are columns.
    Text,
}

/// `--repeated-header`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RepeatedHeaderArg {
    /// They are records like any other.
    #[default]
    Keep,
    /// They are left out.
    Skip,
    /// The table ends there, and nothing below is loaded.
    Stop,
}

/// `--invalid-utf8`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InvalidUtf8Arg {
    /// The record is wrong.
    #[default]
    Error,
    /// U+FFFD takes the place of what is wrong.
    Replace,
    /// The value is stored as a blob.
    Blob,
}

impl LoadArgs {
    /// Reads the schema.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_schema(&self) -> Result<Option<SchemaText>> {
        self.tables.schema.as_deref().map(SchemaText::from_file).transpose()
    }

    /// Returns the options.
    pub fn options(self, build: Options, schema: Option<SchemaText>, observer: Arc<Reporter>) -> LoadOptions {
        let Self { reading, content, tables, append, wrong } = self;
        let mut options = LoadOptions::default().build(build).observer(observer);
        options.format = reading.format.map(Into::into);
        options.delimiter = reading.delimiter;
        options.quote = reading.quote.unwrap_or_default();
        options.escape = reading.escape;
        options.header = (reading.header || reading.no_header).then_some(reading.header);
        options.skip = reading.skip;
        options.trim = reading.trim;
        options.skip_empty = reading.skip_empty;
        options.columns = reading.columns;
        options.comment = reading.comment;
        options.values = ValueOptions {
            decimal: reading.decimal,
            thousands: reading.thousands,
            currency: reading.currency,
            true_words: reading.true_words,
            false_words: reading.false_words,
            dates: reading.date_format,
        };
        content.apply(&mut options);
        options.encoding = reading.encoding;
        options.null_values = reading.null_value;
        options.words = NumberWords { missing: reading.missing, infinity: reading.infinity };
        options.store_as = reading.store_as;
        options.sample = reading.sample;
        options.schema = schema;
        options.tables = tables.options();
        options.table = tables.table;
        options.split_by = tables.split_by;
        options.replace_tables = tables.replace_tables;
        options.geometry.clone_from(&tables.geometry);
        options.crs.clone_from(&tables.crs);
        options.map = tables.map;
        append.apply(&mut options);
        options.on_error = wrong.on_error.map(Into::into);
        options.rejects = wrong.rejects;
        options.max_rejects = wrong.max_rejects;
        options.ragged = wrong.ragged.into();
        options.stray_quotes = wrong.stray_quotes.into();
        options.repeated_header = wrong.repeated_header.into();
        options.invalid_utf8 = wrong.invalid_utf8.into();
        options.allow_incomplete = wrong.allow_incomplete;
        options
    }
}

impl TableArgs {
    fn options(&self) -> TableOptions {
        let list =
            |columns: &String| columns.split(',').map(|column| column.trim().to_owned()).collect::<Vec<String>>();
        TableOptions {
            primary_key: self.primary_key.iter().map(list).collect(),
            without_rowid: self.without_rowid,
            strict: self.strict,
            types: self.types.clone(),
            numbers: self.numbers.clone(),
            not_null: self.not_null.iter().flat_map(list).collect(),
            indexes: self.index.iter().map(list).collect(),
            full_text: self.fts.iter().map(list).collect(),
            text_content: self.fts_content,
            tokenizer: self.fts_tokenizer.clone(),
            unique: self.unique.iter().map(list).collect(),
            foreign_keys: self.foreign_key.clone(),
        }
    }
}

impl From<FormatArg> for FileFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Csv => Self::Csv,
            FormatArg::Tsv => Self::Tsv,
            FormatArg::Ndjson => Self::Ndjson,
            FormatArg::Json => Self::Json,
            FormatArg::Parquet => Self::Parquet,
            FormatArg::Arrow => Self::Arrow,
            FormatArg::FlatGeobuf => Self::FlatGeobuf,
            FormatArg::Sqlite => Self::Sqlite,
        }
    }
}

impl From<OnErrorArg> for OnError {
    fn from(on_error: OnErrorArg) -> Self {
        match on_error {
            OnErrorArg::Abort => Self::Abort,
            OnErrorArg::Reject => Self::Reject,
            OnErrorArg::Null => Self::Null,
        }
    }
}

impl From<RaggedArg> for Ragged {
    fn from(ragged: RaggedArg) -> Self {
        match ragged {
            RaggedArg::Error => Self::Error,
            RaggedArg::Pad => Self::Pad,
            RaggedArg::Fit => Self::Fit,
            RaggedArg::Reject => Self::Reject,
        }
    }
}

impl From<StrayQuotesArg> for StrayQuotes {
    fn from(stray_quotes: StrayQuotesArg) -> Self {
        match stray_quotes {
            StrayQuotesArg::Error => Self::Error,
            StrayQuotesArg::Text => Self::Text,
        }
    }
}

impl From<RepeatedHeaderArg> for RepeatedHeader {
    fn from(repeated_header: RepeatedHeaderArg) -> Self {
        match repeated_header {
            RepeatedHeaderArg::Keep => Self::Keep,
            RepeatedHeaderArg::Skip => Self::Skip,
            RepeatedHeaderArg::Stop => Self::Stop,
        }
    }
}

impl From<InvalidUtf8Arg> for InvalidUtf8 {
    fn from(invalid_utf8: InvalidUtf8Arg) -> Self {
        match invalid_utf8 {
            InvalidUtf8Arg::Error => Self::Error,
            InvalidUtf8Arg::Replace => Self::Replace,
            InvalidUtf8Arg::Blob => Self::Blob,
        }
    }
}

/// Parses `A=B`. Cuts at the last `=`, because a column name on the left may contain others.
fn pair(text: &str) -> Result<(String, String), String> {
    match pair_or_nothing(text)? {
        (left, _) if left.is_empty() => Err("there is nothing in front of the '='".to_owned()),
        (_, right) if right.is_empty() => Err("there is nothing behind the '='".to_owned()),
        pair => Ok(pair),
    }
}

fn pair_or_nothing(text: &str) -> Result<(String, String), String> {
    let pair = text.rsplit_once('=').map(|(left, right)| (left.to_owned(), right.to_owned()));
    pair.ok_or_else(|| "two names are written NAME=NAME".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_cut_at_the_last_sign() {
        assert_eq!(pair("a=b=TEXT"), Ok(("a=b".to_owned(), "TEXT".to_owned())));
        assert_eq!(pair_or_nothing("a="), Ok(("a".to_owned(), String::new())));
        // A key of JSON may be empty.
        assert_eq!(pair_or_nothing("=a"), Ok((String::new(), "a".to_owned())));
        assert!(pair("a=").is_err() && pair("=b").is_err() && pair("ab").is_err());
    }
}
