//! The driver through the traits of ADBC. The package's tests in Python go through the C interface and its clients.

use adbc_core::error::{Result, Status};
use adbc_core::options::{OptionConnection, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable, Statement};
use adbc_driver_litepress::{LitepressConnection, LitepressDatabase, LitepressDriver};
use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use std::path::Path;
use std::sync::Arc;

fn database(path: &Path, options: &[(&str, &str)]) -> Result<LitepressDatabase> {
    let uri = path.to_str().expect("UTF-8");
    let options = options.iter().map(|(key, value)| (OptionDatabase::from(*key), OptionValue::from(*value)));
    LitepressDriver.new_database_with_opts([(OptionDatabase::Uri, uri.into())].into_iter().chain(options))
}

fn connection(path: &Path, options: &[(&str, &str)]) -> LitepressConnection {
    let database = database(path, options).expect("a database");
    database.new_connection_with_opts([(OptionConnection::AutoCommit, "false".into())]).expect("a connection")
}

fn people(range: std::ops::Range<i64>) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("name", DataType::Utf8, true)]);
    let names = range.clone().map(|id| (id % 3 > 0).then(|| format!("name {id}"))).collect::<StringArray>();
    let ids = Int64Array::from_iter_values(range);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(names)]).expect("a batch")
}

fn ingest(connection: &mut LitepressConnection, mode: &str, batch: RecordBatch) -> Result<Option<i64>> {
    let mut statement = connection.new_statement()?;
    statement.set_option(OptionStatement::TargetTable, "person".into())?;
    statement.set_option(OptionStatement::IngestMode, format!("adbc.ingest.mode.{mode}").into())?;
    statement.bind(batch)?;
    statement.execute_update()
}

fn count(connection: &mut LitepressConnection, sql: &str) -> i64 {
    let mut statement = connection.new_statement().expect("a statement");
    statement.set_sql_query(sql).expect("a query");
    let batch = statement.execute().expect(sql).next().expect("a batch").expect("rows");
    batch.column(0).as_any().downcast_ref::<Int64Array>().expect("integers").value(0)
}

fn way(connection: &LitepressConnection) -> String {
    connection.get_option_string(OptionConnection::Other("litepress.way".into())).expect("an ingest")
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let options = [("litepress.primary_key", "id"), ("litepress.indexes", "name")];
    let mut one = connection(&path, &options);
    assert_eq!(ingest(&mut one, "create", people(0..50_000)).expect("rows"), Some(50_000));
    assert_eq!((path.exists(), way(&one).as_str()), (false, "print"));
    one.rollback().expect("a rollback");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    ingest(&mut one, "create", people(0..50_000)).expect("rows");
    one.commit().expect("a commit");
    assert_eq!(count(&mut one, "SELECT count(*) FROM person"), 50_000);
    assert_eq!(count(&mut one, "SELECT count(*) FROM sqlite_schema WHERE type = 'index'"), 1);
    one.commit().expect("a commit");

    ingest(&mut one, "append", people(50_000..80_000)).expect("rows");
    assert_eq!(way(&one), "wait");
    let mut other = connection(&path, &[]);
    assert_eq!(count(&mut other, "SELECT count(*) FROM person"), 50_000);
    other.commit().expect("a commit");
    one.commit().expect("a commit");
    assert_eq!(way(&one), "pages");
    assert_eq!(count(&mut other, "SELECT count(*) FROM person"), 80_000);
    other.rollback().expect("the end of the reader");

    ingest(&mut one, "replace", people(0..10)).expect("rows");
    assert_eq!(way(&one), "copy");
    assert_eq!(count(&mut other, "SELECT count(*) FROM person"), 80_000);
    other.commit().expect("the end of the reader");
    one.commit().expect("a commit");
    assert_eq!(count(&mut other, "SELECT count(*) FROM person"), 10);
}

