//! kill -9 at any moment: the target is absent, old or new, and always whole. The next run cleans up.

use litepress::{Database, ErrorKind, PageSize, Schema};
use litepress_conformance::case::{Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{assert_verified, integer};
use rusqlite::Connection;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: i64 = 1_500_000;

/// Starts a run and returns once it has begun.
fn start(target: &Path, rows: i64, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_build_rows"));
    command.arg(target).arg(rows.to_string()).args(words);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program that was built with this test");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("its first line");
    assert_eq!(line, "begun\n");
    child
}

/// Returns the time of a whole run.
fn whole_run(words: &[&str]) -> Duration {
    let folder = Folder::new();
    let mut child = start(&folder.join("t.db"), ROWS, words);
    let begun = Instant::now();
    assert!(child.wait().expect("its end").success());
    assert_eq!(folder.names(), ["t.db"]);
    begun.elapsed()
}

/// Returns the number of rows in `target`, after verifying it.
fn rows(target: &Path) -> i64 {
    assert_verified(target, "a file that is there");
    integer(&Connection::open(target).expect("a database"), "SELECT count(*) FROM t")
}

/// Kills a run at ten moments from its beginning to shortly after its end.
fn kill_at_ten_moments(old: bool, words: &[&str]) {
    const OLD_ROWS: i64 = 10;
    let run = whole_run(words);
    let replace = |replace: bool| if replace { [words, &["replace"]].concat() } else { words.to_vec() };
    let mut unfinished = 0;
    for moment in 0..10 {
        let folder = Folder::new();
        let target = folder.join("t.db");
        if old {
            assert!(start(&target, OLD_ROWS, &[]).wait().expect("its end").success());
        }
        let mut child = start(&target, ROWS, &replace(old));
        std::thread::sleep(run * moment / 9);
        child.kill().expect("a process");
        child.wait().expect("its end");
        let left = folder.temporaries();
        assert!(left.len() <= 1, "{left:?}");
        if left.is_empty() {
            assert_eq!(rows(&target), ROWS, "there is no temporary file: the run had ended");
        } else {
            unfinished += 1;
            assert_eq!(target.exists(), old, "killed at {moment}/9");
            assert!(!old || rows(&target) == OLD_ROWS, "the old file is as it was");
        }
        let finished = left.is_empty();
        assert!(start(&target, 20, &replace(old || finished)).wait().expect("its end").success(), "the next run");
        assert_eq!(folder.names(), ["t.db"], "the next run cleans up");
        assert_eq!(rows(&target), 20);
    }
    assert!(unfinished >= 5, "{unfinished} of ten runs were killed before their end");
}

#[test]
fn killed_at_ten_moments_without_a_target() {
    kill_at_ten_moments(false, &[]);
}

#[test]
fn killed_at_ten_moments_with_an_old_target() {
    kill_at_ten_moments(true, &[]);
}

#[test]
fn killed_at_ten_moments_of_a_table_that_is_written_over() {
    kill_at_ten_moments(true, &["breaks"]);
}

/// Leaves the temporary file of a running process alone: of two runs for one name, one gets the name.
#[test]
fn a_run_that_is_alive_keeps_its_temporary_file() {
    let folder = Folder::new();
    let begin = || {
        let schema = Schema::from_sql("CREATE TABLE t(a)", "<killed>").expect("a table");
        let options = Route { threads: 1, into: Into::CachedFile }.options(PageSize::DEFAULT);
        Database::create(&folder.target("t.db"), schema, &options).expect("a beginning")
    };
    fs::write(folder.join(".t.db.litepress-00000000deadbeef.tmp"), "of a run that died").expect("a stale file");
    fs::write(folder.join(".other.db.litepress-00000000deadbeef.tmp"), "of another target").expect("another's file");
    fs::write(folder.join(".t.db.litepress-mine.tmp"), "of somebody").expect("a file that only looks like ours");
    let first = begin();
    let (second, kept) = (begin(), folder.temporaries());
    assert_eq!(kept.len(), 4, "two that are alive, another target's and somebody's: {kept:?}");
    let mut child = start(&folder.join("t.db"), 10, &[]);
    assert!(child.wait().expect("its end").success(), "another process gets the name");
    for late in [first, second] {
        let error = late.finish().expect_err("the name is taken");
        assert_eq!(error.kind(), ErrorKind::Target, "{error}");
    }
    assert_eq!(folder.names(), [".other.db.litepress-00000000deadbeef.tmp", ".t.db.litepress-mine.tmp", "t.db"]);
    assert_eq!(rows(&folder.join("t.db")), 10);
}
