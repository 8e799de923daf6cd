//! Rows of Rust values become a database that SQLite reads, and what is wrong with a row is told.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use litepress::{
    AppendOptions, Conflict, ErrorKind, FinishedDatabase, Options, Row, RowValues, Target, UnsupportedValue, Writer,
};
use rusqlite::Connection;
use std::path::Path;

fn in_memory(schema: &str) -> Writer {
    Writer::create_with(Target::Memory, schema, Options::default()).unwrap()
}

/// Opens the bytes of a database with SQLite, which finds nothing wrong with them.
fn sqlite(finished: FinishedDatabase) -> Connection {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    std::fs::write(&path, finished.bytes.unwrap()).unwrap();
    let mut sqlite = Connection::open_in_memory().unwrap();
    sqlite.restore("main", &path, None::<fn(rusqlite::backup::Progress)>).unwrap();
    let verdict: String = sqlite.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    sqlite
}

fn texts(sqlite: &Connection, sql: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(sql).unwrap();
    statement.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A writer of `:memory:` made a file of that name, and whoever opened the name afterwards got an empty database.
#[test]
fn names_that_are_no_files_are_refused() {
    for name in [":memory:", "-", ""] {
        let error = Writer::create(name, "CREATE TABLE t (a)").expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
        let error = Writer::open(name, Options::default(), &AppendOptions::default()).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
        assert!(!std::path::Path::new(name).exists(), "{name}");
    }
}

#[test]
fn values_of_every_type_come_back() {
    let mut db = in_memory("CREATE TABLE t (a)");
    let mut t = db.table("T").unwrap();
    t.insert((1_u8,)).unwrap();
    t.insert((i64::MIN,)).unwrap();
    t.insert((u64::MAX / 2,)).unwrap();
    t.insert([true]).unwrap();
    t.insert((0.5_f32,)).unwrap();
    t.insert((f64::NAN,)).unwrap();
    t.insert(["text"]).unwrap();
    t.insert((String::from("owned"),)).unwrap();
    t.insert((&[1_u8, 2][..],)).unwrap();
    t.insert((vec![3_u8],)).unwrap();
    t.insert((None::<i32>,)).unwrap();
    t.insert((Some("some"),)).unwrap();
    t.insert(vec!["vector"]).unwrap();
    t.insert(&["slice"][..]).unwrap();
    assert_eq!(t.rows(), 14);
    let sqlite = sqlite(db.finish().unwrap());
    let expected = [
        "1",
        "-9223372036854775808",
        "9223372036854775807",
        "1",
        "0.5",
        "NULL",
        "'text'",
        "'owned'",
        "X'0102'",
        "X'03'",
        "NULL",
        "'some'",
        "'vector'",
        "'slice'",
    ];
    assert_eq!(texts(&sqlite, "SELECT quote(a) FROM t ORDER BY rowid"), expected);
}

/// Several tables at once, more rows than stay in memory, keys in no order, an index: as SQLite itself would have it.
#[test]
fn many_rows_of_several_tables_in_any_order() {
    const ROWS: u64 = 120_000;
    let schema = "CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT);
                  CREATE TABLE b (k TEXT PRIMARY KEY, v REAL) WITHOUT ROWID;
                  CREATE INDEX a_v ON a (v);";
    let mut options = Options::default();
    options.memory_bytes = litepress::MIN_MEMORY_BYTES;
    let mut db = Writer::create_with(Target::Memory, schema, options).unwrap();
    let key = |row: u64| row * 7919 % ROWS;
    for row in 0..ROWS {
        db.table("a").unwrap().insert((key(row), format!("text {:0100}", row % 1000))).unwrap();
        db.table("b").unwrap().insert((format!("key {:0100}", key(row)), row as f64 / 4.0)).unwrap();
    }
    let finished = db.finish().unwrap();
    assert_eq!(finished.summary.rows, 2 * ROWS);
    let sqlite = sqlite(finished);
    let sums = "SELECT count(*) || ' ' || sum(id) || ' ' || count(DISTINCT v) FROM a INDEXED BY a_v WHERE v >= ''
                UNION ALL SELECT count(*) || ' ' || sum(v) FROM b";
    let sum = ROWS * (ROWS - 1) / 2;
    let expected = [format!("{ROWS} {sum} 1000"), format!("{ROWS} {}.0", sum / 4)];
    assert_eq!(texts(&sqlite, sums), expected);
}

#[test]
fn rows_may_lack_columns_with_a_default() {
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'x', b INT, c GENERATED ALWAYS AS (b + 1))";
    let mut db = in_memory(schema);
    db.table_columns("t", &["b"]).unwrap().insert([10]).unwrap();
    db.table_columns("t", &["b", "a"]).unwrap().insert((20, "y")).unwrap();
    let sqlite = sqlite(db.finish().unwrap());
    assert_eq!(texts(&sqlite, "SELECT id || a || b || ' ' || c FROM t"), ["1x10 11", "2y20 21"]);
    let mut db = in_memory("CREATE TABLE t (a NOT NULL, b)");
    let missing = db.table_columns("t", &["b"]).unwrap_err();
    assert_eq!(missing.place().column.as_deref(), Some("a"));
    let unknown = db.table_columns("t", &["a", "z"]).unwrap_err();
    assert!(unknown.to_string().contains('z'), "{unknown}");
    assert!(db.table("nothing").unwrap_err().to_string().contains("the schema has t"));
}

