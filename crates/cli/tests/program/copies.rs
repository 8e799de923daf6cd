//! Copies of databases by `litepress load`.

use crate::{Room, json};
use serde_json::json;
use std::fs;

/// Asserts that queries have the same results in the source and in the copy.
fn assert_same(room: &Room, source: &str, copy: &str, queries: &[&str]) {
    for sql in queries {
        assert_eq!(room.query(copy, sql), room.query(source, sql), "{sql}");
    }
}

/// Everything that a schema can hold.
const EVERYTHING: &str = "
    PRAGMA page_size = 8192; PRAGMA user_version = 42; PRAGMA application_id = 77;
    CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
    CREATE TABLE g (id INTEGER PRIMARY KEY AUTOINCREMENT, a CHECK (a > 0), b AS (a * 2));
    CREATE TABLE empty (id INTEGER PRIMARY KEY AUTOINCREMENT);
    CREATE TABLE log (what TEXT);
    CREATE INDEX i ON t (a) WHERE a > 1;
    CREATE VIEW v AS SELECT a, upper(what) AS what FROM t JOIN log;
    CREATE TRIGGER v_insert INSTEAD OF INSERT ON v BEGIN INSERT INTO t (a) VALUES (new.a); END;
    CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO words (rowid, a) VALUES (new.id, new.a); END;
    CREATE VIRTUAL TABLE words USING fts5 (a, content = t, content_rowid = id);
    CREATE VIRTUAL TABLE mail USING fts4 (subject, body);
    CREATE VIRTUAL TABLE place USING rtree (id, x0, x1, y0, y1);
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
    INSERT INTO t (a) VALUES ('one fish'), ('two fish'), ('red fish');
    INSERT INTO g (a) VALUES (1), (2), (3);
    INSERT INTO log VALUES ('x'), ('y'), ('z');
    INSERT INTO mail VALUES ('Hello', 'a fish in the sea'), ('Bye', 'a bird in the sky');
    INSERT INTO place SELECT value, value, value + 1, value, value + 2 FROM generate_series(1, 500);
    INSERT INTO empty VALUES (70);
    DELETE FROM t WHERE id = 3; DELETE FROM g WHERE id > 1; DELETE FROM empty; DELETE FROM log WHERE what = 'x';
    ANALYZE;";

/// A copy lost views, virtual tables, `user_version`, `application_id`, the page size and the statistics, and it reused the
/// AUTOINCREMENT key of a deleted row.
#[test]
fn a_copy_has_everything() {
    let room = Room::new();
    room.sqlite("source.db").execute_batch(&EVERYTHING.replace("generate_series(1, 500)", "(WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM s WHERE value < 500) SELECT * FROM s)")).unwrap();
    let out = room.done("load copy.db source.db --progress none --verify full --json");
    let summary = json(&out);
    assert_eq!((&summary["left_out"], &summary["renumbered"]), (&json!([]), &json!([])), "{summary}");
    assert_same(
        &room,
        "source.db",
        "copy.db",
        &[
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat4%' ORDER BY 1, 2",
            "SELECT name, seq FROM sqlite_sequence ORDER BY name",
            "PRAGMA user_version",
            "PRAGMA application_id",
            "PRAGMA page_size",
            "SELECT rowid, * FROM log",
            "SELECT * FROM v ORDER BY 1, 2",
            "SELECT rowid FROM words WHERE words MATCH 'fish'",
            "SELECT docid, subject FROM mail WHERE mail MATCH 'fish OR bird'",
            "SELECT count(*), sum(id) FROM place WHERE x0 < 100 AND y1 > 50",
            "SELECT * FROM vocabulary",
            "SELECT tbl, idx FROM sqlite_stat1 ORDER BY 1, 2",
        ],
    );
    let copy = room.sqlite("copy.db");
    copy.execute_batch("INSERT INTO v (a) VALUES ('blue fish'); INSERT INTO place VALUES (501, 0, 1, 0, 1);").unwrap();
    drop(copy);
    assert_eq!(room.query("copy.db", "SELECT max(rowid) FROM words WHERE words MATCH 'blue'"), "4");
    assert_eq!(room.query("copy.db", "PRAGMA integrity_check"), "ok");
    // Several databases: the page size that both have, and what each has.
    room.sqlite("other.db").execute_batch("PRAGMA page_size = 8192; PRAGMA user_version = 42; PRAGMA application_id = 77; CREATE TABLE o (x); CREATE VIEW ov AS SELECT x FROM o;").unwrap();
    room.done("load both.db source.db other.db --progress none --verify full");
    assert_eq!(room.query("both.db", "PRAGMA page_size"), "8192");
    assert_eq!(room.query("both.db", "SELECT count(*) FROM ov"), "0");
}

