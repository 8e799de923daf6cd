//! Plans a load: the tables to read, the target column of each file column, and the reason for each column type. Readers of
//! data in memory can take the place of files ([`LoadPlan::from_readers`]).
//!
//! ```text
//! inputs --group--> tables --scan--> InferredColumns --define--> schema text --SQLite--> Schema     no schema is given
//!                   tables ------------------------------------------------------->  Schema     one is
//! Schema + columns of the files --match--> ColumnSources of every file --> LoadSource
//! ```

mod existing;
mod keys;
mod selection;

pub use existing::Existing;

use crate::copy::{self, CopiedTable, DatabaseCopy};
use crate::estimate::{FirstPiece, TableEstimate};
use crate::infer::{self, Conversion, FileStats, InferredColumn, NumberWords};
use crate::input::Input;
use crate::options::{Format, ReadOptions};
use crate::reader::{Field, FieldKind, Reader, TextFormat};
use crate::rejects::Rejects;
use crate::schema::{self, ColumnMapping, Naming, NewTable, RowDefault, TableOptions};
use crate::source::{ColumnSource, LoadSource, OnError, OpenFile, numbers_rows};
use crate::spreadsheet::{self, Sheet, SheetReader};
use crate::{arrow, csv, json, sqlite};
use litepress_format::page::PageSize;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::SchemaAdditions;
use litepress_rows::sync::{ignore_poison, lock};
use litepress_rows::{Affinity, Conflict, Error, ErrorKind, Message, OptionName, Result, Schema, Table, message};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

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
    /// Words in columns of numbers.
    pub words: Arc<NumberWords>,
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
    /// Indexes and triggers of replaced tables: `index i of t`.
    pub dropped: Vec<String>,
    /// Files that are left out because they are empty.
    pub empty_files: Vec<PathBuf>,
    /// Objects that a database lacks whose tables get the rows.
    pub additions: SchemaAdditions,
    read: ReadOptions,
    conflict: Conflict,
    limit: Option<u64>,
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
    /// The table is defined as in its database.
    is_copied: bool,
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
    /// The data. Its columns are [typed](FieldKind::Typed).
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

/// The origin of a table's records.
enum Content {
    /// A file that is not a database.
    File(Input),
    /// A table of a database.
    Table {
        /// The database file.
        input: Input,
        database: Arc<sqlite::Database>,
        table: Arc<sqlite::Table>,
    },
    /// A sheet of a workbook.
    Sheet {
        /// The workbook.
        input: Input,
        sheet: Arc<Sheet>,
    },
    /// A reader from the caller, until it is taken.
    Given(Mutex<Option<Box<dyn Reader>>>),
}

/// The files of one table whose definition is not known yet.
struct Group {
    /// Name of the table.
    name: String,
    contents: Vec<Content>,
    /// The database table that it copies.
    copied: Option<CopiedTable>,
}

/// The result of scanning the files of a table.
#[derive(Default)]
struct Found {
    decisions: Vec<InferredColumn>,
    records: Option<u64>,
    /// Columns of each file.
    fields: Vec<Vec<Field>>,
    /// Columns at the end of CSV files that have neither a name in the header nor a value.
    empty: Vec<String>,
    /// The error of the first bad record.
    first_bad: Option<Error>,
}

impl Content {
    fn open(&self, read: &ReadOptions) -> Result<Box<dyn Reader>> {
        let input = match self {
            Self::File(input) => input,
            Self::Table { database, table, .. } => return database.reader(&table.name, read),
            Self::Sheet { sheet, .. } => return Ok(Box::new(SheetReader::new(sheet.clone(), read))),
            Self::Given(reader) => {
                let reader = lock(reader).take();
                return reader.ok_or_else(|| Error::new(ErrorKind::Usage, "these data can be read only once"));
            }
        };
        match input.format {
            Format::Csv => csv::open(input, read),
            Format::Json => json::open(input, read),
            Format::Parquet | Format::Arrow => arrow::open(input, read),
            Format::Sqlite | Format::Spreadsheet => unreachable!("these are opened table by table"),
        }
    }

    /// Returns the file, if there is one.
    fn input(&self) -> Option<&Input> {
        match self {
            Self::File(input) | Self::Table { input, .. } | Self::Sheet { input, .. } => Some(input),
            Self::Given(_) => None,
        }
    }

