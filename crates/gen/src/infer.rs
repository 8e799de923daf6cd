//! Inference of annotations: by a column's keys, the other columns of its table, its name, declared type and affinity.
//!
//! The result is an annotation as a person would write it, with the reason, so that `plan` can print both and the
//! user can copy and change it. `plan/constraints` changes the result to meet CHECK constraints.
//!
//! ```text
//! keys, foreign keys ------------------------------> this file, plan/inference.rs
//! subject of the table (subjects.rs), columns -----> table_columns.rs: persons, places, times (row_times.rs), amounts, companions,
//!                                                    roles, traffic, texts, media, messages, upkeep, states, listed, and by theme
//!                                                    browsing, smart_home, shared_files, flash_cards, photographs, maps, repositories, fields
//! rows that they refer to -------------------------> copies.rs, runs.rs
//! other columns -----------------------------------> special.rs, rules.rs
//! NULL, flags and DEFAULTs ------------------------> defaults.rs
//! ```

mod amounts;
mod browsing;
mod companions;
mod copies;
mod defaults;
mod fields;
mod flash_cards;
mod latest;
mod listed;
mod maps;
mod media;
mod messages;
mod names;
mod persons;
mod photographs;
mod places;
mod repositories;
mod roles;
mod row_times;
mod rules;
mod runs;
mod shared_files;
mod smart_home;
mod special;
mod states;
mod subjects;
mod table_columns;
mod texts;
mod times;
mod traffic;
mod upkeep;

pub(crate) use browsing::{are_bookmarks, is_visit_of};
pub(crate) use copies::REPEATS;
pub(crate) use fields::{has_values_of_fields, value_of_field};
pub(crate) use flash_cards::is_card_of;
pub(crate) use listed::{closed_names, listed_texts, one_of_listed};
pub(crate) use media::is_of_films;
pub(crate) use names::{bare, expanded, plain, words_of_table};
pub(crate) use photographs::is_of_photographs;
pub(crate) use shared_files::{ROWS_OF_FOLDER, is_file_tree, is_place_of_files};
pub(crate) use states::usual_weight;
pub(crate) use table_columns::{TableContext, TableInference};
pub(crate) use times::ReferenceDay;

use subjects::{Kind, Subject};

use crate::annotation::{is_name, is_reserved};
use crate::generators::phrases;
use litepress_rows::schema::{Column, ForeignKey, Generated, IndexColumn, Schema, Table};
use litepress_rows::{Affinity, Error, ErrorKind, OptionName, Result, message, quoted_name};

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
            _ if maps::is_geometry(declared) => TypeClass::Blob,
            Affinity::Integer => TypeClass::Int,
            Affinity::Real => TypeClass::Real,
            Affinity::Numeric if is_of_texts(declared) => TypeClass::Text,
            Affinity::Numeric => TypeClass::Numeric,
            Affinity::Text => TypeClass::Text,
            Affinity::Blob if declared.is_empty() => class_of_default(column),
            Affinity::Blob if declared.eq_ignore_ascii_case("any") => TypeClass::Any,
            Affinity::Blob => TypeClass::Blob,
        };
        let longest = if class == TypeClass::Text { type_arguments(declared).first().copied() } else { None };
        Self { declared, class, longest }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.class, TypeClass::Int | TypeClass::Real | TypeClass::Numeric)
    }

    /// Returns whether texts of `len` characters fit the declared length.
    fn takes_len(&self, len: u64) -> bool {
        self.longest.is_none_or(|longest| len <= longest)
    }
}

/// Returns the class of a column without a declared type: that of its DEFAULT.
fn class_of_default(column: &Column) -> TypeClass {
    let default = column.default.as_deref().map_or("", str::trim);
    match default.bytes().next() {
        Some(b'\'' | b'"') => TypeClass::Text,
        Some(_) if default.parse::<i64>().is_ok() => TypeClass::Int,
        _ => TypeClass::Any,
    }
}

