//! Rows for databases that exist.

use crate::{Room, json};
use serde_json::json;

const APP: &str = "
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT DEFAULT 7, CHECK (age < 200));
    INSERT INTO users VALUES (1, 'Ada', 36), (2, 'Blaise', 39);
    CREATE TABLE log (line TEXT); CREATE UNIQUE INDEX users_name ON users (name COLLATE NOCASE);
    CREATE TRIGGER logged AFTER INSERT ON users BEGIN INSERT INTO log VALUES ('added ' || new.name); END;
    CREATE VIRTUAL TABLE notes USING fts5 (text); INSERT INTO notes VALUES ('old words');
    CREATE TABLE event (at INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT, size REAL, twice AS (size * 2) STORED);
    CREATE VIEW v AS SELECT name FROM users; PRAGMA user_version = 7;";

/// Returns a room with the database in both journal modes.
fn rooms() -> impl Iterator<Item = (Room, &'static str)> {
    ["wal", "delete"].into_iter().map(|mode| {
        let room = Room::new();
        room.sqlite("app.db").execute_batch(&format!("PRAGMA journal_mode = {mode}; {APP}")).expect(mode);
        (room, mode)
    })
}

/// Nothing could be added to a database: today's rows needed the whole file to be made again.
#[test]
fn rows_are_added_as_sqlite_adds_them() {
    for (room, mode) in rooms() {
        room.write("users.csv", "name\nGrace\nAlan\n");
        room.write("event.ndjson", "{\"what\": \"start\", \"size\": 2}\n{\"what\": \"stop\", \"size\": \"0.5\"}\n");
        room.write("notes.csv", "text\nnew words\n");
        room.write("fresh.csv", "a,b\n1,x\n");
        let load = "load app.db users.csv event.ndjson notes.csv fresh.csv --append --json";
        let summary = json(&room.done(load));
        let tables = summary["append"]["tables"].as_array().unwrap();
        let told: Vec<_> = tables.iter().map(|table| (&table["name"], &table["added"], &table["is_new"])).collect();
        assert_eq!(told.len(), 4, "{summary}");
        assert!(told.contains(&(&json!("users"), &json!(2), &json!(false))), "{summary}");
        assert!(told.contains(&(&json!("fresh"), &json!(1), &json!(true))), "{summary}");
        assert_eq!(summary["append"]["journal_mode"], mode);
        for (sql, rows) in [
            ("SELECT * FROM users", "1|Ada|36\n2|Blaise|39\n3|Grace|7\n4|Alan|7"),
            ("SELECT * FROM log", "added Grace\nadded Alan"),
            ("SELECT * FROM event", "1|start|2|4\n2|stop|0.5|1"),
            ("SELECT rowid, text FROM notes WHERE notes MATCH 'words'", "1|old words\n2|new words"),
            ("SELECT a + 1, b FROM fresh", "2|x"),
            ("SELECT seq FROM sqlite_sequence", "2"),
            ("PRAGMA user_version", "7"),
            ("PRAGMA journal_mode", mode),
            ("PRAGMA integrity_check", "ok"),
        ] {
            assert_eq!(room.query("app.db", sql), rows, "{mode}: {sql}");
        }
    }
}

#[test]
fn the_summary_and_the_plan_tell_the_route() {
    let (room, _) = rooms().next().unwrap();
    room.write("users.csv", "id,name\n1,Eve\n5,Ida\n");
    let plan = room.done("plan app.db users.csv --append");
    assert!(plan.contains("users  sql    it has triggers"), "{plan}");
    assert!(!plan.contains("needs --overwrite") && !plan.contains("lanes"), "{plan}");
    let text = room.done("load app.db users.csv --append --on-conflict update --progress none");
    assert!(text.contains("app.db: 2 rows in 1 table") && text.contains("  users 1 added, 1 updated\n"), "{text}");
    assert!(text.contains("writers waited"), "{text}");
    let text = room.done("load app.db users.csv --append --on-conflict ignore --progress none -v");
    assert!(text.contains("users 0 added, 2 ignored") && text.contains("it has triggers"), "{text}");
    assert_eq!(room.query("app.db", "SELECT * FROM users"), "1|Eve|36\n2|Blaise|39\n5|Ida|7");
}

