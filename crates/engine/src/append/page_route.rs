//! Adds rows to tables of an existing database by writing pages.
//!
//! ```text
//! edge      new rows become leaf pages behind the last one, and the right edge of the tree is written anew
//! rebuild   old rows (TableScan) and new ones, sorted by rowid, become a new tree
//! indexes   edge: old entries (IndexScan), in their order, and sorted new ones are merged into a new tree; else all are sorted
//! ```
//!
//! New trees lie behind the end of the file. `sqlite_schema` gets their roots, and the old pages go to the freelist, in one
//! transaction of SQLite's. A row that breaks a rule ends the route: SQLite then inserts the rows, and says which one it is.

use super::choice::{Choice, RowFigures, TableEdge, choose, why_not_in, why_sql};
use super::claims::check_claims;
use super::rebuild::Rebuild;
use super::sources::{OldAndNew, TableSize, old_rows, with_stored_rows};
use super::update::{RowPolicy, claimed_indexes};
use super::{AppendOptions, AppendReport, AppendedTable, Route, RoutePlan, schema_of};
use crate::database::Finished;
use crate::index::{IndexPlan, Indexes};
use crate::live::{LiveDatabase, LiveTransaction};
use crate::options::{Options, Target};
use crate::progress::Counted;
use crate::resources::{sort_options, temp_dir};
use crate::sort::SortOptions;
use crate::spool::Spool;
use crate::summary::{Summary, TableSummary, peak_memory_bytes};
use crate::table::BuildContext;
use crate::table::rowid::{self, NewRows};
use crate::tree::bulk_load::IndexTree;
use crate::{Conflict, Error, ErrorKind, Result, plan};
use litepress_format::header::TextEncoding;
use litepress_rows::schema::{OlderRows, SchemaAdditions};
use litepress_rows::{MappedSource, RowidOrder, Schema, Source, Table};
use litepress_scan::{IndexScan, Snapshot};
use rusqlite::types::FromSql;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Adds the rows of all sources by writing pages. The inner `Err` says why SQLite must insert them; nothing is changed then, and
/// the sources may have been read.
///
/// # Errors
/// If the database cannot be read or written, or another program keeps its lock.
pub fn append_pages(
    path: &Path,
    schema: &Schema,
    options: &Options,
    append: &AppendOptions,
    sources: &[(usize, Spool)],
) -> Result<Result<Finished, String>> {
    if let Some(why) = why_sql(schema, options, append, &figures(sources)) {
        return Ok(Err(why));
    }
    sources.iter().for_each(|(_, source)| source.rewind());
    let mut database = match LiveDatabase::open(path, &append.live(options))? {
        Ok(database) => database,
        Err(cannot) => return Ok(Err(cannot.reason)),
    };
    options.progress.enter("waiting for the lock");
    let schema = Cow::Borrowed(schema);
    let run = PageAppend { transaction: database.begin()?, schema, append, started: Instant::now() };
    match run.append(sources) {
        // SQLite finds the row, or tells what is wrong with the file.
        Err(error) if matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Corrupt | ErrorKind::Limit) => {
            Ok(Err(format!("pages cannot be written: {}", error.message())))
        }
        done => done,
    }
}

fn figures(sources: &[(usize, Spool)]) -> Vec<(usize, RowFigures)> {
    sources.iter().map(|(table, rows)| (*table, RowFigures::of(rows))).collect()
}

/// Trees, each with the name of its index.
type NamedTrees = Vec<(String, IndexTree)>;

/// A table with its new trees.
struct BuiltTable {
    report: AppendedTable,
    /// New root pages of the table and its indexes.
    roots: Vec<(String, u32)>,
    /// Roots of trees that are freed, and pages of others.
    freed_trees: Vec<u32>,
    freed_pages: Vec<u32>,
    /// The largest given rowid of an AUTOINCREMENT table.
    sequence: Option<i64>,
    summary: TableSummary,
}

/// An append within its transaction.
struct PageAppend<'d, 's> {
    transaction: LiveTransaction<'d>,
    schema: Cow<'s, Schema>,
    append: &'s AppendOptions,
    started: Instant,
}

