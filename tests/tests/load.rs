//! CSV files with edge values through `litepress-load`: the tables have the values that SQLite makes of the same texts, for
//! all cuts of the file and numbers of threads, and every inferred type gives back every text or its number.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Conflict, Database, Options, PageSize, Sync, Target};
use litepress_conformance::edge_values::{INTS, TEXTS};
use litepress_conformance::oracle;
use litepress_load::infer::InferredColumn;
use litepress_load::input::Input;
use litepress_load::options::ReadOptions;
use litepress_load::plan::{LoadPlan, LoadRequest};
use litepress_load::rejects::Rejects;
use litepress_load::source::OnError;
use litepress_rows::Source;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Tables of columns `a`, `b` and so on, and their number of columns.
const TABLES: [(&str, usize); 12] = [
    ("t (a INTEGER, b REAL, c TEXT, d NUMERIC, e BLOB)", 5),
    ("t (a, b INT, c FLOAT, d VARCHAR(3), e DECIMAL(5,2))", 5),
    ("t (a TEXT)", 1),
    ("t (a INTEGER)", 1),
    ("t (a BOOLEAN, b DATE, c POINTFLOAT, d CHARINT)", 4),
    ("t (a TEXT, b, c INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID", 3),
    ("t (a REAL PRIMARY KEY, b BLOB, c NUMERIC) WITHOUT ROWID", 3),
    ("t (a TEXT COLLATE NOCASE PRIMARY KEY, b REAL) WITHOUT ROWID", 2),
    ("t (a INTEGER PRIMARY KEY, b TEXT)", 2),
    ("t (a TEXT UNIQUE, b INTEGER NOT NULL UNIQUE)", 2),
    ("t (a INT, b REAL, c TEXT, d ANY, e BLOB) STRICT", 5),
    ("t (a INTEGER NOT NULL, b TEXT DEFAULT 'x', c REAL)", 3),
];

/// Sizes of pieces of text in bytes. The boundaries of pieces show only in the division of rows into pages.
const PIECE_BYTES: [usize; 4] = [4 << 20, 1, 40, 300];

const THREADS: [usize; 3] = [1, 2, 7];

/// A CSV file and the fields in it.
#[derive(Clone, Debug)]
struct File {
    rows: Vec<Vec<String>>,
    /// Whether each field is quoted without need.
    quoted: Vec<bool>,
    line_end: &'static str,
    ends_its_last_line: bool,
    has_mark: bool,
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(String::new()),
        4 => select(&TEXTS[..]).prop_filter_map("a NUL", |text| (!text.contains('\0')).then(|| text.to_owned())),
        2 => select(&INTS[..]).prop_map(|int| int.to_string()),
        3 => "[ +-]?[0-9]{0,9}[.]?[0-9]{0,5}(e[+-]?[0-9]{1,3})?[ ]?",
        3 => "-?[0-9]{1,20}([.][0-9]{1,9})?",
        2 => select(&["\"", "a\"b", "\n", "\r\n", "\r", "a\r\nb", ",", "x,\"y\"\n", "\u{feff}", "0x1F", "\"\"", ";|"][..])
            .prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => (0_usize..6000).prop_map(|length| "long ".repeat(length / 5)),
    ]
}

fn any_file(columns: usize) -> impl Strategy<Value = File> {
    let rows = prop::collection::vec(prop::collection::vec(any_text(), columns), 0..25);
    let quoted = prop::collection::vec(prop::bool::weighted(0.2), 1..40);
    (rows, quoted, select(&["\n", "\r\n"][..]), any::<bool>(), any::<bool>()).prop_map(
        |(rows, quoted, line_end, ends_its_last_line, has_mark)| File {
            rows,
            quoted,
            line_end,
            ends_its_last_line,
            has_mark,
        },
    )
}