/// An upsert must not touch columns that the file lacks.
#[test]
fn rows_are_updated_by_a_key() {
    for (room, _) in rooms() {
        room.write("users.csv", "id,name\n1,Eve\n3,Ida\n1,Eva\n");
        room.done("load app.db users.csv --append --on-conflict update");
        assert_eq!(room.query("app.db", "SELECT * FROM users"), "1|Eva|36\n2|Blaise|39\n3|Ida|7");
        room.write("users.ndjson", "{\"name\": \"IDA\", \"age\": 8}\n{\"name\": \"Tim\", \"age\": 9}\n");
        let load = "load app.db users.ndjson --append --on-conflict update";
        let ended = room.run(load);
        assert!(ended.code == Some(2) && ended.err.contains("lack the column id of the key"), "{ended:?}");
        assert!(ended.err.contains("--key"), "{ended:?}");
        room.done(&format!("{load} --key name"));
        assert_eq!(room.query("app.db", "SELECT * FROM users"), "1|Eva|36\n2|Blaise|39\n3|Ida|8\n4|Tim|9");
        room.write("users.csv", "id,name,age\n4,Tom,10\n");
        room.done("load app.db users.csv --append --on-conflict update --update-columns age");
        assert_eq!(room.query("app.db", "SELECT * FROM users WHERE id = 4"), "4|Tim|10");
        let ended = room.run(&format!("{load} --key age"));
        assert!(
            ended.err.contains("the columns age are no unique key of the table\nhelp: its keys are id and name"),
            "{ended:?}"
        );
        assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
    }
}

/// A record of JSON that lacked a key of other records made the value of the row that it updated NULL, without a word.
#[test]
fn a_record_that_updates_a_row_has_all_keys() {
    for (room, _) in rooms() {
        let before = room.query("app.db", "SELECT * FROM users");
        room.write("users.ndjson", "{\"id\":1,\"name\":\"Eve\",\"age\":30}\n\n{\"name\":\"Bea\",\"id\":2}\n");
        let load = "load app.db users.ndjson --append --on-conflict update";
        let ended = room.run(load);
        let error = "users.ndjson:3:1: users.age: record 2: the record lacks the key \"age\", which others have: \
                     an update would make the value NULL (value '{\"name\":\"Bea\",\"id\":2}')";
        assert!(ended.code == Some(1) && ended.err.contains(error), "{ended:?}");
        assert!(ended.err.contains("(--absent-as-null)"), "{ended:?}");
        assert_eq!(room.query("app.db", "SELECT * FROM users"), before);
        // What no update changes need not be there.
        room.done(&format!("{load} --update-columns name"));
        assert_eq!(room.query("app.db", "SELECT * FROM users ORDER BY id LIMIT 2"), "1|Eve|36\n2|Bea|39");
        room.done(&format!("{load} --on-error reject"));
        assert_eq!(room.query("app.db", "SELECT * FROM users ORDER BY id LIMIT 2"), "1|Eve|30\n2|Bea|39");
        room.done(&format!("{load} --absent-as-null"));
        assert_eq!(room.query("app.db", "SELECT * FROM users ORDER BY id LIMIT 2"), "1|Eve|30\n2|Bea|NULL");
        room.done("load app.db users.ndjson --append --on-conflict ignore");
    }
}

/// `--limit 1` refused a record that lacked a key which only a record beyond the limit has. Without an update, the
/// column of that key got NULL instead of its DEFAULT.
#[test]
fn keys_of_records_beyond_a_limit_are_none() {
    let room = Room::new();
    let make = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b DEFAULT 7); INSERT INTO t VALUES (1, 'old', 5)";
    room.sqlite("t.db").execute_batch(make).unwrap();
    room.write("t.ndjson", "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\",\"b\":9}\n");
    let load = "load t.db t.ndjson --append --on-conflict update --progress none";
    room.done(&format!("{load} --limit 1"));
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "1|x|5");
    assert_eq!(room.run(&format!("{load} --limit 2")).code, Some(1));
    room.done("load t.db t.ndjson --append --truncate --limit 1 --progress none");
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "1|x|7");
}

