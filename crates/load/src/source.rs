//! Turns the files of one table, one after another, into the rows that the engine takes.
//!
//! A part is a piece of a file. The blocks of its batches are put in the order of the table's columns, and the encoder makes
//! records of them. Records are numbered through all files of the table. The number is the rowid if the table has no INTEGER
//! PRIMARY KEY; rows that are left out leave a gap. Errors name the record's number within its file, and its line.

use crate::changes::{ChangedColumn, Changes};
use crate::estimate::TableEstimate;
use crate::infer::{Conversion, InferredColumn, ScannedValue};
use crate::reader::{BadRecord, Batch, FirstRecords, Piece, Reader};
use crate::rejects::Rejects;
use crate::schema::RowDefault;
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::encode::{BadValue, RowAction, RowNumbers, SkippedRows};
use litepress_rows::sync::lock;
use litepress_rows::{
    CellBlock, Conflict, Encoder, Error, ErrorKind, Message, NullPolicy, OptionName, Part, RecordChunk, Result,
    RowidOrder, Source, Table, message, quote,
};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

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
            files: Mutex::new(files),
        }
    }

    /// Says which columns of the table the files lack.
    #[must_use]
    pub fn lacking(mut self, missing: Vec<usize>) -> Self {
        self.missing = missing;
        self
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
        let columns = self.table.ordinary_columns().map(|position| &self.table.columns[position]);
        self.changes = Changes::of(columns, decisions);
        self
    }

    /// Rejects these rows, whose numbers count through all files: SQLite would refuse them.
    #[must_use]
    pub fn refusing(mut self, rows: BTreeMap<u64, Error>) -> Self {
        self.refused = Mutex::new(rows);
        self
    }

    /// Returns the columns whose declared types have changed texts so far.
    pub fn changed_columns(&self) -> Vec<ChangedColumn> {
        self.changes.found()
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
        let error =
            if is_conflict && error.advice().is_none() { error.advise(self.advice_about_keys(&files)) } else { error };
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
        let advice = match has_value && error.kind() == ErrorKind::Constraint {
            true => message![leave_out, ", or store NULL with ", OptionName::OnError.word("null")],
            false => leave_out,
        };
        error.advise(advice)
    }

    /// What to do about two rows of one key. Errors number rows through all files.
    fn advice_about_keys(&self, files: &Files) -> Message {
        let named = files.files.iter().map(|file| file.name.as_ref()).zip(&files.starts);
        let Some(named) = named.map(|(name, start)| Some((name?, start))).collect::<Option<Vec<_>>>() else {
            return advice_about_keys();
        };
        if files.files.len() < 2 {
            return advice_about_keys();
        }
        let starts = named.into_iter().take(5);
        let starts: Vec<String> =
            starts.map(|(name, start)| format!("{} begins with {}", name.display(), start + 1)).collect();
        message![advice_about_keys(), format!("; records are numbered through all files: {}", starts.join(", "))]
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        lock(&self.files)
    }
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
                let conversions = file.conversions.clone();
                files.records_of_current += piece.records();
                let (part, records_before) = (self.rejects.new_part(), files.records_before);
                let at = PieceReader {
                    source: self,
                    piece,
                    file: name,
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

    /// Rowids ascend if they are row numbers. Their order is unknown if they come from a file.
    fn rowid_order(&self) -> RowidOrder {
        let is_numbered = self.table.rowid_alias.is_none() || self.has_automatic_rowids();
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

/// The records of a piece.
struct LoadPart<'s> {
    at: PieceReader<'s>,
    type_checks: Vec<(usize, InferredColumn)>,
    conversions: Vec<(usize, Conversion)>,
    batch_encoder: BatchEncoder,
    /// Rows of a judged batch that are still to be handed out.
    rest: AcceptedRows,
}

/// The state of reading a piece.
struct PieceReader<'s> {
    source: &'s LoadSource,
    piece: Box<dyn Piece>,
    /// The file's name. `None` for data in memory.
    file: Option<PathBuf>,
    /// Number of the part in [`Rejects`].
    part: u64,
    /// Number of records in the files before.
    records_before: u64,
    /// Number of the piece's records in batches before the last.
    read: u64,
    /// Lines of the last batch's rows, if the text of the piece was released.
    released_lines: Option<Vec<Option<u64>>>,
}

