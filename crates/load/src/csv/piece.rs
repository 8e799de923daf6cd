//! Converts fields to cells, column by column.

use super::framing::{character, place};
use super::rows::{Fault, FaultKind, Most, Rows};
use super::syntax::Syntax;
use crate::framing::Text;
use crate::infer::{FileStats, ScannedValue};
use crate::options::{InvalidUtf8, Ragged};
use crate::reader::{BadRecord, Batch, Piece};
use litepress_format::value::Value;
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::{CellBlock, Error, ErrorKind, quote};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// The options for reading records.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub syntax: Arc<Syntax>,
    /// Names of all columns of the file.
    pub names: Vec<String>,
    /// Positions of the columns to read.
    pub projected: Vec<usize>,
    /// Whether empty texts are NULL, for each column in `projected`.
    pub empty_is_null: Vec<bool>,
    /// Unquoted fields that mean NULL.
    pub nulls: Vec<Vec<u8>>,
    pub invalid_utf8: InvalidUtf8,
    pub ragged: Ragged,
}

/// Size at which a batch ends, in bytes of its records.
const BATCH_BYTES: usize = 4 << 20;

/// Consecutive records of a CSV file.
pub(super) struct CsvPiece {
    text: Text,
    task: Arc<Task>,
    /// Whether the whole text is UTF-8, so that fields need no check. Computed at the first read.
    is_utf8: Option<bool>,
    /// Start of the next batch.
    next: usize,
    /// Number of rows in earlier batches.
    rows_before: u64,
    rows: Rows,
    spans: Vec<Range<usize>>,
    /// The last queried byte and its line. Queries mostly ascend, so lines are counted from there.
    line: Cell<(usize, u64)>,
}

/// A field that is not UTF-8.
struct InvalidField {
    row: usize,
    field: usize,
}

impl CsvPiece {
    pub fn new(text: Text, task: Arc<Task>) -> Self {
        assert!(u32::try_from(text.bytes.len() + 1).is_ok(), "no record is so long that a piece has 4 GiB");
        let line = Cell::new((0, text.start.line));
        let (rows, spans) = (Rows::default(), Vec::new());
        Self { text, task, is_utf8: None, next: 0, rows_before: 0, rows, spans, line }
    }

    /// Finds the rows of the next batch. Returns whether there are any.
    fn find_rows(&mut self) -> bool {
        let text = &self.text.bytes;
        self.is_utf8.get_or_insert_with(|| std::str::from_utf8(text).is_ok());
        self.rows_before += self.rows.len as u64;
        let may_be_short = self.task.ragged == Ragged::Pad;
        let most = Most { rows: BLOCK_ROWS, bytes: BATCH_BYTES };
        self.next = self.rows.find(&self.task.syntax, text, self.next, most, may_be_short);
        self.rows.len > 0
    }

    fn is_utf8(&self) -> bool {
        self.is_utf8 == Some(true)
    }

    /// Fills `block` with a column. [`set_nulls`](Self::set_nulls) sets its NULL flags.
    fn fill(&mut self, field: usize, block: &mut CellBlock, invalid: &mut Vec<InvalidField>) {
        let (text, syntax) = (&self.text.bytes[..], &*self.task.syntax);
        if !self.is_utf8() && self.has_invalid(field) {
            return self.fill_checked(field, block, invalid);
        }
        let mut is_verbatim = true;
        self.spans.clear();
        self.spans.extend(self.rows.column(field).map(|span| {
            if !syntax.is_quoted(text, &span) {
                return span;
            }
            let content = span.start + 1..span.end - 1;
            is_verbatim &= !syntax.has_escapes(&text[content.clone()]);
            content
        }));
        let texts = block.texts();
        if is_verbatim {
            texts.gather(text, &self.spans);
            return;
        }
        for (row, content) in self.spans.iter().enumerate() {
            // In an unquoted field, quotes are text and stay as they are.
            if syntax.is_quoted(text, &self.rows.field(row, field)) {
                syntax.unescape(&text[content.clone()], texts.arena());
            } else {
                texts.arena().extend_from_slice(&text[content.clone()]);
            }
            texts.end_string();
        }
    }

