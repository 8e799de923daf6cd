//! Annotations in the comments of a schema: finds them and decides which table or column each belongs to.
//!
//! ```text
//! -- gen: rows=1b                          alone before CREATE: of the table
//! CREATE TABLE user ( -- gen: seed=7       after SQL, before the first column: of the table
//!   -- gen: sequence
//!   id INTEGER PRIMARY KEY,                alone on its line: of the next column
//!   area CHAR(6),  -- gen: digits(6)       after SQL: of the last column on the line
//!   age INTEGER /* gen: int(1, 99) */ );   before or after the column's comma or parenthesis
//! ```
//!
//! SQLite has parsed the schema already, so this is not an SQL parser: it only tells comments from strings and quoted
//! names, and counts parentheses and commas. A column definition begins with the column's name, a table constraint
//! with one of five reserved words.

use crate::annotation::{Expression, ExpressionKind, SourceText, is_name, parse};
use crate::generators::catalogue::find;
use crate::tables::generated_tables;
use litepress_rows::schema::{Generated, Schema, Table};
use litepress_rows::sql_tokens::{Token, TokenKind, Tokens, unquote};
use litepress_rows::{Error, Result};
use std::ops::Range;

/// An annotation and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// Position in [`Table::columns`]; `None` if it belongs to the table.
    pub column: Option<usize>,
    /// Span in [`Schema::text`], without `gen:` and the comment marks.
    pub span: Range<usize>,
}

/// The part of a statement that a token belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Another statement.
    Outside,
    /// A CREATE TABLE statement up to the parenthesis that opens the list of columns.
    Head { table: usize },
    /// A column definition or table constraint, by its first token; the comma after it is included.
    Definition { table: usize, first: usize },
    /// The parenthesis that closes the list, and the rest of the statement.
    Tail { table: usize },
}

/// Finds all annotations of a schema, in order.
///
/// # Errors
/// [`ErrorKind::Generator`](litepress_rows::ErrorKind::Generator) if an annotation belongs to no table with generated
/// rows, or is the second of its column.
pub fn annotations(schema: &Schema) -> Result<Vec<Annotation>> {
    let sql: Vec<Token> = Tokens::new(&schema.text).collect();
    let roles = roles(schema, &sql);
    let mut found: Vec<Annotation> = Vec::new();
    for token in Tokens::with_comments(&schema.text).filter(|token| token.kind == TokenKind::Comment) {
        let body = between_marks(&schema.text, &token.span);
        let Some(span) = annotation_span(&schema.text, &body) else {
            reject_missing_colon(schema, &body)?;
            continue;
        };
        let next_token = sql.partition_point(|other| other.span.start < token.span.start);
        let annotation = owner(schema, &sql, &roles, next_token, &token, span)?;
        let repeated = |other: &Annotation| other.column.is_some() && is_same_owner(other, &annotation);
        if found.iter().any(repeated) {
            return Err(place(schema, &annotation).error(token.span.start, "this column has an annotation already"));
        }
        found.push(annotation);
    }
    Ok(found)
}

/// A column with an annotation in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotatedColumn {
    /// Position of the table in [`Schema::tables`].
    pub table: usize,
    /// Position in [`Table::columns`].
    pub column: usize,
    /// Whether `per_parent` is in the annotation, so that the table's number of rows follows from its parent.
    pub has_per_parent: bool,
}

/// Returns the columns with annotations in the schema, or none if an annotation is misplaced.
pub fn annotated_columns(schema: &Schema) -> Vec<AnnotatedColumn> {
    let annotated = |annotation: &Annotation| {
        let expression = parse(&place(schema, annotation), annotation.span.clone());
        let has_per_parent = expression.is_ok_and(|expression| calls_per_parent(&expression));
        Some(AnnotatedColumn { table: annotation.table, column: annotation.column?, has_per_parent })
    };
    annotations(schema).unwrap_or_default().iter().filter_map(annotated).collect()
}

fn calls_per_parent(expression: &Expression) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    let mut arguments = call.arguments.iter();
    call.name.eq_ignore_ascii_case("per_parent") || arguments.any(|argument| calls_per_parent(&argument.value))
}

/// Returns the text of an annotation, for errors.
pub(crate) fn place<'a>(schema: &'a Schema, annotation: &Annotation) -> SourceText<'a> {
    let table = &schema.tables[annotation.table];
    let source = SourceText::new(&schema.text, &schema.origin).for_table(&table.name);
    match annotation.column {
        Some(column) => source.for_column(&table.name, &table.columns[column].name),
        None => source,
    }
}

fn is_same_owner(one: &Annotation, other: &Annotation) -> bool {
    (one.table, one.column) == (other.table, other.column)
}