#[test]
fn errors_have_a_status_and_a_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let mut connection = connection(&path, &[("litepress.primary_key", "id")]);
    let error = ingest(&mut connection, "append", people(0..1)).expect_err("no table");
    assert_eq!(error.status, Status::NotFound);
    let schema = people(0..1).schema();
    let twice = arrow_select_of(&schema, &[people(0..3), people(1..2)]);
    let error = ingest(&mut connection, "create", twice).expect_err("a key twice");
    assert_eq!(error.status, Status::Integrity, "{error}");
    let details = error.details.expect("a place");
    assert!(details.contains(&("litepress.record".to_owned(), b"4".to_vec())), "{details:?}");
    ingest(&mut connection, "create", people(0..3)).expect("rows");
    let error = ingest(&mut connection, "create", people(0..3)).expect_err("the table exists");
    assert_eq!(error.status, Status::AlreadyExists);
    for (key, status) in [("litepress.primary_ky", Status::NotImplemented), ("other", Status::NotImplemented)] {
        assert_eq!(database(&path, &[(key, "id")]).err().expect(key).status, status);
    }
}

/// Puts the rows of batches into one.
fn arrow_select_of(schema: &arrow_schema::SchemaRef, batches: &[RecordBatch]) -> RecordBatch {
    let ids = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_any().downcast_ref::<Int64Array>().expect("integers").values().to_vec());
    let ids = Int64Array::from_iter_values(ids);
    let names = StringArray::from(vec!["x"; ids.len()]);
    RecordBatch::try_new(schema.clone(), vec![Arc::new(ids), Arc::new(names)]).expect("a batch")
}

/// A statement of SQL that ends the transaction ends that of the draft, too.
#[test]
fn sql_may_end_the_transaction() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let mut connection = connection(&path, &[]);
    let run = |connection: &mut LitepressConnection, sql: &str| {
        let mut statement = connection.new_statement()?;
        statement.set_sql_query(sql)?;
        statement.execute_update()
    };
    run(&mut connection, "CREATE TABLE a (x UNIQUE)").expect("a table");
    run(&mut connection, "ROLLBACK").expect("its end");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    run(&mut connection, "CREATE TABLE a (x UNIQUE)").expect("a table");
    run(&mut connection, "INSERT INTO a VALUES (1)").expect("a row");
    run(&mut connection, "INSERT OR ROLLBACK INTO a VALUES (1)").expect_err("the same row");
    assert!(!path.exists());
    run(&mut connection, "CREATE TABLE b (x)").expect("a table");
    ingest(&mut connection, "create", people(0..3)).expect("rows");
    run(&mut connection, "COMMIT").expect("its end");
    assert_eq!(count(&mut connection, "SELECT count(*) FROM sqlite_schema"), 2);
    assert_eq!(count(&mut connection, "SELECT count(*) FROM person"), 3);
}

/// A program in Python had a connection of its own SQLite beside the driver: neither saw the locks of the other, and the end of one
/// connection ended the locks of both.
#[test]
fn a_database_that_another_sqlite_uses_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let mut one = connection(&path, &[]);
    ingest(&mut one, "create", people(0..100)).expect("rows");
    one.commit().expect("a commit");
    assert_eq!(ingest(&mut one, "append", people(100..200)).expect("rows"), Some(100));
    let other = std::fs::File::options().read(true).write(true).open(&path).expect("a file");
    rustix::fs::fcntl_lock(&other, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("a lock");
    let error = one.commit().expect_err("another SQLite has a lock");
    assert!(error.message.contains("this program itself has a lock on the database"), "{error:?}");
    drop(one);
    let refused = database(&path, &[]).expect("a database").new_connection().err().expect("another SQLite has a lock");
    assert!(refused.message.contains("this program itself has a lock on the database"), "{refused:?}");
    drop(other);
    assert_eq!(count(&mut connection(&path, &[]), "SELECT count(*) FROM person"), 100);
}

fn run(connection: &mut LitepressConnection, sql: &str) -> Result<Option<i64>> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    statement.execute_update()
}

