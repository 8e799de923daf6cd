//! Turns the files of one table, one after another, into the rows that the engine takes.
//!
//! A part is a piece of a file. The blocks of its batches are put in the order of the table's columns, and the encoder makes
//! records of them. Records are numbered through all files of the table. The number is the rowid if the table has no INTEGER
//! PRIMARY KEY; rows that are left out leave a gap. Errors name the record's number within its file, and its line.
//!
//! part.rs decides about wrong records, batch_encoder.rs encodes, and accepted_rows.rs hands out the rows between rejected ones.

mod accepted_rows;
mod batch_encoder;
mod part;

pub use batch_encoder::BatchEncoder;
pub(crate) use part::HUGE_TEXT_BYTES;

use crate::changes::{ChangedColumn, Changes};
use crate::estimate::TableEstimate;
use crate::infer::{Conversion, InferredColumn};
use crate::reader::{EndedReader, FirstRecords, Reader};
use crate::rejects::Rejects;
use crate::schema::RowDefault;
use accepted_rows::AcceptedRows;
use litepress_rows::cells::OwnedValue;
use litepress_rows::sync::{Mutex, MutexGuard, lock};
use litepress_rows::{
    Conflict, Error, ErrorKind, Message, OptionName, Part, RecordChunk, Result, RowidOrder, Source, Table, message,
};
use part::{LoadPart, PieceReader};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Policy for records that cannot be read or that their table does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Fails the run.
    #[default]
    Abort,
    /// Leaves the record out and counts it.
    Reject,
    /// Stores NULL in place of a value that its column does not accept, if NULL is allowed. Every other error fails the run.
    Null,
}

/// The origin of the values of an ordinary column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnSource {
    /// The file: the block at this position of a batch.
    File(usize),
    /// One value for all rows.
    Constant(OwnedValue),
    /// A DEFAULT that SQLite evaluates for every row, once, when its batch is encoded.
    EachRow(RowDefault),
    /// The number of the row, counted from 1 through all files, for an INTEGER PRIMARY KEY that the files lack.
    RowNumber,
}

/// Returns whether the data lack the INTEGER PRIMARY KEY of their table.
pub fn numbers_rows(column_sources: &[ColumnSource]) -> bool {
    column_sources.contains(&ColumnSource::RowNumber)
}

/// A file of a table, ready to be read.
pub struct OpenFile {
    /// Its name in errors. `None` for data in memory.
    pub name: Option<PathBuf>,
    /// Its reader, with the [selected](Reader::project) columns.
    pub reader: Box<dyn Reader>,
    /// The origin of each ordinary column of the table, in column order.
    pub column_sources: Vec<ColumnSource>,
    /// Columns whose type was inferred from a sample, by block of a batch. A value that the type would change is an error.
    pub type_checks: Vec<(usize, InferredColumn)>,
    /// Columns whose texts are converted before SQLite's rules, by block of a batch.
    pub(crate) conversions: Vec<(usize, Conversion)>,
    /// The reader [gives records](Reader::give_records) as they are stored, and they are what the table stores.
    pub gives_records: bool,
    /// Rowids that no column holds are those of the database. Otherwise they are the numbers of the records through all files.
    pub keeps_rowids: bool,
}

impl OpenFile {
    /// Keeps the rowids that no column holds.
    pub(crate) fn keep_rowids(&mut self) {
        self.reader.keep_rowids();
        self.keeps_rowids = true;
    }

    /// Asks the reader for records as they are stored, if `table` stores them so: no column and no value is changed.
    ///
    /// REQUIRES: the table is defined as in the database of the file.
    ///
    /// # Errors
    /// If the table's pages cannot be read.
    pub(crate) fn ask_for_records(&mut self, table: &Table) -> Result<()> {
        let mut sources = (0..).zip(&self.column_sources);
        let is_as_stored = sources.all(|(block, source)| *source == ColumnSource::File(block));
        if is_as_stored && self.type_checks.is_empty() && self.conversions.is_empty() {
            self.gives_records = self.reader.give_records(table)?;
        }
        Ok(())
    }
}

