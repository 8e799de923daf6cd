//! Options for several columns: names with wildcards.

use super::listed;
use crate::infer::Numbers;
use litepress_rows::{Error, ErrorKind, Hint, OptionName, message};

/// A table and its columns, as a pattern sees them.
pub(super) type Columns<'a> = (&'a str, Vec<&'a str>);

/// Returns the value for a column among entries `[TABLE.]COLUMN`, in which `*` stands for any characters. An entry without `*`
/// wins, then the one with the most other characters; of equal ones the last.
pub fn value_of<'e, V>(entries: &'e [(String, V)], table: &str, column: &str) -> Option<&'e V> {
    let fitting = entries.iter().filter(|(pattern, _)| fits(pattern, table, column));
    let rank = |pattern: &str| (is_name(pattern, table, column), pattern.len() - pattern.matches('*').count());
    fitting.max_by_key(|(pattern, _)| rank(pattern)).map(|(_, value)| value)
}

/// Returns the rule for the numbers of a column.
pub fn numbers_of(entries: &[(String, Numbers)], table: &str, column: &str) -> Numbers {
    value_of(entries, table, column).copied().unwrap_or_default()
}

/// Returns an error for every entry that fits no column of the tables.
pub(super) fn refuse_idle<V>(option: OptionName, entries: &[(String, V)], tables: &[Columns<'_>]) -> Vec<Error> {
    let is_idle = |pattern: &str| {
        let fits_one = |(table, columns): &Columns<'_>| columns.iter().any(|column| fits(pattern, table, column));
        !tables.iter().any(fits_one)
    };
    entries
        .iter()
        .filter(|(pattern, _)| is_idle(pattern))
        .map(|(name, _)| no_column(&option.alone().given(), name, tables))
        .collect()
}

/// Returns the error for a name that no column has.
pub(super) fn no_column(option: &Hint, name: &str, tables: &[Columns<'_>]) -> Error {
    let known = tables.iter().take(5).map(|(name, columns)| format!("{name} has {}", listed(columns.iter().copied())));
    let known: Vec<String> = known.collect();
    let what =
        if name.contains('*') { format!(": no column fits {name}") } else { format!(": no column is named {name}") };
    Error::new(ErrorKind::Usage, message![option.clone(), what]).advise(format!("table {}", known.join("; table ")))
}

pub(super) fn is_name(pattern: &str, table: &str, column: &str) -> bool {
    pattern.eq_ignore_ascii_case(column) || pattern.eq_ignore_ascii_case(&format!("{table}.{column}"))
}

pub(super) fn fits(pattern: &str, table: &str, column: &str) -> bool {
    is_name(pattern, table, column)
        || (pattern.contains('*') && (is_like(pattern, column) || is_like(pattern, &format!("{table}.{column}"))))
}

/// Returns whether a text fits a pattern. ASCII letters fit in either case, as names do in SQLite.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_ascii_lowercase(), text.to_ascii_lowercase());
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = &parts[..] else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else { return false };
    middle.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("*", "a", true),
            ("*_at", "created_AT", true),
            ("*_at", "at", false),
            ("a*", "A", true),
            ("a*a", "a", false),
            ("a*b*c", "axxbbyc", true),
            ("a*b*c", "acb", false),
            ("ü*", "üx", true),
            ("a", "ab", false),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn the_most_particular_entry_counts() {
        let entries = |texts: &[&'static str]| texts.iter().map(|text| ((*text).to_owned(), *text)).collect::<Vec<_>>();
        let all = entries(&["*", "*_at", "t.*_at", "made_at", "t.x", "x", "x"]);
        for (table, column, expected) in [
            ("s", "a", "*"),
            ("s", "sent_at", "*_at"),
            ("t", "sent_at", "t.*_at"),
            ("t", "MADE_at", "made_at"),
            ("t", "x", "t.x"),
            ("s", "x", "x"),
        ] {
            assert_eq!(value_of(&all, table, column), Some(&expected), "{table}.{column}");
        }
        assert_eq!(value_of(&entries(&["a*"]), "t", "b"), None);
        // A column may have this name.
        assert_eq!(value_of(&entries(&["a*", "abcd*"]), "t", "a*"), Some(&"a*"));
    }
}
