//! Reads tables and indexes with SQLite, and finds their b-trees in the report.

use litepress_check::{BtreeReport, Report};
use litepress_rows::schema::{Index, Table, TableKinds, table_of};
use litepress_rows::sqlite::open_immutable;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Longest list of tables on a page, and of columns of a table.
const MOST: usize = 500;

/// The objects of a schema.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) tables: Vec<Table>,
    /// Positions of a table and of its index, by the name of the index.
    indexes: HashMap<String, (usize, usize)>,
    /// Number of different keys of an index, by its name, as ANALYZE counted them.
    distinct: HashMap<String, u64>,
}

impl Objects {
    /// Reads the schema. It is empty if SQLite cannot read it, which the report tells.
    pub(crate) fn read(path: &Path, report: &Report) -> Self {
        open_immutable(path).and_then(|sqlite| Self::of(&sqlite, report)).unwrap_or_default()
    }

    fn of(sqlite: &Connection, report: &Report) -> rusqlite::Result<Self> {
        let kinds = TableKinds::read(sqlite)?;
        let trees = report.btrees.iter().skip(1).filter(|tree| tree.kind == litepress_check::BtreeKind::Table);
        let names = trees.map(|tree| tree.name.as_str()).chain(kinds.virtual_tables());
        let tables: Vec<Table> = names.filter_map(|name| table_of(sqlite, &kinds, name).ok().flatten()).collect();
        let indexes = tables.iter().enumerate().flat_map(|(table, found)| {
            found.indexes.iter().enumerate().map(move |(index, found)| (found.name.clone(), (table, index)))
        });
        let indexes = indexes.collect();
        Ok(Self { tables, indexes, distinct: distinct(sqlite).unwrap_or_default() })
    }

    /// Returns an index and its table.
    pub(crate) fn index(&self, name: &str) -> Option<(&Table, &Index)> {
        let (table, index) = *self.indexes.get(name)?;
        Some((&self.tables[table], &self.tables[table].indexes[index]))
    }

    /// Returns the b-trees for the page, in the order of the report.
    pub(crate) fn trees_json(&self, report: &Report) -> Value {
        report.btrees.iter().map(|tree| self.tree_json(tree)).collect()
    }

    fn tree_json(&self, tree: &BtreeReport) -> Value {
        let index = self.index(&tree.name).filter(|_| tree.kind == litepress_check::BtreeKind::Index);
        let columns = index.map(|(table, index)| column_names(table, index));
        json!({
            "name": tree.name,
            "kind": tree.kind.to_string(),
            "table": index.map_or(&tree.name, |(table, _)| &table.name),
            "columns": columns,
            "unique": index.is_some_and(|(_, index)| index.unique),
            "partial": index.is_some_and(|(_, index)| index.partial),
            "distinct": self.distinct.get(&tree.name),
            "root": tree.root,
            "depth": tree.depth,
            "rows": tree.entries,
            "interior_pages": tree.interior_pages,
            "leaf_pages": tree.leaf_pages,
            "overflow_pages": tree.overflow_pages,
            "payload_bytes": tree.payload_bytes,
            "free_bytes": tree.free_bytes,
            "sequential_leaves": tree.sequential_leaves,
        })
    }

    /// Returns the tables for the diagram of the schema.
    pub(crate) fn tables_json(&self) -> Value {
        self.tables.iter().take(MOST).map(table_json).collect()
    }
}

fn table_json(table: &Table) -> Value {
    let columns = table.columns.iter().take(MOST).map(|column| {
        json!({
            "name": column.name,
            "type": column.declared_type,
            "key": column.key_position.is_some(),
            "not_null": column.not_null,
        })
    });
    let references = table.foreign_keys.iter().map(|key| {
        let columns = key.columns.iter().filter_map(|column| table.columns.get(*column));
        json!({ "columns": columns.map(|column| &column.name).collect::<Vec<_>>(), "table": key.parent })
    });
    json!({
        "name": table.name,
        "columns": columns.collect::<Vec<_>>(),
        "references": references.collect::<Vec<_>>(),
        "without_rowid": table.without_rowid,
        "strict": table.strict,
        "virtual": table.is_virtual,
    })
}

/// Returns the names of the columns of an index, with DESC and a collation of its own.
fn column_names(table: &Table, index: &Index) -> Vec<String> {
    let name = |column: Option<usize>| column.and_then(|at| table.columns.get(at)).map(|column| column.name.as_str());
    let columns = index.columns.iter().map(|column| {
        let collation =
            if column.collation == "BINARY" { String::new() } else { format!(" COLLATE {}", column.collation) };
        let order = if column.descending { " DESC" } else { "" };
        format!("{}{collation}{order}", name(column.column).unwrap_or("(expression)"))
    });
    columns.collect()
}

/// Reads the numbers of different keys from `sqlite_stat1`, if the database has it.
fn distinct(sqlite: &Connection) -> rusqlite::Result<HashMap<String, u64>> {
    let mut statement = sqlite.prepare("SELECT idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    // An entry that is no text, as a program may write, is left out.
    Ok(rows.filter_map(|row| row.ok().and_then(|(index, stat)| Some((index, keys(&stat)?)))).collect())
}

/// Returns the number of different keys: the first number of a statistic is that of the rows, the last one that of rows a key.
fn keys(stat: &str) -> Option<u64> {
    let numbers: Vec<u64> = stat.split_whitespace().map_while(|word| word.parse().ok()).collect();
    match numbers[..] {
        [rows, .., per_key] if per_key > 0 => Some(rows.div_ceil(per_key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_any_form() {
        assert_eq!(keys("1000 10 1"), Some(1000));
        assert_eq!(keys("1000 300 unordered"), Some(4));
        assert_eq!(keys("1000"), None);
        assert_eq!(keys("7 0"), None);
        assert_eq!(keys("many"), None);
    }
}
