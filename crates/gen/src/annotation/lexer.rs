//! Tokenizer of annotations.

use super::SourceText;
use crate::number::{COUNT_UNITS, whole_number};
use litepress_rows::Result;
use std::ops::Range;

/// A token and its span in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    Int(u64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
    /// A name in double quotes: a column or table, never a generator.
    Quoted(String),
    /// One of [`MARKS`].
    Mark(&'static str),
    End,
}

/// All marks, longer ones first.
const MARKS: [&str; 19] =
    ["||", "==", "<>", "!=", "<=", ">=", "(", ")", ",", ":", "=", "<", ">", "+", "-", "*", "/", "%", "."];

/// Splits a span of the text into tokens, closed by [`TokenKind::End`]. A `--` comment in it ends the annotation.
pub(crate) fn tokens(source: &SourceText<'_>, span: Range<usize>) -> Result<Vec<Token>> {
    let mut lexer = Lexer { source, at: span.start, end: span.end };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token()?;
        let ended = token.kind == TokenKind::End;
        tokens.push(token);
        if ended {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    source: &'a SourceText<'a>,
    at: usize,
    end: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source.text[self.at..self.end]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes characters as long as `pattern` accepts them.
    fn take_while(&mut self, pattern: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !pattern(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn next_token(&mut self) -> Result<Token> {
        self.take_while(char::is_whitespace);
        let start = self.at;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some('-') if self.rest().starts_with("--") => self.comment()?,
            Some('\'') => TokenKind::Text(self.quoted('\'', "this text has no closing quote")?),
            Some('"') => TokenKind::Quoted(self.quoted('"', "this name has no closing quote")?),
            Some('x' | 'X') if self.rest()[1..].starts_with('\'') => TokenKind::Blob(self.blob()?),
            Some(c) if is_name_start(c) => TokenKind::Name(self.take_while(is_name).to_owned()),
            Some(c) if c.is_ascii_digit() || self.starts_fraction() => self.number()?,
            Some(c) => match MARKS.into_iter().find(|mark| self.rest().starts_with(mark)) {
                Some(mark) => {
                    self.at += mark.len();
                    TokenKind::Mark(mark)
                }
                None => return Err(self.source.error(start, format!("unexpected character '{c}'"))),
            },
        };
        Ok(Token { kind, span: start..self.at })
    }

    /// Ends the annotation at a `--` comment. A second `gen:` in it is an error, because it would be ignored.
    fn comment(&self) -> Result<TokenKind> {
        let comment = self.rest()[2..].trim_start();
        if comment.get(..4).is_some_and(|mark| mark.eq_ignore_ascii_case("gen:")) {
            let error = self.source.error(self.at, "this comment holds an annotation already");
            return Err(error.advise("write one annotation a column, and settings of a table one after the other"));
        }
        Ok(TokenKind::End)
    }

    /// Returns whether a fraction without whole part begins here: `.5`.
    fn starts_fraction(&self) -> bool {
        let mut chars = self.rest().chars();
        chars.next() == Some('.') && chars.next().is_some_and(|c| c.is_ascii_digit())
    }

    /// Takes a quoted text; a quote in it is doubled.
    fn quoted(&mut self, quote: char, unclosed: &str) -> Result<String> {
        let start = self.at;
        let mut text = String::new();
        loop {
            self.at += 1;
            text += self.take_while(|c| c != quote);
            if self.peek().is_none() {
                return Err(self.source.error(start, unclosed));
            }
            self.at += 1;
            if self.peek() != Some(quote) {
                return Ok(text);
            }
            text.push(quote);
        }
    }

    /// Takes `x'00ff'`.
    fn blob(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        self.at += 1;
        let digits = self.quoted('\'', "this blob has no closing quote")?;
        let rejected = || self.source.error(start, "a blob is an even number of hex digits: x'00ff'");
        let nibbles = digits.chars().map(|c| c.to_digit(16)).collect::<Option<Vec<_>>>().ok_or_else(rejected)?;
        let (pairs, odd) = nibbles.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(rejected());
        }
        Ok(pairs.iter().map(|[high, low]| ((high << 4 | low) & 255) as u8).collect())
    }

    fn number(&mut self) -> Result<TokenKind> {
        let start = self.at;
        self.take_while(is_digit);
        let mut is_real = false;
        if self.peek() == Some('.') {
            is_real = true;
            self.at += 1;
            self.take_while(is_digit);
        }
        if self.starts_exponent() {
            is_real = true;
            self.at += 2;
            self.take_while(is_digit);
        }
        let digits = self.source.text[start..self.at].replace('_', "");
        let factor = self.suffix(start)?;
        let whole = whole_number(&self.source.text[start..self.at], &COUNT_UNITS).map(TokenKind::Int);
        let value = match (is_real, factor) {
            (false, _) => whole,
            (true, 1) => real(&digits, factor),
            // A suffix makes it whole, or may: `1.5m`.
            (true, _) => whole.or_else(|| real(&digits, factor)),
        };
        value.ok_or_else(|| self.source.error(start, "this number is too large"))
    }

    /// Returns whether an exponent begins here: `e6`, `E-3`.
    fn starts_exponent(&self) -> bool {
        let mut chars = self.rest().chars();
        matches!(chars.next(), Some('e' | 'E'))
            && match chars.next() {
                Some('+' | '-') => chars.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_digit(),
                None => false,
            }
    }

    fn suffix(&mut self, start: usize) -> Result<u64> {
        match self.take_while(is_name) {
            "" => Ok(1),
            "k" | "K" => Ok(1_000),
            "m" | "M" => Ok(1_000_000),
            "b" | "B" => Ok(1_000_000_000),
            other => {
                let message = format!("a number cannot end in '{other}'");
                Err(self.source.error(start, message).advise("k, m and b stand for thousand, million and billion"))
            }
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}

fn real(digits: &str, factor: u64) -> Option<TokenKind> {
    let value = digits.parse::<f64>().ok()? * factor as f64;
    value.is_finite().then_some(TokenKind::Real(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use TokenKind::{Blob, End, Int, Mark, Name, Quoted, Real, Text};

    fn kinds(text: &str) -> Vec<TokenKind> {
        let source = SourceText::new(text, "test");
        tokens(&source, 0..text.len()).expect(text).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn every_kind_of_token() {
        for (text, kind) in [
            ("digits", Name("digits".into())),
            ("_a1", Name("_a1".into())),
            ("x1", Name("x1".into())),
            ("1_000", Int(1000)),
            ("10m", Int(10_000_000)),
            ("2B", Int(2_000_000_000)),
            ("1.5m", Int(1_500_000)),
            ("18446744073709551615", Int(u64::MAX)),
            ("0.25", Real(0.25)),
            (".5", Real(0.5)),
            ("1.", Real(1.0)),
            ("1e3", Real(1000.0)),
            ("2E-2", Real(0.02)),
            ("''", Text(String::new())),
            ("'it''s'", Text("it's".into())),
            ("'a -- b'", Text("a -- b".into())),
            ("x'00Ff'", Blob(vec![0, 255])),
            (":", Mark(":")),
            ("||", Mark("||")),
            ("<", Mark("<")),
            ("\"a\"\"b.c\"", Quoted("a\"b.c".into())),
        ] {
            assert_eq!(kinds(text), [kind, End], "{text}");
        }
        assert_eq!(kinds(" -5 -- note ("), [Mark("-"), Int(5), End]);
        assert_eq!(kinds("a.b<=.5"), [Name("a".into()), Mark("."), Name("b".into()), Mark("<="), Real(0.5), End]);
    }

    /// `1.001m` went through a double, came out as 1000999.9999999999 and was refused as a number of rows.
    #[test]
    fn numbers_with_a_suffix_are_exact() {
        for (text, kind) in [
            ("1.001m", Int(1_001_000)),
            ("2.3k", Int(2300)),
            ("1.1b", Int(1_100_000_000)),
            ("9007199254.740993m", Int(9_007_199_254_740_993)),
            ("1500e-3k", Int(1500)),
            ("0.0005k", Real(0.5)),
            ("1e30k", Real(1e30 * 1e3)),
            ("1.0", Real(1.0)),
        ] {
            assert_eq!(kinds(text), [kind, End], "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, character, message) in [
            ("a 'b", 3, "no closing quote"),
            ("a \"b", 3, "this name has no closing quote"),
            ("a | b", 3, "unexpected character '|'"),
            ("ä", 1, "unexpected character 'ä'"),
            ("('ä', 5y)", 7, "cannot end in 'y'"),
            ("99999999999999999999", 1, "too large"),
            ("18446744073709551615k", 1, "too large"),
            ("1e999", 1, "too large"),
            ("x'0'", 1, "hex digits"),
            ("x'zz'", 1, "hex digits"),
            // The second annotation was dropped in silence.
            ("a -- Gen: b", 3, "an annotation already"),
        ] {
            let error = tokens(&SourceText::new(text, "test"), 0..text.len()).expect_err(text);
            assert_eq!(error.place().character, Some(character), "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }
}
