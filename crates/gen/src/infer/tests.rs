use super::*;

/// Infers all columns of a table as if none referred to another one.
fn columns_of(schema: &Schema, table: usize) -> Vec<Inference> {
    let columns = &schema.tables[table].columns;
    let context = TableContext {
        schema,
        table,
        rows_of: Vec::new(),
        rows: 1000,
        day: ReferenceDay::default(),
        is_lookup: false,
        open: vec![true; columns.len()],
        parents: vec![None; columns.len()],
        possible_parents: vec![None; columns.len()],
        per_parent: None,
        once: None,
        via: Vec::new(),
        halfway: Vec::new(),
        bought: None,
        shared: Vec::new(),
        lines: None,
        roots: None,
        counted: Vec::new(),
        latest: Vec::new(),
        relieved: Vec::new(),
        depth: 0,
    };
    TableInference::new(context).infer().into_iter().map(|inferred| inferred.expect("the column is open")).collect()
}

fn only_column(definition: &str, rest: &str) -> Inference {
    let sql = format!("create table t ({definition}){rest}");
    let schema = Schema::from_sql(&sql, "test").expect(&sql);
    columns_of(&schema, 0).remove(0)
}

#[test]
fn keys_come_first() {
    for (definition, text) in [
        ("id integer primary key", "sequence"),
        ("id int primary key", "sequence"),
        ("id text primary key", "unique_hex(16)"),
        ("code char(6) unique", "unique_hex(6)"),
        ("code char(0) unique", "unique_hex(1)"),
        (
            "email text unique",
            "slug(phrase('{person}'), '.') || sequence() || choice('@example.com': 6, '@example.net': 2, '@example.org': 2)",
        ),
        ("email varchar(20) unique", "substr(slug(phrase('{first}'), ''), 1, 9) || sequence() || '@a.test'"),
        ("uuid text primary key", "uuid"),
        ("uuid char(32) unique", "unique_hex(16)"),
        ("name text unique", "unique_phrase('{Adjective} {Noun}')"),
        ("r real unique", "sequence"),
        ("x unique", "sequence"),
        ("b blob unique", "blob(16, 16)"),
        ("flag boolean unique", "sequence"),
        ("a int, b int, primary key (b, a)", "sequence"),
        ("a text, b int, unique (a)", "unique_hex(16)"),
    ] {
        assert_eq!(only_column(definition, "").text, text, "{definition}");
    }
    assert_eq!(only_column("id integer primary key", " without rowid").text, "sequence");
    assert_eq!(only_column("a text", "; create unique index i on t(a)").text, "unique_hex(16)");
    assert_eq!(only_column("a text", "; create unique index i on t(lower(a))").text, "phrase('{words}', 32)");
}

#[test]
fn one_column_makes_a_key_of_several_unique() {
    let sql = "create table u (id integer primary key);
        create table t (a int references u, b text, c text, d int references u, e int unique,
            primary key (a, b, c, d), unique (b, e));";
    let schema = Schema::from_sql(sql, "test").expect(sql);
    let texts: Vec<String> = columns_of(&schema, 1).into_iter().map(|inferred| inferred.text).collect();
    assert_eq!(texts[1..3], ["phrase('{words}', 32)", "unique_hex(16)"]);
    assert_eq!(texts[4], "sequence");
    // Two letters cannot make five thousand translations differ.
    let words = "create table t (word text not null, lang char(2) not null, unique (word, lang))";
    let schema = Schema::from_sql(words, "test").expect(words);
    let words = "if(sequence() <= 2000, unique_phrase('{index_word}', ''), unique_phrase('{index_pair}', ''))";
    assert_eq!(columns_of(&schema, 0)[0].text, words);
}

#[test]
fn then_types_then_names_then_affinity() {
    for (definition, text) in [
        ("x boolean", "bool(0.5)"),
        ("x tinyint(1)", "bool(0.5)"),
        ("x tinyint", "int(0, 127)"),
        ("x date", "substr(events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30'), 1, 10)"),
        ("birthday date", "null(0.12, date('1951-01-20', '2008-01-06'))"),
        ("x datetime", "events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30')"),
        ("created_at timestamp", "events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30')"),
        ("price decimal(10, 2)", "price(3, 400)"),
        ("x decimal(4,2)", "real(0, 100, 2)"),
        ("x time", "time_of_day"),
        ("created time", "time_of_day"),
        ("x json", "json"),
        ("x jsonb", "json"),
        ("x numeric(4)", "int(0, 9999)"),
        ("x numeric", "int(0, 999_999)"),
        ("price numeric", "price(3, 400)"),
        (
            "email text",
            "slug(phrase('{person}'), '.') || int(1, 999) || choice('@example.com': 6, '@example.net': 2, '@example.org': 2)",
        ),
        ("email varchar(28)", "substr(slug(phrase('{first}'), ''), 1, 15) || int(1, 9) || '@example.org'"),
        ("email varchar(29)", "substr(slug(phrase('{first}'), ''), 1, 16) || int(1, 9) || '@example.org'"),
        ("firstName text", "phrase('{first}')"),
        ("name varchar(100)", "phrase('{Adjective} {Noun}')"),
        ("name varchar(10)", "phrase('{Adjective} {Noun}', 10)"),
        ("product_name text", "phrase('{product}')"),
        ("createdAt text", "events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30')"),
        (
            "created_at integer",
            "events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30', as='unix')",
        ),
        ("created_at real", "events('2021-01-02', '2026-01-01', jitter=0.9, open='06:30', close='23:30', as='julian')"),
        ("age integer", "normal(41, 14, min=18, max=95, decimals=0)"),
        ("age text", "phrase('{words}', 32)"),
        ("age", "normal(41, 14, min=18, max=95, decimals=0)"),
        ("status text", "choice('active': 85, 'inactive': 10, 'pending': 5)"),
        ("status int", "choice(1: 80, 2: 12, 0: 8)"),
        ("price real", "price(3, 400)"),
        ("price integer", "round(price(3, 400) * 100)"),
        ("is_admin integer", "bool(0.03)"),
        ("uuid", "uuid"),
        ("uuid blob", "blob(16, 16)"),
        ("description varchar(50)", "null(0.1, phrase('{sentence}', 50))"),
        ("description text", "null(0.1, phrase('{sentence}'))"),
        ("x char(3)", "regex('[A-Z]{3}')"),
        ("x varchar(255)", "phrase('{words}', 32)"),
        ("x int", "int(0, 999_999)"),
        ("x double", "real(0, 1000, 3)"),
        ("x blob", "blob(8, 32)"),
        ("x", "int(0, 999_999)"),
    ] {
        let inferred = only_column(definition, "");
        assert_eq!(inferred.text, text, "{definition}");
        assert!(!inferred.because.is_empty());
    }
}