/// Returns the span of a comment without its marks.
fn between_marks(text: &str, comment: &Range<usize>) -> Range<usize> {
    let body = &text[comment.start + 2..comment.end];
    let is_closed = text[comment.clone()].starts_with("/*") && body.ends_with("*/");
    comment.start + 2..comment.end - if is_closed { 2 } else { 0 }
}

/// Returns the span after `gen:` if the comment begins with it.
fn annotation_span(text: &str, body: &Range<usize>) -> Option<Range<usize>> {
    const MARK: &str = "gen:";
    let start = body.end - text[body.clone()].trim_start().len();
    let mark = text.get(start..start + MARK.len())?;
    let is_annotation = start + MARK.len() <= body.end && mark.eq_ignore_ascii_case(MARK);
    is_annotation.then_some(start + MARK.len()..body.end)
}

/// Rejects `-- gen word`, which would be an annotation if it had a colon.
fn reject_missing_colon(schema: &Schema, body: &Range<usize>) -> Result<()> {
    let comment = schema.text[body.clone()].trim();
    let Some((mark, rest)) = comment.split_at_checked(3).filter(|(mark, _)| mark.eq_ignore_ascii_case("gen")) else {
        return Ok(());
    };
    let annotation = rest.trim_start().trim_start_matches(':').trim_start();
    let (name, next_token) = annotation.split_at(annotation.find(|c| !is_name(c)).unwrap_or(annotation.len()));
    let is_call = find(name).is_some() && (next_token.is_empty() || next_token.starts_with('('));
    if !rest.starts_with(char::is_whitespace) || !is_call && !is_setting(annotation) {
        return Ok(());
    }
    let at = body.end - schema.text[body.clone()].trim_start().len();
    let error = SourceText::new(&schema.text, &schema.origin).error(at, format!("':' is missing after '{mark}'"));
    Err(error.advise(format!("did you mean '-- gen: {annotation}'?")))
}

/// Returns whether an annotation is a setting of a table.
fn is_setting(annotation: &str) -> bool {
    let name = annotation.split_once('=').map(|(name, _)| name.trim());
    name.is_some_and(|name| ["rows", "seed", "fixed", "tpch"].iter().any(|setting| setting.eq_ignore_ascii_case(name)))
}

/// Assigns a role to every token.
fn roles(schema: &Schema, sql: &[Token]) -> Vec<Role> {
    let mut roles = vec![Role::Outside; sql.len()];
    for (table, definition) in generated_tables(schema) {
        let start = sql.partition_point(|token| token.span.start < definition.span.start);
        let end = sql.partition_point(|token| token.span.start < definition.span.end);
        statement_roles(table, start, &sql[start..end], &mut roles[start..end]);
    }
    roles
}

/// Assigns roles to the tokens of one CREATE TABLE statement; `start` is the index of its first token.
fn statement_roles(table: usize, start: usize, sql: &[Token], roles: &mut [Role]) {
    let (mut depth, mut first) = (0_usize, start);
    let mut is_closed = false;
    for (index, (token, role)) in (start..).zip(sql.iter().zip(roles)) {
        let inside = depth > 0;
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        *role = match (is_closed, inside) {
            (true, _) => Role::Tail { table },
            (false, false) => Role::Head { table },
            (false, true) if depth == 0 => Role::Tail { table },
            (false, true) => Role::Definition { table, first },
        };
        is_closed |= inside && depth == 0;
        if depth == 1 && (token.kind == TokenKind::Comma || !inside) {
            first = index + 1;
        }
    }
}

/// Returns the annotation with its owner; `next_token` is the first token after the comment.
fn owner(
    schema: &Schema,
    sql: &[Token],
    roles: &[Role],
    next_token: usize,
    comment: &Token,
    span: Range<usize>,
) -> Result<Annotation> {
    let source = SourceText::new(&schema.text, &schema.origin);
    let at = comment.span.start;
    let line_start = schema.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let on_line = sql[..next_token].partition_point(|token| token.span.end <= line_start);
    let role = match roles[on_line..next_token] {
        [] => following_role(sql, roles, next_token),
        _ if begins_statement(&schema.text, sql, next_token, comment) => following_role(sql, roles, next_token),
        ref on_line => preceding_role(on_line),
    };
    match role {
        Role::Head { table } => Ok(Annotation { table, column: None, span }),
        Role::Definition { table, .. } | Role::Tail { table } if is_setting(&schema.text[span.clone()]) => {
            let annotation = schema.text[span.clone()].trim_start();
            let name = annotation.split('=').next().unwrap_or_default().trim_end();
            let message = format!("'{name}=' is a setting of tables, and is among the columns or after them");
            let source = source.for_table(&schema.tables[table].name);
            let advice = "put it in front of CREATE TABLE, or on the line of the '(' if no column stands there";
            Err(source.error(span.end - annotation.len(), message).advise(advice))
        }
        Role::Definition { table, first } => {
            let first = &schema.text[sql[first].span.clone()];
            let column = column(&schema.tables[table], first)
                .map_err(|message| belongs_to_nothing(&source.for_table(&schema.tables[table].name), at, &message))?;
            Ok(Annotation { table, column: Some(column), span })
        }
        Role::Tail { table } => {
            let source = source.for_table(&schema.tables[table].name);
            Err(belongs_to_nothing(&source, at, "it is after the columns"))
        }
        Role::Outside => Err(belongs_to_nothing(&source, at, "no table with generated rows is here")),
    }
}

