//! Whole schemas: SQLite inserts the rows, which checks every constraint, and then checks the foreign keys.

use super::*;
use crate::program::Scratch;
use crate::random::{CellRandom, CellStream};
use litepress_format::value::Value;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

fn sql_value(value: Value<'_>) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Int(int) => Sql::Integer(int),
        Value::Real(real) => Sql::Real(real),
        Value::Text(text) => Sql::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => Sql::Blob(blob.to_vec()),
    }
}

fn plan_of(sql: &str) -> Result<GenPlan> {
    GenPlan::new(&Schema::from_sql(sql, "test.sql")?, &Request::default())
}

/// Makes a database by inserting the rows of a plan.
pub(super) fn insert(sql: &str, plan: &GenPlan) -> Result<Connection, String> {
    let sqlite = Connection::open_in_memory().expect("memory");
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").expect("a setting");
    sqlite.execute_batch(sql).expect(sql);
    for table in plan.tables() {
        let names: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let text = format!("INSERT INTO \"{}\" ({}) VALUES ({marks})", table.name, names.join(", "));
        let mut statement = sqlite.prepare(&text).expect(&text);
        let mut scratch = Scratch::new(&table.program);
        for start in (0..table.rows).step_by(1000) {
            let rows = start..table.rows.min(start + 1000);
            table.program.run(&rows.clone().into(), &mut scratch);
            for row in 0..usize::try_from(rows.end - rows.start).expect("few") {
                let values = scratch.columns().iter().map(|block| sql_value(block.value(row)));
                let inserted = statement.execute(rusqlite::params_from_iter(values));
                inserted.map_err(|error| format!("{} row {}: {error}", table.name, start + row as u64))?;
            }
        }
    }
    let broken = "SELECT group_concat(DISTINCT \"table\" || ' to ' || parent || ' (' || fkid || ')') FROM temp.pragma_foreign_key_check";
    let broken: Option<String> = sqlite.query_row(broken, [], |row| row.get(0)).expect("a check");
    broken.map_or(Ok(sqlite), |broken| Err(format!("foreign keys are broken: {broken}")))
}

