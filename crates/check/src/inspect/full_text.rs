//! Explains the rows of full-text indexes (FTS5) on a page: leaves of segments, the structure, the averages, doclist indexes.
//!
//! No page tells to which b-tree it belongs. So its first rowid is searched in the tables `%_data`: the search ends on the page, or
//! the page is not one of that table.

use super::DatabaseFile;
use litepress_format::FormatError;
use litepress_format::cell::Cell;
use litepress_format::page::{PageKind, PageReader};
use litepress_fts5::{AVERAGES_ID, Averages, Leaf, RowKind, RunReader, RunWriter, STRUCTURE_ID, Structure, row_kind};
use litepress_rows::Result;
use litepress_rows::quoted_name;
use litepress_rows::schema::full_text_has_positions;
use litepress_rows::sqlite::open_immutable;
use rusqlite::{Connection, OptionalExtension};
use std::fmt::Write;

/// Most pages between a root and a leaf.
const MOST_LEVELS: usize = 20;

/// Number of rows of a doclist that are shown.
const SHOWN_ROWS: usize = 5;

impl DatabaseFile {
    /// Returns an explanation of the rows of a full-text index on a page. It is empty if there are none, or SQLite cannot read the
    /// schema.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn full_text_rows(&self, number: u32) -> Result<String> {
        let rowids = self.rowids(number)?;
        let (Some(&first), Ok(sqlite)) = (rowids.first(), open_immutable(&self.path)) else {
            return Ok(String::new());
        };
        for (table, root) in tables(&sqlite).unwrap_or_default() {
            if self.is_leaf_of(number, root, first)? {
                let has_positions = full_text_has_positions(&sqlite, &table).unwrap_or(true);
                let mut text = format!("rows of the full-text table {table}\n");
                for rowid in rowids {
                    text += &describe_row(&sqlite, &table, rowid, has_positions);
                }
                return Ok(text);
            }
        }
        Ok(String::new())
    }

    /// Returns the rowids of a leaf page of a table, as far as its cells can be decoded.
    fn rowids(&self, number: u32) -> Result<Vec<i64>> {
        let page = self.page(number)?.filter(|page| number > 1 && page.len() == self.page_size.bytes());
        let page = page.unwrap_or_default();
        let reader = PageReader::new(&page, 0, self.usable).ok().filter(|page| page.kind() == PageKind::LeafTable);
        let rowid = |cell| match cell {
            Ok(Cell::TableLeaf { rowid, .. }) => Some(rowid),
            _ => None,
        };
        Ok(reader.iter().flat_map(|page| page.cells()).map_while(rowid).collect())
    }

    /// Returns whether a search for a rowid from a root page on ends on this page.
    fn is_leaf_of(&self, number: u32, root: u32, rowid: i64) -> Result<bool> {
        let mut at = root;
        for _ in 0..MOST_LEVELS {
            if at == number {
                return Ok(true);
            }
            let page = self.page(at)?.filter(|page| page.len() == self.page_size.bytes()).unwrap_or_default();
            let reader = PageReader::new(&page, 0, self.usable).ok();
            let Some(page) = reader.filter(|page| page.kind() == PageKind::InteriorTable) else { break };
            let child = |cell: std::result::Result<Cell<'_>, FormatError>| match cell {
                Ok(Cell::TableInterior { left_child, rowid: last }) if rowid <= last => Some(left_child),
                _ => None,
            };
            let Some(next) = page.cells().find_map(child).or(page.right_child()) else { break };
            at = next;
        }
        Ok(false)
    }
}

