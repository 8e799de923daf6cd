//! Lays rows on the pages of a small database in memory, for SQLite to evaluate expressions over them.
//!
//! ```text
//! page 1, root pages   the schema of one table, made by SQLite itself; kept for all rows to come
//! leaf pages           rows in the order in which they came, and overflow pages
//! root page            written last: the children of an interior page
//! ```
//!
//! The tree is good for a scan from its first row to its last, and for nothing else: rows need not be in the order of their
//! keys, so a search would miss some, and other indexes are empty. Statements over it must scan: `NOT INDEXED`, or `INDEXED BY`
//! the key of a WITHOUT ROWID table, and a sign before every WHERE.
//! Pages are as large as possible. So one page above the leaves is always enough. Records have only the fields that the
//! statements read.

use super::projection::{ProjectedRecord, Projection};
use crate::Result;
use crate::sqlite::Failures;
use crate::{ErrorKind, Progress};
use litepress_format::cell::write_table_interior;
use litepress_format::header::{PAGE_COUNT_OFFSET, TextEncoding};
use litepress_format::page::{
    CELL_POINTER_LEN, LEAF_HEADER_LEN, MIN_CELL_LEN, PageHeader, PageKind, PageSize, PageWriter,
};
use litepress_format::{overflow, payload, varint};
use litepress_rows::{RecordChunk, Table};
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::sync::Arc;

/// Bytes of a page.
const PAGE: usize = PageSize::MAX.bytes();

/// Bytes of pages at which rows are evaluated: enough for the cost of a statement to vanish, few enough for the processor's
/// cache.
const FULL_BYTES: usize = 1 << 20;

/// Longest cell of an interior page.
const MAX_INTERIOR_CELL: usize = payload::max_local(PageKind::InteriorIndex, PAGE) + 16;

/// The schema of one table as SQLite writes it: page 1 and empty root pages.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pages: Vec<u8>,
    /// Root page of the table.
    root: u32,
    without_rowid: bool,
    /// The fields that are read; `None` for all.
    projection: Option<Projection>,
}

impl Template {
    /// Has SQLite run the statements in an empty database. `reads` are the only statements over its rows, whose texts have this
    /// encoding.
    ///
    /// # Errors
    /// If SQLite refuses a statement.
    pub fn new(table: &Table, statements: &[String], reads: &[String], encoding: TextEncoding) -> Result<Arc<Self>> {
        let make = || {
            let mut sqlite = Connection::open_in_memory()?;
            sqlite.execute_batch(&format!("PRAGMA page_size = {PAGE}; PRAGMA foreign_keys = OFF"))?;
            sqlite.execute_batch(encoding_pragma(encoding))?;
            statements.iter().try_for_each(|statement| sqlite.execute(statement, []).map(drop))?;
            let find = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1";
            let root = sqlite.query_row(find, [&table.name], |row| row.get(0))?;
            let pages = sqlite.serialize(MAIN_DB)?.to_vec();
            let projection = Projection::of(&sqlite, reads, table.stored_columns().len());
            Ok(Arc::new(Self { pages, root, without_rowid: table.without_rowid, projection }))
        };
        make().map_err(|error| Failures::of(&Progress::default()).explain(&error, ErrorKind::Schema))
    }
}

/// A leaf page that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenLeaf {
    /// Offset of the page.
    start: usize,
    cells: usize,
    /// Offset on the page of the last cell.
    content_start: usize,
    /// Offset on the page of the cell before the last.
    before_last: usize,
    last_rowid: i64,
}

/// A small database under construction. Memory: about twice [`FULL_BYTES`], or a few times a longer row.
#[derive(Debug)]
pub(crate) struct SmallDatabase {
    template: Arc<Template>,
    /// The file: the template's pages and all others.
    file: Vec<u8>,
    leaf: Option<OpenLeaf>,
    /// Cells of the root page, one after another, and their ends.
    interior: Vec<u8>,
    interior_ends: Vec<usize>,
    rows: usize,
    projected: ProjectedRecord,
}

