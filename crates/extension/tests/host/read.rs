//! Files as tables.

use crate::room::{Room, failure, memory, rows, rows_of};
use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use rusqlite::Connection;
use std::fmt::Write;
use std::sync::Arc;

/// Loads a file as `litepress load` does, and attaches the database.
fn load(room: &Room, sqlite: &Connection, file: &str) {
    let path = room.path("loaded.db");
    let options = litepress::LoadOptions::default().table("loaded");
    litepress::load(&*path, [file], &options).expect("a load");
    sqlite.execute("ATTACH ?1 AS loaded", [path]).expect("a database");
}

/// Writes a Parquet file of row groups of 1,000 rows: id, name, day, and a double that is NULL in every seventh row.
fn parquet(room: &Room, name: &str, rows: i64) -> String {
    let ids: Vec<i64> = (0..rows).collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from(ids.clone()))),
        ("name", Arc::new(StringArray::from_iter_values(ids.iter().map(|id| format!("name {id:06}"))))),
        (
            "day",
            Arc::new(Date32Array::from_iter_values(ids.iter().map(|id| i32::try_from(id / 10).expect("few days")))),
        ),
        ("half", Arc::new(ids.iter().map(|id| (id % 7 > 0).then_some(*id as f64 / 2.0)).collect::<Float64Array>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let file = std::fs::File::create(room.path(name)).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
    room.path(name)
}

#[test]
fn a_created_table_has_the_names_and_types_of_the_file() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a b.csv", "id,the name,price,\"odd \"\"one\"\"\"\n1,Ada,1.5,x\n2,,2,\n3,\"a,\nb\",,y\n");
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.t USING litepress_read('{file}')"), []).unwrap();
    let columns = rows(&sqlite, "SELECT name, type FROM pragma_table_info('t')");
    assert_eq!(columns, ["'id' 'INTEGER'", "'the name' 'TEXT'", "'price' 'REAL'", "'odd \"one\"' 'TEXT'"]);
    let all = rows(&sqlite, "SELECT rowid, * FROM t");
    assert_eq!(all, ["1 1 'Ada' 1.5 'x'", "2 2 '' 2.0 ''", "3 3 'a,\nb' NULL 'y'"]);
    assert_eq!(rows(&sqlite, "SELECT sum(price), typeof(price), count(*) FROM t"), ["3.5 'real' 3"]);
    assert_eq!(rows(&sqlite, "SELECT \"the name\" FROM t WHERE rowid = 3"), ["'a,\nb'"]);
    sqlite.execute("DROP TABLE t", []).unwrap();
    assert!(failure(&sqlite, "SELECT * FROM t").contains("no such table"));
}

