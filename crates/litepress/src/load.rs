//! Databases of files.

mod dry_run;
pub(crate) mod notes;
mod run;

pub use dry_run::Mismatches;
pub use notes::notes_of;

use crate::append::{Appending, existing};
use crate::build::refuse_special_target;
use crate::loaded_file::LoadedFile;
use crate::number_notes::number_notes;
use crate::observer::{Measured, Meter, Observer, Sample, Silent, Stage, Unit};
use crate::parse;
use crate::plan_report::{PlanReport, PlannedColumn, TableOrigin, TableReport};
use crate::report::BuildReport;
use crate::schema_text::{SchemaText, Texts};
use crate::{
    AppendOptions, Error, ErrorKind, InvalidUtf8, NanPolicy, NumberWords, Numbers, OnError, Options, PageSize, Ragged,
    Result, TableOptions, Target,
};
use litepress_engine::plan::{BuildMethod, ObjectPlan, plan_objects};
use litepress_engine::{Estimate, Phase, RoutePlan, Schema, TargetStamp, begin_replacing, folder_of, route};
use litepress_load::infer::InferredColumn;
use litepress_load::input::Input;
use litepress_load::options::{
    Dialect, Format, JsonLayout, JsonOptions, Quote, ReadOptions, StrayQuotes, ValueOptions,
};
use litepress_load::plan::{ColumnOrigin, Existing, LoadPlan, LoadRequest, PlannedFile, PlannedTable};
use litepress_load::rejects::Rejects;
use litepress_load::schema::RowDefault;
use litepress_load::source::LoadSource;
use litepress_rows::{Message, OptionName, Source, Words, message};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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
            Self::Sqlite => Format::Sqlite,
        }
    }
}

/// Options of [`load`].
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
    /// Fate of NaN and Infinity in JSON.
    pub nan: NanPolicy,
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
    /// Fate of text that is not UTF-8.
    pub invalid_utf8: InvalidUtf8,
    /// Whether a copy of a database may lack what cannot be copied; by default that is an error.
    pub allow_incomplete: bool,
    /// Whether the files replace tables of a target that exists, and everything else in it is kept.
    pub replace_tables: bool,
    /// Whether the files are added to the tables of a target that exists. A target that does not exist is made.
    pub append: bool,
    /// How rows are added to a target that exists.
    pub append_options: AppendOptions,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
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
            on_error: None,
            rejects: None,
            max_rejects: None,
            ragged: Ragged::default(),
            stray_quotes: StrayQuotes::default(),
            invalid_utf8: InvalidUtf8::default(),
            allow_incomplete: false,
            replace_tables: false,
            append: false,
            append_options: AppendOptions::default(),
            observer: Arc::new(Silent),
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
    /// Sets the fate of NaN and Infinity in JSON.
    nan(nan: NanPolicy) => |options| options.nan = nan;
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
    /// Adds columns of which no two rows may have the same values.
    unique(columns: &[&str]) => |options| options.tables.unique.push(owned(columns));
    /// Adds a foreign key: a column, and `TABLE.COLUMN` that it refers to.
    foreign_key(child: impl Into<String>, parent: impl Into<String>) => |options| options.tables.foreign_keys.push((child.into(), parent.into()));
    /// Sets the column of the table for a column of a file; an empty name leaves the column out.
    map(from: impl Into<String>, to: impl Into<String>) => |options| options.map.push((from.into(), to.into()));
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
    /// Sets the fate of text that is not UTF-8.
    invalid_utf8(invalid_utf8: InvalidUtf8) => |options| options.invalid_utf8 = invalid_utf8;
    /// Sets whether a copy of a database may lack what cannot be copied.
    allow_incomplete(allow: bool) => |options| options.allow_incomplete = allow;
    /// Sets whether the files replace tables of a target that exists, and everything else in it is kept.
    replace_tables(replace: bool) => |options| options.replace_tables = replace;
    /// Sets whether the files are added to the tables of a target that exists.
    append(append: bool) => |options| options.append = append;
    /// Sets whether the rows of these tables are deleted before.
    truncate(truncate: bool) => |options| options.append_options.truncate = truncate;
    /// Sets whether columns that a table lacks are added to it.
    add_columns(add: bool) => |options| options.append_options.add_columns = add;
    /// Sets whether foreign keys are enforced as rows are added to a target that exists.
    enforce_foreign_keys(enforce: bool) => |options| options.append_options.enforce_foreign_keys = enforce;
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

