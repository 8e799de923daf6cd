//! Checks before any row is generated: values that a column rejects, and keys that are bound to repeat.

use crate::annotation::SourceText;
use crate::generators::{Cardinality, Cycle, Kinds, ValueProperties, distinguish_rows};
use crate::infer::is_key_of_all;
use litepress_rows::schema::Table;
use litepress_rows::{Conflict, Error, ErrorKind, NullPolicy, Result, counted};

/// Expected duplicates from which on a key is rejected: it would stay unique once in half a billion times.
const DUPLICATES_REFUSED: f64 = 20.0;

/// A column's generator does not fit the column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rejection {
    message: String,
    advice: String,
}

fn rejection(message: impl Into<String>, advice: impl Into<String>) -> Rejection {
    Rejection { message: message.into(), advice: advice.into() }
}

impl Rejection {
    pub(super) fn at(self, source: &SourceText<'_>, offset: usize) -> Error {
        source.error(offset, self.message).advise(self.advice)
    }
}

/// Checks that the column accepts the generator's values for this number of rows.
pub(super) fn column(
    table: &Table,
    position: usize,
    properties: &ValueProperties,
    rows: u64,
    conflict: Conflict,
) -> Result<(), Rejection> {
    strict_type(table, position, properties.kinds)?;
    rowids(table, position, properties, conflict)?;
    nulls(table, position, properties, conflict)?;
    enough_values(properties, rows)?;
    if is_key_of_all(table, position) && !table.can_drop_rows(conflict) { key(&[properties], rows) } else { Ok(()) }
}

fn strict_type(table: &Table, position: usize, kinds: Kinds) -> Result<(), Rejection> {
    let numbers = Kinds::INT.union(Kinds::DIGITS);
    let declared = table.columns[position].declared_type.to_ascii_uppercase();
    let taken = match declared.as_str() {
        _ if !table.strict => Kinds::ANY,
        "INT" | "INTEGER" => numbers,
        "REAL" => numbers.union(Kinds::REAL),
        "TEXT" => numbers.union(Kinds::REAL).union(Kinds::TEXT),
        "BLOB" => Kinds::BLOB,
        _ => Kinds::ANY,
    };
    if kinds.within(taken) {
        return Ok(());
    }
    let message = format!("the table is STRICT, its {declared} column does not take {}", kinds.in_words());
    Err(rejection(message, format!("a {declared} column takes {}", taken.in_words())))
}

fn rowids(table: &Table, position: usize, properties: &ValueProperties, conflict: Conflict) -> Result<(), Rejection> {
    let are_ints = properties.kinds == Kinds::INT && properties.null_share == 0.0;
    let may_repeat = table.can_drop_rows(conflict);
    // The values of a computed column are unknown: the build detects repeated keys.
    let may_be_unique =
        properties.cardinality.is_unique() || properties.cardinality == Cardinality::Among { values: u64::MAX };
    if table.rowid_alias != Some(position) || are_ints && (may_repeat || may_be_unique) {
        return Ok(());
    }
    if may_repeat {
        return Err(rejection("an INTEGER PRIMARY KEY needs a generator of integers", "use sequence, shuffle or int"));
    }
    let message = "an INTEGER PRIMARY KEY needs a generator of distinct integers";
    Err(rejection(message, "use sequence or shuffle"))
}

fn nulls(table: &Table, position: usize, properties: &ValueProperties, conflict: Conflict) -> Result<(), Rejection> {
    if table.null_rule(position, conflict) != NullPolicy::Refuse || properties.null_share == 0.0 {
        return Ok(());
    }
    Err(rejection("the column is NOT NULL, and the generator gives NULL", "leave NULL out, or the column's NOT NULL"))
}

/// Checks that a sequence does not run out of values.
fn enough_values(properties: &ValueProperties, rows: u64) -> Result<(), Rejection> {
    let cardinality = properties.cardinality;
    if !cardinality.is_unique() || rows <= cardinality.at_most() {
        return Ok(());
    }
    let message = format!(
        "the generator has distinct values for {}, and the table has {rows}",
        counted(cardinality.at_most(), "row")
    );
    Err(rejection(message, "make its range larger or the table smaller"))
}

/// Checks a key of these columns together.
fn key(parts: &[&ValueProperties], rows: u64) -> Result<(), Rejection> {
    if parts.iter().any(|part| part.cardinality.is_unique()) {
        return Ok(());
    }
    let mut cycles: Vec<Cycle> = parts.iter().filter_map(|part| part.cycle).collect();
    if distinguish_rows(&mut cycles, rows) {
        return Ok(());
    }
    let values = parts.iter().fold(1, |values: u64, part| values.saturating_mul(part.cardinality.at_most()));
    let drawn_from = if values == 1 { "1 value".to_owned() } else { format!("{values} values") };
    let without_null: f64 = parts.iter().map(|part| 1.0 - part.null_share).product();
    let rows = rows as f64 * without_null;
    let duplicates = rows * (rows - 1.0) / 2.0 / values as f64;
    let advice = "use a generator whose values differ in every row (sequence, shuffle, unique_hex, uuid, email), or make fewer rows";
    if rows.floor() > values as f64 && without_null == 1.0 {
        return Err(rejection(format!("the key is unique, and {rows} rows have {} at most", drawn_from), advice));
    }
    if values < u64::MAX && duplicates >= DUPLICATES_REFUSED {
        let drawn = format!("drawn from {} repeat, about {duplicates:.0} times", drawn_from);
        return Err(rejection(format!("the key is unique, and {rows:.0} rows {drawn}"), advice));
    }
    Ok(())
}

/// Checks keys of several columns; `parts` returns the properties of a key's columns.
pub(super) fn keys(
    table: &Table,
    parts: impl Fn(&[usize]) -> Option<Vec<ValueProperties>>,
    rows: u64,
    conflict: Conflict,
) -> Result<()> {
    if table.can_drop_rows(conflict) {
        return Ok(());
    }
    for index in table.indexes.iter().filter(|index| index.unique && !index.partial && index.columns.len() > 1) {
        let positions: Option<Vec<usize>> = index.columns.iter().map(|part| part.column).collect();
        let Some(positions) = positions else { continue };
        let Some(parts) = parts(&positions) else { continue };
        let names: Vec<&str> = positions.iter().map(|&column| table.columns[column].name.as_str()).collect();
        key(&parts.iter().collect::<Vec<_>>(), rows).map_err(|Rejection { message, advice }| {
            Error::new(ErrorKind::Generator, message).in_table(&table.name).in_column(names.join(", ")).advise(advice)
        })?;
    }
    Ok(())
}
