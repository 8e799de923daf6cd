//! Draws a database, or its values, as one HTML page that needs no network.
//!
//! ```text
//! litepress_check::Report ---> database_page ---> text of the page
//!                                |- objects       tables and indexes, as SQLite reads them, beside their b-trees
//!                                |- advice        rules that look at the objects
//!                                |- packed_map    the map of pages as compressed columns
//!                                |- samples       the bytes of some pages, explained
//!                                `- assets/       the page itself: HTML, CSS, JavaScript
//! litepress_profile::Profile ---> profile_page, Comparison ---> comparison_page
//!                                `- values        the tables and columns, as JSON
//! ```
//!
//! The page has a bound, whatever the size of the file: neighbouring pages share a cell of the map until its columns fit, and pages
//! are explained until their texts are too long.
#![forbid(unsafe_code)]

mod advice;
mod objects;
mod packed_map;
mod samples;
mod values;

pub use values::{comparison_page, profile_page};

use advice::Advice;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use litepress_check::Report;
use litepress_check::inspect::DatabaseFile;
use litepress_rows::Result;
use objects::Objects;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// A page without its data: HTML with marks, and what it adds to the common style and script.
struct Assets {
    page: &'static str,
    style: &'static str,
    script: &'static str,
}

const DATABASE: Assets = Assets {
    page: include_str!("../assets/database.html"),
    style: include_str!("../assets/database.css"),
    script: include_str!("../assets/database.js"),
};
const COMMON_STYLE: &str = include_str!("../assets/page.css");
const COMMON_SCRIPT: &str = include_str!("../assets/page.js");

/// Returns the page of the database at `path`, which `report` was made of. The report should have a map.
///
/// # Errors
/// If the file cannot be read. A schema that SQLite cannot read leaves parts of the page empty.
pub fn database_page(path: &Path, report: &Report) -> Result<String> {
    let objects = Objects::read(path, report);
    let advice = advice::advice(report, &objects);
    let (map, samples) = map_and_samples(path, report)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let data = json!({
        "name": name,
        "bytes": report.bytes,
        "pages": report.pages,
        "page_size": report.page_size,
        "freelist_pages": report.freelist_pages,
        "pointer_map_pages": report.pointer_map_pages,
        "faults": report.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "faults_total": report.faults_total,
        "notes": report.notes,
        "trees": objects.trees_json(report),
        "tables": objects.tables_json(),
        "advice": advice.iter().map(Advice::to_json).collect::<Vec<_>>(),
        "map": map,
        "samples": samples,
    });
    Ok(filled(&DATABASE, &name, &data))
}

/// Returns the packed map and the explained pages. They are made side by side: one after the other they took a third of the time
/// that the check of a file of 1 GB takes on two cores.
fn map_and_samples(path: &Path, report: &Report) -> Result<(Option<Value>, String)> {
    let samples = || {
        let texts = samples::texts(&DatabaseFile::open(path)?, report)?;
        Ok(compressed(texts.to_string().as_bytes()))
    };
    std::thread::scope(|threads| {
        let map = threads.spawn(|| report.map.as_ref().map(packed_map::to_json));
        let samples = samples()?;
        Ok((map.join().expect("packing does not panic"), samples))
    })
}

/// Returns the page with its data. The data cannot end the element that holds it.
fn filled(assets: &Assets, title: &str, data: &Value) -> String {
    let data_text = data.to_string().replace('<', "\\u003c");
    let (title, style, script) =
        (escaped(title), [COMMON_STYLE, assets.style].concat(), [COMMON_SCRIPT, assets.script].concat());
    let parts = [("{{title}}", &title), ("{{style}}", &style), ("{{script}}", &script), ("{{data}}", &data_text)];
    let mut page = String::with_capacity(assets.page.len() + style.len() + script.len() + data_text.len());
    let mut rest = assets.page;
    // The template is read once from left to right: a part may hold the mark of another.
    while let Some(at) = rest.find("{{") {
        let (before, mark) = rest.split_at(at);
        page += before;
        let (name, text) = parts.iter().find(|(name, _)| mark.starts_with(name)).expect("a mark of the template");
        page += text;
        rest = &mark[name.len()..];
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns zlib data in base64, which browsers decode without a library.
fn compressed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    BASE64_STANDARD.encode(written.expect("a vector takes all bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_check::{CheckOptions, check};

    /// Makes a database by `sql` and returns its page.
    fn page_of(sql: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a&b<script>.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let options = CheckOptions { map: true, ..CheckOptions::default() };
        let report = check(&path, &options, &|_, _| Ok(())).unwrap();
        database_page(&path, &report).unwrap()
    }

    fn data_of(page: &str) -> Value {
        let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn names_cannot_leave_their_places() {
        let page = page_of("CREATE TABLE \"</script><b>{{style}}\"(a); CREATE TABLE t(a)");
        assert!(page.contains("<title>a&amp;b&lt;script>.db"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(data_of(&page)["tables"][0]["name"], "</script><b>{{style}}");
        assert!(!page.contains("src=\"") && !page.contains("href=\"http"), "the page needs the network");
    }

    #[test]
    fn an_empty_file_has_a_page() {
        let page = page_of("");
        let data = data_of(&page);
        assert_eq!((data["pages"].as_u64(), data["trees"].as_array().map(Vec::len)), (Some(0), Some(0)));
        assert_eq!(data["map"], Value::Null);
    }

    #[test]
    fn trees_stand_beside_their_tables() {
        let data = data_of(&page_of(
            "CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
             CREATE TABLE c(id INTEGER PRIMARY KEY, p INT REFERENCES p(id), q TEXT);
             CREATE INDEX c_p ON c(p); CREATE INDEX c_pq ON c(p, q);
             INSERT INTO p VALUES (1, 'x'); INSERT INTO c VALUES (1, 1, 'y'), (2, 1, 'z'); ANALYZE",
        ));
        let trees = data["trees"].as_array().unwrap();
        let tree = |name: &str| trees.iter().find(|tree| tree["name"] == name).unwrap();
        assert_eq!((&tree("c_p")["table"], &tree("c_p")["columns"]), (&json!("c"), &json!(["p"])));
        assert_eq!((&tree("c_pq")["rows"], &tree("c_pq")["distinct"]), (&json!(2), &json!(2)));
        assert_eq!(tree("c_p")["distinct"], 1);
        let child = data["tables"].as_array().unwrap().iter().find(|table| table["name"] == "c").unwrap();
        assert_eq!(child["references"], json!([{ "columns": ["p"], "table": "p" }]));
        assert_eq!(data["advice"][0]["object"], "c_p");
        assert_eq!(data["map"]["pages_per_cell"], 1);
    }
}
