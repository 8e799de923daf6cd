//! The dry run of a merge: schemas are compared, rows are sampled, and the keys of rows that may conflict are compared as the merge does
//! it. Nothing is written but temporary files.

use super::{MergeOptions, build_options, databases, plan_options};
use crate::load::notes::foreign_keys;
use crate::observer::Stage;
use crate::plan_report::{MergedDatabases, PlanReport, PlannedColumn, TableOrigin, TableReport};
use crate::{Database, Error, ErrorKind, Mismatches, Options, Result, Target, Verify};
use litepress_engine::plan::{needs_sqlite, plan_objects};
use litepress_engine::{Estimate, PageSize, rehearse_build};
use litepress_merge::{MergePlan, MergeSample, TableForecast};
use litepress_rows::{Message, Source, Table};
use std::path::PathBuf;

/// Returns what [`merge`](super::merge) would do, and why: numbers of rows, the fate of rowids, and all differences between schemas. If rows
/// of several databases may have one key, all rows of their tables are read. Without a target nothing is said of the disk.
///
/// # Errors
/// All mistakes in the options; databases that cannot be read; whatever else makes the merge fail before its first row. A target that
/// exists is no error, because it may be replaced later.
pub fn plan_merge(
    target: Option<Target>,
    files: impl IntoIterator<Item = impl Into<PathBuf>>,
    options: &MergeOptions,
) -> Result<PlanReport> {
    options.observer.enter(Stage::Inspect);
    let files = databases(target.as_ref(), files, options)?;
    let progress = options.build.progress.clone();
    let mut plan = MergePlan::new(&files, &plan_options(options, true), &|| progress.go_on())?;
    let differences = plan.take_differences();
    let build = build_options(&plan, options);
    if differences.is_empty() {
        let file = if let Some(Target::File(file)) = &target { Some(file.as_path()) } else { None };
        rehearse_build(plan.schema(), file, &build, &[]).map_err(|error| plan.explain(error))?;
    }
    let samples = samples(&plan)?;
    let listed: Vec<(usize, &dyn Source)> =
        samples.iter().map(|(table, sample)| (*table, sample as &dyn Source)).collect();
    let place = target.clone().unwrap_or(Target::Discard);
    let estimate = Estimate::new(plan.schema(), &listed, &place, &build)?;
    let mut tables = tables(&plan, &samples);
    let mut notes = plan.notes().to_vec();
    notes.extend(foreign_keys(plan.schema(), build.verify));
    let found = match differences.is_empty() {
        true => compare_keys(&plan, &build, &mut tables, &mut notes)?,
        false => Mismatches { count: differences.len() as u64, first: differences, is_fatal: true, ignored: 0 },
    };
    options.observer.enter(Stage::Over);
    Ok(PlanReport {
        target,
        rows: tables.iter().filter(|(_, table)| table.rows.is_some()).map(|(_, table)| table.rows).sum(),
        page_size: page_size(&plan, &build),
        estimate,
        steps: plan_objects(plan.schema(), build.on_conflict),
        append: None,
        databases: Some(MergedDatabases { count: plan.shards(), bytes: plan.bytes() }),
        left_out: None,
        dropped: Vec::new(),
        tables: tables.into_iter().map(|(_, table)| table).collect(),
        mismatches: Some(found),
        notes,
        options: build,
        schema: plan.schema().clone(),
    })
}

/// Returns the page size of the merged database.
fn page_size(plan: &MergePlan, build: &Options) -> PageSize {
    let of_schema = plan.schema().settings.page_size.and_then(PageSize::new);
    build.page_size.or(of_schema).unwrap_or(PageSize::DEFAULT)
}

/// Samples the tables with rows of their own.
fn samples(plan: &MergePlan) -> Result<Vec<(usize, MergeSample)>> {
    let of_table = |position| plan.sample(position).map(|sample| Some((position, sample?))).transpose();
    (0..plan.schema().tables.len()).filter_map(of_table).collect()
}

