//! Each write, sync and change of length of a run fails in turn. The run reports it, the target is absent or unchanged, and
//! nothing is left behind.

use litepress::{Database, ErrorKind, PageSize, Result, Schema, Sink, Sync, Target, Verify};
use litepress_conformance::case::{Into, Route};
use litepress_conformance::faults::{EIO, ENOSPC, FaultPlan, FaultySink, HoleSink};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{assert_verified, integer};
use litepress_conformance::source::MadeRows;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use rusqlite::Connection;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes two tables of several parts to `t.db` in `folder`. Returns the number of calls of the sink.
fn build(folder: &Folder, threads: usize, replace: bool, plan: FaultPlan) -> (u64, Result<()>) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let wrap = move |sink: Box<dyn Sink>| -> Box<dyn Sink> { Box::new(FaultySink::new(sink, plan, counted)) };
    let result = build_through(folder, threads, replace, wrap);
    (calls.load(Ordering::SeqCst), result)
}

fn build_through(
    folder: &Folder,
    threads: usize,
    replace: bool,
    wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
) -> Result<()> {
    let schema = Schema::from_sql("CREATE TABLE a(x TEXT); CREATE TABLE b(x TEXT)", "<faults>")?;
    let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
    options.sync = Sync::Full;
    options.overwrite = replace;
    let mut database = Database::create_with_sink(&folder.target("t.db"), schema, &options, wrap)?;
    let make = |row: u64, record: &mut Vec<u8>| {
        write_record(
            &[Value::Text("text ".repeat(1 + usize::try_from(row % 900).unwrap_or_default()).as_bytes())],
            record,
        );
        i64::try_from(row).unwrap_or_default() + 1
    };
    for table in 0..2 {
        database.fill(table, &MadeRows::new(1200, 200, make))?;
    }
    database.finish().map(drop)
}

const OLD_ROWS: i64 = 3;

fn write_old_database(folder: &Folder) -> Vec<u8> {
    let sqlite = Connection::open(folder.join("t.db")).expect("a new database");
    sqlite.execute_batch("CREATE TABLE old(x); INSERT INTO old VALUES (1), (2), (3)").expect("three rows");
    drop(sqlite);
    fs::read(folder.join("t.db")).expect("the old database")
}

fn sweep(threads: usize, old: bool) {
    let folder = Folder::new();
    let before = if old { Some(write_old_database(&folder)) } else { None };
    let names = folder.names();
    let (calls, unharmed) = build(&Folder::new(), threads, false, FaultPlan::NONE);
    unharmed.expect("nothing fails");
    assert!(calls > 12, "{calls} calls are a run too small");
    for (errno, kind) in [(ENOSPC, ErrorKind::NoSpace), (EIO, ErrorKind::Io)] {
        for lasts in [false, true] {
            for call in 0..calls {
                let plan = FaultPlan { call, lasts, errno };
                let (_, result) = build(&folder, threads, old, plan);
                let error = result.expect_err(&format!("{plan:?}"));
                assert_eq!(error.kind(), kind, "{plan:?}: {error}");
                assert_eq!(error.place().file.as_deref(), Some(folder.join("t.db").as_path()), "{plan:?}: {error}");
                assert_eq!(folder.names(), names, "{plan:?}: what is left");
                assert!(fs::read(folder.join("t.db")).ok() == before, "{plan:?}: the target has changed");
            }
        }
    }
    let (_, result) = build(&folder, threads, old, FaultPlan { call: calls, lasts: true, errno: EIO });
    result.expect("no call is left to fail");
    assert_verified(&folder.join("t.db"), "after all the failures");
}

#[test]
fn every_failing_call_leaves_no_target() {
    sweep(1, false);
}

#[test]
fn every_failing_call_leaves_the_old_target() {
    sweep(1, true);
}

#[test]
fn every_failing_call_with_seven_threads() {
    sweep(7, false);
    sweep(7, true);
}

