//! Compares the totals of all b-trees after the walk: each index with its table, `sqlite_sequence` with the rowids.

use super::context::CheckContext;
use super::plan::{Pair, Plan};
use super::sqlite::SqliteSchema;
use super::tree::{Totals, Tree};
use litepress_rows::sync::lock;

/// Compares every index with its table.
pub(super) fn indexes(context: &CheckContext<'_>, plan: &Plan) {
    for pair in &plan.pairs {
        let (table, index) = (&plan.trees[pair.table], &plan.trees[pair.index]);
        let (rows, entries) = (lock(&table.totals).clone(), lock(&index.totals).clone());
        if rows.incomplete || entries.incomplete {
            context.faults.note(format!("{}: entries against rows (not all could be read)", index.object()));
        } else if let Some(what) = disagreement(pair, &rows, &entries) {
            context.faults.add(|| index.fault(None, None, format!("{what} of {}", table.object())));
        } else if pair.digests.clone().any(|digest| rows.sums[digest].is_none() || entries.sums[0].is_none()) {
            context.faults.note(format!("{}: entries against rows (some could not be compared)", index.object()));
        }
    }
}

fn disagreement(pair: &Pair, rows: &Totals, entries: &Totals) -> Option<String> {
    if pair.is_full && entries.entries != rows.entries {
        return Some(format!("{} entries for the {} rows", entries.entries, rows.entries));
    }
    if entries.entries > rows.entries {
        return Some(format!("{} entries for only {} rows", entries.entries, rows.entries));
    }
    let in_table: Option<Vec<u128>> = rows.sums[pair.digests.clone()].iter().copied().collect();
    let (in_table, in_index) = (in_table.filter(|sums| !sums.is_empty())?, entries.sums[0]?);
    (!in_table.contains(&in_index)).then(|| "the entries do not hold what the rows hold".to_owned())
}

/// Notes AUTOINCREMENT tables whose number in `sqlite_sequence` is missing or smaller than their largest rowid. This
/// is legal, because every program may change `sqlite_sequence`: SQLite goes on from the larger of the two.
pub(super) fn sequences(context: &CheckContext<'_>, plan: &Plan, sqlite: Option<&SqliteSchema>) {
    let Some(sqlite) = sqlite.filter(|_| !plan.autoincrements.is_empty()) else { return };
    let sequences = match sqlite.sequences() {
        Ok(sequences) => sequences,
        Err(error) => return context.sqlite_failed(None, "SQLite cannot read sqlite_sequence", &error),
    };
    for tree in plan.autoincrements.iter().map(|position| &plan.trees[*position]) {
        let Some(largest) = lock(&tree.totals).max_rowid else { continue };
        let problem = match sequences.get(&tree.name) {
            None => format!("sqlite_sequence has no row for it, its largest rowid is {largest}"),
            Some(None) => "sqlite_sequence has no number for it".to_owned(),
            Some(Some(sequence)) if *sequence < largest => {
                format!("sqlite_sequence has {sequence}, less than its largest rowid {largest}")
            }
            Some(Some(_)) => continue,
        };
        context.faults.note(format!("{}: {problem}", tree.object()));
    }
}

/// Notes the values in records that are legal but unusual.
pub(super) fn note_warnings(context: &CheckContext<'_>, trees: &[&Tree]) {
    for tree in trees {
        tree.rules.warnings().for_each(|saying| context.faults.note(format!("{}: {saying}", tree.object())));
    }
}
