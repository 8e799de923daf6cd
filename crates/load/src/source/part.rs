//! The rows of a piece: its batches become records, except the rows that are left out.

use super::accepted_rows::AcceptedRows;
use super::{BatchEncoder, LoadSource, OnError, in_file};
use crate::infer::{Conversion, InferredColumn, ScannedValue};
use crate::reader::{BadRecord, Batch, Piece};
use litepress_format::value::Value;
use litepress_rows::encode::{BadValue, RowAction, SkippedRows};
use litepress_rows::sync::lock;
use litepress_rows::{Conflict, Error, ErrorKind, NullPolicy, OptionName, Part, RecordChunk, Result, message, quote};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// The records of a piece.
pub(super) struct LoadPart<'s> {
    pub at: PieceReader<'s>,
    pub type_checks: Vec<(usize, InferredColumn)>,
    pub conversions: Vec<(usize, Conversion)>,
    pub batch_encoder: BatchEncoder,
    /// Rows of a judged batch that are still to be handed out.
    pub rest: AcceptedRows,
}

/// The state of reading a piece.
pub(super) struct PieceReader<'s> {
    pub source: &'s LoadSource,
    pub piece: Box<dyn Piece>,
    /// The file's name. `None` for data in memory.
    pub file: Option<PathBuf>,
    /// The piece gives records as they are stored.
    pub gives_records: bool,
    /// Rowids of these records are their numbers through all files.
    pub numbers_records: bool,
    /// Number of the part in [`Rejects`](crate::rejects::Rejects).
    pub part: u64,
    /// Number of records in the files before.
    pub records_before: u64,
    /// Number of the piece's records in batches before the last.
    pub read: u64,
    /// Lines of the last batch's rows, if the text of the piece was released.
    pub released_lines: Option<Vec<Option<u64>>>,
}

/// Minimum size of a text that is released as soon as its records are read. Otherwise it would be in memory beside its records
/// and their pages.
pub(crate) const HUGE_TEXT_BYTES: usize = 16 << 20;

impl Part for LoadPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if self.rest.hand_out(chunk) {
            return Ok(());
        }
        while !chunk.is_full() && self.rest.is_empty() && (self.add_records(chunk)? || self.add_batch(chunk)?) {}
        if chunk.is_empty() && !self.rest.hand_out(chunk) {
            self.at.source.rejects.end_part(self.at.part)?;
        }
        Ok(())
    }
}

impl LoadPart<'_> {
    /// Appends records as they are stored, if the file gives them. Returns whether there were some.
    fn add_records(&mut self, chunk: &mut RecordChunk) -> Result<bool> {
        let Self { at, batch_encoder, .. } = self;
        if !at.gives_records || !lock(&at.source.refused).is_empty() {
            return Ok(false);
        }
        at.read += std::mem::take(&mut batch_encoder.batch.rows) as u64;
        if chunk.is_empty() {
            chunk.set_first_record(at.first_record());
        }
        let known = chunk.len();
        let rows = at.piece.read_records(chunk).map_err(|error| in_file(error, at.file.as_deref()))?;
        if at.numbers_records {
            chunk.renumber(known, at.first_record().cast_signed());
        }
        at.read += rows as u64;
        Ok(rows > 0)
    }

    /// Reads the next batch and appends its rows to `chunk`, or the accepted ones to `rest`. Returns whether there was a batch.
    fn add_batch(&mut self, chunk: &mut RecordChunk) -> Result<bool> {
        let Self { at, type_checks, conversions, batch_encoder, rest } = self;
        at.released_lines = None;
        at.read += batch_encoder.batch.rows as u64;
        at.piece.read(&mut batch_encoder.batch).map_err(|error| at.in_place(error))?;
        let first_record = at.first_record();
        if let Some(found) = batch_encoder.batch.repeated_header {
            at.source.rejects.add_repeated_header(at.file.as_deref(), found);
        }
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
            self.source.rejects.count_nulls(1);
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

    /// Counts the rows that the policy for conflicts left out for NULL. If rejects go to a file, these rows are rejects.
    fn add_ignored(&self, left_out: &SkippedRows, rows: usize, skipped: &[usize], wrong: &mut Vec<WrongRow>) {
        if !self.counts_ignored() {
            return;
        }
        let known: HashSet<usize> = wrong.iter().map(|wrong| wrong.row).chain(skipped.iter().copied()).collect();
        let ignored: Vec<usize> = (0..rows).filter(|row| left_out.has(*row) && !known.contains(row)).collect();
        if !self.source.rejects.has_file() {
            self.source.ignored.fetch_add(ignored.len() as u64, Ordering::Relaxed);
            return;
        }
        let why = "NOT NULL constraint failed";
        let ignored = ignored.into_iter().map(|row| (row, Error::new(ErrorKind::Constraint, why)));
        wrong.extend(ignored.map(|(row, error)| WrongRow { row, error, is_left_out: true }));
    }

    /// Counts a row as rejected, or fails if rows may not be left out.
    fn leave_out(&self, wrong: WrongRow) -> Result<()> {
        let error = self.in_row(wrong.row, wrong.error);
        if wrong.is_left_out {
            self.source.rejects.count_left_out();
        }
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
                format!("the value does not fit the type that was inferred from a sample, {}", decision.declared_type);
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
        Value::Text(text) => decision.accepts(ScannedValue::Text(text)) || decision.accepts(ScannedValue::String(text)),
        Value::Int(int) => {
            decision.accepts(ScannedValue::Number(int.to_string().as_bytes()))
                || decision.accepts(ScannedValue::Boolean(true))
        }
        Value::Real(real) => decision.accepts(ScannedValue::Number(format!("{real:?}").as_bytes())),
    }
}
