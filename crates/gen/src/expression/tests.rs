//! SQLite is the judge: the same expressions over the same rows.

use crate::plan::{GenPlan, Request};
use crate::program::Scratch;
use crate::random::{CellRandom, CellStream};
use litepress_format::value::Value;
use litepress_rows::Schema;
use rusqlite::types::{Value as Sql, ValueRef};

const ROWS: u64 = 40;

/// Columns of every affinity, with values that are stored as something else, NULL, and texts that begin with numbers.
const COLUMNS: &str = "i INTEGER /* gen: choice(0, 1, -3, 7, '12', 9223372036854775807, -9223372036854775808) */,
    s INTEGER /* gen: null(0.2, int(-5, 5)) */,
    r REAL /* gen: choice(0, 1.5, -2.25, 3, '0.5', 1e300, NULL) */,
    d REAL /* gen: real(-10, 10, 2) */,
    t TEXT /* gen: choice('', 'abc', '12', '3.5x', ' -4', 5, 1.5, 'Ünï', '2024-01-31', '1e2', '.', '5.') */,
    w TEXT /* gen: null(0.1, word) */,
    b BLOB /* gen: choice(x'', x'31', x'616263', 'text', 3) */,
    n NUMERIC /* gen: choice('007', 'x', 2.0, 2.5, NULL) */,
    u /* gen: choice(1, '1', 1.0, x'31', NULL) */";
const NAMES: [&str; 9] = ["i", "s", "r", "d", "t", "w", "b", "n", "u"];

fn sql(value: Value<'_>) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Int(int) => Sql::Integer(int),
        Value::Real(real) => Sql::Real(real),
        Value::Text(text) => Sql::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => Sql::Blob(blob.to_vec()),
    }
}

/// Generates the rows of the only table.
fn rows(definition: &str) -> Vec<Vec<Sql>> {
    let text = format!("CREATE TABLE t ({definition})");
    let schema = Schema::from_sql(&text, "test").expect(&text);
    let plan = GenPlan::new(&schema, &Request { rows: vec![(None, ROWS)], ..Request::default() }).expect(&text);
    let program = &plan.tables()[0].program;
    let mut scratch = Scratch::new(program);
    program.run(&(0..ROWS).into(), &mut scratch);
    let row = |row: usize| scratch.columns().iter().map(|block| sql(block.value(row))).collect();
    (0..ROWS).map(|number| row(usize::try_from(number).expect("few"))).collect()
}

/// Makes a database that holds these columns.
fn database() -> rusqlite::Connection {
    let sqlite = rusqlite::Connection::open_in_memory().expect("memory");
    sqlite.execute_batch(&format!("CREATE TABLE t ({COLUMNS})")).expect("a good schema");
    let marks = vec!["?"; NAMES.len()].join(", ");
    for row in rows(COLUMNS) {
        sqlite.execute(&format!("INSERT INTO t VALUES ({marks})"), rusqlite::params_from_iter(row)).expect("a row");
    }
    sqlite
}

