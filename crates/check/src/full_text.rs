//! Checks the segments of full-text tables (FTS5): leaves, terms, doclists, the rows of `%_idx`, doclist indexes, and the sizes of
//! rows.
//!
//! Memory: the largest doclist of a leaf's last term, and a number for each leaf of a doclist.

use super::context::CheckContext;
use super::report::Fault;
use litepress_format::{FormatError, varint};
use litepress_fts5::{
    AVERAGES_ID, Averages, Leaf, RunReader, RunWriter, STRUCTURE_ID, SegmentDecoder, Structure, doclist_index_id,
    leaf_id, structure::Segment,
};
use litepress_rows::schema::full_text_has_positions;
use litepress_rows::{counted, quoted_name};
use rusqlite::{Connection, OptionalExtension, Rows};
use std::io;

/// The version of an index whose leaves are as they were written.
const PLAIN_VERSION: i64 = 4;
/// The version of an index in which `secure-delete` has taken out entries of leaves.
const EDITED_VERSION: i64 = 5;

/// Checks the full-text table `name`. Faults go to the context.
pub(super) fn check(context: &CheckContext<'_>, sqlite: &Connection, name: &str) {
    let tell = |found: Found| {
        let object = Some(format!("full-text table {name}"));
        match found {
            Found::Fault(what) => context.faults.add(|| Fault { page: None, offset: None, object, what }),
            Found::Sqlite(error) => context.sqlite_failed(object, "SQLite cannot read its shadow tables", &error),
        }
    };
    let checker = match Checker::new(sqlite, name) {
        Ok(checker) => checker,
        Err(found) => return tell(found),
    };
    match checker.structure() {
        Ok(structure) => {
            let segments = structure.levels.iter().flat_map(|level| &level.segments);
            for segment in segments.filter(|segment| !segment.is_used_up()) {
                if let Err(found) = checker.segment(segment) {
                    tell(found.within(&format!("segment {}", segment.id)));
                }
            }
        }
        Err(found) => tell(found),
    }
    match checker.sizes() {
        Ok(None) => {}
        // FTS5 compares the two only where it keeps the texts. Elsewhere a row may be indexed twice, or with another text.
        Ok(Some(what)) if !has_texts(sqlite, name) => {
            context.faults.note(format!("full-text table {name}: {what}, so that ranks may be off"))
        }
        Ok(Some(what)) => tell(Found::Fault(what)),
        Err(found) => tell(found),
    }
}

/// Returns whether a full-text table keeps its texts itself.
pub(super) fn has_texts(sqlite: &Connection, name: &str) -> bool {
    sqlite.table_exists(Some("main"), format!("{name}_content").as_str()).unwrap_or(true)
}

/// The reason why the check of a part ends.
enum Found {
    Fault(String),
    /// SQLite cannot read further.
    Sqlite(rusqlite::Error),
}

impl Found {
    /// Says which part a fault lies in.
    fn within(self, part: &str) -> Self {
        match self {
            Self::Fault(what) => Self::Fault(format!("{part}: {what}")),
            error @ Self::Sqlite(_) => error,
        }
    }
}

impl From<rusqlite::Error> for Found {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::InvalidColumnType(_, column, kind) => {
                Self::Fault(format!("a value of its shadow tables has another type: {column} is {kind}"))
            }
            error => Self::Sqlite(error),
        }
    }
}

impl From<FormatError> for Found {
    fn from(error: FormatError) -> Self {
        Self::Fault(error.to_string())
    }
}

impl From<io::Error> for Found {
    fn from(error: io::Error) -> Self {
        Self::Fault(error.to_string())
    }
}

impl From<String> for Found {
    fn from(what: String) -> Self {
        Self::Fault(what)
    }
}

struct Checker<'c> {
    sqlite: &'c Connection,
    name: &'c str,
    has_positions: bool,
    /// Entries may have been taken out of leaves (`secure-delete`). Then neither `%_idx` nor doclist indexes are exact.
    is_edited: bool,
}

