//! The lines of records that a later step refuses: only the reader of a file knows them.

use super::{LoadPlan, PlannedFile, PlannedTable};
use crate::options::{Format, ReadOptions};
use crate::reader::Batch;
use litepress_rows::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl LoadPlan {
    /// Adds to each error about a record of a file the line where the record begins, if the file has lines. Reads the files up to these
    /// records. Errors of files that cannot be read again stay as they are, and all that are left do if `go_on` fails.
    #[must_use]
    pub fn with_lines(&self, mut errors: Vec<Error>, go_on: &dyn Fn() -> Result<()>) -> Vec<Error> {
        for table in &self.tables {
            for file in &table.files {
                let records: BTreeSet<u64> =
                    errors.iter().filter_map(|error| self.record_without_line(error, table, file)).collect();
                if records.is_empty() || !file.has_lines() || !file.content.can_be_read_twice() {
                    continue;
                }
                // Counters of their own: these bytes are no progress of the load.
                let read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
                let lines = file.lines(&records, &read, go_on).unwrap_or_default();
                let place = |error: Error| match self.record_without_line(&error, table, file) {
                    Some(record) if lines.contains_key(&record) => error.at(lines[&record], 1),
                    _ => error,
                };
                errors = errors.into_iter().map(place).collect();
            }
        }
        errors
    }

    /// Returns the number of the record that an error is about, if it is one of this file, and its line is unknown.
    fn record_without_line(&self, error: &Error, table: &PlannedTable, file: &PlannedFile) -> Option<u64> {
        let place = error.place();
        let is_of_table = place.table.as_ref() == Some(&self.schema.tables[table.table].name);
        let is_of_file = place.file.is_some() && place.file.as_ref() == file.input().map(|input| &input.name);
        place.record.filter(|_| is_of_table && is_of_file && place.line.is_none())
    }
}

impl PlannedFile {
    /// Returns whether the file consists of lines, or of the rows of a sheet.
    fn has_lines(&self) -> bool {
        self.input().is_some_and(|input| matches!(input.format, Format::Csv | Format::Json | Format::Spreadsheet))
    }

    /// Returns the lines where these records begin, as far as the file has lines.
    fn lines(
        &self,
        records: &BTreeSet<u64>,
        read: &ReadOptions,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<BTreeMap<u64, u64>> {
        let mut reader = self.open(read)?.reader;
        let (mut lines, mut batch) = (BTreeMap::new(), Batch::default());
        let last = records.last().copied().unwrap_or_default();
        while let Some(mut piece) = reader.next_piece()? {
            go_on()?;
            let (first, after) = (piece.first_record(), piece.first_record() + piece.records());
            if first > last {
                break;
            }
            if records.range(first..after).next().is_none() {
                continue;
            }
            let mut next = first;
            loop {
                piece.read(&mut batch)?;
                if batch.rows == 0 {
                    break;
                }
                let start = next;
                next += batch.rows as u64;
                for &record in records.range(start..next) {
                    let row = usize::try_from(record - start).expect("a row of the batch");
                    lines.extend(piece.line(row).map(|line| (record, line)));
                }
            }
        }
        Ok(lines)
    }
}
