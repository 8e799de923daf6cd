//! Catalogs, tables, columns and constraints, as Arrow: databases that are attached are catalogs with one schema without a name.

use crate::error::{Result, failed, no_such_table, not_implemented, of_sqlite};
use crate::info::{Stream, stream};
use adbc_core::error::Status;
use adbc_core::options::ObjectDepth;
use adbc_core::schemas;
use arrow_array::{
    ArrayRef, BooleanArray, Int16Array, Int32Array, ListArray, RecordBatch, StringArray, StructArray, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Fields, Schema};
use litepress_rows::quoted_name;
use rusqlite::{Connection, Params};
use std::sync::Arc;

/// Filters of a look at objects: patterns of LIKE.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a> {
    pub depth: ObjectDepth,
    pub catalog: Option<&'a str>,
    pub schema: Option<&'a str>,
    pub table: Option<&'a str>,
    pub kinds: Option<&'a [&'a str]>,
    pub column: Option<&'a str>,
}

/// A table and its parts. `None` is below the depth.
struct TableObject {
    name: String,
    kind: String,
    columns: Option<Vec<ColumnObject>>,
    constraints: Option<Vec<Constraint>>,
}

struct ColumnObject {
    name: String,
    position: i32,
    declared_type: String,
    is_nullable: bool,
    default: Option<String>,
    is_generated: bool,
}

struct Constraint {
    kind: &'static str,
    columns: Vec<String>,
    /// Tables and columns that a foreign key refers to.
    usage: Option<Vec<(String, String)>>,
}

/// A catalog with the tables of its schema.
struct Catalog {
    name: String,
    /// `None` is below the depth, or filtered.
    tables: Option<Option<Vec<TableObject>>>,
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let select = || connection.prepare(sql)?.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>();
    select().map_err(|error| of_sqlite(&error))
}

/// Returns whether the depth reaches schemas, tables, columns.
fn reaches(depth: ObjectDepth) -> (bool, bool, bool) {
    match depth {
        ObjectDepth::Catalogs => (false, false, false),
        ObjectDepth::Schemas => (true, false, false),
        ObjectDepth::Tables => (true, true, false),
        ObjectDepth::All | ObjectDepth::Columns => (true, true, true),
    }
}

/// Looks at the objects of all attached databases. Without a connection there is an empty `main`.
pub fn objects(connection: Option<&Connection>, filters: Filters<'_>) -> Result<Stream> {
    let empty;
    let connection = match connection {
        Some(connection) => connection,
        None => {
            empty = Connection::open_in_memory().map_err(|error| of_sqlite(&error))?;
            &empty
        }
    };
    let sql = "SELECT name FROM temp.pragma_database_list WHERE name LIKE ?1 AND name NOT GLOB 'litepress_[0-9]*'";
    let names: Vec<String> = rows(connection, sql, [filters.catalog.unwrap_or("%")], |row| row.get(0))?;
    let (schemas, tables, _) = reaches(filters.depth);
    let has_schema = schemas && filters.schema.is_none_or(|schema| schema.is_empty() || schema == "%");
    let catalog = |name: String| {
        let found = if has_schema && tables { Some(find_tables(connection, &name, filters)?) } else { None };
        Ok(Catalog { name, tables: has_schema.then_some(found) })
    };
    let catalogs: Vec<Catalog> = names.into_iter().map(catalog).collect::<Result<_>>()?;
    let schema = schemas::GET_OBJECTS_SCHEMA.clone();
    let names: StringArray = catalogs.iter().map(|catalog| Some(catalog.name.as_str())).collect();
    let of_schemas = schema_lists(&catalogs, schemas, schema.field(1).data_type())?;
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(names), of_schemas])?;
    Ok(stream(schema, vec![batch]))
}

