//! The summary of rows that were added to a database that exists, for people.

use crate::build_text::LABEL_OF_TIME;
use crate::text_table::{Align, format_table};
use litepress::{AppendReport, AppendedTable, BuildReport, RoutePlan, units};
use litepress_rows::escaped;

/// Describes the added rows, and the time during which others waited.
pub fn append_text(report: &BuildReport, appended: &AppendReport, verbose: bool) -> String {
    let file = report.file.as_ref().map(|file| escaped(&file.display().to_string()).into_owned()).unwrap_or_default();
    let tables = appended.tables.iter().map(|table| format!("{} {}", escaped(&table.plan.table), rows(table)));
    let lines: String = tables.map(|line| format!("  {line}\n")).collect();
    let [locked, commit, wall] = [appended.locked, appended.commit, report.wall].map(units::duration);
    let memory = units::memory(report.summary.peak_memory_bytes);
    let mut text = format!(
        "{file}: {} in {}, now {}\n{lines}{LABEL_OF_TIME}{wall}, writers waited {locked}, COMMIT {commit}, {memory} of memory at its peak\n",
        units::counted(report.summary.rows, "row"),
        units::counted(appended.tables.len() as u64, "table"),
        units::bytes(report.summary.bytes),
    );
    if verbose {
        text += &format!("journal mode {}\n", appended.journal_mode);
        text += &routes_text(appended.tables.iter().map(|table| &table.plan));
    }
    text
}

/// Returns the numbers of rows of a table: `5 added, 2 updated, 1 ignored`.
fn rows(table: &AppendedTable) -> String {
    let what = match (table.updated, table.plan.is_new) {
        (None, _) => "added, updated or replaced",
        (Some(_), false) => "added",
        (Some(_), true) => "in a new table",
    };
    let mut text = format!("{} {what}", units::grouped(table.added));
    for (count, what) in [(table.updated.unwrap_or(0), "updated"), (table.ignored, "ignored")] {
        if count > 0 {
            text += &format!(", {} {what}", units::grouped(count));
        }
    }
    text
}

/// Lists the routes of tables, and why.
pub fn routes_text<'p>(plans: impl Iterator<Item = &'p RoutePlan>) -> String {
    let words = |plan: &RoutePlan| {
        let table = if plan.is_new { format!("{} (new)", plan.table) } else { plan.table.clone() };
        vec![table, plan.route.name().to_owned(), plan.why.clone()]
    };
    let mut rows = vec![["table", "route", "why"].map(str::to_owned).to_vec()];
    rows.extend(plans.map(words));
    format_table(&rows, &[Align::Left; 3], 2)
}
