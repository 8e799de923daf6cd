//! Builds full-text tables of FTS5: SQLite indexes parts of the rows on every core, and the segments are merged.
//!
//! ```text
//! rows --IndexedSource--> content table, on every core       unless the texts are elsewhere
//!            |
//!            v
//!        Indexer: the same full-text table in memory, filled by SQLite, one a thread
//!            |    its segments are decoded, and spill as runs
//!            v
//!        runs --k-way merge by term--> one segment --> %_data, %_idx
//!        sizes of rows ------------------------------> %_docsize
//! ```
//!
//! SQLite alone knows tokenizers and options. The merged segment is byte for byte the one that SQLite leaves when it indexes
//! all rows at once and optimizes, so threads and memory do not show in the file.
//!
//! Rows of a table that keeps no texts go to the indexers alone. If the texts are in another table, its printed pages are read
//! back.

mod content;
mod data_tree;
mod indexer;
mod joined_segments;
mod printed_rows;
mod runs;
mod shadow_tables;
#[cfg(test)]
mod tests;

use crate::index::statistics::{self, Statistic};
use crate::options::Options;
use crate::output::Output;
use crate::plan::unsupported_reason;
use crate::table::TableTree;
use crate::{Conflict, Error, ErrorKind, Result};
use content::IndexedSource;
use indexer::{Indexed, IndexerPool, TextColumns};
pub use joined_segments::{TakeTerm, TextIndexes};
use litepress_fts5::DEFAULT_LEAF_BYTES;
use litepress_rows::schema::{FullText, SchemaObject, TextContent};
use litepress_rows::{RecordChunk, Schema, Source, Table, quoted_name};
pub(crate) use printed_rows::{PrintedRows, PrintedTable};
use runs::{RunStore, SpooledRows};
use shadow_tables::ShadowTables;

/// Share of the memory for rows of shadow tables that are known before their tables are built.
const SPOOL_SHARE: u64 = 32;

/// Largest size of leaves. Offsets on them have 16 bits, and a leaf may be somewhat larger.
const MOST_LEAF_BYTES: usize = 32 << 10;

/// Returns why only SQLite can fill a virtual table, or `None` if litepress prints it.
pub(crate) fn virtual_table_reason(table: &Table, conflict: Conflict) -> Option<String> {
    let Some(full_text) = &table.full_text else { return Some("it is a virtual table".to_owned()) };
    if let Some(leaf_bytes) = full_text.leaf_bytes.filter(|&leaf_bytes| leaf_bytes > MOST_LEAF_BYTES) {
        return Some(format!("its leaves have {leaf_bytes} bytes (pgsz), more than {MOST_LEAF_BYTES}"));
    }
    match &full_text.content {
        TextContent::Own | TextContent::Nowhere | TextContent::Unindexed => None,
        TextContent::Table(content, _) | TextContent::Copied(content, _) => {
            unsupported_reason(content, conflict).map(|why| format!("of its table {}, {why}", content.name))
        }
        TextContent::Elsewhere(why) | TextContent::Missing(why) => Some(why.clone()),
    }
}

/// Returns the statement that has SQLite index the texts of a full-text table that are elsewhere, or copied.
pub(crate) fn rebuild_statement(table: &Table) -> Option<String> {
    let full_text = table.full_text.as_ref()?;
    let name = quoted_name(&table.name);
    if let TextContent::Copied(from, columns) = &full_text.content {
        let list = |names: Vec<String>| names.iter().map(|name| format!(", {name}")).collect::<String>();
        let to = list(table.ordinary_columns().map(|column| quoted_name(&table.columns[column].name)).collect());
        let values = list(columns.iter().map(|&column| quoted_name(&from.columns[column].name)).collect());
        let (rowid, from) = (from.rowid_name()?, quoted_name(&from.name));
        return Some(format!("INSERT INTO {name}(rowid{to}) SELECT {rowid}{values} FROM {from} ORDER BY 1"));
    }
    matches!(full_text.content, TextContent::Elsewhere(_) | TextContent::Table(..))
        .then(|| format!("INSERT INTO {name}({name}) VALUES ('rebuild')"))
}

/// Returns the statements that set the options of a full-text table, if the object is one.
pub(crate) fn settings<'s>(schema: &'s Schema, object: &SchemaObject) -> &'s [String] {
    let table = schema.table(&object.name).filter(|_| object.kind == "table");
    table.and_then(|table| table.full_text.as_ref()).map_or(&[], |full_text| &full_text.settings)
}

/// The trees of a full-text table.
#[derive(Debug, Default)]
pub(crate) struct FullTextTrees {
    /// The number of rows.
    pub rows: u64,
    /// The root pages of the shadow tables, by their names.
    pub roots: Vec<(String, u32)>,
    /// The `sqlite_stat1` rows of the shadow tables.
    pub statistics: Vec<Statistic>,
    /// Bytes of temporary files.
    pub spilled_bytes: u64,
}

/// The rows of a full-text table.
#[derive(Clone, Copy)]
pub(crate) enum TextRows<'s> {
    /// No rows.
    None,
    /// Rows of the full-text table itself.
    Given(&'s dyn Source),
    /// Rows of the table that has its texts.
    Printed(&'s PrintedTable),
}

/// Builds the shadow tables of one full-text table.
pub(crate) struct FullTextBuilder<'b> {
    output: &'b mut Output,
    options: &'b Options,
    table: &'b Table,
    full_text: &'b FullText,
    shadows: ShadowTables<'b>,
    memory_bytes: u64,
    trees: FullTextTrees,
}