/// Makes the database of a schema that needs no request.
pub(super) fn database(sql: &str) -> Connection {
    let plan = plan_of(sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    insert(sql, &plan).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

pub(super) fn number(sqlite: &Connection, query: &str) -> i64 {
    sqlite.query_row(query, [], |row| row.get(0)).expect(query)
}

#[test]
fn keys_of_every_kind_are_referred_to() {
    for key in [
        "int unique /* gen: sequence(-5, 3) */",
        "int unique /* gen: shuffle */",
        "int unique /* gen: shuffle(1000, 5000) */",
        "text unique /* gen: uuid */",
        "text unique /* gen: unique_hex(4) */",
        "text unique /* gen: email */",
        "blob unique /* gen: blob(8, 20) */",
        "int unique /* gen: null(0.3, shuffle) */",
        "text unique /* gen: 'k' || (7 * n) */",
        "text unique /* gen: 3 * n */",
        "real unique /* gen: n + 1 */",
        "numeric unique /* gen: '00' || n */",
    ] {
        for distribution in [
            "",
            ", zipf(0.7)",
            ", zipf(1.3, scatter=FALSE)",
            ", per_parent(3)",
            ", per_parent(0, 9, after=77)",
            ", once",
        ] {
            let rows = if distribution == ", once" { "rows=700" } else { "rows=1500" };
            let sql = format!(
                "/* gen: rows=777 */ CREATE TABLE p (n int /* gen: sequence */, k {key});
                /* gen: {rows} */ CREATE TABLE c (k REFERENCES p(k) /* gen: ref(p.k{distribution}) */, n /* gen: k.n */,
                    text TEXT /* gen: 'n' || p.n */);"
            );
            let sqlite = database(&sql);
            let wrong = "SELECT count(*) FROM c LEFT JOIN p USING (n) WHERE c.k IS NOT p.k OR text <> 'n' || n";
            assert_eq!(number(&sqlite, wrong), 0, "{sql}");
        }
    }
}

#[test]
fn rows_come_as_often_as_they_should() {
    let sql = "/* gen: rows=100 */ CREATE TABLE p (id INTEGER PRIMARY KEY, more int /* gen: int(0, 3) */);
        /* gen: rows=20k */ CREATE TABLE even (p REFERENCES p /* gen: ref(p.id) */);
        /* gen: rows=20k */ CREATE TABLE hot (p REFERENCES p /* gen: ref(p.id, zipf(1, scatter=FALSE)) */);
        /* gen: rows=20k */ CREATE TABLE scattered (p REFERENCES p /* gen: null(0.25, ref(p, zipf(1))) */, i /* gen: p.id */);
        CREATE TABLE three (p REFERENCES p /* gen: ref(p.id, per_parent(3)) */, n int /* gen: number_in(p) */, UNIQUE (p, n));
        CREATE TABLE drawn (p REFERENCES p /* gen: ref(p.id, per_parent(choice(1: 3, 2: 1, 7: 1))) */);
        CREATE TABLE grandchild (d /* gen: sequence */, t REFERENCES three(rowid) /* gen: int(1, 5) */);";
    let sql = sql.rsplit_once("CREATE TABLE grandchild").expect("it is there").0;
    let sqlite = database(sql);
    let counts = |table: &str| -> Vec<i64> {
        let query =
            format!("SELECT count({table}.p) FROM p LEFT JOIN {table} ON {table}.p = p.id GROUP BY p.id ORDER BY p.id");
        let mut statement = sqlite.prepare(&query).expect("a query");
        statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("numbers")
    };
    assert!(counts("even").iter().all(|count| (130..270).contains(count)));
    let hot = counts("hot");
    assert!((3500..4200).contains(&hot[0]) && (1750..2100).contains(&hot[1]) && (20..60).contains(&hot[99]), "{hot:?}");
    let mut scattered = counts("scattered");
    assert!(scattered[0] < 1000 || scattered[1] < 1000, "the most frequent ones are not the first");
    scattered.sort_unstable_by_key(|count| -count);
    assert!((2600..3200).contains(&scattered[0]) && (1300..1600).contains(&scattered[1]), "{scattered:?}");
    assert!((4700..5300).contains(&number(&sqlite, "SELECT count(*) FROM scattered WHERE p IS NULL")));
    assert_eq!(number(&sqlite, "SELECT count(*) FROM scattered WHERE p IS NOT i"), 0);
    assert!(counts("three").iter().all(|&count| count == 3));
    assert_eq!(number(&sqlite, "SELECT sum(n) FROM three"), 600);
    let drawn = counts("drawn");
    assert!(drawn.iter().all(|count| [1, 2, 7].contains(count)) && drawn.contains(&7));
    assert_eq!(
        number(
            &sqlite,
            "SELECT count(*) FROM drawn WHERE rowid > 1 AND p < (SELECT p FROM drawn d WHERE d.rowid = drawn.rowid - 1)"
        ),
        0
    );
}

/// Totals of orders had nothing to do with their lines.
#[test]
fn sums_over_children_are_those_that_sqlite_finds() {
    let sql = "/* gen: rows=3k */ CREATE TABLE p (id INTEGER PRIMARY KEY /* gen: shuffle */,
            whole INT NOT NULL /* gen: sum_of(c.pieces) */, total REAL NOT NULL /* gen: sum_of(c.pieces * c.price) + 1 */,
            some NUMERIC /* gen: null(0.2, sum_of(c.rare)) */, same INT /* gen: sum_of(three.n * 10 + three.n) */);
        CREATE TABLE c (p NOT NULL REFERENCES p /* gen: ref(p.id, per_parent(choice(0: 3, 1: 5, 4: 2, 1500: 0.001))) */,
            pieces INT NOT NULL /* gen: int(1, 9) */, item NOT NULL REFERENCES item, price REAL /* gen: item.price */,
            rare NUMERIC /* gen: null(0.5, real(0, 5, 2)) */);
        /* gen: rows=8k */ CREATE TABLE three (p REFERENCES p /* gen: ref(p.id, per_parent(3)) */, n INT /* gen: number_in(p) */);
        /* gen: rows=50 */ CREATE TABLE item (id INTEGER PRIMARY KEY, price REAL NOT NULL /* gen: real(1, 100, 2) */);
        /* gen: rows=5k */ CREATE TABLE paid (p REFERENCES p /* gen: ref(p.id) */, amount REAL /* gen: p.total */, of INT /* gen: p.same */);";
    let sqlite = database(sql);
    let of =
        |summed: &str, table: &str| format!("(SELECT coalesce(sum({summed}), 0) FROM {table} WHERE {table}.p = p.id)");
    for (wrong, rows) in [
        (format!("FROM p WHERE whole <> {}", of("pieces", "c")), 0),
        (format!("FROM p WHERE abs(total - 1 - {}) > 1e-6", of("pieces * price", "c")), 0),
        (format!("FROM p WHERE abs(some - {}) > 1e-6", of("rare", "c")), 0),
        (format!("FROM p WHERE same <> {}", of("n * 11", "three")), 0),
        ("FROM paid JOIN p ON p.id = paid.p WHERE amount <> total OR of <> same".to_owned(), 0),
        ("FROM p WHERE same = 0".to_owned(), 333),
    ] {
        assert_eq!(number(&sqlite, &format!("SELECT count(*) {wrong}")), rows, "{wrong}");
    }
    assert!((700..1100).contains(&number(&sqlite, "SELECT count(*) FROM p WHERE whole = 0 AND total = 1")));
    assert!((500..700).contains(&number(&sqlite, "SELECT count(*) FROM p WHERE some IS NULL")));
}

/// The first pipeline of a young repository had the number 742, because only consecutive rows could be counted.
#[test]
fn rows_with_one_parent_have_numbers() {
    let sqlite = database(
        "/* gen: rows=60 */ CREATE TABLE p (id INTEGER PRIMARY KEY /* gen: shuffle */);
        /* gen: rows=20k */ CREATE TABLE t (id INTEGER PRIMARY KEY, p REFERENCES p /* gen: null(0.1, ref(p.id, popular(growing=TRUE))) */,
            n INT /* gen: number_in(p) */, all_of INT /* gen: count_in(p) */, next INT /* gen: next_of(p, id) */,
            after INT /* gen: next_of(p, n) + 0 */);
        /* gen: rows=3k */ CREATE TABLE u (t REFERENCES t /* gen: ref(t.id) */, n INT /* gen: t.n */);",
    );
    for wrong in [
        "FROM (SELECT n, p, row_number() OVER (PARTITION BY p ORDER BY id) AS at FROM t) WHERE p IS NOT NULL AND n IS NOT at",
        "FROM t WHERE (p IS NULL) <> (n IS NULL) OR (p IS NULL) <> (all_of IS NULL)",
        "FROM t WHERE p IS NOT NULL AND all_of <> (SELECT max(n) FROM t o WHERE o.p = t.p)",
        "FROM u JOIN t ON t.id = u.t WHERE u.n IS NOT t.n",
        "FROM (SELECT next, p, lead(id) OVER (PARTITION BY p ORDER BY id) AS at FROM t) WHERE p IS NOT NULL AND next IS NOT at",
        "FROM t WHERE p IS NULL AND next IS NOT NULL OR (next IS NULL) <> (after IS NULL) OR after <> n + 1",
    ] {
        assert_eq!(number(&sqlite, &format!("SELECT count(*) {wrong}")), 0, "{wrong}");
    }
    assert!(number(&sqlite, "SELECT max(n) FROM t") > 500);
}

/// Messages came before the one who received them.
#[test]
fn early_rows_refer_to_other_early_rows() {
    let sqlite = database(
        "/* gen: rows=50 */ CREATE TABLE p (id INTEGER PRIMARY KEY);
        /* gen: rows=400 */ CREATE TABLE t (id INTEGER PRIMARY KEY,
            a REFERENCES p /* gen: ref(p.id, popular(growing=TRUE)) */,
            b REFERENCES p /* gen: ref(p.id, other_than(a, growing=TRUE)) */);",
    );
    assert_eq!(number(&sqlite, "SELECT count(*) FROM t WHERE a = b OR b > max(2, a, (id - 1) * 50 / 400)"), 0);
    assert!(number(&sqlite, "SELECT count(DISTINCT b) FROM t") > 40);
}

/// Groups with members, texts that answer one another, and rooms with guests.
const GROUPS: &str = "/* gen: rows=200 */ CREATE TABLE person (id INTEGER PRIMARY KEY, posts INT /* gen: count_of(post.author) */);
    /* gen: rows=50 */ CREATE TABLE grp (id INTEGER PRIMARY KEY, members INT /* gen: count_of(member.grp) */,
        founder REFERENCES person /* gen: ref(person.id, popular(growing=TRUE)) */,
        newest INT /* gen: last_of(post.grp, post.id) */, said INT /* gen: coalesce(last_of(post.grp, post.author), 0) */);
    CREATE TABLE member (id INTEGER PRIMARY KEY, grp REFERENCES grp /* gen: ref(grp.id, per_parent(0, 9)) */,
        person REFERENCES person /* gen: ref(person.id, distinct_in(grp)) */,
        friend REFERENCES person /* gen: ref(person.id, distinct_in(grp, growing=TRUE, first=founder)) */,
        number INT /* gen: number_in(grp) */, UNIQUE (grp, person), UNIQUE (grp, friend));
    /* gen: rows=3000 */ CREATE TABLE post (id INTEGER PRIMARY KEY, answers REFERENCES post /* gen: null(0.4, ref(post.id, popular)) */,
        grp REFERENCES grp /* gen: ref(grp.id, via(member.grp, growing=TRUE), root=answers) */,
        author REFERENCES person /* gen: null(0.1, ref(person.id, among(grp, member.person))) */,
        editor REFERENCES person /* gen: ref(person.id, zipf(1.1), root=answers) */,
        quotes REFERENCES post /* gen: ref(post.id, popular(recent=9)) */,
        answered INT /* gen: count_of(post.answers) */);
    CREATE TABLE clap (post REFERENCES post /* gen: ref(post.id, per_parent(0, 3)) */,
        person REFERENCES person /* gen: ref(person.id, among(post.grp, member.person, distinct=TRUE)) */, UNIQUE (post, person));
    CREATE TABLE stay (id INTEGER PRIMARY KEY, grp REFERENCES grp /* gen: ref(grp.id, per_parent(0, 40)) */,
        guest REFERENCES person /* gen: ref(person.id, popular(by=grp)) */,
        later REFERENCES person /* gen: ref(person.id, popular(growing=TRUE, by=grp)) */,
        turn INT /* gen: number_in(grp) */, turns INT /* gen: count_in(grp) */);
    /* gen: rows=100 */ CREATE TABLE review (id INTEGER PRIMARY KEY, person REFERENCES person /* gen: ref(person.id, via(line.person, once=TRUE)) */,
        grp REFERENCES grp /* gen: ref(grp.id, along(person, line.stay, stay.grp)) */);
    /* gen: rows=300 */ CREATE TABLE line (id INTEGER PRIMARY KEY, stay REFERENCES stay /* gen: ref(stay.id, uniform) */,
        person REFERENCES person /* gen: ref(person.id, popular) */);
    /* gen: rows=700 */ CREATE TABLE visit (id INTEGER PRIMARY KEY, grp REFERENCES grp /* gen: ref(grp.id, via(stay.grp)) */,
        guest REFERENCES person /* gen: ref(person.id, along(grp, stay.guest)) */);
    /* gen: rows=90 */ CREATE TABLE bill (id INTEGER PRIMARY KEY, stay REFERENCES stay /* gen: null(0.2, ref(stay.id, uniform)) */,
        guest REFERENCES person /* gen: ref(person.id, along(stay, stay.guest)) */, posts INT /* gen: guest.posts */);";

/// Each foreign key chose its row alone: a reply was in another group than what it answered, and its author was no member.
#[test]
fn foreign_keys_can_depend_on_other_ones() {
    let sqlite = database(GROUPS);
    for query in [
        "SELECT count(*) FROM post p JOIN post a ON a.id = p.answers WHERE p.grp <> a.grp OR p.editor <> a.editor OR a.id >= p.id",
        "SELECT count(*) FROM post WHERE author IS NOT NULL AND NOT EXISTS (SELECT 1 FROM member m WHERE m.grp = post.grp AND m.person = author)",
        "SELECT count(*) FROM person p WHERE posts <> (SELECT count(*) FROM post WHERE author = p.id)",
        "SELECT count(*) FROM grp g WHERE members <> (SELECT count(*) FROM member WHERE grp = g.id)",
        "SELECT count(*) FROM grp g WHERE newest IS NOT (SELECT max(id) FROM post WHERE grp = g.id)",
        "SELECT count(*) FROM grp JOIN post ON post.id = newest WHERE said <> coalesce(author, 0)",
        "SELECT count(*) FROM grp WHERE newest IS NULL AND said <> 0",
        "SELECT count(*) FROM post WHERE id - quotes NOT BETWEEN 1 AND 9",
        "SELECT count(*) FROM post p WHERE answered <> (SELECT count(*) FROM post WHERE answers = p.id)",
        "SELECT count(*) FROM post WHERE answers IS NULL AND grp > (SELECT grp FROM member WHERE id = 1 + (post.id * (SELECT count(*) FROM member)) / 3000)",
        "SELECT count(*) FROM review r JOIN line l ON l.id = 3 * r.id - 2 JOIN stay s ON s.id = l.stay WHERE l.person <> r.person OR s.grp <> r.grp",
        "SELECT count(*) FROM visit v WHERE NOT EXISTS (SELECT 1 FROM stay s WHERE s.grp = v.grp AND s.guest = v.guest)",
        "SELECT count(*) FROM (SELECT p.grp, count(*) n, sum(EXISTS (SELECT 1 FROM member m WHERE m.grp = p.grp AND m.person = c.person)) own
            FROM clap c JOIN post p ON p.id = c.post GROUP BY p.id) c WHERE own < min(n, (SELECT count(*) FROM member m WHERE m.grp = c.grp))",
        "SELECT count(*) FROM member m JOIN grp g ON g.id = grp WHERE (number = 1) <> (friend = founder)",
        "SELECT count(*) FROM member WHERE friend > max(10, 4 * grp)",
        "SELECT count(*) FROM bill b LEFT JOIN stay s ON s.id = b.stay WHERE b.guest IS NOT s.guest",
        "SELECT count(*) FROM bill b JOIN person p ON p.id = b.guest WHERE b.posts <> p.posts",
        "SELECT count(*) FROM stay WHERE guest > 1 + (turn - 1) * 200 / turns",
        "SELECT count(*) FROM stay WHERE later > 1 + grp * 4 + (turn - 1) * (200 - grp * 4) / turns",
    ] {
        assert_eq!(number(&sqlite, query), 0, "{query}");
    }
    for (query, least) in [
        ("SELECT count(*) FROM post WHERE answers IS NOT NULL", 1700),
        ("SELECT count(DISTINCT grp) FROM post", 35),
        ("SELECT count(*) FROM post p JOIN post a ON a.id = p.answers WHERE p.author <> a.author", 800),
        ("SELECT count(DISTINCT guest) FROM stay", 80),
        ("SELECT count(*) FROM clap", 3000),
        ("SELECT count(DISTINCT person) FROM clap", 80),
    ] {
        assert!(number(&sqlite, query) >= least, "{query}: {}", number(&sqlite, query));
    }
}