/// Every commit closed the driver's connection to SQLite: temporary tables, settings and attached databases were gone, in silence.
#[test]
fn a_commit_and_a_rollback_keep_the_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, attached) = (folder.path().join("people.db"), folder.path().join("attached.db"));
    let mut one = connection(&path, &[]);
    let look = |one: &mut LitepressConnection| {
        assert_eq!(count(one, "SELECT sum(a) FROM temp.kept"), 7);
        assert_eq!(count(one, "SELECT a FROM memory.m"), 8);
        assert_eq!(count(one, "SELECT a FROM beside.b"), 9);
        assert_eq!(count(one, "PRAGMA cache_size"), 77);
    };
    // The first commit gives the draft its name: SQLite needs a new connection.
    for sql in [
        "CREATE TEMP TABLE kept (a)",
        "CREATE TEMP TRIGGER more AFTER INSERT ON main.t BEGIN INSERT INTO kept VALUES (new.a); END",
        "ATTACH ':memory:' AS memory",
        "CREATE TABLE memory.m AS SELECT 8 AS a",
        &format!("ATTACH '{}' AS beside", attached.display()),
        "CREATE TABLE beside.b AS SELECT 9 AS a",
        "PRAGMA cache_size = 77",
    ] {
        if sql.contains("TRIGGER") {
            run(&mut one, "CREATE TABLE t (a)").expect(sql);
        }
        run(&mut one, sql).expect(sql);
    }
    run(&mut one, "CREATE TABLE person (id, name)").expect("a table");
    ingest(&mut one, "append", people(0..10)).expect("rows");
    assert_eq!(way(&one), "insert");
    run(&mut one, "INSERT INTO t VALUES (3)").expect("a row");
    one.commit().expect("a commit");
    assert_eq!(count(&mut one, "SELECT count(*) FROM person"), 10);
    run(&mut one, "INSERT INTO t VALUES (4)").expect("a row");
    look(&mut one);
    one.commit().expect("a commit");
    look(&mut one);
    ingest(&mut one, "replace", people(0..20)).expect("rows");
    one.rollback().expect("a rollback");
    look(&mut one);
    run(&mut one, "COMMIT").expect("a commit");
    look(&mut one);
}

/// Foreign keys were enforced unasked, as the bundled SQLite has it: `replace` deleted the rows of other tables by ON DELETE CASCADE, and
/// rows without a parent were refused.
#[test]
fn foreign_keys_are_enforced_on_request() {
    const SCHEMA: [&str; 4] = [
        "CREATE TABLE person (id INTEGER PRIMARY KEY, name)",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES person (id) ON DELETE CASCADE)",
        "INSERT INTO person VALUES (0, 'a'), (1, 'b'), (2, 'c')",
        "INSERT INTO child VALUES (10, 1), (11, 2)",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, options: &[(&str, &str)]| {
        let mut one = connection(&folder.path().join(name), options);
        SCHEMA.iter().for_each(|sql| assert!(run(&mut one, sql).is_ok(), "{sql}"));
        one.commit().expect("a commit");
        one
    };
    let on = [("litepress.enforce_foreign_keys", "true")];
    for (name, options) in [("off.db", &[][..]), ("on.db", &on[..])] {
        let mut one = made(name, options);
        let orphan = run(&mut one, "INSERT INTO child VALUES (12, 99)");
        assert_eq!(orphan.is_ok(), options.is_empty(), "{orphan:?}");
        one.rollback().expect("a rollback");
        for _ in 0..2 {
            ingest(&mut one, "replace", people(0..2)).expect("rows");
            assert_eq!(count(&mut one, "SELECT count(*) FROM child"), 2, "{name}");
            one.commit().expect("a commit");
        }
        assert_eq!(count(&mut one, "PRAGMA foreign_keys"), i64::from(!options.is_empty()));
    }
    // The option of a statement holds to the end of the transaction, and that of the connection from now on.
    let mut one = made("statement.db", &[]);
    let orphan = |one: &mut LitepressConnection, enforce: &str| {
        let mut statement = one.new_statement()?;
        statement.set_option(OptionStatement::TargetTable, "child".into())?;
        statement.set_option(OptionStatement::IngestMode, "adbc.ingest.mode.append".into())?;
        statement.set_option(OptionStatement::Other("litepress.enforce_foreign_keys".into()), enforce.into())?;
        let columns: [(&str, Arc<dyn Array>); 2] =
            [("id", Arc::new(Int64Array::from(vec![50]))), ("parent", Arc::new(Int64Array::from(vec![99])))];
        statement.bind(RecordBatch::try_from_iter(columns).expect("a batch"))?;
        statement.execute_update()
    };
    for changes in ["SELECT 1", "UPDATE person SET name = 'd'"] {
        run(&mut one, changes).expect(changes);
        let done = orphan(&mut one, "true").and_then(|_| one.commit());
        assert_eq!(done.expect_err("an orphan").status, Status::Integrity, "{changes}");
        one.rollback().expect("a rollback");
        assert_eq!(count(&mut one, "PRAGMA foreign_keys"), 0);
        one.rollback().expect("a rollback");
    }
    run(&mut one, "INSERT INTO child VALUES (12, 99)").expect("a row");
    orphan(&mut one, "false").expect("a row");
    one.rollback().expect("a rollback");
    one.set_option(OptionConnection::Other("litepress.enforce_foreign_keys".into()), "true".into()).expect("an option");
    run(&mut one, "INSERT INTO child VALUES (12, 99)").expect_err("an orphan");
}

