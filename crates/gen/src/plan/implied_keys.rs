//! Keys that a schema implies: columns such as `user_id` without REFERENCES, and unique indexes on expressions.
//!
//! The plan is made of a copy of the schema that has them. A foreign key that is only implied never fails: if no row
//! can be referred to, the column is inferred like any other.

use crate::infer;
use crate::schema_annotations::words;
use crate::tables::is_generated;
use litepress_rows::Affinity;
use litepress_rows::schema::{Column, ForeignKey, Generated, Schema, Table};

/// A schema with implied keys, and the number of declared foreign keys of each table.
pub(super) struct PlannedSchema {
    pub schema: Schema,
    pub declared: Vec<usize>,
}

/// Adds the implied keys to a copy of the schema.
pub(super) fn with_implied_keys(schema: &Schema) -> PlannedSchema {
    let mut planned = schema.clone();
    let declared = schema.tables.iter().map(|table| table.foreign_keys.len()).collect();
    for (position, table) in schema.tables.iter().enumerate() {
        if !is_generated(schema, table) {
            continue;
        }
        for column in 0..table.columns.len() {
            if let Some((parent, key)) = implied_parent(schema, position, column) {
                planned.tables[position].foreign_keys.push(ForeignKey::single(
                    column,
                    &schema.tables[parent].name,
                    &schema.tables[parent].columns[key].name,
                ));
            }
        }
        for (at, index) in table.indexes.iter().enumerate().filter(|(_, index)| index.unique) {
            let object = schema.objects.iter().find(|object| object.kind == "index" && object.name == index.name);
            let Some(sql) = object.and_then(|object| object.sql.as_deref()) else { continue };
            // The list of columns begins after the name of the table.
            let list = sql.split_once('(').map_or("", |(_, list)| list);
            let named =
                |column: &usize| words(list).iter().any(|word| word.eq_ignore_ascii_case(&table.columns[*column].name));
            let free: Vec<usize> = (0..table.columns.len())
                .filter(named)
                .filter(|column| !index.columns.iter().any(|part| part.column == Some(*column)))
                .collect();
            // A generated column is unique if a column in its expression is.
            for part in &mut planned.tables[position].indexes[at].columns {
                let generated = part.column.filter(|&column| table.columns[column].generated != Generated::No);
                part.column = generated.and_then(|column| source_of(schema, table, column)).or(part.column);
            }
            let mut free = free.into_iter().rev();
            for part in planned.tables[position].indexes[at].columns.iter_mut().filter(|part| part.column.is_none()) {
                // A value that is unique by itself is unique in lower(name).
                part.column = free.next();
            }
        }
    }
    PlannedSchema { schema: planned, declared }
}

/// Returns the last ordinary column in the expression of a generated one.
fn source_of(schema: &Schema, table: &Table, column: usize) -> Option<usize> {
    let object = schema.objects.iter().find(|object| object.kind == "table" && object.name == table.name)?;
    let words = words(object.sql.as_deref()?);
    let name = &table.columns[column].name;
    let start = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
    let mut rest = words[start + 1..].iter().skip_while(|word| !word.eq_ignore_ascii_case("as")).skip(1);
    let end = |word: &String| ["stored", "virtual"].iter().any(|end| word.eq_ignore_ascii_case(end));
    let mut found = None;
    for word in rest.by_ref().take_while(|word| !end(word)) {
        let ordinary = |&at: &usize| {
            table.columns[at].generated == Generated::No && table.columns[at].name.eq_ignore_ascii_case(word)
        };
        found = (0..table.columns.len()).find(ordinary).or(found);
    }
    found
}

/// Roles of rows that a row of their own table is related to.
const RELATIVES: [&str; 3] = ["ancestor", "descendant", "child"];