/// Rows are functions of their number: in any order, and in blocks of any size.
#[test]
fn foreign_keys_that_depend_on_other_ones_are_the_same_in_any_order() {
    let plans = [GROUPS, HOMES].map(|sql| plan_of(sql).expect(sql));
    for table in plans.iter().flat_map(GenPlan::tables) {
        let mut scratch = Scratch::new(&table.program);
        let rows = table.rows.min(900);
        table.program.run(&(0..rows).into(), &mut scratch);
        let values = |scratch: &Scratch, row: usize| -> Vec<Sql> {
            scratch.columns().iter().map(|block| sql_value(block.value(row))).collect()
        };
        let together: Vec<Vec<Sql>> =
            (0..usize::try_from(rows).expect("few")).map(|row| values(&scratch, row)).collect();
        let list: Vec<u64> = (0..97).map(|at| at * 7919 % rows).collect();
        table.program.run(&crate::random::Rows::List(&list), &mut scratch);
        for (at, &row) in list.iter().enumerate() {
            let row = usize::try_from(row).expect("few");
            assert_eq!(values(&scratch, at), together[row], "{} row {row}", table.name);
        }
    }
}

/// A tree of two levels, teams with users and projects, and pairs that come once, in every form.
const HOMES: &str = "/* gen: rows=20 */ CREATE TABLE team (id INTEGER PRIMARY KEY, kind REFERENCES kind /* gen: ref(kind.id, popular, childless=plan.team) */);
    /* gen: rows=300 */ CREATE TABLE user (id INTEGER PRIMARY KEY, team NOT NULL REFERENCES team /* gen: ref(team.id, popular(growing=TRUE)) */);
    /* gen: rows=200 */ CREATE TABLE project (id INTEGER PRIMARY KEY, team NOT NULL REFERENCES team /* gen: ref(team.id, via(user.team, growing=TRUE)) */);
    /* gen: rows=200 */ CREATE TABLE plan (id INTEGER PRIMARY KEY, team NOT NULL REFERENCES team /* gen: ref(team.id, via(project.team)) */);
    /* gen: rows=3000 */ CREATE TABLE task (id INTEGER PRIMARY KEY, project NOT NULL REFERENCES project /* gen: ref(project.id, popular(growing=TRUE)) */,
        user NOT NULL REFERENCES user /* gen: ref(user.id, within(project.team, user.team, growing=TRUE)) */,
        plan REFERENCES plan /* gen: null(0.5, ref(plan.id, within(project.team, plan.team))) */);
    CREATE TABLE shift (id INTEGER PRIMARY KEY, project NOT NULL REFERENCES project /* gen: ref(project.id, per_parent(5)) */,
        user NOT NULL REFERENCES user /* gen: ref(user.id, within(project.team, user.team, by=project)) */, number INT /* gen: number_in(project) */);
    /* gen: rows=500 */ CREATE TABLE own (id INTEGER PRIMARY KEY, team NOT NULL REFERENCES team /* gen: ref(team.id, via(user.team)) */,
        user NOT NULL REFERENCES user /* gen: ref(user.id, within(team, user.team)) */);
    /* gen: rows=900 */ CREATE TABLE done (id INTEGER PRIMARY KEY, user NOT NULL REFERENCES user /* gen: ref(user.id, via(task.user, once=TRUE)) */,
        project NOT NULL REFERENCES project /* gen: ref(project.id, along(user, task.project, distinct=TRUE)) */, UNIQUE (user, project));
    /* gen: rows=100 */ CREATE TABLE kind (id INTEGER PRIMARY KEY, of REFERENCES kind /* gen: ref(kind.id, in_turn(first=8)) */,
        name TEXT UNIQUE /* gen: if(of IS NULL, unique_phrase('{category}'), unique_phrase('{category_kind}', each=8) || ' ' || of.name) */,
        other REFERENCES kind /* gen: null(0.3, ref(kind.id, popular, unless=of)) */,
        team REFERENCES team /* gen: ref(team.id, popular, after=70) */);";

