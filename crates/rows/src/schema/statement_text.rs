//! Finds expressions in the texts of CREATE TABLE and CREATE INDEX statements.
//!
//! SQLite does not tell the expressions of CHECK constraints and indexes, so they are cut out of a text that SQLite has
//! accepted. SQLite never takes CHECK or CONSTRAINT for a name, so outside of quotes they are keywords. SQLite judges every
//! cut: `evaluation.rs` compares the byte code of the original with that of the pieces.

use std::ops::Range;

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
pub(super) fn checks(create_sql: &str) -> Vec<Check> {
    let mut found = Vec::new();
    let (mut depth, mut name) = (0_usize, None);
    let mut tokens = Tokens::new(create_sql);
    while let Some(token) = tokens.next() {
        let word = &create_sql[token.span.clone()];
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            // SQLite forgets the name of a constraint at the next comma, and no earlier.
            Kind::Comma if depth == 1 => name = None,
            Kind::Word if word.eq_ignore_ascii_case("constraint") => {
                name = tokens.next().map(|token| unquote(&create_sql[token.span]));
            }
            Kind::Word if word.eq_ignore_ascii_case("check") => {
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
    let open = tokens.find(|token| token.kind == Kind::Open)?;
    let (mut terms, mut start, mut depth) = (Vec::new(), open.span.end, 1_usize);
    while depth > 0 {
        let token = tokens.next()?;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && token.kind == Kind::Comma {
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
        token.kind == Kind::Word && (word.eq_ignore_ascii_case("asc") || word.eq_ignore_ascii_case("desc"))
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
        if is_behind && token.kind == Kind::Word && word.eq_ignore_ascii_case("stored") {
            text.push_str(&create_sql[copied..token.span.start]);
            text.push_str("VIRTUAL");
            copied = token.span.end;
        }
        is_behind = token.kind == Kind::Close;
    }
    text + &create_sql[copied..]
}

/// Returns the words and quoted names of an expression.
pub(super) fn names(expression: &str) -> Vec<String> {
    let names = Tokens::new(expression).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
    names.map(|token| unquote(&expression[token.span])).collect()
}

/// Returns the tokens of a statement: words and names in small letters and without their quotes, texts as they are.
pub(super) fn words(sql: &str) -> Vec<String> {
    let word = |token: Token| {
        let text = &sql[token.span];
        if text.starts_with('\'') { text.to_owned() } else { unquote(text).to_ascii_lowercase() }
    };
    Tokens::new(sql).map(word).collect()
}

/// Returns whether SQLite takes a character for a blank.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// Returns the text without its quotes, if it begins with one.
pub(super) fn unquote(text: &str) -> String {
    let Some(open @ ('"' | '\'' | '`' | '[')) = text.chars().next() else { return text.to_owned() };
    let close = if open == '[' { ']' } else { open };
    let mut unquoted = String::new();
    let mut rest = text[1..].chars().peekable();
    while let Some(character) = rest.next() {
        if character == close && rest.next_if_eq(&close).is_none() {
            break;
        }
        unquoted.push(character);
    }
    unquoted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword, a name or a number.
    Word,
    /// A text or a quoted name.
    Quoted,
    Open,
    Close,
    Comma,
    Other,
}

pub(super) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// An iterator over the tokens of an SQL text, without blanks and comments.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }

    /// Returns the span between the next parenthesis and the one that closes it.
    fn parenthesised(&mut self) -> Option<Range<usize>> {
        let open = self.next().filter(|token| token.kind == Kind::Open)?;
        let mut depth = 1_usize;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 1 => return Some(open.span.end..token.span.start),
                Kind::Close => depth -= 1,
                _ => {}
            }
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += match rest {
                [first, ..] if is_space(char::from(*first)) => 1,
                [b'-', b'-', ..] => find(rest, b"\n").unwrap_or(rest.len()),
                [b'/', b'*', ..] => find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4),
                _ => return,
            };
        }
    }

    /// Returns the length of the quoted token at the beginning of `rest`.
    fn quoted_len(rest: &[u8], close: u8, may_double: bool) -> usize {
        let mut at = 1;
        while let Some(found) = find(&rest[at..], &[close]) {
            at += found + 1;
            if !(may_double && rest.get(at) == Some(&close)) {
                return at;
            }
            at += 1;
        }
        rest.len()
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let (kind, len) = match *rest.first()? {
            b'(' => (Kind::Open, 1),
            b')' => (Kind::Close, 1),
            b',' => (Kind::Comma, 1),
            b'[' => (Kind::Quoted, Self::quoted_len(rest, b']', false)),
            quote @ (b'"' | b'\'' | b'`') => (Kind::Quoted, Self::quoted_len(rest, quote, true)),
            first if is_word(first) => (Kind::Word, rest.iter().take_while(|&&byte| is_word(byte)).count()),
            _ => (Kind::Other, 1),
        };
        let span = self.at..self.at + len;
        self.at = span.end;
        Some(Token { kind, span })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
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
