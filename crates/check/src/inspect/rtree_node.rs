//! Explains a node of an R-Tree: one line a field, as pages are explained.

use super::DatabaseFile;
use litepress_rows::schema::{NamedRTree, RTree, TableKinds, rtrees};
use litepress_rows::sqlite::open_immutable;
use litepress_rows::{Error, ErrorKind, Result, quoted_name};
use litepress_rtree::node::Node;
use litepress_rtree::shape::ROOT;
use rusqlite::{Connection, OptionalExtension};
use std::fmt::Write;

/// The most levels below a root.
const MOST_LEVELS: usize = 40;

/// Bytes of a node's header, and of the id of a cell.
const HEADER_BYTES: usize = 4;
const ID_BYTES: usize = 8;
const COORDINATE_BYTES: usize = 4;

impl DatabaseFile {
    /// Returns a node of an R-Tree table as annotated text: the root is node 1.
    ///
    /// # Errors
    /// If the file has no such table or node, or SQLite cannot read it.
    pub fn rtree_node_text(&self, table: &str, number: i64) -> Result<String> {
        let failed = |error: rusqlite::Error| Error::new(ErrorKind::Corrupt, format!("SQLite cannot read it: {error}"));
        let mut sqlite = open_immutable(&self.path).map_err(|error| failed(error).in_file(&self.path))?;
        let described = describe(&mut sqlite, table, number).map_err(failed);
        described.and_then(|text| text).map_err(|error| error.in_file(&self.path))
    }
}

fn describe(sqlite: &mut Connection, table: &str, number: i64) -> rusqlite::Result<Result<String>> {
    let kinds = TableKinds::read(sqlite)?;
    let found = rtrees(sqlite, &kinds)?;
    let wrong = |message: String| Err(Error::new(ErrorKind::Usage, message));
    let Some(NamedRTree { name, tree }) = found.iter().find(|found| found.name.eq_ignore_ascii_case(table)) else {
        let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
        let advice = if names.is_empty() { "the file has no R-Tree".to_owned() } else { names.join(", ") };
        let error = Error::new(ErrorKind::Usage, format!("there is no R-Tree {table}"));
        return Ok(Err(if names.is_empty() {
            error.advise(advice)
        } else {
            error.advise(format!("name one of {advice}"))
        }));
    };
    let tree = match tree {
        Ok(tree) => *tree,
        Err(error) => return Ok(wrong(format!("SQLite cannot open the R-Tree {name}: {error}"))),
    };
    let nodes = quoted_name(&format!("{name}_node"));
    let sql = format!("SELECT data FROM {nodes} WHERE nodeno = ?");
    let read = |number: i64| {
        let data = |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec());
        sqlite.query_row(&sql, [number], data).optional()
    };
    let Some(bytes) = read(number)? else {
        let count: u64 = sqlite.query_row(&format!("SELECT count(*) FROM {nodes}"), [], |row| row.get(0))?;
        return Ok(wrong(format!("there is no node {number}: the R-Tree {name} has {count}")));
    };
    let root = read(ROOT.cast_signed())?.unwrap_or_default();
    let depth = root.first_chunk().map_or(0, |depth| usize::from(u16::from_be_bytes(*depth)));
    let above = ancestors(sqlite, name, number)?;
    let columns = column_names(sqlite, name)?;
    Ok(Ok(NodeText { name, number, bytes: &bytes, root_bytes: root.len(), depth, above: &above, tree, columns }.text()))
}

/// Returns the nodes above one, its parent first.
fn ancestors(sqlite: &Connection, name: &str, number: i64) -> rusqlite::Result<Vec<i64>> {
    let parents = quoted_name(&format!("{name}_parent"));
    let mut parent_of = sqlite.prepare(&format!("SELECT parentnode FROM {parents} WHERE nodeno = ?"))?;
    let (mut above, mut node) = (Vec::new(), number);
    while node != ROOT.cast_signed() && above.len() < MOST_LEVELS {
        let parent: Option<Option<i64>> = parent_of.query_row([node], |row| row.get(0)).optional()?;
        let Some(parent) = parent.flatten() else { break };
        above.push(parent);
        node = parent;
    }
    Ok(above)
}

fn column_names(sqlite: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    let mut names = sqlite.prepare("SELECT name FROM temp.pragma_table_info(?) ORDER BY cid")?;
    names.query_map([name], |row| row.get(0))?.collect()
}

struct NodeText<'n> {
    name: &'n str,
    number: i64,
    bytes: &'n [u8],
    root_bytes: usize,
    /// Number of levels below the root.
    depth: usize,
    /// The nodes above, the parent first.
    above: &'n [i64],
    tree: RTree,
    columns: Vec<String>,
}

