//! Conditions in the predicate of a partial index that need no SQLite: comparisons of a column with a literal.
//!
//! SQLite decides which rows an index has. These conditions only spare it rows that cannot be among them: those that make one of the
//! first terms of `a = 1 AND b IS NULL AND lower(c) = 'x'` false or NULL. Terms behind the first one that is no such comparison do not
//! count: its error, if it has one, would come before them.

use super::{Generated, Table};
use crate::Affinity;
use crate::cells::OwnedValue;
use crate::sql_tokens::{Token, TokenKind, Tokens, unquote};
use litepress_format::value::Value;
use std::cmp::Ordering;

/// Integers of a larger magnitude are not compared with reals.
const MOST_EXACT: i64 = 1 << 53;
/// Digits of a real literal that every parser reads as the same number.
const MOST_DIGITS: usize = 15;

/// A comparison of a column with a literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Position of the column in the table.
    pub column: usize,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    IsNull(bool),
    /// The value alone, as a flag.
    IsTrue,
    /// How the value compares with the literal: the orders that are true.
    Compares(Vec<Ordering>, OwnedValue),
}

impl Condition {
    /// Returns whether the condition is surely false or NULL for a value of the column.
    #[must_use]
    pub fn excludes(&self, value: Value<'_>) -> bool {
        match (&self.test, value) {
            (Test::IsNull(is_null), value) => *is_null != (value == Value::Null),
            (_, Value::Null) | (Test::IsTrue, Value::Int(0)) => true,
            (Test::IsTrue, _) => false,
            (Test::Compares(orders, literal), value) => {
                order(value, literal).is_some_and(|order| !orders.contains(&order))
            }
        }
    }
}

/// Returns how SQLite orders a value and a literal of the column's kind. `None` if it takes more than a look.
fn order(value: Value<'_>, literal: &OwnedValue) -> Option<Ordering> {
    let is_exact = |int: i64| int.unsigned_abs() <= MOST_EXACT.unsigned_abs();
    match (value, literal) {
        (Value::Int(value), OwnedValue::Int(literal)) => Some(value.cmp(literal)),
        (Value::Int(value), OwnedValue::Real(literal)) if is_exact(value) => (value as f64).partial_cmp(literal),
        (Value::Real(value), OwnedValue::Int(literal)) if is_exact(*literal) => value.partial_cmp(&(*literal as f64)),
        (Value::Real(value), OwnedValue::Real(literal)) => value.partial_cmp(literal),
        (Value::Text(value), OwnedValue::Text(literal)) => Some(value.cmp(literal.as_bytes())),
        (Value::Text(_) | Value::Blob(_), OwnedValue::Int(_) | OwnedValue::Real(_)) => Some(Ordering::Greater),
        (Value::Int(_) | Value::Real(_), OwnedValue::Text(_)) => Some(Ordering::Less),
        (Value::Blob(_), OwnedValue::Text(_)) => Some(Ordering::Greater),
        _ => None,
    }
}

/// Returns conditions that all rows meet for which a predicate is true. `compares_bytes` tells whether texts of a column are compared
/// byte by byte.
pub(super) fn conditions(table: &Table, predicate: &str, compares_bytes: impl Fn(usize) -> bool) -> Vec<Condition> {
    let tokens: Vec<Token> = Tokens::new(predicate).collect();
    let (reader, mut found) = (Reader { table, text: predicate, compares_bytes: &compares_bytes }, Vec::new());
    reader.terms(&tokens, &mut found);
    found
}

/// Reads the terms of a predicate.
struct Reader<'t> {
    table: &'t Table,
    text: &'t str,
    compares_bytes: &'t dyn Fn(usize) -> bool,
}

