//! Indexes of tables that exist, compared with those that SQLite makes.

use super::super::index::{IndexReport, IndexTask, make_indexes};
use super::*;

const TABLES: &str = "
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, b BLOB, n NUMERIC, c TEXT COLLATE NOCASE);
    CREATE TABLE keyed (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TABLE computed (a INTEGER, d INTEGER GENERATED ALWAYS AS (a * 2) STORED, v AS (a + 1));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO kinds SELECT
        i, CASE WHEN i % 7 THEN random() % 1000 END, i / 3.0, CASE i % 400 WHEN 0 THEN hex(zeroblob(2000 + i)) ELSE 't' || (i % 300) END,
        randomblob(i % 20), CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i * 0.5 ELSE 'x' END, CASE i % 2 WHEN 0 THEN 'Word ' ELSE 'word ' END || (i % 90)
        FROM n;
    INSERT INTO keyed SELECT t, id, n FROM kinds; INSERT INTO computed SELECT id % 50 FROM kinds;
    ALTER TABLE kinds ADD COLUMN added TEXT DEFAULT 1.10; ALTER TABLE kinds ADD COLUMN plain;
    INSERT INTO kinds (i, added, plain) VALUES (5, 'later', 6), (6, NULL, NULL);
";

const INDEXES: [&str; 12] = [
    "CREATE INDEX ki ON kinds (i)",
    "create  unique index kid on kinds (id desc, i) ;",
    "CREATE INDEX krt ON kinds (r DESC, t)",
    "CREATE INDEX main.kb ON kinds (b); CREATE INDEX kn ON kinds (n)",
    "CREATE INDEX kc ON kinds (c, t COLLATE RTRIM DESC)",
    "CREATE INDEX ka ON kinds (added, plain)",
    "CREATE INDEX keyed_c ON keyed (c)",
    "CREATE UNIQUE INDEX keyed_ab ON keyed (a DESC, b)",
    "CREATE INDEX computed_d ON computed (d)",
    "CREATE INDEX computed_v ON computed (v)",
    "CREATE INDEX ke ON kinds (abs(i))",
    "CREATE INDEX kp ON kinds (i) WHERE i > 100",
];

fn make(path: &Path, statements: &[&str]) -> Result<IndexReport> {
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    make_indexes(path, IndexTask::Create(&statements), &LiveOptions::default())
}

fn schema(path: &Path) -> Vec<(String, String, String, Option<String>)> {
    let connection = Connection::open(path).unwrap();
    let mut select = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    let mut rows: Vec<_> = rows.map(|row| row.unwrap()).collect();
    // VACUUM writes tables first.
    rows.sort();
    rows
}

#[test]
fn indexes_are_those_of_sqlite() {
    for (page_size, mode) in [(512, "delete"), (1024, "wal"), (4096, "delete"), (4096, "wal"), (65536, "wal")] {
        let (folder, path) = database(page_size, mode);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch(TABLES).unwrap();
        let copy = folder.path().join("copy.db");
        sqlite.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        Connection::open(&copy).unwrap().execute_batch(&INDEXES.join(";")).unwrap();
        let reader = Connection::open(&path).unwrap();
        if mode == "wal" {
            reader.execute_batch("BEGIN").unwrap();
        }
        assert_eq!(number(&reader, "SELECT count(*) FROM sqlite_schema"), 5);
        let report = make(&path, &INDEXES).unwrap();
        let by_sqlite: Vec<&str> =
            report.indexes.iter().filter(|index| index.entries.is_none()).map(|index| index.name.as_str()).collect();
        assert!(by_sqlite.is_empty(), "{by_sqlite:?}");
        assert!(report.indexes.iter().all(|index| index.entries.is_some() != index.by_sqlite.is_some()), "{report:?}");
        assert_eq!((report.rows, report.repeated), (4002 + 4000 + 4000, false));
        if mode == "wal" {
            assert_eq!(number(&reader, "SELECT count(*) FROM sqlite_schema"), 5);
            reader.execute_batch("COMMIT").unwrap();
        }
        check(&path);
        assert_eq!(schema(&path), schema(&copy));
        let by_index = "SELECT count(*) FROM kinds INDEXED BY ka WHERE added = '1.10'";
        assert_eq!(number(&reader, by_index), 4000);
        sqlite.execute_batch("INSERT INTO kinds SELECT NULL, i, r, t, b, n, c, added, plain FROM kinds; DELETE FROM keyed WHERE b % 3").unwrap();
        drop((sqlite, reader));
        check(&path);
    }
}

/// Rows that comparisons with literals exclude are not shown to SQLite.
#[test]
fn partial_indexes_have_the_rows_of_their_predicate() {
    let predicates = [
        ("kinds", "i > 500"),
        ("kinds", "i IS NULL AND r < 900.5"),
        ("kinds", "t = 't7'"),
        ("kinds", "t >= 't2' AND lower(c) = 'word 5'"),
        ("kinds", "c = 'word 7'"),
        ("kinds", "n = 3.5 AND b IS NOT NULL"),
        ("kinds", "n > 3 AND n <> 9"),
        ("kinds", "added = '1.10' AND i < 0"),
        ("kinds", "added > '1' AND plain IS NULL"),
        ("kinds", "plain"),
        ("kinds", "plain = 6"),
        ("keyed", "b < 200 AND c != 'x'"),
        ("keyed", "a = 't3'"),
        ("computed", "d = 40"),
        ("computed", "a = 20 AND v > 3"),
    ];
    let (folder, path) = database(1024, "delete");
    let sqlite = Connection::open(&path).unwrap();
    sqlite.execute_batch(TABLES).unwrap();
    let entries = |path: &Path, at: usize| {
        let (table, predicate) = predicates[at];
        let sqlite = Connection::open(path).unwrap();
        let count = |by: &str| number(&sqlite, &format!("SELECT count(*) FROM {table} {by} WHERE {predicate}"));
        (count(&format!("INDEXED BY p{at}")), count("NOT INDEXED"))
    };
    let statement = |at: usize| {
        let (table, predicate) = predicates[at];
        let column = if table == "kinds" { "t" } else { "a" };
        format!("CREATE INDEX p{at} ON {table} ({column}) WHERE {predicate}")
    };
    let statements: Vec<String> = (0..predicates.len()).map(statement).collect();
    let copy = folder.path().join("copy.db");
    let run = |at: std::ops::Range<usize>| {
        std::fs::remove_file(&copy).unwrap_or_default();
        sqlite.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        let texts: Vec<&str> = statements[at.clone()].iter().map(String::as_str).collect();
        let report = make(&copy, &texts).unwrap();
        for (index, at) in report.indexes.iter().zip(at) {
            let (found, expected) = entries(&copy, at);
            let told = index.entries.expect("made by litepress").cast_signed();
            assert_eq!((found, told), (expected, expected), "{}", statements[at]);
            let least = if predicates[at].1.starts_with("added = ") { 0 } else { 1 };
            assert!(expected >= least, "{}", statements[at]);
        }
        check(&copy);
    };
    (0..predicates.len()).for_each(|at| run(at..at + 1));
    run(0..predicates.len());
}

#[test]
fn nothing_is_made_if_one_cannot_be() {
    for mode in MODES {
        let (_folder, path) = database(4096, mode);
        Connection::open(&path).unwrap().execute_batch(TABLES).unwrap();
        let before = schema(&path);
        let size = std::fs::metadata(&path).unwrap().len();
        for (statement, kind, words) in [
            ("CREATE UNIQUE INDEX u ON computed (a)", ErrorKind::Constraint, "UNIQUE constraint failed: computed.a"),
            ("CREATE UNIQUE INDEX u ON kinds (abs(i))", ErrorKind::Constraint, "UNIQUE constraint failed"),
            ("CREATE INDEX by_name ON old (name)", ErrorKind::Schema, "index by_name already exists"),
            ("CREATE INDEX i ON absent (a)", ErrorKind::Schema, "no such table: main.absent"),
            ("CREATE INDEX i ON kinds (absent)", ErrorKind::Schema, "absent"),
            ("CREATE INDEX i ON kinds (t COLLATE mine)", ErrorKind::Schema, "no such collation sequence: mine"),
            ("DROP TABLE old", ErrorKind::Usage, "only CREATE INDEX"),
            ("DELETE FROM old", ErrorKind::Usage, "only CREATE INDEX"),
            ("CREATE TABLE x (a)", ErrorKind::Usage, "only CREATE INDEX"),
            ("-- nothing", ErrorKind::Usage, "not a statement"),
        ] {
            let refused = make(&path, &["CREATE INDEX good ON kinds (i)", statement]).unwrap_err();
            assert_eq!(refused.kind(), kind, "{statement}: {refused}");
            assert!(refused.to_string().contains(words), "{statement}: {refused}");
            assert_eq!(schema(&path), before, "{statement}");
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), size, "{mode}");
        let report = make(&path, &["CREATE INDEX IF NOT EXISTS by_name ON old (name)"]).unwrap();
        assert_eq!((report.indexes, report.existing), (Vec::new(), vec!["by_name".to_owned()]));
        check(&path);
    }
}