/// Generates columns of similar values, as in real files, so that the inferred type is not always TEXT.
fn any_alike_file() -> impl Strategy<Value = File> {
    let value = prop_oneof![
        Just("-?[1-9][0-9]{0,17}"),
        Just("-?[0-9]{1,6}[.][0-9]{2}"),
        Just("[0-9]{1,5}[.][1-9]"),
        Just("[0-9]{1,3}([.][1-9])?"),
        Just("|[1-9][0-9]{0,3}"),
        Just("[0-9]{1,16}[.][0-9]{1,3}"),
        Just("|-?0|[1-9]"),
        Just("-?[1-9][.][0-9]{14}[1-9](e[-+][0-9]{2})?"),
        Just("-?0?[.][0-9]{1,14}[1-9]"),
        Just("[1-9][.]?|[1-9]e-?[0-9]{1,2}")
    ];
    let column = value.prop_flat_map(|pattern| prop::collection::vec(pattern, 12));
    let odd = prop::option::weighted(0.2, any_text());
    (prop::collection::vec(column, 3), odd, any_file(1), 1_usize..12).prop_map(|(columns, odd, file, count)| {
        let mut rows: Vec<Vec<String>> =
            (0..count).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect();
        if let Some(odd) = odd {
            rows[count / 2][1] = odd;
        }
        File { rows, ..file }
    })
}

impl File {
    fn text(&self, header: &[&str]) -> String {
        let mut text = if self.has_mark { "\u{feff}" } else { "" }.to_owned();
        text += &header.join(",");
        let mut quoted = self.quoted.iter().cycle();
        for row in &self.rows {
            text += self.line_end;
            let field = |field: &String| {
                let needs_quotes = field.contains([',', '"', '\n', '\r', '\u{feff}']) || row.len() == 1;
                if needs_quotes || *quoted.next().unwrap() {
                    format!("\"{}\"", field.replace('"', "\"\""))
                } else {
                    field.clone()
                }
            };
            text += &row.iter().map(field).collect::<Vec<String>>().join(",");
        }
        if self.ends_its_last_line {
            text += self.line_end;
        }
        text
    }
}

/// Returns the plan for a file.
fn plan(path: &Path, sql: Option<&str>, threads: usize, piece_bytes: usize, conflict: Conflict) -> LoadPlan {
    let mut read = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
    read.dialect.delimiter = Some(",".to_owned());
    let request = LoadRequest {
        inputs: Input::from_arguments(&[path.to_owned()], &read).unwrap(),
        table: Some("t".to_owned()),
        schema: sql.map(|sql| (sql.to_owned(), "<test>".to_owned())),
        read,
        conflict,
        threads,
        temp_dir: std::env::temp_dir(),
        ..LoadRequest::default()
    };
    LoadPlan::new(request, &|| Ok(())).unwrap()
}

/// Returns the database of a plan, without wrong records.
fn build(plan: &LoadPlan, threads: usize, conflict: Conflict) -> Vec<u8> {
    let rejects = Arc::new(Rejects::new(None, false, u64::MAX).unwrap());
    let source = plan.source(&plan.tables[0], PageSize::DEFAULT, OnError::Reject, &rejects).unwrap();
    let mut options = Options::default();
    options.threads = threads;
    options.sync = Sync::Off;
    options.memory_bytes = 64 << 20;
    options.on_conflict = conflict;
    let mut database = Database::create(&Target::Memory, plan.schema.clone(), &options).unwrap();
    database.fill(plan.tables[0].table, &source as &dyn Source).unwrap();
    database.finish().unwrap().bytes.unwrap()
}

/// Returns the database that SQLite makes of the texts, without the rows that it refuses.
fn inserted(sql: &str, names: &[&str], rows: &[Vec<String>], conflict: Conflict) -> Connection {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(sql).unwrap();
    let verb = match conflict {
        Conflict::Abort => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Update => unreachable!("it is not among the policies"),
    };
    // Rejected records leave a gap in the numbers; rows ignored for a duplicate key do not.
    let is_dense = conflict == Conflict::Ignore && sql.contains("UNIQUE");
    let numbered = !is_dense && !sql.contains("WITHOUT ROWID") && !sql.contains("INTEGER PRIMARY KEY,");
    for (number, row) in (1..).zip(rows) {
        let (mut columns, mut places) = (names.join(", "), vec!["?"; names.len()].join(", "));
        if numbered {
            columns += ", rowid";
            write!(places, ", {number}").unwrap();
        }
        let statement = format!("{verb} INTO t ({columns}) VALUES ({places})");
        drop(sqlite.execute(&statement, rusqlite::params_from_iter(row)));
    }
    sqlite
}