/// A database in WAL mode: its copy was in rollback mode.
#[test]
fn a_copy_keeps_wal_mode() {
    let room = Room::new();
    let source = room.sqlite("source.db");
    source.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    room.done("load copy.db source.db --progress none");
    drop(source);
    assert_eq!(room.query("copy.db", "PRAGMA journal_mode"), "wal");
    assert_eq!(room.query("copy.db", "SELECT a FROM t"), "1");
}

/// Copies of GeoPackages refused every DELETE ("no such table: main.rtree_..."): triggers were copied without the tables that
/// they use. The run left out other objects, too, and succeeded.
#[test]
fn what_cannot_be_copied_makes_the_run_fail_unless_that_is_allowed() {
    let room = Room::new();
    room.sqlite("source.db")
        .execute_batch(
            "PRAGMA auto_vacuum = 1; PRAGMA writable_schema = ON;
             CREATE TABLE point (fid INTEGER PRIMARY KEY, name TEXT);
             CREATE TABLE contents (n);
             CREATE TRIGGER place_delete AFTER DELETE ON point BEGIN DELETE FROM place WHERE id = old.fid; END;
             CREATE TRIGGER count_up AFTER INSERT ON point BEGIN UPDATE contents SET n = n + 1; END;
             INSERT INTO contents VALUES (1);
             INSERT INTO sqlite_schema VALUES ('table', 'place', 'place', 0, 'CREATE VIRTUAL TABLE place USING unheard_of(id)');",
        )
        .unwrap();
    let left_out = [
        "virtual table place of source.db (SQLite says: no such module: unheard_of)",
        "PRAGMA auto_vacuum = 1 of source.db",
        "trigger place_delete of source.db (it needs place)",
    ];
    let ended = room.run("load copy.db source.db --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(
        left_out.iter().all(|part| ended.err.contains(part)) && ended.err.contains("--allow-incomplete"),
        "{ended:?}"
    );
    assert_eq!(room.files(), ["source.db"]);
    let summary = json(&room.done("load copy.db source.db --allow-incomplete --json --progress none --verify full"));
    assert_eq!(summary["left_out"], json!(left_out));
    let text = room.done("load copy.db source.db --allow-incomplete --overwrite --progress none");
    let refused = room.run("plan copy.db source.db --overwrite");
    assert!(refused.code == Some(1) && left_out.iter().all(|part| refused.err.contains(part)), "{refused:?}");
    let plan = room.done("plan copy.db source.db --overwrite --allow-incomplete");
    assert!(left_out.iter().all(|part| text.contains(part) && plan.contains(part)), "{text} {plan}");
    room.sqlite("copy.db").execute_batch("INSERT INTO point (name) VALUES ('x'); DELETE FROM point").unwrap();
    assert_eq!(room.query("copy.db", "SELECT n FROM contents"), "2");
    // A table that is copied alone lacks the others.
    let ended = room.run("load one.db source.db --table point --progress none");
    assert!(ended.err.contains("trigger count_up of source.db (it needs contents)"), "{ended:?}");
    room.done("load one.db source.db --table point --allow-incomplete --progress none");
    room.sqlite("one.db").execute_batch("INSERT INTO point (name) VALUES ('x'); DELETE FROM point").unwrap();
}