/// Returns for each column of the table the `table.column` that it refers to, or why it refers to nothing.
fn references(sql: &str, table: &str) -> Vec<String> {
    let schema = Schema::from_sql(sql, "test").expect(sql);
    let table = schema.table(table).expect(table);
    let describe = |position| match reference(&schema, table, position) {
        Reference::None => "-".to_owned(),
        Reference::Single(Parent { table, column, .. }) => {
            format!("{}.{}", schema.tables[table].name, schema.tables[table].columns[column].name)
        }
        Reference::Unclear(why) => why,
    };
    (0..table.columns.len()).map(describe).collect()
}

#[test]
fn references_find_their_parent() {
    let sql = "create table p (id integer primary key, code text unique);
        create table q (a int unique, b int, primary key (a, b));
        create table c (one int references p, two text references p(code), three int references q(a),
            four int, five int references c(six), six int unique, seven int references seven,
            foreign key (six, seven) references q);
        create table twice (a int, b int, c int, foreign key (a, b) references q(b, a), foreign key (c) references p)";
    let found = references(sql, "c");
    assert_eq!(found, ["p.id", "p.code", "q.a", "-", "c.six", "q.a", "q.b"]);
    assert_eq!(references(sql, "twice"), ["q.b", "q.a", "p.id"]);
}

/// All of these were reported not to be the only columns that refer to their parent, and they are.
#[test]
fn references_without_parent_say_why() {
    let sql = "create table p (a int, b int, primary key (a, b)); create table q (id integer primary key);
        create table r (a int); create table c (one int references p, two int references r,
            three int references q(x), four int references q references r(a), six int references none);
        create table d (one int, five int, foreign key (one) references q(id), foreign key (one, five) references p)";
    let none = "p has no primary key of one column";
    let several = "it is in several foreign keys";
    let expected =
        [none, "r has no primary key of one column", "q has no column x", several, "the schema has no table none"];
    assert_eq!(references(sql, "c"), expected);
    assert_eq!(references(sql, "d"), [several, "p.b"]);
}

/// The typical tables of an application with tenants: one column in several foreign keys.
#[test]
fn a_column_in_several_foreign_keys() {
    let sql = "create table tenant (id integer primary key);
        create table person (tenant int references tenant, id int, boss int, primary key (tenant, id),
            foreign key (tenant, boss) references person);
        create table task (tenant int references tenant, id int, owner int, other int, primary key (tenant, id),
            foreign key (tenant, owner) references person, foreign key (tenant, other) references person);
        create table mirror (id integer primary key references mirror(id));";
    let shared = "another foreign key decides about tenant, which is part of its own";
    assert_eq!(references(sql, "person"), ["tenant.id", "-", shared]);
    assert_eq!(references(sql, "task"), ["person.tenant", "-", "person.id", shared]);
    assert_eq!(references(sql, "mirror"), ["-"], "every row refers to itself");
}

#[test]
fn references_as_annotations() {
    let sql = "create table \"my parents\" (id integer primary key, \"case\" int unique)";
    let schema = Schema::from_sql(sql, "test").expect(sql);
    for (reuse, text) in [
        (ReferencePattern::AtRandom, "ref(\"my parents\".\"case\")"),
        (ReferencePattern::Once, "ref(\"my parents\".\"case\", once)"),
        (ReferencePattern::InTurn { each: 1 }, "ref(\"my parents\".\"case\", in_turn)"),
        (ReferencePattern::InTurn { each: 3 }, "ref(\"my parents\".\"case\", in_turn(3))"),
        (
            ReferencePattern::DistinctIn { column: "a b".to_owned(), growing: None, other: false },
            "ref(\"my parents\".\"case\", distinct_in(\"a b\"))",
        ),
        (
            ReferencePattern::DistinctIn { column: "a".to_owned(), growing: Some(0.0), other: false },
            "ref(\"my parents\".\"case\", distinct_in(a, growing=TRUE))",
        ),
    ] {
        assert_eq!(of_parent(&reuse, &schema.tables[0], 1).text, text);
    }
}
