//! Plans a load: the tables to read, the target column of each file column, and the reason for each column type. Readers of
//! data in memory can take the place of files ([`LoadPlan::from_readers`]).
//!
//! ```text
//! inputs --group--> tables --scan--> InferredColumns --define--> schema text --SQLite--> Schema     no schema is given
//!                   tables ------------------------------------------------------->  Schema     one is
//! Schema + columns of the files --match--> ColumnSources of every file --> LoadSource
//! ```
//!
//! ```text
//! groups.rs           inputs by table            content.rs   origins of records: files, tables of databases, sheets, readers
//! definition.rs       types and DDL              keys.rs      keys of JSON files for a given table
//! existing.rs         tables of a database that exists, and what is added to it
//! column_targets.rs   targets of file columns    selection.rs columns that are read, renamed and added
//! scan.rs             rows of some columns, for a reader that stores nothing
//! lines.rs            lines of records that a later step refuses
//! ```

mod column_targets;
mod content;
mod definition;
mod existing;
mod groups;
mod keys;
mod lines;
mod scan;
mod selection;

pub use existing::Existing;

use crate::database_copy::{CopiedTable, DatabaseCopy};
use crate::estimate::{FirstPiece, TableEstimate};
use crate::infer::{Conversion, InferredColumn};
use crate::input::Input;
use crate::json;
use crate::options::{Format, ReadOptions};
use crate::reader::{Reader, TextFormat};
use crate::rejects::Rejects;
use crate::schema::{ColumnMapping, RowDefault, TableOptions};
use crate::source::{ColumnSource, LoadSource, OnError, OpenFile, numbers_rows};
use content::Content;
use groups::{Found, Group, Groups};
use litepress_format::page::PageSize;
use litepress_geo::Crs;
use litepress_rows::schema::SchemaAdditions;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Conflict, Error, ErrorKind, Message, Result, Schema, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Bytes of the pieces of a SQLite table that are read for an estimate.
const SQLITE_SAMPLE_BYTES: usize = 256 * 1024;

/// A request to load files into tables.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// The files.
    pub inputs: Vec<Input>,
    /// The one table for all files. By default, each file has a table named after it.
    pub table: Option<String>,
    /// CREATE statements, and their name in errors. By default, tables are defined from the contents of the files.
    pub schema: Option<(String, String)>,
    /// Options of tables that are defined from their files: keys, indexes and constraints.
    pub options: TableOptions,
    /// Columns of files and their columns in the table. An empty table column drops the file's column.
    pub map: Vec<(String, String)>,
    /// Columns and the forms in which they are stored (`--store-as`).
    pub store_as: Vec<(String, String)>,
    /// Options for reading the files.
    pub read: ReadOptions,
    /// Sheets of workbooks. By default all that have a value.
    pub sheets: Vec<String>,
    /// Columns of files to read, as `COLUMN` or `TABLE.COLUMN`. By default all.
    pub select: Vec<String>,
    /// The column that holds the name of each record's file.
    pub source_column: Option<String>,
    /// Largest number of records of a table.
    pub limit: Option<u64>,
    /// Number of records of each file to infer types from. By default all.
    pub sample: Option<u64>,
    /// Policy for rows whose key exists already.
    pub conflict: Conflict,
    /// Columns whose keys all records of JSON need, if any record has them, and that all files need, if any has them.
    pub needed_keys: NeededKeys,
    /// Number of threads that infer types.
    pub threads: usize,
    /// Folder for copies of inputs that can be read only once.
    pub temp_dir: PathBuf,
    /// Inputs that can be read only once are copied, because they may be read again.
    pub reads_twice: bool,
    /// A database of which everything is copied, except the tables that the request defines.
    pub keep: Option<Input>,
    /// A database whose tables get the rows.
    pub existing: Option<Existing>,
}

