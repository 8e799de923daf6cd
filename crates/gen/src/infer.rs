//! Inference of annotations: by a column's keys, declared type, name and affinity, in this order.
//!
//! The result is an annotation as a person would write it, with the reason, so that `plan` can print both and the
//! user can copy and change it. Inferred columns have no NULL: a column that should have some needs an annotation
//! (`null(0.1, ...)`). `plan/constraints` changes the result to meet CHECK constraints.

mod name_rules;

use crate::annotation::{is_name, is_reserved};
use litepress_rows::schema::{Column, ForeignKey, Generated, IndexColumn, Schema, Table};
use litepress_rows::{Affinity, Error, ErrorKind, OptionName, Result, message};

/// An inferred annotation with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inference {
    pub text: String,
    pub because: String,
}

fn inferred(text: impl Into<String>, because: impl Into<String>) -> Inference {
    Inference { text: text.into(), because: because.into() }
}

/// The class of values that a column holds, as far as inference distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeClass {
    Int,
    Real,
    /// Integers or reals.
    Numeric,
    Text,
    Blob,
    /// No declared type, or ANY.
    Any,
}

/// The properties of a column that inference uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnTraits<'a> {
    pub declared: &'a str,
    pub class: TypeClass,
    /// Maximum length of a text in characters, as declared: CHAR(6).
    pub longest: Option<u64>,
}

impl<'a> ColumnTraits<'a> {
    pub(crate) fn new(column: &'a Column) -> Self {
        let declared = column.declared_type.as_str();
        let class = match column.affinity {
            Affinity::Integer => TypeClass::Int,
            Affinity::Real => TypeClass::Real,
            Affinity::Numeric => TypeClass::Numeric,
            Affinity::Text => TypeClass::Text,
            Affinity::Blob if declared.is_empty() || declared.eq_ignore_ascii_case("any") => TypeClass::Any,
            Affinity::Blob => TypeClass::Blob,
        };
        let longest = if class == TypeClass::Text { type_arguments(declared).first().copied() } else { None };
        Self { declared, class, longest }
    }

    /// Returns whether texts of `len` characters fit the declared length.
    fn takes_len(&self, len: u64) -> bool {
        self.longest.is_none_or(|longest| len <= longest)
    }
}

/// Infers the annotation of a column that no foreign key decides ([`of_parent`] infers those), in a table of `rows`.
pub(crate) fn column(table: &Table, position: usize, rows: u64) -> Inference {
    let column = &table.columns[position];
    let traits = ColumnTraits::new(column);
    if table.rowid_alias == Some(position) {
        return inferred("sequence", "INTEGER PRIMARY KEY");
    }
    if let Some(because) = unique_because(table, position) {
        return unique(&traits, &column.name, because);
    }
    None.or_else(|| by_declared_type(&traits, &column.name))
        .or_else(|| name_rules::rule(&column.name, &traits, rows))
        .unwrap_or_else(|| by_affinity(&traits))
}

/// Returns whether inference gives every row of a column a distinct value.
pub fn is_made_unique(table: &Table, position: usize) -> bool {
    unique_because(table, position).is_some()
}

/// Returns why every row of a column needs a distinct value, or `None` if it does not.
///
/// One column makes a key of several columns unique: the last that is not part of a foreign key.
pub fn unique_because(table: &Table, position: usize) -> Option<&'static str> {
    if is_key_alone(table, position) {
        return Some("it is unique");
    }
    let is_free = |&column: &usize| {
        table.columns[column].generated == Generated::No
            && table.foreign_keys.iter().all(|foreign| !foreign.columns.contains(&column))
    };
    let last_free = |columns: Vec<usize>| {
        let settled = columns.iter().any(|&column| is_key_alone(table, column));
        let last = columns.iter().rev().find(|&column| is_free(column)).copied();
        !settled && last == Some(position)
    };
    unique_keys(table).any(last_free).then_some("a key of several columns is unique through it")
}

/// Returns the columns of all unique indexes (except those over expressions) and of the primary key.
pub fn unique_keys(table: &Table) -> impl Iterator<Item = Vec<usize>> {
    let indexes = table.indexes.iter().filter(|index| index.unique);
    let of_indexes = indexes.filter_map(|index| index.columns.iter().map(|part| part.column).collect());
    let primary: Vec<usize> = primary_key(table);
    of_indexes.chain((!primary.is_empty()).then_some(primary))
}

