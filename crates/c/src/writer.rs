//! A database whose rows come while the program runs, and its tables by numbers.

use crate::error::{CError, Status, given, run, text};
use crate::options::{COptions, WATCH_TIME, Watcher};
use litepress::own_locks::OwnUse;
use litepress::{Error, ErrorKind, Progress, Result, TableWriter, Writer};
use std::ffi::{CString, c_char};
use std::path::PathBuf;
use std::sync::Arc;

/// A database whose rows come while the program runs: `litepress_writer`.
#[derive(Debug)]
pub struct CWriter {
    writer: Writer,
    /// The database, if it exists.
    existing: Option<PathBuf>,
    progress: Arc<Progress>,
    watcher: Option<Watcher>,
    tables: Vec<NumberedTable>,
    /// For each table of the schema, the number under which it was used last.
    prepared: Vec<Option<usize>>,
}

/// A table and the columns of its rows.
#[derive(Debug)]
struct NumberedTable {
    position: usize,
    name: String,
    columns: Vec<String>,
    /// These names, each with a NUL behind it.
    c_columns: Vec<CString>,
}

/// Figures of a finished database: `litepress_summary`.
#[derive(Debug)]
#[repr(C)]
pub struct CSummary {
    size: usize,
    rows: u64,
    bytes: u64,
    pages: u64,
}

impl CWriter {
    fn new(options: COptions, begin: impl FnOnce(&COptions) -> Result<(Writer, Option<PathBuf>)>) -> Result<Box<Self>> {
        // Writers of the same options are apart.
        let mut options = options;
        options.options.progress = Arc::default();
        let (writer, existing) = begin(&options)?;
        let prepared = vec![None; writer.schema().tables.len()];
        let (progress, watcher) = (options.options.progress, options.watcher);
        Ok(Box::new(Self { writer, existing, progress, watcher, tables: Vec::new(), prepared }))
    }

    /// Returns the number of a table with these columns.
    fn number(&mut self, name: &str, columns: Option<Vec<&str>>) -> Result<usize> {
        let columns: Vec<String> = match columns {
            None => {
                self.writer.table(name)?;
                let table = self.writer.schema().table(name).expect("a table that was found");
                table.ordinary_columns().map(|position| table.columns[position].name.clone()).collect()
            }
            Some(columns) => {
                self.writer.table_columns(name, &columns)?;
                columns.into_iter().map(str::to_owned).collect()
            }
        };
        let position = self.writer.schema().position(name).expect("a table that was found");
        let c_columns = columns.iter().map(|column| CString::new(column.as_str()).unwrap_or_default()).collect();
        self.tables.push(NumberedTable { position, name: name.to_owned(), columns, c_columns });
        let number = self.tables.len() - 1;
        self.prepared[position] = Some(number);
        Ok(number)
    }

