//! `litepress_read`: the rows of files, as a table.
//!
//! SQLite asks a table for its columns before it has seen the arguments of a call. So there are two ways:
//!
//! - `CREATE VIRTUAL TABLE temp.trips USING litepress_read('trips.parquet')` has the names and types of the file.
//! - `litepress_read('trips.parquet')` has one column for all files, `row`, a JSON object; and hidden ones by position, `c1`, `c2`.

mod columns;
mod cursor;

use crate::interruption::watched;
use crate::open_files::refuse_databases;
use crate::options::{FileArguments, unquoted};
use crate::sqlite::{Arguments, Failure, Host, Index, TableModule};
use columns::Columns;
use cursor::ReadCursor;
use litepress::rows::sync::lock;
use litepress::{FileTable, LoadOptions, Progress};
use std::ffi::CStr;
use std::sync::{Arc, Mutex};

/// Number of arguments of a call.
const MOST_ARGUMENTS: usize = 32;
/// Number of columns by position.
const MOST_POSITIONS: usize = 500;
/// Rows to expect of a file that has not been read.
const USUAL_ROWS: u64 = 1_000_000;
/// Expected bytes of a row.
const ROW_BYTES: u64 = 50;

/// A table over files.
pub struct ReadTable {
    shared: Arc<Shared>,
}

/// State that a table shares with its cursors.
pub(crate) struct Shared {
    host: Host,
    columns: Columns,
    /// The files of a table that has been created, as they were named.
    arguments: Option<FileArguments>,
    /// The files that were inspected last, and the arguments that named them.
    inspected: Mutex<Option<Inspected>>,
}

/// Files whose columns are known.
#[derive(Clone)]
struct Inspected {
    texts: Vec<String>,
    table: Arc<FileTable>,
}

impl TableModule for ReadTable {
    type Cursor = ReadCursor;

    const NAME: &'static CStr = c"litepress_read";

    fn connect(host: Host, arguments: &Arguments) -> Result<(Self, String), Failure> {
        if arguments.is_eponymous {
            let columns = Columns::ByPosition;
            let definition = columns.definition();
            let shared = Shared { host, columns, arguments: None, inspected: Mutex::default() };
            return Ok((Self { shared: Arc::new(shared) }, definition));
        }
        let texts: Vec<String> = arguments.texts.iter().map(|text| unquoted(text)).collect();
        let files = FileArguments::of(texts.iter().map(String::as_str))?;
        let table = Arc::new(inspect(host, &files)?);
        let columns = Columns::Named(table.columns().map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect());
        let definition = columns.definition();
        let inspected = Mutex::new(Some(Inspected { texts: Vec::new(), table }));
        let shared = Shared { host, columns, arguments: Some(files), inspected };
        Ok((Self { shared: Arc::new(shared) }, definition))
    }

    fn plan(&self, index: &mut Index<'_>) -> Result<bool, Failure> {
        let Some(arguments) = self.shared.columns.take_arguments(index) else { return Ok(false) };
        let text = self.shared.columns.plan(index, arguments);
        let rows = self.shared.expected_rows();
        let (cost, kept) = text.cost(rows);
        index.set_plan(&text.to_string());
        if self.shared.columns.has_files(arguments) {
            index.set_cost(cost, kept);
        }
        Ok(true)
    }

    fn open(&self) -> Result<ReadCursor, Failure> {
        Ok(ReadCursor::new(self.shared.clone()))
    }
}

impl Shared {
    /// Returns the files of a call, or of the table that was created. Looks at them anew if they have changed.
    fn table(&self, texts: &[String]) -> Result<Arc<FileTable>, Failure> {
        let known = lock(&self.inspected).clone();
        if let Some(known) = known.filter(|known| known.texts == texts && known.table.is_current()) {
            return Ok(known.table);
        }
        let table = Arc::new(match &self.arguments {
            Some(files) => inspect(self.host, files)?,
            None => inspect(self.host, &FileArguments::of(texts.iter().map(String::as_str))?)?,
        });
        self.columns.agree(&table)?;
        *lock(&self.inspected) = Some(Inspected { texts: texts.to_vec(), table: table.clone() });
        Ok(table)
    }

    /// Returns about how many rows there are, for the planner.
    fn expected_rows(&self) -> u64 {
        let known = lock(&self.inspected);
        let Some(Inspected { table, .. }) = &*known else { return USUAL_ROWS };
        let by_size = || table.input_bytes().map(|bytes| bytes / ROW_BYTES);
        table.records().or_else(by_size).unwrap_or(USUAL_ROWS).max(1)
    }
}

/// Finds the columns of files.
fn inspect(host: Host, arguments: &FileArguments) -> Result<FileTable, Failure> {
    let progress = Arc::new(Progress::default());
    let mut options: LoadOptions = arguments.options.clone();
    options.build.progress = progress.clone();
    options.path_guard = Some(refuse_databases);
    watched(host, &progress, || FileTable::inspect(&arguments.files, &options))
}
