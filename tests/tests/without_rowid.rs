//! WITHOUT ROWID tables: order of columns, shapes, and refused keys.

use litepress::{ErrorKind, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route, insert};
use litepress_conformance::edge_values::{INTS, REALS, TEXTS};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle;
use litepress_conformance::page_sizes;
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;
use rusqlite::Connection;

fn int(value: i64) -> OwnedValue {
    OwnedValue::Int(value)
}

fn text(value: &str) -> OwnedValue {
    OwnedValue::Text(value.to_owned())
}

/// An entry of three bytes takes four on a leaf, but not elsewhere: ignoring that gave a broken file.
#[test]
fn the_shortest_entries_there_are() {
    let shortest = [int(0), int(1), text(""), OwnedValue::Blob(Vec::new()), int(2), text("x")];
    for declared in ["", "INT", "TEXT", "BLOB", "REAL"] {
        let sql = format!("CREATE TABLE t(a {declared} PRIMARY KEY) WITHOUT ROWID");
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&sql).unwrap();
        let schema = Schema::from_sql(&sql, "<shortest>").unwrap();
        let rows = shortest.iter().map(|value| vec![value.clone()]);
        let taken: Vec<Row> = rows.filter(|row| insert(&sqlite, &schema.tables[0], 0, row).is_ok()).collect();
        for rows in (0..taken.len()).map(|at| taken[at..=at].to_vec()).chain([taken.clone()]) {
            let case = Case::new(&sql).rows(rows);
            case.judge(&case.build(Route::SHORTEST, PageSize::MIN).unwrap(), PageSize::MIN);
        }
    }
    // After a full leaf, and as the divider after it.
    for (fill, page_size) in (0..=80).map(|fill| (fill, PageSize::MIN)) {
        let below = (0..page_size.bytes() / 512 * 10 + fill).map(|at| vec![int(at.cast_signed() as i64 - 100_000)]);
        let rows: Vec<Row> = below.chain([vec![int(0)], vec![int(1)], vec![text("")]]).collect();
        let case = Case::new("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID").rows(rows);
        case.judge(&case.build(Route::SHORTEST, page_size).unwrap(), page_size);
    }
}

/// Keys in the middle, repeated, repeated with another collation, in another order; and the columns that indexes append.
#[test]
fn columns_stand_in_the_order_of_sqlite() {
    let tables = [
        "a, b, c, PRIMARY KEY(c, b)",
        "a, b, c, PRIMARY KEY(a, a, b)",
        "a, b, c, PRIMARY KEY(b DESC, b, a)",
        "a TEXT COLLATE NOCASE, b, c, PRIMARY KEY(a, a COLLATE BINARY)",
        "a, b TEXT PRIMARY KEY COLLATE RTRIM, c",
        "a, v AS (a), b, w AS (1), c, PRIMARY KEY(c, a)",
        "a ANY, b ANY, c ANY, PRIMARY KEY(c DESC)) STRICT, WITHOUT ROWID; -- ",
        "a INTEGER PRIMARY KEY, b, c",
        "a INTEGER PRIMARY KEY DESC, b, c",
        "a, b, c, UNIQUE(b), PRIMARY KEY(a), UNIQUE(c, a)",
    ];
    let indexes = [
        "b",
        "a",
        "c DESC",
        "b, a",
        "a COLLATE NOCASE, c COLLATE BINARY",
        "c COLLATE NOCASE",
        "b, b COLLATE RTRIM",
        "a, b, c",
        "a COLLATE BINARY, b COLLATE NOCASE, c COLLATE RTRIM DESC",
    ];
    let rows: Vec<Row> = (0..200_i64)
        .map(|row| {
            let mixed = row * 77 % 200;
            vec![
                if row % 3 == 0 { int(mixed) } else { text(&format!("Key {mixed} ")) },
                text(&format!("{}{row}", if row % 2 == 0 { 'b' } else { 'B' })),
                OwnedValue::Real(mixed as f64 / 2.0),
            ]
        })
        .collect();
    for table in tables {
        let mut sql = format!("CREATE TABLE t({table}) WITHOUT ROWID\n;");
        for (number, index) in indexes.iter().enumerate() {
            sql += &format!("CREATE INDEX i{number} ON t({index});\n");
        }
        let is_integer_key = table.starts_with("a INTEGER");
        let number =
            |(row, at): (&Row, i64)| if is_integer_key { [&[int(-at)], &row[1..]].concat() } else { row.clone() };
        let build = |sql: &str, page_size: PageSize, is_numbered: bool| {
            let case = Case::new(sql).rows(rows.iter().zip(0..).map(number)).parts_of(70);
            let case = if is_numbered { case.numbered() } else { case };
            case.judge(&case.build(Route { threads: 2, into: Into::Memory }, page_size).unwrap(), page_size);
        };
        for page_size in [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX] {
            build(&sql, page_size, false);
            build(&sql, page_size, true);
            // Without indexes, only keys are sorted.
            build(sql.lines().next().unwrap_or_default(), page_size, true);
        }
    }
}

