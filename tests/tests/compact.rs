//! Compact copies: the same objects, rowids and entries as the database, in fewer pages.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use front_door::{CompactOptions, CompactReport, Error, ErrorKind, PageSize, Result, Sync, Target, Verify, compact};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{
    self, OldSqlite, assert_same_content, assert_same_rows, assert_same_schema, assert_sqlite_content, integer, texts,
};
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Databases with objects of every kind. `COUNT` stands for a recursive query of numbers.
const DATABASES: [(&str, &str); 15] = [
    ("empty", "PRAGMA user_version = 0"),
    ("schema without rows", "CREATE TABLE t(a UNIQUE); CREATE INDEX i ON t(a); CREATE TABLE k(a PRIMARY KEY) WITHOUT ROWID"),
    (
        "rowids without a name and with gaps",
        "CREATE TABLE t(a, b); INSERT INTO t SELECT n, hex(randomblob(n % 40)) FROM COUNT;
         DELETE FROM t WHERE rowid % 3 > 0; INSERT INTO t(rowid, a) VALUES (-9223372036854775808, 1), (9223372036854775807, 2)",
    ),
    (
        "indexes of every kind",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b REAL, c UNIQUE);
         INSERT INTO t SELECT n, char(65 + n % 50), n * 0.5, n FROM COUNT;
         CREATE INDEX i1 ON t(a, b DESC); CREATE INDEX i2 ON t(a || b, length(c)); CREATE INDEX i3 ON t(b) WHERE id % 7 = 0;
         CREATE UNIQUE INDEX i4 ON t(c COLLATE RTRIM, a)",
    ),
    (
        "without rowid",
        "CREATE TABLE t(a TEXT, b, c, PRIMARY KEY(b DESC, a)) WITHOUT ROWID; CREATE INDEX i ON t(c);
         INSERT INTO t SELECT n, n % 7, zeroblob(n % 300) FROM COUNT; CREATE TABLE one(a PRIMARY KEY) WITHOUT ROWID;
         INSERT INTO one VALUES (1)",
    ),
    (
        "overflow",
        "CREATE TABLE t(a, b); INSERT INTO t SELECT randomblob(n * 7), hex(randomblob(n)) FROM COUNT WHERE n < 900;
         CREATE INDEX i ON t(b, a); INSERT INTO t VALUES (randomblob(3000000), 1); DELETE FROM t WHERE rowid % 2",
    ),
    (
        "views and triggers",
        "CREATE TABLE t(a); CREATE TABLE log(a); CREATE VIEW v AS SELECT a + 1 AS b FROM t;
         CREATE TRIGGER t AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;
         CREATE TRIGGER w INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (new.b - 1); END;
         INSERT INTO t SELECT n FROM COUNT",
    ),
    (
        "settings and statistics",
        "PRAGMA user_version = -7; PRAGMA application_id = 252006673; PRAGMA default_cache_size = 77;
         CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b); CREATE INDEX i ON t(b);
         INSERT INTO t(b) SELECT n % 10 FROM COUNT; DELETE FROM t WHERE a > 100; ANALYZE; CREATE TABLE u(c)",
    ),
    (
        "full-text search with content elsewhere",
        "CREATE TABLE doc(body); INSERT INTO doc SELECT 'word' || n || ' and more' FROM COUNT; DELETE FROM doc WHERE rowid % 5 = 0;
         CREATE VIRTUAL TABLE f USING fts5(body, content = 'doc'); INSERT INTO f(f) VALUES ('rebuild');
         CREATE VIRTUAL TABLE own USING fts5(a, b, prefix = '2 3'); INSERT INTO own SELECT 'x' || n, 'y' FROM COUNT;
         CREATE VIRTUAL TABLE old USING fts4(a); INSERT INTO old SELECT 'z' || n FROM COUNT WHERE n < 99",
    ),
    (
        "r-tree",
        "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, +note); INSERT INTO r SELECT n, n, n + 2, 'n' || n FROM COUNT",
    ),
    (
        "UTF-16, little-endian",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE \"täble\"(\"spälte\" TEXT, b); CREATE INDEX \"ïndex\" ON \"täble\"(\"spälte\");
         INSERT INTO \"täble\" SELECT 'wört' || n, n FROM COUNT; CREATE VIEW v AS SELECT * FROM \"täble\"",
    ),
    (
        "UTF-16, big-endian",
        "PRAGMA encoding = 'UTF-16be'; CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t SELECT 'ä' || n, n FROM COUNT;
         CREATE TABLE s(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE); INSERT INTO s(b) SELECT n FROM COUNT; ANALYZE",
    ),
    (
        "columns that rows do not have, generated columns",
        "CREATE TABLE t(a, g AS (a * 2) STORED, v AS (a + 1)); INSERT INTO t(a) SELECT n FROM COUNT; CREATE INDEX i ON t(v);
         ALTER TABLE t ADD COLUMN late DEFAULT 'x'; ALTER TABLE t ADD COLUMN later INT; INSERT INTO t(a) VALUES (7);
         ALTER TABLE t RENAME COLUMN a TO renamed",
    ),
    (
        "strict, odd names",
        "CREATE TABLE \"a b\"\"c\"(\"select\" INTEGER, t ANY) STRICT; INSERT INTO \"a b\"\"c\" SELECT n, n || '' FROM COUNT;
         CREATE TABLE [x](y); INSERT INTO x VALUES (1.5), (NULL), (x'00'), ('a' || char(0) || 'b')",
    ),
    (
        "many objects",
        "CREATE TABLE t(a, b); INSERT INTO t SELECT n, -n FROM COUNT; DROP TABLE IF EXISTS none; MANY",
    ),
];

