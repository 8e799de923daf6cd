//! kill -9 at any moment of everything that changes a database that exists: all or nothing of it is there, others notice nothing,
//! and the next run works. `make crash` does this a thousand times and more.

use crate::{LITEPRESS, Room};
use litepress_crashlab::content::{Content, check, content, content_of};
use litepress_crashlab::kill::{Killed, Moment, Moments, listing, run_until};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const APP: &str = "
    CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT, area INTEGER, note TEXT COLLATE NOCASE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO event SELECT 2 * i, date('2024-01-01', (i % 300) || ' days'), i % 17, 'Note ' || i FROM n;
    CREATE INDEX event_day ON event (day);
    CREATE TABLE audited (id INTEGER PRIMARY KEY, v REAL); CREATE TABLE log (line TEXT);
    CREATE TRIGGER logged AFTER INSERT ON audited BEGIN INSERT INTO log VALUES ('added ' || new.id); END;
    CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE, price INTEGER);
    INSERT INTO item SELECT id, 'code ' || id, area FROM event LIMIT 3000;
    CREATE TABLE side (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT day FROM event;
    CREATE TABLE filler (x); INSERT INTO filler SELECT zeroblob(900) FROM event LIMIT 300; DELETE FROM filler;";

/// A command that changes a database.
struct Operation {
    name: &'static str,
    arguments: &'static [&'static str],
    /// The route of an append.
    route: Option<&'static str>,
    change: Change,
}

/// The kind of change that a command makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It changes `app.db` in one transaction.
    Live,
    /// It replaces `app.db`.
    Replace,
    /// It makes `out.db`.
    Copy,
}

const fn live(name: &'static str, route: &'static str, arguments: &'static [&'static str]) -> Operation {
    Operation { name, arguments, route: Some(route), change: Change::Live }
}

