//! Builds a new database from trees and rows of `sqlite_schema` as they are in other databases.
//!
//! [`Database`](crate::Database) makes what a schema says, so SQLite must understand the schema. Here the caller says which trees
//! there are, and gives their records verbatim: tables of any encoding, indexes in the order of any collation, shadow tables of any
//! module. SQLite has no part in it.

mod auto_vacuum;

use crate::index::Indexes;
use crate::options::{Options, Target};
use crate::output::Output;
use crate::progress::Counted;
use crate::resources::bounded;
use crate::sink::Sink;
use crate::summary::{Summary, TableSummary, peak_memory_bytes};
use crate::table::{BuildContext, TableTree, entries, rowid};
use crate::tree::schema;
use crate::{Error, ErrorKind, Finished, Result, plan};
use auto_vacuum::AutoVacuum;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::PageSize;
use litepress_rows::schema::{Generated, Index, IndexOrigin};
use litepress_rows::{RecordChunk, Source, Table};
use std::time::Instant;

/// A database under construction from the trees of other databases.
///
/// ORDER: add the trees, each once, then [`finish`](Self::finish) with the rows of `sqlite_schema`, which name the root pages that
/// were returned.
///
/// Memory: pages in flight, within [`Options::memory_bytes`]. Dropped unfinished, it leaves nothing behind.
pub struct CopiedDatabase {
    options: Options,
    output: Output,
    auto_vacuum: Option<AutoVacuum>,
    summary: Summary,
    started: Instant,
}

/// A finished tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedTree {
    /// Number of its root page.
    pub root: u32,
    /// Number of its rows or entries.
    pub rows: u64,
    /// The largest rowid; 0 in an empty tree, and in one without rowids.
    pub last_rowid: i64,
}

impl From<&TableTree> for CopiedTree {
    fn from(&TableTree { root, rows, last_rowid, .. }: &TableTree) -> Self {
        Self { root, rows, last_rowid }
    }
}

impl CopiedDatabase {
    /// Begins a new database.
    ///
    /// # Errors
    /// As [`Database::create`](crate::Database::create), for the target, the memory and the folder for temporary files.
    pub fn create(target: &Target, page_size: PageSize, options: &Options) -> Result<Self> {
        Self::create_with_sink(target, page_size, options, |sink| sink)
    }

