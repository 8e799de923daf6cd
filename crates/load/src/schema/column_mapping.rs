//! Maps the columns of a file to the columns of a given table.

use super::default::{RowDefault, constant};
use super::listed;
use crate::reader::{FileColumn, ProjectedColumn};
use crate::source::ColumnSource;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{DefaultKind, Generated};
use litepress_rows::{Column, Error, ErrorKind, Message, OptionName, Table, message};

/// The beginning of the error of columns that a table lacks.
pub(crate) const LACKS_COLUMNS: &str = "the table lacks columns of the ";

/// The origin of a file's column names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The file names them once for all records: a header, a schema.
    Header,
    /// The columns have no names and the order of the table's columns.
    Position,
    /// Every record names them. A scan found these columns.
    Records,
    /// The caller names the columns of data in memory. They are matched like a header, without advice about files and options.
    Given,
}

impl Naming {
    /// Returns the noun for the input.
    fn noun(self) -> &'static str {
        if self == Self::Given { "data" } else { "file" }
    }

    /// Returns `file lacks` or `data lack`.
    fn lacks(self) -> &'static str {
        if self == Self::Given { "data lack" } else { "file lacks" }
    }

    /// Adds advice that speaks of files and options.
    fn advise(self, error: Error, advice: Message) -> Error {
        if self == Self::Given { error } else { error.advise(advice) }
    }
}

/// The mapping from a file's columns to a table's.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMapping {
    /// The columns to request from the reader. Its blocks have this order.
    pub projected: Vec<ProjectedColumn>,
    /// The origin of the values of each [ordinary column](Table::ordinary_columns) of the table.
    pub column_sources: Vec<ColumnSource>,
    /// Positions of the table's columns that the file lacks.
    pub missing: Vec<usize>,
}

impl ColumnMapping {
    /// Returns the origin of the values of the ordinary column at position `at`, in words.
    pub(crate) fn origin(&self, at: usize, column: &Column) -> String {
        match &self.column_sources[at] {
            ColumnSource::File(block) if self.projected[*block].name == column.name => "column of the file".to_owned(),
            ColumnSource::File(block) => format!("column {} of the file", self.projected[*block].name),
            ColumnSource::RowNumber => "not in the file: the number of the record".to_owned(),
            ColumnSource::Constant(OwnedValue::Null) => "not in the file: NULL".to_owned(),
            ColumnSource::Constant(_) => {
                format!("not in the file: its DEFAULT {}", column.default.as_deref().unwrap_or_default())
            }
            ColumnSource::EachRow(default) => {
                format!("not in the file: SQLite evaluates its DEFAULT for every row, {}", default.expression)
            }
        }
    }
}