#[test]
fn a_call_reads_any_file() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a.csv", "id,name\n1,\"A\"\"da\"\n2,\n");
    let call =
        |columns: &str, rest: &str| rows(&sqlite, &format!("SELECT {columns} FROM litepress_read('{file}'{rest})"));
    assert_eq!(call("count(*)", ""), ["2"]);
    assert_eq!(call("*", ""), [r#"'{"id":1,"name":"A\"da"}'"#, r#"'{"id":2,"name":""}'"#]);
    assert_eq!(call("c2, c1", ""), ["'A\"da' 1", "'' 2"]);
    assert_eq!(call("row ->> 'id'", ", 'limit=1'"), ["1"]);
    assert_eq!(call("c1", ", 'no-header', 'limit=2'"), ["'id'", "'1'"]);
    assert!(
        failure(&sqlite, &format!("SELECT c3 FROM litepress_read('{file}')"))
            .contains("no column c3: the files have 2")
    );
}

#[test]
fn arguments_may_come_from_another_table() {
    let (room, sqlite) = (Room::new(), memory());
    let files = [room.file("a.csv", "x\n1\n2\n"), room.file("b.ndjson", "{\"y\": 5}\n")];
    sqlite.execute_batch("CREATE TABLE file (name)").unwrap();
    files.iter().for_each(|file| assert_eq!(sqlite.execute("INSERT INTO file VALUES (?1)", [file]), Ok(1)));
    let sql = "SELECT c1 FROM litepress_read(name) AS r, file ORDER BY c1";
    assert_eq!(rows(&sqlite, sql), ["1", "2", "5"]);
    let both = format!("SELECT sum(c1), sum(c2) FROM litepress_read('{}', '{}')", files[0], files[1]);
    assert_eq!(rows(&sqlite, &both), ["3 5"]);
    let pattern = format!("SELECT count(*) FROM litepress_read('{}')", room.path("*.csv"));
    assert_eq!(rows(&sqlite, &pattern), ["2"]);
}

/// Every comparison of every kind of column is answered as by a table of the same rows.
#[test]
fn conditions_are_those_of_sqlite() {
    let (room, sqlite) = (Room::new(), memory());
    let mut text = "i,r,t,m\n".to_owned();
    for row in 0..3000 {
        let mixed = ["10", "9", "abc", "", "1e1", "B"][row % 6];
        writeln!(text, "{},{},{},{mixed}", row as i64 - 1500, row as f64 / 4.0, row * 7 % 3000).unwrap();
    }
    for file in [room.file("rows.csv", text), parquet(&room, "rows.parquet", 3000)] {
        let sqlite = extended_with(&sqlite, &file);
        load(&room, &sqlite, &file);
        let columns = rows(&sqlite, "SELECT name FROM pragma_table_info('t')");
        for column in columns.iter().map(|name| name.trim_matches('\'')) {
            for sign in ["=", "<", "<=", ">", ">=", "IS", "IN"] {
                for value in ["5", "-3.5", "'10'", "'abc'", "'name 001500'", "'1970-05-01'", "NULL", "x'00'", "1e300"] {
                    let right = if sign == "IN" { format!("({value}, 7)") } else { value.to_owned() };
                    let count = |table: &str| {
                        rows(
                            &sqlite,
                            &format!(
                                "SELECT count(*), min(rowid), max(rowid) FROM {table} WHERE {column} {sign} {right}"
                            ),
                        )
                    };
                    assert_eq!(count("t"), count("loaded.loaded"), "{file}: {column} {sign} {right}");
                }
            }
        }
        let all = |table: &str| rows(&sqlite, &format!("SELECT rowid, * FROM {table}"));
        assert_eq!(all("t"), all("loaded.loaded"));
        drop(sqlite);
        std::fs::remove_file(room.path("loaded.db")).unwrap();
    }
}

/// The hidden columns of a call were declared without a type, which SQLite takes for NUMERIC: `c1 = '7.0'` lost the text `7` to a filter,
/// and `07` was 7. A condition with OR was refused: SQLite first asks for a plan of one side of it, which has no file.
#[test]
fn conditions_of_a_call_are_those_of_values_without_a_type() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a.csv", "i,t\n1,7\n5,07\n7,7.0\n-3,x\n,\n");
    let read = format!("litepress_read('{file}')");
    sqlite.execute(&format!("CREATE TABLE plain AS SELECT c1, c2 FROM {read}"), []).unwrap();
    sqlite.execute_batch("CREATE TABLE typed (i INTEGER, t TEXT); INSERT INTO typed VALUES (7, '7')").unwrap();
    for condition in [
        "c2 = '7.0'",
        "c2 = 7",
        "c1 < '2.5'",
        "c1 < c2",
        "c2 > 6 OR c1 = 1",
        "c1 = 1 OR c1 = 5 OR c2 = 'x'",
        "c1 = (SELECT t FROM typed)",
        "c2 = (SELECT i FROM typed)",
        "EXISTS (SELECT 1 FROM typed WHERE i = c2)",
    ] {
        let found = |table: &str| rows(&sqlite, &format!("SELECT c1, c2 FROM {table} WHERE {condition}"));
        assert_eq!(found(&read), found("plain"), "{condition}");
    }
    assert_eq!(rows(&sqlite, "SELECT c2 FROM litepress_array('[1, 2]', '[3, 4]') WHERE c1 = 2 OR c2 = 3"), ["3", "4"]);
}

/// Returns another connection with a table `t` over a file.
fn extended_with(_like: &Connection, file: &str) -> Connection {
    let sqlite = memory();
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.t USING litepress_read('{file}')"), []).expect("it works");
    sqlite
}

