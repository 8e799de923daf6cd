//! The columns that follow the rowids of a table, over any number of foreign keys.
//!
//! ```text
//! shipment.order_id -> line.order_id -> orders.id      both columns follow the rowids of orders
//! ```
//!
//! An INTEGER PRIMARY KEY ends such a chain: columns that refer to it follow the rowids of its own table.

use litepress_rows::Schema;
use std::collections::{HashMap, HashSet};

/// A column: the position of its table, and its position there.
pub(crate) type Place = (usize, usize);

/// The foreign keys of a schema, column by column.
#[derive(Debug)]
pub(crate) struct ForeignKeys {
    /// The columns that a column refers to.
    parents: HashMap<Place, Vec<Place>>,
    /// The tables whose rowids a column follows, ascending.
    followed: HashMap<Place, Vec<usize>>,
}

impl ForeignKeys {
    /// Finds the foreign keys of a schema. Those to a table or column that is missing do not count.
    pub fn of_schema(schema: &Schema) -> Self {
        let mut parents: HashMap<Place, Vec<Place>> = HashMap::new();
        let mut children: HashMap<Place, Vec<Place>> = HashMap::new();
        for (child, parent) in (0..schema.tables.len()).flat_map(|table| pairs(schema, table)) {
            parents.entry(child).or_default().push(parent);
            children.entry(parent).or_default().push(child);
        }
        let mut followed: HashMap<Place, Vec<usize>> = HashMap::new();
        for (at, table) in schema.tables.iter().enumerate() {
            let Some(alias) = table.rowid_alias else { continue };
            for column in followers(schema, &children, (at, alias)) {
                followed.entry(column).or_default().push(at);
            }
        }
        Self { parents, followed }
    }

    /// Returns the columns that a column refers to.
    pub fn parents(&self, column: Place) -> &[Place] {
        self.parents.get(&column).map_or(&[], Vec::as_slice)
    }

    /// Returns the tables whose rowids a column follows.
    pub fn followed(&self, column: Place) -> &[usize] {
        self.followed.get(&column).map_or(&[], Vec::as_slice)
    }
}

/// Returns each column of a table that refers to another column, with that one.
fn pairs(schema: &Schema, table: usize) -> Vec<(Place, Place)> {
    let mut found = Vec::new();
    for key in &schema.tables[table].foreign_keys {
        let Some(at) = schema.position(&key.parent) else { continue };
        let parent = &schema.tables[at];
        let columns: Vec<Option<usize>> = if key.parent_columns.is_empty() {
            let mut primary: Vec<usize> = (0..parent.columns.len()).collect();
            primary.retain(|&column| parent.columns[column].key_position.is_some());
            primary.sort_by_key(|&column| parent.columns[column].key_position);
            primary.into_iter().map(Some).collect()
        } else {
            key.parent_columns.iter().map(|name| parent.column(name)).collect()
        };
        let pairs = key.columns.iter().zip(columns);
        found.extend(pairs.filter_map(|(&child, column)| Some(((table, child), (at, column?)))));
    }
    found
}

/// Returns the columns that follow an INTEGER PRIMARY KEY.
fn followers(schema: &Schema, children: &HashMap<Place, Vec<Place>>, key: Place) -> HashSet<Place> {
    let (mut found, mut waiting) = (HashSet::new(), vec![key]);
    while let Some(parent) = waiting.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            let is_end = schema.tables[child.0].rowid_alias == Some(child.1);
            if child != key && found.insert(child) && !is_end {
                waiting.push(child);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tables that columns follow, such as `line.order_id: orders`.
    fn followed(sql: &str) -> Vec<String> {
        let schema = Schema::from_sql(sql, "<test>").expect("a valid schema");
        let keys = ForeignKeys::of_schema(&schema);
        let mut found = Vec::new();
        for (at, table) in schema.tables.iter().enumerate() {
            for (column, named) in table.columns.iter().enumerate() {
                let names: Vec<&str> =
                    keys.followed((at, column)).iter().map(|&at| schema.tables[at].name.as_str()).collect();
                if !names.is_empty() {
                    found.push(format!("{}.{}: {}", table.name, named.name, names.join(" ")));
                }
            }
        }
        found
    }

    #[test]
    fn chains_and_cycles_are_followed_up_to_the_next_integer_primary_key() {
        let chain = "CREATE TABLE a (x REFERENCES b); CREATE TABLE b (y INT PRIMARY KEY REFERENCES p) WITHOUT ROWID;
            CREATE TABLE p (id INTEGER PRIMARY KEY, boss REFERENCES p)";
        assert_eq!(followed(chain), ["a.x: p", "b.y: p", "p.boss: p"]);
        let cycle = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE a (x UNIQUE REFERENCES b(y), z);
            CREATE TABLE b (y UNIQUE REFERENCES a(x), w REFERENCES gone, FOREIGN KEY (y) REFERENCES P)";
        assert_eq!(followed(cycle), ["a.x: p", "b.y: p"]);
        let ended = "CREATE TABLE p (id INTEGER PRIMARY KEY REFERENCES c); CREATE TABLE d (id INTEGER PRIMARY KEY REFERENCES p);
            CREATE TABLE c (d PRIMARY KEY REFERENCES d, n, FOREIGN KEY (n, d) REFERENCES pair)
            ; CREATE TABLE pair (d REFERENCES p, n REFERENCES d, PRIMARY KEY (n, d))";
        assert_eq!(followed(ended), ["p.id: d", "d.id: p", "c.d: p d", "c.n: d", "pair.d: p", "pair.n: d"]);
    }
}