impl NodeText<'_> {
    fn text(&self) -> String {
        let Self { name, number, bytes, .. } = self;
        let is_root = *number == ROOT.cast_signed();
        let is_connected = is_root || self.above.last() == Some(&ROOT.cast_signed());
        let height = self.depth.saturating_sub(self.above.len());
        let role = match (is_root, height) {
            (true, 0) => "root and leaf",
            (true, _) => "root",
            (false, 0) => "leaf",
            (false, _) => "interior node",
        };
        let mut text = format!("node {number} of {name}, {role}, {} bytes\n", bytes.len());
        if let Some(parent) = self.above.first() {
            let _ = writeln!(
                text,
                "its parent is node {parent}; {} of {} levels below the root",
                self.above.len(),
                self.depth
            );
        }
        if !is_connected {
            let _ = writeln!(text, "! {name}_parent does not lead from it to the root: it is shown as a leaf");
        }
        if bytes.len() != self.root_bytes {
            let _ = writeln!(text, "! the root has {} bytes", self.root_bytes);
        }
        let node = match Node::read(self.tree.layout, bytes) {
            Ok(node) => node,
            Err(error) => {
                let _ = writeln!(text, "! {error}");
                return text;
            }
        };
        let levels = if is_root { "levels below the root" } else { "zero but in the root" };
        self.field(&mut text, 0, 2, &node.depth.to_string(), levels);
        self.field(&mut text, 2, 2, &node.cells.len().to_string(), "cells");
        self.cells(&mut text, &node, !is_connected || height == 0);
        let end = HEADER_BYTES + node.cells.len() * self.tree.layout.cell_bytes();
        let zeros = if bytes[end..].iter().all(|byte| *byte == 0) { ", all zero" } else { "" };
        let _ = writeln!(text, "{end:04x}  {} bytes, unused{zeros}", bytes.len() - end);
        text
    }

    fn cells(&self, text: &mut String, node: &Node, is_leaf: bool) {
        let layout = self.tree.layout;
        for (position, cell) in node.cells.iter().enumerate() {
            let start = HEADER_BYTES + position * layout.cell_bytes();
            let _ = writeln!(text, "cell {position}");
            let meaning = if is_leaf { self.columns.first().map_or("id", String::as_str) } else { "child node" };
            self.field(text, start, ID_BYTES, &cell.id.to_string(), meaning);
            for coordinate in 0..layout.coordinates() {
                let at = start + ID_BYTES + coordinate * COORDINATE_BYTES;
                let value = cell.bounds.coordinate(coordinate, layout.kind()).to_string();
                let meaning = self.columns.get(1 + coordinate).map_or("", String::as_str);
                self.field(text, at, COORDINATE_BYTES, &value, meaning);
            }
            if let Some(dimension) = cell.bounds.inverted_dimension(layout) {
                let _ = writeln!(text, "! the minimum of dimension {dimension} is above the maximum");
            }
        }
    }

    fn field(&self, text: &mut String, at: usize, len: usize, value: &str, meaning: &str) {
        let pairs: Vec<String> = self.bytes[at..at + len].iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "{at:04x}  {:<26}  {value:<22}  {meaning}", pairs.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn made(path: &Path, sql: &str) -> DatabaseFile {
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
        DatabaseFile::open(path).unwrap()
    }

    #[test]
    fn a_node_is_shown_field_by_field() {
        let folder = tempfile::tempdir().unwrap();
        let file = made(
            &folder.path().join("r.db"),
            "CREATE VIRTUAL TABLE boxes USING rtree(id, minx, maxx); INSERT INTO boxes VALUES (7, 1.5, 2)",
        );
        let text = file.rtree_node_text("BOXES", 1).unwrap();
        let expected = "node 1 of boxes, root and leaf, 820 bytes\n\
            0000  00 00                       0                       levels below the root\n\
            0002  00 01                       1                       cells\n\
            cell 0\n\
            0004  00 00 00 00 00 00 00 07     7                       id\n\
            000c  3f c0 00 00                 1.5                     minx\n\
            0010  40 00 00 00                 2                       maxx\n\
            0014  800 bytes, unused, all zero\n";
        assert_eq!(text, expected);
        let error = file.rtree_node_text("boxes", 9).unwrap_err();
        assert!(error.to_string().contains("there is no node 9: the R-Tree boxes has 1"), "{error}");
        let error = file.rtree_node_text("none", 1).unwrap_err();
        assert!(error.to_string().contains("there is no R-Tree none"), "{error}");
    }

    #[test]
    fn levels_and_broken_nodes_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.db");
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)";
        let file = made(
            &path,
            &format!(
                "CREATE VIRTUAL TABLE r USING rtree_i32(id, a, b); {rows} INSERT INTO r SELECT i, i, i + 1 FROM n"
            ),
        );
        let root = file.rtree_node_text("r", 1).unwrap();
        assert!(root.starts_with("node 1 of r, root, ") && root.contains("child node"), "{root}");
        let leaf = file.rtree_node_text("r", 2).unwrap();
        assert!(leaf.contains("its parent is node 1; 1 of 1 levels below the root"), "{leaf}");
        let sql = "DELETE FROM r_parent WHERE nodeno = 2; UPDATE r_node SET data = x'0000ffff' WHERE nodeno = 3";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert!(file.rtree_node_text("r", 2).unwrap().contains("! r_parent does not lead from it to the root"));
        let short = file.rtree_node_text("r", 3).unwrap();
        assert!(short.contains("! the root has") && short.contains("shorter than its cells"), "{short}");
    }
}