impl PageAppend<'_, '_> {
    fn append(mut self, sources: &[(usize, Spool)]) -> Result<Result<Finished, String>> {
        let options = self.transaction.options()?;
        let cookie: u32 = self.query("PRAGMA schema_version")?;
        let known = self.schema.clone();
        if cookie != self.schema.settings.schema_cookie {
            let now = schema_of(self.transaction.path(), self.append)?;
            let tables = sources.iter().map(|(table, _)| *table);
            if let Err(table) = self.schema.to_mut().follow(now, &SchemaAdditions::default(), tables) {
                return Ok(Err(format!("another program has changed the table {table} meanwhile")));
            }
            if let Some(why) = why_sql(&self.schema, &options, self.append, &figures(sources)) {
                return Ok(Err(why));
            }
        }
        let (roots, sequences) = (self.roots()?, self.sequences()?);
        let snapshot = Snapshot::of_write_transaction(self.transaction.database_connection())?;
        let mut jobs = Vec::new();
        for (table, source) in sources.iter().filter(|(_, source)| !source.is_empty()) {
            let table = &self.schema.tables[*table];
            let sequence = sequences.get(&table.name).copied();
            let has_known_indexes = known.indexes_of(&table.name).eq(self.schema.indexes_of(&table.name));
            let look = Look { table, source, snapshot: &snapshot, roots: &roots, has_known_indexes };
            match look.job(&self.transaction, (&options, self.append), sequence)? {
                Ok(job) => jobs.push(job),
                Err(why) => return Ok(Err(why)),
            }
        }
        let folder = temp_dir(&Target::File(self.transaction.path().to_owned()), &options);
        let mut built = Vec::new();
        for job in jobs {
            built.push(job.build(&mut self.transaction, &options, self.append, &folder)?);
        }
        snapshot.close_idle();
        drop(snapshot);
        self.publish(built).map(Ok)
    }

    fn query<T: FromSql>(&self, sql: &str) -> Result<T> {
        let value = self.transaction.database_connection().query_row(sql, [], |row| row.get(0));
        value.map_err(|error| self.transaction.explain(&error))
    }

    /// Returns the root pages of all tables and indexes.
    fn roots(&self) -> Result<HashMap<String, u32>> {
        self.map("SELECT name, rootpage FROM sqlite_schema WHERE type IN ('table', 'index') AND rootpage > 0")
    }

    /// Returns the numbers of AUTOINCREMENT tables.
    fn sequences(&self) -> Result<HashMap<String, i64>> {
        if self.schema.tables.iter().all(|table| !table.autoincrement) {
            return Ok(HashMap::new());
        }
        // SQLite goes by the first row of a table, if a program has added another one.
        self.map(
            "SELECT name, coalesce(CAST(seq AS INTEGER), 0) FROM sqlite_sequence WHERE typeof(name) = 'text'
             ORDER BY rowid DESC",
        )
    }

    fn map<T: FromSql>(&self, sql: &str) -> Result<HashMap<String, T>> {
        let connection = self.transaction.database_connection();
        let read = || {
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<HashMap<String, T>>>()
        };
        let read = read();
        read.map_err(|error| self.transaction.explain(&error))
    }

    /// Makes the new trees those of their tables, and commits.
    fn publish(mut self, built: Vec<BuiltTable>) -> Result<Finished> {
        for table in &built {
            for (name, root) in &table.roots {
                self.transaction.set_root(name, *root)?;
            }
            for &root in &table.freed_trees {
                self.transaction.free_tree(root)?;
            }
            self.transaction.free_pages(&table.freed_pages)?;
            if let Some(sequence) = table.sequence {
                self.raise_sequence(&table.report.plan.table, sequence)?;
            }
        }
        let journal_mode: String = self.query("PRAGMA journal_mode")?;
        let page_size_bytes: u32 = self.query("PRAGMA page_size")?;
        let pages: u32 = self.query("PRAGMA page_count")?;
        let built_after = self.started.elapsed();
        let report = self.transaction.commit()?;
        let mut summary = Summary::default();
        summary.stages.build = built_after;
        summary.stages.publish = report.commit;
        summary.rows = built.iter().map(|table| table.summary.rows).sum();
        (summary.pages, summary.page_size_bytes) = (u64::from(pages), page_size_bytes);
        summary.bytes = summary.pages * u64::from(page_size_bytes);
        summary.peak_memory_bytes = peak_memory_bytes();
        let (tables, summaries) = built.into_iter().map(|table| (table.report, table.summary)).unzip();
        summary.tables = summaries;
        let appended = AppendReport { tables, locked: report.locked, commit: report.commit, journal_mode };
        Ok(Finished { summary, bytes: None, dropped: Vec::new(), verified: None, appended: Some(appended) })
    }