impl<'c> Checker<'c> {
    fn new(sqlite: &'c Connection, name: &'c str) -> Result<Self, Found> {
        let checker = Self { sqlite, name, has_positions: true, is_edited: false };
        let is_edited = checker.version()? > PLAIN_VERSION;
        Ok(Self { is_edited, has_positions: full_text_has_positions(sqlite, name)?, ..checker })
    }

    /// Returns the version of the index. SQLite opens no other than these two.
    fn version(&self) -> Result<i64, Found> {
        let sql = format!("SELECT CAST(v AS INTEGER) FROM {} WHERE k = 'version'", self.shadow("config"));
        match self.sqlite.query_row(&sql, [], |row| row.get(0)).optional()? {
            Some(version @ PLAIN_VERSION..=EDITED_VERSION) => Ok(version),
            Some(version) => Err(Found::Fault(format!("its version is {version}, which SQLite does not read"))),
            None => Err(Found::Fault("%_config does not tell its version".to_owned())),
        }
    }

    fn shadow(&self, suffix: &str) -> String {
        quoted_name(&format!("{}_{suffix}", self.name))
    }

    /// Reads a row of `%_data`.
    fn block(&self, id: i64) -> Result<Option<Vec<u8>>, Found> {
        let sql = format!("SELECT block FROM {} WHERE id = ?", self.shadow("data"));
        Ok(self.sqlite.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()?)
    }

    fn structure(&self) -> Result<Structure, Found> {
        let record =
            self.block(STRUCTURE_ID)?.ok_or_else(|| Found::Fault("its structure record is missing".to_owned()))?;
        Structure::decode(&record).map_err(|error| Found::Fault(format!("its structure record: {error}")))
    }

    /// Compares the sizes of rows with their sums. Says how they differ.
    fn sizes(&self) -> Result<Option<String>, Found> {
        let record = self.block(AVERAGES_ID)?.unwrap_or_default();
        let averages = Averages::decode(&record).map_err(|error| Found::Fault(format!("its averages: {error}")))?;
        let docsize = format!("{}_docsize", self.name);
        if !self.sqlite.table_exists(Some("main"), docsize.as_str())? {
            return Ok(None);
        }
        let mut rows = self.sqlite.prepare(&format!("SELECT id, sz FROM {}", quoted_name(&docsize)))?;
        let mut rows = rows.query([])?;
        let mut sums = Averages { rows: 0, tokens: vec![0; averages.tokens.len()] };
        while let Some(row) = rows.next()? {
            let (id, sizes): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let sizes =
                Averages::decode(&sizes).map_err(|error| Found::Fault(format!("the size of row {id}: {error}")))?;
            let tokens = std::iter::once(sizes.rows).chain(sizes.tokens);
            sums.rows += 1;
            sums.tokens.iter_mut().zip(tokens).for_each(|(sum, tokens)| *sum += tokens);
        }
        let told = |sums: &Averages| format!("{} with {:?} tokens", counted(sums.rows, "row"), sums.tokens);
        Ok((sums != averages)
            .then(|| format!("it has {}, and its averages are those of {}", told(&sums), told(&averages))))
    }

    /// Checks the leaves of a segment in order, and the rows of `%_idx` beside them.
    fn segment(&self, segment: &Segment) -> Result<(), Found> {
        let (leaves, splits) = (self.shadow("data"), self.shadow("idx"));
        let mut leaves =
            self.sqlite.prepare(&format!("SELECT id, block FROM {leaves} WHERE id BETWEEN ? AND ? ORDER BY id"))?;
        let mut splits = self
            .sqlite
            .prepare(&format!("SELECT pgno, term FROM {splits} WHERE segid = ? AND pgno / 2 >= ? ORDER BY pgno"))?;
        let mut walk = Walk {
            checker: self,
            segment,
            splits: splits.query([segment.id, segment.first_page])?,
            decoder: SegmentDecoder::new(self.has_positions),
            last_term: Vec::new(),
            indexed: None,
            error: None,
        };
        let mut rows =
            leaves.query([leaf_id(segment.id, segment.first_page), leaf_id(segment.id, segment.last_page)])?;
        for page in segment.first_page..=segment.last_page {
            let Some(row) = rows.next()? else { return Err(Found::Fault(format!("leaf {page} is missing"))) };
            let (id, block): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            if id != leaf_id(segment.id, page) {
                return Err(Found::Fault(format!("leaf {page} is missing")));
            }
            walk.leaf(page, &block).map_err(|found| found.within(&format!("leaf {page}")))?;
        }
        walk.finish()
    }
}

