//! Copies the trees of a database.

use super::choice::Choice;
use super::source::{Object, SourceDatabase, Tree};
use super::without_rowid::Conversion;
use crate::{Error, ErrorKind, Result};
use litepress_engine::{CopiedDatabase, CopiedTree};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::{Part, RecordChunk, RowidOrder, Source};
use litepress_scan::{IndexScan, TableScan};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Position of the root page among the columns of `sqlite_schema`.
const ROOT_COLUMN: usize = 3;
/// Position of the CREATE statement.
const SQL_COLUMN: usize = 4;

/// The trees to copy.
pub(super) struct Trees<'c> {
    pub source: &'c SourceDatabase,
    pub choice: &'c Choice,
    /// The tables that the copy has WITHOUT ROWID.
    pub conversions: &'c [Conversion],
    /// Bytes of the records that were read so far.
    pub read: &'c AtomicU64,
}

/// The outcome of a copy.
pub(super) struct Copied {
    /// The rows of `sqlite_schema` with the new root pages.
    pub schema: RecordChunk,
    /// Number of indexes.
    pub indexes: usize,
}

impl Trees<'_> {
    /// Returns the number of trees.
    pub fn count(&self) -> u32 {
        count(self.objects())
    }

    /// Returns the number of trees that are tables.
    pub fn tables(&self) -> u32 {
        count(self.objects().filter(|(object, _)| object.kind == "table"))
    }

    fn objects(&self) -> impl Iterator<Item = (&Object, Tree)> {
        self.choice.objects(self.source).filter_map(|object| Some((object, object.tree?)))
    }

    /// Copies all trees in the order of `sqlite_schema`.
    pub fn copy(&self, copy: &mut CopiedDatabase) -> Result<Copied> {
        let mut copied = HashMap::new();
        for (object, tree) in self.objects() {
            let name = object.name.to_ascii_lowercase();
            match self.conversion(object) {
                None => {
                    copied.insert(name, self.copy_tree(copy, object, tree)?);
                }
                Some(conversion) if object.kind == "table" => {
                    let scan = TableScan::new(&self.source.snapshot, tree.root, &object.name)?;
                    let (table, indexes) = conversion.build(&scan, self.read, copy)?;
                    copied.insert(name, table);
                    copied.extend(indexes.into_iter().map(|(index, tree)| (index.to_ascii_lowercase(), tree)));
                }
                // Its table builds it.
                Some(_) => {}
            }
        }
        self.compare_counts(&copied)?;
        let is_index =
            |object: &&Object| object.kind == "index" && copied.contains_key(&object.name.to_ascii_lowercase());
        let indexes = self.choice.objects(self.source).filter(is_index).count();
        Ok(Copied { schema: self.schema(&copied)?, indexes })
    }

    /// Returns the conversion of an object's table, if it has one.
    fn conversion(&self, object: &Object) -> Option<&Conversion> {
        self.conversions.iter().find(|conversion| conversion.table.name.eq_ignore_ascii_case(&object.table))
    }

    fn copy_tree(&self, copy: &mut CopiedDatabase, object: &Object, tree: Tree) -> Result<CopiedTree> {
        let Self { source: SourceDatabase { snapshot, .. }, .. } = self;
        let name = &object.name;
        if tree.is_keyed {
            let scan = IndexScan::new(snapshot, tree.root, name)?;
            let scan = self.metered(name, &scan, false);
            return if object.kind == "index" {
                copy.add_index(name, &scan)
            } else {
                copy.add_keyed_table(name, &scan)
            };
        }
        if object.kind == "index" {
            let message = format!("page {}: the root of the index is a page of a rowid table", tree.root);
            let error = Error::new(ErrorKind::Corrupt, message).in_file(&self.source.path).in_table(name);
            return Err(error.advise("find out more with: litepress check"));
        }
        let scan = TableScan::new(snapshot, tree.root, name)?;
        copy.add_table(name, &self.metered(name, &scan, self.choice.filters(name)))
    }

    fn metered<'m>(&'m self, name: &'m str, source: &'m dyn Source, filters: bool) -> Metered<'m> {
        let filter = RowFilter { choice: self.choice, table: name, encoding: self.source.snapshot.encoding() };
        Metered { source, read: self.read, filter: filters.then_some(filter) }
    }

    /// Fails if an index has more or fewer entries than its table has rows: the copy would keep that fault.
    fn compare_counts(&self, copied: &HashMap<String, CopiedTree>) -> Result<()> {
        let Ok(partial) = self.partial_indexes() else { return Ok(()) };
        for (object, _) in self.objects().filter(|(object, _)| object.kind == "index") {
            let [index, table] = [&object.name, &object.table].map(|name| copied.get(&name.to_ascii_lowercase()));
            let (Some(index), Some(table)) = (index, table) else { continue };
            if index.rows != table.rows && !partial.contains(&object.name) {
                let (name, entries, rows) = (&object.name, index.rows, table.rows);
                let message = format!("index {name} has {entries} entries, and its table has {rows} rows");
                return Err(Error::new(ErrorKind::Corrupt, message)
                    .in_file(&self.source.path)
                    .in_table(&object.table)
                    .advise("make the index anew with REINDEX, then compact the database"));
            }
        }
        Ok(())
    }

    /// Returns the names of partial indexes, which need not have an entry for each row.
    fn partial_indexes(&self) -> rusqlite::Result<HashSet<String>> {
        let sql = "SELECT l.name FROM sqlite_schema s JOIN temp.pragma_index_list(s.name) l WHERE s.type = 'table' AND l.partial";
        let connection = self.source.moment.connection();
        let mut statement = connection.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    /// Returns the rows of `sqlite_schema` with the root pages of these trees.
    fn schema(&self, copied: &HashMap<String, CopiedTree>) -> Result<RecordChunk> {
        let (mut chunk, mut record) = (RecordChunk::new(), Vec::new());
        for object in self.choice.objects(self.source) {
            if object.tree.is_none() {
                chunk.push(object.rowid, &object.record);
                continue;
            }
            // The primary key of a WITHOUT ROWID table is the table itself.
            let Some(tree) = copied.get(&object.name.to_ascii_lowercase()) else { continue };
            let mut values = record::decode(&object.record).map_err(|error| {
                Error::new(ErrorKind::Corrupt, error.to_string()).in_file(&self.source.path).in_table("sqlite_schema")
            })?;
            values[ROOT_COLUMN] = Value::Int(tree.root.into());
            if let Some(conversion) = self.conversion(object).filter(|_| object.kind == "table") {
                values[SQL_COLUMN] = Value::Text(conversion.sql.as_bytes());
            }
            record.clear();
            record::write_record(&values, &mut record);
            chunk.push(object.rowid, &record);
        }
        Ok(chunk)
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// A source that counts the bytes of its records, and leaves out rows about objects that are not copied.
struct Metered<'t> {
    source: &'t dyn Source,
    read: &'t AtomicU64,
    filter: Option<RowFilter<'t>>,
}

/// A choice among the rows of a table that are about other objects.
#[derive(Clone, Copy)]
struct RowFilter<'t> {
    choice: &'t Choice,
    table: &'t str,
    encoding: TextEncoding,
}

