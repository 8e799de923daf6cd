//! CHECK constraints in the text of a statement that SQLite has read.

use super::tokens::{Kind, Token, tokens};
use super::unquoted;

/// What stands in the parentheses behind each word CHECK.
pub(crate) fn checks(statement: &str) -> Vec<String> {
    let sql: Vec<Token> =
        tokens(statement).into_iter().filter(|token| !matches!(token.kind, Kind::Comment { .. })).collect();
    let is_check =
        |pair: &[Token]| pair[1].kind == Kind::Open && statement[pair[0].span.clone()].eq_ignore_ascii_case("check");
    let opens = (1..sql.len()).filter(|&at| is_check(&sql[at - 1..=at]));
    opens
        .filter_map(|at| Some(statement[sql[at].span.end..sql[close(&sql, at)?].span.start].trim().to_owned()))
        .collect()
}

/// The token that closes the parenthesis that one opens.
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

/// The names, words and texts of an expression, without their quotes.
pub(crate) fn words(expression: &str) -> Vec<String> {
    tokens(expression)
        .into_iter()
        .filter(|token| token.kind == Kind::Other)
        .map(|token| unquoted(&expression[token.span]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_wherever_they_stand() {
        let sql = "CREATE TABLE t (a int CHECK (a > (1)), \"check\" int check(\"check\" in (')', 'b')), -- check (c)
            c text DEFAULT 'check (x)', CONSTRAINT positive CHECK /* so */ ( a + length(c) > 0 ), b CHECK(b))";
        let found = checks(sql);
        assert_eq!(found, ["a > (1)", "\"check\" in (')', 'b')", "a + length(c) > 0", "b"]);
        assert!(words(&found[1]).contains(&"check".to_owned()) && words(&found[2]).contains(&"c".to_owned()));
    }
}
