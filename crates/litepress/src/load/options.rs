//! Options of a load.

use crate::append::existing;
use crate::observer::{NullObserver, Observer};
use crate::parse;
use crate::schema_text::SchemaText;
use crate::{
    AppendOptions, Conflict, Error, ErrorKind, FtsContent, InvalidUtf8, NanPolicy, NumberWords, Numbers, OnError,
    Options, Ragged, Result, Schema, TableOptions,
};
use litepress_engine::{TargetStamp, begin_replacing};
use litepress_load::input::Input;
use litepress_load::options::{
    Dialect, Format, JsonLayout, JsonOptions, Quote, ReadOptions, RepeatedHeader, StrayQuotes, ValueOptions,
};
use litepress_load::plan::NeededKeys;
use litepress_rows::files::is_same_file;
use litepress_rows::sqlite::companion_of;
use litepress_rows::{OptionName, message};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Fields between commas, or another delimiter.
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
    FlatGeobuf,
    /// The tables of another SQLite database.
    Sqlite,
}

impl FileFormat {
    fn format(self) -> Format {
        match self {
            Self::Csv | Self::Tsv => Format::Csv,
            Self::Ndjson | Self::Json => Format::Json,
            Self::Parquet => Format::Parquet,
            Self::Arrow => Format::Arrow,
            Self::FlatGeobuf => Format::FlatGeobuf,
            Self::Sqlite => Format::Sqlite,
        }
    }
}

