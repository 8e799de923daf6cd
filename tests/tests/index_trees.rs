//! Every shape of an index: each number of entries around each change of shape up to four levels, entries that overflow,
//! and parts of a few entries with the remainders at their ends.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Database, PageSize, Schema, Target};
use litepress_conformance::btree::Pages;
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite};
use litepress_conformance::page_sizes;
use litepress_conformance::shape::{Shape, of_tree};
use litepress_conformance::source::{MadeRows, Row};
use litepress_format::page::PageKind::LeafIndex;
use litepress_format::payload::{max_local, min_local};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;

/// Two trees of the same entries, a WITHOUT ROWID table and an index, with shuffled keys of one length.
struct Trees {
    key_bytes: usize,
    page_size: PageSize,
    schema: Schema,
    shapes: RefCell<BTreeMap<u64, Shape>>,
}

impl Trees {
    fn new(key_bytes: usize, page_size: PageSize) -> Self {
        let sql = "CREATE TABLE t(a TEXT); CREATE INDEX i ON t(a); CREATE TABLE w(a TEXT PRIMARY KEY, b) WITHOUT ROWID";
        let schema = Schema::from_sql(sql, "<index trees>").unwrap();
        Self { key_bytes, page_size, schema, shapes: RefCell::default() }
    }

    fn build(&self, rows: u64, threads: usize) -> Vec<u8> {
        let key_bytes = self.key_bytes;
        // Coprime to all numbers of rows here.
        let key = move |row: u64| numbered(row * 1_000_003 % rows.max(1), key_bytes);
        let mut options = Route { threads, into: Into::Memory }.options(self.page_size);
        options.memory_bytes = 1 << 30;
        let mut database = Database::create(&Target::Memory, self.schema.clone(), &options).unwrap();
        let make = move |row: u64, record: &mut Vec<u8>| {
            write_record(&[Value::Text(key(row).as_bytes())], record);
            row.cast_signed() + 1
        };
        database.fill(0, &MadeRows::new(rows, 1000, make)).unwrap();
        let make = move |row: u64, record: &mut Vec<u8>| {
            write_record(&[Value::Text(key(row).as_bytes()), Value::Null], record);
            0
        };
        database.fill(1, &MadeRows::new(rows, 1000, make)).unwrap();
        database.finish().unwrap().bytes.unwrap()
    }

    fn shape(&self, rows: u64) -> Shape {
        let known = self.shapes.borrow().get(&rows).copied();
        known.unwrap_or_else(|| {
            let bytes = self.build(rows, 1);
            let shape = of_tree(&bytes, self.page_size, root(&bytes, "i"));
            self.shapes.borrow_mut().insert(rows, shape);
            shape
        })
    }

    /// Finds the numbers of entries in `from..to` after which the depth changes.
    fn turns(&self, from: u64, to: u64, found: &mut Vec<u64>) {
        if self.shape(from).depth == self.shape(to).depth {
            return;
        }
        if from + 1 == to {
            return found.push(from);
        }
        let middle = u64::midpoint(from, to);
        self.turns(from, middle, found);
        self.turns(middle, to, found);
    }

    /// Asserts that both trees are sound and have every entry, in order. SQLite makes the index again for comparison.
    fn check(&self, rows: u64, threads: usize) -> Vec<u8> {
        let bytes = self.build(rows, threads);
        let what = format!("{rows} keys of {} bytes, pages of {}", self.key_bytes, self.page_size);
        oracle::assert_sound(&bytes, &what);
        for (tree, behind) in [("i", true), ("w", false)] {
            let records = Pages::new(&bytes, self.page_size).records(root(&bytes, tree));
            assert_eq!(records.len() as u64, rows, "{what}: {tree}");
            // The keys of this tree differ only in their number.
            for (rank, record) in records.iter().enumerate() {
                let values = litepress_format::record::decode(record).unwrap();
                let key = numbered(rank as u64, self.key_bytes);
                assert_eq!(values[0], Value::Text(key.as_bytes()), "{what}: {tree}, entry {rank}");
                assert_eq!(values[1] == Value::Null, !behind, "{what}: {tree}, entry {rank}");
            }
        }
        oracle::assert_reindexed(&bytes, &what);
        bytes
    }
}

/// Returns a number as a text of `bytes` bytes.
fn numbered(number: u64, bytes: usize) -> String {
    "0".repeat(bytes.saturating_sub(9)) + &format!("{number:0>width$}", width = bytes.min(9))
}

/// Asserts that both trees have `rows` keys, in order.
fn assert_ordered(bytes: &[u8], page_size: PageSize, rows: u64, what: &str) {
    for tree in ["i", "w"] {
        let records = Pages::new(bytes, page_size).records(root(bytes, tree));
        assert_eq!(records.len() as u64, rows, "{what}: {tree}");
        let key = |record: &Vec<u8>| match litepress_format::record::decode(record).unwrap()[0] {
            Value::Text(text) => text.to_vec(),
            ref other => panic!("{what}: {other:?}"),
        };
        assert!(records.iter().map(key).is_sorted_by(|one, next| one < next), "{what}: {tree}");
    }
}

fn root(bytes: &[u8], tree: &str) -> u32 {
    let sql = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{tree}'");
    u32::try_from(oracle::integer(&oracle::open(bytes), &sql)).unwrap()
}