    fn raise_sequence(&mut self, table: &str, sequence: i64) -> Result<()> {
        let connection = self.transaction.connection()?;
        let raise = || {
            // As SQLite does it: what is no integer counts as one, and a table that never had rows counts from zero.
            let update = "UPDATE sqlite_sequence SET seq = ?2 WHERE coalesce(CAST(seq AS INTEGER), 0) < ?2
                          AND rowid = (SELECT min(rowid) FROM sqlite_sequence WHERE name = ?1)";
            let insert = "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, max(0, ?2)
                          WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)";
            for sql in [update, insert] {
                connection.execute(sql, (table, sequence))?;
            }
            Ok(())
        };
        let raised = raise();
        raised.map_err(|error| self.transaction.explain(&error))
    }
}

/// A table, before its route is chosen.
#[derive(Clone, Copy)]
struct Look<'a> {
    table: &'a Table,
    source: &'a Spool,
    snapshot: &'a Snapshot,
    roots: &'a HashMap<String, u32>,
    /// Whether the indexes are those that the table had as the rows were read: the entries of the rows are theirs.
    has_known_indexes: bool,
}

impl<'a> Look<'a> {
    /// Chooses the route. `Err` says why SQLite must insert the rows.
    fn job(
        self,
        transaction: &LiveTransaction<'_>,
        (options, append): (&Options, &AppendOptions),
        sequence: Option<i64>,
    ) -> Result<Result<Job<'a>, String>> {
        let Self { table, source, snapshot, .. } = self;
        if let Some(why) = why_not_in(table, snapshot.encoding()) {
            return Ok(Err(why));
        }
        let Some(&root) = self.roots.get(&table.name) else {
            return Ok(Err(format!("SQLite does not know the root page of {}", table.name)));
        };
        let is_empty = append.truncate || table.without_rowid;
        let largest_rowid = if is_empty { None } else { transaction.right_edge(root)?.largest_rowid };
        let (edge, figures) = (TableEdge { largest_rowid, sequence }, RowFigures::of(source));
        let overwriting = match RowPolicy::of(table, options, &figures.missing) {
            Ok(overwriting) => overwriting,
            Err(why) => return Ok(Err(why)),
        };
        let choice = choose(table, &figures, edge, append, || TableSize::estimate(table, snapshot, root))?;
        Ok(choice.map(|choice| Job { look: self, root, choice, overwriting }))
    }
}

/// A table whose route is chosen.
struct Job<'a> {
    look: Look<'a>,
    root: u32,
    choice: Choice,
    overwriting: RowPolicy,
}

