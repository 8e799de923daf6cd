//! Continents and their countries. Rows of continents come in the order of the list, so that a country can tell which one is its own.
//! So do labels, and the genres of films, so that a film can tell which ones are for children, and languages, of which English is the first.

use super::subjects::subject;
use super::{Inference, Parent, branches, closed_names, inferred, literal};
use crate::generators::phrases;
use litepress_rows::quoted_name;
use litepress_rows::schema::Schema;

const LIST: &str = "continent";

/// Returns the name with a number in a list.
pub(super) fn by_number(list: &str, key: &str) -> String {
    let names = phrases::items(list).iter().map(|name| literal(name));
    format!("CASE {key}{} END", branches(1, names))
}

/// Returns the list of names that an annotation chooses by number.
pub(super) fn list_of(text: &str) -> Option<&'static str> {
    let ends =
        |list: &&str| phrases::items(list).last().is_some_and(|last| text.ends_with(&format!(" THEN '{last}' END")));
    [LIST, "film_genre", "label", "language_name"].into_iter().filter(|_| text.starts_with("CASE ")).find(ends)
}

/// Infers the key of the continent of a country, if there is a row for each continent and its key counts.
pub(crate) fn continent_of(schema: &Schema, table: usize, parent: Parent, rows: u64) -> Option<Inference> {
    let of = &schema.tables[table];
    subject(&of.name).filter(|subject| subject.names == "country_name")?;
    let (name, _) = closed_names(schema, table)?;
    let names = phrases::items(LIST);
    let count = names.len() as u64;
    let is_whole = rows == count && closed_names(schema, parent.table).is_some_and(|(_, most)| most == count);
    let counts = schema.tables[parent.table].rowid_alias == Some(parent.column);
    (is_whole && counts).then(|| {
        let case = |(at, name): (usize, &&str)| format!(" WHEN '{name}' THEN {}", at + 1);
        let cases: String = names.iter().enumerate().map(case).collect();
        let name = quoted_name(&of.columns[name].name);
        inferred(format!("CASE place_of({name}, 'continent'){cases} ELSE 1 END"), "the continent of the country")
    })
}
