//! CHECK constraints in the text of a statement that SQLite has parsed.

use super::sql_tokens::{Kind, Token, tokens};
use super::unquoted;

/// The source text of a CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckText {
    /// Name of the constraint, if it has one.
    pub name: Option<String>,
    /// The expression in its parentheses.
    pub text: String,
}

/// Finds all CHECK constraints of a statement.
pub(crate) fn checks(statement: &str) -> Vec<CheckText> {
    let sql: Vec<Token> =
        tokens(statement).into_iter().filter(|token| !matches!(token.kind, Kind::Comment { .. })).collect();
    let is_check =
        |pair: &[Token]| pair[1].kind == Kind::Open && statement[pair[0].span.clone()].eq_ignore_ascii_case("check");
    let opens = (1..sql.len()).filter(|&at| is_check(&sql[at - 1..=at]));
    let word = |at: usize| &statement[sql[at].span.clone()];
    let is_named = |check: usize| check > 1 && word(check - 2).eq_ignore_ascii_case("constraint");
    let written = |at: usize| {
        let text = statement[sql[at].span.end..sql[close(&sql, at)?].span.start].trim().to_owned();
        Some(CheckText { name: is_named(at - 1).then(|| unquoted(word(at - 2))), text })
    };
    opens.filter_map(written).collect()
}

/// Returns the token that closes this parenthesis.
fn close(sql: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..sql.len()).find(|&at| {
        match sql[at].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// Returns the names, keywords and literals of an expression, without their quotes.
pub(crate) fn words(expression: &str) -> Vec<String> {
    raw_words(expression).into_iter().map(unquoted).collect()
}

/// Returns the names, keywords and literals of an expression as they are written.
pub(crate) fn raw_words(expression: &str) -> Vec<&str> {
    let tokens = tokens(expression).into_iter().filter(|token| token.kind == Kind::Other);
    tokens.map(|token| &expression[token.span]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_wherever_they_stand() {
        let sql = "CREATE TABLE t (a int CHECK (a > (1)), \"check\" int check(\"check\" in (')', 'b')), -- check (c)
            c text DEFAULT 'check (x)', CONSTRAINT positive CHECK /* so */ ( a + length(c) > 0 ), b CHECK(b))";
        let names: Vec<Option<String>> = checks(sql).into_iter().map(|check| check.name).collect();
        assert_eq!(names, [None, None, Some("positive".to_owned()), None]);
        let found: Vec<String> = checks(sql).into_iter().map(|check| check.text).collect();
        assert_eq!(found, ["a > (1)", "\"check\" in (')', 'b')", "a + length(c) > 0", "b"]);
        assert!(words(&found[1]).contains(&"check".to_owned()) && words(&found[2]).contains(&"c".to_owned()));
    }
}
