//! Tests evaluation by SQLite against what SQLite itself makes of the same rows.

use super::{Evaluator, RowEvaluation};
use crate::table::OneChunk;
use crate::{Database, Options, Result, Schema, Target};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::Generated;
use litepress_rows::sqlite_value::from_sqlite;
use litepress_rows::{RecordChunk, Table, quoted_name};
use proptest::prelude::*;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};

/// Returns the rows of a table as a source gives them: without computed columns. Rowids are row numbers if no name asks for them.
fn records(sqlite: &Connection, table: &Table) -> RecordChunk {
    let columns: Vec<usize> = table.stored_columns();
    let columns: Vec<_> = columns.into_iter().filter(|&at| table.columns[at].generated == Generated::No).collect();
    let names: Vec<String> = columns.iter().map(|&at| quoted_name(&table.columns[at].name)).collect();
    let rowid = table.rowid_name().unwrap_or("0".to_owned());
    let sql = format!("SELECT {rowid}, {} FROM {}", names.join(", "), super::scan_clause(table));
    let mut select = sqlite.prepare(&sql).unwrap();
    let mut rows = select.query([]).unwrap();
    let mut chunk = RecordChunk::new();
    while let Some(row) = rows.next().unwrap() {
        let value = |(at, &column): (usize, &usize)| match row.get_ref(at + 1).unwrap() {
            _ if table.rowid_alias == Some(column) => Value::Null,
            value => {
                super::recorded(from_sqlite(value), table.columns[column].affinity == litepress_rows::Affinity::Real)
            }
        };
        let values: Vec<Value<'_>> = columns.iter().enumerate().map(value).collect();
        let mut bytes = Vec::new();
        record::write_record(&values, &mut bytes);
        let rowid = match row.get_ref(0).unwrap() {
            ValueRef::Integer(rowid) if rowid != 0 => rowid,
            _ => chunk.len() as i64 + 1,
        };
        chunk.push(rowid, &bytes);
    }
    chunk
}

/// Returns the verdict on rows that were inserted unchecked.
fn check(sql: &str, insert: &str) -> Result<()> {
    let table = Schema::from_sql(sql, "<test>").unwrap().tables.remove(0);
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&format!("{sql}; PRAGMA ignore_check_constraints = ON; {insert}")).unwrap();
    let plan =
        RowEvaluation::new(&table, &[], true, TextEncoding::Utf8).unwrap().expect("there is a CHECK that can be told");
    let mut evaluator = Evaluator::new(&plan);
    let mut take = |_, _: &RecordChunk| unreachable!("there is no index");
    evaluator.add(&records(&sqlite, &table), &mut take)?;
    evaluator.evaluate(&mut take)
}

fn broken(sql: &str, insert: &str) -> String {
    check(sql, insert).expect_err(sql).to_string()
}

#[test]
fn broken_checks_are_shown() {
    assert_eq!(
        broken("CREATE TABLE t (a INT CHECK (a > 0), b)", "INSERT INTO t VALUES (1, 1), (-1, 2), (NULL, 3), ('0', 4)"),
        "t.a: rows break CHECK a > 0: rowid 2 (a = -1); rowid 4 (a = 0)"
    );
    assert_eq!(
        broken(
            "CREATE TABLE \"t t\" (rowid TEXT, \"my id\" INTEGER PRIMARY KEY, CONSTRAINT \"a \"\" name\" CHECK (length(rowid)<3 --x\n))",
            "INSERT INTO \"t t\" VALUES ('abc', 9), ('ab', 1), ('it''s', 5)"
        ),
        "t t.rowid: rows break CHECK a \" name (length(rowid)<3 --x): rowid 5 (rowid = 'it''s'); rowid 9 (rowid = 'abc')"
    );
    assert_eq!(
        broken(
            "CREATE TABLE t (a, b, c, CHECK (c), CHECK (a <> b), PRIMARY KEY (b, a)) WITHOUT ROWID",
            "INSERT INTO t VALUES (1, 2, 1), (3, 3, x'31'), (4, 4, 1)"
        ),
        "table t: rows break CHECK a <> b: b 3, a 3 (a = 3, b = 3); b 4, a 4 (a = 4, b = 4)"
    );
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                INSERT INTO t SELECT i * 100, i FROM n";
    assert_eq!(
        broken("CREATE TABLE t (id INTEGER PRIMARY KEY, a CHECK (a % 250))", many),
        "t.a: rows break CHECK a % 250: rowid 25000 (a = 250); rowid 50000 (a = 500); rowid 75000 (a = 750); \
         rowid 100000 (a = 1000); rowid 125000 (a = 1250)"
    );
    check("CREATE TABLE t (id INTEGER PRIMARY KEY, a CHECK (a % 2500))", many).unwrap();
}

