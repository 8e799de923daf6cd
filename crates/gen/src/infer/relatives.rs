//! What the rows of one table are to those of another: lines of an order, songs of an album, the account of a person.

use super::names::{self, words_of_table};
use super::smart_home;
use super::subjects::{self, Kind, Subject};
use super::{
    flash_cards, has_last_word, is_bookmarked, is_called, is_card_of, is_key_alone, is_page_of, is_place_of_files,
    is_search_of, is_visit_of, media, skewed_counts,
};
use crate::generators::phrases;
use litepress_rows::schema::{Column, Schema, Table};

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

/// Returns whether the rows of a table are runs that a commit starts.
pub(crate) fn is_run_of_commit(table: &Table, parent: &Table) -> bool {
    kind_of(table) == Some(Kind::Run) && subject_of(parent).is_some_and(|subject| subject.names == "commit")
}

/// Returns how many rows of a table there are for ten of their parts in another one: orders have lines, pipelines jobs, and albums
/// tracks.
pub(crate) fn wholes_of_hundred(whole: &Table, part: &Table) -> Option<u64> {
    let are_runs = (kind_of(whole), kind_of(part)) == (Some(Kind::Run), Some(Kind::Run));
    let names = [whole, part].map(|table| subjects::subject(&table.name).map(|subject| subject.names));
    match names {
        _ if is_line_of(part, whole) || are_runs && whole.name != part.name => Some(40),
        _ if is_album_of(part, whole) || is_of_conversation(part, whole) || is_in_pack(part, whole) => Some(10),
        _ if is_place_of_files(part, whole) && has_last_word(whole, "storage") => Some(10),
        _ if is_visit_of(part, whole) => Some(60),
        _ if is_page_of(part, whole) => Some(30),
        _ if is_action_of(part, whole) => Some(40),
        _ if smart_home::is_measured(part, whole) => Some(100 / smart_home::STATES_OF_THING),
        _ if flash_cards::is_field_of(part, whole) => Some(50),
        [Some("playlist"), Some("song")] => Some(10),
        [Some("band"), Some("album")] => Some(50),
        [Some("category"), Some("product")] => Some(4),
        _ => None,
    }
}

/// Returns whether the rows of a table are messages or members of the conversations in another one.
pub(crate) fn is_of_conversation(table: &Table, parent: &Table) -> bool {
    let is_conversation = has_last_word(parent, "conversation chat thread channel room");
    is_conversation && has_last_word(table, "message membership member participant")
}

/// Returns whether the rows of a table are what visitors do in the visits of another one.
pub(super) fn is_action_of(table: &Table, visit: &Table) -> bool {
    has_last_word(table, "action hit event pageview")
        && has_last_word(visit, "visit")
        && kind_of(table) == Some(Kind::Log)
}

/// Returns whether the rows of a table are in the packs of another one: `stickers` and `sticker_packs`.
fn is_in_pack(table: &Table, pack: &Table) -> bool {
    let (one, words) = (words_of_table(&table.name), words_of_table(&pack.name));
    has_last_word(pack, "pack set collection") && words[..words.len() - 1] == one[..]
}

