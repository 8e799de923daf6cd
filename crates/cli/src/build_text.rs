//! The summary of a finished database for people: three lines, or all that is known. Rows left out and values changed are told in
//! both.

use crate::append_text::append_text;
use crate::commands::check_text;
use crate::text_table::{Align, format_table};
use litepress::{
    BuildReport, CheckResult, Choice, Conflict, Flags, LoadReport, MergeReport, Message, PlannedColumn, StitchReport,
    units,
};
use litepress_rows::{escaped, quoted_name};
use std::time::Duration;

/// Number of files that a summary describes.
const MOST_FILES: usize = 20;
/// Number of names that a line of the summary lists.
const MOST_NAMES: usize = 20;

/// Describes a finished database for people.
pub fn build_text(report: &BuildReport, verbose: bool) -> String {
    if verbose { details(report) } else { short(report) + &tables_in_short(report) }
}

/// Describes a database that was loaded, for people.
pub fn load_text(report: &LoadReport, verbose: bool) -> String {
    let summary = match (verbose, &report.inferred[..]) {
        _ if report.build.appended.is_some() => appended(report, verbose),
        (false, _) if report.split.is_some() => divided(report) + &tables_in_short(&report.build),
        (true, _) => details(&report.build) + &split_text(report) + &types(report),
        (false, [(_, decisions)]) if report.build.summary.tables.len() == 1 => {
            let columns = decisions.iter().map(|decision| {
                let [name, declared, _] = PlannedColumn::from(decision).in_words(&Flags);
                // A comma in a name would look like the end of a column.
                let name = if name.contains([',', ' ']) { quoted_name(&name) } else { name };
                format!("{name} {declared}")
            });
            short(&report.build) + &listed("columns", &columns.collect::<Vec<_>>())
        }
        (false, _) => short(&report.build) + &tables_in_short(&report.build),
    };
    summary + &notes(report, verbose) + &verify_text(&report.build)
}

/// Describes a database that was merged, for people.
pub fn merge_text(report: &MergeReport, verbose: bool) -> String {
    let mut text = build_text(&report.build, verbose);
    let of = units::counted(report.databases as u64, "database");
    text += &format!("merged {of}, {}\n", units::bytes(report.database_bytes));
    text += &ignored_text(report.ignored, report.build.options.on_conflict);
    text + &dropped_text(report.build.dropped.iter()) + &notes_text(&report.notes) + &verify_text(&report.build)
}

/// Describes a database that was stitched from parts.
pub fn stitch_text(report: &StitchReport, verbose: bool) -> String {
    let mut text = build_text(&report.build, verbose);
    let of = units::counted(report.parts as u64, "part");
    text += &format!("stitched {of}, {}\n", units::bytes(report.part_bytes));
    text + &dropped_text(report.build.dropped.iter()) + &notes_text(&report.notes) + &verify_text(&report.build)
}

/// Describes rows that were added to a database that exists, and the types of what was added to its schema.
fn appended(report: &LoadReport, verbose: bool) -> String {
    let text = report.build.appended.as_ref().map(|appended| append_text(&report.build, appended, verbose));
    text.unwrap_or_default() + &if verbose { types(report) } else { String::new() }
}

/// Describes rows that were divided between databases, in three lines.
fn divided(report: &LoadReport) -> String {
    short(&report.build) + &split_text(report)
}

/// Describes the databases that rows were divided between; empty if they were not.
fn split_text(report: &LoadReport) -> String {
    let Some(split) = &report.split else { return String::new() };
    let databases = units::counted(split.databases, "database");
    let largest =
        split.largest.as_ref().map(|(name, rows)| format!(", the largest: {name}, {}", units::counted(*rows, "row")));
    format!("{databases}, one for each value of {}{}\n", escaped(&split.column), largest.unwrap_or_default())
}

/// Describes the check of a finished database; empty if there was none.
pub fn verify_text(report: &BuildReport) -> String {
    let describe = |result: &CheckResult| format!("verify: {}", check_text(result));
    report.verified.as_ref().map(describe).unwrap_or_default()
}