/// Columns whose keys all records of JSON need: what a record lacks would become NULL in a row that it updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NeededKeys {
    /// No column: what a record lacks is NULL.
    #[default]
    None,
    /// All columns.
    All,
    /// The columns of these names.
    Columns(Vec<String>),
}

impl NeededKeys {
    fn has(&self, column: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Columns(names) => names.iter().any(|name| name.eq_ignore_ascii_case(column)),
        }
    }
}

/// Planned tables and the files to load them from.
pub struct LoadPlan {
    /// The schema as SQLite reads it.
    pub schema: Schema,
    /// Tables that get rows.
    pub tables: Vec<PlannedTable>,
    /// Objects of the files that the new database lacks: `view v of shop.db`.
    pub left_out: Vec<String>,
    /// Notes about objects that a copied database has in another form.
    pub notes: Vec<Message>,
    /// A copied database has statistics for the planner.
    pub has_statistics: bool,
    /// Losses of replaced tables: `index i of t`, `NOT NULL (a) of t`.
    pub dropped: Vec<String>,
    /// Files that are left out because they are empty.
    pub empty_files: Vec<PathBuf>,
    /// Objects that a database lacks whose tables get the rows.
    pub additions: SchemaAdditions,
    read: ReadOptions,
    conflict: Conflict,
}

/// A table that gets rows.
pub struct PlannedTable {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// The inferred columns. Empty if a schema was given.
    pub decisions: Vec<InferredColumn>,
    /// Number of records, if all were scanned or the files state it.
    pub records: Option<u64>,
    /// The files, in reading order.
    pub files: Vec<PlannedFile>,
    /// Largest number of records.
    limit: Option<u64>,
    /// The table is defined as in its database.
    is_copied: bool,
    /// The table exists in the database that gets the rows.
    exists: bool,
}

/// A column of a table, and the origin of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// Name.
    pub name: String,
    /// Declared type.
    pub declared_type: String,
    /// The origin: `column code of the file`.
    pub because: Message,
}

/// Data in memory that take the place of a file: a reader and its table.
pub struct InMemoryTable {
    /// Name of the table. Readers with the same name are read one after another.
    pub table: String,
    /// The data. Its columns are [typed](crate::reader::FileColumnKind::Typed).
    pub reader: Box<dyn Reader>,
}

/// A file of a table, or the data in its place.
pub struct PlannedFile {
    content: Content,
    mapping: ColumnMapping,
    /// Columns that are dropped. `None` drops all that no column of the table takes.
    ignored: Option<Vec<String>>,
    /// Columns whose type was inferred from a sample of their values, by position in [`ColumnMapping::projected`].
    type_checks: Vec<(usize, InferredColumn)>,
    /// Columns whose texts are converted before SQLite's rules, by position in [`ColumnMapping::projected`].
    conversions: Vec<(usize, Conversion)>,
    /// Number of records, if the file states it.
    records: Option<u64>,
    /// The dialect, if it is CSV.
    text_format: Option<TextFormat>,
    /// The opened reader, if the input can be read only once.
    reader: Mutex<Option<Box<dyn Reader>>>,
}

impl PlannedTable {
    /// Returns the DEFAULTs to evaluate for every row, of columns that some file lacks.
    pub fn row_defaults(&self) -> Vec<&RowDefault> {
        let mut found: Vec<&RowDefault> = Vec::new();
        for source in self.files.iter().flat_map(|file| &file.mapping.column_sources) {
            if let ColumnSource::EachRow(default) = source
                && !found.contains(&default)
            {
                found.push(default);
            }
        }
        found
    }
}

impl PlannedTable {
    /// Returns the columns that all files lack.
    fn missing_columns(&self) -> Vec<usize> {
        let Some((first, others)) = self.files.split_first() else { return Vec::new() };
        let all_lack = |column: &usize| others.iter().all(|file| file.mapping.missing.contains(column));
        first.mapping.missing.iter().copied().filter(all_lack).collect()
    }