/// A row that cannot be stored at all is refused alone: the rows before and after it are in the database.
#[test]
fn a_refused_row_is_not_there_and_the_writer_goes_on() {
    let mut db = in_memory("CREATE TABLE t (a, b)");
    let mut t = db.table("t").unwrap();
    t.insert((1, "one")).unwrap();
    let short = t.insert((2,)).unwrap_err();
    assert_eq!((short.kind(), short.place().record), (ErrorKind::Data, Some(2)));
    assert_eq!(short.headline(), "table t: record 2: the row has 1 value for 2 columns");
    assert!(t.insert((2, "two", 2.0)).unwrap_err().headline().contains("3 values"));
    let large = t.insert((2, u64::MAX)).unwrap_err();
    assert_eq!(large.place().column.as_deref(), Some("b"));
    assert_eq!(large.place().value.as_deref(), Some("18446744073709551615"));
    t.insert((3, None::<i64>)).unwrap();
    let sqlite = sqlite(db.finish().unwrap());
    assert_eq!(texts(&sqlite, "SELECT quote(a) || quote(b) FROM t"), ["1'one'", "3NULL"]);
}

/// A row whose own code panics in the middle leaves none of its values behind.
#[test]
fn a_row_that_panics_is_not_there() {
    struct Torn(bool);

    impl Row for Torn {
        fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
            row.push("first")?;
            assert!(!self.0, "torn");
            row.push("second")
        }
    }

    let mut db = in_memory("CREATE TABLE t (a, b)");
    for is_torn in [false, true, false, true] {
        let inserted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            db.table("t").unwrap().insert(Torn(is_torn)).unwrap();
        }));
        assert_eq!(inserted.is_err(), is_torn);
    }
    let sqlite = sqlite(db.finish().unwrap());
    assert_eq!(texts(&sqlite, "SELECT a || ' ' || b FROM t"), ["first second", "first second"]);
}

/// A rule of the table is checked by the call that gives the row, not some thousand rows later.
#[test]
fn a_broken_rule_is_told_by_the_call_that_breaks_it() {
    let not_null = "CREATE TABLE t (a NOT NULL)";
    let strict = "CREATE TABLE t (a INTEGER) STRICT";
    let alias = "CREATE TABLE t (a INTEGER PRIMARY KEY)";
    let check = |schema: &str, insert: &dyn Fn(&mut litepress::TableWriter<'_>) -> litepress::Result<()>| {
        let mut db = in_memory(schema);
        let mut t = db.table("t").unwrap();
        t.insert([1]).unwrap();
        t.insert([2]).unwrap();
        let error = insert(&mut t).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Constraint, "{schema}: {error}");
        assert_eq!((error.place().record, error.place().column.as_deref()), (Some(3), Some("a")), "{schema}: {error}");
        assert!(t.insert([4]).unwrap_err().to_string().contains("the database was given up"), "{schema}");
        assert!(db.finish().unwrap_err().to_string().contains("the database was given up"), "{schema}");
    };
    check(not_null, &|t| t.insert([None::<i64>]));
    check(not_null, &|t| t.insert([f64::NAN]));
    check(strict, &|t| t.insert(["no number"]));
    check(strict, &|t| t.insert([0.5]));
    check(alias, &|t| t.insert(["no number"]));
}

