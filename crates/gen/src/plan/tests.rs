use super::*;
use litepress_rows::message::Flags;

fn plan_of(sql: &str, request: &Request) -> Result<GenPlan> {
    GenPlan::new(&Schema::from_sql(sql, "test.sql")?, request)
}

/// Makes a request for this number of rows of the only table.
fn rows(rows: u64) -> Request {
    Request { rows: vec![(None, rows)], ..Request::default() }
}

fn set(table: &str, column: &str, text: &str) -> Request {
    let origin = format!("<--set {table}.{column}>");
    let set = SetColumn { table: table.into(), column: column.into(), expression: text.into(), origin };
    Request { set: vec![set], ..rows(10) }
}

/// Formats all columns as `column: expression`.
fn expressions(plan: &GenPlan) -> Vec<String> {
    let columns = plan.tables().iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    columns.map(|(table, column)| format!("{}.{}: {}", table.name, column.name, column.expression)).collect()
}

#[test]
fn set_comes_before_annotation_before_inference() {
    let sql = "-- gen: rows=1k seed=7
        create table t (
            id integer primary key,
            a text, -- gen: digits( 6 )
            b text, -- gen: digits(6)
            c int as (id),
            d int);";
    let plan = plan_of(sql, &Request { rows: Vec::new(), ..set("T", "B", "hex(8)") }).expect(sql);
    assert_eq!(expressions(&plan), ["t.id: sequence", "t.a: digits( 6 )", "t.b: hex(8)", "t.d: int(0, 999_999)"]);
    let table = plan.table(0).expect("the only one");
    assert_eq!((table.rows, table.seed), (1000, 7));
    let provenance: Vec<String> = table.columns.iter().map(|column| column.provenance.to_string()).collect();
    assert_eq!(provenance, ["inferred: INTEGER PRIMARY KEY", "annotation", "set", "inferred: an integer column"]);
    let plan = plan_of(sql, &Request { seed: Some(8), ..rows(5) }).expect(sql);
    assert_eq!((plan.tables()[0].rows, plan.tables()[0].seed), (5, 8));
}

/// Each rule looked at all tables for each table: 4,000 tables took two minutes.
#[test]
fn the_time_of_a_plan_is_almost_linear_in_the_tables() {
    const FEW: usize = 20;
    const TIMES: usize = 10;
    let seconds = |tables: usize| {
        let table = |number: usize| {
            let parent = number.saturating_sub(1);
            format!(
                "CREATE TABLE customer_{number} (id INTEGER PRIMARY KEY, name TEXT, created_at TEXT, owner_id INTEGER,
                 order_id INTEGER REFERENCES customer_{parent} (id));"
            )
        };
        let sql: String = (0..tables).map(table).collect();
        let started = std::time::Instant::now();
        plan_of(&sql, &rows(3)).expect("a plan");
        started.elapsed().as_secs_f64()
    };
    let few = (0..3).map(|_| seconds(FEW)).fold(f64::MAX, f64::min);
    let many = seconds(FEW * TIMES);
    // A square would be 100 times as long. Other tests run beside this one.
    assert!(many < 50.0 * few, "{FEW} tables: {few} s, {TIMES} times as many: {many} s");
}

#[test]
fn foreign_keys_follow_their_parents() {
    let sql = "-- gen: rows=30
        create table line (order_id int not null references orders, again references line(id), id integer primary key);
        -- gen: rows=20
        create table orders (id integer primary key, customer int references customer(number), code text unique);
        -- gen: rows=10
        create table customer (name text,
            number int unique -- gen: sequence(100, 10)
            );
        -- gen: rows=10
        create table profile (id integer primary key references customer(number));
        -- gen: rows=5
        create table photo (id integer primary key references profile, code text references orders(code));";
    let plan = plan_of(sql, &Request::default()).expect(sql);
    assert_eq!(
        expressions(&plan),
        [
            "line.order_id: ref(orders.id, popular)",
            "line.again: null(0.04, ref(line.id, popular))",
            "line.id: sequence",
            "orders.id: sequence",
            "orders.customer: ref(customer.number, popular)",
            "orders.code: unique_regex('[A-Z]{3}-[0-9]{6}')",
            "customer.name: phrase('{person}')",
            "customer.number: sequence(100, 10)",
            "profile.id: ref(customer.number, once)",
            "photo.id: ref(profile.id, once)",
            "photo.code: ref(orders.code, popular)",
        ]
    );
}

