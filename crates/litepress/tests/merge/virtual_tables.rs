//! Full-text tables and R-Trees.

use crate::random::Random;
use crate::{renumber, shards, text, texts};
use litepress::{Conflict, ErrorKind, MergeOptions, Options, RowidPolicy, merge};
use rusqlite::Connection;
use std::fmt::Write;
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn virtual_tables_are_merged_by_their_modules() {
    let schema = "CREATE TABLE doc (id INTEGER PRIMARY KEY, body TEXT);
        CREATE VIRTUAL TABLE outer_index USING fts5(body, content='doc', content_rowid='id');
        CREATE TRIGGER doc_added AFTER INSERT ON doc BEGIN
            INSERT INTO outer_index(rowid, body) VALUES (new.id, new.body); END;
        CREATE VIRTUAL TABLE note USING fts5(title, body, tokenize='porter', prefix='2');
        CREATE VIRTUAL TABLE old_note USING fts4(body);
        CREATE VIRTUAL TABLE place USING rtree(id, x0, x1, y0, y1, +name)";
    let own = |first: u32| {
        format!(
            "INSERT INTO note(note, rank) VALUES ('rank', 'bm25(10.0, 5.0)');
             INSERT INTO doc VALUES ({first}, 'apple pie {first}'), ({}, 'banana');
             INSERT INTO note(rowid, title, body) VALUES ({first}, 'Running', 'shoes {first}');
             INSERT INTO old_note(docid, body) VALUES ({first}, 'old words');
             INSERT INTO place VALUES ({first}, 1.5, 2.25, {first}, {first}, 'here')",
            first + 1
        )
    };
    let folder = TempDir::new().unwrap();
    let shards = shards(&folder, schema, &[&own(1), &own(10), &own(20)]);
    let out = folder.path().join("out.db");
    let report = merge(&*out, &shards, &MergeOptions::default()).unwrap();
    assert!(
        report.notes.iter().any(|note| note.to_string().contains("outer_index is built anew")),
        "{:?}",
        report.notes
    );
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
    merged.execute_batch("INSERT INTO note(note) VALUES ('integrity-check'); INSERT INTO outer_index(outer_index, rank) VALUES ('integrity-check', 1)").unwrap();
    for (sql, expected) in [
        ("SELECT group_concat(rowid) FROM note WHERE note MATCH 'run'", "1,10,20"),
        ("SELECT group_concat(rowid) FROM outer_index WHERE outer_index MATCH 'apple'", "1,10,20"),
        ("SELECT group_concat(docid) FROM old_note WHERE old_note MATCH 'words'", "1,10,20"),
        ("SELECT group_concat(id || name || x1) FROM place WHERE y0 > 5", "10here2.25,20here2.25"),
        ("SELECT v FROM note_config WHERE k = 'rank'", "bm25(10.0, 5.0)"),
        ("SELECT count(*) || '' FROM doc", "6"),
    ] {
        assert_eq!(text(&merged, sql), expected, "{sql}");
    }
    // What cannot be right is refused.
    let error = merge(&*out, [&shards[0], &shards[0].with_file_name("0.db")], &MergeOptions::default()).unwrap_err();
    assert!(error.message().contains("named twice"), "{error}");
    let contentless = TempDir::new().unwrap();
    let shards = self::shards(&contentless, "CREATE VIRTUAL TABLE f USING fts5(a, content='')", &["", ""]);
    let error = merge(&*out, &shards, &MergeOptions::default()).unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("content=''"), "{error}");
    let out = contentless.path().join("out.db");
    merge(&*out, &shards, &MergeOptions::default().skip_table("f")).unwrap();
}

