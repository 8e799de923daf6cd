//! Gives advice that follows from the objects of a database and the sizes of their b-trees.

use super::objects::Objects;
use litepress_check::{BtreeKind, BtreeReport, Report};
use litepress_rows::schema::{Index, IndexOrigin};
use serde_json::{Value, json};

/// A tree of fewer pages is not worth a word.
const FEWEST_PAGES: u64 = 32;
/// A tree that is less full than this could be smaller.
const LOW_FILL: f64 = 0.6;
/// The fill of pages whose entries were written in the order of their keys: no further entry fits.
const FULL_PERCENT: u64 = 97;
/// A tree with a smaller share of sequential leaves is fragmented.
const LOW_ORDER: f64 = 0.5;
/// A freelist of a larger share of the file is worth a word.
const MUCH_FREE: f64 = 0.05;

/// A sentence or two about an object.
#[derive(Debug)]
pub(crate) struct Advice {
    /// The index or table; `None` for the whole database.
    object: Option<String>,
    text: String,
    /// Bytes that the file would shrink by, as far as they can be computed.
    saved_bytes: u64,
}

impl Advice {
    pub(crate) fn to_json(&self) -> Value {
        json!({ "object": self.object, "text": self.text, "saved_bytes": self.saved_bytes })
    }
}

/// Returns all advice, that which saves most bytes first.
pub(crate) fn advice(report: &Report, objects: &Objects) -> Vec<Advice> {
    let mut advice: Vec<Advice> = free_pages(report).into_iter().collect();
    for tree in report.btrees.iter().filter(|tree| pages(tree) >= FEWEST_PAGES) {
        advice.extend(low_fill(report, tree));
        advice.extend(needless_rowids(report, objects, tree));
    }
    // A needless index makes every INSERT slower, so its size does not matter.
    let indexes = report.btrees.iter().filter(|tree| tree.kind == BtreeKind::Index);
    advice.extend(indexes.filter_map(|tree| repeated_prefix(report, objects, tree)));
    advice.extend(fragmented(report));
    advice.sort_by_key(|advice| std::cmp::Reverse(advice.saved_bytes));
    advice
}

fn pages(tree: &BtreeReport) -> u64 {
    tree.interior_pages + tree.leaf_pages + tree.overflow_pages
}

fn bytes(report: &Report, tree: &BtreeReport) -> u64 {
    pages(tree) * u64::from(report.page_size)
}

fn free_pages(report: &Report) -> Option<Advice> {
    let share = report.freelist_pages as f64 / report.pages.max(1) as f64;
    (share > MUCH_FREE).then(|| Advice {
        object: None,
        text: format!(
            "{:.0} % of the pages are free: rows that were deleted left them. litepress compact gives them back.",
            100.0 * share
        ),
        saved_bytes: report.freelist_pages * u64::from(report.page_size),
    })
}

/// Finds trees with half-empty pages, which rows in random order or deletions leave behind.
fn low_fill(report: &Report, tree: &BtreeReport) -> Option<Advice> {
    let all = bytes(report, tree);
    let fill = 1.0 - tree.free_bytes as f64 / all as f64;
    (fill < LOW_FILL).then(|| Advice {
        object: Some(tree.name.clone()),
        text: format!("Its pages are {:.0} % full. litepress compact makes full ones.", 100.0 * fill),
        saved_bytes: all.saturating_sub(full_bytes(report, all.saturating_sub(tree.free_bytes))),
    })
}

/// Returns the bytes of full pages that hold `used` bytes.
fn full_bytes(report: &Report, used: u64) -> u64 {
    let page = u64::from(report.page_size).max(1);
    used.saturating_mul(100).div_ceil(FULL_PERCENT * page) * page
}