const fn other(name: &'static str, change: Change, arguments: &'static [&'static str]) -> Operation {
    Operation { name, arguments, route: None, change }
}

const INDEXES: [&str; 2] = ["CREATE INDEX area ON event (area, day)", "CREATE UNIQUE INDEX n ON event (note, id)"];

const OBJECTS: &str = "
    CREATE TABLE mail (id INTEGER PRIMARY KEY, subject TEXT, size INT CHECK (size >= 0), twice INT AS (size * 2) STORED);
    CREATE INDEX subjects ON mail (lower(subject)); CREATE INDEX large ON mail (size) WHERE size > 400;
    CREATE VIRTUAL TABLE found USING fts5(subject, content='mail', content_rowid='id');
    CREATE VIRTUAL TABLE place USING rtree(id, left, right, low, high);";

const OPERATIONS: [Operation; 14] = [
    live("append, edge", "edge", &["load", "app.db", "../edge.csv", "--append", "--table", "event"]),
    live("append, rebuild", "rebuild", &["load", "app.db", "../between.csv", "--append", "--table", "event"]),
    live(
        "upsert, rebuild",
        "rebuild",
        &["load", "app.db", "../upsert.csv", "--append", "--table", "event", "--on-conflict", "update"],
    ),
    live(
        "append through the WAL",
        "edge",
        &["load", "app.db", "../edge.csv", "--append", "--table", "event", "--through-wal"],
    ),
    live("append, sql", "sql", &["load", "app.db", "../audited.csv", "--append", "--table", "audited"]),
    live(
        "upsert, sql",
        "sql",
        &["load", "app.db", "../item.csv", "--append", "--table", "item", "--on-conflict", "update", "--key", "code"],
    ),
    live("truncate", "sql", &["load", "app.db", "../item.csv", "--append", "--table", "item", "--truncate"]),
    other("index", Change::Live, &["index", "app.db", INDEXES[0], INDEXES[1]]),
    other(
        "index, evaluated",
        Change::Live,
        &["index", "app.db", "CREATE INDEX lowered ON event (lower(note), area) WHERE area > 3"],
    ),
    other("reindex", Change::Live, &["reindex", "app.db"]),
    other("compact in place", Change::Replace, &["compact", "app.db"]),
    other("compact to a copy", Change::Copy, &["compact", "app.db", "out.db", "--page-size", "1024"]),
    other("merge", Change::Copy, &["merge", "out.db", "../a.db", "../b.db", "--rowids", "renumber"]),
    other(
        "every object",
        Change::Copy,
        &["load", "out.db", "../mail.csv", "../place.csv", "--schema", "../objects.sql"],
    ),
];

/// A folder with a database, and with files that are loaded into it. Runs happen in its folder `work`.
struct Scene {
    room: Room,
    mode: &'static str,
}

/// A database as SQLite sees it, or `None` if there is no file. The text has the root pages, if content does not tell the change.
type Picture = Option<(Content, String)>;

impl Scene {
    fn new(mode: &'static str) -> Self {
        let room = Room::new();
        room.sqlite("app.db").execute_batch(&format!("PRAGMA journal_mode = {mode}; {APP}")).expect("a database");
        for shard in ["a.db", "b.db"] {
            let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE INDEX i ON t (x);
                       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                       INSERT INTO t SELECT i, 'text ' || i % 700 FROM n";
            room.sqlite(shard).execute_batch(sql).expect("a shard");
        }
        let csv = |name: &str, head: &str, row: &dyn Fn(u32) -> String, rows: u32| {
            let text = (0..rows).fold(format!("{head}\n"), |mut text, number| {
                writeln!(text, "{}", row(number)).expect("room for a row");
                text
            });
            room.write(name, text);
        };
        let event = "id,day,area,note";
        csv("edge.csv", event, &|n| format!("{},2025-01-{:02},{},New {n}", 50_000 + n, n % 28, n % 9), 21_000);
        csv("between.csv", event, &|n| format!("{},2025-02-{:02},{},New {n}", 2 * n + 1, n % 28, n % 9), 21_000);
        csv("upsert.csv", event, &|n| format!("{},2025-03-{:02},{},New {n}", 3 * n, n % 28, n % 9), 21_000);
        csv("audited.csv", "v", &|n| format!("{n}.5"), 4_000);
        csv("item.csv", "code,price", &|n| format!("code {},{}", 3 * n, 500 + n), 3_000);
        csv("mail.csv", "id,subject,size", &|n| format!("{n},word{} and Word{},{}", n % 997, n % 31, n % 900), 20_000);
        csv("place.csv", "id,left,right,low,high", &|n| format!("{n},{0},{0}.5,{1},{1}", n % 360, n % 179), 10_000);
        room.write("objects.sql", OBJECTS);
        Self { room, mode }
    }

    fn work(&self, name: &str) -> PathBuf {
        self.room.path("work").join(name)
    }

    /// Makes the folder `work` with a copy of the database, into which a program of this journal mode has written. Returns its
    /// connection if others may have the database open.
    fn begin(&self, operation: &Operation) -> Option<Connection> {
        let _ = fs::remove_dir_all(self.work(""));
        fs::create_dir(self.work("")).expect("a folder");
        fs::copy(self.room.path("app.db"), self.work("app.db")).expect("a copy");
        let program = Connection::open(self.work("app.db")).expect("a database");
        let sql = "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; INSERT INTO side DEFAULT VALUES";
        program.execute_batch(&format!("PRAGMA journal_mode = {}; {sql}", self.mode)).expect("a row");
        (operation.change == Change::Live).then_some(program)
    }

    fn command(&self, operation: &Operation) -> Command {
        let mut command = Command::new(LITEPRESS);
        command.args(operation.arguments).args(["--quiet", "--threads", "2"]).current_dir(self.work(""));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Looks at the database that the operation changes, by a connection of its own.
    fn picture(&self, operation: &Operation) -> Picture {
        let path = self.work(if operation.change == Change::Copy { "out.db" } else { "app.db" });
        if !path.exists() {
            return None;
        }
        let content = content(&path).unwrap_or_else(|error| panic!("{}, {}: {error}", operation.name, self.mode));
        let has_pages = operation.change == Change::Replace || operation.arguments[0] == "reindex";
        let pages = "SELECT group_concat(name || rootpage) || ' ' || (SELECT freelist_count FROM pragma_freelist_count)
                     FROM (SELECT * FROM sqlite_schema WHERE rootpage > 0 ORDER BY name)";
        let read = || Connection::open(&path)?.query_row(pages, [], |row| row.get(0));
        let pages = if has_pages { read().expect("root pages") } else { String::new() };
        Some((content, pages))
    }

    /// Runs the operation to its end. Returns the run, and the database before and after it.
    fn whole_run(&self, operation: &Operation) -> (Killed, Picture, Picture) {
        let program = self.begin(operation);
        let before = self.picture(operation);
        // As in the runs that are killed: beside an old reader, other pages are taken.
        self.begin_reading(program.as_ref());
        let run = run_until(&mut self.command(operation), &self.work(""), Moment::Never).expect("the program");
        assert!(run.ended.is_some_and(|status| status.success()), "{}, {}: {run:?}", operation.name, self.mode);
        drop(program);
        let after = self.picture(operation);
        assert_ne!(before, after, "{} changes something", operation.name);
        (run, before, after)
    }

    /// Begins a snapshot of the program in WAL mode. Returns its content.
    fn begin_reading(&self, program: Option<&Connection>) -> Option<Content> {
        program.filter(|_| self.mode == "wal").map(|program| {
            program.execute_batch("BEGIN").expect("a transaction");
            content_of(program).expect("its content")
        })
    }

    /// Returns the route of an append, as its report tells it.
    fn route(&self, operation: &Operation) -> String {
        let program = self.begin(operation);
        let told = Command::new(LITEPRESS).args(operation.arguments).arg("--json").current_dir(self.work("")).output();
        drop(program);
        let report = crate::json(&String::from_utf8_lossy(&told.expect("the program").stdout));
        report["append"]["tables"][0]["route"].as_str().expect("a route").to_owned()
    }
}

/// Number of runs that were killed, by the moment.
#[derive(Debug, Default)]
struct Landed {
    /// Nothing on the disk had changed.
    before: u64,
    /// Files had changed, but not the database.
    during: u64,
    /// The database had changed.
    after: u64,
    /// The program had ended.
    ended: u64,
}

/// Kills one run and looks at what it left.
fn kill(scene: &Scene, operation: &Operation, moment: Moment, expected: &(Picture, Picture), landed: &mut Landed) {
    let what = || format!("{}, {}, killed at {moment:?}", operation.name, scene.mode);
    let (before, after) = expected;
    let program = scene.begin(operation);
    let snapshot = scene.begin_reading(program.as_ref());
    let files = listing(&scene.work("")).expect("a folder");
    let readers = Readers::new(&scene.work("app.db"), expected, program.is_some());
    let run = run_until(&mut scene.command(operation), &scene.work(""), moment).expect("the program");
    let left = listing(&scene.work("")).expect("a folder");
    let reads = readers.end();
    assert!(run.ended.is_none_or(|status| status.success()), "{}: {run:?}", what());
    assert!(reads > 0 || program.is_none(), "{}: nobody has read", what());
    if let (Some(seen), Some(program)) = (snapshot, &program) {
        assert_eq!(content_of(program), Ok(seen), "{}: a reader's snapshot has changed", what());
        program.execute_batch("COMMIT").expect("the end of its transaction");
    }
    let picture = scene.picture(operation);
    let contents = |picture: &Picture| picture.as_ref().map(|(content, _)| *content);
    let is_whole = [before, after].map(contents).contains(&contents(&picture));
    assert!(is_whole, "{}: neither before nor after", what());
    assert!(picture == *before || picture == *after, "{}: other pages than before or after: {picture:?}", what());
    match run.ended {
        Some(_) => landed.ended += 1,
        None if picture == *after => landed.after += 1,
        None if files == left => landed.before += 1,
        None => landed.during += 1,
    }
    assert!(run.ended.is_none() || picture == *after, "{}: it had ended, but the change is not there", what());
    if picture == *before {
        let run = run_until(&mut scene.command(operation), &scene.work(""), Moment::Never).expect("the program");
        assert!(run.ended.is_some_and(|status| status.success()), "{}: the next run fails", what());
        // Its pages depend on what the killed run has copied out of the WAL.
        let picture = scene.picture(operation);
        assert_eq!(contents(&picture), contents(after), "{}: the next run", what());
        assert_ne!(picture, *before, "{}: the next run changes something", what());
    }
    drop(program);
    let writer = Connection::open(scene.work("app.db")).expect("a database");
    writer.execute_batch("INSERT INTO side DEFAULT VALUES").unwrap_or_else(|error| panic!("{}: {error}", what()));
    check(&writer).unwrap_or_else(|error| panic!("{}: after a write: {error}", what()));
    drop(writer);
    let names: Vec<String> = listing(&scene.work("")).expect("a folder").into_iter().map(|(name, _)| name).collect();
    let copy = if operation.change == Change::Copy { &["app.db", "out.db"][..] } else { &["app.db"] };
    assert_eq!(names, copy, "{}: files are left behind", what());
}

/// A thread that reads the database again and again: it sees all or nothing.
struct Readers {
    stop: std::sync::Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
    reads: std::sync::Arc<AtomicU64>,
}

impl Readers {
    fn new(path: &Path, expected: &(Picture, Picture), is_allowed: bool) -> Self {
        let (stop, reads) = (std::sync::Arc::new(AtomicBool::new(!is_allowed)), std::sync::Arc::new(AtomicU64::new(0)));
        let contents = [&expected.0, &expected.1].map(|picture| picture.as_ref().map(|it| it.0));
        let (path, is_over, counter) = (path.to_owned(), stop.clone(), reads.clone());
        let thread = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let reader = Connection::open(&path).expect("a database");
                reader.busy_timeout(Duration::from_secs(20)).expect("a timeout");
                reader.execute_batch("BEGIN").expect("a transaction");
                let seen = content_of(&reader).expect("a reader is not locked out for long");
                assert!(contents.contains(&Some(seen)), "a reader sees neither before nor after");
                drop(reader);
                counter.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(15));
            }
        });
        Self { stop, thread, reads }
    }

    /// Returns the number of reads.
    fn end(self) -> u64 {
        while self.reads.load(Ordering::Relaxed) == 0 && !self.stop.load(Ordering::Relaxed) {
            if self.thread.is_finished() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a reader that fails at nothing");
        self.reads.load(Ordering::Relaxed)
    }
}