/// A walk over the leaves of a segment.
struct Walk<'c, 's> {
    checker: &'c Checker<'c>,
    segment: &'c Segment,
    /// The rows of `%_idx`: the number of the leaf with a mark, and the split key.
    splits: Rows<'s>,
    decoder: SegmentDecoder,
    last_term: Vec<u8>,
    /// The leaf whose last doclist has an index, and the first rowids of the leaves behind it.
    indexed: Option<(u32, Vec<Option<i64>>)>,
    /// The first fault of a doclist.
    error: Option<Found>,
}

impl Walk<'_, '_> {
    fn leaf(&mut self, page: u32, block: &[u8]) -> Result<(), Found> {
        let leaf = Leaf::new(block)?;
        if let Some((_, rowids)) = &mut self.indexed {
            rowids.push(leaf.first_rowid()?);
        }
        let before = self.last_term.clone();
        self.decode(block)?;
        if leaf.terms() == 0 || self.checker.is_edited {
            return Ok(());
        }
        let mut first = Vec::new();
        leaf.read_term(0, &mut first)?;
        self.doclist_index()?;
        let row = self.splits.next()?.ok_or_else(|| Found::Fault("%_idx has no row of it".to_owned()))?;
        let (number, split): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        if number >> 1 != i64::from(page) {
            return Err(Found::Fault(format!("the next row of %_idx is of leaf {}", number >> 1)));
        }
        let is_first = page == self.segment.first_page;
        if split > first || !is_first && split <= before {
            return Err(Found::Fault(format!("its split key {} is not between the terms", split.escape_ascii())));
        }
        self.indexed = (number & 1 == 1).then(|| (page, Vec::new()));
        Ok(())
    }

    /// Decodes a leaf, and checks the terms that are complete.
    fn decode(&mut self, block: &[u8]) -> Result<(), Found> {
        let Self { decoder, last_term, error, checker, .. } = self;
        decoder.add(block, |term, doclist| check_term(term, doclist, last_term, error, checker.has_positions))?;
        self.error.take().map_or(Ok(()), Err)
    }

    /// Compares the index of the last doclist with its leaves, level by level.
    fn doclist_index(&mut self) -> Result<(), Found> {
        let Some((page, mut rowids)) = self.indexed.take() else { return Ok(()) };
        let mut first_child = page + 1;
        for height in 0..MOST_LEVELS {
            let level = self.index_level(height, page, first_child, &rowids)?;
            if level.is_root {
                return Ok(());
            }
            (first_child, rowids) = (page, level.first_rowids);
        }
        Err(Found::Fault(format!("the doclist index of leaf {page} has no root")))
    }