/// The second row group of the file is damaged. A query that needs the others does not look at it.
#[test]
fn row_groups_without_rows_of_the_query_are_not_read() {
    let room = Room::new();
    let file = parquet(&room, "groups.parquet", 5000);
    let sqlite = memory();
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.t USING litepress_read('{file}')"), []).unwrap();
    let whole = rows(&sqlite, "SELECT rowid, id, name FROM t WHERE id >= 4000");
    let mut bytes = std::fs::read(&file).unwrap();
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new();
    let metadata = metadata.parse_and_finish(&std::fs::File::open(&file).unwrap()).unwrap();
    for column in metadata.row_group(1).columns() {
        let (start, length) = column.byte_range();
        let range = [start, start + length].map(|at| usize::try_from(at).expect("a small file"));
        bytes[range[0]..range[1]].fill(0xff);
    }
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(rows(&sqlite, "SELECT rowid, id, name FROM t WHERE id >= 4000"), whole);
    assert_eq!(whole[0], "4001 4000 'name 004000'");
    assert_eq!(rows(&sqlite, "SELECT count(id) FROM t WHERE id < 1000"), ["1000"]);
    assert_eq!(rows(&sqlite, "SELECT count(id) FROM t WHERE name > 'name 002000'"), ["2999"]);
    assert_eq!(rows(&sqlite, "SELECT count(id) FROM t WHERE day >= '1971-01-01'"), ["1350"]);
    assert_eq!(rows(&sqlite, "SELECT count(*) FROM t"), ["5000"]);
    assert!(failure(&sqlite, "SELECT sum(id) FROM t").contains("row group 2 cannot be decoded"));
}

#[test]
fn errors_say_what_to_do() {
    let (room, sqlite) = (Room::new(), memory());
    let wrong = room.file("wrong.csv", "a,b\n1,2\n3\n");
    for (sql, parts) in [
        ("SELECT * FROM litepress_read".to_owned(), &["no file is named"][..]),
        (
            "SELECT * FROM litepress_read('missing.csv')".to_owned(),
            &["missing.csv: cannot open: No such file", "Check the name"],
        ),
        ("SELECT * FROM litepress_read(5)".to_owned(), &["argument 1 of litepress_read is not a text"]),
        ("SELECT * FROM litepress_read('a.csv', 'delimeter=;')".to_owned(), &["there is no option 'delimeter'"]),
        ("SELECT * FROM litepress_read('a.csv', 'threads=0')".to_owned(), &["a number of threads is 1 to 1024"]),
        (
            format!("SELECT * FROM litepress_read('{wrong}')"),
            &["wrong.csv:3:2", "record 2", "Complete the record, or let missing fields be NULL with 'ragged=pad'"],
        ),
        (format!("CREATE VIRTUAL TABLE temp.x USING litepress_read('{wrong}', nothing=1)"), &["no option 'nothing'"]),
        ("CREATE VIRTUAL TABLE temp.x USING litepress_read()".to_owned(), &["no file is named"]),
    ] {
        let message = failure(&sqlite, &sql);
        assert!(parts.iter().all(|part| message.contains(part)), "{sql}: {message}");
    }
    let kept = format!("SELECT c2 FROM litepress_read('{wrong}', 'on-error=reject')");
    assert_eq!(rows(&sqlite, &kept), ["2"]);
}

/// A table over a file that was gone, or had other columns, must say so and must not make up rows.
#[test]
fn files_change_between_queries() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a.csv", "a,b\n1,2\n");
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.t USING litepress_read('{file}')"), []).unwrap();
    assert_eq!(rows(&sqlite, "SELECT * FROM t"), ["1 2"]);
    room.file("a.csv", "a,b\n3,4\n5,6\n");
    assert_eq!(rows(&sqlite, "SELECT * FROM t"), ["3 4", "5 6"]);
    room.file("a.csv", "a,c\n3,4\n5,600\n");
    assert!(failure(&sqlite, "SELECT * FROM t").contains("column c is new"));
    room.file("a.csv", "a,b\n3,x\n5,600,7\n");
    assert!(!failure(&sqlite, "SELECT * FROM t").is_empty());
    std::fs::remove_file(&file).unwrap();
    assert!(failure(&sqlite, "SELECT * FROM t").contains("a.csv"));
    room.file("a.csv", "a,b\n8,9\n");
    assert_eq!(rows(&sqlite, "SELECT * FROM t"), ["8 9"]);
}