/// The label of the line with times, aligned with those of tables and columns.
pub const LABEL_OF_TIME: &str = "time:    ";

/// Describes size and time in two lines.
fn short(report: &BuildReport) -> String {
    /// The rate of a shorter run says nothing.
    const SHORTEST: Duration = Duration::from_millis(100);
    let summary = &report.summary;
    let file =
        report.file.as_ref().map_or("discarded".to_owned(), |file| escaped(&file.display().to_string()).into_owned());
    let rows = units::counted(summary.rows, "row");
    let tables = units::counted(summary.tables.len() as u64, "table");
    let rate = units::rate(units::per_second(summary.rows, report.wall));
    let rate = if report.wall < SHORTEST { String::new() } else { format!("{rate} rows/s, ") };
    let (time, memory) = (units::duration(report.wall), units::memory(summary.peak_memory_bytes));
    format!(
        "{file}: {rows} in {tables}, {}\n{LABEL_OF_TIME}{time}, {rate}{memory} of memory at its peak\n",
        units::bytes(summary.bytes)
    )
}

/// Lists the tables in a line.
fn tables_in_short(report: &BuildReport) -> String {
    let tables = report.summary.tables.iter();
    listed("tables", &tables.map(|table| format!("{} {}", table.name, units::grouped(table.rows))).collect::<Vec<_>>())
}

/// Lists words in a line of at most a terminal's width, with the number of those that have no room.
fn listed(name: &str, words: &[String]) -> String {
    const WIDTH: usize = 80;
    let label = format!("{name}:");
    let line = |shown: usize| {
        let list = words.iter().take(shown).map(|word| escaped(word)).collect::<Vec<_>>().join(", ");
        match words.len() - shown {
            0 => format!("{label:<9}{list}; -v shows more\n"),
            rest => format!("{label:<9}{list} and {} more; -v shows all\n", units::grouped(rest as u64)),
        }
    };
    let fits = |shown: &usize| line(*shown).chars().count() <= WIDTH;
    if fits(&words.len()) {
        return line(words.len());
    }
    line((1..words.len()).take_while(fits).last().unwrap_or(1))
}

