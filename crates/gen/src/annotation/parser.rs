//! Parser of calls and settings; [`expressions`](super::expressions) parses the expressions around and in them.

use super::lexer::{self, Token, TokenKind};
use super::{Argument, Call, Expression, ExpressionKind, SourceText, TableSettings};
use crate::number::{COUNT_UNITS, whole_number};
use crate::suggest::did_you_mean;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Error, Result};
use litepress_tpch::TpchTable;
use std::ops::Range;

/// Deepest nesting of calls. Deeper ones are a mistake and could overflow the stack.
const DEEPEST: usize = 32;

/// Most operators in one annotation: a chain of them is as deep as it is long.
const MOST_OPERATORS: usize = 1000;

pub(super) fn annotation(source: &SourceText<'_>, span: Range<usize>) -> Result<Expression> {
    let mut parser = Parser::new(source, span)?;
    parser.reject_settings()?;
    let expression = parser.expression(0)?;
    if matches!(expression.kind, ExpressionKind::Literal(_)) && *parser.peek() == TokenKind::End {
        let error = source.error(expression.span.start, "the name of a generator is expected");
        return Err(error.advise("constant(value) gives every row the same value"));
    }
    match parser.peek() {
        TokenKind::End => Ok(expression),
        _ => Err(parser.unexpected("the end of the annotation")),
    }
}

pub(super) fn call(source: &SourceText<'_>, span: Range<usize>) -> Result<Call> {
    match annotation(source, span)? {
        Expression { kind: ExpressionKind::Call(call), .. } => Ok(call),
        Expression { span, .. } => Err(source.error(span.start, "the name of a generator is expected")),
    }
}