    /// Returns whether only some of the files have the table's INTEGER PRIMARY KEY.
    fn has_mixed_rowids(&self) -> bool {
        let numbered = self.files.iter().filter(|file| numbers_rows(&file.mapping.column_sources)).count();
        numbered > 0 && numbered < self.files.len()
    }
}

impl LoadPlan {
    /// Returns whether the rows of all files are features of GeoJSON.
    pub fn are_features(&self) -> bool {
        self.read.json.features.is_some()
    }

    /// Returns the coordinate reference system of a table's column of geometries, if its files state it: a name, or PROJJSON.
    ///
    /// # Errors
    /// If a file cannot be opened, or two files state different systems.
    pub fn crs(&self, table: &PlannedTable, column: &str) -> Result<Option<String>> {
        let definition = &self.schema.tables[table.table];
        let is_column = |at: usize| definition.columns[at].name.eq_ignore_ascii_case(column);
        let Some(position) = definition.ordinary_columns().position(is_column) else { return Ok(None) };
        let default = self.are_features().then_some(json::CRS_OF_FEATURES);
        let or_default = |crs: &Option<String>| crs.clone().or_else(|| default.map(str::to_owned));
        let mut found: Option<(&PlannedFile, Option<String>)> = None;
        for file in &table.files {
            // The file may have another name for the column, or lack it.
            let ColumnSource::File(block) = file.mapping.column_sources[position] else { continue };
            let crs = file.crs(&file.mapping.projected[block].name, &self.read)?;
            match &found {
                Some((_, first)) if !is_same_crs(or_default(first).as_deref(), or_default(&crs).as_deref()) => {
                    let show = |crs| {
                        or_default(crs).map_or_else(|| "none".to_owned(), |text| Crs::of_text(&text).short_name(&text))
                    };
                    let message = format!(
                        "the geometries of {column} are in another coordinate reference system ({}) than those of the files \
                         before ({})",
                        show(&crs),
                        show(first)
                    );
                    let error = Error::new(ErrorKind::Data, message).advise("bring them into one system first");
                    return Err(match file.input() {
                        Some(input) => error.in_file(&input.name),
                        None => error,
                    });
                }
                Some(_) => {}
                None => found = Some((file, crs)),
            }
        }
        Ok(found.and_then(|(_, crs)| crs))
    }
}

/// Returns whether two texts name one coordinate reference system: they are equal, or have the number of the same one.
fn is_same_crs(one: Option<&str>, other: Option<&str>) -> bool {
    let number = |text: Option<&str>| text.and_then(|text| Crs::of_text(text).srs);
    one == other || number(one).is_some_and(|srs| number(other) == Some(srs))
}

impl PlannedFile {
    /// Returns the coordinate reference system of a column, if the file states it.
    fn crs(&self, column: &str, read: &ReadOptions) -> Result<Option<String>> {
        if let Some(reader) = &*lock(&self.reader) {
            return Ok(reader.crs(column));
        }
        let may_state = |input: &Input| match input.format {
            Format::Parquet | Format::Arrow | Format::FlatGeobuf => true,
            Format::Json => read.json.features.is_some(),
            Format::Csv | Format::Spreadsheet | Format::Sqlite => false,
        };
        if !self.input().is_some_and(may_state) {
            return Ok(None);
        }
        // Bytes of this look do not count.
        let read = ReadOptions { bytes_read: Arc::default(), ..read.clone() };
        Ok(self.content.open(&read)?.crs(column))
    }

    /// Returns the file. `None` if [the caller gave](LoadPlan::from_readers) the data.
    pub fn input(&self) -> Option<&Input> {
        self.content.input()
    }

    /// Returns the dialect, if the file is CSV.
    pub fn text_format(&self) -> Option<&TextFormat> {
        self.text_format.as_ref()
    }