    fn can_be_read_twice(&self) -> bool {
        self.input().is_some_and(Input::can_be_read_twice)
    }

    fn naming(&self, read: &ReadOptions, reader: &dyn Reader) -> Naming {
        let header_line = reader.text_format().and_then(|format| format.header_line);
        match self.input().map(|input| input.format) {
            None => Naming::Given,
            Some(Format::Json) => Naming::Records,
            Some(Format::Csv) if header_line.is_none() && read.dialect.columns.is_none() => Naming::Position,
            Some(Format::Spreadsheet) if read.dialect.header == Some(false) && read.dialect.columns.is_none() => {
                Naming::Position
            }
            Some(Format::Spreadsheet | Format::Csv | Format::Parquet | Format::Arrow | Format::Sqlite) => {
                Naming::Header
            }
        }
    }

    /// Returns the columns and the number of records of a given reader. `None` for files.
    fn known(&mut self) -> Option<(Vec<Field>, Option<u64>)> {
        let Self::Given(reader) = self else { return None };
        let reader = ignore_poison(reader.get_mut()).as_ref()?;
        Some((reader.columns().to_vec(), reader.records()))
    }

    /// Adds the file to an error that names none.
    fn in_file(&self, error: Error) -> Error {
        match self.input() {
            Some(input) if error.place().file.is_none() => error.in_file(&input.name),
            _ => error,
        }
    }
}

impl Group {
    /// Returns the group of a table of a database.
    fn of_database(input: &Input, copied: CopiedTable) -> Self {
        let CopiedTable { database, table, .. } = &copied;
        let (name, database, table) = (table.name.clone(), database.clone(), table.clone());
        Self { name, contents: vec![Content::Table { input: input.clone(), database, table }], copied: Some(copied) }
    }

    /// Returns whether the caller gave the data. A group never mixes given data and files.
    fn is_given(&self) -> bool {
        self.contents.iter().all(|content| content.input().is_none())
    }

    /// Returns the columns and record counts that are known without reading. Empty for files.
    fn known(&mut self) -> Found {
        let known: Option<Vec<_>> = self.contents.iter_mut().map(Content::known).collect();
        let Some(known) = known else { return Found::default() };
        let (fields, records): (_, Vec<Option<u64>>) = known.into_iter().unzip();
        Found { fields, records: records.into_iter().sum(), ..Found::default() }
    }
}

/// The groups of all tables, indexed by lower-case name: databases with thousands of tables are common.
#[derive(Default)]
struct Groups {
    groups: Vec<Group>,
    positions: HashMap<String, usize>,
}

impl Groups {
    /// Fails if `group` is a file, and another file is to become a table of the same name. A database's table takes files.
    fn refuse_second_file(&self, group: &Group) -> Result<()> {
        let Some(&position) = self.positions.get(&group.name.to_ascii_lowercase()) else { return Ok(()) };
        let file = |content: &Content| match content {
            Content::File(input) | Content::Sheet { input, .. } => Some(input.name.clone()),
            Content::Table { .. } | Content::Given(_) => None,
        };
        let known = self.groups[position].contents.iter().find_map(file);
        let (Some(known), Some(name)) = (known, group.contents.iter().find_map(file)) else { return Ok(()) };
        let message = format!("this file and {} would both become table {}", known.display(), group.name);
        let one = OptionName::Table.word(group.name.clone());
        Err(Error::new(ErrorKind::Usage, message).in_file(&name).advise(message![
            "load all files into one table with ",
            one,
            ", or rename one of them"
        ]))
    }

    /// Adds a group, or appends its contents to the group of the same name.
    fn add(&mut self, group: Group) {
        let position = *self.positions.entry(group.name.to_ascii_lowercase()).or_insert(self.groups.len());
        match self.groups.get_mut(position) {
            Some(known) => known.contents.extend(group.contents),
            None => self.groups.push(group),
        }
    }
}

impl Groups {
    /// Adds the shadow tables of the virtual tables that are copied.
    fn add_shadows(&mut self, copy: &mut DatabaseCopy) {
        let contributors = self.positions.iter().map(|(name, &at)| (name.clone(), self.groups[at].contents.len()));
        for (input, copied) in copy.choose(&contributors.collect()) {
            self.add(Group::of_database(&input, copied));
        }
    }
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
    /// Returns whether only some of the files have the table's INTEGER PRIMARY KEY.
    fn has_mixed_rowids(&self) -> bool {
        let numbered = self.files.iter().filter(|file| numbers_rows(&file.mapping.column_sources)).count();
        numbered > 0 && numbered < self.files.len()
    }
}