/// A column that only some of the files have was an error even if no update changes it, and `--absent-as-null` was no way out.
#[test]
fn files_that_update_rows_have_all_columns_that_are_changed() {
    for (room, _) in rooms() {
        room.write("one.csv", "id,name\n1,Eve\n");
        room.write("two.csv", "id,name,age\n2,Bea,50\n");
        room.write("key.csv", "name,age\nZoe,50\n");
        let load = "load app.db one.csv two.csv --table users --append --on-conflict update --progress none";
        let ended = room.run(load);
        let error = "table users: only some of the files have the column age, and an update would lose its values";
        assert!(ended.code == Some(2) && ended.err.contains(error), "{ended:?}");
        assert!(ended.err.contains("(--absent-as-null)"), "{ended:?}");
        assert_eq!(room.run(&format!("{load} --update-columns age")).code, Some(2));
        room.done(&format!("{load} --update-columns name"));
        assert_eq!(room.query("app.db", "SELECT * FROM users ORDER BY id LIMIT 2"), "1|Eve|36\n2|Bea|39");
        room.done(&format!("{load} --absent-as-null"));
        assert_eq!(room.query("app.db", "SELECT * FROM users ORDER BY id LIMIT 2"), "1|Eve|NULL\n2|Bea|50");
        room.write("one.csv", "id,name\n1,Eve\n9,New\n");
        room.done(&format!("{load} --update-columns name"));
        let default = room.query("app.db", "SELECT dflt_value FROM pragma_table_info('users') WHERE name = 'age'");
        assert_eq!(room.query("app.db", "SELECT age FROM users WHERE id = 9"), default, "a new row");
        let ended = room.run(&load.replace("one.csv", "key.csv --absent-as-null"));
        assert!(ended.code == Some(2) && ended.err.contains("id, which belongs to a key"), "{ended:?}");
    }
}

#[test]
fn errors_name_the_record_and_nothing_is_added() {
    for (room, _) in rooms() {
        room.write("users.csv", "id,name,age\n5,Ida,30\n6,Old,300\n");
        room.write("event.csv", "what\nx\n");
        let before = room.query("app.db", "SELECT * FROM users");
        let ended = room.run("load app.db event.csv users.csv --append");
        assert!(ended.code == Some(1) && ended.err.contains("CHECK constraint failed: age < 200"), "{ended:?}");
        assert!(ended.err.contains("users.csv") && ended.err.contains("record 2"), "{ended:?}");
        room.write("users.csv", "id,name\n7,ada\n");
        let ended = room.run("load app.db users.csv --append");
        assert!(
            ended.err.contains("UNIQUE constraint failed") && ended.err.contains("--on-conflict ignore"),
            "{ended:?}"
        );
        room.write("users.csv", "id,nom\n7,x\n");
        let ended = room.run("load app.db users.csv --append");
        assert!(ended.err.contains("the table lacks columns of the file: nom"), "{ended:?}");
        assert!(ended.err.contains("--add-columns"), "{ended:?}");
        assert_eq!(room.query("app.db", "SELECT * FROM users"), before);
        assert_eq!(room.query("app.db", "SELECT count(*) FROM event"), "0");
        assert_eq!(room.query("app.db", "SELECT count(*) FROM log"), "0");
        let ended = room.run("load app.db event.csv");
        assert!(ended.err.contains("add the rows to it with --append, replace tables"), "{ended:?}");
        let ended = room.run("load app.db event.csv --append --overwrite");
        assert!(ended.code == Some(2) && ended.err.contains("--truncate"), "{ended:?}");
        let ended = room.run("load app.db event.csv --append --page-size 1024");
        assert!(ended.code == Some(2) && ended.err.contains("--page-size has no effect"), "{ended:?}");
        let ended = room.run("load app.db event.csv --truncate");
        assert!(ended.code == Some(2) && ended.err.contains("add --append"), "{ended:?}");
        let ended = room.run("load app.db event.csv --append --table v");
        assert!(ended.code == Some(2) && ended.err.contains("v is a view"), "{ended:?}");
    }
}

#[test]
fn wrong_rows_are_rejected_in_order() {
    for (room, _) in rooms() {
        room.write("users.csv", "id,name,age\n5,Ida,30\n6,Old,300\nx,y,z\n2,Tim,1\n5,Tom,4\n7,Kim,1\n");
        room.done("load app.db users.csv --append --rejects wrong.csv");
        assert_eq!(room.query("app.db", "SELECT * FROM users WHERE id > 2"), "5|Ida|30\n7|Kim|1");
        let wrong = std::fs::read_to_string(room.path("wrong.csv")).unwrap();
        let records: Vec<&str> = wrong.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
        assert_eq!(records, ["2", "3", "4", "5"], "{wrong}");
        assert_eq!(room.query("app.db", "SELECT count(*) FROM log"), "2");
    }
}