/// The report of a database that was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadReport {
    /// The report of the database.
    pub build: BuildReport,
    /// Tables whose types were inferred, and their columns.
    pub inferred: Vec<(String, Vec<InferredColumn>)>,
    /// Objects of databases that are not copied: `view v of shop.db`.
    pub left_out: Vec<String>,
    /// Copied tables whose rowids are numbered from 1, since no column holds them: `log of shop.db`.
    pub renumbered: Vec<String>,
    /// The files, in the order of tables.
    pub files: Vec<LoadedFile>,
    /// Files that were left out because they are empty.
    pub empty_files: Vec<PathBuf>,
    /// Number of rejected records.
    pub rejected: u64,
    /// Number of records without any value that were left out.
    pub skipped: u64,
    /// Number of records with more fields than columns, of which the first ones are stored.
    pub cut_records: u64,
    /// Number of records with quotes in the wrong place that are stored as text.
    pub stray_quotes: u64,
    /// Number of values that their columns did not take and that are NULL instead.
    pub nulls: u64,
    /// Number of texts in numeric columns that were cut at a NUL character, as SQLite does.
    pub cut_texts: u64,
    /// Number of rows that the policy for conflicts left out or replaced, and that are not in `rejected`.
    pub ignored: u64,
    /// Indexes and triggers of replaced tables that the new ones lack: `index i of t`.
    pub dropped: Vec<String>,
    /// Notes: foreign keys that were not checked, texts that a declared type changed.
    pub notes: Vec<Message>,
}

impl LoadReport {
    /// Returns the report for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        let mut json = self.build.to_json();
        json["left_out"] = json!(self.left_out);
        json["renumbered"] = json!(self.renumbered);
        json["files"] = self.files.iter().map(LoadedFile::to_json).collect();
        json["empty_files"] = self.empty_files.iter().map(|file| file.display().to_string()).collect();
        json["rejected"] = json!(self.rejected);
        json["skipped"] = json!(self.skipped);
        json["cut_records"] = json!(self.cut_records);
        json["stray_quotes"] = json!(self.stray_quotes);
        json["nulls"] = json!(self.nulls);
        json["cut_texts"] = json!(self.cut_texts);
        json["ignored"] = json!(self.ignored);
        if let Some(dropped) = json["dropped"].as_array_mut() {
            dropped.extend(self.dropped.iter().map(|object| json!(object)));
        }
        json["notes"] = self.notes.iter().map(|note| note.in_words(words)).collect();
        let mut columns = Vec::new();
        for (table, decisions) in &self.inferred {
            for decision in decisions {
                let mut column = PlannedColumn::from(decision).to_json(words);
                column["table"] = json!(table);
                columns.push(column);
            }
        }
        json["columns"] = Value::Array(columns);
        json
    }
}

/// Builds a database of files: CSV, TSV, NDJSON, JSON, Parquet, Arrow IPC, SQLite, spreadsheets. A file may be a pattern of paths, a
/// folder, or a ZIP archive; gzip, zstd, bzip2, xz and LZ4 are recognised by their content.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (csv, db) = (folder.path().join("user.csv"), folder.path().join("user.db"));
/// std::fs::write(&csv, "id,name\n2,Ada\n1,Blaise\n")?;
/// let options = litepress::LoadOptions::default().primary_key(&["id"]).index(&["name"]);
/// let report = litepress::load(&*db, [&csv], &options)?;
/// assert_eq!(report.build.summary.rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All mistakes in the options; files that cannot be read, and values that their tables do not take; errors of the engine.
pub fn load<F: Into<PathBuf>>(
    target: impl Into<Target>,
    files: impl IntoIterator<Item = F>,
    options: &LoadOptions,
) -> Result<LoadReport> {
    let (started, target) = (Instant::now(), target.into());
    refuse_special_target(&target)?;
    options.observer.enter(Stage::Inspect);
    let may_repeat = options.policy()? == OnError::Reject || options.rejects.is_some();
    let job = LoadJob::new(&target, files.into_iter().map(Into::into).collect(), options, may_repeat)?;
    options.observer.enter(Stage::Build);
    job.refuse_left_out()?;
    job.run(&target, started)
}

