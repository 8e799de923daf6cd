//! Inference of annotations: by a column's keys, the other columns of its table, its name, declared type and affinity.
//!
//! The result is an annotation as a person would write it, with the reason, so that `plan` can print both and the
//! user can copy and change it. `plan/constraints` changes the result to meet CHECK constraints.
//!
//! ```text
//! keys, foreign keys ------------------------------> keys.rs, references.rs, patterns.rs, plan/reference_patterns.rs
//! subject of the table (subjects.rs), columns -----> table_columns.rs: persons, places, times (row_times.rs, parent_times.rs), amounts, companions,
//!                                                    roles, ranges, spans, traffic, texts, media, messages, posts, upkeep, states, listed, files, payments, settings, and by theme
//!                                                    browsing, smart_home, shared_files, flash_cards, photographs, maps, catalogues, continents, repositories, versions, sites, fields
//! rows that they refer to -------------------------> copies.rs, runs.rs
//! what tables are to each other -------------------> relatives.rs
//! other columns -----------------------------------> special.rs, rules.rs, distinct.rs, by type alone types.rs
//! NULL, flags and DEFAULTs ------------------------> defaults.rs
//! ```

mod amounts;
mod blog_meta;
mod browsing;
mod catalogues;
mod companions;
mod continents;
mod copies;
mod defaults;
mod distinct;
mod ends;
mod fields;
mod files;
mod flash_cards;
mod hospitals;
mod issue_labels;
mod keys;
mod latest;
mod listed;
mod maps;
mod media;
mod messages;
mod names;
mod parent_times;
mod patterns;
mod payments;
mod persons;
mod photographs;
mod places;
mod posts;
mod ranges;
mod references;
mod relatives;
mod repositories;
mod roles;
mod row_times;
mod rules;
mod runs;
mod settings;
mod shapes;
mod shared_files;
mod sites;
mod smart_home;
mod spans;
mod special;
mod states;
mod streets;
mod subjects;
mod table_columns;
mod texts;
mod times;
mod traffic;
mod types;
mod upkeep;
mod versions;

pub(crate) use browsing::{
    are_bookmarks, folders_of_bookmarks, is_bookmarked, is_input_of, is_page_of, is_search_of, is_visit_of,
};
pub(crate) use catalogues::{first_often, layers_without_tiles};
pub(crate) use continents::continent_of;
pub(crate) use copies::REPEATS;
pub(crate) use defaults::null_share;
pub(crate) use fields::{has_values_of_fields, value_of_field};
pub(crate) use flash_cards::{is_answer_to, is_card_of};
pub(crate) use issue_labels::label_of_issue;
pub(crate) use keys::is_key_of_all;
pub use keys::{is_key_alone, is_made_unique, unique_because, unique_keys};
pub(crate) use listed::{closed_names, listed_texts, one_of_listed, only_row};
pub(crate) use media::{
    are_genres_of, are_streams, films_without_parts, is_cast_of, is_of_films, is_value_of_film, second_level,
    tells_of_plays,
};
pub(crate) use names::{bare, expanded, plain, words_of_table};
pub(crate) use patterns::{
    NoReference, ReferencePattern, before, even_counts, growing, no_parent, number_in, of_parent, skewed_counts,
    without_parent,
};
pub(crate) use photographs::is_of_photographs;
pub(crate) use places::{CITIES_OF_COUNTRY, is_city_of};
pub use references::{Parent, Reference, reference, refers};
pub(crate) use references::{is_to_itself, other_parent};
pub(crate) use relatives::{
    as_many_each, has_lines, has_more_of, is_account_of, is_address, is_address_of, is_album_of, is_ancestor,
    is_attached_to, is_line_of, is_of_conversation, is_output_of, is_part_of, is_person, is_reaction, is_run_of_commit,
    is_stay, is_territory, is_text_or_task, is_trait_of_album, parts_of_each, roots, rows_for_one, shares_parent,
    things_of_any_kind, wholes_of_hundred,
};
pub(crate) use roles::is_superior;
pub(crate) use row_times::is_lent;
pub(crate) use settings::{are_settings_of_users, is_meta_of};
pub(crate) use shared_files::{ROWS_OF_FOLDER, is_place_of_files, is_tree_by_key, is_type_of_files, type_of_file};
pub(crate) use sites::{Sites, most_sites};
pub(crate) use smart_home::{STATES_OF_THING, event_of_details, lists_events};
pub(crate) use states::usual_weight;
pub use streets::is_street;
pub(crate) use table_columns::{OrderLines, TableContext, TableInference};
pub(crate) use times::ReferenceDay;
pub(crate) use types::{ColumnTraits, TypeClass, fits_key};
pub(crate) use versions::Versions;

use keys::unique;
use relatives::{is_post, kind_of, subject_of};
use subjects::Kind;
use types::{by_affinity, by_declared_type};

use crate::annotation::{is_name, is_reserved};
use litepress_rows::quoted_name;
use litepress_rows::schema::{Column, Generated, Schema, Table};
use std::fmt::Display;

/// An inferred annotation with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inference {
    pub text: String,
    pub because: String,
}

fn inferred(text: impl Into<String>, because: impl Into<String>) -> Inference {
    Inference { text: text.into(), because: because.into() }
}

/// Returns the branches of a CASE for one value after another, from the number `first` on.
fn branches(first: usize, values: impl IntoIterator<Item = impl Display>) -> String {
    (first..).zip(values).map(|(number, value)| format!(" WHEN {number} THEN {value}")).collect()
}

/// Returns a text as SQL writes it.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
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

/// Returns whether the name of a column is like one of the patterns.
pub(crate) fn is_called(table: &Table, column: usize, patterns: &str) -> bool {
    names::is_like(&names::plain(&table.columns[column].name), patterns)
}

/// Returns whether the last word of a table's name is one of these.
pub(crate) fn has_last_word(table: &Table, words: &str) -> bool {
    words_of_table(&table.name).pop().is_some_and(|last| words.split(' ').any(|word| word == last))
}

/// Returns whether a table has a time at which its rows came.
pub(crate) fn has_times(table: &Table) -> bool {
    let is_time = |column: &Column| times::has_time(&bare(table, &column.name), &ColumnTraits::new(column));
    table.columns.iter().any(is_time)
}

/// Returns the share of a table's rows that come before the first row of a table that refers to it, by the lengths of the chains of
/// parents of both.
pub(crate) fn share_before([parent, child]: [&Table; 2], rows: u64, [of_parent, of_child]: [i64; 2]) -> f64 {
    let is_log = |table: &Table| {
        let subject = subject_of(table).filter(|subject| subject.kind == Kind::Log);
        let has_status = (0..table.columns.len()).any(|at| is_called(table, at, "http_status status_code http_method"));
        subject.is_some_and(|subject| subject.names != "migration") || has_status
    };
    if is_log(parent) {
        return 0.0;
    }
    row_times::share_before(of_parent, row_times::days_of(is_log(child), rows, of_child))
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
        rows_of: Vec::new(),
        day: ReferenceDay::default(),
        is_lookup: false,
        open,
        parents: columns.map(|(parent, column)| parent.filter(|_| column.not_null)).collect(),
        possible_parents,
        per_parent: None,
        once: None,
        via: Vec::new(),
        halfway: Vec::new(),
        bought: None,
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