/// Returns the columns of the primary key in order.
fn primary_key(table: &Table) -> Vec<usize> {
    let parts = table.columns.iter().enumerate().filter_map(|(column, of)| Some((of.key_position?, column)));
    let mut parts: Vec<(usize, usize)> = parts.collect();
    parts.sort_unstable();
    parts.into_iter().map(|(_, column)| column).collect()
}

/// Returns whether the column alone is a key, if only of a partial index.
pub fn is_key_alone(table: &Table, position: usize) -> bool {
    table.rowid_alias == Some(position)
        || table.columns[position].unique
        || unique_keys(table).any(|columns| columns == [position])
}

/// Returns whether the column alone is a key of all rows; a partial index covers only some rows.
pub(crate) fn is_key_of_all(table: &Table, position: usize) -> bool {
    let is_column = |column: &IndexColumn| column.column == Some(position);
    let whole = || table.indexes.iter().filter(|index| index.unique && !index.partial);
    table.rowid_alias == Some(position)
        || table.columns[position].unique
        || primary_key(table) == [position]
        || whole().any(|index| matches!(&index.columns[..], [only] if is_column(only)))
}

fn unique(traits: &ColumnTraits<'_>, name: &str, because: &str) -> Inference {
    const HEX_DIGITS: u64 = 16;
    let text = match traits.class {
        TypeClass::Int | TypeClass::Real | TypeClass::Numeric | TypeClass::Any => "sequence".to_owned(),
        TypeClass::Blob => "blob(16, 16)".to_owned(),
        TypeClass::Text => match name_rules::unique_text(name, traits) {
            Some(text) => text.to_owned(),
            None => format!("unique_hex({})", traits.longest.unwrap_or(HEX_DIGITS).clamp(1, HEX_DIGITS)),
        },
    };
    inferred(text, because)
}

/// Infers by the declared type: BOOLEAN, DATE, TIME, DATETIME, TIMESTAMP, JSON, DECIMAL(p, s), for which SQLite has
/// no affinity.
fn by_declared_type(traits: &ColumnTraits<'_>, name: &str) -> Option<Inference> {
    let because = || format!("declared {}", traits.declared);
    let declared = traits.declared.to_ascii_uppercase();
    let base = declared.split('(').next().unwrap_or_default().trim();
    match base {
        "BOOLEAN" | "BOOL" => Some(inferred("bool", because())),
        "DATE" => Some(inferred(name_rules::days_of(name), because())),
        "DATETIME" | "TIMESTAMP" | "TIMESTAMP WITH TIME ZONE" | "TIMESTAMPTZ" => {
            Some(inferred(name_rules::TIMESTAMP, because()))
        }
        "TIME" | "TIME WITHOUT TIME ZONE" => Some(inferred("time_of_day", because())),
        "JSON" | "JSONB" => Some(inferred("json", because())),
        "DECIMAL" | "NUMERIC" | "NUMBER" => decimal(traits).map(|text| inferred(text, because())),
        "TINYINT" if type_arguments(traits.declared) == [1] => Some(inferred("bool", because())),
        "TINYINT" => Some(inferred("int(0, 127)", because())),
        "SMALLINT" | "INT2" => Some(inferred("int(0, 32_767)", because())),
        _ => None,
    }
}

/// Infers numbers with the declared digits and decimals, but below a thousand.
fn decimal(traits: &ColumnTraits<'_>) -> Option<String> {
    let (precision, scale) = match type_arguments(traits.declared)[..] {
        [precision] => (precision, 0),
        [precision, scale] => (precision, scale),
        _ => return None,
    };
    let limit = 10_u64.pow(u32::try_from(precision.saturating_sub(scale).min(6)).unwrap_or(6));
    match scale {
        0 => Some(format!("int(0, {})", limit - 1)),
        1..=12 => Some(format!("real(0, {}, {scale})", limit.min(1000))),
        _ => None,
    }
}

