//! Which tables rows are invented for.

use litepress_rows::schema::{Schema, Table};

/// Whether rows of this table are invented: not those of a virtual table, nor those of the tables that its module
/// made for itself by the same statement.
pub(crate) fn is_invented(schema: &Schema, table: &Table) -> bool {
    !schema.tables.iter().any(|other| other.is_virtual && (other.name == table.name || other.span == table.span))
}

/// The tables that rows are invented for, with their positions in the schema.
pub(crate) fn invented(schema: &Schema) -> impl Iterator<Item = (usize, &Table)> {
    schema.tables.iter().enumerate().filter(|(_, table)| is_invented(schema, table))
}