#[test]
fn indexes_are_made_again() {
    for mode in MODES {
        let (_folder, path) = database(1024, mode);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch(TABLES).unwrap();
        sqlite.execute_batch(&INDEXES.join(";")).unwrap();
        sqlite
            .execute_batch(
                "CREATE TABLE auto (a UNIQUE, b, UNIQUE (b, a)); INSERT INTO auto SELECT i, t FROM kinds GROUP BY i",
            )
            .unwrap();
        // Entries that do not belong to any row, as an older collation may leave them.
        sqlite
            .execute_batch(
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'krt')
                 WHERE name = 'none'; PRAGMA writable_schema = RESET",
            )
            .unwrap();
        let all = make_indexes(&path, IndexTask::Again(&[]), &LiveOptions::default()).unwrap();
        assert_eq!(all.indexes.len(), 1 + 13 + 2, "{all:?}");
        assert!(all.commit.pages_freed > 0);
        check(&path);
        for names in [vec!["ki".to_owned()], vec!["AUTO".to_owned(), "kc".to_owned()]] {
            let report = make_indexes(&path, IndexTask::Again(&names), &LiveOptions::default()).unwrap();
            assert_eq!(report.indexes.len(), if names.len() == 1 { 1 } else { 3 });
            check(&path);
        }
        let refused =
            make_indexes(&path, IndexTask::Again(&["absent".to_owned()]), &LiveOptions::default()).unwrap_err();
        assert!(refused.to_string().contains("no table or index absent"), "{refused}");
        sqlite.execute_batch("INSERT INTO kinds (t) SELECT t FROM kinds").unwrap();
        drop(sqlite);
        check(&path);
    }
}

