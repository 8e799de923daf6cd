//! Which tables rows are invented for.

use litepress_rows::schema::{Schema, Table};

/// Whether rows of this table are invented: not those of a virtual table, nor those of the tables that its module
/// made for itself by the same statement.
pub(crate) fn is_invented(schema: &Schema, table: &Table) -> bool {
    is_apart(&virtual_tables(schema), table)
}

/// The tables that rows are invented for, with their positions in the schema.
pub(crate) fn invented(schema: &Schema) -> impl Iterator<Item = (usize, &Table)> {
    let virtual_tables = virtual_tables(schema);
    schema.tables.iter().enumerate().filter(move |(_, table)| is_apart(&virtual_tables, table))
}

fn virtual_tables(schema: &Schema) -> Vec<&Table> {
    schema.tables.iter().filter(|table| table.is_virtual).collect()
}

fn is_apart(virtual_tables: &[&Table], table: &Table) -> bool {
    !virtual_tables.iter().any(|other| other.name == table.name || other.span == table.span)
}