fn by_affinity(traits: &ColumnTraits<'_>) -> Inference {
    const USUAL: u64 = 32;
    match traits.class {
        TypeClass::Int => inferred("int(0, 999_999)", "an integer column"),
        TypeClass::Real => inferred("real(0, 1000, 3)", "a REAL column"),
        TypeClass::Numeric => inferred("int(0, 999_999)", "a numeric column"),
        TypeClass::Any => inferred("int(0, 999_999)", "a column without type"),
        TypeClass::Blob => inferred("blob(8, 32)", "a BLOB column"),
        TypeClass::Text => {
            let max = traits.longest.unwrap_or(USUAL).min(USUAL);
            inferred(format!("text({}, {max})", (max / 4).max(1).min(max)), "a text column")
        }
    }
}

/// Returns the numbers in parentheses of a declared type: 10 and 2 of DECIMAL(10, 2).
fn type_arguments(declared: &str) -> Vec<u64> {
    let inner = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    inner.split(',').map_while(|number| number.trim().parse().ok()).collect()
}

/// The parent's column that a column of a foreign key refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Position of the parent table.
    pub table: usize,
    /// Position of the column there.
    pub column: usize,
    /// Position of the foreign key among those of the table.
    pub key: usize,
}

/// The effect of foreign keys on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// No foreign key restricts the column.
    None,
    /// The column refers to this one.
    Single(Parent),
    /// Inference is impossible, for this reason: the parent or its key does not exist, or several foreign keys
    /// contradict each other.
    Unclear(String),
}

/// Returns the effect of foreign keys on a column. Of several, the one with the most columns counts if it implies the
/// others.
pub fn reference(schema: &Schema, table: &Table, position: usize) -> Reference {
    let mut parents = Vec::new();
    let mut why = None;
    for key in keys_of(table, position) {
        match parent(schema, table, key, position) {
            Ok(parent) => parents.push(parent),
            Err(message) => why = why.or(Some(message)),
        }
    }
    if parents.is_empty() {
        return why.map_or(Reference::None, Reference::Unclear);
    }
    let Some(own) = owner(schema, table, position) else { return Reference::None };
    let shared = |&&column: &&usize| owner(schema, table, column).is_none_or(|other| other.key != own.key);
    if let Some(&column) = table.foreign_keys[own.key].columns.iter().find(shared) {
        let other = &table.columns[column].name;
        return Reference::Unclear(format!("another foreign key decides about {other}, which is part of its own"));
    }
    let is_alone = |other: &&Parent| table.foreign_keys[other.key].columns.len() == 1 && other.key != own.key;
    let is_met = |other: &Parent| leads_to(schema, (own.table, own.column), (other.table, other.column), 0);
    if !parents.iter().filter(is_alone).all(is_met) {
        return Reference::Unclear("it is in several foreign keys".to_owned());
    }
    Reference::Single(own)
}

/// Returns the foreign keys of a column, by their positions.
fn keys_of(table: &Table, position: usize) -> impl Iterator<Item = usize> {
    (0..table.foreign_keys.len()).filter(move |&key| table.foreign_keys[key].columns.contains(&position))
}

/// Returns the parent in the foreign key that decides a column: the one with the most columns. Foreign keys that a
/// row meets by itself do not count.
fn owner(schema: &Schema, table: &Table, position: usize) -> Option<Parent> {
    let known = keys_of(table, position).filter_map(|key| parent(schema, table, key, position).ok());
    let others = known.filter(|parent| parent.column != position || !is_table(schema, parent.table, table));
    // Keeps the first of equals, whereas `max_by_key` keeps the last.
    let width = |parent: &Parent| table.foreign_keys[parent.key].columns.len();
    others.reduce(|one, other| if width(&other) > width(&one) { other } else { one })
}

fn is_table(schema: &Schema, position: usize, table: &Table) -> bool {
    schema.tables[position].name == table.name
}

/// Returns whether foreign keys imply that every value of one column is a value of another.
fn leads_to(schema: &Schema, from: (usize, usize), to: (usize, usize), steps: usize) -> bool {
    const MOST_STEPS: usize = 16;
    let of_table = &schema.tables[from.0];
    let next = |key| parent(schema, of_table, key, from.1).ok();
    let leads = |parent: Parent| leads_to(schema, (parent.table, parent.column), to, steps + 1);
    from == to || steps < MOST_STEPS && keys_of(of_table, from.1).filter_map(next).any(leads)
}

/// Returns whether a foreign key of the column refers to an existing table and key.
pub fn refers(schema: &Schema, table: &Table, position: usize) -> bool {
    owner(schema, table, position).is_some()
}

