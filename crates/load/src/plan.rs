//! From files to the tables of a database: what is read, into which columns, and why these have the types they have.
//!
//! ```text
//! inputs --group--> tables --survey--> decisions --define--> schema text --SQLite--> Schema     no schema is given
//!                   tables ------------------------------------------------------->  Schema     one is
//! Schema + columns of the files --match--> supplies of every file --> LoadSource
//! ```

use crate::infer::{self, Decision, Findings};
use crate::input::Input;
use crate::options::{Format, ReadOptions};
use crate::outlook::{FirstPiece, Outlook};
use crate::reader::{Reader, Wanted};
use crate::rejects::Rejects;
use crate::schema::{self, Definition, Match};
use crate::source::{LoadSource, OnError, OpenFile, Supply};
use crate::{arrow, csv, json, sqlite};
use litepress_format::page::PageSize;
use litepress_rows::{Conflict, Error, ErrorKind, Result, Schema};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is to be loaded, and into what.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// The files.
    pub inputs: Vec<Input>,
    /// The table of all of them; by default each file has its own, called as the file.
    pub table: Option<String>,
    /// CREATE statements, and what errors call them; by default tables are defined after what the files hold.
    pub schema: Option<(String, String)>,
    /// What tables that are defined after their files have beyond columns.
    pub definition: Definition,
    /// Columns of files and the table's columns that they go to; an empty name leaves a column out.
    pub map: Vec<(String, String)>,
    /// Columns and the forms in which they are stored.
    pub forms: Vec<(String, String)>,
    /// How files are read.
    pub read: ReadOptions,
    /// Find out types from so many records of each file instead of all.
    pub sample: Option<u64>,
    /// What becomes of rows whose key is there already.
    pub conflict: Conflict,
    /// Threads that look for types.
    pub threads: usize,
    /// Folder for a copy of what can be read only once.
    pub temp_dir: PathBuf,
}

/// Tables, and the files that they are loaded from.
pub struct LoadPlan {
    /// The schema as SQLite understands it.
    pub schema: Schema,
    /// Tables that get rows.
    pub tables: Vec<PlannedTable>,
    read: ReadOptions,
    conflict: Conflict,
}

/// A table that gets rows.
pub struct PlannedTable {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// What its columns were found to be; nothing where a schema was given.
    pub decisions: Vec<Decision>,
    /// Number of records, where all were looked at or the files say it.
    pub records: Option<u64>,
    /// The files, in the order in which they are read.
    pub files: Vec<PlannedFile>,
}

/// A file that a table is loaded from.
pub struct PlannedFile {
    /// The file.
    pub input: Input,
    /// The table in it, where it is a database.
    table_in_file: Option<String>,
    matched: Match,
    /// Open where it can be read but once.
    reader: Mutex<Option<Box<dyn Reader>>>,
}

/// The inputs of one table, before it is known what it looks like.
struct Group {
    /// Name of the table.
    name: String,
    /// Its inputs, and the table in each where it is a database.
    inputs: Vec<(Input, Option<String>)>,
    /// The statements that define it in the database that it is copied from.
    sql: Option<String>,
}

impl LoadPlan {
    /// Looks at the files, all of their records where types must be found out, and settles what goes where. `go_on` is asked
    /// now and then, and fails where the user wants to stop.
    ///
    /// # Errors
    /// Files that cannot be read; a schema that SQLite refuses; **all** columns that do not fit one another, in one error.
    pub fn new(request: LoadRequest, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Self> {
        let mut request = request;
        let mut groups = request.group()?;
        let (schema, found) = match request.schema.take() {
            Some((text, origin)) => {
                let schema = Schema::from_sql(&text, &origin)?;
                let none = groups.iter().map(|_| Found::default()).collect();
                (schema, none)
            }
            None => request.define(&mut groups, go_on)?,
        };
        let mut tables = Vec::new();
        let mut mismatches = Vec::new();
        for (group, found) in groups.into_iter().zip(found) {
            match request.plan_table(&schema, group, found) {
                Ok(table) => tables.push(table),
                Err(error) => mismatches.push(error),
            }
        }
        if !mismatches.is_empty() {
            return Err(all_of(mismatches));
        }
        Ok(Self { schema, tables, read: request.read, conflict: request.conflict })
    }

    /// The rows of a table, to be read once.
    ///
    /// # Errors
    /// Files that cannot be opened.
    pub fn source(
        &self,
        table: &PlannedTable,
        page_size: PageSize,
        on_error: OnError,
        rejects: &Arc<Rejects>,
    ) -> Result<LoadSource> {
        let definition = &self.schema.tables[table.table];
        let outlook = self.outlook(table, page_size)?;
        let open = |file: &PlannedFile| file.open(&self.read);
        let files = table.files.iter().map(open).collect::<Result<Vec<OpenFile>>>()?;
        Ok(LoadSource::new(definition, files, self.conflict, on_error, rejects.clone(), outlook))
    }

    /// Bytes of all files, where they are known.
    pub fn input_bytes(&self) -> Option<u64> {
        self.tables.iter().flat_map(|table| &table.files).map(|file| file.input.bytes).sum()
    }

    /// Counts the bytes that are read.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.read.bytes_read.clone()
    }

    /// What the first records of the first file promise.
    fn outlook(&self, table: &PlannedTable, page_size: PageSize) -> Result<Outlook> {
        let definition = &self.schema.tables[table.table];
        let nothing = || Outlook { rows: table.records, ..Outlook::default() };
        let Some(file) = table.files.iter().find(|file| file.input.can_be_read_twice()) else { return Ok(nothing()) };
        // Counted apart from what is read for good.
        let read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
        // What is wrong with a file is told when it is read for good.
        let Ok(first) = file.open(&read).and_then(|open| FirstPiece::read(open, definition, self.conflict)) else {
            return Ok(nothing());
        };
        let bytes: Option<u64> = table.files.iter().map(|file| file.input.bytes).sum();
        let rows = table.records.or_else(|| {
            if first.is_all && table.files.len() == 1 {
                return Some(first.records);
            }
            let read = read.bytes_read.load(Ordering::Relaxed).max(1);
            Some(u64::try_from(u128::from(bytes?) * u128::from(first.records) / u128::from(read)).unwrap_or(u64::MAX))
        });
        Ok(Outlook::new(definition, rows, first.rows, page_size))
    }
}

/// What was found in the files of a table.
#[derive(Default)]
struct Found {
    decisions: Vec<Decision>,
    records: Option<u64>,
}

impl LoadRequest {
    /// Which inputs go to which table.
    fn group(&self) -> Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        for input in &self.inputs {
            for (name, table_in_file, sql) in self.tables_of(input)? {
                let known = groups.iter_mut().find(|group| group.name.eq_ignore_ascii_case(&name));
                match known {
                    Some(group) => group.inputs.push((input.clone(), table_in_file)),
                    None => groups.push(Group { name, inputs: vec![(input.clone(), table_in_file)], sql }),
                }
            }
        }
        Ok(groups)
    }
}
