//! The schema is the one that SQLite understood, and a schema file may only define.

use litepress_rows::schema::{Generated, IndexOrigin};
use litepress_rows::{Affinity, ErrorKind, Schema};

fn read(sql: &str) -> Schema {
    Schema::from_sql(sql, "schema.sql").expect("a schema that SQLite takes")
}

#[test]
fn columns_keys_and_indexes_are_read_back() {
    let schema = read(
        "-- people\nCREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, mail TEXT UNIQUE, born DATE, \
         boss INT REFERENCES person(id), age INT AS (2020 - born), full TEXT AS (mail || 1) STORED, CHECK (age > 0));\n\
         CREATE INDEX by_born ON person (born DESC, mail COLLATE NOCASE) WHERE age > 3; CREATE VIEW v AS SELECT 1;",
    );
    let person = &schema.tables[0];
    assert_eq!(person.rowid_alias, Some(0));
    assert!(person.autoincrement && person.has_check && !person.strict && !person.without_rowid);
    assert!(schema.text[person.span.clone()].starts_with("-- people"));
    assert_eq!(person.columns[2].affinity, Affinity::Numeric);
    assert_eq!(person.columns[4].generated, Generated::Virtual);
    assert_eq!(person.columns[5].generated, Generated::Stored);
    assert!(person.columns[1].unique && person.columns[0].unique && !person.columns[2].unique);
    assert_eq!(person.foreign_keys[0].columns, [3]);
    assert_eq!(person.foreign_keys[0].parent_columns, ["id"]);
    let names: Vec<_> = person.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["sqlite_autoindex_person_1", "by_born"]);
    assert_eq!(person.indexes[0].origin, IndexOrigin::Unique);
    let by_born = &person.indexes[1];
    assert!(by_born.partial && by_born.columns[0].descending);
    assert_eq!(by_born.columns[1].collation, "NOCASE");
    let kinds: Vec<_> = schema.objects.iter().map(|object| object.kind.as_str()).collect();
    assert_eq!(kinds, ["table", "index", "table", "index", "view"]);
    assert!(!schema.objects[4].has_btree);
}

/// Lookups panicked, or found another table, after a caller had removed or moved a table.
#[test]
fn tables_are_found_wherever_a_caller_puts_them() {
    let mut schema = read("CREATE TABLE a (x); CREATE TABLE \"b \"\" c\" (y); CREATE TABLE Cd (z)");
    let found = |schema: &Schema, name: &str| schema.table(name).map(|table| table.columns[0].name.clone());
    schema.tables.swap(0, 2);
    assert_eq!((schema.position("A"), schema.position("cD"), schema.position("b \" c")), (Some(2), Some(0), Some(1)));
    schema.tables.remove(0);
    assert_eq!((schema.position("cd"), found(&schema, "a").as_deref()), (None, Some("x")));
    schema.tables[0].name = "new".to_owned();
    assert_eq!((found(&schema, "NEW").as_deref(), found(&schema, "b \" c")), (Some("y"), None));
    schema.tables.clear();
    assert_eq!(schema.position("a"), None);
}

#[test]
fn only_a_true_alias_of_the_rowid_is_one() {
    let alias = |columns: &str| read(&format!("CREATE TABLE t ({columns})")).tables[0].rowid_alias;
    assert_eq!(alias("a, b INTEGER PRIMARY KEY"), Some(1));
    assert_eq!(alias("a INTEGER, PRIMARY KEY (a)"), Some(0));
    assert_eq!(alias("a INT PRIMARY KEY"), None);
    assert_eq!(alias("a INTEGER PRIMARY KEY DESC"), None);
    assert_eq!(alias("a INTEGER, b, PRIMARY KEY (a, b)"), None);
    assert_eq!(read("CREATE TABLE t (a INTEGER PRIMARY KEY) WITHOUT ROWID").tables[0].rowid_alias, None);
}