    fn value(&self, row: usize, field: usize) -> Cow<'_, [u8]> {
        self.task.syntax.value(&self.text.bytes, &self.rows.field(row, field))
    }

    fn has_invalid(&self, field: usize) -> bool {
        (0..self.rows.len).any(|row| std::str::from_utf8(&self.value(row, field)).is_err())
    }

    /// Fills `block` with a column that has invalid UTF-8.
    fn fill_checked(&self, field: usize, block: &mut CellBlock, invalid: &mut Vec<InvalidField>) {
        let values = (0..self.rows.len).map(|row| match String::from_utf8(self.value(row, field).into_owned()) {
            Ok(text) => OwnedValue::Text(text),
            Err(error) => match self.task.invalid_utf8 {
                InvalidUtf8::Replace => OwnedValue::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()),
                InvalidUtf8::Blob => OwnedValue::Blob(error.into_bytes()),
                InvalidUtf8::Error => {
                    invalid.push(InvalidField { row, field });
                    OwnedValue::Null
                }
            },
        });
        block.values().extend(values);
    }

    /// Sets fields to NULL that mean NULL or that a short record lacks.
    fn set_nulls(&self, field: usize, empty_is_null: bool, block: &mut CellBlock) {
        let rows = self.rows.len;
        if empty_is_null {
            for (row, span) in self.rows.column(field).enumerate() {
                // A field of two bytes may be an empty quoted one.
                if span.is_empty() || (span.len() == 2 && self.value(row, field).is_empty()) {
                    block.set_null(row, rows);
                }
            }
        }
        if !self.task.nulls.is_empty() {
            for (row, span) in self.rows.column(field).enumerate() {
                if self.means_null(&span) {
                    block.set_null(row, rows);
                }
            }
        }
        for (row, _) in self.rows.short.iter().filter(|(_, fields)| field >= *fields) {
            block.set_null(*row, rows);
        }
    }

    fn is_missing(&self, row: usize, field: usize) -> bool {
        let short = &self.rows.short;
        short.binary_search_by_key(&row, |(row, _)| *row).is_ok_and(|found| field >= short[found].1)
    }

    fn means_null(&self, span: &Range<usize>) -> bool {
        // A null text that begins with a quote never equals an unquoted field.
        let field = &self.text.bytes[span.clone()];
        self.task.nulls.iter().any(|null| null == field) && !self.task.syntax.is_quoted(&self.text.bytes, span)
    }

    fn explain(&self, fault: &Fault) -> Error {
        let Fault { record, kind, .. } = fault;
        let text = &self.text.bytes;
        let columns = self.task.names.len();
        match *kind {
            FaultKind::Fields(fields) => {
                let has = if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") };
                let error = Error::new(ErrorKind::Data, format!("the record has {has} instead of {columns}"));
                let surplus = self.task.syntax.fields(&text[record.clone()]).get(columns).map(|field| field.start);
                let error = self.place(error, surplus.map_or(record.end, |at| record.start + at));
                let error = error.with_value(quote(&Value::Text(&text[record.clone()])));
                if fields < columns {
                    return error.advise("complete the record, or let missing fields be NULL");
                }
                error.advise("put quotes around fields that hold delimiters")
            }
            FaultKind::BehindQuote { field, at } => {
                let error = Error::new(ErrorKind::Data, "text stands behind the closing quote of the field");
                let error = match self.task.names.get(field) {
                    Some(name) => error.in_column(name),
                    None => error,
                };
                let value = text[at..record.end].split(|&byte| byte == self.task.syntax.delimiter).next();
                let error = error.with_value(quote(&Value::Text(value.unwrap_or_default())));
                self.place(error, at).advise("double quotes within quotes, or say how they are escaped")
            }
        }
    }

    fn explain_invalid(&self, invalid: &InvalidField) -> Error {
        let span = self.rows.field(invalid.row, invalid.field);
        let field = &self.text.bytes[span.clone()];
        let valid = std::str::from_utf8(field).map_or_else(|error| error.valid_up_to(), str::len);
        let error = Error::new(ErrorKind::Data, "the text is not UTF-8")
            .in_column(&self.task.names[invalid.field])
            .with_value(quote(&Value::Text(&self.value(invalid.row, invalid.field))));
        self.place(error, span.start + valid).advise("say the encoding of the file, or what becomes of such text")
    }

    fn place(&self, error: Error, at: usize) -> Error {
        error.at(self.line_of(at), character(&self.text.bytes, at))
    }

    fn line_of(&self, at: usize) -> u64 {
        let (known, line) = self.line.get();
        let (from, line) = if known <= at { (known, line) } else { (0, self.text.start.line) };
        let line = line + place(&self.text.bytes[from..], at - from).0 - 1;
        self.line.set((at, line));
        line
    }
}

