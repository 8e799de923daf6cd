//! A load that divides its rows: a database of each value of a column.

use super::LoadReport;
use super::job::{LoadJob, TableSource};
use super::options::LoadOptions;
use super::report::SplitReport;
use super::run::breaks_constraint;
use crate::observer::{Measured, Stage};
use crate::report::BuildReport;
use crate::{Conflict, Error, ErrorKind, OnError, Result, Target};
use litepress_engine::{SplitDatabases, SplitTable, split};
use litepress_load::input::Input;
use litepress_load::plan::PlannedFile;
use litepress_load::rejects::Rejects;
use litepress_rows::schema::Generated;
use litepress_rows::{Message, OptionName, Table, message};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Loads files into a database of each value.
///
/// # Errors
/// As [`load`](super::load), and if a table lacks the column.
pub(super) fn load(
    target: &Target,
    files: Vec<PathBuf>,
    options: &LoadOptions,
    started: Instant,
) -> Result<LoadReport> {
    let column = options.split_by.as_deref().unwrap_or_default();
    refuse_others(options)?;
    let Target::File(folder) = target else {
        let message = message![OptionName::SplitBy.alone().given(), " makes a folder of databases"];
        return Err(Error::new(ErrorKind::Usage, message).advise("name a folder as the target"));
    };
    let job = LoadJob::new(target, files, options, false)?;
    refuse_inputs_within(&job, folder)?;
    let columns = job.columns_named(column)?;
    options.observer.enter(Stage::Build);
    job.refuse_left_out()?;
    job.divide(folder, column, &columns, started)
}

/// Refuses options for one database.
fn refuse_others(options: &LoadOptions) -> Result<()> {
    let lists_conflicts = options.build.on_conflict == Conflict::Ignore && options.rejects.is_some();
    let others = [
        (OptionName::Append, options.append),
        (OptionName::ReplaceTables, options.replace_tables),
        (OptionName::Geometry, options.geometry.is_some()),
        (OptionName::Rejects, lists_conflicts),
    ];
    let Some((option, _)) = others.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let given = OptionName::SplitBy.alone().given();
    if option == OptionName::Rejects {
        let conflict = OptionName::OnConflict.word("ignore").given();
        let message = message![given, " does not list the rows that ", conflict, " leaves out"];
        let advice = message!["leave ", OptionName::Rejects.alone(), " out: the summary counts these rows"];
        return Err(Error::new(ErrorKind::Usage, message).advise(advice));
    }
    let message =
        message![given, " makes a folder of new databases, and ", option.alone().given(), " is for one database"];
    Err(Error::new(ErrorKind::Usage, message).advise("leave one of them out"))
}

/// Refuses to read files of the folder that is replaced.
fn refuse_inputs_within(job: &LoadJob<'_>, folder: &Path) -> Result<()> {
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(()) };
    let inputs = job.plan.tables.iter().flat_map(|table| &table.files).filter_map(PlannedFile::input);
    let is_within = |path: &&Path| fs::canonicalize(path).is_ok_and(|path| path.starts_with(&folder));
    match inputs.filter_map(Input::outer_path).find(is_within) {
        None => Ok(()),
        Some(source) => {
            let error = Error::new(ErrorKind::Usage, "the file is in the target folder").in_file(source);
            Err(error.advise("name another folder for the databases"))
        }
    }
}

impl LoadJob<'_> {
    /// Returns the note of a plan whose rows are divided. Their values are known once they are read.
    pub(super) fn note_about_division(&self, target: &Target) -> Result<Option<Message>> {
        let Some(column) = &self.options.split_by else { return Ok(None) };
        refuse_others(self.options)?;
        if let Target::File(folder) = target {
            refuse_inputs_within(self, folder)?;
        }
        self.columns_named(column)?;
        let given = OptionName::SplitBy.alone().given();
        Ok(Some(message![given, " makes a database of each value; the sizes are those of one database with all rows"]))
    }

    /// Returns the position of the column in each table that gets rows.
    fn columns_named(&self, column: &str) -> Result<Vec<usize>> {
        let tables = self.plan.tables.iter().map(|planned| &self.plan.schema.tables[planned.table]);
        tables.map(|table| ordinary_column(table, column)).collect()
    }

    /// Makes the databases.
    fn divide(&self, folder: &Path, column: &str, columns: &[usize], started: Instant) -> Result<LoadReport> {
        let rejects = Rejects::new(self.options.rejects.as_deref(), self.options.build.overwrite, self.max_rejects())?;
        let (sources, rejects) = self.sources(rejects)?;
        let before_publishing = || rejects.finish();
        let listed = sources.iter().zip(columns);
        let tables: Vec<SplitTable<'_>> =
            listed.map(|((table, source), column)| SplitTable { table: *table, column: *column, source }).collect();
        let build = self.build_options();
        let measured = Measured::begin(&*self.options.observer, self.meter());
        let made = split(folder, &self.plan.schema, &tables, &build, &before_publishing);
        drop(measured);
        self.options.observer.enter(Stage::Over);
        let made = made.map_err(|error| self.explain_divided(&sources, error))?;
        rejects.publish()?;
        let SplitDatabases { finished, databases, largest, .. } = made;
        let build = BuildReport::new(finished, Some(folder.to_owned()), started, build);
        let mut report = self.report(build, &sources, &rejects);
        report.split = Some(SplitReport { column: column.to_owned(), databases, largest });
        Ok(report)
    }

    /// Adds to an error the file that it is about, and that rows which break a key are never rejected here.
    fn explain_divided(&self, sources: &[TableSource], error: Error) -> Error {
        let error = self.explain(sources, error);
        if !breaks_constraint(&error) || self.on_error != OnError::Reject {
            return error;
        }
        let given = OptionName::SplitBy.alone();
        error.advise(message![
            "with ",
            given,
            ", rows that break a key or a CHECK are not rejected: keep the first of them with ",
            OptionName::OnConflict.word("ignore")
        ])
    }
}

/// Returns the position of an ordinary column of a table.
fn ordinary_column(table: &Table, column: &str) -> Result<usize> {
    let found = table.column(column);
    match found {
        Some(position) if table.columns[position].generated == Generated::No => Ok(position),
        Some(_) => {
            let error = Error::new(ErrorKind::Usage, "the column is computed from others").in_column(column);
            Err(error.in_table(&table.name).advise(message!["name a column of the files: ", names(table)]))
        }
        None => {
            let message = message![format!("there is no column '{column}' to divide the rows by")];
            let error = Error::new(ErrorKind::Usage, message).in_table(&table.name);
            let advice = message!["every table needs it; this one has ", names(table)];
            Err(error.advise(advice))
        }
    }
}

/// Lists the first ordinary columns of a table.
fn names(table: &Table) -> String {
    const MOST: usize = 20;
    let names: Vec<&str> = table.ordinary_columns().map(|column| &*table.columns[column].name).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    names[..names.len().min(MOST)].join(", ") + more
}
