//! The annotation language: one grammar for comments in SQL, requests and recipes.
//!
//! ```text
//! annotation = expression                           not a literal alone: constant(5)
//! expression = value | call | column | function "(" expression { "," expression } ")" | "(" expression ")"
//!            | "-" expression | "NOT" expression | expression operator expression
//!            | expression "IS" [ "NOT" ] expression | expression [ "NOT" ] "BETWEEN" expression "AND" expression
//!            | expression [ "NOT" ] "IN" "(" expression { "," expression } ")"
//!            | "CASE" [ expression ] { "WHEN" expression "THEN" expression } [ "ELSE" expression ] "END"
//! operator   = "||" | "*" | "/" | "%" | "+" | "-" | "<" | "<=" | ">" | ">=" | "=" | "<>" | "AND" | "OR"
//!                                                    precedence as in SQLite, highest first; == is =, != is <>
//! column     = [ ( name | "name" ) "." ] ( name | "name" )       of the row, or of the row that it refers to
//! call       = name [ "(" [ argument { "," argument } ] ")" ]    a generator
//! argument   = [ name "=" ] expression [ ":" weight ]
//! value      = number | 'text' | x'00ff' | NULL | TRUE | FALSE
//! number     = [ "-" ] digits [ "." digits ] [ "e" exponent ] [ "k" | "m" | "b" ]     _ between digits is skipped
//! settings   = { ( ("rows" | "seed" | "fixed") "=" number | "tpch" "=" name ) [ "," ] }    of a table
//! ```
//!
//! A name without parentheses may be a generator or a column; the plan, which knows the columns, decides.
//! `expression` defines what an expression computes. Names are compared without regard to ASCII case. Every node
//! carries its span, so that the parser, a generator and the plan can point errors at a character.

mod expressions;
mod lexer;
mod parser;

pub(crate) use expressions::is_reserved;
pub(crate) use lexer::is_name;

use crate::expression::Operator;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::line_and_character;
use litepress_rows::{Error, ErrorKind, Result};
use litepress_tpch::TpchTable;
use std::ops::Range;

/// A text with annotations in it, and the names that errors give its places.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// The whole text; all offsets count in it.
    pub text: &'a str,
    /// Name of the text in errors.
    pub origin: &'a str,
    /// The table that the annotation is for.
    pub table: Option<&'a str>,
    /// The column that the annotation is for.
    pub column: Option<&'a str>,
    /// The files that the annotation may read.
    pub files: ReadableFiles<'a>,
}

/// The files that an annotation may read.
#[derive(Clone, Copy, Debug)]
pub enum ReadableFiles<'a> {
    /// Those in the folder of this file and below; of the current directory, if it is no file. A schema may be that of a
    /// stranger.
    Beside(&'a str),
    /// All: the user wrote the annotation on the command line.
    All,
}

impl<'a> SourceText<'a> {
    /// Wraps a text that does not belong to a table yet.
    pub fn new(text: &'a str, origin: &'a str) -> Self {
        Self { text, origin, table: None, column: None, files: ReadableFiles::Beside(origin) }
    }

    /// Returns the same text, which may read these files.
    #[must_use]
    pub fn with_files(self, files: ReadableFiles<'a>) -> Self {
        Self { files, ..self }
    }

    /// Returns the same text, for this column.
    #[must_use]
    pub fn for_column(self, table: &'a str, column: &'a str) -> Self {
        Self { table: Some(table), column: Some(column), ..self }
    }

    /// Returns the same text, for this table.
    #[must_use]
    pub fn for_table(self, table: &'a str) -> Self {
        Self { table: Some(table), ..self }
    }

    /// Makes an [`ErrorKind::Generator`] error about the character at `offset`.
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
    /// Whether parentheses follow the name; without them it may be a column.
    pub is_called: bool,
    /// Arguments in the order written.
    pub arguments: Vec<Argument>,
    /// Span of the call, from the name to the closing parenthesis.
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
    /// Span of the argument, name and weight included.
    pub span: Range<usize>,
}

/// A value, a call, a column, or an operation on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The kind, with its parts.
    pub kind: ExpressionKind,
    /// Span in the text.
    pub span: Range<usize>,
}

/// The kind of an [`Expression`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExpressionKind {
    /// A literal; `TRUE` and `FALSE` are 1 and 0, as in SQL.
    Literal(OwnedValue),
    /// A generator; a column is possible too if it is not [called](Call::is_called).
    Call(Call),
    /// A column of the row or, with `through`, of a row that it refers to.
    Column {
        /// The parent table, or the column that refers to the row.
        through: Option<String>,
        /// The column.
        name: String,
    },
    /// A column of the row to which several references lead, one after another.
    Path {
        /// The columns that refer to rows: the first one in the row itself.
        through: Vec<String>,
        /// The column.
        name: String,
    },
    /// An operator with its operands.
    Operation {
        /// The operator.
        operator: Operator,
        /// The operands in order.
        operands: Vec<Expression>,
    },
}

/// The settings in a table's own annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// `rows=N`, and its offset.
    pub rows: Option<(u64, usize)>,
    /// `seed=N`, and its offset.
    pub seed: Option<(u64, usize)>,
    /// `fixed=true`, 1 or 0, and its offset: whether the scale leaves the number of rows alone.
    pub fixed: Option<(u64, usize)>,
    /// `tpch=TABLE`, and its offset: the table's rows are those of the benchmark.
    pub tpch: Option<(TpchTable, usize)>,
}

/// Parses the annotation of a column, given by its span in the text.
///
/// # Errors
/// [`ErrorKind::Generator`] at the first character that does not fit the grammar.
pub fn parse(source: &SourceText<'_>, span: Range<usize>) -> Result<Expression> {
    parser::annotation(source, span)
}

/// Parses an annotation that is a single call.
///
/// # Errors
/// As [`parse`].
pub fn parse_call(source: &SourceText<'_>, span: Range<usize>) -> Result<Call> {
    parser::call(source, span)
}

/// Parses the annotation of a table, given by its span in the text, and adds its settings to `settings`.
///
/// # Errors
/// [`ErrorKind::Generator`] if it is not a list of settings, or repeats one that is set already.
pub fn parse_settings(source: &SourceText<'_>, span: Range<usize>, settings: &mut TableSettings) -> Result<()> {
    parser::settings(source, span, settings)
}
