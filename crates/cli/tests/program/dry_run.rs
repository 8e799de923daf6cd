//! `litepress plan` of files is a dry run, and notes tell what is done as SQLite does it.

use crate::{Room, json};
use std::process::Stdio;

/// A plan showed no columns where a schema was given, and no value that its column refuses: `load` failed then.
#[test]
fn a_plan_with_a_schema_shows_the_mapping_and_every_mismatch() {
    let room = Room::new();
    room.write("in.csv", "Code,n,id\nx,abc,1\ny,5,2\nz,7.5,3\nw,8,2\nv\n");
    let sql =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT, n INTEGER, extra DEFAULT 'none', made AS (n)) STRICT;";
    room.write("s.sql", sql.replace("extra DEFAULT", "extra TEXT DEFAULT").replace("made AS", "made INTEGER AS"));
    let plan = "plan t.db in.csv --schema s.sql --progress none";
    let text = room.run(plan);
    assert_eq!(text.code, Some(1), "{text:?}");
    for part in [
        "column Code of the file",
        "not in the file: its DEFAULT 'none'",
        "in.csv:2:1: t.n: record 1: ",
        "'abc'",
        "in.csv:4:1: t.n: record 3: ",
        "in.csv:5:1: t.id: record 4: SQLite says: UNIQUE constraint failed: t.id (value 2)",
        "in.csv:6:2: table t: record 5: ",
        "load would fail: 4 records",
    ] {
        assert!(text.out.contains(part), "{part}: {}", text.out);
    }
    let found = &json(&room.run(&format!("{plan} --json")).out)["mismatches"];
    let records: Vec<_> = found["first"].as_array().unwrap().iter().map(|first| first["record"].as_u64()).collect();
    assert_eq!((&found["count"], records), (&4.into(), vec![Some(1), Some(3), Some(4), Some(5)]), "{found}");
    let rejecting = room.done(&format!("{plan} --on-error reject"));
    assert!(rejecting.contains("load would reject: 4 records"), "{rejecting}");
    let loaded = json(&room.done("load t.db in.csv --schema s.sql --on-error reject --progress none --json"));
    assert_eq!(loaded["rejected"], 4);
    let ignoring = json(&room.run(&format!("{plan} --on-conflict ignore --json")).out);
    // A pipe is read twice.
    let mut piped = room.command("plan t.db - --schema s.sql --progress none --json");
    let mut run = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::copy(&mut std::fs::File::open(room.path("in.csv")).unwrap(), &mut run.stdin.take().unwrap()).unwrap();
    let out = String::from_utf8(run.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(json(&out)["mismatches"]["count"], 4);
    assert_eq!((&ignoring["mismatches"]["count"], &ignoring["mismatches"]["ignored"]), (&3.into(), &1.into()));
}

