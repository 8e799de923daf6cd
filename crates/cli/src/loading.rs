//! What `load` and `plan` have in common: the arguments that say which files are read, how, and into what tables.

use crate::audience::Audience;
use crate::columns::{Align, aligned};
use crate::failure::{Failure, Texts};
use crate::numbers;
use crate::progress::{Sample, Unit, Watch};
use crate::schema_text::SchemaText;
use clap::{Args, ValueEnum};
use litepress::{Error, ErrorKind, Options, PageSize, Result};
use litepress_load::infer::Decision;
use litepress_load::input::Input;
use litepress_load::options::{Dialect, Format, InvalidUtf8, Ragged, ReadOptions};
use litepress_load::plan::{LoadPlan, LoadRequest, PlannedTable};
use litepress_load::rejects::Rejects;
use litepress_load::schema::TableOptions;
use litepress_load::source::{LoadSource, OnError};
use litepress_rows::Source;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// All arguments about files and the tables that they become.
#[derive(Args, Debug)]
pub struct LoadingArguments {
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub tables: TableArguments,
    #[command(flatten)]
    pub wrong: WrongRecordArguments,
}

/// What files are to be loaded, and into what tables.
#[derive(Debug, Default)]
pub struct LoadJob {
    /// Paths, patterns of paths, or `-` for standard input.
    pub files: Vec<PathBuf>,
    /// How they are read.
    pub reading: ReadingArguments,
    /// The table of all files; by default each has its own, called as the file.
    pub table: Option<String>,
    /// CREATE statements for the tables.
    pub schema: Option<SchemaText>,
    /// What tables have beyond columns, where no schema says it.
    pub definitions: TableOptions,
    /// Columns of files and the table's columns that they go to; an empty name leaves a column out.
    pub map: Vec<(String, String)>,
    /// What becomes of records that are wrong.
    pub wrong: WrongRecordArguments,
}

/// Files that are ready to be loaded.
pub struct Loading {
    /// Which files go to which tables.
    pub plan: LoadPlan,
    /// Page size of the database, as the engine chooses it.
    pub page_size: PageSize,
    /// Bytes of input that were read to find out what it is.
    pub bytes_read_before: u64,
    on_error: OnError,
    rejects: Option<PathBuf>,
    max_rejects: u64,
    /// What errors may be about.
    texts: Texts,
}

/// The rows of all tables.
pub struct LoadSources {
    /// By position in the schema.
    sources: Vec<(usize, LoadSource)>,
    /// Records that are left out of any of them.
    pub rejects: Arc<Rejects>,
}

/// Which files are read, and how.
#[derive(Args, Debug, Default)]
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
#[derive(Args, Debug, Default)]
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

impl LoadingArguments {
    /// What these arguments say of files. The schema is read.
    pub fn job(self, files: Vec<PathBuf>) -> Result<LoadJob> {
        let Self { reading, tables, wrong } = self;
        let schema = tables.schema.as_deref().map(SchemaText::from_file).transpose()?;
        let definitions = tables.options();
        Ok(LoadJob { files, reading, table: tables.table, schema, definitions, map: tables.map, wrong })
    }
}

impl LoadJob {
    /// Looks at the files and settles which become which tables; without a schema, by all of their records.
    pub(crate) fn prepare(
        &self,
        out: Option<&Path>,
        options: &Options,
        audience: &Audience,
    ) -> Result<Loading, Failure> {
        let (read, on_error) = (self.reading.options(&self.wrong)?, self.wrong.policy()?);
        let mut texts = Texts::default();
        if let Some(schema) = &self.schema {
            refuse_definitions(&self.definitions)?;
            texts.add(&schema.origin, &schema.text);
        }
        let folder = out.map_or(Path::new("."), litepress::engine::folder_of);
        let inputs = Input::from_arguments(&self.files, &read)?;
        if let Some(out) = out {
            refuse_target_among(&inputs, out)?;
        }
        let request = LoadRequest {
            inputs,
            table: self.table.clone(),
            schema: self.schema.as_ref().map(|schema| (schema.text.clone(), schema.origin.clone())),
            options: self.definitions.clone(),
            map: self.map.clone(),
            forms: self.reading.forms.clone(),
            sample: self.reading.sample,
            conflict: options.on_conflict,
            threads: options.threads,
            temp_dir: options.temp_dir.clone().unwrap_or_else(|| folder.to_owned()),
            read,
        };
        let watch = watch_survey(&request, options, audience);
        let progress = options.progress.clone();
        let plan = LoadPlan::new(request, &move || progress.go_on());
        drop(watch);
        let plan = plan.map_err(|error| texts.explain(error))?;
        let page_size = options.page_size.or(plan.schema.settings.page_size.and_then(PageSize::new));
        Ok(Loading {
            bytes_read_before: plan.bytes_read().load(Ordering::Relaxed),
            plan,
            page_size: page_size.unwrap_or(PageSize::DEFAULT),
            on_error,
            rejects: self.wrong.rejects.clone(),
            max_rejects: self.wrong.max_rejects.unwrap_or(u64::MAX),
            texts,
        })
    }
}