#[test]
fn settings_of_the_file_are_honoured() {
    let schema = read(
        "PRAGMA user_version=7; PRAGMA page_size = 8192; PRAGMA application_id = -5; PRAGMA journal_mode=WAL; \
         PRAGMA foreign_keys=ON; PRAGMA encoding='UTF-8'; BEGIN; CREATE TABLE t(a); COMMIT;",
    );
    let settings = schema.settings;
    assert_eq!(settings.page_size, Some(8192));
    assert_eq!((settings.user_version, settings.application_id, settings.wal), (7, -5, true));
    assert_eq!(read("CREATE TABLE t(a)").settings.page_size, None);
}

#[test]
fn a_statement_that_does_more_than_define_is_refused_with_its_place() {
    for (sql, line, character, part) in [
        ("CREATE TABLE t(a);\n  INSERT INTO t VALUES (1)", 2, 3, "INSERT of rows (t) is not allowed"),
        ("ATTACH 'x.db' AS x", 1, 1, "ATTACH and DETACH are not allowed"),
        ("CREATE TABLE t(a);\nDELETE FROM t", 2, 1, "DELETE of rows"),
        ("CREATE TABLE t(a);UPDATE t SET a = 1", 1, 19, "UPDATE of rows"),
        ("SELECT 1", 1, 1, "a query does not define anything"),
        ("SELECT load_extension('x')", 1, 1, "load_extension() is not allowed"),
        ("CREATE TABLE t AS SELECT 1", 1, 1, "makes rows"),
        ("CREATE TEMP TABLE t(a)", 1, 1, "a TEMP object"),
        ("PRAGMA encoding='UTF-16'", 1, 1, "PRAGMA encoding=UTF-16 is not supported"),
        ("PRAGMA auto_vacuum=1", 1, 1, "PRAGMA auto_vacuum=1 is not supported"),
        ("PRAGMA writable_schema=ON", 1, 1, "PRAGMA writable_schema is not supported"),
        ("-- x\nCREATE TABLE t(a);\nCREATE TABLE u(b,\n  c CHECK (x)\n);", 4, 12, "no such column: x"),
        ("CREATE TABLE t(a);\nCREATE TABEL u(b)", 2, 8, "near \"TABEL\": syntax error"),
        ("CREATE TABLE t(a);CREATE TABLE t(a)", 1, 32, "table t already exists"),
        ("PRAGMA page_size=1000", 1, 1, "PRAGMA page_size=1000 is not possible"),
        ("SELECT ?;ääää", 1, 1, "a query does not define anything"),
        ("CREATE TABLE t(a);\nANALYZE", 2, 1, "ANALYZE has nothing to count"),
        ("CREATE TABLE t(a);\nANALYZE t", 2, 1, "ANALYZE has nothing to count"),
        ("CREATE TABLE t(a);\0", 1, 19, "NUL"),
    ] {
        let error = Schema::from_sql(sql, "schema.sql").expect_err(sql);
        assert_eq!(error.kind(), ErrorKind::Schema, "{sql}");
        assert!(error.to_string().contains(part), "{sql}: {error}");
        assert_eq!((error.place().line, error.place().character), (Some(line), Some(character)), "{sql}: {error}");
    }
}

/// A definition with rows without end took memory for 20 seconds, and was then said to run too long.
#[test]
fn a_definition_fills_a_bounded_number_of_pages() {
    let sql = "PRAGMA page_size = 512; CREATE TABLE t AS
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(1000000) FROM n";
    let error = Schema::from_sql(sql, "schema.sql").expect_err("rows without end");
    assert!(error.kind() == ErrorKind::Schema && error.to_string().contains("more than 262144 pages"), "{error}");
}