/// Returns what [`load`] would do, and why. Without a target nothing is said of the disk.
///
/// # Errors
/// All mistakes in the options; files that cannot be read.
pub fn plan_load<F: Into<PathBuf>>(
    target: Option<Target>,
    files: impl IntoIterator<Item = F>,
    options: &LoadOptions,
) -> Result<PlanReport> {
    let place = target.clone().unwrap_or(Target::Discard);
    let job = LoadJob::new(&place, files.into_iter().map(Into::into).collect(), options, true)?;
    let mut notes = job.notes();
    let (sources, _rejects) = job.sources(Rejects::shown(0))?;
    let (listed, build) = (listed(&sources), job.build_options());
    let rows: Vec<Option<u64>> = listed.iter().map(|(_, source)| source.rows()).collect();
    let schema = job.plan.schema.clone();
    let estimate = job.estimate(&listed, &place, &build)?;
    drop(sources);
    let mismatches = job.dry_run(&mut notes)?;
    Ok(PlanReport {
        mismatches: Some(mismatches),
        notes,
        target,
        rows: rows.iter().copied().sum(),
        page_size: job.page_size,
        estimate,
        steps: job.steps(),
        append: job.routes(),
        left_out: Some(job.plan.left_out.clone()),
        tables: job.plan.tables.iter().zip(rows).map(|(table, rows)| job.table_report(table, rows)).collect(),
        options: build,
        schema,
    })
}

/// Files that are ready to be loaded.
struct LoadJob<'o> {
    options: &'o LoadOptions,
    plan: LoadPlan,
    page_size: PageSize,
    /// Folder for temporary files.
    temp_dir: PathBuf,
    /// The schema of the target, if its tables get the rows.
    existing: Option<Schema>,
    /// The target, if only some of its tables are replaced.
    successor_of: Option<TargetStamp>,
    on_error: OnError,
    texts: Texts,
}

/// The rows of a table, by its position in the schema.
type TableSource = (usize, LoadSource);

fn listed(sources: &[TableSource]) -> Vec<(usize, &dyn Source)> {
    sources.iter().map(|(table, source)| (*table, source as &dyn Source)).collect()
}

impl<'o> LoadJob<'o> {
    /// Inspects the files and decides which become which tables; without a schema, by all of their records. `reads_twice` says
    /// that files may be read more than once after that.
    fn new(target: &Target, files: Vec<PathBuf>, options: &'o LoadOptions, reads_twice: bool) -> Result<Self> {
        let (on_error, build) = (options.policy()?, &options.build);
        let read = ReadOptions { leaves_out_empty: on_error == OnError::Reject, ..options.read()? };
        let mut texts = Texts::default();
        if let Some(schema) = &options.schema {
            options.refuse_definitions()?;
            texts.add(&schema.origin, &schema.text);
        }
        let out = if let Target::File(file) = target { Some(file.as_path()) } else { None };
        let inputs = Input::from_arguments(&files, &read)?;
        if let Some(out) = out {
            refuse_target_among(&inputs, out)?;
        }
        options.refuse_rejects_among(&inputs, out)?;
        let folder = || out.map_or(Path::new("."), folder_of).to_owned();
        let temp_dir = build.temp_dir.clone().unwrap_or_else(folder);
        let existing = options.existing(out)?;
        let successor_of = options.successor_of(out)?;
        let keep = if successor_of.is_some() { out.map(kept).transpose()? } else { None };
        let add_columns = options.append_options.add_columns;
        let request = LoadRequest {
            keep,
            existing: existing.clone().map(|schema| Existing { schema, add_columns }),
            inputs,
            table: options.table.clone(),
            schema: options.schema.as_ref().map(|schema| (schema.text.clone(), schema.origin.clone())),
            options: options.tables.clone(),
            map: options.map.clone(),
            store_as: options.store_as.clone(),
            sample: options.sample,
            sheets: options.sheets.clone(),
            select: options.select.clone(),
            source_column: options.source_column.clone(),
            limit: options.limit,
            words: Arc::new(options.words.clone()),
            conflict: build.on_conflict,
            threads: build.threads,
            temp_dir: temp_dir.clone(),
            reads_twice: reads_twice || existing.is_some(),
            read,
        };
        let measured = Measured::begin(&*options.observer, inspection_meter(&request, build));
        let progress = build.progress.clone();
        let plan = LoadPlan::new(request, &move || progress.go_on());
        drop(measured);
        let plan = plan.map_err(|error| texts.explain(error))?;
        let page_size = build.page_size.or(plan.schema.settings.page_size.and_then(PageSize::new));
        let page_size = page_size.unwrap_or(PageSize::DEFAULT);
        Ok(Self { options, temp_dir, existing, successor_of, plan, page_size, on_error, texts })
    }

