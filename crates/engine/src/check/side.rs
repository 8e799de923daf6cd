//! Checks everything beside the b-trees: freelist, pointer map, lock-byte page, `sqlite_sequence`, and the totals that
//! must agree in the end.

use super::inspection::Inspection;
use super::plan::{Pair, Plan};
use super::ptrmap::MapReader;
use super::sqlite::Oracle;
use super::tree::{Totals, Tree};
use crate::threads::lock;
use litepress_format::freelist::Trunk;
use litepress_format::ptrmap::{Entry, EntryKind, entries_per_page, map_page_of};
use litepress_rows::Result;

/// Marks the pages whose numbers are fixed. Returns the number of pointer-map pages.
pub(super) fn claim_fixed_pages(inspection: &Inspection<'_>) -> u64 {
    let lock_byte_page = inspection.lock_byte_page();
    if inspection.file.has(lock_byte_page) {
        inspection.reached.claim(lock_byte_page);
    }
    if !inspection.has_pointer_map() {
        return 0;
    }
    let distance = entries_per_page(inspection.file.usable) as u64 + 1;
    let mut map_pages = 0;
    let mut at = 2;
    while at <= u64::from(inspection.file.count) {
        let page = u32::try_from(at).ok().and_then(|at| map_page_of(at, inspection.file.usable, lock_byte_page));
        if let Some(page) = page.filter(|page| inspection.file.has(*page)) {
            inspection.reached.claim(page);
            map_pages += 1;
        }
        at += distance;
    }
    map_pages
}

/// Walks the freelist. Returns the number of its pages.
pub(super) fn freelist(inspection: &Inspection<'_>) -> Result<u64> {
    let mut map = MapReader::default();
    let mut bytes = Vec::new();
    let (mut pages, mut from) = (0, 1);
    let mut trunk_page = inspection.header.first_freelist_trunk;
    while trunk_page != 0 && claim_free(inspection, trunk_page, from, &mut map)? {
        pages += 1;
        inspection.file.read(trunk_page, 1, &mut bytes)?;
        let trunk = match Trunk::decode(&bytes, inspection.file.usable) {
            Ok(trunk) => trunk,
            Err(error) => {
                inspection.faults.add_to_file(Some(trunk_page), Some(error.offset()), error.what());
                break;
            }
        };
        for leaf in trunk.leaves() {
            pages += u64::from(claim_free(inspection, leaf, trunk_page, &mut map)?);
        }
        (from, trunk_page) = (trunk_page, trunk.next);
    }
    if pages != u64::from(inspection.header.freelist_pages) {
        let what =
            format!("the header counts {} pages on the freelist, it has {pages}", inspection.header.freelist_pages);
        inspection.faults.add_to_file(Some(1), Some(36), what);
    }
    inspection.advance(pages)?;
    Ok(pages)
}

fn claim_free(inspection: &Inspection<'_>, page: u32, from: u32, map: &mut MapReader) -> Result<bool> {
    if let Some(problem) = inspection.claim_quietly(page) {
        inspection.faults.add_to_file(Some(from), None, format!("the freelist has page {page}, {problem}"));
        return Ok(false);
    }
    map.expect(inspection, page, Entry { kind: EntryKind::FreePage, parent: 0 })?;
    Ok(true)
}

/// Checks the largest root page, which the header of an auto-vacuum database gives.
pub(super) fn largest_root(inspection: &Inspection<'_>, plan: &Plan) {
    let largest = plan.trees.iter().map(|tree| tree.root).max().unwrap_or(1).max(1);
    let counted = inspection.header.largest_root_page;
    if inspection.has_pointer_map() && counted != largest {
        let what = format!("the largest root page is {counted} in the header, {largest} in the schema");
        inspection.faults.add_to_file(Some(1), Some(52), what);
    }
}

/// Reports the pages that nothing points to.
pub(super) fn orphans(inspection: &Inspection<'_>) {
    for range in inspection.reached.orphans() {
        let (first, last) = range.into_inner();
        let what = match last - first {
            0 => "orphan: nothing points to this page".to_owned(),
            _ => format!("orphans: nothing points to the pages {first} to {last}"),
        };
        inspection.faults.add_to_file(Some(first), None, what);
    }
}

/// Compares every index with its table.
pub(super) fn indexes(inspection: &Inspection<'_>, plan: &Plan) {
    for pair in &plan.pairs {
        let (table, index) = (&plan.trees[pair.table], &plan.trees[pair.index]);
        let (rows, entries) = (lock(&table.totals).clone(), lock(&index.totals).clone());
        if rows.incomplete || entries.incomplete {
            inspection.faults.note(format!("{}: entries against rows (not all could be read)", index.object()));
        } else if let Some(what) = disagreement(pair, &rows, &entries) {
            inspection.faults.add(|| index.fault(None, None, format!("{what} of {}", table.object())));
        } else if pair.digests.clone().any(|digest| rows.sums[digest].is_none() || entries.sums[0].is_none()) {
            inspection.faults.note(format!("{}: entries against rows (some could not be compared)", index.object()));
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
pub(super) fn sequences(inspection: &Inspection<'_>, plan: &Plan, oracle: Option<&Oracle>) {
    let Some(oracle) = oracle.filter(|_| !plan.autoincrements.is_empty()) else { return };
    let sequences = match oracle.sequences() {
        Ok(sequences) => sequences,
        Err(error) => {
            return inspection.faults.add_to_file(None, None, format!("SQLite cannot read sqlite_sequence: {error}"));
        }
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
        inspection.faults.note(format!("{}: {problem}", tree.object()));
    }
}

/// Notes the legal oddities in records.
pub(super) fn oddities(inspection: &Inspection<'_>, trees: &[&Tree]) {
    for tree in trees {
        tree.rules.oddities().for_each(|saying| inspection.faults.note(format!("{}: {saying}", tree.object())));
    }
}