/// SQL's COMMIT of a new database threw its printed rows away, unless SQL had changed something, too.
#[test]
fn sql_may_commit_a_new_database() {
    for end in ["COMMIT", "END TRANSACTION"] {
        for between in ["", "SELECT count(*) FROM person", "INSERT INTO person VALUES (-1, 'a')"] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("people.db");
            let mut one = connection(&path, &[]);
            ingest(&mut one, "create", people(0..3)).expect("rows");
            if !between.is_empty() {
                run(&mut one, between).expect(between);
            }
            run(&mut one, end).expect(end);
            assert!(path.exists(), "{end}: {between}");
            run(&mut one, "DELETE FROM person WHERE id < 0").expect("a deletion");
            run(&mut one, "ROLLBACK").expect("its end");
            let rows = 3 + i64::from(between.starts_with("INSERT"));
            assert_eq!(count(&mut one, "SELECT count(*) FROM person"), rows, "{end}: {between}");
        }
    }
}

/// Rows that waited for the commit were gone if the next statement failed: the commit behind it succeeded without them.
#[test]
fn rows_wait_until_they_are_committed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let options = [("litepress.primary_key", "id"), ("litepress.busy_timeout", "0.05")];
    let mut one = connection(&path, &options);
    ingest(&mut one, "create", people(0..10)).expect("rows");
    one.commit().expect("a commit");
    let mut other = connection(&path, &options);
    let mut rows = 10;
    for step in ["SELECT 1", "UPDATE person SET name = 'x'", "", "ingest"] {
        let act = |one: &mut LitepressConnection| match step {
            "" => one.commit(),
            "ingest" => ingest(one, "replace", people(0..5)).map(|_| ()),
            sql => run(one, sql).map(|_| ()),
        };
        ingest(&mut one, "append", people(rows..rows + 5)).expect("rows");
        run(&mut other, "DELETE FROM person").expect("a lock");
        assert_eq!(act(&mut one).expect_err(step).status, Status::Timeout, "{step}");
        other.rollback().expect("a rollback");
        act(&mut one).expect(step);
        one.commit().expect("a commit");
        rows += 5;
        let expected = if step == "ingest" { 5 } else { rows };
        assert_eq!(count(&mut one, "SELECT count(*) FROM person"), expected, "{step}");
        one.commit().expect("the end of a reader");
    }
}

