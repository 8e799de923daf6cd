//! Tries what a run does before its first row: for a plan that must fail where the run would, and for a writer whose rows a late failure
//! would lose. Nothing is written.

use crate::append::{definition_of, refuse_options, refuse_stale_indexes};
use crate::database::refuse_unfit_part;
use crate::options::Options;
use crate::publish::{Folder, check_future_file};
use crate::split::refuse_part_of_values;
use crate::sqlite::{SessionOptions, SqliteSession, updated_by_key};
use crate::{Conflict, Result, Schema, resources};
use litepress_rows::Table;
use litepress_rows::schema::SchemaAdditions;
use std::path::Path;

/// Fails as a new database would before its first row: a part cannot hold it, its file can have no database, or a table has no key to
/// update rows by. A database in its place is no error, because it may be replaced later.
///
/// `tables` are the positions of the tables that get rows, with the positions of the columns that the rows lack.
///
/// # Errors
/// The error of the build.
pub fn rehearse_build(
    schema: &Schema,
    file: Option<&Path>,
    options: &Options,
    tables: &[(usize, Vec<usize>)],
) -> Result<()> {
    if options.part {
        refuse_unfit_part(schema, options)?;
    }
    file.map_or(Ok(()), check_future_file)?;
    check_keys(schema, options, tables)
}

/// Does the same as [`rehearse_build`] for a folder with a database of each value.
///
/// # Errors
/// The error of the split.
pub fn rehearse_split(
    schema: &Schema,
    folder: Option<&Path>,
    options: &Options,
    tables: &[(usize, Vec<usize>)],
) -> Result<()> {
    refuse_part_of_values(options)?;
    folder.map_or(Ok(()), Folder::check_future)?;
    check_keys(schema, options, tables)
}

/// Fails if rows are to be updated in a table that has no key for that.
fn check_keys(schema: &Schema, options: &Options, tables: &[(usize, Vec<usize>)]) -> Result<()> {
    let mut tables = tables.iter().map(|(table, missing)| (&schema.tables[*table], missing));
    tables.try_for_each(|(table, missing)| check_update(table, options, missing))
}

/// Fails as an append would before its first row: an option is for new databases, SQLite refuses a column or an object that is added, or
/// a table has no key to update rows by. SQLite makes them in an empty database with the objects of `existing`, so that the database is
/// neither changed nor locked.
///
/// `schema` is the one with everything that is added. `tables` are the positions of the tables that get rows, with the positions of the
/// columns that the rows lack.
///
/// # Errors
/// The error of the append.
pub fn rehearse_additions(
    existing: &Schema,
    schema: &Schema,
    additions: &SchemaAdditions,
    options: &Options,
    tables: &[(usize, Vec<usize>)],
) -> Result<()> {
    check_append_options(options)?;
    refuse_stale_indexes(schema, options, tables.iter().map(|(table, _)| *table))?;
    if !additions.is_empty() {
        define(existing, additions, options)?;
    }
    tables.iter().try_for_each(|(table, missing)| check_update(&schema.tables[*table], options, missing))
}

/// Fails if an append cannot have these options: one is for new databases, or the folder for temporary files does not exist.
///
/// # Errors
/// The error of the append.
pub fn check_append_options(options: &Options) -> Result<()> {
    refuse_options(options)?;
    resources::bounded(options).map(drop)
}

/// Fails if rows are to update others, and the table has no key for that, or rows that lack the columns at the positions `missing`
/// have none.
///
/// # Errors
/// The error that SQLite's part of the work would meet.
pub fn check_update(table: &Table, options: &Options, missing: &[usize]) -> Result<()> {
    if options.on_conflict == Conflict::Update {
        updated_by_key(table, options, missing)?;
    }
    Ok(())
}

/// Makes the additions beside the objects that exist.
fn define(existing: &Schema, additions: &SchemaAdditions, options: &Options) -> Result<()> {
    let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let session = SqliteSession::scratch(SessionOptions { temp_dir, progress: options.progress.clone() })?;
    let mut unknown = Vec::new();
    for object in existing.objects.iter().filter(|object| !object.is_shadow && !object.name.starts_with("sqlite_")) {
        let Some(sql) = &object.sql else { continue };
        // A module or a function of an extension may be missing here.
        if session.define(sql, &object.name).is_err() {
            unknown.push(object.name.to_ascii_lowercase());
        }
    }
    let is_known = |table: &str| !unknown.contains(&table.to_ascii_lowercase());
    for (table, column) in additions.columns.iter().filter(|(table, _)| is_known(table)) {
        session.define(&definition_of(table, column), &format!("column {} of {table}", column.name))?;
    }
    for object in additions.objects.iter().filter(|object| is_known(&object.table)) {
        if let Some(sql) = &object.sql {
            session.define(sql, &format!("{} {}", object.kind, object.name))?;
        }
    }
    Ok(())
}
