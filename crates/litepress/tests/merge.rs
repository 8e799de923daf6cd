//! Merged databases hold what SQLite's ATTACH and INSERT ... SELECT would give.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::cast_possible_truncation, reason = "random numbers are small")]

use litepress::{Conflict, ErrorKind, MergeOptions, Options, RowidPolicy, merge};
use rusqlite::Connection;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Random numbers that a seed repeats (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Returns a literal of SQL.
    fn value(&mut self) -> String {
        match self.below(9) {
            0 => "NULL".to_owned(),
            1 => (self.below(20) as i64 - 10).to_string(),
            2 => (self.below(1 << 60) as i64).to_string(),
            3 => format!("{}.5", self.below(100)),
            4 => format!("{}.0", self.below(100)),
            5 => format!("x'{:02x}'", self.below(256)),
            6 => format!("'{}'", "long ".repeat(self.below(3000) as usize)),
            _ => format!("'té{}'", self.below(1000)),
        }
    }
}

/// A table of a random schema.
struct RandomTable {
    name: String,
    create: String,
    /// The columns that rows are given for.
    columns: Vec<String>,
    /// The key: its values must differ, so that most merges succeed.
    has_key: bool,
    /// Statements that later versions of the program ran on databases with rows.
    later: Vec<String>,
    indexes: Vec<String>,
}

fn random_table(random: &mut Random, number: usize) -> RandomTable {
    let name = ["t", "u u", "w"][number].to_owned();
    let kind = random.below(5);
    let key = match kind {
        0 => "k INTEGER PRIMARY KEY, ",
        1 => "k INTEGER PRIMARY KEY AUTOINCREMENT, ",
        2 => "k INT NOT NULL PRIMARY KEY, ",
        _ => "k, ",
    };
    let types = ["INTEGER", "TEXT", "REAL", "BLOB", "", "TEXT COLLATE NOCASE"];
    let mut columns = String::from(key);
    let more = 1 + random.below(4);
    let mut names = vec!["k".to_owned()];
    for column in 0..more {
        write!(columns, "c{column} {}, ", types[random.below(6) as usize]).unwrap();
        names.push(format!("c{column}"));
    }
    if random.chance(5) {
        columns += "s AS (length(c0)) STORED, ";
    }
    if random.chance(5) {
        columns += "v AS (typeof(c0)), ";
    }
    let columns = columns.trim_end_matches(", ");
    let without_rowid = if kind == 2 { " WITHOUT ROWID" } else { "" };
    let create = format!("CREATE TABLE \"{name}\" ({columns}){without_rowid}");
    let mut indexes = Vec::new();
    for index in 0..random.below(3) {
        let what = ["c0", "c0 DESC, k", "lower(c0)", "c0 COLLATE NOCASE", "k"][random.below(5) as usize];
        let partial = if random.chance(4) { " WHERE c0 > 5" } else { "" };
        indexes.push(format!("CREATE INDEX \"{name} {index}\" ON \"{name}\" ({what}){partial}"));
    }
    let later = match random.below(3) {
        0 => vec![format!("ALTER TABLE \"{name}\" ADD COLUMN late REAL NOT NULL DEFAULT 7")],
        1 => vec![
            format!("ALTER TABLE \"{name}\" ADD COLUMN late TEXT DEFAULT 'wörd'"),
            format!("ALTER TABLE \"{name}\" ADD COLUMN later"),
        ],
        _ => Vec::new(),
    };
    RandomTable { name, create, columns: names, has_key: kind < 3, later, indexes }
}