impl Reader<'_> {
    fn is_word(&self, token: &Token, word: &str) -> bool {
        token.kind == TokenKind::Word && self.text[token.span.clone()].eq_ignore_ascii_case(word)
    }

    /// Appends the conditions of terms with AND between them. Returns whether all of them were comparisons.
    fn terms(&self, tokens: &[Token], found: &mut Vec<Condition>) -> bool {
        let tokens = without_parentheses(tokens);
        let mut depth = 0_usize;
        let (mut terms, mut start) = (Vec::new(), 0);
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                // It binds less than AND.
                _ if self.is_word(token, "or") => return false,
                _ if self.is_word(token, "and") => {
                    terms.push(&tokens[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        terms.push(&tokens[start..]);
        terms.into_iter().all(|term| match self.condition(term) {
            Some(condition) => {
                found.push(condition);
                true
            }
            None => without_parentheses(term).len() < term.len() && self.terms(term, found),
        })
    }

    /// Returns the condition of a term, if it is a comparison.
    fn condition(&self, term: &[Token]) -> Option<Condition> {
        let term = without_parentheses(term);
        let (name, rest) = term.split_first()?;
        let is_name = name.kind == TokenKind::Word
            || name.kind == TokenKind::Quoted && !self.text[name.span.clone()].starts_with('\'');
        let column = self.table.column(&unquote(&self.text[name.span.clone()])).filter(|_| is_name)?;
        let of = &self.table.columns[column];
        if !matches!(of.generated, Generated::No | Generated::Stored) || self.table.rowid_alias == Some(column) {
            return None;
        }
        let words = |words: &[&str]| {
            rest.len() == words.len() && rest.iter().zip(words).all(|(token, word)| self.is_word(token, word))
        };
        let test = match rest {
            [] => Test::IsTrue,
            _ if words(&["is", "null"]) || words(&["isnull"]) => Test::IsNull(true),
            _ if words(&["is", "not", "null"]) || words(&["not", "null"]) || words(&["notnull"]) => Test::IsNull(false),
            _ => {
                let operators = rest.iter().take_while(|token| token.kind == TokenKind::Other).take(2);
                let operator = operators.take_while(|token| "<>=!".contains(&self.text[token.span.clone()]));
                let (operator, literal) = rest.split_at(operator.count());
                let literal = self.literal(literal)?;
                let is_text = matches!(literal, OwnedValue::Text(_));
                let fits = match of.affinity {
                    Affinity::Integer | Affinity::Real | Affinity::Numeric => !is_text,
                    Affinity::Text => is_text && (self.compares_bytes)(column),
                    Affinity::Blob => !is_text || (self.compares_bytes)(column),
                };
                let orders = self.orders(operator).filter(|_| fits)?;
                Test::Compares(orders, literal)
            }
        };
        Some(Condition { column, test })
    }

    /// Returns the orders for which a comparison is true.
    fn orders(&self, operator: &[Token]) -> Option<Vec<Ordering>> {
        use Ordering::{Equal, Greater, Less};
        let spans = (operator.first()?.span.start, operator.last()?.span.end);
        Some(match &self.text[spans.0..spans.1] {
            "=" | "==" => vec![Equal],
            "<>" | "!=" => vec![Less, Greater],
            "<" => vec![Less],
            "<=" => vec![Less, Equal],
            ">" => vec![Greater],
            ">=" => vec![Greater, Equal],
            _ => return None,
        })
    }

    /// Returns a literal: a text, an integer, or a real number of a few digits.
    fn literal(&self, tokens: &[Token]) -> Option<OwnedValue> {
        let text = &self.text[tokens.first()?.span.start..tokens.last()?.span.end];
        if let [token] = tokens
            && token.kind == TokenKind::Quoted
        {
            return text.starts_with('\'').then(|| OwnedValue::Text(unquote(text)));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.ends_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
            && digits.len() <= MOST_DIGITS;
        match (is_number, text.contains('.')) {
            (true, false) => text.parse().ok().map(OwnedValue::Int),
            (true, true) => text.parse().ok().map(OwnedValue::Real),
            (false, _) => None,
        }
    }
}

/// Returns what is between the parentheses around all of the tokens, if there are any.
fn without_parentheses(tokens: &[Token]) -> &[Token] {
    let mut inner = tokens;
    loop {
        let [first, within @ .., _] = inner else { return inner };
        if first.kind != TokenKind::Open {
            return inner;
        }
        let mut depth = 1_usize;
        let closes = within.iter().position(|token| {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        if closes.is_some() {
            return inner;
        }
        inner = within;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn table() -> Table {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL, d, \"x y\" INT, e TEXT COLLATE NOCASE, v AS (a + 1))";
        Schema::from_sql(sql, "test").expect(sql).tables[0].clone()
    }

    #[test]
    fn the_first_terms_that_are_comparisons_count() {
        let table = table();
        for (predicate, columns) in [
            ("a = 5", "a"),
            ("(a == -5)", "a"),
            ("((a = 5) AND (b = 'it''s' AND c < 1.5) AND d >= 'x')", "a b c d"),
            ("a = 5 and lower(b) = 'x' and c > 1", "a"),
            ("a AND \"x y\" != 3 /* AND c = 1 */ AND b NOTNULL", "a x y b"),
            ("a IS NOT NULL AND b IS NULL AND c NOT NULL AND d ISNULL", "a b c d"),
            ("a = 1 AND b BETWEEN 'x' AND 'y'", "a"),
            ("a = 1 AND NOT c = 1 AND d = 2", "a"),
            ("a = 5 OR b = 'x'", ""),
            ("a = 1 AND (b = 'x' OR c = 1) AND d = 2", "a"),
            ("(a = 1) AND (b = 'x')", "a b"),
            ("NOT a = 5 AND c = 1", ""),
            ("a = 5 = 1", ""),
            ("a = 5 + 1", ""),
            ("a = '5'", ""),
            ("b = 5", ""),
            ("b = \"x\"", ""),
            ("e = 'x'", ""),
            ("'a' = 5", ""),
            ("t.a = 5", ""),
            ("id = 5", ""),
            ("v = 5", ""),
            ("rowid = 5", ""),
            ("a = 0x10", ""),
            ("a = 1e3", ""),
            ("a IS 5", ""),
            ("a IS TRUE", ""),
            ("a = 9223372036854775807", ""),
            ("a = CASE WHEN b THEN 1 AND c END", ""),
            ("a < = 5", ""),
            ("a COLLATE BINARY = 5", ""),
            ("", ""),
        ] {
            let compares_bytes = |column: usize| table.columns[column].name != "e";
            let found = conditions(&table, predicate, compares_bytes);
            let names: Vec<&str> =
                found.iter().map(|condition| table.columns[condition.column].name.as_str()).collect();
            assert_eq!(names.join(" "), columns, "{predicate}");
        }
    }

    /// SQLite judges: what is excluded is not true, and of what is compared, all else is true.
    #[test]
    fn excluded_values_make_the_predicate_false() {
        let table = table();
        let sqlite = rusqlite::Connection::open_in_memory().expect("SQLite");
        sqlite.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL, d)").expect("a table");
        let values = [
            "NULL",
            "0",
            "1",
            "-1",
            "5",
            "4.999",
            "5.0",
            "5.5",
            "1e300",
            "-1e300",
            "9007199254740993",
            "9223372036854775807",
            "-9223372036854775808",
            "''",
            "'5'",
            "'x'",
            "'X'",
            "'xy'",
            "'é'",
            "x''",
            "x'78'",
            "0.0",
            "-0.0",
            "'0'",
            "'abc'",
        ];
        for value in values {
            let sql = format!("INSERT INTO t (a, b, c, d) VALUES ({value}, {value}, {value}, {value})");
            sqlite.execute(&sql, []).expect("a row");
        }
        let mut excluded = 0;
        for column in ["a", "b", "c", "d"] {
            let operators = ["=", "==", "<>", "!=", "<", "<=", ">", ">="];
            let literals = ["0", "1", "-1", "5", "5.0", "5.5", "-0.5", "9007199254740991", "'x'", "''", "'5'", "'é'"];
            let pairs =
                operators.iter().flat_map(|of| literals.iter().map(move |literal| format!("{column} {of} {literal}")));
            let others = ["IS NULL", "IS NOT NULL", "NOTNULL", "ISNULL", ""].map(|end| format!("{column} {end}"));
            for predicate in pairs.chain(others) {
                let found = conditions(&table, &predicate, |_| true);
                let mut rows =
                    sqlite.prepare(&format!("SELECT ({predicate}) IS TRUE, {column} FROM t")).expect(&predicate);
                let mut rows = rows.query([]).expect("rows");
                while let Some(row) = rows.next().expect("a row") {
                    let is_true: bool = row.get(0).expect("a flag");
                    let value = crate::sqlite_value::from_sqlite(row.get_ref(1).expect("a value"));
                    let excludes = found.iter().any(|condition| condition.excludes(value));
                    assert!(!(excludes && is_true), "{predicate} excludes {value:?}");
                    let is_exact = !matches!(value, Value::Int(int) if int.unsigned_abs() > 1 << 53);
                    let is_compared = found.len() == 1 && found[0].test != Test::IsTrue && is_exact;
                    assert!(!is_compared || excludes != is_true, "{predicate} and {value:?}");
                    excluded += usize::from(excludes);
                }
            }
        }
        assert!(excluded > 1000, "{excluded}");
    }
}
