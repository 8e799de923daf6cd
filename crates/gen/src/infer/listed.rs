//! Texts of short lists. In a key with a foreign key, such as the formats of a book, no row has one twice. A lookup table, such as
//! that of all countries, has no more rows than there are texts.

use super::names::{is_like, plain};
use super::{
    ColumnTraits, Inference, TableContext, TableInference, TypeClass, context_by_names, has_last_word, inferred,
    is_called, quoted,
};
use crate::generators::phrases;
use litepress_rows::schema::{Generated, Schema, Table};

const FORMATS: &[&str] = &["EPUB", "PDF", "AZW3", "MOBI", "TXT", "DOCX", "RTF", "FB2"];
const IDENTIFIERS: &[&str] = &["isbn", "amazon", "goodreads", "google", "doi", "uri"];
const LANGUAGES: &[&str] = &["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "zh"];
/// Lists of `data/phrases.txt` with all names that a table has. Of other names, such as those of products, there are always more.
const CLOSED: &str = "browser_setting card_setting card_tag card_type carrier category continent country_name department device_kind document_type event_kind film_genre genre group label language_name media_type mime_type model places_setting plan rails_setting region role schema_part tile_key topic topic_of_goods topic_of_posts ward";
const PROVIDERS: &[&str] = &["google", "github", "apple", "facebook", "microsoft", "gitlab"];

/// Returns the texts of which a column has one, by its name, most frequent ones first.
pub(crate) fn listed_texts(table: &Table, column: usize) -> Option<&'static [&'static str]> {
    let of = &table.columns[column];
    let traits = ColumnTraits::new(of);
    let name = plain(&of.name);
    let texts = match () {
        () if is_like(&name, "format file_format book_format") => FORMATS,
        () if is_like(&name, "type kind scheme") && has_last_word(table, "identifier") => IDENTIFIERS,
        () if is_like(&name, "language lang language_code lang_code locale") => LANGUAGES,
        () if is_like(&name, "provider auth_provider oauth_provider") => PROVIDERS,
        () => return None,
    };
    let fits = texts.iter().all(|text| traits.takes_len(text.len() as u64));
    (traits.class == TypeClass::Text && fits && !table.has_check).then_some(texts)
}

/// Infers one of the texts for each row with the same parent through the column of this name: mostly the first ones.
pub(crate) fn one_of_listed(texts: &[&str], by: &str) -> Inference {
    let by = quoted(by);
    let count = texts.len();
    let case = |(at, text): (usize, &&str)| format!(" WHEN {} THEN '{text}'", (at + 1) % count);
    let cases: String = texts.iter().enumerate().map(case).collect();
    let first = format!("same_in({by}, choice(0: 70, 1: 15, {}: 15))", count - 1);
    inferred(
        format!("CASE (number_in({by}) + {first}) % {count}{cases} END"),
        format!("different for each row with the same {by}"),
    )
}

/// Returns the column that names the rows of a lookup table by a closed list, and the number of names.
pub(crate) fn closed_names(schema: &Schema, table: usize) -> Option<(usize, u64)> {
    const MOST_COLUMNS: usize = 8;
    /// The limit of lists that compose their texts.
    const MOST_NAMES: u64 = 200;
    let of = &schema.tables[table];
    if let Some(found) = super::catalogues::rows_of_catalogue(schema, of) {
        return Some(found);
    }
    if of.columns.len() > MOST_COLUMNS {
        return None;
    }
    let open = of.columns.iter().map(|column| column.generated == Generated::No).collect();
    let context = context_by_names(schema, table, open, vec![None; of.columns.len()], Vec::new());
    let found = TableInference::new(TableContext { rows: 1, ..context }).infer();
    found.into_iter().enumerate().find_map(|(column, found)| {
        let text = found?.text;
        let list = match text.split_once("unique_phrase('{") {
            Some((_, rest)) => rest.split('}').next()?,
            None => super::continents::list_of(&text)?,
        };
        // There is one country of a name, whatever it belongs to.
        let is_apart = of.foreign_keys.is_empty() || list == "country_name";
        let is_closed = CLOSED.split(' ').any(|closed| closed == list);
        (is_closed && is_apart).then(|| (column, phrases::count(list).min(MOST_NAMES)))
    })
}