/// The types of `--strict --type n=INTEGER` do not fit: the plan said nothing.
#[test]
fn a_plan_without_a_schema_shows_mismatches_and_a_schema_to_edit() {
    let room = Room::new();
    room.write("mm.csv", "d,n\n1,abc\n2,5\nx,7.5\n");
    let ended = room.run("plan mm.db mm.csv --strict --type n=INTEGER --type d=INTEGER --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("mm.csv:2:1: mm.n: record 1") && ended.out.contains("record 3"), "{}", ended.out);
    let plan = json(&room.done("plan mm.db mm.csv --primary-key d --index n --progress none --json"));
    assert_eq!(plan["mismatches"]["count"], 0);
    let sql = plan["schema_sql"].as_str().unwrap();
    assert!(sql.contains("CREATE TABLE mm (") && sql.contains("CREATE INDEX idx_mm_n"), "{sql}");
    assert!(room.done("plan mm.db mm.csv --progress none").contains("  CREATE TABLE mm (\n"));
    room.write("s.sql", sql);
    room.done("load mm.db mm.csv --schema s.sql --progress none");
    let sampled = room.done("plan mm.db mm.csv --sample 1 --progress none");
    assert!(sampled.contains("note: the records were not checked"), "{sampled}");
}

/// `--type code=STRING`, which was to protect leading zeros, turned `007` into 7 without a word.
#[test]
fn values_that_a_declared_type_changes_are_counted_and_shown() {
    let room = Room::new();
    room.write("in.csv", "code,n\n007,1\n1.10,2\nx,3\n");
    room.write("s.sql", "CREATE TABLE \"in\" (code STRING, n INTEGER);");
    let note = "note: in.code is declared STRING, which SQLite stores as numbers: 2 texts changed ('007' to 7 in record 1, \
                '1.10' to 1.1 in record 2); declare the column TEXT to keep them";
    let text = room.done("load t.db in.csv --schema s.sql --progress none");
    assert!(text.contains(note), "{text}");
    assert!(room.done("plan t.db in.csv --schema s.sql --progress none").contains(note));
    let summary = json(&room.done("load d.db in.csv --type code=DATE --progress none --json"));
    let notes = summary["notes"].as_array().unwrap();
    assert!(notes.len() == 1 && notes[0].as_str().unwrap().ends_with("keep them with --type 'code=TEXT'"), "{notes:?}");
    for word in ["str", "STRING", "TEXT", "VARCHAR"] {
        let load = format!("load {word}.db in.csv --type code={word} --progress none --json");
        assert_eq!(json(&room.done(&load))["notes"], serde_json::json!([]));
        assert_eq!(room.query(&format!("{word}.db"), "SELECT min(code) FROM \"in\""), "007", "{word}");
    }
}

/// A table with `amount REAL NOT NULL` took `abc` and an empty field, as SQLite does, and nobody was told.
#[test]
fn texts_in_columns_of_numbers_are_counted_and_shown() {
    let room = Room::new();
    room.write("sale.csv", "id,amount\n1,abc\n2,\n3,5\n");
    room.write("s.sql", "CREATE TABLE sale (id INTEGER PRIMARY KEY, amount REAL NOT NULL);");
    let note = "note: sale.amount is declared REAL, and 2 texts in it stay texts ('abc' in record 1, '' in record 2); SQLite \
                refuses them in STRICT tables only; --null-value makes empty fields NULL\n";
    for command in ["load", "plan"] {
        let text = room.done(&format!("{command} t.db sale.csv --schema s.sql --progress none"));
        assert!(text.contains(note), "{text}");
    }
    // A copy of that database is a copy.
    let text = room.done("load copy.db t.db --progress none");
    assert!(!text.contains("note"), "{text}");
}

/// Texts that a STRICT table refused were counted twice: as wrong records, and as texts that stay texts.
#[test]
fn texts_that_a_strict_table_refuses_do_not_stay() {
    let room = Room::new();
    room.write("sale.csv", "id,amount\n1,abc\n2,5\n3,x\n");
    room.write("s.sql", "CREATE TABLE sale (id INTEGER PRIMARY KEY, amount REAL) STRICT;");
    let text = room.done("load t.db sale.csv --schema s.sql --on-error reject --rejects wrong.csv --progress none");
    assert!(text.contains("left out 2 wrong records"), "{text}");
    assert!(!text.contains("stay texts"), "{text}");
}

/// Foreign keys to missing tables, and unchecked foreign keys, passed without a word.
#[test]
fn foreign_keys_that_are_not_checked_are_told() {
    let room = Room::new();
    room.write("customer.csv", "id\n1\n2\n");
    room.write("orders.csv", "id,customer\n1,1\n2,9\n");
    let keys = "--primary-key id --foreign-key orders.customer=customer.id --progress none";
    let text = room.done(&format!("load o.db customer.csv orders.csv {keys}"));
    let note = "note: foreign keys are not checked: orders.customer -> customer; check them with --verify full";
    assert!(text.contains(note), "{text}");
    assert!(room.done(&format!("plan o.db customer.csv orders.csv {keys}")).contains(note));
    let ended = room.run(&format!("load o.db customer.csv orders.csv {keys} --overwrite --verify full"));
    assert_eq!(ended.code, Some(1));
    room.write("s.sql", "CREATE TABLE orders (id, customer REFERENCES customers);");
    let text = room.done("load p.db orders.csv --schema s.sql --progress none");
    assert!(text.contains("note: orders.customer references customers, and there is no such table"), "{text}");
}

/// `plan` ended with 0 where `load` fails with the same arguments.
#[test]
fn a_plan_fails_before_the_first_row_as_the_load_does() {
    let room = Room::new();
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY, a); CREATE VIRTUAL TABLE ft USING fts5 (a, content = 'p');
        CREATE TABLE t (a, b); CREATE UNIQUE INDEX u ON t (a) WHERE b > 0;";
    room.sqlite("old.db").execute_batch(sql).unwrap();
    room.sqlite("plain.db").execute_batch("CREATE TABLE p (id INTEGER PRIMARY KEY, a)").unwrap();
    room.sqlite("source.db").execute_batch("CREATE TABLE p (id, a); CREATE VIRTUAL TABLE f USING fts5 (a)").unwrap();
    room.write("p.csv", "id,a\n1,2\n");
    room.write("t.csv", "a,b\n1,2\n");
    room.write("more.csv", "a,n\n1,2\n");
    room.write("rowids.csv", "rowid,a,oid,_rowid_\n1,2,3,4\n");
    let before = ["old.db", "plain.db"].map(|name| std::fs::read(room.path(name)).unwrap());
    let failing = [
        ("old.db p.csv --replace-tables", 1),
        ("plain.db source.db --append", 1),
        ("old.db t.csv --append --on-conflict update --key a", 2),
        ("old.db t.csv --append --on-conflict update", 2),
        ("old.db more.csv --table ft --append --add-columns", 1),
        ("plain.db rowids.csv --table p --append --add-columns", 1),
        ("plain.db p.csv --append --page-size 512", 2),
        ("plain.db p.csv --append --part", 2),
    ];
    for (arguments, code) in failing {
        let [plan, load] = ["plan", "load"].map(|command| room.run(&format!("{command} {arguments} --progress none")));
        assert_eq!((plan.code, load.code), (Some(code), Some(code)), "{arguments}: {plan:?} {load:?}");
        assert_eq!(plan.err, load.err, "{arguments}");
    }
    let after = ["old.db", "plain.db"].map(|name| std::fs::read(room.path(name)).unwrap());
    assert!(before == after);
    for arguments in [
        "old.db p.csv --append --on-conflict update",
        "old.db more.csv --table p --append --add-columns",
        "old.db p.csv --replace-tables --allow-incomplete",
        "plain.db source.db --append --allow-incomplete",
    ] {
        room.done(&format!("plan {arguments} --progress none"));
        room.done(&format!("load {arguments} --progress none"));
    }
}