/// Number of kills of each operation, for a share of all in percent: one in the suite, as many as `LITEPRESS_KILLS` asks for in
/// `make crash`.
fn kills(percent: u64) -> u64 {
    let all: Option<u64> = std::env::var("LITEPRESS_KILLS").ok().and_then(|kills| kills.parse().ok());
    all.map_or(1, |all| (all * percent).div_ceil(100 * OPERATIONS.len() as u64))
}

/// Kills all operations in a journal mode.
fn kill_all(mode: &'static str, percent: u64) {
    let scene = Scene::new(mode);
    let mut table = BTreeMap::new();
    for (number, operation) in OPERATIONS.iter().enumerate() {
        if let Some(route) = operation.route {
            assert_eq!(scene.route(operation), route, "{}", operation.name);
        }
        let (whole, before, after) = scene.whole_run(operation);
        let (expected, mut landed) = ((before, after), Landed::default());
        let seed = number as u64 + mode.len() as u64 * 100;
        // Runs that end before their moment do not count, but there are no more than as many again.
        for (tried, moment) in (1..).zip(Moments::new(&whole, seed)) {
            kill(&scene, operation, moment, &expected, &mut landed);
            if tried - landed.ended >= kills(percent) || tried >= 3 * kills(percent) {
                break;
            }
        }
        println!("{mode:8} {:24} {:4} ms, {landed:?}", operation.name, whole.lived.as_millis());
        table.insert(operation.name, landed);
    }
    let sum = |count: fn(&Landed) -> u64| table.values().map(count).sum::<u64>();
    let (during, after) = (sum(|it| it.during), sum(|it| it.after));
    println!("{mode}: before {}, during {during}, after {after}, ended {}", sum(|it| it.before), sum(|it| it.ended));
    if kills(percent) > 10 {
        assert!(during > 20 && after > 5, "kills must hit the windows that matter: {table:?}");
    }
}

#[test]
fn killed_at_any_moment_in_wal_mode() {
    kill_all("wal", 40);
}

#[test]
fn killed_at_any_moment_in_delete_mode() {
    kill_all("delete", 40);
}

/// Programs with other journal modes leave their journals beside the database.
#[test]
fn killed_at_any_moment_beside_other_journals() {
    if std::env::var_os("LITEPRESS_KILLS").is_some() {
        kill_all("persist", 10);
        kill_all("truncate", 10);
    }
}
