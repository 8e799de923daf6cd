//! Explains a key that rows of two shards have: the engine knows the key, the shards are asked who has it.

use crate::rowids::TablePlan;
use crate::survey::Survey;
use litepress_rows::{Error, ErrorKind, OptionName, Result, Schema, Table, message, quoted_name};
use std::path::Path;

/// The words with which SQLite and the engine begin such an error.
const UNIQUE: &str = "UNIQUE constraint failed: ";

/// Returns a better error for a key that two rows have. Other errors stay as they are.
pub(crate) fn explain(error: Error, schema: &Schema, surveys: &[Survey], plans: &[TablePlan]) -> Error {
    let found = find(&error, schema, surveys, plans);
    let Some((table, columns, value, shards)) = found else { return error };
    let [first, second] = match &shards[..] {
        [first, second, ..] => [*first, *second],
        // One shard breaks its own rule, or the key was not found again.
        _ => return error,
    };
    let message =
        format!("UNIQUE constraint failed: {columns}: {} and {} have the same key", first.display(), second.display());
    let alias = table.rowid_alias.map(|at| format!("{}.{}", table.name, table.columns[at].name));
    let on_conflict = message![
        "keep the first of such rows with ",
        OptionName::OnConflict.word("ignore"),
        ", or the last with ",
        OptionName::OnConflict.or("replace")
    ];
    let advice = if alias.as_deref() == Some(columns.as_str()) || table.rowid_alias.is_none() && columns == table.name {
        message!["give rows new rowids with ", OptionName::Rowids.pair(&table.name, "renumber"), "; "].and(on_conflict)
    } else {
        on_conflict
    };
    Error::new(ErrorKind::Constraint, message).in_table(&table.name).with_value(value).advise(advice)
}

type Found<'f> = (&'f Table, String, String, Vec<&'f Path>);

fn find<'f>(error: &Error, schema: &'f Schema, surveys: &'f [Survey], plans: &[TablePlan]) -> Option<Found<'f>> {
    if error.kind() != ErrorKind::Constraint {
        return None;
    }
    let (place, text) = (error.place(), error.message());
    let position = schema.position(place.table.as_deref()?)?;
    let (table, value) = (&schema.tables[position], place.value.clone()?);
    let columns = text.strip_prefix(UNIQUE)?.split(": ").next()?.to_owned();
    let prefix = format!("{}.", table.name);
    let names: Vec<&str> = columns.split(", ").map(|column| column.strip_prefix(&prefix).unwrap_or(column)).collect();
    let mut found = Vec::new();
    for shard in plans[position].shards.iter().map(|table| &surveys[table.shard]) {
        if found.len() > 1 {
            break;
        }
        if has_key(shard, &table.name, &names, &value).unwrap_or(false) {
            found.push(shard.name.as_path());
        }
    }
    Some((table, columns, value, found))
}

/// Returns whether a shard has a row with this key. `value` is in the syntax of SQL.
fn has_key(survey: &Survey, table: &str, columns: &[&str], value: &str) -> Result<bool> {
    let shard = survey.open()?;
    let columns: Vec<String> = columns.iter().map(|column| quoted_name(column)).collect();
    let columns = columns.join(", ");
    let sql = format!("SELECT EXISTS (SELECT 1 FROM main.{} WHERE ({columns}) IS ({value}))", quoted_name(table));
    let found = shard.connection().query_row(&sql, [], |row| row.get(0));
    found.map_err(|error| shard.failure(error))
}
