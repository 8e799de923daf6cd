//! Foreign keys to rows whose rowids change.

use crate::{renumber, shards, text, texts};
use litepress::{ErrorKind, MergeOptions, merge};
use rusqlite::Connection;
use std::fmt::Write;
use tempfile::TempDir;

/// Every row has a name of its own, and every reference leads to the row of the same name as before.
#[test]
fn foreign_keys_follow_renumbered_rowids() {
    let schema = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES person);
        CREATE TABLE detail (id INTEGER PRIMARY KEY REFERENCES person(id), name TEXT);
        CREATE TABLE pair (a REFERENCES person(id), b INT, name TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE entry (name TEXT, owner INTEGER REFERENCES person ON DELETE CASCADE, twin INTEGER,
            FOREIGN KEY (twin) REFERENCES detail(id));
        CREATE INDEX by_owner ON entry (owner)";
    let folder = TempDir::new().unwrap();
    let mut own = Vec::new();
    for shard in 0..4 {
        let mut sql = String::from("BEGIN;");
        for id in 1..=300 {
            let boss = if id % 10 == 0 { "NULL".to_owned() } else { (id * 7 % 300 + 1).to_string() };
            write!(sql, "INSERT INTO person VALUES ({id}, '{shard}-{id}', {boss});").unwrap();
            if id % 3 == 0 {
                write!(sql, "INSERT INTO detail VALUES ({id}, '{shard}-{id}');").unwrap();
                write!(sql, "INSERT INTO entry VALUES ('{shard}-{id}', {id}, {id});").unwrap();
            }
            write!(sql, "INSERT INTO pair VALUES ({id}, {}, '{shard}-{id}');", id % 5).unwrap();
        }
        own.push(sql + "COMMIT");
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let shards = shards(&folder, schema, &own);
    let out = folder.path().join("out.db");
    merge(&*out, &shards, &renumber()).unwrap();
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
    assert_eq!(text(&merged, "SELECT count(*) || '' FROM pragma_foreign_key_check"), "0");
    assert_eq!(
        text(&merged, "SELECT count(*) || ',' || count(DISTINCT id) || ',' || max(id) FROM person"),
        "1200,1200,1200"
    );
    for wrong in [
        "SELECT count(*) || '' FROM detail JOIN person USING (id) WHERE detail.name <> person.name",
        "SELECT count(*) || '' FROM pair JOIN person ON a = id WHERE pair.name <> person.name",
        "SELECT count(*) || '' FROM entry JOIN person ON owner = id WHERE entry.name <> person.name",
        "SELECT count(*) || '' FROM entry INDEXED BY by_owner JOIN detail ON twin = id WHERE owner > 0 AND entry.name <> detail.name",
    ] {
        assert_eq!(text(&merged, wrong), "0", "{wrong}");
    }
    let bosses = "SELECT p.name || b.name FROM person p JOIN person b ON p.boss = b.id ORDER BY 1";
    let mut expected: Vec<String> =
        shards.iter().flat_map(|shard| texts(&Connection::open(shard).unwrap(), bosses)).collect();
    expected.sort();
    assert_eq!(texts(&merged, bosses), expected);
}

/// A reference to nothing must not become one to a row of another database.
#[test]
fn dangling_references_never_find_a_row() {
    let schema = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p)";
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out.db");
    let root = shards(&folder, schema, &["INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (0), (2), (99)"; 2]);
    merge(&*out, &root, &renumber()).unwrap();
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "SELECT group_concat(p) FROM c"), "0,2,99,0,4,99");
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out.db");
    let bad = shards(&folder, schema, &["INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (3)"; 2]);
    let error = merge(&*out, &bad, &renumber()).map(drop).unwrap_err();
    assert!(error.to_string().contains("it refers to no row of p in its database"), "{error}");
    assert!(error.kind() == ErrorKind::Constraint && error.to_string().contains("0.db"), "{error}");
}