/// All rows had the language 0 afterwards, so that no query of their language found them: the column is hidden.
#[test]
fn languages_of_fts4_are_kept() {
    for option in ["", ", languageid='lid'", ", LANGUAGEID=\"a lid\", prefix='2'"] {
        let folder = TempDir::new().unwrap();
        let schema = format!("CREATE VIRTUAL TABLE f USING fts4(body, note{option})");
        let column = if option.contains("a lid") { "\"a lid\"" } else { "lid" };
        let own = |language: u32| match option {
            "" => format!("INSERT INTO f(docid, body, note) VALUES ({language}, 'hello', 1)"),
            _ => format!("INSERT INTO f(docid, body, note, {column}) VALUES ({language}, 'hello', x'01', {language})"),
        };
        let shards = shards(&folder, &schema, &[&own(1), &own(2), &own(1_000_000)]);
        let out = folder.path().join("out.db");
        merge(&*out, &shards, &MergeOptions::default()).unwrap();
        let merged = Connection::open(&out).unwrap();
        merged.execute_batch("INSERT INTO f(f) VALUES ('integrity-check')").unwrap();
        if option.is_empty() {
            assert_eq!(text(&merged, "SELECT group_concat(docid) FROM f WHERE f MATCH 'hello'"), "1,2,1000000");
            continue;
        }
        let languages = format!("SELECT group_concat(docid || ' ' || {column} || typeof(note)) FROM f");
        assert_eq!(text(&merged, &languages), "1 1blob,2 2blob,1000000 1000000blob");
        let found = format!("SELECT docid || '' FROM f WHERE f MATCH 'hello' AND {column} = 2");
        assert_eq!(texts(&merged, &found), ["2"]);
    }
}

/// Where SQLite indexes the texts once more, they had lost their locales.
#[test]
fn locales_of_fts5_are_kept() {
    for (settings, options) in [("", ""), ("", ", columnsize=0"), ("PRAGMA encoding = 'UTF-16le';", "")] {
        let folder = TempDir::new().unwrap();
        let schema =
            format!("{settings} CREATE VIRTUAL TABLE f USING fts5(a, \"b c\" UNINDEXED, d, locale=1{options})");
        let own = |id: u32| {
            format!(
                "INSERT INTO f(rowid, a, \"b c\", d) VALUES ({id}, fts5_locale('de_DE', 'haus'), 5, 'plain'),
                 ({id} + 1, 7, x'00', fts5_locale('tr_TR', 'ev'))"
            )
        };
        let shards = shards(&folder, &schema, &[&own(1), &own(3)]);
        let out = folder.path().join("out.db");
        merge(&*out, &shards, &MergeOptions::default()).unwrap();
        let merged = Connection::open(&out).unwrap();
        merged.execute_batch("INSERT INTO f(f, rank) VALUES ('integrity-check', 1)").unwrap();
        let content = "SELECT concat_ws('|', rowid, quote(a), fts5_get_locale(f, 0), quote(\"b c\"), quote(d), fts5_get_locale(f, 2)) FROM f";
        let expected: Vec<String> =
            shards.iter().flat_map(|shard| texts(&Connection::open(shard).unwrap(), content)).collect();
        assert_eq!(texts(&merged, content), expected, "{settings} {options}");
        assert_eq!(expected[0], "1|'haus'|de_DE|5|'plain'");
        assert_eq!(texts(&merged, "SELECT rowid || '' FROM f WHERE f MATCH fts5_locale('de_DE', 'haus')"), ["1", "3"]);
    }
}

/// SQLite inserted the boxes one by one, and left half of each node empty.
#[test]
fn boxes_of_r_trees_are_packed() {
    for (schema, values) in [
        (
            "CREATE VIRTUAL TABLE p USING rtree(id, x0, x1, y0, y1, +name, +more)",
            "n % 97, n % 97 + 1.1, -n, n / 3.0, 'n' || n, NULL",
        ),
        ("CREATE VIRTUAL TABLE p USING rtree_i32(\"the id\", \"a, b\", b)", "n % 97, n % 97 + n % 5"),
    ] {
        let folder = TempDir::new().unwrap();
        let own = |shard: u32| {
            let id = ["n * 3 - 20000", "n * 3 - 19999", "n * 3 - 19998"][shard as usize];
            format!(
                "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000)
                 INSERT INTO p SELECT {id}, {values} FROM c; DELETE FROM p WHERE {} % 7 = 3",
                if schema.contains("the id") { "\"the id\"" } else { "id" }
            )
        };
        let shards = shards(&folder, schema, &[&own(0), &own(1), "", &own(2)]);
        let out = folder.path().join("out.db");
        let report = merge(&*out, &shards, &MergeOptions::default()).unwrap();
        let merged = Connection::open(&out).unwrap();
        let content = "SELECT concat_ws('|', p.*) FROM p ORDER BY 1".replace("p.*", &{
            let names = texts(&merged, "SELECT '\"' || name || '\"' FROM pragma_table_info('p')");
            names.join(", ")
        });
        let mut expected: Vec<String> =
            shards.iter().flat_map(|shard| texts(&Connection::open(shard).unwrap(), &content)).collect();
        expected.sort();
        assert_eq!(texts(&merged, &content), expected, "{schema}");
        assert_eq!(report.build.summary.rows, expected.len() as u64, "{schema}");
        assert_eq!(text(&merged, "SELECT rtreecheck('p')"), "ok");
        assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
        let copy = folder.path().join("copy.db");
        std::fs::copy(&shards[0], &copy).unwrap();
        let twice = merge(&*folder.path().join("no.db"), [&shards[0], &copy], &MergeOptions::default());
        let error = twice.unwrap_err().to_string();
        assert!(error.contains("two databases have a row of the virtual table"), "{error}");
        let ignoring = MergeOptions::default().build(Options::default().on_conflict(Conflict::Ignore));
        let once = merge(&*folder.path().join("once.db"), [&shards[0], &copy], &ignoring).unwrap();
        assert_eq!(once.build.summary.rows, once.ignored);
    }
}