#[test]
fn others_may_commit_during_the_scan() {
    let (_folder, path) = database(4096, "wal");
    let other = Connection::open(&path).unwrap();
    let mut database = open(&path);
    let calls = std::cell::Cell::new(0);
    let work = |connection: &Connection, _: &litepress_scan::Snapshot| {
        calls.set(calls.get() + 1);
        if calls.get() == 1 {
            other.execute_batch("INSERT INTO old (name) VALUES ('meanwhile')").unwrap();
        }
        Ok(number(connection, "SELECT count(*) FROM old"))
    };
    let (transaction, count, repeated) = database.begin_after(work).unwrap();
    assert_eq!((count, repeated, calls.get()), (2100, true, 2));
    drop(transaction);
    let (mut transaction, count, repeated) = database.begin_after(work).unwrap();
    assert_eq!((count, repeated), (2100, false));
    assert!(other.execute_batch("PRAGMA busy_timeout = 0; INSERT INTO old (name) VALUES ('locked out')").is_err());
    add_table(&mut transaction, "fresh", 2500).unwrap();
    transaction.commit().unwrap();
    drop((database, other));
    use_it(&path);
}

#[test]
fn sqlite_makes_indexes_where_pages_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vacuumed.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        .unwrap();
    let report = make(&path, &["CREATE INDEX a ON t (a)", "CREATE INDEX IF NOT EXISTS a ON t (b)"]).unwrap();
    assert_eq!(report.only_sqlite.unwrap().to_string(), "it is in auto_vacuum mode");
    assert_eq!((report.indexes.len(), report.existing), (1, vec!["a".to_owned()]));
    let refused = make(&path, &["CREATE INDEX b ON t (b)", "DROP TABLE t"]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage);
    assert_eq!(schema(&path).len(), 2);
    let again = make_indexes(&path, IndexTask::Again(&["t".to_owned()]), &LiveOptions::default()).unwrap();
    assert_eq!(again.indexes.len(), 1);
    check(&path);
}