/// Opens a database.
fn open(path: &Path) -> Connection {
    let sqlite = Connection::open(path).unwrap();
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    sqlite
}

/// Makes a database in SQLite, with pages of this size.
fn make(path: &Path, page_bytes: u32, sql: &str) {
    const NUMBERS: &str = "(WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 3000) SELECT n FROM number)";
    let mut many = String::new();
    for number in 0..150 {
        write!(many, "CREATE TABLE many{number}(a, b DEFAULT 'some text to make the schema larger than a page');")
            .unwrap();
        write!(many, "CREATE INDEX i{number} ON many{number}(b); INSERT INTO many{number} VALUES ({number}, 1);")
            .unwrap();
    }
    many += "DROP TABLE many7; DROP INDEX i9;";
    let sqlite = open(path);
    sqlite.execute_batch(&format!("PRAGMA page_size = {page_bytes}; PRAGMA journal_mode = MEMORY")).unwrap();
    let sql = sql.replace("COUNT", NUMBERS).replace("MANY", &many);
    sqlite.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
}

/// Asserts that the copy has everything that the database has, and that SQLite finds nothing wrong with it and can write to it.
fn assert_copy(original: &Path, copy: &Path, what: &str) {
    let (theirs, mut ours) = (open(original), open(copy));
    assert_sqlite_content(&mut ours, what);
    for pragma in ["encoding", "user_version", "application_id", "auto_vacuum", "journal_mode", "default_cache_size"] {
        assert_same_rows(&ours, &theirs, &format!("PRAGMA {pragma}"), what);
    }
    assert_same_schema(&ours, &theirs, what);
    assert_same_content(&ours, &theirs, what);
    assert_eq!(integer(&ours, "PRAGMA freelist_count"), 0, "{what}");
    assert_ne!(integer(&ours, "PRAGMA schema_version"), integer(&theirs, "PRAGMA schema_version"), "{what}");
    for table in texts(&ours, "SELECT name FROM pragma_table_list WHERE type = 'virtual' AND schema = 'main'") {
        let sql = texts(&ours, &format!("SELECT sql FROM sqlite_schema WHERE name = '{table}'")).remove(0);
        if sql.contains("rtree") {
            assert_eq!(texts(&ours, &format!("SELECT rtreecheck('{table}')")), ["ok"], "{what}");
        } else {
            ours.execute_batch(&format!("INSERT INTO {table}({table}) VALUES ('integrity-check')")).unwrap();
        }
    }
    for (index, table) in indexes(&theirs) {
        // Both read the index alone, in its order.
        let sql = format!("SELECT count(*), sum(rowid) FROM \"{}\" INDEXED BY \"{index}\"", table.replace('"', "\"\""));
        if ours.prepare(&sql).is_ok() {
            assert_same_rows(&ours, &theirs, &sql, what);
        }
    }
    drop(ours);
    assert_writable(copy, what);
}

fn indexes(sqlite: &Connection) -> Vec<(String, String)> {
    let names = |column: &str| {
        texts(
            sqlite,
            &format!("SELECT {column} FROM sqlite_schema WHERE type = 'index' AND sql NOTNULL ORDER BY rowid"),
        )
    };
    names("name").into_iter().zip(names("tbl_name")).collect()
}