#[test]
fn rows_of_one_home_are_found() {
    let sqlite = database(HOMES);
    for query in [
        "SELECT count(*) FROM task t JOIN project p ON p.id = project JOIN user u ON u.id = user WHERE u.team <> p.team",
        "SELECT count(*) FROM task t JOIN project p ON p.id = project JOIN plan x ON x.id = plan WHERE x.team <> p.team",
        "SELECT count(*) FROM shift s JOIN project p ON p.id = project JOIN user u ON u.id = user WHERE u.team <> p.team",
        "SELECT count(*) FROM own o JOIN user u ON u.id = user WHERE u.team <> o.team",
        "SELECT count(*) FROM task WHERE user > 1 + id / 10",
        "SELECT count(*) FROM done d WHERE id % 9 = 0 AND NOT EXISTS (SELECT 1 FROM task t WHERE t.user = d.user)",
        "SELECT count(*) FROM kind WHERE (of IS NULL) <> (id <= 8) OR of <> 1 + (id - 1) % 8",
        "SELECT count(*) FROM kind k JOIN kind o ON o.id = k.of WHERE k.name NOT LIKE '% ' || o.name",
        "SELECT count(*) FROM kind WHERE of IS NOT NULL AND other IS NOT NULL",
        "SELECT count(*) FROM kind WHERE (team IS NULL) <> (id <= 70)",
        "SELECT count(*) FROM team t WHERE (kind IS NULL) <> EXISTS (SELECT 1 FROM plan WHERE team = t.id)",
    ] {
        assert_eq!(number(&sqlite, query), 0, "{query}");
    }
    for (query, least, most) in [
        ("SELECT count(DISTINCT user) FROM task", 100, 300),
        (
            "SELECT count(*) FROM done d WHERE EXISTS (SELECT 1 FROM task t WHERE t.user = d.user AND t.project = d.project)",
            700,
            900,
        ),
        ("SELECT count(*) FROM kind WHERE other IS NOT NULL", 2, 8),
        (
            "SELECT count(*) FROM shift s WHERE number = 1 AND user <> (SELECT min(id) FROM user u WHERE u.team = (SELECT team FROM project WHERE id = s.project))",
            0,
            0,
        ),
    ] {
        let found = number(&sqlite, query);
        assert!((least..=most).contains(&found), "{query}: {found}");
    }
}

#[test]
fn foreign_keys_that_cannot_depend_on_others_are_errors() {
    for (annotation, message) in [
        ("ref(p.id, among(b, m.p))", "among needs a column of m that is ref(g.key, per_parent(...))"),
        ("ref(p.id, among(a, m.p))", "among needs a column that is a ref(...)"),
        ("ref(p.id, along(b, m.p))", "along needs a column that goes through the same table by via or among"),
        ("ref(p.id, via(m.g))", "m.g is not ref(p.key)"),
        ("ref(p.id, popular(by=b))", "by needs a column that is ref(parent.key, per_parent(...))"),
        ("ref(p.id, popular, root=b)", "root needs a column that is a ref(...) to earlier rows"),
        ("ref(p.id, per_parent(3), root=t)", "root for those that are uniform"),
        ("ref(p.id, within(b, m.g))", "within needs a column of the table that it refers to"),
        ("ref(p.id, within(b.name, p.id))", "there is no column 'name' in a row that the column refers to"),
        ("ref(p.id, within(id, p.id))", "within needs a column of the table that it refers to"),
        ("ref(p.id, popular, unless=id)", "unless needs a column that is a ref(...)"),
        ("ref(p.id, popular, unless=a)", "the choice of this row depends on itself"),
        ("ref(p.id, via(x.y))", "there is no table 'x'"),
        ("count_of(m.id)", "count_of needs a column that is ref(t.key), and id is not"),
        ("count_of()", "argument 'column' is missing"),
        ("last_of(m.id, m.id)", "last_of needs a column that is ref(t.key), and id is not"),
        ("last_of(m.g, g.id)", "last_of needs two columns of one table"),
        ("ref(p.id, popular(recent=0))", "argument 'recent'"),
        ("ref(p.id, among(b.x, m.p))", "there is no column 'x'"),
        ("ref(p.id, distinct_in(t, first=b, skew=2))", "argument 'first' of distinct_in excludes"),
    ] {
        let sql = format!(
            "/* gen: rows=9 */ CREATE TABLE p (id INTEGER PRIMARY KEY);
            /* gen: rows=9 */ CREATE TABLE g (id INTEGER PRIMARY KEY);
            /* gen: rows=9 */ CREATE TABLE m (id INTEGER PRIMARY KEY, g REFERENCES g /* gen: ref(g.id) */, p REFERENCES p /* gen: ref(p.id) */);
            /* gen: rows=9 */ CREATE TABLE t (id INTEGER PRIMARY KEY, b REFERENCES g /* gen: ref(g.id) */, t REFERENCES t /* gen: ref(t.id) */,
                a REFERENCES p /* gen: {annotation} */);"
        );
        let error = plan_of(&sql).expect_err(annotation);
        assert!(error.to_string().contains(message), "{annotation}: {error}");
    }
}

