//! Rows of files, without a database.

mod scan;

pub use litepress_load::filter::{Comparison, RowFilter};
pub use scan::{FileScan, ScanStep};

use crate::load::LoadJob;
use crate::{Error, ErrorKind, LoadOptions, OnError, Result, Target};
use litepress_format::header::MAGIC;
use litepress_load::options::Format;
use litepress_load::plan::{LoadPlan, PlannedFile};
use litepress_load::rejects::Rejects;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the table in errors, if the caller gives none.
const NAME: &str = "rows";
/// The share of the memory that rows may take which the reader has not asked for yet: one part in this many.
const AHEAD_SHARE: u64 = 8;

/// The rows of one or several files as one table, with the columns and types that [`load`](crate::load()) would give it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let csv = folder.path().join("user.csv");
/// use litepress::{FileTable, LoadOptions, ScanStep};
///
/// std::fs::write(&csv, "id,name\n2,Ada\n1,Blaise\n")?;
/// let table = FileTable::inspect([&csv], &LoadOptions::default())?;
/// let columns: Vec<(&str, &str)> = table.columns().collect();
/// assert_eq!(columns, [("id", "INTEGER"), ("name", "TEXT")]);
/// let mut scan = table.scan(&[1], &[])?;
/// let mut rows = 0;
/// while let Some(chunk) = scan.next_chunk()? {
///     rows += chunk.len();
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileTable {
    plan: LoadPlan,
    on_error: OnError,
    max_rejects: u64,
    threads: usize,
    ahead_bytes: usize,
    /// The files and how they were when their types were found.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

/// Facts that change when a file does: device, inode, size, time of the last change.
type Stamp = (u64, u64, u64, i64, i64);

impl std::fmt::Debug for FileTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileTable").field("stamps", &self.stamps).finish_non_exhaustive()
    }
}

impl FileTable {
    /// Finds the columns of files and their types. All files become one table. Options that concern a database have no effect.
    ///
    /// # Errors
    /// Files that cannot be read; a database, which SQLite reads by itself; mistakes in the options.
    pub fn inspect<F: Into<PathBuf>>(files: impl IntoIterator<Item = F>, options: &LoadOptions) -> Result<Self> {
        let mut options = options.clone();
        options.table.get_or_insert_with(|| NAME.to_owned());
        options.build.temp_dir.get_or_insert_with(std::env::temp_dir);
        options.path_guard.get_or_insert(refuse_database);
        let files = files.into_iter().map(Into::into).collect();
        let job = LoadJob::new(&Target::Discard, files, &options, true)?;
        let (on_error, max_rejects) = (job.on_error, job.max_rejects());
        let plan = job.plan;
        let inputs = || plan.tables.iter().flat_map(|table| &table.files).filter_map(PlannedFile::input);
        if let Some(database) = inputs().find(|input| input.format == Format::Sqlite) {
            return Err(is_database(&database.name));
        }
        let mut stamps: Vec<_> = inputs().filter_map(|input| input.outer_path()).map(stamped).collect();
        stamps.dedup();
        let ahead = options.build.memory_bytes / AHEAD_SHARE;
        Ok(Self {
            plan,
            on_error,
            max_rejects,
            threads: options.build.threads,
            ahead_bytes: usize::try_from(ahead).unwrap_or(usize::MAX),
            stamps,
        })
    }

    /// Returns names and declared types of the columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = self.plan.tables.iter().flat_map(|planned| {
            let table = &self.plan.schema.tables[planned.table];
            table.ordinary_columns().map(|position| &table.columns[position])
        });
        columns.map(|column| (&*column.name, &*column.declared_type))
    }

    /// Returns the number of records, if it is known. Records that are left out count, too.
    pub fn records(&self) -> Option<u64> {
        self.plan.tables.first().map_or(Some(0), |planned| planned.records)
    }

    /// Returns the number of records if the files state it, so that rows can be counted without a look at them.
    pub fn stated_records(&self) -> Option<u64> {
        let planned = self.plan.tables.first()?;
        self.plan.states_records(planned).then_some(planned.records).flatten()
    }

    /// Returns the number of bytes of all files, if it is known.
    pub fn input_bytes(&self) -> Option<u64> {
        self.plan.input_bytes()
    }

    /// Returns whether all files are as they were when their columns were found. Data of a pipe never change.
    pub fn is_current(&self) -> bool {
        self.stamps.iter().all(|(path, stamp)| stamped(path).1 == *stamp)
    }

    /// Begins to read some columns, given by their positions, on all cores. Rows come in the order of the files. `filters` are
    /// conditions on these columns that rows must meet: some rows that do not may come all the same. Without a column, rows have one
    /// that is of no use.
    ///
    /// Memory: an eighth of [`Options::memory_bytes`](crate::Options), beyond what the readers of the files take.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn scan(&self, columns: &[usize], filters: &[RowFilter]) -> Result<FileScan> {
        let Some(planned) = self.plan.tables.first() else { return Ok(FileScan::nothing()) };
        let definition = &self.plan.schema.tables[planned.table];
        let ordinary: Vec<usize> = definition.ordinary_columns().collect();
        let mut positions: Vec<usize> = columns.iter().map(|&column| ordinary[column]).collect();
        if positions.is_empty() {
            positions.extend(ordinary.first());
        }
        let rejects = Arc::new(Rejects::new(None, false, self.max_rejects)?);
        let source = self.plan.source_of_columns(planned, &positions, filters, self.on_error, &rejects)?;
        FileScan::start(source, filters.to_vec(), self.threads, self.ahead_bytes)
    }
}