/// Asserts that SQLite can insert into every table of a scratch copy of the file, delete from it and drop everything.
fn assert_writable(copy: &Path, what: &str) {
    let scratch = copy.with_extension("scratch");
    fs::copy(copy, &scratch).unwrap();
    let mut sqlite = open(&scratch);
    let sql = "SELECT l.name FROM pragma_table_list l WHERE l.type = 'table' AND l.schema = 'main' AND NOT l.name LIKE 'sqlite\\_%' ESCAPE '\\'";
    for table in texts(&sqlite, sql) {
        let quoted = format!("\"{}\"", table.replace('"', "\"\""));
        let columns = texts(&sqlite, &format!("SELECT name FROM pragma_table_info('{}')", table.replace('\'', "''")));
        let columns: Vec<String> =
            columns.iter().map(|column| format!("\"{}\"", column.replace('"', "\"\""))).collect();
        for value in ["1000001", "1000002"] {
            let (names, values) = (columns.join(", "), vec![value; columns.len()].join(", "));
            sqlite.execute(&format!("INSERT INTO {quoted}({names}) VALUES ({values})"), []).unwrap();
        }
        sqlite.execute(&format!("DELETE FROM {quoted} WHERE {} = 1000001", columns[0]), []).unwrap();
    }
    sqlite.execute_batch("CREATE TABLE new_table(a); INSERT INTO new_table VALUES (1)").unwrap();
    assert_sqlite_content(&mut sqlite, what);
    fs::remove_file(scratch).unwrap();
}

fn copy_to(from: &Path, to: &Path, options: &CompactOptions) -> Result<CompactReport> {
    compact(from, Some(Target::from(to)), options)
}

/// Returns options for many small copies: no test cuts the power.
fn quick() -> CompactOptions {
    let options = CompactOptions::default();
    let build = options.build.clone().sync(Sync::Off);
    options.build(build)
}

#[test]
fn every_kind_of_object_is_copied() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for (number, (name, sql)) in DATABASES.into_iter().enumerate() {
        let (from, to) = (folder.join(&format!("{number}.db")), folder.join(&format!("{number}.copy.db")));
        make(&from, [512, 1024, 4096, 65536][number % 4], sql);
        let before = fs::read(&from).unwrap();
        let report = copy_to(&from, &to, &quick()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.bytes_before, before.len() as u64, "{name}");
        assert_eq!(report.build.summary.bytes, fs::metadata(&to).unwrap().len(), "{name}");
        assert!(report.build.summary.bytes <= report.bytes_before.max(65536), "{name}");
        assert_eq!(fs::read(&from).unwrap(), before, "{name}: the database is only read");
        assert_copy(&from, &to, name);
        files.push(to);
    }
    if let Some(old) = OldSqlite::find() {
        old.assert_sound(&files);
    }
}

