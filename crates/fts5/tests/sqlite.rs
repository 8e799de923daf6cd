//! Segments that are merged here against those that SQLite writes of all rows at once.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress_fts5::{
    AVERAGES_ID, Averages, DEFAULT_LEAF_BYTES, RunReader, RunWriter, STRUCTURE_ID, SegmentDecoder, SegmentSink,
    SegmentWriter, Structure, doclist_index_id, leaf_id, merge,
};
use proptest::prelude::*;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io;

/// Rows of `%_data` and of `%_idx`.
#[derive(Debug, Default, PartialEq)]
struct Index {
    data: BTreeMap<i64, Vec<u8>>,
    splits: Vec<(i64, Vec<u8>, i64)>,
}

impl SegmentSink for &mut Index {
    type Error = io::Error;

    fn leaf(&mut self, page: u32, bytes: &[u8]) -> io::Result<()> {
        assert!(self.data.insert(leaf_id(1, page), bytes.to_vec()).is_none());
        Ok(())
    }

    fn doclist_index(&mut self, height: u32, page: u32, bytes: &[u8]) -> io::Result<()> {
        assert!(self.data.insert(doclist_index_id(1, height, page), bytes.to_vec()).is_none());
        Ok(())
    }

    fn index_row(&mut self, term: &[u8], page: u32, has_doclist_index: bool) -> io::Result<()> {
        self.splits.push((1, term.to_vec(), i64::from(page) << 1 | i64::from(has_doclist_index)));
        Ok(())
    }
}

/// A table, and how its segments are made.
#[derive(Clone, Debug)]
struct Case {
    columns: &'static str,
    options: String,
    leaf_bytes: usize,
    workers: usize,
    /// Number of rows that a worker takes at once.
    rows_per_part: usize,
}

impl Case {
    fn new(columns: &'static str, options: &str) -> Self {
        Self { columns, options: options.to_owned(), leaf_bytes: DEFAULT_LEAF_BYTES, workers: 3, rows_per_part: 7 }
    }

    fn has_positions(&self) -> bool {
        !self.options.contains("detail=none")
    }

    /// Makes the table in a database of its own, without merges.
    fn open(&self) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        let Self { columns, options, leaf_bytes, .. } = self;
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE t USING fts5({columns}{options});
             INSERT INTO t(t, rank) VALUES('hashsize', 1000000000), ('pgsz', {leaf_bytes});"
        ))
        .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        db
    }

    /// Indexes rows with SQLite.
    fn index<'r>(&self, db: &Connection, rows: impl Iterator<Item = (usize, &'r Vec<String>)>) {
        db.execute_batch("BEGIN").unwrap();
        let names: Vec<&str> = self.columns.split(',').map(|name| name.split_whitespace().next().unwrap()).collect();
        let marks = vec!["?"; names.len()].join(",");
        let mut insert = db.prepare(&format!("INSERT INTO t(rowid, {}) VALUES (?, {marks})", names.join(","))).unwrap();
        for (number, row) in rows {
            insert.raw_bind_parameter(1, rowid_of(number)).unwrap();
            (2..).zip(row).for_each(|(at, text)| insert.raw_bind_parameter(at, text).unwrap());
            insert.raw_execute().unwrap();
        }
        drop(insert);
        db.execute_batch("COMMIT").unwrap();
    }

    /// Returns what SQLite makes of all rows.
    fn expected(&self, rows: &[Vec<String>]) -> (Index, Connection) {
        let db = self.open();
        self.index(&db, rows.iter().enumerate());
        db.execute_batch("INSERT INTO t(t) VALUES('optimize')").unwrap();
        (read(&db), db)
    }

    /// Returns what the merge makes of the rows.
    fn merged(&self, rows: &[Vec<String>]) -> Index {
        let (mut runs, mut averages) = (Vec::new(), Averages::default());
        for worker in 0..self.workers {
            let db = self.open();
            let is_own = |number: usize| number / self.rows_per_part % self.workers == worker;
            self.index(&db, rows.iter().enumerate().filter(|(number, _)| is_own(*number)));
            let index = read(&db);
            averages.add(&Averages::decode(&index.data[&AVERAGES_ID]).unwrap());
            let (mut decoder, mut run) = (SegmentDecoder::new(self.has_positions()), RunWriter::default());
            let leaves = index.data.range(leaf_id(1, 1)..leaf_id(1, 1) | 1 << 36);
            leaves.for_each(|(_, leaf)| decoder.add(leaf, |term, doclist| run.push(term, doclist)).unwrap());
            decoder.finish(|term, doclist| run.push(term, doclist));
            let bytes = std::mem::take(run.bytes());
            runs.push(RunReader::new(io::Cursor::new(bytes), self.has_positions()));
        }
        let mut index = Index::default();
        let mut writer = SegmentWriter::new(&mut index, self.leaf_bytes, self.has_positions());
        merge(runs, &mut writer).unwrap();
        let (_, summary) = writer.finish().unwrap();
        let entries = self.options.contains("contentless_delete=1").then_some(rows.len() as u64);
        let mut structure = Structure::one_segment(summary.leaves, entries);
        if summary.leaves == 0 {
            structure = Structure::decode(&read(&self.open()).data[&STRUCTURE_ID]).unwrap();
        }
        // Two settings were changed.
        structure.cookie = 2;
        index.data.insert(AVERAGES_ID, averages.encode());
        index.data.insert(STRUCTURE_ID, structure.encode());
        index
    }

    /// Compares both, and has SQLite check the merged index.
    fn check(&self, rows: &[Vec<String>]) {
        let (expected, db) = self.expected(rows);
        let merged = self.merged(rows);
        assert_eq!(Structure::decode(&merged.data[&STRUCTURE_ID]).unwrap().encode(), merged.data[&STRUCTURE_ID]);
        for (id, block) in &expected.data {
            assert!(merged.data.get(id) == Some(block), "{self:?}: row {id:x} of %_data differs");
        }
        assert_eq!((merged.data.len(), &merged.splits), (expected.data.len(), &expected.splits), "{self:?}");
        db.execute_batch("INSERT INTO t(t) VALUES('integrity-check')").unwrap();
    }
}