fn find_tables(connection: &Connection, catalog: &str, filters: Filters<'_>) -> Result<Vec<TableObject>> {
    let sql = format!(
        "SELECT name, type FROM {}.sqlite_schema WHERE type IN ('table', 'view') AND name LIKE ?1 ORDER BY rowid",
        quoted_name(catalog)
    );
    let found = rows(connection, &sql, [filters.table.unwrap_or("%")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let is_wanted = |(_, kind): &(String, String)| {
        filters.kinds.is_none_or(|kinds| kinds.is_empty() || kinds.contains(&kind.as_str()))
    };
    let (_, _, columns) = reaches(filters.depth);
    let table = |(name, kind): (String, String)| {
        let found = if columns { Some(find_columns(connection, catalog, &name, filters.column)?) } else { None };
        let constraints = if columns { Some(find_constraints(connection, catalog, &name)?) } else { None };
        Ok(TableObject { columns: found, constraints, name, kind })
    };
    found.into_iter().filter(is_wanted).map(table).collect()
}

fn find_columns(
    connection: &Connection,
    catalog: &str,
    table: &str,
    filter: Option<&str>,
) -> Result<Vec<ColumnObject>> {
    let sql = "SELECT name, cid, type, \"notnull\", dflt_value, hidden FROM temp.pragma_table_xinfo(?1, ?2)
               WHERE name LIKE ?3 AND hidden <> 1 ORDER BY cid";
    rows(connection, sql, [table, catalog, filter.unwrap_or("%")], |row| {
        Ok(ColumnObject {
            name: row.get(0)?,
            position: row.get::<_, i32>(1)? + 1,
            declared_type: row.get(2)?,
            is_nullable: row.get::<_, i32>(3)? == 0,
            default: row.get(4)?,
            is_generated: row.get::<_, i32>(5)? >= 2,
        })
    })
}

fn find_constraints(connection: &Connection, catalog: &str, table: &str) -> Result<Vec<Constraint>> {
    let mut constraints = Vec::new();
    let sql = "SELECT name FROM temp.pragma_table_xinfo(?1, ?2) WHERE pk > 0 ORDER BY pk";
    let key: Vec<String> = rows(connection, sql, [table, catalog], |row| row.get(0))?;
    if !key.is_empty() {
        constraints.push(Constraint { kind: "PRIMARY KEY", columns: key, usage: None });
    }
    let sql = "SELECT name FROM temp.pragma_index_list(?1, ?2) WHERE origin = 'u' ORDER BY seq DESC";
    for index in rows(connection, sql, [table, catalog], |row| row.get::<_, String>(0))? {
        let sql = "SELECT name FROM temp.pragma_index_info(?1, ?2) ORDER BY seqno";
        let columns = rows(connection, sql, [index.as_str(), catalog], |row| row.get(0))?;
        constraints.push(Constraint { kind: "UNIQUE", columns, usage: None });
    }
    let sql = "SELECT id, \"table\", \"from\", coalesce(\"to\", '') FROM temp.pragma_foreign_key_list(?1, ?2) ORDER BY id, seq";
    let mut last = None;
    let links = rows(connection, sql, [table, catalog], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    })?;
    for (id, parent, from, to) in links {
        if last.replace(id) != Some(id) {
            constraints.push(Constraint { kind: "FOREIGN KEY", columns: Vec::new(), usage: Some(Vec::new()) });
        }
        let Some(constraint) = constraints.last_mut() else { continue };
        constraint.columns.push(from);
        constraint.usage.get_or_insert_default().push((parent, to));
    }
    Ok(constraints)
}

/// Returns the field type of the values of a list, and the fields of its structs.
fn fields_of(list: &DataType) -> Result<(Arc<arrow_schema::Field>, Fields)> {
    if let DataType::List(field) = list {
        let fields = if let DataType::Struct(fields) = field.data_type() { fields.clone() } else { Fields::empty() };
        return Ok((field.clone(), fields));
    }
    Err(failed(Status::Internal, format!("{list} is no list")))
}

/// Makes lists of these lengths; `None` is NULL.
fn lists(list: &DataType, lengths: &[Option<usize>], values: ArrayRef) -> Result<ArrayRef> {
    let (field, _) = fields_of(list)?;
    let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0)));
    let nulls: NullBuffer = lengths.iter().map(Option::is_some).collect::<Vec<bool>>().into();
    Ok(Arc::new(ListArray::try_new(field, offsets, values, Some(nulls))?))
}