/// Refuses a database, before it is opened as one.
///
/// # Errors
/// [`ErrorKind::Usage`] with the file.
#[doc(hidden)]
pub fn refuse_database(path: &Path) -> Result<()> {
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut head = [0; MAGIC.len()];
    let mut read = || std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if is_file && read().is_ok() && head == MAGIC { Err(is_database(path)) } else { Ok(()) }
}

fn is_database(path: &Path) -> Error {
    let error = Error::new(ErrorKind::Usage, "this is a SQLite database, which SQLite reads by itself");
    error.in_file(path).advise("use ATTACH, or a connection to it")
}

fn stamped(path: &Path) -> (PathBuf, Option<Stamp>) {
    let stamp = std::fs::metadata(path)
        .ok()
        .map(|metadata| (metadata.dev(), metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()));
    (path.to_owned(), stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record;
    use litepress_format::value::Value;
    use litepress_rows::cells::OwnedValue;
    use std::fmt::Write;

    /// Returns the rows of a scan: number and first value.
    fn rows(mut scan: FileScan) -> Result<Vec<(i64, String)>> {
        let mut rows = Vec::new();
        while let Some(chunk) = scan.next_chunk()? {
            for row in 0..chunk.len() {
                let values = record::decode(chunk.record(row)).unwrap();
                let shown = match values[0] {
                    Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    other => format!("{other:?}"),
                };
                rows.push((chunk.rowids()[row], shown));
            }
        }
        Ok(rows)
    }

    fn many(folder: &Path, rows: usize) -> PathBuf {
        let mut text = "id,name\n".to_owned();
        (0..rows).for_each(|row| writeln!(text, "{row},name of {row}").unwrap());
        let path = folder.join("many.csv");
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn rows_come_in_order_whatever_the_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let file = many(folder.path(), 300_000);
        for threads in [1, 2, 5] {
            let mut options = LoadOptions::default();
            options.build.threads = threads;
            options.build.memory_bytes = crate::MIN_MEMORY_BYTES;
            let table = FileTable::inspect([&file], &options).unwrap();
            assert_eq!(table.records(), Some(300_000));
            let found = rows(table.scan(&[1], &[]).unwrap()).unwrap();
            assert_eq!(found.len(), 300_000);
            let is_right =
                |(at, row): (usize, &(i64, String))| row.0 == at as i64 + 1 && row.1 == format!("name of {at}");
            assert!(found.iter().enumerate().all(is_right), "{threads}");
        }
    }

    #[test]
    fn filtered_rows_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let table = FileTable::inspect([many(folder.path(), 5000)], &LoadOptions::default()).unwrap();
        let filter = RowFilter { column: 1, comparison: Comparison::Equal, value: OwnedValue::Int(4321) };
        let found = rows(table.scan(&[1, 0], &[filter]).unwrap()).unwrap();
        assert_eq!(found, [(4322, "name of 4321".to_owned())]);
    }

    /// A query with LIMIT ended, and its workers went on reading to the end of the file.
    #[test]
    fn a_dropped_scan_ends_its_threads() {
        let folder = tempfile::tempdir().unwrap();
        let table = FileTable::inspect([many(folder.path(), 300_000)], &LoadOptions::default()).unwrap();
        let mut scan = table.scan(&[0], &[]).unwrap();
        assert!(scan.next_chunk().unwrap().is_some());
        let shared = scan.shared();
        drop(scan);
        assert_eq!(shared.strong_count(), 0);
    }

    #[test]
    fn a_wrong_record_ends_the_rows_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wrong.csv");
        std::fs::write(&file, "a,b\n1,2\n3\n5,6\n").unwrap();
        let options = LoadOptions::default();
        let table = FileTable::inspect([&file], &options).unwrap();
        let error = rows(table.scan(&[0], &[]).unwrap()).unwrap_err();
        assert_eq!((error.place().record, error.place().line), (Some(2), Some(3)), "{error}");
        let table = FileTable::inspect([&file], &options.on_error(OnError::Reject)).unwrap();
        let found = rows(table.scan(&[0], &[]).unwrap()).unwrap();
        assert_eq!(found, [(1, "Int(1)".to_owned()), (3, "Int(5)".to_owned())]);
    }

    #[test]
    fn a_changed_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        std::fs::write(&file, "a\n1\n").unwrap();
        let table = FileTable::inspect([&file], &LoadOptions::default()).unwrap();
        assert!(table.is_current());
        std::fs::write(&file, "a\n1\n2\n").unwrap();
        assert!(!table.is_current());
        std::fs::remove_file(&file).unwrap();
        assert!(!table.is_current() && table.scan(&[0], &[]).is_err());
    }
}