/// Finds the table column of each file column. An entry of `map` decides (`FILE_COLUMN`, `TABLE_COLUMN`; an empty table
/// column drops the file column). Otherwise it is the column of the same name to SQLite, or the next one if the file has no
/// names.
///
/// `added` is a column that takes one value for all records of the file.
///
/// Columns that the file lacks take their DEFAULT, or NULL. A DEFAULT is evaluated once (even CURRENT_TIMESTAMP), or for
/// every row if it calls `random()` or the like. An INTEGER PRIMARY KEY is numbered from 1 in record order.
///
/// # Errors
/// Lists every mismatch: file columns that the table lacks, NOT NULL columns without a value, computed columns, unknown
/// names in `map`, two columns for one, and a DEFAULT that depends on rows that SQLite inserted before.
pub fn matching(
    table: &Table,
    fields: &[FileColumn],
    naming: Naming,
    map: &[(String, String)],
    added: Option<(&str, OwnedValue)>,
) -> Result<ColumnMapping, Vec<Error>> {
    let mut mistakes = Vec::new();
    let added = added.and_then(|(name, value)| match table.column(name).filter(|&column| is_free(table, column)) {
        Some(column) => Some((column, value)),
        None => {
            let given = OptionName::SourceColumn.word(name.to_owned()).given();
            let columns = listed(table.ordinary_columns().map(|position| table.columns[position].name.as_str()));
            let error = mistake(message![given, format!(": the table has no column {name} that takes a value")]);
            mistakes.push(error.advise(format!("it has {columns}")));
            None
        }
    });
    let targets = targets(table, fields, naming, map, added.as_ref().map(|(column, _)| *column), &mut mistakes);
    let (mut projected, mut column_sources, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for position in table.ordinary_columns() {
        let mut given = (0..fields.len()).filter(|&field| targets[field] == Some(position));
        let source = match (given.next(), &added) {
            (None, Some((column, value))) if *column == position => ColumnSource::Constant(value.clone()),
            (Some(field), Some((column, _))) if *column == position => {
                let name = &table.columns[position].name;
                let given = OptionName::SourceColumn.word(name.clone()).given();
                let error = mistake(message![given, format!(": the file has a column {}, too", fields[field].name)]);
                let leave_out = OptionName::Map.pair(&fields[field].name, "");
                mistakes.push(error.in_column(name).advise(message!["leave it out: ", leave_out]));
                ColumnSource::Constant(OwnedValue::Null)
            }
            (Some(field), _) => {
                if let Some(other) = given.next() {
                    let names = (&fields[field].name, &fields[other].name);
                    let noun = naming.noun();
                    let error = mistake(format!("two columns of the {noun} go here: {} and {}", names.0, names.1));
                    let advice = message!["leave one out: ", OptionName::Map.pair(names.1, "")];
                    mistakes.push(naming.advise(error.in_column(&table.columns[position].name), advice));
                }
                let place = (naming != Naming::Records).then_some(field);
                let affinity = table.columns[position].affinity;
                projected.push(ProjectedColumn::new(place, &fields[field].name, affinity));
                ColumnSource::File(projected.len() - 1)
            }
            (None, _) => {
                without_file(table, position, naming).inspect(|_| missing.push(position)).unwrap_or_else(|error| {
                    mistakes.push(error.in_column(&table.columns[position].name));
                    ColumnSource::Constant(OwnedValue::Null)
                })
            }
        };
        column_sources.push(source);
    }
    if mistakes.is_empty() {
        return Ok(ColumnMapping { projected, column_sources, missing });
    }
    Err(mistakes.into_iter().map(|error| error.in_table(&table.name)).collect())
}

fn is_free(table: &Table, column: usize) -> bool {
    table.columns[column].generated == Generated::No
}

fn mistake(message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::Schema, message)
}

/// Returns the table column of each file column. `None` if it is dropped or wrong.
fn targets(
    table: &Table,
    fields: &[FileColumn],
    naming: Naming,
    map: &[(String, String)],
    added: Option<usize>,
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
        let free: Vec<usize> = table
            .ordinary_columns()
            .filter(|position| !targets.contains(&Some(*position)) && added != Some(*position))
            .collect();
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
            let error = mistake(format!("{LACKS_COLUMNS}{noun}: {}", listed(unknown.into_iter())));
            mistakes.push(error.advise(message![options, format!("the table has {}", columns())]));
        }
    }
    refuse_computed(table, fields, naming, &targets, mistakes);
    targets
}

/// Returns the file column of this name. An exact match goes before one that is equal to SQLite.
fn field_named(fields: &[FileColumn], name: &str) -> Option<usize> {
    let exactly = fields.iter().position(|field| field.name == name);
    exactly.or_else(|| fields.iter().position(|field| field.name.eq_ignore_ascii_case(name)))
}

fn refuse_computed(
    table: &Table,
    fields: &[FileColumn],
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

/// Returns the values of a column that the file lacks.
fn without_file(table: &Table, position: usize, naming: Naming) -> Result<ColumnSource, Error> {
    let column = &table.columns[position];
    if table.rowid_alias == Some(position) {
        return Ok(ColumnSource::RowNumber);
    }
    let lacks = naming.lacks();
    let failed = |error| mistake(format!("the {lacks} this column, and SQLite cannot evaluate its default: {error}"));
    let value = match &column.default {
        Some(expression) => match DefaultKind::of(expression).map_err(failed)? {
            DefaultKind::Constant => constant(expression).map_err(failed)?,
            DefaultKind::PerRow => {
                let (table, column) = (table.name.clone(), column.name.clone());
                return Ok(ColumnSource::EachRow(RowDefault { table, column, expression: expression.clone() }));
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
    Ok(ColumnSource::Constant(value))
}

#[cfg(test)]
mod tests;