#[test]
fn rows_are_replaced_and_the_rest_stays() {
    for (room, _) in rooms() {
        room.write("users.csv", "id,name\n5,Ida\n");
        room.done("load app.db users.csv --append --truncate");
        assert_eq!(room.query("app.db", "SELECT * FROM users"), "5|Ida|7");
        assert_eq!(room.query("app.db", "SELECT * FROM v"), "Ida");
        room.write("users.csv", "id,name,age\n6,Old,300\n");
        assert_eq!(room.run("load app.db users.csv --append --truncate").code, Some(1));
        assert_eq!(room.query("app.db", "SELECT * FROM users"), "5|Ida|7");
    }
}

/// Rows that came as pages got rowids above the larger of two rows of `sqlite_sequence`. SQLite goes by the first one.
#[test]
fn rowids_go_by_the_first_row_of_sqlite_sequence() {
    let room = Room::new();
    let rows: String = (0..20_000).map(|row| format!("{row}\n")).collect();
    room.write("t.csv", format!("a\n{rows}"));
    // SQLite inserts the rows if foreign keys are enforced.
    for (name, option) in [("pages.db", ""), ("sql.db", "--enforce-foreign-keys")] {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (5, 1);
                   INSERT INTO sqlite_sequence VALUES ('t', 1000)";
        room.sqlite(name).execute_batch(sql).unwrap();
        room.done(&format!("load {name} t.csv --append --table t {option}"));
        let found = room.query(name, "SELECT min(id), max(id) FROM t WHERE id > 5");
        let sequences = room.query(name, "SELECT seq FROM sqlite_sequence");
        assert_eq!((found.as_str(), sequences.as_str()), ("6|20005", "20005\n1000"), "{name}");
    }
}

/// `--type` had no effect on added columns, though the note about rounded numbers advised it.
#[test]
fn added_columns_have_the_type_that_is_said() {
    let room = Room::new();
    room.sqlite("t.db").execute_batch("CREATE TABLE t (a)").unwrap();
    room.write("a.json", r#"{"a":1,"b":12345678901234567890,"c":"007"}"#);
    let out =
        room.done("load t.db a.json --append --table t --add-columns --type t.b=TEXT --type c=INTEGER --progress none");
    assert!(!out.contains("rounded"), "{out}");
    assert_eq!(room.query("t.db", "SELECT b, typeof(b), c, typeof(c) FROM t"), "12345678901234567890|text|7|integer");
    let ended = room.run("load t.db a.json --append --table t --add-columns --type d=TEXT(");
    assert!(ended.err.contains("'TEXT(' is not a type"), "{ended:?}");
}

#[test]
fn columns_and_tables_are_added() {
    for (room, _) in rooms() {
        room.write("event.csv", "what,place,count\nx,here,5\n");
        room.write("event2.csv", "what,place,count\ny,there,\n");
        room.done("load app.db event.csv event2.csv --append --table event --add-columns --source-column origin");
        assert_eq!(
            room.query("app.db", "SELECT what, place, count, typeof(count), origin FROM event"),
            "x|here|5|integer|event.csv\ny|there|NULL|null|event2.csv"
        );
        room.write("schema.sql", "CREATE TABLE users (id); CREATE TABLE part (id INTEGER PRIMARY KEY, a UNIQUE); CREATE INDEX i ON part (a);");
        room.write("part.csv", "id,a\n1,x\n2,y\n");
        let text = room.done("load app.db part.csv --append --schema schema.sql --table part --progress none");
        assert!(text.contains("the table users exists with another definition"), "{text}");
        room.write("part.csv", "id,a\n3,z\n");
        room.done("load app.db part.csv --append --schema schema.sql --table part");
        assert_eq!(room.query("app.db", "SELECT count(*), max(a) FROM part"), "3|z");
        assert_eq!(room.query("app.db", "SELECT count(*) FROM pragma_index_list('part')"), "2");
        assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
    }
}

/// The first day's command made the database, and the second day's failed.
#[test]
fn one_command_for_every_day() {
    let room = Room::new();
    for (day, rows) in [("1", 2), ("2", 4)] {
        room.write("day.csv", format!("id,name\n{day},a\n{day}0,b\n"));
        room.done("load days.db day.csv --append --table day --primary-key id --index name");
        assert_eq!(room.query("days.db", "SELECT count(*) FROM day"), rows.to_string());
    }
    assert_eq!(room.query("days.db", "SELECT name FROM pragma_index_list('day')"), "idx_day_name");
}

/// An error that SQLite numbers within its file was explained as one numbered through all files, and NULL was advised for a column that
/// takes none.
#[test]
fn advice_about_wrong_rows_helps() {
    let room = Room::new();
    room.sqlite("t.db").execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a INT NOT NULL, b INT) STRICT").unwrap();
    room.write("one.csv", "id,a\n1,1\n");
    room.write("two.csv", "id,a\n3,1\n1,2\n");
    let ended = room.run("load t.db one.csv two.csv --append --table t");
    assert!(ended.err.contains("two.csv:3:1: t.id: record 2: SQLite says: UNIQUE"), "{}", ended.err);
    assert!(!ended.err.contains("numbered through all files"), "{}", ended.err);
    for (text, may_be_null) in [("id,a\nx,1\n", false), ("id,a\n4,x\n", false), ("id,a,b\n4,1,x\n", true)] {
        room.write("wrong.csv", text);
        let ended = room.run("load t.db wrong.csv --append --table t");
        assert!(ended.err.contains("leave such records out with --on-error reject"), "{}", ended.err);
        assert_eq!(ended.err.contains("--on-error null"), may_be_null, "{}", ended.err);
    }
    room.write("wide.csv", "id,a\n4,1,x\n");
    let ended = room.run("load t.db wide.csv --append --table t");
    assert!(
        ended.err.contains("also: wide.csv:1:1: the header has 2 names for 3 columns: the one without is called c3"),
        "{}",
        ended.err
    );
}