fn belongs_to_nothing(source: &SourceText<'_>, at: usize, why: &str) -> Error {
    source
        .error(at, format!("this annotation belongs to no column and no table: {why}"))
        .advise("write a column's after its definition or alone on the line before it, a table's before CREATE TABLE")
}

/// Returns whether the comment is between the end of a statement and the next one on the same line.
fn begins_statement(text: &str, sql: &[Token], next_token: usize, comment: &Token) -> bool {
    let next_on_line = |next: &Token| !text[comment.span.end..next.span.start].contains('\n');
    sql[next_token - 1].kind == TokenKind::Semicolon && sql.get(next_token).is_some_and(next_on_line)
}

/// Returns the role of a comment alone on its line: that of the next token other than a comma.
fn following_role(sql: &[Token], roles: &[Role], next_token: usize) -> Role {
    let next = (next_token..sql.len()).find(|&index| sql[index].kind != TokenKind::Comma);
    next.map_or(Role::Outside, |index| roles[index])
}

/// Returns the role of a comment after SQL: that of the last token on the line. The end of a statement yields to a
/// definition before it.
fn preceding_role(on_line: &[Role]) -> Role {
    let last = on_line[on_line.len() - 1];
    let Role::Tail { table } = last else { return last };
    let of_table = |role: &&Role| matches!(role, Role::Definition { table: other, .. } if *other == table);
    on_line.iter().rfind(of_table).copied().unwrap_or(last)
}