/// Returns the parent of a column in a foreign key, or the reason why there is none.
fn parent(schema: &Schema, table: &Table, key: usize, position: usize) -> std::result::Result<Parent, String> {
    let ForeignKey { columns, parent, parent_columns, .. } = &table.foreign_keys[key];
    let found = schema.position(parent).ok_or_else(|| format!("the schema has no table {parent}"))?;
    let of = &schema.tables[found];
    let place = columns.iter().position(|&column| column == position).unwrap_or_default();
    let column = match parent_columns.get(place) {
        Some(name) => of.column(name).ok_or_else(|| format!("{parent} has no column {name}"))?,
        None => match &primary_key(of)[..] {
            parts if parts.len() == columns.len() => parts[place],
            _ if columns.len() == 1 => return Err(format!("{parent} has no primary key of one column")),
            _ => return Err(format!("{parent} has no primary key of {} columns", columns.len())),
        },
    };
    Ok(Parent { table: found, column, key })
}

/// The pattern in which a foreign key refers to the rows of a parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferencePattern {
    /// Each row at most once: the column is a key.
    Once,
    /// Runs of this length, in turn, for a key of several foreign keys.
    InTurn { each: u64 },
    /// No row twice for the same row in the column of this name.
    DistinctIn(String),
    /// Runs of varying length, whose rows another column of the key counts.
    PerParent { least: u64, most: u64 },
    /// Random rows, or the rows of another column of the foreign key.
    AtRandom,
}

/// Returns the annotation of a foreign key.
pub(crate) fn of_parent(pattern: &ReferencePattern, table: &Table, column: usize) -> Inference {
    let parent = format!("{}.{}", quoted(&table.name), quoted(&table.columns[column].name));
    let because = format!("refers to {}.{}", table.name, table.columns[column].name);
    match pattern {
        ReferencePattern::AtRandom => inferred(format!("ref({parent})"), because),
        ReferencePattern::Once => inferred(format!("ref({parent}, once)"), format!("{because}, each once")),
        ReferencePattern::InTurn { each } => {
            let each = if *each == 1 { String::new() } else { format!("({each})") };
            inferred(format!("ref({parent}, in_turn{each})"), format!("{because}, in a key of foreign keys"))
        }
        ReferencePattern::DistinctIn(other) => inferred(
            format!("ref({parent}, distinct_in({}))", quoted(other)),
            format!("{because}, in a key with {other}"),
        ),
        ReferencePattern::PerParent { least, most } => inferred(
            format!("ref({parent}, per_parent({least}, {most}))"),
            format!("{because}, in a key with a number"),
        ),
    }
}

/// Infers the ordinal of a row among those with the same parent, for a key with the column of this name.
pub(crate) fn number_in(name: &str) -> Inference {
    inferred(format!("number_in({})", quoted(name)), format!("it is unique together with {name}"))
}

/// Quotes a name, if annotations need that.
pub fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name);
    if is_plain && !is_reserved(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The reason why nothing is inferred for a foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoReference {
    pub why: String,
    /// The number of rows that the table may have, if fewer are the remedy.
    pub most_rows: Option<u64>,
}

impl From<String> for NoReference {
    fn from(why: String) -> Self {
        Self { why, most_rows: None }
    }
}

/// Infers a foreign key without parent: NULL, or an error if the column is NOT NULL.
pub(crate) fn without_parent(table: &Table, position: usize, reason: &NoReference) -> Result<Inference> {
    const ANNOTATE: &str = "annotate the column, for example ref(table.column); docs/generators.md shows how two foreign keys share a column";
    let (column, NoReference { why, most_rows }) = (&table.columns[position], reason);
    if !column.not_null && table.rowid_alias != Some(position) {
        return Ok(inferred("constant(NULL)", why));
    }
    let error = Error::new(ErrorKind::Generator, format!("nothing can be inferred for this foreign key: {why}"));
    let error = error.in_table(&table.name).in_column(&column.name);
    Err(match most_rows {
        None => error.advise(ANNOTATE),
        Some(most) => {
            let fewer = OptionName::Rows.count(Some(&table.name), &most.to_string());
            error.advise(message!["make no more rows than that: ", fewer, "; or its parents more"])
        }
    })
}

#[cfg(test)]
mod tests;
