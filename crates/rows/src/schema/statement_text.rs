//! Finds expressions in the texts of CREATE TABLE and CREATE INDEX statements.
//!
//! SQLite does not tell the expressions of CHECK constraints and indexes, so they are cut out of a text that SQLite has
//! accepted. SQLite never takes CHECK or CONSTRAINT for a name, so outside of quotes they are keywords. SQLite judges every
//! cut: `evaluation.rs` compares the byte code of the original with that of the pieces.

use crate::sql_tokens::{Token, TokenKind, Tokens, is_space, names, unquote};

/// One CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name after CONSTRAINT, in front of the check.
    pub name: Option<String>,
    /// The text in the parentheses, without the blanks around it.
    pub expression: String,
}

impl Check {
    /// Returns the name that SQLite's messages use.
    #[must_use]
    pub fn sqlite_name(&self) -> String {
        // SQLite also strips the quotes of an expression that begins with one.
        self.name.clone().unwrap_or_else(|| unquote(&self.expression))
    }

    /// Returns the words and quoted names of the expression.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        names(&self.expression)
    }
}

/// Returns the CHECK constraints of a CREATE TABLE statement, in order.
#[must_use]
pub fn checks(create_sql: &str) -> Vec<Check> {
    let mut found = Vec::new();
    let (mut depth, mut name) = (0_usize, None);
    let mut tokens = Tokens::new(create_sql);
    while let Some(token) = tokens.next() {
        let word = &create_sql[token.span.clone()];
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            // SQLite forgets the name of a constraint at the next comma, and no earlier.
            TokenKind::Comma if depth == 1 => name = None,
            TokenKind::Word if word.eq_ignore_ascii_case("constraint") => {
                name = tokens.next().map(|token| unquote(&create_sql[token.span]));
            }
            TokenKind::Word if word.eq_ignore_ascii_case("check") => {
                if let Some(inside) = tokens.parenthesised() {
                    let expression = create_sql[inside].trim_matches(is_space).to_owned();
                    found.push(Check { name: name.clone(), expression });
                }
            }
            _ => {}
        }
    }
    found
}

/// The expressions of a CREATE INDEX statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexText {
    /// The key terms, without ASC and DESC.
    pub terms: Vec<String>,
    /// The expression after WHERE.
    pub predicate: Option<String>,
}

/// Returns the expressions of a CREATE INDEX statement, or `None` if the text has no list of terms.
pub(super) fn index_text(create_sql: &str) -> Option<IndexText> {
    let mut tokens = Tokens::new(create_sql);
    let open = tokens.find(|token| token.kind == TokenKind::Open)?;
    let (mut terms, mut start, mut depth) = (Vec::new(), open.span.end, 1_usize);
    while depth > 0 {
        let token = tokens.next()?;
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && token.kind == TokenKind::Comma {
            terms.push(without_order(&create_sql[start..token.span.start])?);
            start = token.span.end;
        }
    }
    let predicate = match tokens.next() {
        None => None,
        Some(word) if create_sql[word.span.clone()].eq_ignore_ascii_case("where") => {
            let all: Vec<Token> = tokens.collect();
            Some(create_sql[all.first()?.span.start..all.last()?.span.end].to_owned())
        }
        Some(_) => return None,
    };
    Some(IndexText { terms, predicate })
}

/// Returns the expression after WHERE of a CREATE INDEX statement, if it has one.
#[must_use]
pub fn index_predicate(create_sql: &str) -> Option<String> {
    index_text(create_sql)?.predicate
}

/// Returns a key term without ASC or DESC at its end, and without comments around it.
fn without_order(term: &str) -> Option<String> {
    let mut tokens: Vec<Token> = Tokens::new(term).collect();
    let is_order = |token: &Token| {
        let word = &term[token.span.clone()];
        token.kind == TokenKind::Word && (word.eq_ignore_ascii_case("asc") || word.eq_ignore_ascii_case("desc"))
    };
    if tokens.len() > 1 && tokens.last().is_some_and(is_order) {
        tokens.pop();
    }
    Some(term[tokens.first()?.span.start..tokens.last()?.span.end].to_owned())
}