#[test]
fn pages_may_have_another_size_and_copies_do_not_depend_on_threads() {
    let folder = Folder::new();
    for (name, sql) in DATABASES {
        let from = folder.join("from.db");
        make(&from, 4096, sql);
        for page_bytes in [512, 8192, 65536] {
            let mut copies = Vec::new();
            for threads in [1, 4] {
                let mut options = quick();
                options.build = options.build.threads(threads).page_size(PageSize::new(page_bytes).unwrap());
                let to = folder.join(&format!("to{threads}.db"));
                copy_to(&from, &to, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
                copies.push(fs::read(&to).unwrap());
            }
            assert!(copies[0] == copies[1], "{name}: pages of {page_bytes} bytes");
            assert_copy(&from, &folder.join("to4.db"), name);
            assert_eq!(integer(&open(&folder.join("to1.db")), "PRAGMA page_size"), i64::from(page_bytes), "{name}");
            ["to1.db", "to4.db"].iter().for_each(|file| fs::remove_file(folder.join(file)).unwrap());
        }
        fs::remove_file(from).unwrap();
    }
}

#[test]
fn a_database_is_compacted_in_place() {
    for (name, sql) in DATABASES {
        for mode in ["DELETE", "WAL"] {
            let folder = Folder::new();
            let (path, copy) = (folder.join("t.db"), folder.join("before.db"));
            make(&path, 4096, sql);
            open(&path).execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
            fs::copy(&path, &copy).unwrap();
            let report = compact(&path, None, &quick()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(report.build.file.as_deref(), Some(path.as_path()));
            assert_eq!(folder.names(), ["before.db", "t.db"], "{name}: nothing else is left");
            let kept = texts(&open(&path), "PRAGMA journal_mode").remove(0);
            assert_eq!(kept.to_uppercase(), mode, "{name}");
            // The judge reads a copy in memory, where there is no log.
            for file in [&path, &copy] {
                assert_eq!(texts(&open(file), "PRAGMA journal_mode = DELETE"), ["delete"]);
            }
            assert_copy(&copy, &path, name);
        }
    }
}

/// Returns the error of a compact run that must fail, after asserting that the database is as it was.
fn refused(path: &Path, options: &CompactOptions) -> Error {
    let before = fs::read(path).unwrap();
    let error = compact(path, None, options).expect_err("it must fail");
    assert!(fs::read(path).unwrap() == before, "the database stays as it was: {error}");
    error
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 4096, DATABASES[3].1);
    let user = open(&path);
    assert_eq!(integer(&user, "SELECT count(*) FROM t"), 3000);
    let error = compact(&path, None, &quick()).expect_err("it is open in this process");
    assert_eq!(error.kind(), ErrorKind::Target, "{error}");
    assert_eq!(integer(&user, "SELECT count(*) FROM t"), 3000);
    // A copy needs no more than to read it.
    copy_to(&path, &folder.join("copy.db"), &quick()).unwrap();
    user.execute_batch("INSERT INTO t(a) VALUES ('new')").unwrap();
    drop(user);
    assert_eq!(folder.names(), ["copy.db", "t.db"]);
    compact(&path, None, &quick()).unwrap();
    assert_eq!(integer(&open(&path), "SELECT count(*) FROM t"), 3001);
}

/// A database that is its own copy was said to be open in this program. It is replaced, as it is without a name for the copy.
#[test]
fn a_database_is_replaced_by_a_copy_of_its_name() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 4096, DATABASES[3].1);
    let mut options = quick();
    let error = copy_to(&path, &path, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
    options.build.overwrite = true;
    copy_to(&path, &path, &options).unwrap();
    assert_eq!(integer(&open(&path), "SELECT count(*) FROM t"), 3000);
}

#[test]
fn commits_in_the_log_are_copied() {
    let folder = Folder::new();
    let (path, copy) = (folder.join("t.db"), folder.join("copy.db"));
    make(&path, 4096, DATABASES[3].1);
    let writer = open(&path);
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    writer
        .execute_batch("UPDATE t SET b = b + 1 WHERE id % 3 = 0; DELETE FROM t WHERE id > 2000; CREATE TABLE late(a)")
        .unwrap();
    let report = copy_to(&path, &copy, &quick()).unwrap();
    assert_eq!(report.build.summary.rows, 2000);
    assert_same_content(&open(&copy), &writer, "WAL");
    assert_same_schema(&open(&copy), &writer, "WAL");
}

/// A database in WAL mode in a folder that cannot be written failed with "attempt to write a readonly database".
#[test]
fn a_database_in_a_folder_that_cannot_be_written_is_copied() {
    let folder = Folder::new();
    let (path, copy) = (folder.join("old.db"), folder.join("new.db"));
    make(
        &path,
        4096,
        "PRAGMA journal_mode = WAL; CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1), (2);",
    );
    // Keeps SQLite from creating the log, as such a folder does unless the user is root: a link to itself.
    let log = folder.join("old.db-wal");
    std::os::unix::fs::symlink(&log, &log).unwrap();
    copy_to(&path, &copy, &quick()).unwrap();
    fs::remove_file(&log).unwrap();
    assert_copy(&path, &copy, "without locks");
}

