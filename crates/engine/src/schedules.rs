//! Thousands of schedules of the threads, chosen by the crate shuttle: no order of their steps loses a part, ends in a deadlock, or
//! shows in the file. `make schedules` runs these tests; without `--cfg shuttle` they are not compiled.

use crate::sink::block::BlockPool;
use crate::sink::writers::Writers;
use crate::sink::{MemorySink, Sink};
use crate::sort::{SortOptions, Sorter};
use crate::threads::{ReorderBuffer, Turns, on_threads};
use crate::{Database, Error, ErrorKind, Options, Progress, Result, Schema, Target};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use rusqlite::{Connection, MAIN_DB};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 4;

/// Runs a scenario under schedules: each step by a thread chosen at random, and a few threads that overtake all others.
fn try_schedules(schedules: usize, scenario: impl Fn() + Send + Sync + Clone + 'static) {
    let share = std::env::var("LITEPRESS_SCHEDULES").map_or(1, |times| times.parse().expect("a number of times"));
    let mut config = Config::new();
    // SQLite runs on these stacks, too.
    config.stack_size = 1 << 20;
    config.max_steps = MaxSteps::FailAfter(10_000_000);
    Runner::new(RandomScheduler::new(schedules * share), config.clone()).run(scenario.clone());
    Runner::new(PctScheduler::new(3, schedules * share), config).run(scenario);
}

/// Rows `(id, a, b)`. Two rows make a part, so that there are many parts.
struct Rows {
    rows: i64,
    /// The rowids come in order.
    in_order: bool,
    next: Mutex<i64>,
}

struct TwoRows {
    rows: std::ops::Range<i64>,
    of: i64,
    in_order: bool,
}

impl Source for Rows {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut next = lock(&self.next);
        let rows = *next..self.rows.min(*next + 2);
        *next = rows.end;
        let part = TwoRows { rows: rows.clone(), of: self.rows, in_order: self.in_order };
        Ok((!rows.is_empty()).then(|| Box::new(part) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.unsigned_abs())
    }

    fn page_bytes(&self) -> f64 {
        100.0
    }
}

impl Part for TwoRows {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        // A chunk has one row, and is a piece of the part.
        if let Some(row) = self.rows.next() {
            let id = if self.in_order { row } else { (row * 7) % self.of } + 1;
            let text = format!("word{} and word{}", id % 5, id % 3);
            let mut record = Vec::new();
            let values = [Value::Null, Value::Int(id % 4), Value::Text(text.as_bytes())];
            write_record(&values, &mut record);
            chunk.push(id, &record);
        }
        Ok(())
    }
}

/// Builds a database of 20 rows in memory.
fn build(sql: &str, threads: usize, in_order: bool) -> Vec<u8> {
    let schema = Schema::from_sql(sql, "<test>").expect("a schema");
    let options = Options::default().threads(threads).memory_bytes(64 << 20).analyze(true);
    let mut database = Database::create(&Target::Memory, schema, &options).expect("a database");
    database.fill(0, &Rows { rows: 20, in_order, next: Mutex::new(0) }).expect("rows");
    database.finish().expect("a whole database").bytes.expect("its bytes")
}

/// Databases are the same bytes in every schedule, and SQLite finds them whole.
#[test]
fn databases_do_not_depend_on_the_schedule() {
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT);";
    for (more, in_order) in [
        ("CREATE INDEX i ON t (b, a); CREATE INDEX j ON t (a);", true),
        ("CREATE UNIQUE INDEX i ON t (b, id);", false),
        ("CREATE INDEX i ON t (lower(b)) WHERE a > 1;", true),
        ("CREATE VIRTUAL TABLE found USING fts5(b, content='t', content_rowid='id');", true),
    ] {
        let sql = format!("{table} {more}");
        // It outlives a schedule, so no schedule has it.
        let expected = Arc::new(std::sync::Mutex::new(None));
        try_schedules(30, move || {
            let bytes = build(&sql, THREADS, in_order);
            let mut expected = ignore_poison(expected.lock());
            let expected = expected.get_or_insert_with(|| {
                let mut sqlite = Connection::open_in_memory().expect("SQLite");
                sqlite.deserialize_read_exact(MAIN_DB, &bytes[..], bytes.len(), false).expect("a database");
                let verdict: String =
                    sqlite.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
                assert_eq!(verdict, "ok");
                build(&sql, 1, in_order)
            });
            assert!(bytes == *expected, "the schedule shows in the file");
        });
    }
}