pub(super) fn settings(source: &SourceText<'_>, span: Range<usize>, settings: &mut TableSettings) -> Result<()> {
    let mut parser = Parser::new(source, span)?;
    loop {
        parser.setting(settings)?;
        parser.take_mark(",");
        if *parser.peek() == TokenKind::End {
            return Ok(());
        }
    }
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a SourceText<'a>,
    tokens: Vec<Token>,
    at: usize,
    operators: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a SourceText<'a>, span: Range<usize>) -> Result<Self> {
        Ok(Self { source, tokens: lexer::tokens(source, span)?, at: 0, operators: 0 })
    }

    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(super) fn peek(&self) -> &TokenKind {
        &self.token().kind
    }

    /// Returns the token after the current one; at the end, the last one.
    pub(super) fn peek_second(&self) -> &TokenKind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    /// Takes the current token; the last one, [`TokenKind::End`], stays.
    pub(super) fn take(&mut self) -> Token {
        let token = self.token().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn take_mark(&mut self, mark: &'static str) -> bool {
        let found = *self.peek() == TokenKind::Mark(mark);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn unexpected(&self, expected: &str) -> Error {
        let Token { kind, span } = self.token();
        let found = match kind {
            TokenKind::End => "the annotation ends".to_owned(),
            _ => format!("'{}' stands", &self.source.text[span.clone()]),
        };
        self.source.error(span.start, format!("{found} where {expected} is expected"))
    }

    /// Rejects `rows=5` in place of a generator: it is a setting of a table.
    fn reject_settings(&self) -> Result<()> {
        let (TokenKind::Name(name), TokenKind::Mark("=")) = (self.peek(), self.peek_second()) else {
            return Ok(());
        };
        if !["rows", "seed", "fixed", "tpch"].iter().any(|setting| setting.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let message = format!("'{name}=' is a setting of tables, and this annotation belongs to a column");
        let error = self.source.error(self.token().span.start, message);
        Err(error.advise("put it in front of CREATE TABLE or on the line of the table's '('"))
    }

    /// Returns the end of the token that was taken last.
    pub(super) fn end(&self) -> usize {
        self.tokens[self.at.max(1) - 1].span.end
    }

    /// Rejects nesting that might overflow the stack.
    pub(super) fn check_depth(&self, depth: usize) -> Result<()> {
        let at = self.token().span.start;
        if depth > DEEPEST { Err(self.source.error(at, "generators are nested too deeply")) } else { Ok(()) }
    }

    /// Counts an operator.
    pub(super) fn count_operator(&mut self) -> Result<()> {
        self.operators += 1;
        let rejected = || self.source.error(self.token().span.start, format!("more than {MOST_OPERATORS} operators"));
        if self.operators > MOST_OPERATORS { Err(rejected()) } else { Ok(()) }
    }

    /// Takes the token of a literal; `None` is an integer out of range.
    pub(super) fn literal(&mut self, value: Option<OwnedValue>) -> Result<ExpressionKind> {
        let token = self.take();
        value
            .map(ExpressionKind::Literal)
            .ok_or_else(|| self.source.error(token.span.start, "this number does not fit into 64 bits"))
    }

    pub(super) fn call(&mut self, name: String, depth: usize) -> Result<Call> {
        let start = self.token().span.start;
        let mut end = self.take().span.end;
        let mut arguments = Vec::new();
        let is_called = self.take_mark("(");
        if is_called && !self.take_close(&mut end) {
            loop {
                arguments.push(self.argument(depth + 1)?);
                if self.take_close(&mut end) {
                    break;
                }
                if !self.take_mark(",") {
                    return Err(self.unexpected("',' or ')'"));
                }
            }
        }
        Ok(Call { name, is_called, arguments, span: start..end })
    }

    /// Takes a closing parenthesis, if it is next, and sets `end` to its end.
    pub(super) fn take_close(&mut self, end: &mut usize) -> bool {
        let close = self.token().span.end;
        let is_closed = self.take_mark(")");
        if is_closed {
            *end = close;
        }
        is_closed
    }

    fn argument(&mut self, depth: usize) -> Result<Argument> {
        let start = self.token().span.start;
        let name = match (self.peek(), self.peek_second()) {
            (TokenKind::Name(name), TokenKind::Mark("=")) => Some(name.clone()),
            _ => None,
        };
        if name.is_some() {
            self.at += 2;
        }
        let value = self.expression(depth)?;
        let weight = if self.take_mark(":") { Some(self.expression(depth)?) } else { None };
        let end = weight.as_ref().unwrap_or(&value).span.end;
        Ok(Argument { name, value, weight, span: start..end })
    }

    fn setting(&mut self, settings: &mut TableSettings) -> Result<()> {
        let at = self.token().span.start;
        let (TokenKind::Name(name), TokenKind::Mark("=")) = (self.peek().clone(), self.peek_second()) else {
            let error = self.unexpected("rows=N or seed=N");
            return Err(error.advise("in front of a table's first column an annotation is about the table"));
        };
        if name.eq_ignore_ascii_case("tpch") {
            return self.tpch(settings);
        }
        let place = match name.to_ascii_lowercase().as_str() {
            "rows" => &mut settings.rows,
            "seed" => &mut settings.seed,
            "fixed" => &mut settings.fixed,
            _ => {
                let near = did_you_mean(&name, ["rows", "seed", "fixed", "tpch"]);
                return Err(self
                    .source
                    .error(at, format!("a table has no setting '{name}='{near}"))
                    .advise("it has rows=N, seed=N, fixed=true and tpch=TABLE"));
            }
        };
        if place.is_some() {
            return Err(self.source.error(at, format!("'{name}=' is set twice for this table")));
        }
        self.at += 2;
        // Read from the text as written, because a count may have an exponent.
        let written = &self.source.text[self.token().span.clone()];
        let truth = if name.eq_ignore_ascii_case("fixed") { truth(written) } else { None };
        let Some(value) = truth.or_else(|| whole_number(written, &COUNT_UNITS)) else {
            return Err(self.unexpected("a whole number"));
        };
        self.take();
        *place = Some((value, at));
        Ok(())
    }

    /// Parses `tpch=lineitem`.
    fn tpch(&mut self, settings: &mut TableSettings) -> Result<()> {
        let at = self.token().span.start;
        self.at += 2;
        let TokenKind::Name(name) = self.peek() else { return Err(self.unexpected("a table of TPC-H")) };
        let place = self.token().span.start;
        let table = TpchTable::from_name(name).ok_or_else(|| {
            let (near, names) = (did_you_mean(name, TpchTable::names()), TpchTable::names().join(", "));
            self.source.error(place, format!("TPC-H has no table '{name}'{near}: there are {names}"))
        })?;
        self.take();
        settings.tpch = Some((table, at));
        Ok(())
    }
}

fn truth(word: &str) -> Option<u64> {
    match keyword(word) {
        Some(OwnedValue::Int(value)) => Some(value.unsigned_abs()),
        _ => None,
    }
}

/// Returns the value of a keyword. Before a parenthesis the same word is a generator's name: `null(0.1, uuid)`.
pub(super) fn keyword(name: &str) -> Option<OwnedValue> {
    match name.to_ascii_lowercase().as_str() {
        "null" => Some(OwnedValue::Null),
        "true" => Some(OwnedValue::Int(1)),
        "false" => Some(OwnedValue::Int(0)),
        _ => None,
    }
}

pub(super) fn int(magnitude: u64, negative: bool) -> Option<OwnedValue> {
    let value = i128::from(magnitude) * if negative { -1 } else { 1 };
    i64::try_from(value).ok().map(OwnedValue::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Call> {
        call(&SourceText::new(text, "test"), 0..text.len())
    }

    #[test]
    fn everything_knows_its_place() {
        let text = " null( p=0.1, choice('a' : 3,\n -5: 1.5, NULL) ) -- a comment";
        let null = parse(text).expect(text);
        let at = |span: &Range<usize>| &text[span.clone()];
        assert_eq!((null.name.as_str(), null.arguments.len()), ("null", 2));
        assert_eq!(at(&null.span), text.split(" --").next().expect("a call").trim());
        let [share, inner] = &null.arguments[..] else { panic!("two arguments") };
        assert_eq!((share.name.as_deref(), at(&share.span)), (Some("p"), "p=0.1"));
        assert_eq!(share.value.kind, ExpressionKind::Literal(OwnedValue::Real(0.1)));
        let ExpressionKind::Call(choice) = &inner.value.kind else { panic!("a call") };
        let values: Vec<&str> = choice.arguments.iter().map(|value| at(&value.span)).collect();
        assert_eq!(values, ["'a' : 3", "-5: 1.5", "NULL"]);
        assert_eq!(choice.arguments[1].value.kind, ExpressionKind::Literal(OwnedValue::Int(-5)));
        assert_eq!(choice.arguments[1].weight.as_ref().map(|weight| at(&weight.span)), Some("1.5"));
    }

    #[test]
    fn calls_without_arguments_and_literals() {
        for text in ["uuid", "uuid()", " uuid ( ) "] {
            assert!(parse(text).expect(text).arguments.is_empty());
        }
        for (text, value) in [
            ("f(-9223372036854775808)", OwnedValue::Int(i64::MIN)),
            ("f(- 1.5)", OwnedValue::Real(-1.5)),
            ("f(True)", OwnedValue::Int(1)),
            ("f(false)", OwnedValue::Int(0)),
            ("f(null)", OwnedValue::Null),
            ("f(x'0A')", OwnedValue::Blob(vec![10])),
        ] {
            assert_eq!(parse(text).expect(text).arguments[0].value.kind, ExpressionKind::Literal(value));
        }
    }

    #[test]
    fn what_does_not_fit_is_pointed_at() {
        let deep = "f(".repeat(100);
        for (text, character, message) in [
            ("", 1, "the annotation ends where a generator"),
            ("f(1,)", 5, "')' stands where a generator or a value"),
            ("f(1 2)", 5, "'2' stands where ',' or ')'"),
            ("f(1", 4, "the annotation ends where ',' or ')'"),
            ("f(-'a')", 4, "''a'' stands where a number"),
            ("f(1:)", 5, "')' stands where a generator or a value"),
            ("f g", 3, "'g' stands where the end of the annotation"),
            ("f(9223372036854775808)", 3, "does not fit into 64 bits"),
            ("rows=5", 1, "'rows=' is a setting of tables"),
            (&deep, 67, "nested too deeply"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.place().character, Some(character), "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }
}
