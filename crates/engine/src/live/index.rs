//! Makes indexes of tables that exist: one scan of a table for all of its indexes, sorted, written and published in one
//! transaction.
//!
//! In WAL mode tables are scanned and entries sorted under a read snapshot, while others write. The write lock is taken for the rest
//! alone. If others committed meanwhile, all is done once more under the write lock.

use super::skeleton::{Skeleton, StatementPlan, StatementWatch, run_create_index};
use super::{CannotWritePages, CommitReport, LiveDatabase, LiveOptions, LiveTransaction, connect, explain};
use crate::index::{IndexPlan, Indexes};
use crate::options::Target;
use crate::resources::{bounded, sort_options, temp_dir};
use crate::table::extract;
use crate::{Error, Result};
use litepress_rows::schema::OlderRows;
use litepress_rows::sqlite::plain_name;
use litepress_rows::{MappedSource, Source, Table, quoted_name};
use litepress_scan::{IndexScan, Snapshot, TableScan};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The indexes to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTask<'a> {
    /// New ones, by their CREATE INDEX statements.
    Create(&'a [String]),
    /// Existing ones once more: by name, or all indexes of tables by name, or all of the database.
    Again(&'a [String]),
}

/// The outcome of [`make_indexes`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IndexReport {
    /// The indexes that were made.
    pub indexes: Vec<MadeIndex>,
    /// Names after IF NOT EXISTS of indexes that exist.
    pub existing: Vec<String>,
    /// The reason why SQLite did everything, if it did.
    pub only_sqlite: Option<CannotWritePages>,
    /// Number of rows that were read, once for all indexes of a table.
    pub rows: u64,
    /// Whether other programs committed during the first scan, so that everything was done again under the write lock.
    pub repeated: bool,
    /// The figures of the transaction.
    pub commit: CommitReport,
    /// Time of scans and sorts.
    pub scan: Duration,
    /// Time of all.
    pub total: Duration,
}

/// An index that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MadeIndex {
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: String,
    /// Number of its entries; `None` if SQLite made it.
    pub entries: Option<u64>,
    /// The reason why SQLite made it, if it did.
    pub by_sqlite: Option<String>,
}

/// An index to make.
pub(super) struct PlannedIndex {
    pub name: String,
    pub table: Table,
    pub table_root: u32,
    /// The statement in the form of `sqlite_schema`; `None` for the index of a constraint.
    pub sql: Option<String>,
    /// `Err` says why SQLite must make it.
    pub plan: Result<IndexPlan, String>,
    /// The root page of the index that exists.
    pub old_root: Option<u32>,
    /// The values of all stored columns in rows that are older than they.
    pub older: OlderRows,
}

/// Indexes whose entries are extracted.
struct IndexRuns {
    planned: StatementPlan,
    /// The entries of all indexes of a table, for each table.
    tables: Vec<Indexes>,
    rows: u64,
    scan: Duration,
}

/// Makes indexes in the database at `path`, all of them or none.
///
/// # Errors
/// If SQLite refuses a statement, a key of a unique index comes twice, the database stays locked or is damaged, or a write fails.
pub fn make_indexes(path: &Path, task: IndexTask<'_>, options: &LiveOptions) -> Result<IndexReport> {
    let started = Instant::now();
    let mut report = match LiveDatabase::open(path, options)? {
        Ok(mut database) => make(&mut database, task)?,
        Err(reason) => IndexReport { only_sqlite: Some(reason), ..make_by_sqlite(path, task, options)? },
    };
    report.total = started.elapsed();
    Ok(report)
}