#[test]
fn chosen_tables_come_with_what_belongs_to_them() {
    let folder = Folder::new();
    let (path, copy) = (folder.join("t.db"), folder.join("copy.db"));
    let sql = "CREATE TABLE parent(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE); CREATE TABLE log(a);
        CREATE TABLE Child(id INTEGER PRIMARY KEY AUTOINCREMENT, p REFERENCES parent, a); CREATE INDEX child_a ON Child(a);
        CREATE INDEX child_p ON Child(p); INSERT INTO parent(a) SELECT n FROM COUNT; INSERT INTO Child(p, a) SELECT n, n FROM COUNT;
        CREATE VIEW v AS SELECT * FROM Child; CREATE VIEW other AS SELECT * FROM parent; ANALYZE;
        CREATE TRIGGER stays AFTER INSERT ON Child BEGIN UPDATE Child SET a = 1 WHERE id = 3; END;
        CREATE TRIGGER goes AFTER INSERT ON Child BEGIN INSERT INTO log VALUES (1); END;
        CREATE TRIGGER far AFTER INSERT ON parent BEGIN SELECT 1; END;
        CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x'); CREATE TABLE f_more(a)";
    make(&path, 1024, sql);
    let options = quick().only("CHILD").only("v").only("f").drop_index("Child_P");
    let report = copy_to(&path, &copy, &options).unwrap();
    let expected = ["trigger goes (needs log)", "view other", "table parent (a foreign key of Child references it)"];
    assert_eq!(report.left_out, expected);
    let (ours, theirs) = (open(&copy), open(&path));
    let names = texts(&ours, "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'f\\_%' ESCAPE '\\' ORDER BY name");
    assert_eq!(
        names,
        ["Child", "child_a", "f", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4", "stays", "v"]
            .into_iter()
            .filter(|name| *name != "sqlite_stat4"
                || integer(&theirs, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat4'") > 0)
            .collect::<Vec<_>>()
    );
    assert_eq!(texts(&ours, "SELECT name FROM sqlite_sequence"), ["Child"]);
    assert_eq!(
        texts(&ours, "SELECT DISTINCT coalesce(idx, tbl) FROM sqlite_stat1 WHERE tbl NOT LIKE 'f%'"),
        ["child_a"]
    );
    assert_same_rows(&ours, &theirs, "SELECT * FROM Child", "chosen");
    ours.execute_batch("INSERT INTO f(f) VALUES ('integrity-check'); INSERT INTO Child(a) VALUES (7)").unwrap();
    assert_sqlite_content(&mut open(&copy), "chosen");
}

#[test]
fn options_that_name_nothing_are_mistakes() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 4096, "CREATE TABLE t(a UNIQUE); CREATE INDEX i ON t(a)");
    let options = quick;
    for (options, message) in [
        (options().only("u"), "only(\"u\"): the database has no such table or view"),
        (options().drop_index("t"), "drop_index(\"t\"): the database has no such index"),
        (options().drop_index("sqlite_autoindex_t_1"), "it belongs to a PRIMARY KEY or UNIQUE constraint of t"),
    ] {
        let error = refused(&path, &options);
        assert!(error.kind() == ErrorKind::Usage && error.to_string().contains(message), "{error}");
    }
    let error = compact(folder.join("none.db"), None, &options()).expect_err("there is none");
    assert!(error.to_string().contains("there is no such database"), "{error}");
    let copy = folder.join("copy.db");
    fs::write(&copy, "something").unwrap();
    assert_eq!(copy_to(&path, &copy, &options()).expect_err("it exists").kind(), ErrorKind::Exists);
}

/// A copy of a damaged database would look sound and lack rows.
#[test]
fn damage_is_never_copied_in_silence() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 1024, DATABASES[3].1);
    let sound = fs::read(&path).unwrap();
    let before = copy_to(&path, &folder.join("sound.db"), &quick()).unwrap().build.summary.rows;
    let mut refused_runs = 0;
    for page in 0..sound.len() / 1024 {
        for (at, with) in [(0, 0x37), (3, 0xff), (8, 0xee), (12, 0x01)] {
            let mut bytes = sound.clone();
            let at = page * 1024 + at + if page == 0 { 100 } else { 0 };
            if bytes[at] == with {
                continue;
            }
            bytes[at] = with;
            fs::write(&path, &bytes).unwrap();
            let copy = folder.join("copy.db");
            match copy_to(&path, &copy, &quick()) {
                // The byte may be free space, or a part of a value.
                Ok(report) => assert_eq!(report.build.summary.rows, before, "page {}", page + 1),
                Err(error) => {
                    refused_runs += 1;
                    assert!(!copy.exists(), "{error}");
                    assert!(
                        matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io | ErrorKind::Unsupported),
                        "{error}"
                    );
                    assert!(error.to_string().contains("t.db"), "{error}");
                }
            }
            let _ = fs::remove_file(copy);
        }
    }
    assert!(refused_runs > 100, "{refused_runs}");
    fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    let error = refused(&path, &quick());
    assert!(error.to_string().contains("t.db"), "{error}");
}