/// `plan` ended with 0 where a new database cannot be made: options for other databases, no key to update by, no place for the file.
#[test]
fn a_plan_of_a_new_database_fails_as_the_load_does() {
    let room = Room::new();
    room.write("f.csv", "id,name,v\n1,x,1.5\n");
    room.write("file", "");
    std::fs::create_dir(room.path("folder")).unwrap();
    for name in ["one.db", "two.db"] {
        room.sqlite(name).execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY)").unwrap();
    }
    for (arguments, code) in [
        ("load p.db f.csv --on-conflict update", 2),
        ("load p.db f.csv --on-conflict update --append", 2),
        ("load p.db f.csv --part --on-conflict ignore", 2),
        ("load p.db f.csv --part --verify full", 2),
        ("load p.db f.csv --part --analyze", 2),
        ("load p.db f.csv --part --split-by id", 2),
        ("load folder f.csv", 1),
        ("load folder f.csv --overwrite", 1),
        ("load none/p.db f.csv", 1),
        ("load none/p f.csv --split-by id", 1),
        ("load file f.csv --split-by id", 1),
        ("load file/p.db f.csv", 1),
        ("merge p.db one.db two.db --part --on-conflict ignore", 2),
        ("merge folder one.db two.db", 1),
        ("merge none/p.db one.db two.db", 1),
    ] {
        let (command, rest) = arguments.split_once(' ').unwrap();
        let merge = if command == "merge" { " --merge" } else { "" };
        let plan = room.run(&format!("plan {rest}{merge} --progress none"));
        let run = room.run(&format!("{arguments} --progress none"));
        assert_eq!((plan.code, run.code), (Some(code), Some(code)), "{arguments}: {plan:?} {run:?}");
        assert_eq!(plan.err, run.err, "{arguments}");
    }
    // The load names the first of its databases, too.
    assert_eq!(room.run("plan p f.csv --on-conflict update --split-by id --progress none").code, Some(2));
    // A target that exists may be replaced later.
    room.done("load p.db f.csv --progress none");
    assert!(room.done("plan p.db f.csv --progress none").contains("exists: load needs --overwrite"));
    room.done("plan folder f.csv --split-by id --progress none");
    for arguments in ["--primary-key id --on-conflict update", "--part", "--split-by id"] {
        room.done(&format!("plan new f.csv {arguments} --progress none"));
        room.done(&format!("load new f.csv {arguments} --progress none"));
        std::fs::remove_file(room.path("new")).or_else(|_| std::fs::remove_dir_all(room.path("new"))).unwrap();
    }
}