/// A sequence of migrations is a schema. SQLite's own statements within ALTER TABLE were taken for the user's: "PRAGMA
/// quick_check is not supported in a schema", "UPDATE of rows (sqlite_sequence) is not allowed".
#[test]
fn whatever_is_altered_is_still_a_schema() {
    for (sql, columns) in [
        ("CREATE TABLE t(a INTEGER CHECK(a > 0)); ALTER TABLE t ADD COLUMN b TEXT CHECK(b <> '')", 2),
        ("CREATE TABLE t(a INTEGER) STRICT; ALTER TABLE t ADD COLUMN b TEXT", 2),
        // SQLite asks for the right to delete the view's rows, and that was refused.
        ("CREATE TABLE t(a); CREATE VIEW v AS SELECT 1; DROP VIEW IF EXISTS v", 1),
        ("CREATE TABLE t(a INTEGER); ALTER TABLE t ADD COLUMN b TEXT NOT NULL DEFAULT 'x'", 2),
        ("CREATE TABLE t(a INTEGER); ALTER TABLE t ADD COLUMN b AS (a + 1)", 2),
        ("CREATE TABLE u(a INTEGER PRIMARY KEY AUTOINCREMENT, b); ALTER TABLE u RENAME TO t", 2),
        ("CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b); ALTER TABLE t RENAME COLUMN b TO c", 2),
        (
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b INT) STRICT; ALTER TABLE t ADD COLUMN c TEXT CHECK(c <> '')",
            3,
        ),
        ("CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c); ALTER TABLE t DROP COLUMN c", 2),
        (
            "CREATE TABLE t(a INT, b INT CHECK(b > 0), c INT) STRICT; CREATE VIEW v AS SELECT a FROM t; ALTER TABLE t DROP c",
            2,
        ),
    ] {
        let schema = read(sql);
        assert_eq!((schema.tables[0].name.as_str(), schema.tables[0].columns.len()), ("t", columns), "{sql}");
    }
    let schema = read("CREATE TABLE t(a); ALTER TABLE t ADD COLUMN b CHECK(b > 0)");
    assert!(schema.tables[0].has_check);
    // Without an argument, a PRAGMA only asks.
    assert!(read("PRAGMA quick_check").objects.is_empty());
    for sql in [
        "CREATE TABLE t(a); PRAGMA quick_check(t)",
        "CREATE TABLE t(a); ALTER TABLE t ADD COLUMN b CHECK(b); PRAGMA quick_check('t')",
    ] {
        let error = Schema::from_sql(sql, "schema.sql").unwrap_err();
        assert_eq!(error.message(), "PRAGMA quick_check is not supported in a schema", "{sql}");
    }
}

/// The output of `.schema` in SQLite's shell was refused for databases with AUTOINCREMENT or statistics: "object name reserved
/// for internal use".
#[test]
fn what_the_shell_prints_as_schema_is_one() {
    let schema = read(
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
         CREATE TABLE sqlite_sequence(name,seq);
         CREATE INDEX i ON t(a);
         CREATE TABLE sqlite_stat1(tbl,idx,stat);
         CREATE TABLE IF NOT EXISTS \"sqlite_stat4\" (tbl, idx, neq, nlt, ndlt, sample);
         CREATE VIRTUAL TABLE f USING fts5(a)
         /* f(a) */;
         CREATE TABLE IF NOT EXISTS 'f_data'(id INTEGER PRIMARY KEY, block BLOB);
         CREATE TABLE IF NOT EXISTS 'f_config'(k PRIMARY KEY, v) WITHOUT ROWID;
         CREATE VIEW v AS SELECT 1
         /* v(\"1\") */;
         CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    );
    let names: Vec<_> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["t", "f"]);
    assert!(schema.text[schema.tables[1].span.clone()].contains("USING fts5"));
    let names: Vec<_> = schema.objects.iter().filter(|object| !object.is_shadow).map(|object| &object.name).collect();
    assert_eq!(names, ["t", "sqlite_sequence", "i", "f", "v"]);
    for sql in [
        "CREATE TABLE sqlite_stat1(a)",
        "CREATE TABLE sqlite_x(a)",
        "CREATE TABLE t(a);\nCREATE TABLE sqlite_sequence(a)",
    ] {
        let error = Schema::from_sql(sql, "schema.sql").unwrap_err();
        assert!(error.message().contains("object name reserved for internal use"), "{error}");
    }
    // The place of an error after such a table counts from the start of the text.
    let error = Schema::from_sql("CREATE TABLE sqlite_sequence(name,seq);\n\nCREATE TABEL t(a)", "s.sql").unwrap_err();
    assert_eq!((error.place().line, error.place().character), (Some(3), Some(8)));
}