#[test]
fn foreign_keys_that_cannot_hold_are_errors() {
    let parent = "/* gen: rows=5 */ create table p (id integer primary key, code text unique, a, b, unique (a, b));";
    for (child, message) in [
        ("x int not null references p(code), foreign key (x) references p(a)", "it is in several foreign keys"),
        ("x int not null unique references p", "p.id has 5 values for 6 rows"),
        ("x not null references p(id), y, foreign key (x, y) references p(a, b)", "it is in several foreign keys"),
        ("x not null unique references t(y), y not null unique references t(x)", "leads back to it"),
    ] {
        let sql = format!("{parent}/* gen: rows=6 */ create table t ({child});");
        let error = plan_of(&sql, &Request::default()).expect_err(&sql);
        assert!(error.message().contains(message), "{error}");
        assert_eq!(error.place().column.as_deref(), Some("x"));
    }
    let empty = "/* gen: rows=0 */ create table p (id integer primary key);
        /* gen: rows=1 */ create table t (x int not null references p);";
    assert!(plan_of(empty, &Request::default()).expect_err(empty).message().contains("p.id has no values"));
    let nobody = Request { rows: vec![(Some("t".into()), 0)], ..Request::default() };
    plan_of(empty, &nobody).expect("no row refers to anything");
}

#[test]
fn requests_name_what_exists() {
    let sql = "create table user (id integer primary key, area text, twice int as (2 * id));
        create table post (id integer primary key);
        create virtual table v using fts5(a);";
    let both = || vec![(Some("user".to_owned()), 1), (Some("POST".to_owned()), 1)];
    let with = |name: Option<&str>| Request { rows: vec![(name.map(str::to_owned), 1)], ..Request::default() };
    let set = |table, column, text| Request { rows: both(), ..set(table, column, text) };
    for (request, kind, message) in [
        (with(Some("usr")), ErrorKind::Usage, "there is no table 'usr', did you mean 'user'?"),
        (
            Request { rows: vec![(None, 1), (None, 2)], ..Request::default() },
            ErrorKind::Usage,
            "the number of rows is given twice",
        ),
        (with(Some("user")), ErrorKind::Usage, "the table has no number of rows"),
        (with(Some("v")), ErrorKind::Unsupported, "virtual table"),
        (Request { rows: [both(), both()].concat(), ..Request::default() }, ErrorKind::Usage, "given twice"),
        (set("usr", "area", "hex(1)"), ErrorKind::Usage, "there is no table 'usr', did you mean 'user'?"),
        (set("user", "aera", "hex(1)"), ErrorKind::Usage, "table user has no column 'aera', did you mean 'area'?"),
        (set("user", "twice", "hex(1)"), ErrorKind::Usage, "column twice is generated"),
        (
            Request {
                set: [set("user", "area", "uuid").set, set("user", "AREA", "uuid").set].concat(),
                rows: both(),
                ..Request::default()
            },
            ErrorKind::Usage,
            "given a generator twice",
        ),
        (
            Request { rows: vec![(Some("user".into()), 1 << 63), both().remove(1)], ..Request::default() },
            ErrorKind::Limit,
            "rowids",
        ),
    ] {
        let error = plan_of(sql, &request).expect_err("the request is wrong");
        assert!(error.kind() == kind && error.message().contains(message), "{error}");
    }
    plan_of(sql, &Request { rows: both(), ..Request::default() }).expect("both have rows");
}

#[test]
fn mistakes_in_set_point_into_the_option() {
    let sql = "create table user (id integer primary key, area text);";
    let error = plan_of(sql, &set("user", "area", "digit(6)")).expect_err("no such generator");
    assert_eq!(error.kind(), ErrorKind::Generator);
    let begin = "<--set user.area>:1:1: user.area: unknown generator 'digit', did you mean 'digits'?; digits(n): ";
    assert!(error.to_string().starts_with(begin), "{error}");
    let error = plan_of(sql, &set("user", "area", "digits(6")).expect_err("not closed");
    assert_eq!(error.place().character, Some(9));
}

