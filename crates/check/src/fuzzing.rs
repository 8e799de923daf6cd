//! Entries of the fuzz targets (`fuzz/`): properties that hold for any file given to the check. The test suite runs them, too,
//! over mutations of small databases ([`tests`]).
//!
//! Each entry panics if a property fails. [`mutated`] makes nearly valid databases: it changes single fields of the file format.
//! Where SQLite's `integrity_check` finds a fault, the check must find one, but for the [known differences](is_left_to_sqlite).

mod mutation;
#[cfg(test)]
mod tests;

use super::inspect::DatabaseFile;
use super::{CheckOptions, Report, check, sqlite_integrity_check};
pub use mutation::{Choices, mutate};
use rusqlite::Connection;
use std::path::Path;
use std::sync::LazyLock;

/// Largest number of pages that are explained.
const MOST_PAGES: u64 = 200;

/// The databases that [`mutated`] changes, of every sort of page and tree.
pub static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let numbers = "(WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < 120) SELECT i FROM s)";
    let rows = format!(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT, d REAL);
         INSERT INTO t(b, c, d) SELECT CASE WHEN i % 9 = 0 THEN zeroblob(i * 7) ELSE i * 31 % 50 END, 'text ' || i % 40, i / 4.0
             FROM {numbers};
         CREATE INDEX tc ON t(c DESC, b); CREATE INDEX td ON t(d); CREATE UNIQUE INDEX ta ON t(b, a);
         CREATE TABLE w(k TEXT COLLATE NOCASE PRIMARY KEY, v NOT NULL) WITHOUT ROWID;
         INSERT INTO w SELECT 'Key ' || i, i FROM {numbers}; CREATE INDEX wv ON w(v);
         CREATE TABLE gone(x); INSERT INTO gone SELECT zeroblob(900) FROM {numbers} WHERE i < 9; DROP TABLE gone;
         DELETE FROM t WHERE a % 11 = 3; UPDATE t SET c = 'longer than before ' || a WHERE a % 13 = 1"
    );
    let virtual_tables = format!(
        "CREATE VIRTUAL TABLE f USING fts5(a, b); INSERT INTO f SELECT 'word' || i, 'some text ' || i % 9 FROM {numbers};
         CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); INSERT INTO r SELECT i, i, i + 1 FROM {numbers}"
    );
    let settings = ["", "PRAGMA auto_vacuum = INCREMENTAL;", "PRAGMA encoding = 'UTF-16le';"];
    let all = settings.iter().map(|setting| format!("{setting} {rows}")).chain([virtual_tables]);
    all.map(|sql| database(&sql)).collect()
});

/// Returns the bytes of a database with small pages.
fn database(sql: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().expect("memory for a database");
    connection.execute_batch(&format!("PRAGMA page_size = 512; {sql}")).expect("valid SQL");
    connection.serialize("main").expect("memory for a copy").to_vec()
}

/// Checks any bytes as a database, and explains its pages. The first byte chooses the options.
pub fn any(data: &[u8]) {
    let (choice, bytes) = data.split_first().map_or((0, data), |(choice, bytes)| (*choice, bytes));
    in_file(bytes, |path| {
        report(path, choice);
        explain(path);
    });
}

/// Changes fields of a small database as the bytes say, and compares the verdicts of the check and of SQLite.
pub fn mutated(data: &[u8]) {
    let verdicts = verdicts(data);
    let missed = verdicts.missed();
    assert!(missed.is_empty(), "the check misses what SQLite finds after {:?}: {missed:#?}", verdicts.mutations);
}

/// The verdicts on one database.
pub struct Verdicts {
    /// The database.
    pub bytes: Vec<u8>,
    /// The names of the changed fields.
    pub mutations: Vec<&'static str>,
    /// The verdict of the check.
    pub report: Report,
    /// SQLite's complaints.
    pub sqlite: Vec<String>,
}

impl Verdicts {
    /// Returns SQLite's complaints about a database that the check calls clean.
    pub fn missed(&self) -> Vec<&String> {
        let complaints = self.sqlite.iter().filter(|line| !is_left_to_sqlite(line, &self.report.notes));
        complaints.filter(|_| self.report.is_clean()).collect()
    }
}

/// Changes fields of a small database as the bytes say. Returns both verdicts.
pub fn verdicts(data: &[u8]) -> Verdicts {
    let mut choices = Choices::new(data);
    let mut bytes = SEEDS[choices.below(SEEDS.len())].clone();
    let mutations = (0..[1, 1, 2, 3][choices.below(4)]).map(|_| mutate(&mut bytes, &mut choices)).collect();
    let (report, sqlite) = in_file(&bytes, |path| {
        let sqlite = sqlite_integrity_check(path, 10).unwrap_or_else(|error| vec![error.to_string()]);
        (report(path, 1), sqlite)
    });
    Verdicts { bytes, mutations, report, sqlite }
}

/// Returns whether the check leaves this finding of SQLite to it: its notes say so. SQLite ends where it meets a collation that only
/// an application knows.
pub fn is_left_to_sqlite(line: &str, notes: &[String]) -> bool {
    // Tables that it cannot read, whose columns SQLite knows.
    if notes.iter().any(|note| note.ends_with(": its definition is not valid UTF-8")) {
        return true;
    }
    if let Some((_, collation)) = line.split_once("no such collation sequence: ") {
        let noted = format!("the collation {} is unknown", collation.trim());
        return notes.iter().any(|note| note.contains(&noted));
    }
    ["fts5: checksum mismatch", "malformed inverted index for FTS5"].iter().any(|left| line.starts_with(left))
}

fn report(path: &Path, choice: u8) -> Report {
    let options = CheckOptions {
        threads: 1 + usize::from(choice >> 7),
        memory_bytes: 0,
        max_faults: 7,
        map: choice & 1 != 0,
        sample: (choice & 2 != 0).then_some(16),
    };
    let report = check(path, &options, &|done, total| {
        assert!(done <= total);
        Ok(())
    });
    let report = report.expect("nobody changes the file, and nothing stops the check");
    assert!(report.faults.len() <= 7 && report.faults_total >= report.faults.len() as u64);
    report
}

/// Explains the first pages of a file.
fn explain(path: &Path) {
    let file = DatabaseFile::open(path).expect("the file is there");
    for page in 1..=file.pages().min(MOST_PAGES) {
        drop(file.page_text(u32::try_from(page).expect("few pages")));
    }
}

/// Calls `look` with a file of these bytes.
fn in_file<T>(bytes: &[u8], look: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("fuzz.db");
    std::fs::write(&path, bytes).expect("room for a temporary file");
    look(&path)
}