#[test]
fn a_table_may_stand_in_a_query_several_times() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a.csv", "a\n1\n2\n3\n");
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.t USING litepress_read('{file}')"), []).unwrap();
    assert_eq!(rows(&sqlite, "SELECT count(*) FROM t x, t y WHERE x.a < y.a"), ["3"]);
    assert_eq!(rows(&sqlite, "SELECT a FROM t WHERE a = (SELECT max(a) FROM t)"), ["3"]);
    assert_eq!(rows(&sqlite, "SELECT (SELECT sum(a) FROM t y WHERE y.a <= x.a) FROM t x"), ["1", "3", "6"]);
    let mut outer = sqlite.prepare("SELECT a FROM t").unwrap();
    let mut found = outer.query([]).unwrap();
    found.next().unwrap().unwrap();
    assert_eq!(rows(&sqlite, "SELECT sum(a) FROM t"), ["6"]);
    assert_eq!(found.next().unwrap().unwrap().get::<_, i64>(0).unwrap(), 2);
}

#[test]
fn odd_files_are_tables_too() {
    let (room, sqlite) = (Room::new(), memory());
    let header = room.file("header.csv", "a,b\n");
    assert_eq!(rows(&sqlite, &format!("SELECT count(*) FROM litepress_read('{header}')")), ["0"]);
    let wide: Vec<String> = (0..1990).map(|column| format!("column{column}")).collect();
    let wide = room.file("wide.csv", format!("{}\n{}\n", wide.join(","), vec!["7"; 1990].join(",")));
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.wide USING litepress_read('{wide}')"), []).unwrap();
    assert_eq!(rows(&sqlite, "SELECT column0 + column1989 FROM wide WHERE column1500 = 7"), ["14"]);
    let more = room.file("more.csv", format!("{}\n", vec!["x"; 2001].join(",")));
    let sql = format!("CREATE VIRTUAL TABLE temp.more USING litepress_read('{more}', no-header)");
    assert!(failure(&sqlite, &sql).contains("there are 2001 columns"));
    assert!(failure(&sqlite, "SELECT * FROM litepress_read('')").contains("No such file"));
}

/// Makes tables with values of every affinity, and views with values of other kinds than their columns have: texts in a column of integers.
fn make_right_sides(sqlite: &Connection) {
    sqlite
        .execute_batch(
            "CREATE TABLE ids (i INTEGER, t TEXT, b BLOB, r REAL, n NUMERIC, x);
             INSERT INTO ids SELECT value, value, value, value, value, value FROM json_each('[7, 8, 10, 1.5, \"007\", \"x\", \"1e1\", null]');
             INSERT INTO ids (b, x) VALUES (x'37', x'78');
             CREATE VIRTUAL TABLE temp.given USING litepress_array(i INTEGER, t TEXT);
             CREATE TEMP VIEW arrays AS SELECT i, t FROM given('[\"007\", \"8\", \"x\", \"1e1\"]', '[7, 8, \"x\", 10]');
             CREATE TEMP VIEW mixed AS SELECT i AS a FROM ids UNION ALL SELECT '007' UNION ALL SELECT '8';",
        )
        .expect("tables");
}

/// Conditions on a column `{c}`, and on another one, `{d}`.
fn conditions() -> Vec<String> {
    let mut all = Vec::new();
    for column in ["i", "t", "b", "r", "n", "x", "+i", "CAST(t AS INTEGER)"] {
        all.push(format!("{{c}} IN (SELECT {column} FROM ids)"));
        all.push(format!("{{c}} IN (SELECT {column} FROM ids UNION ALL SELECT '007')"));
        all.push(format!("({{c}}, {{d}}) IN (SELECT {column}, {column} FROM ids)"));
        all.push(format!("({{c}}, 1) IN (SELECT {column}, 1 FROM ids)"));
        for sign in ["=", "<", ">="] {
            for value in ["7", "'007'", "'x'", "10"] {
                all.push(format!("{{c}} {sign} (SELECT {column} FROM ids WHERE x = {value})"));
            }
            all.push(
                format!("EXISTS (SELECT 1 FROM ids WHERE {{c}} {sign} ids.{})", column.trim_start_matches('+'))
                    .replace("ids.CAST(t", "CAST(ids.t"),
            );
        }
    }
    for column in ["i", "t"] {
        all.push(format!("{{c}} IN (SELECT {column} FROM arrays)"));
        for sign in ["=", "<=", ">"] {
            all.push(format!("{{c}} {sign} (SELECT {column} FROM arrays LIMIT 1)"));
            all.push(format!("EXISTS (SELECT 1 FROM arrays WHERE {{c}} {sign} arrays.{column})"));
            all.push(format!("EXISTS (SELECT 1 FROM mixed WHERE {{c}} {sign} mixed.a)"));
        }
    }
    for list in ["7, 8", "'007', 8", "'007', '8'", "'x'", "NULL", "NULL, 'x', x'37'", "", "?1, 8", "?1, ?2", "1.5, 7"] {
        all.push(format!("{{c}} IN ({list})"));
        all.push(format!("{{c}} IN ({list}) AND {{d}} IN ({list})"));
    }
    for value in ["?1", "?2", "?3", "7", "'007'", "CAST('7' AS INTEGER)", "+'8'", "'1e' || 1", "x'37'"] {
        all.extend(["=", "<", "<=", ">", ">=", "IS"].map(|sign| format!("{{c}} {sign} {value}")));
        all.push(format!("({{c}}, {{d}}) > ({value}, 5)"));
    }
    all
}