/// `plan` took records that `load` left out for fatal, and passed what ended it: more wrong records than allowed, a file that breaks off.
#[test]
fn a_plan_knows_which_wrong_records_end_the_load() {
    let room = Room::new();
    room.write("f.csv", "id,v\n1,x\n2,y\n3,4\n");
    room.write("a.csv", "id;v\n5;1\n6;2;3\n7\n");
    room.write("cut.json", "[{\"id\": 1},\n{\"id\": 2}");
    room.write("cut.sql", "CREATE TABLE cut (id)");
    let wrong = "--strict --type v=INTEGER";
    for (arguments, code) in [
        (format!("f.csv {wrong}"), 1),
        (format!("f.csv {wrong} --on-error reject"), 0),
        (format!("f.csv {wrong} --on-error reject --max-rejects 2"), 0),
        (format!("f.csv {wrong} --on-error reject --max-rejects 1"), 1),
        (format!("f.csv {wrong} --max-rejects 0"), 1),
        (format!("f.csv {wrong} --on-error null --max-rejects 0"), 0),
        ("a.csv".to_owned(), 1),
        ("a.csv --ragged reject".to_owned(), 0),
        ("a.csv --ragged reject --on-error null".to_owned(), 0),
        ("a.csv --ragged reject --max-rejects 1".to_owned(), 1),
        ("a.csv --ragged reject --strict --type v=BLOB".to_owned(), 1),
        ("cut.json --schema cut.sql --on-error reject".to_owned(), 1),
    ] {
        let [plan, load] =
            ["plan", "load"].map(|command| room.run(&format!("{command} t.db {arguments} --progress none")));
        assert_eq!((plan.code, load.code), (Some(code), Some(code)), "{arguments}: {plan:?} {load:?}");
        let _ = std::fs::remove_file(room.path("t.db"));
    }
    let plan = room.run(&format!("plan t.db f.csv {wrong} --max-rejects 1 --progress none"));
    assert!(plan.out.contains("load would fail: 2 records"), "{plan:?}");
    assert!(plan.out.contains("more records are wrong than --max-rejects 1 allows"), "{plan:?}");
    assert!(room.done("plan t.db a.csv --ragged reject --progress none").contains("load would reject: 2 records"));
}
