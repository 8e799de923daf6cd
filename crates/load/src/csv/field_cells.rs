//! Copies the fields of CSV records into blocks of cells, as text. `litepress_rows::encode` makes numbers of them.

use super::convert::{Conversion, FieldClass};
use super::field_spans::{Fault, FaultKind, FieldSpans, ReadLimit};
use super::framing::{character, never_closed, place};
use super::loose::Rewritten;
use super::syntax::Syntax;
use crate::framing::Text;
use crate::infer::{FileStats, ScannedValue};
use crate::options::{InvalidUtf8, Ragged};
use crate::reader::{BadRecord, Batch, FoundHeader, Piece};
use litepress_format::value::Value;
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::{CellBlock, Error, ErrorKind, OptionName, Result, message, quote};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// The options for reading records.
#[derive(Clone, Debug)]
pub(super) struct CsvReadOptions {
    pub syntax: Arc<Syntax>,
    /// Names of all columns of the file.
    pub names: Vec<String>,
    /// The encoding that the caller stated.
    pub encoding: Option<String>,
    /// Positions of the columns to read.
    pub projected: Vec<usize>,
    /// Conversions of all columns of the file.
    pub conversions: Vec<Option<Conversion>>,
    /// Whether empty texts are NULL, for each column in `projected`.
    pub empty_is_null: Vec<bool>,
    /// Unquoted fields that mean NULL.
    pub nulls: Vec<Vec<u8>>,
    pub invalid_utf8: InvalidUtf8,
    pub ragged: Ragged,
    /// Records whose fields are all empty are left out.
    pub skips_empty: bool,
}

/// Size at which a batch ends, in bytes of its records.
const BATCH_BYTES: usize = 4 << 20;

/// Consecutive records of a CSV file.
pub(super) struct CsvPiece {
    text: Text,
    options: Arc<CsvReadOptions>,
    /// The text with regular records, if some are not. Made at the first read, unless `is_regular`.
    rewritten: Option<Rewritten>,
    is_regular: bool,
    /// Whether the whole text is UTF-8, so that fields need no check. Computed at the first read.
    is_utf8: Option<bool>,
    /// Start of the next batch.
    next: usize,
    /// Number of rows in earlier batches.
    rows_before: u64,
    rows: FieldSpans,
    spans: Vec<Range<usize>>,
    /// The last queried byte and its line. Queries mostly ascend, so lines are counted from there.
    line: Cell<(usize, u64)>,
}

/// A field that is not UTF-8, or that cannot be converted.
struct InvalidField {
    row: usize,
    field: usize,
    /// The reason, if it is not the encoding.
    error: Option<Error>,
}

impl CsvPiece {
    pub fn new(text: Text, options: Arc<CsvReadOptions>) -> Self {
        assert!(u32::try_from(text.bytes.len() + 1).is_ok(), "no record is so long that a piece has 4 GiB");
        let line = Cell::new((0, text.start.line));
        let (rows, spans) = (FieldSpans::default(), Vec::new());
        let is_regular = !options.syntax.is_loose();
        Self { text, options, rewritten: None, is_regular, is_utf8: None, next: 0, rows_before: 0, rows, spans, line }
    }

    /// Returns the text that is read: the file's, or the one with regular records.
    fn bytes(&self) -> &[u8] {
        self.rewritten.as_ref().map_or(&self.text.bytes, |rewritten| &rewritten.bytes)
    }

    fn syntax(&self) -> &Syntax {
        self.rewritten.as_ref().map_or(&self.options.syntax, |rewritten| &rewritten.syntax)
    }

    /// Finds the rows of the next batch, at most so many. Returns whether there are any.
    fn find_rows(&mut self, most_rows: usize) -> bool {
        if !self.is_regular {
            self.is_regular = true;
            self.rewritten = Rewritten::new(&self.text.bytes, &self.options.syntax);
            let bytes = self.bytes().len();
            assert!(u32::try_from(bytes + 1).is_ok(), "a rewritten piece has less than 4 GiB");
        }
        let (text, syntax) = match &self.rewritten {
            Some(rewritten) => (&rewritten.bytes, &rewritten.syntax),
            None => (&self.text.bytes, &self.options.syntax),
        };
        self.is_utf8.get_or_insert_with(|| std::str::from_utf8(text).is_ok());
        self.rows_before += self.rows.len as u64;
        let most = ReadLimit { rows: most_rows, bytes: BATCH_BYTES };
        self.next = self.rows.find(syntax, text, self.next, most, self.options.ragged);
        self.rows.len > 0
    }