/// Only columns with a foreign key to the renumbered table itself followed it. A shipment of one database that refers to the key of
/// `line`, which refers to `orders`, had the line of another one afterwards.
#[test]
fn foreign_keys_follow_renumbered_rowids_over_several_tables() {
    for (schema, own, joined) in [
        (
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, name);
             CREATE TABLE line (order_id INTEGER REFERENCES orders (id), no INTEGER, name, PRIMARY KEY (order_id, no));
             CREATE TABLE shipment (id INTEGER PRIMARY KEY, order_id INTEGER, no INTEGER, name,
                 FOREIGN KEY (order_id, no) REFERENCES line)",
            "INSERT INTO orders VALUES (1, '?'); INSERT INTO line VALUES (1, 1, '?'); INSERT INTO shipment VALUES (1, 1, 1, '?')",
            "shipment JOIN line USING (order_id, no)",
        ),
        (
            "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE mid (y INT PRIMARY KEY REFERENCES p, name) WITHOUT ROWID;
             CREATE TABLE ch (x REFERENCES mid, name)",
            "INSERT INTO p VALUES (1); INSERT INTO mid VALUES (1, '?'); INSERT INTO ch VALUES (1, '?')",
            "ch JOIN mid ON x = y",
        ),
        (
            "CREATE TABLE ch (x REFERENCES mid (y), name); CREATE TABLE mid (y UNIQUE REFERENCES p, name);
             CREATE TABLE p (id INTEGER PRIMARY KEY)",
            "INSERT INTO p VALUES (1); INSERT INTO mid VALUES (1, '?'); INSERT INTO ch VALUES (1, '?')",
            "ch JOIN mid ON x = y",
        ),
        (
            "CREATE TABLE p (id INTEGER PRIMARY KEY, name); CREATE TABLE mid (y UNIQUE REFERENCES p);
             CREATE TABLE ch (id INTEGER PRIMARY KEY REFERENCES mid (y), name)",
            "INSERT INTO p VALUES (1, '?'), (2, 'none'); INSERT INTO mid VALUES (1), (2); INSERT INTO ch VALUES (1, '?')",
            "ch JOIN p USING (id)",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let shards = shards(&folder, schema, &["a", "b", "c"].map(|name| own.replace('?', name)).each_ref().map(String::as_str));
        let out = folder.path().join("out.db");
        merge(&*out, &shards, &renumber()).unwrap();
        let merged = Connection::open(&out).unwrap();
        assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
        assert_eq!(text(&merged, "SELECT count(*) || '' FROM pragma_foreign_key_check"), "0", "{schema}");
        let [child, parent] = [joined.split(' ').next().unwrap(), joined.split(' ').nth(2).unwrap()];
        let names = format!("SELECT {child}.name || {parent}.name FROM {joined} ORDER BY 1");
        assert_eq!(texts(&merged, &names), ["aa", "bb", "cc"], "{schema}");
    }
}

/// A computed column with a foreign key kept its value, and had a row of another database as parent. So did a column that refers to
/// a renumbered table and to one that is not.
#[test]
fn references_that_cannot_follow_are_refused() {
    let parent = "CREATE TABLE p (id INTEGER PRIMARY KEY, n)";
    for (children, column, problem) in [
        ("CREATE TABLE ch (x, g AS (x) REFERENCES p, t)", "g", "the column is computed"),
        ("CREATE TABLE ch (x, g AS (x) STORED REFERENCES p, t)", "g", "the column is computed"),
        (
            "CREATE TABLE mid (id INTEGER PRIMARY KEY REFERENCES p, g AS (id) UNIQUE); CREATE TABLE ch (x REFERENCES mid (g))",
            "x",
            "refers to the computed column mid.g",
        ),
        ("CREATE TABLE q (k INT PRIMARY KEY); CREATE TABLE ch (x REFERENCES p REFERENCES q)", "x", "refers to q, too"),
        (
            "CREATE TABLE q (k INT PRIMARY KEY); CREATE TABLE ch (id INTEGER PRIMARY KEY REFERENCES q)",
            "id",
            "refers to q, too",
        ),
        (
            "CREATE TABLE q (id INTEGER PRIMARY KEY); CREATE TABLE mid (y UNIQUE REFERENCES q);
             CREATE TABLE ch (x REFERENCES p, FOREIGN KEY (x) REFERENCES mid (y))",
            "x",
            "refers to q, too",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let schema = format!("{parent}; {children}");
        let own = if children.contains("ch (id") { "INSERT INTO ch VALUES (1)" } else { "INSERT INTO p VALUES (1, 2)" };
        let shards = shards(&folder, &schema, &[own, own]);
        let out = folder.path().join("out.db");
        let error = merge(&*out, &shards, &renumber()).map(drop).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(problem), "{schema}: {error}");
        assert_eq!((error.place().table.as_deref(), error.place().column.as_deref()), (Some("ch"), Some(column)));
        assert!(error.advice().unwrap().contains("RowidPolicy::Keep"), "{error}");
    }
}

/// Nothing was looked at if only one database has rows of the parent, as no rowid changes then: a reference of another database to
/// nothing found a row.
#[test]
fn dangling_references_find_no_row_of_the_only_database_with_parents() {
    let (parents, children) = ("CREATE TABLE p (id INTEGER PRIMARY KEY, n)", "CREATE TABLE ch (x REFERENCES p)");
    let both = format!("{parents}; {children}");
    for (one, other) in [(&*both, &*both), (&*both, children)] {
        let folder = TempDir::new().unwrap();
        let own = [
            format!("{one}; INSERT INTO p VALUES (1, 'a1'), (2, 'a2'); INSERT INTO ch VALUES (1), (7), (NULL)"),
            format!("{other}; INSERT INTO ch VALUES (2)"),
        ];
        let shards = shards(&folder, "", &own.each_ref().map(String::as_str));
        let out = folder.path().join("out.db");
        let error = merge(&*out, &shards, &renumber().union(true)).map(drop).unwrap_err();
        assert!(error.to_string().contains("it refers to no row of p in its database"), "{error}");
        // Rows that keep their rowids may be referred to from every database.
        merge(&*out, &shards, &MergeOptions::default().union(true)).unwrap();
    }
}
