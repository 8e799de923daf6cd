//! Which column of a file goes where in a table that is given.

use super::default::{RowDefault, constant};
use super::listed;
use crate::reader::{Field, Wanted};
use crate::source::Supply;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{DefaultKind, Generated};
use litepress_rows::{Error, ErrorKind, Message, OptionName, Table, message};

/// How the columns of a file are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By the file, once for all records: a header, a schema.
    Header,
    /// Not at all: they stand in the order of the table's.
    Position,
    /// By every record: those are the columns that a survey found.
    Records,
    /// By whoever gives data that are no file's: as a header does, but advice that speaks of files and options is of no use.
    Given,
}

impl Naming {
    /// What has the columns.
    fn noun(self) -> &'static str {
        if self == Self::Given { "data" } else { "file" }
    }

    /// `file lacks`, `data lack`
    fn lacks(self) -> &'static str {
        if self == Self::Given { "data lack" } else { "file lacks" }
    }

    /// Adds advice that speaks of files and options.
    fn advise(self, error: Error, advice: Message) -> Error {
        if self == Self::Given { error } else { error.advise(advice) }
    }
}

/// How the columns of a file become those of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What the reader is asked for: blocks in this order.
    pub wanted: Vec<Wanted>,
    /// Where each [ordinary column](Table::ordinary_columns) of the table gets its values.
    pub supplies: Vec<Supply>,
}

/// Finds the column of the table for each column of the file: what `map` says (`FILE_COLUMN`, `TABLE_COLUMN`; nothing on the
/// right leaves the column out), else the one of its name as SQLite compares names, or the next one where columns have none.
///
/// Columns that the file lacks take their DEFAULT, or NULL. A DEFAULT is evaluated once (CURRENT_TIMESTAMP too), but for every
/// row if it calls `random()` or the like. An INTEGER PRIMARY KEY is numbered from 1 in the order of the records.
///
/// # Errors
/// Everything that does not fit: columns of the file that the table lacks, columns that may not be NULL and get no value,
/// columns that are computed, names in `map` that neither has, two columns for one, a DEFAULT that follows from the rows that
/// SQLite inserted before.
pub fn matching(table: &Table, fields: &[Field], naming: Naming, map: &[(String, String)]) -> Result<Fit, Vec<Error>> {
    let mut mistakes = Vec::new();
    let targets = targets(table, fields, naming, map, &mut mistakes);
    let (mut wanted, mut supplies) = (Vec::new(), Vec::new());
    for position in table.ordinary_columns() {
        let mut given = (0..fields.len()).filter(|&field| targets[field] == Some(position));
        let supply = match given.next() {
            Some(field) => {
                if let Some(other) = given.next() {
                    let names = (&fields[field].name, &fields[other].name);
                    let noun = naming.noun();
                    let error = mistake(format!("two columns of the {noun} go here: {} and {}", names.0, names.1));
                    let advice = message!["leave one out: ", OptionName::Map.pair(names.1, "")];
                    mistakes.push(naming.advise(error.in_column(&table.columns[position].name), advice));
                }
                wanted.push(Wanted {
                    field: (naming != Naming::Records).then_some(field),
                    name: fields[field].name.clone(),
                    affinity: table.columns[position].affinity,
                    form: None,
                    empty_is_null: false,
                });
                Supply::File(wanted.len() - 1)
            }
            None => without_file(table, position, naming).unwrap_or_else(|error| {
                mistakes.push(error.in_column(&table.columns[position].name));
                Supply::Constant(OwnedValue::Null)
            }),
        };
        supplies.push(supply);
    }
    if mistakes.is_empty() {
        return Ok(Fit { wanted, supplies });
    }
    Err(mistakes.into_iter().map(|error| error.in_table(&table.name)).collect())
}

fn mistake(message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::Schema, message)
}