/// Options that define a table had no effect on an existing one, and no message said so. Options that agree with the table are fine.
#[test]
fn a_table_that_exists_is_as_the_options_say() {
    let room = Room::new();
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY); \
               CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c VARCHAR(9), d REFERENCES p, UNIQUE (c, b)); \
               CREATE INDEX i ON t (b, d); CREATE INDEX j ON t (c) WHERE c > 1; \
               CREATE VIRTUAL TABLE t_fts USING fts5 (c, b, content = 't', content_rowid = 'a'); \
               CREATE TABLE w (a INT, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID, STRICT";
    room.sqlite("t.db").execute_batch(sql).unwrap();
    room.write("t.csv", "b,c,d\nx,y,\n");
    for agreed in [
        "--primary-key a",
        "--primary-key t.a --not-null b,a --unique b,c --unique a",
        "--index b --index b,d --index a --type c=varchar(9) --foreign-key d=p.id",
        "--fts b,c",
        "--fts c --fts-tokenizer unicode61 --fts-content table",
        "--type w.a=TEXT --index w.b --primary-key w.a",
    ] {
        room.query("t.db", "DELETE FROM t");
        room.done(&format!("load t.db t.csv --append --table t {agreed}"));
    }
    for refused in [
        "--primary-key b",
        "--not-null c",
        "--unique b",
        "--index d",
        "--index c,a",
        "--type b=INTEGER",
        "--foreign-key c=p.id",
        "--strict",
        "--without-rowid",
        "--fts a,b",
    ] {
        let ended = room.run(&format!("load t.db t.csv --append --table t {refused}"));
        let told = format!("table t: {refused} has no effect: the table exists, and is defined otherwise");
        assert!(ended.code == Some(2) && ended.err.contains(&told), "{refused}: {}", ended.err);
    }
    for (refused, told) in [
        ("--index nosuch", "--index: no column is named nosuch"),
        ("--type *_at=TEXT", "--type: no column fits *_at"),
        ("--fts-tokenizer porter", "--fts-tokenizer porter has no effect: no table has a full-text index"),
        ("--fts-content own", "--fts-content has no effect: no table has a full-text index"),
        ("--fts b --fts-tokenizer porter", "table t: --fts-tokenizer porter has no effect: the table exists"),
        ("--fts b --fts-content own", "table t: --fts-content has no effect: the table exists"),
    ] {
        let ended = room.run(&format!("load t.db t.csv --append --table t {refused}"));
        assert!(ended.code == Some(2) && ended.err.contains(told), "{refused}: {}", ended.err);
    }
    room.write("w.csv", "a,b\n1,y\n");
    room.done("load t.db w.csv --append --table w --primary-key b,a --strict --without-rowid --type b=text");
    room.run("load t.db w.csv --append --table w --primary-key a,b").err.find("has no effect").expect("another key");
}

