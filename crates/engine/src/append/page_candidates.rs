//! The state of tables before their rows are read: it decides whether rows become leaf pages, and with which rowids.

use super::AppendOptions;
use super::choice::{LEAST_ROWS, TableEdge, why_not_table};
use crate::live::LiveDatabase;
use crate::options::Options;
use crate::resources::live_blocks;
use crate::sink::block::BlockPool;
use crate::spool::Leaves;
use crate::{Route, Schema};
use litepress_format::page::PageSize;
use litepress_rows::schema::Generated;
use litepress_rows::{Source, Table, quoted_name};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The tables of a database before rows are read, by their positions in the schema: those whose rows may become leaf pages.
#[derive(Clone, Default)]
pub struct PageCandidates(HashMap<usize, Leaves>);

impl fmt::Debug for PageCandidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PageCandidates").field(&self.0.keys()).finish()
    }
}

impl PageCandidates {
    /// Looks at these tables of a database, which get rows of these sources. Looks at none if their rows are few: SQLite inserts them.
    #[must_use]
    pub fn for_sources(
        path: &Path,
        schema: &Schema,
        options: &Options,
        append: &AppendOptions,
        sources: &[(usize, &dyn Source)],
    ) -> Self {
        let rows = sources.iter().map(|(_, source)| source.rows()).sum::<Option<u64>>();
        // The numbers of rows may be estimates.
        if append.route.is_none() && rows.is_some_and(|rows| rows < LEAST_ROWS / 2) {
            return Self::default();
        }
        let tables: Vec<usize> = sources.iter().map(|(table, _)| *table).collect();
        Self::of(path, schema, options, append, &tables)
    }

    /// Looks at these tables of a database. It finds none if SQLite inserts the rows anyway, or if the database cannot be looked at now:
    /// all is decided again under the lock of writers.
    #[must_use]
    pub fn of(path: &Path, schema: &Schema, options: &Options, append: &AppendOptions, tables: &[usize]) -> Self {
        let is_refused = append.route.is_some_and(|route| route != Route::Edge && !append.truncate);
        if append.enforce_foreign_keys || is_refused {
            return Self::default();
        }
        let Some(database) = LiveDatabase::open(path, &append.live(options)).ok().and_then(Result::ok) else {
            return Self::default();
        };
        let pool = BlockPool::new(live_blocks(options, 1));
        let leaves = |&position: &usize| {
            let table = &schema.tables[position];
            // Computed columns hang on the rowid, which is known under the lock.
            let has_computed = table.columns.iter().any(|column| column.generated != Generated::No);
            let is_ours = !has_computed && why_not_table(schema, table, options).is_none();
            Some((position, is_ours.then(|| look(database.connection(), table, append.truncate, &pool))??))
        };
        Self(tables.iter().filter_map(leaves).collect())
    }

    /// Returns the leaf pages that the rows of a table become; `None` if they become none.
    pub(super) fn leaves(&self, table: usize) -> Option<Leaves> {
        self.0.get(&table).cloned()
    }
}

/// Looks at a table, whose rows may be deleted before. Returns `None` if another program keeps the database locked, SQLite would
/// choose random rowids, or texts must be brought into UTF-16 first.
fn look(connection: &Connection, table: &Table, truncates: bool, pool: &Arc<BlockPool>) -> Option<Leaves> {
    let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0)).ok()?;
    if encoding != "UTF-8" {
        return None;
    }
    let bytes: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).ok()?;
    let edge = edge_of(connection, table, truncates).ok()??;
    let (page_size, has_alias) = (PageSize::new(bytes)?, table.rowid_alias.is_some());
    Some(Leaves::new(page_size, edge.largest_rowid, edge.shift()?, has_alias, pool.clone()))
}

/// Returns the last rowid of a table, whose rows may be deleted before. `None` if no name of the rowid is left.
pub(super) fn edge_of(connection: &Connection, table: &Table, truncates: bool) -> rusqlite::Result<Option<TableEdge>> {
    let Some(rowid) = table.rowid_name() else { return Ok(None) };
    let largest = format!("SELECT max({rowid}) FROM main.{}", quoted_name(&table.name));
    let largest_rowid = if truncates { None } else { connection.query_row(&largest, [], |row| row.get(0))? };
    let sequence =
        "SELECT coalesce(CAST(seq AS INTEGER), 0) FROM sqlite_sequence WHERE name = ?1 ORDER BY rowid LIMIT 1";
    let sequence = match table.autoincrement {
        true => connection.query_row(sequence, [&table.name], |row| row.get(0)).optional()?,
        false => None,
    };
    Ok(Some(TableEdge { largest_rowid, sequence }))
}