/// Two databases with different header fields: the copy takes neither in silence. Rows of a file that join those of a database
/// would make its full-text index wrong.
#[test]
fn what_two_files_do_not_have_in_common_is_not_chosen_in_silence() {
    let room = Room::new();
    room.sqlite("a.db")
        .execute_batch("PRAGMA user_version = 3; CREATE TABLE a (x); CREATE VIEW v AS SELECT 1")
        .unwrap();
    room.sqlite("b.db")
        .execute_batch("PRAGMA user_version = 4; CREATE TABLE b (x); CREATE VIEW v AS SELECT 2")
        .unwrap();
    let ended = room.run("load ab.db a.db b.db --progress none");
    assert_eq!(ended.code, Some(1));
    let summary = json(&room.done("load ab.db a.db b.db --allow-incomplete --json --progress none"));
    let left_out =
        ["view v of b.db (its name is taken)", "PRAGMA user_version = 3 of a.db", "PRAGMA user_version = 4 of b.db"];
    assert_eq!(summary["left_out"], json!(left_out));
    assert_eq!(room.query("ab.db", "PRAGMA user_version"), "0");
    room.sqlite("f.db").execute_batch("CREATE TABLE t (x); CREATE VIRTUAL TABLE f USING fts5 (x)").unwrap();
    room.write("t.csv", "x\n1\n");
    let ended = room.run("load ft.db f.db t.csv --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("virtual table f of f.db (rows of other files"), "{ended:?}");
}

/// `--unique a` for a database that is copied ended with success and an unchanged table, with equal values of `a` in it. So did the other
/// options that define a table. Options that agree with the table are fine.
#[test]
fn a_copied_table_is_as_the_options_say() {
    let room = Room::new();
    let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 2), (2, 2);
        CREATE TABLE u (c REFERENCES t); CREATE INDEX i ON u (c); CREATE VIRTUAL TABLE t_fts USING fts5 (b, content = t)";
    room.sqlite("source.db").execute_batch(sql).unwrap();
    room.write("x.csv", "b,d\n1,2\n");
    for agreed in
        ["--primary-key a --unique t.a --not-null a", "--index c", "--type b=text --foreign-key c=t.a", "--fts b"]
    {
        room.done(&format!("load copy.db source.db --overwrite {agreed}"));
    }
    for (refused, table) in [
        ("--unique b", "t"),
        ("--index b", "t"),
        ("--primary-key c", "u"),
        ("--not-null b", "t"),
        ("--type b=INTEGER", "t"),
        ("--foreign-key b=u.c", "t"),
        ("--fts a", "t"),
        ("--strict", "t"),
        ("--without-rowid", "u"),
    ] {
        for command in ["load", "plan"] {
            let ended = room.run(&format!("{command} copy.db source.db --overwrite {refused}"));
            let told =
                format!("table {table}: {refused} has no effect: the table is copied with the definition that it has");
            let helps = ended.err.contains("--schema FILE.sql") && ended.err.contains("litepress index");
            assert!(ended.code == Some(2) && ended.err.contains(&told) && helps, "{refused}: {}", ended.err);
        }
    }
    for (idle, told) in [
        ("--unique e", "--unique: no column is named e"),
        ("--index a,c", "--index a,c: no table has all of these columns"),
        ("--fts-tokenizer porter", "no table has a full-text index"),
    ] {
        let ended = room.run(&format!("load copy.db source.db --overwrite {idle}"));
        assert!(ended.code == Some(2) && ended.err.contains(told), "{idle}: {}", ended.err);
    }
    // Beside a file whose table the options define, they mean that table.
    let told = room
        .done("load copy.db source.db x.csv --overwrite --index x.b --unique d --strict --index c --type t.a=INTEGER");
    assert!(told.contains("--strict is for new tables: copied ones keep their definition: t, u"), "{told}");
    assert_eq!(room.query("copy.db", "SELECT name FROM sqlite_schema WHERE name LIKE 'idx%'"), "idx_x_b");
    room.done("load copy.db source.db x.csv --overwrite --fts t.b --fts-tokenizer unicode61");
    let ended = room.run("load copy.db source.db x.csv --overwrite --index b");
    assert!(ended.code == Some(2) && ended.err.contains("write TABLE.COLUMN"), "{ended:?}");
    // Tables that the target keeps are no tables of the run.
    room.done("load copy.db x.csv --replace-tables --index b --strict");
}

/// A table that was replaced lost its key and its constraints, and the summary named its indexes and triggers alone. It named
/// those also if the schema of the new table had them.
#[test]
fn losses_of_replaced_tables_are_named() {
    let room = Room::new();
    let sql = "CREATE TABLE q (a, b, PRIMARY KEY (b, a));
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, n DEFAULT 7 CHECK (n > 0), m AS (n * 2),
            p REFERENCES q, u UNIQUE);
        CREATE UNIQUE INDEX t_name ON t (name); CREATE TRIGGER t_new AFTER INSERT ON t BEGIN SELECT 1; END;
        CREATE TABLE w (a TEXT PRIMARY KEY, b INT) STRICT, WITHOUT ROWID;";
    room.sqlite("app.db").execute_batch(sql).unwrap();
    room.write("t.csv", "id,NAME,n,m\n1,x,3,6\n");
    room.write("w.csv", "a,b\nx,1\n");
    let lost = |options: &str, files: &str| {
        let dropped = |command: &str, target: &str| {
            json(&room.done(&format!("{command} {target} {files} --replace-tables {options} --json --progress none")))["dropped"].clone()
        };
        let planned = dropped("plan", "app.db");
        fs::copy(room.path("app.db"), room.path("copy.db")).unwrap();
        assert_eq!(dropped("load", "copy.db"), planned);
        assert_eq!(dropped("load", "copy.db"), json!([]), "nothing is left to lose");
        planned
    };
    let constraints = [
        "index t_name of t",
        "trigger t_new of t",
        "PRIMARY KEY (id) of t",
        "AUTOINCREMENT of t",
        "UNIQUE (u) of t",
        "FOREIGN KEY (p) to q of t",
        "NOT NULL (name) of t",
        "DEFAULT (n) of t",
        "GENERATED (m) of t",
        "column p of t",
        "column u of t",
        "CHECK (n > 0) of t",
    ];
    assert_eq!(lost("", "t.csv"), json!(constraints));
    assert_eq!(
        lost("", "w.csv"),
        json!(["PRIMARY KEY (a) of w", "WITHOUT ROWID of w", "STRICT of w", "NOT NULL (a) of w"])
    );
    assert_eq!(lost("--primary-key a --strict --without-rowid", "w.csv"), json!([]));
    room.write(
        "t.sql",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, n DEFAULT 7 CHECK (n > 0), m,
        p REFERENCES q, u UNIQUE); CREATE UNIQUE INDEX t_name ON t (name);",
    );
    assert_eq!(lost("--schema t.sql", "t.csv"), json!(["trigger t_new of t", "GENERATED (m) of t"]));
    // What is named alike may be something else.
    let sql = "CREATE TABLE c (a TEXT COLLATE NOCASE DEFAULT 5 CHECK (a <> ''), q REFERENCES q ON DELETE SET NULL,
            CHECK (length(a) < 9), UNIQUE (a, q) ON CONFLICT IGNORE); CREATE INDEX c_a ON c (a); CREATE INDEX c_q ON c (q)";
    room.sqlite("app.db").execute_batch(sql).unwrap();
    room.write(
        "c.sql",
        "CREATE TABLE c (a TEXT DEFAULT 6 CHECK (A<>''), q REFERENCES q, UNIQUE (a, q));
        CREATE INDEX c_a ON c(A); CREATE INDEX c_q ON c (a)",
    );
    room.write("c.csv", "a,q\n1,\n");
    let lost_of_c = lost("--schema c.sql", "c.csv");
    let clauses =
        ["CHECK (length(a) < 9) of c", "COLLATE nocase of c", "ON DELETE set null of c", "ON CONFLICT ignore of c"];
    assert_eq!(lost_of_c, json!([&["index c_q of c", "DEFAULT (a) of c"][..], &clauses].concat()));
    let summary = room.done("load app.db t.csv --replace-tables");
    assert!(summary.contains("dropped: index t_name of t, trigger t_new of t, PRIMARY KEY (id) of t"), "{summary}");
}

