//! Random databases, merged as SQLite would merge them.

use crate::{rows, text, texts};
use litepress::{Conflict, ErrorKind, MergeOptions, Options, merge};
use rusqlite::Connection;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Random numbers that a seed repeats (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Returns a literal of SQL.
    fn value(&mut self) -> String {
        match self.below(9) {
            0 => "NULL".to_owned(),
            1 => (self.below(20) as i64 - 10).to_string(),
            2 => (self.below(1 << 60) as i64).to_string(),
            3 => format!("{}.5", self.below(100)),
            4 => format!("{}.0", self.below(100)),
            5 => format!("x'{:02x}'", self.below(256)),
            6 => format!("'{}'", "long ".repeat(self.below(3000) as usize)),
            _ => format!("'té{}'", self.below(1000)),
        }
    }
}

/// A table of a random schema.
struct RandomTable {
    name: String,
    create: String,
    /// The columns that rows are given for.
    columns: Vec<String>,
    /// The key: its values must differ, so that most merges succeed.
    has_key: bool,
    /// Statements that later versions of the program ran on databases with rows.
    later: Vec<String>,
    indexes: Vec<String>,
}

fn random_table(random: &mut Random, number: usize) -> RandomTable {
    let name = ["t", "u u", "w"][number].to_owned();
    let kind = random.below(5);
    let key = match kind {
        0 => "k INTEGER PRIMARY KEY, ",
        1 => "k INTEGER PRIMARY KEY AUTOINCREMENT, ",
        2 => "k INT NOT NULL PRIMARY KEY, ",
        _ => "k, ",
    };
    let types = ["INTEGER", "TEXT", "REAL", "BLOB", "", "TEXT COLLATE NOCASE"];
    let mut columns = String::from(key);
    let more = 1 + random.below(4);
    let mut names = vec!["k".to_owned()];
    for column in 0..more {
        write!(columns, "c{column} {}, ", types[random.below(6) as usize]).unwrap();
        names.push(format!("c{column}"));
    }
    if random.chance(5) {
        columns += "s AS (length(c0)) STORED, ";
    }
    if random.chance(5) {
        columns += "v AS (typeof(c0)), ";
    }
    let columns = columns.trim_end_matches(", ");
    let without_rowid = if kind == 2 { " WITHOUT ROWID" } else { "" };
    let create = format!("CREATE TABLE \"{name}\" ({columns}){without_rowid}");
    let mut indexes = Vec::new();
    for index in 0..random.below(3) {
        let what = ["c0", "c0 DESC, k", "lower(c0)", "c0 COLLATE NOCASE", "k"][random.below(5) as usize];
        let partial = if random.chance(4) { " WHERE c0 > 5" } else { "" };
        indexes.push(format!("CREATE INDEX \"{name} {index}\" ON \"{name}\" ({what}){partial}"));
    }
    let later = match random.below(3) {
        0 => vec![format!("ALTER TABLE \"{name}\" ADD COLUMN late REAL NOT NULL DEFAULT 7")],
        1 => vec![
            format!("ALTER TABLE \"{name}\" ADD COLUMN late TEXT DEFAULT 'wörd'"),
            format!("ALTER TABLE \"{name}\" ADD COLUMN later"),
        ],
        _ => Vec::new(),
    };
    RandomTable { name, create, columns: names, has_key: kind < 3, later, indexes }
}

/// Makes a shard. Its connection stays open, so that a log is not checkpointed.
fn random_shard(random: &mut Random, path: &Path, number: u64, tables: &[RandomTable], overlaps: bool) -> Connection {
    let connection = Connection::open(path).unwrap();
    let page = 512 << random.below(4);
    let encoding = if random.chance(6) { "UTF-16le" } else { "UTF-8" };
    connection.execute_batch(&format!("PRAGMA page_size = {page}; PRAGMA encoding = '{encoding}'")).unwrap();
    if random.chance(3) {
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    }
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    for table in tables {
        connection.execute_batch(&table.create).unwrap();
        let rows = [0, 3, 70][random.below(3) as usize];
        let mut key = if overlaps { random.below(50) } else { number * 10_000 };
        let mut insert = |connection: &Connection, random: &mut Random| {
            key += 1 + random.below(3);
            let k = if table.has_key || random.chance(2) { key.to_string() } else { random.value() };
            let values: Vec<String> =
                table.columns.iter().map(|name| if name == "k" { k.clone() } else { random.value() }).collect();
            let sql =
                format!("INSERT INTO \"{}\" ({}) VALUES ({})", table.name, table.columns.join(","), values.join(","));
            connection.execute_batch(&sql).unwrap();
        };
        (0..rows).for_each(|_| insert(&connection, random));
        table.later.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
        (0..rows / 2).for_each(|_| insert(&connection, random));
        if random.chance(4) {
            connection.execute_batch(&format!("DELETE FROM \"{}\" WHERE length(quote(c0)) % 2", table.name)).unwrap();
        }
        table.indexes.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
    }
    connection.execute_batch("CREATE VIEW seen AS SELECT * FROM t; COMMIT").unwrap();
    connection
}