#[test]
fn an_index_that_lacks_rows_is_found() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 4096, "CREATE TABLE t(a); CREATE INDEX i ON t(a); INSERT INTO t SELECT n FROM COUNT");
    let root = integer(&open(&path), "SELECT rootpage FROM sqlite_schema WHERE name = 'i'");
    open(&path).execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'i'").unwrap();
    open(&path).execute_batch("INSERT INTO t VALUES (-1)").unwrap();
    let row = format!("INSERT INTO sqlite_schema VALUES ('index', 'i', 't', {root}, 'CREATE INDEX i ON t(a)')");
    open(&path).execute_batch(&format!("PRAGMA writable_schema = ON; {row}")).unwrap();
    let error = refused(&path, &quick());
    assert!(error.to_string().contains("index i has 3000 entries, and its table has 3001 rows"), "{error}");
}

#[test]
fn settings_that_a_copy_cannot_have_are_told() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    make(&path, 4096, "CREATE TABLE t(a); DROP TABLE t");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(4096);
    // An empty database of one page, with 16 reserved bytes a page: the cells of page 1 begin in front of them.
    bytes[20] = 16;
    bytes[28..40].copy_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes[105..107].copy_from_slice(&4080_u16.to_be_bytes());
    fs::write(&path, bytes).unwrap();
    make(&path, 4096, "CREATE TABLE t(a); INSERT INTO t SELECT n FROM COUNT");
    let error = refused(&path, &quick());
    assert!(error.kind() == ErrorKind::Unsupported && error.to_string().contains("16 bytes of each page"), "{error}");
    let mut options = quick().allow_incomplete(true);
    options.build = options.build.verify(Verify::Full);
    compact(&path, None, &options).unwrap();
    assert_eq!(fs::read(&path).unwrap()[20], 0);
    assert_sqlite_content(&mut open(&path), "without reserved bytes");
    assert_eq!(integer(&open(&path), "SELECT count(*) FROM t"), 3000);
}

/// A database with auto-vacuum, as Firefox and Android make them, could not be compacted: the copy would have lost the mode. The copy
/// keeps it, with a pointer map and root pages in front, so that SQLite can go on moving its pages.
#[test]
fn auto_vacuum_stays() {
    let folder = Folder::new();
    for (number, (what, sql)) in DATABASES.into_iter().enumerate() {
        for (of_size, page_bytes) in [512, 4096].into_iter().enumerate() {
            let mode = ["FULL", "INCREMENTAL"][(number + of_size) % 2];
            let what = format!("{what}, {mode}, {page_bytes}");
            let [path, copy] = ["t", "copy"].map(|name| folder.join(&format!("{name}{number} {page_bytes}.db")));
            make(&path, page_bytes, &format!("PRAGMA auto_vacuum = {mode}; {sql}"));
            let mut options = quick();
            options.build = options.build.verify(Verify::Full);
            copy_to(&path, &copy, &options).unwrap();
            let (ours, theirs) = (open(&copy), open(&path));
            assert_same_rows(&ours, &theirs, "PRAGMA auto_vacuum", &what);
            assert_same_schema(&ours, &theirs, &what);
            assert_same_content(&ours, &theirs, &what);
            // Small trees with long values leave a page each.
            let free = integer(&ours, "PRAGMA freelist_count");
            assert!(free <= integer(&ours, "SELECT count(*) FROM sqlite_schema"), "{what}: {free} free pages");
            let tables = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'";
            let objects = texts(&ours, tables);
            for (number, table) in objects.iter().enumerate().filter(|(number, _)| number % 2 == 0) {
                let name = litepress_rows::quoted_name(table);
                ours.execute_batch(&format!("DELETE FROM {name}; CREATE TABLE more{number}(a)")).unwrap();
                assert_eq!(texts(&ours, "PRAGMA integrity_check"), ["ok"], "{what}: without the rows of {table}");
                // A virtual table may need it.
                let _ = ours.execute_batch(&format!("DROP TABLE {name}"));
                ours.execute_batch("PRAGMA incremental_vacuum").unwrap();
                assert_eq!(texts(&ours, "PRAGMA integrity_check"), ["ok"], "{what}: after {table}");
            }
        }
    }
}