/// Returns whether a declared type is one of texts, for which SQLite has numeric affinity.
fn is_of_texts(declared: &str) -> bool {
    declared.eq_ignore_ascii_case("string") || is_guid(declared)
}

fn is_guid(declared: &str) -> bool {
    ["guid", "uuid", "uniqueidentifier"].iter().any(|name| declared.eq_ignore_ascii_case(name))
}

/// Returns whether a column refers to rows by texts or by numbers that the other one can hold.
pub(crate) fn fits_key(column: &Column, key: &Column) -> bool {
    let class = |column| ColumnTraits::new(column).class;
    column.affinity == key.affinity || class(column) == TypeClass::Text && class(key) == TypeClass::Text
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
    // A kind has few values.
    let is_kind =
        |&column: &usize| names::is_like(&names::plain(&table.columns[column].name), "type kind *_type *_kind");
    let last_free = |columns: Vec<usize>| {
        let settled = columns.iter().any(|&column| is_key_alone(table, column));
        // Two people of one name have other first names sooner than other modes, and users have keys of their own.
        let is_name = |column: &usize| is_called(table, *column, "first_name firstname given_name key");
        let free = || columns.iter().rev().copied().filter(is_free);
        let name = columns.iter().copied().find(|column| is_free(column) && is_name(column));
        let last = name.or_else(|| free().find(|column| !is_kind(column))).or_else(|| free().next());
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

/// Infers distinct values that suit the name.
fn unique(traits: &ColumnTraits<'_>, name: &str, because: &str) -> Inference {
    const HEX_DIGITS: u64 = 16;
    let text = match traits.class {
        TypeClass::Int if names::is_like(name, "hash *_hash checksum *_checksum") => {
            "shuffle(1, 4_294_967_295)".to_owned()
        }
        TypeClass::Any if names::is_like(name, "*uuid* *guid* *_global") => "upper(uuid())".to_owned(),
        TypeClass::Int | TypeClass::Real | TypeClass::Numeric | TypeClass::Any => "sequence".to_owned(),
        TypeClass::Blob => "blob(16, 16)".to_owned(),
        // A number with an exponent is not kept as a text in such a column.
        TypeClass::Text if is_of_texts(traits.declared) => "uuid".to_owned(),
        TypeClass::Text => match unique_text(name, traits) {
            Some(text) => text.to_owned(),
            None => format!("unique_hex({})", traits.longest.unwrap_or(HEX_DIGITS).clamp(1, HEX_DIGITS)),
        },
    };
    inferred(text, because)
}

/// Texts that are unique, with the length of the longest, by name.
const UNIQUE_TEXTS: [(&str, &str, u64); 20] = [
    ("uuid guid *_uuid *_guid", "uuid", 36),
    ("*token* *session* *secret* api_key sha1 *_sha1 *_hash hash sha digest nonce", "hex(40)", 40),
    ("md5 *_md5 *_hash hash key_id", "hex(32)", 32),
    ("input search_term query", "unique_phrase('{search_term}')", 60),
    ("event_type event_name", "unique_phrase('{event_kind}', '_')", 40),
    ("version *_version", "unique_regex('[1-9][0-9]?[.](0|[1-9][0-9]?)[.](0|[1-9][0-9]{0,2})')", 24),
    ("url *_url uri link website permalink", "phrase('{site}') || '/' || sequence()", 64),
    (
        "path *_path filename file_name file *_file",
        "phrase('/{folder}/{noun}-') || sequence() || '.' || phrase('{ext}')",
        64,
    ),
    ("host hostname domain *_domain", "phrase('{noun}') || sequence() || '.example'", 40),
    ("key *_key configkey setting keyword option_name", "unique_phrase('{setting_key}', '_')", 48),
    ("sku *_sku code *_code number *_number reference *_no", "unique_regex('[A-Z]{3}-[0-9]{6}')", 10),
    ("phone *_phone phone_number mobile", "'+1 2' || unique_digits(9)", 13),
    ("codename", "unique_phrase('{permission_code}', '_')", 40),
    ("word stem lemma", "unique_phrase('{index_word}', '')", 24),
    ("migration_id migration", "unique_phrase('{migration}', ' v')", 48),
    ("model", "unique_phrase('{model}', '')", 24),
    ("schema", "unique_phrase('{module}', '_')", 24),
    ("value", "unique_phrase('{title}')", 60),
    ("*_id", "unique_regex('[A-Z]{5}[0-9]{2}')", 7),
    ("name title label topic tag *_name", "unique_phrase('{Adjective} {Noun}')", 40),
];

/// Returns a unique text that suits the name and the declared length.
fn unique_text(name: &str, traits: &ColumnTraits<'_>) -> Option<&'static str> {
    let is_known = |(names, _, longest): &&(&str, &str, u64)| names::is_like(name, names) && traits.takes_len(*longest);
    UNIQUE_TEXTS.iter().find(is_known).map(|(_, text, _)| *text)
}

/// Infers by the declared type: TIME, JSON, DECIMAL(p, s), for which SQLite has no affinity. BOOLEAN and times are
/// inferred with the rest of their row.
fn by_declared_type(traits: &ColumnTraits<'_>) -> Option<Inference> {
    let because = || format!("declared {}", traits.declared);
    let declared = traits.declared.to_ascii_uppercase();
    let base = declared.split('(').next().unwrap_or_default().trim();
    match base {
        _ if is_guid(base) => Some(inferred("uuid", because())),
        "TIME" | "TIME WITHOUT TIME ZONE" => Some(inferred("time_of_day", because())),
        "JSON" | "JSONB" => Some(inferred("json", because())),
        "DECIMAL" | "NUMERIC" | "NUMBER" => decimal(traits).map(|text| inferred(text, because())),
        "TINYINT" => Some(inferred("int(0, 127)", because())),
        "SMALLINT" | "INT2" => Some(inferred("int(0, 999)", because())),
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
        TypeClass::Text => match traits.longest.unwrap_or(USUAL) {
            0 => inferred("constant('')", "a text column"),
            longest @ 1..=4 => inferred(format!("regex('[A-Z]{{{longest}}}')"), "a text column"),
            longest => inferred(format!("phrase('{{words}}', {})", longest.min(USUAL)), "a text column"),
        },
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

/// Returns what a column refers to, if that is a row of another table.
pub(crate) fn other_parent(schema: &Schema, table: usize, column: usize) -> Option<Parent> {
    match reference(schema, &schema.tables[table], column) {
        Reference::Single(parent) if parent.table != table => Some(parent),
        _ => None,
    }
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReferencePattern {
    /// Each row at most once: the column is a key.
    Once,
    /// Each row at most once, in an order of its own: not everybody lives at the address of their number.
    OnceNearby,
    /// Runs of this length, in turn, for a key of several foreign keys.
    InTurn { each: u64 },
    /// No row twice for the same row in the column of this name; early rows there have early ones if both tables grow; no row
    /// itself if both refer to one table.
    DistinctIn { column: String, growing: bool, other: bool },
    /// Consecutive rows for each parent: numbers of children with the numbers of parents that have so many.
    PerParent(Vec<(u64, u64)>),
    /// So many first rows of the table itself, which refer to nothing.
    Roots(u64),
    /// Random rows, some of them often. If both tables grow with time, early rows refer to early rows; `growing` is the share of the
    /// parents that is there before the first row.
    Popular { growing: Option<f64> },
    /// Random rows, or the rows of another column of the foreign key.
    AtRandom,
}

/// Returns the annotation of a foreign key.
pub(crate) fn of_parent(pattern: &ReferencePattern, table: &Table, column: usize) -> Inference {
    let parent = quoted_column(table, column);
    let because = format!("refers to {}.{}", table.name, table.columns[column].name);
    match pattern {
        ReferencePattern::AtRandom => inferred(format!("ref({parent})"), because),
        ReferencePattern::Once => inferred(format!("ref({parent}, once)"), format!("{because}, each once")),
        ReferencePattern::OnceNearby => {
            inferred(format!("ref({parent}, once(near=100))"), format!("{because}, each once, in no order"))
        }
        ReferencePattern::InTurn { each } => {
            let each = if *each == 1 { String::new() } else { format!("({each})") };
            inferred(format!("ref({parent}, in_turn{each})"), format!("{because}, in a key of foreign keys"))
        }
        ReferencePattern::Roots(first) => {
            inferred(format!("ref({parent}, in_turn(first={first}))"), format!("{because}, if it is no root"))
        }
        ReferencePattern::DistinctIn { column, growing, other } => {
            let growing = self::growing(*growing);
            let other = if *other { ", other=TRUE" } else { "" };
            inferred(
                format!("ref({parent}, distinct_in({}{growing}{other}))", quoted(column)),
                format!("{because}, in a key with {column}"),
            )
        }
        ReferencePattern::PerParent(counts) => {
            let pairs: Vec<String> =
                counts.iter().map(|(children, parents)| format!("{children}: {parents}")).collect();
            let text = match counts[..] {
                [(each, _)] => format!("ref({parent}, per_parent({each}))"),
                _ => format!("ref({parent}, per_parent(deal({})))", pairs.join(", ")),
            };
            inferred(text, format!("{because}, in a key"))
        }
        ReferencePattern::Popular { growing: None } => inferred(format!("ref({parent}, popular)"), because),
        ReferencePattern::Popular { growing: Some(before) } => {
            let before = if *before > 0.0 { format!(", before={before:.3}") } else { String::new() };
            let text = format!("ref({parent}, popular(growing=TRUE{before}))");
            inferred(text, format!("{because}, which grows with time, too"))
        }
    }
}

/// Divides rows among parents: many parents have few, and few have many. Every parent has `least` to `most`, and the
/// sum is the number of rows if that is possible.
pub(crate) fn skewed_counts(rows: u64, parents: u64, (least, most): (u64, u64)) -> Vec<(u64, u64)> {
    /// Quantiles of the exponential distribution of mean 1.
    const QUANTILES: [f64; 12] = [0.04, 0.13, 0.23, 0.34, 0.47, 0.61, 0.78, 0.98, 1.23, 1.57, 2.07, 3.55];
    let mean = rows as f64 / parents as f64;
    let groups = QUANTILES.len() as u64;
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (at, quantile) in (0..groups).zip(QUANTILES) {
        let size = parents * (at + 1) / groups - parents * at / groups;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturates")]
        let children = (mean * quantile).round() as u64;
        counts.push((children.clamp(least, most), size));
    }
    let sum = |counts: &[(u64, u64)]| {
        counts.iter().fold(0_u64, |sum, (children, parents)| sum.saturating_add(children.saturating_mul(*parents)))
    };
    // One more or one less for as many parents as are needed, from the largest groups on.
    loop {
        let (now, before) = (sum(&counts), counts.clone());
        for at in (0..counts.len()).rev() {
            let (children, size) = counts[at];
            let gap = rows.abs_diff(sum(&counts)).min(size);
            let moved = match now < rows {
                true if children < most => children + 1,
                false if children > least => children - 1,
                _ => continue,
            };
            counts[at].1 -= gap;
            counts.push((moved, gap));
        }
        counts.retain(|(_, size)| *size > 0);
        if counts == before || sum(&counts) == rows {
            break;
        }
    }
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    counts
}

/// Infers the ordinal of a row among those with the same parent, for a key with the column of this name.
pub(crate) fn number_in(name: &str) -> Inference {
    inferred(format!("number_in({})", quoted(name)), format!("it is unique together with {name}"))
}

/// Quotes a name, if annotations need that.
pub fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name);
    if is_plain && !is_reserved(name) { name.to_owned() } else { quoted_name(name) }
}

/// Returns a column of a table as annotations name it.
pub(crate) fn quoted_column(table: &Table, column: usize) -> String {
    format!("{}.{}", quoted(&table.name), quoted(&table.columns[column].name))
}

/// Returns the argument of a distribution whose early rows refer to early rows only.
pub(crate) fn growing(is_growing: bool) -> &'static str {
    if is_growing { ", growing=TRUE" } else { "" }
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

/// Infers a key without REFERENCES whose DEFAULT stands for no parent.
pub(crate) fn no_parent() -> Inference {
    inferred("constant(0)", "the DEFAULT, which stands for no parent")
}

/// Infers a foreign key without parent: NULL, or an error if the column is NOT NULL.
pub(crate) fn without_parent(table: &Table, position: usize, reason: &NoReference) -> Result<Inference> {
    const ANNOTATE: &str = "annotate the column, for example ref(table.column); docs/generators.md shows how two foreign keys share a column";
    let (column, NoReference { why, most_rows }) = (&table.columns[position], reason);
    // NULLs instead of pairs would hide that the rows are too many.
    if !column.not_null && table.rowid_alias != Some(position) && most_rows.is_none() {
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

/// Returns the share of rows that are NULL in a nullable column, by its name; of other columns 0.
pub(crate) fn null_share(schema: &Schema, table: &Table, position: usize) -> f64 {
    /// Of a nullable column whose name says nothing, where others are NOT NULL.
    const USUAL: f64 = 0.04;
    let column = &table.columns[position];
    let default = column.default.as_deref().filter(|default| !default.eq_ignore_ascii_case("NULL"));
    if column.not_null || column.key_position.is_some() || default.is_some() || is_referred(schema, table, column) {
        return 0.0;
    }
    // Most visitors have not signed in.
    let has_visitor = || table.columns.iter().any(|other| names::plain(&other.name).contains("visitor"));
    if is_called(table, position, "user_id") && has_visitor() {
        return 0.85;
    }
    let is_deliberate = table.columns.iter().any(|other| other.not_null && other.key_position.is_none());
    rules::null_share(&names::plain(&column.name)).unwrap_or(if is_deliberate { USUAL } else { 0.0 })
}

/// Returns whether the rows of a table are parts of the rows of another one: lines of an order, jobs of a pipeline.
pub(crate) fn is_part_of(table: &Table, parent: &Table) -> bool {
    let kinds = (kind_of(table), kind_of(parent));
    matches!(
        kinds,
        (Some(Kind::Run), Some(Kind::Run))
            | (Some(Kind::Log), Some(Kind::Log))
            | (Some(Kind::Payment), Some(Kind::Order | Kind::Stay))
    ) || is_line_of(table, parent)
        || is_card_of(table, parent)
        || is_output_of(table, parent)
        || is_album_of(table, parent)
}

/// Returns how many rows of a table there are for ten of their parts in another one: orders have lines, pipelines jobs, and albums
/// tracks.
pub(crate) fn wholes_of_ten(whole: &Table, part: &Table) -> Option<u64> {
    let are_runs = (kind_of(whole), kind_of(part)) == (Some(Kind::Run), Some(Kind::Run));
    let names = [whole, part].map(|table| subjects::subject(&table.name).map(|subject| subject.names));
    match names {
        _ if is_line_of(part, whole) || are_runs && whole.name != part.name => Some(4),
        _ if is_album_of(part, whole) => Some(1),
        [Some("band"), Some("album")] => Some(5),
        _ => None,
    }
}

/// Returns whether the rows of a table are songs of the albums in another one.
pub(crate) fn is_album_of(table: &Table, album: &Table) -> bool {
    let is = |table: &Table, names: &str| subjects::subject(&table.name).is_some_and(|subject| subject.names == names);
    is(table, "song") && is(album, "album")
}

/// Returns whether all songs of an album refer to the same row of a table.
pub(crate) fn is_trait_of_album(table: &Table) -> bool {
    subjects::subject(&table.name).is_some_and(|subject| ["genre", "media_type"].contains(&subject.names))
}

/// Returns whether the rows of a table are files that the runs in another one make.
pub(crate) fn is_output_of(table: &Table, parent: &Table) -> bool {
    has_last_word(table, "artifact output attachment file") && kind_of(parent) == Some(Kind::Run)
}

/// Returns whether the rows of a table are files that are sent with a text in another one, or later forms of the text.
pub(crate) fn is_attached_to(table: &Table, parent: &Table) -> bool {
    kind_of(parent) == Some(Kind::Text) && (has_last_word(table, "attachment media photo video") || is_edit(table))
}

/// Returns whether the rows of a table are later forms of texts.
fn is_edit(table: &Table) -> bool {
    let words = words_of_table(&table.name);
    words.first().is_some_and(|first| first == "edited") || words.last().is_some_and(|last| last == "edit")
}

/// Returns whether the rows of a table are what people do at once with a text: they like it, or see it.
pub(crate) fn is_reaction(table: &Table) -> bool {
    let words = words_of_table(&table.name);
    words.iter().any(|word| names::is_like(word, "reaction receipt mention like favourite favorite vote"))
}

/// Returns whether the rows of a table are lines of the orders in another one.
pub(crate) fn is_line_of(table: &Table, parent: &Table) -> bool {
    (kind_of(table), kind_of(parent)) == (Some(Kind::Line), Some(Kind::Order))
}

/// Returns whether rows of a table have the same parent in `of` as the row of `through` that they refer to: the customer of a
/// payment is that of the order, while the author of a comment is not that of the post.
pub(crate) fn shares_parent(table: &Table, through: &Table, of: &Table) -> bool {
    let subject = subjects::subject(&table.name);
    let is_attached = subject.is_some_and(|subject| ["file", "image_file"].contains(&subject.names))
        || is_reaction(table)
        || has_last_word(table, "media location attachment column");
    let is_part = matches!(kind_of(table), Some(Kind::Payment | Kind::Line | Kind::Log | Kind::Run));
    // A customer has things sent to an address of their own.
    let is_own = is_person(of) && has_last_word(through, "address card wallet cart basket session device subscription");
    through.name != of.name && (is_part || is_attached || is_own)
}

/// Returns how many rows of a table are roots if a column refers to the category that a category is a part of, or to a series.
pub(crate) fn roots(table: &Table, column: usize, rows: u64) -> Option<u64> {
    const LIST: &str = "category";
    /// One of so many rows is a series, and half of the others are its seasons and episodes.
    const SERIES: u64 = 16;
    if media::is_of_films(table) && is_called(table, column, "parent_id") {
        return Some(rows.div_ceil(SERIES));
    }
    let is_category = subjects::subject(&table.name).is_some_and(|subject| subject.names == LIST);
    let is_parent = is_called(table, column, "*parent*") && !table.columns[column].not_null;
    (is_category && is_parent).then(|| phrases::count(LIST).min(rows.div_ceil(4)))
}

/// Returns whether the rows of a table are rights to do something with the models in another one.
pub(crate) fn is_model_of(table: &Table, parent: &Table) -> bool {
    let has = |table: &Table, name: &str| table.columns.iter().any(|column| names::plain(&column.name) == name);
    has(table, "codename") && has(parent, "model")
}

/// Rights to do something with a model: to add, change, delete and view its rows.
pub(crate) const RIGHTS_OF_MODEL: u64 = 4;

/// Divides rights among models: four each, until all models have them.
pub(crate) fn rights_of_models(rows: u64, models: u64) -> Vec<(u64, u64)> {
    if rows >= RIGHTS_OF_MODEL * models {
        return skewed_counts(rows, models, (RIGHTS_OF_MODEL, u64::MAX));
    }
    let (whole, rest) = (rows / RIGHTS_OF_MODEL, rows % RIGHTS_OF_MODEL);
    let counts = [(RIGHTS_OF_MODEL, whole), (rest, 1), (0, models - whole - 1)];
    counts.into_iter().filter(|(_, models)| *models > 0).collect()
}

/// Returns whether a column refers to the person who has the addresses in a table.
pub(crate) fn is_address_of(table: &Table, column: usize, parent: &Table) -> bool {
    has_last_word(table, "address") && is_person(parent) && table.columns[column].not_null
}

/// Returns whether the rows of a table have further columns of the rows in another one: `ZADDITIONALASSETATTRIBUTES`.
pub(crate) fn has_more_of(table: &Table, parent: &Table) -> bool {
    let (name, of) = (names::plain(&table.name), names::plain(&parent.name));
    name.ends_with("attributes") && name.starts_with('z') && name.contains(of.trim_start_matches('z'))
}

/// Returns whether a column gives a person the account of their own, or a row its further columns: `account_id` of a table of users.
pub(crate) fn is_account_of(table: &Table, column: usize, parent: &Table) -> bool {
    const OWNERS: &str = "user profile customer employee staff doctor patient student teacher driver player author admin seller buyer person agent nurse instructor account";
    const HOMES: &str = "store shop branch warehouse office company supplier vendor organization venue hotel restaurant school hospital";
    let last = |table: &Table| words_of_table(&table.name).pop().unwrap_or_default();
    let (own, of) = (last(table), last(parent));
    let name = names::plain(&table.columns[column].name);
    let stem = name.strip_suffix("_id").or_else(|| name.strip_suffix("id")).unwrap_or(&name);
    let is_home = || {
        // One shop or one person lives at an address.
        of == "address" && stem.ends_with("address") && (names::is_like(&own, OWNERS) || names::is_like(&own, HOMES))
    };
    let is_account = || ["user", "account"].contains(&of.as_str()) && stem == of && names::is_like(&own, OWNERS);
    table.name != parent.name && (is_account() || is_home() || has_more_of(table, parent) || name == "root_file")
}

/// Returns whether the rows of a table are places at which people live.
pub(crate) fn is_address(table: &Table) -> bool {
    has_last_word(table, "address")
}

/// Returns whether a column refers to rows of its own table.
pub(crate) fn is_to_itself(schema: &Schema, table: &Table, column: usize) -> bool {
    matches!(reference(schema, table, column), Reference::Single(parent) if is_table(schema, parent.table, table))
}

/// Returns whether the name of a column is like one of the patterns.
pub(crate) fn is_called(table: &Table, column: usize, patterns: &str) -> bool {
    names::is_like(&names::plain(&table.columns[column].name), patterns)
}

/// Returns whether the last word of a table's name is one of these.
pub(crate) fn has_last_word(table: &Table, words: &str) -> bool {
    words_of_table(&table.name).pop().is_some_and(|last| words.split(' ').any(|word| word == last))
}

/// Returns whether people write the rows of a table, or work on them.
pub(crate) fn is_text_or_task(table: &Table) -> bool {
    matches!(kind_of(table), Some(Kind::Text | Kind::Task))
}

/// Returns whether the rows of a table are persons.
pub(crate) fn is_person(table: &Table) -> bool {
    kind_of(table) == Some(Kind::Person)
}

/// Returns whether the rows of a table last for days: rentals, stays.
pub(crate) fn is_stay(table: &Table) -> bool {
    kind_of(table) == Some(Kind::Stay)
}

fn kind_of(table: &Table) -> Option<Kind> {
    subject_of(table).map(|subject| subject.kind)
}

/// Returns what the rows of a table are. A status that answers or repeats another one is a text.
fn subject_of(table: &Table) -> Option<Subject> {
    let is_answer =
        |column: &Column| names::is_like(&names::plain(&column.name), "*in_reply* *reblog* *retweet* *repost*");
    let is_post = has_last_word(table, "status tweet toot") && table.columns.iter().any(is_answer);
    if is_post { Some(Subject { names: "status_post", kind: Kind::Text }) } else { subjects::subject(&table.name) }
}

/// Returns whether a foreign key refers to the column.
fn is_referred(schema: &Schema, table: &Table, column: &Column) -> bool {
    let keys = schema.tables.iter().flat_map(|table| &table.foreign_keys);
    let mut to_table = keys.filter(|key| key.parent.eq_ignore_ascii_case(&table.name));
    to_table.any(|key| key.parent_columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name)))
}

/// Returns whether a table has a time at which its rows came.
pub(crate) fn has_times(table: &Table) -> bool {
    let is_time = |column: &Column| times::has_time(&bare(table, &column.name), &ColumnTraits::new(column));
    table.columns.iter().any(is_time)
}

/// Returns the share of a table's rows that come before the first row of a table that refers to it, by the lengths of the chains of
/// parents of both.
pub(crate) fn share_before(parent: &Table, [of_parent, of_child]: [i64; 2]) -> f64 {
    // A log of few rows is a short one.
    if kind_of(parent) == Some(Kind::Log) { 0.0 } else { row_times::share_before(of_parent, of_child) }
}

/// Returns the column of the time, if a table holds series of measurements: one at a time for each row that a column refers to.
pub(crate) fn time_of_series(table: &Table, column: usize) -> Option<usize> {
    let is_time = |&at: &usize| {
        let traits = ColumnTraits::new(&table.columns[at]);
        at != column && traits.is_number() && times::has_time(&names::plain(&table.columns[at].name), &traits)
    };
    let keys = || unique_keys(table).filter(|key| key.len() == 2 && key.contains(&column));
    keys().filter(|_| kind_of(table) == Some(Kind::Log)).find_map(|key| key.into_iter().find(is_time))
}

/// Infers a column by its type alone.
pub(crate) fn by_type(table: &Table, position: usize) -> Inference {
    let traits = ColumnTraits::new(&table.columns[position]);
    match unique_because(table, position) {
        Some(because) => unique(&traits, "", because),
        None => by_declared_type(&traits).unwrap_or_else(|| by_affinity(&traits)),
    }
}

/// Returns the annotation of a text that the names of a table and its column stand for, whatever else the rows hold; `None` if the
/// names say nothing. `is_unique` asks for different texts in all rows.
pub fn text_by_name(schema: &Schema, table: usize, column: usize, is_unique: bool) -> Option<String> {
    let count = schema.tables[table].columns.len();
    let relieved = if is_unique { Vec::new() } else { vec![column] };
    let open = (0..count).map(|at| at == column).collect();
    TableInference::new(context_by_names(schema, table, open, vec![None; count], relieved)).text_by_name(column)
}

/// Returns the annotations of persons and places by the names of a table and its columns, as all of a row agree: an e-mail address
/// holds the name, and a country belongs to the city. Foreign keys refer to rows.
pub fn texts_of_row(schema: &Schema, table: usize) -> Vec<Option<String>> {
    let of = &schema.tables[table];
    let parents = (0..of.columns.len()).map(|at| other_parent(schema, table, at)).collect();
    let open = |at: usize| of.columns[at].generated == Generated::No && !refers(schema, of, at);
    let open = (0..of.columns.len()).map(open).collect();
    TableInference::new(context_by_names(schema, table, open, parents, Vec::new())).texts_of_row()
}

/// Returns a table's context of which only names, keys and parents are known.
fn context_by_names(
    schema: &Schema,
    table: usize,
    open: Vec<bool>,
    possible_parents: Vec<Option<Parent>>,
    relieved: Vec<usize>,
) -> TableContext<'_> {
    let columns = possible_parents.iter().zip(&schema.tables[table].columns);
    TableContext {
        schema,
        table,
        rows: 0,
        day: ReferenceDay::default(),
        is_lookup: false,
        open,
        parents: columns.map(|(parent, column)| parent.filter(|_| column.not_null)).collect(),
        possible_parents,
        per_parent: None,
        once: None,
        via: Vec::new(),
        shared: Vec::new(),
        lines: None,
        counted: Vec::new(),
        latest: Vec::new(),
        roots: None,
        relieved,
        depth: 0,
    }
}

/// Returns whether an annotation without columns builds.
#[cfg(test)]
fn parts_build(text: &str) -> bool {
    crate::generators::catalogue::is_valid_annotation(text, 1000)
}

#[cfg(test)]
mod tests;