    fn max_rejects(&self) -> u64 {
        self.options.max_rejects.unwrap_or(u64::MAX)
    }

    /// Opens the rows of all tables.
    fn sources(&self, rejects: Rejects) -> Result<(Vec<TableSource>, Arc<Rejects>)> {
        let rejects = Arc::new(rejects);
        let source = |table: &PlannedTable| {
            let source = self.plan.source(table, self.page_size, self.on_error, &rejects)?;
            Ok((table.table, source))
        };
        let sources: Result<Vec<_>> = self.plan.tables.iter().map(source).collect();
        Ok((sources.map_err(|error| self.texts.explain(error))?, rejects))
    }

    /// Fails if something of a database cannot be copied, unless that is allowed.
    fn refuse_left_out(&self) -> Result<()> {
        let left_out = &self.plan.left_out;
        if left_out.is_empty() || self.options.allow_incomplete {
            return Ok(());
        }
        let message = format!("the copy would lack {}", left_out.join(", "));
        let advice = message!["go on without with ", OptionName::AllowIncomplete.alone()];
        Err(Error::new(ErrorKind::Unsupported, message).advise(advice))
    }

    /// Returns notes that follow from the plan alone.
    fn notes(&self) -> Vec<Message> {
        let none = std::iter::empty();
        let (schema, verify) = (&self.plan.schema, self.options.build.verify);
        let of_schema = match &self.existing {
            None => notes_of(schema, verify, none, false),
            Some(_) if self.options.append_options.enforce_foreign_keys => Vec::new(),
            Some(_) => {
                let tables = self.plan.tables.iter().map(|planned| &schema.tables[planned.table]);
                notes::foreign_keys_of_existing(schema, tables, verify)
            }
        };
        let of_files = self.plan.notes_about_files().into_iter().map(Message::from);
        let name = |table: &PlannedTable| &*self.plan.schema.tables[table.table].name;
        let numbers = number_notes(self.plan.tables.iter().map(|table| (name(table), &table.decisions[..])));
        self.plan.notes.iter().cloned().chain(of_schema).chain(of_files).chain(numbers).collect()
    }

    /// Returns the options of the database. A copy has statistics if its source has.
    fn build_options(&self) -> Options {
        let build = self.options.build.clone();
        let analyze = build.analyze || self.plan.has_statistics;
        let mut build = build.analyze(analyze);
        build.successor_of.clone_from(&self.successor_of);
        build.overwrite |= self.successor_of.is_some();
        build
    }

    /// Returns whether SQLite fills the table.
    fn is_by_sqlite(&self, table: &str) -> bool {
        let plans = plan_objects(&self.plan.schema, self.options.build.on_conflict);
        let is_it = |object: &&ObjectPlan| object.kind == "table" && object.name == table;
        plans.iter().find(is_it).is_some_and(|object| matches!(object.method, BuildMethod::Sqlite { .. }))
    }

    /// Returns the rows' way into a database that exists.
    fn appending(&self, target: &Target) -> Option<Appending> {
        let (Some(existing), Target::File(path)) = (&self.existing, target) else { return None };
        Some(Appending {
            path: path.clone(),
            existing: existing.clone(),
            schema: self.plan.schema.clone(),
            additions: self.plan.additions.clone(),
            options: self.build_options(),
            append: self.options.append_options.clone(),
        })
    }

    /// Returns the route of each table into a database that exists; `None` for a new database.
    fn routes(&self) -> Option<Vec<RoutePlan>> {
        self.existing.as_ref()?;
        let (schema, additions) = (&self.plan.schema, &self.plan.additions);
        let of_table = |planned: &PlannedTable| {
            route(schema, &schema.tables[planned.table], additions, &self.options.append_options)
        };
        Some(self.plan.tables.iter().map(of_table).collect())
    }

    /// Returns how each object of a new database is made.
    fn steps(&self) -> Vec<ObjectPlan> {
        if self.existing.is_some() {
            return Vec::new();
        }
        plan_objects(&self.plan.schema, self.options.build.on_conflict)
    }

