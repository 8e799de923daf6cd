//! Expression and partial indexes, CHECK constraints and stored columns: SQLite evaluates them while the rows pass, and the file
//! is the same for any number of threads and any memory.

use litepress::plan::{BuildMethod, plan_objects};
use litepress::{Conflict, ErrorKind, MIN_MEMORY_BYTES, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle;
use litepress_conformance::source::Row;
use litepress_rows::RowidOrder;
use litepress_rows::cells::OwnedValue;

const TABLES: [&str; 4] = [
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL, d)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a INT CHECK (a >= 0), b TEXT, s REAL NOT NULL AS (a * 0.5) STORED,
                    c REAL, d, v AS (b || d), CHECK (length(b) < 40))",
    "CREATE TABLE t(id INT PRIMARY KEY, a INT, b TEXT, c REAL, d, s AS (upper(b)) STORED) WITHOUT ROWID",
    "CREATE TABLE t(id INT, a INT, b TEXT, c REAL, d ANY, s TEXT AS (b || id) STORED UNIQUE, PRIMARY KEY(b, id)) STRICT,
     WITHOUT ROWID",
];

const INDEXES: &str = "
    CREATE INDEX lower_b ON t(lower(b) DESC, a);
    CREATE INDEX month ON t(strftime('%m', a, 'unixepoch'));
    CREATE INDEX of_json ON t(json_extract(d, '$.k'), d -> '$.k' COLLATE NOCASE);
    CREATE UNIQUE INDEX some ON t(b COLLATE NOCASE, c, a) WHERE a % 3 = 0 AND b <> 'key 1';
    CREATE INDEX few ON t(c) WHERE d IS NULL;
    CREATE UNIQUE INDEX both ON t(a + 0.5, id) WHERE b LIKE 'k%';
    CREATE INDEX empty ON t(a) WHERE a < 0;";

fn rows(count: i64) -> Vec<Row> {
    let row = |row: i64| {
        let json = (row % 5 > 0).then(|| OwnedValue::Text(format!("{{\"k\": \"{}\", \"n\": {row}}}", row % 37)));
        vec![
            OwnedValue::Int(row),
            OwnedValue::Int(row * 7919 % 100_003),
            OwnedValue::Text(format!("{} {}", ["key", "Key", "other"][(row % 3) as usize], row % 50)),
            OwnedValue::Real((row % 13) as f64 * 0.5),
            json.unwrap_or(OwnedValue::Null),
        ]
    };
    (1..=count).map(row).collect()
}

fn case(table: &str, rows: Vec<Row>) -> Case {
    Case::new(format!("{table};{INDEXES}")).rows(rows).parts_of(1000)
}

/// Nothing of these schemas is left to SQLite on the written file.
#[test]
fn the_plan_says_that_sqlite_evaluates() {
    for table in TABLES {
        let schema = Schema::from_sql(&format!("{table};{INDEXES}"), "<test>").unwrap();
        let steps = plan_objects(&schema, Conflict::Abort);
        let is_printed = |method: &BuildMethod| matches!(method, BuildMethod::Direct | BuildMethod::Evaluated);
        assert!(steps.iter().all(|step| is_printed(&step.method)), "{table}: {steps:?}");
    }
}

#[test]
fn any_threads_and_any_order_make_the_content_of_sqlite() {
    for table in TABLES {
        case(table, rows(4500)).check_at(PageSize::DEFAULT);
        let mut shuffled = rows(4500);
        shuffled.sort_by_key(|row| match row[1] {
            OwnedValue::Int(key) => key,
            _ => unreachable!("an integer"),
        });
        for order in [RowidOrder::Unknown, RowidOrder::Unordered] {
            let case = case(table, shuffled.clone()).in_order(order);
            let build = |threads| case.build(Route { threads, into: Into::Memory }, PageSize::DEFAULT).unwrap();
            let whole = build(1);
            assert!((2..=4).all(|threads| build(threads) == whole), "{table}: {order:?}");
            case.judge(&whole, PageSize::DEFAULT);
        }
    }
}