#[test]
fn tables_of_another_database_are_added() {
    let room = Room::new();
    room.sqlite("app.db").execute_batch(APP).unwrap();
    let other = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INT); INSERT INTO users VALUES (8, 'Kim', 5);
        CREATE TABLE item (a PRIMARY KEY, b) WITHOUT ROWID; CREATE INDEX item_b ON item (b); INSERT INTO item VALUES (1, 2);
        CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END; CREATE VIEW w AS SELECT * FROM item;";
    room.sqlite("other.db").execute_batch(other).unwrap();
    let text = room.done("load app.db other.db --append --progress none");
    assert!(text.contains("only the tables of other.db are copied, without view w"), "{text}");
    assert_eq!(room.query("app.db", "SELECT name FROM users WHERE id = 8"), "Kim");
    assert_eq!(room.query("app.db", "SELECT * FROM item"), "1|2");
    assert_eq!(
        room.query("app.db", "SELECT name FROM sqlite_schema WHERE tbl_name = 'item' AND type <> 'table'"),
        "item_b\nt"
    );
}

/// The rows of a virtual table were not added, and the run ended with success. Without `--append` that is an error. A full-text index over
/// a table has no rows to lose if the target has the same one.
#[test]
fn virtual_tables_of_another_database_are_not_lost_in_silence() {
    let room = Room::new();
    room.sqlite("app.db").execute_batch("CREATE TABLE a (x)").unwrap();
    room.sqlite("other.db")
        .execute_batch("CREATE VIRTUAL TABLE f USING fts5 (x); INSERT INTO f VALUES ('y'); CREATE TABLE b (x); CREATE VIEW v AS SELECT 1")
        .unwrap();
    let ended = room.run("load app.db other.db --append --progress none");
    let lacks = "would lack virtual table f of other.db";
    assert!(ended.code == Some(1) && ended.err.contains(lacks), "{ended:?}");
    assert!(ended.err.contains("--allow-incomplete"), "{ended:?}");
    assert_eq!(room.query("app.db", "SELECT name FROM sqlite_schema"), "a");
    let text = room.done("load app.db other.db --append --allow-incomplete --progress none");
    assert!(text.contains("virtual table f of other.db") && text.contains("without view v"), "{text}");
    room.write("1.csv", "x\nyes\n");
    for name in ["one.db", "two.db"] {
        room.done(&format!("load {name} 1.csv --table t --fts x"));
    }
    let text = room.done("load one.db two.db --append --progress none");
    assert!(text.contains("without virtual table t_fts"), "{text}");
    assert_eq!(room.query("one.db", "SELECT count(*) FROM t_fts('yes')"), "2");
}

#[test]
fn a_lock_is_waited_for_and_readers_keep_what_they_see() {
    for (room, mode) in rooms() {
        room.write("event.csv", "what\nx\n");
        let other = room.sqlite("app.db");
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let ended = room.run("load app.db event.csv --append --busy-timeout 0.1");
        assert!(ended.code == Some(1) && ended.err.contains("another program keeps its lock"), "{ended:?}");
        assert!(ended.err.contains("--busy-timeout"), "{ended:?}");
        other.execute_batch("COMMIT; BEGIN; SELECT * FROM event").unwrap();
        let count = |sql| other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM event"), 0);
        let ended = room.run("load app.db event.csv --append --busy-timeout 0.1");
        assert_eq!(ended.code, Some(if mode == "wal" { 0 } else { 1 }), "{ended:?}");
        assert_eq!(count("SELECT count(*) FROM event"), 0);
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(count("SELECT count(*) FROM event"), i64::from(mode == "wal"));
    }
}

#[test]
fn foreign_keys_are_enforced_on_request() {
    let room = Room::new();
    room.sqlite("app.db")
        .execute_batch("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p (id))")
        .unwrap();
    room.write("c.csv", "p\n1\n2\n");
    room.write("p.csv", "id\n1\n");
    let ended = room.run("load app.db c.csv p.csv --append --enforce-foreign-keys");
    let why = "FOREIGN KEY constraint failed: the row with rowid 2 has no parent in p";
    assert!(ended.code == Some(1) && ended.err.contains(why), "{ended:?}");
    let text = room.done("load app.db c.csv p.csv --append --progress none");
    assert!(
        text.contains("foreign keys are not checked: c.p -> p") && text.contains("--enforce-foreign-keys"),
        "{text}"
    );
    assert_eq!(room.query("app.db", "SELECT count(*) FROM c"), "2");
    assert_eq!(room.run("load app.db p.csv --append --on-conflict ignore --verify full --table p").code, Some(0));
    assert_eq!(room.run("load app.db c.csv --append --verify full").code, Some(1));
}

