//! Writes the pages that remain once the tables are filled: empty tables, `sqlite_sequence`, `sqlite_stat1` and the schema,
//! whose tree is rooted on page 1.

use super::Database;
use crate::index::statistics::{self, SQLITE_STAT1, Statistic};
use crate::table::{OneChunk, TableTree, build_few};
use crate::tree::bulk_load::build_empty;
use crate::tree::schema::{self, WrittenObject};
use crate::{Result, plan};
use litepress_format::header::DatabaseHeader;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::SchemaObject;
use litepress_rows::{RecordChunk, Table};

/// Name of the table in which SQLite keeps the largest rowid of AUTOINCREMENT tables.
pub(super) const SQLITE_SEQUENCE: &str = "sqlite_sequence";

impl Database {
    /// Writes empty tables, SQLite's own tables and the schema. Returns page 1, which must be written last.
    pub(super) fn finish_pages(&mut self) -> Result<Vec<u8>> {
        let is_empty_rtree = |(table, tree): (&Table, &Option<TableTree>)| {
            let unsupported = plan::unsupported_reason(table, self.options.on_conflict);
            table.rtree.filter(|_| tree.is_none() && unsupported.is_none()).map(|rtree| (table.clone(), rtree))
        };
        let empty: Vec<_> = self.schema.tables.iter().zip(&self.trees).filter_map(is_empty_rtree).collect();
        for (table, rtree) in empty {
            let no_rows = OneChunk::new(RecordChunk::new());
            let trees = self.output.build_rtree(&table, rtree, &no_rows, &self.options)?;
            self.take_rtree(&trees);
        }
        self.build_other_full_texts()?;
        for (table, tree) in self.schema.tables.iter().zip(&mut self.trees) {
            if table.rtree.is_none()
                && tree.is_none()
                && plan::unsupported_reason(table, self.options.on_conflict).is_none()
            {
                *tree = Some(if table.without_rowid {
                    TableTree { root: build_empty(&mut self.output.pages)?, ..TableTree::default() }
                } else {
                    build_few(RecordChunk::new(), &mut self.output.pages)?
                });
                let mut empty = Vec::new();
                for plan in plan::indexes(table) {
                    self.roots.insert(plan.name.clone(), build_empty(&mut self.output.pages)?);
                    empty.push((plan.name, 0, Vec::new()));
                }
                if self.options.analyze {
                    self.statistics.extend(statistics::of_table(table, 0, &empty));
                }
            }
        }
        self.build_sequence()?;
        self.build_statistics()?;
        let placed = (1..).zip(&self.schema.objects).filter(|(_, object)| self.is_written(object));
        let objects: Vec<WrittenObject<'_>> =
            placed.map(|(rowid, object)| WrittenObject { rowid, object, root: self.root_of(object) }).collect();
        let (settings, page_size) = (self.schema.settings, self.output.pages.page_size());
        schema::build(&objects, &mut self.output.pages, |page_count| DatabaseHeader {
            write_version: if settings.wal { 2 } else { 1 },
            read_version: if settings.wal { 2 } else { 1 },
            change_counter: 1,
            version_valid_for: 1,
            page_count,
            schema_cookie: settings.schema_cookie,
            user_version: settings.user_version,
            application_id: settings.application_id,
            ..DatabaseHeader::new(page_size)
        })
    }

    /// Returns the root page of an object, or 0 if it has none. A trigger has none, even if it shares its name with a
    /// table.
    fn root_of(&self, object: &SchemaObject) -> u32 {
        if !object.has_btree {
            return 0;
        }
        if let Some(&root) = self.roots.get(&object.name) {
            return root;
        }
        let index = self.schema.position(&object.name);
        index.and_then(|index| self.trees[index].as_ref()).map_or(0, |tree| tree.root)
    }

    /// Builds `sqlite_sequence`, if the schema has it.
    fn build_sequence(&mut self) -> Result<()> {
        if !self.schema.objects.iter().any(|object| object.name == SQLITE_SEQUENCE) {
            return Ok(());
        }
        let trees = self.trees.iter().zip(&self.sequences);
        let filled = self.schema.tables.iter().zip(trees).filter_map(|(table, (tree, sequence))| {
            let tree = tree.as_ref().filter(|_| table.autoincrement)?;
            let last = (tree.rows > 0).then_some(tree.last_rowid.max(0)).max(*sequence)?;
            Some([table.name.as_str().into(), Value::Int(last)])
        });
        let rows = chunk_of(filled);
        self.roots.insert(SQLITE_SEQUENCE.to_owned(), build_few(rows, &mut self.output.pages)?.root);
        Ok(())
    }

    /// Builds `sqlite_stat1`, if statistics are wanted.
    fn build_statistics(&mut self) -> Result<()> {
        if self.options.analyze {
            let rows = chunk_of(self.statistics.iter().map(Statistic::values));
            self.roots.insert(SQLITE_STAT1.to_owned(), build_few(rows, &mut self.output.pages)?.root);
        }
        Ok(())
    }
}

/// Encodes rows as records, with rowids from 1 on.
fn chunk_of<'v, const COLUMNS: usize>(rows: impl Iterator<Item = [Value<'v>; COLUMNS]>) -> RecordChunk {
    let mut chunk = RecordChunk::new();
    let mut record = Vec::new();
    for (rowid, row) in (1..).zip(rows) {
        record.clear();
        record::write_record(&row, &mut record);
        chunk.push(rowid, &record);
    }
    chunk
}