/// A table with the column `b TEXT DEFAULT 1.10`, which ALTER TABLE had added, was made WITHOUT ROWID. Its old rows had the text '1.10'
/// before and '1.1' afterwards, which is what a new row gets.
#[test]
fn rows_that_are_older_than_a_column_keep_its_value_without_rowid() {
    let folder = Folder::new();
    let (path, copy) = (folder.join("t.db"), folder.join("copy.db"));
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2);
        ALTER TABLE t ADD COLUMN b TEXT DEFAULT 1.10; INSERT INTO t(id) VALUES (2)";
    make(&path, 4096, sql);
    copy_to(&path, &copy, &quick().without_rowid("t")).unwrap();
    let (ours, theirs) = (open(&copy), open(&path));
    assert_eq!(texts(&theirs, "SELECT b FROM t ORDER BY id"), ["1.10", "1.1"]);
    assert_same_rows(&ours, &theirs, "SELECT * FROM t ORDER BY id", "without rowid");
}

/// SQLite takes DESC for ASC in schema formats below 4. The indexes of the copy were in descending order, and rows were missing from them.
#[test]
fn old_schema_formats_keep_their_rowids() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    let sqlite = open(&path);
    sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_LEGACY_FILE_FORMAT, true).unwrap();
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE INDEX d ON t(a DESC);
        INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)";
    sqlite.execute_batch(sql).unwrap();
    drop(sqlite);
    let error = refused(&path, &quick().without_rowid("t")).to_string();
    assert!(error.contains("the schema format of the database is 1") && error.contains("VACUUM"), "{error}");
    compact(&path, None, &quick()).unwrap();
    open(&path).execute_batch("VACUUM").unwrap();
    compact(&path, None, &quick().without_rowid("t")).unwrap();
    let sqlite = open(&path);
    assert_eq!(texts(&sqlite, "SELECT '' || id FROM t INDEXED BY d WHERE a > 10 ORDER BY a DESC"), ["3", "2"]);
    assert_eq!(texts(&sqlite, "PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn tables_become_without_rowid() {
    let folder = Folder::new();
    let (path, copy) = (folder.join("t.db"), folder.join("copy.db"));
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b UNIQUE); CREATE INDEX i ON t(a DESC, b);
        INSERT INTO t SELECT n * 3, hex(n % 50), n FROM COUNT; ALTER TABLE t ADD COLUMN late REAL DEFAULT 5;
        ALTER TABLE t ADD COLUMN none; INSERT INTO t(id, a, late) VALUES (-4, 'x', 1.5);
        CREATE TABLE s(a INT NOT NULL, b ANY, PRIMARY KEY(b, a)) STRICT; INSERT INTO s SELECT n, n % 9 || 'é' FROM COUNT;
        CREATE TABLE other(x); INSERT INTO other VALUES (1); ANALYZE";
    make(&path, 1024, sql);
    let report = copy_to(&path, &copy, &quick().without_rowid("T").without_rowid("s")).unwrap();
    assert_eq!(report.left_out, ["statistics of T (ANALYZE makes them)", "statistics of s (ANALYZE makes them)"]);
    let (ours, theirs) = (open(&copy), open(&path));
    for sql in [
        "SELECT * FROM t ORDER BY id",
        "SELECT a, b, id FROM t INDEXED BY i ORDER BY a DESC, b, id",
        "SELECT b FROM t WHERE b > 100 ORDER BY b",
        "SELECT a, b FROM s ORDER BY b, a",
        "SELECT rowid, * FROM other",
    ] {
        assert_same_rows(&ours, &theirs, sql, "WITHOUT ROWID");
    }
    assert_eq!(texts(&ours, "SELECT name FROM pragma_table_list WHERE wr ORDER BY name"), ["s", "t"]);
    assert_eq!(texts(&ours, "SELECT tbl FROM sqlite_stat1"), ["other"]);
    assert_sqlite_content(&mut open(&copy), "WITHOUT ROWID");
    assert_writable(&copy, "WITHOUT ROWID");
    drop((ours, theirs));
    let sql = "CREATE TABLE u(a TEXT PRIMARY KEY, b); INSERT INTO u VALUES (NULL, 1); CREATE TABLE auto(a INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TABLE p(a PRIMARY KEY, b); CREATE INDEX pi ON p(b) WHERE b > 1; CREATE TABLE doc(a PRIMARY KEY); CREATE TABLE none(a);
        CREATE TABLE g(a PRIMARY KEY, b AS (a) STORED);
        CREATE VIRTUAL TABLE f USING fts5(a, content = doc); CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID";
    open(&path).execute_batch(sql).unwrap();
    for (table, message) in [
        ("u", "the row with rowid 1 has NULL in its primary key"),
        ("auto", "AUTOINCREMENT not allowed on WITHOUT ROWID tables"),
        ("p", "only SQLite can make the index pi"),
        ("g", "only SQLite can make the table: its column b is computed and stored"),
        ("doc", "table f names it, and may use its rowids"),
        ("none", "PRIMARY KEY missing on table none"),
        ("w", "the table is WITHOUT ROWID already"),
        ("f", "it is a virtual table"),
        ("nowhere", "the copy has no such table"),
    ] {
        let error = refused(&path, &quick().without_rowid(table));
        assert!(error.to_string().contains(message), "{table}: {error}");
    }
}