#[test]
fn mistakes_in_annotations_point_into_the_schema() {
    for (sql, line, character, message) in [
        ("create table t (\n a int -- gen: itn(1, 2)\n)", 2, 16, "unknown generator 'itn', did you mean 'int'?"),
        ("create table t (\n a int -- gen: int(1, 'ä')\n)", 2, 23, "argument 'hi' of int is a whole number"),
        ("create table t (\n a int -- gen: int(1, 2\n)", 2, 24, "the annotation ends where ',' or ')' is expected"),
        ("create table t (\n a int -- gen: int(1, 2))\n)", 2, 25, "')' stands where the end"),
        ("create table t (\n a int -- gen:\n)", 2, 15, "the annotation ends where a generator or a value is expected"),
        ("create table t (\n a int -- gen: 5\n)", 2, 16, "the name of a generator is expected"),
        ("create table t (\n -- gen: rows=5\n a int)", 2, 10, "'rows=' is a setting of tables"),
        ("create table t ( -- gen: digits(6)\n a int)", 1, 26, "'digits' stands where rows=N or seed=N is expected"),
        ("create table t ( -- gen: row=6\n a int)", 1, 26, "a table has no setting 'row=', did you mean 'rows'?"),
        ("create table t ( -- gen: rows=x\n a int)", 1, 31, "'x' stands where a whole number is expected"),
        ("create table t ( -- gen: rows=6 rows=7\n a int)", 1, 33, "'rows=' is set twice"),
        ("-- gen: rows=6\ncreate table t ( -- gen: rows=7\n a int)", 2, 26, "'rows=' is set twice"),
        ("create table t (\n a int -- gen: int(9, 1)\n)", 2, 20, "'lo' is above 'hi'"),
        ("create table t (\n a int -- gen: null(.1, itn)\n)", 2, 25, "unknown generator 'itn'"),
    ] {
        let error = plan_of(sql, &rows(1)).expect_err(sql);
        let place = error.place();
        assert!(error.message().contains(message), "{error}");
        assert_eq!((place.line, place.character), (Some(line), Some(character)), "{error}");
        assert_eq!(place.file.as_deref(), Some(std::path::Path::new("test.sql")));
    }
}