/// A key error of rows that waited came up at the next SELECT. The commit behind it succeeded without the rows.
#[test]
fn a_commit_fails_without_the_rows_that_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.db");
    let mut one = connection(&path, &[("litepress.primary_key", "id")]);
    ingest(&mut one, "create", people(0..10)).expect("rows");
    one.commit().expect("a commit");
    for end in ["rollback", "ROLLBACK", " rollback transaction ; "] {
        ingest(&mut one, "append", people(8..20)).expect("rows");
        for _ in 0..2 {
            let error = run(&mut one, "SELECT 1").expect_err("a key twice");
            assert_eq!(error.status, Status::Integrity, "{error:?}");
            assert!(
                error.message.contains("ingested into person and wait for the commit: person.id: record 1: UNIQUE"),
                "{error:?}"
            );
            assert!(error.message.contains("roll back"), "{error:?}");
            assert!(error.details.expect("a place").contains(&("litepress.record".to_owned(), b"1".to_vec())));
            assert_eq!(one.commit().expect_err("a key twice").status, Status::Integrity);
            assert_eq!(ingest(&mut one, "append", people(20..21)).expect_err("a key twice").status, Status::Integrity);
        }
        if end == "rollback" {
            one.rollback().expect(end);
        } else {
            run(&mut one, end).expect(end);
        }
        assert_eq!(count(&mut one, "SELECT count(*) FROM person"), 10, "{end}");
        one.commit().expect("a commit");
    }
    // The table itself may end the transaction at a conflict.
    run(&mut one, "CREATE TABLE ended (id UNIQUE ON CONFLICT ROLLBACK, name)").expect("a table");
    run(&mut one, "INSERT INTO ended VALUES (5, '')").expect("a row");
    one.commit().expect("a commit");
    let rows = |range| {
        let columns: [(&str, Arc<dyn Array>); 1] = [("id", Arc::new(Int64Array::from_iter_values(range)))];
        RecordBatch::try_from_iter(columns).expect("a batch")
    };
    let append = |one: &mut LitepressConnection, range: std::ops::Range<i64>| {
        let mut statement = one.new_statement()?;
        statement.set_option(OptionStatement::TargetTable, "ended".into())?;
        statement.set_option(OptionStatement::IngestMode, "adbc.ingest.mode.append".into())?;
        statement.bind(rows(range))?;
        statement.execute_update()
    };
    append(&mut one, 0..9).expect("rows");
    run(&mut one, "SELECT 1").expect_err("a key twice");
    one.commit().expect_err("a key twice");
    one.rollback().expect("a rollback");
    run(&mut one, "INSERT INTO ended VALUES (1, '')").expect("a row");
    append(&mut one, 5..9).expect_err("a key twice");
    run(&mut one, "INSERT INTO ended VALUES (2, '')").expect("a row");
    one.rollback().expect("a rollback");
    assert_eq!(count(&mut one, "SELECT count(*) FROM ended"), 1);
}