/// Merges by ATTACH and INSERT ... SELECT. Returns SQLite's error if it refuses a row.
fn merge_by_sqlite(shards: &[PathBuf], tables: &[RandomTable], conflict: Conflict) -> rusqlite::Result<Connection> {
    let merged = Connection::open_in_memory()?;
    for table in tables {
        let statements = std::iter::once(&table.create).chain(&table.later).chain(&table.indexes);
        statements.into_iter().try_for_each(|sql| merged.execute_batch(sql))?;
    }
    let verb = match conflict {
        Conflict::Abort => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Update => unreachable!("it makes no database"),
    };
    for shard in shards {
        // Copied, because the encoding of attached databases must be the same.
        let source = Connection::open(shard)?;
        for table in tables {
            let sql = format!(
                "SELECT group_concat('\"' || name || '\"') FROM pragma_table_xinfo('{}') WHERE hidden = 0",
                table.name
            );
            let columns: String = source.query_row(&sql, [], |row| row.get(0))?;
            let marks = vec!["?"; columns.split(',').count()].join(",");
            let mut insert = merged.prepare(&format!("{verb} INTO \"{}\" ({columns}) VALUES ({marks})", table.name))?;
            let mut rows = source.prepare(&format!("SELECT {columns} FROM \"{}\" NOT INDEXED", table.name))?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let values: Vec<rusqlite::types::Value> =
                    (0..columns.split(',').count()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
                insert.execute(rusqlite::params_from_iter(values))?;
            }
        }
    }
    Ok(merged)
}

/// Returns whether the databases could be merged.
fn random_merge(seed: u64) -> bool {
    let random = &mut Random(seed);
    let folder = TempDir::new().unwrap();
    let tables: Vec<RandomTable> =
        (0..1 + random.below(3) as usize).map(|number| random_table(random, number)).collect();
    let overlaps = random.chance(2);
    // More than stay open.
    let count = 1 + random.below(12);
    let paths: Vec<PathBuf> = (0..count).map(|number| folder.path().join(format!("{number:02}.db"))).collect();
    let open: Vec<Connection> =
        paths.iter().zip(0..).map(|(path, number)| random_shard(random, path, number, &tables, overlaps)).collect();
    let conflict = [Conflict::Abort, Conflict::Ignore, Conflict::Replace][random.below(3) as usize];
    let out = folder.path().join("out.db");
    let options =
        MergeOptions::default().build(Options::default().on_conflict(conflict).threads(1 + seed as usize % 3));
    let expected = merge_by_sqlite(&paths, &tables, conflict);
    let before: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let merged = merge(&*out, &paths, &options);
    let expected = match (expected, merged) {
        (Ok(expected), Ok(_)) => expected,
        (Err(_), Err(error)) => {
            assert!(error.kind() == ErrorKind::Constraint && !out.exists(), "seed {seed}: {error}");
            return false;
        }
        (expected, merged) => panic!("seed {seed}: {:?}, {:?}", expected.err(), merged.map(drop).err()),
    };
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok", "seed {seed}");
    for table in &tables {
        assert_eq!(rows(&merged, &table.name), rows(&expected, &table.name), "seed {seed}, table {}", table.name);
    }
    let sequences = "SELECT name || seq FROM sqlite_sequence ORDER BY 1";
    let has_sequence = tables.iter().any(|table| table.create.contains("AUTOINCREMENT"));
    if has_sequence && conflict == Conflict::Abort {
        // Deleted rows count in the shards, and not in their copy.
        let least = texts(&expected, sequences);
        assert!(texts(&merged, sequences).len() >= least.len(), "seed {seed}");
    }
    let objects = "SELECT count(*) || group_concat(name) FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'";
    assert_eq!(text(&merged, objects), text(&open[0], objects), "seed {seed}");
    for (path, before) in paths.iter().zip(before) {
        assert!(std::fs::read(path).unwrap() == before, "seed {seed}: a shard was changed");
    }
    true
}

#[test]
fn random_databases_are_merged_as_sqlite_would() {
    let merged = (0..50).map(random_merge).filter(|is_merged| *is_merged).count();
    assert!((20..50).contains(&merged), "{merged} of 50 were merged: the others have a key twice");
}
