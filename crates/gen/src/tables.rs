//! The tables whose rows are generated: all but virtual tables and the tables of their modules. And their statements.

use litepress_rows::schema::{Schema, Table};

/// Returns whether rows of this table are generated.
pub fn is_generated(schema: &Schema, table: &Table) -> bool {
    is_ordinary(&virtual_tables(schema), table)
}

/// Returns the tables whose rows are generated, with their positions in the schema.
pub fn generated_tables(schema: &Schema) -> impl Iterator<Item = (usize, &Table)> {
    let virtual_tables = virtual_tables(schema);
    schema.tables.iter().enumerate().filter(move |(_, table)| is_ordinary(&virtual_tables, table))
}

/// Returns the statement that made a table.
pub(crate) fn statement_of<'s>(schema: &'s Schema, table: &Table) -> Option<&'s str> {
    let object = schema.objects.iter().find(|object| object.kind == "table" && object.name == table.name)?;
    object.sql.as_deref()
}

fn virtual_tables(schema: &Schema) -> Vec<&Table> {
    schema.tables.iter().filter(|table| table.is_virtual).collect()
}

/// Returns whether a table was created by a statement of its own, and not by that of a virtual table.
fn is_ordinary(virtual_tables: &[&Table], table: &Table) -> bool {
    !virtual_tables.iter().any(|other| other.name == table.name || other.span == table.span)
}
