//! Every shape of a tree: each row count around each change of shape up to five levels, keys of every width.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite};
use litepress_conformance::shape::{Shape, of_tree};
use litepress_conformance::source::{MadeRows, Row};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const SMALLEST: PageSize = PageSize::MIN;

/// The rowids of a table.
#[derive(Clone, Copy, Debug)]
enum Keys {
    /// 1, 2, 3: varints of one byte, then two, then three.
    FromOne,
    /// Nine bytes each.
    FromMin,
    /// Nine bytes each, up to the largest there is.
    ToMax,
    /// Half of them negative.
    AroundZero,
    /// Varints of every width, from one byte to nine.
    Sparse,
}

impl Keys {
    const ALL: [Self; 5] = [Self::FromOne, Self::FromMin, Self::ToMax, Self::AroundZero, Self::Sparse];

    /// Returns the rowid of row `row` of `rows`.
    fn rowid(self, row: u64, rows: u64) -> i64 {
        let (at, count) = (i64::try_from(row).unwrap(), i64::try_from(rows).unwrap());
        match self {
            Self::FromOne => at + 1,
            Self::FromMin => i64::MIN + at,
            Self::ToMax => i64::MAX - count + 1 + at,
            Self::AroundZero => at - count / 2,
            Self::Sparse => i64::MAX / count * at,
        }
    }
}

/// A table `t(id, a)` of texts of one length on pages of 512 bytes, written with any number of rows.
struct Table {
    keys: Keys,
    text_bytes: usize,
    schema: Schema,
    shapes: RefCell<BTreeMap<u64, Shape>>,
}

impl Table {
    fn new(keys: Keys, text_bytes: usize) -> Self {
        let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", "<trees>").unwrap();
        Self { keys, text_bytes, schema, shapes: RefCell::default() }
    }

    fn text(&self, row: u64) -> String {
        format!("{row:0>width$}", width = self.text_bytes)
    }

    /// Writes it with `rows` rows in parts of 1000.
    fn build(&self, rows: u64) -> Vec<u8> {
        let (keys, text_bytes) = (self.keys, self.text_bytes);
        let make = move |row: u64, record: &mut Vec<u8>| {
            let text = format!("{row:0>text_bytes$}");
            write_record(&[Value::Null, Value::Text(text.as_bytes())], record);
            keys.rowid(row, rows)
        };
        let mut options = Route { threads: 2, into: Into::Memory }.options(SMALLEST);
        // Small tables need fewer threads to be started.
        options.threads = if rows > 2000 { 2 } else { 1 };
        let mut database =
            litepress::Database::create(&litepress::Target::Memory, self.schema.clone(), &options).unwrap();
        database.fill(0, &MadeRows::new(rows, 1000, make)).unwrap();
        database.finish().unwrap().bytes.unwrap()
    }

    fn shape(&self, rows: u64) -> Shape {
        let known = self.shapes.borrow().get(&rows).copied();
        known.unwrap_or_else(|| {
            let shape = of_tree(&self.build(rows), SMALLEST, 2.max(root(&self.build(rows))));
            self.shapes.borrow_mut().insert(rows, shape);
            shape
        })
    }

    /// Finds the row counts in `from..to` after which `what` of the shape changes.
    fn changes(&self, from: u64, to: u64, what: fn(&Shape) -> u32, found: &mut Vec<u64>) {
        if what(&self.shape(from)) == what(&self.shape(to)) {
            return;
        }
        if from + 1 == to {
            found.push(from);
            return;
        }
        let middle = u64::midpoint(from, to);
        self.changes(from, middle, what, found);
        self.changes(middle, to, what, found);
    }

    /// Asserts that the table of `rows` rows is sound and has its rows; returns its bytes.
    fn check(&self, rows: u64) -> Vec<u8> {
        let bytes = self.build(rows);
        let what = format!("{rows} rows, {:?}, texts of {} bytes", self.keys, self.text_bytes);
        oracle::assert_sound(&bytes, &what);
        let sqlite = oracle::open(&bytes);
        let mut select = sqlite.prepare("SELECT rowid, a FROM t ORDER BY rowid").unwrap();
        let mut stored = select.query([]).unwrap();
        for row in 0..rows {
            let stored = stored.next().unwrap().unwrap_or_else(|| panic!("{what}: row {row} is missing"));
            assert_eq!(stored.get_ref(0).unwrap().as_i64().unwrap(), self.keys.rowid(row, rows), "{what}");
            assert_eq!(stored.get_ref(1).unwrap().as_str().unwrap(), self.text(row), "{what}");
        }
        assert!(stored.next().unwrap().is_none(), "{what}: more rows");
        for row in [0, rows / 3, rows.saturating_sub(1)].into_iter().filter(|row| *row < rows) {
            let sought =
                sqlite.query_row("SELECT a FROM t WHERE id = ?", [self.keys.rowid(row, rows)], |row| row.get(0));
            assert_eq!(sought, Ok(self.text(row)), "{what}: sought by its key");
        }
        bytes
    }

    /// Checks every row count around each of `turns`; the files are kept in `folder` for an older SQLite.
    fn check_around(&self, turns: &[u64], folder: &Folder, files: &mut Vec<PathBuf>) {
        let mut counts: Vec<u64> = turns.iter().flat_map(|turn| turn.saturating_sub(2)..=turn + 3).collect();
        counts.sort_unstable();
        counts.dedup();
        for rows in counts {
            let file = folder.join(&format!("{:?}-{}-{rows}.db", self.keys, self.text_bytes));
            fs::write(&file, self.check(rows)).unwrap();
            files.push(file);
        }
    }
}

