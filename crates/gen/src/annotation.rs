//! The annotation language: one grammar for comments in SQL and for the annotations of a request.
//!
//! ```text
//! annotation = expression                           a literal alone is none: constant(5)
//! expression = value | call | column | function "(" expression { "," expression } ")" | "(" expression ")"
//!            | "-" expression | "NOT" expression | expression operator expression
//!            | expression "IS" [ "NOT" ] expression | expression [ "NOT" ] "BETWEEN" expression "AND" expression
//!            | expression [ "NOT" ] "IN" "(" expression { "," expression } ")"
//!            | "CASE" [ expression ] { "WHEN" expression "THEN" expression } [ "ELSE" expression ] "END"
//! operator   = "||" | "*" | "/" | "%" | "+" | "-" | "<" | "<=" | ">" | ">=" | "=" | "<>" | "AND" | "OR"
//!                                                    they bind as in SQLite: the first the closest, == is =, != is <>
//! column     = [ ( name | "name" ) "." ] ( name | "name" )       of the row, or of the one that it refers to
//! call       = name [ "(" [ argument { "," argument } ] ")" ]    a generator
//! argument   = [ name "=" ] expression [ ":" weight ]
//! value      = number | 'text' | x'00ff' | NULL | TRUE | FALSE
//! number     = [ "-" ] digits [ "." digits ] [ "e" exponent ] [ "k" | "m" | "b" ]     _ between digits is skipped
//! settings   = { ( ("rows" | "seed" | "fixed") "=" number | "tpch" "=" name ) [ "," ] }    what a table is told
//! ```
//!
//! A name without parentheses may be a generator or a column: whoever knows the columns decides. What an expression
//! means is `expression`'s to say. Names are compared without regard to ASCII case. Everything carries its place, so that whoever finds a mistake,
//! the parser, a generator or the plan, can point at the character.

mod expressions;
mod lexer;
mod parser;

pub(crate) use expressions::is_reserved;
pub(crate) use lexer::is_name;

use crate::expression::Operator;
use crate::tpch::TpchTable;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::line_and_character;
use litepress_rows::{Error, ErrorKind, Result};
use std::ops::Range;

/// A text with annotations in it, and how errors name places of it.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The whole text; all offsets count in it.
    pub text: &'a str,
    /// What the text is called in errors.
    pub origin: &'a str,
    /// The table that the annotation is for.
    pub table: Option<&'a str>,
    /// The column that the annotation is for.
    pub column: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// A text that is not about any table yet.
    pub fn new(text: &'a str, origin: &'a str) -> Self {
        Self { text, origin, table: None, column: None }
    }

    /// The same text, for this column.
    #[must_use]
    pub fn for_column(self, table: &'a str, column: &'a str) -> Self {
        Self { table: Some(table), column: Some(column), ..self }
    }

    /// The same text, for this table.
    #[must_use]
    pub fn for_table(self, table: &'a str) -> Self {
        Self { table: Some(table), ..self }
    }

    /// An [`ErrorKind::Generator`] error about the character at `offset`.
    pub fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let (line, character) = line_and_character(self.text, offset);
        let message: String = message.into();
        let mut error = Error::new(ErrorKind::Generator, message).in_file(self.origin).at(line, character);
        if let Some(table) = self.table {
            error = error.in_table(table);
        }
        if let Some(column) = self.column {
            error = error.in_column(column);
        }
        error
    }
}

/// A generator's name with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Name, as written.
    pub name: String,
    /// Whether parentheses follow the name: without them it may be a column.
    pub is_called: bool,
    /// Arguments in the order written.
    pub arguments: Vec<Argument>,
    /// Where the call stands, name to closing parenthesis.
    pub span: Range<usize>,
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `name` of `name=value`.
    pub name: Option<String>,
    /// The value.
    pub value: Expression,
    /// `weight` of `value: weight`.
    pub weight: Option<Expression>,
    /// Where the argument stands, name and weight included.
    pub span: Range<usize>,
}

/// A value, a call, a column, or what is computed of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What an [`Expression`] is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExpressionKind {
    /// A literal; `TRUE` and `FALSE` are 1 and 0, as in SQL.
    Literal(OwnedValue),
    /// A generator; where it is not [called](Call::is_called) perhaps a column.
    Call(Call),
    /// A column, and before its name what leads to another row.
    Column {
        /// The table, or the column that refers to the row.
        through: Option<String>,
        /// The column.
        name: String,
    },
    /// What is computed of the values of others.
    Operation {
        /// How.
        operator: Operator,
        /// Of what.
        operands: Vec<Expression>,
    },
}

/// What a table's own annotation says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// `rows=N`, and where it stands.
    pub rows: Option<(u64, usize)>,
    /// `seed=N`, and where it stands.
    pub seed: Option<(u64, usize)>,
    /// `fixed=true`, 1 or 0, and where it stands: whether the number of rows stays whatever the scale is.
    pub fixed: Option<(u64, usize)>,
    /// `tpch=TABLE`, and where it stands: the table's rows are those of the benchmark.
    pub tpch: Option<(TpchTable, usize)>,
}

/// Parses the annotation of a column that stands in `span` of the site's text.
///
/// # Errors
/// [`ErrorKind::Generator`] with the place of the first character that does not fit the grammar.
pub fn parse(site: &Site<'_>, span: Range<usize>) -> Result<Expression> {
    parser::annotation(site, span)
}

/// Parses an annotation that is a single call.
///
/// # Errors
/// As [`parse`].
pub fn parse_call(site: &Site<'_>, span: Range<usize>) -> Result<Call> {
    parser::call(site, span)
}

/// Adds to `settings` what the annotation of a table that stands in `span` of the site's text says.
///
/// # Errors
/// [`ErrorKind::Generator`] where it is not `rows=N` and `seed=N`, or says again what is said already.
pub fn parse_settings(site: &Site<'_>, span: Range<usize>, settings: &mut TableSettings) -> Result<()> {
    parser::settings(site, span, settings)
}
