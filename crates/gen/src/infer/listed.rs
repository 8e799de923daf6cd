//! Texts of short lists in a key with a foreign key: the formats of a book, the languages of a text. No row has one twice.

use super::names::{is_like, plain};
use super::{ColumnTraits, Inference, TypeClass, has_last_word, inferred, quoted};
use litepress_rows::schema::Table;

const FORMATS: &[&str] = &["EPUB", "PDF", "AZW3", "MOBI", "TXT", "DOCX", "RTF", "FB2"];
const IDENTIFIERS: &[&str] = &["isbn", "amazon", "goodreads", "google", "doi", "uri"];
const LANGUAGES: &[&str] = &["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "zh"];
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

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::schema::Schema;

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
}