impl Piece for CsvPiece {
    fn first_record(&self) -> u64 {
        self.text.start.record
    }

    fn records(&self) -> u64 {
        self.text.records
    }

    fn read(&mut self, batch: &mut Batch) -> litepress_rows::Result<()> {
        let task = self.task.clone();
        batch.clear(task.projected.len());
        if !self.find_rows() {
            assert_eq!(self.rows_before, self.text.records, "what is cut and what is read agree on records");
            return Ok(());
        }
        batch.rows = self.rows.len;
        let mut invalid = Vec::new();
        for ((&field, &empty_is_null), block) in task.projected.iter().zip(&task.empty_is_null).zip(&mut batch.blocks) {
            self.fill(field, block, &mut invalid);
            self.set_nulls(field, empty_is_null, block);
        }
        let faults = self.rows.faults.iter().map(|fault| BadRecord {
            row: fault.row,
            error: self.explain(fault),
            is_left_out: self.task.ragged == Ragged::Reject && matches!(fault.kind, FaultKind::Fields(_)),
        });
        batch.bad.extend(faults);
        if !invalid.is_empty() {
            invalid.sort_by_key(|invalid| invalid.row);
            invalid.dedup_by_key(|invalid| invalid.row);
            let invalid = invalid.iter().map(|at| {
                let error = self.explain_invalid(at);
                BadRecord { row: at.row, error, is_left_out: false }
            });
            batch.bad.extend(invalid);
            batch.bad.sort_by_key(|bad| bad.row);
        }
        for bad in &batch.bad {
            batch.blocks.iter_mut().for_each(|block| block.set_null(bad.row, batch.rows));
        }
        Ok(())
    }

    fn scan_types(&mut self, findings: &mut FileStats) -> litepress_rows::Result<()> {
        while self.find_rows() {
            let is_wrong = self.wrong_rows();
            let first = self.text.start.record + self.rows_before;
            findings.records += (0..self.rows.len).filter(|&row| !is_wrong[row]).count() as u64;
            for &field in &self.task.projected {
                for (row, record) in (0..self.rows.len).zip(first..).filter(|(row, _)| !is_wrong[*row]) {
                    self.show(row, field, record, findings);
                }
            }
        }
        Ok(())
    }

    fn line(&self, row: usize) -> Option<u64> {
        Some(self.line_of(self.rows.record(row).start))
    }

    fn raw(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(&self.text.bytes[self.rows.record(row)]))
    }
}

impl CsvPiece {
    /// Returns a flag for each row: whether reading it would fail.
    fn wrong_rows(&self) -> Vec<bool> {
        let mut wrong = vec![false; self.rows.len];
        for fault in &self.rows.faults {
            wrong[fault.row] = true;
        }
        if !self.is_utf8() && self.task.invalid_utf8 == InvalidUtf8::Error {
            for (row, wrong) in wrong.iter_mut().enumerate() {
                *wrong |=
                    self.task.projected.iter().any(|&field| std::str::from_utf8(&self.value(row, field)).is_err());
            }
        }
        wrong
    }

    fn show(&self, row: usize, field: usize, record: u64, findings: &mut FileStats) {
        let span = self.rows.field(row, field);
        if (span.is_empty() && self.is_missing(row, field)) || self.means_null(&span) {
            return findings.observe(field, ScannedValue::Null, record);
        }
        let value = self.task.syntax.value(&self.text.bytes, &span);
        if !self.is_utf8() && self.task.invalid_utf8 == InvalidUtf8::Replace {
            return findings.observe(field, ScannedValue::Text(String::from_utf8_lossy(&value).as_bytes()), record);
        }
        findings.observe(field, ScannedValue::Text(&value), record);
    }
}
