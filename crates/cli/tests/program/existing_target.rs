//! Targets that exist: what would go is named before, and what went after.

use crate::{Room, json};
use serde_json::json;

const APP: &str = "
    CREATE TABLE users (id INTEGER PRIMARY KEY, name); INSERT INTO users VALUES (1, 'Ada'), (2, 'Blaise');
    CREATE TABLE items (id, price); INSERT INTO items VALUES (1, 2.5);
    CREATE INDEX items_price ON items (price);
    CREATE INDEX users_name ON users (name);
    CREATE VIEW v AS SELECT users.name, items.id FROM users JOIN items USING (id);
    CREATE VIRTUAL TABLE f USING fts5 (a); INSERT INTO f VALUES ('some words');
    PRAGMA user_version = 7;";

/// The error advised to replace the target. Users who did so lost all other tables without a word.
#[test]
fn what_would_go_is_listed_and_what_went_is_named() {
    let room = Room::new();
    room.sqlite("app.db").execute_batch(APP).unwrap();
    room.write("items.csv", "id,price\n1,9.5\n");
    let before = std::fs::read(room.path("app.db")).unwrap();
    let ended = room.run("load app.db items.csv --progress none");
    assert_eq!(ended.code, Some(1));
    let holds = "the target exists and holds table users (2 rows), table items (1 row), view v, virtual table f";
    assert!(ended.err.contains(holds) && ended.err.contains("--overwrite"), "{ended:?}");
    assert!(ended.err.contains("--replace-tables"), "{ended:?}");
    let ended = room.run("generate app.db --preset user --rows 5");
    assert!(ended.code == Some(1) && ended.err.contains(holds), "{ended:?}");
    assert!(std::fs::read(room.path("app.db")).unwrap() == before);
    let text = room.done("load app.db items.csv --overwrite --progress none");
    assert!(text.contains("dropped: table users (2 rows), view v, virtual table f"), "{text}");
    assert_eq!(room.files(), ["app.db", "items.csv"]);
    let summary = json(&room.done("generate app.db --preset user --rows 5 --overwrite --json"));
    assert_eq!(summary["dropped"], json!(["table items (1 row)"]));
    let again = json(&room.done("generate app.db --preset user --rows 5 --overwrite --json"));
    assert_eq!(again["dropped"], json!([]));
}

/// `replace` means the table in pandas and sqlite-utils; here it was the whole file.
#[test]
fn tables_are_replaced_and_everything_else_is_kept() {
    let room = Room::new();
    for mode in ["delete", "wal"] {
        let name = format!("{mode}.db");
        room.sqlite(&name).execute_batch(&format!("PRAGMA journal_mode = {mode}; {APP}")).unwrap();
        room.write("items.csv", "id,price,note\n1,9.5,new\n2,8.5,new\n");
        let load = format!("load {name} items.csv --replace-tables --index note --progress none --verify full");
        let summary = json(&room.done(&format!("{load} --json")));
        assert_eq!(summary["dropped"], json!(["index items_price of items"]), "{summary}");
        for (sql, rows) in [
            ("SELECT * FROM items", "1|9.5|new\n2|8.5|new"),
            ("SELECT * FROM users", "1|Ada\n2|Blaise"),
            ("SELECT * FROM v ORDER BY id", "Ada|1\nBlaise|2"),
            ("SELECT a FROM f WHERE f MATCH 'words'", "some words"),
            ("PRAGMA user_version", "7"),
            ("PRAGMA journal_mode", mode),
            ("PRAGMA integrity_check", "ok"),
            (
                "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL",
                "users_name,idx_items_note",
            ),
        ] {
            assert_eq!(room.query(&name, sql), rows, "{sql}");
        }
        assert!(!room.done(&load).contains("dropped"), "the new table has the index, too");
        // A schema may define the table, and a target that does not exist is made.
        room.write("s.sql", "CREATE TABLE items (id INTEGER PRIMARY KEY, price, note TEXT);");
        room.done(&format!("load {name} items.csv --schema s.sql --replace-tables --progress none --verify full"));
        assert_eq!(room.query(&name, "SELECT max(id), (SELECT count(*) FROM users) FROM items"), "2|2");
        std::fs::remove_file(room.path(&name)).unwrap();
        room.done(&load);
    }
    assert_eq!(room.files(), ["delete.db", "items.csv", "s.sql", "wal.db"]);
}

/// An object that cannot be kept is an error before anything is written.
#[test]
fn a_table_that_others_need_is_not_replaced_in_silence() {
    let room = Room::new();
    room.sqlite("app.db")
        .execute_batch(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, note); INSERT INTO items VALUES (1, 'old');
             CREATE VIRTUAL TABLE words USING fts5 (note, content = items, content_rowid = id);
             CREATE VIEW v AS SELECT 1;",
        )
        .unwrap();
    let before = std::fs::read(room.path("app.db")).unwrap();
    room.write("items.csv", "id,note\n1,new\n");
    room.write("v.csv", "a\n1\n");
    let ended = room.run("load app.db items.csv --replace-tables --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("virtual table words of app.db (it names items"), "{ended:?}");
    let ended = room.run("load app.db v.csv --replace-tables --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("view v of app.db (its name is taken)"), "{ended:?}");
    let ended = room.run("load app.db items.csv --replace-tables --overwrite --progress none");
    assert!(ended.code == Some(2) && ended.err.contains("--replace-tables"), "{ended:?}");
    let open = room.sqlite("app.db");
    open.execute_batch("BEGIN; SELECT * FROM items").unwrap();
    let ended = room.run("load app.db items.csv --replace-tables --allow-incomplete --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("in use by another program"), "{ended:?}");
    drop(open);
    assert!(std::fs::read(room.path("app.db")).unwrap() == before);
    room.done("load app.db items.csv --replace-tables --allow-incomplete --progress none --verify full");
    assert_eq!(room.query("app.db", "SELECT note FROM items"), "new");
}

/// A FIFO under the name of a left-over file kept every run waiting for its other end. A run followed a link and locked the file behind
/// it. A FIFO as a manifest kept `check` waiting.
#[test]
#[cfg(unix)]
fn links_and_fifos_under_names_of_others_stop_nobody() {
    let room = Room::new();
    room.write("a.csv", "a\n1\n");
    std::fs::create_dir(room.path("shards")).unwrap();
    let names = [".x.db.litepress-0000000000000001.tmp", "shards/_manifest.json"];
    for name in names {
        assert!(std::process::Command::new("mkfifo").arg(room.path(name)).status().unwrap().success());
    }
    std::os::unix::fs::symlink(room.path("a.csv"), room.path(".x.db.litepress-0000000000000002.tmp")).unwrap();
    room.done("load x.db a.csv");
    assert_eq!(room.query("x.db", "SELECT a FROM a"), "1");
    let ended = room.run("check shards");
    assert!(ended.code == Some(1) && ended.err.contains("_manifest.json: this is no file"), "{ended:?}");
    assert!(room.path(names[0]).exists() && room.path("a.csv").exists());
}