#[test]
fn tables_refer_to_themselves_and_to_whole_keys() {
    let sql = "-- gen: rows=500
        CREATE TABLE staff (id INTEGER PRIMARY KEY, boss REFERENCES staff, top NOT NULL REFERENCES staff,
            tree REFERENCES staff, -- gen: ref(staff.id, per_parent(1, 4))
            chain UNIQUE REFERENCES staff, loop NOT NULL UNIQUE REFERENCES staff, hub REFERENCES staff, -- gen: ref(staff.id, zipf(2))
            level int -- gen: boss.id % 10
        );
        -- gen: rows=40
        CREATE TABLE place (country TEXT, zip int, name TEXT, PRIMARY KEY (country, zip)) WITHOUT ROWID;
        -- gen: rows=400
        CREATE TABLE address (id INTEGER PRIMARY KEY, country TEXT NOT NULL, zip int NOT NULL, city TEXT, -- gen: place.name
            FOREIGN KEY (country, zip) REFERENCES place);
        -- gen: rows=300
        CREATE TABLE visit (country TEXT, zip int, person REFERENCES staff, PRIMARY KEY (person, zip, country),
            FOREIGN KEY (zip, country) REFERENCES place(zip, country));
        -- gen: rows=30
        CREATE TABLE mayor (zip int, country TEXT, UNIQUE (zip, country), FOREIGN KEY (country, zip) REFERENCES place);";
    let sqlite = database(sql);
    for column in ["boss", "tree", "hub"] {
        // A boss is NULL in some rows, as the name says.
        let later = format!(
            "SELECT count(*) FROM staff WHERE {column} >= id OR {column} IS NULL AND id > 1 AND '{column}' <> 'boss'"
        );
        assert_eq!(number(&sqlite, &later), 0, "{column}");
    }
    assert_eq!(number(&sqlite, "SELECT count(*) FROM staff WHERE top > id OR top = id AND id > 1"), 0);
    assert_eq!(number(&sqlite, "SELECT count(*) FROM staff WHERE chain IS NOT nullif(id - 1, 0) OR loop <> id"), 0);
    assert_eq!(number(&sqlite, "SELECT count(*) FROM staff WHERE level IS NOT boss % 10"), 0);
    assert_eq!(
        number(&sqlite, "SELECT count(*) FROM address JOIN place USING (country, zip) WHERE city IS NOT name"),
        0
    );
    assert!(number(&sqlite, "SELECT count(DISTINCT zip) FROM address") > 30);
}

#[test]
fn pairs_are_different() {
    for (distribution, skew) in [("distinct_in(post)", 1.0), ("distinct_in(post, skew=3)", 3.0)] {
        let sql = format!(
            "/* gen: rows=500 */ CREATE TABLE post (id INTEGER PRIMARY KEY /* gen: shuffle */);
            /* gen: rows=50 */ CREATE TABLE tag (id TEXT PRIMARY KEY);
            CREATE TABLE tagged (post NOT NULL REFERENCES post /* gen: ref(post.id, per_parent(0, 12)) */,
                tag NOT NULL REFERENCES tag /* gen: ref(tag.id, {distribution}) */, PRIMARY KEY (post, tag)) WITHOUT ROWID;"
        );
        let sqlite = database(&sql);
        let counts = "(SELECT count(*) AS n FROM tagged GROUP BY tag)";
        let rows = number(&sqlite, "SELECT count(*) FROM tagged");
        assert!((2700..3300).contains(&rows));
        let most = number(&sqlite, &format!("SELECT max(n) FROM {counts}"));
        let is_skewed = most > 4 * rows / 50;
        assert_eq!(is_skewed, skew > 1.0, "{most} of {rows}");
        assert_eq!(number(&sqlite, &format!("SELECT count(*) FROM {counts}")), 50, "all are used");
    }
    // Early posts have early tags: up to the same share of the rows, or as many as they need.
    let sqlite = database(
        "/* gen: rows=500 */ CREATE TABLE post (id INTEGER PRIMARY KEY);
        /* gen: rows=50 */ CREATE TABLE tag (id INTEGER PRIMARY KEY);
        CREATE TABLE tagged (post NOT NULL REFERENCES post /* gen: ref(post.id, per_parent(0, 4)) */,
            tag NOT NULL REFERENCES tag /* gen: ref(tag.id, distinct_in(post, growing=TRUE)) */, PRIMARY KEY (post, tag)) WITHOUT ROWID;",
    );
    assert_eq!(number(&sqlite, "SELECT count(*) FROM tagged WHERE tag > max(4, (post + 9) / 10)"), 0);
    assert!(number(&sqlite, "SELECT count(DISTINCT tag) FROM tagged") > 45);
    assert!(number(&sqlite, "SELECT count(DISTINCT tag) FROM tagged WHERE post > 450") > 30);
    let inferred = "/* gen: rows=500 */ CREATE TABLE post (id INTEGER PRIMARY KEY);
        /* gen: rows=50 */ CREATE TABLE tag (id TEXT PRIMARY KEY);
        CREATE TABLE tagged (post REFERENCES post /* gen: ref(post.id, per_parent(2)) */, tag REFERENCES tag, PRIMARY KEY (post, tag));
        CREATE TABLE line (post REFERENCES post /* gen: ref(post.id, per_parent(1, 5)) */, number int, UNIQUE (post, number));";
    let plan = plan_of(inferred).expect(inferred);
    let columns = |table: usize| plan.tables()[table].columns.iter().map(|column| column.expression.as_str());
    assert_eq!(columns(2).collect::<Vec<_>>(), ["ref(post.id, per_parent(2))", "ref(tag.id, distinct_in(post))"]);
    assert_eq!(columns(3).next_back(), Some("number_in(post)"));
    assert_eq!(plan.tables()[2].rows, 1000);
    insert(inferred, &plan).expect(inferred);
}

/// Numbers in a key with a foreign key were row numbers: no order has a line number 60,000.
#[test]
fn numbers_in_a_key_count_the_rows_of_a_parent() {
    for (orders, lines, most) in [(300, 700, 8), (300, 300, 4), (1000, 10, 3), (7, 700, 253), (1, 30, 78)] {
        let sql = format!(
            "/* gen: rows={orders} */ CREATE TABLE orders (id INTEGER PRIMARY KEY, shop INT, n INT, UNIQUE (shop, n));
            /* gen: rows={lines} */ CREATE TABLE line (o NOT NULL REFERENCES orders, pos INT CHECK (pos BETWEEN 1 AND 300),
                PRIMARY KEY (o, pos)) WITHOUT ROWID;
            /* gen: rows={lines} */ CREATE TABLE note (pos INT, shop INT, n INT, PRIMARY KEY (shop, pos, n),
                FOREIGN KEY (shop, n) REFERENCES orders (shop, n));"
        );
        let sqlite = database(&sql);
        assert!(number(&sqlite, "SELECT max(pos) FROM line") <= most, "{sql}");
        assert!(number(&sqlite, "SELECT count(DISTINCT o) FROM line") * most >= lines, "{sql}");
        assert!(number(&sqlite, "SELECT count(*) FROM line JOIN note USING (pos)") > 0, "{sql}");
    }
}