/// Rows for a table that the transaction had defined were printed behind the back of its triggers. The page size, the encoding and the table
/// of ANALYZE were lost in silence, because a print makes them anew.
#[test]
fn rows_for_a_new_table_keep_what_the_transaction_has_made() {
    const DEFINITIONS: [&str; 2] = ["CREATE TABLE log (id)", "CREATE TABLE person (id, name, more DEFAULT 'x')"];
    const TRIGGER: &str = "CREATE TRIGGER noted AFTER INSERT ON Person BEGIN INSERT INTO log VALUES (new.id); END";
    let folder = tempfile::tempdir().expect("a folder");
    let objects = "SELECT count(*) FROM sqlite_schema";
    let cases: [(&str, &str, &str, i64, &str); 9] = [
        ("", TRIGGER, "SELECT count(*) FROM log", 5, "insert"),
        ("", &TRIGGER.replace("CREATE", "CREATE TEMP"), "SELECT count(*) FROM log", 5, "insert"),
        ("PRAGMA page_size = 8192", "SELECT 1", "PRAGMA page_size", 8192, "print"),
        ("PRAGMA encoding = 'UTF-16le'", "SELECT 1", "SELECT encoding = 'UTF-16le' FROM pragma_encoding", 1, "insert"),
        ("", "ANALYZE", "SELECT count(*) FROM sqlite_stat1", 0, "insert"),
        ("", "CREATE VIEW v AS SELECT id FROM person", "SELECT count(*) FROM v", 5, "print"),
        ("", &TRIGGER.replace("ON Person", "ON log"), objects, 3, "print"),
        ("", "CREATE INDEX i ON person (name DESC, id + 1) WHERE id > 2", objects, 3, "print"),
        ("", "CREATE TABLE s (id INTEGER PRIMARY KEY AUTOINCREMENT, a AS (id + 1))", objects, 4, "print"),
    ];
    for (number, (before, after, look, expected, route)) in cases.into_iter().enumerate() {
        let mut one = connection(&folder.path().join(number.to_string()), &[]);
        for sql in [before, DEFINITIONS[0], DEFINITIONS[1], after].into_iter().filter(|sql| !sql.is_empty()) {
            run(&mut one, sql).expect(sql);
        }
        ingest(&mut one, "append", people(0..5)).expect("rows");
        assert_eq!(way(&one), route, "{after}");
        one.commit().expect("a commit");
        assert_eq!(count(&mut one, look), expected, "{after}");
        assert_eq!(count(&mut one, "SELECT count(*) FROM person WHERE more = 'x'"), 5, "{after}");
        one.commit().expect("the end of a reader");
        // No other connection runs a temporary trigger: pages would pass it, too.
        if after.contains("TEMP") {
            ingest(&mut one, "append", people(5..7)).expect("rows");
            one.commit().expect("a commit");
            assert_eq!(count(&mut one, look), 7);
        }
    }
}

/// SQLite attaches no printed table to a database in UTF-16: ingests that create or replace one failed.
#[test]
fn ingests_into_databases_in_utf_16() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = [("litepress.primary_key", "id"), ("litepress.indexes", "name")];
    let look = "SELECT sum(id) * 100 + count(name) FROM person WHERE name IS NULL OR name = 'name ' || id";
    let mut one = connection(&folder.path().join("people.db"), &options);
    run(&mut one, "PRAGMA encoding = 'UTF-16'").expect("an encoding");
    for mode in ["create", "replace", "replace", "append"] {
        let (range, expected) = if mode == "append" { (6..9, 3606) } else { (0..6, 1504) };
        ingest(&mut one, mode, people(range)).expect(mode);
        assert_eq!(way(&one), if mode == "append" { "wait" } else { "insert" });
        one.commit().expect("a commit");
        assert_eq!(count(&mut one, look), expected, "{mode}");
        assert_eq!(count(&mut one, "SELECT count(*) FROM sqlite_schema WHERE type = 'index'"), 1);
        assert_eq!(count(&mut one, "SELECT encoding LIKE 'UTF-16%' FROM pragma_encoding"), 1);
        one.commit().expect("the end of a reader");
    }
}

/// A connection sees a file that has taken the place of its own, and keeps its temporary tables.
#[test]
fn the_next_transaction_is_in_the_file_that_replaced_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("people.db"), folder.path().join("other.db"));
    let mut one = connection(&path, &[]);
    ingest(&mut one, "create", people(0..10)).expect("rows");
    run(&mut one, "CREATE TEMP TABLE kept AS SELECT 1000 AS a").expect("a table");
    one.commit().expect("a commit");
    for rows in [20, 30] {
        let mut maker = connection(&other, &[]);
        ingest(&mut maker, "create", people(0..rows)).expect("rows");
        maker.commit().expect("a commit");
        std::fs::rename(&other, &path).expect("a name");
        assert_eq!(count(&mut one, "SELECT count(*) + a FROM person, kept"), rows + 1000);
        one.commit().expect("a commit");
        ingest(&mut one, "append", people(rows..rows + 1)).expect("rows");
        one.commit().expect("a commit");
        assert_eq!(count(&mut connection(&path, &[]), "SELECT count(*) FROM person"), rows + 1);
    }
}