/// Sorted runs spill, read ahead and merge as one thread would do it.
#[test]
fn sorts_do_not_depend_on_the_schedule() {
    try_schedules(20, || {
        let folder = tempfile::tempdir().expect("a folder");
        let options = SortOptions { memory_bytes: 1 << 20, temp_dir: folder.path().to_owned(), writers: THREADS };
        let (sorter, next) = (Sorter::new(options), AtomicU64::new(0));
        let item = |number: u64| [(number * 7919 % 6000).to_be_bytes().as_slice(), &[0; 200]].concat();
        on_threads(THREADS, || {
            let mut writer = sorter.writer();
            loop {
                let first = next.fetch_add(100, Ordering::Relaxed);
                if first >= 6000 {
                    break;
                }
                (first..first + 100).for_each(|number| writer.push(&item(number)).expect("room"));
                shuttle::thread::yield_now();
            }
            writer.finish().expect("a run");
        });
        let sorted = sorter.finish().expect("sorted items");
        let mut items = sorted.range(0..6000).expect("all items");
        for number in 0..6000_u64 {
            assert_eq!(
                items.next().expect("an item").map(|item| item[..8].to_vec()),
                Some(number.to_be_bytes().to_vec())
            );
        }
        assert!(items.next().expect("the end").is_none());
    });
}

/// A sink whose n-th write fails.
struct FailingSink {
    left: AtomicU64,
    sink: MemorySink,
}

impl Sink for FailingSink {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        if left == 0 { Err(io::ErrorKind::StorageFull.into()) } else { self.sink.write_at(bytes, offset) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.sink.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Blocks of a bounded pool go through the reorder buffer to threads that write them, or a write fails: every builder and writer ends,
/// and the error is told.
#[test]
fn blocks_are_written_or_their_failure_is_told() {
    const PARTS: u64 = 12;
    for failing in [PARTS, 3] {
        try_schedules(200, move || {
            let pool = BlockPool::new(2);
            let sink = Box::new(FailingSink { left: AtomicU64::new(failing), sink: MemorySink::default() });
            let mut writers = Writers::new(sink, "<memory>".into(), 2, Arc::new(Progress::default()));
            let (parts, next) = (Mutex::new(ReorderBuffer::new()), Mutex::new(0));
            on_threads(THREADS, || {
                while !lock(&parts).has_failed() {
                    pool.wait_for_room();
                    let number = {
                        let mut next = lock(&next);
                        *next += 1;
                        *next - 1
                    };
                    if number >= PARTS {
                        return;
                    }
                    let mut block = pool.take();
                    block.bytes_mut()[0] = u8::try_from(number).expect("few parts");
                    lock(&parts).insert(number, (number, block), |(number, block)| {
                        assert_eq!(u64::from(block.bytes()[0]), number, "a block has one user");
                        let piece = (0..1, number);
                        writers.submit(block, vec![piece])
                    });
                }
            });
            let placed = ignore_poison(parts.into_inner()).finish();
            let written = placed.and_then(|()| writers.finish(PARTS));
            assert_eq!(written.is_ok(), failing >= PARTS, "{written:?}");
        });
    }
}

/// The parts of turns are placed in order; a failed turn ends the others, and the earliest failure is told.
#[test]
fn turns_come_in_order_or_fail() {
    for failing in [u64::MAX, 4] {
        try_schedules(500, move || {
            let placed = Arc::new(Mutex::new(Vec::new()));
            let (next, to) = (AtomicU64::new(0), placed.clone());
            let turns = Turns::new(move |part: (u64, u64)| {
                lock(&to).push(part);
                Ok(())
            });
            on_threads(THREADS, || {
                while !turns.has_failed() {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= 8 {
                        return;
                    }
                    if turn >= failing {
                        return turns.fail(turn, Error::new(ErrorKind::Data, format!("turn {turn}")));
                    }
                    assert!((0..turn % 3).all(|part| turns.add(turn, (turn, part))));
                    turns.end(turn, (turn, turn % 3));
                }
            });
            let result = turns.finish();
            let expected = (0..failing.min(8)).flat_map(|turn| (0..=turn % 3).map(move |part| (turn, part)));
            assert_eq!(*lock(&placed), expected.collect::<Vec<_>>());
            assert_eq!(
                result.err().map(|error| error.message().to_owned()),
                (failing < 8).then(|| "turn 4".to_owned())
            );
        });
    }
}