#[test]
fn one_number_of_rows_is_for_all_tables_that_say_nothing() {
    let sql = "CREATE TABLE a (id INTEGER PRIMARY KEY);
        /* gen: rows=3 */ CREATE TABLE b (id INTEGER PRIMARY KEY);
        CREATE TABLE c (a REFERENCES a /* gen: ref(a.id, per_parent(2)) */);
        CREATE TABLE d (b REFERENCES b /* gen: ref(b.id, per_parent(2)) */);
        CREATE TABLE e (b REFERENCES b);";
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let rows = vec![(None, 100), (Some("e".to_owned()), 7)];
    let plan = GenPlan::new(&schema, &Request { rows, ..Request::default() }).expect(sql);
    let rows: Vec<u64> = plan.tables().iter().map(|table| table.rows).collect();
    assert_eq!(rows, [100, 3, 100, 6, 7]);
    insert(sql, &plan).expect(sql);
}

/// A number of rows for a schema that gives all of its tables a number was an error, and before that it was ignored.
#[test]
fn one_number_of_rows_scales_a_schema_that_has_numbers() {
    let sql = "/* gen: rows=20 */ CREATE TABLE a (id INTEGER PRIMARY KEY);
        /* gen: rows=3 fixed=true */ CREATE TABLE kind (id INTEGER PRIMARY KEY);
        /* gen: rows=40 */ CREATE TABLE b (id INTEGER PRIMARY KEY);
        CREATE TABLE c (a REFERENCES a /* gen: ref(a.id, per_parent(5)) */);";
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let with = |rows: Vec<(Option<String>, u64)>| GenPlan::new(&schema, &Request { rows, ..Request::default() });
    let rows = |plan: GenPlan| plan.tables().iter().map(|table| table.rows).collect::<Vec<u64>>();
    assert_eq!(rows(with(vec![(None, 1000)]).expect("it is scaled")), [200, 3, 400, 1000]);
    assert_eq!(rows(with(vec![(None, 10)]).expect("it is scaled")), [2, 3, 4, 10]);
    let named = vec![(Some("a".to_owned()), 50), (None, 80)];
    assert_eq!(rows(with(named).expect("the rest is scaled")), [50, 3, 13, 250]);
    let fixed = "/* gen: rows=3 fixed=true */ CREATE TABLE kind (id INTEGER PRIMARY KEY); /* gen: rows=3 fixed=true */ CREATE TABLE k (kind REFERENCES kind /* gen: ref(kind.id, once) */);";
    let schema = Schema::from_sql(fixed, "test.sql").expect(fixed);
    let error = GenPlan::new(&schema, &Request { rows: vec![(None, 100)], ..Request::default() }).expect_err(fixed);
    assert!(error.to_string().contains("rows(100) has no effect"), "{error}");
}

#[test]
fn references_that_cannot_be() {
    let tables = "/* gen: rows=5 */ CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, twice AS (2 * id));
        /* gen: rows=0 */ CREATE TABLE empty (id INTEGER PRIMARY KEY);";
    for (column, message) in [
        ("x REFERENCES p -- gen: ref(q.id)", "there is no table 'q', did you mean 'p'?"),
        ("x -- gen: ref(p.nmae)", "table p has no column 'nmae', did you mean 'name'?"),
        ("x -- gen: ref(p.twice)", "column twice is generated"),
        ("x -- gen: ref(5)", "a column of another table is expected"),
        ("x -- gen: ref(p.id) + 1", "ref must stand alone"),
        ("x -- gen: ref(empty.id)", "has no rows"),
        ("x -- gen: ref(p.id, zipf(0))", "argument 's' of zipf is above 0"),
        ("x -- gen: ref(p.id, zpif(1))", "unknown distribution 'zpif', did you mean 'zipf'?"),
        ("x -- gen: ref(p.id, 5)", "argument 'distribution' of ref"),
        ("x -- gen: ref(p.id, per_parent(0))", "there are no children"),
        ("x -- gen: ref(p.id, per_parent(2))", "5 parents have 10 children, and the table has 20 rows"),
        ("x -- gen: ref(p.id, once)", "values for 5 rows, and the table has 20"),
        ("x -- gen: ref(t.x)", "columns depend on one another: t.x -> t.x"),
        ("x REFERENCES p, y -- gen: ref(t.x, distinct_in(x))", "a table refers only to its own earlier rows"),
        ("x, y -- gen: ref(t.x, per_parent(0, 5))", "rows without children could leave"),
        ("x, y -- gen: p.name", "no column of t refers to a table p"),
        ("x, y -- gen: x.name", "column x refers to no row"),
        ("x REFERENCES p, y REFERENCES p, z -- gen: p.name", "x and y refer to p: write one of them"),
        ("x REFERENCES p, y -- gen: x.nam", "table p has no column 'nam', did you mean 'name'?"),
        ("x REFERENCES p, y -- gen: x.twice", "column twice is generated"),
        ("x, y -- gen: number_in(x)", "number_in needs a column that is ref(parent.key)"),
        ("x, y -- gen: next_of(x, x)", "next_of needs a column that is ref(parent.key)"),
        ("x REFERENCES p, y -- gen: next_of(x, y)", "columns depend on one another"),
        ("x REFERENCES p, y -- gen: next_of(x, z)", "there is no column or generator 'z'"),
        ("x, y -- gen: count_in(x)", "count_in needs a column that is ref(parent.key)"),
        ("x REFERENCES p, y -- gen: ref(p.id, distinct_in(x))", "distinct_in needs a column that is"),
        ("x -- gen: sum_of(p.id)", "sum_of needs a column of p that is ref(t.key, per_parent(...))"),
        ("x -- gen: 1 + sum_of(p.nmae)", "table p has no column 'nmae', did you mean 'name'?"),
        ("x -- gen: sum_of(p.id + t.x)", "sum_of adds up columns of one table"),
        ("x -- gen: sum_of(5)", "sum_of needs columns of a table that refers to this one"),
        ("x, y -- gen: sum_of(int(1, 5))", "sum_of needs columns of a table that refers to this one"),
        ("x, y -- gen: sum_of(x)", "sum_of needs columns of a table that refers to this one"),
        ("x, y -- gen: sum_of(t.x)", "sum_of needs a column of t that is ref(t.key"),
    ] {
        let sql = format!("{tables}\n-- gen: rows=20\nCREATE TABLE t (\n{column}\n);");
        let error = plan_of(&sql).expect_err(&sql);
        assert!(error.message().contains(message), "{column}: {error}");
        assert_eq!(error.place().line, Some(5), "{error}");
    }
}

#[test]
fn a_sum_cannot_be_a_part_of_itself() {
    let sql = "/* gen: rows=5 */ CREATE TABLE p (id INTEGER PRIMARY KEY, total REAL /* gen: sum_of(c.share) */);
        CREATE TABLE c (p REFERENCES p /* gen: ref(p.id, per_parent(2)) */, share REAL /* gen: p.total / 2 */);";
    let error = plan_of(sql).expect_err(sql);
    assert!(error.message().contains("columns depend on one another: p.total -> c.share -> p.total"), "{error}");
    let nullable = sql
        .replace("ref(p.id, per_parent(2))", "null(0.1, ref(p.id, per_parent(2)))")
        .replace("p.total / 2", "real(1, 2)");
    let error = plan_of(&nullable).expect_err(&nullable);
    assert!(error.message().contains("sum_of needs a column of c that is ref(p.key"), "{error}");
}