/// Size of a text that is released as soon as its records are read: it would otherwise be in memory beside its records and their
/// pages.
pub(crate) const HUGE_TEXT_BYTES: usize = 16 << 20;

impl Part for LoadPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if self.rest.hand_out(chunk) {
            return Ok(());
        }
        while !chunk.is_full() && self.rest.is_empty() && self.add_batch(chunk)? {}
        if chunk.is_empty() && !self.rest.hand_out(chunk) {
            self.at.source.rejects.end_part(self.at.part)?;
        }
        Ok(())
    }
}

impl LoadPart<'_> {
    /// Reads the next batch and appends its rows to `chunk`, or the accepted ones to `rest`. Returns whether there was a batch.
    fn add_batch(&mut self, chunk: &mut RecordChunk) -> Result<bool> {
        let Self { at, type_checks, conversions, batch_encoder, rest } = self;
        at.released_lines = None;
        at.read += batch_encoder.batch.rows as u64;
        at.piece.read(&mut batch_encoder.batch).map_err(|error| at.in_place(error))?;
        let first_record = at.first_record();
        if batch_encoder.batch.rows == 0 {
            return Ok(false);
        }
        let rows = batch_encoder.batch.rows;
        for (block, conversion) in &*conversions {
            conversion.apply(&mut batch_encoder.batch.blocks[*block], rows);
        }
        reject_changed_values(type_checks, &mut batch_encoder.batch);
        at.source.rejects.count_changed(&batch_encoder.batch);
        let refused = at.refused(batch_encoder.batch.rows);
        if at.source.on_error == OnError::Abort
            && batch_encoder.batch.bad.is_empty()
            && batch_encoder.batch.skipped.is_empty()
            && refused.is_empty()
            && !at.counts_ignored()
        {
            at.release_huge_text(batch_encoder.batch.rows);
            batch_encoder.watch(at.source, first_record, &SkippedRows::default());
            batch_encoder.encode(first_record, chunk).map_err(|error| at.in_place(error))?;
            at.source.rejects.count_cut_texts(batch_encoder.take_cut_texts());
            return Ok(true);
        }
        let mut left_out = SkippedRows::default();
        let (bad, skipped) =
            (std::mem::take(&mut batch_encoder.batch.bad), std::mem::take(&mut batch_encoder.batch.skipped));
        let is_told = |wrong: &WrongRow| skipped.binary_search(&wrong.row).is_err();
        let mut wrong: Vec<WrongRow> = bad.into_iter().chain(refused).filter(is_told).collect();
        wrong.iter().map(|wrong| wrong.row).chain(skipped.iter().copied()).for_each(|row| left_out.add(row));
        batch_encoder.watch(at.source, first_record, &left_out);
        let rows = rest.refill();
        let judged = batch_encoder
            .encode_with_policy(first_record, &mut left_out, rows, &mut |bad| Ok(at.decide(bad, &mut wrong)));
        judged.map_err(|error| at.in_place(error))?;
        at.add_ignored(&left_out, batch_encoder.batch.rows, &skipped, &mut wrong);
        // Columns are judged one after another, and rejects stand in the order of their records.
        wrong.sort_by_key(|wrong| wrong.row);
        wrong.into_iter().try_for_each(|wrong| at.leave_out(wrong))?;
        at.source.rejects.count_cut_texts(batch_encoder.take_cut_texts());
        rest.number(&left_out, first_record, batch_encoder.batch.rows);
        Ok(true)
    }
}

/// A row that gets no record, and why.
type WrongRow = BadRecord;