#[test]
fn values_that_a_column_refuses() {
    for (definition, options, count, message) in [
        ("a int not null /* gen: null(0.1, int(1, 2)) */", "", 1, "the column is NOT NULL"),
        ("a int not null /* gen: choice(1, NULL) */", "", 1, "the column is NOT NULL"),
        ("a int /* gen: hex(4) */", " strict", 1, "its INT column does not take texts"),
        ("a int /* gen: choice(1, 'x') */", " strict", 1, "does not take integers and texts"),
        ("a integer /* gen: real(0, 1) */", " strict", 1, "its INTEGER column does not take real numbers"),
        ("a real /* gen: uuid */", " strict", 1, "its REAL column does not take texts"),
        ("a text /* gen: blob(1, 2) */", " strict", 1, "its TEXT column does not take blobs"),
        ("a blob /* gen: text(1, 2) */", " strict", 1, "its BLOB column does not take texts"),
        ("a integer primary key /* gen: int(1, 5) */", "", 1, "distinct integers"),
        ("a integer primary key /* gen: unique_hex */", "", 1, "distinct integers"),
        ("a integer primary key /* gen: null(0.5, sequence) */", "", 1, "distinct integers"),
        ("a integer primary key /* gen: shuffle(1, 99) */", "", 100, "values for 99 rows, and the table has 100"),
        ("a /* gen: shuffle(1) */", "", 5, "argument 'hi' is missing"),
        ("a /* gen: shuffle(hi=1) */", "", 5, "argument 'lo' is missing"),
        ("a /* gen: repeat(1, 5) */, b /* gen: repeat(1, 5, each=5) */, unique (b, a)", "", 26, "25 values at most"),
        ("a int unique /* gen: int(1, 5) */", "", 6, "6 rows have 5 values at most"),
        ("a text primary key /* gen: digits(2) */", "", 101, "101 rows have 100 values at most"),
        ("a int unique /* gen: int(1, 1m) */", "", 10_000, "drawn from 1000000 values repeat, about 50 times"),
        ("a int unique /* gen: null(0.5, int(1, 1m)) */", "", 20_000, "repeat, about 50 times"),
        ("a text unique /* gen: unique_hex(1) */", "", 17, "values for 16 rows, and the table has 17"),
        ("a text unique", "", 1, ""),
        ("a char(1) unique", "", 17, "values for 16 rows, and the table has 17"),
        ("a /* gen: sequence(9223372036854775807) */", "", 2, "values for 1 row, and the table has 2"),
        ("a /* gen: choice(1, 2) */, b /* gen: bool */, unique (a, b)", "", 5, "5 rows have 4 values at most"),
    ] {
        let sql = format!("create table t ({definition}){options}");
        let plan = plan_of(&sql, &rows(count));
        if message.is_empty() {
            plan.expect(&sql);
            continue;
        }
        let error = plan.expect_err(&sql);
        assert_eq!(error.kind(), ErrorKind::Generator, "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.place().column.is_some() && error.advice().is_some(), "{error}");
    }
}

#[test]
fn values_that_a_column_takes() {
    for (definition, options, count) in [
        ("a int /* gen: digits(4) */", " strict", 1),
        ("a text /* gen: int(1, 2) */", " strict", 1),
        ("a any /* gen: choice(1, 'x', x'00') */", " strict", 1),
        ("a int not null /* gen: null(0, int(1, 2)) */", "", 1),
        ("a int unique /* gen: null(0.5, int(1, 10)) */", "", 4),
        ("a text unique /* gen: hex(16) */", "", 1_000_000_000),
        ("a blob unique /* gen: blob(8, 9) */", "", 1_000_000_000),
        ("a unique /* gen: constant(NULL) */", "", 1_000_000_000),
        ("a int unique /* gen: sequence(-5, -3) */", "", 100),
        ("a /* gen: choice(1, 2) */, b /* gen: bool */, c /* gen: uuid */, unique (a, b, c)", "", 1000),
        ("a, b, primary key (a, b)", " without rowid", 1_000_000_000),
        ("a integer primary key /* gen: sequence(1, -1) */", "", 1_000_000),
        ("a integer primary key /* gen: shuffle */", "", 1_000_000),
        ("a integer primary key /* gen: shuffle(-5, 94) */", "", 100),
        ("a int unique /* gen: null(0.5, shuffle) */", " strict", 0),
        ("a /* gen: repeat(1, 5) */, b /* gen: repeat(1, 5, each=5) */, unique (b, a)", "", 25),
        ("a int, b int as (a + 1) stored unique, c text check (length(c) > 0), unique (a, b)", "", 1_000_000),
    ] {
        let sql = format!("create table t ({definition}){options}");
        plan_of(&sql, &rows(count)).expect(&sql);
    }
}

/// Two foreign keys that form a key, in a table between two tables, were drawn at random and repeated.
#[test]
fn keys_of_foreign_keys_are_unique() {
    let sql = "/* gen: rows=30 */ create table a (id integer primary key -- gen: shuffle(101, 130)
        );
        /* gen: rows=20 */ create table b (id integer primary key);
        /* gen: rows=4 */ create table c (id int unique -- gen: sequence(10, 5)
        );";
    for (definition, rows, expected) in [
        (
            "a references a, b references b, primary key (a, b)",
            600,
            Some("a: ref(a.id, in_turn(20)) b: ref(b.id, in_turn)"),
        ),
        (
            "a references a, b references b, primary key (a, b)",
            31,
            Some("a: ref(a.id, per_parent(deal(0: 12, 1: 10, 2: 5, 3: 1, 4: 2))) b: ref(b.id, distinct_in(a))"),
        ),
        (
            "a references a, b references b, primary key (b, a)",
            30,
            Some("a: ref(a.id, distinct_in(b)) b: ref(b.id, per_parent(deal(0: 5, 1: 8, 2: 3, 3: 2, 5: 2)))"),
        ),
        ("a not null references a, b references b, unique (a, b)", 601, None),
        (
            "a references a, b references b, c references c(id), unique (a, b, c)",
            2400,
            Some("a: ref(a.id, in_turn(80)) b: ref(b.id, in_turn(4)) c: ref(c.id, in_turn)"),
        ),
        (
            "a references a, b references b, n int, unique (a, b, n)",
            9000,
            Some("a: ref(a.id, popular) b: ref(b.id, popular) n: sequence"),
        ),
        ("a unique references a, b references b, unique (a, b)", 30, Some("a: ref(a.id, once) b: ref(b.id, popular)")),
    ] {
        let sql = format!("{sql} /* gen: rows={rows} */ create table t ({definition})");
        match (plan_of(&sql, &Request::default()), expected) {
            (Ok(plan), Some(expected)) => {
                let columns = &plan.tables()[3].columns;
                let found: Vec<String> = columns.iter().map(|c| format!("{}: {}", c.name, c.expression)).collect();
                assert_eq!(found.join(" "), expected);
            }
            (Err(error), None) => assert!(error.message().contains("600 values for 601 rows"), "{error}"),
            (plan, _) => panic!("{definition}: {plan:?}"),
        }
    }
}