impl<'b> FullTextBuilder<'b> {
    /// Begins the shadow tables of `table`.
    ///
    /// # Panics
    /// If it is no full-text table.
    pub fn new(schema: &'b Schema, table: &'b Table, output: &'b mut Output, options: &'b Options) -> Result<Self> {
        let full_text = table.full_text.as_deref().expect("a full-text table");
        let shadows = ShadowTables::new(schema, table, full_text, &options.progress)?;
        let (memory_bytes, trees) = (options.memory_bytes, FullTextTrees::default());
        Ok(Self { output, options, table, full_text, shadows, memory_bytes, trees })
    }

    /// Builds all shadow tables from these rows.
    ///
    /// # Errors
    /// If the source fails, SQLite refuses a row, or a write fails.
    pub fn build(mut self, rows: TextRows<'_>) -> Result<FullTextTrees> {
        let columns = TextColumns::new(self.table, self.full_text);
        let pool = IndexerPool::new(self.full_text, &columns, &self.output.temp_dir, self.memory_bytes, self.options);
        let progress = self.options.progress.clone();
        let name = &self.table.name;
        match rows {
            TextRows::None => self.build_content(None)?,
            TextRows::Given(source) if self.shadows.content.is_some() => {
                self.build_content(Some(&IndexedSource::new(source, &pool, self.table, self.full_text)))?;
            }
            TextRows::Given(source) => {
                IndexedSource::new(source, &pool, self.table, self.full_text).drain(self.options.threads)?;
            }
            TextRows::Printed(printed) => {
                progress.enter(format!("texts of {name}"));
                let rows = PrintedRows::new(&self.output.pages, printed)?;
                let source = IndexedSource::new(&rows, &pool, self.table, self.full_text);
                match self.shadows.content {
                    Some(_) => self.build_content(Some(&source))?,
                    None => source.drain(self.options.threads)?,
                }
            }
        }
        if !matches!(rows, TextRows::None) {
            progress.enter(format!("full-text index of {name}"));
        }
        let indexed = pool.finish(self.options.threads)?;
        self.trees.rows = indexed.averages.rows;
        self.build_index(indexed, None, None)?;
        Ok(self.trees)
    }

    /// Builds the content table, if there is one.
    fn build_content(&mut self, source: Option<&dyn Source>) -> Result<()> {
        match (self.shadows.content, source) {
            (Some(content), Some(source)) => self.build_table(content, source),
            (Some(content), None) => self.build_table(content, &runs::chunks(Vec::new())),
            (None, _) => Ok(()),
        }
    }

    /// Builds all other shadow tables. The rows of `%_docsize` and `%_config` may be given as they are.
    fn build_index(
        &mut self,
        indexed: Indexed,
        given_sizes: Option<Box<dyn Source + '_>>,
        configuration: Option<RecordChunk>,
    ) -> Result<()> {
        let ShadowTables { data, index, docsize, config, .. } = self.shadows;
        let Indexed { runs, sizes, averages, spilled_bytes } = indexed;
        let rows = averages.rows;
        let store = RunStore::new(self.output.temp_dir.clone(), self.memory_bytes / SPOOL_SHARE);
        let written = if rows > 0 {
            let has_origins = self.shadows.has_origins;
            let initial = self.shadows.initial_structure()?;
            let request = data_tree::Request {
                averages,
                initial,
                has_origins,
                has_positions: self.full_text.has_positions,
                leaf_bytes: self.full_text.leaf_bytes.unwrap_or(DEFAULT_LEAF_BYTES),
                progress: &self.options.progress,
                store: &store,
            };
            data_tree::build(runs, &request, &mut self.output.pages)?
        } else {
            data_tree::build_empty(self.shadows.initial_data()?, &mut self.output.pages)?
        };
        self.trees.spilled_bytes = spilled_bytes + store.file_len();
        self.note(data, &written.tree, Vec::new());
        self.build_table(index, &SpooledRows::new(written.splits))?;
        match (docsize, given_sizes) {
            (Some(docsize), Some(given)) => self.build_table(docsize, &*given)?,
            (Some(docsize), None) => {
                self.build_table(docsize, &runs::SizesSource::new(sizes, self.shadows.has_origins)?)?;
            }
            (None, _) => {}
        }
        let configuration = configuration.map_or_else(|| self.shadows.configuration(), Ok)?;
        self.build_table(config, &runs::chunks(vec![configuration]))
    }

    /// Builds one shadow table.
    fn build_table(&mut self, table: &Table, source: &dyn Source) -> Result<()> {
        // Conflicts were resolved before.
        let options = Options { on_conflict: Conflict::Abort, ..self.options.clone() };
        let (tree, indexes) = self.output.build_table(table, source, &options)?;
        if !indexes.is_empty() {
            return Err(Error::new(ErrorKind::Unsupported, "a shadow table of FTS5 has an index").in_table(&table.name));
        }
        let key = table.without_rowid.then(|| (table.name.clone(), tree.rows, tree.distinct.clone()));
        self.note(table, &tree, Vec::from_iter(key));
        Ok(())
    }

    /// Notes a finished shadow table.
    fn note(&mut self, table: &Table, tree: &TableTree, counted: Vec<(String, u64, Vec<u64>)>) {
        self.trees.roots.push((table.name.clone(), tree.root));
        if self.options.analyze {
            self.trees.statistics.extend(statistics::of_table(table, tree.rows, &counted));
        }
    }
}

/// Returns the chunk for further rows at the end of `chunks`.
fn open_chunk(chunks: &mut Vec<RecordChunk>) -> &mut RecordChunk {
    if chunks.last().is_none_or(RecordChunk::is_full) {
        chunks.push(RecordChunk::new());
    }
    chunks.last_mut().expect("one was pushed")
}
