//! The dry run of a load: all records are read and encoded, and SQLite is asked about keys and CHECKs. Nothing is written but
//! temporary files.

use super::job::LoadJob;
use super::run::drain;
use crate::{Conflict, Error, ErrorKind, Message, OnError, Result};
use litepress_engine::{RowFigures, may_refuse};
use litepress_load::plan::PlannedTable;
use litepress_load::rejects::Rejects;
use litepress_load::source::LoadSource;
use litepress_rows::{OptionName, message};
use std::sync::Arc;

/// Number of mismatches that are kept of each table.
const SHOWN: usize = 20;

/// The mismatches between records and their tables.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Mismatches {
    /// Number of records that the load would refuse.
    pub count: u64,
    /// The first of each table, in the order of the records.
    pub first: Vec<Error>,
    /// Number of records that the policy for conflicts would leave out.
    pub ignored: u64,
    /// The load would fail. Otherwise it would reject these records.
    pub is_fatal: bool,
}

/// The mismatches so far, and their fate.
#[derive(Default)]
struct Found {
    mismatches: Mismatches,
    /// Number of records that `--ragged reject` leaves out.
    left_out: u64,
    /// Whether a file could not be read to its end.
    has_ended: bool,
}

impl LoadJob<'_> {
    /// Finds the records that the load would refuse, and adds what else is worth a note. Also returns figures of the rows of each table
    /// that were read. A sample of records is not checked.
    pub(super) fn dry_run(&self, notes: &mut Vec<Message>) -> Result<(Mismatches, Vec<Option<RowFigures>>)> {
        let mut found = Found::default();
        if self.options.sample.is_some() {
            notes.push("the records were not checked, because types are found from a sample of them".into());
            return Ok((found.mismatches, vec![None; self.plan.tables.len()]));
        }
        if self.existing.is_some() {
            notes.push("keys and constraints are checked as the rows are added, not before".into());
        }
        let mut figures = Vec::new();
        for planned in &self.plan.tables {
            figures.push(self.check_table(planned, &mut found, notes)?);
        }
        let exceeds = self.exceeds_most(&found);
        if exceeds {
            let most = OptionName::MaxRejects.count(None, &self.max_rejects().to_string());
            notes.push(message!["more records are wrong than ", most.given(), " allows"]);
        }
        let Found { mut mismatches, left_out, has_ended } = found;
        let aborts = self.on_error != OnError::Reject && mismatches.count > left_out;
        mismatches.is_fatal = aborts || exceeds || has_ended;
        Ok((mismatches, figures))
    }

    /// Returns whether the load would reject more records than it may.
    fn exceeds_most(&self, found: &Found) -> bool {
        let mismatches = &found.mismatches;
        let rejected = if self.on_error == OnError::Reject { mismatches.count } else { found.left_out };
        // The policy for conflicts leaves them out, and the file of rejects lists them.
        let listed = if self.options.rejects.is_some() { mismatches.ignored } else { 0 };
        rejected + listed > self.max_rejects()
    }

    /// Checks the rows of a table. Returns their figures, if they could be read and SQLite was not asked.
    fn check_table(
        &self,
        planned: &PlannedTable,
        found: &mut Found,
        notes: &mut Vec<Message>,
    ) -> Result<Option<RowFigures>> {
        let (rejects, conflict) = (Arc::new(Rejects::shown(SHOWN)), self.options.build.on_conflict);
        let on_error = if self.on_error == OnError::Null { OnError::Null } else { OnError::Reject };
        let source = self.plan.source_under(conflict, planned, self.page_size, on_error, &rejects)?;
        let mut refused = Vec::new();
        let mut refused_count = 0;
        let decides = may_refuse(source.table()) && self.existing.is_none();
        let checked = if decides && !self.plan.is_copied(planned) {
            self.ask_sqlite(planned.table, &source, &mut |error| {
                refused_count += 1;
                if refused.len() < SHOWN {
                    refused.push(source.explain(error));
                }
                Ok(())
            })
            .map(|()| None)
        } else {
            drain(&source, self.options.build.threads, &self.options.build.progress).map(Some)
        };
        if self.geopackage.is_some() && on_error == OnError::Reject && checked.is_ok() {
            let source =
                self.plan.source_under(conflict, planned, self.page_size, on_error, &Arc::new(Rejects::shown(0)))?;
            let wrong = self.find_wrong(planned, &source, SHOWN as u64)?;
            refused_count += wrong.count;
            let table = &source.table().name;
            refused.extend(
                wrong.first.into_iter().map(|(record, error)| source.explain(error.in_record(record).in_table(table))),
            );
        }
        let mut first = rejects.take_shown();
        found.left_out += rejects.left_out();
        let Found { mismatches: found, has_ended, .. } = found;
        found.count += rejects.count();
        found.ignored += source.ignored();
        if conflict == Conflict::Ignore {
            found.ignored += refused_count;
        } else {
            found.count += refused_count;
            first.append(&mut refused);
        }
        let figures = match checked {
            Ok(figures) => figures,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                // Nothing after it can be read.
                found.count += 1;
                *has_ended = true;
                first.push(self.texts.explain(source.explain(error)));
                None
            }
        };
        sort_by_place(&mut first, &source);
        first.truncate(SHOWN);
        found.first.extend(self.with_lines(first));
        notes.extend(super::notes::changes(&source, self.has_schema()));
        Ok(figures)
    }
}

/// Sorts errors by file and record.
fn sort_by_place(errors: &mut [Error], source: &LoadSource) {
    errors.sort_by_cached_key(|error| {
        let place = error.place();
        (place.file.as_deref().and_then(|file| source.position_of_file(file)), place.record)
    });
}