impl PlannedFile {
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
                    (Schema::from_sql(&sql, origin)?.with_shadow_tables(), found)
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
        let DatabaseCopy { left_out, notes, dropped, .. } = copy;
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
            limit: request.limit,
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
        if self.is_copied(table) {
            files.iter_mut().for_each(|file| file.reader.keep_rowids());
        }
        let missing = table.files.first().map(|file| file.mapping.missing.clone()).unwrap_or_default();
        let source = LoadSource::new(definition, files, conflict, on_error, rejects.clone(), estimate);
        let source = source.lacking(missing);
        let source = source.limited_to(self.limit);
        Ok(if Self::is_of_databases(table) { source } else { source.watching(&table.decisions) })
    }

    /// Returns whether the table is defined and filled as in one database: its rows break no rule.
    pub fn is_copied(&self, table: &PlannedTable) -> bool {
        table.files.len() == 1 && Self::is_of_databases(table)
    }

    fn is_of_databases(table: &PlannedTable) -> bool {
        table.is_copied && table.files.iter().all(|file| matches!(file.content, Content::Table { .. }))
    }

    /// Returns remarks about the files: parts that are left out, values that have no place in a table.
    pub fn notes_about_files(&self) -> Vec<String> {
        self.read.notes.all()
    }

    /// Closes the databases that were read, so that one of them can be replaced. Nothing can be read any more.
    pub fn close_databases(&self) {
        for file in self.tables.iter().flat_map(|table| &table.files) {
            if let Content::Table { database, .. } = &file.content {
                database.close();
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
            rows: table.records.map(|rows| rows.min(self.limit.unwrap_or(u64::MAX))),
            ..TableEstimate::default()
        };
        let Some(file) = table.files.iter().find(|file| file.content.can_be_read_twice()) else {
            return nothing();
        };
        // A counter of its own: the progress of the load must not include the bytes of the estimate.
        let read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
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
        let rows = rows.map(|rows| rows.min(self.limit.unwrap_or(u64::MAX)));
        if first.rows.is_empty() && first.records > 0 {
            return TableEstimate::of_texts(rows, first.text_bytes, first.records);
        }
        TableEstimate::new(definition, rows, first.rows, page_size)
    }
}

impl LoadRequest {
    /// Groups the files by table.
    fn group(&self, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        if let Some(name) = self.table.as_deref().filter(|name| name.trim().is_empty()) {
            let error = Error::new(ErrorKind::Usage, format!("'{name}' is not the name of a table"));
            return Err(error.advise(message!["say another one with ", OptionName::Table.alone()]));
        }
        let mut groups = Groups::default();
        for input in self.inputs.iter().filter(|input| !self.leaves_out(input)) {
            for group in self.groups_of(input, copy)? {
                if self.table.is_none() && self.schema.is_none() {
                    groups.refuse_second_file(&group)?;
                }
                groups.add(group);
            }
        }
        if self.keep.is_some() {
            self.keep_others(&mut groups, copy)?;
        } else if self.existing.is_some() {
            self.match_existing(&mut groups.groups)?;
        } else {
            groups.add_shadows(copy);
        }
        Ok(groups.groups)
    }

    /// Returns whether a file is left out because it is empty, and nothing names its columns.
    fn leaves_out(&self, input: &Input) -> bool {
        input.bytes == Some(0) && self.read.leaves_out_empty && self.read.dialect.columns.is_none()
    }

    fn groups_of(&self, input: &Input, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        match input.format {
            Format::Sqlite => return self.groups_of_database(input, copy),
            Format::Spreadsheet => return self.groups_of_workbook(input),
            Format::Csv | Format::Json | Format::Parquet | Format::Arrow => {}
        }
        let Some(name) = self.table.clone().or_else(|| self.only_table()).or_else(|| input.table_name()) else {
            let error = Error::new(ErrorKind::Usage, "the table needs a name").in_file(&input.name);
            return Err(error.advise(message!["name it with ", OptionName::Table.alone()]));
        };
        Ok(vec![Group { name, contents: vec![Content::File(input.clone())], copied: None }])
    }

