use super::*;

fn only_column(definition: &str, rest: &str) -> Inferred {
    let sql = format!("create table t ({definition}){rest}");
    let schema = Schema::from_sql(&sql, "test").expect(&sql);
    column(&schema.tables[0], 0, 1000)
}

#[test]
fn keys_come_first() {
    for (definition, text) in [
        ("id integer primary key", "sequence"),
        ("id int primary key", "sequence"),
        ("id text primary key", "unique_hex(16)"),
        ("code char(6) unique", "unique_hex(6)"),
        ("code char(0) unique", "unique_hex(1)"),
        ("email text unique", "email"),
        ("email varchar(20) unique", "unique_hex(16)"),
        ("uuid text primary key", "uuid"),
        ("uuid char(32) unique", "unique_hex(16)"),
        ("name text unique", "unique_hex(16)"),
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
    assert_eq!(only_column("a text", "; create unique index i on t(lower(a))").text, "text(8, 32)");
}

#[test]
fn one_column_makes_a_key_of_several_unique() {
    let sql = "create table u (id integer primary key);
        create table t (a int references u, b text, c text, d int references u, e int unique,
            primary key (a, b, c, d), unique (b, e));";
    let schema = Schema::from_sql(sql, "test").expect(sql);
    let table = &schema.tables[1];
    let texts: Vec<String> = (0..5).map(|position| column(table, position, 10).text).collect();
    assert_eq!(texts[1..3], ["text(8, 32)", "unique_hex(16)"]);
    assert_eq!(texts[4], "sequence");
}

#[test]
fn then_types_then_names_then_affinity() {
    for (definition, text) in [
        ("x boolean", "bool"),
        ("x tinyint(1)", "bool"),
        ("x tinyint", "int(0, 127)"),
        ("x date", "date('2020-01-01', '2025-01-01')"),
        ("birthday date", "date('1940-01-01', '2007-01-01')"),
        ("x datetime", "timestamp('2020-01-01', '2025-01-01')"),
        ("created_at timestamp", "timestamp('2020-01-01', '2025-01-01')"),
        ("price decimal(10, 2)", "real(0, 1000, 2)"),
        ("x decimal(4,2)", "real(0, 100, 2)"),
        ("x time", "time_of_day"),
        ("created time", "time_of_day"),
        ("x json", "json"),
        ("x jsonb", "json"),
        ("x numeric(4)", "int(0, 9999)"),
        ("x numeric", "int(0, 999_999)"),
        ("price numeric", "real(1, 1000, 2)"),
        ("email text", "email"),
        ("email varchar(28)", "text(7, 28)"),
        ("email varchar(29)", "email"),
        ("firstName text", "first_name"),
        ("name varchar(100)", "full_name"),
        ("name varchar(10)", "text(2, 10)"),
        ("product_name text", "word"),
        ("createdAt text", "timestamp('2020-01-01', '2025-01-01')"),
        ("created_at integer", "int(1_577_836_800, 1_735_689_599)"),
        ("created_at real", "real(2458849.5, 2460676.5, 5)"),
        ("age integer", "int(18, 90)"),
        ("age text", "text(8, 32)"),
        ("age", "int(18, 90)"),
        ("status text", "choice('active': 6, 'pending': 2, 'suspended': 1, 'closed': 1)"),
        ("status int", "choice(0: 6, 1: 2, 2: 1, 3: 1)"),
        ("price real", "real(1, 1000, 2)"),
        ("price integer", "int(1, 100_000)"),
        ("is_admin integer", "bool"),
        ("uuid", "uuid"),
        ("uuid blob", "blob(16, 16)"),
        ("description varchar(50)", "text(12, 50)"),
        ("description text", "text(20, 120)"),
        ("x char(3)", "text(1, 3)"),
        ("x varchar(255)", "text(8, 32)"),
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

#[test]
fn references_find_their_parent() {
    let sql = "create table p (id integer primary key, code text unique);
        create table q (a int unique, b int, primary key (a, b));
        create table c (one int references p, two text references p(code), three int references q(a),
            four int, five int references c(six), six int unique, seven int,
            foreign key (six, seven) references q);";
    let schema = Schema::from_sql(sql, "test").expect(sql);
    let found: Vec<Reference> = (0..7).map(|position| reference(&schema, &schema.tables[2], position)).collect();
    let several = Reference::Unclear("it is not the only column that refers to q".to_owned());
    assert_eq!(
        found,
        [
            Reference::Single(Parent { table: 0, column: 0 }),
            Reference::Single(Parent { table: 0, column: 1 }),
            Reference::Single(Parent { table: 1, column: 0 }),
            Reference::None,
            Reference::Single(Parent { table: 2, column: 5 }),
            several.clone(),
            several,
        ]
    );
}

/// All of these were said not to be the only columns that refer to their parent, and they are.
#[test]
fn references_without_parent_say_why() {
    let sql = "create table p (a int, b int, primary key (a, b)); create table q (id integer primary key);
        create table r (a int); create table c (one int references p, two int references r,
            three int references q(x), four int references q references r(a), five int, six int references none,
            foreign key (one, five) references p);
        create table d (one int references p)";
    let schema = Schema::from_sql(sql, "test").expect(sql);
    for (table, column, why) in [
        ("d", 0, "p has no primary key of one column"),
        ("c", 1, "r has no primary key of one column"),
        ("c", 2, "q has no column x"),
        ("c", 3, "it is in several foreign keys"),
        ("c", 0, "it is in several foreign keys"),
        ("c", 4, "it is not the only column that refers to p"),
        ("c", 5, "the schema has no table none"),
    ] {
        let found = reference(&schema, schema.table(table).expect(table), column);
        assert_eq!(found, Reference::Unclear(why.to_owned()), "{table}, {column}");
    }
}

#[test]
fn references_draw_from_the_parents_keys() {
    use Reuse::{AtRandom, Digit, Once};
    for (reuse, start, step, rows, text) in [
        (AtRandom, 1, 1, 10, Some("int(1, 10)")),
        (AtRandom, 1, 1, 1, Some("int(1, 1)")),
        (AtRandom, 100, 10, 5, Some("int(100, 140, 10)")),
        (AtRandom, -1, -2, 3, Some("int(-5, -1, 2)")),
        (AtRandom, 1, 1, 0, None),
        (Once, 1, 1, 10, Some("sequence")),
        (Once, 5, 2, 10, Some("sequence(5, 2)")),
        (Digit { each: 1 }, 1, 1, 10, Some("repeat(1, 10)")),
        (Digit { each: 3 }, -1, -2, 3, Some("repeat(-5, -1, each=3, step=2)")),
        (Digit { each: 3 }, 1, 1, 0, None),
    ] {
        let inferred = of_progression(reuse, Progression { start, step }, rows, "p.id");
        assert_eq!(inferred.map(|inferred| inferred.text).as_deref(), text);
    }
}