/// Evaluates an expression in SQLite.
fn judge(sqlite: &rusqlite::Connection, expression: &str) -> Vec<Sql> {
    let mut select = sqlite.prepare(&format!("SELECT {expression} FROM t ORDER BY rowid")).expect(expression);
    let rows = select.query_map([], |row| row.get_ref(0).map(|value: ValueRef<'_>| Sql::from_owned(value)));
    rows.expect(expression).collect::<Result<_, _>>().expect(expression)
}

trait FromRef {
    fn from_owned(value: ValueRef<'_>) -> Sql;
}

impl FromRef for Sql {
    fn from_owned(value: ValueRef<'_>) -> Sql {
        match value {
            ValueRef::Null => Sql::Null,
            ValueRef::Integer(int) => Sql::Integer(int),
            ValueRef::Real(real) => Sql::Real(real),
            ValueRef::Text(text) => Sql::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(blob) => Sql::Blob(blob.to_vec()),
        }
    }
}

/// Evaluates an expression with our own operators.
fn computed(expression: &str) -> Vec<Sql> {
    let mut rows = rows(&format!("{COLUMNS}, x /* gen: {expression} */"));
    rows.iter_mut().map(|row| row.pop().expect("x")).collect()
}

fn compare(sqlite: &rusqlite::Connection, expression: &str) {
    let (found, expected) = (computed(expression), judge(sqlite, expression));
    for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let inputs = || {
            let query = format!(
                "SELECT {} FROM t WHERE rowid = {}",
                NAMES.map(|n| format!("quote({n})")).join("||', '||"),
                row + 1
            );
            sqlite.query_row(&query, [], |row| row.get::<_, String>(0)).expect("a row")
        };
        assert_eq!(found, expected, "{expression} of {}", inputs());
    }
}

/// Makes a random expression, without those that are errors in SQLite (abs of the least integer).
fn random_expression(stream: &mut CellStream, depth: u64) -> String {
    let mut pick = |of: &[&str]| of[usize::try_from(stream.below(of.len() as u64)).expect("few")].to_owned();
    const LITERALS: [&str; 12] =
        ["0", "1", "-7", "2.5", "-0.5", "'abc'", "'12'", "' 3.0 '", "''", "NULL", "x'31'", "TRUE"];
    if depth == 0 {
        return match pick(&["column", "column", "literal"]).as_str() {
            "column" => pick(&NAMES),
            _ => pick(&LITERALS),
        };
    }
    let operator = pick(&[
        "+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "IS", "IS NOT", "not", "negate",
        "between", "in", "case", "base", "coalesce", "if", "max", "min", "nullif", "length", "lower", "upper",
        "substr", "replace", "instr", "(",
    ]);
    let mut part = || random_expression(stream, depth - 1);
    match operator.as_str() {
        "not" => format!("(NOT {})", part()),
        "negate" => format!("(- ({}))", part()),
        "between" => format!("({} NOT BETWEEN {} AND {})", part(), part(), part()),
        "in" => format!("({} IN ({}, {}))", part(), part(), part()),
        "case" => format!("CASE WHEN {} THEN {} WHEN {} THEN {} END", part(), part(), part(), part()),
        "base" => format!("CASE {} WHEN {} THEN {} ELSE {} END", part(), part(), part(), part()),
        "if" => format!("if({}, {}, {})", part(), part(), part()),
        "length" | "lower" | "upper" => format!("{operator}({})", part()),
        "coalesce" | "max" | "min" | "nullif" | "instr" => format!("{operator}({}, {})", part(), part()),
        "substr" => format!("substr({}, {}, {})", part(), part(), part()),
        "replace" => format!("replace({}, {}, {})", part(), part(), part()),
        "(" => format!("({})", part()),
        _ => format!("({} {operator} {})", part(), part()),
    }
}

#[test]
fn random_expressions_are_what_sqlite_computes() {
    let sqlite = database();
    for number in 0..600 {
        let mut stream = CellRandom::new(number, "expressions", "test").stream(0);
        let depth = 1 + number % 3;
        compare(&sqlite, &format!("if(TRUE, {})", random_expression(&mut stream, depth)));
    }
}

#[test]
fn operators_without_parentheses_too() {
    let sqlite = database();
    for expression in [
        "s + 2 * d - s / 2 % 3",
        "-s + - d",
        "s = 1 OR s < 3 AND NOT d > 0",
        "w || '-' || s + 1",
        "NOT s IS NULL = 0",
        "s BETWEEN -1 AND 3 AND d",
        "s NOT IN (1, 2) IS NULL",
        "\"s\" <> 1 == 0 != 1",
        "i * 2 + i",
        "t > 5",
        "t = 12",
        "n = '2'",
        "b = 'text'",
        "substr(t, -2)",
        "substr(w, 0, 3)",
        "abs(d)",
        "abs(t)",
        "round(d)",
        "round(d, 1)",
        "round(r, -1)",
        "round(2.675, 2) + round(s / 3.0, 2) + round(0.285, 2) + round(1.005, 2)",
        "iif(s > 0, 'positive', 'no')",
        "if(s > 0, 1)",
    ] {
        compare(&sqlite, expression);
    }
}

/// A host in a history is stored from its end; SQLite has no function for that.
#[test]
fn texts_are_reversed_by_characters() {
    let reversed = |text: &str| computed(&format!("reverse({text})")).pop();
    assert_eq!(reversed("'Straße.de'"), Some(Sql::Text("ed.eßartS".to_owned())));
    assert_eq!(reversed("120"), Some(Sql::Text("021".to_owned())));
    assert_eq!(reversed("NULL"), Some(Sql::Null));
}

#[test]
fn dates_are_those_of_sqlite() {
    let sqlite = database();
    let seconds = ["second", "minute", "hour"];
    let days = ["day", "week", "month", "year"];
    for time in ["2024-01-31", "2023-12-31 23:59:58", "2000-02-29T12:30", "0004-02-29", "9999-12-31", "x", "2024-13-01"]
    {
        for count in ["s", "37 * s", "-400 * s", "1000 * d"] {
            for unit in seconds.iter().chain(&days) {
                let (factor, plain) = if *unit == "week" { (7, "day") } else { (1, *unit) };
                let is_day = time.len() == 10 && days.contains(unit);
                let function = if is_day { "date" } else { "datetime" };
                let expected = format!("{function}('{time}', ({factor} * CAST({count} AS INTEGER)) || ' {plain}s')");
                let found = computed(&format!("date_add('{time}', {count}, '{unit}s')"));
                let has_sign = |value: &Sql| matches!(value, Sql::Text(text) if text.starts_with('-'));
                let of_four_digits = |value: Sql| if has_sign(&value) { Sql::Null } else { value };
                let judged: Vec<Sql> = judge(&sqlite, &expected).into_iter().map(of_four_digits).collect();
                assert_eq!(found, judged, "{expected}");
            }
        }
    }
    let difference = "date_diff('2020-02-28 12:00', date_add('2020-03-01', s, 'hours'), 'hours')";
    let expected =
        "CAST(round((julianday('2020-03-01', s || ' hours') - julianday('2020-02-28 12:00')) * 24) AS INTEGER)";
    let with_null = |value: &Sql| *value == Sql::Integer(0) || *value == Sql::Null;
    for (found, expected) in computed(difference).iter().zip(judge(&sqlite, expected)) {
        assert!(*found == expected || with_null(found) && with_null(&expected), "{found:?} {expected:?}");
    }
}

/// `date_add` by a very large number of months overflowed: a debug build panicked, and a release build could give a
/// wrong date.
#[test]
fn dates_beyond_the_calendar_are_null() {
    for (count, unit) in
        [("9000000000000000000", "months"), ("-9000000000000000000", "months"), ("700000000000000000", "years")]
    {
        let found = computed(&format!("date_add('2020-01-31', {count}, '{unit}')"));
        assert!(found.iter().all(|value| *value == Sql::Null), "{count} {unit}");
    }
}
