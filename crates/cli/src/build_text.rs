//! The summary of a finished database for people.

use crate::commands::check_text;
use crate::text_table::{Align, format_table};
use litepress::{BuildReport, CheckResult, Flags, LoadReport, Message, units};

/// Describes a finished database for people.
pub fn build_text(report: &BuildReport) -> String {
    let summary = &report.summary;
    let mut tables = vec![["table", "rows", "record bytes", "time"].map(str::to_owned).to_vec()];
    tables.extend(summary.tables.iter().map(|table| {
        let (rows, bytes) = (units::grouped(table.rows), units::bytes(table.payload_bytes));
        vec![table.name.clone(), rows, bytes, units::duration(table.build)]
    }));
    let rate = units::rate(units::per_second(summary.rows, report.wall));
    let megabytes = units::per_second(summary.bytes, report.wall) / 1e6;
    let stages = report.stages().map(|(name, time)| format!("{name} {}", units::duration(time))).join(", ");
    let file =
        report.file.as_ref().map_or("none: the pages were dropped".to_owned(), |file| file.display().to_string());
    let totals = [
        ("rows", units::grouped(summary.rows), format!("{rate} rows/s")),
        ("pages", units::grouped(summary.pages), format!("of {} bytes", summary.page_size_bytes)),
        ("bytes", units::grouped(summary.bytes), format!("{megabytes:.1} MB/s")),
        ("time", units::duration(report.wall), stages),
        ("memory", units::memory(summary.peak_memory_bytes), "at its peak".to_owned()),
    ]
    .map(|(name, value, note)| vec![name.to_owned(), value, note]);
    let tables = format_table(&tables, &[Align::Left, Align::Right, Align::Right, Align::Right], 0);
    let totals = format_table(&totals, &[Align::Left, Align::Right, Align::Left], 0);
    format!("{tables}\n{totals}file    {file}\n")
}

/// Describes the check of a finished database; empty if there was none.
pub fn verify_text(report: &BuildReport) -> String {
    let describe = |result: &CheckResult| format!("\nverify: {}", check_text(result));
    report.verified.as_ref().map(describe).unwrap_or_default()
}

/// Describes a database that was loaded, for people.
pub fn load_text(report: &LoadReport) -> String {
    build_text(&report.build) + &additions(report) + &verify_text(&report.build)
}

/// Describes the inferred types, then the records, values and objects that were left out or changed.
fn additions(report: &LoadReport) -> String {
    let mut text = String::new();
    for (table, decisions) in &report.inferred {
        let words = |column: litepress::PlannedColumn| column.in_words(&Flags).to_vec();
        let columns: Vec<Vec<String>> = decisions.iter().map(|decision| words(decision.into())).collect();
        text += &format!("table {table}\n{}", format_table(&columns, &[Align::Left; 3], 2));
    }
    text += &notes_text(&report.notes);
    let LoadReport { rejected, nulls, cut_texts, renumbered, .. } = report;
    if *rejected > 0 {
        text += &format!("left out {} records that are wrong\n", units::grouped(*rejected));
    }
    if *nulls > 0 {
        text += &format!("stored NULL in place of {} values that their columns do not take\n", units::grouped(*nulls));
    }
    if *cut_texts > 0 {
        text += &format!(
            "cut {} texts in numeric columns at a NUL character, as SQLite does: only the number before it is stored; declare \
             the columns TEXT to keep the texts\n",
            units::grouped(*cut_texts)
        );
    }
    text += &left_out_text(&report.left_out);
    if !renumbered.is_empty() {
        text += &format!("rowids that no column holds are numbered from 1: {}\n", renumbered.join(", "));
    }
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    text
}

/// Writes each note on a line.
pub fn notes_text(notes: &[Message]) -> String {
    notes.iter().map(|note| format!("note: {}\n", note.in_words(&Flags))).collect()
}

/// Lists the objects of databases that are not copied, for people; empty if there are none.
pub fn left_out_text(left_out: &[String]) -> String {
    match left_out {
        [] => String::new(),
        objects => format!("left out, for only tables are copied: {}\n", objects.join(", ")),
    }
}