/// The rows of one table.
pub struct LoadSource {
    table: Table,
    conflict: Conflict,
    on_error: OnError,
    rejects: Arc<Rejects>,
    estimate: TableEstimate,
    last_sequence: Option<i64>,
    /// Columns of the table that all files lack.
    missing: Vec<usize>,
    /// Largest number of records.
    limit: u64,
    /// Columns whose declared types may change texts.
    changes: Changes,
    /// Rows that SQLite is known to refuse, by record number through all files, and why.
    refused: Mutex<BTreeMap<u64, Error>>,
    /// Number of records that the policy for conflicts left out because of NULL.
    ignored: AtomicU64,
    /// Readers may leave out records between pieces.
    is_filtered: bool,
    /// Each rowid is above that of the row before, through all files.
    ascends: bool,
    files: Mutex<Files>,
}

struct Files {
    files: Vec<OpenFile>,
    /// Position of the file that is being read.
    current: usize,
    /// Number of records in the files before it.
    records_before: u64,
    /// Number of its records that were handed out.
    records_of_current: u64,
    /// Number of records before each file.
    starts: Vec<u64>,
}

impl LoadSource {
    /// Returns the rows of `table` from these files, one after another. `conflict` must be the engine's policy. Records that
    /// are left out go to `rejects`.
    ///
    /// # Panics
    /// If a file does not have one source for every ordinary column.
    pub fn new(
        table: &Table,
        files: Vec<OpenFile>,
        conflict: Conflict,
        on_error: OnError,
        rejects: Arc<Rejects>,
        estimate: TableEstimate,
    ) -> Self {
        let columns = table.ordinary_columns().count();
        assert!(files.iter().all(|file| file.column_sources.len() == columns), "one source a column");
        let last_sequence = files.iter().filter_map(|file| file.reader.last_sequence()).max();
        let files = Files { files, current: 0, records_before: 0, records_of_current: 0, starts: vec![0] };
        Self {
            table: table.clone(),
            conflict,
            on_error,
            rejects,
            estimate,
            last_sequence,
            missing: Vec::new(),
            limit: u64::MAX,
            changes: Changes::default(),
            refused: Mutex::default(),
            ignored: AtomicU64::new(0),
            is_filtered: false,
            ascends: false,
            files: Mutex::new(files),
        }
    }