    /// Compares one level of the doclist index of leaf `page` with the first rowids of the level below, from page `first_child` on.
    fn index_level(
        &self,
        height: u32,
        page: u32,
        first_child: u32,
        rowids: &[Option<i64>],
    ) -> Result<IndexLevel, Found> {
        let mut level = IndexLevel::default();
        let mut next_child = None;
        for number in page.. {
            let Some(block) = self.checker.block(doclist_index_id(self.segment.id, height, number))? else { break };
            let wrong =
                || Found::Fault(format!("page {number} of the doclist index of leaf {page} disagrees with the leaves"));
            let (child, entries) = index_entries(&block).ok_or_else(wrong)?;
            let child = child.checked_sub(u64::from(first_child)).and_then(|child| usize::try_from(child).ok());
            let child = child.ok_or_else(wrong)?;
            let expected = rowids.get(child..child + entries.len()).ok_or_else(wrong)?;
            if next_child.is_some_and(|next| next != child) || expected != entries {
                return Err(wrong());
            }
            next_child = Some(child + entries.len());
            level.first_rowids.push(entries[0]);
            level.is_root = block[0] == 0;
            if level.is_root {
                break;
            }
        }
        if level.first_rowids.is_empty() || height > 0 && next_child != Some(rowids.len()) {
            return Err(Found::Fault(format!("the doclist index of leaf {page} is incomplete")));
        }
        Ok(level)
    }

    fn finish(mut self) -> Result<(), Found> {
        self.doclist_index()?;
        if let Some(row) = self.splits.next()?.filter(|_| !self.checker.is_edited) {
            let number: i64 = row.get(0)?;
            return Err(Found::Fault(format!("%_idx has a row of leaf {}, which is not there", number >> 1)));
        }
        let Self { decoder, last_term, error, checker, .. } = &mut self;
        decoder.finish(|term, doclist| check_term(term, doclist, last_term, error, checker.has_positions));
        self.error.take().map_or(Ok(()), Err)
    }
}

/// Most levels of a doclist index.
const MOST_LEVELS: u32 = 32;

/// A level of a doclist index.
#[derive(Default)]
struct IndexLevel {
    /// The first rowids of its pages.
    first_rowids: Vec<Option<i64>>,
    /// It is one page, the root.
    is_root: bool,
}

/// Returns the first child of a page of a doclist index, and the first rowid of each child, if it has one.
fn index_entries(block: &[u8]) -> Option<(u64, Vec<Option<i64>>)> {
    let mut at = 1;
    let mut next = || {
        let (value, len) = block.get(at..).and_then(varint::read)?;
        at += len;
        Some(value)
    };
    let (child, mut rowid) = (next()?, next()?.cast_signed());
    let mut entries = vec![Some(rowid)];
    while let Some(delta) = next() {
        rowid = rowid.wrapping_add(delta.cast_signed());
        entries.push((delta != 0).then_some(rowid));
    }
    Some((child, entries))
}

/// Checks a term and its doclist.
fn check_term(term: &[u8], doclist: &[u8], last: &mut Vec<u8>, error: &mut Option<Found>, has_positions: bool) {
    let checked = if !last.is_empty() && term <= last.as_slice() {
        Err(Found::Fault("it is not above the term before".to_owned()))
    } else {
        check_doclist(doclist, has_positions)
    };
    if let Err(found) = checked {
        error.get_or_insert(found.within(&format!("term {}", term.escape_ascii())));
    }
    last.clear();
    last.extend_from_slice(term);
}

fn check_doclist(doclist: &[u8], has_positions: bool) -> Result<(), Found> {
    let mut run = RunWriter::default();
    run.push(b"0", doclist);
    let mut entries = RunReader::new(run.bytes().as_slice(), has_positions);
    entries.next_term()?;
    let mut last = None;
    while entries.next_entry()? {
        let rowid = entries.rowid();
        if last.is_some_and(|last| last >= rowid) {
            return Err(Found::Fault(format!("row {rowid} is not above the row before")));
        }
        last = Some(rowid);
        if has_positions && !is_position_list(entries.list()) {
            return Err(Found::Fault(format!("the position list of row {rowid} is broken")));
        }
    }
    Ok(())
}

/// Returns whether a position list, behind its size, is whole varints; a column follows each 1.
fn is_position_list(list: &[u8]) -> bool {
    let Some((_, mut at)) = varint::read(list) else { return false };
    while at < list.len() {
        let Some((value, len)) = varint::read(&list[at..]) else { return false };
        at += len;
        if value == 0 || value == 1 && at == list.len() {
            return false;
        }
    }
    true
}