fn make(database: &mut LiveDatabase, task: IndexTask<'_>) -> Result<IndexReport> {
    let (path, options) = (database.path().to_owned(), database.options.clone());
    let progress = options.build.progress.clone();
    let named = |error: Error| if error.place().file.is_some() { error } else { error.in_file(&path) };
    let sort = |connection: &Connection, snapshot: &Snapshot| sort(connection, snapshot, task, &path, &options);
    let (mut transaction, sorted, repeated) = database.begin_after(sort).map_err(named)?;
    let IndexRuns { planned, tables, rows, scan } = sorted;
    let threads = bounded(&options.build)?.threads;
    let mut trees = HashMap::new();
    for indexes in tables {
        let built = indexes.build(transaction.pages()?, threads, false, &progress).map_err(named)?;
        trees.extend(built);
    }
    let mut made = Vec::new();
    for index in planned.indexes {
        let PlannedIndex { name, table, sql, plan, old_root, .. } = index;
        let (entries, by_sqlite) = match (trees.get(&name), plan) {
            (Some(tree), _) => {
                publish(&mut transaction, &name, &table.name, tree.root, old_root, sql.as_deref())?;
                (Some(tree.entries), None)
            }
            (None, plan) => {
                progress.enter(format!("index {name}, by SQLite"));
                let statement = if old_root.is_some() { None } else { sql.as_deref() };
                define(&mut transaction, &name, statement).map_err(named)?;
                (None, plan.err())
            }
        };
        made.push(MadeIndex { name, table: table.name, entries, by_sqlite });
    }
    if made.is_empty() {
        return Ok(IndexReport { existing: planned.existing, ..IndexReport::default() });
    }
    progress.enter("commit");
    let commit = transaction.commit()?;
    Ok(IndexReport {
        indexes: made,
        existing: planned.existing,
        rows,
        repeated,
        commit,
        scan,
        ..IndexReport::default()
    })
}

/// Gives a new tree to an index: a new one, or one that exists.
fn publish(
    transaction: &mut LiveTransaction<'_>,
    name: &str,
    table: &str,
    root: u32,
    old_root: Option<u32>,
    sql: Option<&str>,
) -> Result<()> {
    match (old_root, sql) {
        (Some(old), _) => {
            transaction.set_root(name, root)?;
            transaction.free_tree(old)
        }
        (None, Some(sql)) => transaction.add_object("index", name, table, root, sql),
        (None, None) => unreachable!("a new index has a statement"),
    }
}

/// Has SQLite create an index, or fill one again.
fn define(transaction: &mut LiveTransaction<'_>, name: &str, create: Option<&str>) -> Result<()> {
    let again = format!("REINDEX main.{}", quoted_name(name));
    let done = transaction.connection()?.execute_batch(create.unwrap_or(&again));
    done.map_err(|error| transaction.explain(&error).in_table(name))
}

/// Plans the task, and extracts and sorts the entries of all indexes that litepress makes.
fn sort(
    connection: &Connection,
    snapshot: &Snapshot,
    task: IndexTask<'_>,
    path: &Path,
    live: &LiveOptions,
) -> Result<IndexRuns> {
    let started = Instant::now();
    let skeleton = Skeleton::of(connection, snapshot.encoding()).map_err(|error| explain(&error, path, live))?;
    let planned = match task {
        IndexTask::Create(statements) => skeleton.plan(statements)?,
        IndexTask::Again(names) => skeleton.plan_again(names)?,
    };
    let options = bounded(&live.build)?;
    let temp_dir = temp_dir(&Target::File(path.to_owned()), &options);
    let sorts = planned.indexes.iter().filter(|index| index.plan.is_ok()).count();
    let sort_options = sort_options(&options, &temp_dir, sorts);
    let mut roots: Vec<u32> = planned.indexes.iter().map(|index| index.table_root).collect();
    roots.sort_unstable();
    roots.dedup();
    let (mut tables, mut rows) = (Vec::new(), 0);
    for root in roots {
        let of_table = || planned.indexes.iter().filter(|index| index.table_root == root);
        let plans: Vec<IndexPlan> = of_table().filter_map(|index| index.plan.clone().ok()).collect();
        // The last one knows all texts that SQLite evaluates.
        let Some(index) = of_table().rfind(|index| index.plan.is_ok()) else { continue };
        let indexes = Indexes::new(plans, &sort_options).evaluating(&index.table, false)?;
        options.progress.enter_rows(&index.table.name);
        rows += scan(snapshot, index, &indexes, &options)?;
        tables.push(indexes);
    }
    Ok(IndexRuns { planned, tables, rows, scan: started.elapsed() })
}