    /// Opens the file, or takes the reader that is open already.
    fn open(&self, read: &ReadOptions) -> Result<OpenFile> {
        let opened = lock(&self.reader).take();
        let mut reader = opened.map_or_else(|| self.content.open(read), Ok)?;
        reader.project(&self.mapping.projected)?;
        if let Some(ignored) = &self.ignored {
            reader.ignore_columns(ignored);
        }
        let (column_sources, type_checks) = (self.mapping.column_sources.clone(), self.type_checks.clone());
        let conversions = self.conversions.clone();
        Ok(OpenFile {
            name: self.input().map(|input| input.name.clone()),
            reader,
            column_sources,
            type_checks,
            conversions,
            gives_records: false,
            keeps_rowids: false,
        })
    }
}

impl LoadPlan {
    /// Scans the files and decides where each column goes. Reads all records of files whose types must be inferred. `go_on` is
    /// called now and then; its error stops the run.
    ///
    /// # Errors
    /// If a file cannot be read or SQLite refuses the schema. Lists **all** columns that do not match, in one error.
    pub fn new(request: LoadRequest, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Self> {
        let mut request = request;
        for input in &mut request.inputs {
            input.unpack(&request.temp_dir, &request.read, &|| go_on())?;
        }
        let mut copy = DatabaseCopy::default();
        let groups = request.group(&mut copy)?;
        request.refuse_selection_of_copies(&groups)?;
        request.refuse_limit_of_copies(&groups)?;
        Self::of_groups(request, groups, copy, go_on)
    }

    /// Does the same as [`new`](Self::new) for readers of the caller; `request.inputs` must be empty. Columns are matched by
    /// name. Each reader can be read once, so [`source`](Self::source) may be called once for each table.
    ///
    /// # Errors
    /// As [`new`](Self::new). Errors about a record name table, record, column and value, but no file. Records are numbered
    /// through all data of their table.
    ///
    /// # Panics
    /// If the request has files, too.
    pub fn from_readers(
        request: LoadRequest,
        given: Vec<InMemoryTable>,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        assert!(request.inputs.is_empty(), "data are given instead of files");
        let (mut groups, mut copy) = (Groups::default(), DatabaseCopy::default());
        for InMemoryTable { table, reader } in given {
            let contents = vec![Content::Given(Mutex::new(Some(reader)))];
            groups.add(Group { name: table, contents, copied: None });
        }
        request.keep_others(&mut groups, &mut copy)?;
        request.match_existing(&mut groups.groups)?;
        Self::of_groups(request, groups.groups, copy, go_on)
    }

    fn of_groups(
        request: LoadRequest,
        mut groups: Vec<Group>,
        mut copy: DatabaseCopy,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        let mut additions = SchemaAdditions::default();
        let (mut schema, found) = match (&request.existing, &request.schema) {
            (Some(existing), _) => {
                let extended = request.extend(existing, &mut groups, &mut copy, go_on)?;
                additions = extended.additions;
                (extended.schema, extended.found)
            }
            (None, Some((text, origin))) => {
                let schema = Schema::from_sql(text, origin)?;
                if request.reads_twice {
                    request.spool(&mut groups, go_on)?;
                }
                let found: Vec<Found> = groups.iter_mut().map(Group::known).collect();
                if request.inputs.is_empty() {
                    request.refuse_unknown_names(&found)?;
                }
                if request.keep.is_none() {
                    (schema, found)
                } else {
                    let copied: Vec<&CopiedTable> = groups.iter().filter_map(|group| group.copied.as_ref()).collect();
                    let sql = copy.settings() + &copy.definitions(&copied, &format!("{text}\n;\n"))?;
                    let schema = Schema::from_sql(&sql, origin)?;
                    (schema.with_shadow_tables(|name| groups.iter().any(|group| group.is_copy_of(name))), found)
                }
            }
            (None, None) => request.define(&mut groups, &mut copy, go_on)?,
        };
        let mut tables = Vec::new();
        let mut mismatches = Vec::new();
        for (group, found) in groups.into_iter().zip(found) {
            match request.plan_table(&schema, group, found, go_on) {
                Ok(table) => tables.push(table),
                Err(errors) => mismatches.extend(errors),
            }
        }
        if !mismatches.is_empty() {
            return Err(Error::all_of(mismatches));
        }
        request.refuse_forms_of_no_column(&schema, &tables)?;
        for planned in &tables {
            schema.tables[planned.table].has_mixed_rowids = planned.has_mixed_rowids();
        }
        let has_statistics = copy.has_statistics();
        let dropped = copy.losses(&schema);
        let DatabaseCopy { left_out, notes, .. } = copy;
        let empty_files = request.inputs.iter().filter(|input| request.leaves_out(input));
        let empty_files = empty_files.map(|input| input.name.clone()).collect();
        Ok(Self {
            schema,
            tables,
            left_out,
            notes,
            has_statistics,
            dropped,
            empty_files,
            additions,
            read: request.read,
            conflict: request.conflict,
        })
    }

    /// Returns the copied tables whose rows got new rowids: `log of shop.db`. Complete once the tables are read. Rowids that a
    /// column holds never change, and others only if several files fill the table, or SQLite does (`is_by_sqlite`).
    pub fn renumbered(&self, is_by_sqlite: &dyn Fn(&Table) -> bool) -> Vec<String> {
        let is_kept = |table: &PlannedTable| self.is_copied(table) && !is_by_sqlite(&self.schema.tables[table.table]);
        let tables = self.tables.iter().filter(|table| table.is_copied && !is_kept(table));
        let files = tables.flat_map(|table| (0..).zip(&table.files));
        let renumbered = files.filter_map(|(number, file)| match &file.content {
            Content::Table { input, table, .. } if table.is_renumbered(number == 0) => {
                Some(format!("{} of {}", table.name, input.name.display()))
            }
            _ => None,
        });
        renumbered.collect()
    }

    /// Opens the files of a table and returns its rows, which can be read once.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn source(
        &self,
        table: &PlannedTable,
        page_size: PageSize,
        on_error: OnError,
        rejects: &Arc<Rejects>,
    ) -> Result<LoadSource> {
        self.source_under(self.conflict, table, page_size, on_error, rejects)
    }