/// Rowids that no column holds were numbered anew: rows that other programs knew by them were lost.
#[test]
fn rowids_that_no_column_holds_are_kept() {
    let room = Room::new();
    room.sqlite("source.db")
        .execute_batch(
            "CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (-5, 1), (7, 2), (9000000000000000000, 3);
             CREATE INDEX i ON t (a);
             CREATE TABLE s (a, b AS (a) STORED); INSERT INTO s (rowid, a) VALUES (3, 1), (4, 2);",
        )
        .unwrap();
    let summary = json(&room.done("load copy.db source.db --json --progress none --verify full"));
    assert_eq!(summary["renumbered"], json!([]));
    assert_same(&room, "source.db", "copy.db", &["SELECT rowid, a FROM t", "SELECT rowid, a, b FROM s"]);
    let two = room.done("load two.db source.db source.db --table t --json --progress none");
    assert_eq!(json(&two)["renumbered"], json!(["t of source.db", "t of source.db"]));
    assert_eq!(room.query("two.db", "SELECT rowid FROM t"), "1\n2\n3\n4\n5\n6");
}

/// Rows of every kind, also such as need a closer look than a copy of their record.
const ODD_ROWS: &str = "
    PRAGMA page_size = 1024;
    CREATE TABLE old (id INTEGER PRIMARY KEY, a TEXT);
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3000) INSERT INTO old SELECT n * 3, 'row ' || n FROM n;
    ALTER TABLE old ADD COLUMN b TEXT DEFAULT 1.10;
    ALTER TABLE old ADD COLUMN c DEFAULT 1.0;
    ALTER TABLE old ADD COLUMN d INTEGER NOT NULL DEFAULT '7';
    INSERT INTO old (id, a) VALUES (-8, 'new'), (4000000000, NULL);
    CREATE TABLE k (x TEXT COLLATE NOCASE, y, z, PRIMARY KEY (y DESC, x)) WITHOUT ROWID;
    INSERT INTO k SELECT a, id % 100, zeroblob(id % 4001) FROM old WHERE a IS NOT NULL;
    CREATE INDEX k_z ON k (z);
    CREATE TABLE r (a REAL, b NUMERIC, c);
    INSERT INTO r SELECT id / 4.0, id || '.0', CASE WHEN id % 5 = 0 THEN zeroblob(id * 7 % 20000) ELSE id END FROM old;
    DELETE FROM r WHERE rowid % 7 = 0;
    CREATE TABLE names (rowid TEXT, _rowid_, oid);
    INSERT INTO names VALUES ('one', 1, 2);
    CREATE TABLE none (a);";

