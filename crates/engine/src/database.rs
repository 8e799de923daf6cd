//! Builds a new database: its tables, then its schema, then its name.

mod full_text_tables;
mod remaining_pages;
mod sqlite_part;
mod stitched;
mod stored_part;

pub(crate) use stored_part::{refuse_part, refuse_unfit_part};

use crate::draft::Draft;
use crate::evaluate::computed::{self, ComputedColumns};
use crate::full_text::PrintedTable;
use crate::index::statistics::{self, SQLITE_STAT1, Statistic};
use crate::options::{Options, Target, Verify};
use crate::output::Output;
use crate::part::StoredTable;
use crate::progress::Counted;
use crate::publish::Publication;
use crate::resources::{bounded, page_size};
use crate::sink::Sink;
use crate::sqlite::SqliteSession;
use crate::summary::{Summary, TableSummary, peak_memory_bytes};
use crate::table::{TableTree, rtree};
use crate::tree::bulk_load::IndexTree;
use crate::verify::verify;
use crate::{Error, ErrorKind, Result, plan};
use litepress_check::Report;
use litepress_format::page::PageSize;
use litepress_rows::schema::SchemaObject;
use litepress_rows::{Schema, Source, Table};
use remaining_pages::SQLITE_SEQUENCE;
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// A database under construction.
///
/// ORDER: fill tables one after another, each at most once, and those that SQLite fills last
/// ([`filling_order`](Self::filling_order)). A table that is not filled is empty.
///
/// Memory: within [`Options::memory_bytes`] plus about 20 MiB. Dropped unfinished, it leaves nothing behind.
///
/// ```
/// use litepress_engine::{Database, Options, Schema, Target};
///
/// let schema = Schema::from_sql("CREATE TABLE empty (id INTEGER PRIMARY KEY)", "<example>")?;
/// let finished = Database::create(&Target::Memory, schema, &Options::default())?.finish()?;
/// assert_eq!(&finished.bytes.unwrap()[..15], b"SQLite format 3");
/// # Ok::<(), litepress_engine::Error>(())
/// ```
pub struct Database {
    schema: Schema,
    options: Options,
    output: Output,
    /// The finished tree of each table of the schema.
    trees: Vec<Option<TableTree>>,
    /// The places of printed tables whose texts full-text tables index, by position.
    printed: HashMap<usize, PrintedTable>,
    /// The largest of the schema's and the source's number for `sqlite_sequence` ([`Source::last_sequence`]), for each
    /// table.
    sequences: Vec<Option<i64>>,
    /// Number of given rows of each table that it does not have.
    left_out: Vec<u64>,
    /// The rows of each table, if this is a part.
    stored: Vec<StoredTable>,
    /// The build time of each table, from its first row to the root of its last index.
    build_times: Vec<Duration>,
    /// Root page of each finished index, and of SQLite's own tables.
    roots: HashMap<String, u32>,
    /// The `sqlite_stat1` rows of the finished tables.
    statistics: Vec<Statistic>,
    summary: Summary,
    started: Instant,
    /// Whether a table could not be filled.
    failed: bool,
    /// Whether SQLite has a part in this schema.
    needs_sqlite: bool,
    /// Whether all pages that litepress writes itself are written.
    pages_written: bool,
    /// SQLite at work on the written file.
    session: Option<SqliteSession>,
}

/// Work of SQLite on the written file.
type FillBySqlite<'f> = &'f mut dyn FnMut(&Connection) -> Result<()>;

/// The result of [`Database::finish`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished {
    /// Counts and times of the run.
    pub summary: Summary,
    /// The whole file, if the target was [`Target::Memory`].
    pub bytes: Option<Vec<u8>>,
    /// Tables and views of the replaced file that the new one lacks: `table users (3 rows)`.
    pub dropped: Vec<String>,
    /// The report of [`Options::verify`]. It has no faults, because a fault fails the run.
    pub verified: Option<Report>,
    /// The report of rows that were added to a database that exists.
    pub appended: Option<crate::AppendReport>,
}

impl Database {
    /// Begins a new database.
    ///
    /// # Errors
    /// If SQLite has a part in the schema ([`plan::needs_sqlite`]) and pages are dropped; if the target is to be
    /// verified and is not a file; if the target exists and must stay, is in use, or cannot be written; if the disk
    /// has less room than [`Options::expected_bytes`]; if the memory budget, the page size or the folder for temporary
    /// files is unusable.
    pub fn create(target: &Target, schema: Schema, options: &Options) -> Result<Self> {
        Self::create_with_sink(target, schema, options, |sink| sink)
    }