impl Job<'_> {
    /// Makes a new tree of new rows, and of the old ones unless the table is truncated. Returns its root, and the number of rows by
    /// which it is larger.
    fn rebuild(
        &self,
        new: &dyn Source,
        transaction: &mut LiveTransaction<'_>,
        truncates: bool,
        rebuild: &Rebuild<'_>,
    ) -> Result<(u32, u64)> {
        if truncates {
            let tree = rebuild.build(new, transaction.pages()?)?;
            return Ok((tree.root, tree.rows));
        }
        let Look { table, snapshot, .. } = self.look;
        let (scan, older) = (old_rows(table, snapshot, self.root)?, self.completion());
        let count = AtomicU64::new(0);
        let old = MappedSource::new(&*scan, RowidOrder::Ascending, |chunk| {
            count.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            older.as_ref().map_or(Ok(()), |older| older.complete(chunk))
        });
        let tree = rebuild.build(&OldAndNew { old: &old, new }, transaction.pages()?)?;
        Ok((tree.root, tree.rows.saturating_sub(count.load(Ordering::Relaxed))))
    }

    /// Fails if the primary key alone does not decide which rows stay. `are_distinct` says that no two new rows have the same, nor one of
    /// an old row.
    fn check_claims(
        &self,
        given: &dyn Source,
        are_distinct: bool,
        truncates: bool,
        options: &Options,
        sorts: &SortOptions,
    ) -> Result<()> {
        let Look { table, source, snapshot, .. } = self.look;
        let claimed = claimed_indexes(table, options.on_conflict).unwrap_or_default();
        for plan in claimed.into_iter().filter(|_| !are_distinct) {
            let (scan, older) = (old_rows(table, snapshot, self.root)?, self.completion());
            let old = MappedSource::new(&*scan, RowidOrder::Ascending, |chunk| {
                older.as_ref().map_or(Ok(()), |older| older.complete(chunk))
            });
            let both = OldAndNew { old: &old, new: given };
            let rows: &dyn Source = if truncates { given } else { &both };
            check_claims(plan.in_encoding(snapshot.encoding()), rows, sorts, &options.progress)?;
            source.rewind();
        }
        Ok(())
    }

    /// Returns the values that rows lack which are older than a column, if the new trees need them.
    fn completion(&self) -> Option<OlderRows> {
        let Look { table, snapshot, .. } = self.look;
        match self.overwriting {
            RowPolicy::OneStays => completion(table, snapshot),
            RowPolicy::Fields(_) => Some(OlderRows::of(table, snapshot.encoding())),
        }
    }

    /// Adds rows to the right edge of the tree, or makes a tree of them alone. Returns its root, and the number of rows.
    fn add_rows(
        &self,
        rows: NewRows<'_>,
        transaction: &mut LiveTransaction<'_>,
        append: &AppendOptions,
    ) -> Result<(u32, u64)> {
        let tree = match append.truncate {
            true => rowid::build_of(rows, transaction.pages()?)?,
            false => transaction.extend_tree(self.root, rows)?,
        };
        Ok((tree.root, tree.rows))
    }

    /// Makes new trees of the old and the new entries of indexes. Returns them, and the pages of the old trees.
    fn extend_indexes(
        &self,
        indexes: Indexes,
        roots: &[u32],
        transaction: &mut LiveTransaction<'_>,
        options: &Options,
    ) -> Result<(NamedTrees, Vec<u32>)> {
        let scan = |(name, root): (&str, &u32)| IndexScan::new(self.look.snapshot, *root, name);
        let old: Vec<IndexScan> = indexes.names().zip(roots).map(scan).collect::<Result<_>>()?;
        let trees = indexes.extend(&old, transaction.pages()?, options.threads, &options.progress)?;
        Ok((trees, old.iter().flat_map(IndexScan::pages).collect()))
    }

    fn build(
        self,
        transaction: &mut LiveTransaction<'_>,
        options: &Options,
        append: &AppendOptions,
        folder: &Path,
    ) -> Result<BuiltTable> {
        let started = Instant::now();
        let Look { table, source, snapshot, roots, .. } = self.look;
        let Choice { route, shift, is_numbered, sequence } = self.choice;
        let (progress, threads) = (&*options.progress, options.threads);
        progress.enter_rows(&table.name);
        let encoding = snapshot.encoding();
        let plans = plans_in(table, encoding);
        let sort_options = sort_options(options, folder, plans.len() + 1);
        let takes_leaves = (route == Route::Edge || append.truncate) && encoding == TextEncoding::Utf8;
        let waiting = source.waiting(transaction.page_size(), shift).filter(|_| takes_leaves);
        let takes_entries = waiting.is_some() && self.look.has_known_indexes;
        let extracted = if takes_entries { source.take_entries() } else { None };
        let waiting = waiting.filter(|_| extracted.is_some());
        let indexes = match extracted {
            Some(indexes) => indexes,
            None => Indexes::new(plans, &sort_options).evaluating(table, false)?,
        };
        let context = BuildContext { indexes: &indexes, threads, counts_keys: false, progress };
        let is_ordered = is_numbered || source.rowid_order() == RowidOrder::Ascending;
        let (mut new_roots, mut freed_trees) = (Vec::new(), Vec::new());
        let (root, added) = match &waiting {
            Some(parts) => self.add_rows(NewRows::Leaves(parts, progress), transaction, append)?,
            None => {
                let (truncates, given) = (append.truncate, Counted { source, progress });
                let (is_edge, fate) = (route == Route::Edge || truncates, (shift, options.on_conflict));
                let overwriting = &self.overwriting;
                let rebuild = Rebuild { table, overwriting, options, sorts: &sort_options, context };
                with_stored_rows(table, source, fate, encoding, |new| {
                    self.check_claims(new, is_edge && is_ordered, truncates, options, &sort_options)
                })?;
                with_stored_rows(table, &given, fate, encoding, |new| {
                    if table.without_rowid || !is_edge {
                        return self.rebuild(new, transaction, truncates, &rebuild);
                    }
                    let mut add =
                        |rows: &dyn Source| self.add_rows(NewRows::Source(rows, context), transaction, append);
                    if is_ordered { add(new) } else { rebuild.by_rowid(new, add) }
                })?
            }
        };
        if root != self.root {
            new_roots.push((table.name.clone(), root));
            freed_trees.push(self.root);
        }
        let old_roots = roots_of(&indexes, roots)?;
        let (trees, freed_pages) = if route == Route::Edge && !append.truncate {
            self.extend_indexes(indexes, &old_roots, transaction, options)?
        } else {
            freed_trees.extend(old_roots);
            (indexes.build(transaction.pages()?, threads, false, progress)?, Vec::new())
        };
        new_roots.extend(trees.into_iter().map(|(name, tree)| (name, tree.root)));
        let report = report(table, (route, append), options.on_conflict, source.rows().unwrap_or(0), added);
        let summary = TableSummary {
            name: table.name.clone(),
            rows: report.added + report.updated.unwrap_or(0),
            left_out: report.ignored,
            payload_bytes: None,
            root_page: root,
            build: started.elapsed(),
        };
        Ok(BuiltTable { report, roots: new_roots, freed_trees, freed_pages, sequence, summary })
    }
}