/// Passes the rows of an index's table to all indexes of the table.
fn scan(snapshot: &Snapshot, index: &PlannedIndex, indexes: &Indexes, options: &crate::Options) -> Result<u64> {
    let (name, root) = (&index.table.name, index.table_root);
    let scan: Box<dyn Source> = if index.table.without_rowid {
        Box::new(IndexScan::new(snapshot, root, name.as_str())?)
    } else {
        Box::new(TableScan::new(snapshot, root, name.as_str())?)
    };
    let counted = crate::progress::Counted { source: &*scan, progress: &options.progress };
    let completed = MappedSource::new(&counted, counted.rowid_order(), |chunk| index.older.complete(chunk));
    let source: &dyn Source = if index.older.differ() { &completed } else { &counted };
    let in_table = |error: Error| if error.place().table.is_some() { error } else { error.in_table(name) };
    extract(source, indexes, options.threads, &options.progress).map_err(in_table)
}

/// Has SQLite do everything, in one transaction.
fn make_by_sqlite(path: &Path, task: IndexTask<'_>, options: &LiveOptions) -> Result<IndexReport> {
    let absolute = std::path::absolute(path).map_err(|error| Error::io("open", path, error))?;
    let failed = |error: rusqlite::Error| explain(&error, path, options);
    let mut connection = connect(&plain_name(&absolute), options).map_err(failed)?;
    let watch = StatementWatch::of(&mut connection).map_err(failed)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let (began, mut report) = (Instant::now(), IndexReport::default());
    let mut note = |name: &str| -> Result<()> {
        let sql = "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?1";
        let table = connection.query_row(sql, [name], |row| row.get(0)).map_err(failed)?;
        report.indexes.push(MadeIndex { name: name.to_owned(), table, entries: None, by_sqlite: None });
        Ok(())
    };
    let mut existing = Vec::new();
    match task {
        IndexTask::Create(statements) => {
            for text in statements {
                run_create_index(&connection, &watch, text, |name, is_new| {
                    if is_new {
                        return note(name);
                    }
                    existing.push(name.to_owned());
                    Ok(())
                })
                .map_err(|error| error.in_file(path))?;
            }
        }
        IndexTask::Again(names) => {
            let all = "SELECT name FROM sqlite_schema WHERE type = 'index' AND
                       (?1 IS NULL OR name = ?1 COLLATE NOCASE OR tbl_name = ?1 COLLATE NOCASE) ORDER BY rowid";
            let wanted: Vec<Option<&String>> =
                if names.is_empty() { vec![None] } else { names.iter().map(Some).collect() };
            for name in wanted {
                let mut select = connection.prepare(all).map_err(failed)?;
                let found = select.query_map([name], |row| row.get(0)).map_err(failed)?;
                let found: Vec<String> = found.collect::<rusqlite::Result<_>>().map_err(failed)?;
                let command = match name {
                    Some(name) => format!("REINDEX main.{}", quoted_name(name)),
                    None => "REINDEX".to_owned(),
                };
                connection.execute_batch(&command).map_err(failed)?;
                found.iter().try_for_each(|name| note(name))?;
            }
        }
    }
    let committing = Instant::now();
    connection.execute_batch("COMMIT").map_err(failed)?;
    let (locked, commit) = (began.elapsed(), committing.elapsed());
    report.commit = CommitReport { locked, commit, through_wal: true, ..CommitReport::default() };
    report.existing = existing;
    Ok(report)
}

/// Returns the root pages of all objects that have one.
pub(super) fn roots(connection: &Connection) -> rusqlite::Result<HashMap<String, u32>> {
    let mut select = connection.prepare("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")?;
    let roots = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    roots.collect()
}
