//! Computes `sqlite_stat1` for SQLite's planner: the mean number of rows per key, for each number of leading columns.
//!
//! `ANALYZE` reads every index again for this. Here all entries pass in order while their tree is written. The first
//! difference between an item and its predecessor tells which keys are new.
//!
//! ```text
//! sqlite_stat1(tbl, idx, stat)
//!   'orders', 'by_customer', '1000000 20 1'     rows; rows per customer; rows per customer and date
//!   'log',    NULL,          '5000'             a table without an index of all its rows
//! ```

use litepress_format::value::Value;
use litepress_rows::Table;
use litepress_rows::schema::{Schema, SchemaObject};

/// The table that SQLite's planner reads.
pub(crate) const SQLITE_STAT1: &str = "sqlite_stat1";

/// Adds the table of statistics to a schema, as ANALYZE does if the table is missing.
pub(crate) fn define(schema: &mut Schema) {
    schema.settings.schema_cookie += 1;
    schema.objects.push(SchemaObject {
        kind: "table".to_owned(),
        name: SQLITE_STAT1.to_owned(),
        table: SQLITE_STAT1.to_owned(),
        is_shadow: false,
        has_btree: true,
        sql: Some(format!("CREATE TABLE {SQLITE_STAT1}(tbl,idx,stat)")),
    });
}

/// One row of `sqlite_stat1`.
#[derive(Debug)]
pub(crate) struct Statistic {
    table: String,
    /// The index, or the table itself for the key of a WITHOUT ROWID table. `None` if the row describes the whole
    /// table.
    index: Option<String>,
    stat: String,
}

impl Statistic {
    pub fn values(&self) -> [Value<'_>; 3] {
        let index = self.index.as_deref().map_or(Value::Null, Value::from);
        [self.table.as_str().into(), index, self.stat.as_str().into()]
    }
}

/// Returns the rows of ANALYZE for a table of `rows` rows. `trees` are the trees that litepress wrote: their names, numbers of
/// entries, and numbers of distinct keys. Without entries, only a partial index has statistics.
pub(crate) fn of_table(table: &Table, rows: u64, trees: &[(String, u64, Vec<u64>)]) -> Vec<Statistic> {
    let statistic = |index, stat| Statistic { table: table.name.clone(), index, stat };
    let of_tree = |(name, entries, distinct): &(String, u64, Vec<u64>)| {
        if *entries == 0 {
            let index = table.indexes.iter().find(|index| index.name == *name && index.partial)?;
            return Some(statistic(Some(name.clone()), "0".to_owned() + &" 0".repeat(index.columns.len())));
        }
        let takes_nulls_for_distinct = takes_nulls_for_distinct(table, name) && distinct[0] > 1;
        let distinct = if takes_nulls_for_distinct { &[*entries] } else { distinct.as_slice() };
        Some(statistic(Some(name.clone()), stat(*entries, distinct)))
    };
    let mut statistics: Vec<Statistic> = trees.iter().filter_map(of_tree).collect();
    if rows > 0 && table.indexes.iter().all(|index| index.partial) {
        statistics.push(statistic(None, rows.to_string()));
    }
    statistics
}

/// Returns the row of ANALYZE for a table without indexes, if it has rows.
pub(crate) fn of_rows(table: &str, rows: u64) -> Option<Statistic> {
    (rows > 0).then(|| Statistic { table: table.to_owned(), index: None, stat: rows.to_string() })
}

/// Returns whether ANALYZE counts NULLs as distinct. In a unique index of one column it stops comparing after the
/// first key that is not NULL; if the column descends, the NULLs come last.
fn takes_nulls_for_distinct(table: &Table, name: &str) -> bool {
    let index = table.indexes.iter().find(|index| index.name == name && index.unique);
    index.is_some_and(|index| matches!(&index.columns[..], [only] if only.descending) && index.appended.len() <= 1)
}

/// Returns `rows mean mean ...`. A mean is the number of rows per key, rounded up, except that 1.1 and less give 1.
fn stat(rows: u64, distinct: &[u64]) -> String {
    let mean = |&distinct: &u64| match rows.div_ceil(distinct) {
        2 if rows * 10 <= distinct * 11 => " 1".to_owned(),
        mean => format!(" {mean}"),
    };
    rows.to_string() + &distinct.iter().map(mean).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_rounded_as_sqlite_does() {
        assert_eq!(stat(11, &[10, 9, 1]), "11 1 2 11");
        assert_eq!(stat(1, &[1]), "1 1");
    }
}
