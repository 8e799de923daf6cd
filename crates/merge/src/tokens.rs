//! The tokens of a statement, and whether two statements have the same ones.
//!
//! White space and comments do not count, and neither do quotes of names. The case of words does not count, unless the word may be
//! a text. SQLite takes these for texts:
//!
//! ```text
//! DEFAULT Active       a word or a name in quotes behind DEFAULT
//! a || "Active"        a name in double quotes, if there is no such column
//! RAISE(ABORT, No)     a word, in older releases
//! USING fts5(x=Yes)    arguments of virtual tables: their module decides
//! ```

use litepress_rows::sql_tokens::{self, TokenKind, Tokens, unquote};
use std::collections::HashSet;

/// Words that SQLite takes for something else if they are in quotes.
const WITHOUT_QUOTES: [&str; 18] = [
    "as",
    "check",
    "collate",
    "constraint",
    "current_date",
    "current_time",
    "current_timestamp",
    "default",
    "false",
    "foreign",
    "generated",
    "not",
    "null",
    "primary",
    "references",
    "true",
    "unique",
    "using",
];

/// Words with a name behind them, and never a text.
const BEFORE_NAMES: [&str; 11] =
    ["as", "collate", "constraint", "from", "index", "into", "join", "references", "table", "trigger", "view"];

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    /// The token as the statement has it.
    pub written: &'s str,
    /// A name or text without its quotes.
    content: String,
    /// The first quote.
    quote: Option<char>,
    /// It is a word without quotes.
    is_word: bool,
}

impl Token<'_> {
    /// Returns whether it is a word or a name in quotes.
    fn is_name(&self) -> bool {
        match self.quote {
            Some(quote) => quote != '\'',
            None => self.is_word,
        }
    }

    /// Returns whether it is this word, without quotes.
    fn is(&self, word: &str) -> bool {
        self.quote.is_none() && self.written.eq_ignore_ascii_case(word)
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// A statement that makes an object.
#[derive(Debug)]
pub(crate) struct Statement<'s> {
    pub tokens: Vec<Token<'s>>,
    /// The columns that a CREATE TABLE statement declares, in small letters.
    columns: HashSet<String>,
    /// The position behind USING of a CREATE VIRTUAL TABLE statement.
    arguments: Option<usize>,
}

impl<'s> Statement<'s> {
    /// Reads a statement.
    pub fn new(sql: &'s str) -> Self {
        let tokens = tokens(sql);
        let is_second = |word| tokens.get(1).is_some_and(|token| token.is(word));
        let columns = if is_second("table") { declared_columns(&tokens) } else { HashSet::new() };
        let arguments = is_second("virtual").then(|| tokens.iter().position(|token| token.is("using"))).flatten();
        Self { tokens, columns, arguments }
    }

    /// Returns the number of tokens at the beginning that are alike in two statements.
    pub fn alike(&self, other: &Self) -> usize {
        let most = self.tokens.len().min(other.tokens.len());
        (0..most).take_while(|&at| self.is_like(other, at)).count()
    }

    fn is_like(&self, other: &Self, at: usize) -> bool {
        let (one, two) = (&self.tokens[at], &other.tokens[at]);
        if one.written == two.written {
            return true;
        }
        let have_quotes = one.quote.is_some();
        let is_special = |token: &Token<'_>| WITHOUT_QUOTES.iter().any(|word| token.content.eq_ignore_ascii_case(word));
        if !one.is_name() || !two.is_name() || have_quotes != two.quote.is_some() && is_special(one) {
            return false;
        }
        let is_constant = !have_quotes && is_special(one);
        let may_be_text = (self.may_be_text(at) || other.may_be_text(at)) && !is_constant;
        one.content == two.content || !may_be_text && one.content.eq_ignore_ascii_case(&two.content)
    }

    /// Returns whether SQLite may take the name at this position for a text.
    fn may_be_text(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let before = |count: usize| at.checked_sub(count).map(|at| &self.tokens[at]);
        let is_before = |count, words: &[&str]| before(count).is_some_and(|token| token.is_one_of(words));
        if self.arguments.is_some_and(|using| at > using + 1) {
            return token.quote.is_some() || !is_before(1, &["(", ","]);
        }
        if is_before(1, &["default"]) || is_before(1, &[","]) && is_before(4, &["raise"]) {
            return true;
        }
        let is_qualified = is_before(1, &["."]) || self.tokens.get(at + 1).is_some_and(|token| token.is("."));
        // `a IS DISTINCT FROM "x"` compares.
        let is_named = is_before(1, &BEFORE_NAMES) && !is_before(2, &["distinct"]);
        let is_column = self.columns.contains(&token.content.to_ascii_lowercase());
        token.quote == Some('"') && !is_qualified && !is_named && !is_column
    }
}

