//! Schemas that differ, and objects that a merge would break.

use crate::{shards, text};
use litepress::{ErrorKind, MergeOptions, Options, merge};
use rusqlite::Connection;
use tempfile::TempDir;

/// `DEFAULT active` was taken for `DEFAULT Active`: a row that was older than its column became Active.
#[test]
fn defaults_that_differ_in_case_are_different() {
    let folder = TempDir::new().unwrap();
    let own = |id, text| format!("INSERT INTO t VALUES ({id}); ALTER TABLE t ADD COLUMN s DEFAULT {text}");
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY)";
    let shards = shards(&folder, schema, &[&own(1, "Active"), &own(2, "active"), &own(3, "\"Active\"")]);
    let out = folder.path().join("out.db");
    let error = merge(&*out, &shards[..2], &MergeOptions::default()).map(drop).unwrap_err();
    assert!(error.to_string().contains("'s DEFAULT active )' here, 's DEFAULT Active )' there"), "{error}");
    merge(&*out, [&shards[0], &shards[2]], &MergeOptions::default()).unwrap();
    assert_eq!(text(&Connection::open(&out).unwrap(), "SELECT group_concat(s) FROM t"), "Active,Active");
}

/// Views stayed without a word that they have no table any more.
#[test]
fn views_on_tables_that_are_left_out_are_named() {
    let folder = TempDir::new().unwrap();
    let schema =
        "CREATE TABLE t (a); CREATE TABLE u (a); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM u";
    let shards = shards(&folder, schema, &["INSERT INTO u VALUES (1)", ""]);
    let out = folder.path().join("out.db");
    let report = merge(&*out, &shards, &MergeOptions::default().skip_table("t")).unwrap();
    let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    let about_views: Vec<&String> = notes.iter().filter(|note| note.starts_with("view ")).collect();
    assert_eq!(about_views, ["view v stays, and cannot be read: no such table: main.t"], "{notes:?}");
}

/// The column for the names of databases made triggers and views fail that counted the columns: every later INSERT failed, and the
/// merge had said nothing.
#[test]
fn a_source_column_that_breaks_a_trigger_or_a_view_is_refused() {
    let tables = "CREATE TABLE t (a, b); CREATE TABLE log (a, b)";
    for (object, problem) in [
        (
            "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a, new.b); END",
            "breaks the trigger g: table log has 3 columns but 2 values were supplied",
        ),
        (
            "CREATE VIEW v AS SELECT * FROM t UNION ALL SELECT 0, 0",
            "breaks the view v: SELECTs to the left and right of UNION ALL do not have the same number of result columns",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let broken = "CREATE VIEW w AS SELECT * FROM never; CREATE TRIGGER f DELETE ON t BEGIN DELETE FROM never; END";
        let shards = shards(&folder, &format!("{tables}; {object}; {broken}"), &["INSERT INTO log VALUES (1, 2)"; 2]);
        let out = folder.path().join("out.db");
        let error = merge(&*out, &shards, &MergeOptions::default().source_column("src")).map(drop).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(problem), "{error}");
        assert!(!out.exists());
        // What fails in the databases already is not told.
        let report = merge(&*out, &shards, &MergeOptions::default()).unwrap();
        assert!(!report.notes.iter().any(|note| note.to_string().contains("stays")), "{:?}", report.notes);
    }
    let folder = TempDir::new().unwrap();
    let named = "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log(a, b) VALUES (new.a, unknown(new.b)); END;
        CREATE VIEW v AS SELECT a FROM t UNION ALL SELECT 0";
    let shards = shards(&folder, &format!("{tables}; {named}"), &["", ""]);
    let out = folder.path().join("out.db");
    merge(&*out, &shards, &MergeOptions::default().source_column("src")).unwrap();
    let report = merge(&*folder.path().join("no.db"), &shards, &MergeOptions::default().skip_table("log")).unwrap();
    let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    assert!(notes.contains(&"trigger g stays, and changes of t fail: no such table: main.log".to_owned()), "{notes:?}");
}

#[test]
fn page_sizes_that_differ_are_told() {
    let folder = TempDir::new().unwrap();
    let [one, two] = ["1.db", "2.db"].map(|name| folder.path().join(name));
    for (path, size) in [(&one, 1024), (&two, 8192)] {
        let sqlite = Connection::open(path).unwrap();
        sqlite.execute_batch(&format!("PRAGMA page_size = {size}; CREATE TABLE t (a)")).unwrap();
    }
    let out = folder.path().join("out.db");
    let report = merge(&*out, [&one, &two], &MergeOptions::default()).unwrap();
    let [one_name, two_name] = [one.display(), two.display()];
    let note = format!(
        "pages have 1024 bytes as in {one_name}; they have 8192 in {two_name}; choose their size with page_size"
    );
    assert_eq!(report.notes[0].to_string(), note);
    let chosen = Options::default().page_size(litepress::PageSize::MAX);
    let out = folder.path().join("chosen.db");
    assert!(merge(&*out, [&one, &two], &MergeOptions::default().build(chosen)).unwrap().notes.is_empty());
}