/// Keys that are bound to repeat, and NULL in a NOT NULL column, are errors only if the table has rows.
#[test]
fn rows_that_conflict_may_be_wanted() {
    let of = |sql: &str, on_conflict| plan_of(sql, &Request { on_conflict, ..rows(1000) });
    for sql in [
        "create table t (a int unique /* gen: int(1, 9) */)",
        "create table t (a integer primary key /* gen: int(1, 9) */)",
        "create table t (a int /* gen: int(1, 9) */, b int /* gen: choice(1, 2) */, primary key (a, b)) without rowid",
        "create table t (a text not null default 'x' /* gen: null(0.5, hex(4)) */)",
    ] {
        assert!(of(sql, Conflict::Abort).is_err(), "{sql}");
        assert!(of(sql, Conflict::Ignore).is_ok() && of(sql, Conflict::Replace).is_ok(), "{sql}");
    }
    let without_default = "create table t (a text not null /* gen: null(0.5, hex(4)) */)";
    assert!(of(without_default, Conflict::Ignore).is_ok() && of(without_default, Conflict::Replace).is_err());
    let clause = "create table t (a int unique on conflict replace /* gen: int(1, 9) */)";
    assert!(of(clause, Conflict::Abort).is_ok());
    let texts = "create table t (a integer primary key /* gen: hex(4) */)";
    assert!(of(texts, Conflict::Ignore).expect_err(texts).message().contains("integers"));
}

/// A foreign key to a missing table was filled with numbers that refer to nothing.
#[test]
fn a_foreign_key_without_a_table_is_null_or_refused() {
    let plan = plan_of("create table t (a int references missing(id))", &rows(5)).expect("it takes NULL");
    assert_eq!(expressions(&plan), ["t.a: constant(NULL)"]);
    for definition in ["a int not null references missing", "a integer primary key references missing"] {
        let sql = format!("create table t ({definition})");
        plan_of(&sql, &rows(0)).expect("no row refers to anything");
        let error = plan_of(&sql, &rows(5)).expect_err(definition);
        assert!(error.message().contains("the schema has no table missing"), "{error}");
        assert!(error.place().column.is_some() && error.advice().is_some(), "{error}");
    }
}

/// The annotation was rejected although the request replaced it.
#[test]
fn an_annotation_that_is_overridden_is_not_judged() {
    for annotation in ["nobody(1)", "int(1, 2) -- gen: x", "null(0.5, uuid)", "'"] {
        let sql = format!("create table t (\n a int not null -- gen: {annotation}\n)");
        assert_eq!(expressions(&plan_of(&sql, &set("t", "a", "bool")).expect(annotation)), ["t.a: bool"]);
        plan_of(&sql, &rows(10)).expect_err(annotation);
    }
}

/// The first such table was reported, and only after it had its option the second.
#[test]
fn all_tables_without_rows_are_named() {
    let sql = "create table a (x); create table b (x); create table c (x);\n-- gen: rows=5\ncreate table d (x);";
    let error = plan_of(sql, &Request::default()).expect_err("no rows");
    assert!(error.message().contains("3 tables have no number of rows: a, b, c"), "{error}");
    assert!(
        error.advice_in(&Flags).is_some_and(|advice| advice.contains("--rows a=N --rows b=N --rows c=N")),
        "{error}"
    );
}

/// A partial unique index was taken for a key of all rows, and the schema was rejected.
#[test]
fn partial_unique_indexes_are_no_keys_of_all_rows() {
    let sql = "create table t (a int /* gen: int(1,5) */, done int /* gen: constant(1) */);
        create unique index u on t(a) where done = 0;";
    plan_of(sql, &rows(100)).expect("no row has to differ");
    plan_of(&sql.replace("where done = 0", ""), &rows(100)).expect_err("every row has to differ");
    // Without an annotation it is unknown which rows it covers, so all values differ.
    let plan = plan_of("create table t (a int, b int); create unique index u on t(a) where b = 0;", &rows(9)).unwrap();
    assert_eq!(expressions(&plan)[0], "t.a: sequence");
}