#[test]
fn a_file_that_is_no_database_stays() {
    let room = Room::new();
    room.write(
        "app.db",
        "this is a text and not a database, and it is long enough to be looked at as one by everyone.....",
    );
    room.write("event.csv", "what\nx\n");
    let before = std::fs::read(room.path("app.db")).unwrap();
    let ended = room.run("load app.db event.csv --append");
    assert!(ended.code == Some(1) && ended.err.contains("not a database"), "{ended:?}");
    assert_eq!(std::fs::read(room.path("app.db")).unwrap(), before);
}

/// Records of a table with the same definition are added as they are stored. Where a definition differs, or a record is older than a
/// column, the value would be another one.
#[test]
fn records_of_another_database_are_added_as_sqlite_adds_them() {
    let same = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT)";
    let add = "ALTER TABLE t ADD COLUMN c DEFAULT 'old'";
    for (target, source, late, indexed) in [
        (same, same, add, "CREATE INDEX i ON t (c, a)"),
        (same, same, "ALTER TABLE t ADD COLUMN c DEFAULT 'other'", ""),
        (same, "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB, b TEXT)", add, "CREATE INDEX i ON t (b)"),
        ("CREATE TABLE t (id, a NOT NULL, b)", "CREATE TABLE t (id, a, b)", add, "CREATE INDEX i ON t (id)"),
        ("CREATE TABLE t (a, id INTEGER PRIMARY KEY, b)", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)", add, ""),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT) STRICT",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b ANY) STRICT",
            "ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'old'",
            "",
        ),
    ] {
        let room = Room::new();
        let add = if target.ends_with("STRICT") { late } else { add };
        for name in ["app.db", "expected.db"] {
            let setup = format!("{target}; INSERT INTO t (id, a, b) VALUES (7, 'here', 1); {add}; {indexed}");
            room.sqlite(name).execute_batch(&setup).unwrap();
        }
        let fill = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
                    INSERT INTO t (id, a, b) SELECT i * 2 + 8, 'x' || i, i % 9 FROM n";
        let fill = format!("{source}; {fill}; {late}; INSERT INTO t VALUES (90000, '0099', '7', 'late')");
        room.sqlite("other.db").execute_batch(&fill).unwrap();
        let attach = format!("ATTACH '{}' AS other", room.path("other.db").display());
        let columns = "id, a, b, c";
        let insert = format!("INSERT INTO main.t ({columns}) SELECT {columns} FROM other.t ORDER BY other.t.rowid");
        room.sqlite("expected.db").execute_batch(&format!("{attach}; {insert}")).unwrap();
        room.done("load app.db other.db --append --progress none");
        let content = "SELECT rowid, quote(id), quote(a), quote(b), quote(c) FROM t NOT INDEXED ORDER BY rowid";
        let same = room.query("app.db", content) == room.query("expected.db", content);
        assert!(same, "{target}; {source}; {late}");
        assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok", "{target}; {source}");
    }
}

/// The plan said that SQLite inserts all rows, whatever they were.
#[test]
fn the_plan_names_the_route_that_the_load_takes() {
    let room = Room::new();
    let old = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (id INTEGER PRIMARY KEY, a UNIQUE);
               INSERT INTO t VALUES (100, 'old'); INSERT INTO u VALUES (100, 'old')";
    room.sqlite("app.db").execute_batch(old).unwrap();
    let rows = |first: u32, count: u32| {
        let lines = (first..first + count).map(|id| format!("{id},x{id}\n"));
        format!("id,a\n{}", lines.collect::<String>())
    };
    room.write("behind.csv", rows(200, 25_000));
    room.write("between.csv", rows(101, 25_000).replacen("101,x101", "50,x50", 1));
    room.write("few.csv", rows(90_000, 3));
    for (arguments, route, why) in [
        ("behind.csv --table t", "edge", "all rowids are above"),
        ("between.csv --table t", "rebuild", "old and new rows"),
        ("few.csv --table t", "sql", "there are few rows"),
        ("behind.csv --table u", "edge", "all rowids are above"),
        ("between.csv --table u --on-conflict replace", "rebuild", "old and new rows"),
        ("between.csv --table t --truncate", "rebuild", "its old rows are deleted"),
    ] {
        let plan = json(&room.done(&format!("plan app.db {arguments} --append --json")));
        let planned = &plan["append"][0];
        assert_eq!(planned["route"], route, "{arguments}: {planned}");
        assert!(planned["why"].as_str().unwrap().contains(why), "{arguments}: {planned}");
        std::fs::copy(room.path("app.db"), room.path("copy.db")).unwrap();
        let load = json(&room.done(&format!("load copy.db {arguments} --append --json")));
        let taken = &load["append"]["tables"][0];
        assert_eq!((&taken["route"], &taken["why"]), (&planned["route"], &planned["why"]), "{arguments}");
        assert_eq!(room.query("copy.db", "PRAGMA integrity_check"), "ok");
    }
}