/// Two programs that closed a database at the same moment left its log behind: it could not be compacted before somebody opened it.
#[test]
fn what_others_left_beside_the_database_is_applied() {
    let folder = Folder::new();
    for (mode, left) in [("WAL", "-wal"), ("DELETE", "-journal")] {
        let [path, used] = ["left.db", "used.db"].map(|name| folder.join(&format!("{mode} {name}")));
        let program = open(&used);
        let sql = "PRAGMA cache_size = 1; CREATE TABLE t(a); INSERT INTO t VALUES (1)";
        program.execute_batch(&format!("PRAGMA journal_mode = {mode}; {sql}")).unwrap();
        if mode == "DELETE" {
            // Pages of a transaction that never ends are in the file, and the old ones in the journal.
            let more =
                "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i FROM n";
            program.execute_batch(&format!("BEGIN; {more}")).unwrap();
        }
        for end in ["", left] {
            let file = |path: &Path| format!("{}{end}", path.display());
            fs::copy(file(&used), file(&path)).unwrap();
        }
        for path in [&used, &path] {
            litepress::apply_left_log(path).unwrap();
        }
        assert!(compact(&used, None, &quick()).is_err(), "{mode}: the database is open");
        compact(&path, None, &quick()).unwrap();
        assert!(!Path::new(&format!("{}{left}", path.display())).exists());
        assert_eq!(texts(&open(&path), "SELECT group_concat(a) || '' FROM t"), ["1"], "{mode}");
        oracle::assert_verified(&path, mode);
    }
}

/// Statements of a random database.
fn any_database() -> impl Strategy<Value = String> {
    let table = select(vec![
        "CREATE TABLE t#(a, b, c)",
        "CREATE TABLE t#(a INTEGER PRIMARY KEY, b TEXT UNIQUE, c)",
        "CREATE TABLE t#(a TEXT, b, c, PRIMARY KEY(a, b)) WITHOUT ROWID",
        "CREATE TABLE t#(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c AS (b || 'x'))",
    ]);
    let index = select(vec![
        "",
        "CREATE INDEX i# ON t#(b)",
        "CREATE INDEX i# ON t#(b, a DESC) WHERE b > 2",
        "CREATE INDEX i# ON t#(a || b)",
    ]);
    let change = select(vec![
        "",
        "DELETE FROM t# WHERE a % 3 = 1",
        "UPDATE OR IGNORE t# SET b = b || b",
        "DELETE FROM t#",
        "VACUUM",
        "DELETE FROM t# WHERE a < 50",
    ]);
    let one = (table, index, 0_u32..1200, 0_u32..900, change);
    prop::collection::vec(one, 0..6).prop_map(|tables| {
        let mut sql = String::new();
        for (number, (table, index, rows, bytes, change)) in tables.into_iter().enumerate() {
            let insert = format!(
                "INSERT OR IGNORE INTO t#(a, b) WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {rows}) \
                 SELECT n, hex(zeroblob(n * 7919 % ({bytes} + 1))) || n FROM r"
            );
            for statement in [table, index, &insert, change] {
                writeln!(sql, "{};", statement.replace('#', &number.to_string())).unwrap();
            }
        }
        sql
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_databases_are_copied(sql in any_database(), page_bytes in select(vec![512, 1024, 4096, 32768]), new_page_bytes in select(vec![512, 2048, 65536])) {
        let folder = Folder::new();
        let (from, to) = (folder.join("from.db"), folder.join("to.db"));
        make(&from, page_bytes, &sql);
        let mut options = quick();
        options.build = options.build.page_size(PageSize::new(new_page_bytes).unwrap());
        copy_to(&from, &to, &options).unwrap();
        assert_copy(&from, &to, &sql);
        compact(&from, None, &quick()).unwrap();
        oracle::assert_verified(&from, &sql);
        assert_same_content(&open(&from), &open(&to), &sql);
    }
}