/// A dump of tables without rows is a schema, but was refused. Its numbers for the next rowids are kept.
#[test]
fn a_dump_without_rows_is_a_schema() {
    let schema = read(
        "PRAGMA foreign_keys=OFF;
         BEGIN TRANSACTION;
         CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
         CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT);
         ANALYZE sqlite_schema;
         INSERT INTO sqlite_stat1 VALUES('t','i','2 1');
         DELETE FROM sqlite_sequence;
         INSERT INTO sqlite_sequence VALUES('t',7);
         CREATE INDEX i ON t(a);
         COMMIT;",
    );
    let tables: Vec<_> = schema.tables.iter().map(|table| (table.name.as_str(), table.last_sequence)).collect();
    assert_eq!(tables, [("t", Some(7)), ("u", None)]);
    let names: Vec<_> = schema.objects.iter().map(|object| &object.name).collect();
    assert_eq!(names, ["t", "sqlite_sequence", "u", "i"]);
    let renamed = read(
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO sqlite_sequence VALUES('t', 7);
         UPDATE sqlite_sequence SET seq = 8; ALTER TABLE t RENAME TO u",
    );
    assert_eq!(renamed.tables[0].last_sequence, Some(8));
    for (sql, part) in [
        ("CREATE TABLE t(a);\nINSERT INTO t VALUES(1)", "INSERT of rows (t) is not allowed"),
        ("PRAGMA writable_schema=ON;", "PRAGMA writable_schema is not supported"),
    ] {
        let error = Schema::from_sql(sql, "dump.sql").unwrap_err();
        assert!(error.message().contains(part), "{error}");
        assert!(error.advice().is_some_and(|advice| advice.contains("sqlite3 old.db .schema")), "{error:?}");
    }
}

#[test]
fn altered_and_odd_tables_keep_their_statement() {
    let schema = read("CREATE TABLE a(x); CREATE TABLE b(\"y z\" -- gen: int(1, 2)\n); ALTER TABLE b RENAME TO c;");
    assert_eq!(schema.tables[1].name, "c");
    assert!(schema.text[schema.tables[1].span.clone()].contains("gen: int"));
    // The span of a renamed table went to a shadow table of another one.
    let schema = read("CREATE VIRTUAL TABLE f USING fts5(body); CREATE TABLE b(a); ALTER TABLE b RENAME TO plain;");
    assert!(schema.text[schema.tables[1].span.clone()].contains("CREATE TABLE b"));
    let names: Vec<_> = schema.tables.iter().map(|table| (table.name.as_str(), table.is_virtual)).collect();
    assert_eq!(names, [("f", true), ("plain", false)]);
    let empty = read("  -- nothing\n ;;");
    assert!(empty.tables.is_empty() && empty.objects.is_empty());
}

/// SQLite accepts a foreign key to a missing table or to a column that is not unique, and so must litepress: checking for a
/// CHECK constraint failed with "no such table".
#[test]
fn a_foreign_key_may_point_at_nothing() {
    let schema =
        read("CREATE TABLE p(a, b); CREATE TABLE c(x REFERENCES missing(y), z REFERENCES p(b), CHECK (x > 0))");
    assert_eq!(schema.tables[1].foreign_keys.len(), 2);
    assert!(schema.tables[1].has_check);
}