impl SmallDatabase {
    pub fn new(template: &Arc<Template>) -> Self {
        Self {
            template: template.clone(),
            file: template.pages.clone(),
            leaf: None,
            interior: Vec::new(),
            interior_ends: Vec::new(),
            rows: 0,
            projected: ProjectedRecord::default(),
        }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.file.truncate(self.template.pages.len());
        self.file.shrink_to(4 * FULL_BYTES);
        self.interior.clear();
        self.interior_ends.clear();
        (self.leaf, self.rows) = (None, 0);
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether the rows should be evaluated before others come.
    pub fn is_full(&self) -> bool {
        let above = self.interior.len() + (self.interior_ends.len() + 1) * CELL_POINTER_LEN;
        self.file.len() - self.template.pages.len() >= FULL_BYTES || above + 2 * MAX_INTERIOR_CELL > PAGE
    }

    /// Adds row `row` of a chunk.
    ///
    /// REQUIRES: the database [is not full](Self::is_full).
    pub fn add(&mut self, chunk: &RecordChunk, row: usize) {
        let (rowid, record) = (chunk.rowids()[row], chunk.record(row));
        let mut projected = std::mem::take(&mut self.projected);
        let projection = self.template.projection.as_ref();
        let read = projection.and_then(|projection| projection.project(record, &mut projected));
        self.add_record(rowid, read.unwrap_or(record));
        self.projected = projected;
    }

    fn add_record(&mut self, rowid: i64, record: &[u8]) {
        let kind = if self.template.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
        let split = payload::split(kind, PAGE, record.len() as u64);
        let mut head = [0; 2 * varint::MAX_LEN];
        let mut head_len = varint::write(record.len() as u64, &mut head);
        if kind == PageKind::LeafTable {
            head_len += varint::write(rowid.cast_unsigned(), &mut head[head_len..]);
        }
        let pointer_len = if split.overflow_pages > 0 { size_of::<u32>() } else { 0 };
        let len = (head_len + split.local + pointer_len).max(MIN_CELL_LEN);
        let mut leaf = self.leaf_for(len);
        let first = leaf.content_start - len;
        let cell = &mut self.file[leaf.start + first..leaf.start + leaf.content_start];
        cell[..head_len].copy_from_slice(&head[..head_len]);
        cell[head_len..head_len + split.local].copy_from_slice(&record[..split.local]);
        let pointer_at = leaf.start + LEAF_HEADER_LEN + leaf.cells * CELL_POINTER_LEN;
        let offset = u16::try_from(first).expect("a cell begins on the page");
        self.file[pointer_at..pointer_at + CELL_POINTER_LEN].copy_from_slice(&offset.to_be_bytes());
        (leaf.before_last, leaf.content_start) = (leaf.content_start, first);
        (leaf.cells, leaf.last_rowid) = (leaf.cells + 1, rowid);
        self.leaf = Some(leaf);
        self.rows += 1;
        if split.overflow_pages > 0 {
            let number = self.next_page();
            let at = leaf.start + first + head_len + split.local;
            self.file[at..at + pointer_len].copy_from_slice(&number.to_be_bytes());
            self.add_overflow(&record[split.local..]);
        }
    }

    /// Returns the open leaf with room for a cell of `len` bytes.
    fn leaf_for(&mut self, len: usize) -> OpenLeaf {
        if let Some(leaf) = self.leaf {
            let pointers_end = LEAF_HEADER_LEN + (leaf.cells + 1) * CELL_POINTER_LEN;
            if pointers_end + len <= leaf.content_start {
                return leaf;
            }
            self.close(leaf, true);
        }
        let start = self.file.len();
        self.file.resize(start + PAGE, 0);
        OpenLeaf { start, cells: 0, content_start: PAGE, before_last: PAGE, last_rowid: 0 }
    }

    fn next_page(&self) -> u32 {
        u32::try_from(self.file.len() / PAGE + 1).expect("few pages")
    }

    fn add_overflow(&mut self, rest: &[u8]) {
        let mut pieces = rest.chunks(overflow::chunk_len(PAGE)).peekable();
        while let Some(piece) = pieces.next() {
            let next = if pieces.peek().is_some() { self.next_page() + 1 } else { 0 };
            let start = self.file.len();
            self.file.resize(start + PAGE, 0);
            overflow::write_page(next, piece, &mut self.file[start..]);
        }
    }

    /// Completes a leaf, with a cell above it if other leaves follow. The tree of an index has its last entry there.
    fn close(&mut self, mut leaf: OpenLeaf, has_next: bool) {
        let number = u32::try_from(leaf.start / PAGE + 1).expect("few pages");
        if has_next && self.template.without_rowid {
            let cell = leaf.start + leaf.content_start..leaf.start + leaf.before_last;
            self.interior.extend_from_slice(&number.to_be_bytes());
            self.interior.extend_from_slice(&self.file[cell]);
            (leaf.cells, leaf.content_start) = (leaf.cells - 1, leaf.before_last);
        } else if has_next {
            write_table_interior(number, leaf.last_rowid, &mut self.interior);
        }
        if has_next {
            self.interior_ends.push(self.interior.len());
        }
        let header = PageHeader {
            kind: if self.template.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable },
            first_freeblock: 0,
            cell_count: u16::try_from(leaf.cells).expect("at most some 10,000 cells"),
            content_start: u32::try_from(leaf.content_start).expect("on the page"),
            fragmented_bytes: 0,
            right_child: None,
        };
        header.encode(&mut self.file[leaf.start..]);
    }