impl PieceReader<'_> {
    /// Frees the text of the last batch, of `rows` rows, if it is huge.
    fn release_huge_text(&mut self, rows: usize) {
        if self.piece.text_bytes().1 > HUGE_TEXT_BYTES {
            self.released_lines = Some((0..rows).map(|row| self.piece.line(row)).collect());
            self.piece.release();
        }
    }

    /// Takes the rows of the batch that SQLite is known to refuse.
    fn refused(&self, rows: usize) -> Vec<WrongRow> {
        let mut refused = lock(&self.source.refused);
        if refused.is_empty() {
            return Vec::new();
        }
        let first = self.first_record();
        let records: Vec<u64> = refused.range(first..first + rows as u64).map(|(record, _)| *record).collect();
        let wrong = records.into_iter().filter_map(|record| {
            let row = usize::try_from(record - first).expect("a row of the batch");
            // The record counts through all files; the place is given anew.
            let is_left_out = self.source.conflict == Conflict::Ignore;
            Some(WrongRow { row, error: refused.remove(&record)?, is_left_out })
        });
        wrong.collect()
    }

    /// Decides about a value that its column does not accept.
    fn decide(&self, bad: BadValue, wrong: &mut Vec<WrongRow>) -> RowAction {
        if self.source.on_error == OnError::Null && bad.may_be_null {
            self.source.rejects.count_null();
            return RowAction::StoreNull;
        }
        wrong.push(WrongRow { row: bad.row, error: bad.error, is_left_out: false });
        RowAction::LeaveOut
    }

    /// Returns whether rows that the policy for conflicts leaves out for NULL must be counted.
    fn counts_ignored(&self) -> bool {
        self.source.conflict == Conflict::Ignore
            && self.source.table.columns_where_null(NullPolicy::LeaveOut, Conflict::Ignore).next().is_some()
    }

    /// Counts the rows that the policy for conflicts left out for NULL. If rejects are written down, they are rejects.
    fn add_ignored(&self, left_out: &SkippedRows, rows: usize, skipped: &[usize], wrong: &mut Vec<WrongRow>) {
        if !self.counts_ignored() {
            return;
        }
        let known: HashSet<usize> = wrong.iter().map(|wrong| wrong.row).chain(skipped.iter().copied()).collect();
        let ignored: Vec<usize> = (0..rows).filter(|row| left_out.has(*row) && !known.contains(row)).collect();
        if !self.source.rejects.has_file() {
            return self.source.rejects.count_ignored(ignored.len() as u64);
        }
        let why = "NOT NULL constraint failed";
        let ignored = ignored.into_iter().map(|row| (row, Error::new(ErrorKind::Constraint, why)));
        wrong.extend(ignored.map(|(row, error)| WrongRow { row, error, is_left_out: true }));
    }

    /// Counts a row as rejected, or fails if rows may not be left out.
    fn leave_out(&self, wrong: WrongRow) -> Result<()> {
        let error = self.in_row(wrong.row, wrong.error);
        if self.source.on_error == OnError::Reject || wrong.is_left_out {
            return self.source.rejects.add(self.part, error, &self.piece.raw(wrong.row).unwrap_or_default());
        }
        Err(error)
    }

    /// Returns the number of the batch's first row, counted through all files.
    fn first_record(&self) -> u64 {
        self.records_before + self.piece.first_record() + self.read
    }

    /// Adds table, record, file and line to an error about a row.
    fn in_row(&self, row: usize, error: Error) -> Error {
        // Each file numbers its records anew. Data in memory are numbered through all readers.
        let before = if self.file.is_some() { 0 } else { self.records_before };
        let record = before + self.piece.first_record() + self.read + row as u64;
        let character = error.place().character;
        // An error may lie some lines below the beginning of its record.
        let line_of = || self.released_lines.as_ref().map_or_else(|| self.piece.line(row), |lines| lines[row]);
        let line = error.place().line.or_else(line_of);
        let error = in_file(error.in_table(&self.source.table.name).in_record(record), self.file.as_deref());
        match line {
            Some(line) => error.at(line, character.unwrap_or(1)),
            None => error,
        }
    }

    /// Adds table, record, file and line to an error of the encoder, which numbers records through all files.
    fn in_place(&self, error: Error) -> Error {
        match error.place().record.and_then(|record| record.checked_sub(self.first_record())) {
            Some(row) if error.place().file.is_none() => {
                self.in_row(usize::try_from(row).expect("a row of a batch"), error)
            }
            _ => in_file(error, self.file.as_deref()),
        }
    }
}

/// Marks rows as bad if a type that was inferred from a sample would change one of their values.
fn reject_changed_values(type_checks: &[(usize, InferredColumn)], batch: &mut Batch) {
    let known = batch.bad.len();
    for (block, decision) in type_checks {
        for row in 0..batch.rows {
            let value = batch.blocks[*block].value(row);
            if accepts(decision, value) || batch.bad.iter().any(|bad| bad.row == row) {
                continue;
            }
            let message =
                format!("the value does not fit the type that was found out from a sample, {}", decision.declared_type);
            let error = Error::new(ErrorKind::Data, message).in_column(&decision.name).with_value(quote(&value));
            let error = error.advise(message![
                "look at all records, or say the type: ",
                OptionName::Type.pair(&decision.name, "TEXT")
            ]);
            batch.bad.push(BadRecord { row, error, is_left_out: false });
        }
    }
    if batch.bad.len() > known {
        batch.bad.sort_by_key(|bad| bad.row);
    }
}