    /// Returns the table of this number, ready for rows.
    pub fn table(&mut self, number: usize) -> Result<TableWriter<'_>> {
        let table = numbered(&self.tables, number)?;
        if self.prepared[table.position] == Some(number) {
            return self.writer.prepared_table(table.position);
        }
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        self.prepared[table.position] = Some(number);
        self.writer.table_columns(&table.name, &columns)
    }

    /// Returns the table of this name, with all of its columns.
    pub fn table_by_name(&mut self, name: &str) -> Result<TableWriter<'_>> {
        if let Some(position) = self.writer.schema().position(name) {
            self.prepared[position] = None;
        }
        self.writer.table(name)
    }

    /// Returns the columns of the table with this number.
    pub fn columns(&self, number: usize) -> Result<&[String]> {
        Ok(&numbered(&self.tables, number)?.columns)
    }

    /// Refuses a writer that has failed, or that belongs to the process that this one was forked from.
    pub fn refuse_lost(&self) -> Result<()> {
        self.writer.refuse_lost()
    }

    /// Ends the writer with an error: all later calls fail and say why.
    pub fn end(&mut self, error: Error) -> Error {
        self.writer.end(error)
    }

    /// Lets the watcher look at the progress.
    pub fn watch(&mut self) -> Result<()> {
        if let Some(watcher) = &mut self.watcher {
            watcher.look(&self.progress);
            self.progress.go_on()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<CSummary> {
        let Self { writer, existing, progress, mut watcher, .. } = self;
        writer.refuse_lost()?;
        let _own_use = existing.as_deref().map(OwnUse::begin).transpose()?;
        let written = writer.finish_watched(WATCH_TIME, &mut || {
            if let Some(watcher) = &mut watcher {
                watcher.look(&progress);
            }
        })?;
        let added = written.appended.map(|appended| appended.tables.iter().map(|table| table.added).sum());
        let summary = written.summary;
        let rows = added.unwrap_or(summary.rows);
        Ok(CSummary { size: size_of::<CSummary>(), rows, bytes: summary.bytes, pages: summary.pages })
    }
}

fn numbered(tables: &[NumberedTable], number: usize) -> Result<&NumberedTable> {
    let unknown = || Error::new(ErrorKind::Usage, format!("no table has the number {number}"));
    tables.get(number).ok_or_else(unknown)
}

/// Makes a writer and stores it.
unsafe fn begin(
    options: Option<&COptions>,
    writer: Option<&mut *mut CWriter>,
    error: Option<&mut *mut CError>,
    begin: impl FnOnce(&COptions) -> Result<(Writer, Option<PathBuf>)>,
) -> Status {
    run(error, || {
        let writer = given(writer, "writer")?;
        *writer = std::ptr::null_mut();
        *writer = Box::into_raw(CWriter::new(options.cloned().unwrap_or_default(), begin)?);
        Ok(())
    })
}

/// Begins a new database.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_create(
    path: *const c_char,
    schema: *const c_char,
    options: Option<&COptions>,
    writer: Option<&mut *mut CWriter>,
    error: Option<&mut *mut CError>,
) -> Status {
    let create = |options: &COptions| {
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let path = unsafe { text(path, "path") }?;
        // SAFETY: as above.
        let schema = unsafe { text(schema, "schema") }?;
        Ok((Writer::create_with(path, schema, options.options.clone())?, None))
    };
    // SAFETY: both texts live until the function returns.
    unsafe { begin(options, writer, error, create) }
}

/// Begins to add rows to a database that exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_open(
    path: *const c_char,
    schema: *const c_char,
    options: Option<&COptions>,
    writer: Option<&mut *mut CWriter>,
    error: Option<&mut *mut CError>,
) -> Status {
    let open = |options: &COptions| {
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let path = unsafe { text(path, "path") }?;
        let existing = Some(PathBuf::from(path));
        let _own_use = OwnUse::begin(path.as_ref())?;
        if schema.is_null() {
            return Ok((Writer::open(path, options.options.clone(), &options.append)?, existing));
        }
        // SAFETY: as above, and it is not NULL.
        let schema = unsafe { text(schema, "schema") }?;
        Ok((Writer::open_with(path, schema, options.options.clone(), &options.append)?, existing))
    };
    // SAFETY: both texts live until the function returns.
    unsafe { begin(options, writer, error, open) }
}

/// Gets a number for a table and columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_table(
    writer: Option<&mut CWriter>,
    name: *const c_char,
    columns: *const *const c_char,
    count: usize,
    table: Option<&mut usize>,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let (writer, table) = (given(writer, "writer")?, given(table, "table")?);
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let name = unsafe { text(name, "name") }?;
        let columns = if columns.is_null() {
            None
        } else {
            // SAFETY: the caller gives this number of pointers.
            let columns = unsafe { std::slice::from_raw_parts(columns, count) };
            // SAFETY: each is a text that ends with a NUL, or NULL.
            let column = |&column: &*const c_char| unsafe { text(column, "the name of a column") };
            Some(columns.iter().map(column).collect::<Result<Vec<&str>>>()?)
        };
        *table = writer.number(name, columns)?;
        Ok(())
    })
}

/// Returns the name of a column of a numbered table, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_column_name(writer: Option<&CWriter>, table: usize, column: usize) -> *const c_char {
    let name = writer.and_then(|writer| writer.tables.get(table)?.c_columns.get(column));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Completes the database.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_finish(
    writer: Option<Box<CWriter>>,
    summary: *mut CSummary,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let finished = given(writer, "writer")?.finish()?;
        if summary.is_null() {
            return Ok(());
        }
        // SAFETY: the caller gives a summary that begins with its size.
        let size = unsafe { summary.cast::<usize>().read() };
        if size < size_of::<CSummary>() {
            return Ok(());
        }
        // SAFETY: the summary has room for all fields of this release. Its size stays as the caller has set it.
        unsafe { summary.write(CSummary { size, ..finished }) };
        Ok(())
    })
}

/// Discards the rows.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_abort(writer: Option<Box<CWriter>>) {
    // A panic while it is dropped must not reach the caller.
    let _ = run(None, || {
        drop(writer);
        Ok(())
    });
}