/// Makes structs of the first fields; the others are NULL.
fn structs(fields: &Fields, mut arrays: Vec<ArrayRef>, count: usize) -> Result<ArrayRef> {
    for field in &fields[arrays.len()..] {
        arrays.push(new_null_array(field.data_type(), count));
    }
    Ok(Arc::new(StructArray::try_new(fields.clone(), arrays, None)?))
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn schema_lists(catalogs: &[Catalog], has_schemas: bool, list: &DataType) -> Result<ArrayRef> {
    let (_, fields) = fields_of(list)?;
    let lengths: Vec<Option<usize>> =
        catalogs.iter().map(|catalog| has_schemas.then_some(usize::from(catalog.tables.is_some()))).collect();
    let schemas: Vec<&Option<Vec<TableObject>>> =
        catalogs.iter().filter_map(|catalog| catalog.tables.as_ref()).collect();
    let names = texts(schemas.iter().map(|_| Some("")));
    let of_tables = table_lists(&schemas, fields[1].data_type())?;
    lists(list, &lengths, structs(&fields, vec![names, of_tables], schemas.len())?)
}

fn table_lists(schemas: &[&Option<Vec<TableObject>>], list: &DataType) -> Result<ArrayRef> {
    let (_, fields) = fields_of(list)?;
    let lengths: Vec<Option<usize>> = schemas.iter().map(|tables| tables.as_ref().map(Vec::len)).collect();
    let tables: Vec<&TableObject> = schemas.iter().filter_map(|tables| tables.as_ref()).flatten().collect();
    let arrays = vec![
        texts(tables.iter().map(|table| Some(table.name.as_str()))),
        texts(tables.iter().map(|table| Some(table.kind.as_str()))),
        column_lists(&tables, fields[2].data_type())?,
        constraint_lists(&tables, fields[3].data_type())?,
    ];
    lists(list, &lengths, structs(&fields, arrays, tables.len())?)
}

fn column_lists(tables: &[&TableObject], list: &DataType) -> Result<ArrayRef> {
    let (_, fields) = fields_of(list)?;
    let lengths: Vec<Option<usize>> = tables.iter().map(|table| table.columns.as_ref().map(Vec::len)).collect();
    let columns: Vec<&ColumnObject> = tables.iter().filter_map(|table| table.columns.as_ref()).flatten().collect();
    let nullable = |column: &&ColumnObject| Some(i16::from(column.is_nullable));
    let nullable_word = |column: &&ColumnObject| Some(if column.is_nullable { "YES" } else { "NO" });
    let array = |field: &Arc<arrow_schema::Field>| -> ArrayRef {
        match field.name().as_str() {
            "column_name" => texts(columns.iter().map(|column| Some(column.name.as_str()))),
            "ordinal_position" => Arc::new(columns.iter().map(|column| Some(column.position)).collect::<Int32Array>()),
            "xdbc_type_name" => texts(columns.iter().map(|column| Some(column.declared_type.as_str()))),
            "xdbc_nullable" => Arc::new(columns.iter().map(nullable).collect::<Int16Array>()),
            "xdbc_column_def" => texts(columns.iter().map(|column| column.default.as_deref())),
            "xdbc_is_nullable" => texts(columns.iter().map(nullable_word)),
            "xdbc_is_generatedcolumn" => {
                Arc::new(columns.iter().map(|column| Some(column.is_generated)).collect::<BooleanArray>())
            }
            _ => new_null_array(field.data_type(), columns.len()),
        }
    };
    let arrays = fields.iter().map(array).collect();
    lists(list, &lengths, structs(&fields, arrays, columns.len())?)
}

fn constraint_lists(tables: &[&TableObject], list: &DataType) -> Result<ArrayRef> {
    let (_, fields) = fields_of(list)?;
    let lengths: Vec<Option<usize>> = tables.iter().map(|table| table.constraints.as_ref().map(Vec::len)).collect();
    let all: Vec<&Constraint> = tables.iter().filter_map(|table| table.constraints.as_ref()).flatten().collect();
    let name_lengths: Vec<Option<usize>> = all.iter().map(|constraint| Some(constraint.columns.len())).collect();
    let names = texts(all.iter().flat_map(|constraint| &constraint.columns).map(|name| Some(name.as_str())));
    let arrays = vec![
        texts(all.iter().map(|_| None)),
        texts(all.iter().map(|constraint| Some(constraint.kind))),
        lists(fields[2].data_type(), &name_lengths, names)?,
        usage_lists(&all, fields[3].data_type())?,
    ];
    lists(list, &lengths, structs(&fields, arrays, all.len())?)
}

fn usage_lists(constraints: &[&Constraint], list: &DataType) -> Result<ArrayRef> {
    let (_, fields) = fields_of(list)?;
    let lengths: Vec<Option<usize>> =
        constraints.iter().map(|constraint| constraint.usage.as_ref().map(Vec::len)).collect();
    let usage: Vec<&(String, String)> =
        constraints.iter().filter_map(|constraint| constraint.usage.as_ref()).flatten().collect();
    let arrays = vec![
        texts(usage.iter().map(|_| Some("main"))),
        texts(usage.iter().map(|_| Some(""))),
        texts(usage.iter().map(|(table, _)| Some(table.as_str()))),
        texts(usage.iter().map(|(_, column)| Some(column.as_str()))),
    ];
    lists(list, &lengths, structs(&fields, arrays, usage.len())?)
}

/// Returns the kinds of tables.
pub fn table_types() -> Result<Stream> {
    let schema = schemas::GET_TABLE_TYPES_SCHEMA.clone();
    let batch = RecordBatch::try_new(schema.clone(), vec![texts(["table", "view"].into_iter().map(Some))])?;
    Ok(stream(schema, vec![batch]))
}

/// Returns the query whose result has the schema of a table.
pub fn query_of_table(catalog: Option<&str>, schema: Option<&str>, table: &str) -> Result<String> {
    if schema.is_some_and(|schema| !schema.is_empty()) {
        return Err(not_implemented("a schema within a database"));
    }
    Ok(format!("SELECT * FROM {}.{}", quoted_name(catalog.unwrap_or("main")), quoted_name(table)))
}

/// Returns an error for a table that is not there.
pub fn no_table(table: &str) -> adbc_core::error::Error {
    no_such_table(format!("there is no table {table}"))
}

/// Returns an empty schema.
pub fn no_columns() -> Arc<Schema> {
    Arc::new(Schema::empty())
}