fn names_of(columns: usize) -> Vec<&'static str> {
    ["a", "b", "c", "d", "e"].into_iter().take(columns).collect()
}

/// Returns the columns as the database shows them: texts, and the numbers of columns that were inferred to hold them.
fn read_back(sqlite: &Connection) -> Vec<Vec<Value>> {
    let mut query = sqlite.prepare("SELECT a, b, c FROM t ORDER BY rowid").unwrap();
    let rows = query.query_map([], |row| (0..3).map(|at| row.get(at)).collect());
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_table_is_what_sqlite_makes_of_the_texts(
        (table, file, conflict) in (select(&TABLES[..]), any_conflict()).prop_flat_map(|(table, conflict)| {
            (Just(table.0), any_file(table.1), Just(conflict))
        }),
    ) {
        let columns = TABLES.iter().find(|(sql, _)| *sql == table).unwrap().1;
        let (sql, names) = (format!("CREATE TABLE {table}"), names_of(columns));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, file.text(&names)).unwrap();
        let theirs = inserted(&sql, &names, &file.rows, conflict);
        for piece_bytes in PIECE_BYTES {
            let what = format!("{table} {conflict:?}, pieces of {piece_bytes} bytes");
            let build = |threads| build(&plan(&path, Some(&sql), threads, piece_bytes, conflict), threads, conflict);
            let [bytes, others @ ..] = THREADS.map(build);
            prop_assert!(others.iter().all(|other| *other == bytes), "{what}: threads show in the bytes");
            oracle::assert_sound(&bytes, &what);
            oracle::assert_same_content(&oracle::open(&bytes), &theirs, &what);
        }
    }

    #[test]
    fn inferred_types_give_back_every_text_or_number(file in any_alike_file()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, file.text(&["a", "b", "c"])).unwrap();
        for (threads, piece_bytes) in THREADS.into_iter().zip(PIECE_BYTES) {
            let plan = plan(&path, None, threads, piece_bytes, Conflict::Abort);
            let back = read_back(&oracle::open(&build(&plan, threads, Conflict::Abort)));
            prop_assert_eq!(back, expected(&file.rows, &plan), "{:?}", plan.tables[0].decisions);
        }
    }
}

/// Returns the values that must come back: the text, or the nearest double or the integer in a column of numbers.
fn expected(rows: &[Vec<String>], plan: &LoadPlan) -> Vec<Vec<Value>> {
    let decisions = &plan.tables[0].decisions;
    let kept = |(text, decision): (&String, &InferredColumn)| match &*decision.declared_type {
        "TEXT" => Value::Text(text.clone()),
        _ if text.is_empty() => Value::Null,
        "REAL" => Value::Real(text.trim().parse::<f64>().unwrap() + 0.0),
        _ => text.trim().parse().map_or_else(|_| numeric(text.trim().parse().unwrap()), Value::Integer),
    };
    rows.iter().map(|row| row.iter().zip(decisions).map(kept).collect()).collect()
}

/// Returns what a NUMERIC column stores for a double.
#[expect(clippy::cast_possible_truncation, reason = "a value that changes is found by the comparison")]
fn numeric(real: f64) -> Value {
    let int = real as i64;
    if int as f64 == real && int.unsigned_abs() < 1 << 62 { Value::Integer(int) } else { Value::Real(real) }
}

fn any_conflict() -> impl Strategy<Value = Conflict> {
    select(&[Conflict::Ignore, Conflict::Replace][..])
}
