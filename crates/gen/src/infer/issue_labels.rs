//! Labels of issues, which suit their titles: a wish is an enhancement, and what is slow has to do with performance.

use super::names::{is_like, plain};
use super::subjects::subject;
use super::{Inference, branches, inferred, quoted};
use crate::generators::phrases;
use litepress_rows::schema::Table;

/// Labels of issues by the first words of their titles, the most usual first. All lists have as many.
const LABELS: [(&str, [&str; 9]); 4] = [
    (
        "Add All Key",
        [
            "enhancement",
            "feature",
            "help wanted",
            "good first issue",
            "question",
            "duplicate",
            "wontfix",
            "tests",
            "refactoring",
        ],
    ),
    (
        "Typ",
        [
            "documentation",
            "good first issue",
            "translation",
            "help wanted",
            "duplicate",
            "bug",
            "question",
            "tests",
            "invalid",
        ],
    ),
    (
        "Tim",
        ["performance", "bug", "refactoring", "help wanted", "duplicate", "tests", "question", "wontfix", "security"],
    ),
    (
        "",
        [
            "bug",
            "help wanted",
            "duplicate",
            "tests",
            "invalid",
            "question",
            "good first issue",
            "wontfix",
            "refactoring",
        ],
    ),
];

/// Returns whether the rows of a table are all labels of a tracker, in the order of their list.
fn are_labels(table: &Table, rows: u64) -> bool {
    subject(&table.name).is_some_and(|of| of.names == "label")
        && rows == phrases::count("label")
        && table.rowid_alias.is_some()
        && table.foreign_keys.is_empty()
}

/// Infers the key of a label of the issue that the column `by` refers to: another one for each of its rows.
pub(crate) fn label_of_issue([labels, issues]: [&Table; 2], rows: u64, by: &str) -> Option<Inference> {
    let is_issue = subject(&issues.name).is_some_and(|of| of.names == "issue");
    let title = issues.columns.iter().find(|column| is_like(&plain(&column.name), "title subject name"))?;
    if !is_issue || !are_labels(labels, rows) {
        return None;
    }
    let all = phrases::items("label");
    let key = |label: &&str| all.iter().position(|of| of == label).map_or(1, |at| at + 1);
    let (by, title) = (quoted(by), quoted(&title.name));
    let of_kind = |(begins, labels): &(&str, [&str; 9])| {
        let count = labels.len();
        let first = format!("same_in({by}, choice(0: 60, 1: 20, {}: 20))", count - 1);
        let cases = branches(0, (0..count).map(|at| key(&labels[(at + count - 1) % count])));
        let label = format!("CASE (number_in({by}) + {first}) % {count}{cases} END");
        match *begins {
            "" => format!(" ELSE {label}"),
            begins => {
                let begins: Vec<String> = begins.split(' ').map(|begin| format!("'{begin}'")).collect();
                format!(" WHEN substr({by}.{title}, 1, 3) IN ({}) THEN {label}", begins.join(", "))
            }
        }
    };
    let cases: String = LABELS.iter().map(of_kind).collect();
    Some(inferred(format!("CASE{cases} END"), "a label that suits the title of the issue"))
}
