//! Translates a place in a TOML string's value to its place in the file.

use litepress_rows::schema::line_and_character;
use std::ops::Range;

/// Returns the line and character of `file` for a line and character of `text`, all counted from 1. The text is the
/// value of the TOML string at `span`, quotes included.
pub(super) fn in_file(file: &str, span: Range<usize>, text: &str, place: (u64, u64)) -> (u64, u64) {
    let offset = span.start + within(&file[span], offset(text, place));
    line_and_character(file, offset)
}

/// Returns the byte offset of this line and character of a text, or its end if there is no such character.
fn offset(text: &str, (line, character): (u64, u64)) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(index(line)).map(str::len).sum();
    let rest = &text[before..];
    before + rest.char_indices().nth(index(character)).map_or(rest.len(), |(at, _)| at)
}

fn index(from_one: u64) -> usize {
    usize::try_from(from_one.saturating_sub(1)).unwrap_or(usize::MAX)
}

/// Returns the position in a TOML string, as written, of byte `offset` of its value.
fn within(written: &str, offset: usize) -> usize {
    let quote = written.get(..1).unwrap_or_default();
    let is_long = written.len() >= 6 && written.starts_with(&quote.repeat(3));
    let mut at = if is_long { 3 } else { 1 };
    if is_long {
        // A line end right after the opening quotes is not part of the value.
        at += ["\r\n", "\n"].iter().find(|end| written[at..].starts_with(**end)).map_or(0, |end| end.len());
    }
    let mut done = 0;
    while at < written.len() {
        let (written_len, value_len) = if quote == "\"" { character(&written[at..]) } else { plain(&written[at..]) };
        if done >= offset && value_len > 0 {
            break;
        }
        at += written_len;
        done += value_len;
    }
    at.min(written.len())
}

/// Returns the length of the first character, as written and in the value.
fn plain(written: &str) -> (usize, usize) {
    let len = written.chars().next().map_or(1, char::len_utf8);
    (len, len)
}

/// Returns the length of the first character of a basic string, as written and in the value.
fn character(written: &str) -> (usize, usize) {
    let Some(escape) = written.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { return plain(written) };
    let digits = match escape {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ if escape.is_whitespace() => {
            // A line end after a backslash is not part of the value, nor is the white space after it.
            return (1 + (written.len() - 1 - written[1..].trim_start().len()), 0);
        }
        _ => return (1 + escape.len_utf8(), 1),
    };
    let code = written.get(2..2 + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
    (2 + digits, code.and_then(char::from_u32).map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_string_is_walked() {
        for (written, value) in [
            ("'a$b'", "a$b"),
            ("\"a$b\"", "a$b"),
            (r#""a\"b\\$""#, "a\"b\\$"),
            (r#""\u00e4\U0001F600ä$""#, "ä😀ä$"),
            (r#""\xe4$""#, "ä$"),
            ("'''a\n$'''", "a\n$"),
            ("'''\na\n$'''", "a\n$"),
            ("'''\r\na\n$'''", "a\n$"),
            ("\"\"\"\na\\\n   $\"\"\"", "a$"),
            ("''", ""),
        ] {
            let file = format!("x = {written} # end");
            let parsed: toml::Table = toml::from_str(&file).expect(written);
            assert_eq!(parsed["x"].as_str(), Some(value), "{written}");
            let at = value.find('$').unwrap_or(value.len());
            let expected = written.find('$').unwrap_or(written.len() - 1);
            assert_eq!(within(written, at), expected, "{written}");
        }
    }

    #[test]
    fn lines_and_characters_are_of_the_file() {
        let file = "a = 1\nschema = '''\none\n  two'''";
        let span = file.find("'''").expect("quotes")..file.len();
        assert_eq!(in_file(file, span.clone(), "one\n  two", (2, 3)), (4, 3));
        assert_eq!(in_file(file, span, "one\n  two", (1, 1)), (3, 1));
    }
}
