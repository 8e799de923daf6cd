//! Keys that a schema implies: columns such as `user_id` without REFERENCES, and unique indexes on expressions.
//!
//! The plan is made of a copy of the schema that has them. A foreign key that is only implied never fails: if no row
//! can be referred to, the column is inferred like any other.

use crate::infer;
use crate::tables::{is_generated, statement_of};
use litepress_rows::Affinity;
use litepress_rows::schema::{Column, ForeignKey, Generated, Schema, Table};
use litepress_rows::sql_tokens::names;
use std::collections::HashMap;
use std::ops::Deref;

/// A schema with implied keys, and the number of declared foreign keys of each table.
pub(super) struct PlannedSchema {
    pub schema: Schema,
    pub declared: Vec<usize>,
}

/// A schema and its names. Each column is compared with all tables, of which there may be thousands.
struct NamedSchema<'s> {
    schema: &'s Schema,
    /// The words of each table's name in the singular, with underscores between them.
    names: Vec<String>,
    /// The tables whose key has a name, without the letters of the table.
    by_key: HashMap<String, Vec<usize>>,
    /// Whether a foreign key refers to a table.
    is_parent: Vec<bool>,
    /// The word with which the names of all tables begin: `oc` of `oc_users`.
    common_word: Option<String>,
}

impl<'s> NamedSchema<'s> {
    fn new(schema: &'s Schema) -> Self {
        let names = schema.tables.iter().map(|table| infer::words_of_table(&table.name).join("_")).collect();
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, table) in schema.tables.iter().enumerate() {
            if let Some(key) = single_key(table).or_else(|| key_of_index(table)) {
                by_key.entry(infer::bare(table, &table.columns[key].name)).or_default().push(position);
            }
        }
        let mut is_parent = vec![false; schema.tables.len()];
        for key in schema.tables.iter().flat_map(|table| &table.foreign_keys) {
            schema.position(&key.parent).into_iter().for_each(|parent| is_parent[parent] = true);
        }
        Self { schema, names, by_key, is_parent, common_word: common_word(schema) }
    }

    /// Returns whether a table has this name in the singular, or, if not `whole`, ends with it.
    fn is_called(&self, table: usize, wanted: &str, whole: bool) -> bool {
        let is_letter = |c: &u8| *c != b'_';
        let name = self.names[table].as_str();
        match name.strip_suffix(wanted) {
            Some(rest) => rest.is_empty() || !whole && rest.ends_with('_'),
            None => whole && name.bytes().filter(is_letter).eq(wanted.bytes().filter(is_letter)),
        }
    }
}

impl Deref for NamedSchema<'_> {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        self.schema
    }
}

/// Adds the implied keys to a copy of the schema.
pub(super) fn with_implied_keys(schema: &Schema) -> PlannedSchema {
    let schema = &NamedSchema::new(schema);
    let mut planned = schema.schema.clone();
    let declared: Vec<usize> = schema.tables.iter().map(|table| table.foreign_keys.len()).collect();
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
                |column: &usize| names(list).iter().any(|word| word.eq_ignore_ascii_case(&table.columns[*column].name));
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
    for (position, &declared) in declared.iter().enumerate() {
        while let Some((two, pair)) = pair_of_line(&planned, position, declared) {
            let keys = &mut planned.tables[position].foreign_keys;
            keys.remove(two[1]);
            keys[two[0]] = pair;
        }
    }
    PlannedSchema { schema: planned, declared }
}

/// Returns two implied keys of a line and the one key of a pair that replaces them, if a table has rows for pairs: which supplier has
/// which part, and what it costs.
fn pair_of_line(schema: &Schema, position: usize, declared: usize) -> Option<([usize; 2], ForeignKey)> {
    let table = &schema.tables[position];
    let parent = |key: &ForeignKey| schema.position(&key.parent).map(|parent| &schema.tables[parent]);
    let is_line = table.foreign_keys.iter().filter_map(parent).any(|of| infer::is_line_of(table, of));
    let single = |key: &usize| table.foreign_keys[*key].columns.len() == 1;
    let singles: Vec<usize> = (declared..table.foreign_keys.len()).filter(single).filter(|_| is_line).collect();
    let column_to = |of: &Table, name: &str| {
        let mut keys = of.foreign_keys.iter().filter(|key| key.columns.len() == 1);
        keys.find(|key| key.parent.eq_ignore_ascii_case(name)).map(|key| key.columns[0])
    };
    let two = singles
        .iter()
        .flat_map(|&one| singles.iter().filter(move |&&other| other > one).map(move |&other| [one, other]));
    two.into_iter().find_map(|two| {
        let keys = two.map(|key| &table.foreign_keys[key]);
        let others = schema.tables.iter().filter(|of| of.name != table.name && of.columns.len() > 2);
        others.into_iter().find_map(|of| {
            let pair = [column_to(of, &keys[0].parent)?, column_to(of, &keys[1].parent)?];
            let is_key = |key: Vec<usize>| key.len() == 2 && pair.iter().all(|column| key.contains(column));
            infer::unique_keys(of).any(is_key).then(|| {
                let mut key = ForeignKey::single(keys[0].columns[0], &of.name, &of.columns[pair[0]].name);
                key.columns.push(keys[1].columns[0]);
                key.parent_columns.push(of.columns[pair[1]].name.clone());
                (two, key)
            })
        })
    })
}