    /// Estimates the sizes of the tables that get rows.
    fn estimate(&self, sources: &[(usize, &dyn Source)], place: &Target, build: &Options) -> Result<Estimate> {
        if self.existing.is_none() {
            return Estimate::new(&self.plan.schema, sources, place, build);
        }
        let mut schema = self.plan.schema.clone();
        let tables = sources.iter().map(|(table, _)| schema.tables[*table].clone()).collect();
        let sources: Vec<(usize, &dyn Source)> = (0..).zip(sources.iter().map(|(_, source)| *source)).collect();
        (schema.tables, schema.objects) = (tables, Vec::new());
        Estimate::new(&schema, &sources, place, build)
    }

    /// Adds to an error of the run the file that it is about.
    fn explain(&self, sources: &[TableSource], error: Error) -> Error {
        let table = error.place().table.as_deref().and_then(|table| self.plan.schema.position(table));
        let source = sources.iter().find(|(position, _)| Some(*position) == table);
        self.texts.explain(match source {
            Some((_, source)) => source.explain(error),
            None => error,
        })
    }

    /// Measures bytes of input, whose number is known of compressed files, too.
    fn meter(&self) -> Meter {
        let (progress, read) = (self.options.build.progress.clone(), self.plan.bytes_read());
        let (total, before) = (self.plan.input_bytes(), read.load(Ordering::Relaxed));
        Meter::new(Unit::InputBytes, move || {
            let done = read.load(Ordering::Relaxed).saturating_sub(before);
            Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), phase: progress.phase() }
        })
    }

    fn report(&self, build: BuildReport, sources: &[TableSource], rejects: &Rejects) -> LoadReport {
        let of_tables: u64 = build.summary.tables.iter().map(|table| table.left_out).sum();
        let mut notes = self.notes();
        notes.extend(sources.iter().flat_map(|(_, source)| notes::changes(source, self.options.schema.is_some())));
        let inferred = |table: &PlannedTable| {
            let name = self.plan.schema.tables[table.table].name.clone();
            (!table.decisions.is_empty()).then(|| (name, table.decisions.clone()))
        };
        LoadReport {
            build,
            inferred: self.plan.tables.iter().filter_map(inferred).collect(),
            left_out: self.plan.left_out.clone(),
            renumbered: self.plan.renumbered(&|table| self.is_by_sqlite(&table.name)),
            files: self.files(),
            empty_files: self.plan.empty_files.clone(),
            rejected: rejects.count(),
            skipped: rejects.skipped(),
            cut_records: rejects.cut_records(),
            stray_quotes: rejects.stray_quotes(),
            nulls: rejects.nulls(),
            cut_texts: rejects.cut_texts(),
            ignored: of_tables + rejects.ignored(),
            dropped: self.plan.dropped.clone(),
            notes,
        }
    }

    /// Describes the files and how they were read.
    fn files(&self) -> Vec<LoadedFile> {
        let of_table = |table: &PlannedTable| -> Vec<LoadedFile> {
            let name = &self.plan.schema.tables[table.table].name;
            table.files.iter().filter_map(|file| LoadedFile::new(file, name)).collect()
        };
        self.plan.tables.iter().flat_map(of_table).collect()
    }

    fn table_report(&self, table: &PlannedTable, rows: Option<u64>) -> TableReport {
        let inputs = table.files.iter().filter_map(PlannedFile::input);
        let definition = &self.plan.schema.tables[table.table];
        let default = |default: &RowDefault| {
            let column = definition.column(&default.column).map(|at| &definition.columns[at]);
            let because =
                format!("not in the file: SQLite evaluates its DEFAULT for every row, {}", default.expression);
            PlannedColumn::Loaded {
                name: default.column.clone(),
                declared_type: column.map_or_else(String::new, |column| column.declared_type.clone()),
                because: because.into(),
            }
        };
        let decided: Vec<PlannedColumn> = table.decisions.iter().map(PlannedColumn::from).collect();
        let mapped = |origin: ColumnOrigin| PlannedColumn::Loaded {
            name: origin.name,
            declared_type: origin.declared_type,
            because: origin.because,
        };
        let columns = if decided.is_empty() {
            self.plan.column_origins(table).into_iter().map(mapped).collect()
        } else {
            decided.into_iter().chain(table.row_defaults().into_iter().map(default)).collect()
        };
        TableReport {
            name: definition.name.clone(),
            rows,
            origin: TableOrigin::Loaded { files: inputs.map(|input| input.name.display().to_string()).collect() },
            columns,
        }
    }
}

