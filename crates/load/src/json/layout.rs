//! Decides the layout of JSON records by the beginning of a file.

use super::frame::{Layout, is_gap, is_space};
use crate::options::JsonLayout;

/// Returns the layout of a file that begins with `text`, which is not blank.
pub(super) fn layout_of(text: &[u8], given: Option<JsonLayout>) -> Layout {
    let start = text.iter().take_while(|&&byte| is_space(byte)).count();
    match (text.get(start), given) {
        (Some(b'['), _) => Layout::Array,
        (_, Some(JsonLayout::Lines)) => Layout::Lines,
        (_, Some(JsonLayout::Stream)) => Layout::Stream,
        (Some(&byte), None) if is_gap(byte) => Layout::Stream,
        (Some(b'{'), None) if !stands_on_one_line(&text[start..]) => Layout::Stream,
        _ => Layout::Lines,
    }
}

/// Returns whether the first object ends on its first line, with no other object behind it there. An object that is cut off by
/// the line end counts as one of a line, unless the next line continues it.
fn stands_on_one_line(text: &[u8]) -> bool {
    let (mut open, mut is_in_string, mut last) = (Vec::new(), false, b' ');
    let mut bytes = text.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' if is_in_string => return true,
            b'\n' => return !continues(open.last().copied(), last, &text[at..]),
            b'\\' if is_in_string => {
                bytes.next();
            }
            b'"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                open.pop();
                if open.is_empty() {
                    let behind = text[at + 1..].iter().find(|&&byte| byte == b'\n' || !is_space(byte));
                    return behind.is_none_or(|&byte| byte != b'{' && (byte == b'\n' || !is_gap(byte)));
                }
            }
            _ => {}
        }
        if !is_space(byte) {
            last = byte;
        }
    }
    true
}

/// Returns whether `next` continues JSON text that ends with `last` within the bracket `open`.
fn continues(open: Option<u8>, last: u8, next: &[u8]) -> bool {
    let Some(next) = next.iter().find(|&&byte| !is_space(byte)) else { return false };
    match (open, last) {
        (Some(b'{'), b'{' | b',') => matches!(next, b'"' | b'}'),
        (_, b':' | b'[' | b',') => true,
        (Some(b'{'), _) if *next == b':' => true,
        (Some(b'{'), _) => matches!(next, b',' | b'}'),
        _ => matches!(next, b',' | b']'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_decides_the_layout() {
        use Layout::{Array, Lines, Stream};
        for (text, layout) in [
            ("{\"a\":1}", Lines),
            ("{\"a\":1}\n{\"a\":2}\n", Lines),
            (" {\"a\":\"}{\"} \r\n{}", Lines),
            ("{\"a\":\"\\\"\"}\n", Lines),
            ("{}\n", Lines),
            // Broken lines stay lines: the error is about the line.
            ("{\"a\":1\n{\"a\":2}\n", Lines),
            ("{\"a\":1,\n{\"a\":2}\n", Lines),
            ("{\"a\":\"x\n{\"a\":2}\n", Lines),
            ("{\"a\":1},\n{\"a\":2},\n", Lines),
            ("{\"a\":1", Lines),
            ("{\n\"a\": 1\n}\n", Stream),
            ("{\r\n}\n", Stream),
            ("{\"a\": [1,\n2]}", Stream),
            ("{\"a\":\n{\"b\":1}}", Stream),
            ("{\"a\"\n:1}", Stream),
            ("{\"a\":1\n,\"b\":2}", Stream),
            ("{\"a\":1}{\"a\":2}", Stream),
            ("{\"a\":1} {\"a\":2}\n", Stream),
            ("\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n", Stream),
            ("{\"a\":1}\u{1e}", Stream),
            ("\n [1]", Array),
        ] {
            assert_eq!(layout_of(text.as_bytes(), None), layout, "{text:?}");
        }
        let given = |text: &str, layout| layout_of(text.as_bytes(), Some(layout));
        assert_eq!(given("{\n}", JsonLayout::Lines), Lines);
        assert_eq!(given("{}\n", JsonLayout::Stream), Stream);
        assert_eq!(given("[{}]", JsonLayout::Lines), Array);
    }
}