    /// Begins a new database, as [`create`](Self::create) does. `wrap` may put another sink in front of the target's.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with_sink(
        target: &Target,
        page_size: PageSize,
        options: &Options,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
    ) -> Result<Self> {
        let options = bounded(options)?;
        let output = Output::open(target, page_size, &options, wrap)?;
        Ok(Self { options, output, auto_vacuum: None, summary: Summary::default(), started: Instant::now() })
    }

    /// Makes it a database with auto-vacuum, for this number of trees. REQUIRES: none was added.
    ///
    /// # Errors
    /// If the target can be written only.
    pub fn keep_auto_vacuum(&mut self, trees: u32, is_incremental: bool) -> Result<()> {
        self.auto_vacuum = Some(AutoVacuum::begin(&mut self.output.pages, trees, is_incremental)?);
        Ok(())
    }

    /// Returns the tree with its root page where it belongs.
    fn settle(&mut self, tree: CopiedTree) -> Result<CopiedTree> {
        match &mut self.auto_vacuum {
            Some(auto_vacuum) => {
                let root = auto_vacuum.move_root(&mut self.output.pages, tree.root)?;
                Ok(CopiedTree { root, ..tree })
            }
            None => Ok(tree),
        }
    }

    /// Announces the number of trees that will be added, and of those with rows of a table.
    pub fn expect(&self, trees: u32, tables: u32) {
        let sync = u32::from(self.output.is_synced(&self.options));
        self.options.progress.expect(trees + sync, tables);
    }

    /// Builds the tree of a rowid table.
    ///
    /// # Errors
    /// If the source fails, its rowids do not ascend, or a write fails. The database must be dropped then.
    pub fn add_table(&mut self, name: &str, source: &dyn Source) -> Result<CopiedTree> {
        self.add_rows(name, source, rowid::build)
    }

    /// Builds the tree of a WITHOUT ROWID table. REQUIRES: its rows come in the order of their tree, which is not checked.
    ///
    /// # Errors
    /// If the source or a write fails. The database must be dropped then.
    pub fn add_keyed_table(&mut self, name: &str, source: &dyn Source) -> Result<CopiedTree> {
        self.add_rows(name, source, entries::build)
    }

    fn add_rows(
        &mut self,
        name: &str,
        source: &dyn Source,
        build: impl FnOnce(&dyn Source, &mut crate::pages::Pages, BuildContext<'_>) -> Result<TableTree>,
    ) -> Result<CopiedTree> {
        let (started, progress) = (Instant::now(), &*self.options.progress);
        progress.enter_rows(name);
        let source = &Counted { source, progress };
        let indexes = &Indexes::default();
        let context = BuildContext { indexes, threads: self.options.threads, counts_keys: false, progress };
        let tree = build(source, &mut self.output.pages, context).map_err(|error| of_table(error, name))?;
        let settled = self.settle(CopiedTree::from(&tree))?;
        self.note(name, &TableTree { root: settled.root, ..tree }, started);
        Ok(settled)
    }

    /// Builds the tree of an index. REQUIRES: its entries come in the order of their tree, which is not checked.
    ///
    /// # Errors
    /// If the source or a write fails. The database must be dropped then.
    pub fn add_index(&mut self, name: &str, source: &dyn Source) -> Result<CopiedTree> {
        let progress = &*self.options.progress;
        progress.enter(format!("index {name}"));
        let indexes = &Indexes::default();
        let context = BuildContext { indexes, threads: self.options.threads, counts_keys: false, progress };
        let tree = entries::build(source, &mut self.output.pages, context).map_err(|error| of_table(error, name))?;
        self.settle(CopiedTree::from(&tree))
    }

    /// Builds the trees of a table and of its indexes from rows in any order, as [`Database::fill`](crate::Database::fill) does.
    /// Returns the indexes by name.
    ///
    /// # Errors
    /// If litepress does not write the table or one of its indexes itself; as [`Database::fill`](crate::Database::fill).
    pub fn build_table(
        &mut self,
        table: &Table,
        source: &dyn Source,
    ) -> Result<(CopiedTree, Vec<(String, CopiedTree)>)> {
        self.check(table)?;
        // Rows are copied as they are, in any text encoding: no CHECK is evaluated.
        let mut unchecked = table.clone();
        unchecked.has_check = false;
        let table = &unchecked;
        let started = Instant::now();
        self.options.progress.enter_rows(&table.name);
        let source = &Counted { source, progress: &self.options.progress };
        let built = self.output.build_table(table, source, &self.options);
        let (tree, indexes) = built.map_err(|error| of_table(error, &table.name))?;
        let settled = self.settle(CopiedTree::from(&tree))?;
        self.note(&table.name, &TableTree { root: settled.root, ..tree }, started);
        let indexes = indexes.into_iter().map(|(name, tree)| (name, CopiedTree::from(&TableTree::from(tree))));
        let indexes = indexes.map(|(name, tree)| Ok((name, self.settle(tree)?))).collect::<Result<_>>()?;
        Ok((settled, indexes))
    }

    /// Fails if SQLite would have to make the table or one of its indexes.
    fn check(&self, table: &Table) -> Result<()> {
        let refused = |what: String| Err(Error::new(ErrorKind::Unsupported, what).in_table(&table.name));
        if let Some(reason) = plan::unsupported_reason(table, self.options.on_conflict) {
            return refused(format!("only SQLite can make the table: {reason}"));
        }
        if let Some(column) = table.columns.iter().find(|column| column.generated == Generated::Stored) {
            return refused(format!(
                "only SQLite can make the table: its column {} is computed and stored",
                column.name
            ));
        }
        let mut built = plan::indexes(table);
        built.retain(|index| index.evaluated_index().is_none());
        let is_missing = |index: &&Index| {
            let is_table = table.without_rowid && index.origin == IndexOrigin::PrimaryKey;
            !is_table && built.iter().all(|built| built.name != index.name)
        };
        match table.indexes.iter().find(is_missing) {
            Some(index) => {
                refused(format!("only SQLite can make the index {}: it is partial or on an expression", index.name))
            }
            None => Ok(()),
        }
    }

    fn note(&mut self, name: &str, tree: &TableTree, started: Instant) {
        self.summary.rows += tree.rows;
        self.summary.tables.push(TableSummary {
            name: name.to_owned(),
            rows: tree.rows,
            left_out: 0,
            payload_bytes: Some(tree.payload_bytes),
            root_page: tree.root,
            build: started.elapsed(),
        });
    }

    /// Writes the rows of `sqlite_schema` and page 1, verifies the file if asked to, waits for the disk and gives the file its name.
    /// Of `header`, the fields about pages are set here: page size, reserved bytes, numbers of pages, freelist, auto-vacuum.
    ///
    /// `names` are those of all tables and views.
    ///
    /// # Errors
    /// As [`Database::finish`](crate::Database::finish).
    pub fn finish(mut self, schema: &RecordChunk, names: &[&str], header: DatabaseHeader) -> Result<Finished> {
        let pages = &mut self.output.pages;
        let page_size = pages.page_size();
        let header = DatabaseHeader {
            page_size,
            reserved: 0,
            first_freelist_trunk: 0,
            freelist_pages: 0,
            largest_root_page: 0,
            incremental_vacuum: false,
            ..header
        };
        let (header, trunks) = match &mut self.auto_vacuum {
            Some(auto_vacuum) => auto_vacuum.complete(header, pages),
            None => (header, Vec::new()),
        };
        trunks.iter().try_for_each(|(number, page)| pages.write_page(*number, page))?;
        let page_1 = schema::build_rows(schema, pages, |page_count| DatabaseHeader { page_count, ..header })?;
        if let Some(auto_vacuum) = &self.auto_vacuum {
            auto_vacuum.write_map(pages, &page_1)?;
        }
        let stages = &mut self.summary.stages;
        stages.build = self.started.elapsed();
        self.summary.bytes = pages.finish(&page_1)?;
        stages.write = self.started.elapsed() - stages.build;
        let bytes = pages.take_bytes();
        let dropped = self.output.dropped(|name| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let verified = self.output.publish(&self.options, stages)?;
        let page_bytes = u32::try_from(page_size.bytes()).expect("at most 65536");
        self.summary.page_size_bytes = page_bytes;
        self.summary.pages = self.summary.bytes / u64::from(page_bytes);
        self.summary.peak_memory_bytes = peak_memory_bytes();
        Ok(Finished { summary: self.summary, bytes, verified, dropped, appended: None })
    }
}

/// Adds the name of the table or index to an error, if it names none.
fn of_table(error: Error, name: &str) -> Error {
    if error.place().table.is_some() { error } else { error.in_table(name) }
}