/// Returns the last ordinary column in the expression of a generated one.
fn source_of(schema: &Schema, table: &Table, column: usize) -> Option<usize> {
    let words = names(statement_of(schema, table)?);
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

/// Returns the only table that a column such as `commentable_id`, beside `commentable_type`, can refer to.
fn only_thing(schema: &Schema, table: &Table, name: &str) -> Option<usize> {
    let kind = format!("{}_type", name.strip_suffix("_id").filter(|stem| stem.ends_with("able") || *stem == "record")?);
    table.columns.iter().find(|of| infer::plain(&of.name) == kind)?;
    let mut things = infer::things_of_any_kind(schema, table);
    let only = things.next().filter(|_| things.next().is_none())?;
    schema.position(&only.name)
}

/// Returns the table and key that the name of a column says it refers to.
fn implied_parent(schema: &NamedSchema<'_>, position: usize, column: usize) -> Option<(usize, usize)> {
    let table = &schema.tables[position];
    let of = &table.columns[column];
    let is_referring = table.foreign_keys.iter().any(|key| key.columns.contains(&column));
    let is_text = infer::ColumnTraits::new(of).class == infer::TypeClass::Text;
    if of.generated != Generated::No || is_referring || of.affinity != Affinity::Integer && !is_text {
        return None;
    }
    let name = infer::bare(table, &of.name);
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
    if infer::is_of_films(table) && name == "top_parent_id" {
        return None;
    }
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
    if let Some(thing) = only_thing(schema, table, &name) {
        return key_of(thing);
    }
    if name == "key" && infer::tells_of_plays(table) {
        return schema.tables.iter().position(infer::is_of_films).and_then(key_of);
    }
    let is_own_key = single_key(table) == Some(column);
    if let Some(parent) = by_key(schema, position, &of.name, is_own_key).or_else(|| by_theme(schema, position, of)) {
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
        let prefixed = schema.common_word.as_ref().map(|word| format!("{word}_{wanted}"));
        let is_whole = |&parent: &usize| {
            let is_prefixed = |name: &String| schema.is_called(parent, name, true);
            schema.is_called(parent, wanted, true) || prefixed.as_ref().is_some_and(is_prefixed)
        };
        let is_part = |&parent: &usize| is_id && !is_vague && schema.is_called(parent, wanted, false);
        let tables = 0..schema.tables.len();
        let mut found = tables.clone().filter(is_whole).chain(tables.filter(is_part));
        found.find_map(key_of).filter(|(parent, _)| *parent != position || is_id)
    });
    by_name.or_else(|| person_by_role(schema, table, (stem, is_id, is_author)).and_then(key_of))
}

/// Returns the table whose key the name of a column is, as `idsite` is, or that other tables refer to by this name.
fn by_key(schema: &NamedSchema<'_>, position: usize, name: &str, is_own_key: bool) -> Option<usize> {
    let plain = infer::bare(&schema.tables[position], name);
    let only = |name: &str| match tables_with_key(schema, position, name)[..] {
        [only] if !is_own_key => Some(only),
        _ => None,
    };
    let is_id = plain.contains("id") && plain != "id" || plain.ends_with("_key");
    // `pfnid` is the key of the file before.
    let before = || plain.strip_prefix('p').filter(|rest| rest.len() > 2 && rest.ends_with("id")).and_then(only);
    let same = is_id.then(|| only(&plain)).flatten();
    same.or_else(before).or_else(|| as_in_other_tables(schema, position, name, is_own_key))
}

/// Returns the table that a column refers to by the habits of one kind of program.
fn by_theme(schema: &NamedSchema<'_>, position: usize, of: &Column) -> Option<usize> {
    let name = infer::bare(&schema.tables[position], &of.name);
    let is_number = of.affinity == Affinity::Integer;
    person_by_login(schema, position, &name)
        .or_else(|| by_initials(schema, position, &name))
        .or_else(|| bookmarked(schema, position, &name))
        .or_else(|| by_stem_of_key(schema, position, &name))
        .or_else(|| in_core_data(schema, position, &name).filter(|_| is_number))
        .or_else(|| in_library_of_pictures(schema, position, &name).filter(|_| is_number))
}

