//! Names in SQL.

use litepress_rows::quoted_name;
use std::borrow::Cow;

/// Words that mean something to SQLite (lang_keywords.html), sorted.
const KEYWORDS: [&str; 147] = [
    "ABORT", "ACTION", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "ANALYZE", "AND", "AS", "ASC", "ATTACH",
    "AUTOINCREMENT", "BEFORE", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK", "COLLATE", "COLUMN",
    "COMMIT", "CONFLICT", "CONSTRAINT", "CREATE", "CROSS", "CURRENT", "CURRENT_DATE", "CURRENT_TIME",
    "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT", "DO",
    "DROP", "EACH", "ELSE", "END", "ESCAPE", "EXCEPT", "EXCLUDE", "EXCLUSIVE", "EXISTS", "EXPLAIN", "FAIL", "FILTER",
    "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL", "GENERATED", "GLOB", "GROUP", "GROUPS", "HAVING", "IF",
    "IGNORE", "IMMEDIATE", "IN", "INDEX", "INDEXED", "INITIALLY", "INNER", "INSERT", "INSTEAD", "INTERSECT", "INTO",
    "IS", "ISNULL", "JOIN", "KEY", "LAST", "LEFT", "LIKE", "LIMIT", "MATCH", "MATERIALIZED", "NATURAL", "NO", "NOT",
    "NOTHING", "NOTNULL", "NULL", "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER", "OTHERS", "OUTER", "OVER", "PARTITION",
    "PLAN", "PRAGMA", "PRECEDING", "PRIMARY", "QUERY", "RAISE", "RANGE", "RECURSIVE", "REFERENCES", "REGEXP", "REINDEX",
    "RELEASE", "RENAME", "REPLACE", "RESTRICT", "RETURNING", "RIGHT", "ROLLBACK", "ROW", "ROWS", "SAVEPOINT", "SELECT",
    "SET", "TABLE", "TEMP", "TEMPORARY", "THEN", "TIES", "TO", "TRANSACTION", "TRIGGER", "UNBOUNDED", "UNION", "UNIQUE",
    "UPDATE", "USING", "VACUUM", "VALUES", "VIEW", "VIRTUAL", "WHEN", "WHERE", "WINDOW", "WITH", "WITHOUT",
];

/// The name as it is where SQL takes it so, else in quotes.
pub(super) fn in_sql(name: &str) -> Cow<'_, str> {
    let mut letters = name.bytes();
    let is_word = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
    let is_keyword = || KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok();
    if is_word && !is_keyword() { Cow::Borrowed(name) } else { Cow::Owned(quoted_name(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_sql_needs_it() {
        assert!(KEYWORDS.is_sorted());
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        let words = KEYWORDS.iter().map(|word| word.to_ascii_lowercase());
        let others = ["plain", "_x1", "1x", "a b", "a\"b", "ä", "strict", "rowid", "any", ""].map(str::to_owned);
        for name in words.chain(others) {
            let sql = format!("CREATE TABLE {name} ({name}); DROP TABLE {name}", name = in_sql(&name));
            sqlite.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        assert_eq!([in_sql("plain"), in_sql("order"), in_sql("a b")], ["plain", "\"order\"", "\"a b\""]);
    }
}