/// Returns whether the column's type stores a value unchanged. Readers have parsed JSON numbers already: their type is known,
/// but not their original spelling.
fn accepts(decision: &InferredColumn, value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Blob(_) => true,
        // A word for infinity became one.
        Value::Real(real) if real.is_infinite() => true,
        Value::Text(text) => decision.accepts(ScannedValue::Text(text)),
        Value::Int(int) => {
            decision.accepts(ScannedValue::Number(int.to_string().as_bytes()))
                || decision.accepts(ScannedValue::Boolean(true))
        }
        Value::Real(real) => decision.accepts(ScannedValue::Number(format!("{real:?}").as_bytes())),
    }
}

fn in_file(error: Error, name: Option<&Path>) -> Error {
    match name {
        Some(name) if error.place().file.is_none() => error.in_file(name),
        _ => error,
    }
}

/// Returns what to do about two rows of one key.
pub fn advice_about_keys() -> Message {
    let (ignore, replace) = (OptionName::OnConflict.word("ignore"), OptionName::OnConflict.or("replace"));
    message!["keep the first of such rows with ", ignore, ", or the last with ", replace]
}

/// Encodes the rows of batches as records.
#[derive(Debug)]
pub struct BatchEncoder {
    /// The next batch to read into, or the one that was read last.
    pub batch: Batch,
    column_sources: Vec<ColumnSource>,
    blocks: Vec<CellBlock>,
    encoder: Encoder,
}

/// Returns whether the data lack the INTEGER PRIMARY KEY of their table.
pub fn numbers_rows(column_sources: &[ColumnSource]) -> bool {
    column_sources.contains(&ColumnSource::RowNumber)
}

impl BatchEncoder {
    /// Creates an encoder for rows of `table`. `column_sources` has one entry for each ordinary column.
    pub fn new(table: &Table, conflict: Conflict, column_sources: Vec<ColumnSource>) -> Self {
        let blocks = column_sources.iter().map(|_| CellBlock::default()).collect();
        Self { batch: Batch::default(), column_sources, blocks, encoder: Encoder::new(table, conflict) }
    }

    /// Counts the texts of the batch that a declared type is about to change.
    fn watch(&self, source: &LoadSource, first_record: u64, left_out: &SkippedRows) {
        source
            .changes
            .count(&self.column_sources, &self.batch.blocks, self.batch.rows, first_record, &|row| !left_out.has(row));
    }

    /// Returns how many texts were cut at a NUL since the last call ([`Encoder::take_cut_texts`]).
    pub fn take_cut_texts(&mut self) -> u64 {
        self.encoder.take_cut_texts()
    }

    /// Appends the rows of the batch; the first has number `first_record`. The caller deals with [bad](Batch::bad) rows.
    ///
    /// # Errors
    /// As [`Encoder::encode`], or if SQLite cannot evaluate a DEFAULT.
    pub fn encode(&mut self, first_record: u64, chunk: &mut RecordChunk) -> Result<()> {
        self.compute(first_record)?;
        self.gather(first_record);
        let (numbers, known) = (RowNumbers::from_record(first_record), chunk.len());
        let done = self.encoder.encode(&self.blocks, self.batch.rows, numbers, chunk);
        self.give_back();
        self.mark_automatic(known, chunk);
        done?;
        self.keep_rowids(known, &SkippedRows::default(), chunk);
        Ok(())
    }

    /// Appends the rows of the batch that are not left out. `judge` decides about each row that breaks a rule.
    ///
    /// # Errors
    /// As [`Encoder::encode_with_policy`], or if SQLite cannot evaluate a DEFAULT.
    pub fn encode_with_policy(
        &mut self,
        first_record: u64,
        left_out: &mut SkippedRows,
        chunk: &mut RecordChunk,
        judge: &mut dyn FnMut(BadValue) -> Result<RowAction>,
    ) -> Result<()> {
        self.compute(first_record)?;
        self.gather(first_record);
        let (numbers, known) = (RowNumbers::from_record(first_record), chunk.len());
        let done = self.encoder.encode_with_policy(&mut self.blocks, self.batch.rows, numbers, left_out, chunk, judge);
        self.give_back();
        self.mark_automatic(known, chunk);
        done?;
        self.keep_rowids(known, left_out, chunk);
        Ok(())
    }

