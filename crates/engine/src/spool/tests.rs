//! Rows come out of a spool as they went in, whatever they became in between.

use super::*;
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::sort::SortOptions;
use crate::table::OnePart;
use litepress_format::page::PageSize;
use litepress_rows::Schema;
use litepress_rows::sync::lock;

/// A row: its position in the input, its rowid (`None`: SQLite chooses it) and the length of its record.
type Row = (u64, Option<i64>, usize);

fn record(position: u64, len: usize) -> Vec<u8> {
    (0..=250).cycle().skip(usize::try_from(position).unwrap() % 11).take(len).collect()
}

/// A source of some parts, each of one chunk. The positions of a chunk have no gap.
struct Parts<'p>(Mutex<std::slice::Iter<'p, Vec<Row>>>);

impl Source for Parts<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = lock(&self.0).next().map(|rows| {
            let mut chunk = RecordChunk::new();
            chunk.set_first_record(rows.first().map_or(1, |row| row.0));
            for (position, rowid, len) in rows.iter().copied() {
                chunk.push(rowid.unwrap_or(i64::try_from(position).unwrap()), &record(position, len));
                if rowid.is_none() {
                    chunk.mark_automatic(chunk.len() - 1);
                }
            }
            Box::new(OnePart(Some(chunk))) as Box<dyn Part>
        });
        Ok(part)
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// Spools parts for a table with these rowids, and checks that the rows come back. Returns whether all became leaf pages.
fn become_leaves(parts: &[Vec<Row>], largest_rowid: Option<i64>, page_bytes: u32, memory: usize) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::from_sql("CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "<test>").unwrap();
    let (page_size, shift) = (PageSize::new(page_bytes).unwrap(), largest_rowid.unwrap_or(0));
    let leaves = Leaves::new(page_size, largest_rowid, shift, true, BlockPool::new(4));
    let source = Parts(Mutex::new(parts.iter()));
    let mut budget = SpoolBudget::new(memory, folder.path());
    let options = SortOptions { memory_bytes: 1 << 20, temp_dir: folder.path().to_owned(), writers: 3 };
    let spool = Spool::like(&source, &schema.tables[0]).in_leaves(Some(leaves));
    let spool = spool.fill(&source, &mut budget, Indexes::new(Vec::new(), &options), 3, &Progress::default()).unwrap();
    let mut found = Vec::new();
    // Twice: SQLite may have to insert rows whose pages could not be used.
    for _ in 0..2 {
        spool.rewind();
        found.clear();
        while let Some(mut part) = spool.next_part().unwrap() {
            let mut chunk = RecordChunk::new();
            while {
                chunk.clear();
                part.fill(&mut chunk).unwrap();
                !chunk.is_empty()
            } {
                for (row, position) in (0..chunk.len()).zip(chunk.first_record()..) {
                    let rowid = (!chunk.is_automatic(row)).then_some(chunk.rowids()[row]);
                    assert_eq!(chunk.record(row), record(position, chunk.record(row).len()));
                    found.push((position, rowid, chunk.record(row).len()));
                }
            }
        }
    }
    let rows: Vec<Row> = parts.concat();
    assert_eq!(found, rows, "{largest_rowid:?} {page_bytes} {memory}");
    assert_eq!(spool.rows(), Some(rows.len() as u64));
    let given: Vec<i64> = rows.iter().filter_map(|row| row.1).collect();
    assert_eq!(spool.has_automatic_rowids(), given.is_empty());
    if given.len() == rows.len() {
        let range = given.iter().min().copied().unwrap()..=given.iter().max().copied().unwrap();
        assert_eq!(spool.rowid_range(), Some(range));
        assert_eq!(spool.rowid_order() == RowidOrder::Ascending, given.is_sorted_by(|a, b| a < b));
    }
    let waiting = spool.waiting(page_size, shift).is_some();
    let other = spool.waiting(page_size, shift + 1).is_some();
    assert_eq!(other, waiting && !given.is_empty(), "pages with rowids that others took are not used");
    assert_eq!(spool.take_entries().is_some(), waiting);
    waiting
}

/// Returns parts of rows that all have rowids, by `rowid`, or none.
fn parts_of(counts: &[u64], rowid: impl Fn(u64) -> Option<i64>) -> Vec<Vec<Row>> {
    let lens = [3_usize, 700, 40, 9000, 2, 61];
    let mut position = 0;
    let mut part = |count: &u64| {
        let rows = (position + 1..=position + count).map(|at| (at, rowid(at), lens[(at % 6) as usize])).collect();
        position += count;
        rows
    };
    counts.iter().map(&mut part).collect()
}

#[test]
fn rows_behind_the_last_one_become_leaf_pages() {
    let counts = [500, 1, 0, 300, 800];
    for page_bytes in [512, 4096, 65536] {
        // In memory, as copies of nearly empty blocks, and in the temporary file.
        for memory in [usize::MAX, 600_000, 0] {
            for largest_rowid in [None, Some(0), Some(1000)] {
                let given = parts_of(&counts, |at| Some(1000 + 3 * at.cast_signed()));
                assert!(become_leaves(&given, largest_rowid, page_bytes, memory));
                let numbered = parts_of(&counts, |_| None);
                assert!(become_leaves(&numbered, largest_rowid, page_bytes, memory));
            }
        }
    }
}

#[test]
fn other_rows_stay_rows() {
    let counts = [500, 1, 0, 300, 800];
    for wrong in [1, 2, 499, 500, 501, 502, 700, 1601] {
        let given = parts_of(&counts, |at| Some(if at == wrong { 4 } else { 10 * at.cast_signed() }));
        assert!(!become_leaves(&given, Some(4), 4096, usize::MAX), "a small rowid in row {wrong}");
        let mixed = parts_of(&counts, |at| (at != wrong).then_some(at.cast_signed()));
        assert!(!become_leaves(&mixed, None, 4096, 100_000), "no rowid in row {wrong}");
        let numbered = parts_of(&counts, |at| (at == wrong).then_some(7_000_000));
        assert!(!become_leaves(&numbered, Some(9), 4096, usize::MAX), "a rowid in row {wrong}");
    }
    // A row was left out: SQLite would number the rows behind it without a gap.
    let mut gap = parts_of(&counts, |_| None);
    gap[3].iter_mut().for_each(|row| row.0 += 1);
    gap[4].iter_mut().for_each(|row| row.0 += 1);
    assert!(!become_leaves(&gap, Some(9), 4096, usize::MAX));
    assert!(!become_leaves(&parts_of(&[3], |_| None), Some(i64::MAX - 1), 4096, 0), "no rowid is left");
}
