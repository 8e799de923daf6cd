//! Tokens of SQL texts.
//!
//! SQLite has accepted the texts, or will: this is no parser. It cuts a text where SQLite does, but for numbers, whose digits and
//! points are tokens of their own.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword, a name without quotes, or the digits of a number.
    Word,
    /// A text, or a name in quotes.
    Quoted,
    /// A blob literal: `x'00'`.
    Blob,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A comment with its marks.
    Comment,
    /// One of the other characters, such as `=`.
    Other,
}

/// A token and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes.
    pub span: Range<usize>,
}

/// An iterator over the tokens of a text.
#[derive(Debug)]
pub struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    has_comments: bool,
}

impl<'t> Tokens<'t> {
    /// Cuts a text into tokens, without comments.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0, has_comments: false }
    }

    /// Cuts a text into tokens. Comments are tokens, too.
    #[must_use]
    pub fn with_comments(text: &'t str) -> Self {
        Self { has_comments: true, ..Self::new(text) }
    }

    /// Returns the span between the next parenthesis and the one that closes it.
    pub(crate) fn parenthesised(&mut self) -> Option<Range<usize>> {
        let open = self.next().filter(|token| token.kind == TokenKind::Open)?;
        let mut depth = 1_usize;
        loop {
            let token = self.next()?;
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close if depth == 1 => return Some(open.span.end..token.span.start),
                TokenKind::Close => depth -= 1,
                _ => {}
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.iter().take_while(|byte| is_space(char::from(**byte))).count();
            let rest = &self.text[self.at..];
            let (kind, len) = token(rest.first().copied()?, rest);
            let span = self.at..self.at + len;
            self.at = span.end;
            if kind != TokenKind::Comment || self.has_comments {
                return Some(Token { kind, span });
            }
        }
    }
}

/// Returns the kind and the length of the token at the beginning of `rest`.
fn token(first: u8, rest: &[u8]) -> (TokenKind, usize) {
    match first {
        b'(' => (TokenKind::Open, 1),
        b')' => (TokenKind::Close, 1),
        b',' => (TokenKind::Comma, 1),
        b';' => (TokenKind::Semicolon, 1),
        b'-' if rest.starts_with(b"--") => (TokenKind::Comment, find(rest, b"\n").unwrap_or(rest.len())),
        b'/' if rest.starts_with(b"/*") => {
            (TokenKind::Comment, find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4))
        }
        b'[' => (TokenKind::Quoted, quoted_len(rest, b']', false)),
        quote @ (b'"' | b'\'' | b'`') => (TokenKind::Quoted, quoted_len(rest, quote, true)),
        b'x' | b'X' if rest.get(1) == Some(&b'\'') => (TokenKind::Blob, 1 + quoted_len(&rest[1..], b'\'', false)),
        // Bytes above 127 belong to words, so that a token never ends within a character.
        _ if is_word(first) => (TokenKind::Word, rest.iter().take_while(|byte| is_word(**byte)).count()),
        _ => (TokenKind::Other, 1),
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

/// Returns whether SQLite takes a character for a blank.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns the text without its quotes, if it begins with one.
#[must_use]
pub fn unquote(text: &str) -> String {
    let Some(open @ ('"' | '\'' | '`' | '[')) = text.chars().next() else { return text.to_owned() };
    let close = if open == '[' { ']' } else { open };
    let mut unquoted = String::new();
    let mut rest = text[1..].chars().peekable();
    while let Some(character) = rest.next() {
        if character == close && (close == ']' || rest.next_if_eq(&close).is_none()) {
            break;
        }
        unquoted.push(character);
    }
    unquoted
}

/// Returns the words, texts and names in quotes of an expression, without their quotes.
#[must_use]
pub fn names(expression: &str) -> Vec<String> {
    let names = Tokens::new(expression).filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    names.map(|token| unquote(&expression[token.span])).collect()
}

/// Returns the tokens of an expression as they are written, without parentheses, commas and semicolons.
#[must_use]
pub fn words(expression: &str) -> Vec<&str> {
    let is_mark = |kind| matches!(kind, TokenKind::Open | TokenKind::Close | TokenKind::Comma | TokenKind::Semicolon);
    let words = Tokens::new(expression).filter(|token| !is_mark(token.kind));
    words.map(|token| &expression[token.span]).collect()
}

/// Returns the tokens of a statement: words and names in small letters and without their quotes, texts as they are.
#[must_use]
pub fn lowercase_words(sql: &str) -> Vec<String> {
    let word = |token: Token| {
        let text = &sql[token.span];
        if text.starts_with('\'') { text.to_owned() } else { unquote(text).to_ascii_lowercase() }
    };
    Tokens::new(sql).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_comments_hide_their_marks() {
        for (text, expected) in [
            ("a(b,c);", &["a", "(", "b", ",", "c", ")", ";"][..]),
            ("'it''s (' x", &["'it''s ('", "x"]),
            ("\"a\"\"(\" [b,(] `c``,` d", &["\"a\"\"(\"", "[b,(]", "`c``,`", "d"]),
            ("a -- b (\nc", &["a", "-- b (", "c"]),
            ("a /* ( -- */ c /* d", &["a", "/* ( -- */", "c", "/* d"]),
            ("a - b / c", &["a", "-", "b", "/", "c"]),
            ("größe ä'ö'", &["größe", "ä", "'ö'"]),
            ("'open", &["'open"]),
            ("[open", &["[open"]),
            ("x'00' X'' x '' ax''", &["x'00'", "X''", "x", "''", "ax", "''"]),
            ("x'open", &["x'open"]),
            ("/**/a\x0bb", &["/**/", "a", "b"]),
            ("1.5e3", &["1", ".", "5e3"]),
            ("--", &["--"]),
            ("", &[]),
        ] {
            let tokens: Vec<&str> = Tokens::with_comments(text).map(|token| &text[token.span]).collect();
            assert_eq!(tokens, expected, "{text}");
            let without: Vec<Token> =
                Tokens::with_comments(text).filter(|token| token.kind != TokenKind::Comment).collect();
            assert_eq!(Tokens::new(text).collect::<Vec<_>>(), without, "{text}");
        }
    }

    #[test]
    fn names_have_no_quotes() {
        assert_eq!(names("a = \"b\"\"c\" OR [d]] < x'00' + 'e''f'"), ["a", "b\"c", "OR", "d", "e'f"]);
        assert_eq!(words("a IN ('b', x'00')"), ["a", "IN", "'b'", "x'00'"]);
        assert_eq!(unquote("`a``b`"), "a`b");
    }
}