#[test]
fn odd_checks_are_judged_as_sqlite_does() {
    check("CREATE TABLE t (a CHECK (a > 0))", "").unwrap();
    let extremes = "INSERT INTO t VALUES (9223372036854775807, 1), (-9223372036854775808, 1)";
    check("CREATE TABLE t (id INTEGER PRIMARY KEY, a CHECK (a))", extremes).unwrap();
    check("CREATE TABLE t (rowid, oid, _rowid_ CHECK (_rowid_ > 0))", "INSERT INTO t VALUES (0, 0, 1)").unwrap();
    let shadowed = "CREATE TABLE t (rowid, oid, _rowid_ CHECK (_rowid_ > 0))";
    assert_eq!(
        broken(shadowed, "INSERT INTO t VALUES (0, 0, 0)"),
        "t._rowid_: rows break CHECK _rowid_ > 0: (_rowid_ = 0)"
    );
    let overflows = broken("CREATE TABLE t (a CHECK (abs(a) > 0))", "INSERT INTO t VALUES (-9223372036854775808)");
    assert!(overflows.ends_with("cannot be evaluated: SQLite says: integer overflow"), "{overflows}");
    let clock = broken("CREATE TABLE t (a CHECK (date(a) > '0'))", "INSERT INTO t VALUES ('now')");
    assert!(clock.contains("non-deterministic use of date()"), "{clock}");
    check("CREATE TABLE t (a CHECK (date(a) > '0'))", "INSERT INTO t VALUES ('2000-01-01')").unwrap();
    check("CREATE TABLE t (a CHECK (a IN (\"x\", 'y')))", "INSERT INTO t VALUES ('x')").unwrap();
}

/// Generates an expression over columns a (INT), b (REAL), c (TEXT) and d (no type).
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "d",
        "\"c\"",
        "[d]",
        "0",
        "1",
        "NULL",
        "0.5",
        "-2.5",
        "'0'",
        "'0.5'",
        "'1x'",
        "''",
        "'(,'",
        "x'31'",
        "x''",
        "1e400",
        "9007199254740993",
        "t.a",
        "rowid",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let binary = prop::sample::select(vec![
            "=",
            "<>",
            "<",
            ">=",
            "IS",
            "IS NOT",
            "AND",
            "OR",
            "+",
            "-",
            "*",
            "/",
            "%",
            "||",
            "&",
            "<<",
            "LIKE",
            "GLOB",
            "COLLATE NOCASE =",
        ]);
        let unary =
            prop::sample::select(vec!["NOT ", "-", "~", "typeof", "length", "hex", "abs", "CAST", "/* ) */", "ISNULL"]);
        prop_oneof![
            (inner.clone(), binary, inner.clone()).prop_map(|(one, sign, other)| format!("({one} {sign} {other})")),
            (unary, inner.clone()).prop_map(|(sign, one)| match sign {
                "CAST" => format!("CAST({one} AS NUMERIC)"),
                "ISNULL" => format!("({one} ISNULL)"),
                _ => format!("{sign}({one})"),
            }),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, low, high)| format!("({one} BETWEEN {low} AND {high})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, low, high)| format!("CASE WHEN {one} THEN {low} ELSE {high} END")),
            (inner.clone(), inner).prop_map(|(one, other)| format!("({one} IN (1, {other}, 'a'))")),
        ]
    })
}