    /// Returns a group for each sheet. A sheet that has no sibling is named after its workbook.
    fn groups_of_workbook(&self, input: &Input) -> Result<Vec<Group>> {
        let sheets = spreadsheet::open_sheets(input, &self.sheets, &self.read)?;
        let group = |sheet: Sheet| {
            let of_workbook = || input.table_name().filter(|_| sheet.place == input.name);
            let name = self.table.clone().or_else(|| self.only_table()).or_else(of_workbook);
            let name = name.unwrap_or_else(|| sheet.name.clone());
            let input = input.part(sheet.place.clone());
            Group { name, contents: vec![Content::Sheet { input, sheet: Arc::new(sheet) }], copied: None }
        };
        Ok(sheets.into_iter().map(group).collect())
    }

    /// Adds everything of the database to keep, except the tables that the request defines.
    fn keep_others(&self, groups: &mut Groups, copy: &mut DatabaseCopy) -> Result<()> {
        let Some(input) = &self.keep else { return Ok(()) };
        let database = Arc::new(sqlite::Database::open(input)?);
        copy.add(input, &database);
        let mut replaced: HashSet<String> = groups.positions.keys().cloned().collect();
        if let Some((text, origin)) = &self.schema {
            let schema = Schema::from_sql(text, origin)?;
            replaced.extend(schema.objects.iter().map(|object| object.name.to_ascii_lowercase()));
        }
        for table in database.tables() {
            if replaced.contains(&table.name.to_ascii_lowercase()) {
                copy.drop_objects(table);
            } else {
                let (database, table) = (database.clone(), table.clone());
                groups.add(Group::of_database(input, CopiedTable { database, table, is_shadow: false }));
            }
        }
        copy.replaced = replaced;
        groups.add_shadows(copy);
        Ok(())
    }

    /// Copies inputs that can be read only once.
    fn spool(&self, groups: &mut [Group], go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
        for content in groups.iter_mut().flat_map(|group| &mut group.contents) {
            if let Content::File(input) = content {
                input.spool(&self.temp_dir, &|| go_on())?;
            }
        }
        Ok(())
    }

    /// Returns whether the rows are those of a table that is kept as it is.
    fn keeps(&self, content: &Content) -> bool {
        let (Content::Table { input, .. }, Some(keep)) = (content, &self.keep) else { return false };
        input.name == keep.name
    }

    /// Returns the name of the schema's table if it has only one.
    fn only_table(&self) -> Option<String> {
        let (text, origin) = self.schema.as_ref()?;
        let schema = Schema::from_sql(text, origin).ok()?;
        if let [table] = &schema.tables[..] { Some(table.name.clone()) } else { None }
    }

    /// Returns a group for each table of a database, or for the requested table only.
    fn groups_of_database(&self, input: &Input, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        let database = Arc::new(sqlite::Database::open(input)?);
        let is_wanted = |name: &str| self.table.as_ref().is_none_or(|table| table.eq_ignore_ascii_case(name));
        let tables: Vec<Arc<sqlite::Table>> =
            database.tables().iter().filter(|table| is_wanted(&table.name)).cloned().collect();
        if let (true, Some(table)) = (tables.is_empty(), &self.table) {
            let names: Vec<&str> = database.tables().iter().map(|table| table.name.as_str()).collect();
            let error = Error::new(ErrorKind::Usage, format!("the database has no table {table}"));
            return Err(error.in_file(&input.name).advise(format!("it has {}", names.join(", "))));
        }
        // A schema says which other objects there are.
        if self.table.is_none() && self.schema.is_none() {
            copy.add(input, &database);
        }
        let copied = |table| CopiedTable { database: database.clone(), table, is_shadow: false };
        Ok(tables.into_iter().map(|table| Group::of_database(input, copied(table))).collect())
    }

