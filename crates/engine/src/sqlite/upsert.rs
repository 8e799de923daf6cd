//! The clause of an INSERT that updates the row with the same key.

use crate::{Error, ErrorKind, Options, Result};
use litepress_rows::schema::IndexOrigin;
use litepress_rows::{OptionName, Table, message, quoted_name};

/// Returns ` ON CONFLICT (...) DO UPDATE SET ...` for rows that lack the columns at the positions `missing`.
///
/// # Errors
/// If the table has no such key, it has several and none is named, or the rows lack a column of it.
pub(super) fn upsert_clause(table: &Table, options: &Options, missing: &[usize]) -> Result<String> {
    let (key, columns) = updated_by_key(table, options, missing)?;
    let name = |column: &usize| quoted_name(&table.columns[*column].name);
    let target = key.iter().map(name).collect::<Vec<_>>().join(", ");
    if columns.is_empty() {
        return Ok(format!(" ON CONFLICT ({target}) DO NOTHING"));
    }
    let set: Vec<String> = columns.iter().map(name).map(|name| format!("{name} = excluded.{name}")).collect();
    Ok(format!(" ON CONFLICT ({target}) DO UPDATE SET {}", set.join(", ")))
}

/// Returns the columns of the key that decides which row is updated, and the columns that are updated, for rows that lack the
/// columns at the positions `missing`.
///
/// # Errors
/// As [`upsert_clause`].
pub(crate) fn updated_by_key(table: &Table, options: &Options, missing: &[usize]) -> Result<(Vec<usize>, Vec<usize>)> {
    let wrong = |message: litepress_rows::Message| Error::new(ErrorKind::Usage, message).in_table(&table.name);
    if table.is_virtual {
        let policy = OptionName::OnConflict.word("update").given();
        return Err(wrong(message![policy, ": a virtual table has no key to update by"]));
    }
    let key = key(table, &options.key)?;
    if let Some(&column) = key.iter().find(|column| missing.contains(column)) {
        let policy = OptionName::OnConflict.word("update").given();
        let name = &table.columns[column].name;
        return Err(wrong(message![policy, format!(": the data lack the column {name} of the key")])
            .advise(message!["name another unique key with ", OptionName::Key.alone()]));
    }
    let columns = updated_columns(table, options, &key, missing)?;
    Ok((key, columns))
}

/// Returns the columns of the key that decides which row is updated.
fn key(table: &Table, named: &[String]) -> Result<Vec<usize>> {
    let wrong = |message: String| Error::new(ErrorKind::Usage, message).in_table(&table.name);
    let keys = keys(table);
    let listed = || {
        let names = |key: &Vec<usize>| {
            let names: Vec<&str> = key.iter().map(|&column| table.columns[column].name.as_str()).collect();
            names.join(",")
        };
        keys.iter().map(names).collect::<Vec<String>>().join(" and ")
    };
    if keys.is_empty() {
        let message = "the table has no PRIMARY KEY and no unique key to update rows by".to_owned();
        return Err(
            wrong(message).advise("create a UNIQUE index, or add the rows of this table separately, without updates")
        );
    }
    if !named.is_empty() {
        let named_columns = columns_named(table, named, OptionName::Key)?;
        let is_it = |key: &&Vec<usize>| {
            key.len() == named_columns.len() && key.iter().all(|column| named_columns.contains(column))
        };
        let found = keys.iter().find(is_it).cloned();
        let message = || format!("the columns {} are no unique key of the table", named.join(","));
        return found.ok_or_else(|| wrong(message()).advise(format!("its keys are {}", listed())));
    }
    if table.rowid_alias.is_some() || table.primary_index().is_some() || keys.len() == 1 {
        return Ok(keys.into_iter().next().expect("there is one"));
    }
    let message = format!("the table has no PRIMARY KEY, and {} unique keys: {}", keys.len(), listed());
    Err(wrong(message).advise(message!["say which one decides with ", OptionName::Key.alone()]))
}

/// Returns the columns of each key, the primary key first.
fn keys(table: &Table) -> Vec<Vec<usize>> {
    let mut keys: Vec<Vec<usize>> = table.rowid_alias.map(|column| vec![column]).into_iter().collect();
    let mut indexes: Vec<_> = table.indexes.iter().filter(|index| index.unique && !index.partial).collect();
    indexes.sort_by_key(|index| index.origin != IndexOrigin::PrimaryKey);
    for index in indexes {
        let columns: Option<Vec<usize>> = index.columns.iter().map(|column| column.column).collect();
        keys.extend(columns.filter(|columns| !keys.contains(columns)));
    }
    keys
}

fn updated_columns(table: &Table, options: &Options, key: &[usize], missing: &[usize]) -> Result<Vec<usize>> {
    if options.update_columns.is_empty() {
        let is_updated = |column: &usize| !key.contains(column) && !missing.contains(column);
        return Ok(table.ordinary_columns().filter(is_updated).collect());
    }
    let columns = columns_named(table, &options.update_columns, OptionName::UpdateColumns)?;
    if let Some(&column) = columns.iter().find(|column| missing.contains(column)) {
        let given = OptionName::UpdateColumns.word(table.columns[column].name.clone()).given();
        let error = Error::new(ErrorKind::Usage, message![given, ": the data lack this column"]);
        return Err(error.in_table(&table.name).advise("leave the column out, or give it values"));
    }
    Ok(columns)
}

/// Returns the positions of the columns that an option names.
fn columns_named(table: &Table, names: &[String], option: OptionName) -> Result<Vec<usize>> {
    let position = |name: &String| {
        let found = table.column(name).filter(|column| table.ordinary_columns().any(|ordinary| ordinary == *column));
        found.ok_or_else(|| {
            let given = option.word(name.clone()).given();
            let message = message![given, format!(": the table has no column {name} that takes a value")];
            let has: Vec<&str> = table.ordinary_columns().map(|column| table.columns[column].name.as_str()).collect();
            Error::new(ErrorKind::Usage, message).in_table(&table.name).advise(format!("it has {}", has.join(", ")))
        })
    };
    names.iter().map(position).collect()
}