/// Options of [`load`](super::load).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Options of the database.
    pub build: Options,
    /// Format of the files; by default what their content says.
    pub format: Option<FileFormat>,
    /// Delimiter of CSV, of one or more characters; by default the one of comma, tab, semicolon and bar that divides the first
    /// records evenly.
    pub delimiter: Option<String>,
    /// Quote of CSV, or none; by default `"`, or `'` if only that divides the first records evenly.
    pub quote: Quote,
    /// Character in front of a quote within quotes; by default quotes are doubled.
    pub escape: Option<u8>,
    /// Whether the first record of CSV names the columns; by default it does, unless it looks like the records below it.
    pub header: Option<bool>,
    /// Number of lines at the beginning of CSV that are skipped.
    pub skip: u64,
    /// Whether spaces around fields of CSV are dropped.
    pub trim: bool,
    /// Whether records of CSV whose fields are all empty are left out.
    pub skip_empty: bool,
    /// Names of the columns of CSV, whatever its header says.
    pub columns: Vec<String>,
    /// First character of lines of CSV that are skipped.
    pub comment: Option<u8>,
    /// Conversions of CSV fields to numbers and dates.
    pub values: ValueOptions,
    /// Keys that lead to the records of JSON, with dots between them: `data.items`.
    pub json_path: Option<String>,
    /// Whether nested objects of JSON become columns: `{"a": {"b": 1}}` has a column `a_b`.
    pub flatten: bool,
    /// Fate of NaN and Infinity in JSON that `words` lacks.
    pub nan: NanPolicy,
    /// Whether a key that a record of JSON lacks, and other records have, is NULL where records update rows ([`Conflict::Update`](crate::Conflict::Update)).
    /// By default such a record is wrong. The same holds for a column that some of the files of a table lack.
    pub absent_as_null: bool,
    /// Sheets of workbooks; by default all that have a value.
    pub sheets: Vec<String>,
    /// Columns of files to read, as `COLUMN` or `TABLE.COLUMN`; by default all.
    pub select: Vec<String>,
    /// Largest number of records of each table; by default there is no limit.
    pub limit: Option<u64>,
    /// Column of the tables that holds the name of each record's file.
    pub source_column: Option<String>,
    /// Encoding of text (`latin1`, `utf-16le`); by default what a byte-order mark says, else UTF-8.
    pub encoding: Option<String>,
    /// Fields without quotes that mean NULL.
    pub null_values: Vec<String>,
    /// Words in columns of numbers.
    pub words: NumberWords,
    /// Typed columns of Parquet or Arrow, and the forms in which they are stored.
    pub store_as: Vec<(String, String)>,
    /// Number of records that decide the types of columns; by default all.
    pub sample: Option<u64>,
    /// The table of all files; by default every file has its own, named after it.
    pub table: Option<String>,
    /// CREATE statements for the tables; by default types are inferred from the values.
    pub schema: Option<SchemaText>,
    /// Keys, types and indexes of tables whose types are inferred.
    pub tables: TableOptions,
    /// Columns of files and the columns of the table that they go to; an empty name leaves a column out.
    pub map: Vec<(String, String)>,
    /// Column of geometries, or two columns of coordinates with a comma between them: the database is then a GeoPackage.
    pub geometry: Option<String>,
    /// Reference system of the coordinates (`EPSG:25832`); by default what the files say.
    pub crs: Option<String>,
    /// Fate of records that cannot be read or that their table does not take; by default they fail the run, or are
    /// rejected if `rejects` or `max_rejects` is set.
    pub on_error: Option<OnError>,
    /// CSV file for rejected records, with file, record, line, column and reason.
    pub rejects: Option<PathBuf>,
    /// Largest number of rejected records; by default there is no limit.
    pub max_rejects: Option<u64>,
    /// Fate of CSV records with too many or too few fields.
    pub ragged: Ragged,
    /// Fate of quotes of CSV in the wrong place.
    pub stray_quotes: StrayQuotes,
    /// Fate of CSV records that repeat the header.
    pub repeated_header: RepeatedHeader,
    /// Fate of text that is not UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// Whether a copy of a database may lack what cannot be copied; by default that is an error.
    pub allow_incomplete: bool,
    /// Whether the files replace tables of a target that exists, and everything else in it is kept.
    pub replace_tables: bool,
    /// Whether the files are added to the tables of a target that exists. A target that does not exist is made.
    pub append: bool,
    /// Column whose values divide the rows: the target is a folder, with a database of each value.
    pub split_by: Option<String>,
    /// How rows are added to a target that exists.
    pub append_options: AppendOptions,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
    /// Refuses files before they are opened, for a face that must not open some.
    #[doc(hidden)]
    pub path_guard: Option<fn(&Path) -> Result<()>>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            build: Options::default(),
            format: None,
            delimiter: None,
            quote: Quote::default(),
            escape: None,
            header: None,
            skip: 0,
            trim: false,
            skip_empty: false,
            values: ValueOptions::default(),
            columns: Vec::new(),
            comment: None,
            json_path: None,
            flatten: false,
            nan: NanPolicy::default(),
            absent_as_null: false,
            sheets: Vec::new(),
            select: Vec::new(),
            limit: None,
            source_column: None,
            encoding: None,
            null_values: Vec::new(),
            words: NumberWords::default(),
            store_as: Vec::new(),
            sample: None,
            table: None,
            schema: None,
            tables: TableOptions::default(),
            map: Vec::new(),
            geometry: None,
            crs: None,
            on_error: None,
            rejects: None,
            max_rejects: None,
            ragged: Ragged::default(),
            stray_quotes: StrayQuotes::default(),
            repeated_header: RepeatedHeader::default(),
            invalid_utf8: InvalidUtf8::default(),
            allow_incomplete: false,
            replace_tables: false,
            append: false,
            split_by: None,
            append_options: AppendOptions::default(),
            observer: Arc::new(NullObserver),
            path_guard: None,
        }
    }
}

/// Defines methods that set a field and return the options.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),+) => |$options:ident| $set:expr;)+) => {
        impl LoadOptions {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $($argument: $type),+) -> Self {
                let $options = &mut self;
                $set;
                self
            }
        )+}
    };
}