    /// Returns how many records the policy for conflicts left out so far because of NULL. The engine counts those with a repeated key.
    pub fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }

    /// Says which columns of the table the files lack.
    #[must_use]
    pub fn lacking(mut self, missing: Vec<usize>) -> Self {
        self.missing = missing;
        self
    }

    /// Says that readers may [leave out](Reader::leave_out) records. The others keep their numbers.
    #[must_use]
    pub(crate) fn filtered(mut self) -> Self {
        self.is_filtered = true;
        self
    }

    /// Reads the files in the order of their rowids, if each gives records and no two overlap: nothing is sorted then.
    ///
    /// REQUIRES: the order of the files has no meaning but in the order of rowids.
    ///
    /// # Errors
    /// If the rowids cannot be read.
    pub(crate) fn in_order_of_rowids(mut self) -> Result<Self> {
        let mut files = lock(&self.files);
        if self.table.rowid_alias.is_none() || !files.files.iter().all(|file| file.gives_records) {
            drop(files);
            return Ok(self);
        }
        let ranges = files.files.iter().map(|file| file.reader.rowid_range()).collect::<Result<Vec<_>>>()?;
        let ranges: Option<Vec<RangeInclusive<i64>>> = ranges.into_iter().collect();
        if let Some(ranges) = ranges {
            let mut ranged: Vec<_> = ranges.into_iter().zip(std::mem::take(&mut files.files)).collect();
            let is_disjoint = {
                let mut filled: Vec<_> =
                    ranged.iter().map(|(range, _)| range).filter(|range| !range.is_empty()).collect();
                filled.sort_by_key(|range| *range.start());
                filled.is_sorted_by(|one, next| one.end() < next.start())
            };
            if is_disjoint {
                // A file without rows may stand anywhere.
                ranged.sort_by_key(|(range, _)| *range.start());
            }
            files.files = ranged.into_iter().map(|(_, file)| file).collect();
            drop(files);
            self.ascends = is_disjoint;
            return Ok(self);
        }
        drop(files);
        Ok(self)
    }

    /// Limits the table to its first records, if there is a limit.
    #[must_use]
    pub fn limited_to(mut self, limit: Option<u64>) -> Self {
        self.limit = limit.unwrap_or(u64::MAX);
        self
    }

    /// Watches the columns whose types do not follow from `decisions`, for texts that they change.
    #[must_use]
    pub fn watching(mut self, decisions: &[InferredColumn]) -> Self {
        let files = lock(&self.files);
        let has_untyped_texts = files.files.iter().all(|file| file.reader.text_format().is_some());
        let changes = Changes::of(&self.table, decisions, has_untyped_texts);
        drop(files);
        self.changes = changes;
        self
    }

    /// Rejects these rows, whose numbers count through all files: SQLite would refuse them.
    #[must_use]
    pub fn refusing(mut self, rows: BTreeMap<u64, Error>) -> Self {
        self.refused = Mutex::new(rows);
        self
    }

    /// Counts values that NULL was stored for, because a later step does not accept them.
    pub fn count_nulls(&self, values: u64) {
        self.rejects.count_nulls(values);
    }

    /// Returns the columns whose declared types have changed texts so far.
    pub fn changed_columns(&self) -> Vec<ChangedColumn> {
        self.changes.found()
    }

    /// Returns whether all rows are those of one table of a database, read from its pages.
    fn is_scan(&self) -> bool {
        matches!(&self.lock().files[..], [file] if file.gives_records)
    }

    /// Returns the position of the file of this name.
    pub fn position_of_file(&self, name: &Path) -> Option<usize> {
        self.lock().files.iter().position(|file| file.name.as_deref() == Some(name))
    }

    /// Returns the table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Replaces the record number through all files in an error by the file and its record number there. Data in memory keep
    /// the number.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        let files = self.lock();
        let is_conflict = error.kind() == ErrorKind::Constraint && error.message().contains("UNIQUE constraint failed");
        let error = if is_conflict && error.advice().is_none() { advise_about_keys(error, &files) } else { error };
        let place = |record| files.place(record).filter(|_| error.place().file.is_none());
        let error = match error.place().record.and_then(place) {
            Some((name, record)) => error.in_record(record).in_file(name),
            None => error,
        };
        self.advise_about_record(error)
    }

    /// Names the options for a wrong record of a file, if the error has no better advice.
    fn advise_about_record(&self, error: Error) -> Error {
        let place = error.place();
        let is_of_record = place.file.is_some() && place.record.is_some();
        let is_wrong = is_of_record && matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Data);
        if !is_wrong || self.on_error != OnError::Abort || error.advice().is_some() {
            return error;
        }
        let leave_out = message!["leave such records out with ", OptionName::OnError.word("reject")];
        let has_value = place.value.as_deref().is_some_and(|value| value != "NULL");
        let may_be_null = |name: &str| {
            let column = self.table.column(name);
            column.is_some_and(|at| self.table.rowid_alias != Some(at) && !self.table.columns[at].not_null)
        };
        let is_nullable = place.column.as_deref().is_some_and(may_be_null);
        let advice = match has_value && is_nullable && error.kind() == ErrorKind::Constraint {
            true => message![leave_out, ", or store NULL with ", OptionName::OnError.word("null")],
            false => leave_out,
        };
        error.advise(advice)
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        lock(&self.files)
    }
}

/// Gives advice about two rows of one key. An error that names both numbers them through all files.
fn advise_about_keys(error: Error, files: &Files) -> Error {
    let named: Option<Vec<_>> = files.files.iter().map(|file| file.name.as_ref()).collect();
    let names_both = error.message().contains(": records ");
    let Some(named) = named.filter(|named| named.len() > 1 && names_both) else {
        return error.advise(advice_about_keys());
    };
    let starts = named.iter().zip(&files.starts).take(5);
    let starts: Vec<String> =
        starts.map(|(name, start)| format!("{} begins with {}", name.display(), start + 1)).collect();
    error.advise(message![
        advice_about_keys(),
        format!("; records are numbered through all files: {}", starts.join(", "))
    ])
}