    /// Defines the tables: tables of databases as in their database, others from the contents of their files.
    fn define(
        &self,
        groups: &mut [Group],
        copy: &mut DatabaseCopy,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<(Schema, Vec<Found>)> {
        let (mut new, mut found) = (Vec::new(), Vec::new());
        for group in groups.iter_mut() {
            let mut of_group = self.infer_types(group, go_on)?;
            match &group.copied {
                Some(_) => of_group.decisions.clear(),
                None => {
                    self.rename(&mut of_group.decisions);
                    self.refuse_empty_selection(group, &of_group)?;
                    self.add_source_column(group, &mut of_group.decisions)?;
                    refuse_impossible(group, &of_group.decisions, of_group.first_bad.take())?;
                    new.push(NewTable { name: group.name.clone(), columns: of_group.decisions.clone() });
                }
            }
            found.push(of_group);
        }
        self.refuse_unknown_names(&found)?;
        self.refuse_unknown_selection(groups, &found)?;
        let created = if new.is_empty() {
            String::new()
        } else {
            schema::create(&mut new, &self.options).map_err(Error::all_of)?
        };
        let copied: Vec<&CopiedTable> = groups.iter().filter_map(|group| group.copied.as_ref()).collect();
        let sql = copy.settings() + &copy.definitions(&copied, &created)?;
        let inferred = groups.iter().zip(&mut found).filter(|(group, _)| group.copied.is_none());
        for ((_, found), table) in inferred.zip(new) {
            found.decisions = table.columns;
        }
        let schema = Schema::from_sql(&sql, copy::ORIGIN)?;
        // Given data and files define no virtual tables; those of databases come with their shadow tables.
        Ok((schema.with_shadow_tables(), found))
    }

    /// Fails if `store_as` names a column that no table takes from a file.
    fn refuse_forms_of_no_column(&self, schema: &Schema, tables: &[PlannedTable]) -> Result<()> {
        let mut taken = Vec::new();
        for planned in tables {
            let (table, projected) =
                (&schema.tables[planned.table].name, planned.files.iter().flat_map(|file| &file.mapping.projected));
            taken.extend(projected.map(|projected| (table.as_str(), projected.name.as_str())));
        }
        for (column, form) in &self.store_as {
            if !taken.iter().any(|(table, name)| is_named(table, name, column)) {
                let given = OptionName::StoreAs.pair(column, form).given();
                let message = message![given, format!(": no table takes a column {column}")];
                let error = Error::new(ErrorKind::Usage, message);
                let names: Vec<&str> = taken.iter().map(|(_, name)| *name).collect();
                return Err(error.advise(format!("there are {}", names.join(", "))));
            }
        }
        Ok(())
    }

    /// Scans the files of a table: text files in full, to infer types.
    fn infer_types(&self, group: &mut Group, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Found> {
        let (mut findings, mut found) = (FileStats::default(), Found::default());
        let (mut fields, mut names): (Vec<Field>, HashSet<String>) = Default::default();
        let (mut records, mut unnamed) = (Some(0), BTreeMap::new());
        for (number, content) in (0..).zip(&mut group.contents) {
            let (columns, of_content, named) = self.look_at(number, content, &mut findings, go_on)?;
            for (position, column) in columns.iter().enumerate() {
                *unnamed.entry(column.name.clone()).or_insert(true) &= position >= named;
            }
            found.first_bad = found.first_bad.or_else(|| findings.take_first_bad().map(|error| content.in_file(error)));
            records = records.zip(of_content).map(|(sum, all)| sum + all);
            for field in &columns {
                if names.insert(field.name.clone()) {
                    fields.push(field.clone());
                }
            }
            found.fields.push(columns);
        }
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        found.decisions = findings.decide(&fields, self.options.strict, self.sample, &|column| {
            schema::numbers_of(&self.options.numbers, &group.name, self.name_in_table(column, &names))
        });
        self.select_columns(&group.name, &mut found.decisions);
        if self.sample.is_none() {
            unnamed
                .retain(|name, is_unnamed| *is_unnamed && findings.of(name).is_none_or(|column| column.values() == 0));
            found.decisions.retain(|decision| !unnamed.contains_key(&decision.name));
            found.empty = unnamed.into_keys().collect();
        }
        self.declare_forms(&group.name, &mut found.decisions);
        found.records = records.map(|records| records.min(self.limit.unwrap_or(u64::MAX)));
        Ok(found)
    }

    /// Scans one file of a table. Returns its columns, its number of records if that is known now, and the number of columns up to the
    /// last one that has a name.
    fn look_at(
        &self,
        number: u32,
        content: &mut Content,
        findings: &mut FileStats,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<(Vec<Field>, Option<u64>, usize)> {
        if let Some((columns, records)) = content.known() {
            return Ok((columns, records, usize::MAX));
        }
        if let Content::File(input) = content {
            input.spool(&self.temp_dir, &|| go_on())?;
        }
        let mut reader = content.open(&self.read)?;
        let text = |input: &&Input| matches!(input.format, Format::Csv | Format::Json | Format::Spreadsheet);
        let Some(input) = content.input().filter(text) else {
            return Ok((reader.columns().to_vec(), reader.records(), usize::MAX));
        };
        let named = reader.text_format().map_or(usize::MAX, |format| format.named);
        let limit = self.sample.into_iter().chain(self.limit).min();
        let mut of_file = infer::scan_types(&mut *reader, self.threads, limit, &self.words, go_on)
            .map_err(|error| content.in_file(error))?;
        of_file.in_file(number, &input.name);
        let all = if self.sample.is_none() { Some(of_file.records) } else { None };
        let columns = fields_of(&*reader, &of_file);
        findings.merge(of_file);
        Ok((columns, all, named))
    }

    /// Changes the declared type of columns that are stored in another form.
    fn declare_forms(&self, table: &str, decisions: &mut [InferredColumn]) {
        for (column, form) in &self.store_as {
            // An unknown form is reported by the column itself, which lists its forms.
            let Some(declared) = arrow::declared_type_of_form(form) else { continue };
            for decision in decisions.iter_mut().filter(|decision| is_named(table, &decision.name, column)) {
                *decision = decision.overridden(declared, self.options.strict, OptionName::StoreAs);
            }
        }
    }

    /// Plans the files of a table: the target of each column.
    fn plan_table(
        &self,
        schema: &Schema,
        group: Group,
        found: Found,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<PlannedTable, Vec<Error>> {
        let Some(position) = schema.position(&group.name) else {
            let known: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
            let error = Error::new(ErrorKind::Schema, format!("the schema has no table {}", group.name));
            let has = format!("it has {}", known.join(", "));
            if group.is_given() {
                return Err(vec![error.advise(has)]);
            }
            let advice = message![has, "; ", OptionName::Table.alone(), " says which one the files go to"];
            return Err(vec![error.in_file(&schema.origin).advise(advice)]);
        };
        let table = &schema.tables[position];
        let is_copied = group.copied.is_some() && (self.schema.is_none() || self.keep.is_some());
        let (mut files, mut mistakes) = (Vec::new(), Vec::new());
        for (number, content) in group.contents.into_iter().enumerate() {
            let fields = found.fields.get(number).map(Vec::as_slice);
            match self.plan_file(table, content, fields, &found, go_on) {
                Ok(file) => files.push(file),
                Err(errors) => mistakes.extend(errors),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        self.refuse_different_columns(table, &files).map_err(|error| vec![error])?;
        let records = found.records.or_else(|| files.iter().map(|file| file.records).sum());
        let records = records.map(|records: u64| records.min(self.limit.unwrap_or(u64::MAX)));
        Ok(PlannedTable { table: position, decisions: found.decisions, records, files, is_copied })
    }

    fn plan_file(
        &self,
        table: &Table,
        mut content: Content,
        fields: Option<&[Field]>,
        found: &Found,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<PlannedFile, Vec<Error>> {
        let decisions: &[InferredColumn] = &found.decisions;
        let by_key = match (fields, content.input().map(|input| input.format)) {
            (None, Some(Format::Json)) => {
                Some(self.fields_by_key(table, &mut content, go_on).map_err(|error| vec![error])?)
            }
            _ => None,
        };
        let reader = content.open(&self.read).map_err(|error| vec![error])?;
        let naming = content.naming(&self.read, &*reader);
        let known = by_key.or(fields.map(<[Field]>::to_vec)).unwrap_or_else(|| reader.columns().to_vec());
        let of_file = |error: Error| content.in_file(error);
        let added = self.source_column.as_deref().zip(content.input());
        let added = added.map(|(column, input)| (column, OwnedValue::Text(input.name.display().to_string())));
        let empty = known.iter().filter(|field| found.empty.contains(&field.name));
        let empty: Vec<String> = empty.map(|field| field.name.clone()).collect();
        let is_kept = self.keeps(&content);
        let mut map = if is_kept { Vec::new() } else { self.map_of(&table.name, &known) };
        map.extend(empty.iter().map(|name| (name.clone(), String::new())));
        let mut mapping = schema::matching(table, &known, naming, &map, added).map_err(|errors| {
            errors.into_iter().map(|error| of_file(self.offer_columns(table, error))).collect::<Vec<Error>>()
        })?;
        for (column, form) in self.store_as.iter().filter(|_| !is_kept) {
            let projected =
                mapping.projected.iter_mut().filter(|projected| is_named(&table.name, &projected.name, column));
            projected.for_each(|projected| projected.form = Some(form.clone()));
        }
        let (mut type_checks, mut conversions) = (Vec::new(), Vec::new());
        let names: Vec<String> = known.iter().map(|field| field.name.clone()).collect();
        for (position, projected) in mapping.projected.iter_mut().enumerate() {
            let name = self.name_in_table(&projected.name, &names);
            let decision = decisions.iter().find(|decision| decision.name.eq_ignore_ascii_case(name));
            projected.empty_is_null = decision.is_some_and(|decision| decision.empty_is_null);
            type_checks.extend(decision.filter(|_| self.sample.is_some()).map(|decision| (position, decision.clone())));
            let rounds = decision.is_some_and(InferredColumn::rounds);
            let is_number = matches!(projected.affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric);
            if is_number && (rounds || !self.words.is_empty()) {
                conversions.push((position, Conversion { words: self.words.clone(), rounds }));
            }
        }
        let records = reader.records();
        let mut text_format = reader.text_format().cloned();
        if let (Some(format), false) = (&mut text_format, empty.is_empty()) {
            format.notes.push(format!("left out columns without name and values: {}", empty.join(", ")));
        }
        let reader = (!content.can_be_read_twice()).then_some(reader);
        let ignored = self.map.iter().filter(|(_, to)| to.is_empty()).map(|(from, _)| from.clone()).collect();
        let ignored = self.select.is_empty().then_some(ignored);
        Ok(PlannedFile {
            content,
            mapping,
            ignored,
            type_checks,
            conversions,
            records,
            text_format,
            reader: Mutex::new(reader),
        })
    }
}

/// The default limit of columns in a table of SQLite (`SQLITE_MAX_COLUMN`).
const MOST_COLUMNS: usize = 2000;

/// Fails if no table can be defined: it has no columns, too many, or a reserved name. Without columns, the first bad record tells
/// why.
fn refuse_impossible(group: &Group, decisions: &[InferredColumn], first_bad: Option<Error>) -> Result<()> {
    let data = |message: &str, advice: Message| {
        let error = Error::new(ErrorKind::Data, message);
        // Options are no advice for given data.
        if group.is_given() { error.in_table(&group.name) } else { group.contents[0].in_file(error).advise(advice) }
    };
    if let (true, Some(error)) = (decisions.is_empty(), first_bad) {
        return Err(error);
    }
    if decisions.is_empty() {
        let message = if group.is_given() {
            "the data have no column, and a table needs one"
        } else {
            "no record has a key, so the table would have no column"
        };
        return Err(data(message, message!["define the table: ", OptionName::Schema.word("FILE.sql")]));
    }
    if decisions.len() > MOST_COLUMNS {
        let message = format!("there are {} columns, and a SQLite table has at most {MOST_COLUMNS}", decisions.len());
        return Err(data(&message, message!["leave some out: ", OptionName::Map.pair("COLUMN", "")]));
    }
    if group.name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_")) {
        let message = format!("the table would be called {}, and SQLite keeps such names for itself", group.name);
        return Err(data(&message, message!["say another name: ", OptionName::Table.alone()]));
    }
    Ok(())
}

/// Returns the columns of a text file after its scan.
fn fields_of(reader: &dyn Reader, findings: &FileStats) -> Vec<Field> {
    if !reader.columns().is_empty() {
        return reader.columns().to_vec();
    }
    let field = |name: &String| Field { name: name.clone(), kind: FieldKind::Text };
    findings.columns().iter().map(|finding| field(&finding.name)).collect()
}

/// Returns whether `asked` means this column: `COLUMN` or `TABLE.COLUMN`.
fn is_named(table: &str, column: &str, asked: &str) -> bool {
    let with_table = || {
        let (of, name) = (asked.get(..table.len())?, asked.get(table.len()..)?.strip_prefix('.')?);
        Some(of.eq_ignore_ascii_case(table) && name.eq_ignore_ascii_case(column))
    };
    asked.eq_ignore_ascii_case(column) || with_table() == Some(true)
}