/// Refuses to replace a file that is read.
fn refuse_target_among(inputs: &[Input], out: &Path) -> Result<()> {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let Some(target) = file(out) else { return Ok(()) };
    match inputs.iter().filter_map(Input::path).find(|path| file(path) == Some(target)) {
        None => Ok(()),
        Some(source) => {
            let error = Error::new(ErrorKind::Usage, "the target is also a source").in_file(source);
            Err(error.advise("name another file for the new database, and rename it once it is made"))
        }
    }
}

/// Shows how far the look at all records is.
fn watch_survey(request: &LoadRequest, options: &Options, audience: &Audience) -> Watch {
    let (read, progress) = (request.read.bytes_read.clone(), options.progress.clone());
    let total: Option<u64> = request.inputs.iter().map(|input| input.bytes).sum();
    audience.watch(Unit::InputBytes, move || {
        // The header is read once more.
        let done = read.load(Ordering::Relaxed).min(total.unwrap_or(u64::MAX));
        Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), stage: "finding out types".to_owned() }
    })
}

impl Loading {
    /// The rows of all tables. The file for rejects is made.
    pub fn sources(&self) -> Result<LoadSources, Failure> {
        self.sources_with(Rejects::new(self.rejects.as_deref(), self.max_rejects)?)
    }

    /// The same for a look at them: nothing is written.
    pub fn sources_without_rejects(&self) -> Result<LoadSources, Failure> {
        self.sources_with(Rejects::new(None, self.max_rejects)?)
    }

    fn sources_with(&self, rejects: Rejects) -> Result<LoadSources, Failure> {
        let rejects = Arc::new(rejects);
        let source = |table: &PlannedTable| {
            let source = self.plan.source(table, self.page_size, self.on_error, &rejects)?;
            Ok((table.table, source))
        };
        let sources = self.plan.tables.iter().map(source).collect::<Result<Vec<_>>>();
        Ok(LoadSources { sources: sources.map_err(|error| self.texts.explain(error))?, rejects })
    }

    /// An error of the run, told with the file that it is about.
    pub fn explain(&self, sources: &LoadSources, error: Error) -> Failure {
        let table = error.place().table.as_deref().and_then(|table| self.plan.schema.position(table));
        let source = sources.sources.iter().find(|(position, _)| Some(*position) == table);
        self.texts.explain(match source {
            Some((_, source)) => source.explain(error),
            None => error,
        })
    }

    /// The types of all columns that were found out, for people.
    pub fn tables_text(&self) -> String {
        let mut text = String::new();
        for table in self.plan.tables.iter().filter(|table| !table.decisions.is_empty()) {
            text += &format!("table {}\n", self.plan.schema.tables[table.table].name);
            text += &aligned(&column_words(table), &[Align::Left; 3], 2);
        }
        text
    }

    /// Lists the objects of databases that are not copied, for people; empty if there are none.
    pub fn left_out_text(&self) -> String {
        match &self.plan.left_out[..] {
            [] => String::new(),
            objects => format!("left out, for only tables are copied: {}\n", objects.join(", ")),
        }
    }