/// Copies of the records themselves: all values and rowids stay, whatever the record is like.
#[test]
fn every_record_is_copied_as_it_is() {
    for settings in ["", "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;", "PRAGMA encoding = 'UTF-16le';"] {
        let room = Room::new();
        // The connection stays open, so that the rows are in the log.
        let source = room.sqlite("source.db");
        source.execute_batch(&(settings.to_owned() + ODD_ROWS)).unwrap();
        let summary = json(&room.done("load copy.db source.db --json --progress none --verify full"));
        assert_eq!(summary["renumbered"], json!([]), "{summary}");
        assert_same(
            &room,
            "source.db",
            "copy.db",
            &[
                "SELECT id, quote(a), quote(b), quote(c), quote(d) FROM old",
                "SELECT x, y, length(z) FROM k",
                "SELECT count(*) FROM k WHERE z = zeroblob(600)",
                "SELECT rowid, quote(a), quote(b), quote(c) FROM r",
                "SELECT * FROM names",
                "SELECT count(*) FROM none",
            ],
        );
        drop(source);
        room.done("load few.db source.db --limit 1001 --progress none --verify full");
        let few = "SELECT max(id), count(*) FROM (SELECT id FROM old ORDER BY id LIMIT 1001)";
        assert_same(&room, "source.db", "few.db", &[few]);
        assert_eq!(room.query("few.db", "SELECT count(*) FROM old"), "1001");
    }
}