/// Describes the tables.
fn tables(plan: &MergePlan, samples: &[(usize, MergeSample)]) -> Vec<(TableForecast, TableReport)> {
    let describe = |(position, table): (usize, &Table)| {
        let forecast = plan.forecast(position);
        let sample = samples.iter().find(|(sampled, _)| *sampled == position);
        let report = TableReport {
            name: table.name.clone(),
            rows: sample.and_then(|(_, sample)| sample.rows()),
            origin: TableOrigin::Merged { databases: forecast.databases, rowids: forecast.rowids },
            columns: table.ordinary_columns().map(|column| planned_column(table, column, &forecast)).collect(),
        };
        (forecast, report)
    };
    plan.schema().tables.iter().enumerate().map(describe).collect()
}

/// Describes the values of a column.
fn planned_column(table: &Table, at: usize, forecast: &TableForecast) -> PlannedColumn {
    let parent = forecast.following.iter().find(|(column, _)| *column == at).map(|(_, parent)| parent);
    let because: Message = match parent {
        Some(parent) => format!("follows the renumbered rowids of {parent}").into(),
        None if forecast.source_column == Some(at) => "the path of each row's database".into(),
        None => "as in the databases".into(),
    };
    let column = &table.columns[at];
    PlannedColumn::Loaded { name: column.name.clone(), declared_type: column.declared_type.clone(), because }
}

/// The outcome of a table whose keys were compared.
enum Compared {
    /// Its numbers of rows that come in and that are left out.
    Rows { rows: u64, left_out: u64 },
    /// The first row that ends the merge.
    Refused(Error),
    /// SQLite inserts the rows, and nobody knows before.
    BySqlite,
}

/// Compares the keys of all tables of which rows may conflict. Sets their numbers of rows.
fn compare_keys(
    plan: &MergePlan,
    build: &Options,
    tables: &mut [(TableForecast, TableReport)],
    notes: &mut Vec<Message>,
) -> Result<Mismatches> {
    let (mut found, mut estimated, mut unknown) = (Mismatches::default(), Vec::new(), Vec::new());
    for (position, (forecast, report)) in tables.iter_mut().enumerate() {
        if !forecast.hangs_on_rows {
            estimated.extend(report.rows.filter(|rows| *rows > 0).map(|_| report.name.clone()));
            continue;
        }
        match compare(plan, position, build)? {
            Compared::Rows { rows, left_out } => {
                report.rows = Some(rows);
                found.ignored += left_out;
            }
            Compared::Refused(error) => {
                found.count += 1;
                found.first.push(error);
                estimated.push(report.name.clone());
            }
            Compared::BySqlite => unknown.push(report.name.clone()),
        }
    }
    found.is_fatal = found.count > 0;
    if !estimated.is_empty() {
        notes.push(format!("numbers of rows are estimated from some pages: {}", estimated.join(", ")).into());
    }
    if !unknown.is_empty() {
        let list = unknown.join(", ");
        notes.push(format!("SQLite inserts rows one after another, and their keys were not compared: {list}").into());
    }
    Ok(found)
}

/// Builds the trees of a table and its unique indexes, and drops their pages.
fn compare(plan: &MergePlan, position: usize, build: &Options) -> Result<Compared> {
    let mut schema = plan.schema().clone();
    let mut table = schema.tables[position].clone();
    table.indexes.retain(|index| index.unique);
    (schema.tables, schema.objects) = (vec![table], Vec::new());
    if needs_sqlite(&schema, build.on_conflict) {
        return Ok(Compared::BySqlite);
    }
    let Some(source) = plan.source(position) else { return Ok(Compared::BySqlite) };
    let mut options = build.clone();
    (options.analyze, options.verify, options.expected_bytes) = (false, Verify::None, 0);
    let mut database = Database::create(&Target::Discard, schema, &options)?;
    match database.fill(0, &source) {
        Ok(()) => {
            let summary = database.finish()?.summary;
            let (rows, left_out) = summary.tables.first().map_or((0, 0), |table| (table.rows, table.left_out));
            Ok(Compared::Rows { rows, left_out })
        }
        Err(error) if matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Data) => {
            Ok(Compared::Refused(plan.explain(error)))
        }
        Err(error) => Err(error),
    }
}