/// Describes everything that is known.
fn details(report: &BuildReport) -> String {
    let summary = &report.summary;
    let mut tables = vec![["table", "rows", "record bytes", "time"].map(str::to_owned).to_vec()];
    tables.extend(summary.tables.iter().map(|table| {
        let rows = units::grouped(table.rows);
        let bytes = table.payload_bytes.map_or("by SQLite".to_owned(), units::bytes);
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

/// Describes the rows that the policy for conflicts left out; empty if there are none.
fn ignored_text(rows: u64, policy: Conflict) -> String {
    let why = match policy {
        Conflict::Abort => "an ON CONFLICT clause of the schema".to_owned(),
        policy => format!("--on-conflict {}", policy.name()),
    };
    if rows == 0 { String::new() } else { format!("left out {} for {why}\n", units::counted(rows, "row")) }
}

/// Lists what went with the file or the tables that were replaced; empty if that is nothing.
pub fn dropped_text<'d>(dropped: impl Iterator<Item = &'d String>) -> String {
    let dropped: Vec<&String> = dropped.collect();
    if dropped.is_empty() { String::new() } else { format!("dropped: {}\n", first_of(&dropped)) }
}

/// Lists the first of many names, and counts the others.
fn first_of<T: AsRef<str>>(names: &[T]) -> String {
    let first: Vec<_> = names.iter().take(MOST_NAMES).map(|name| escaped(name.as_ref())).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        rest => format!("{} and {} more: --json lists all", first.join(", "), units::grouped(rest as u64)),
    }
}

/// Describes the inferred types and their reasons.
fn types(report: &LoadReport) -> String {
    let mut text = String::new();
    for (table, decisions) in &report.inferred {
        let words = |column: PlannedColumn| column.in_words(&Flags).to_vec();
        let columns: Vec<Vec<String>> = decisions.iter().map(|decision| words(decision.into())).collect();
        text += &format!("\ntable {}\n{}", escaped(table), format_table(&columns, &[Align::Left; 3], 2));
    }
    text
}

/// Describes how files were read, as far as it is not what everybody expects, or if `verbose`.
fn files(report: &LoadReport, verbose: bool) -> String {
    let mut text = String::new();
    let told: Vec<_> = report.files.iter().filter(|file| verbose || file.is_unusual()).collect();
    for file in told.iter().take(MOST_FILES) {
        text.extend(file.to_text().map(|line| escaped(&line).into_owned() + "\n"));
    }
    if let Some(more) = told.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        text += &format!("and {}: --json describes all\n", units::counted(more as u64, "more file"));
    }
    for file in &report.empty_files {
        text += &format!("left out {}: it is empty\n", escaped(&file.display().to_string()));
    }
    text
}

/// Describes the records, values and objects that were left out or changed.
fn notes(report: &LoadReport, verbose: bool) -> String {
    let mut text = files(report, verbose);
    let LoadReport { rejected, nulls, cut_texts, renumbered, .. } = report;
    if *rejected > 0 {
        text += &format!("left out {}\n", units::counted(*rejected, "wrong record"));
    }
    let changed = [
        (report.skipped, "left out", "without any value"),
        (report.cut_records, "cut", "that have more fields than there are columns"),
        (report.stray_quotes, "took quotes in the wrong place as text in", ""),
    ];
    for (count, action, which) in changed.into_iter().filter(|(count, ..)| *count > 0) {
        text += format!("{action} {} {which}", units::counted(count, "record")).trim_end();
        text.push('\n');
    }
    text += &repeated_headers(report);
    if *nulls > 0 {
        text += &format!("stored NULL in place of {} that the column does not take\n", units::counted(*nulls, "value"));
    }
    if *cut_texts > 0 {
        text += &format!(
            "cut {} in numeric columns at a NUL character, as SQLite does: only the number before it is stored; declare \
             the columns TEXT to keep the texts\n",
            units::counted(*cut_texts, "text")
        );
    }
    if report.build.appended.is_none() {
        text += &ignored_text(report.ignored, report.build.options.on_conflict);
    }
    text += &dropped_text(report.build.dropped.iter().chain(&report.dropped));
    text += &notes_text(&report.notes);
    text += &left_out_text(&report.left_out);
    if !renumbered.is_empty() {
        text += &format!("rowids that no column holds are numbered from 1: {}\n", first_of(renumbered));
    }
    text
}

fn repeated_headers(report: &LoadReport) -> String {
    let LoadReport { repeated_headers, ended_by, .. } = report;
    let is_left_out = |place: &&String| !ended_by.contains(place);
    let left_out: Vec<String> = repeated_headers.iter().filter(is_left_out).cloned().collect();
    let mut text = String::new();
    if !left_out.is_empty() {
        let records = units::counted(left_out.len() as u64, "record");
        text += &format!("left out {records} like the header: {}\n", first_of(&left_out));
    }
    if !ended_by.is_empty() {
        let places = first_of(ended_by);
        text += &format!("stopped at a record that repeats the header, and loaded nothing below it: {places}\n");
    }
    text
}

/// Lists notes for people, a line each.
pub fn notes_text(notes: &[Message]) -> String {
    notes.iter().map(|note| format!("note: {}\n", escaped(&note.in_words(&Flags)))).collect()
}

/// Lists the objects of databases that are not copied, for people; empty if there are none.
pub fn left_out_text(left_out: &[String]) -> String {
    match left_out {
        [] => String::new(),
        objects => format!("left out, because they cannot be copied: {}\n", first_of(objects)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_one_line() {
        let words: Vec<String> = (0..1000).map(|number| format!("column{number} INTEGER")).collect();
        let line = listed("columns", &words);
        assert!(line.len() <= 80 && line.ends_with("column1 INTEGER and 998 more; -v shows all\n"), "{line}");
        assert_eq!(listed("tables", &["a\nb 1".to_owned()]), "tables:  a\\nb 1; -v shows more\n");
        assert_eq!(listed("tables", &["x".repeat(100)]), format!("tables:  {}; -v shows more\n", "x".repeat(100)));
        assert_eq!(listed("tables", &[]), "tables:  ; -v shows more\n");
    }
}