/// Makes a random schema: tables that refer to one another in any direction, by one column or more.
fn random_schema(stream: &mut CellStream) -> String {
    let count = 2 + stream.below(6);
    let kinds: Vec<u64> = (0..count).map(|_| stream.below(6)).collect();
    let mut sql = String::new();
    for (table, kind) in kinds.iter().enumerate() {
        let rows = [0, 1, 7, 30, 60][usize::try_from(stream.below(20)).expect("few").min(4)];
        let key = [
            "a INTEGER PRIMARY KEY",
            "a TEXT PRIMARY KEY",
            "a INT NOT NULL UNIQUE",
            "a TEXT, b INT, PRIMARY KEY (a, b)",
            "a INT, b CHAR(8), UNIQUE (b, a)",
            "a BLOB UNIQUE",
        ][usize::try_from(*kind).expect("few")];
        let (key, constraint) =
            key.split_once(", PRIMARY").map_or((key, String::new()), |(key, rest)| (key, format!(", PRIMARY{rest}")));
        let (key, constraint) =
            key.split_once(", UNIQUE").map_or((key, constraint), |(key, rest)| (key, format!(", UNIQUE{rest}")));
        let (mut columns, mut constraints) = (vec![key.to_owned()], constraint);
        let mut singles = Vec::new();
        for number in 0..stream.below(4) {
            let parent = usize::try_from(stream.below(count)).expect("few");
            let null = ["", " NOT NULL"][usize::from(stream.below(3) == 0)];
            match kinds[parent] {
                3 | 4 => {
                    let names = [format!("c{number}"), format!("d{number}")];
                    columns.extend(names.iter().map(|name| format!("{name}{null}")));
                    constraints += &format!(", FOREIGN KEY ({}) REFERENCES t{parent}(a, b)", names.join(", "));
                    if stream.below(4) == 0 {
                        constraints += &format!(", UNIQUE ({}, {})", names[1], names[0]);
                    }
                }
                _ => {
                    let unique = ["", " UNIQUE"][usize::from(stream.below(5) == 0)];
                    columns.push(format!("c{number}{null}{unique} REFERENCES t{parent}(a)"));
                    singles.push(format!("c{number}"));
                }
            }
        }
        if singles.len() > 1 && stream.below(3) == 0 {
            constraints += &format!(", UNIQUE ({})", singles.join(", "));
        }
        if stream.below(4) == 0 && *kind != 3 && *kind != 4 {
            // Its own key is a foreign key to another table, or to itself.
            let parent = usize::try_from(stream.below(count)).expect("few");
            if ![3, 4].contains(&kinds[parent]) {
                constraints += &format!(", FOREIGN KEY (a) REFERENCES t{parent}(a)");
            }
        }
        sql += &format!("/* gen: rows={rows} */ CREATE TABLE t{table} ({}{constraints});\n", columns.join(", "));
    }
    sql
}

#[test]
fn foreign_keys_of_random_schemas_hold() {
    let mut rejected = Vec::new();
    for number in 0..600 {
        let sql = random_schema(&mut CellRandom::new(number, "schemas", "test").stream(0));
        match plan_of(&sql) {
            Ok(plan) => drop(insert(&sql, &plan).unwrap_or_else(|error| panic!("{error}\n{sql}"))),
            Err(error) => rejected.push(error.to_string()),
        }
    }
    let is_clear = |why: &String| {
        why.contains("nothing can be inferred for this foreign key")
            || why.contains("values for")
            || why.contains("columns depend on one another")
            || why.contains("needs a generator of distinct integers")
            || why.contains("the column is NOT NULL, and the generator gives NULL")
    };
    assert!(rejected.iter().all(is_clear), "{rejected:#?}");
    assert!(rejected.len() < 200, "{} are refused", rejected.len());
}

/// Ten tables without any annotation.
const LIBRARY: &str = "
    CREATE TABLE country (
        code CHAR(2) PRIMARY KEY NOT NULL CHECK (length(code) = 2 AND code = upper(code)),
        name TEXT NOT NULL UNIQUE, population INTEGER CHECK (population > 0));
    CREATE TABLE branch (
        id INTEGER PRIMARY KEY, country CHAR(2) NOT NULL REFERENCES country(code), name VARCHAR(20) NOT NULL,
        opened DATE NOT NULL, closed DATE, kind TEXT NOT NULL CHECK (kind IN ('main', 'branch', 'bus')),
        floors TINYINT CHECK (floors BETWEEN 1 AND 5), CHECK (closed IS NULL OR closed > opened));
    CREATE TABLE member (
        id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
        first_name TEXT NOT NULL, last_name TEXT, born DATE CHECK (born < '2015-01-01'),
        branch_id INTEGER NOT NULL REFERENCES branch, invited_by INTEGER REFERENCES member(id),
        fee DECIMAL(6, 2) NOT NULL CHECK (fee >= 0 AND fee <= 50), active BOOLEAN NOT NULL CHECK (active IN (0, 1)),
        joined_at TEXT NOT NULL, last_seen_at TEXT NOT NULL, CHECK (last_seen_at >= joined_at));
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, orcid TEXT UNIQUE CHECK (length(orcid) = 16));
    CREATE TABLE work (
        isbn TEXT PRIMARY KEY CHECK (length(isbn) BETWEEN 10 AND 13), title TEXT NOT NULL CHECK (length(title) <= 30),
        year INTEGER NOT NULL CHECK (year >= 1450 AND year < 2026), pages INTEGER CHECK (pages > 0),
        language TEXT CHECK (language = lower(language)), price REAL NOT NULL CHECK (price > 0),
        discounted REAL NOT NULL CHECK (discounted <= price AND discounted >= 0)) WITHOUT ROWID;
    CREATE TABLE written (
        work TEXT NOT NULL REFERENCES work(isbn), author INTEGER NOT NULL REFERENCES author, position INTEGER NOT NULL,
        PRIMARY KEY (work, author)) WITHOUT ROWID;
    CREATE TABLE copy (
        branch INTEGER REFERENCES branch(id), number INTEGER, work TEXT NOT NULL REFERENCES work, shelf TEXT NOT NULL
        CHECK (shelf GLOB '[0-9][0-9][0-9][0-9][0-9]'), bought NUMERIC, PRIMARY KEY (branch, number));
    CREATE TABLE loan (
        id INTEGER PRIMARY KEY, branch INTEGER NOT NULL, number INTEGER NOT NULL, member INTEGER NOT NULL REFERENCES member,
        lent_on DATE NOT NULL, due_on DATE NOT NULL CHECK (due_on >= lent_on), returned_on DATE,
        fine_cents INTEGER NOT NULL DEFAULT 0 CHECK (fine_cents >= 0), extra TEXT CHECK (json_valid(extra)),
        FOREIGN KEY (branch, number) REFERENCES copy(branch, number));
    CREATE TABLE transfer (
        id INTEGER PRIMARY KEY, sender INTEGER NOT NULL REFERENCES branch, receiver INTEGER NOT NULL REFERENCES branch,
        pieces INTEGER NOT NULL CHECK (pieces % 2 = 0), weight REAL GENERATED ALWAYS AS (pieces * 0.4) STORED CHECK (weight < 5000),
        cost REAL NOT NULL, tax REAL NOT NULL, total REAL NOT NULL, CHECK (sender <> receiver), CHECK (total = cost + tax)) STRICT;
    CREATE TABLE profile (
        member_id INTEGER PRIMARY KEY REFERENCES member ON DELETE CASCADE, mentor INTEGER UNIQUE REFERENCES member,
        bio TEXT CHECK (length(bio) < 50), rating REAL CHECK (rating BETWEEN 0 AND 1), photo BLOB CHECK (length(photo) <= 16));
    CREATE UNIQUE INDEX one_per_day ON loan(member, lent_on, id);";