fn root(bytes: &[u8]) -> u32 {
    let root = oracle::integer(&oracle::open(bytes), "SELECT rootpage FROM sqlite_schema WHERE name = 't'");
    u32::try_from(root).unwrap()
}

fn judge_by_old_sqlite(files: &[PathBuf]) {
    assert!(!files.is_empty());
    if let Some(old) = OldSqlite::find() {
        old.assert_sound(files);
    }
}

/// Four rows a leaf and one row a leaf, every count up to a few interior pages.
#[test]
fn every_small_row_count_gives_a_sound_tree() {
    for keys in Keys::ALL {
        let one_a_leaf = Table::new(keys, 440);
        for rows in 0..=110 {
            one_a_leaf.check(rows);
        }
        assert_eq!(one_a_leaf.shape(110).leaf_pages, 110, "{keys:?}");
        assert_eq!(one_a_leaf.shape(110).depth, 3, "{keys:?}");
        let four_a_leaf = Table::new(keys, 105);
        for rows in 0..=30 {
            four_a_leaf.check(rows);
        }
        assert_eq!(four_a_leaf.shape(28).leaf_pages, 7, "{keys:?}");
    }
}

/// Checks the numbers of rows that add an interior page or a level.
#[test]
fn every_count_around_a_new_interior_page_gives_a_sound_tree() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    for keys in [Keys::FromOne, Keys::FromMin] {
        let table = Table::new(keys, 440);
        let mut turns = Vec::new();
        table.changes(1, 400, |shape| shape.interior_pages, &mut turns);
        assert!(turns.len() >= 6, "{keys:?}: {turns:?}");
        table.check_around(&turns, &folder, &mut files);
    }
    judge_by_old_sqlite(&files);
}

/// The third level and the fourth, for all keys and two widths of rows.
#[test]
fn every_count_around_a_new_level_gives_a_sound_tree() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    for keys in Keys::ALL {
        for (text_bytes, most) in [(440, 6000), (105, 24_000)] {
            let table = Table::new(keys, text_bytes);
            let mut turns = Vec::new();
            table.changes(1, most, |shape| shape.depth, &mut turns);
            assert_eq!(turns.len(), 3, "{keys:?}: levels begin after {turns:?} rows");
            table.check_around(&turns, &folder, &mut files);
        }
    }
    judge_by_old_sqlite(&files);
}

/// Nine-byte keys give 33 cells an interior page: 34^3 leaves are the most that four levels reach.
#[test]
fn a_fifth_level_is_sound() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    let table = Table::new(Keys::FromMin, 440);
    let turn = 34 * 34 * 34;
    assert_eq!((table.shape(turn).depth, table.shape(turn + 1).depth), (4, 5));
    table.check_around(&[turn], &folder, &mut files);
    judge_by_old_sqlite(&files);
}

/// Leaves that are exactly full, or one byte from it, at every page size: the last cell fits or does not.
#[test]
fn full_leaves_are_filled_to_the_last_byte() {
    for page_size in litepress_conformance::page_sizes() {
        // Two rows share the page: header 8, two pointers, two cells of 1 + 2 bytes lengths and a record of 3 + n.
        let room = page_size.bytes() - 8;
        for spare in 0..12 {
            let second = room / 2 - spare;
            let rows =
                (1..=9).map(|id| vec![OwnedValue::Int(id), blob(if id % 2 == 0 { second } else { room / 2 - 12 })]);
            let case = Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)").rows(rows);
            let bytes = case.build(Route::SHORTEST, page_size).unwrap();
            case.judge(&bytes, page_size);
        }
    }
}

/// The smallest records there are: a rowid and nothing else.
#[test]
fn tables_of_rowids_only() {
    let ids = |count: i64| (1..=count).map(|id| vec![OwnedValue::Int(id)]);
    Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY)").rows(ids(20_000)).parts_of(3000).check_at(SMALLEST);
    Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY)").rows(ids(3000)).parts_of(1000).check();
    let nulls = (0..3000).map(|_| vec![OwnedValue::Null]);
    Case::new("CREATE TABLE t(a)").rows_from(-1500, nulls).parts_of(700).check();
}

/// No rows, one row, in one table of three; the smallest and the largest rowid alone.
#[test]
fn empty_tables_and_single_rows() {
    let tables = "CREATE TABLE a(x); CREATE TABLE b(id INTEGER PRIMARY KEY, x); CREATE TABLE c(x TEXT, y REAL)";
    let row = |id: i64| -> Row { vec![OwnedValue::Int(id), OwnedValue::Text("one".into())] };
    Case::new(tables).check();
    for id in [i64::MIN, -1, 0, 1, i64::MAX] {
        Case::new(tables).rows([]).rows([row(id)]).check();
    }
    let lone = vec![OwnedValue::Null, OwnedValue::Real(0.5)];
    Case::new(tables).rows([vec![OwnedValue::Null]]).rows([row(i64::MIN), row(i64::MAX)]).rows([lone]).check();
    Case::new("").check();
}

fn blob(bytes: usize) -> OwnedValue {
    OwnedValue::Blob((0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect())
}
