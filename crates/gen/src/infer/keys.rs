//! Keys of a table, and inference of distinct values.

use super::types::is_of_texts;
use super::{ColumnTraits, Inference, TypeClass, inferred, is_called, names};
use litepress_rows::schema::{Generated, IndexColumn, Table};

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
    // Kinds and languages have few values.
    const KINDS: &str = "type kind *_type *_kind what action activity lang language locale *_lang *_language *_locale language_code lang_code";
    let is_kind = |&column: &usize| is_called(table, column, KINDS);
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
pub(super) fn primary_key(table: &Table) -> Vec<usize> {
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
pub(super) fn unique(traits: &ColumnTraits<'_>, name: &str, because: &str) -> Inference {
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
const UNIQUE_TEXTS: [(&str, &str, u64); 21] = [
    ("uuid guid *_uuid *_guid", "uuid", 36),
    ("*token* *session* *secret* api_key sha1 *_sha1 *_hash hash sha digest nonce", "hex(40)", 40),
    ("md5 *_md5 *_hash hash key_id", "hex(32)", 32),
    ("input search_term query", "unique_phrase('{search_term}')", 60),
    ("event_type event_name", "unique_phrase('{event_kind}', '_')", 40),
    ("what action activity", "phrase('{event_name} #') || sequence()", 40),
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
    ("phone *_phone phone_number mobile", "'+12' || unique_digits(9)", 12),
    ("codename", "unique_phrase('{permission_code}', '_')", 40),
    (
        "word stem lemma",
        "if(sequence() <= 2000, unique_phrase('{index_word}', ''), unique_phrase('{index_pair}', ''))",
        24,
    ),
    ("migration_id migration", "unique_phrase('{migration}', ' v')", 48),
    ("model", "unique_phrase('{model}', '')", 24),
    ("schema", "unique_phrase('{schema_part}', '_')", 24),
    ("value", "unique_phrase('{title}')", 60),
    ("*_id", "unique_regex('[A-Z]{5}[0-9]{2}')", 7),
    ("name title label topic tag *_name", "unique_phrase('{Adjective} {Noun}')", 40),
];

/// Returns a unique text that suits the name and the declared length.
pub(super) fn unique_text(name: &str, traits: &ColumnTraits<'_>) -> Option<&'static str> {
    let is_known = |(names, _, longest): &&(&str, &str, u64)| names::is_like(name, names) && traits.takes_len(*longest);
    UNIQUE_TEXTS.iter().find(is_known).map(|(_, text, _)| *text)
}