/// In a numeric column SQLite stores only the number before a NUL: the result counts such texts.
#[test]
fn texts_that_are_cut_at_a_nul_are_counted() {
    let mut db = in_memory("CREATE TABLE t (a INTEGER, b TEXT)");
    db.table("t").unwrap().insert(("12\0x", "12\0x")).unwrap();
    let written = db.finish().unwrap();
    assert_eq!(written.cut_texts, 1);
    let sqlite = sqlite(written);
    assert_eq!(texts(&sqlite, "SELECT a || ' ' || length(CAST(b AS BLOB)) FROM t"), ["12 4"]);
}

/// Values that a STRICT column converts are taken, as SQLite takes them.
#[test]
fn strict_columns_convert_what_sqlite_converts() {
    let mut db = in_memory("CREATE TABLE t (i INTEGER, r REAL, t TEXT, b BLOB, a ANY) STRICT");
    let mut t = db.table("t").unwrap();
    t.insert(("12", 1, 2, &[1_u8][..], "any")).unwrap();
    t.insert((3.0, "0.5", 4.5, vec![2_u8], 1)).unwrap();
    let sqlite = sqlite(db.finish().unwrap());
    let rows = texts(&sqlite, "SELECT quote(i) || quote(r) || quote(t) || quote(b) || quote(a) FROM t");
    assert_eq!(rows, ["121.0'2'X'01''any'", "30.5'4.5'X'02'1"]);
}

#[test]
fn two_rows_of_one_key_fail_or_give_way() {
    let schema = "CREATE TABLE t (k TEXT PRIMARY KEY, v) WITHOUT ROWID";
    let rows = [("a", 1), ("b", 2), ("a", 3)];
    let insert = |options: Options| {
        let mut db = Writer::create_with(Target::Memory, schema, options).unwrap();
        let mut t = db.table("t").unwrap();
        rows.into_iter().for_each(|row| t.insert(row).unwrap());
        db.finish()
    };
    let error = insert(Options::default()).unwrap_err();
    assert_eq!((error.kind(), error.place().table.as_deref()), (ErrorKind::Constraint, Some("t")), "{error}");
    let ignored = sqlite(insert(Options::default().on_conflict(Conflict::Ignore)).unwrap());
    assert_eq!(texts(&ignored, "SELECT k || v FROM t"), ["a1", "b2"]);
    let replaced = sqlite(insert(Options::default().on_conflict(Conflict::Replace)).unwrap());
    assert_eq!(texts(&replaced, "SELECT k || v FROM t"), ["a3", "b2"]);
}

fn files(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Enough rows that the engine runs already: its temporary file goes, and an old database is as it was.
#[test]
fn dropped_unfinished_it_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    for has_old in [false, true] {
        if has_old {
            Writer::create(&path, "CREATE TABLE old (a)").unwrap().finish().unwrap();
        }
        let before = std::fs::read(&path).ok();
        let mut db = Writer::create_with(&*path, "CREATE TABLE t (a)", Options::default().overwrite(has_old)).unwrap();
        let mut t = db.table("t").unwrap();
        (0..100_000).for_each(|row| t.insert((format!("{row:0100}"),)).unwrap());
        drop(db);
        assert_eq!(files(folder.path()), if has_old { vec!["t.db"] } else { vec![] });
        assert_eq!(std::fs::read(&path).ok(), before);
    }
    let error = Writer::create(&path, "CREATE TABLE t (a)").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
}