/// Distinguishes the same keys as SQLite: all edge values, with every collation, ascending and descending.
#[test]
fn every_edge_value_as_key() {
    let values = || {
        let ints = INTS.into_iter().map(int);
        let reals = REALS.into_iter().map(OwnedValue::Real);
        let texts = TEXTS.into_iter().map(text);
        let blobs = TEXTS.into_iter().map(|text| OwnedValue::Blob(text.into()));
        ints.chain(reals).chain(texts).chain(blobs)
    };
    for declared in ["", "INT", "REAL", "NUMERIC", "TEXT", "BLOB"] {
        for collation in ["BINARY", "NOCASE", "RTRIM"] {
            for order in ["", " DESC"] {
                let sql = format!(
                    "CREATE TABLE t(a {declared} COLLATE {collation}, b, PRIMARY KEY(a{order})) WITHOUT ROWID; \
                     CREATE INDEX i ON t(b COLLATE NOCASE DESC)"
                );
                let table = sql.split(';').next().unwrap_or_default();
                let sqlite = Connection::open_in_memory().unwrap();
                sqlite.execute_batch(&sql).unwrap();
                let schema = Schema::from_sql(&sql, "<keys>").unwrap();
                let mut taken: Vec<Row> = Vec::new();
                for value in values() {
                    let row = vec![value.clone(), value];
                    if insert(&sqlite, &schema.tables[0], 0, &row).is_ok() {
                        taken.push(row);
                        continue;
                    }
                    let case = Case::new(&sql).rows([&taken[..], std::slice::from_ref(&row)].concat());
                    let error =
                        case.build(Route::SHORTEST, PageSize::DEFAULT).expect_err("SQLite refuses the last row");
                    assert_eq!(error.kind(), ErrorKind::Constraint, "{sql}: {row:?}: {error}");
                    let case = Case::new(table).rows([&taken[..], std::slice::from_ref(&row)].concat()).numbered();
                    let error = case.build(Route::SHORTEST, PageSize::DEFAULT).expect_err("the same, of keys alone");
                    assert_eq!(error.kind(), ErrorKind::Constraint, "{table}: {row:?}: {error}");
                }
                let case = Case::new(&sql).rows(taken.clone()).parts_of(9);
                case.judge(&case.build(Route::SHORTEST, PageSize::MIN).unwrap(), PageSize::MIN);
                let case = Case::new(table).rows(taken).parts_of(9).numbered();
                case.judge(&case.build(Route::SHORTEST, PageSize::MIN).unwrap(), PageSize::MIN);
            }
        }
    }
}

/// Keys of one to six integers, small, large and negative, ascending and descending; and a repeated column.
#[test]
fn keys_of_integers_alone() {
    let keys = ["a", "a DESC", "b, a", "c DESC, b, a", "d, c, b DESC, a", "e, d, c, b, a", "f DESC, a, b, c, d, e"];
    let again = ["b, a, b COLLATE NOCASE", "a, b DESC"];
    let value = |row: usize, column: usize| match (row * 7919 + column * 104_729) % 61 {
        at if at < INTS.len() => int(INTS[at]),
        at => int(at as i64 - 40),
    };
    for key in keys.into_iter().chain(again) {
        for declared in ["INT", "", "REAL", "TEXT"] {
            let columns = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name} {declared}"));
            let sql = format!("CREATE TABLE t({}, note, PRIMARY KEY({key})) WITHOUT ROWID", columns.join(", "));
            let rows = (0..3000_usize).map(|row| {
                let mixed = row * 1009 % 3000;
                let others = (1..6).map(|column| value(mixed, column));
                [int(mixed as i64 - 1500)].into_iter().chain(others).chain([text(&format!("row {mixed}"))]).collect()
            });
            let case = Case::new(&sql).rows(rows).parts_of(400).numbered();
            for threads in [1, 2] {
                let bytes = case.build(Route { threads, into: Into::Memory }, PageSize::DEFAULT).unwrap();
                case.judge(&bytes, PageSize::DEFAULT);
            }
        }
    }
}

/// Rows with overflow pages, and keys with overflow pages, around every threshold at every page size.
#[test]
fn rows_and_keys_around_the_thresholds_of_overflow() {
    use litepress_format::page::PageKind::LeafIndex;
    use litepress_format::payload::{max_local, min_local};
    for page_size in page_sizes() {
        let usable = page_size.bytes();
        let (most, least, chunk) = (max_local(LeafIndex, usable), min_local(usable), usable - 4);
        let turns = [least, most, least + chunk, most + chunk, least + 2 * chunk];
        let lengths: Vec<usize> = turns.iter().flat_map(|turn| turn.saturating_sub(8)..turn + 3).collect();
        let rows = |key: &dyn Fn(usize) -> String| -> Vec<Row> {
            lengths
                .iter()
                .enumerate()
                .map(|(at, &length)| {
                    let key = key(length);
                    vec![text(&format!("{:04}{key}", at * 37 % 1000)), OwnedValue::Blob(vec![7; length - key.len()])]
                })
                .collect()
        };
        let sql = "CREATE TABLE t(a TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID";
        for rows in [rows(&|_| String::new()), rows(&|length| "k".repeat(length))] {
            let case = Case::new(sql).rows(rows).parts_of(11);
            case.judge(&case.build(Route { threads: 2, into: Into::Memory }, page_size).unwrap(), page_size);
        }
    }
}