/// Finds trees whose leaves lie apart in the file, the worst first.
fn fragmented(report: &Report) -> Option<Advice> {
    let share = |tree: &BtreeReport| tree.sequential_leaves as f64 / tree.leaf_pages.max(1) as f64;
    let mut found: Vec<&BtreeReport> =
        report.btrees.iter().filter(|tree| pages(tree) >= FEWEST_PAGES && share(tree) < LOW_ORDER).collect();
    found.sort_by(|left, right| share(left).total_cmp(&share(right)));
    let names = found.iter().map(|tree| format!("{} ({:.0} %)", tree.name, 100.0 * share(tree))).collect::<Vec<_>>();
    let text = format!(
        "Few leaves follow the leaf before them in the file, so a program that reads them in order jumps: {}. \
         litepress compact brings all into order, litepress reindex the indexes.",
        names.join(", ")
    );
    (!found.is_empty()).then_some(Advice { object: None, text, saved_bytes: 0 })
}

/// Finds an index whose columns begin another index of its table.
fn repeated_prefix(report: &Report, objects: &Objects, tree: &BtreeReport) -> Option<Advice> {
    let (table, index) = objects.index(&tree.name)?;
    // A constraint needs its index, and a partial index or one of expressions holds what its texts say.
    let is_plain = |index: &Index| !index.partial && index.columns.iter().all(|column| column.column.is_some());
    if index.origin != IndexOrigin::Create || index.unique || !is_plain(index) {
        return None;
    }
    let begins = |longer: &&Index| {
        let repeats = longer.columns.len() > index.columns.len()
            || (longer.columns.len() == index.columns.len() && longer.name > index.name);
        let mut pairs = index.columns.iter().zip(&longer.columns);
        longer.name != index.name
            && is_plain(longer)
            && repeats
            && pairs.all(|(left, right)| {
                left.column == right.column
                    && left.descending == right.descending
                    && left.collation.eq_ignore_ascii_case(&right.collation)
            })
    };
    let longer = table.indexes.iter().find(begins)?;
    let text = format!(
        "Its columns begin those of {}, which serves the same queries. DROP INDEX {}, then litepress compact.",
        longer.name,
        litepress_rows::quoted_name(&index.name),
    );
    Some(Advice { object: Some(tree.name.clone()), text, saved_bytes: bytes(report, tree) })
}

/// Finds tables with a primary key of their own beside the rowid, and no further index. WITHOUT ROWID, the primary key has no
/// tree: its entries are the rows.
fn needless_rowids(report: &Report, objects: &Objects, tree: &BtreeReport) -> Option<Advice> {
    let (table, index) = objects.index(&tree.name)?;
    let is_key = tree.kind == BtreeKind::Index && index.origin == IndexOrigin::PrimaryKey && !table.without_rowid;
    let rows = report.btrees.iter().find(|other| other.kind == BtreeKind::Table && other.name == table.name)?;
    if !is_key || table.indexes.len() > 1 || !has_short_rows(report, rows) {
        return None;
    }
    let text = format!(
        "The primary key of {0} is stored twice: in its rows and in this index. WITHOUT ROWID, rows lie in its order: \
         litepress compact --without-rowid {0}.",
        litepress_rows::quoted_name(&table.name),
    );
    Some(Advice { object: Some(tree.name.clone()), text, saved_bytes: bytes(report, tree) })
}

