//! Random databases: scans give what SQL gives, also while another connection writes.

use super::{Database, index_rows, root, select, table_rows};
use crate::Snapshot;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use std::sync::atomic::{AtomicBool, Ordering};

/// Numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

/// A table with random columns, and an index on one of them.
struct Layout {
    columns: usize,
    without_rowid: bool,
    page_size: u64,
    /// The column of the index `i`.
    indexed: u64,
}

impl Layout {
    /// Makes the table `t` in a database with random settings.
    fn create(random: &mut Random, connection: &Connection) -> Self {
        let page_size = 512 << random.below(8);
        let columns = usize::try_from(1 + random.below(6)).unwrap();
        let without_rowid = random.below(3) == 0;
        let key = random.one_of(if without_rowid { &["", "INT", "TEXT", "REAL"] } else { &["INTEGER", "INT", "ANY"] });
        let others = (1..columns).map(|column| {
            let declared = random.one_of(&["", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"]);
            format!(", c{column} {declared}")
        });
        let others: String = others.collect();
        let end = if without_rowid { "WITHOUT ROWID" } else { "" };
        let vacuum = random.below(3);
        let encoding = random.one_of(&["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"]);
        let mode = random.one_of(&["delete", "truncate", "persist", "wal", "wal", "wal"]);
        let indexed = random.below(columns as u64);
        let sql = format!(
            "PRAGMA page_size = {page_size}; PRAGMA auto_vacuum = {vacuum}; PRAGMA encoding = '{encoding}';
             PRAGMA journal_mode = {mode}; PRAGMA synchronous = off; PRAGMA wal_autocheckpoint = {};
             CREATE TABLE t (c0 {key} PRIMARY KEY {others}) {end};
             CREATE INDEX i ON t (c{indexed} DESC);",
            random.one_of(&[0, 3, 100]),
        );
        connection.execute_batch(&sql).unwrap();
        Self { columns, without_rowid, page_size, indexed }
    }

    /// Returns a random value as SQL writes it.
    fn value(&self, random: &mut Random) -> String {
        let longest = if random.below(20) == 0 { 5 * self.page_size } else { 60 };
        match random.below(7) {
            0 => "NULL".into(),
            1 => random.below(200).to_string(),
            2 => (random.below(u64::MAX).cast_signed() >> random.below(60)).to_string(),
            3 => format!("{}.25", random.below(1000)),
            4 => format!("printf('%.*c', {}, 'ö')", 1 + random.below(longest)),
            5 => format!("'text {}'", random.below(1 << 40)),
            _ => format!("randomblob({})", random.below(longest)),
        }
    }

    /// Returns a random statement that changes the database.
    fn change(&self, random: &mut Random) -> String {
        match random.below(20) {
            0..=8 => {
                let rows = 1 + random.below(40);
                let row = |random: &mut Random| {
                    let bits = random.one_of(&[8, 20, 52]);
                    let key = random.below(1 << bits);
                    let key = if random.below(4) == 0 { format!("-{key}") } else { key.to_string() };
                    let values: String = (1..self.columns).map(|_| ", ".to_owned() + &self.value(random)).collect();
                    format!("({key}{values})")
                };
                let rows: Vec<String> = (0..rows).map(|_| row(random)).collect();
                format!("INSERT OR IGNORE INTO t VALUES {}", rows.join(", "))
            }
            9..=12 => {
                let column = random.below(self.columns as u64).max(1);
                let (modulus, value) = (2 + random.below(9), self.value(random));
                if self.columns == 1 {
                    "SELECT 1".into()
                } else {
                    format!("UPDATE t SET c{column} = {value} WHERE c0 % {modulus} = 1")
                }
            }
            13..=15 => format!("DELETE FROM t WHERE c0 % {} = 0", 2 + random.below(6)),
            16 => format!("DELETE FROM t WHERE c0 > {}", random.below(1 << 30)),
            17 => random.one_of(&["VACUUM", "PRAGMA incremental_vacuum(5)", "REINDEX"]).into(),
            18 => "PRAGMA wal_checkpoint(PASSIVE)".into(),
            _ => "BEGIN; DELETE FROM t; ROLLBACK".into(),
        }
    }

    /// Checks that scans give what SQL gives on the same connection.
    fn check(&self, connection: &Connection) {
        let snapshot = Snapshot::begin(connection).unwrap();
        let (t, i) = (root(connection, "t"), root(connection, "i"));
        let table = match self.without_rowid {
            true => index_rows(&snapshot, t, "t").unwrap(),
            false => table_rows(&snapshot, t, "t").unwrap(),
        };
        let sql = if self.without_rowid { "SELECT * FROM t ORDER BY c0" } else { "SELECT rowid, * FROM t NOT INDEXED" };
        let expected = select(connection, sql);
        assert_same(&table, &expected);
        let entries = index_rows(&snapshot, i, "i").unwrap();
        if self.without_rowid {
            assert_eq!(entries.len(), expected.len());
        } else {
            let indexed = self.indexed;
            let sql = format!("SELECT c{indexed}, rowid FROM t NOT INDEXED ORDER BY c{indexed} DESC, rowid");
            assert_same(&entries, &select(connection, &sql));
        }
        drop(snapshot);
        connection.execute_batch("COMMIT").unwrap();
    }
}

/// Compares rows. In records, a whole number of a REAL column is an integer, and an INTEGER PRIMARY KEY is NULL.
fn assert_same(scanned: &[Vec<Stored>], selected: &[Vec<Stored>]) {
    assert_eq!(scanned.len(), selected.len());
    for (scanned, selected) in scanned.iter().zip(selected) {
        assert_eq!(scanned.len(), selected.len());
        for (at, values) in scanned.iter().zip(selected).enumerate() {
            let is_same = match values {
                #[expect(clippy::cast_precision_loss, reason = "such integers have 48 bits")]
                (Stored::Integer(int), Stored::Real(real)) => *int as f64 == *real,
                (Stored::Null, rowid) if at == 1 && *rowid == selected[0] => true,
                (scanned, selected) => scanned == selected,
            };
            assert!(is_same, "{values:?}");
        }
    }
}

fn compare(seed: u64) {
    let mut random = Random(seed | 1);
    let database = Database::new("");
    let writer = database.connect();
    let layout = Layout::create(&mut random, &writer);
    for _ in 0..4 {
        for _ in 0..random.below(8) {
            writer.execute_batch(&layout.change(&mut random)).unwrap();
        }
        layout.check(&database.connect());
        layout.check(&writer);
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (layout, is_done) = (&layout, &is_done);
        scope.spawn(move || {
            let mut changes = 0;
            while changes < 3 || !is_done.load(Ordering::Relaxed) {
                // In rollback mode a writer may wait for readers, and readers for it, until one gives up.
                if writer.execute_batch(&layout.change(&mut random)).is_err() {
                    let _ = writer.execute_batch("ROLLBACK");
                }
                changes += 1;
            }
        });
        let reader = database.connect();
        (0..5).for_each(|_| layout.check(&reader));
        is_done.store(true, Ordering::Relaxed);
    });
    layout.check(&database.connect());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn scans_give_what_sql_gives(seed: u64) {
        compare(seed);
    }
}
