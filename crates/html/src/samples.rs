//! Explains the bytes of some pages: all of a small database, those at the top and in the middle of each tree of a large one.

use litepress_check::Report;
use litepress_check::inspect::DatabaseFile;
use litepress_rows::Result;
use serde_json::{Map, Value};

/// Longest texts together, in bytes; they compress to a tenth or less.
const MOST_BYTES: usize = 6 << 20;
/// A database of up to this many pages is explained as a whole, if the texts fit.
const MOST_PAGES: u32 = 400;
/// Longest text of a page, in bytes: a page of 65,536 bytes may hold thousands of cells.
const MOST_BYTES_OF_PAGE: usize = 60_000;

/// Returns the texts by page number, in order of importance while they fit.
pub(crate) fn texts(file: &DatabaseFile, report: &Report) -> Result<Value> {
    let mut texts = Map::new();
    let mut bytes = 0;
    for page in pages(report) {
        if texts.contains_key(&page.to_string()) {
            continue;
        }
        let Some(text) = file.page_text(page)? else { continue };
        let text = shortened(text);
        bytes += text.len();
        if bytes > MOST_BYTES {
            break;
        }
        texts.insert(page.to_string(), Value::String(text));
    }
    Ok(Value::Object(texts))
}

/// Returns page numbers: the first page, the roots, then all pages or, of a large file, some at equal distances.
fn pages(report: &Report) -> impl Iterator<Item = u32> {
    let count = u32::try_from(report.pages).unwrap_or(u32::MAX);
    let step = count.div_ceil(MOST_PAGES).max(1) as usize;
    let roots: Vec<u32> = report.btrees.iter().map(|tree| tree.root).take(MOST_PAGES as usize).collect();
    (1..=count.min(1)).chain(roots).chain((1..=count).step_by(step))
}

fn shortened(mut text: String) -> String {
    if text.len() > MOST_BYTES_OF_PAGE {
        let lines = text.as_bytes()[..MOST_BYTES_OF_PAGE].iter().rposition(|byte| *byte == b'\n');
        text.truncate(lines.map_or(0, |end| end + 1));
        text += "and more: litepress inspect prints the whole page\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_a_whole_line() {
        let long = shortened("0123456789 äöü\n".repeat(10_000));
        let lines: Vec<&str> = long.lines().collect();
        assert!(long.len() < MOST_BYTES_OF_PAGE + 100);
        assert_eq!(lines[lines.len() - 2], "0123456789 äöü");
        assert!(lines[lines.len() - 1].contains("litepress inspect"));
        assert_eq!(shortened("short\n".into()), "short\n");
    }
}