/// Returns the values of the columns of a table as SQL literals, column by column.
fn values(plan: &GenPlan, table: usize, count: u64) -> Vec<Vec<String>> {
    let program = &plan.table(table).expect("a table").program;
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); program.columns.len()];
    let mut scratch = crate::program::Scratch::new(program);
    // Values must not depend on the lengths of blocks.
    let mut start = 0;
    for length in [7, 1, 100, 1024].into_iter().cycle() {
        let rows = start..count.min(start + length);
        program.run(&rows.clone().into(), &mut scratch);
        for (column, block) in columns.iter_mut().zip(scratch.columns()) {
            column
                .extend((0..usize::try_from(rows.end - rows.start).expect("few")).map(|row| literal(block.value(row))));
        }
        start = rows.end;
        if start == count {
            return columns;
        }
    }
    columns
}

fn literal(value: litepress_format::value::Value<'_>) -> String {
    use litepress_format::value::Value;
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) | Value::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// Returns the values of all columns of a table with these columns.
fn columns(definition: &str, count: u64) -> Vec<Vec<String>> {
    let sql = format!("create table t ({definition})");
    values(&plan_of(&sql, &rows(count)).expect(&sql), 0, count)
}

#[test]
fn columns_are_made_of_columns_in_whatever_order_they_stand() {
    let found = columns(
        "total real /* gen: round(price * amount, 2) */, price real /* gen: real(1, 9, 2) */,
        mail text /* gen: lower(\"first name\") || '.' || last || '@example.org' */,
        \"first name\" text /* gen: first_name */, last text /* gen: last_name */,
        amount int /* gen: int(1, 5) */, copy /* gen: mail */, many /* gen: null(0.5, amount * 100) */,
        kind text /* gen: case when amount > 3 then 'many' else 'few' end */",
        2000,
    );
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let mut nulls = 0;
    let row_of = |row: usize| -> Vec<&String> { found.iter().map(|column| &column[row]).collect() };
    for row in (0..2000).map(row_of) {
        let of = |column: usize| row[column];
        assert!((number(of(0)) - number(of(1)) * number(of(5))).abs() < 0.006);
        assert_eq!(*of(2), format!("{}.{}@example.org", of(3).to_lowercase(), of(4)));
        assert_eq!(of(2), of(6));
        assert_eq!(of(8), if number(of(5)) > 3.0 { "many" } else { "few" });
        nulls += i32::from(of(7) == "NULL");
        assert!(of(7) == "NULL" || number(of(7)) == 100.0 * number(of(5)));
    }
    assert!((900..1100).contains(&nulls), "{nulls}");
}

#[test]
fn a_name_alone_is_a_generator_and_in_an_expression_a_column() {
    let found = columns(
        "email text /* gen: email */, city text /* gen: lower(city) */, word text /* gen: email || word() */,
        other text /* gen: word || '' */, plain text /* gen: null(0, city) */",
        50,
    );
    for row in (0..50).map(|row| found.iter().map(|column| &column[row]).collect::<Vec<&String>>()) {
        assert!(row[0].contains('@') && row[1].chars().all(|c| !c.is_uppercase()));
        assert!(row[2].starts_with(row[0]) && row[2] != row[0]);
        assert_eq!(row[3], row[2]);
    }
    assert_ne!(found[4], found[1], "null(0, city) was the generator, and stays it");
}

/// The rest of an annotation does not change a generator's values; two calls of one generator differ.
#[test]
fn generators_in_expressions_have_random_numbers_of_their_own() {
    let of = |text: &str| columns(&format!("a /* gen: sequence */, x /* gen: {text} */"), 500).pop().expect("x");
    let plain = of("int(1, 1000) + 0");
    assert_eq!(plain, of("0 + int(1, 1000)"));
    assert_eq!(plain, of("int(1, 1000) + 0 * length(uuid)"));
    assert_eq!(plain, of("CASE WHEN real(0, 1) < 2 THEN int(1, 1000) END"));
    assert_ne!(plain, of("int(1, 1000)"));
    let twice = of("int(1, 1000) - int(1, 1000)");
    assert!(twice.iter().filter(|difference| *difference == "0").count() < 10);
    let nulls = of("coalesce(null(0.5, 'a' || ''), 'b') || coalesce(null(0.5, 'c' || ''), 'd')");
    assert!(["ac", "ad", "bc", "bd"].iter().all(|pair| nulls.iter().filter(|text| text == pair).count() > 80));
}