/// Returns the other tables whose key has this name: only the one that foreign keys refer to, if there is one.
fn tables_with_key(schema: &NamedSchema<'_>, position: usize, name: &str) -> Vec<usize> {
    let found = schema.by_key.get(name).into_iter().flatten().copied();
    let found: Vec<usize> = found.filter(|&parent| parent != position).collect();
    if found.len() < 2 {
        return found;
    }
    let parents: Vec<usize> = found.iter().copied().filter(|&table| schema.is_parent[table]).collect();
    if parents.len() == 1 { parents } else { found }
}

/// Returns the only column of a table without a primary key that is unique by itself.
fn key_of_index(table: &Table) -> Option<usize> {
    let has_key = table.rowid_alias.is_some() || table.columns.iter().any(|column| column.key_position.is_some());
    let mut keys = (0..table.columns.len()).filter(|&column| infer::is_key_of_all(table, column));
    keys.next().filter(|_| !has_key && keys.next().is_none())
}

/// Returns the table that a column of the same name refers to in all other tables that declare a reference: `pid` of `plink`. In a
/// table of links, further short keys refer to it, too.
fn as_in_other_tables(schema: &Schema, position: usize, name: &str, is_own_key: bool) -> Option<usize> {
    const SHORT: usize = 4;
    let parent = |name: &str| {
        let declared = |table: &Table, key: &ForeignKey| {
            let [column] = key.columns[..] else { return None };
            let parent = schema.position(&key.parent)?;
            table.columns[column].name.eq_ignore_ascii_case(name).then_some(parent)
        };
        let others = schema.tables.iter().enumerate().filter(|(other, _)| *other != position);
        let keys = others.flat_map(|(_, table)| table.foreign_keys.iter().map(move |key| (table, key)));
        let mut found = keys.filter_map(|(table, key)| declared(table, key));
        let first = found.next()?;
        (first != position && found.all(|other| other == first)).then_some(first)
    };
    let is_same = |&table: &usize| {
        let of = &schema.tables[table];
        single_key(of).is_some_and(|key| of.columns[key].name.eq_ignore_ascii_case(name))
    };
    let is_id = name.ends_with("id") && name.len() > 2 && !is_own_key;
    let found = parent(name).filter(|table| is_id || is_same(table));
    let table = &schema.tables[position];
    let is_link = is_id && name.len() <= SHORT && infer::plain(&table.name).ends_with("link");
    found.or_else(|| table.columns.iter().filter(|_| is_link).find_map(|column| parent(&column.name)))
}

/// Columns that refer to the person with this role.
const PERSONS: &str = "author owner creator sender receiver recipient follower following followed assignee assigned_to created_by updated_by modified_by approved_by reviewer actor manager requester reporter uploader editor inviter invited_by poster commenter doer moderator applicant by";

/// Returns the table of which a column such as `ancestor_id` has a row: that of the other column of a pair, or its own.
fn family_of(schema: &NamedSchema<'_>, position: usize, column: usize) -> usize {
    let table = &schema.tables[position];
    let is_relative = |name: &str| RELATIVES.iter().any(|word| infer::plain(name).starts_with(word));
    let others = (0..table.columns.len()).filter(|&at| at != column && !is_relative(&table.columns[at].name));
    others.into_iter().find_map(|other| implied_parent(schema, position, other)).map_or(position, |(parent, _)| parent)
}

/// Returns the table of the persons that a role such as `author_id` is of. A messenger without users has conversations with them.
fn person_by_role(
    schema: &NamedSchema<'_>,
    table: &Table,
    (role, is_id, is_author): (&str, bool, bool),
) -> Option<usize> {
    let is_message = |column: &Column| infer::plain(&column.name) == "message_id";
    let is_sender = role == "from" && is_id && table.columns.iter().any(is_message);
    let is_person = is_author || is_id && PERSONS.split(' ').any(|person| person == role);
    let conversation = || (0..schema.tables.len()).find(|&table| schema.is_called(table, "conversation", false));
    table_of_persons(schema).filter(|_| is_person || is_sender).or_else(|| conversation().filter(|_| is_sender))
}

/// Returns the table of the persons who use a program.
fn table_of_persons(schema: &NamedSchema<'_>) -> Option<usize> {
    let persons = ["user", "account", "member", "person", "profile"];
    persons.iter().find_map(|person| (0..schema.tables.len()).find(|&table| schema.is_called(table, person, false)))
}