/// Four entries a leaf, five children a page: every number of entries up to the third level, and from there to the fourth those
/// around each full leaf.
#[test]
fn every_small_number_of_entries() {
    // The longest key that does not overflow, and one that overflows with the maximum left on the page.
    let most = max_local(LeafIndex, 512);
    for key_bytes in [most - 8, 508 + most - 12] {
        let trees = Trees::new(key_bytes, PageSize::MIN);
        for rows in (0..=135).chain(620..=632) {
            trees.check(rows, 1);
        }
        assert_eq!(trees.shape(135).depth, 4, "{key_bytes}");
    }
}

/// Each new level of trees of short keys, long ones, and ones that overflow.
#[test]
fn every_number_of_entries_around_a_new_level() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    for (key_bytes, most, levels) in [(6, 30_000, 4), (40, 4000, 4), (90, 800, 4), (300, 3000, 4), (700, 700, 3)] {
        let trees = Trees::new(key_bytes, PageSize::MIN);
        let mut turns = Vec::new();
        trees.turns(1, most, &mut turns);
        assert!(turns.len() + 1 >= levels, "keys of {key_bytes} bytes: levels begin after {turns:?} entries");
        for rows in turns.into_iter().flat_map(|turn| turn - 1..=turn + 3) {
            let file = folder.join(&format!("{key_bytes}-{rows}.db"));
            fs::write(&file, trees.check(rows, 1)).unwrap();
            files.push(file);
        }
    }
    if let Some(old) = OldSqlite::find() {
        old.assert_sound(&files);
    }
}

/// Keys so long that a part holds two or three of them, up to a few more than a leaf has room for. Any number may remain for
/// the last part, and for the last leaf of each part.
#[test]
fn parts_of_a_few_entries() {
    const PART_BYTES: u64 = litepress_rows::source::PART_BYTES as u64;
    for per_part in [2, 3, 4, 5, 7, 12] {
        // The number of bytes on the page depends on the length: few entries a leaf, or ten.
        for local_bytes in [0, 60] {
            let key_bytes = (PART_BYTES / per_part - 40) / 508 * 508 - 508 + 39 + local_bytes;
            let trees = Trees::new(usize::try_from(key_bytes).unwrap(), PageSize::MIN);
            let rows: &[u64] = if per_part < 4 { &[3, 4, 5, 7] } else { &[per_part + 1, 3 * per_part + 1] };
            for &rows in rows {
                let bytes = trees.build(rows, 2);
                let what = format!("{per_part} keys of {key_bytes} bytes a part, {rows} in all");
                oracle::assert_sound(&bytes, &what);
                assert_ordered(&bytes, PageSize::MIN, rows, &what);
            }
        }
    }
}

/// A last part of one or two entries, for several page sizes.
#[test]
fn a_last_part_of_a_single_entry() {
    // An item is the text between a tag and an end, and the rowid behind it: the number of entries a part follows.
    for (key_bytes, page_size) in [(9000, PageSize::MIN), (9000, PageSize::DEFAULT), (40_000, PageSize::MAX)] {
        let trees = Trees::new(key_bytes, page_size);
        let about = litepress_rows::source::PART_BYTES as u64 / (key_bytes as u64 + 5);
        for rows in (about - 4..=about + 3).chain([2 * about - 1, 2 * about, 2 * about + 1]) {
            let bytes = trees.build(rows, 2);
            let what = format!("{rows} keys of {key_bytes} bytes");
            oracle::assert_sound(&bytes, &what);
            assert_ordered(&bytes, page_size, rows, &what);
        }
    }
}

/// More than three parts of short entries, checked whole.
#[test]
fn an_index_of_many_parts() {
    let trees = Trees::new(52, PageSize::DEFAULT);
    let bytes = trees.check(250_000, 7);
    let shape = of_tree(&bytes, PageSize::DEFAULT, root(&bytes, "i"));
    assert!(shape.leaf_pages * 4096 > 12 << 20, "{shape:?}");
    assert!(bytes == trees.build(250_000, 1), "the number of threads shows");
}

/// Keys around every threshold of overflow at every page size, ascending and descending, several to an entry.
#[test]
fn keys_around_the_thresholds_of_overflow() {
    for page_size in page_sizes() {
        let usable = page_size.bytes();
        let (most, least, chunk) = (max_local(LeafIndex, usable), min_local(usable), usable - 4);
        let turns = [least, most, least + chunk, most + chunk, least + 2 * chunk];
        let lengths = turns.iter().flat_map(|turn| turn.saturating_sub(10)..turn + 3);
        let rows: Vec<Row> = lengths
            .enumerate()
            .map(|(at, length)| {
                let text = format!("{:03}{}", at * 37 % 101, "t".repeat(length.saturating_sub(3)));
                let blob = vec![u8::try_from(at % 3).unwrap(); length / 2];
                vec![OwnedValue::Text(text), OwnedValue::Blob(blob), OwnedValue::Int(at as i64)]
            })
            .collect();
        let sql = "CREATE TABLE t(a TEXT UNIQUE, b BLOB, c INT); CREATE INDEX i ON t(a DESC); \
                   CREATE INDEX j ON t(b, a COLLATE NOCASE DESC, c); CREATE UNIQUE INDEX k ON t(b DESC, c)";
        let case = Case::new(sql).rows(rows).parts_of(13);
        case.judge(&case.build(Route { threads: 2, into: Into::Memory }, page_size).unwrap(), page_size);
    }
}