/// Records with text that is not UTF-8 lie between others that are copied as they are.
#[test]
fn copied_text_that_is_no_utf8_is_treated_as_the_option_says() {
    let room = Room::new();
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b);
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
        INSERT INTO t SELECT n, CASE WHEN n % 4999 = 0 THEN CAST(x'ff41' AS TEXT) ELSE 'text ' || n END, n FROM n;
        CREATE INDEX i ON t (a)";
    room.sqlite("source.db").execute_batch(sql).unwrap();
    let ended = room.run("load copy.db source.db --progress none");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("source.db: t.a: record 4999: the text is not UTF-8"), "{ended:?}");
    let sum = |name: &str| room.query(name, "SELECT count(*), sum(id), sum(b) FROM t");
    room.done("load blob.db source.db --invalid-utf8 blob --progress none --verify full");
    assert_eq!(room.query("blob.db", "SELECT id, hex(a) FROM t WHERE typeof(a) = 'blob' LIMIT 1"), "4999|FF41");
    room.done("load replace.db source.db --invalid-utf8 replace --progress none --verify full");
    assert_eq!(room.query("replace.db", "SELECT id FROM t WHERE a = char(65533) || 'A'"), "4999\n9998\n14997\n19996");
    assert_eq!((sum("blob.db"), sum("replace.db")), (sum("source.db"), sum("source.db")));
    room.done("load less.db source.db --on-error reject --progress none --verify full");
    assert_eq!(room.query("less.db", "SELECT count(*), max(id), sum(id = 4999) FROM t"), "19996|20000|0");
}

/// A row that its table would refuse can only come from a schema that was changed by hand. It is not copied in silence.
#[test]
fn a_copied_null_where_none_is_allowed_is_an_error() {
    let room = Room::new();
    let sql = "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (NULL, 2); PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a NOT NULL, b)'";
    room.sqlite("source.db").execute_batch(sql).unwrap();
    let ended = room.run("load copy.db source.db --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("record 2: NULL in a NOT NULL column"), "{ended:?}");
}

/// Copies of a database in WAL mode were in rollback mode if the folder cannot be written: the file is read without locks then.
#[test]
fn a_copy_keeps_wal_mode_from_a_folder_that_cannot_be_written() {
    let room = Room::new();
    let sql = "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)";
    room.sqlite("w.db").execute_batch(sql).unwrap();
    // SQLite cannot create its file, as in such a folder, but for root.
    std::os::unix::fs::symlink("w.db-wal", room.path("w.db-wal")).unwrap();
    for command in ["load copy.db w.db", "merge merged.db w.db", "compact w.db compact.db"] {
        room.done(&format!("{command} --progress none"));
        let made = command.split_whitespace().find(|name| name.ends_with(".db") && *name != "w.db").unwrap();
        assert_eq!(room.query(made, "PRAGMA journal_mode"), "wal", "{command}");
        assert_eq!(room.query(made, "SELECT a FROM t"), "1", "{command}");
    }
}