/// Returns the column whose definition begins with the token `first`, or the reason why it cannot be annotated.
fn column(table: &Table, first: &str) -> Result<usize, String> {
    const CONSTRAINTS: [&str; 5] = ["constraint", "primary", "unique", "check", "foreign"];
    if CONSTRAINTS.iter().any(|word| word.eq_ignore_ascii_case(first)) {
        return Err("a table constraint has no values".to_owned());
    }
    let name = unquote(first);
    match table.column(&name) {
        None => Err(format!("the table has no column {name} any more")),
        Some(column) if table.columns[column].generated != Generated::No => {
            Err(format!("column {name} is generated: SQLite computes its values"))
        }
        Some(column) => Ok(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each annotation as `table.column: text` or `table: text`.
    fn found(sql: &str) -> Vec<String> {
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let describe = |annotation: Annotation| {
            let table = &schema.tables[annotation.table];
            let owner = annotation.column.map_or(String::new(), |column| format!(".{}", table.columns[column].name));
            format!("{}{owner}: {}", table.name, schema.text[annotation.span].trim())
        };
        annotations(&schema).expect(sql).into_iter().map(describe).collect()
    }

    #[test]
    fn behind_a_definition_or_alone_before_it() {
        for (sql, expected) in [
            ("create table t (\n a int, -- gen: x\n b int -- gen: y\n)", vec!["t.a: x", "t.b: y"]),
            ("create table t (\n a int -- gen: x\n, b int -- gen: y\n)", vec!["t.a: x", "t.b: y"]),
            ("create table t (\n -- gen: x\n a int,\n --gen:y\n b int)", vec!["t.a: x", "t.b: y"]),
            ("create table t (\n a int\n -- gen: y\n, b int)", vec!["t.b: y"]),
            ("create table t (a int, -- gen: x\n b int) -- gen: y", vec!["t.a: x", "t.b: y"]),
            ("create table t (a int, b int); -- gen: y", vec!["t.b: y"]),
            ("create table t (a int /* gen: x */, b int /*GEN: y*/)", vec!["t.a: x", "t.b: y"]),
            ("create table t (\n /* gen: x */ a int,\n /* gen: y */ b int)", vec!["t.a: x", "t.b: y"]),
            ("create table t (\n a int\n   -- gen: x\n   not null)", vec!["t.a: x"]),
            ("create table t (\n a dec(5, 2) check (a in (1, 2)), -- gen: x\n b)", vec!["t.a: x"]),
            ("create table t (\n a int, -- a comment, gen: no\n b int -- gen: y\n)", vec!["t.b: y"]),
            ("create table t (\n a int, -- gen word of mouth\n b int -- generated word\n)", vec![]),
            (
                "create table t (\n \"a,(\" int, -- gen: x\n [b--] int, -- gen: y\n `c/*` int -- gen: z\n)",
                vec!["t.a,(: x", "t.b--: y", "t.c/*: z"],
            ),
            (
                "create table t (\n a text default '-- gen: no', -- gen: x\n b text default 'it''s (' -- gen: y\n)",
                vec!["t.a: x", "t.b: y"],
            ),
            ("create table t (\n a int, -- gen: x\n primary key (a)\n)", vec!["t.a: x"]),
            ("create table t (\n \"a\"\"b\" int, -- gen: x\n 'c' int)", vec!["t.a\"b: x"]),
            (
                "create table t (\n a int,\n b int, -- gen: x\n c int -- gen: y\n);\nalter table t drop column a;",
                vec!["t.b: x", "t.c: y"],
            ),
            ("create table t (\n a text, -- gen: choice('ä',\n b int)", vec!["t.a: choice('ä',"]),
            ("create table t (a int, /* gen: choice(1,\n 2) */ b int)", vec!["t.a: choice(1,\n 2)"]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
    }

    #[test]
    fn before_the_first_definition_they_are_the_tables() {
        for (sql, expected) in [
            ("-- gen: rows=5\ncreate table t (a int)", vec!["t: rows=5"]),
            ("create table t ( -- gen: rows=5\n a int, -- gen: x\n b)", vec!["t: rows=5", "t.a: x"]),
            ("create table t -- gen: rows=5\n(\n a int)", vec!["t: rows=5"]),
            ("/* gen: rows=5 */ create table t (a int)", vec!["t: rows=5"]),
            (
                "create table s (a int);\n\n-- gen: rows=5\ncreate table \"t(\" ( -- gen: seed=1\n a int);",
                vec!["t(: rows=5", "t(: seed=1"],
            ),
            ("create table s (a int); create table t ( -- gen: rows=5\n a int)", vec!["t: rows=5"]),
            (
                "create table s (a int -- gen: x\n); create table t ( -- gen: rows=5\n a int)",
                vec!["s.a: x", "t: rows=5"],
            ),
            ("create table s (a int); /* gen: x */ create table t (a int)", vec!["t: x"]),
            ("create table s (a int); /* gen: x */\ncreate table t (a int)", vec!["s.a: x"]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
    }

    #[test]
    fn those_of_nothing_are_errors() {
        for (sql, line, character, message) in [
            ("create table t (\n a int,\n primary key (a) -- gen: x\n)", 3, 18, "a table constraint has no values"),
            ("create table t (\n a int,\n -- gen: x\n primary key (a)\n)", 3, 2, "a table constraint has no values"),
            ("create table t (\n a int,\n b int as (a) -- gen: x\n)", 3, 15, "column b is generated"),
            (
                "create table t (\n a int, -- gen: x\n b int\n);\nalter table t drop column a;",
                2,
                9,
                "no column a any more",
            ),
            ("create table t (\n a int\n -- gen: x\n)", 3, 2, "it is after the columns"),
            ("create table t (\n a int\n) -- gen: x", 3, 3, "it is after the columns"),
            ("create table t (\n a int\n) -- gen: rows=5", 3, 11, "is a setting of tables"),
            // It was taken for the column's, and the table was reported to have no number of rows.
            ("create table t (a int); -- gen: rows=5", 1, 33, "is a setting of tables"),
            // These were ordinary comments, and the column got a generator by its type.
            ("create table t (\n a text -- gen word\n)", 2, 12, "':' is missing after 'gen'"),
            ("create table t (\n a text -- GEN : digits(6)\n)", 2, 12, "':' is missing after 'GEN'"),
            ("-- gen rows=5\ncreate table t (a int);", 1, 4, "':' is missing after 'gen'"),
            (
                "create table t (a int);\n-- gen: rows=5\ncreate index i on t(a);",
                2,
                1,
                "no table with generated rows is here",
            ),
            ("create virtual table v using fts5 ( -- gen: rows=5\n a\n);", 1, 37, "no table with generated rows"),
            ("create table t (a int);\n-- gen: rows=5", 2, 1, "no table with generated rows is here"),
            ("create table t (\n -- gen: x\n a int, -- gen: y\n b)", 3, 9, "has an annotation already"),
        ] {
            let schema = Schema::from_sql(sql, "test.sql").expect(sql);
            let error = annotations(&schema).expect_err(sql);
            assert!(error.message().contains(message), "{sql}: {error}");
            let place = error.place();
            assert_eq!((place.line, place.character), (Some(line), Some(character)), "{error}");
        }
    }
}