/// Returns the names of the full-text tables, and the root pages of their tables `%_data`.
fn tables(sqlite: &Connection) -> rusqlite::Result<Vec<(String, u32)>> {
    let sql = "SELECT t.name, d.rootpage FROM sqlite_schema AS t JOIN sqlite_schema AS d
               ON d.name = t.name || '_data' AND d.type = 'table' AND d.rootpage > 0
               WHERE t.type = 'table' AND t.rootpage = 0 AND t.sql LIKE '%fts5%'";
    sqlite.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Describes a row of `%_data`, with a line for each term.
fn describe_row(sqlite: &Connection, table: &str, id: i64, has_positions: bool) -> String {
    let sql = format!("SELECT block FROM {} WHERE id = ?", quoted_name(&format!("{table}_data")));
    let block = sqlite.query_row(&sql, [id], |row| row.get::<_, Vec<u8>>(0)).optional();
    let Ok(Some(block)) = block else { return format!("! row {id}: SQLite cannot read it\n") };
    let what = match row_kind(id) {
        _ if id == AVERAGES_ID => Averages::decode(&block).map(|averages| describe_averages(&averages)),
        _ if id == STRUCTURE_ID => Structure::decode(&block).map(|structure| describe_structure(&structure)),
        RowKind::Leaf { segment, page } => {
            describe_leaf(&block, has_positions).map(|leaf| format!("leaf {page} of segment {segment}, {leaf}"))
        }
        RowKind::DoclistIndex { segment, height, page } => Ok(format!(
            "page {page} of height {height} of the doclist indexes of segment {segment}, {} bytes\n",
            block.len()
        )),
        RowKind::Tombstones { segment, page } => {
            Ok(format!("page {page} of the deleted rows of segment {segment}, {} bytes\n", block.len()))
        }
    };
    match what {
        Ok(what) => format!("row {id}: {what}"),
        Err(error) => format!("! row {id}: {error}\n"),
    }
}

fn describe_averages(averages: &Averages) -> String {
    let tokens: Vec<String> = averages.tokens.iter().map(u64::to_string).collect();
    format!("averages: {} rows, tokens of each column: {}\n", averages.rows, tokens.join(", "))
}

fn describe_structure(structure: &Structure) -> String {
    let Structure { cookie, write_counter, .. } = structure;
    let mut text = format!(
        "structure: {} segments, {cookie} changes of options, {write_counter} leaves written to level 0\n",
        structure.segments()
    );
    for (number, level) in structure.levels.iter().enumerate() {
        for segment in &level.segments {
            write!(text, "  level {number}: segment {}, ", segment.id).expect(TAKES_ALL);
            match segment.is_used_up() {
                true => text.push_str("used up by a merge"),
                false => write!(text, "leaves {} to {}", segment.first_page, segment.last_page).expect(TAKES_ALL),
            }
            if structure.has_origins {
                let origin = segment.origin;
                write!(text, ", {} rows, {} of them deleted", origin.entries, origin.tombstones).expect(TAKES_ALL);
            }
            text.push('\n');
        }
    }
    text
}

const TAKES_ALL: &str = "a string takes everything";

fn describe_leaf(block: &[u8], has_positions: bool) -> std::result::Result<String, FormatError> {
    let leaf = Leaf::new(block)?;
    let mut text = format!("{} bytes, {} terms\n", block.len(), leaf.terms());
    if !leaf.continuation().is_empty() {
        let bytes = leaf.continuation().len();
        let first = leaf.first_rowid()?.map_or("no rowid".to_owned(), |rowid| format!("the first rowid is {rowid}"));
        writeln!(text, "  {bytes} bytes of the doclist of the leaf before: {first}").expect(TAKES_ALL);
    }
    let mut term = Vec::new();
    for number in 0..leaf.terms() {
        let doclist = leaf.read_term(number, &mut term)?;
        let (index, token) = term.split_first().map_or((b'0', &[][..]), |(&index, token)| (index, token));
        let index = match index.wrapping_sub(b'0') {
            0 => String::new(),
            prefix => format!(" of prefix index {prefix}"),
        };
        let rows = shown_rows(leaf.slice(doclist), has_positions);
        writeln!(text, "  term \"{}\"{index}: {rows}", String::from_utf8_lossy(token).escape_debug()).expect(TAKES_ALL);
    }
    Ok(text)
}

/// Returns the first rows of a doclist, which may be cut off.
fn shown_rows(doclist: &[u8], has_positions: bool) -> String {
    let mut run = RunWriter::default();
    run.push(b"0", doclist);
    let mut entries = RunReader::new(run.bytes().as_slice(), has_positions);
    let (mut rows, mut more) = (Vec::new(), 0_usize);
    if entries.next_term().is_ok() {
        while entries.next_entry().unwrap_or(false) {
            if rows.len() < SHOWN_ROWS { rows.push(entries.rowid().to_string()) } else { more += 1 }
        }
    }
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{noun} {}{more}", rows.join(", "))
}