/// Returns the root pages of indexes.
fn roots_of(indexes: &Indexes, roots: &HashMap<String, u32>) -> Result<Vec<u32>> {
    let missing = |name| Error::new(ErrorKind::Corrupt, format!("the index {name} has no root page"));
    indexes.names().map(|name| roots.get(name).copied().ok_or_else(|| missing(name))).collect()
}

/// Plans the indexes of a table in a database of this encoding.
fn plans_in(table: &Table, encoding: TextEncoding) -> Vec<IndexPlan> {
    plan::indexes(table).into_iter().map(|plan| plan.in_encoding(encoding)).collect()
}

/// Returns the values that rows lack which are older than an indexed column with a DEFAULT.
fn completion(table: &Table, snapshot: &Snapshot) -> Option<OlderRows> {
    let columns = plan::own_indexes(table).flat_map(|index| &index.columns);
    let mut defaults = columns.filter_map(|column| table.columns[column.column?].default.as_ref());
    defaults.next().map(|_| OlderRows::of(table, snapshot.encoding()))
}

/// Reports on a table that was given rows, and has `added` more than before.
fn report(
    table: &Table,
    (route, append): (Route, &AppendOptions),
    conflict: Conflict,
    given: u64,
    added: u64,
) -> AppendedTable {
    let plan = RoutePlan::by_pages(&table.name, route, append);
    let others = given.saturating_sub(added);
    match conflict {
        Conflict::Replace => AppendedTable { plan, added: given, updated: None, ignored: 0 },
        Conflict::Update => AppendedTable { plan, added, updated: Some(others), ignored: 0 },
        Conflict::Abort | Conflict::Ignore => AppendedTable { plan, added, updated: Some(0), ignored: others },
    }
}