/// Returns the table and key that the name of a column says it refers to.
fn implied_parent(schema: &Schema, position: usize, column: usize) -> Option<(usize, usize)> {
    let table = &schema.tables[position];
    let of = &table.columns[column];
    let is_referring = table.foreign_keys.iter().any(|key| key.columns.contains(&column));
    let is_text = infer::ColumnTraits::new(of).class == infer::TypeClass::Text;
    if of.generated != Generated::No || is_referring || of.affinity != Affinity::Integer && !is_text {
        return None;
    }
    let name = infer::plain(&of.name);
    let (stem, is_id) =
        match name.strip_suffix("_id").or_else(|| name.strip_prefix("id_")).or_else(|| name.strip_suffix("_fk")) {
            // `chat_row_id` is the key of a row of `chat`.
            Some(stem) => (stem.strip_suffix("_row").unwrap_or(stem), true),
            None => (name.strip_suffix("id").filter(|stem| stem.len() > 2).unwrap_or(&name), false),
        };
    let key_of = |parent: usize| {
        let key = key_for(of, &schema.tables[parent])?;
        let is_same = parent == position && key == column;
        (!is_same && is_generated(schema, &schema.tables[parent])).then_some((parent, key))
    };
    if stem == "parent"
        || name.ends_with("_parent")
        || name.ends_with("parent_id")
        || stem == "in_reply_to"
        || stem == "reply_to"
    {
        return (of.affinity == Affinity::Integer || is_text && is_id).then(|| key_of(position))?;
    }
    if is_id && RELATIVES.contains(&stem) {
        return key_of(family_of(schema, position, column));
    }
    // The name of another table's key, such as `idsite`, is that key.
    let mut same = (0..schema.tables.len()).filter(|&parent| {
        let key = single_key(&schema.tables[parent]);
        parent != position && key.is_some_and(|key| infer::plain(&schema.tables[parent].columns[key].name) == name)
    });
    let is_own_key = single_key(table) == Some(column);
    if let (Some(parent), None, false) = (same.next(), same.next(), is_own_key || !name.contains("id") || name == "id")
    {
        return key_of(parent);
    }
    if let Some(parent) = person_by_login(schema, position, &name) {
        return key_of(parent);
    }
    // A text or a name without id is a reference only if it names a whole table.
    let is_author = of.affinity == Affinity::Integer && (name == "author" || name.ends_with("_author"));
    if !is_id && !is_author && (of.affinity != Affinity::Integer || table.rowid_alias == Some(column) && name == *stem)
    {
        return None;
    }
    let parts: Vec<&str> = stem.split('_').collect();
    let by_name = (0..if is_id { parts.len() } else { 1 }).find_map(|from| {
        let wanted = parts[from..].join("_");
        let wanted = infer::expanded(&wanted);
        // The type of a creator is not that of an item.
        let is_vague = from > 0 && ["type", "kind", "status", "state"].contains(&wanted);
        let mut found =
            (0..schema.tables.len()).filter(|&parent| is_called(&schema.tables[parent], wanted, true)).chain(
                (0..schema.tables.len())
                    .filter(|&parent| is_id && !is_vague && is_called(&schema.tables[parent], wanted, false)),
            );
        found.find_map(key_of).filter(|(parent, _)| *parent != position || is_id)
    });
    by_name.or_else(|| person_by_role(schema, table, (stem, is_id, is_author)).and_then(key_of))
}

/// Returns the table of which a column such as `ancestor_id` has a row: that of the other column of a pair, or its own.
fn family_of(schema: &Schema, position: usize, column: usize) -> usize {
    let table = &schema.tables[position];
    let is_relative = |name: &str| RELATIVES.iter().any(|word| infer::plain(name).starts_with(word));
    let others = (0..table.columns.len()).filter(|&at| at != column && !is_relative(&table.columns[at].name));
    others.into_iter().find_map(|other| implied_parent(schema, position, other)).map_or(position, |(parent, _)| parent)
}

/// Returns the table of the persons that a role such as `author_id` is of. A messenger without users has conversations with them.
fn person_by_role(schema: &Schema, table: &Table, (role, is_id, is_author): (&str, bool, bool)) -> Option<usize> {
    const PERSONS: &str = "author owner creator sender receiver recipient follower following followed assignee assigned_to created_by updated_by modified_by approved_by reviewer actor manager requester reporter uploader editor inviter invited_by poster commenter doer moderator applicant by";
    let is_message = |column: &Column| infer::plain(&column.name) == "message_id";
    let is_sender = role == "from" && is_id && table.columns.iter().any(is_message);
    let is_person = is_author || is_id && PERSONS.split(' ').any(|person| person == role);
    let called = |name: &str| (0..schema.tables.len()).find(|&at| is_called(&schema.tables[at], name, false));
    let persons = ["user", "account", "member", "person", "profile"];
    let found = persons.into_iter().filter(|_| is_person || is_sender).find_map(called);
    found.or_else(|| called("conversation").filter(|_| is_sender))
}

/// Returns the only table of persons whose key is the user name that a column such as `creator_login` has.
fn person_by_login(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    let is_login = |&parent: &usize| {
        let of = &schema.tables[parent];
        let key = single_key(of).map(|key| infer::plain(&of.columns[key].name)).unwrap_or_default();
        let is_key = ["login", "username", "user_name", "handle"].contains(&key.as_str());
        parent != position && is_key && infer::is_person(of) && name.ends_with(&format!("_{key}"))
    };
    let mut found = (0..schema.tables.len()).filter(is_login);
    found.next().filter(|_| found.next().is_none())
}

/// Returns whether a table has this name in the singular, or, if not `whole`, ends with it.
fn is_called(table: &Table, wanted: &str, whole: bool) -> bool {
    let words = infer::words_of_table(&table.name);
    let name = words.join("_");
    let plain = name.replace('_', "");
    if whole {
        name == wanted || plain == wanted.replace('_', "")
    } else {
        words.last().is_some_and(|word| word == wanted) || name.ends_with(&format!("_{wanted}"))
    }
}

/// Returns the key of a table that a column can hold: the primary key, or else a unique `id`.
fn key_for(column: &Column, parent: &Table) -> Option<usize> {
    let fits = |&key: &usize| infer::fits_key(column, &parent.columns[key]);
    let is_id = |key: &usize| {
        let of = &parent.columns[*key];
        of.unique && of.generated == Generated::No && ["id", "uuid", "guid"].contains(&infer::plain(&of.name).as_str())
    };
    single_key(parent).filter(fits).or_else(|| (0..parent.columns.len()).filter(is_id).find(fits))
}

/// Returns the only column of a table's primary key.
fn single_key(table: &Table) -> Option<usize> {
    let mut keys = (0..table.columns.len()).filter(|&column| table.columns[column].key_position.is_some());
    let key = table.rowid_alias.or_else(|| keys.next().filter(|_| keys.next().is_none()))?;
    (table.columns[key].generated == Generated::No).then_some(key)
}