/// Returns whether rows are short enough for the pages of an index, by SQLite's own advice: a twentieth of a page.
fn has_short_rows(report: &Report, rows: &BtreeReport) -> bool {
    rows.payload_bytes / rows.entries.max(1) < u64::from(report.page_size) / 20
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_check::{CheckOptions, check};
    use rusqlite::Connection;
    use std::path::Path;

    fn advice_of(sql: &str) -> Vec<Advice> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        advice_of_file(&path)
    }

    fn advice_of_file(path: &Path) -> Vec<Advice> {
        let report = check(path, &CheckOptions::default(), &|_, _| Ok(())).unwrap();
        advice(&report, &Objects::read(path, &report))
    }

    const MANY: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)";

    #[test]
    fn a_database_in_order_needs_no_advice() {
        let advice = advice_of(&format!(
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); CREATE INDEX t_b ON t(b); CREATE INDEX t_c ON t(c);
             CREATE UNIQUE INDEX t_bc ON t(c, b); INSERT INTO t {MANY} SELECT i, i, i FROM n; DROP INDEX t_c; VACUUM"
        ));
        assert!(advice.is_empty(), "{advice:?}");
    }

    #[test]
    fn deleted_rows_leave_pages() {
        let sql = format!(
            "CREATE TABLE t(a); INSERT INTO t {MANY} SELECT hex(zeroblob(50)) FROM n; DELETE FROM t WHERE rowid > 5000"
        );
        let advice = advice_of(&sql);
        assert_eq!((advice.len(), advice[0].object.as_deref()), (1, None), "{advice:?}");
        assert!(advice[0].text.starts_with("7") && advice[0].saved_bytes > 1 << 20, "{advice:?}");
    }

    /// The saved bytes are those that compacting saves.
    #[test]
    fn half_empty_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let sqlite = Connection::open(&path).unwrap();
        let rows = format!(
            "CREATE TABLE t(a); INSERT INTO t {MANY} SELECT hex(zeroblob(50)) FROM n; DELETE FROM t WHERE rowid % 2"
        );
        sqlite.execute_batch(&rows).unwrap();
        let advice = advice_of_file(&path);
        assert_eq!(advice[0].object.as_deref(), Some("t"), "{advice:?}");
        let before = std::fs::metadata(&path).unwrap().len();
        sqlite.execute_batch("VACUUM").unwrap();
        let saved = before - std::fs::metadata(&path).unwrap().len();
        let error = advice[0].saved_bytes.abs_diff(saved) as f64 / saved as f64;
        assert!(error < 0.05, "{} estimated, {saved} saved", advice[0].saved_bytes);
    }

    #[test]
    fn an_index_in_random_order_is_fragmented() {
        let sql = format!(
            "CREATE TABLE t(a); CREATE INDEX t_a ON t(a); INSERT INTO t {MANY} SELECT printf('%050d', i * 7919 % 20011) FROM n"
        );
        let advice = advice_of(&sql);
        let found = advice.iter().find(|advice| advice.text.contains("follow the leaf")).expect("a fragmented index");
        assert!(found.text.contains("jumps: t_a ("), "{found:?}");
    }

    #[test]
    fn an_index_that_another_one_begins_with() {
        let create = "CREATE TABLE t(a, b, c UNIQUE); CREATE INDEX t_ab ON t(a, b);";
        for (index, is_found) in [
            ("CREATE INDEX i ON t(a)", true),
            ("CREATE INDEX i ON t(a, b)", true),
            ("CREATE INDEX i ON t(c)", true),
            ("CREATE INDEX i ON t(b)", false),
            ("CREATE INDEX i ON t(a DESC)", false),
            ("CREATE INDEX i ON t(a COLLATE NOCASE)", false),
            ("CREATE UNIQUE INDEX i ON t(a)", false),
            ("CREATE INDEX i ON t(a) WHERE b", false),
            ("CREATE INDEX i ON t(a + 1)", false),
        ] {
            let advice = advice_of(&format!("{create} {index}"));
            let found = advice.iter().any(|advice| advice.object.as_deref() == Some("i"));
            assert_eq!(found, is_found, "{index}: {advice:?}");
        }
    }

    #[test]
    fn a_primary_key_that_is_stored_twice() {
        let rows = |columns: &str, more: &str| {
            let insert = format!("INSERT INTO t {MANY} SELECT hex(zeroblob(10)) || i, i FROM n");
            advice_of(&format!("CREATE TABLE t({columns}){more}; {insert}; VACUUM"))
        };
        let advice = rows("k TEXT PRIMARY KEY, v", "");
        assert_eq!(advice[0].object.as_deref(), Some("sqlite_autoindex_t_1"), "{advice:?}");
        assert!(advice[0].text.ends_with("--without-rowid \"t\"."), "{advice:?}");
        assert!(rows("k TEXT PRIMARY KEY, v UNIQUE", "").is_empty());
        assert!(rows("k TEXT PRIMARY KEY, v", " WITHOUT ROWID").is_empty());
    }
}