/// The table's column of each column of the file; `None` where it is left out, or wrong.
fn targets(
    table: &Table,
    fields: &[Field],
    naming: Naming,
    map: &[(String, String)],
    mistakes: &mut Vec<Error>,
) -> Vec<Option<usize>> {
    let columns = || listed(table.ordinary_columns().map(|position| table.columns[position].name.as_str()));
    let mut targets: Vec<Option<usize>> = vec![None; fields.len()];
    let mut is_mapped = vec![false; fields.len()];
    for (from, to) in map {
        let given = OptionName::Map.pair(from, to).given();
        let Some(field) = field_named(fields, from) else {
            let error = mistake(message![given, format!(": the file has no column {from}")]);
            mistakes.push(error.advise(format!("it has {}", listed(fields.iter().map(|field| field.name.as_str())))));
            continue;
        };
        if std::mem::replace(&mut is_mapped[field], true) {
            mistakes.push(mistake(message![given.clone(), ": this column is mapped twice"]));
        }
        targets[field] = table.column(to);
        if targets[field].is_none() && !to.is_empty() {
            let error = mistake(message![given, format!(": the table has no column {to}")]);
            mistakes.push(error.advise(format!("it has {}", columns())));
        }
    }
    let unmapped: Vec<usize> = (0..fields.len()).filter(|&field| !is_mapped[field]).collect();
    if naming == Naming::Position {
        let free: Vec<usize> =
            table.ordinary_columns().filter(|position| !targets.contains(&Some(*position))).collect();
        if unmapped.len() != free.len() {
            let (has, needs) = (unmapped.len(), free.len());
            let error = mistake(format!("the file has {has} columns without names, and the table {needs}"));
            mistakes.push(error.advise(message![
                "name the file's with ",
                OptionName::Columns.alone(),
                format!("; the table has {}", columns())
            ]));
        }
        unmapped.into_iter().zip(free).for_each(|(field, position)| targets[field] = Some(position));
    } else {
        let mut unknown = Vec::new();
        for field in unmapped {
            targets[field] = table.column(&fields[field].name);
            if targets[field].is_none() {
                unknown.push(fields[field].name.as_str());
            }
        }
        if let Some(first) = unknown.first() {
            let (map, leave_out) = (OptionName::Map.pair(*first, "COLUMN"), OptionName::Map.pair(*first, ""));
            let options = message!["say where they go: ", map, ", or leave them out: ", leave_out, "; "];
            let options = if naming == Naming::Given { Message::default() } else { options };
            let noun = naming.noun();
            let error = mistake(format!("the table lacks columns of the {noun}: {}", listed(unknown.into_iter())));
            mistakes.push(error.advise(message![options, format!("the table has {}", columns())]));
        }
    }
    refuse_computed(table, fields, naming, &targets, mistakes);
    targets
}

/// The column of the file of this name: the very name first, then as SQLite compares names.
fn field_named(fields: &[Field], name: &str) -> Option<usize> {
    let exactly = fields.iter().position(|field| field.name == name);
    exactly.or_else(|| fields.iter().position(|field| field.name.eq_ignore_ascii_case(name)))
}

fn refuse_computed(
    table: &Table,
    fields: &[Field],
    naming: Naming,
    targets: &[Option<usize>],
    mistakes: &mut Vec<Error>,
) {
    for (field, target) in fields.iter().zip(targets) {
        let column = target.map(|position| &table.columns[position]);
        if let Some(column) = column.filter(|column| column.generated != Generated::No) {
            let error = mistake("this column is computed and takes no values".to_owned()).in_column(&column.name);
            mistakes
                .push(naming.advise(error, message!["leave the file's out: ", OptionName::Map.pair(&field.name, "")]));
        }
    }
}

/// What a column holds that the file lacks.
fn without_file(table: &Table, position: usize, naming: Naming) -> Result<Supply, Error> {
    let column = &table.columns[position];
    if table.rowid_alias == Some(position) {
        return Ok(Supply::RowNumber);
    }
    let lacks = naming.lacks();
    let failed = |error| mistake(format!("the {lacks} this column, and SQLite cannot evaluate its default: {error}"));
    let value = match &column.default {
        Some(expression) => match DefaultKind::of(expression).map_err(failed)? {
            DefaultKind::Constant => constant(expression).map_err(failed)?,
            DefaultKind::PerRow => {
                let (table, column) = (table.name.clone(), column.name.clone());
                return Ok(Supply::EachRow(RowDefault { table, column, expression: expression.clone() }));
            }
            DefaultKind::OfConnection(function) => {
                let what = "which follows from the rows that one connection has inserted before";
                let error = mistake(format!("the {lacks} this column, and its default calls {function}(), {what}"));
                return Err(error.advise("give values for the column, or change its DEFAULT"));
            }
        },
        None => OwnedValue::Null,
    };
    if column.not_null && value == OwnedValue::Null {
        let what = if column.default.is_some() { "its default is NULL" } else { "it has no default" };
        let error = mistake(format!("the {lacks} this column, which may not be NULL, and {what}"));
        let map = OptionName::Map.pair("FILE_COLUMN", &column.name);
        let advice = message!["say which column of the file it is: ", map];
        return Err(naming.advise(error, advice));
    }
    Ok(Supply::Constant(value))
}

#[cfg(test)]
mod tests;