/// While SQLite merges segments step by step, those that it has used up have pages 0 to 0. Such an index was called damaged.
#[test]
fn segments_that_a_merge_has_used_up_are_left_out() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("0.db");
    let sqlite = Connection::open(&path).unwrap();
    sqlite.execute_batch("CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f(f, rank) VALUES ('pgsz', 64)").unwrap();
    for (rowid, text) in [
        (1, "w18 w14 w10 w17 w27"),
        (2, "w29 w16 w6 w1 w18 w27 w5 w7 w12 w8 w10 w9 w9 w7 w0 w9 w6 w9 w22 w17"),
        (3, "w14 w20 w23 w12 w21 w11 w10 w29 w5 w1 w12 w15 w22 w27 w24 w28 w9 w12 w17 w21"),
        (4, "w23 w24 w22 w27 w17 w1 w2 w5 w24 w9 w7 w4 w9 w24 w4 w9 w29 w5 w24 w19"),
    ] {
        sqlite.execute("INSERT INTO f(rowid, a) VALUES (?1, ?2)", (rowid, text)).unwrap();
    }
    for _ in 0..2 {
        sqlite.execute("INSERT INTO f(f, rank) VALUES ('merge', 1)", []).unwrap();
    }
    let target = folder.path().join("all.db");
    merge(&*target, [&path], &MergeOptions::default()).unwrap();
    let merged = Connection::open(&target).unwrap();
    merged.execute_batch("INSERT INTO f(f) VALUES ('integrity-check')").unwrap();
    for (word, rows) in [("w18", "1 2"), ("w27", "1 2 3 4"), ("w19", "4")] {
        let found = format!("SELECT group_concat(rowid, ' ') FROM (SELECT rowid FROM f('{word}') ORDER BY rowid)");
        assert_eq!(text(&merged, &found), rows);
    }
}