    /// Begins a new database, as [`create`](Self::create) does. `wrap` may put another sink in front of the
    /// target's: a meter, or a test's sink that fails the n-th write.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with_sink(
        target: &Target,
        schema: Schema,
        options: &Options,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
    ) -> Result<Self> {
        let needs_sqlite = !options.part && plan::needs_sqlite(&schema, options.on_conflict);
        if needs_sqlite && *target == Target::Discard {
            let message = "SQLite has a part in this schema, and no file to work on where pages are dropped";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Self::begin(schema, options, |page_size, options| Output::open(target, page_size, options, wrap))
    }

    /// Begins a new database beside `target`, for [`finish_draft`](Self::finish_draft). A target that exists stays.
    ///
    /// # Errors
    /// As [`create`](Self::create), but for the target.
    pub fn create_draft(target: &Path, schema: Schema, options: &Options) -> Result<Self> {
        let file = Target::File(target.to_owned());
        Self::begin(schema, options, |page_size, options| {
            Output::open_with(&file, page_size, options, |sink| sink, Publication::of_draft)
        })
    }

    fn begin(
        mut schema: Schema,
        options: &Options,
        open: impl FnOnce(PageSize, &Options) -> Result<Output>,
    ) -> Result<Self> {
        let needs_sqlite = !options.part && plan::needs_sqlite(&schema, options.on_conflict);
        if options.part {
            refuse_unfit_part(&schema, options)?;
        }
        if options.analyze {
            statistics::define(&mut schema);
        }
        let options = &bounded(options)?;
        let output = open(page_size(&schema, options)?, options)?;
        let trees = vec![None; schema.tables.len()];
        let sequences = schema.tables.iter().map(|table| table.last_sequence).collect();
        let build_times = vec![Duration::ZERO; schema.tables.len()];
        let left_out = vec![0; schema.tables.len()];
        let (options, summary, started) = (options.clone(), Summary::default(), Instant::now());
        Ok(Self {
            schema,
            options,
            output,
            sequences,
            trees,
            printed: HashMap::new(),
            stored: Vec::new(),
            build_times,
            left_out,
            roots: HashMap::new(),
            statistics: Vec::new(),
            summary,
            started,
            failed: false,
            needs_sqlite,
            pages_written: false,
            session: None,
        })
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns positions in [`Schema::tables`] in an order in which tables may be filled. Tables that SQLite fills
    /// come last.
    pub fn filling_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.schema.tables.len()).collect();
        order.sort_by_key(|&index| !self.is_written_table(&self.schema.tables[index]));
        order
    }

    /// Announces the tables that will be filled, as positions in [`Schema::tables`]. From then on
    /// [`Progress::phase`](crate::Progress::phase) knows the number of all phases.
    pub fn expect(&self, tables: &[usize]) {
        let filled = tables.iter().map(|&index| &self.schema.tables[index]);
        let written = filled.filter(|table| self.is_written_table(table));
        let phases = |table: &Table| if table.rtree.is_some() { rtree::PHASES } else { plan::indexes(table).len() };
        let indexes: usize = written.map(phases).sum();
        let by_sqlite = if self.needs_sqlite { self.phases_of_sqlite() } else { 0 };
        let checks = match self.options.verify {
            Verify::None => 0,
            Verify::Quick => 1,
            Verify::Full => 2,
        };
        let sync = usize::from(self.output.is_synced(&self.options));
        let count = tables.len() + indexes + by_sqlite + checks + sync + self.full_text_phases(tables);
        let [count, tables] = [count, tables.len()].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        self.options.progress.expect(count, tables);
    }

    /// Fills table `index` of [`Schema::tables`]: writes its pages, or has SQLite insert its rows.
    ///
    /// # Errors
    /// If the source fails, its rows are not in the order that it promises, two rows have the same unique key, or a
    /// write fails. The database cannot be finished then.
    ///
    /// # Panics
    /// If the table was filled before, or if litepress writes it but SQLite has already filled another one
    /// ([`filling_order`](Self::filling_order)).
    pub fn fill(&mut self, index: usize, source: &dyn Source) -> Result<()> {
        assert!(self.trees[index].is_none(), "a table is filled once");
        let (started, rows_before) = (Instant::now(), self.options.progress.rows());
        let name = self.schema.tables[index].name.clone();
        self.options.progress.enter_rows(&name);
        let tree = self
            .build(index, source)
            .inspect_err(|_| self.failed = true)
            .map_err(|error| if error.place().table.is_some() { error } else { error.in_table(&name) })?;
        self.summary.rows += tree.rows;
        if self.schema.tables[index].can_drop_rows(self.options.on_conflict) {
            let given = self.options.progress.rows() - rows_before;
            self.left_out[index] = given.saturating_sub(tree.rows);
        }
        self.sequences[index] = self.sequences[index].max(source.last_sequence());
        if let Some(sql) = source.final_sql() {
            self.restate(&name, sql);
        }
        self.trees[index] = Some(tree);
        self.build_times[index] = started.elapsed();
        Ok(())
    }

    /// Replaces the statement of a table, whose row of the schema is written at the end.
    fn restate(&mut self, table: &str, sql: String) {
        let mut objects = self.schema.objects.iter_mut();
        let object = objects.find(|object| object.kind == "table" && object.name == table);
        object.expect("a table that was filled is in the schema").sql = Some(sql);
    }

    /// Builds the table's tree and those of its indexes.
    fn build(&mut self, index: usize, source: &dyn Source) -> Result<TableTree> {
        let progress = self.options.progress.clone();
        let source = &Counted { source, progress: &progress };
        if !self.is_written_table(&self.schema.tables[index]) {
            self.open_session()?;
            let session = self.session.as_ref().expect("it was opened");
            let table = &self.schema.tables[index];
            let rows = session.insert(table, source, &self.options)?;
            if let Some(sequence) = source.last_sequence().max(table.last_sequence).filter(|_| table.autoincrement) {
                session.raise_sequence(table, sequence)?;
            }
            return Ok(TableTree { rows, ..TableTree::default() });
        }
        assert!(self.session.is_none(), "tables that litepress writes come before those that SQLite fills");
        if self.schema.tables[index].full_text.is_some() {
            return self.build_full_text(index, Some(source));
        }
        let first_page = self.output.pages.next();
        let (options, table) = (&self.options, &self.schema.tables[index]);
        if let Some(tree) = table.rtree {
            let trees = self.output.build_rtree(table, tree, source, options)?;
            return Ok(self.take_rtree(&trees));
        }
        let computed = computed::is_needed(table).then(|| ComputedColumns::new(table, source)).transpose()?;
        let source: &dyn Source = computed.as_ref().map_or(source, |computed| computed);
        if options.part {
            let stored = self.output.store_table(table, source, options)?;
            let tree = TableTree { rows: stored.rows, ..TableTree::default() };
            self.stored.push(stored);
            return Ok(tree);
        }
        let (tree, indexes) = self.output.build_table(table, source, options)?;
        let TableTree { rows, payload_bytes, .. } = tree;
        self.take_trees(index, &tree, indexes);
        self.printed.insert(index, PrintedTable { first_page, rows, payload_bytes });
        Ok(tree)
    }

    /// Notes the trees of a table and of its indexes.
    fn take_trees(&mut self, index: usize, tree: &TableTree, indexes: Vec<(String, IndexTree)>) {
        let table = &self.schema.tables[index];
        let key = table.without_rowid.then(|| (table.name.clone(), tree.rows, tree.distinct.clone()));
        let mut counted = Vec::from_iter(key);
        for (name, tree) in indexes {
            self.roots.insert(name.clone(), tree.root);
            counted.push((name, tree.entries, tree.distinct));
        }
        if self.options.analyze {
            self.statistics.extend(statistics::of_table(table, tree.rows, &counted));
        }
    }

    /// Notes the trees of an R-Tree table. Returns its figures.
    fn take_rtree(&mut self, trees: &rtree::ShadowTrees) -> TableTree {
        for (name, tree) in &trees.trees {
            self.roots.insert(name.clone(), tree.root);
            if self.options.analyze {
                self.statistics.extend(statistics::of_rows(name, tree.rows));
            }
        }
        let payload_bytes = trees.trees.iter().map(|(_, tree)| tree.payload_bytes).sum();
        TableTree { rows: trees.rows, payload_bytes, ..TableTree::default() }
    }

    /// Writes the schema, verifies the file if asked to, waits for the disk and gives the file its name.
    ///
    /// # Errors
    /// If a table could not be filled, the file has faults, the run is cancelled, or a write, sync or rename fails.
    /// The target is then unchanged, with two exceptions. If the sync of the folder fails, the database has its name
    /// but may lose it in a power cut. If a program keeps the replaced file open, the database has its name, too.
    pub fn finish(self) -> Result<Finished> {
        self.finish_database(None)
    }

    /// Finishes the database, as [`finish`](Self::finish) does. `fill` may have SQLite do more on the written file, once all
    /// objects are defined: fill virtual tables.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and if `fill` fails.
    pub fn finish_with(self, fill: &mut dyn FnMut(&Connection) -> Result<()>) -> Result<Finished> {
        self.finish_database(Some(fill))
    }

    /// Writes the schema, verifies the file if asked to, and leaves it without a name. It is not synced.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), but for the target.
    pub fn finish_draft(mut self) -> Result<(Finished, Draft)> {
        self.complete(None)?;
        let publication = self.output.publication.take().expect("a draft is a file");
        let verified = verify(publication.temporary(), publication.target(), &self.options)?;
        let draft = Draft::new(publication, self.options.sync);
        Ok((self.finished(None, Vec::new(), verified), draft))
    }

    fn finish_database(mut self, fill: Option<FillBySqlite<'_>>) -> Result<Finished> {
        let bytes = self.complete(fill)?;
        let has = |name: &str| self.schema.objects.iter().any(|object| object.name.eq_ignore_ascii_case(name));
        let dropped = self.output.dropped(has);
        let stages = &mut self.summary.stages;
        stages.sqlite = self.started.elapsed() - stages.build - stages.write;
        let verified = self.output.publish(&self.options, stages)?;
        Ok(self.finished(bytes, dropped, verified))
    }

    /// Writes everything. Returns the bytes of a file in memory.
    fn complete(&mut self, fill: Option<FillBySqlite<'_>>) -> Result<Option<Vec<u8>>> {
        if self.failed {
            let message = "a table could not be filled: the database is given up";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        self.write_remaining()?;
        self.finish_session(fill)
    }

    fn finished(mut self, bytes: Option<Vec<u8>>, dropped: Vec<String>, verified: Option<Report>) -> Finished {
        self.summary.tables = self.table_summaries();
        self.summary.page_size_bytes = page_bytes(self.output.pages.page_size());
        self.summary.pages = self.summary.bytes / u64::from(self.summary.page_size_bytes);
        // Asking the system takes longer than a small database.
        if !self.options.progress.is_part() {
            self.summary.peak_memory_bytes = peak_memory_bytes();
        }
        Finished { summary: self.summary, bytes, verified, dropped, appended: None }
    }

    /// Writes the remaining pages: empty tables, the schema, page 1. The file is a database then.
    fn write_remaining(&mut self) -> Result<()> {
        if self.pages_written {
            return Ok(());
        }
        let page_1 = if self.options.part { self.finish_part()? } else { self.finish_pages()? };
        self.summary.stages.build = self.started.elapsed();
        self.summary.bytes = self.output.pages.finish(&page_1)?;
        self.summary.stages.write = self.started.elapsed() - self.summary.stages.build;
        self.pages_written = true;
        Ok(())
    }

    /// Returns whether litepress writes an object itself. SQLite creates the others.
    fn is_written(&self, object: &SchemaObject) -> bool {
        match object.kind.as_str() {
            // With its shadow tables given, a virtual table is an entry of the schema alone.
            "table" if !object.has_btree && self.schema.table(&object.name).is_none() => true,
            "table" if object.is_shadow => self.roots.contains_key(&object.name),
            "table" => self.writes_table(object) || [SQLITE_SEQUENCE, SQLITE_STAT1].contains(&object.name.as_str()),
            "index" => self.writes_table(object) && self.roots.contains_key(&object.name),
            _ => !self.needs_sqlite,
        }
    }

    fn is_written_table(&self, table: &Table) -> bool {
        plan::unsupported_reason(table, self.options.on_conflict).is_none()
    }

    /// Returns whether the object is, or belongs to, a user table that litepress writes itself.
    fn writes_table(&self, object: &SchemaObject) -> bool {
        let table = self.schema.table(&object.table);
        table.is_some_and(|table| self.is_written_table(table))
    }

    fn table_summaries(&self) -> Vec<TableSummary> {
        let summary = |index: usize| {
            let TableTree { root, rows, payload_bytes, .. } = self.trees[index].clone().unwrap_or_default();
            let payload_bytes = self.is_written_table(&self.schema.tables[index]).then_some(payload_bytes);
            let (name, left_out) = (self.schema.tables[index].name.clone(), self.left_out[index]);
            TableSummary { name, rows, left_out, payload_bytes, root_page: root, build: self.build_times[index] }
        };
        (0..self.schema.tables.len()).map(summary).collect()
    }
}

pub(crate) fn page_bytes(page_size: PageSize) -> u32 {
    u32::try_from(page_size.bytes()).expect("at most 65536")
}
