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

/// `replace` left the words of a replaced row in the index, which SQLite then called malformed: it runs no DELETE triggers there.
#[test]
fn rows_with_a_full_text_index_are_not_replaced() {
    let room = Room::new();
    room.write("m.csv", "id,s\n1,hello world\n2,foo bar\n");
    room.done("load s.db m.csv --primary-key id --fts s");
    room.write("m.csv", "id,s\n1,new\n");
    for command in ["load", "plan"] {
        let ended = room.run(&format!("{command} s.db m.csv --append --on-conflict replace"));
        let error = "table m: --on-conflict replace: SQLite runs no DELETE triggers for rows that it replaces, and their texts \
                     would stay in m_fts\nhelp: update the rows: --on-conflict update\n";
        assert!(ended.code == Some(2) && ended.err.contains(error), "{ended:?}");
    }
    room.done("load s.db m.csv --append --on-conflict update");
    let matches =
        "SELECT group_concat(rowid) FROM m_fts('new'), (SELECT count(*) AS old FROM m_fts('hello')) WHERE old = 0";
    assert_eq!(room.query("s.db", matches), "1");
    room.sqlite("s.db").execute_batch("INSERT INTO m_fts(m_fts, rank) VALUES ('integrity-check', 1)").expect("whole");
    // Its own texts are replaced with the row.
    room.done("load own.db m.csv --primary-key id --fts s --fts-content own");
    room.write("m.csv", "id,s\n1,other\n");
    room.done("load own.db m.csv --append --on-conflict replace");
    assert_eq!(room.query("own.db", "SELECT s FROM m_fts"), "other");
}

/// Columns that took all names of the rowid got an index over one of them, in which no later row could be stored.
#[test]
fn an_index_needs_a_name_for_the_rowid() {
    let room = Room::new();
    room.write("m.csv", "rowid,oid,_rowid_,s\na,b,c,d\n");
    let ended = room.run("load m.db m.csv --fts s");
    assert!(ended.code == Some(2) && ended.err.contains("a full-text index needs a name for the rowid"), "{ended:?}");
    room.done("load m.db m.csv --fts s --map oid=other");
    room.sqlite("m.db").execute_batch("INSERT INTO m (s) VALUES ('more')").expect("a row");
}

/// A full-text table that a trigger fills by an expression was empty, and nothing said so.
#[test]
fn triggers_that_do_not_run_are_named() {
    let room = Room::new();
    let schema = "CREATE TABLE m (id INTEGER PRIMARY KEY, s TEXT); CREATE TABLE log (x);
        CREATE VIRTUAL TABLE own USING fts5(s); CREATE VIRTUAL TABLE copied USING fts5(s);
        CREATE TRIGGER a AFTER INSERT ON m BEGIN INSERT INTO own(rowid, s) VALUES (new.id, coalesce(new.s, '')); END;
        CREATE TRIGGER b AFTER INSERT ON m BEGIN INSERT INTO copied(rowid, s) VALUES (new.id, new.s); END;
        CREATE TRIGGER c AFTER INSERT ON m BEGIN INSERT INTO log VALUES (new.id); END;
        CREATE TRIGGER d AFTER INSERT ON log BEGIN SELECT 1; END;";
    room.write("s.sql", schema);
    room.write("m.csv", "id,s\n1,hello world\n");
    let note = "note: the triggers a, c of m do not run for the rows of a new file";
    for command in
        ["load m.db m.csv --schema s.sql", "plan n.db m.csv --schema s.sql", "plan --rows m=5 --rows log=0 n.db s.sql"]
    {
        let ended = room.run(command);
        let said = ended.out + &ended.err;
        assert!(ended.code == Some(0) && said.contains(note), "{command}: {said}");
    }
    assert_eq!(room.query("m.db", "SELECT (SELECT count(*) FROM own), (SELECT count(*) FROM copied)"), "0|1");
    // A copy has the rows of all tables, and an appended row fires the triggers.
    for command in ["load copy.db m.db", "load m.db m.csv --append --on-conflict ignore"] {
        let ended = room.run(command);
        assert!(ended.code == Some(0) && !(ended.out + &ended.err).contains("do not run"), "{command}");
    }
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
