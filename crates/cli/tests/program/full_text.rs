//! Full-text indexes: `--fts`, and full-text tables of schema files.

use crate::{LITEPRESS, Room, json};
use std::fmt::Write;
use std::process::Command;

/// Mails of some thousand words.
fn mails() -> String {
    let mut csv = "id,subject,body,sent\n".to_owned();
    for id in 1..=3000 {
        let words: Vec<String> = (0..id % 40).map(|word| format!("word{}", id * (word + 3) % 700)).collect();
        writeln!(csv, "{id},Running {},the {} end,2024-01-01", id % 9, words.join(" ")).expect("a text takes it");
    }
    csv
}

/// An index of a loaded table took a schema, triggers and a rebuild, all written by hand.
#[test]
fn one_word_makes_a_full_text_index() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    room.done("load a.db mails.csv --primary-key id --fts subject,body --fts-tokenizer porter --verify full");
    let sqlite = room.sqlite("a.db");
    let count = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let found = count("SELECT count(*) FROM mails_fts('subject : run AND body : \"the word0\"')");
    assert_eq!(found, count("SELECT count(*) FROM mails WHERE body LIKE 'the word0 %'"));
    assert!(found > 0);
    sqlite
        .execute_batch(
            "INSERT INTO mails_fts(mails_fts, rank) VALUES ('integrity-check', 1);
             UPDATE mails SET body = 'afterwards' WHERE id = 7; DELETE FROM mails WHERE id = 8;
             INSERT INTO mails_fts(mails_fts, rank) VALUES ('integrity-check', 1)",
        )
        .unwrap();
    assert_eq!(count("SELECT rowid FROM mails_fts('afterwards')"), 7);
    let steps = json(&room.done("plan b.db mails.csv --primary-key id --fts subject,body --json"));
    let steps = steps["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == "mails_fts").unwrap();
    assert_eq!(step["method"], "direct", "{step}");
}

/// Texts of an index that has copies of its own are found, changed and deleted with those of the table.
#[test]
fn an_index_may_keep_its_own_texts() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    let columns = "--fts subject,body,id --fts-content own";
    room.done(&format!("load a.db mails.csv --primary-key id {columns} --verify full --threads 1"));
    room.done(&format!("load b.db mails.csv --primary-key id {columns} --threads 3"));
    assert!(std::fs::read(room.path("a.db")).unwrap() == std::fs::read(room.path("b.db")).unwrap());
    let sqlite = room.sqlite("a.db");
    let count = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let texts = "SELECT id, subject, body FROM mails";
    let differ = format!("SELECT count(*) FROM ({texts} EXCEPT SELECT rowid, subject, body FROM mails_fts)");
    assert_eq!((count(&differ), count("SELECT count(*) FROM mails_fts WHERE id IS NOT rowid")), (0, 0));
    assert_eq!(
        count("SELECT count(*) FROM mails_fts('word0')"),
        count("SELECT count(*) FROM mails WHERE body LIKE '%word0 %' OR body LIKE '%word0'")
    );
    sqlite
        .execute_batch(
            "INSERT INTO mails_fts(mails_fts) VALUES ('integrity-check');
             UPDATE mails SET body = 'afterwards' WHERE id = 7; DELETE FROM mails WHERE id = 8;
             INSERT INTO mails(id, subject, body) VALUES (9000, 'late', 'afterwards');
             INSERT INTO mails_fts(mails_fts) VALUES ('integrity-check')",
        )
        .unwrap();
    assert_eq!(count("SELECT sum(rowid) FROM mails_fts('afterwards')"), 9007);
    assert_eq!((count(&differ), count("SELECT count(*) FROM mails_fts")), (0, 3000));
    let steps = json(&room.done(&format!("plan c.db mails.csv --primary-key id {columns} --json")));
    let step = steps["steps"].as_array().unwrap().iter().find(|step| step["name"] == "mails_fts").unwrap();
    assert_eq!(step["method"], "direct", "{step}");
    let refused = room.run("load d.db mails.csv --fts-content own");
    assert!(refused.err.contains("--fts-content has no effect: no table has a full-text index"), "{}", refused.err);
}

/// Debian's sqlite3 and the bundled SQLite find the same in the index, whatever the threads and the memory.
#[test]
fn old_and_new_sqlite_agree() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    let schema = "CREATE TABLE mails (id INTEGER PRIMARY KEY, subject, body, sent);
        CREATE VIRTUAL TABLE t USING fts5(subject, body, content='mails', content_rowid='id', prefix='2');";
    std::fs::write(room.path("s.sql"), schema).unwrap();
    room.done("load a.db mails.csv --table mails --schema s.sql --threads 1");
    room.done("load b.db mails.csv --table mails --schema s.sql --threads 3 --memory 64MiB");
    assert!(std::fs::read(room.path("a.db")).unwrap() == std::fs::read(room.path("b.db")).unwrap());
    let sql = "INSERT INTO t(t) VALUES ('integrity-check'); INSERT INTO t(t, rank) VALUES ('integrity-check', 1);
        CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 't', 'instance');
        SELECT count(*) || ' ' || sum(doc) || ' ' || sum(offset) || ' ' || count(DISTINCT term) FROM v";
    let sqlite = room.sqlite("a.db");
    let (setup, query) = sql.rsplit_once(';').unwrap();
    sqlite.execute_batch(setup).unwrap();
    let new: String = sqlite.query_row(query, [], |row| row.get(0)).unwrap();
    assert!(new.starts_with("7"), "{new}");
    let Ok(old) = Command::new("sqlite3").arg(room.path("a.db")).arg(sql).output() else {
        return eprintln!("skipped: there is no sqlite3 here");
    };
    assert_eq!(String::from_utf8_lossy(&old.stdout).trim(), new, "{}", String::from_utf8_lossy(&old.stderr));
}

/// Rows of files go into a full-text table that keeps its texts.
#[test]
fn a_full_text_table_is_loaded() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    std::fs::write(
        room.path("s.sql"),
        "CREATE VIRTUAL TABLE mails USING fts5(subject, body, sent UNINDEXED, id UNINDEXED)",
    )
    .unwrap();
    room.done("load a.db mails.csv --schema s.sql --verify full --analyze");
    let sqlite = room.sqlite("a.db");
    let count = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM mails WHERE id = rowid"), 3000);
    assert_eq!(count("SELECT count(*) FROM mails('running')"), 3000);
    sqlite.execute_batch("INSERT INTO mails(mails) VALUES ('integrity-check')").unwrap();
}

/// Rows of a new table were not in its full-text index: its triggers come behind the rows.
#[test]
fn a_new_table_of_a_database_that_exists_is_indexed() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    room.sqlite("a.db").execute_batch("CREATE TABLE other (a)").unwrap();
    room.done("load a.db mails.csv --append --primary-key id --fts body");
    let sqlite = room.sqlite("a.db");
    let found: i64 = sqlite.query_row("SELECT count(*) FROM mails_fts('end')", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 3000);
    sqlite.execute_batch("INSERT INTO mails_fts(mails_fts, rank) VALUES ('integrity-check', 1)").unwrap();
}

#[test]
fn wrong_tokenizers_are_refused() {
    let room = Room::new();
    std::fs::write(room.path("mails.csv"), mails()).unwrap();
    let refused = Command::new(LITEPRESS)
        .args(["load", "a.db", "mails.csv", "--fts", "body", "--fts-tokenizer", "unheard_of"])
        .current_dir(room.path(""))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && told.contains("no such tokenizer: unheard_of"), "{told}");
    assert_eq!(room.files(), ["mails.csv"]);
}