/// Returns for how many rows there is one with a row in a table, if none has two: few messages have a picture, and few visits end
/// with a purchase.
pub(crate) fn rows_for_one(table: &Table, column: usize, parent: &Table) -> Option<u64> {
    let is_own = kind_of(parent) == Some(Kind::Text) && is_key_alone(table, column);
    let is_talk = |column: &Column| names::is_like(&names::plain(&column.name), "conversation_id chat_id thread_id");
    let is_receipt = words_of_table(&table.name).iter().any(|word| word == "receipt");
    let share = match () {
        () if is_bookmarked(table, column, parent) => return Some(2),
        () if is_search_of(table, parent) => return Some(8),
        () if is_edit(table) && kind_of(parent) == Some(Kind::Text) => return Some(12),
        () if is_receipt && has_last_word(parent, "message") => return Some(2),
        () if has_last_word(table, "conversion") && has_last_word(parent, "visit session") => return Some(12),
        // In a talk between two, the partner reacts.
        () if is_reaction(table) && has_last_word(parent, "message") && table.columns.iter().any(is_talk) => {
            return Some(4);
        }
        () if has_last_word(table, "media attachment photo video") => 6,
        () if has_last_word(table, "location") => 40,
        () => return None,
    };
    is_own.then_some(share)
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
pub(super) fn is_edit(table: &Table) -> bool {
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
    has_lines(parent) && kind_of(table) == Some(Kind::Line)
}

/// Returns whether the rows of a table are orders, which have lines.
pub(crate) fn has_lines(table: &Table) -> bool {
    kind_of(table) == Some(Kind::Order)
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
    /// Rows for each series. Half of the others are seasons and episodes.
    const SERIES: u64 = 16;
    /// Folders and keywords of a library of photographs for each one that has others in it.
    const FOLDERS: u64 = 20;
    const TREE: &str = "genealogy path_from_root";
    if media::is_of_films(table) && is_called(table, column, "parent_id") {
        return Some(rows.div_ceil(SERIES));
    }
    let is_category = subjects::subject(&table.name).is_some_and(|subject| subject.names == LIST);
    let is_parent = is_called(table, column, "*parent*") && !table.columns[column].not_null;
    let is_tree = is_parent && table.columns.iter().any(|of| names::is_like(&names::plain(&of.name), TREE));
    if (is_tree || is_called(table, column, "pid")) && has_last_word(table, "folder keyword tag") {
        return Some(rows.div_ceil(FOLDERS));
    }
    (is_category && is_parent).then(|| phrases::count(LIST).min(rows.div_ceil(4)))
}

/// Returns whether a column refers to the row of a tree above the one to which another column of its key refers.
pub(crate) fn is_ancestor(schema: &Schema, table: usize, column: usize) -> bool {
    let of_table = &schema.tables[table];
    let tree = |at: usize| super::other_parent(schema, table, at).map(|parent| parent.table);
    let is_pair = |key: Vec<usize>| {
        key.len() == 2 && key.contains(&column) && tree(key[0]).is_some() && tree(key[0]) == tree(key[1])
    };
    is_called(of_table, column, "*ancestor* *parent* pid") && super::unique_keys(of_table).any(is_pair)
}

/// Returns whether the rows of a table are rights to do something with the models in another one.
fn is_model_of(table: &Table, parent: &Table) -> bool {
    let has = |table: &Table, name: &str| table.columns.iter().any(|column| names::plain(&column.name) == name);
    has(table, "codename") && has(parent, "model")
}

/// Rights to do something with a model: to add, change, delete and view its rows.
const RIGHTS_OF_MODEL: u64 = 4;
/// Fields of a type of notes: a front and a back.
const FIELDS_OF_TYPE: u64 = 2;

/// Returns how many rows of a table each row of another one has, if they are as many for all: rights of models, and the front and back
/// of the notes of a type.
pub(crate) fn parts_of_each(table: &Table, parent: &Table) -> Option<u64> {
    let fields = flash_cards::is_field_of(table, parent).then_some(FIELDS_OF_TYPE);
    is_model_of(table, parent).then_some(RIGHTS_OF_MODEL).or(fields)
}

/// Divides rows among parents. Each gets `each` rows, until there are no more.
pub(crate) fn as_many_each(rows: u64, parents: u64, each: u64) -> Vec<(u64, u64)> {
    if rows >= each * parents {
        return skewed_counts(rows, parents, (each, u64::MAX));
    }
    let (whole, rest) = (rows / each, rows % each);
    let counts = [(each, whole), (rest, 1), (0, parents - whole - 1)];
    counts.into_iter().filter(|(_, parents)| *parents > 0).collect()
}

/// Returns the tables that a column such as `commentable_id` may refer to: those of texts and things.
pub(crate) fn things_of_any_kind<'a>(schema: &'a Schema, table: &'a Table) -> impl Iterator<Item = &'a Table> {
    schema.tables.iter().filter(|of| {
        let kind = kind_of(of);
        of.name != table.name && matches!(kind, Some(Kind::Text | Kind::Task | Kind::Product | Kind::Order))
    })
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

/// Returns whether the rows of a table are parts of regions, in which people work.
pub(crate) fn is_territory(table: &Table) -> bool {
    has_last_word(table, "territory district zone")
}

/// Returns whether the rows of a table are places at which people live.
pub(crate) fn is_address(table: &Table) -> bool {
    has_last_word(table, "address")
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

pub(super) fn kind_of(table: &Table) -> Option<Kind> {
    subject_of(table).map(|subject| subject.kind)
}

/// Returns whether the rows of a table are texts that people share: a status that answers or repeats another one.
pub(super) fn is_post(table: &Table) -> bool {
    let is_answer =
        |column: &Column| names::is_like(&names::plain(&column.name), "*in_reply* *reblog* *retweet* *repost*");
    has_last_word(table, "status tweet toot") && table.columns.iter().any(is_answer)
}

/// Returns what the rows of a table are.
pub(super) fn subject_of(table: &Table) -> Option<Subject> {
    if is_post(table) {
        Some(Subject { names: "status_post", kind: Kind::Text })
    } else {
        subjects::subject(&table.name)
    }
}