impl Source for Metered<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        let Self { read, filter, .. } = *self;
        Ok(part.map(|part| Box::new(MeteredPart { part, read, filter, all: RecordChunk::new() }) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

struct MeteredPart<'m> {
    part: Box<dyn Part + 'm>,
    read: &'m AtomicU64,
    filter: Option<RowFilter<'m>>,
    /// All rows, if some are left out.
    all: RecordChunk,
}

impl MeteredPart<'_> {
    /// Appends the rows that are copied.
    fn fill_filtered(&mut self, filter: RowFilter<'_>, chunk: &mut RecordChunk) -> Result<()> {
        let Self { part, all, .. } = self;
        while chunk.is_empty() {
            all.clear();
            part.fill(all)?;
            if all.is_empty() {
                break;
            }
            for (row, &rowid) in all.rowids().iter().enumerate() {
                if filter.choice.keeps_row(filter.encoding, filter.table, all.record(row)) {
                    chunk.push(rowid, all.record(row));
                }
            }
        }
        Ok(())
    }
}

impl Part for MeteredPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        match self.filter {
            Some(filter) => self.fill_filtered(filter, chunk)?,
            None => self.part.fill(chunk)?,
        }
        self.read.fetch_add(chunk.arena().len() as u64, Ordering::Relaxed);
        Ok(())
    }
}