/// Makes a shard. Its connection stays open, so that a log is not checkpointed.
fn random_shard(random: &mut Random, path: &Path, number: u64, tables: &[RandomTable], overlaps: bool) -> Connection {
    let connection = Connection::open(path).unwrap();
    let page = 512 << random.below(4);
    let encoding = if random.chance(6) { "UTF-16le" } else { "UTF-8" };
    connection.execute_batch(&format!("PRAGMA page_size = {page}; PRAGMA encoding = '{encoding}'")).unwrap();
    if random.chance(3) {
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    }
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    for table in tables {
        connection.execute_batch(&table.create).unwrap();
        let rows = [0, 3, 70][random.below(3) as usize];
        let mut key = if overlaps { random.below(50) } else { number * 10_000 };
        let mut insert = |connection: &Connection, random: &mut Random| {
            key += 1 + random.below(3);
            let k = if table.has_key || random.chance(2) { key.to_string() } else { random.value() };
            let values: Vec<String> =
                table.columns.iter().map(|name| if name == "k" { k.clone() } else { random.value() }).collect();
            let sql =
                format!("INSERT INTO \"{}\" ({}) VALUES ({})", table.name, table.columns.join(","), values.join(","));
            connection.execute_batch(&sql).unwrap();
        };
        (0..rows).for_each(|_| insert(&connection, random));
        table.later.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
        (0..rows / 2).for_each(|_| insert(&connection, random));
        if random.chance(4) {
            connection.execute_batch(&format!("DELETE FROM \"{}\" WHERE length(quote(c0)) % 2", table.name)).unwrap();
        }
        table.indexes.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
    }
    connection.execute_batch("CREATE VIEW seen AS SELECT * FROM t; COMMIT").unwrap();
    connection
}

/// Merges by ATTACH and INSERT ... SELECT. Returns SQLite's error if it refuses a row.
fn merge_by_sqlite(shards: &[PathBuf], tables: &[RandomTable], conflict: Conflict) -> rusqlite::Result<Connection> {
    let merged = Connection::open_in_memory()?;
    for table in tables {
        let statements = std::iter::once(&table.create).chain(&table.later).chain(&table.indexes);
        statements.into_iter().try_for_each(|sql| merged.execute_batch(sql))?;
    }
    let verb = match conflict {
        Conflict::Abort => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Update => unreachable!("it makes no database"),
    };
    for shard in shards {
        // Copied, because the encoding of attached databases must be the same.
        let source = Connection::open(shard)?;
        for table in tables {
            let sql = format!(
                "SELECT group_concat('\"' || name || '\"') FROM pragma_table_xinfo('{}') WHERE hidden = 0",
                table.name
            );
            let columns: String = source.query_row(&sql, [], |row| row.get(0))?;
            let marks = vec!["?"; columns.split(',').count()].join(",");
            let mut insert = merged.prepare(&format!("{verb} INTO \"{}\" ({columns}) VALUES ({marks})", table.name))?;
            let mut rows = source.prepare(&format!("SELECT {columns} FROM \"{}\" NOT INDEXED", table.name))?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let values: Vec<rusqlite::types::Value> =
                    (0..columns.split(',').count()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
                insert.execute(rusqlite::params_from_iter(values))?;
            }
        }
    }
    Ok(merged)
}