    /// Evaluates DEFAULTs that differ by row. This may fail, so it must run before the blocks are swapped.
    fn compute(&mut self, first_record: u64) -> Result<()> {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            if let ColumnSource::EachRow(default) = source {
                default.fill(block, first_record, self.batch.rows)?;
            }
        }
        Ok(())
    }

    /// Returns whether the data lack the INTEGER PRIMARY KEY.
    pub fn numbers_rows(&self) -> bool {
        numbers_rows(&self.column_sources)
    }

    /// Gives the rows from `known` on the rowids that they have in their database, if these are kept.
    fn keep_rowids(&self, known: usize, left_out: &SkippedRows, chunk: &mut RecordChunk) {
        if !self.batch.rowids.is_empty() {
            let stays = (0..).zip(&self.batch.rowids).filter(|(row, _)| !left_out.has(*row));
            chunk.set_rowids(known, stays.map(|(_, rowid)| *rowid));
        }
    }

    /// Marks the rowids of the rows from `known` on as automatic, if the data lack the INTEGER PRIMARY KEY.
    fn mark_automatic(&self, known: usize, chunk: &mut RecordChunk) {
        if self.numbers_rows() {
            chunk.mark_automatic(known);
        }
    }

    /// Swaps the blocks into the order of the table's columns.
    fn gather(&mut self, first_record: u64) {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            match source {
                ColumnSource::File(position) => std::mem::swap(block, &mut self.batch.blocks[*position]),
                ColumnSource::Constant(value) => fill_constant(block, value, self.batch.rows),
                // `compute` has filled it.
                ColumnSource::EachRow(_) => {}
                ColumnSource::RowNumber => {
                    block.ints().extend((first_record.cast_signed()..).take(self.batch.rows));
                }
            }
        }
    }

    /// Returns the blocks to the batch, to be filled again. Huge values are freed: they are in the records now, and would
    /// otherwise be in memory twice while their pages are written.
    fn give_back(&mut self) {
        for (source, block) in self.column_sources.iter().zip(&mut self.blocks) {
            block.forget_huge();
            if let ColumnSource::File(position) = source {
                std::mem::swap(block, &mut self.batch.blocks[*position]);
            }
        }
    }
}

/// Fills a block with one value. Reuses its list of choices, so that the encoder encodes the list once.
fn fill_constant(block: &mut CellBlock, value: &OwnedValue, rows: usize) {
    use litepress_rows::Cells;
    let list = match block.cells() {
        Cells::Choice(choice) => choice.values.clone(),
        _ => Arc::from([value.clone()]),
    };
    block.picks(&list).resize(rows, 0);
}

/// Accepted rows of a judged batch, handed out in runs of consecutive numbers: a chunk has no gaps.
#[derive(Debug, Default)]
struct AcceptedRows {
    rows: RecordChunk,
    /// The number of each row.
    numbers: Vec<u64>,
    /// Position of the next row to hand out.
    next: usize,
}

impl AcceptedRows {
    fn is_empty(&self) -> bool {
        self.next == self.numbers.len()
    }

    /// Clears and returns the chunk. The caller fills it and then calls [`number`](Self::number).
    fn refill(&mut self) -> &mut RecordChunk {
        self.rows.clear();
        self.numbers.clear();
        self.next = 0;
        &mut self.rows
    }

    /// Numbers the rows that stay of a batch of `rows` rows.
    fn number(&mut self, left_out: &SkippedRows, first_record: u64, rows: usize) {
        let stays = (first_record..).zip(0..rows).filter(|(_, row)| !left_out.has(*row));
        self.numbers.extend(stays.map(|(number, _)| number));
        assert_eq!(self.numbers.len(), self.rows.len(), "the rows that stay are those that are not left out");
    }

    /// Appends the next run of consecutive rows to the empty chunk. Returns whether there was one.
    fn hand_out(&mut self, chunk: &mut RecordChunk) -> bool {
        let Some(&first) = self.numbers.get(self.next) else { return false };
        chunk.set_first_record(first);
        for number in first.. {
            if self.numbers.get(self.next) != Some(&number) {
                break;
            }
            chunk.push(self.rows.rowids()[self.next], self.rows.record(self.next));
            if self.rows.is_automatic(self.next) {
                chunk.mark_automatic(chunk.len() - 1);
            }
            self.next += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests;