/// Returns the CREATE TABLE statement with every word STORED behind a parenthesis replaced by VIRTUAL.
pub(super) fn with_virtual_columns(create_sql: &str) -> String {
    let (mut text, mut copied, mut is_behind) = (String::new(), 0, false);
    for token in Tokens::new(create_sql) {
        let word = &create_sql[token.span.clone()];
        if is_behind && token.kind == TokenKind::Word && word.eq_ignore_ascii_case("stored") {
            text.push_str(&create_sql[copied..token.span.start]);
            text.push_str("VIRTUAL");
            copied = token.span.end;
        }
        is_behind = token.kind == TokenKind::Close;
    }
    text + &create_sql[copied..]
}

#[cfg(test)]
mod tests {
    use super::{Check, checks, index_text, with_virtual_columns};

    fn assert_checks(create_sql: &str, expected: &[(Option<&str>, &str)]) {
        let check = |&(name, expression): &(Option<&str>, &str)| Check {
            name: name.map(str::to_owned),
            expression: expression.to_owned(),
        };
        assert_eq!(checks(create_sql), expected.iter().map(check).collect::<Vec<_>>(), "{create_sql}");
    }

    #[test]
    fn columns_and_tables_have_checks() {
        assert_checks("CREATE TABLE t (a INT)", &[]);
        assert_checks("CREATE TABLE t (a INT CHECK (a > 0), check(a<9))", &[(None, "a > 0"), (None, "a<9")]);
        assert_checks(
            "CREATE TABLE t(a VARCHAR(3) DEFAULT (1+2) ChEcK( (a) IN (1,(2)) ))",
            &[(None, "(a) IN (1,(2))")],
        );
    }

    #[test]
    fn a_name_holds_until_the_comma() {
        assert_checks(
            "CREATE TABLE t (a CONSTRAINT \"o\"\"ne\" NOT NULL CHECK(a) CHECK(-a), b CHECK(b), CONSTRAINT [two] CHECK(1))",
            &[(Some("o\"ne"), "a"), (Some("o\"ne"), "-a"), (None, "b"), (Some("two"), "1")],
        );
    }

    #[test]
    fn quotes_and_comments_hide() {
        assert_checks(
            "CREATE TABLE \"check (x)\" (a TEXT DEFAULT 'check (1)' -- check (2)\n, /* check (3) */ [check (4)] \
             CHECK (a <> ')' || \"(\" || '''' || `)` /* ) */ || [(] -- )\n))",
            &[(None, "a <> ')' || \"(\" || '''' || `)` /* ) */ || [(] -- )")],
        );
    }

    #[test]
    fn an_index_has_terms_and_a_predicate() {
        for (sql, terms, predicate) in [
            ("CREATE INDEX i ON t(a)", &["a"][..], None),
            (
                "CREATE INDEX \"(\" ON [t(] (lower(a) /* , */ DESC, b COLLATE nocase asc -- x\n, (c, d))",
                &["lower(a)", "b COLLATE nocase", "(c, d)"],
                None,
            ),
            (
                "CREATE INDEX i ON t (desc, 'a,b' || asc DESC) WHERE a > ')' -- where\n",
                &["desc", "'a,b' || asc"],
                Some("a > ')'"),
            ),
        ] {
            let text = index_text(sql).expect(sql);
            assert_eq!(
                (&text.terms[..], text.predicate.as_deref()),
                (&terms.iter().map(|&term| term.to_owned()).collect::<Vec<_>>()[..], predicate)
            );
        }
        for sql in
            ["CREATE INDEX i ON t", "CREATE INDEX i ON t (a", "CREATE INDEX i ON t (a,)", "CREATE INDEX i ON t (a) x"]
        {
            assert_eq!(index_text(sql), None, "{sql}");
        }
    }

    #[test]
    fn stored_columns_become_virtual() {
        assert_eq!(
            with_virtual_columns(
                "CREATE TABLE t (stored, a AS (stored) STORED, b AS ('x) stored') /* */ stored, c AS (1))"
            ),
            "CREATE TABLE t (stored, a AS (stored) VIRTUAL, b AS ('x) stored') /* */ VIRTUAL, c AS (1))"
        );
    }

    #[test]
    fn broken_text_ends_quietly() {
        for text in
            ["CREATE TABLE t (a CHECK", "CREATE TABLE t (a CHECK (", "CREATE TABLE t (a CHECK ('", "/*", "--", "["]
        {
            assert_checks(text, &[]);
        }
    }
}