fn row() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "NULL",
        "0",
        "1",
        "-1",
        "0.0",
        "0.3",
        "-0.5",
        "2.0",
        "'0'",
        "'0.2'",
        "'1'",
        "'a'",
        "'A'",
        "''",
        "' 1 '",
        "x''",
        "x'30'",
        "x'31'",
        "9007199254740993",
        "9223372036854775807",
        "1e300",
    ]);
    prop::collection::vec(value, 4).prop_map(|values| format!("({})", values.join(", ")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows are refused here if and only if an INSERT refuses one of them.
    #[test]
    fn checks_agree_with_insert(
        checks in prop::collection::vec(expression(), 1..3),
        rows in prop::collection::vec(row(), 0..6),
    ) {
        let constraints: String = checks.iter().map(|check| format!(", CHECK ({check})")).collect();
        let sql = format!("CREATE TABLE t (a INT, b REAL, c TEXT, d{constraints})");
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&sql).unwrap();
        let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
        let insert = if rows.is_empty() { "" } else { &insert };
        let expected = sqlite.execute_batch(insert);
        let verdict = check(&sql, insert);
        prop_assert_eq!(verdict.is_ok(), expected.is_ok(), "{} {}: {:?} {:?}", sql, insert, verdict, expected);
        if let (Err(ours), Err(theirs)) = (verdict, expected) {
            let named = theirs.to_string().contains("CHECK constraint failed") == ours.message().contains("break CHECK");
            prop_assert!(named, "{}: {} {}", sql, ours, theirs);
        }
    }

    /// The entries of indexes are those that SQLite makes, and so are the values of stored columns.
    #[test]
    fn values_agree_with_sqlite(
        expressions in prop::collection::vec(expression(), 3),
        predicate in prop::option::of(expression()),
        rows in prop::collection::vec(row(), 1..8),
        form in 0..4_usize,
    ) {
        let predicate = predicate.map_or(String::new(), |predicate| format!(" WHERE {predicate}"));
        let [first, second, third] = &expressions[..] else { unreachable!("three expressions") };
        let table = [
            "(a INT, b REAL, c TEXT, d, v REAL AS (a))".to_owned(),
            format!("(a INT, b REAL, c TEXT, d, v REAL AS ({third}))"),
            format!("(a INT, b REAL, c TEXT, d, s REAL AS ({third}) STORED, v AS (s || d))"),
            format!("(n INTEGER PRIMARY KEY, a INT, b REAL, s AS ({third}) STORED, c TEXT, d, v TEXT AS (b))"),
        ];
        let sql = format!(
            "CREATE TABLE t {}; CREATE INDEX i ON t (({first}) COLLATE NOCASE DESC, v, ({second})){predicate};
             CREATE INDEX j ON t (({second}))",
            table[form],
        );
        let sqlite = Connection::open_in_memory().unwrap();
        if sqlite.execute_batch(&sql).is_err() {
            return Ok(());
        }
        let insert = format!("INSERT INTO t (a, b, c, d) VALUES {}", rows.join(", "));
        let expected = sqlite.execute_batch(&insert);
        let given = Connection::open_in_memory().unwrap();
        given.execute_batch("CREATE TABLE t (n INTEGER PRIMARY KEY, a INT, b REAL, c TEXT, d)").unwrap();
        given.execute_batch(&insert).unwrap();
        let schema = Schema::from_sql(&sql, "<test>").unwrap();
        let chunk = records(&given, &schema.tables[0]);
        let mut database = Database::create(&Target::Memory, schema, &Options::default()).unwrap();
        let filled = database.fill(0, &OneChunk::new(chunk));
        prop_assert_eq!(filled.is_ok(), expected.is_ok(), "{} {}: {:?} {:?}", sql, insert, filled, expected);
        if expected.is_err() {
            return Ok(());
        }
        let bytes = database.finish().unwrap().bytes.unwrap();
        let mut ours = Connection::open_in_memory().unwrap();
        ours.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), false).unwrap();
        let read = |sqlite: &Connection, query: &str| {
            sqlite.query_row(query, [], |row| row.get::<_, String>(0)).unwrap()
        };
        for query in [
            "SELECT group_concat(integrity_check) FROM pragma_integrity_check",
            "SELECT group_concat(quote(a) || quote(b) || quote(c) || quote(d) || quote(v)) FROM t",
            "SELECT group_concat(name || ncell) FROM (SELECT * FROM dbstat WHERE name IN ('t', 'i', 'j') ORDER BY name)",
        ] {
            prop_assert_eq!(read(&ours, query), read(&sqlite, query), "{}; {}", sql, insert);
        }
    }
}
