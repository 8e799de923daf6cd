//! A minimal SQL tokenizer: comments, strings, names, parentheses, commas and semicolons.

use std::ops::Range;

/// A token and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Comma,
    Semicolon,
    /// A comment, and the span between its marks.
    Comment {
        body: Range<usize>,
    },
    /// Names, numbers, strings and other marks.
    Other,
}

/// Splits `text` into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, len) = token(text, at);
        tokens.push(Token { kind, span: at..at + len });
        at += len;
    }
    tokens
}

/// Returns the token that begins at `start`, and its length.
fn token(text: &str, start: usize) -> (Kind, usize) {
    let rest = &text.as_bytes()[start..];
    match rest[0] {
        b'(' => (Kind::Open, 1),
        b')' => (Kind::Close, 1),
        b',' => (Kind::Comma, 1),
        b';' => (Kind::Semicolon, 1),
        b'-' if rest.starts_with(b"--") => {
            let len = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            (Kind::Comment { body: start + 2..start + len }, len)
        }
        b'/' if rest.starts_with(b"/*") => match text[start + 2..].find("*/") {
            Some(body) => (Kind::Comment { body: start + 2..start + 2 + body }, body + 4),
            None => (Kind::Comment { body: start + 2..text.len() }, rest.len()),
        },
        b'[' => (Kind::Other, rest.iter().position(|&byte| byte == b']').map_or(rest.len(), |end| end + 1)),
        quote @ (b'\'' | b'"' | b'`') => (Kind::Other, quoted_len(rest, quote)),
        _ => (Kind::Other, rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len()).max(1)),
    }
}

/// Returns whether a byte is part of a name, keyword or number. They form one token, so that a token never ends
/// within a character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Returns the length of a quoted text, quotes included; a quote in it is doubled.
fn quoted_len(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match (rest[at] == quote, rest.get(at + 1) == Some(&quote)) {
            (true, true) => at += 2,
            (true, false) => return at + 1,
            (false, _) => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| &text[token.span]).collect()
    }

    #[test]
    fn texts_names_and_comments_hide_their_marks() {
        for (text, expected) in [
            ("a(b,c)", vec!["a", "(", "b", ",", "c", ")"]),
            ("'it''s (' x", vec!["'it''s ('", "x"]),
            ("\"a\"\"(\" [b,(] `c``,` d", vec!["\"a\"\"(\"", "[b,(]", "`c``,`", "d"]),
            ("a -- b (\nc", vec!["a", "-- b (", "c"]),
            ("a /* ( -- */ c /* d", vec!["a", "/* ( -- */", "c", "/* d"]),
            ("a - b / c", vec!["a", "-", "b", "/", "c"]),
            ("größe ä'ö'", vec!["größe", "ä", "'ö'"]),
            ("'open", vec!["'open"]),
            ("[open", vec!["[open"]),
            ("x''", vec!["x", "''"]),
            ("/**/a", vec!["/**/", "a"]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    #[test]
    fn comments_know_their_body() {
        for (text, expected) in [("-- a\n", " a"), ("/* a */", " a "), ("--", ""), ("/* a", " a")] {
            let [Token { kind: Kind::Comment { body }, .. }] = &tokens(text)[..] else { panic!("{text}") };
            assert_eq!(&text[body.clone()], expected);
        }
    }
}