/// Each upsert let the file grow by the whole table: new pages were always behind its end, and the old ones were never used again.
#[test]
fn the_file_does_not_grow_with_every_upsert() {
    for mode in ["wal", "delete"] {
        let room = Room::new();
        room.done("generate app.db --preset user --rows 100k");
        room.sqlite("app.db")
            .execute_batch(&format!("PRAGMA journal_mode = {mode}; CREATE INDEX by_area ON user (area)"))
            .expect(mode);
        room.done("generate new.db --preset user --rows 30k --seed 5");
        let pages = || room.query("app.db", "PRAGMA page_count").parse::<u64>().expect("a number");
        let expected = "SELECT count(*), sum(age), count(DISTINCT area) > 30000 FROM user";
        let mut sizes = vec![pages()];
        for _ in 0..6 {
            room.done("load app.db new.db --append --table user --on-conflict update");
            sizes.push(pages());
            assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
        }
        let rows = room.query("app.db", expected);
        assert!(rows.starts_with("100000|") && rows.ends_with("|1"), "{rows}");
        assert!(sizes[6] < sizes[0] * 9 / 4, "{mode}: {sizes:?}");
        // Rows behind the last one: the table grows, and the index is made anew.
        for number in 0..4 {
            room.write("more.sql", "CREATE TABLE user (area TEXT, age INTEGER NOT NULL, active INTEGER NOT NULL)");
            room.done(&format!("generate more.db more.sql --rows 30k --seed {number} --overwrite"));
            room.done("load app.db more.db --append --table user");
            sizes.push(pages());
            assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
        }
        assert_eq!(room.query("app.db", "SELECT count(*), max(id) FROM user"), "220000|220000");
        assert!(sizes[10] < sizes[0] * 5, "{mode}: {sizes:?}");
    }
}

/// The error named the first row of the table without a parent, although it had none before either.
#[test]
fn the_row_that_breaks_a_foreign_key_is_named() {
    let room = Room::new();
    let tables = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER PRIMARY KEY, p REFERENCES p);
        INSERT INTO p VALUES (5); INSERT INTO t VALUES (1, 77), (2, 5)";
    room.sqlite("app.db").execute_batch(&format!("PRAGMA foreign_keys = OFF; {tables}")).unwrap();
    room.write("t.csv", "id,p\n3,5\n4,99\n");
    let failed = room.run("load app.db t.csv --append --enforce-foreign-keys");
    let told = "table t: FOREIGN KEY constraint failed: the row with rowid 4 has no parent in p";
    assert!(failed.code == Some(1) && failed.err.contains(told), "{failed:?}");
    room.write("p.csv", "id\n6\n");
    let failed = room.run("load app.db p.csv --append --truncate --enforce-foreign-keys");
    let told = "table t: FOREIGN KEY constraint failed: the row with rowid 2 has no parent in p";
    assert!(failed.code == Some(1) && failed.err.contains(told), "{failed:?}");
    assert_eq!(room.query("app.db", "SELECT count(*), (SELECT id FROM p) FROM t"), "2|5");
}

/// Rows with NULL in a NOT NULL column went without a word: only those that SQLite ignored were counted.
#[test]
fn rows_that_are_ignored_for_null_are_counted() {
    for table in ["id INTEGER PRIMARY KEY, a NOT NULL", "id INTEGER PRIMARY KEY, a NOT NULL, UNIQUE (id, a)"] {
        let room = Room::new();
        room.sqlite("app.db").execute_batch(&format!("CREATE TABLE t ({table}); INSERT INTO t VALUES (1, 1)")).unwrap();
        room.write("t.ndjson", "{\"id\": 1, \"a\": 5}\n{\"id\": 2, \"a\": null}\n{\"id\": 3}\n{\"id\": 4, \"a\": 7}\n");
        let summary = json(&room.done("load app.db t.ndjson --append --on-conflict ignore --json --progress none"));
        assert_eq!(
            (&summary["ignored"], &summary["append"]["tables"][0]["ignored"]),
            (&3.into(), &3.into()),
            "{summary}"
        );
        let text = room.done("load app.db t.ndjson --append --on-conflict ignore");
        assert!(text.contains("t 0 added, 4 ignored"), "{text}");
    }
}