/// The error names the columns as SQLite does, the values, and the positions of both rows in the input.
#[test]
fn two_rows_of_one_key() {
    for (table, rows, message, value) in [
        (
            "a TEXT COLLATE NOCASE, b, PRIMARY KEY(b, a)",
            vec![vec![text("x"), int(5)], vec![text("Key"), int(7)], vec![text("kEY"), int(7)]],
            "UNIQUE constraint failed: t.b, t.a: records 2 and 3",
            "7, 'kEY'",
        ),
        (
            "a PRIMARY KEY",
            vec![vec![OwnedValue::Real(9_007_199_254_740_992.0)], vec![int(1 << 53)], vec![int(3)]],
            "UNIQUE constraint failed: t.a: records 1 and 2",
            "9007199254740992",
        ),
        (
            "a BLOB, b TEXT COLLATE RTRIM, PRIMARY KEY(a DESC, b DESC)",
            vec![
                vec![OwnedValue::Blob(b"z".to_vec()), text("q ")],
                vec![int(0), text("q")],
                vec![OwnedValue::Blob(b"z".to_vec()), text("q")],
            ],
            "UNIQUE constraint failed: t.a, t.b: records 1 and 3",
            "a blob of 1 byte, 'q'",
        ),
    ] {
        let sql = format!("CREATE TABLE t({table}) WITHOUT ROWID");
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&sql).unwrap();
        let schema = Schema::from_sql(&sql, "<keys>").unwrap();
        let refusals: Vec<String> = rows
            .iter()
            .filter_map(|row| insert(&sqlite, &schema.tables[0], 0, row).err())
            .map(|e| e.to_string())
            .collect();
        let [theirs] = refusals.as_slice() else { panic!("{refusals:?}") };
        for (threads, parts) in [(1, 1000), (7, 1)] {
            let folder = Folder::new();
            let case = Case::new(&sql).rows(rows.clone()).parts_of(parts);
            let route = Route { threads, into: Into::CachedFile };
            let error = case.build_to(&folder.target("t.db"), &route.options(PageSize::DEFAULT)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
            assert!(error.message().starts_with(message), "{error}");
            assert!(error.message().starts_with(theirs), "{error}, SQLite: {theirs}");
            assert_eq!(error.place().table.as_deref(), Some("t"), "{error}");
            assert_eq!(error.place().value.as_deref(), Some(value), "{error}");
            assert!(folder.names().is_empty(), "{:?}", folder.names());
        }
    }
}

/// NULL is refused in every key column with SQLite's message.
#[test]
fn null_in_a_key() {
    for (table, row) in [
        ("a, b, PRIMARY KEY(a, b)", vec![int(1), OwnedValue::Null]),
        ("a, b, PRIMARY KEY(a, b)", vec![OwnedValue::Null, int(1)]),
        ("a INTEGER PRIMARY KEY, b", vec![OwnedValue::Null, int(1)]),
        ("a REAL PRIMARY KEY, b", vec![OwnedValue::Real(f64::NAN), int(1)]),
    ] {
        let sql = format!("CREATE TABLE t({table}) WITHOUT ROWID");
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&sql).unwrap();
        let schema = Schema::from_sql(&sql, "<keys>").unwrap();
        let theirs = insert(&sqlite, &schema.tables[0], 0, &row).unwrap_err().to_string();
        assert!(theirs.starts_with("NOT NULL constraint failed"), "{theirs}");
        let ours =
            Case::new(&sql).rows([vec![int(1), int(1)], row]).build(Route::SHORTEST, PageSize::DEFAULT).unwrap_err();
        assert_eq!(ours.kind(), ErrorKind::Constraint, "{ours}");
        assert!(ours.message().contains("NOT NULL"), "{ours}, SQLite: {theirs}");
        assert_eq!(ours.place().record, Some(2), "{ours}");
    }
}

/// Every number of entries up to the fourth level: four entries a leaf and five children a page, on 512 bytes.
#[test]
fn every_number_of_entries_up_to_four_levels() {
    let key = |row: i64| text(&format!("{row:0>94}"));
    for rows in (0..=40).chain(118..=132).chain(618..=632) {
        let case = Case::new("CREATE TABLE t(a TEXT PRIMARY KEY) WITHOUT ROWID")
            .rows((0..rows).map(|row| vec![key(row * 7 % rows)]));
        let rows_are_distinct = rows % 7 != 0;
        if !rows_are_distinct {
            continue;
        }
        let bytes = case.build(Route::SHORTEST, PageSize::MIN).unwrap();
        case.judge(&bytes, PageSize::MIN);
    }
    let sqlite = oracle::open(
        &Case::new("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID").build(Route::SHORTEST, PageSize::MIN).unwrap(),
    );
    assert_eq!(oracle::integer(&sqlite, "SELECT count(*) FROM t"), 0);
}