/// Expressions use values as the column stores them: an integer in a REAL column is divided as a real number.
#[test]
fn columns_count_as_they_are_stored() {
    let found = columns(
        "r real /* gen: int(7, 7) */, half /* gen: r / 2 */, t text /* gen: int(7, 7) */, is_text /* gen: t = '7' */,
        i int /* gen: digits(2) */, next /* gen: i + 1 */",
        20,
    );
    assert_eq!((found[1][0].as_str(), found[3][0].as_str()), ("3.5", "1"));
    let number = |text: &str| text.parse::<i64>().expect("a number");
    assert!(found[4].iter().zip(&found[5]).all(|(i, next)| number(i) + 1 == number(next)));
}

#[test]
fn mistakes_in_expressions_are_pointed_at() {
    for (definition, character, message) in [
        ("a int, b int -- gen: a + c", 26, "there is no column or generator 'c'"),
        ("amount int, b int -- gen: 2 * amuont", 31, "'amuont', did you mean 'amount'?"),
        ("a int, b int -- gen: 2 * \"c d\"", 26, "table t has no column 'c d'"),
        ("a int, b int -- gen: a + upper1(2)", 26, "no function or generator 'upper1', did you mean 'upper'?"),
        ("a int, b int -- gen: a + int(9, 1)", 30, "'lo' is above 'hi'"),
        ("a int as (1), b int -- gen: a + 1", 29, "column a is generated"),
        ("a int, b int -- gen: a + date_add(a, 1, 'dais')", 41, "'dais' is not a unit of time, did you mean 'days'?"),
        ("a int, b int -- gen: a +", 25, "the annotation ends where a generator or a value"),
        ("a int, b int -- gen: b + 1", 22, "columns depend on one another: t.b -> t.b"),
    ] {
        let sql = format!("create table t (\n{definition}\n)");
        let error = plan_of(&sql, &rows(1)).expect_err(&sql);
        assert!(error.message().contains(message), "{error}");
        assert_eq!((error.place().line, error.place().character), (Some(2), Some(character)), "{error}");
    }
    let circle = "create table t (a int -- gen: b + 1\n, b int -- gen: c\n, c int -- gen: a || ''\n)";
    let error = plan_of(circle, &rows(1)).expect_err("a circle");
    assert!(error.message().contains("t.a -> t.b -> t.c -> t.a"), "{error}");
    assert!(error.place().line == Some(1) && error.advice().is_some());
}

#[test]
fn computed_values_that_a_column_refuses() {
    for (definition, options, message) in [
        ("a int /* gen: null(0.5, int(1, 2)) */, b int not null /* gen: a + 1 */", "", "the column is NOT NULL"),
        (
            "a int, b text /* gen: a */, c int /* gen: a * 1.5 */",
            " strict",
            "its INT column does not take real numbers",
        ),
        ("a int, id integer primary key /* gen: 'x' || a */", "", "integers"),
        ("a int /* gen: int(1, 5) */, id integer primary key /* gen: a */", "", "distinct integers"),
    ] {
        let sql = format!("create table t ({definition}){options}");
        let error = plan_of(&sql, &rows(10)).expect_err(&sql);
        assert!(error.message().contains(message), "{error}");
    }
    let unique = "create table t (a int /* gen: sequence */, id integer primary key /* gen: 10 * a + 3 */, b unique /* gen: a */)";
    plan_of(unique, &rows(10)).expect(unique);
}