/// A sort that spills makes the same file.
#[test]
fn spilled_or_not_the_file_is_the_same() {
    let folder = Folder::new();
    for table in &TABLES[1..3] {
        let (case, schema) =
            (case(table, rows(60_000)), Schema::from_sql(&format!("{table};{INDEXES}"), "<t>").unwrap());
        let build = |memory: u64| {
            let mut options = Route { threads: 2, into: Into::Memory }.options(PageSize::DEFAULT);
            options.memory_bytes = memory;
            options.temp_dir = Some(folder.path().to_owned());
            case.build_schema(schema.clone(), &options, Into::Memory).unwrap()
        };
        assert!(build(4 << 30) == build(MIN_MEMORY_BYTES), "{table}");
        assert!(folder.names().is_empty());
    }
}

/// The error of a row names the object, the row and its values, whatever the threads.
#[test]
fn rows_that_sqlite_refuses_are_named() {
    let with = |row: usize, column: usize, value: OwnedValue| {
        let mut rows = rows(3000);
        rows[row - 1][column] = value;
        rows
    };
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    let long = text(&"x".repeat(40));
    let cases = [
        (1, with(2500, 1, OwnedValue::Int(-7)), "t.a: rows break CHECK a >= 0: rowid 2500 (a = -7)"),
        (1, with(2500, 2, long), "t.b: rows break CHECK length(b) < 40: rowid 2500 (b = 'xxxxxxxx"),
        (1, with(2500, 1, OwnedValue::Null), "t.s: record 2500: NOT NULL constraint failed: t.s"),
        (0, with(2500, 4, text("{")), "malformed JSON: rowid 2500"),
        (2, with(2500, 4, text("{")), "malformed JSON: id 2500"),
        (
            0,
            with(2500, 1, text("now")),
            "indexes lower_b, month, of_json: SQLite says: non-deterministic use of strftime() in an index: rowid 2500",
        ),
    ];
    for (table, rows, expected) in cases {
        let error = |threads| {
            let route = Route { threads, into: Into::Memory };
            case(TABLES[table], rows.clone()).build(route, PageSize::DEFAULT).unwrap_err()
        };
        let first = error(1);
        assert_eq!(first.kind(), ErrorKind::Constraint, "{first}");
        assert!(first.to_string().contains(expected), "{first}\n{expected}");
        assert_eq!(error(4).to_string(), first.to_string());
    }
}

/// A key of a unique index on an expression comes twice, in rows far apart.
#[test]
fn keys_that_come_twice() {
    let index = "CREATE TABLE t(a TEXT, b INT); CREATE UNIQUE INDEX u ON t(lower(a), b + 1) WHERE b > 9";
    let mut rows: Vec<Row> =
        (0..3000).map(|row| vec![OwnedValue::Text(format!("Row {row}")), OwnedValue::Int(row)]).collect();
    rows[2000] = vec![OwnedValue::Text("ROW 20".to_owned()), OwnedValue::Int(20)];
    rows[2001] = vec![OwnedValue::Text("ROW 5".to_owned()), OwnedValue::Int(5)];
    for threads in [1, 4] {
        let case = Case::new(index).rows(rows.clone()).parts_of(100);
        let error = case.build(Route { threads, into: Into::Memory }, PageSize::DEFAULT).unwrap_err();
        let message = "UNIQUE constraint failed: index 'u': the rows with rowid 21 and 2001 have the same key";
        assert_eq!((error.kind(), error.message()), (ErrorKind::Constraint, message));
        assert_eq!(error.place().value.as_deref(), Some("'row 20', 21"));
    }
}

/// SQLite refuses the clock in an index and in a CHECK; a plain SELECT would take it.
#[test]
fn no_clock_gets_into_a_file() {
    let rows =
        |value: &str| vec![vec![OwnedValue::Text("2024-05-06".to_owned())], vec![OwnedValue::Text(value.to_owned())]];
    for sql in [
        "CREATE TABLE t(a); CREATE INDEX i ON t(date(a))",
        "CREATE TABLE t(a); CREATE INDEX i ON t(a) WHERE date(a) > '2000'",
        "CREATE TABLE t(a CHECK (date(a) > '2000'))",
        "CREATE TABLE t(a, s AS (date(a)) STORED)",
        "CREATE TABLE t(a ANY PRIMARY KEY, CHECK (date(a) > '2000')) STRICT, WITHOUT ROWID; CREATE INDEX i ON t(date(a))",
    ] {
        let build = |value| Case::new(sql).rows(rows(value)).build(Route::SHORTEST, PageSize::DEFAULT);
        oracle::assert_sound(&build("2025-01-01").unwrap(), sql);
        let error = build("now").unwrap_err();
        assert!(error.message().contains("non-deterministic use of date()"), "{sql}: {error}");
    }
}