impl From<&InferredColumn> for PlannedColumn {
    fn from(decision: &InferredColumn) -> Self {
        Self::Loaded {
            name: decision.name.clone(),
            declared_type: decision.declared_type.clone(),
            because: decision.reason.clone(),
        }
    }
}

/// Refuses to replace a file that is read.
fn refuse_target_among(inputs: &[Input], out: &Path) -> Result<()> {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let Some(target) = file(out) else { return Ok(()) };
    match inputs.iter().filter_map(Input::outer_path).find(|path| file(path) == Some(target)) {
        None => Ok(()),
        Some(source) => {
            let error = Error::new(ErrorKind::Usage, "the target is also a source").in_file(source);
            Err(error.advise("name another file for the new database, and rename it once it is made"))
        }
    }
}

/// Measures how far the inspection of all records is.
fn inspection_meter(request: &LoadRequest, options: &Options) -> Meter {
    let (read, progress) = (request.read.bytes_read.clone(), options.progress.clone());
    let total: Option<u64> = request.inputs.iter().map(|input| input.bytes).sum();
    Meter::new(Unit::InputBytes, move || {
        // The header is read once more.
        let done = read.load(Ordering::Relaxed).min(total.unwrap_or(u64::MAX));
        let mut phase = Phase::default();
        phase.name = "finding out types".to_owned();
        Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), phase }
    })
}

/// Returns the target as the database to keep.
fn kept(target: &Path) -> Result<Input> {
    let read = ReadOptions { format: Some(Format::Sqlite), ..ReadOptions::default() };
    Input::from_path(target, &read)
}

impl LoadOptions {
    /// Returns the schema of the target if rows are added to its tables. `None` if a new database is made.
    fn existing(&self, target: Option<&Path>) -> Result<Option<Schema>> {
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
    fn successor_of(&self, target: Option<&Path>) -> Result<Option<TargetStamp>> {
        if self.replace_tables && self.build.overwrite {
            let (tables, whole) = (OptionName::ReplaceTables.alone().given(), OptionName::Overwrite.alone().given());
            let message = message![tables, " keeps the other tables, and ", whole, " replaces the whole file"];
            return Err(Error::new(ErrorKind::Usage, message).advise("leave one of them out"));
        }
        let target = target.filter(|_| self.replace_tables);
        Ok(target.map(begin_replacing).transpose()?.flatten())
    }

    /// Refuses rejects that would take the name of the database, or of a file that is read.
    fn refuse_rejects_among(&self, inputs: &[Input], out: Option<&Path>) -> Result<()> {
        let Some(rejects) = &self.rejects else { return Ok(()) };
        let file = |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
        let is_same = |path: &Path| path == rejects || file(path).is_some_and(|found| Some(found) == file(rejects));
        let is_read = inputs.iter().filter_map(Input::path).any(is_same);
        if !is_read && !out.is_some_and(is_same) {
            return Ok(());
        }
        let what = if is_read { " names a file that is read" } else { " names the database" };
        let message = message![OptionName::Rejects.alone().given(), what];
        Err(Error::new(ErrorKind::Usage, message).in_file(rejects).advise("name another file for the rejects"))
    }

    /// Refuses definitions of tables beside a schema, which says all that they could.
    fn refuse_definitions(&self) -> Result<()> {
        let tables = &self.tables;
        let given = [
            (OptionName::PrimaryKey, !tables.primary_key.is_empty()),
            (OptionName::WithoutRowid, tables.without_rowid),
            (OptionName::Strict, tables.strict),
            (OptionName::Type, !tables.types.is_empty()),
            (OptionName::Numbers, !tables.numbers.is_empty()),
            (OptionName::NotNull, !tables.not_null.is_empty()),
            (OptionName::Index, !tables.indexes.is_empty()),
            (OptionName::Unique, !tables.unique.is_empty()),
            (OptionName::ForeignKey, !tables.foreign_keys.is_empty()),
        ];
        let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let schema = OptionName::Schema.alone().given();
        let message = message![option.alone().given(), " has no effect: ", schema, " defines the tables"];
        Err(Error::new(ErrorKind::Usage, message).advise("write it into the schema"))
    }

    /// Decides about wrong records: a file or a limit for rejects says that they are rejected.
    fn policy(&self) -> Result<OnError> {
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
        Ok(JsonOptions { layout, path, flatten: self.flatten, nan: self.nan })
    }

    /// Returns how files are read.
    fn read(&self) -> Result<ReadOptions> {
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
            ..ReadOptions::default()
        })
    }
}