    /// Completes the pages, and opens them in a connection.
    ///
    /// REQUIRES: there are rows.
    pub fn open_in(&mut self, connection: &mut Connection) -> rusqlite::Result<()> {
        let leaf = self.leaf.take().expect("there are rows");
        self.close(leaf, false);
        let root = (self.template.root as usize - 1) * PAGE;
        if self.interior_ends.is_empty() {
            // An interior page without cells would be damaged: the leaf is the root.
            self.file.copy_within(leaf.start..leaf.start + PAGE, root);
        } else {
            let kind = if self.template.without_rowid { PageKind::InteriorIndex } else { PageKind::InteriorTable };
            let mut page = PageWriter::new(&mut self.file[root..root + PAGE], 0, kind, PAGE);
            let mut start = 0;
            for &end in &self.interior_ends {
                assert!(page.push(&self.interior[start..end]), "a full database gets no further rows");
                start = end;
            }
            page.finish(Some(u32::try_from(leaf.start / PAGE + 1).expect("few pages")));
        }
        let pages = u32::try_from(self.file.len() / PAGE).expect("few pages");
        self.file[PAGE_COUNT_OFFSET..PAGE_COUNT_OFFSET + size_of::<u32>()].copy_from_slice(&pages.to_be_bytes());
        connection.deserialize_read_exact(MAIN_DB, self.file.as_slice(), self.file.len(), true)
    }
}

fn encoding_pragma(encoding: TextEncoding) -> &'static str {
    match encoding {
        TextEncoding::Utf8 => "PRAGMA encoding = 'UTF-8'",
        TextEncoding::Utf16Le => "PRAGMA encoding = 'UTF-16le'",
        TextEncoding::Utf16Be => "PRAGMA encoding = 'UTF-16be'",
    }
}

/// Opens a connection for small databases with texts of this encoding. It reads their pages where they are, without a cache.
pub(crate) fn connection(encoding: TextEncoding) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_in_memory_with_flags(flags)?;
    connection.execute_batch(encoding_pragma(encoding))?;
    connection.execute_batch("PRAGMA mmap_size = 1000000000; PRAGMA temp_store = MEMORY")?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::super::scan_clause;
    use super::*;
    use litepress_format::record::write_record;
    use litepress_format::value::Value;
    use litepress_rows::Schema;

    type Row = (i64, String);

    /// Returns the values that SQLite reads of rows with texts of these lengths, and the values that were put in. Records have a
    /// text between the two that no statement reads, if the small database may know that.
    fn read_back(sql: &str, is_projected: bool, lengths: &[usize]) -> (Vec<Row>, Vec<Row>) {
        let schema = Schema::from_sql(sql, "<test>").expect("a schema");
        let select = format!("SELECT k, t FROM {}", scan_clause(&schema.tables[0]));
        let all = format!("SELECT * FROM {}", scan_clause(&schema.tables[0]));
        let reads = if is_projected { select.clone() } else { all };
        let template =
            Template::new(&schema.tables[0], &[sql.to_owned()], &[reads], TextEncoding::Utf8).expect("a template");
        assert_eq!(template.projection.is_some(), is_projected || !schema.tables[0].without_rowid);
        let mut small = SmallDatabase::new(&template);
        let mut sqlite = connection(TextEncoding::Utf8).expect("a connection");
        let (mut read, mut expected) = (Vec::new(), Vec::new());
        let mut look = |small: &mut SmallDatabase| {
            small.open_in(&mut sqlite).expect("a database");
            let mut select = sqlite.prepare(&select).expect("a statement");
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
            read.extend(rows.map(|row: rusqlite::Result<(i64, String)>| row.expect("a row")));
            drop(select);
            small.clear();
        };
        for (&len, number) in lengths.iter().zip(0_i64..) {
            // In no order.
            let key = number * 7919 % 1000 - 500;
            let text: String = ('a'..='z').cycle().skip(len % 26).take(len).collect();
            let mut record = Vec::new();
            let first = if schema.tables[0].without_rowid { Value::Int(key) } else { Value::Null };
            write_record(&[first, Value::from("between"), Value::from(text.as_str())], &mut record);
            let mut chunk = RecordChunk::new();
            chunk.push(key, &record);
            if small.is_full() {
                look(&mut small);
            }
            small.add(&chunk, 0);
            expected.push((key, text));
        }
        look(&mut small);
        (read, expected)
    }

    #[test]
    fn sqlite_reads_all_rows_in_the_order_in_which_they_came() {
        let tables = [
            "CREATE TABLE t (k INTEGER PRIMARY KEY, b, t TEXT UNIQUE)",
            "CREATE TABLE t (k INT PRIMARY KEY, b, t TEXT, UNIQUE (t, k)) WITHOUT ROWID",
        ];
        let cases: [Vec<usize>; 5] = [
            vec![3],
            vec![20; 30_000],
            vec![16_000; 300],
            (0..200).map(|row| [0, 1, 400, 16_380, 16_425, 65_400, 65_520, 200_000][row % 8]).collect(),
            vec![5_000_000, 1, 5_000_000],
        ];
        for (sql, is_projected) in tables.iter().flat_map(|sql| [(sql, true), (sql, false)]) {
            for lengths in &cases {
                let (read, expected) = read_back(sql, is_projected, lengths);
                assert!(read == expected, "{sql}: {} rows of {} bytes", lengths.len(), lengths[0]);
            }
        }
    }
}