#[cfg(feature = "arrow")]
#[test]
fn record_batches_go_by_name_between_other_rows() {
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let id: ArrayRef = Arc::new(Int64Array::from(vec![2, 3]));
    let name: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None]));
    let batch = RecordBatch::try_from_iter([("name", name), ("id", id)]).unwrap();
    let mut db = in_memory("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)");
    let mut t = db.table("t").unwrap();
    t.insert((1, "a")).unwrap();
    t.append(&batch).unwrap();
    t.insert((4, "d")).unwrap();
    let other: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
    let wrong = t.append(&RecordBatch::try_from_iter([("price", other)]).unwrap()).unwrap_err();
    assert!(wrong.to_string().contains("price"), "{wrong}");
    let sqlite = sqlite(db.finish().unwrap());
    assert_eq!(texts(&sqlite, "SELECT id || quote(name) FROM t"), ["1'a'", "2'b'", "3NULL", "4'd'"]);
}

/// Rows of decimals with 38 digits by declaration came in batches. Those of few digits became numbers, and those of another batch, texts:
/// one column held 1.1 and '1.10'.
#[cfg(feature = "arrow")]
#[test]
fn wide_decimals_have_one_form_whatever_their_batches() {
    use arrow_array::{ArrayRef, Decimal128Array, RecordBatch};
    use std::sync::Arc;
    let batch = |values: &[i128]| {
        let decimals = Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, 2).unwrap();
        RecordBatch::try_from_iter([("a", Arc::new(decimals) as ArrayRef)]).unwrap()
    };
    let wide = 9_999_999_999_999_999_999_999;
    let in_batches = |schema: &str, batches: &[&[i128]]| {
        let mut db = in_memory(schema);
        batches.iter().for_each(|values| db.table("t").unwrap().append(&batch(values)).unwrap());
        texts(&sqlite(db.finish().unwrap()), "SELECT quote(a) FROM t")
    };
    let stored = ["'1.10'", "'2.00'", "'99999999999999999999.99'", "'1.10'", "'1.10'"];
    for schema in ["CREATE TABLE t (a)", "CREATE TABLE t (a ANY) STRICT", "CREATE TABLE t (a TEXT)"] {
        assert_eq!(in_batches(schema, &[&[110, 200], &[wide, 110], &[110]]), stored, "{schema}");
        assert_eq!(in_batches(schema, &[&[110, 200, wide, 110, 110]]), stored, "{schema}");
    }
    for schema in ["CREATE TABLE t (a REAL)", "CREATE TABLE t (a NUMERIC)"] {
        assert_eq!(in_batches(schema, &[&[110], &[wide, 110]]), ["1.1", "1.0e+20", "1.1"], "{schema}");
    }
}

/// An update without a key, or by one that is none, was refused by `finish`, when all rows were given.
#[test]
fn an_update_without_a_key_is_refused_before_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let schema = "CREATE TABLE t (a PRIMARY KEY, b); CREATE TABLE u (a, b)";
    Writer::create(&path, schema).unwrap().finish().unwrap();
    let update = || Options::default().on_conflict(Conflict::Update);
    let open = |options| Writer::open(&path, options, &AppendOptions::default());
    let mut db = open(update()).unwrap();
    assert!(db.table("u").unwrap_err().to_string().contains("no PRIMARY KEY and no unique key"));
    assert!(db.table_columns("t", &["b"]).unwrap_err().to_string().contains("the data lack the column a of the key"));
    db.table("t").unwrap().insert((1, 2)).unwrap();
    assert_eq!(db.finish().unwrap().summary.rows, 1);
    let error = open(update().key(&["b"])).unwrap().table("t").unwrap_err().to_string();
    assert!(error.contains("are no unique key"), "{error}");
    let error = open(Options::default().overwrite(true)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

/// `finish` found out that a full-text index would keep the words of replaced rows: all rows of the run were lost.
#[test]
fn rows_with_a_full_text_index_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, s); CREATE TABLE other (a);
        CREATE VIRTUAL TABLE f USING fts5(s, content='t', content_rowid='id');
        CREATE TRIGGER gone AFTER DELETE ON t BEGIN INSERT INTO f(f, rowid, s) VALUES ('delete', old.id, old.s); END";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let options = Options::default().on_conflict(Conflict::Replace);
    let mut db = Writer::open(&path, options, &AppendOptions::default()).unwrap();
    let error = db.table("t").map(drop).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.message().contains("their texts would stay in f"), "{error}");
    db.table("other").unwrap().insert([1]).unwrap();
    db.finish().unwrap();
}