/// Returns all rows of a table as SQL literals, sorted.
fn rows(connection: &Connection, table: &str) -> Vec<String> {
    let sql =
        format!("SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_xinfo('{table}')");
    let row: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
    let mut rows = connection.prepare(&format!("SELECT {row} FROM \"{table}\" ORDER BY 1")).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut rows = connection.prepare(sql).unwrap();
    rows.query_map([], |row| row.get::<_, String>(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn text(connection: &Connection, sql: &str) -> String {
    texts(connection, sql).join("\n")
}

/// Makes databases that each run the same statements, and one that is their own.
fn shards(folder: &TempDir, sql: &str, own: &[&str]) -> Vec<PathBuf> {
    let shard = |(number, own): (usize, &&str)| {
        let path = folder.path().join(format!("{number}.db"));
        Connection::open(&path).unwrap().execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}; {own}")).unwrap();
        path
    };
    own.iter().enumerate().map(shard).collect()
}

fn renumber() -> MergeOptions {
    MergeOptions::default().rowids(RowidPolicy::Renumber)
}

/// Returns whether the databases could be merged.
fn random_merge(seed: u64) -> bool {
    let random = &mut Random(seed);
    let folder = TempDir::new().unwrap();
    let tables: Vec<RandomTable> =
        (0..1 + random.below(3) as usize).map(|number| random_table(random, number)).collect();
    let overlaps = random.chance(2);
    // More than stay open.
    let count = 1 + random.below(12);
    let paths: Vec<PathBuf> = (0..count).map(|number| folder.path().join(format!("{number:02}.db"))).collect();
    let open: Vec<Connection> =
        paths.iter().zip(0..).map(|(path, number)| random_shard(random, path, number, &tables, overlaps)).collect();
    let conflict = [Conflict::Abort, Conflict::Ignore, Conflict::Replace][random.below(3) as usize];
    let out = folder.path().join("out.db");
    let options =
        MergeOptions::default().build(Options::default().on_conflict(conflict).threads(1 + seed as usize % 3));
    let expected = merge_by_sqlite(&paths, &tables, conflict);
    let before: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let merged = merge(&*out, &paths, &options);
    let expected = match (expected, merged) {
        (Ok(expected), Ok(_)) => expected,
        (Err(_), Err(error)) => {
            assert!(error.kind() == ErrorKind::Constraint && !out.exists(), "seed {seed}: {error}");
            return false;
        }
        (expected, merged) => panic!("seed {seed}: {:?}, {:?}", expected.err(), merged.map(drop).err()),
    };
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok", "seed {seed}");
    for table in &tables {
        assert_eq!(rows(&merged, &table.name), rows(&expected, &table.name), "seed {seed}, table {}", table.name);
    }
    let sequences = "SELECT name || seq FROM sqlite_sequence ORDER BY 1";
    let has_sequence = tables.iter().any(|table| table.create.contains("AUTOINCREMENT"));
    if has_sequence && conflict == Conflict::Abort {
        // Deleted rows count in the shards, and not in their copy.
        let least = texts(&expected, sequences);
        assert!(texts(&merged, sequences).len() >= least.len(), "seed {seed}");
    }
    let objects = "SELECT count(*) || group_concat(name) FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'";
    assert_eq!(text(&merged, objects), text(&open[0], objects), "seed {seed}");
    for (path, before) in paths.iter().zip(before) {
        assert!(std::fs::read(path).unwrap() == before, "seed {seed}: a shard was changed");
    }
    true
}

#[test]
fn random_databases_are_merged_as_sqlite_would() {
    let merged = (0..50).map(random_merge).filter(|is_merged| *is_merged).count();
    assert!((20..50).contains(&merged), "{merged} of 50 were merged: the others have a key twice");
}

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

/// Two rows with one key: the error says where they are, and what helps.
#[test]
fn a_key_in_two_databases_names_both() {
    for (schema, own, column, value) in [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY, x)", "INSERT INTO t VALUES (5, 1), (7, 2)", "t.id", "5"),
        ("CREATE TABLE t (x TEXT UNIQUE)", "INSERT INTO t VALUES ('it''s'), ('b')", "t.x", "'b'"),
        (
            "CREATE TABLE t (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "INSERT INTO t VALUES (1, 'x')",
            "t.a, t.b",
            "1, 'x'",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let shards = shards(&folder, schema, &["", own, own]);
        let out = folder.path().join("out.db");
        let error = merge(&*out, &shards, &MergeOptions::default()).map(drop).unwrap_err();
        let [one, two] = ["1.db", "2.db"].map(|name| folder.path().join(name).display().to_string());
        let expected = format!("UNIQUE constraint failed: {column}: {one} and {two} have the same key");
        assert!(error.message().contains(&expected), "{error}");
        assert_eq!((error.kind(), error.place().value.as_deref()), (ErrorKind::Constraint, Some(value)), "{error}");
        let advice = error.advice().unwrap();
        assert!(advice.contains("on_conflict(Conflict::Ignore)"), "{advice}");
        assert_eq!(
            advice.contains("table_rowids(\"t\", RowidPolicy::Renumber)"),
            schema.contains("INTEGER"),
            "{advice}"
        );
        assert!(!out.exists());
    }
}

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

/// Rows of a full-text table may have the rowids of a table: nothing says whether they should follow.
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

/// AUTOINCREMENT gives no rowid twice. Rows of the second database got those of rows that the first one had deleted.
#[test]
fn rowids_that_autoincrement_has_given_are_not_given_again() {
    let folder = TempDir::new().unwrap();
    let shards: Vec<PathBuf> = [
        "INSERT INTO t VALUES (1, 'a'), (100, 'gone')",
        "INSERT INTO t VALUES (40, 'gone')",
        "INSERT INTO t VALUES (2, 'c')",
    ]
    .iter()
    .enumerate()
    .map(|(number, rows)| {
        let path = folder.path().join(format!("{number}.db"));
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x)";
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch(&format!("{sql}; {rows}; DELETE FROM t WHERE x = 'gone'")).unwrap();
        path
    })
    .collect();
    let target = folder.path().join("all.db");
    let options = MergeOptions::default().rowids(RowidPolicy::Renumber);
    merge(&*target, &shards, &options).unwrap();
    let merged = Connection::open(&target).unwrap();
    assert_eq!(text(&merged, "SELECT group_concat(id || x, ' ') FROM t"), "1a 102c");
    assert_eq!(text(&merged, "SELECT seq || '' FROM sqlite_sequence"), "102");
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

#[test]
fn settings_sequences_and_sources() {
    let folder = TempDir::new().unwrap();
    let schema = "PRAGMA page_size = 1024; PRAGMA application_id = 7; PRAGMA user_version = 3;
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x); CREATE TABLE e (x);
        CREATE VIEW v AS SELECT x FROM t; CREATE TRIGGER g AFTER INSERT ON e BEGIN DELETE FROM e; END";
    let shards = shards(
        &folder,
        schema,
        &[
            "INSERT INTO t VALUES (1, 'a'), (90, 'b'); DELETE FROM t WHERE id = 90",
            "INSERT INTO t VALUES (2, 'c'); PRAGMA user_version = 4",
        ],
    );
    let out = folder.path().join("out.db");
    let report = merge(&*out, [folder.path()], &MergeOptions::default().source_column("from shard")).unwrap();
    assert_eq!((report.databases, report.build.summary.rows), (2, 2));
    assert!(report.notes[0].to_string().starts_with("user_version is 3 as in "), "{:?}", report.notes);
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "SELECT group_concat(id || x || \"from shard\") FROM t"), {
        let [one, two] = [&shards[0], &shards[1]].map(|shard| shard.display());
        format!("1a{one},2c{two}")
    });
    assert_eq!(text(&merged, "SELECT seq || '' FROM sqlite_sequence WHERE name = 't'"), "90");
    let settings = "SELECT page_size || ',' || application_id || ',' || user_version FROM pragma_page_size, pragma_application_id, pragma_user_version";
    assert_eq!(text(&merged, settings), "1024,7,3");
    assert_eq!(text(&merged, "SELECT group_concat(name) FROM sqlite_schema"), "t,sqlite_sequence,e,v,g");
    let error = merge(&*out, [folder.path()], &MergeOptions::default()).unwrap_err();
    assert!(error.message().contains("is one of those to merge"), "{error}");
}

/// A table whose columns have all three names of the rowid could not be merged: "the largest rowids of all databases together exceed
/// 9223372036854775807", although there were two rows. SQL cannot ask for its rowids, so they are read from the pages.
#[test]
fn a_table_whose_columns_hide_the_rowid() {
    let folder = TempDir::new().unwrap();
    let schema = "CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT)";
    let insert = "INSERT INTO t VALUES ('a', 'b', 'c'), ('d', 'e', 'f')";
    let shards = shards(&folder, schema, &[insert, insert, ""]);
    let out = folder.path().join("out.db");
    let report = merge(&*out, &shards, &MergeOptions::default()).unwrap();
    assert_eq!(report.build.summary.rows, 4);
    assert!(report.notes[0].to_string().contains("rows get new rowids"), "{:?}", report.notes);
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
    assert_eq!(text(&merged, "SELECT group_concat(oid) FROM t"), "c,f,c,f");
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