    /// Does the same as [`source`](Self::source) under another policy for conflicts. Files can be opened again, except those that
    /// can be read only once.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn source_under(
        &self,
        conflict: Conflict,
        table: &PlannedTable,
        page_size: PageSize,
        on_error: OnError,
        rejects: &Arc<Rejects>,
    ) -> Result<LoadSource> {
        let definition = &self.schema.tables[table.table];
        let estimate = self.estimate(table, page_size);
        let open = |file: &PlannedFile| file.open(&self.read);
        let mut files = table.files.iter().map(open).collect::<Result<Vec<OpenFile>>>()?;
        let is_alike = table.are_stored_alike(definition);
        let keeps_rowids = self.is_copied(table) || table.exists && is_alike == [true];
        for (file, is_alike) in files.iter_mut().zip(is_alike) {
            if keeps_rowids {
                file.keep_rowids();
            }
            if keeps_rowids || is_alike {
                file.ask_for_records(definition)?;
            }
        }
        let source = LoadSource::new(definition, files, conflict, on_error, rejects.clone(), estimate);
        let source = source.lacking(table.missing_columns());
        let source = source.limited_to(table.limit);
        // The first of two rows of one key stays, and so do the first rows up to a limit.
        let is_set = conflict == Conflict::Abort && on_error == OnError::Abort && table.limit.is_none();
        let source = if is_set && table.files.len() > 1 { source.in_order_of_rowids()? } else { source };
        Ok(if Self::is_of_databases(table) { source } else { source.watching(&table.decisions) })
    }

    /// Returns whether the table is defined and filled as in one database: its rows break no rule.
    pub fn is_copied(&self, table: &PlannedTable) -> bool {
        table.files.len() == 1 && Self::is_of_databases(table)
    }

    /// Returns whether the table is defined as in the databases that its rows come from.
    pub fn is_of_databases(table: &PlannedTable) -> bool {
        table.is_copied && table.files.iter().all(|file| matches!(file.content, Content::Table { .. }))
    }

    /// Returns remarks about the files: parts that are left out, values that have no place in a table.
    pub fn notes_about_files(&self) -> Vec<String> {
        self.read.notes.all()
    }

    /// Closes the database in a file that was read, so that it can be replaced. The others stay open for a second pass.
    pub fn close_database(&self, path: &Path) {
        for file in self.tables.iter().flat_map(|table| &table.files) {
            match &file.content {
                Content::Table { database, .. } if database.name() == path => database.close(),
                _ => {}
            }
        }
    }

    /// Returns the origin of the values of each column that a table of the schema is given.
    pub fn column_origins(&self, table: &PlannedTable) -> Vec<ColumnOrigin> {
        let definition = &self.schema.tables[table.table];
        let origin = |(at, position): (usize, usize)| {
            let column = &definition.columns[position];
            let mut origins: Vec<String> = table.files.iter().map(|file| file.mapping.origin(at, column)).collect();
            origins.dedup();
            let declared_type = column.declared_type.clone();
            ColumnOrigin { name: column.name.clone(), declared_type, because: origins.join("; ").into() }
        };
        definition.ordinary_columns().enumerate().map(origin).collect()
    }

    /// Returns the number of bytes of all files, if all sizes are known.
    pub fn input_bytes(&self) -> Option<u64> {
        let files = self.tables.iter().flat_map(|table| &table.files);
        let mut inputs = files.map(PlannedFile::input).collect::<Option<Vec<&Input>>>()?;
        // A database counts once, even if several of its tables are loaded.
        inputs.sort_by(|one, other| one.name.cmp(&other.name));
        inputs.dedup_by(|one, other| one.format == Format::Sqlite && one.name == other.name);
        inputs.into_iter().map(|input| input.bytes).sum()
    }

    /// Returns the counter of the bytes read so far.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.read.bytes_read.clone()
    }

    /// Estimates the size of a table from the first records of its first file.
    fn estimate(&self, table: &PlannedTable, page_size: PageSize) -> TableEstimate {
        let definition = &self.schema.tables[table.table];
        let nothing = || TableEstimate {
            rows: table.records.map(|rows| rows.min(table.limit.unwrap_or(u64::MAX))),
            ..TableEstimate::default()
        };
        let Some(file) = table.files.iter().find(|file| file.content.can_be_read_twice()) else {
            return nothing();
        };
        // A counter of its own: the progress of the load must not include the bytes of the estimate.
        let mut read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
        if file.input().is_some_and(|input| input.format == Format::Sqlite) {
            // SQL reads these rows on one core, before any other is read.
            read.piece_bytes.get_or_insert(SQLITE_SAMPLE_BYTES);
        }
        // Errors in a file are reported when it is loaded.
        let opened = file.open(&read);
        let first = opened.and_then(|open| FirstPiece::read(open, definition, self.conflict, &read.bytes_read));
        let Ok(first) = first else { return nothing() };
        let bytes: Option<u64> = table.files.iter().map(|file| file.input()?.bytes).sum();
        let rows = table.records.or_else(|| {
            if first.is_all && table.files.len() == 1 {
                return Some(first.records);
            }
            // A reader that has not counted any bytes yet allows no estimate.
            let read = (first.bytes > 0).then_some(first.bytes)?;
            let rows = u128::from(bytes?) * u128::from(first.records) / u128::from(read);
            Some(u64::try_from(rows).unwrap_or(u64::MAX))
        });
        let rows = rows.map(|rows| rows.min(table.limit.unwrap_or(u64::MAX)));
        if first.rows.is_empty() && first.records > 0 {
            return TableEstimate::of_texts(rows, first.text_bytes, first.records);
        }
        TableEstimate::new(definition, rows, first.rows, page_size)
    }
}