    fn is_utf8(&self) -> bool {
        self.is_utf8 == Some(true)
    }

    /// Fills `block` with a column. [`set_nulls`](Self::set_nulls) sets its NULL flags.
    fn fill(&mut self, field: usize, block: &mut CellBlock, invalid: &mut Vec<InvalidField>) {
        let (text, syntax) = match &self.rewritten {
            Some(rewritten) => (&rewritten.bytes[..], &*rewritten.syntax),
            None => (&self.text.bytes[..], &*self.options.syntax),
        };
        if !self.is_utf8() && self.has_invalid(field) {
            return self.fill_checked(field, block, invalid);
        }
        if self.options.conversions[field].is_some() {
            return self.fill_converted(field, block, invalid);
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
        self.syntax().value(self.bytes(), &self.rows.field(row, field))
    }

    fn has_invalid(&self, field: usize) -> bool {
        (0..self.rows.len).any(|row| std::str::from_utf8(&self.value(row, field)).is_err())
    }

    /// Returns another text for a field, if it has one. A field that means NULL has none.
    fn converted(&self, row: usize, field: usize, text: &str) -> Result<Option<String>> {
        match &self.options.conversions[field] {
            Some(conversion) if !self.means_null(&self.rows.field(row, field)) => conversion.text(text),
            _ => Ok(None),
        }
    }

    /// Fills `block` with a column whose fields have another form.
    fn fill_converted(&self, field: usize, block: &mut CellBlock, invalid: &mut Vec<InvalidField>) {
        let texts = block.texts();
        for row in 0..self.rows.len {
            let value = self.value(row, field);
            let text = std::str::from_utf8(&value).expect("the column is UTF-8");
            match self.converted(row, field, text) {
                Ok(Some(converted)) => texts.arena().extend_from_slice(converted.as_bytes()),
                Ok(None) => texts.arena().extend_from_slice(&value),
                Err(error) => invalid.push(InvalidField { row, field, error: Some(error) }),
            }
            texts.end_string();
        }
    }

    /// Fills `block` with a column that has invalid UTF-8.
    fn fill_checked(&self, field: usize, block: &mut CellBlock, invalid: &mut Vec<InvalidField>) {
        let values = (0..self.rows.len).map(|row| match String::from_utf8(self.value(row, field).into_owned()) {
            Ok(text) => match self.converted(row, field, &text) {
                Ok(converted) => OwnedValue::Text(converted.unwrap_or(text)),
                Err(error) => {
                    invalid.push(InvalidField { row, field, error: Some(error) });
                    OwnedValue::Null
                }
            },
            Err(error) => match self.options.invalid_utf8 {
                InvalidUtf8::Replace => OwnedValue::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()),
                InvalidUtf8::Blob => OwnedValue::Blob(error.into_bytes()),
                InvalidUtf8::Error => {
                    invalid.push(InvalidField { row, field, error: None });
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
        if !self.options.nulls.is_empty() {
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
        let field = &self.bytes()[span.clone()];
        self.options.nulls.iter().any(|null| null == field) && !self.syntax().is_quoted(self.bytes(), span)
    }

    fn explain(&self, fault: &Fault) -> Error {
        let Fault { record, kind, .. } = fault;
        let text = self.bytes();
        match *kind {
            FaultKind::Fields(fields) => self.explain_fields(record, fields),
            FaultKind::BehindQuote { field, at } => {
                let error = Error::new(ErrorKind::Data, "text follows the closing quote of the field");
                let value = text[at..record.end].split(|&byte| byte == self.syntax().delimiter).next();
                let error = error.with_value(quote(&Value::Text(value.unwrap_or_default())));
                self.place(self.in_column(error, field), at).advise(message![
                    "double quotes within quotes, say how they are escaped with ",
                    OptionName::Escape.alone(),
                    ", or take such quotes as text with ",
                    OptionName::StrayQuotes.word("text")
                ])
            }
            FaultKind::Open { field, at } => self.place(self.in_column(never_closed(), field), at),
        }
    }

    fn explain_fields(&self, record: &Range<usize>, fields: usize) -> Error {
        let (text, columns) = (self.bytes(), self.options.names.len());
        let has = if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") };
        let error = Error::new(ErrorKind::Data, format!("the record has {has} instead of {columns}"));
        let surplus = self.syntax().field_start(&text[record.clone()], columns);
        let error = self.place(error, surplus.map_or(record.end, |at| record.start + at));
        let error = error.with_value(quote(&Value::Text(&self.original_record(record))));
        if fields < columns {
            let pad = OptionName::Ragged.word("pad");
            return error.advise(message!["complete the record, or let missing fields be NULL with ", pad]);
        }
        let fit = OptionName::Ragged.word("fit");
        error.advise(message!["put quotes around fields that hold delimiters, or cut surplus fields with ", fit])
    }

    fn in_column(&self, error: Error, field: usize) -> Error {
        match self.options.names.get(field) {
            Some(name) => error.in_column(name),
            None => error,
        }
    }

    fn original_record(&self, record: &Range<usize>) -> Cow<'_, [u8]> {
        Cow::Borrowed(match &self.rewritten {
            Some(rewritten) => &self.text.bytes[rewritten.original_record(record)],
            None => &self.text.bytes[record.clone()],
        })
    }

    fn explain_invalid(&self, invalid: InvalidField) -> Error {
        let span = self.rows.field(invalid.row, invalid.field);
        if let Some(error) = invalid.error {
            let error = error.in_column(&self.options.names[invalid.field]);
            let error = error.with_value(quote(&Value::Text(&self.value(invalid.row, invalid.field))));
            return self.place(error, span.start);
        }
        let field = &self.bytes()[span.clone()];
        let valid = std::str::from_utf8(field).map_or_else(|error| error.valid_up_to(), str::len);
        let encoding = self.options.encoding.as_deref().unwrap_or("UTF-8");
        let error = Error::new(ErrorKind::Data, format!("the text is not {encoding}"))
            .in_column(&self.options.names[invalid.field])
            .with_value(quote(&Value::Text(&self.value(invalid.row, invalid.field))));
        self.place(error, span.start + valid).advise(message![
            "name the encoding of the file with ",
            OptionName::Encoding.alone(),
            ", or store U+FFFD for such bytes with ",
            OptionName::InvalidUtf8.word("replace")
        ])
    }

    /// Adds line and character of a byte to an error. Of a record that was rewritten, the line is known.
    fn place(&self, error: Error, at: usize) -> Error {
        let line_end = self.options.syntax.line_end;
        let Some(rewritten) = &self.rewritten else {
            return error.at(self.line_of(at), character(&self.text.bytes, at, line_end));
        };
        let start = rewritten.record_start(at);
        let lines = memchr::memchr_iter(line_end, &rewritten.bytes[start..at]).count() as u64;
        let original = rewritten.original(at);
        let character = if start == at { character(&self.text.bytes, original, line_end) } else { 1 };
        error.at(self.line_of(original) + lines, character)
    }

    /// Returns the line of a byte of the file's text.
    fn line_of(&self, at: usize) -> u64 {
        let (known, line) = self.line.get();
        let (from, line) = if known <= at { (known, line) } else { (0, self.text.start.line) };
        let line = line + place(&self.text.bytes[from..], at - from, self.options.syntax.line_end).0 - 1;
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

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        let options = self.options.clone();
        batch.clear(options.projected.len());
        if self.text.is_left_out {
            let (line, ends_table) = (self.text.start.line, self.text.is_last);
            batch.repeated_header = Some(FoundHeader { line, ends_table });
            return Ok(());
        }
        if !self.find_rows(batch.most_rows()) {
            assert_eq!(self.rows_before, self.text.records, "what is cut and what is read agree on records");
            return Ok(());
        }
        batch.rows = self.rows.len;
        batch.cut_records = self.rows.long.len() as u64;
        if let Some(rewritten) = &mut self.rewritten {
            batch.stray_quotes = std::mem::take(&mut rewritten.strays);
        }
        if options.skips_empty {
            batch.skipped.extend((0..self.rows.len).filter(|&row| self.is_empty(row)));
        }
        let mut invalid = Vec::new();
        for ((&field, &empty_is_null), block) in
            options.projected.iter().zip(&options.empty_is_null).zip(&mut batch.blocks)
        {
            self.fill(field, block, &mut invalid);
            self.set_nulls(field, empty_is_null, block);
        }
        let faults = self.rows.faults.iter().map(|fault| BadRecord {
            row: fault.row,
            error: self.explain(fault),
            is_left_out: self.options.ragged == Ragged::Reject && matches!(fault.kind, FaultKind::Fields(_)),
        });
        batch.bad.extend(faults);
        if !invalid.is_empty() {
            invalid.sort_by_key(|invalid| invalid.row);
            invalid.dedup_by_key(|invalid| invalid.row);
            let invalid = invalid.into_iter().map(|at| {
                let row = at.row;
                BadRecord { row, error: self.explain_invalid(at), is_left_out: false }
            });
            batch.bad.extend(invalid);
            batch.bad.sort_by_key(|bad| bad.row);
        }
        for bad in &batch.bad {
            batch.blocks.iter_mut().for_each(|block| block.set_null(bad.row, batch.rows));
        }
        Ok(())
    }

    fn scan_types(&mut self, findings: &mut FileStats) -> Result<()> {
        while self.find_rows(BLOCK_ROWS) {
            let is_wrong = self.wrong_rows();
            let first = self.text.start.record + self.rows_before;
            findings.records += (0..self.rows.len).filter(|&row| !is_wrong[row]).count() as u64;
            let has_all_fields = self.rows.short.is_empty() && !is_wrong.contains(&true);
            let is_plain = has_all_fields && self.is_utf8() && self.options.nulls.is_empty();
            for &field in &self.options.projected {
                if is_plain && self.options.conversions[field].is_none() {
                    let (text, syntax) = (self.bytes(), self.syntax());
                    let values = self.rows.column(field).map(|span| syntax.value(text, &span));
                    findings.observe_texts(field, values, first);
                    continue;
                }
                for (row, record) in (0..self.rows.len).zip(first..).filter(|(row, _)| !is_wrong[*row]) {
                    self.show(row, field, record, findings);
                }
            }
        }
        Ok(())
    }

    fn line(&self, row: usize) -> Option<u64> {
        let start = self.rows.record(row).start;
        Some(self.line_of(self.rewritten.as_ref().map_or(start, |rewritten| rewritten.original(start))))
    }

    fn text_bytes(&self) -> (usize, usize) {
        (self.text.bytes.len(), self.releasable())
    }

    fn release(&mut self) {
        let read = self.releasable();
        if read == 0 {
            return;
        }
        self.rewritten = None;
        self.text.start.line = self.line_of(read);
        self.line.set((0, self.text.start.line));
        self.text.bytes = self.text.bytes.split_off(read);
        self.next = 0;
    }

    fn raw(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        Some(self.original_record(&self.rows.record(row)))
    }
}

impl CsvPiece {
    /// Returns the number of bytes of the file's text that were read. A rewritten text is released as a whole.
    fn releasable(&self) -> usize {
        match &self.rewritten {
            None => self.next,
            Some(rewritten) if self.next == rewritten.bytes.len() => self.text.bytes.len(),
            Some(_) => 0,
        }
    }

    /// Returns a flag for each row: whether reading it would fail.
    fn wrong_rows(&self) -> Vec<bool> {
        let mut wrong = vec![false; self.rows.len];
        for fault in &self.rows.faults {
            wrong[fault.row] = true;
        }
        if self.options.skips_empty {
            wrong.iter_mut().enumerate().for_each(|(row, wrong)| *wrong |= self.is_empty(row));
        }
        if !self.is_utf8() && self.options.invalid_utf8 == InvalidUtf8::Error {
            for (row, wrong) in wrong.iter_mut().enumerate() {
                *wrong |=
                    self.options.projected.iter().any(|&field| std::str::from_utf8(&self.value(row, field)).is_err());
            }
        }
        wrong
    }

    /// Returns whether all fields of a row are empty.
    fn is_empty(&self, row: usize) -> bool {
        let delimiter = self.syntax().delimiter;
        self.bytes()[self.rows.record(row)].iter().all(|&byte| byte == delimiter)
    }

    fn show(&self, row: usize, field: usize, record: u64, findings: &mut FileStats) {
        let span = self.rows.field(row, field);
        if (span.is_empty() && self.is_missing(row, field)) || self.means_null(&span) {
            return findings.observe(field, ScannedValue::Null, record);
        }
        let value = self.syntax().value(self.bytes(), &span);
        if !self.is_utf8() && self.options.invalid_utf8 == InvalidUtf8::Replace {
            return findings.observe(field, ScannedValue::Text(String::from_utf8_lossy(&value).as_bytes()), record);
        }
        let Some(conversion) = &self.options.conversions[field] else {
            return findings.observe(field, ScannedValue::Text(&value), record);
        };
        let Some(text) = std::str::from_utf8(&value).ok().filter(|text| !text.is_empty()) else {
            return findings.observe(field, ScannedValue::Text(&value), record);
        };
        match conversion.see(text) {
            FieldClass::Same => findings.observe(field, ScannedValue::Text(&value), record),
            FieldClass::Text => findings.observe(field, ScannedValue::String(&value), record),
            FieldClass::Boolean(value) => findings.observe(field, ScannedValue::Boolean(value), record),
            FieldClass::To(text) => findings.observe(field, ScannedValue::Text(text.as_bytes()), record),
        }
    }
}