/// Dropping a table deletes its rows, which the authorizer took for a statement of the user.
#[test]
fn what_is_made_may_be_dropped() {
    let schema = read("CREATE TABLE t(a); CREATE INDEX i ON t(a); DROP INDEX i; DROP TABLE t; CREATE TABLE u(a);");
    let names: Vec<_> = schema.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["u"]);
    let sql = "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE t; DELETE FROM sqlite_master";
    assert!(Schema::from_sql(sql, "schema.sql").is_err());
}

#[test]
fn what_stands_behind_an_index_key_is_known() {
    let schema = read(
        "CREATE TABLE t (a, b TEXT COLLATE NOCASE, c, d AS (a) VIRTUAL, e, PRIMARY KEY (c, b, c)) WITHOUT ROWID; \
         CREATE INDEX i ON t (b COLLATE BINARY, a); CREATE TABLE r (x, y AS (x), z); CREATE INDEX j ON r (z, x);",
    );
    let positions = |columns: &[litepress_rows::schema::IndexColumn]| -> Vec<_> {
        columns.iter().map(|column| (column.column, column.collation.clone())).collect()
    };
    let named = |column, collation: &str| (Some(column), collation.to_owned());
    let [key, index] = &schema.tables[0].indexes[..] else { panic!("two indexes") };
    assert_eq!(positions(&key.columns), [named(2, "BINARY"), named(1, "NOCASE")]);
    assert_eq!(positions(&key.appended), [named(0, "BINARY"), named(4, "BINARY")]);
    assert_eq!(positions(&index.columns), [named(1, "BINARY"), named(0, "BINARY")]);
    assert_eq!(positions(&index.appended), [named(2, "BINARY"), named(1, "NOCASE")]);
    assert!(schema.tables[1].indexes[0].appended.is_empty());
    assert_eq!(schema.tables[0].stored_columns(), [2, 1, 0, 4]);
    assert_eq!(schema.tables[1].stored_columns(), [0, 2]);
    assert_eq!(schema.tables[0].ordinary_columns().collect::<Vec<_>>(), [0, 1, 2, 4]);
}

/// The byte code of an insert includes that of triggers, so a table seemed to have another table's CHECK constraint.
#[test]
fn a_check_of_another_table_is_not_this_tables() {
    let schema = read(
        "CREATE TABLE log(x CHECK (x > 0)); CREATE TABLE t(a); \
         CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;",
    );
    assert!(schema.tables[0].has_check && !schema.tables[1].has_check);
}

/// SQLite compiles a DEFAULT or a trigger with the first row, not with its definition.
#[test]
fn what_would_fail_for_a_row_is_still_a_schema() {
    let schema = read(
        "CREATE TABLE t(a DEFAULT (missing(1)), b); CREATE TABLE u(a DEFAULT (missing(1)), b CHECK (b > 0)); \
         CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO nowhere VALUES (1); END;",
    );
    assert!(!schema.tables[0].has_check && schema.tables[1].has_check);
}

/// `UNIQUE ON CONFLICT REPLACE` was treated as UNIQUE, and the run failed although SQLite would have continued.
#[test]
fn conflict_clauses_that_change_something_are_seen() {
    for (columns, expected) in [
        ("a UNIQUE ON CONFLICT REPLACE", true),
        ("a PRIMARY KEY ON CONFLICT IGNORE) WITHOUT ROWID; --", true),
        ("a INTEGER PRIMARY KEY ON CONFLICT REPLACE", true),
        ("a INTEGER PRIMARY KEY ON CONFLICT IGNORE AUTOINCREMENT, b", true),
        ("a, b AS (a) UNIQUE ON CONFLICT IGNORE", true),
        ("a NOT NULL /* ON */ ON\nCONFLICT IGNORE", true),
        ("a NOT NULL ON CONFLICT REPLACE DEFAULT 3", true),
        // Without a DEFAULT, nothing can replace NULL; and a CHECK always fails.
        ("a NOT NULL ON CONFLICT REPLACE, CHECK (a > 0) ON CONFLICT IGNORE", false),
        ("a UNIQUE ON CONFLICT FAIL, b NOT NULL ON CONFLICT ROLLBACK, c UNIQUE ON CONFLICT ABORT", false),
        ("\"ON CONFLICT IGNORE\" DEFAULT 'ON CONFLICT IGNORE' UNIQUE -- ON CONFLICT IGNORE\n", false),
        ("a UNIQUE, b INTEGER PRIMARY KEY, c NOT NULL DEFAULT 4, d REFERENCES t(a) ON DELETE SET NULL", false),
    ] {
        let schema = read(&format!("CREATE TABLE t({columns})"));
        assert_eq!(schema.tables[0].has_conflict_clause, expected, "{columns}");
    }
}