/// Rowids with gaps of every length of a varint, from negative ones on.
fn rowid_of(number: usize) -> i64 {
    let number = i64::try_from(number).unwrap();
    number * number * number - 200
}

fn read(db: &Connection) -> Index {
    let mut data = db.prepare("SELECT id, block FROM t_data").unwrap();
    let mut splits = db.prepare("SELECT segid, term, pgno FROM t_idx ORDER BY segid, term").unwrap();
    Index {
        data: data.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect(),
        splits: splits
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect(),
    }
}

/// Makes rows of words: a few are in every row, most are rare, some are long or not ASCII.
fn rows(count: usize, columns: usize, words: usize, mut seed: u64) -> Vec<Vec<String>> {
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut text = |words: usize| {
        let mut out = String::new();
        for _ in 0..words {
            let word = match random(20) {
                0 => "the".to_owned(),
                1 => format!("Straße{}", random(50)),
                2 => "running runs".to_owned(),
                3..=9 => format!("word{}", random(40)),
                10 => "x".repeat(usize::try_from(random(60)).unwrap()),
                _ => format!("{:x}", random(200_000).pow(2)),
            };
            out.push_str(&word);
            out.push(' ');
        }
        out
    };
    (0..count).map(|number| (0..columns).map(|_| text(words * (number % 5) / 3)).collect()).collect()
}

#[test]
fn every_option_gives_the_segment_of_sqlite() {
    for tokenizer in ["unicode61", "unicode61 remove_diacritics 2", "ascii", "porter", "trigram", "porter ascii"] {
        for detail in ["full", "column", "none"] {
            let options = format!(", tokenize='{tokenizer}', detail={detail}");
            Case::new("a, b", &options).check(&rows(300, 2, 40, 1));
        }
    }
    for options in [
        "",
        ", prefix='2 3'",
        ", prefix=1, detail=none",
        ", columnsize=0",
        ", content=''",
        ", content='', columnsize=0",
        ", content='', contentless_delete=1",
        ", content='', contentless_unindexed=1",
        ", content=texts, content_rowid=id",
        ", locale=1",
        ", tokendata=1",
    ] {
        Case::new("a, b UNINDEXED, c", options).check(&rows(200, 3, 60, 2));
    }
    Case::new("a", "").check(&vec![vec![String::new()]; 5]);
}

#[test]
fn leaves_of_any_size_and_long_doclists() {
    let few_words: Vec<Vec<String>> =
        (0..3000).map(|row| vec![["the cat", "the", "a the b"][row % 3].to_owned()]).collect();
    let mut one_long = few_words.clone();
    one_long[1500] = vec!["the ".repeat(20_000)];
    for leaf_bytes in [32, 33, 50, 64, 100, 1000, 4050, 65_000] {
        for options in ["", ", detail=column", ", detail=none", ", prefix=1"] {
            for rows in [&few_words, &one_long, &rows(100, 1, 40, 3)] {
                Case { leaf_bytes, ..Case::new("a", options) }.check(rows);
            }
        }
    }
}

#[test]
fn a_doclist_index_of_three_levels() {
    let rows: Vec<Vec<String>> = vec![vec!["the".to_owned()]; 40_000];
    let case = Case { leaf_bytes: 40, rows_per_part: 1000, ..Case::new("a", "") };
    case.check(&rows);
    let height = |id: &i64| id >> 31 & 0x1f;
    let heights = case.merged(&rows).data.keys().filter(|id| *id >> 36 & 1 == 1).map(height).max();
    assert!(heights >= Some(2), "{heights:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_tables(
        seed in any::<u64>(),
        count in 1_usize..400,
        words in 1_usize..80,
        leaf_bytes in prop_oneof![32_usize..200, 200_usize..5000],
        workers in 1_usize..6,
        rows_per_part in 1_usize..100,
        detail in prop::sample::select(vec!["full", "column", "none"]),
        prefix in prop::sample::select(vec!["", ", prefix='1'", ", prefix='1 2 4'"]),
    ) {
        let options = format!(", detail={detail}{prefix}");
        let case = Case { leaf_bytes, workers, rows_per_part, ..Case::new("a, b", &options) };
        case.check(&rows(count, 2, words, seed));
    }

    /// A damaged leaf is an error, or other terms; never a panic or endless work.
    #[test]
    fn damaged_leaves(seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let (index, _) = Case::new("a", "").expected(&rows(30, 1, 40, seed));
        let leaves: Vec<&Vec<u8>> = index.data.range(leaf_id(1, 1)..).map(|(_, leaf)| leaf).collect();
        for damage in 0..leaves.len() {
            for has_positions in [true, false] {
                let mut decoder = SegmentDecoder::new(has_positions);
                for (number, leaf) in leaves.iter().enumerate() {
                    let mut leaf = (*leaf).clone();
                    if number == damage {
                        let at = at.index(leaf.len());
                        leaf[at] = byte;
                        leaf.truncate(cut.index(leaf.len() * 4));
                    }
                    if decoder.add(&leaf, |_, _| {}).is_err() {
                        break;
                    }
                }
            }
        }
    }
}