    /// The same for programs.
    pub fn columns_json(&self) -> Vec<Value> {
        let columns = |table: &PlannedTable| {
            let name = self.plan.schema.tables[table.table].name.clone();
            table
                .decisions
                .iter()
                .map(move |decision| {
                    let mut column = column_json(decision);
                    column["table"] = json!(name);
                    column
                })
                .collect::<Vec<Value>>()
        };
        self.plan.tables.iter().flat_map(columns).collect()
    }
}

/// Name, type and reason of the columns of a table.
pub fn column_words(table: &PlannedTable) -> Vec<Vec<String>> {
    let words = |decision: &Decision| {
        let declared = if decision.declared_type.is_empty() { "no type" } else { &decision.declared_type };
        [&decision.name, declared, &decision.reason].map(str::to_owned).to_vec()
    };
    table.decisions.iter().map(words).collect()
}

/// The same for programs.
pub fn column_json(decision: &Decision) -> Value {
    json!({"name": decision.name, "type": decision.declared_type, "because": decision.reason})
}

impl LoadSources {
    /// The sources as the engine takes them.
    pub fn listed(&self) -> Vec<(usize, &dyn Source)> {
        self.sources.iter().map(|(table, source)| (*table, source as &dyn Source)).collect()
    }
}

impl TableArguments {
    fn options(&self) -> TableOptions {
        let list =
            |columns: &String| columns.split(',').map(|column| column.trim().to_owned()).collect::<Vec<String>>();
        TableOptions {
            primary_key: self.primary_key.iter().map(list).collect(),
            without_rowid: self.without_rowid,
            strict: self.strict,
            types: self.types.clone(),
            not_null: self.not_null.iter().flat_map(list).collect(),
            indexes: self.index.iter().map(list).collect(),
            unique: self.unique.iter().map(list).collect(),
            foreign_keys: self.foreign_key.clone(),
        }
    }
}

/// A schema says all that these options could.
fn refuse_definitions(options: &TableOptions) -> Result<()> {
    let given = [
        ("--primary-key", !options.primary_key.is_empty()),
        ("--without-rowid", options.without_rowid),
        ("--strict", options.strict),
        ("--type", !options.types.is_empty()),
        ("--not-null", !options.not_null.is_empty()),
        ("--index", !options.indexes.is_empty()),
        ("--unique", !options.unique.is_empty()),
        ("--foreign-key", !options.foreign_keys.is_empty()),
    ];
    let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("--schema says what the tables are, and so does {option}");
    Err(Error::new(ErrorKind::Usage, message).advise("write it into the schema"))
}

impl WrongRecordArguments {
    /// What becomes of wrong records; a file for them says that they are left out.
    fn policy(&self) -> Result<OnError> {
        let rejects = self.rejects.is_some() || self.max_rejects.is_some();
        match self.on_error {
            None if rejects && self.ragged != RaggedArgument::Reject => Ok(OnError::Reject),
            None | Some(OnErrorArgument::Abort) => {
                if rejects && self.on_error.is_some() && self.ragged != RaggedArgument::Reject {
                    let message = "--rejects and --max-rejects are for records that are left out, and --on-error abort leaves none out";
                    return Err(Error::new(ErrorKind::Usage, message).advise("choose --on-error reject"));
                }
                Ok(OnError::Abort)
            }
            Some(OnErrorArgument::Reject) => Ok(OnError::Reject),
            Some(OnErrorArgument::Null) => Ok(OnError::Null),
        }
    }
}

impl ReadingArguments {
    /// How files are read.
    pub fn options(&self, wrong: &WrongRecordArguments) -> Result<ReadOptions> {
        let tsv = self.format == Some(FormatArgument::Tsv);
        if tsv && self.delimiter.is_some_and(|delimiter| delimiter != b'\t') {
            let error =
                Error::new(ErrorKind::Usage, "--format tsv has tabs between fields, and --delimiter another one");
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
///
/// # Errors
/// Says what it is.
pub fn ascii(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err("this is one ASCII character, and no line end".to_owned()),
    }
}

/// One ASCII character, or the name of the tab.
///
/// # Errors
/// Says what it is.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => ascii(text),
    }
}

/// One ASCII character, or `none`.
///
/// # Errors
/// Says what it is.
pub fn quote(text: &str) -> Result<Quote, String> {
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