/// Returns the only table of persons whose key is the user name that a column such as `creator_login` has.
fn person_by_login(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    const KEYS: [&str; 5] = ["login", "username", "user_name", "handle", "uid"];
    let is_role = ["user", "userid", "user_id", "owner", "share_with", "shared_with"].contains(&name);
    if !is_role && !KEYS.iter().any(|key| name.ends_with(key)) {
        return None;
    }
    let is_login = |&parent: &usize| {
        let of = &schema.tables[parent];
        let key = single_key(of).map(|key| infer::plain(&of.columns[key].name)).unwrap_or_default();
        let is_named = is_role || name.ends_with(&format!("_{key}"));
        parent != position && KEYS.contains(&key.as_str()) && infer::is_person(of) && is_named
    };
    let mut found = (0..schema.tables.len()).filter(is_login);
    found.next().filter(|_| found.next().is_none())
}

/// Returns the table that the letters before `id` abbreviate: `nid` refers to `notes`, and `ntid` to `notetypes`. The types of
/// notes are also their models, `mid`.
fn by_initials(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    let one = |table: usize| infer::words_of_table(&schema.tables[table].name).join("_");
    // A table of things has a name in the plural.
    let is_parent = |&parent: &usize| {
        let of = &schema.tables[parent];
        let is_key = single_key(of).is_some_and(|key| infer::plain(&of.columns[key].name) == "id");
        parent != position && is_key && one(parent) != infer::plain(&of.name)
    };
    let mut parents = (0..schema.tables.len()).filter(is_parent);
    let letters: Vec<char> = name.strip_suffix("id")?.chars().collect();
    match letters[..] {
        ['m'] => parents.find(|&parent| one(parent) == format!("{}type", one(position))),
        [first] => {
            let found: Vec<usize> = parents.filter(|&parent| one(parent).starts_with(first)).collect();
            let shortest = found.iter().copied().min_by_key(|&parent| one(parent).len())?;
            found.iter().all(|&other| one(other).starts_with(&one(shortest))).then_some(shortest)
        }
        [first, second] => parents.find(|&parent| {
            let whole = one(parent);
            let is_begin = |other: usize| whole.strip_prefix(&one(other)).is_some_and(|rest| rest.starts_with(second));
            whole.starts_with(first) && (0..schema.tables.len()).any(is_begin)
        }),
        _ => None,
    }
}

/// Returns the table of the pages that bookmarks in a column `fk` have.
fn bookmarked(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    let is_page = name == "fk" && infer::are_bookmarks(&schema.tables[position]);
    schema.tables.iter().position(|table| is_page && infer::has_last_word(table, "place page url"))
}

/// Returns the table whose key, such as `fileid`, begins as the name of a column such as `file_source` does.
fn by_stem_of_key(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    let stem = name.strip_suffix("_source").or_else(|| name.strip_suffix("_target"))?;
    let is_stem = |&parent: &usize| {
        let of = &schema.tables[parent];
        let key = single_key(of).map(|key| infer::plain(&of.columns[key].name));
        parent != position && key.is_some_and(|key| key == format!("{stem}id"))
    };
    (0..schema.tables.len()).find(is_stem)
}