/// Reports a failing sink in memory like one that writes a file.
#[test]
fn a_failing_sink_in_memory() {
    for call in 0..6 {
        let schema = Schema::from_sql("CREATE TABLE a(x); CREATE TABLE b(x)", "<faults>").expect("tables");
        let plan = FaultPlan { call, lasts: true, errno: ENOSPC };
        let wrap = |sink: Box<dyn Sink>| -> Box<dyn Sink> { Box::new(FaultySink::new(sink, plan, Arc::default())) };
        let options = Route::SHORTEST.options(PageSize::DEFAULT);
        let finished = Database::create_with_sink(&Target::Memory, schema, &options, wrap).and_then(Database::finish);
        // Two roots, page 1 and the length are written; nothing is synced here.
        match finished {
            Ok(finished) => assert!(call >= 4 && finished.bytes.is_some(), "call {call}"),
            Err(error) => assert!(call < 4 && error.kind() == ErrorKind::NoSpace, "call {call}: {error}"),
        }
    }
}

/// Leaves nothing behind if the caller gives up a database at any stage.
#[test]
fn a_database_that_is_dropped_leaves_nothing() {
    let folder = Folder::new();
    let before = write_old_database(&folder);
    for threads in [1, 7] {
        for tables in 0..=2 {
            let schema =
                Schema::from_sql("CREATE TABLE a(x TEXT); CREATE TABLE b(x TEXT)", "<faults>").expect("tables");
            let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            options.overwrite = true;
            let mut database = Database::create(&folder.target("t.db"), schema, &options).expect("a beginning");
            assert_eq!(folder.temporaries().len(), 1);
            for table in 0..tables {
                let make = |row: u64, record: &mut Vec<u8>| {
                    write_record(&[Value::Text(&[b'x'; 3000])], record);
                    row.cast_signed()
                };
                database.fill(table, &MadeRows::new(4000, 500, make)).expect("rows");
            }
            drop(database);
            assert_eq!(folder.names(), ["t.db"]);
            assert!(fs::read(folder.join("t.db")).ok().as_ref() == Some(&before), "the target has changed");
        }
    }
    let sqlite = Connection::open(folder.join("t.db")).expect("the old database");
    assert_eq!(integer(&sqlite, "SELECT count(*) FROM old"), OLD_ROWS);
}

/// A request to stop before a table and in the middle of one.
#[test]
fn an_interrupted_run_leaves_nothing() {
    for threads in [1, 2, 7] {
        for stop_at in [0_u64, 1, 700, 1999] {
            let folder = Folder::new();
            let schema = Schema::from_sql("CREATE TABLE a(x TEXT)", "<faults>").expect("a table");
            let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            let progress = options.progress.clone();
            let mut database = Database::create(&folder.target("t.db"), schema, &options).expect("a beginning");
            let make = move |row: u64, record: &mut Vec<u8>| {
                if row == stop_at {
                    progress.stop();
                }
                write_record(&[Value::Text(&[b'x'; 3000])], record);
                row.cast_signed()
            };
            let result = database.fill(0, &MadeRows::new(2000, 100, make)).and_then(|()| database.finish().map(drop));
            let error = result.expect_err("somebody asked to stop");
            assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
            assert!(folder.names().is_empty(), "{:?}", folder.names());
        }
    }
}

/// Detects a file that differs from the written bytes before it gets its name.
#[test]
fn a_file_with_holes_is_not_published() {
    for verify in [Verify::Quick, Verify::Full] {
        let folder = Folder::new();
        let old = write_old_database(&folder);
        let mut options = Route { threads: 2, into: Into::CachedFile }.options(PageSize::DEFAULT);
        options.overwrite = true;
        options.verify = verify;
        let schema = Schema::from_sql("CREATE TABLE a(x)", "<holes>").expect("a schema");
        let wrap = |sink| Box::new(HoleSink::new(sink, u64::MAX)) as Box<dyn Sink>;
        let mut database = Database::create_with_sink(&folder.target("t.db"), schema, &options, wrap).expect("begun");
        let make = |row: u64, record: &mut Vec<u8>| {
            write_record(&[Value::Int(row.cast_signed())], record);
            row.cast_signed()
        };
        database.fill(0, &MadeRows::new(5000, 1000, make)).expect("rows");
        let error = database.finish().map(drop).expect_err("there is a hole");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        // The error named neither the file nor a remedy.
        let file = error.place().file.as_deref().and_then(std::path::Path::file_name);
        assert!(file.is_some_and(|file| file == "t.db") && error.advice().is_some(), "{error}");
        assert_eq!(fs::read(folder.join("t.db")).expect("the old database"), old);
        assert_eq!(folder.names(), ["t.db"]);
    }
}