impl Files {
    /// Converts a record number through all files to a file and the number there. `None` for data in memory.
    fn place(&self, record: u64) -> Option<(PathBuf, u64)> {
        let file = self.starts.partition_point(|&start| start < record).saturating_sub(1);
        Some((self.files.get(file)?.name.clone()?, record - self.starts[file]))
    }
}

impl Source for LoadSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut files = self.lock();
        while files.current < files.files.len() {
            let left = self.limit - (files.records_before + files.records_of_current);
            if left == 0 {
                // The next table of a database can be read only if this one is not.
                files.files.iter_mut().for_each(|file| file.reader = Box::new(EndedReader));
                break;
            }
            let current = files.current;
            let file = &mut files.files[current];
            let piece = file.reader.next_piece().map_err(|error| in_file(error, file.name.as_deref()))?;
            if let Some(mut piece) = piece {
                if piece.records() > left {
                    piece = Box::new(FirstRecords::new(piece, left));
                }
                let (name, column_sources, type_checks) =
                    (file.name.clone(), file.column_sources.clone(), file.type_checks.clone());
                let (conversions, gives_records) = (file.conversions.clone(), file.gives_records);
                let numbers_records = !file.keeps_rowids && self.table.rowid_alias.is_none();
                if self.is_filtered {
                    files.records_of_current = piece.first_record() - 1;
                }
                files.records_of_current += piece.records();
                let (part, records_before) = (self.rejects.new_part(), files.records_before);
                let at = PieceReader {
                    source: self,
                    piece,
                    file: name,
                    gives_records,
                    numbers_records,
                    part,
                    records_before,
                    read: 0,
                    released_lines: None,
                };
                let batch_encoder = BatchEncoder::new(&self.table, self.conflict, column_sources);
                return Ok(Some(Box::new(LoadPart {
                    at,
                    type_checks,
                    conversions,
                    batch_encoder,
                    rest: AcceptedRows::default(),
                })));
            }
            if let Some(all) = files.files[current].reader.records().filter(|_| self.is_filtered) {
                files.records_of_current = all;
            }
            files.records_before += std::mem::take(&mut files.records_of_current);
            files.current += 1;
            let start = files.records_before;
            files.starts.push(start);
        }
        Ok(None)
    }

    fn rows(&self) -> Option<u64> {
        self.estimate.rows
    }

    /// Rowids ascend if they are row numbers, those of one rowid table, or of several that do not overlap. Their order is unknown if
    /// they come from another file.
    fn rowid_order(&self) -> RowidOrder {
        let is_numbered =
            self.table.rowid_alias.is_none() || self.has_automatic_rowids() || self.is_scan() || self.ascends;
        if is_numbered { RowidOrder::Ascending } else { RowidOrder::Unknown }
    }

    fn has_automatic_rowids(&self) -> bool {
        self.table.rowid_alias.is_some() && self.lock().files.iter().all(|file| numbers_rows(&file.column_sources))
    }

    fn last_sequence(&self) -> Option<i64> {
        self.last_sequence
    }

    fn missing_columns(&self) -> Vec<usize> {
        self.missing.clone()
    }

    fn page_bytes(&self) -> f64 {
        self.estimate.page_bytes
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        look(&self.estimate.sample);
        Ok(())
    }
}

fn in_file(error: Error, name: Option<&Path>) -> Error {
    match name {
        Some(name) if error.place().file.is_none() => error.in_file(name),
        _ => error,
    }
}

/// Returns advice about two rows of one key.
pub fn advice_about_keys() -> Message {
    let (ignore, replace) = (OptionName::OnConflict.word("ignore"), OptionName::OnConflict.or("replace"));
    message!["keep the first of such rows with ", ignore, ", or the last with ", replace]
}

#[cfg(test)]
mod tests;
