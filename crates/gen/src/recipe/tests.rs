use super::*;
use crate::plan::{GenPlan, Provenance, Request};

const FILE: &str = "algorithm_version = 1
seed = 7
schema = '''
CREATE TABLE a (
  id INTEGER PRIMARY KEY, -- gen: shuffle
  x TEXT -- gen: digits(3)
);
-- gen: rows=25 fixed=true
CREATE TABLE b (y INT);
CREATE TABLE c (z INT REFERENCES a);
'''

[tables.a]
rows = 1_000
[tables.a.columns]
X = \"hex(6)\"
[tables.b]
seed = \"18446744073709551615\"
[tables.c]
rows = \"10k\"
fixed = true
";

fn planned(file: &str, request: Request) -> Result<GenPlan> {
    let recipe = Recipe::parse(file, "recipe.toml")?;
    let schema = recipe.schema()?;
    GenPlan::new(&schema, &Request { recipe: Some(recipe), ..request })
}

#[test]
fn the_file_comes_before_the_schema_and_behind_the_request() {
    let plan = planned(FILE, Request::default()).expect("a good recipe");
    let sizes: Vec<_> = plan.tables().iter().map(|table| (table.rows, table.seed, table.fixed)).collect();
    assert_eq!(sizes, [(1000, 7, false), (25, u64::MAX, true), (10_000, 7, true)]);
    let columns = &plan.tables()[0].columns;
    assert_eq!((columns[0].expression.as_str(), &columns[0].provenance), ("shuffle", &Provenance::Annotation));
    assert_eq!((columns[1].expression.as_str(), &columns[1].provenance), ("hex(6)", &Provenance::Recipe));
    let request =
        Request { scale: Some(2.5), seed: Some(1), rows: vec![(Some("C".to_owned()), 3)], ..Request::default() };
    let plan = planned(FILE, request).expect("a good recipe");
    let sizes: Vec<_> = plan.tables().iter().map(|table| (table.rows, table.seed)).collect();
    assert_eq!(sizes, [(2500, 1), (25, 1), (3, 1)]);
    assert_eq!(plan.tables()[2].columns[0].expression, "ref(a.id, popular)");
}

/// Numbers of rows that follow from those of parents do so in a written recipe too, at any scale.
#[test]
fn children_follow_their_parents() {
    let sql = "algorithm_version = 1
schema = '''
/* gen: rows=100 */ CREATE TABLE a (id INTEGER PRIMARY KEY, x INT /* gen: int(1, 9) */);
CREATE TABLE b (a REFERENCES a /* gen: ref(a.id, per_parent(1, 5)) */, rank INT /* gen: a.x + number_in(a) */);
CREATE TABLE c (b /* gen: ref(b.rank, per_parent(2)) */, x /* gen: b.rank * 2 */);
'''
";
    let first = planned(sql, Request::default()).expect("a good recipe");
    let schema = Recipe::parse(sql, "recipe.toml").and_then(|recipe| recipe.schema()).expect("a good schema");
    let written = to_toml(&schema, &first);
    for scale in [0.07, 1.0, 1.5, 20.0] {
        let plan = planned(&written, Request { scale: Some(scale), ..Request::default() }).expect(&written);
        let direct = planned(sql, Request { scale: Some(scale), ..Request::default() }).expect(sql);
        let rows: Vec<u64> = plan.tables().iter().map(|table| table.rows).collect();
        assert_eq!(rows, direct.tables().iter().map(|table| table.rows).collect::<Vec<u64>>());
        assert!(rows[1] > rows[0] && rows[1] < 5 * rows[0] && rows[2] == 2 * rows[1], "{rows:?}");
        let follow: Vec<bool> = plan.tables().iter().map(|table| table.rows_are_derived).collect();
        assert_eq!(follow, [false, true, true]);
    }
}

#[test]
fn some_rows_stay_some() {
    for (scale, rows) in [(0.0001, 1), (0.001, 1), (0.5, 500), (3.0, 3000)] {
        let plan = planned(FILE, Request { scale: Some(scale), ..Request::default() }).expect("a good recipe");
        assert_eq!(plan.tables()[0].rows, rows, "{scale}");
    }
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let plan = planned(FILE, Request::default()).expect("a good recipe");
    let schema = Recipe::parse(FILE, "recipe.toml").and_then(|recipe| recipe.schema()).expect("a good schema");
    let written = to_toml(&schema, &plan);
    assert!(written.contains("# z = \"ref(a.id, popular)\"  # inferred anew: refers to a.id"), "{written}");
    let again = planned(&written, Request::default()).expect(&written);
    let all = |plan: &GenPlan| {
        let columns = |table: &crate::TablePlan| -> Vec<String> {
            table.columns.iter().map(|column| format!("{} {}", column.name, column.expression)).collect()
        };
        let table = |table: &std::sync::Arc<crate::TablePlan>| {
            (table.name.clone(), table.rows, table.seed, table.fixed, columns(table))
        };
        plan.tables().iter().map(table).collect::<Vec<_>>()
    };
    assert_eq!(all(&again), all(&plan));
}

#[test]
fn mistakes_point_into_the_file() {
    let change = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        FILE.replacen(from, to, 1)
    };
    for (file, line, character, message) in [
        (change("hex(6)", "hx(6)"), 16, 6, "unknown generator 'hx', did you mean 'hex'?"),
        (change("hex(6)", "null(0.5, \\u0068x(6))"), 16, 16, "unknown generator 'hx'"),
        (change("\"hex(6)\"", "'''\nnull(0.5,\n  hx)'''"), 18, 3, "unknown generator 'hx'"),
        (change("digits(3)", "digits(99)"), 6, 25, "argument 'n' of digits is 1 to 18"),
        (change("X = ", "Y = "), 16, 1, "table a has no column 'Y'"),
        (change("tables.c]", "tables.d]"), 19, 9, "the schema has no table 'd'"),
        (change("z INT", "z INT,"), 10, 24, "\"REFERENCES\": syntax error"),
        (change("version = 1", "version = 2"), 1, 21, "the recipe has algorithm version 2"),
        (change("version = 1", "version = -1"), 1, 21, "invalid value"),
        (change("algorithm_version = 1\n", ""), 1, 1, "missing field `algorithm_version`"),
        (change("seed = 7", "sede = 7"), 2, 1, "unknown field `sede`"),
        (change("seed = 7", "scale = 0.0"), 2, 9, "a scale is a number above 0"),
        (change("1_000", "-5"), 14, 8, "a whole number"),
        (change("1_000", "\"many\""), 14, 8, "a whole number"),
        (change("[tables.b]", "[tables.B]\n[tables.b]"), 18, 9, "is there twice, in different case"),
        (change("seed = 7", "seed = "), 2, 8, ""),
    ] {
        // The mistake hides the row counts of some tables; these do not matter.
        let digits = file.contains("digits(99)");
        let file = if digits { file.replace("X = \"hex(6)\"", "") } else { file };
        let error = planned(&file, Request::default()).expect_err(&file);
        assert!(error.message().contains(message), "{error}");
        let place = error.place();
        assert_eq!(place.file.as_deref(), Some(std::path::Path::new("recipe.toml")), "{error}");
        assert_eq!((place.line, place.character), (Some(line), Some(character)), "{error}");
    }
}