setters! {
    /// Sets the options of the database.
    build(build: Options) => |options| options.build = build;
    /// Sets the format of the files.
    format(format: FileFormat) => |options| options.format = Some(format);
    /// Sets the delimiter of CSV.
    delimiter(delimiter: impl Into<String>) => |options| options.delimiter = Some(delimiter.into());
    /// Sets the quote of CSV, or none.
    quote(quote: Quote) => |options| options.quote = quote;
    /// Sets the character in front of a quote within quotes.
    escape(escape: u8) => |options| options.escape = Some(escape);
    /// Sets whether the first record of CSV names the columns.
    header(header: bool) => |options| options.header = Some(header);
    /// Sets the number of lines at the beginning of CSV that are skipped.
    skip(lines: u64) => |options| options.skip = lines;
    /// Sets whether spaces around fields of CSV are dropped.
    trim(trim: bool) => |options| options.trim = trim;
    /// Sets whether records of CSV whose fields are all empty are left out.
    skip_empty(skip_empty: bool) => |options| options.skip_empty = skip_empty;
    /// Sets the names of the columns of CSV.
    columns(columns: &[&str]) => |options| options.columns = owned(columns);
    /// Sets the first character of lines of CSV that are skipped.
    comment(comment: u8) => |options| options.comment = Some(comment);
    /// Sets the mark before decimals in numbers of CSV.
    decimal(mark: char) => |options| options.values.decimal = Some(mark);
    /// Sets the mark between thousands in numbers of CSV.
    thousands(mark: char) => |options| options.values.thousands = Some(mark);
    /// Adds a sign that may stand beside numbers of CSV.
    currency(sign: impl Into<String>) => |options| options.values.currency.push(sign.into());
    /// Adds a word of CSV that means true.
    true_word(word: impl Into<String>) => |options| options.values.true_words.push(word.into());
    /// Adds a word of CSV that means false.
    false_word(word: impl Into<String>) => |options| options.values.false_words.push(word.into());
    /// Sets the format of the dates of a column of CSV, as strftime(3) has it.
    date_format(column: impl Into<String>, format: impl Into<String>) => |options| options.values.dates.push((column.into(), format.into()));
    /// Sets the keys that lead to the records of JSON: `data.items`.
    json_path(path: impl Into<String>) => |options| options.json_path = Some(path.into());
    /// Sets whether nested objects of JSON become columns.
    flatten(flatten: bool) => |options| options.flatten = flatten;
    /// Sets the fate of NaN and Infinity in JSON that are not among the [missing](Self::missing) and [infinite](Self::infinity) words.
    nan(nan: NanPolicy) => |options| options.nan = nan;
    /// Sets whether a key that a record of JSON lacks is NULL where records update rows.
    absent_as_null(absent_as_null: bool) => |options| options.absent_as_null = absent_as_null;
    /// Adds a sheet of the workbooks.
    sheet(sheet: impl Into<String>) => |options| options.sheets.push(sheet.into());
    /// Adds columns of files to read.
    select(columns: &[&str]) => |options| options.select.extend(owned(columns));
    /// Sets the largest number of records of each table.
    limit(records: u64) => |options| options.limit = Some(records);
    /// Sets the column that holds the name of each record's file.
    source_column(column: impl Into<String>) => |options| options.source_column = Some(column.into());
    /// Sets the encoding of text.
    encoding(encoding: impl Into<String>) => |options| options.encoding = Some(encoding.into());
    /// Adds a word for a missing number in columns of numbers.
    missing(word: impl Into<String>) => |options| options.words.missing.push(word.into());
    /// Adds a word for infinity in columns of numbers.
    infinity(word: impl Into<String>) => |options| options.words.infinity.push(word.into());
    /// Adds a field without quotes that means NULL.
    null_value(field: impl Into<String>) => |options| options.null_values.push(field.into());
    /// Sets the form in which a typed column of Parquet or Arrow is stored.
    store_as(column: impl Into<String>, form: impl Into<String>) => |options| options.store_as.push((column.into(), form.into()));
    /// Sets the number of records that decide the types of columns.
    sample(records: u64) => |options| options.sample = Some(records);
    /// Sets the table of all files.
    table(table: impl Into<String>) => |options| options.table = Some(table.into());
    /// Sets the schema of the tables.
    schema(schema: impl Into<SchemaText>) => |options| options.schema = Some(schema.into());
    /// Sets the primary key of the tables.
    primary_key(columns: &[&str]) => |options| options.tables.primary_key.push(owned(columns));
    /// Sets whether the tables are WITHOUT ROWID.
    without_rowid(without_rowid: bool) => |options| options.tables.without_rowid = without_rowid;
    /// Sets whether the tables are STRICT.
    strict(strict: bool) => |options| options.tables.strict = strict;
    /// Sets the declared type of a column; `*` in its name stands for any characters.
    column_type(column: impl Into<String>, declared_type: impl Into<String>) => |options| options.tables.types.push((column.into(), declared_type.into()));
    /// Sets the rule for columns of numbers.
    numbers(rule: Numbers) => |options| options.tables.numbers.push(("*".to_owned(), rule));
    /// Sets the rule for numbers of a column; `*` in its name stands for any characters.
    numbers_of(column: impl Into<String>, rule: Numbers) => |options| options.tables.numbers.push((column.into(), rule));
    /// Adds columns that take no NULL.
    not_null(columns: &[&str]) => |options| options.tables.not_null.extend(owned(columns));
    /// Adds an index.
    index(columns: &[&str]) => |options| options.tables.indexes.push(owned(columns));
    /// Adds a full-text index on columns of a table: a table of FTS5 named `TABLE_fts`, and triggers that keep it up to date.
    fts(columns: &[&str]) => |options| options.tables.full_text.push(owned(columns));
    /// Sets the place of the texts of full-text indexes: the table, or copies in the index itself.
    fts_content(content: FtsContent) => |options| options.tables.text_content = Some(content);
    /// Sets the tokenizer of full-text indexes, as FTS5 has it: `porter`, `unicode61 remove_diacritics 2`.
    fts_tokenizer(tokenizer: impl Into<String>) => |options| options.tables.tokenizer = Some(tokenizer.into());
    /// Adds columns of which no two rows may have the same values.
    unique(columns: &[&str]) => |options| options.tables.unique.push(owned(columns));
    /// Adds a foreign key: a column, and `TABLE.COLUMN` that it refers to.
    foreign_key(child: impl Into<String>, parent: impl Into<String>) => |options| options.tables.foreign_keys.push((child.into(), parent.into()));
    /// Sets the column of the table for a column of a file; an empty name leaves the column out.
    map(from: impl Into<String>, to: impl Into<String>) => |options| options.map.push((from.into(), to.into()));
    /// Sets the column of geometries, or two columns of coordinates with a comma between them.
    geometry(column: impl Into<String>) => |options| options.geometry = Some(column.into());
    /// Sets the reference system of the coordinates: `EPSG:25832`.
    crs(crs: impl Into<String>) => |options| options.crs = Some(crs.into());
    /// Sets the fate of wrong records.
    on_error(on_error: OnError) => |options| options.on_error = Some(on_error);
    /// Sets the CSV file for rejected records.
    rejects(file: impl Into<PathBuf>) => |options| options.rejects = Some(file.into());
    /// Sets the largest number of rejected records.
    max_rejects(records: u64) => |options| options.max_rejects = Some(records);
    /// Sets the fate of CSV records with too many or too few fields.
    ragged(ragged: Ragged) => |options| options.ragged = ragged;
    /// Sets the fate of quotes of CSV in the wrong place.
    stray_quotes(stray_quotes: StrayQuotes) => |options| options.stray_quotes = stray_quotes;
    /// Sets the fate of CSV records that repeat the header.
    repeated_header(repeated_header: RepeatedHeader) => |options| options.repeated_header = repeated_header;
    /// Sets the fate of text that is not UTF-8.
    invalid_utf8(invalid_utf8: InvalidUtf8) => |options| options.invalid_utf8 = invalid_utf8;
    /// Sets whether a copy of a database may lack what cannot be copied.
    allow_incomplete(allow: bool) => |options| options.allow_incomplete = allow;
    /// Sets whether the files replace tables of a target that exists, and everything else in it is kept.
    replace_tables(replace: bool) => |options| options.replace_tables = replace;
    /// Sets whether the files are added to the tables of a target that exists.
    append(append: bool) => |options| options.append = append;
    /// Sets the column whose values divide the rows: the target is a folder, with a database of each value.
    split_by(column: impl Into<String>) => |options| options.split_by = Some(column.into());
    /// Sets whether the rows of these tables are deleted before.
    truncate(truncate: bool) => |options| options.append_options.truncate = truncate;
    /// Sets whether columns that a table lacks are added to it.
    add_columns(add: bool) => |options| options.append_options.add_columns = add;
    /// Sets whether foreign keys are enforced as rows are added to a target that exists.
    enforce_foreign_keys(enforce: bool) => |options| options.append_options.enforce_foreign_keys = enforce;
    /// Sets whether all pages of a target that exists go through the WAL or the journal.
    through_wal(through_wal: bool) => |options| options.append_options.through_wal = through_wal;
    /// Sets the longest wait for a lock of another program.
    busy_timeout(timeout: Duration) => |options| options.append_options.busy_timeout = timeout;
    /// Sets the columns of the unique key that decides which row is updated.
    key(columns: &[&str]) => |options| options.build.key = owned(columns);
    /// Sets the columns that an update changes.
    update_columns(columns: &[&str]) => |options| options.build.update_columns = owned(columns);
    /// Sets the observer.
    observer(observer: Arc<dyn Observer>) => |options| options.observer = observer;
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl LoadOptions {
    /// Returns the schema of the target if rows are added to its tables. `None` if a new database is made.
    pub(super) fn existing(&self, target: Option<&Path>) -> Result<Option<Schema>> {
        let append = &self.append_options;
        let needing = [
            (OptionName::Truncate, append.truncate),
            (OptionName::AddColumns, append.add_columns),
            (OptionName::EnforceForeignKeys, append.enforce_foreign_keys),
        ];
        if let Some((option, _)) = needing.into_iter().find(|(_, is_given)| *is_given && !self.append) {
            let message = message![option.alone().given(), " is for tables of a database that exists"];
            return Err(Error::new(ErrorKind::Usage, message).advise(message!["add ", OptionName::Append.alone()]));
        }
        let others = [(OptionName::ReplaceTables, self.replace_tables), (OptionName::Overwrite, self.build.overwrite)];
        if let Some((option, _)) = others.into_iter().find(|(_, is_given)| *is_given && self.append) {
            let (append, option) = (OptionName::Append.alone().given(), option.alone().given());
            let message = message![append, " keeps the rows of tables, and ", option, " replaces them"];
            let advice = message!["leave one of them out, or replace rows with ", OptionName::Truncate.alone()];
            return Err(Error::new(ErrorKind::Usage, message).advise(advice));
        }
        let Some(target) = target.filter(|_| self.append) else { return Ok(None) };
        existing(target, append)
    }

    /// Checks that tables of the target may be replaced. `None` if the whole target is made anew.
    pub(super) fn successor_of(&self, target: Option<&Path>) -> Result<Option<TargetStamp>> {
        if self.replace_tables && self.build.overwrite {
            let (tables, whole) = (OptionName::ReplaceTables.alone().given(), OptionName::Overwrite.alone().given());
            let message = message![tables, " keeps the other tables, and ", whole, " replaces the whole file"];
            return Err(Error::new(ErrorKind::Usage, message).advise("leave one of them out"));
        }
        let target = target.filter(|_| self.replace_tables);
        Ok(target.map(begin_replacing).transpose()?.flatten())
    }

    /// Refuses rejects that would take the name of the database, or of a file that is read.
    pub(super) fn refuse_rejects_among(&self, inputs: &[Input], out: Option<&Path>) -> Result<()> {
        let Some(rejects) = &self.rejects else { return Ok(()) };
        let is_same = |path: &Path| is_same_file(path, rejects);
        let database = companion_of(rejects);
        let is_beside = |database: &Path| database.exists() || out.is_some_and(|out| is_same_file(out, database));
        let what = if inputs.iter().filter_map(Input::path).any(is_same) {
            " names a file that is read"
        } else if out.is_some_and(is_same) {
            " names the database"
        } else if database.is_some_and(|database| is_beside(&database)) {
            " has the name of a file that SQLite keeps beside a database"
        } else {
            return Ok(());
        };
        let message = message![OptionName::Rejects.alone().given(), what];
        Err(Error::new(ErrorKind::Usage, message).in_file(rejects).advise("name another file for the rejects"))
    }

    /// Refuses definitions of tables beside a schema, which says all that they could.
    pub(super) fn refuse_definitions(&self) -> Result<()> {
        let tables = &self.tables;
        let given = [
            (OptionName::PrimaryKey, !tables.primary_key.is_empty()),
            (OptionName::WithoutRowid, tables.without_rowid),
            (OptionName::Strict, tables.strict),
            (OptionName::Type, !tables.types.is_empty()),
            (OptionName::Numbers, !tables.numbers.is_empty()),
            (OptionName::NotNull, !tables.not_null.is_empty()),
            (OptionName::Index, !tables.indexes.is_empty()),
            (OptionName::Fts, !tables.full_text.is_empty()),
            (OptionName::FtsContent, tables.text_content.is_some()),
            (OptionName::FtsTokenizer, tables.tokenizer.is_some()),
            (OptionName::Unique, !tables.unique.is_empty()),
            (OptionName::ForeignKey, !tables.foreign_keys.is_empty()),
        ];
        let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let schema = OptionName::Schema.alone().given();
        let message = message![option.alone().given(), " has no effect: ", schema, " defines the tables"];
        Err(Error::new(ErrorKind::Usage, message).advise("write it into the schema"))
    }

    /// Decides about wrong records: a file or a limit for rejects says that they are rejected.
    pub(crate) fn policy(&self) -> Result<OnError> {
        let rejects = (self.rejects.is_some() || self.max_rejects.is_some()) && self.ragged != Ragged::Reject;
        match self.on_error {
            None if rejects => Ok(OnError::Reject),
            Some(OnError::Abort) if rejects => {
                let message = message![
                    OptionName::Rejects.alone().given(),
                    " and ",
                    OptionName::MaxRejects.alone().given(),
                    " are for records that are left out, and ",
                    OptionName::OnError.word("abort").given(),
                    " leaves none out"
                ];
                let advice = message!["choose ", OptionName::OnError.word("reject")];
                Err(Error::new(ErrorKind::Usage, message).advise(advice))
            }
            None => Ok(OnError::Abort),
            Some(policy) => Ok(policy),
        }
    }

    /// Returns the columns whose keys all records of JSON need.
    pub(super) fn needed_keys(&self) -> NeededKeys {
        if self.build.on_conflict != Conflict::Update || self.absent_as_null {
            NeededKeys::None
        } else if self.build.update_columns.is_empty() {
            NeededKeys::All
        } else {
            NeededKeys::Columns(self.build.update_columns.clone())
        }
    }

    /// Returns how JSON is read.
    fn json(&self) -> Result<JsonOptions> {
        let layout = match self.format {
            Some(FileFormat::Ndjson) => Some(JsonLayout::Lines),
            Some(FileFormat::Json) => Some(JsonLayout::Stream),
            _ => None,
        };
        let path = self.json_path.as_deref().map_or(Ok(Vec::new()), parse::json_path);
        let path = path.map_err(|why| {
            let given = OptionName::JsonPath.word(self.json_path.clone().unwrap_or_default()).given();
            Error::new(ErrorKind::Usage, message![given, format!(": {why}")])
        })?;
        Ok(JsonOptions { layout, path, flatten: self.flatten, nan: self.nan, features: None })
    }

    /// Returns how files are read.
    pub(super) fn read(&self) -> Result<ReadOptions> {
        let is_tsv = self.format == Some(FileFormat::Tsv);
        if is_tsv && self.delimiter.as_ref().is_some_and(|delimiter| delimiter != "\t") {
            let (format, delimiter) = (OptionName::Format.word("tsv").given(), OptionName::Delimiter.alone().given());
            let message = message![format, " has tabs between fields, and ", delimiter, " another one"];
            return Err(Error::new(ErrorKind::Usage, message).advise("leave one of them out"));
        }
        let dialect = Dialect {
            delimiter: self.delimiter.clone().or(is_tsv.then(|| "\t".to_owned())),
            quote: self.quote,
            escape: self.escape,
            header: self.header,
            columns: (!self.columns.is_empty()).then(|| self.columns.clone()),
            comment: self.comment,
            skip: self.skip,
            ragged: self.ragged,
            stray_quotes: self.stray_quotes,
            repeated_header: self.repeated_header,
            trim: self.trim,
            skips_empty: self.skip_empty,
        };
        Ok(ReadOptions {
            format: self.format.map(FileFormat::format),
            dialect,
            json: self.json()?,
            encoding: self.encoding.clone(),
            invalid_utf8: self.invalid_utf8,
            nulls: self.null_values.clone(),
            values: self.values.clone(),
            words: Arc::new(self.words.clone()),
            path_guard: self.path_guard,
            ..ReadOptions::default()
        })
    }
}