/// SQLite tokenized all texts once more, on one core. Segments are joined now, also of indexes with deleted and changed rows.
#[test]
#[expect(clippy::too_many_lines, reason = "one step after another")]
fn segments_of_full_text_tables_are_joined() {
    let words = ["apple", "pear", "plum", "quince", "fig", "melon", "grape", "lime", "date", "kiwi"];
    for (options, columns) in [
        ("", 2),
        (", prefix='1 3', tokenize='porter'", 2),
        (", detail=none", 2),
        (", detail=column, prefix='2'", 1),
        (", columnsize=0", 2),
    ] {
        let (folder, mut random) = (TempDir::new().unwrap(), Random(columns + options.len() as u64));
        let names = ["a", "b"][..columns as usize].join(", ");
        let schema = format!("CREATE VIRTUAL TABLE f USING fts5({names}{options})");
        let mut rows = Vec::new();
        let shards: Vec<PathBuf> = (0..4_u64)
            .map(|shard| {
                let path = folder.path().join(format!("{shard}.db"));
                let sqlite = Connection::open(&path).unwrap();
                sqlite.execute_batch(&schema).unwrap();
                // Small segments, which are merged now and then.
                sqlite.execute_batch("INSERT INTO f(f, rank) VALUES ('pgsz', 200), ('automerge', 3)").unwrap();
                for step in 0..40 {
                    let mut sql = "BEGIN;".to_owned();
                    for _ in 0..random.below(30) {
                        let id = shard * 1000 + random.below(300);
                        let mut text = || {
                            let count = random.below(8);
                            (0..count).map(|_| words[random.below(10) as usize]).collect::<Vec<_>>().join(" ")
                        };
                        let texts = (0..columns).map(|_| format!("'{}'", text())).collect::<Vec<_>>().join(", ");
                        match random.below(5) {
                            0 => write!(sql, "DELETE FROM f WHERE rowid = {id};"),
                            1 => write!(sql, "UPDATE f SET a = 'changed fig {step}' WHERE rowid = {id};"),
                            _ => write!(sql, "INSERT OR REPLACE INTO f(rowid, {names}) VALUES ({id}, {texts});"),
                        }
                        .unwrap();
                    }
                    sqlite.execute_batch(&(sql + "COMMIT")).unwrap();
                }
                if shard == 1 {
                    sqlite.execute_batch("INSERT INTO f(f) VALUES ('optimize')").unwrap();
                }
                if shard == 2 {
                    sqlite.execute_batch("INSERT INTO f(f, rank) VALUES ('merge', 3)").unwrap();
                }
                rows.extend(texts(&sqlite, &format!("SELECT concat_ws('|', rowid, {names}) FROM f ORDER BY rowid")));
                path
            })
            .collect();
        let target = folder.path().join("all.db");
        let report = merge(&*target, &shards, &MergeOptions::default()).unwrap();
        let merged = Connection::open(&target).unwrap();
        let summary = report.build.summary.tables.iter().find(|table| table.name == "f").unwrap();
        assert_eq!(summary.rows, rows.len() as u64, "{options}");
        // SQLite indexes the texts if there is no `%_docsize`: then no time is that of the table.
        assert_eq!(summary.build.is_zero(), options.contains("columnsize"), "{options}");
        assert_eq!(texts(&merged, &format!("SELECT concat_ws('|', rowid, {names}) FROM f ORDER BY rowid")), rows);
        merged
            .execute_batch("INSERT INTO f(f, rank) VALUES ('integrity-check', 1)")
            .unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
        // The index of the same rows, made by SQLite.
        let again = Connection::open_in_memory().unwrap();
        again.execute_batch(&schema).unwrap();
        again.execute("ATTACH ?1 AS old", [target.to_str().unwrap()]).unwrap();
        again
            .execute_batch(&format!("INSERT INTO main.f(rowid, {names}) SELECT rowid, {names} FROM old.f; DETACH old"))
            .unwrap();
        for term in words.into_iter().chain(["chang*", "p*", "nothing", "fig AND lime", "changed NOT plum"]) {
            if term == "chang*" && options.contains("porter") {
                continue;
            }
            let sql = format!("SELECT rowid || ' ' || round(bm25(f), 6) FROM f WHERE f MATCH '{term}' ORDER BY rowid");
            assert_eq!(texts(&merged, &sql), texts(&again, &sql), "{options}: {term}");
        }
        merged
            .execute_batch("UPDATE f SET a = 'later' WHERE rowid % 3 = 0; DELETE FROM f WHERE rowid % 7 = 0")
            .unwrap();
        merged.execute_batch("INSERT INTO f(f, rank) VALUES ('integrity-check', 1)").unwrap();
        let twice = merge(
            &*folder.path().join("no.db"),
            [&shards[0], &{
                let copy = folder.path().join("copy.db");
                std::fs::copy(&shards[0], &copy).unwrap();
                copy
            }],
            &MergeOptions::default(),
        );
        let error = twice.unwrap_err().to_string();
        assert!(error.contains("table f") && error.contains("skip_table"), "{error}");
    }
}

/// Rows of a full-text table may have the rowids of a table: nothing says whether they should follow.
#[test]
fn virtual_tables_with_rowids_of_their_own_are_not_guessed_at() {
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIRTUAL TABLE f USING fts5(a)";
    let folder = TempDir::new().unwrap();
    let own = |rowid| format!("INSERT INTO t VALUES (1); INSERT INTO f(rowid, a) VALUES ({rowid}, 'x')");
    let shards = shards(&folder, schema, &[&own(1), &own(2)]);
    let out = folder.path().join("out.db");
    let error = merge(&*out, &shards, &renumber()).unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("which are renumbered"), "{error}");
    merge(&*out, &shards, &renumber().table_rowids("f", RowidPolicy::Keep)).unwrap();
    let merged = Connection::open(&out).unwrap();
    assert_eq!(
        text(&merged, "SELECT (SELECT group_concat(id) FROM t) || ' ' || (SELECT group_concat(rowid) FROM f)"),
        "1,2 1,2"
    );
}