/// Generators of every kind work in expressions, in one another, and as numbers of children.
#[test]
fn generators_nest_in_expressions_and_in_one_another() {
    let found = columns(
        "o /* gen: object(id: int(1, 9), \"b c\": null(0.5, word), 'd': array(json, 0, 2)) */,
        p /* gen: null(0.5, object(o: object(x: 1))) */, q /* gen: 'x' || array(null(0.5, poisson(3)), 1, 3) */,
        r /* gen: upper(colour) */, s /* gen: round(normal(0, 1) * lognormal(1, 1), 1) */,
        u /* gen: null(0.5, lower(o)) */, v /* gen: if(bool(0.5), ipv4, pattern('##-??')) */",
        300,
    );
    for row in (0..300).map(|row| found.iter().map(|column| &column[row]).collect::<Vec<&String>>()) {
        assert!(
            row[0].starts_with("{\"id\":") && row[0].contains("\"b c\":") && row[0].contains("\"d\":["),
            "{}",
            row[0]
        );
        assert!(row[1] == "NULL" || row[1] == "{\"o\":{\"x\":1}}");
        assert!(row[2].starts_with("x[") && row[2].ends_with(']'));
        assert!(row[3].starts_with('#') && !row[3].contains(|c: char| c.is_ascii_lowercase()));
        assert!(row[4].parse::<f64>().is_ok());
        assert!(row[5] == "NULL" || *row[5] == row[0].to_ascii_lowercase());
        assert!(row[6].contains('.') || row[6].contains('-'));
    }
    let sql = "/* gen: rows=1k */ create table p (id integer primary key);
        create table c (p /* gen: ref(p.id, per_parent(poisson(3))) */);
        create table d (p /* gen: ref(p.id, per_parent(zipf(50, 1.2))) */)";
    let plan = plan_of(sql, &Request::default()).expect(sql);
    assert!((2700..3300).contains(&plan.tables()[1].rows), "{}", plan.tables()[1].rows);
    assert!(plan.tables()[2].rows > 1000);
    let error =
        plan_of("create table t (a text, b text -- gen: object(x: a || 'y')\n)", &rows(1)).expect_err("no generator");
    assert!(error.message().contains("object takes names and generators"), "{error}");
}

/// A scaled number of rows is limited to the number of children, and so is a number derived from it.
#[test]
fn scaled_rows_are_no_more_than_children() {
    let sql = "create table c (b /* gen: ref(b.id, per_parent(2)) */);
        /* gen: rows=300 */ create table b (id integer primary key, a /* gen: ref(a.id, per_parent(1, 5)) */);
        /* gen: rows=100 */ create table a (id integer primary key, up references a /* gen: ref(a.id, per_parent(2)) */)";
    for scale in [0.07, 0.5, 3.0, 33.3] {
        let request = Request { scale: Some(scale), ..Request::default() };
        let plan = plan_of(sql, &request).expect(sql);
        let rows: Vec<u64> = plan.tables().iter().map(|table| table.rows).collect();
        assert_eq!((rows[2] as f64, rows[0]), ((100.0 * scale).round(), 2 * rows[1]));
        assert!(rows[1] as f64 <= (300.0 * scale).round() && rows[1] >= rows[2], "{rows:?}");
    }
    let request = Request { rows: vec![(Some("b".to_owned()), 501)], ..Request::default() };
    let error = plan_of(sql, &request).expect_err("there are not that many children");
    assert!(error.message().contains("100 parents have"), "{error}");
}

/// Five thousand roles were called `Editor 17`, and their fewer rows must not leave a key with too few pairs.
#[test]
fn lookup_tables_and_their_pairs_have_fewer_rows() {
    const ROLES: &str = "create table role (id integer primary key, name text)";
    const OTHERS: &str = "create table region (id integer primary key, name text unique);
        create table user (id integer primary key, role_id int not null references role);
        create table role_region (role_id int references role, region_id int references region, primary key (role_id, region_id));
        create table role_text (role_id integer primary key references role, text text);
        create table text_note (text_id int unique references role_text (role_id), note text);
        create table user_role (user_id int references user, role_id int references role, primary key (user_id, role_id))";
    let all = || (None, 1000);
    let given = |rows: u64| vec![all(), (Some("role".to_owned()), rows)];
    let annotated = ROLES.replace("text", "text /* gen: unique_phrase('{title}') */");
    for (roles, rows, expected) in [
        (ROLES, vec![all()], [16, 8, 1000, 43, 16, 16, 1000]),
        (ROLES, vec![(None, 5)], [5; 7]),
        (ROLES, given(2000), [2000, 8, 1000, 1000, 1000, 1000, 1000]),
        (&annotated, vec![all()], [1000, 8, 1000, 1000, 1000, 1000, 1000]),
    ] {
        let sql = format!("{roles}; {OTHERS}");
        let plan = plan_of(&sql, &Request { rows, ..Request::default() }).expect(roles);
        assert_eq!(plan.tables().iter().map(|table| table.rows).collect::<Vec<_>>(), expected, "{roles}");
        super::schemas::insert(&sql, &plan).expect(roles);
    }
}