/// `column IN (SELECT number FROM ...)` lost the texts of a file that are equal to the numbers: if the values of an IN come one by one, SQLite
/// compares them under the affinity of the left side alone.
#[test]
fn no_condition_loses_rows_by_its_affinity() {
    let (room, sqlite) = (Room::new(), memory());
    let text = "t,i,r,m\n007,7,7.0,7\n8,8,1.5,x\nx,10,,1e1\n1e1,,-3.5,\n7,1,10.0,007\n,2,8.0,8\n";
    let file = room.file("codes.csv", text);
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.codes USING litepress_read('{file}')"), []).unwrap();
    let declared = rows(&sqlite, "SELECT group_concat(name || ' ' || type) FROM pragma_table_info('codes')");
    sqlite.execute_batch(&format!("CREATE TABLE real_codes ({})", declared[0].trim_matches('\''))).unwrap();
    sqlite
        .execute_batch(
            "INSERT INTO real_codes SELECT * FROM codes; CREATE TABLE real_call (c1 BLOB, c2 BLOB, c3 BLOB, c4 BLOB)",
        )
        .unwrap();
    let call = format!("litepress_read('{file}')");
    sqlite.execute(&format!("INSERT INTO real_call SELECT c1, c2, c3, c4 FROM {call}"), []).unwrap();
    make_right_sides(&sqlite);
    let named = ["t", "i", "r", "m"].map(str::to_owned);
    let numbered = ["c1", "c2", "c3", "c4"].map(str::to_owned);
    let mut kept = 0;
    for (file, ordinary, columns) in [("codes", "real_codes", named), (&*call, "real_call", numbered)] {
        for condition in conditions() {
            for (at, column) in columns.iter().enumerate() {
                let condition = condition.replace("{c}", column).replace("{d}", &columns[(at + 1) % 4]);
                let found = |table: &str| {
                    let sql = format!(
                        "SELECT group_concat(rowid) FROM (SELECT rowid FROM {table} WHERE {condition} ORDER BY rowid) WHERE ?1 = ?1 OR ?2 OR ?3"
                    );
                    rows_of(&sqlite, &sql, ["007", "8", "x"])
                };
                let expected = found(ordinary);
                kept += usize::from(expected != ["NULL"]);
                assert_eq!(found(file), expected, "{file}: {condition}");
            }
        }
        for right in ["ids.i", "ids.t", "ids.b", "ids.r", "ids.n", "ids.x", "+ids.i"] {
            for (column, sign) in columns.iter().flat_map(|column| ["=", "<", ">="].map(|sign| (column, sign))) {
                let join = |table: &str| {
                    rows(
                        &sqlite,
                        &format!(
                            "SELECT f.rowid, ids.rowid FROM {table} AS f JOIN ids ON f.{column} {sign} {right} ORDER BY 1, 2"
                        ),
                    )
                };
                assert_eq!(join(file), join(ordinary), "{file}: {column} {sign} {right}");
            }
        }
    }
    assert!(kept > 500, "{kept} conditions keep rows");
}

/// The values of an IN are one scan. Before, the file was read once for each of them.
#[test]
fn the_values_of_in_are_one_scan() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("codes.csv", "t\na\nb\nc\n");
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.codes USING litepress_read('{file}')"), []).unwrap();
    let plan = rows(&sqlite, "EXPLAIN QUERY PLAN SELECT * FROM codes WHERE t IN ('a', 'c')");
    assert!(plan[0].contains("0=i"), "{plan:?}");
    assert_eq!(rows(&sqlite, "SELECT * FROM codes WHERE t IN ('a', 'c')"), ["'a'", "'c'"]);
}