/// Returns the column of a table whose only row is the version or language of a program, its lock or the settings of all, if no other table refers to it.
pub(crate) fn only_row(schema: &Schema, table: usize) -> Option<usize> {
    let of = &schema.tables[table];
    let is_whole = of.column("conf").is_some() && of.column("ver").is_some();
    let has_version = |at: &usize| has_last_word(of, "metadata") && is_called(of, *at, "*version");
    if let Some(key) = of.rowid_alias.filter(|key| is_whole || has_version(key)) {
        return Some(key);
    }
    let mut others = (0..of.columns.len()).filter(|&at| of.rowid_alias != Some(at));
    let column = others.next().filter(|_| others.next().is_none())?;
    let is_parent =
        schema.tables.iter().flat_map(|child| &child.foreign_keys).any(|key| key.parent.eq_ignore_ascii_case(&of.name));
    let is_of_program = has_last_word(of, "version metadata") && is_called(of, column, "version *_version locale");
    let is_lock = has_last_word(of, "lock seq") && is_called(of, column, "id seq");
    ((is_of_program || is_lock) && !is_parent).then_some(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book had the formats `582dfb683d129831` and `ead17f948e0c7de0`.
    #[test]
    fn some_texts_in_keys_are_of_a_short_list() {
        for (table, column, expected) in [
            ("data (book INTEGER, format TEXT)", 1, Some("EPUB")),
            ("identifiers (book INTEGER, type TEXT)", 1, Some("isbn")),
            ("translations (page INTEGER, locale CHAR(2))", 1, Some("en")),
            ("logins (user INTEGER, provider VARCHAR(20))", 1, Some("google")),
            ("logins (user INTEGER, provider VARCHAR(4))", 1, None),
            ("files (book INTEGER, format INTEGER)", 1, None),
            ("visits (book INTEGER, type TEXT)", 1, None),
            ("data (book INTEGER, format TEXT CHECK (format <> 'PDF'))", 1, None),
        ] {
            let schema = Schema::from_sql(&format!("CREATE TABLE {table}"), "test").expect(table);
            let first = listed_texts(&schema.tables[0], column).map(|texts| texts[0]);
            assert_eq!(first, expected, "{table}");
        }
    }

    /// A cloud had five thousand types of files, such as `application/x-echo-signal`.
    #[test]
    fn lookup_tables_are_as_long_as_their_lists() {
        for (table, expected) in [
            ("oc_mimetypes (id INTEGER PRIMARY KEY, mimetype VARCHAR(255))", Some((1, 14))),
            ("country (id INTEGER PRIMARY KEY, country VARCHAR(50), last_update TIMESTAMP)", Some((1, 182))),
            ("event_types (event_type_id INTEGER PRIMARY KEY, event_type TEXT)", Some((1, 200))),
            ("Genre (GenreId INTEGER PRIMARY KEY, Name TEXT)", Some((1, 45))),
            ("roles (id INTEGER PRIMARY KEY, name TEXT UNIQUE)", Some((1, 16))),
            ("roles (id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES roles)", None),
            ("nation (id INTEGER PRIMARY KEY, name TEXT, origin INTEGER REFERENCES nation)", Some((1, 182))),
            ("roles (id INTEGER PRIMARY KEY, name TEXT, a INT, b INT, c INT, d INT, e INT, f INT)", Some((1, 16))),
            ("roles (id INTEGER PRIMARY KEY, name TEXT, a INT, b INT, c INT, d INT, e INT, f INT, g INT)", None),
            ("roles (id INTEGER PRIMARY KEY, name VARCHAR(5))", None),
            ("category (id INTEGER PRIMARY KEY, name TEXT)", Some((1, 45))),
            ("product (id INTEGER PRIMARY KEY, name TEXT)", None),
            ("customer (id INTEGER PRIMARY KEY, name TEXT, country TEXT)", None),
        ] {
            let schema = Schema::from_sql(&format!("CREATE TABLE {table}"), "test").expect(table);
            assert_eq!(closed_names(&schema, 0), expected, "{table}");
        }
    }
}
