//! Foreign keys: the rows to which a column refers.

use super::keys::primary_key;
use litepress_rows::schema::{Column, ForeignKey, Schema, Table};

/// The parent's column that a column of a foreign key refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Position of the parent table.
    pub table: usize,
    /// Position of the column there.
    pub column: usize,
    /// Position of the foreign key among those of the table.
    pub key: usize,
}

/// The effect of foreign keys on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// No foreign key restricts the column.
    None,
    /// The column refers to this one.
    Single(Parent),
    /// Inference is impossible, for this reason: the parent or its key does not exist, or several foreign keys
    /// contradict each other.
    Unclear(String),
}

/// Returns what a column refers to, if that is a row of another table.
pub(crate) fn other_parent(schema: &Schema, table: usize, column: usize) -> Option<Parent> {
    match reference(schema, &schema.tables[table], column) {
        Reference::Single(parent) if parent.table != table => Some(parent),
        _ => None,
    }
}

/// Returns the effect of foreign keys on a column. Of several, the one with the most columns counts if it implies the
/// others.
pub fn reference(schema: &Schema, table: &Table, position: usize) -> Reference {
    let mut parents = Vec::new();
    let mut why = None;
    for key in keys_of(table, position) {
        match parent(schema, table, key, position) {
            Ok(parent) => parents.push(parent),
            Err(message) => why = why.or(Some(message)),
        }
    }
    if parents.is_empty() {
        return why.map_or(Reference::None, Reference::Unclear);
    }
    let Some(own) = owner(schema, table, position) else { return Reference::None };
    let shared = |&&column: &&usize| owner(schema, table, column).is_none_or(|other| other.key != own.key);
    if let Some(&column) = table.foreign_keys[own.key].columns.iter().find(shared) {
        let other = &table.columns[column].name;
        return Reference::Unclear(format!("another foreign key decides about {other}, which is part of its own"));
    }
    let is_alone = |other: &&Parent| table.foreign_keys[other.key].columns.len() == 1 && other.key != own.key;
    let is_met = |other: &Parent| leads_to(schema, (own.table, own.column), (other.table, other.column), 0);
    if !parents.iter().filter(is_alone).all(is_met) {
        return Reference::Unclear("it is in several foreign keys".to_owned());
    }
    Reference::Single(own)
}

/// Returns the foreign keys of a column, by their positions.
fn keys_of(table: &Table, position: usize) -> impl Iterator<Item = usize> {
    (0..table.foreign_keys.len()).filter(move |&key| table.foreign_keys[key].columns.contains(&position))
}

/// Returns the parent in the foreign key that decides a column: the one with the most columns. Foreign keys that a
/// row meets by itself do not count.
fn owner(schema: &Schema, table: &Table, position: usize) -> Option<Parent> {
    let known = keys_of(table, position).filter_map(|key| parent(schema, table, key, position).ok());
    let others = known.filter(|parent| parent.column != position || !is_table(schema, parent.table, table));
    // Keeps the first of equals, whereas `max_by_key` keeps the last.
    let width = |parent: &Parent| table.foreign_keys[parent.key].columns.len();
    others.reduce(|one, other| if width(&other) > width(&one) { other } else { one })
}

fn is_table(schema: &Schema, position: usize, table: &Table) -> bool {
    schema.tables[position].name == table.name
}

/// Returns whether foreign keys imply that every value of one column is a value of another.
fn leads_to(schema: &Schema, from: (usize, usize), to: (usize, usize), steps: usize) -> bool {
    const MOST_STEPS: usize = 16;
    let of_table = &schema.tables[from.0];
    let next = |key| parent(schema, of_table, key, from.1).ok();
    let leads = |parent: Parent| leads_to(schema, (parent.table, parent.column), to, steps + 1);
    from == to || steps < MOST_STEPS && keys_of(of_table, from.1).filter_map(next).any(leads)
}

/// Returns whether a foreign key of the column refers to an existing table and key.
pub fn refers(schema: &Schema, table: &Table, position: usize) -> bool {
    owner(schema, table, position).is_some()
}

/// Returns the parent of a column in a foreign key, or the reason why there is none.
fn parent(schema: &Schema, table: &Table, key: usize, position: usize) -> std::result::Result<Parent, String> {
    let ForeignKey { columns, parent, parent_columns, .. } = &table.foreign_keys[key];
    let found = schema.position(parent).ok_or_else(|| format!("the schema has no table {parent}"))?;
    let of = &schema.tables[found];
    let place = columns.iter().position(|&column| column == position).unwrap_or_default();
    let column = match parent_columns.get(place) {
        Some(name) => of.column(name).ok_or_else(|| format!("{parent} has no column {name}"))?,
        None => match &primary_key(of)[..] {
            parts if parts.len() == columns.len() => parts[place],
            _ if columns.len() == 1 => return Err(format!("{parent} has no primary key of one column")),
            _ => return Err(format!("{parent} has no primary key of {} columns", columns.len())),
        },
    };
    Ok(Parent { table: found, column, key })
}

/// Returns whether a column refers to rows of its own table.
pub(crate) fn is_to_itself(schema: &Schema, table: &Table, column: usize) -> bool {
    matches!(reference(schema, table, column), Reference::Single(parent) if is_table(schema, parent.table, table))
}

/// Returns whether a foreign key refers to the column.
pub(super) fn is_referred(schema: &Schema, table: &Table, column: &Column) -> bool {
    let keys = schema.tables.iter().flat_map(|table| &table.foreign_keys);
    let mut to_table = keys.filter(|key| key.parent.eq_ignore_ascii_case(&table.name));
    to_table.any(|key| key.parent_columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name)))
}