/// Each lookup scanned all tables, and SQLite was asked for the kinds of all tables once per table: 5,000 tables doubled the
/// time that SQLite needs to define them.
#[test]
fn tables_are_found_by_name() {
    let schema = read("CREATE TABLE \"Grün\" (a); CREATE TABLE other (a); CREATE VIEW v AS SELECT 1;");
    assert_eq!((schema.position("GRüN"), schema.position("OTHER")), (Some(0), Some(1)));
    assert_eq!((schema.position("v"), schema.position("GRÜN")), (None, None));
    assert_eq!(schema.table("Other").map(|table| table.name.as_str()), Some("other"));
}

/// Options of FTS5 are set by an INSERT, which was refused as a row.
#[test]
fn options_of_full_text_tables_are_kept() {
    let schema = read(
        "CREATE TABLE docs(a, b); CREATE VIRTUAL TABLE \"a 'b\" USING fts5(a, b, content=docs);
         INSERT INTO \"a 'b\"(\"a 'b\", rank) VALUES ('rank', 'bm25(10.0, ''5'')');
         BEGIN; INSERT INTO \"a 'b\"(\"a 'b\", rank) VALUES ('pgsz', 64), ('pgsz', 1000); COMMIT;
         INSERT INTO \"a 'b\"(\"a 'b\") VALUES ('rebuild'); ALTER TABLE \"a 'b\" RENAME TO t",
    );
    let full_text = schema.table("t").unwrap().full_text.as_ref().unwrap();
    let set = "INSERT INTO \"t\"(\"t\", rank) VALUES ";
    let expected = [format!("{set}('pgsz', 1000)"), format!("{set}('rank', 'bm25(10.0, ''5'')')")];
    assert_eq!(full_text.settings, expected);
    assert_eq!(full_text.leaf_bytes, Some(1000));
    for (table, statement) in [
        ("fts5(a)", "INSERT INTO f VALUES ('x')"),
        ("fts5(a)", "INSERT INTO f VALUES ('')"),
        ("fts5(a)", "INSERT INTO f(f) SELECT NULL"),
        ("fts5(a)", "INSERT INTO f_config VALUES ('rank', 'bm25(1)')"),
        ("fts5(a)", "INSERT INTO f_content VALUES (1, 'x')"),
        ("fts5(a, content='', columnsize=0)", "INSERT INTO f(rowid, a) VALUES (1, 'x')"),
        ("fts5(a, content='', columnsize=0)", "BEGIN; INSERT INTO f(rowid, a) VALUES (1, 'x'); COMMIT"),
    ] {
        let sql = format!("CREATE TABLE docs(a); CREATE VIRTUAL TABLE f USING {table};\n{statement}");
        let error = Schema::from_sql(&sql, "s.sql").expect_err(&sql);
        assert!(error.message().contains("is not allowed: a schema defines and holds no rows"), "{sql}: {error}");
        assert!(error.place().line.is_some(), "{sql}");
    }
    let unknown = "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f(f, rank) VALUES ('unheard of', 1)";
    assert!(Schema::from_sql(unknown, "s.sql").unwrap_err().message().contains("SQLite says"));
}