/// Returns the columns that a CREATE TABLE statement declares, in small letters.
fn declared_columns(tokens: &[Token<'_>]) -> HashSet<String> {
    let (mut columns, mut depth) = (HashSet::new(), 0_usize);
    for pair in tokens.windows(2) {
        depth = match pair[0].written {
            "(" => depth + 1,
            ")" => depth.saturating_sub(1),
            _ => depth,
        };
        let is_first = depth == 1 && matches!(pair[0].written, "(" | ",");
        if is_first && pair[1].is_name() && !pair[1].is_one_of(&WITHOUT_QUOTES) {
            columns.insert(pair[1].content.to_ascii_lowercase());
        }
    }
    columns
}

fn tokens(sql: &str) -> Vec<Token<'_>> {
    let token = |sql_tokens::Token { kind, span }| {
        let written = &sql[span];
        let quote = written.chars().next().filter(|_| kind == TokenKind::Quoted);
        Token { written, content: unquote(written), quote, is_word: kind == TokenKind::Word }
    };
    Tokens::new(sql).map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(one: &str, two: &str) -> bool {
        let (one, two) = (Statement::new(one), Statement::new(two));
        let alike = one.alike(&two);
        assert_eq!(alike, two.alike(&one));
        alike == one.tokens.len() && alike == two.tokens.len()
    }

    #[test]
    fn layout_quotes_and_the_case_of_names_do_not_count() {
        for (one, two) in [
            ("CREATE TABLE t(a INT, b)", "create /* x */ table \"t\" ([A] int, -- y\n `b`)"),
            ("CREATE TABLE \"T\"(\"My name\" TEXT)", "CREATE TABLE t([my NAME] text)"),
            ("CREATE TABLE t(\"A\", b AS (\"A\" || 1.5e3))", "CREATE TABLE t(a, b AS (\"a\" || 1.5E3))"),
            (
                "CREATE TABLE t(a DEFAULT NULL, b DEFAULT Current_Time)",
                "CREATE TABLE t(a DEFAULT null, b DEFAULT CURRENT_TIME)",
            ),
            ("CREATE TABLE t(a DEFAULT \"Yes\")", "CREATE TABLE t(a DEFAULT Yes)"),
            ("CREATE TABLE t(a REFERENCES \"P\"(x))", "CREATE TABLE t(a REFERENCES p(x))"),
            ("CREATE VIEW v AS SELECT t.\"A\" FROM \"T\"", "CREATE VIEW v AS SELECT T . a FROM t"),
            (
                "CREATE VIRTUAL TABLE f USING FTS5(A, b, content=docs)",
                "CREATE VIRTUAL TABLE F using fts5(a, b, content=docs)",
            ),
        ] {
            assert!(agree(one, two), "{one}; {two}");
        }
    }

    /// A database whose column had the DEFAULT `active` was taken for one with `Active`, and its rows for Active ones.
    #[test]
    fn texts_without_single_quotes_count() {
        for (one, two) in [
            ("CREATE TABLE t(a DEFAULT Active)", "CREATE TABLE t(a DEFAULT active)"),
            ("CREATE TABLE t(active, a DEFAULT \"Active\")", "CREATE TABLE t(active, a DEFAULT \"active\")"),
            ("CREATE TABLE t(a DEFAULT [Active])", "CREATE TABLE t(a DEFAULT [active])"),
            ("CREATE TABLE t(a DEFAULT \"true\")", "CREATE TABLE t(a DEFAULT true)"),
            ("CREATE TABLE t(a DEFAULT \"NULL\")", "CREATE TABLE t(a DEFAULT \"null\")"),
            ("CREATE TABLE t(a, b AS (a || \"X\"))", "CREATE TABLE t(a, b AS (a || \"x\"))"),
            (
                "CREATE TABLE t(a, b CHECK (b IS DISTINCT FROM \"X\"))",
                "CREATE TABLE t(a, b CHECK (b IS DISTINCT FROM \"x\"))",
            ),
            ("CREATE TABLE t(a \"UNIQUE\")", "CREATE TABLE t(a UNIQUE)"),
            ("CREATE VIEW v AS SELECT a || \"t\" FROM t", "CREATE VIEW v AS SELECT a || \"T\" FROM t"),
            ("CREATE VIEW v AS SELECT x'ab'", "CREATE VIEW v AS SELECT x 'ab'"),
            ("CREATE INDEX i ON t(a || \"X\")", "CREATE INDEX i ON t(a || \"x\")"),
            (
                "CREATE TRIGGER g DELETE ON t BEGIN SELECT RAISE(ABORT, No); END",
                "CREATE TRIGGER g DELETE ON t BEGIN SELECT RAISE(ABORT, no); END",
            ),
            (
                "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=simple X)",
                "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=simple x)",
            ),
            (
                "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=unicode61 \"tokenchars=X\")",
                "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=unicode61 \"tokenchars=x\")",
            ),
        ] {
            assert!(!agree(one, two), "{one}; {two}");
        }
    }
}