/// Returns the table of Core Data whose name has all words of a column: `Z_30ALBUMS` refers to `ZGENERICALBUM`.
fn in_core_data(schema: &Schema, position: usize, name: &str) -> Option<usize> {
    const SHORTEST: usize = 4;
    let key =
        |table: usize| schema.tables[table].rowid_alias.map(|key| schema.tables[table].columns[key].name.as_str());
    let plain = |table: usize| infer::plain(&schema.tables[table].name);
    let words = infer::words_of_table(name.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_parent = |&table: &usize| {
        let has = |word: &String| word.len() >= SHORTEST && plain(table).contains(word.as_str());
        // Further columns of a row refer to the row, and not the other way round.
        let is_part = infer::has_more_of(&schema.tables[table], &schema.tables[position]);
        table != position && key(table) == Some("Z_PK") && words.iter().all(has) && !is_part
    };
    let is_of_core_data = schema.tables[position].columns.iter().all(|column| column.name.starts_with('Z'));
    // Albums lie beside one another.
    if is_of_core_data && name.starts_with("parent_") {
        return None;
    }
    (0..schema.tables.len()).filter(|_| is_of_core_data).filter(is_parent).min_by_key(|&table| plain(table).len())
}

/// Returns the table of a library of pictures that a column such as `rootFile` names by its last word: tables leave out the words
/// with which all of a kind begin, such as `AgLibrary`.
fn in_library_of_pictures(schema: &NamedSchema<'_>, position: usize, name: &str) -> Option<usize> {
    const OTHER_NAMES: [(&str, &str); 3] = [("tag", "keyword"), ("icon", "image"), ("pid", "tag")];
    const KINDS: [&str; 5] = ["image", "file", "folder", "keyword", "tag"];
    let called = |wanted: &str| {
        let tables = (0..schema.tables.len()).filter(|&table| schema.is_called(table, wanted, false));
        tables.min_by_key(|&table| schema.tables[table].name.len())
    };
    let table = &schema.tables[position];
    // A table of pairs has a tag and the tag above it.
    let is_below = name == "id" && table.rowid_alias.is_none() && table.column("pid").is_some();
    let name = if is_below { "pid" } else { name };
    let last = name.strip_prefix("root_").unwrap_or(name);
    let other = OTHER_NAMES.iter().find(|(one, _)| *one == last).map(|(_, other)| *other);
    let kind = KINDS.contains(&last).then(|| called(name).or_else(|| called(last))).flatten();
    let found = kind.or_else(|| called(other?));
    found.filter(|&table| infer::is_of_photographs(schema) && (table != position || name == "pid"))
}

/// Returns the word with which the names of all tables of a schema begin: `oc` of `oc_users`.
fn common_word(schema: &Schema) -> Option<String> {
    const LEAST: usize = 3;
    let first = |table: &Table| Some(infer::plain(&table.name).split_once('_')?.0.to_owned());
    let word = first(schema.tables.first()?)?;
    (schema.tables.len() >= LEAST && schema.tables.iter().all(|table| first(table).as_ref() == Some(&word)))
        .then_some(word)
}

/// Returns the key of a table that a column can hold: the primary key, or else a unique `id`.
fn key_for(column: &Column, parent: &Table) -> Option<usize> {
    let fits = |&key: &usize| infer::fits_key(column, &parent.columns[key]);
    let is_id = |key: &usize| {
        let of = &parent.columns[*key];
        of.unique && of.generated == Generated::No && ["id", "uuid", "guid"].contains(&infer::plain(&of.name).as_str())
    };
    single_key(parent)
        .or_else(|| key_of_index(parent))
        .filter(fits)
        .or_else(|| (0..parent.columns.len()).filter(is_id).find(fits))
}

/// Returns the only column of a table's primary key.
fn single_key(table: &Table) -> Option<usize> {
    let mut keys = (0..table.columns.len()).filter(|&column| table.columns[column].key_position.is_some());
    let key = table.rowid_alias.or_else(|| keys.next().filter(|_| keys.next().is_none()))?;
    (table.columns[key].generated == Generated::No).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cards were of note 99089 of 400; but `cid` says nothing if there are cards and cities.
    #[test]
    fn initials_name_one_table_or_none() {
        let sql = "CREATE TABLE notes (id INTEGER PRIMARY KEY, mid INTEGER);
            CREATE TABLE notetypes (id INTEGER PRIMARY KEY);
            CREATE TABLE cards (id INTEGER PRIMARY KEY, nid INTEGER, ntid INTEGER, did INTEGER);
            CREATE TABLE cities (id INTEGER PRIMARY KEY);
            CREATE TABLE reviews (id INTEGER PRIMARY KEY, cid INTEGER);";
        let schema = with_implied_keys(&Schema::from_sql(sql, "test.sql").expect(sql)).schema;
        let parents = |table: &str| -> Vec<String> {
            let keys = &schema.table(table).expect(table).foreign_keys;
            keys.iter().map(|key| key.parent.clone()).collect()
        };
        assert_eq!(parents("notes"), ["notetypes"]);
        assert_eq!(parents("cards"), ["notes", "notetypes"]);
        assert_eq!(parents("reviews"), [""; 0]);
    }

    /// Files were in the storage 108018: `storage` refers to `oc_storages` if the names of all tables begin with `oc`.
    #[test]
    fn names_leave_out_the_word_that_all_tables_begin_with() {
        let keys = |third: &str| {
            let sql = format!(
                "CREATE TABLE oc_storages (id INTEGER PRIMARY KEY); CREATE TABLE oc_files (id INTEGER PRIMARY KEY, storage BIGINT);
                CREATE TABLE {third} (id INTEGER PRIMARY KEY);"
            );
            let schema = Schema::from_sql(&sql, "test.sql").expect(&sql);
            with_implied_keys(&schema).schema.tables[1].foreign_keys.len()
        };
        assert_eq!([keys("oc_users"), keys("users")], [1, 0]);
    }
}