fn with_rows(sql: &str, rows: &[(&str, u64)]) -> Result<GenPlan> {
    let rows = rows.iter().map(|&(table, rows)| (Some(table.to_owned()), rows)).collect();
    GenPlan::new(&Schema::from_sql(sql, "test.sql")?, &Request { rows, ..Request::default() })
}

#[test]
fn a_schema_without_annotations_meets_its_constraints() {
    let rows = [
        ("country", 50),
        ("branch", 120),
        ("member", 3000),
        ("author", 400),
        ("work", 800),
        ("written", 1600),
        ("copy", 2000),
        ("loan", 5000),
        ("transfer", 700),
        ("profile", 2500),
    ];
    let plan = with_rows(LIBRARY, &rows).unwrap_or_else(|error| panic!("{error}"));
    let sqlite = insert(LIBRARY, &plan).unwrap_or_else(|error| panic!("{error}"));
    for (table, rows) in rows {
        assert_eq!(number(&sqlite, &format!("SELECT count(*) FROM {table}")).unsigned_abs(), rows);
    }
    let columns = |table: usize| plan.tables()[table].columns.iter();
    let of = |table: usize, name: &str| columns(table).find(|column| column.name == name).expect(name);
    for (table, column, expression, because) in [
        (1, "kind", "choice('main', 'branch', 'bus')", "inferred: CHECK (kind IN ('main', 'branch', 'bus'))"),
        (
            1,
            "closed",
            "null(0.9, date_add(\"opened\", max(1, min(int(30, 900), date_diff(\"opened\", '2026-01-01', 'days'))), 'days'))",
            "inferred: not before opened",
        ),
        (1, "kind", "choice('main', 'branch', 'bus')", "inferred: CHECK (kind IN ('main', 'branch', 'bus'))"),
        (8, "total", "cost + tax", "inferred: CHECK (total = cost + tax)"),
        (8, "receiver", "ref(branch.id, other_than(sender))", "inferred: CHECK (sender <> receiver)"),
        (9, "member_id", "ref(member.id, once)", "inferred: refers to member.id, each once"),
    ] {
        let column = of(table, column);
        assert_eq!((column.expression.as_str(), column.provenance.to_string().as_str()), (expression, because));
    }
}

#[test]
fn constraints_that_are_not_met_are_named() {
    for (columns, message) in [
        ("a int CHECK (a > 5) /* gen: int(1, 9) */", "CHECK (a > 5) fails for"),
        (
            "a text CHECK (a GLOB 'x[0-9]y*')",
            "CHECK (a GLOB 'x[0-9]y*') fails for 7 of 7 sampled rows, for example where a = '",
        ),
        ("a int /* gen: int(1, 9) */, b int /* gen: int(1, 9) */, CHECK (a < b)", "CHECK (a < b) fails for"),
    ] {
        let sql = format!("/* gen: rows=7 */ CREATE TABLE t ({columns});");
        let error = plan_of(&sql).expect_err(&sql);
        assert!(error.message().contains(message) && error.advice().is_some(), "{error}");
        let request = Request { on_conflict: Conflict::Ignore, ..Request::default() };
        GenPlan::new(&Schema::from_sql(&sql, "test").expect(&sql), &request).expect("rows that fail are left out");
    }
    let met = "/* gen: rows=7 */ CREATE TABLE t (a int CHECK (a > 5) /* gen: int(6, 9) */, b CHECK (b <> a));";
    insert(met, &plan_of(met).expect(met)).expect(met);
}

/// A value with a probability of one in a million fails a build of a million rows.
#[test]
fn the_ends_of_a_range_count() {
    let sql = "/* gen: rows=100 */ CREATE TABLE t (a int CHECK (a <> 0), b int CHECK (b > 0), c real CHECK (c > 0));";
    let plan = plan_of(sql).expect(sql);
    let columns: Vec<&str> = plan.tables()[0].columns.iter().map(|column| column.expression.as_str()).collect();
    assert_ne!(columns[0], "int(0, 999_999)");
    assert_eq!(columns[1], "int(1, 1000)");
    assert_eq!(columns[2], "real(0.01, 1000, 2)");
}

/// Makes random constraints of common forms.
fn random_constraint(stream: &mut CellStream, column: &str, other: &str) -> (&'static str, String) {
    let low = i64::try_from(stream.below(2000)).expect("small") - 1000;
    let high = low + 1 + i64::try_from(stream.below(500)).expect("small");
    let texts = ["'a'", "'B c'", "'it''s'", "'ü'"];
    let length = 1 + stream.below(40);
    match stream.below(12) {
        0 => ("TEXT", format!("{column} IN ({}, {})", texts[0], texts[usize::try_from(stream.below(4)).expect("few")])),
        1 => ("INT", format!("{column} BETWEEN {low} AND {high}")),
        2 => ("REAL", format!("{column} >= {low} AND {column} < {high}")),
        3 => ("INT NOT NULL", format!("{high} >= {column} AND {low} < {column}")),
        4 => ("TEXT", format!("length({column}) <= {length}")),
        5 => ("TEXT", format!("length({column}) >= {length} AND length({column}) < {}", 2 * length + 1)),
        6 => ("VARCHAR(50)", format!("{column} IS NULL OR length({column}) = {length}")),
        7 => ("NUMERIC", format!("{column} > {low}.5")),
        8 => ("INTEGER", format!("{column} = {low} OR {column} = {high} OR {column} IS NULL")),
        9 => ("INT", format!("{column} >= {other}")),
        10 => ("REAL", format!("{other} < {column}")),
        _ => ("TEXT", format!("{column} >= '2021-03-04' AND {column} <= '2022-01-01'")),
    }
}

#[test]
fn random_constraints_are_met() {
    for number in 0..300 {
        let mut stream = CellRandom::new(number, "constraints", "test").stream(0);
        let columns: Vec<String> = (0..1 + stream.below(4))
            .map(|column| {
                let (declared, check) = random_constraint(&mut stream, &format!("c{column}"), "base");
                let key = ["", " UNIQUE"]
                    [usize::from(stream.below(6) == 0 && check.contains("> ") && !check.contains("AND"))];
                format!("c{column} {declared}{key} CHECK ({check})")
            })
            .collect();
        let sql = format!("/* gen: rows=300 */ CREATE TABLE t (base INT NOT NULL, {});", columns.join(", "));
        let plan = plan_of(&sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
        insert(&sql, &plan).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }
}
